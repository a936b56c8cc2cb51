"""The steps of batches replayed, by row: what is copied and deleted in each, and where.

The replay sorts and sums: it shares no code with the scheduler.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.model import Batches, ReassignedPartitions
from app.core.replica_lists import not_among, sums_by, widened

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class StepReplay:
    """Steps by row and then by batch, with all replica lists of one width.

    Parameters
    ----------
    batch, row : (steps,) int64. is_first, is_last : (steps,) bool, of their row.
    before, after : (steps, widest) int32. gained : (steps, widest) bool, replicas of `after` that are not in `before`;
        lost : those of `before` that are not in `after`.
    origin, goal : (rows, widest) int32, lists before and after the reassignment.
    size : (steps,) int64 bytes of one replica, 0 if unknown.
    """

    batch: Int64s = field(repr=False)
    row: Int64s = field(repr=False)
    is_first: Bools = field(repr=False)
    is_last: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    gained: Bools = field(repr=False)
    lost: Bools = field(repr=False)
    origin: Int32s = field(repr=False)
    goal: Int32s = field(repr=False)
    size: Int64s = field(repr=False)

    @property
    def has_data(self) -> Bools:
        """(steps,) bool: whether the step adds or drops a replica."""
        return np.asarray(self.gained.any(axis=1) | self.lost.any(axis=1), np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class BatchTraffic:
    """Traffic of brokers in batches: (pairs,) arrays, by broker and then by batch, each pair once."""

    broker: Int64s
    batch: Int64s
    replicas: Int64s
    size_bytes: Int64s


def replay(reassigned: ReassignedPartitions, batches: Batches) -> StepReplay:
    """The steps of every row, in order."""
    every = (reassigned.before, reassigned.after, batches.before, batches.after)
    width = max(1, *(lists.shape[1] for lists in every))
    origin, goal = widened(reassigned.before, width), widened(reassigned.after, width)
    batch = np.repeat(np.arange(len(batches)), np.diff(batches.offsets))
    order = np.lexsort((batch, batches.rows))
    row = batches.rows[order].astype(np.int64)
    before, after = widened(batches.before, width)[order], widened(batches.after, width)[order]
    changes = np.diff(row) != 0
    sizes = reassigned.size_bytes[row]
    return StepReplay(
        batch=batch[order],
        row=row,
        is_first=np.concatenate([[True], changes])[: len(row)],
        is_last=np.concatenate([changes, [True]])[: len(row)],
        before=before,
        after=after,
        gained=not_among(after, before),
        lost=not_among(before, after),
        origin=origin,
        goal=goal,
        size=np.where(sizes == UNKNOWN_SIZE, 0, sizes),
    )


def incoming(replayed: StepReplay) -> BatchTraffic:
    """Replicas that brokers receive in each batch."""
    return _traffic(replayed, replayed.after, replayed.gained)


def outgoing(replayed: StepReplay) -> BatchTraffic:
    """Replicas copied from brokers in each batch: a follower fetches from the first replica of the list."""
    leaders = np.broadcast_to(replayed.before[:, :1], replayed.before.shape)
    return _traffic(replayed, leaders, replayed.gained)


def deleted(replayed: StepReplay) -> BatchTraffic:
    """Replicas that brokers delete when a batch completes."""
    return _traffic(replayed, replayed.before, replayed.lost)


def _traffic(replayed: StepReplay, brokers: Int32s, chosen: Bools) -> BatchTraffic:
    step, _ = np.nonzero(chosen)
    n_batches = int(replayed.batch.max(initial=0)) + 1
    pairs = brokers[chosen].astype(np.int64) * n_batches + replayed.batch[step]
    distinct, pair_of, replicas = np.unique(pairs, return_inverse=True, return_counts=True)
    size_bytes = sums_by(pair_of, replayed.size[step], len(distinct))
    return BatchTraffic(distinct // n_batches, distinct % n_batches, replicas, size_bytes)


@dataclass(frozen=True, slots=True)
class BatchViolation:
    """A violated guarantee: its first place, by batch; `count` counts all.

    Parameters
    ----------
    code, detail : of the guarantee. count : number of violations.
    batch, row, broker : of that place, broker by its id; None if it has none.
    value, limit : the figure there, and its limit; None if the guarantee has no figure.
    """

    code: str
    count: int
    detail: str
    batch: int | None = None
    row: int | None = None
    broker: int | None = None
    value: int | None = None
    limit: int | None = None


def violated_steps(replayed: StepReplay, code: str, broken: Bools, what: str) -> Iterator[BatchViolation]:
    """The violation of some steps, (steps,) bool, with the first of them."""
    if broken.any():
        at = np.flatnonzero(broken)
        first = at[np.argmin(replayed.batch[at])]
        batch, row = int(replayed.batch[first]), int(replayed.row[first])
        yield BatchViolation(code, len(at), f"row {row} {what}, in batch {batch}", batch=batch, row=row)


def differ(lists: Int32s, others: Int32s) -> Bools:
    """(rows,) bool: whether the lists of a row differ."""
    return np.asarray((lists != others).any(axis=1), np.bool_)
