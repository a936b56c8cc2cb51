"""Goals within limits and a budget of movement: the narrowest tolerance that the budget pays for.

Soft limits never prevent a plan: if they move more than the budget, nothing moves for goals, and each broker's soft
limits are raised by a common share of what the load is above them if nothing moves for them, found by bisection.

If the goals move more than the budget, they are given a common tolerance of the ideal loads, found by bisection between
the requested ones and the one that what limits require has in any case. A wider tolerance seldom moves more; if it
does, the answer is the narrowest of the tolerances that were tried and found within the budget.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.goals.answers import with_leaders
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.model import Deadline
from app.core.reassignment.resource_problem import NO_LIMIT, Goal, ResourcePlacement, ResourceProblem
from app.core.reassignment.solvers.flow.least_movement import narrowest


def relieve(problem: ResourceProblem, is_over: Deadline) -> ResourcePlacement:
    """Move the least weight that brings every broker below its limits, hard ones first; then change the fewest leaders.

    If limits cannot all hold, the answer has the least excess that the search finds: `limits_conflict` proves it for
    hard limits, and `excess.hard.lower_bound` bounds it.

    Parameters
    ----------
    is_over : whether the deadline has passed; then the best placement so far is returned.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.
    """
    return reach_goals(problem, (), is_over)


STEPS = 7
"""Tolerances that are tried between the two ends."""

UNBOUNDED = Fraction(10**6)
"""A tolerance that every placement is within."""


class BudgetNotReached(Exception):
    """What hard limits require was found to move `least`, above the budget; no placement moves less than `bound`."""

    def __init__(self, least: int, bound: int) -> None:
        super().__init__(f"{least} is moved, at least {bound}")
        self.least, self.bound = least, bound


def reach_within(
    problems: Sequence[ResourceProblem], priorities: Sequence[Sequence[Goal]], budget: int, is_over: Deadline
) -> list[ResourcePlacement]:
    """Reach goals as nearly as a budget allows; without goals, bring brokers below their limits.

    Parameters
    ----------
    problems : parts without common partitions and brokers, whose goals all have the same tolerance.
    priorities : as of `reach_goals`. budget : maximum weight moved by all of them.
    is_over : whether the deadline has passed; then the best placements so far are returned.

    Raises
    ------
    BudgetNotReached : what hard limits require exceeds the budget.
    InfeasibleFlow, LimitExceeded : as `reach_goals`.
    """
    best = [relieve(problem, is_over) for problem in problems]
    if _moved(best) > budget:
        return _above_soft_limits(problems, budget, is_over)
    if not priorities:
        return best
    as_requested = [reach_goals(problem, priorities, is_over) for problem in problems]
    if _moved(as_requested) <= budget:
        return as_requested
    requested = min(goal.tolerance for group in priorities for goal in group)
    widest = max(requested, *(_distance(problem, priorities) for problem in problems))

    def reached(share: Fraction) -> list[ResourcePlacement]:
        tolerance = requested + (widest - requested) * share
        wider = [tuple(replace(goal, tolerance=max(goal.tolerance, tolerance)) for goal in each) for each in priorities]
        return [reach_goals(problem, wider, is_over) for problem in problems]

    found = reached(Fraction(1))
    return _narrowest(reached, found if _moved(found) <= budget else best, budget, is_over)


def _above_soft_limits(problems: Sequence[ResourceProblem], budget: int, is_over: Deadline) -> list[ResourcePlacement]:
    """Soft limits as nearly as a budget allows. Raises `BudgetNotReached`."""
    uppers = [np.where(each.limits.is_soft, NO_LIMIT, each.limits.upper) for each in problems]
    alone = [relieve(_limited(*pair), is_over) for pair in zip(problems, uppers, strict=True)]
    if _moved(alone) > budget:
        raise BudgetNotReached(_moved(alone), sum(each.movement.lower_bound for each in alone))

    def raised(problem: ResourceProblem, loads: Int64s, share: Fraction) -> ResourceProblem:
        upper = problem.limits.upper
        above = np.maximum(loads - upper, 0) * problem.limits.is_soft
        return _limited(problem, upper + np.ceil(above * float(share)).astype(np.int64))

    def reached(share: Fraction) -> list[ResourcePlacement]:
        return [relieve(raised(*pair, share), is_over) for pair in zip(problems, loads, strict=True)]

    loads = [each.loads for each in alone]
    placements = zip(problems, _narrowest(reached, alone, budget, is_over), strict=True)
    return [with_leaders(problem, placement, placement.leaders) for problem, placement in placements]


def _limited(problem: ResourceProblem, upper: Int64s) -> ResourceProblem:
    """The problem with other limits."""
    return replace(problem, limits=replace(problem.limits, upper=upper))


def _narrowest(
    reached: Callable[[Fraction], list[ResourcePlacement]],
    best: list[ResourcePlacement],
    budget: int,
    is_over: Deadline,
) -> list[ResourcePlacement]:
    """The placements of the least share between 0 and 1 that were found within the budget; else `best`."""
    parts = 1 << STEPS
    found = narrowest(
        parts - 2, lambda step: reached(Fraction(step + 1, parts)), lambda made: _moved(made) <= budget, is_over
    )
    return found or best


def _moved(placements: Sequence[ResourcePlacement]) -> int:
    return sum(each.moved for each in placements)


def _distance(problem: ResourceProblem, priorities: Sequence[Sequence[Goal]]) -> Fraction:
    """How far a placement that does nothing for the goals is from the ideal loads."""
    everything = [tuple(replace(goal, tolerance=UNBOUNDED) for goal in group) for group in priorities]
    reached = reach_goals(problem, everything, lambda: False).goals
    return max(max(each.largest.value - 1, 1 - each.smallest) for each in reached)
