"""Slots: the replicas of partitions that have exactly one replica in each rack they may use.

With three racks and three replicas, a partition has one slot in each rack. A slot stays on its current broker or moves
to any receiver of its rack, whatever the other slots of the partition do: they are in other racks. So slots of one
topic in one rack that move are interchangeable, and so are their destinations; only what it costs to move each differs.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts.places import PlaceCosts
from app.core.reassignment.model import MovementProblem


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """The slots of some partitions, in the order of rows.

    Parameters
    ----------
    row : (slots,) int64. rack : (slots,) int32.
    current_broker : (slots,) int32, the one that may keep the replica; `NO_REPLICA` if it has to be placed.
    column : (slots,) int64 of that broker in the list of current brokers; 0 without one.
    is_pinned : (slots,) bool, the current broker must keep its replica.
    receivers : (slots,) int64 index of the partition's set of receivers in `sets`, (sets, brokers) bool.
    """

    row: Int64s = field(repr=False)
    rack: Int32s = field(repr=False)
    current_broker: Int32s = field(repr=False)
    column: Int64s = field(repr=False)
    is_pinned: NDArray[np.bool_] = field(repr=False)
    receivers: Int64s = field(repr=False)
    sets: NDArray[np.bool_] = field(repr=False)

    @property
    def is_free(self) -> NDArray[np.bool_]:
        """(slots,) bool: slots whose current broker may keep the replica and need not."""
        return np.asarray((self.current_broker != NO_REPLICA) & ~self.is_pinned, np.bool_)

    def costs_of_staying(self, costs: PlaceCosts) -> Int64s:
        """(slots,) int64: the cost of the current broker; that of another broker for slots without one."""
        costs_there = (
            costs.current[self.row, self.column] if costs.current.shape[1] else np.zeros(len(self.row), np.int64)
        )
        return np.asarray(np.where(self.current_broker != NO_REPLICA, costs_there, costs.other[self.row]), np.int64)

    def costs_of_leaving(self, costs: PlaceCosts) -> Int64s:
        """(slots,) int64: by how much another broker costs more than the current broker; 0 without one."""
        return np.asarray(costs.other[self.row] - self.costs_of_staying(costs), np.int64)

    def replicas(self, at: Int32s, rows: int, widest: int) -> Int32s:
        """(rows, widest) int32: the brokers of each partition, unordered, from (slots,) int32 brokers of slots."""
        lists = np.full((rows, widest), NO_REPLICA, np.int32)
        lists[self.row, np.arange(len(self.row)) - np.searchsorted(self.row, self.row)] = at
        return lists


def slots_of(problem: MovementProblem) -> tuple[Slots, NDArray[np.bool_]]:
    """The slots of all partitions that consist of slots, and (rows,) bool which those are.

    A partition does if each rack has to have one of its replicas, or none, and has one broker at most that may keep
    one. Complexity: O(rows · (racks + widest)).
    """
    table, racks, domain = problem.table, problem.racks, problem.domain_of
    # What the other racks need and may have bounds each rack as well.
    factor = table.factor[:, None]
    most = np.minimum(table.most, factor - table.least.sum(axis=1)[:, None] + table.least)
    least = np.maximum(table.least, factor - table.most.sum(axis=1)[:, None] + table.most)
    is_settled = ((least == most) & (most <= 1)).all(axis=1)
    current = problem.current
    may_keep = (current != NO_REPLICA) & table.may_keep[domain[:, None], current]
    may_keep |= (current != NO_REPLICA) & (current == problem.must_keep[:, None])
    row, column = np.nonzero(may_keep)
    cell = row * racks + problem.rack_of[current[row, column]]
    has_one = np.bincount(cell, minlength=len(current) * racks).reshape(-1, racks).max(axis=1, initial=0) <= 1
    consists = np.asarray(is_settled[domain] & has_one, np.bool_)

    slot_row, rack = np.nonzero((most[domain] == 1) & consists[:, None])
    of_cell = np.full(len(current) * racks, -1, np.int64)
    of_cell[cell] = column
    at = of_cell[slot_row * racks + rack]
    has_current_broker = at >= 0
    current_broker = np.full(len(slot_row), NO_REPLICA, np.int32)
    current_broker[has_current_broker] = current[slot_row[has_current_broker], at[has_current_broker]]
    sets, set_of = np.unique(table.may_receive, axis=0, return_inverse=True)
    slots = Slots(
        row=slot_row,
        rack=rack.astype(np.int32),
        current_broker=current_broker,
        column=np.maximum(at, 0),
        is_pinned=has_current_broker & (current_broker == problem.must_keep[slot_row]),
        receivers=set_of.reshape(-1)[domain[slot_row]].astype(np.int64),
        sets=sets,
    )
    return slots, consists
