"""How long the batches of a plan take at the throttle and the networks that are known, and the throttle to use."""

from dataclasses import dataclass, field

import numpy as np

from app.core.model import Float64s, Int64s
from app.core.reassignment import BatchCopies, Batches, ReplicationRates, batch_durations, recommended_throttle
from app.core.reassignment.resources.model import NO_CAPACITY
from app.core.replica_lists import not_among
from app.errors import Json
from app.services.cautions import Caution
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.reports.completion import NeverCompleted, first_batches, never_completed

NIC_IN, NIC_OUT = 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class BatchTimes:
    """The time of every batch.

    Parameters
    ----------
    seconds : (batches,) float64; 0 if nothing is copied, infinite if it never completes, NaN if nothing is known that
        limits it.
    recommended : a throttle with which every batch completes, in bytes per second; None if there is none to recommend.
    never : the batches that never complete at any throttle.
    """

    seconds: Float64s = field(repr=False)
    recommended: int | None
    never: NeverCompleted

    def of_batch(self, number: int) -> dict[str, Json]:
        """`seconds` and `completes` of a batch, counted from 0."""
        seconds = np.inf if self.never.batches[number] else float(self.seconds[number])
        completes = None if np.isnan(seconds) else bool(np.isfinite(seconds))
        return {"seconds": round(seconds, 6) if completes else None, "completes": completes}

    def cautions(self) -> list[Caution]:
        """Warnings about the batches that never complete."""
        unending = (np.flatnonzero(np.isinf(self.seconds)) + 1).tolist()
        if not unending:
            return [*self.never.cautions]
        named = first_batches(unending)
        detail = (
            f"{len(unending)} of {len(self.seconds)} batches never complete ({named}): replicas are copied no faster "
            "than producers write to their partitions; "
        )
        if self.recommended is None:
            detail += "fewer moves a broker and batch, or a faster network, let them complete"
        else:
            detail += f"a throttle of {self.recommended} bytes/s lets them complete"
        return [Caution("batch_never_completes", detail), *self.never.cautions]


def batch_times(problem: ReassignmentProblem, steps: Batches) -> BatchTimes:
    """The time of every batch, by a fluid model of replication: see `core/reassignment/batches/durations.py`."""
    brokers = len(problem.brokers.ids)
    gained, column = np.nonzero(not_among(steps.after, steps.before))
    rows = steps.rows[gained]
    copies = BatchCopies(
        batch=np.repeat(np.arange(len(steps)), np.diff(steps.offsets))[gained],
        source=steps.before[gained, 0],
        target=steps.after[gained, column],
        size_bytes=np.maximum(problem.batches.size_bytes[rows], 0),
        ingress_bytes_per_s=problem.resources.scope.ingress[rows].astype(np.float64),
    )
    limits = problem.batches.limits
    rates = ReplicationRates(
        limits.throttle_bytes_per_s, *_networks(problem, brokers), record_batch_bytes=limits.record_batch_bytes
    )
    seconds = batch_durations(copies, rates, len(steps))
    never = never_completed(problem, steps)
    if steps.seconds is not None:
        # What is copied within brokers takes its time at the throttle, too.
        return BatchTimes(np.fmax(seconds, steps.seconds), recommended_throttle(copies, rates), never)
    if np.isinf(rates.nic_in).all() and np.isinf(rates.nic_out).all():
        copies_some = np.bincount(copies.batch, minlength=len(steps)) > 0
        seconds = np.where(copies_some, np.nan, 0.0)
    if steps.log_dir_moves is not None:
        # No network limits what is copied within brokers.
        copies_some = np.bincount(steps.log_dir_moves.batch, minlength=len(steps)) > 0
        seconds = np.where(copies_some & np.isfinite(seconds), np.nan, seconds)
    return BatchTimes(seconds, recommended_throttle(copies, rates), never)


def _networks(problem: ReassignmentProblem, brokers: int) -> tuple[Float64s, Float64s]:
    """(brokers,) float64 each: what each broker can receive and send besides its traffic before the plan."""
    capacity = problem.resources.capacity
    used: Int64s = problem.resources.broker_loads(problem.before)
    free = np.where(capacity == NO_CAPACITY, np.inf, np.maximum(capacity - used, 0).astype(np.float64))
    return free[:brokers, NIC_IN], free[:brokers, NIC_OUT]
