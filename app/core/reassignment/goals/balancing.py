"""Balance several resources, jointly or in order of priority, within limits."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from app.core.model import Int32s
from app.core.reassignment.bounds.movement_bound import Dual, moved_lower_bound
from app.core.reassignment.bounds.sums import share_bounds
from app.core.reassignment.goals.answers import GoalRange, answer, topic_counts, topic_range, totals_of
from app.core.reassignment.goals.exact import exact_answer
from app.core.reassignment.goals.one_load import EARLIER, OneLoad, highest_level, is_one_load, lowest_level
from app.core.reassignment.goals.shares import LARGEST_SHARE, Share
from app.core.reassignment.model import BrokerBounds, Deadline
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    Bounds,
    Goal,
    ResourcePlacement,
    ResourceProblem,
    SearchedPlacement,
    excess_of,
    ideal_loads,
)
from app.core.reassignment.rules import LoadRules, moved_weight
from app.core.reassignment.solvers.exact.few_brokers import exchanged
from app.core.reassignment.solvers.exact.limit_model import ExcessProof, proven_excess
from app.core.reassignment.solvers.search.annealing import annealed
from app.core.reassignment.solvers.search.search import least_of_searches, rules_of, search, start_of

CLOSE = Fraction(1, 1_000)
"""A tight goal aims at its lower bound and so much of it more, so that the search has an end."""
MOST_SETTLED = 3
"""Searches from a placement that was found, as of the cluster after the plan, which is to move nothing, and how often
what they find is improved at most.
"""
MAX_RERUNS = 3
"""Searches from the start with the loads that were reached as ceilings, for less movement."""


def reach_goals(
    problem: ResourceProblem,
    priorities: Sequence[Sequence[Goal]],
    is_over: Deadline,
    ends_search: Deadline | None = None,
) -> ResourcePlacement:
    """Reach goals in order of priority: a goal does not worsen what those before it reached, or their tolerance.

    A tight goal minimises the largest load over the ideal load (the broker's share of the total by capacity); a goal
    with a tolerance brings every target broker within the tolerance of its ideal load, or as near as is reached. Hard
    limits go first, then soft ones, then the goals, then the moved weight, then leader changes.

    Parameters
    ----------
    priorities : the goals, the most important first; those of one entry are reached jointly.
    is_over : whether the deadline has passed; then the best placement so far is returned.
    ends_search : whether the time of the search has passed, before the deadline, so that the bound on the movement has
        time as well; None is the deadline.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.
    """
    ends = is_over if ends_search is None else ends_search
    rules = rules_of(problem)
    start = start_of(problem, rules)
    exact, at = exact_answer(problem, rules, start, priorities, is_over)
    if exact is not None:
        return exact
    aims = _Aims(problem, rules, start, priorities)
    best, reached = aims.settled(*aims.reach(ends), ends)
    if at is not start:
        best, reached = aims.nearer(best, reached, at, ends)
    for _ in range(MOST_SETTLED):
        improved, reached, placement = aims.improved(best, reached, is_over)
        if improved is best:
            break
        best, reached = aims.settled(improved, reached, ends)
        if best is improved:
            break
    return placement


def _is_same(one: GoalRange, other: GoalRange) -> bool:
    """Whether two ranges of a goal are equal."""
    return np.array_equal(one.ceiling, other.ceiling) and np.array_equal(one.floor, other.floor)


def _is_hardly_wider(aim: BrokerBounds, reached: BrokerBounds, wider: BrokerBounds) -> bool:
    """Whether a range is wider than the reached one by up to a thousandth, and only where the aim is missed."""
    slack = reached.high * float(CLOSE)
    is_above = wider.high - reached.high > slack * (reached.high > aim.high)
    is_below = reached.low - wider.low > slack * (reached.low < aim.low)
    return not np.any(is_above | is_below)


_Reached: TypeAlias = tuple[SearchedPlacement, list[GoalRange]]
"""A placement, and what it reaches of each goal."""


class _Aims:
    """Searches for goals, by their ceilings and floors.

    Shares of ideal loads are floating, and rounded to whole loads: what is proven is proven for these whole numbers.
    """

    def __init__(
        self, problem: ResourceProblem, rules: LoadRules, start: Int32s, priorities: Sequence[Sequence[Goal]]
    ) -> None:
        self._problem, self._rules, self._start, self._priorities = problem, rules, start, priorities
        self._goals = [goal for group in priorities for goal in group]
        self._is_of_one_load = len(self._goals) == 1 and is_one_load(problem, self._goals[0].name)
        self._is_of_resources = all(goal.name in RESOURCES for goal in self._goals)
        totals = totals_of(problem)
        self._ideal = ideal_loads(problem.weights, totals)
        self._shares = share_bounds(problem, totals)
        self._counts = topic_counts(problem, start)

    def reach(self, ends: Deadline) -> _Reached:
        """A placement with little movement, and what it reaches of each goal."""
        if self._is_of_one_load:
            wanted = [self.range_of_one_load(self._goals[0])]
            best, is_from_start = self.one_load(wanted[0]).search(ends), False
            reached = [self.widened(wanted[0], best)]
        else:
            reached = wanted = [self.range_of(goal) for goal in self._goals]
            at_once = self.all_at_once(wanted, ends)
            is_from_start = at_once is not None
            best, reached = (at_once, reached) if at_once is not None else self.one_by_one(ends)
        if len(self._priorities) > 1 or not all(map(_is_same, wanted, reached)):
            reached = self.near_start(wanted, reached)
            best, reached = self.with_less_movement(best, reached, ends, is_from_start=is_from_start)
        return best, reached

    def settled(self, best: SearchedPlacement, reached: list[GoalRange], ends: Deadline) -> _Reached:
        """A placement from which the same goals move nothing, if some searches find it."""
        problem = self._problem
        for _ in range(MOST_SETTLED):
            if ends() or not best.moved:
                break
            planned = problem.planned(best)
            rules = rules_of(planned)
            again, narrower = _Aims(planned, rules, start_of(planned, rules), self._priorities).reach(ends)
            if not again.moved:
                break
            again = search(problem, self._rules, again.at, self.bounds([], narrower), ends)
            best, reached = self.with_less_movement(again, narrower, ends, is_from_start=False)
        return best, reached

    def nearer(self, best: SearchedPlacement, reached: list[GoalRange], at: Int32s, ends: Deadline) -> _Reached:
        """The placement of a model that is not proven, with little movement, if it is nearer to the goals."""
        found = search(self._problem, self._rules, at, self.bounds([], []), lambda: True)
        if not self._is_of_resources or self._distances(found) >= self._distances(best):
            return best, reached
        reached = [self.widened(self.range_of(goal), found) for goal in self._goals]
        return self.with_less_movement(found, reached, ends, is_from_start=False)

    def _distances(self, placement: SearchedPlacement) -> list[Fraction]:
        """The excess over hard and soft limits, then the sum of what goals for loads reach by priority."""
        loads, limits, totals = placement.loads, self._problem.limits, totals_of(self._problem)
        uppers = (np.where(limits.is_soft == is_soft, limits.upper, NO_LIMIT) for is_soft in (False, True))
        shares = ([Share.of(self._problem, goal, totals, LARGEST_SHARE) for goal in each] for each in self._priorities)
        reached = (sum((share.reached(loads) for share in group), Fraction()) for group in shares)
        return [*(excess_of(loads, upper) for upper in uppers), *reached]

    def improved(
        self, best: SearchedPlacement, reached: list[GoalRange], is_over: Deadline
    ) -> tuple[SearchedPlacement, list[GoalRange], ResourcePlacement]:
        """A placement with less movement within what was reached, `best` itself if none is found, and its bounds."""
        problem, rules = self._problem, self._rules
        if self._is_of_one_load:
            best, bound = self.one_load(reached[0]).improve(best, is_over)
            placement = answer(problem, rules, best.at, ranges=reached, moved_bound=bound, proof=ExcessProof())
            return best, reached, placement
        proof, best = proven_excess(problem, rules, self.bounds([], reached), best, is_over)
        reached = [self.widened(each, best) for each in reached]
        if self._is_of_resources and not (best.loads > problem.limits.upper).any():
            # A small problem whose goals are not proven still moves the least for what they reached.
            exact, at = exact_answer(problem, rules, best.at, [], is_over, reached)
            if exact is not None and self._moved(at) < self._moved(best.at):
                return search(problem, rules, at, self.bounds([], reached), is_over), reached, exact
        best, bound = self.with_models(best, self.bounds([], reached), is_over)
        return best, reached, answer(problem, rules, best.at, ranges=reached, moved_bound=bound, proof=proof)

    def _moved(self, at: Int32s) -> tuple[int, int]:
        """The moved weight of a placement, then its moved replicas, which may have no weight."""
        of_replicas = self._rules._replace(cost=self._problem.movement.is_there.astype(np.int64))
        return moved_weight(self._rules, at), moved_weight(of_replicas, at)

    def with_models(self, best: SearchedPlacement, bounds: Bounds, is_over: Deadline) -> tuple[SearchedPlacement, int]:
        """A placement within bounds that moves no more than `best`, and a lower bound on the movement of all within."""
        problem, rules = self._problem, self._rules
        dual = Dual(problem, rules, bounds, best)
        bound, prices = moved_lower_bound(dual, self._start, best.moved, is_over)
        if self._is_of_resources and problem.loads.reads is None:
            best = annealed(problem, bounds, best, dual, prices, bound, is_over)
        if self._goals and self._is_of_resources:
            at = exchanged(problem, rules, bounds, best, bound, is_over)
            found = best if at is best.at else search(problem, rules, at, bounds, is_over)
            if found.penalty <= best.penalty and found.moved < best.moved:
                best = found
        return best, min(bound, best.moved)

    def one_load(self, within: GoalRange) -> OneLoad:
        """The load of a goal that no leader changes, without limits, within bounds."""
        bounds = BrokerBounds(within.floor, within.ceiling)
        return OneLoad.of(self._problem, RESOURCES.index(within.goal.name), self._start, bounds)

    def all_at_once(self, wanted: Sequence[GoalRange], is_over: Deadline) -> SearchedPlacement | None:
        """A placement that reaches all goals jointly, whatever their priority; None if none is found.

        Tight goals are left to their order. A search that starts with the placement of an earlier goal moves more, and
        is slower, since it may not worsen that goal on its way.
        """
        if len(self._priorities) < 2 or not all(goal.has_floor for goal in self._goals):
            return None
        best = self._least_of_searches(self.bounds([], wanted), is_over)
        # A goal may be listed twice: the bounds are those of the last one.
        return best if best.penalty == 0 and all(self.is_within(each, best) for each in wanted) else None

    def one_by_one(self, is_over: Deadline) -> _Reached:
        """A placement that reaches goals in order of priority, and what it reached."""
        reached: list[GoalRange] = []
        best: SearchedPlacement | None = None
        for group in self._priorities:
            wanted = [self.range_of(goal) for goal in group]
            bounds = self.bounds(reached, wanted)
            after = self._least_of_searches(bounds, is_over, best)
            if best is None or all(self.is_within(each, after) for each in reached):
                best = after
            reached += [self.widened(each, best) for each in wanted]
        if best is None:
            best = self._least_of_searches(self.bounds([], []), is_over)
        return best, reached

    def with_less_movement(
        self, best: SearchedPlacement, reached: list[GoalRange], is_over: Deadline, *, is_from_start: bool
    ) -> _Reached:
        """Search again within what was reached: from the best placement, and from the start if it is not."""
        for _ in range(MAX_RERUNS):
            if is_over():
                break
            bounds = self.bounds([], reached)
            undone = search(self._problem, self._rules, best.at, bounds, is_over)
            placements = [undone] if is_from_start else [undone, self._least_of_searches(bounds, is_over)]
            better = min(placements, key=lambda each: (each.penalty, each.moved))
            if (better.penalty, better.moved) >= (undone.penalty, best.moved):
                break
            best = better
            wider = [self.widened(each, best) for each in reached]
            is_from_start = all(_is_same(*pair) for pair in zip(reached, wider, strict=True))
            reached = wider
        return best, reached

    def near_start(self, wanted: Sequence[GoalRange], reached: list[GoalRange]) -> list[GoalRange]:
        """The ranges, widened to the forced moves if that is hardly wider, so that a planned cluster stays."""
        begun = search(self._problem, self._rules, self._start, self.bounds([], []), lambda: True)
        wider = [self.widened(each, begun) for each in reached]
        bounds = [[BrokerBounds(each.floor, each.ceiling) for each in ranges] for ranges in (wanted, reached, wider)]
        return wider if all(_is_hardly_wider(*each) for each in zip(*bounds, strict=True)) else reached

    def _least_of_searches(
        self, bounds: Bounds, is_over: Deadline, best: SearchedPlacement | None = None
    ) -> SearchedPlacement:
        """The best placement of searches from another one, or from the start."""
        start = self._start if best is None else best.at
        return least_of_searches(self._problem, self._rules, start, bounds, is_over)

    def range_of(self, goal: Goal, mean: Fraction = Fraction(1)) -> GoalRange:
        """What a goal aims at, if brokers have this mean share of their ideal loads."""
        if goal.name == TOPIC_REPLICAS:
            return topic_range(self._problem, goal, self._counts)
        column = RESOURCES.index(goal.name)
        target = self._problem.targets[:, column]
        bound, ideal = self._shares[column], self._ideal[:, column]
        top = float(max(bound * (1 + CLOSE), mean * (1 + goal.tolerance) if goal.has_floor else Fraction(0)))
        ceiling = np.where(target, np.floor(ideal * top).astype(np.int64), NO_LIMIT)
        floor = self._problem.floors[:, column]
        if goal.has_floor:
            floor = np.where(target, np.ceil(ideal * float(mean * (1 - goal.tolerance))).astype(np.int64), floor)
        lowest = np.array([int(bound * Fraction(each)) for each in ideal], np.int64)  # ceilings at the lower bound
        return GoalRange(goal, np.maximum(ceiling, lowest), np.maximum(floor, 0), bound)

    def range_of_one_load(self, goal: Goal) -> GoalRange:
        """What a goal for one load aims at: levels that brokers can have together if replicas may be split."""
        column = RESOURCES.index(goal.name)
        ideal = self._ideal[:, column]
        lowest = lowest_level(self._problem, column, ideal, self._shares[column])
        # What stays on brokers that share nothing is part of the ideal loads.
        mean = min(Fraction(1), lowest * (1 + CLOSE))
        self._shares[column] = lowest
        wanted = self.range_of(goal, mean)
        if not goal.has_floor:
            return wanted
        lower_end = mean * (1 - goal.tolerance)
        level = highest_level(self._problem, column, ideal, lower_end, wanted.ceiling)
        if level == lower_end:
            return wanted
        floor = np.ceil(ideal * float(level * (1 - CLOSE))).astype(np.int64)
        target = self._problem.targets[:, column]
        return replace(wanted, floor=np.where(target, np.minimum(wanted.floor, floor), wanted.floor))

    def widened(self, aimed: GoalRange, placement: SearchedPlacement) -> GoalRange:
        """A range that holds what was reached: the same share of every broker's ideal load."""
        if aimed.goal.name == TOPIC_REPLICAS:
            target = self._problem.movement.target
            counts = placement.counts if len(placement.counts) else topic_counts(self._problem, placement.at)
            high = counts[:, target].max(axis=1, initial=0)
            low = counts[:, target].min(axis=1, initial=NO_LIMIT)
            return replace(aimed, ceiling=np.maximum(aimed.ceiling, high), floor=np.minimum(aimed.floor, low))
        column = RESOURCES.index(aimed.goal.name)
        target = self._problem.targets[:, column]
        load, ideal = placement.loads[:, column], self._ideal[:, column]
        ceiling, floor = aimed.ceiling.copy(), aimed.floor.copy()
        counted = target & (ideal > 0)
        if (load > ceiling)[target].any():
            top = (load[counted] / ideal[counted]).max(initial=0.0)
            wider = np.where(counted, np.floor(ideal * top).astype(np.int64), load)
            ceiling = np.where(target, np.maximum(np.maximum(ceiling, wider), load), ceiling)
        if (load < floor)[target].any():
            low = (load[counted] / ideal[counted]).min(initial=np.inf)
            wider = np.where(counted, np.floor(ideal * low).astype(np.int64), 0)
            floor = np.where(target, np.minimum(np.minimum(floor, wider), load), floor)
        floor = np.minimum(floor, np.where(target, NO_LIMIT, load))
        return replace(aimed, ceiling=ceiling, floor=floor)

    def is_within(self, reached: GoalRange, placement: SearchedPlacement) -> bool:
        """Whether a placement is within what was reached."""
        return _is_same(self.widened(reached, placement), reached)

    def bounds(self, earlier: Sequence[GoalRange], present: Sequence[GoalRange]) -> Bounds:
        """The bounds of goals that were reached and of those of the present priority, for the search."""
        bounds = Bounds.none(self._problem)
        targets = self._problem.targets
        for weight, ranges in ((EARLIER, earlier), (1.0, present)):
            for each in ranges:
                if each.goal.name == TOPIC_REPLICAS:
                    unit = np.full(len(each.ceiling), weight / max(1, len(each.ceiling)))
                    bounds = replace(bounds, topic_most=each.ceiling, topic_least=each.floor, topic_unit=unit)
                    continue
                column = RESOURCES.index(each.goal.name)
                bounds.ceiling[:, column], bounds.floor[:, column] = each.ceiling, each.floor
                bounds.unit[:, column] = weight / np.maximum(self._ideal[:, column], 1) * targets[:, column]
                is_kept = self._problem.floors[:, column] > 0
                bounds.unit[is_kept, column] = EARLIER / self._ideal[:, column].max(initial=1.0)
        return bounds
