"""The certificate of a reassignment: its movement with a lower bound, and the leaders that change."""

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA
from app.core.reassignment import ReplicaPlacement
from app.errors import Json
from app.services.reassignment.movement import Moves
from app.services.reassignment.resolve import ReassignmentProblem, ReassignmentSolution


def certificate_json(problem: ReassignmentProblem, solution: ReassignmentSolution, moves: Moves) -> dict[str, Json]:
    """The movement with its lower bound; of plans of leaders alone, the proof of their changes."""
    placement = solution.placement
    per_row = moves.is_copied.sum(axis=1)
    moved_bytes = int((per_row * problem.sizes.size_bytes).sum())
    proof = placement.certificate
    certificate: dict[str, Json] = {
        "moved_replicas": int(per_row.sum()),
        "moved_bytes": moved_bytes,
        "lower_bound_bytes": bytes_bound(problem, placement, moved_bytes),
        "lower_bound_replicas": None if problem.counts_bytes else proof.lower_bound,
        "unknown_size_replicas": int(per_row[~problem.sizes.is_known].sum()),
        "minimised": "bytes" if problem.counts_bytes else "replicas",
        "optimal": proof.optimal,
        "gap": proof.gap,
        "constraints": [*problem.constraints, *proof.constraints],
        "solver": proof.solver,
        "seconds": round(solution.seconds, 3),
    }
    if problem.leaders_only:
        leaders = solution.leaders.changes
        return certificate | {
            "optimal": leaders.optimal,
            "gap": leaders.gap,
            "solver": leaders.solver,
            "constraints": [*proof.constraints, *leaders.constraints],
        }
    return certificate


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


def leader_changes(problem: ReassignmentProblem, solution: ReassignmentSolution) -> int:
    """Preferred leaders that change; if the preferred ones are to lead, actual leaders that change."""
    first, before = solution.leaders.after[:, 0], problem.before[:, 0]
    if not problem.leaders.counts_actual:
        return int(np.count_nonzero((before != NO_REPLICA) & (first != before)))
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != problem.as_ids(first))))


def not_preferred(problem: ReassignmentProblem) -> int:
    """Partitions whose actual leader is not the first broker of their list."""
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != problem.scope.before[:, 0])))
