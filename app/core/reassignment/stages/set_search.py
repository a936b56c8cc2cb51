"""Local search over replica sets: partitions on other sets choose known ones, within the bounds of all brokers.

A partition first takes the known set that violates the bounds least, with as many copies as its list has. Then those
that move choose again, broker by broker above or below its bounds, until the bounds hold or no choice is better; last
others may move as well. Replicas and leaders are chosen together, since a leader loads its broker otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_LEADER, NO_REPLICA, Float64s, Int32s, Int64s
from app.core.replica_lists import per_broker

MOST_PASSES = 30
"""Passes over the partitions that may choose, each of which has to lower the violation."""
_LEAST = 1e-9
"""A violation that is no more than rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class SetLoads:
    """What replicas load on brokers, and the bounds of these loads.

    Parameters
    ----------
    of_leader, of_follower : (rows, columns) int64. base, low, high : (brokers, columns) int64.
    leaders : (rows,) int32, or `NO_LEADER` if it does not matter which replica leads.
    rank : (rows, widest) int64 of a list's rows; the replicas of the smallest may lead.
    """

    of_leader: Int64s = field(repr=False)
    of_follower: Int64s = field(repr=False)
    base: Int64s = field(repr=False)
    low: Int64s = field(repr=False)
    high: Int64s = field(repr=False)
    leaders: Int32s = field(repr=False)
    rank: Callable[[int, Int32s], Float64s]

    def without(self, rows: Int64s) -> "SetLoads":
        """The loads of the other rows."""
        of_leader, of_follower = (np.delete(each, rows, axis=0) for each in (self.of_leader, self.of_follower))
        return replace(self, of_leader=of_leader, of_follower=of_follower, leaders=np.delete(self.leaders, rows))


def ranked(may_lead: NDArray[np.bool_], behind: Int32s) -> Callable[[int, Int32s], Float64s]:
    """The rank of `SetLoads`: replicas that may lead and are in sync first.

    Parameters
    ----------
    may_lead : (brokers,) bool. behind : (rows, widest) int32 replicas out of sync, padded.
    """
    return lambda row, lists: np.where(may_lead[lists], 0.0, 1.0) + 2 * np.isin(lists, behind[row])


def unranked(_: int, lists: Int32s) -> Float64s:
    """The rank of replicas of which any may lead."""
    return np.zeros(lists.shape)


