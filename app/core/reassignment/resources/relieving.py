"""Bring every broker below its limits with the least movement, and change nothing else."""

from collections.abc import Callable

from app.core.reassignment.resources.answers import answer
from app.core.reassignment.resources.exact import exact_answer
from app.core.reassignment.resources.excess import proven_excess
from app.core.reassignment.resources.model import ResourcePlacement, ResourceProblem
from app.core.reassignment.resources.movement_bound import moved_lower_bound
from app.core.reassignment.resources.search import Bounds, search
from app.core.reassignment.resources.start import rules_of, start_of


def relieve(problem: ResourceProblem, is_over: Callable[[], bool]) -> ResourcePlacement:
    """Move the least weight that brings every broker below its limits, hard ones first; then change the fewest leaders.

    If limits cannot all hold, the answer has the least excess that the search finds: `excess.conflicts` proves it for
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
    placement = search(problem, rules, start, bounds, is_over)
    proof, placement = proven_excess(problem, rules, bounds, placement, is_over)
    least = moved_lower_bound(problem, rules, start, bounds, placement, is_over).value
    return answer(problem, rules, placement.at, ranges=(), moved_bound=least, proof=proof)
