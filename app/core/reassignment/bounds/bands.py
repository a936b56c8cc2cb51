"""Feasible bands of loads: the smallest maximum, then the largest minimum, by maximum flows over groups of partitions.

Partitions of one group are interchangeable: same replication factor, eligible brokers and bounds for each rack. What a
group puts on racks and brokers is a flow, with at most one replica of each partition on a broker.

- Counts: every integral flow decomposes into legal placements. A fractional placement of each partition exists, hence
  an integral one, since transportation polytopes are integral. So the narrowest band of a million partitions is exact.
- Other loads: the flow may split replicas. Every placement is such a flow, so that none has a smaller maximum, nor,
  below that maximum, a larger minimum. Partitions of a domain are a group; a broker that may only keep replicas has no
  more than its current ones. The ceiling is raised to what whole replicas require: of the heaviest k · n + 1 replicas
  that n brokers must have, some broker has k + 1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow, Network, is_feasible
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import Band, MovementProblem, bounded, capped_floors
from app.core.reassignment.rules import LoadRules
from app.core.replica_lists import distinct_rows, per_group, sums_by


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
    only = problem.may_stay & ~table.may_receive[domain[:, None], current]
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


def lowest_ceiling(rules: LoadRules, base_load: Int64s) -> int:
    """A lower bound on the largest load of a target broker.

    Complexity: O(log(total load)) maximum flows over domains, racks and brokers.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    """
    groups = _grouped_loads(rules, base_load)
    return max(groups.lowest_ceiling(), _whole_replica_bound(rules, groups))


def highest_floor(rules: LoadRules, base_load: Int64s, ceiling: int) -> int:
    """An upper bound on the smallest load of a target broker, among placements below the ceiling; 0 if there are
    none.
    """
    return _grouped_loads(rules, base_load).highest_floor(ceiling)


def _grouped_loads(rules: LoadRules, base_load: Int64s) -> GroupedLoads:
    """The load that each domain spreads."""
    domains, brokers = rules.may_receive.shape
    partitions = sums_by(rules.domain_of, rules.load, domains)
    must, may = (
        per_group(rules.domain_of, lists, domains, brokers, rules.load)
        for lists in (rules.must_keep[:, None], rules.current)
    )
    may = np.where(rules.may_receive, partitions[:, None], may)
    total = partitions * rules.factor
    domain, broker = np.nonzero(may)
    return GroupedLoads(
        total=total,
        least=rules.least * partitions[:, None],
        most=np.minimum(rules.most * partitions[:, None], total[:, None]),
        group=domain,
        broker=broker,
        must=must[domain, broker],
        may=may[domain, broker],
        rack_of=rules.rack_of,
        target=rules.target,
        base=base_load,
        floor_cap=rules.floor_cap,
    )


def _whole_replica_bound(rules: LoadRules, groups: GroupedLoads) -> int:
    """The least load that the heaviest whole replicas put on one broker, over all targets and over those of each
    rack.
    """
    may = np.isin(np.arange(len(groups.base)), groups.broker)
    bounds = [0]
    regions: list[tuple[Bools, Int64s]] = [(np.full(len(may), True), rules.factor)]
    regions += [(np.asarray(rules.rack_of == rack), least) for rack, least in enumerate(rules.least.T)]
    for inside, of_domain in regions:
        receivers = may & inside & rules.target
        copies = np.where(_may_leave_targets(rules, inside & ~rules.target), 0, of_domain[rules.domain_of])
        heaviest = -np.sort(-np.repeat(rules.load, copies))
        if receivers.any() and len(heaviest):
            bounds.append(
                _heaviest_share(heaviest, int(np.count_nonzero(receivers))) + int(groups.base[receivers].min())
            )
    return max(bounds)


def _may_leave_targets(rules: LoadRules, beside: Bools) -> Bools:
    """(rows,) bool: whether a replica may be on one of these brokers, whose loads do not count."""
    leaves: Bools = np.asarray((rules.may_receive & beside).any(axis=1))[rules.domain_of]
    for current_broker in rules.current.T:
        leaves |= (current_broker != NO_REPLICA) & beside[current_broker]
    return leaves


def _heaviest_share(heaviest: Int64s, brokers: int) -> int:
    """The largest sum of k + 1 replicas that have to share a broker: the lightest of the first k · brokers + 1."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(heaviest)])
    k = np.arange((len(heaviest) - 1) // brokers + 1)
    ends = k * brokers + 1
    return int((sums[ends] - sums[ends - k - 1]).max())
