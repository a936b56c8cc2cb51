"""The steps of each partition: which replica lists it goes through on its way.

During a step Kafka holds the replicas of both lists, so that one list after another may replace one replica. With
a replicas to add, d to drop, and factors f before and g after:

- At no time does Kafka hold more than max(f, g) + 1 replicas of the partition, nor is it asked for less than min(f, g).
- Each step replaces one replica, which takes the place of the one that it replaces. Where the factor grows, the first
  step adds the additional ones as well (several steps, where the leader may not send as many in one batch); where it
  shrinks, the last step drops the surplus, so that copies exist for as long as they can. That is max(1, min(a, d))
  steps, undone in the same way.
- No list spans fewer racks than both ends do: a replica is replaced within its rack where one can be, and new racks
  are opened first.
- The first replica stays the first for as long as data moves, since followers copy from it. If it goes, it goes in the
  partition's last step, in which the leader must change. If it stays without staying first, or if only the order of the
  list changes, then another step at the very end, in which nothing is copied, asks for the final order.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import UNKNOWN_SIZE, Int32s, Int64s
from app.core.reassignment.batches.model import BatchLimits, Hottest, Reassigned

NO_LIMIT = 1 << 62
"""Stands for limits that are not set, and leaves room for adding to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Partitions whose replicas change, first those that are to be packed first, each with its steps in their order.

    Parameters
    ----------
    rows : (chains,) int64. first : (chains + 1,) int64; chain c has steps `first[c]` … `first[c + 1]` - 1.
    before, after : (steps, widest) int32 replica lists.
    adds, adds_from : step s adds brokers `adds[adds_from[s]:adds_from[s + 1]]`. drops, drops_from : likewise.
    source : (chains,) int32 broker that new replicas are copied from. size : (chains,) int64 bytes, 0 if unknown.
    """

    rows: Int64s = field(repr=False)
    first: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    adds: Int32s = field(repr=False)
    adds_from: Int64s = field(repr=False)
    drops: Int32s = field(repr=False)
    drops_from: Int64s = field(repr=False)
    source: Int32s = field(repr=False)
    size: Int64s = field(repr=False)

    @property
    def chain_of(self) -> Int64s:
        """(steps,) int64 which chain each step is of."""
        return np.repeat(np.arange(len(self.rows)), np.diff(self.first))


@dataclass(frozen=True, slots=True, eq=False)
class Reordered:
    """Partitions whose list gets its final order at the end, in the order of heat asked for, and their lists.

    Parameters
    ----------
    rows : (rows,) int64. before, after : (rows, widest) int32 replica lists.
    """

    rows: Int64s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)


def steps(reassigned: Reassigned, limits: BatchLimits, *, hottest_first: bool) -> tuple[Chains, Reordered]:
    """The steps of every partition that changes; chains in the order in which they are to be packed, ties by row."""
    from app.core.reassignment.batches import steps_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

    before, after = _alike(reassigned.before, reassigned.after)
    most_adds = limits.max_moves_out_per_broker or NO_LIMIT
    n_steps, is_reordered = kernel.count(before, after, most_adds)
    rows = _ordered(reassigned.heat, n_steps > 0, hottest_first=hottest_first)
    first = np.concatenate([[0], np.cumsum(n_steps[rows])]).astype(np.int64)
    rack_of = reassigned.rack_of if reassigned.rack_of is not None else np.zeros(len(reassigned.broker_ids), np.int32)
    filled = kernel.fill(before, after, rows, first, rack_of, most_adds)
    sizes = reassigned.size_bytes[rows]
    chains = Chains(rows, first, *filled, before[rows, 0], np.where(sizes == UNKNOWN_SIZE, 0, sizes))
    final = _ordered(reassigned.heat, is_reordered, hottest_first=limits.hottest is Hottest.FIRST)
    return chains, Reordered(final, kernel.unordered(before, after, final), after[final])


def _alike(before: Int32s, after: Int32s) -> tuple[Int32s, Int32s]:
    """Both with as many columns, and without more than any list needs."""
    width = max(before.shape[1], after.shape[1], 1)
    return tuple(  # type: ignore[return-value]  # of two
        np.ascontiguousarray(np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=-1), np.int32)
        for rows in (before, after)
    )


def _ordered(heat: Int64s, chosen: NDArray[np.bool_], *, hottest_first: bool) -> Int64s:
    """The chosen rows by heat, ties by row."""
    rows = np.flatnonzero(chosen)
    # Negated, and not turned round, so that ties stay by ascending row.
    return rows[np.argsort(-heat[rows] if hottest_first else heat[rows], kind="stable")]
