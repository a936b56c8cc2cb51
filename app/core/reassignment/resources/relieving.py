"""Bring every broker below its limits with the least movement, and change nothing else."""

from collections.abc import Callable

from app.core.reassignment.resources.answers import answer
from app.core.reassignment.resources.model import ResourcePlacement, ResourceProblem
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
    is_over()
    return answer(problem, rules, start_of(problem, rules), ranges=(), moved_bound=0)
