"""Feasible bands of loads: the smallest maximum, then the largest minimum, by maximum flows over groups of partitions.

Partitions of one group are interchangeable: same replication factor, eligible brokers and bounds for each rack. What a
group puts on racks and brokers is a flow, with at most one replica of each partition on a broker.

- Counts: every integral flow decomposes into legal placements. A fractional placement of each partition exists, hence
  an integral one, since transportation polytopes are integral. So the narrowest band of a million partitions is exact.
- Other loads: the flow may split replicas. Every placement is such a flow, so that none has a smaller maximum, nor,
  below that maximum, a larger minimum.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow, Network, is_feasible
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import Band, MovementProblem, bounded, capped_floors
from app.core.replica_lists import distinct_rows, sums_by


def narrowest_band(problem: MovementProblem) -> Band:
    """The narrowest feasible band of the target brokers' counts, exactly; current placements do not matter.

    Complexity: O(log(rows)) maximum flows over groups of interchangeable partitions, racks and brokers.

    Raises
    ------
    InfeasibleFlow : no legal placement exists.
    """
    groups = grouped_counts(problem)
    high = groups.lowest_ceiling()
    return Band(groups.highest_floor(high), high)


@dataclass(frozen=True, slots=True, eq=False)
class GroupedLoads:
    """The load of each group of partitions, and the bounds on what it puts on racks and brokers.

    Parameters
    ----------
    total : (groups,) int64 load of all replicas. least, most : (groups, racks) int64 of it in each rack.
    group, broker : (pairs,) int64, the brokers that each group may use. must, may : (pairs,) int64 bounds of its load.
    rack_of : (brokers,) int32. target : (brokers,) bool, brokers within the band. base : (brokers,) int64 other load.
    floor_cap : (brokers,) int64 or None, as of `MovementProblem`.
    """

    total: Int64s
    least: Int64s = field(repr=False)
    most: Int64s = field(repr=False)
    group: Int64s = field(repr=False)
    broker: Int64s = field(repr=False)
    must: Int64s = field(repr=False)
    may: Int64s = field(repr=False)
    rack_of: Int32s
    target: Bools
    base: Int64s
    floor_cap: Int64s | None

    def lowest_ceiling(self) -> int:
        """The smallest feasible maximum of a bounded broker's load. O(log(total load)) maximum flows.

        Raises
        ------
        InfeasibleFlow : no maximum is feasible.
        """
        targets, base = int(np.count_nonzero(self.target)), self.base[self.target]
        start = int(self.base[bounded(self.target, self.floor_cap)].max(initial=0))
        if self.target[self.broker].all():
            start = max(start, -(-self._total_with(base) // max(1, targets)))
        end = start + int(self.total.sum())
        ceiling = _smallest(lambda high: self.is_feasible(0, high), start, end)
        if ceiling == end and not self.is_feasible(0, end):
            raise InfeasibleFlow
        return ceiling

    def highest_floor(self, ceiling: int) -> int:
        """The largest feasible minimum below a feasible ceiling; 0 if there are no targets. Complexity as above."""
        targets = int(np.count_nonzero(self.target))
        if not targets:
            return 0
        start = min(ceiling, self._total_with(self.base[self.target]) // targets)
        return start - _smallest(lambda depth: self.is_feasible(start - depth, ceiling), 0, start)

    def is_feasible(self, low: int | Int64s, high: int | Int64s) -> bool:
        """Whether every bounded broker's load can be within low … high, of all brokers or (brokers,) of each.

        The network has an arc of each group to its shares of racks, of each share to brokers, and of brokers to the
        sink. Lower bounds of arcs are sent from the start.
        """
        groups, racks, brokers = *self.least.shape, len(self.base)
        total = int(self.total.sum())
        shares, first_broker = np.arange(groups * racks), groups + groups * racks
        sink = first_broker + brokers
        tails = [shares // max(racks, 1), groups + self.group * racks + self.rack_of[self.broker]]
        heads = [groups + shares, first_broker + self.broker, np.full(brokers, sink)]
        floors = np.maximum(capped_floors(low, self.target, self.floor_cap) - self.base, 0)
        ceilings = np.where(bounded(self.target, self.floor_cap), high - self.base, total)
        lower = np.concatenate([self.least.ravel(), self.must, floors])
        upper = np.concatenate([self.most.ravel(), self.may, ceilings])
        if (lower > upper).any():
            return False
        tail = np.concatenate([*tails, first_broker + np.arange(brokers)]).astype(np.int32)
        head = np.concatenate(heads).astype(np.int32)
        supplies = sums_by(head, lower, sink + 1) - sums_by(tail, lower, sink + 1)
        supplies[:groups] += self.total
        supplies[sink] -= total
        return is_feasible(Network(supplies, tail, head, upper - lower))

    def _total_with(self, base: Int64s) -> int:
        return int(self.total.sum()) + int(base.sum())


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


def grouped_counts(problem: MovementProblem) -> GroupedLoads:
    """Partitions grouped by domain, pinned broker and brokers that may only keep their replica; each replica loads 1.

    Pinned replicas are part of the base.
    """
    table, current = problem.table, problem.current
    domain, must = problem.domain_of, problem.must_keep
    only = (current != NO_REPLICA) & table.may_keep[domain[:, None], current]
    only &= ~table.may_receive[domain[:, None], current]
    only_current = np.sort(np.where(only, current, NO_REPLICA), axis=1)
    first, group_of = distinct_rows(np.column_stack([domain, must, only_current]))
    size = np.bincount(group_of, minlength=len(first))
    need, least, most = table.factor[domain[first]], table.least[domain[first]], table.most[domain[first]]
    may_use = table.may_receive[domain[first]]
    group, column = np.nonzero(only[first])
    may_use[group, current[first][group, column]] = True
    pinned = np.flatnonzero(must[first] != NO_REPLICA)
    at = must[first][pinned]
    need[pinned] -= 1
    for bounds in (least, most):
        bounds[pinned, problem.rack_of[at]] -= 1
    may_use[pinned, at] = False
    group, broker = np.nonzero(may_use)
    return GroupedLoads(
        total=size * need,
        least=size[:, None] * np.maximum(least, 0),
        most=size[:, None] * most,
        group=group,
        broker=broker,
        must=np.zeros(len(group), np.int64),
        may=size[group],
        rack_of=problem.rack_of,
        target=problem.target,
        base=problem.base + sums_by(at, size[pinned], len(problem.base)),
        floor_cap=problem.floor_cap,
    )
