"""What a reassignment copies and removes, and a lower bound on the bytes that it copies."""

from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_REPLICA, Int32s
from app.core.reassignment.model import ReplicaPlacement
from app.core.reassignment.problem import Bools, Problem


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Replicas that are copied and replicas that are removed.

    Parameters
    ----------
    is_removed : (rows, widest) bool, replicas of the lists before that are not there afterwards.
    is_copied : (rows, widest) bool, replicas of the lists afterwards that have to be copied.
    """

    is_removed: Bools = field(repr=False)
    is_copied: Bools = field(repr=False)

    @classmethod
    def of(cls, problem: Problem, after: Int32s) -> "Moves":
        """Compare (rows, widest) int32 positions with where the replicas are."""
        before = problem.before
        stays = (before[:, :, None] == after[:, None, :]) & (before != NO_REPLICA)[:, :, None]
        # A partition that is yet to be has nothing that could be copied.
        is_there = ~problem.is_new[:, None]
        is_copied = (after != NO_REPLICA) & ~stays.any(axis=1) & is_there
        return cls((before != NO_REPLICA) & ~stays.any(axis=2), is_copied)


def bytes_bound(problem: Problem, placement: ReplicaPlacement, moved_bytes: int) -> int:
    """Lower bound on the bytes that a placement moves, which are `moved_bytes`."""
    proven = placement.certificate.lower_bound if problem.counts_bytes else _unavoidable_bytes(problem)
    return min(proven, moved_bytes)


def _unavoidable_bytes(problem: Problem) -> int:
    """Lower bound on moved bytes if something else is minimised: the replicas that cannot stay."""
    movement = problem.movement
    may_keep = np.array([[*domain.may_keep, False] for domain in movement.domains], np.bool_)
    if not len(may_keep):
        return 0
    stays = may_keep[movement.domain_of[:, None], movement.current]
    stays &= (movement.current != NO_REPLICA) & ~movement.is_copied
    lacking = np.maximum(movement.factors - stays.sum(axis=1), 0)
    lacking[problem.is_new] = 0
    return int((lacking * problem.size_bytes).sum())
