"""Goals within limits and a budget of movement: the narrowest tolerance that the budget pays for.

If the goals move more than the budget, they are given a common tolerance of the ideal loads, found by bisection between
the requested ones and the one that what limits require has in any case. A wider tolerance seldom moves more; if it
does, the answer is the narrowest of the tolerances that were tried and found within the budget.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from app.core.reassignment.bounds.movement_bound import moved_lower_bound
from app.core.reassignment.goals.answers import answer
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.goals.exact import exact_answer
from app.core.reassignment.resource_problem import Bounds, Goal, ResourcePlacement, ResourceProblem
from app.core.reassignment.solvers.exact.limit_model import proven_excess
from app.core.reassignment.solvers.search.search import least_of_searches, rules_of, start_of


def relieve(problem: ResourceProblem, is_over: Callable[[], bool]) -> ResourcePlacement:
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
    rules = rules_of(problem)
    start = start_of(problem, rules)
    exact = exact_answer(problem, rules, start, (), is_over)
    if exact is not None:
        return exact
    bounds = Bounds.none(problem)
    placement = least_of_searches(problem, rules, start, bounds, is_over)
    proof, placement = proven_excess(problem, rules, bounds, placement, is_over)
    least = moved_lower_bound(problem, rules, start, bounds, placement, is_over)
    return answer(problem, rules, placement.at, ranges=(), moved_bound=least, proof=proof)


STEPS = 7
"""Tolerances that are tried between the two ends."""

UNBOUNDED = Fraction(10**6)
"""A tolerance that every placement is within."""


class BudgetNotReached(Exception):
    """What limits require alone was found to move `least`, above the budget; no placement moves less than `bound`."""

    def __init__(self, least: int, bound: int) -> None:
        super().__init__(f"{least} is moved, at least {bound}")
        self.least, self.bound = least, bound


def reach_within(
    problems: Sequence[ResourceProblem],
    priorities: Sequence[Sequence[Goal]],
    budget: int,
    is_over: Callable[[], bool],
) -> list[ResourcePlacement]:
    """Reach goals as nearly as a budget allows; without goals, bring brokers below their limits.

    Parameters
    ----------
    problems : parts without common partitions and brokers, whose goals all have the same tolerance.
    priorities : as of `reach_goals`. budget : maximum weight moved by all of them.
    is_over : whether the deadline has passed; then the best placements so far are returned.

    Raises
    ------
    BudgetNotReached : what limits require exceeds the budget.
    InfeasibleFlow, LimitExceeded : as `reach_goals`.
    """
    best = [relieve(problem, is_over) for problem in problems]
    if _moved(best) > budget:
        raise BudgetNotReached(_moved(best), sum(each.movement.lower_bound for each in best))
    if not priorities:
        return best
    as_requested = [reach_goals(problem, priorities, is_over) for problem in problems]
    if _moved(as_requested) <= budget:
        return as_requested
    requested = min(goal.tolerance for group in priorities for goal in group)
    low, high = 0, 1 << STEPS
    widest = max(_distance(problem, priorities) for problem in problems)
    found = _reached(problems, priorities, max(widest, requested), is_over)
    best = found if _moved(found) <= budget else best
    while high - low > 1 and not is_over():
        middle = (low + high) // 2
        tolerance = requested + (max(widest, requested) - requested) * Fraction(middle, 1 << STEPS)
        found = _reached(problems, priorities, tolerance, is_over)
        if _moved(found) <= budget:
            best, high = found, middle
        else:
            low = middle
    return best


def _moved(placements: Sequence[ResourcePlacement]) -> int:
    return sum(each.moved for each in placements)


def _reached(
    problems: Sequence[ResourceProblem],
    priorities: Sequence[Sequence[Goal]],
    tolerance: Fraction,
    is_over: Callable[[], bool],
) -> list[ResourcePlacement]:
    """The goals with this tolerance, or their own if that is wider."""
    wider = [tuple(replace(goal, tolerance=max(goal.tolerance, tolerance)) for goal in group) for group in priorities]
    return [reach_goals(problem, wider, is_over) for problem in problems]


def _distance(problem: ResourceProblem, priorities: Sequence[Sequence[Goal]]) -> Fraction:
    """How far a placement that does nothing for the goals is from the ideal loads."""
    everything = [tuple(replace(goal, tolerance=UNBOUNDED) for goal in group) for group in priorities]
    reached = reach_goals(problem, everything, lambda: False).goals
    return max(max(each.largest.value - 1, 1 - each.smallest) for each in reached)
