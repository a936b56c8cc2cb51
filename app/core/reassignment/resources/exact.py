"""Small problems, exactly: each aim in order of priority by an integer model that has the optima of those before it.

Limits, goals, movement and leader changes are minimised one after another (CP-SAT). What an aim reached bounds the
loads of the models that follow, so that each value is proven for the placements that are best for what goes before.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.loads.exact_model import NotProven
from app.core.reassignment.loads.rules import LoadRules
from app.core.reassignment.resources.answers import GoalRange, answer, topic_counts, topic_range, totals_of
from app.core.reassignment.resources.evaluation import capacity_weights, loads_of
from app.core.reassignment.resources.excess import ExcessProof
from app.core.reassignment.resources.integer_model import LimitModel, limit_conflicts
from app.core.reassignment.resources.model import (
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    Goal,
    LimitConflict,
    ResourcePlacement,
    ResourceProblem,
)
from app.core.reassignment.resources.sums import conflicts_of, share_bounds

MAX_CELLS = 160
"""The most pairs of a partition and a broker: the optima of most of these are proven within half a second."""
SOLVER_TIME = 1.0
"""Deterministic time of one solve, about seconds."""
UNIT = 1 << 30
"""An ideal load in models that compare loads of several brokers."""
LARGEST_SUM = 1 << 44
"""Of loads and weights: beyond it the presolve of OR-tools 9.15 has been seen to cut off the optimum."""
FARTHEST = 1 << 10
"""A wider tolerance is no constraint, and a load that is more times the ideal one is left to the search."""
MAX_REFINEMENTS = 20
"""Solves that lower a largest share which rounding left above its minimum."""


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
    """The loads of target brokers by one resource, over their ideal loads, by broker."""

    goal: Goal
    column: int
    ideal: Mapping[int, Fraction]

    @classmethod
    def of(cls, problem: ResourceProblem, goal: Goal, totals: Int64s) -> "_Share":
        column = RESOURCES.index(goal.name)
        weights, total = capacity_weights(problem.loads, problem.movement.target)[:, column], int(totals[column])
        unit = Fraction(total, max(1, int(weights.sum())))
        ideal = {broker: int(weights[broker]) * unit for broker in np.flatnonzero(weights).tolist() if unit}
        return cls(goal, column, ideal)

    def reached(self, loads: Int64s) -> Fraction:
        """The largest share of a tight goal; else the largest distance from 1, or the tolerance if that is larger."""
        shares = [int(loads[broker, self.column]) / ideal for broker, ideal in self.ideal.items()]
        if self.goal.tolerance:
            shares = [abs(share - 1) for share in shares]
        return max([self.goal.tolerance, *shares])

    def bounds(self, value: Fraction) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Each broker, with its least and its largest load for a value."""
        for broker, ideal in self.ideal.items():
            if self.goal.tolerance:
                yield broker, (1 - value) * ideal, (1 + value) * ideal
            else:
                yield broker, Fraction(0), value * ideal

    def value(self, model: LimitModel) -> Any:
        """An upper bound on what is reached, in `UNIT`s, up to rounding; 0 with a tolerance of many times the load."""
        if self.goal.tolerance > FARTHEST:
            return 0
        value = model.model.new_int_var(floor(self.goal.tolerance * UNIT), 2 * FARTHEST * UNIT, "")
        for broker, ideal in self.ideal.items():
            load = model.of(broker, self.column, unit=UNIT / ideal)
            if self.goal.tolerance:
                model.model.add(load - UNIT <= value)
                model.model.add(UNIT - load <= value)
            else:
                model.model.add(load <= value)
        return value


