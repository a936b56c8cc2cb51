"""Anyone's batches, replayed: what each step adds and drops, and what brokers have in each batch.

The verifier's own arithmetic: plain sorting and adding up, which shares nothing with what cuts the batches.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.model import Batches, Reassigned

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """Steps by row and then by batch, with all replica lists of one width.

    Parameters
    ----------
    batch, row : (steps,) int64. is_first, is_last : (steps,) bool, of their row.
    before, after : (steps, widest) int32. gained : (steps, widest) bool, replicas of `after` that are not in `before`;
        lost : those of `before` that are not in `after`.
    origin, goal : (rows, widest) int32, where the rows are and where they shall be.
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
class Traffic:
    """What some brokers have in some batches: (pairs,) arrays, by broker and then by batch, each pair once."""

    broker: Int64s
    batch: Int64s
    replicas: Int64s
    size_bytes: Int64s


def replay(reassigned: Reassigned, batches: Batches) -> Replay:
    """Line up the steps of every row."""
    every = (reassigned.before, reassigned.after, batches.before, batches.after)
    width = max(1, *(lists.shape[1] for lists in every))
    origin, goal = _widened(reassigned.before, width), _widened(reassigned.after, width)
    batch = np.repeat(np.arange(len(batches)), np.diff(batches.offsets))
    order = np.lexsort((batch, batches.rows))
    row = batches.rows[order].astype(np.int64)
    before, after = _widened(batches.before, width)[order], _widened(batches.after, width)[order]
    changes = np.diff(row) != 0
    sizes = reassigned.size_bytes[row]
    return Replay(
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


def incoming(replayed: Replay) -> Traffic:
    """What brokers take in each batch."""
    return _traffic(replayed, replayed.after, replayed.gained)


def outgoing(replayed: Replay) -> Traffic:
    """What is copied from brokers in each batch: a follower fetches from the first replica of the list."""
    leaders = np.broadcast_to(replayed.before[:, :1], replayed.before.shape)
    return _traffic(replayed, leaders, replayed.gained)


def deleted(replayed: Replay) -> Traffic:
    """What brokers delete when a batch is done."""
    return _traffic(replayed, replayed.before, replayed.lost)


def not_among(lists: Int32s, others: Int32s) -> Bools:
    """(rows, widest) bool: replicas of a row that are not in the same row of the others."""
    return np.asarray((lists != NO_REPLICA) & ~(lists[:, :, None] == others[:, None, :]).any(axis=2), np.bool_)


def distinct(lists: NDArray[np.integer]) -> Int64s:
    """(rows,) int64: how many different values each row has, -1 apart."""
    ordered = np.sort(lists, axis=1)
    is_new = np.diff(ordered, axis=1, prepend=-1) != 0
    return np.asarray((is_new & (ordered >= 0)).sum(axis=1), np.int64)


def _widened(lists: Int32s, width: int) -> Int32s:
    return np.pad(lists, ((0, 0), (0, width - lists.shape[1])), constant_values=NO_REPLICA)


def _traffic(replayed: Replay, brokers: Int32s, chosen: Bools) -> Traffic:
    step, _ = np.nonzero(chosen)
    n_batches = int(replayed.batch.max(initial=0)) + 1
    pairs = brokers[chosen].astype(np.int64) * n_batches + replayed.batch[step]
    found, pair_of, replicas = np.unique(pairs, return_inverse=True, return_counts=True)
    size_bytes = np.zeros(len(found), np.int64)
    np.add.at(size_bytes, pair_of, replayed.size[step])
    return Traffic(found // n_batches, found % n_batches, replicas, size_bytes)
