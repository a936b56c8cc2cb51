"""Lower bounds that come from no solver: on the largest share of a directory, and on moved bytes."""

from fractions import Fraction

import numpy as np

from app.core.model import NO_LOG_DIR, Int64s
from app.core.reassignment.log_dirs.model import LogDirProblem


def largest_share_lower_bound(problem: LogDirProblem) -> Fraction:
    """Lower bound on the largest share: the larger of what a fractional packing and single replicas require.

    A fractional packing fills the directories evenly above what cannot move. Among the k·d + 1 largest replicas, one of
    d directories has k + 1, which are together at least as large as the k + 1 smallest of them.
    """
    stays = np.flatnonzero(~problem.is_drained)
    if not len(stays):
        return Fraction(0)
    base = [int(problem.base_bytes[directory]) for directory in stays]
    capacity = [int(problem.capacity[directory]) for directory in stays]
    bound = max(Fraction(b, c) for b, c in zip(base, capacity, strict=True))
    bound = max(bound, _fractional(base, capacity, int(problem.size_bytes.sum())))
    largest = -np.sort(-problem.size_bytes)
    counts = np.arange(len(largest) // len(stays) + 1)
    counts = counts[counts * len(stays) < len(largest)]
    if len(counts):
        sums = np.concatenate([[0], np.cumsum(largest)])
        ends = counts * len(stays) + 1
        together = sums[ends] - sums[ends - counts - 1]
        bound = max(bound, Fraction(int(together.max()), max(capacity)))
    return bound


def _fractional(base: list[int], capacity: list[int], movable: int) -> Fraction:
    """The share up to which directories are filled if replicas can be divided."""
    order = sorted(range(len(base)), key=lambda directory: Fraction(base[directory], capacity[directory]))
    filled, total = movable, 0
    share = Fraction(0)
    for place, directory in enumerate(order):
        filled += base[directory]
        total += capacity[directory]
        share = Fraction(filled, total)
        if place + 1 == len(order) or share * capacity[order[place + 1]] <= base[order[place + 1]]:
            break
    return share


def moved_bytes_lower_bound(problem: LogDirProblem, ceiling: Int64s) -> int:
    """Lower bound on the bytes that move between directories if none has more than its ceiling.

    What drained directories have, and of the others what is above the ceiling, and at least their smallest replica.
    """
    forced = problem.has_to_move & (problem.current != NO_LOG_DIR)
    stays = ~problem.has_to_move
    bound = int(problem.size_bytes[forced].sum())
    for directory in np.flatnonzero(~problem.is_drained).tolist():
        sizes = problem.size_bytes[stays & (problem.current == directory) & (problem.size_bytes > 0)]
        excess = int(problem.base_bytes[directory] + sizes.sum() - ceiling[directory])
        if excess > 0:
            bound += max(excess, int(sizes.min(initial=excess)))
    return bound