@dataclass(slots=True, eq=False)
class Stages:
    """The best placement for the aims so far, and what they bound: loads, and other sums."""

    problem: ResourceProblem
    rules: LoadRules
    at: Int32s
    is_over: Callable[[], bool]
    lower: Int64s = field(init=False)
    upper: Int64s = field(init=False)
    sums: list[tuple[Callable[[LimitModel], Any], int]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.lower = np.zeros_like(self.problem.limits.upper)
        self.upper = np.full_like(self.lower, NO_LIMIT)

    def solved(self, priorities: Sequence[Sequence[Goal]]) -> ExactPlacement:
        """All aims, in order. Raises `NotProven`."""
        is_soft = self.problem.limits.is_soft
        hard, soft = self._within_limits(~is_soft), self._within_limits(is_soft)
        ranges = [each for number, group in enumerate(priorities) for each in self.balanced(group, is_first=not number)]
        moved = self.moved()
        changes = self.minimise(lambda model: model.changes(self.problem.leader))
        return ExactPlacement(self.at, tuple(ranges), hard, soft, moved, changes)

    def _require_small(self, columns: Sequence[int]) -> None:
        """Raise `NotProven` if the loads of some resources are too large for the solver."""
        loads, factor = self.problem.loads, int(self.rules.factor.max())
        most = factor * loads.of_leader[:, columns].sum(axis=0) + loads.base[:, columns].sum(axis=0)
        if int(most.max(initial=0)) > LARGEST_SUM:
            raise NotProven

    def moved(self) -> int:
        """Minimise the moved weight, then the moved replicas, then the removed ones in sync; the weight.

        If weights are too large for the solver, it decides whether any has to move. Raises `NotProven`.
        """
        cost = self.rules.cost
        if int(self.rules.factor.max()) * int(cost.sum()) <= LARGEST_SUM:
            moved = self.minimise(lambda model: model.moved(cost))
        elif moved := self.minimise(lambda model: model.moved(np.minimum(cost, 1))):
            raise NotProven
        replicas = (self.problem.movement.current != NO_REPLICA).any(axis=1).astype(np.int64)
        if not np.array_equal(replicas, self.rules.cost):
            self.minimise(lambda model: model.moved(replicas))
        in_sync = self.problem.movement.in_sync
        if in_sync is not None:
            self.minimise(lambda model: -model.kept(in_sync))
        return moved

    def _model(self) -> LimitModel:
        """The model of what earlier aims leave."""
        if self.is_over():
            raise NotProven
        model = LimitModel(self.problem, self.rules, solver_time=SOLVER_TIME)
        model.hint(self.at)
        for broker, column in zip(*np.nonzero((self.upper < NO_LIMIT) | (self.lower > 0)), strict=True):
            least, most = int(self.lower[broker, column]), int(self.upper[broker, column])
            model.model.add_linear_constraint(model.of(int(broker), int(column)), least, most)
        for expression, most in self.sums:
            model.model.add(expression(model) <= most)
        return model

    def minimise(self, expression: Callable[[LimitModel], Any], *, bounds: bool = True) -> int:
        """Minimise an expression; its minimum bounds it from now on, if it does."""
        model = self._model()
        value = model.minimum(expression(model))
        self.at = model.placement()
        if bounds:
            self.sums.append((expression, value))
        return value

    def _loads(self) -> Int64s:
        return loads_of(self.problem.loads, self.problem.movement.rack_of, self.at, self.at[:, 0])

    def _within_limits(self, columns: NDArray[np.bool_]) -> Fraction:
        """Bring loads below the limits of some resources, or as near as can be; the excess in shares of limits."""
        upper = np.where(columns, self.problem.limits.upper, NO_LIMIT)
        if not (upper < NO_LIMIT).any():
            return Fraction(0)
        self._require_small(np.flatnonzero((upper < NO_LIMIT).any(axis=0)).tolist())
        if self.minimise(lambda model: model.excess(upper, shares=True)[0]) == 0:
            self.sums.pop()
            self.upper = np.minimum(self.upper, upper)
            return Fraction(0)
        above = np.where(upper < NO_LIMIT, np.maximum(self._loads() - upper, 0), 0)
        cells = zip(*np.nonzero(above), strict=True)
        return sum((Fraction(int(above[cell]), max(1, int(upper[cell]))) for cell in cells), Fraction(0))

    def balanced(self, group: Sequence[Goal], *, is_first: bool = True) -> list[GoalRange]:
        """Reach the goals of one priority. The optimum of a later one is no bound for placements that miss others."""
        if any(goal.name == TOPIC_REPLICAS for goal in group):
            if len(group) > 1:
                raise NotProven
            return [self._topics(group[0])]
        totals = totals_of(self.problem)
        proven = share_bounds(self.problem, totals)
        shares = [_Share.of(self.problem, goal, totals) for goal in group]
        self._require_small([share.column for share in shares])
        self.minimise(lambda model: sum(share.value(model) for share in shares), bounds=False)
        if len(shares) == 1:
            is_proven = self._refine(shares[0])
            if is_proven and is_first and not shares[0].goal.tolerance:
                proven[shares[0].column] = shares[0].reached(self._loads())
        loads = self._loads()
        return [self._bounded(share, share.reached(loads), proven[share.column]) for share in shares]

    def _refine(self, share: _Share) -> bool:
        """Lower what rounding left above the minimum; whether the minimum is proven."""
        for _ in range(MAX_REFINEMENTS):
            value = share.reached(self._loads())
            if value == share.goal.tolerance:
                return True
            model = self._model()
            for broker, least, most in share.bounds(value):
                model.model.add(model.of(broker, share.column) <= ceil(most) - 1)
                if share.goal.tolerance:
                    model.model.add(model.of(broker, share.column) >= floor(least) + 1)
            if not model.is_feasible():
                return True
            self.at = model.placement()
        return False

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

        def wider(model: LimitModel) -> Any:
            value = model.model.new_int_var(0, 1 << 40, "")
            for rows, high, low in zip(by_topic, aim.ceiling.tolist(), aim.floor.tolist(), strict=True):
                for broker in np.flatnonzero(self.problem.movement.target).tolist():
                    count = model.count(broker, rows)
                    model.model.add(count - high <= value)
                    model.model.add(low - count <= value)
            return value

        by = self.minimise(wider)
        return replace(aim, ceiling=aim.ceiling + by, floor=np.maximum(aim.floor - by, 0))
