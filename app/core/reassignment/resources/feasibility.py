"""Whether hard limits are proven to conflict, without a search."""

from app.core.reassignment.resources.integer_model import MAX_CELLS, is_infeasible
from app.core.reassignment.resources.model import NO_LIMIT, ResourceProblem
from app.core.reassignment.resources.start import rules_of
from app.core.reassignment.resources.sums import conflicts_of


def limits_conflict(problem: ResourceProblem) -> bool:
    """Whether it is proven that no placement is within the hard limits: by sums, or by the model of a small problem."""
    if conflicts_of(problem)[0]:
        return True
    if problem.loads.reads is not None or len(problem.leader) * len(problem.may_lead) > MAX_CELLS:
        return False
    limited = (problem.limits.upper < NO_LIMIT) & ~problem.limits.is_soft
    return is_infeasible(problem, rules_of(problem), limited)
