"""Small problems, exactly: each aim in order of priority by an integer model that has the optima of those before it.

Limits, goals, movement and leader changes are minimised one after another (CP-SAT). What an aim reached bounds the
loads of the models that follow, so that each value is proven for the placements that are best for what goes before.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor, gcd, lcm

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.bounds.sums import conflicts_of, share_bounds
from app.core.reassignment.goals.answers import GoalRange, answer, topic_counts, topic_range, totals_of
from app.core.reassignment.model import BrokerBounds
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    Goal,
    LimitConflict,
    ResourcePlacement,
    ResourceProblem,
    capacity_weights,
    excess_of,
    loads_of,
)
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.exact.limit_model import ExcessProof, LimitModel, limit_conflicts
from app.core.reassignment.solvers.exact.placement_model import (
    ATTEMPTS,
    LARGEST_SUM,
    MAX_CONFIGURED,
    Attempts,
    NotProven,
    Sum,
    subsets,
)

MAX_CELLS = 160
"""The most pairs of a partition and a broker: the optima of most of these are proven within half a second."""
SOLVER_TIME = 1.0
"""Deterministic time of one solve, about seconds."""
UNIT = 1 << 30
"""An ideal load in models that compare loads of several brokers, if shares are rounded."""
LARGEST_SHARE, LARGEST_ADDED = 1 << 60, 1 << 24
"""Larger shares in whole numbers are rounded: of one goal, and of goals whose shares are added."""
FARTHEST = 1 << 10
"""A wider tolerance is no constraint, and a load that is more times the ideal one is left to the search."""
MAX_REFINEMENTS = 20
"""Solves that lower a largest share which rounding left above its minimum."""
ORDERED = 2
"""Partitions by whose roles interchangeable brokers are in order: with two, a sum of goals is proven in a tenth of the
time; with six, no sooner than with none.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ExactPlacement:
    """The optimum of every aim.

    Parameters
    ----------
    at : (rows, widest) int32, the leader in column 0. ranges : of the goals, with the optima as bounds.
    hard, soft : the excess above limits. moved, changes : the moved weight and the leader changes.
    """

    at: Int32s = field(repr=False)
    ranges: tuple[GoalRange, ...]
    hard: Fraction
    soft: Fraction
    moved: int
    changes: int


def exact_placement(
    problem: ResourceProblem,
    rules: LoadRules,
    start: Int32s,
    priorities: Sequence[Sequence[Goal]],
    is_over: Callable[[], bool],
) -> ExactPlacement | None:
    """The best placement by hard limits, soft limits, goals, moved weight, moved replicas and leader changes, in this
    order.

    A tight goal minimises the largest load over the ideal load. A goal with a tolerance brings brokers within it or, if
    no placement is, minimises the largest distance from the ideal load. Goals of one priority minimise the sum.

    Parameters
    ----------
    start : (rows, widest) int32, a legal placement with the leader in column 0. priorities : as of `reach_goals`.

    Returns
    -------
    None if the problem is too large, if consumers fetch from followers, or if an optimum is not proven in time.
    """
    if problem.loads.reads is not None or not is_small(rules):
        return None
    try:
        return Stages(problem, rules, start, is_over).solved(priorities)
    except NotProven:
        return None


def is_small(rules: LoadRules) -> bool:
    """Whether a problem is answered exactly."""
    return 0 < len(rules.cost) * len(rules.rack_of) <= MAX_CELLS and bool(rules.factor.max(initial=0))


