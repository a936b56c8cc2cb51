"""Parts of a problem that share neither partitions nor brokers: each is placed on its own, with its own proof.

If every partition is on the brokers of one part alone, the least movement of the whole is the sum of those of the
parts, and so is the lower bound. Each part has its own band.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Int64s
from app.core.reassignment.model import MovementProblem, ReplicaPlacement


def part_of(problem: MovementProblem, rows: Int64s, target: NDArray[np.bool_]) -> MovementProblem:
    """The problem of some rows, balanced among these brokers; the other rows have nothing there.

    Parameters
    ----------
    rows : (part,) int64, ascending. target : (brokers,) bool.
    """
    used, domain_of = np.unique(problem.domain_of[rows], return_inverse=True)
    return MovementProblem(
        broker_ids=problem.broker_ids,
        rack_of=problem.rack_of,
        target=target,
        base=problem.base,
        domains=tuple(problem.domains[domain] for domain in used.tolist()),
        domain_of=domain_of.reshape(-1).astype(np.int32),
        current=problem.current[rows],
        is_copied=problem.is_copied[rows],
        must_keep=problem.must_keep[rows],
        weight=problem.weight[rows],
        share=problem.share,
        in_sync=None if problem.in_sync is None else problem.in_sync[rows],
    )


def joined(parts: Sequence[tuple[Int64s, ReplicaPlacement]]) -> ReplicaPlacement:
    """One placement of all parts, which have all rows; without a band, since each part has its own.

    Parameters
    ----------
    parts : the rows of each, and their placement. One part is returned as it is.
    """
    if len(parts) == 1:
        return parts[0][1]
    count = sum(len(rows) for rows, _ in parts)
    width = max((placement.replicas.shape[1] for _, placement in parts), default=0)
    replicas = np.full((count, width), NO_REPLICA, np.int32)
    for rows, placement in parts:
        replicas[rows, : placement.replicas.shape[1]] = placement.replicas
    excesses = [placement.topic_excess for _, placement in parts if placement.topic_excess is not None]
    return ReplicaPlacement(
        replicas, None, summed([placement.certificate for _, placement in parts]), sum(excesses) if excesses else None
    )


def summed(certificates: Sequence[Certificate[int]]) -> Certificate[int]:
    """The certificate of the sum of values that do not depend on each other."""
    constraints = tuple(dict.fromkeys(words for each in certificates for words in each.constraints))
    return Certificate(
        certificates[0].minimised,
        sum(each.value for each in certificates),
        sum(each.lower_bound for each in certificates),
        certificates[0].solver,
        constraints,
    )