@dataclass(slots=True, eq=False)
class SetSearch:
    """The lists while they are searched.

    Parameters
    ----------
    lists : (rows, widest) int32 positions. leaders : (rows,) int32. totals : (brokers, columns) int64 loads.
    unit : (columns,) float64 mean load of a partition.
    options : of a row, (options, factor) int32 lists and (options,) int64 weights that they copy; whether others than
        those with as many copies as now are among them.
    """

    loads: SetLoads
    lists: Int32s
    leaders: Int32s
    totals: Int64s
    unit: Float64s
    options: Callable[[int, bool], tuple[Int32s, Int64s]]
    is_over: Callable[[], bool]

    @classmethod
    def of(
        cls,
        loads: SetLoads,
        lists: Int32s,
        options: Callable[[int, bool], tuple[Int32s, Int64s]],
        is_over: Callable[[], bool],
    ) -> "SetSearch":
        """Start from (rows, widest) int32 lists."""
        totals, brokers = loads.base.copy(), len(loads.base)
        of_leader = loads.of_leader - loads.of_follower
        for column in range(totals.shape[1]):
            totals[:, column] += per_broker(lists, brokers, loads.of_follower[:, column])
            totals[:, column] += per_broker(loads.leaders[:, None], brokers, of_leader[:, column])
        unit = np.maximum(loads.of_leader.mean(axis=0, dtype=np.float64), 1.0) if len(lists) else np.ones(1)
        return cls(loads, lists.copy(), loads.leaders.copy(), totals, unit, options, is_over)

    def repaired(self, opened: Int64s, moving: Int64s, others: Int64s) -> bool:
        """Bring rows onto known sets; whether all are, within the bounds.

        Parameters
        ----------
        opened : rows that leave their lists. moving : rows that move. others : rows that may, if that is necessary.
        """
        heaviest = opened[np.argsort(-self.loads.of_leader[opened].sum(axis=1), kind="stable")]
        has_left = [self._choose(row, leaves=True) for row in heaviest.tolist()]
        if not all(has_left):
            return False
        return any(self._within(rows, widely=widely) for rows, widely in ((moving, False), (others, True)))

    @property
    def is_within(self) -> bool:
        """Whether the loads of all brokers are within their bounds."""
        return bool(((self.totals >= self.loads.low) & (self.totals <= self.loads.high)).all())

    def _within(self, rows: Int64s, *, widely: bool) -> bool:
        """Whether the bounds hold after rows have chosen again."""
        for _ in range(MOST_PASSES):
            if self.is_within:
                return True
            above, below = (self.totals > self.loads.high).any(axis=1), (self.totals < self.loads.low).any(axis=1)
            on_any = np.append(above, False)[self.lists[rows]].any(axis=1) | below.any()
            changed = [not self.is_over() and self._choose(row, widely=widely) for row in rows[on_any].tolist()]
            if not any(changed):
                return False
        return False

    def _choose(self, row: int, *, leaves: bool = False, widely: bool = False) -> bool:
        """Give a row the list with the least violation, then with the fewest copies, then on the least loaded brokers.

        Returns whether it has another list: if it `leaves` its list, whether there is one; else if that is better.
        """
        lists, weights = self.options(row, widely)
        own = self.lists[row][self.lists[row] != NO_REPLICA]
        if leaves and not len(lists):
            lists, weights = self.options(row, True)
        lists, leaders, weights = self.led(row, lists, weights)
        if not len(lists):
            return False
        self._load(row, own, int(self.leaders[row]), -1)
        leads = (lists == leaders[:, None])[:, :, None]
        added = np.where(leads, self.loads.of_leader[row], self.loads.of_follower[row])
        violation = self._violation(lists, added)
        crowded = ((self.totals[lists] + added) / self.unit).sum(axis=(1, 2))
        best = np.lexsort((crowded, weights, violation.round(9)))[0]
        if not leaves:
            leads_own = (own == self.leaders[row])[:, None]
            before = self._violation(own, np.where(leads_own, self.loads.of_leader[row], self.loads.of_follower[row]))
            if violation[best] > before - _LEAST:
                self._load(row, own, int(self.leaders[row]), 1)
                return False
        self.lists[row] = NO_REPLICA
        self.lists[row, : lists.shape[1]] = lists[best]
        self.leaders[row] = leaders[best]
        self._load(row, lists[best], int(leaders[best]), 1)
        return True

    def led(self, row: int, lists: Int32s, weights: Int64s) -> tuple[Int32s, Int32s, Int64s]:
        """The lists, one for each leader that they may have; the leader stays if it can."""
        leader = self.leaders[row]
        if leader == NO_LEADER:
            return lists, np.full(len(lists), NO_LEADER, np.int32), weights
        rank = self.loads.rank(row, lists)
        may = rank == rank.min(axis=1, keepdims=True)
        stays = may & (lists == leader)
        index, column = np.nonzero(np.where(stays.any(axis=1)[:, None], stays, may))
        return lists[index], lists[index, column], weights[index]

    def _load(self, row: int, brokers: Int32s, leader: int, sign: int) -> None:
        self.totals[brokers] += sign * self.loads.of_follower[row]
        if leader != NO_LEADER:
            self.totals[leader] += sign * (self.loads.of_leader[row] - self.loads.of_follower[row])

    def _violation(self, brokers: Int32s, added: Int64s) -> NDArray[np.float64]:
        """By list, how much more the loads of its brokers are outside their bounds with what is added."""
        low, high, before = self.loads.low[brokers], self.loads.high[brokers], self.totals[brokers]
        after = before + added
        outside = np.maximum(after - high, 0) + np.maximum(low - after, 0)
        outside -= np.maximum(before - high, 0) + np.maximum(low - before, 0)
        return np.asarray((outside / self.unit).sum(axis=(-2, -1)), np.float64)
