"""In which order batches are executed, and which cordons are lifted meanwhile.

Since 4.3.2 Kafka rejects a reassignment whose list contains a cordoned broker, even if the broker has the replica and
keeps it. A batch with such lists is executed while the broker is uncordoned: for that batch only, since meanwhile Kafka
may place new partitions there. The inverses of batches are executed from the last one to the first by the same rule.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from app.core.model import NO_REPLICA, Float64s, Int32s, Int64s
from app.core.reassignment.batches import durations_kernel


class Action(StrEnum):
    """Action of one step of an execution."""

    CORDON = "cordon"
    UNCORDON = "uncordon"
    EXECUTE = "execute"


@dataclass(frozen=True, slots=True)
class ExecutionStep:
    """One step of an execution.

    Parameters
    ----------
    batch : the batch that is executed, from 0; None of another action.
    brokers : ids of the brokers that are cordoned or uncordoned, ascending; empty of a batch.
    """

    action: Action
    batch: int | None = None
    brokers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cordons:
    """The cordoned brokers of an execution, by id.

    Parameters
    ----------
    before, during, after : those before it; while batches run, unless one needs them uncordoned; and at its end.
    rejects_lists : whether Kafka rejects lists that contain a cordoned broker.
    """

    before: frozenset[int] = frozenset()
    during: frozenset[int] = frozenset()
    after: frozenset[int] = frozenset()
    rejects_lists: bool = True

    @property
    def undone(self) -> "Cordons":
        """Of the inverse: it ends with the previous cordons, which its batches need not lift."""
        return Cordons(self.after, self.before, self.before, self.rejects_lists)


def execution_steps(requested: Sequence[Int32s], order: Sequence[int], cordons: Cordons) -> list[ExecutionStep]:
    """The steps that execute batches in an order, each broker uncordoned for no other batch than those that have it.

    Parameters
    ----------
    requested : by batch, (partitions, widest) int32 broker ids of the lists that it requests, padded with `NO_REPLICA`.
    order : the batches in the order of their execution.
    """
    steps: list[ExecutionStep] = []
    cordoned: Set[int] = cordons.before
    for batch in order:
        wanted = cordons.during - _brokers(requested[batch]) if cordons.rejects_lists else cordons.during
        steps += _changed(cordoned, wanted)
        cordoned = wanted
        steps.append(ExecutionStep(Action.EXECUTE, batch))
    return [*steps, *_changed(cordoned, cordons.after)]


def execution_violations(
    steps: Sequence[ExecutionStep], requested: Sequence[Int32s], order: Sequence[int], cordons: Cordons
) -> list[str]:
    """Violations of an execution: lists that Kafka rejects, batches in another order, cordons left or lost.

    Parameters
    ----------
    steps : whichever planner made them; the other parameters are as in `execution_steps`.
    """
    violations = []
    cordoned, executed = set(cordons.before), []
    for number, step in enumerate(steps, 1):
        if step.action is Action.EXECUTE and step.batch is not None:
            executed.append(step.batch)
            rejected = np.isin(requested[step.batch], np.array(sorted(cordoned), np.int64)).any(axis=1)
            if cordons.rejects_lists and rejected.any():
                row = requested[step.batch][np.flatnonzero(rejected)[0]]
                shown = [broker for broker in row.tolist() if broker != NO_REPLICA]
                detail = f"Kafka rejects {shown}: {sorted(cordoned & set(shown))} are cordoned"
                violations.append(f"step {number}, batch {step.batch}: {detail}")
        elif step.action is Action.CORDON and cordoned.isdisjoint(step.brokers):
            cordoned.update(step.brokers)
        elif step.action is Action.UNCORDON and cordoned.issuperset(step.brokers):
            cordoned.difference_update(step.brokers)
        else:
            violations.append(f"step {number} changes no cordon, or one twice")
    if executed != list(order):
        violations.append(f"batches are executed in the order {executed}, not {list(order)}")
    if cordoned != cordons.after:
        violations.append(f"{sorted(cordoned)} are cordoned at the end, not {sorted(cordons.after)}")
    return violations


def _changed(cordoned: Set[int], wanted: Set[int]) -> Iterator[ExecutionStep]:
    """The steps from some cordoned brokers to others."""
    if wanted - cordoned:
        yield ExecutionStep(Action.CORDON, brokers=tuple(sorted(wanted - cordoned)))
    if cordoned - wanted:
        yield ExecutionStep(Action.UNCORDON, brokers=tuple(sorted(cordoned - wanted)))


def _brokers(replicas: Int32s) -> Set[int]:
    return {broker for broker in np.unique(replicas).tolist() if broker != NO_REPLICA}


_ROUND_FIGURES = (1, 2, 5)
FETCH_BYTES = 2**20
"""Kafka's default of `replica.fetch.max.bytes`."""
LEAST_OVER_INGRESS = 2
"""A recommended throttle is at least this many times the ingress of the partitions that one broker copies."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchCopies:
    """Replicas that are copied, by ascending batch: (copies,) each.

    Parameters
    ----------
    batch : int64. source, target : int32 positions of brokers. size_bytes : int64, 0 if unknown.
    ingress_bytes_per_s : float64 of the partition, which a new replica follows while it is copied; 0 if unknown.
    """

    batch: Int64s = field(repr=False)
    source: Int32s = field(repr=False)
    target: Int32s = field(repr=False)
    size_bytes: Int64s = field(repr=False)
    ingress_bytes_per_s: Float64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ReplicationRates:
    """Limits on copying.

    Parameters
    ----------
    throttle_bytes_per_s : of each broker, in and out alike; None without one.
    nic_in, nic_out : (brokers,) float64 bytes per second that a broker can receive and send besides its present
        traffic; infinite if unknown.
    record_batch_bytes : size of the record batches in the logs; None if unknown, as for batches that are small.
    """

    throttle_bytes_per_s: int | None
    nic_in: Float64s = field(repr=False)
    nic_out: Float64s = field(repr=False)
    record_batch_bytes: int | None = None

    @property
    def sent_per_copied(self) -> float:
        """Bytes that brokers send, and that count against the throttle, for each byte that is copied; at least 1.

        A fetch of a partition has `FETCH_BYTES` of its log, and the follower drops the last record batch if it is cut
        off: of batches of 0.75 MiB it copies one with each MiB. A batch that is larger than a fetch is sent as a whole.
        """
        if self.record_batch_bytes is None or self.record_batch_bytes > FETCH_BYTES:
            return 1.0
        return FETCH_BYTES / (FETCH_BYTES // self.record_batch_bytes * self.record_batch_bytes)


def throttled(
    throttle_bytes_per_s: int | None, brokers: int, record_batch_bytes: int | None = None
) -> ReplicationRates:
    """The rates if nothing but a throttle and the size of record batches is known."""
    unknown = np.full(brokers, np.inf)
    return ReplicationRates(throttle_bytes_per_s, unknown, unknown, record_batch_bytes)


def batch_durations(copies: BatchCopies, rates: ReplicationRates, batches: int) -> Float64s:
    """(batches,) float64 seconds of each batch; infinite if it never completes, NaN if no rate is known.

    All copies of a batch begin together. The throttle and the network of a source are shared max-min fairly by copies
    from it, of a target by copies to it; a copy at rate r of a partition into which producers write i gains r - i on
    its leader, and is complete when it has caught up. A batch never completes if no remaining copy gains.
    If record batches are large, more is sent than copied: see `ReplicationRates.sent_per_copied`.

    Kafka throttles a replica until it is in sync. Clients' reads are not part of the model, unless `nic_out` is
    without them.

    Complexity: O(batches · (brokers + copies of a batch · log(duration))), compiled.

    Examples
    --------
    Two replicas of 100 bytes are copied from broker 0, at 10 bytes per second in all; into one producers write 2.

    >>> import numpy as np
    >>> copies = BatchCopies(np.array([0, 0]), np.array([0, 0], np.int32), np.array([1, 2], np.int32),
    ...                      np.array([100, 100]), np.array([0.0, 2.0]))
    >>> batch_durations(copies, throttled(10, 3), 1).tolist()
    [25.0]
    """
    brokers = len(rates.nic_in)
    seconds = np.zeros(batches, np.float64)
    arrays = durations_kernel.CopyArrays(
        np.ascontiguousarray(copies.source, np.int32),
        np.ascontiguousarray(copies.target + brokers, np.int32),
        copies.size_bytes.astype(np.float64) * rates.sent_per_copied,
        np.ascontiguousarray(copies.ingress_bytes_per_s * rates.sent_per_copied, np.float64),
    )
    offsets = np.searchsorted(copies.batch, np.arange(batches + 1)).astype(np.int64)
    throttle = float("inf") if rates.throttle_bytes_per_s is None else float(rates.throttle_bytes_per_s)
    nic = np.maximum(np.concatenate([rates.nic_out, rates.nic_in]), 0.0)
    durations_kernel.fill_durations(arrays, offsets, throttle, nic, seconds)
    return seconds


def recommended_throttle(copies: BatchCopies, rates: ReplicationRates) -> int | None:
    """The least round figure with which every batch completes; None if no ingress is known, or no network has it.

    With I the most bytes per second that are written to the partitions which one broker sends, or receives, at once in
    one batch, times the bytes sent for each byte copied, it is the least of 1, 2, 5, 10, 20, … bytes per second that is
    at least `LEAST_OVER_INGRESS` · I. None if a broker that sends or receives in a batch has less than that besides its
    present traffic.
    """
    brokers = len(rates.nic_in)
    least, spare = 0.0, np.inf
    for ends, nic in ((copies.source, rates.nic_out), (copies.target, rates.nic_in)):
        pairs = copies.batch * brokers + ends
        distinct, place = np.unique(pairs, return_inverse=True)
        at_once = np.bincount(place, copies.ingress_bytes_per_s, len(distinct))
        least = max(least, float(at_once.max(initial=0.0)))
        spare = min(spare, float(nic[distinct % brokers].min(initial=np.inf)))
    if not least:
        return None
    wanted = LEAST_OVER_INGRESS * least * rates.sent_per_copied
    digits = max(len(str(int(wanted))) - 1, 0)
    figure = next(
        figure for power in (digits, digits + 1) for each in _ROUND_FIGURES if (figure := each * 10**power) >= wanted
    )
    return figure if figure <= spare else None
