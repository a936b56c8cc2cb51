"""Small problems, exactly: each aim in order of priority by an integer model that has the optima of those before it.

Limits, goals, movement and leader changes are minimised one after another (CP-SAT). What an aim reached bounds the
loads of the models that follow, so that each value is proven for the placements that are best for what goes before.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor

import numpy as np

from app.core.model import Bools, Int32s, Int64s
from app.core.reassignment.bounds.sums import conflicts_of, share_bounds
from app.core.reassignment.goals.answers import GoalRange, answer, topic_counts, topic_range, totals_of
from app.core.reassignment.goals.one_load import lowest_level
from app.core.reassignment.goals.shares import LARGEST_ADDED, LARGEST_SHARE, Share, sum_of
from app.core.reassignment.model import BrokerBounds, Deadline
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    Goal,
    LimitConflict,
    ResourcePlacement,
    ResourceProblem,
    excess_of,
    loads_of,
)
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.exact.limit_model import FEASIBILITY, ExcessProof, limit_conflicts
from app.core.reassignment.solvers.exact.placement_model import (
    ATTEMPTS,
    MAX_CONFIGURED,
    OF_ROLES,
    Attempts,
    NotProven,
    PlacementModel,
    Sum,
    subsets,
)
from app.core.reassignment.solvers.flow.places import sync_costs

MAX_CELLS = 160
"""The most pairs of a partition and a broker: the optima of most of these are proven within half a second."""
MAX_REFINEMENTS = 20
"""Solves that lower a largest share which rounding left above its minimum."""
ORDERED = 2
"""Partitions by whose roles interchangeable brokers are in order: with two, a sum of goals is proven in a tenth of the
time; with six, no sooner than with none.
"""


def is_small(rules: LoadRules) -> bool:
    """Whether a problem is answered exactly."""
    return 0 < len(rules.cost) * len(rules.rack_of) <= MAX_CELLS and bool(rules.factor.max(initial=0))


def is_small_band(rules: LoadRules) -> bool:
    """Whether a band of one load is reached exactly: the models do not state the capped floors of closed brokers."""
    return is_small(rules) and bool((rules.floor_cap < 0).all())


def exact_answer(
    problem: ResourceProblem,
    rules: LoadRules,
    start: Int32s,
    priorities: Sequence[Sequence[Goal]],
    is_over: Deadline,
    reached: Sequence[GoalRange] = (),
) -> tuple[ResourcePlacement | None, Int32s]:
    """The best placement by hard limits, soft limits, goals, moved weight, moved replicas and leader changes, in this
    order; with conflicts if hard limits cannot all hold.

    A tight goal minimises the largest load over the ideal load. A goal with a tolerance brings brokers within it or, if
    no placement is, minimises the largest distance from the ideal load. Goals of one priority minimise the sum.

    Parameters
    ----------
    start : (rows, widest) int32, a legal placement with the leader in column 0. priorities : as of `reach_goals`.
    reached : the ranges of goals for resources that a search reached, in place of priorities; `start` is within them.

    Returns
    -------
    None if the problem is too large, if consumers fetch from followers, or if an optimum up to the moved weight is not
    proven in time. If that of moved replicas or leader changes is not, they are those of the placement found.
    Then the placement, with the leader in column 0; of an optimum that is not proven the best one found, else `start`.
    """
    if problem.loads.reads is not None or not is_small(rules):
        return None, start
    stages = Stages(problem, rules, start, is_over)
    try:
        return stages.solved(priorities, reached), stages.at
    except NotProven:
        return None, stages.at if stages.unproven is None else stages.unproven


@dataclass(slots=True, eq=False)
class Stages:
    """The best placement for the aims so far, and what they bound: loads, and other sums.

    unproven : the placement of the last aim whose optimum was not proven, within what those before it reached.
    """

    problem: ResourceProblem
    rules: LoadRules
    at: Int32s
    is_over: Deadline
    lower: Int64s = field(init=False)
    upper: Int64s = field(init=False)
    unproven: Int32s | None = None
    sums: list[tuple[Callable[[PlacementModel], Sequence[Sum]], int]] = field(init=False, default_factory=list)
    is_configured: bool = False

    def __post_init__(self) -> None:
        self.lower = np.zeros_like(self.problem.limits.upper)
        self.upper = np.full_like(self.lower, NO_LIMIT)

    def solved(self, priorities: Sequence[Sequence[Goal]], within: Sequence[GoalRange]) -> ResourcePlacement:
        """All aims, in order, within ranges of goals. Raises `NotProven`."""
        problem, rules, conflicts = self.problem, self.rules, list[LimitConflict]()
        for each in within:
            self._keep(each)
        is_soft = self.problem.limits.is_soft
        hard, soft = self._within_limits(~is_soft), self._within_limits(is_soft)
        sums_of_limits = self.sums.copy()
        self._keep_floors()
        reached = [self.balanced(group, is_first=not number) for number, group in enumerate(priorities)]
        if len(priorities) == 1 < len(priorities[0]) and len(self.sums) > len(sums_of_limits):
            with suppress(NotProven):
                self.moved()
            # A rounded sum tells placements apart whose shares are the same: now each goal stays as it is.
            reached[0]()
            self.sums = sums_of_limits
        moved = self.moved()
        changes = 0
        with suppress(NotProven):
            changes = self.minimise(lambda model: model.changes(problem.leader))
        if hard:
            conflicts += conflicts_of(problem)[0] or limit_conflicts(problem, rules, self.is_over)
        ranges, proof = [*within, *(each for of in reached for each in of())], ExcessProof(tuple(conflicts), hard, soft)
        return answer(problem, rules, self.at, ranges=ranges, moved_bound=moved, proof=proof, changes_bound=changes)

    def _keep_floors(self) -> None:
        """Bring the brokers that nothing can fill to the load that they keep, if all of them may be."""
        if not self.problem.floors.any():
            return
        lower = self.lower
        self.lower = np.maximum(lower, self.problem.floors)
        model = self._model()
        if model.is_feasible():
            self.at = model.placement()
        else:
            self.lower = lower

    def moved(self) -> int:
        """Minimise the moved weight, then the moved replicas, then the cost of removed ones in sync; the weight.

        If the least of the moved replicas is not proven, their number stays as it is.
        """
        moved = self.minimise(lambda model: model.moved(self.rules.cost))
        replicas = self.problem.movement.is_there.astype(np.int64)
        if not np.array_equal(replicas, self.rules.cost):
            with suppress(NotProven):
                self.minimise(lambda model: model.moved(replicas))
        lost = sync_costs(self.problem.movement)
        if lost.other.any():
            self.minimise(lambda model: model.kept(lost.other[:, None] - lost.current).times(-1))
        return moved

    def _model(self, attempts: Attempts = ATTEMPTS) -> PlacementModel:
        """The model of what earlier aims leave."""
        if self.is_over():
            raise NotProven
        model = PlacementModel(self.problem, self.rules)
        model.attempts = attempts
        model.hint(self.at if self.unproven is None else self.unproven)
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

    def minimise(self, expression: Callable[[PlacementModel], Sum]) -> int:
        """Minimise an expression; its minimum bounds it from now on."""
        value = self._solved(lambda model: model.minimum(expression(model)))
        self.sums.append((lambda model: [expression(model)], value))
        return value

    def _solved(self, aim: Callable[[PlacementModel], int], attempts: Attempts = ATTEMPTS) -> int:
        model = self._model(attempts)
        try:
            value = aim(model)
        except NotProven:
            if model.is_placed:
                self.unproven = model.placement()
            if self.is_configured or attempts is not ATTEMPTS:
                raise
            self.is_configured = True
            return self._solved(aim)
        self.at, self.unproven = model.placement(), None
        return value

    def _configure(self, model: PlacementModel) -> None:
        """Add the configurations of brokers whose load by one resource is bounded. If only loads that depend on leaders
        are, the strongest linear relaxation proves some optima without any. Raises `NotProven` if there are none.
        """
        loads, factor = self.problem.loads, self.rules.factor[self.rules.domain_of]
        for column in np.flatnonzero((loads.of_leader == loads.of_follower).all(axis=0)).tolist():
            load, base, high = loads.of_follower[:, column], loads.base[:, column], self.upper[:, column]
            total, most = int(load @ factor + base.sum()), sum(high.tolist())
            others = [max(0, total - most + each) for each in high.tolist()]
            if (high < NO_LIMIT).any():
                model.configure(load, base, BrokerBounds(np.maximum(self.lower[:, column], others), high))
        depends = (loads.of_leader != loads.of_follower).any(axis=0)
        bounded = (self.upper < NO_LIMIT).any(axis=0)
        if bounded.any() and depends[bounded].all():
            model.attempts = OF_ROLES
        if model.attempts is ATTEMPTS:
            raise NotProven

    def _loads(self) -> Int64s:
        return loads_of(self.problem.loads, self.problem.movement.rack_of, self.at, self.at[:, 0])

    def _within_limits(self, columns: Bools) -> Fraction:
        """Bring loads below the limits of some resources, or as near as can be; the excess in shares of limits."""
        upper = np.where(columns, self.problem.limits.upper, NO_LIMIT)
        if not (upper < NO_LIMIT).any():
            return Fraction(0)
        before, self.upper = self.upper, np.minimum(self.upper, upper)
        model = self._model(FEASIBILITY)
        if model.is_feasible():
            self.at = model.placement()
            return Fraction(0)
        self.upper = before
        self.minimise(lambda model: model.excess(upper, shares=True)[0])
        return excess_of(self._loads(), upper)

    def balanced(self, group: Sequence[Goal], *, is_first: bool = True) -> Callable[[], list[GoalRange]]:
        """Reach the goals of one priority; their ranges, after all aims. Later aims keep the sum of several.

        The optimum of a later priority is no bound for placements that miss others.
        """
        if TOPIC_REPLICAS in {goal.name for goal in group}:
            if len(group) > 1:
                raise NotProven
            topics = self._topics(group[0])
            return lambda: [topics]
        totals = totals_of(self.problem)
        proven = share_bounds(self.problem, totals)
        largest = LARGEST_SHARE if len(group) == 1 else LARGEST_ADDED
        shares = [Share.of(self.problem, goal, totals, largest) for goal in group]
        if not self._reach_each(shares, proven if is_first else proven.copy()):
            self._add_up([share for share in shares if share.is_minimised])
            return partial(self._ranges, shares, proven)
        ranges = self._ranges(shares, proven)
        return lambda: ranges

    def _reach_each(self, shares: Sequence[Share], proven: list[Fraction]) -> bool:
        """Minimise each goal alone, and reach all of these minima together; False if they conflict or are not proven.

        Parameters
        ----------
        proven : by resource, a lower bound of its share; set to the minimum of a tight goal.
        """
        before, lower, upper = (self.lower, self.upper), self.lower, self.upper
        attempts = ATTEMPTS if len(shares) == 1 else ATTEMPTS[1:2]
        try:
            for share in shares:
                self.lower, self.upper = (each.copy() for each in before)
                if self._least(share, proven[share.column], attempts) and not share.goal.has_floor:
                    proven[share.column] = share.reached(self._loads())
                self._ranges([share], proven)
                lower, upper = np.maximum(lower, self.lower), np.minimum(upper, self.upper)
            if len(shares) == 1:
                return True
            self.lower, self.upper = lower, upper
            model = self._model()
            if model.is_feasible():
                self.at = model.placement()
                return True
        except NotProven:
            if len(shares) == 1:
                raise
        (self.lower, self.upper), self.is_configured = before, False
        return False

    def _ranges(self, shares: Sequence[Share], proven: Sequence[Fraction]) -> list[GoalRange]:
        loads = self._loads()
        return [self._bounded(share, share.reached(loads), proven[share.column]) for share in shares]

    def _least(self, share: Share, bound: Fraction, attempts: Attempts) -> bool:
        """Minimise what a goal reaches, and lower what rounding left above the minimum; whether that is proven.

        Parameters
        ----------
        bound : lower bound on the share of a tight goal. attempts : of the solve after a brief one and the bisection.
        """

        def minimum(model: PlacementModel) -> int:
            return model.minimum(*share.values(model), least=share.least)

        if share.is_minimised:
            try:
                self._solved(minimum, ATTEMPTS[:1])
            except NotProven:
                if self._is_bisected(share, bound):
                    return True
                self._solved(minimum, attempts)
            if share.is_exact:
                return True
        for _ in range(MAX_REFINEMENTS):
            value = share.reached(self._loads())
            if value == share.goal.tolerance:
                return True
            model = self._model()
            for broker, least, most in share.bounds(value):
                model.at_most(model.of(broker, share.column), ceil(most) - 1)
                if share.goal.has_floor:
                    model.at_least(model.of(broker, share.column), floor(least) + 1)
            if not model.is_feasible():
                return True
            self.at = model.placement()
        return False

    def _add_up(self, shares: Sequence[Share]) -> None:
        """Minimise the sum of the largest values of shares, and keep it from now on."""

        def minimum(model: PlacementModel) -> int:
            if shares and not self.sums:
                self._order(model, shares[0].column)
            return model.minimum(sum_of(model, shares))

        value = self._solved(minimum)
        self.sums.append((lambda model: [sum_of(model, shares)], value))

    def _order(self, model: PlacementModel, column: int) -> None:
        """Put interchangeable brokers in order, so that a placement does not depend on their names."""
        rules, problem, brokers = self.rules, self.problem, np.arange(len(self.upper))
        lists = rules.current, problem.behind, rules.must_keep[:, None]
        current, behind, must = ((each[:, :, None] == brokers).any(axis=1) for each in lists)
        loads = problem.loads.base.T, problem.weights.T, self.lower.T, self.upper.T
        of_rows = current | rules.may_receive[rules.domain_of], behind, must
        kinds = np.vstack([*of_rows, *loads, rules.rack_of, problem.may_lead])
        kind = np.unique(kinds, axis=1, return_inverse=True)[1].ravel()
        heavy = np.argsort(problem.loads.of_leader[:, column] * problem.movement.factors, kind="stable")
        model.order([np.flatnonzero(kind == each).tolist() for each in np.unique(kind)], heavy[-ORDERED:].tolist())

    def _is_bisected(self, share: Share, bound: Fraction) -> bool:
        """Minimise a goal by bisection of the loads that sets of partitions have, from the lowest; whether it could."""
        loads, column, bounds = self.problem.loads, share.column, (self.lower, self.upper)
        load = loads.of_follower[:, column]
        if len(load) > MAX_CONFIGURED or (load != loads.of_leader[:, column]).any():
            return False
        kinds = {(int(loads.base[broker, column]), ideal) for broker, ideal in share.ideal.items()}
        sums = np.unique(subsets(len(load)) @ load).tolist()
        ideal = np.array([float(share.ideal.get(broker, 0)) for broker in range(len(self.upper))])
        lowest = share.goal.tolerance if share.goal.has_floor else lowest_level(self.problem, column, ideal, bound)
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

    def _bounded(self, share: Share, value: Fraction, proven: Fraction) -> GoalRange:
        """What a goal reached; it bounds the loads from now on."""
        ceiling = np.full(len(self.upper), NO_LIMIT, np.int64)
        least_loads = np.zeros_like(ceiling)
        for broker, least, most in share.bounds(value):
            ceiling[broker], least_loads[broker] = min(floor(most), NO_LIMIT), max(0, ceil(least))
        return self._keep(GoalRange(share.goal, ceiling, least_loads, proven))

    def _keep(self, reached: GoalRange) -> GoalRange:
        """Bound the loads by a range from now on; the range."""
        column = RESOURCES.index(reached.goal.name)
        self.upper[:, column] = np.minimum(self.upper[:, column], reached.ceiling)
        self.lower[:, column] = np.maximum(self.lower[:, column], reached.floor)
        return reached

    def _topics(self, goal: Goal) -> GoalRange:
        """Bring the replicas of topics within their ranges, all of them wider by the same least number if they must."""
        aim = topic_range(self.problem, goal, topic_counts(self.problem, self.at))
        by_topic = [np.flatnonzero(self.problem.topic_of == topic) for topic in range(len(aim.ceiling))]

        def distances(model: PlacementModel) -> list[Sum]:
            sums = [Sum(())]
            for rows, high, low in zip(by_topic, aim.ceiling.tolist(), aim.floor.tolist(), strict=True):
                for broker in np.flatnonzero(self.problem.movement.target).tolist():
                    count = model.count(broker, rows)
                    sums += [count.plus((), -high), count.times(-1).plus((), low)]
            return sums

        by = self._solved(lambda model: model.minimum(*distances(model), least=0))
        self.sums.append((distances, by))
        return replace(aim, ceiling=aim.ceiling + by, floor=np.maximum(aim.floor - by, 0))
