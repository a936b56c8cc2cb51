"""The narrowest feasible band of replica counts: the smallest maximum, then the largest minimum.

Partitions of one domain are interchangeable. How many replicas they put on which broker is a flow of as many units as
there are partitions, at most one a partition on each broker, and every such flow decomposes into legal placements: a
fractional placement of each partition exists, hence an integral one, since transportation polytopes are integral. So
feasibility of a band for a million partitions is a maximum flow over domains, racks and brokers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.flow import Network, is_feasible
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.counts.places import DomainTable
from app.core.reassignment.model import Band, MovementProblem


def narrowest_band(problem: MovementProblem) -> Band:
    """The narrowest feasible band of the target brokers' counts, exactly; current placements do not matter.

    Complexity: O(log(rows)) maximum flows over groups of interchangeable partitions, racks and brokers.
    """
    groups = _Groups.of(problem)
    targets = int(np.count_nonzero(problem.target))
    if not targets:
        return Band(0, 0)
    total = int((groups.size * groups.need).sum() + groups.base[problem.target].sum())
    most = int(groups.base[problem.target].max()) + int(groups.size.sum())
    high = _smallest(lambda high: groups.fits(0, high), -(-total // targets) if groups.are_targets else 0, most)
    low = most - _smallest(lambda depth: groups.fits(most - depth, high), most - min(high, total // targets), most)
    return Band(low, high)


def _smallest(holds: Callable[[int], bool], start: int, end: int) -> int:
    """The smallest number from `start` to `end` for which a monotone predicate holds, given that it holds for `end`;
    found by galloping and bisection.
    """
    step, failing, number = 1, start - 1, start
    while number < end and not holds(number):
        failing, number, step = number, min(number + step, end), step * 2
    while number - failing > 1:
        middle = (number + failing) // 2
        failing, number = (failing, middle) if holds(middle) else (middle, number)
    return number


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Partitions grouped by everything that matters to the counts.

    Parameters
    ----------
    size, need : (groups,) int64 partitions, and replicas of each that are not pinned.
    least, most : (groups, racks) int64. may_hold : (groups, brokers) bool.
    base : (brokers,) int64 replicas that are there in every placement.
    """

    problem: MovementProblem
    size: Int64s
    need: Int64s
    least: Int64s = field(repr=False)
    most: Int64s = field(repr=False)
    may_hold: NDArray[np.bool_] = field(repr=False)
    base: Int64s = field(repr=False)

    @classmethod
    def of(cls, problem: MovementProblem) -> "_Groups":
        table = DomainTable.of(problem)
        domain, must = problem.domain_of, problem.must_keep
        current = problem.current
        only = (current != NO_REPLICA) & table.may_keep[domain[:, None], current]
        only &= ~table.may_receive[domain[:, None], current]
        keys = np.concatenate(
            [domain[:, None], must[:, None], np.sort(np.where(only, current, NO_REPLICA), axis=1)], axis=1
        )
        first, size = _alike(keys)
        need, least, most = table.factor[domain[first]], table.least[domain[first]], table.most[domain[first]]
        may_hold = table.may_receive[domain[first]].copy()
        group, column = np.nonzero(only[first])
        may_hold[group, current[first][group, column]] = True
        base = problem.base.copy()
        pinned = np.flatnonzero(must[first] != NO_REPLICA)
        at = must[first][pinned]
        np.add.at(base, at, size[pinned])
        need[pinned] -= 1
        least[pinned, problem.rack_of[at]] -= 1
        most[pinned, problem.rack_of[at]] -= 1
        may_hold[pinned, at] = False
        return cls(problem, size, need, np.maximum(least, 0), most, may_hold, base)

    @property
    def are_targets(self) -> bool:
        return not (self.may_hold & ~self.problem.target).any()

    def fits(self, low: int, high: int) -> bool:
        """Whether some legal placement leaves every target broker with a count within low … high."""
        target, base = self.problem.target, self.base
        if (base[target] > high).any():
            return False
        groups, racks, brokers = len(self.size), self.problem.racks, len(base)
        shares, sink = groups, groups + groups * racks + brokers
        first_broker = shares + groups * racks
        group, broker = np.nonzero(self.may_hold)
        everywhere = np.arange(groups * racks)
        lows = np.where(target, np.maximum(low - base, 0), 0)
        highs = np.where(target, high - base, int((self.size * self.need).sum()))
        if (lows > highs).any():
            return False
        at_least = (self.size[:, None] * self.least).ravel()
        tails = np.concatenate([everywhere // racks, shares + group * racks + self.problem.rack_of[broker]])
        heads = np.concatenate([shares + everywhere, first_broker + broker])
        capacities = [(self.size[:, None] * (self.most - self.least)).ravel(), self.size[group], highs - lows]
        supplies = np.zeros(sink + 1, np.int64)
        supplies[:groups] = self.size * (self.need - self.least.sum(axis=1))
        supplies[shares:first_broker] = at_least
        supplies[first_broker:sink] = -lows
        supplies[sink] = -supplies.sum()
        network = Network(
            supplies,
            np.concatenate([tails, first_broker + np.arange(brokers)]).astype(np.int32),
            np.concatenate([heads, np.full(brokers, sink)]).astype(np.int32),
            np.concatenate(capacities),
        )
        if supplies[sink] > 0:
            return False
        return is_feasible(network)


def _alike(keys: Int32s) -> tuple[Int64s, Int64s]:
    """The first of each group of equal rows, and the size of the group."""
    number = np.zeros(len(keys), np.int64)
    for column in keys.T[(keys != keys[:1]).any(axis=0)]:
        values, place = np.unique(column, return_inverse=True)
        # Numbered anew with each column, so that the product stays within 64 bits.
        _, number = np.unique(number * len(values) + place, return_inverse=True)
    _, first, size = np.unique(number, return_index=True, return_counts=True)
    return first.astype(np.int64), size.astype(np.int64)