def exact_answer(
    problem: ResourceProblem,
    rules: LoadRules,
    start: Int32s,
    priorities: Sequence[Sequence[Goal]],
    is_over: Callable[[], bool],
) -> ResourcePlacement | None:
    """The answer of `exact_placement`, with conflicts if hard limits cannot all hold."""
    best = exact_placement(problem, rules, start, priorities, is_over)
    if best is None:
        return None
    conflicts: Sequence[LimitConflict] = ()
    if best.hard:
        conflicts = conflicts_of(problem)[0] or limit_conflicts(problem, rules, is_over)
    proof = ExcessProof(tuple(conflicts), best.hard, best.soft)
    return answer(
        problem,
        rules,
        best.at,
        ranges=best.ranges,
        moved_bound=best.moved,
        proof=proof,
        changes_bound=best.changes,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Share:
    """The loads of target brokers by one resource, over their ideal loads, by broker.

    Parameters
    ----------
    ideal : of each broker. whole : by which shares are multiplied. is_exact : whether they are whole numbers then.
    """

    goal: Goal
    column: int
    ideal: Mapping[int, Fraction]
    whole: Fraction
    is_exact: bool

    @classmethod
    def of(cls, problem: ResourceProblem, goal: Goal, totals: Int64s, largest: int) -> "_Share":
        """Shares in whole numbers if none of them exceeds `largest`."""
        column = RESOURCES.index(goal.name)
        weights, total = capacity_weights(problem.loads, problem.movement.target)[:, column], int(totals[column])
        mean = Fraction(total, max(1, int(weights.sum())))
        ideal = {broker: int(weights[broker]) * mean for broker in np.flatnonzero(weights).tolist() if mean}
        whole = Fraction(lcm(*(each.numerator for each in ideal.values())))
        if not goal.tolerance:
            whole /= max(1, gcd(*(int(whole / each) for each in ideal.values())))
        is_exact = total * whole <= largest * min(ideal.values(), default=Fraction(1))
        return cls(goal, column, ideal, whole if is_exact else Fraction(UNIT), is_exact)

    @property
    def is_minimised(self) -> bool:
        """Whether there are loads, and the tolerance is not many times the ideal load."""
        return bool(self.ideal) and self.goal.tolerance <= FARTHEST

    @property
    def least(self) -> int:
        """The tolerance in parts of `whole`."""
        return floor(self.goal.tolerance * self.whole)

    def values(self, model: LimitModel) -> list[Sum]:
        """The shares, or with a tolerance the distances from 1, in parts of `whole`."""
        shares = [model.of(broker, self.column).times(self.whole / ideal) for broker, ideal in self.ideal.items()]
        if not self.goal.tolerance:
            return shares
        above = [share.plus((), -int(self.whole)) for share in shares]
        return [*above, *(each.times(-1) for each in above)]

    def reached(self, loads: Int64s) -> Fraction:
        """The largest share of a tight goal; else the largest distance from 1, or the tolerance if that is larger."""
        of_brokers = (self.value(int(loads[broker, self.column]), ideal) for broker, ideal in self.ideal.items())
        return max([self.goal.tolerance, *of_brokers])

    def value(self, load: int, ideal: Fraction) -> Fraction:
        """The share of a broker, or with a tolerance its distance from 1."""
        return abs(load / ideal - 1) if self.goal.tolerance else load / ideal

    def bounds(self, value: Fraction) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Each broker, with its least and its largest load for a value."""
        for broker, ideal in self.ideal.items():
            if self.goal.tolerance:
                yield broker, (1 - value) * ideal, (1 + value) * ideal
            else:
                yield broker, Fraction(0), value * ideal


def _sum_of(model: LimitModel, shares: Sequence[_Share]) -> Sum:
    """The sum of the largest values of shares, rounded if its parts are too small."""
    values = [share.values(model) for share in shares]
    largest = [
        max(share.least, *(each.size for each in of_share)) for share, of_share in zip(shares, values, strict=True)
    ]
    shares_sum = sum(ceil(most / share.whole) for most, share in zip(largest, shares, strict=True))
    parts = min(lcm(*(share.whole.numerator for share in shares)), LARGEST_SUM // shares_sum)
    total = Sum(())
    for share, of_share, most in zip(shares, values, largest, strict=True):
        value = model.number(most)
        model.at_least(value, share.least)
        for each in of_share:
            model.at_most(each.plus(value.times(-1).terms), 0)
        total = total.plus(value.times(parts / share.whole).terms)
    return total


@dataclass(slots=True, eq=False)
class Stages:
    """The best placement for the aims so far, and what they bound: loads, and other sums."""

    problem: ResourceProblem
    rules: LoadRules
    at: Int32s
    is_over: Callable[[], bool]
    lower: Int64s = field(init=False)
    upper: Int64s = field(init=False)
    sums: list[tuple[Callable[[LimitModel], Sequence[Sum]], int]] = field(init=False, default_factory=list)
    is_configured: bool = False

    def __post_init__(self) -> None:
        self.lower = np.zeros_like(self.problem.limits.upper)
        self.upper = np.full_like(self.lower, NO_LIMIT)

    def solved(self, priorities: Sequence[Sequence[Goal]]) -> ExactPlacement:
        """All aims, in order. Raises `NotProven`."""
        is_soft = self.problem.limits.is_soft
        hard, soft = self._within_limits(~is_soft), self._within_limits(is_soft)
        reached = [self.balanced(group, is_first=not number) for number, group in enumerate(priorities)]
        try:
            moved = self.moved()
        except NotProven:
            for of in reached:  # each of several goals as it is, which is easier to prove
                of()
            moved = self.moved()
        changes = self.minimise(lambda model: model.changes(self.problem.leader))
        return ExactPlacement(self.at, tuple(each for of in reached for each in of()), hard, soft, moved, changes)

    def moved(self) -> int:
        """Minimise the moved weight, then the moved replicas, then the removed ones in sync; the weight."""
        moved = self.minimise(lambda model: model.moved(self.rules.cost))
        replicas = (self.problem.movement.current != NO_REPLICA).any(axis=1).astype(np.int64)
        if not np.array_equal(replicas, self.rules.cost):
            self.minimise(lambda model: model.moved(replicas))
        in_sync = self.problem.movement.in_sync
        if in_sync is not None:
            self.minimise(lambda model: model.kept(in_sync).times(-1))
        return moved

    def _model(self, attempts: Attempts = ATTEMPTS) -> LimitModel:
        """The model of what earlier aims leave."""
        if self.is_over():
            raise NotProven
        model = LimitModel(self.problem, self.rules, solver_time=SOLVER_TIME)
        model.attempts = attempts
        model.hint(self.at)
        for broker, column in zip(*np.nonzero((self.upper < NO_LIMIT) | (self.lower > 0)), strict=True):
            least, most = int(self.lower[broker, column]), int(self.upper[broker, column])
            load = model.of(int(broker), int(column))
            if most < NO_LIMIT:
                model.at_most(load, most)
            if least > 0:
                model.at_least(load, least)
        for expressions, most in self.sums:
            for each in expressions(model):
                model.at_most(each, most)
        if self.is_configured:
            self._configure(model)
        return model

    def minimise(self, expression: Callable[[LimitModel], Sum]) -> int:
        """Minimise an expression; its minimum bounds it from now on."""
        value = self._solved(lambda model: model.minimum(expression(model)))
        self.sums.append((lambda model: [expression(model)], value))
        return value

    def _solved(self, aim: Callable[[LimitModel], int], attempts: Attempts = ATTEMPTS) -> int:
        model = self._model(attempts)
        try:
            value = aim(model)
        except NotProven:
            if self.is_configured or attempts is not ATTEMPTS:
                raise
            self.is_configured = True
            return self._solved(aim)
        self.at = model.placement()
        return value

    def _configure(self, model: LimitModel) -> None:
        """Add the configurations of brokers whose load by one resource is bounded. Raises `NotProven` without any."""
        loads, factor = self.problem.loads, self.rules.factor[self.rules.domain_of]
        for column in np.flatnonzero((loads.of_leader == loads.of_follower).all(axis=0)).tolist():
            load, base, high = loads.of_follower[:, column], loads.base[:, column], self.upper[:, column]
            total, most = int(load @ factor + base.sum()), sum(high.tolist())
            others = [max(0, total - most + each) for each in high.tolist()]
            if (high < NO_LIMIT).any():
                model.configure(load, base, BrokerBounds(np.maximum(self.lower[:, column], others), high))
        if model.attempts is ATTEMPTS:
            raise NotProven

    def _loads(self) -> Int64s:
        return loads_of(self.problem.loads, self.problem.movement.rack_of, self.at, self.at[:, 0])

    def _within_limits(self, columns: NDArray[np.bool_]) -> Fraction:
        """Bring loads below the limits of some resources, or as near as can be; the excess in shares of limits."""
        upper = np.where(columns, self.problem.limits.upper, NO_LIMIT)
        if not (upper < NO_LIMIT).any():
            return Fraction(0)
        if self.minimise(lambda model: model.excess(upper, shares=True)[0]) == 0:
            self.sums.pop()
            self.upper = np.minimum(self.upper, upper)
            return Fraction(0)
        return excess_of(self._loads(), upper)

    def balanced(self, group: Sequence[Goal], *, is_first: bool = True) -> Callable[[], list[GoalRange]]:
        """Reach the goals of one priority; their ranges, after all aims. Later aims keep the sum of several.

        The optimum of a later priority is no bound for placements that miss others.
        """
        if any(goal.name == TOPIC_REPLICAS for goal in group):
            if len(group) > 1:
                raise NotProven
            topics = self._topics(group[0])
            return lambda: [topics]
        totals = totals_of(self.problem)
        proven = share_bounds(self.problem, totals)
        largest = LARGEST_SHARE if len(group) == 1 else LARGEST_ADDED
        shares = [_Share.of(self.problem, goal, totals, largest) for goal in group]
        minimised = [share for share in shares if share.is_minimised]
        if len(shares) > 1 and minimised:
            value = self._solved(lambda model: self._ordered_sum(model, minimised))
            self.sums.append((lambda model: [_sum_of(model, minimised)], value))
        elif len(shares) == 1 and self._least(shares[0]) and is_first and not shares[0].goal.tolerance:
            proven[shares[0].column] = shares[0].reached(self._loads())

        def ranges() -> list[GoalRange]:
            loads = self._loads()
            return [self._bounded(share, share.reached(loads), proven[share.column]) for share in shares]

        of_one = ranges() if len(shares) == 1 else []
        return lambda: of_one or ranges()

    def _least(self, share: _Share) -> bool:
        """Minimise what a goal reaches, and lower what rounding left above the minimum; whether that is proven."""

        def minimum(model: LimitModel) -> int:
            return model.minimum(*share.values(model), least=share.least)

        if share.is_minimised:
            try:
                self._solved(minimum, ATTEMPTS[:1])
            except NotProven:
                if self._is_bisected(share):
                    return True
                self._solved(minimum)
            if share.is_exact:
                return True
        for _ in range(MAX_REFINEMENTS):
            value = share.reached(self._loads())
            if value == share.goal.tolerance:
                return True
            model = self._model()
            for broker, least, most in share.bounds(value):
                model.at_most(model.of(broker, share.column), ceil(most) - 1)
                if share.goal.tolerance:
                    model.at_least(model.of(broker, share.column), floor(least) + 1)
            if not model.is_feasible():
                return True
            self.at = model.placement()
        return False

    def _ordered_sum(self, model: LimitModel, shares: Sequence[_Share]) -> int:
        """Minimise the sum of the largest values of shares, whatever the names of brokers are."""
        rules, problem, brokers = self.rules, self.problem, np.arange(len(self.upper))
        of_leader, weights = problem.loads.of_leader, capacity_weights(problem.loads, problem.movement.target)
        lists = rules.current, problem.behind, rules.must_keep[:, None]
        current, behind, must = ((each[:, :, None] == brokers).any(axis=1) for each in lists)
        loads = problem.loads.base.T, weights.T, self.lower.T, self.upper.T
        of_rows = current | rules.may_receive[rules.domain_of], behind, must
        kinds = np.vstack([*of_rows, *loads, rules.rack_of, problem.may_lead])
        kind = np.unique(kinds, axis=1, return_inverse=True)[1].ravel()
        heavy = np.argsort(of_leader[:, shares[0].column] * problem.movement.factors, kind="stable")
        if not self.sums:
            model.order([np.flatnonzero(kind == each).tolist() for each in np.unique(kind)], heavy[-ORDERED:].tolist())
        return model.minimum(_sum_of(model, shares))

    def _is_bisected(self, share: _Share) -> bool:
        """Minimise a goal by bisection of the loads that sets of partitions have, from the lowest; whether it could."""
        loads, column, bounds = self.problem.loads, share.column, (self.lower, self.upper)
        load = loads.of_follower[:, column]
        if len(load) > MAX_CONFIGURED or (load != loads.of_leader[:, column]).any():
            return False
        kinds = {(int(loads.base[broker, column]), ideal) for broker, ideal in share.ideal.items()}
        sums, lowest = np.unique(subsets(len(load)) @ load).tolist(), share.goal.tolerance or Fraction(1)
        shares = {share.value(base + each, ideal) for base, ideal in kinds for each in sums}
        values = [lowest, *sorted(value for value in shares if lowest < value)]
        first, last = 0, bisect_left(values, share.reached(self._loads()))
        self.is_configured = True
        try:
            while first < last:
                middle = min(2 * first, (first + last) // 2)
                self.lower, self.upper = (each.copy() for each in bounds)
                self._bounded(share, values[middle], lowest)
                model = self._model()
                if model.is_feasible():
                    self.at, last = model.placement(), middle
                else:
                    first = middle + 1
        except NotProven:
            self.is_configured = False
        self.lower, self.upper = bounds
        return self.is_configured

    def _bounded(self, share: _Share, value: Fraction, proven: Fraction) -> GoalRange:
        """What a goal reached; it bounds the loads from now on."""
        ceiling = np.full(len(self.upper), NO_LIMIT, np.int64)
        least_loads = np.zeros_like(ceiling)
        for broker, least, most in share.bounds(value):
            ceiling[broker], least_loads[broker] = min(floor(most), NO_LIMIT), max(0, ceil(least))
        self.upper[:, share.column] = np.minimum(self.upper[:, share.column], ceiling)
        self.lower[:, share.column] = np.maximum(self.lower[:, share.column], least_loads)
        return GoalRange(share.goal, ceiling, least_loads, proven)

    def _topics(self, goal: Goal) -> GoalRange:
        """Bring the replicas of topics within their ranges, all of them wider by the same least number if they must."""
        aim = topic_range(self.problem, goal, topic_counts(self.problem, self.at))
        by_topic = [np.flatnonzero(self.problem.topic_of == topic) for topic in range(len(aim.ceiling))]

        def distances(model: LimitModel) -> list[Sum]:
            sums = [Sum(())]
            for rows, high, low in zip(by_topic, aim.ceiling.tolist(), aim.floor.tolist(), strict=True):
                for broker in np.flatnonzero(self.problem.movement.target).tolist():
                    count = model.count(broker, rows)
                    sums += [count.plus((), -high), count.times(-1).plus((), low)]
            return sums

        by = self._solved(lambda model: model.minimum(*distances(model), least=0))
        self.sums.append((distances, by))
        return replace(aim, ceiling=aim.ceiling + by, floor=np.maximum(aim.floor - by, 0))
