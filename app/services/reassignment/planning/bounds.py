"""Lower bounds that do not come from the solver."""

import numpy as np

from app.core.model import NO_REPLICA
from app.core.reassignment import ReplicaPlacement
from app.services.reassignment.problem.problem import ReassignmentProblem


def bytes_bound(problem: ReassignmentProblem, placement: ReplicaPlacement, moved_bytes: int) -> int:
    """Lower bound on the bytes that a placement moves, which are `moved_bytes`."""
    proven = placement.certificate.lower_bound if problem.counts_bytes else _unavoidable_bytes(problem)
    return min(proven, moved_bytes)


def _unavoidable_bytes(problem: ReassignmentProblem) -> int:
    """Lower bound on moved bytes if something else is minimised: the replicas that cannot stay."""
    movement = problem.movement
    may_keep = np.array([[*domain.may_keep, False] for domain in movement.domains], np.bool_)
    if not len(may_keep):
        return 0
    stays = may_keep[movement.domain_of[:, None], movement.current]
    stays &= (movement.current != NO_REPLICA) & ~movement.is_copied
    lacking = np.maximum(movement.factors - stays.sum(axis=1), 0)
    lacking[problem.scope.is_new] = 0
    return int((lacking * problem.sizes.size_bytes).sum())
