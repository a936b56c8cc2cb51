"""Lower bounds by sums: the least load that every placement puts on a set of brokers, against what they may have.

For a set of brokers and a domain, the number of replicas of a partition elsewhere is bounded: by rack, no more than its
`most` and its other eligible brokers, and the `least` of racks without enough of these has to be in the set. If all
replicas have to be in the set, so has the leader. Sums are exact integers. The sets are all limited (or target)
brokers, those of each rack, and each broker alone.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from app.core.model import Bools, Int64s
from app.core.reassignment.resource_problem import NO_LIMIT, RESOURCES, LimitConflict, ResourceProblem
from app.core.replica_lists import sums_by

COUNTS = RESOURCES.index("replicas")
"""This column and those after it are counts: loads are whole numbers of about one."""


class LeastLoads:
    """The least load on sets of brokers."""

    def __init__(self, problem: ResourceProblem) -> None:
        self._problem = problem
        movement, loads = problem.movement, problem.loads
        domains = len(movement.domains)
        self._follows = np.stack([sums_by(movement.domain_of, of, domains) for of in loads.of_follower.T], axis=1)
        extra = loads.of_leader - loads.of_follower
        self._leads = np.stack([sums_by(movement.domain_of, of, domains) for of in extra.T], axis=1)
        self._reads = np.zeros_like(self._leads)
        if loads.reads is not None:
            self._reads = np.stack([sums_by(movement.domain_of, of, domains) for of in loads.reads.load.T], axis=1)
        table = movement.table
        self._eligible = table.may_receive | table.may_keep

    def in_set(self, chosen: Bools) -> Int64s:
        """(resources,) int64: the least load of the brokers that are chosen, (brokers,) bool, base included."""
        movement, loads = self._problem.movement, self._problem.loads
        total = loads.base[chosen].sum(axis=0).astype(np.int64)
        for number, domain in enumerate(movement.domains):
            fewest = self.fewest(number, chosen)
            total += fewest * self._follows[number]
            least = np.minimum(self._leads[number], 0)
            if fewest == domain.factor:
                least = self._leads[number] + self._reads[number]
            total += least if fewest else 0
        return np.asarray(total, np.int64)

    def fewest(self, domain: int, chosen: Bools) -> int:
        """The fewest replicas of a partition of the domain on the brokers that are chosen."""
        movement = self._problem.movement
        least, most, factor = movement.table.least[domain], movement.table.most[domain], movement.domains[domain].factor
        outside = sums_by(movement.rack_of, (self._eligible[domain] & ~chosen).astype(np.int64), movement.racks)
        missing = int(np.maximum(least - outside, 0).sum())
        return max(missing, factor - int(np.minimum(most, outside).sum()), 0)


def sets_of(problem: ResourceProblem, brokers: Bools) -> Iterator[Bools]:
    """Distinct sets of brokers, by ascending size: each broker, those of each rack, and all of them."""
    racks = [brokers & (problem.movement.rack_of == rack) for rack in np.unique(problem.movement.rack_of[brokers])]
    for broker in np.flatnonzero(brokers):
        yield np.arange(len(brokers)) == broker
    several = [chosen for chosen in racks if np.count_nonzero(chosen) > 1]
    yield from several
    if len(racks) > 1:
        yield brokers


def share_bounds(problem: ResourceProblem, totals: Int64s) -> list[Fraction]:
    """For each resource, a lower bound on the largest load of a target broker over its ideal load."""
    weights, targets, least = problem.weights, problem.targets, LeastLoads(problem)
    bounds = [Fraction(0)] * len(RESOURCES)
    kinds, kind_of = np.unique(targets, axis=1, return_inverse=True)
    for chosen, columns in (
        (chosen, np.flatnonzero(kind_of.ravel() == kind))
        for kind, target in enumerate(kinds.T)
        for chosen in sets_of(problem, target)
    ):
        loads = least.in_set(chosen)
        for column in columns.tolist():
            of_all, of_set = int(weights[:, column].sum()), int(weights[chosen, column].sum())
            if totals[column] > 0:
                share = Fraction(int(loads[column]) * of_all, of_set * int(totals[column]))
                if column >= COUNTS:
                    unit = Fraction(of_all, int(totals[column]))
                    share = _of_whole(int(loads[column]), weights[chosen, column], unit)
                bounds[column] = max(bounds[column], share)
    for column in range(len(RESOURCES)):
        if totals[column] > 0:
            unit = Fraction(int(weights[:, column].sum()), int(totals[column]))
            bounds[column] = max(bounds[column], _of_heaviest(problem, least, column, weights[:, column]) * unit)
    return bounds


def _of_whole(count: int, weights: Int64s, unit: Fraction) -> Fraction:
    """The smallest largest share of brokers that have this number of replicas, or leaders, in all.

    Parameters
    ----------
    weights : (brokers,) int64. unit : share of one load for the weight.
    """
    if count <= 0:
        return Fraction(0)
    total = int(weights.sum())
    low, high = Fraction(count, total), Fraction(count + len(weights), total)
    shares = {
        Fraction(-(-count * int(weight) // total) + more, int(weight))
        for weight in set(weights.tolist())
        for more in (0, 1)
    }
    for share in sorted(shares):
        if low <= share <= high and sum(int(share * int(weight)) for weight in weights) >= count:
            return share * unit
    return low * unit


def _of_heaviest(problem: ResourceProblem, least: LeastLoads, column: int, weights: Int64s) -> Fraction:
    """Of the heaviest k · n + 1 replicas that n brokers must have, some broker has k + 1; for the largest weight."""
    movement, loads, target = problem.movement, problem.loads, problem.targets[:, column]
    fewest = np.array([least.fewest(number, target) for number in range(len(movement.domains))], np.int64)
    per_row = fewest[movement.domain_of]
    all_inside = (per_row == movement.factors) & (per_row > 0)
    lighter = np.minimum(loads.of_leader[:, column], loads.of_follower[:, column])
    followers = np.where(all_inside, loads.of_follower[:, column], lighter)
    followers = np.repeat(followers, np.where(all_inside, per_row - 1, per_row))
    heaviest = np.sort(np.append(followers, loads.of_leader[all_inside, column]))[::-1]
    each = heaviest[:: max(1, np.count_nonzero(target))]
    sums = each * np.arange(1, len(each) + 1)
    return Fraction(int(sums.max(initial=0)), max(1, int(weights.max())))


def topic_ranges(problem: ResourceProblem, counts: Int64s) -> tuple[Int64s, Fraction]:
    """For `TOPIC_REPLICAS`: (topics,) int64 the fewest replicas of each topic that some target broker has, and a lower
    bound on the largest count over the topic's mean.

    Parameters
    ----------
    counts : (topics, brokers) int64 of a legal placement, whose sums are those of every placement.
    """
    target = problem.movement.target
    brokers = max(1, int(np.count_nonzero(target)))
    totals = counts[:, target].sum(axis=1) * (not _may_leave_targets(problem))
    fewest = -(-totals // brokers)
    ratios = [Fraction(int(few) * brokers, int(total)) for few, total in zip(fewest, totals, strict=True) if total]
    return fewest, max(ratios, default=Fraction(0))


def _may_leave_targets(problem: ResourceProblem) -> bool:
    """Whether some replica may be on a broker that is no target."""
    table = problem.movement.table
    return bool((table.may_receive | table.may_keep)[:, ~problem.movement.target].any())


def conflicts_of(problem: ResourceProblem) -> tuple[list[LimitConflict], Fraction, Fraction]:
    """Hard limits that cannot all hold, the smallest set of each resource, and lower bounds on hard and soft excess.

    The excess is counted in shares of limits, as in `Excess`.
    """
    least, upper = LeastLoads(problem), problem.limits.upper
    conflicts: dict[int, LimitConflict] = {}
    excess = {True: Fraction(0), False: Fraction(0)}
    for column, name in enumerate(RESOURCES):
        limited = upper[:, column] < NO_LIMIT
        by_rack, largest = Fraction(0), Fraction(0)
        for chosen in sets_of(problem, limited):
            required, available = int(least.in_set(chosen)[column]), int(upper[chosen, column].sum())
            if required <= available:
                continue
            over = Fraction(required - available, max(1, int(upper[chosen, column].max())))
            largest = max(largest, over)
            if np.count_nonzero(chosen) == 1:
                by_rack += over
            if not problem.limits.is_soft[column] and column not in conflicts:
                brokers = tuple(np.flatnonzero(chosen).tolist())
                conflicts[column] = LimitConflict(name, brokers, required, available)
        excess[bool(problem.limits.is_soft[column])] += max(by_rack, largest)
    return list(conflicts.values()), excess[False], excess[True]
