"""Place the replicas of one broker in its log directories."""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_LOG_DIR, Int32s, Int64s
from app.core.reassignment.log_dirs.greedy import lowered, placed_under
from app.core.reassignment.log_dirs.integer_model import MAX_CELLS, PackingModel, any_placement
from app.core.reassignment.log_dirs.model import LogDirPlacement, LogDirProblem


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
    filled = accumulate(base[directory] for directory in order)
    total = accumulate(capacity[directory] for directory in order)
    return min(Fraction(movable + used, size) for used, size in zip(filled, total, strict=True))


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


SOLVER_TIME = 2.0
"""Deterministic time of the models of one broker, about seconds."""
PRECISION = Fraction(1, 1000)
"""A largest share that is above its lower bound by no more than this part of it is as good as the bound."""
_BISECTIONS = 12


def place_in_log_dirs(problem: LogDirProblem, *, solver_time: float = SOLVER_TIME) -> LogDirPlacement | None:
    """The directory of each replica, by the goals of `LogDirProblem` in their order; None if none is found.

    The smallest largest share is reached if it is within `PRECISION` of its lower bound. A greedy placement under a
    ceiling is improved by single moves and exchanges. If a lower bound is missed and the broker is small enough, an
    integer model solves it, exactly unless its time ends.

    Complexity: O(replicas · directories) for each ceiling tried; the model is exponential and bounded in time.

    Parameters
    ----------
    solver_time : deterministic seconds of each model; 0 solves none.

    Examples
    --------
    Directory 0 is drained; the replica of 5 bytes goes where less is.

    >>> import numpy as np
    >>> from app.core.reassignment.log_dirs.model import LogDirProblem
    >>> from app.core.reassignment.log_dirs.placing import place_in_log_dirs
    >>> from app.core.reassignment.model import KEEP
    >>> problem = LogDirProblem(
    ...     size_bytes=np.array([5, 7, 3]), current=np.array([0, 1, 2], np.int32), base_bytes=np.zeros(3, np.int64),
    ...     capacity=np.ones(3, np.int64), max_bytes=np.full(3, 100), may_receive=np.array([False, True, True]),
    ...     is_drained=np.array([True, False, False]), balance=KEEP)
    >>> placement = place_in_log_dirs(problem)
    >>> placement.log_dirs.tolist(), placement.moved.value, placement.moved.optimal, int(placement.largest.value)
    ([2, 1, 2], 5, True, 8)
    """
    if len(problem.size_bytes) * len(problem.capacity) > MAX_CELLS:
        solver_time = 0.0
    start = any_placement(problem, solver_time).log_dirs
    if start is None:
        return None
    if problem.balance.tolerance is None:
        return _fewest_bytes_first(problem, start, solver_time)
    return _smallest_share_first(problem, start, solver_time, problem.balance.tolerance)


def _fewest_bytes_first(problem: LogDirProblem, start: Int32s, solver_time: float) -> LogDirPlacement:
    placed, bound = _with_few_bytes(problem, start, problem.limit, solver_time)
    moved = problem.moved_bytes(placed)
    # Where what moves anyway goes is free.
    placed = lowered(problem, placed, only=np.flatnonzero(placed != problem.current))
    largest_bound = largest_share_lower_bound(_with_others_fixed(problem, moved))
    placed, largest_bound = _with_smallest_share(problem, placed, largest_bound, problem.limit, moved, solver_time)
    return _answer(problem, placed, bound, largest_bound)


def _with_smallest_share(
    problem: LogDirProblem, placed: Int32s, bound: Fraction, ceiling: Int64s, moved: int | None, solver_time: float
) -> tuple[Int32s, Fraction]:
    """The placement improved by an integer model if its largest share is above the lower bound, and the better bound.

    Parameters
    ----------
    ceiling : (directories,) int64. moved : bytes that the model may move; None is any number.
    """
    share = _share(problem, placed)
    if share > bound * (1 + PRECISION) and solver_time:
        solved = PackingModel(problem, ceiling, solver_time).smallest_share(placed, moved)
        if solved.log_dirs is not None and _share(problem, solved.log_dirs) <= share:
            return solved.log_dirs, max(bound, solved.lower_bound)
    return placed, bound


def _with_others_fixed(problem: LogDirProblem, moved: int) -> LogDirProblem:
    """The problem in which only replicas that have to move may do so, if no more bytes than theirs may move."""
    forced = problem.has_to_move
    if moved > int(problem.size_bytes[forced & (problem.current != NO_LOG_DIR)].sum()):
        return problem
    stays = np.where(forced, np.int32(NO_LOG_DIR), problem.current).astype(np.int32)
    return replace(
        problem, size_bytes=problem.size_bytes[forced], current=problem.current[forced], base_bytes=problem.loads(stays)
    )


def _smallest_share_first(
    problem: LogDirProblem, start: Int32s, solver_time: float, tolerance: Fraction
) -> LogDirPlacement:
    largest_bound = largest_share_lower_bound(problem)
    placed = _with_small_share(problem, start, largest_bound)
    ceiling = problem.ceiling(_share(problem, placed))
    placed, largest_bound = _with_smallest_share(problem, placed, largest_bound, ceiling, None, solver_time)
    most = max(_share(problem, placed), largest_bound * (1 + PRECISION), _mean_share(problem) * (1 + tolerance))
    placed, bound = _with_few_bytes(problem, placed, problem.ceiling(most), solver_time)
    return _answer(problem, placed, bound, largest_bound if tolerance == 0 else Fraction(0))


def _with_small_share(problem: LogDirProblem, start: Int32s, bound: Fraction) -> Int32s:
    """The placement with the smallest ceiling under which the greedy one succeeds, improved."""
    best = lowered(problem, start)
    low, high = bound, _share(problem, best)
    for _ in range(_BISECTIONS):
        if high <= low * (1 + PRECISION):
            break
        # With no more digits than needed: fractions double theirs each time.
        middle = Fraction((low + high) / 2).limit_denominator(10**9)
        found = placed_under(problem, problem.ceiling(middle)) if low <= middle < high else None
        if found is None:
            low = middle if middle > low else high
        else:
            found = lowered(problem, found)
            share = _share(problem, found)
            if share < _share(problem, best):
                best = found
            high = min(middle, share)
    return best


def _with_few_bytes(problem: LogDirProblem, start: Int32s, ceiling: Int64s, solver_time: float) -> tuple[Int32s, int]:
    """The placement under a ceiling that moves the fewest bytes which are found, and a lower bound on them."""
    greedy = placed_under(problem, ceiling)
    best = start if greedy is None else min(start, greedy, key=problem.moved_bytes)
    bound = moved_bytes_lower_bound(problem, ceiling)
    if problem.moved_bytes(best) > bound and solver_time:
        solved = PackingModel(problem, ceiling, solver_time).fewest_bytes(best)
        if solved.log_dirs is not None:
            best = min(best, solved.log_dirs, key=problem.moved_bytes)
            bound = max(bound, -(-solved.lower_bound.numerator // solved.lower_bound.denominator))
    return best, bound


def _mean_share(problem: LogDirProblem) -> Fraction:
    stays = ~problem.is_drained
    total = int(problem.size_bytes.sum() + problem.base_bytes[stays].sum())
    return Fraction(total, max(int(problem.capacity[stays].sum()), 1))


def _share(problem: LogDirProblem, placed: Int32s) -> Fraction:
    return problem.largest_share(problem.loads(placed))


def _answer(problem: LogDirProblem, placed: Int32s, moved_bound: int, largest_bound: Fraction) -> LogDirPlacement:
    solver = "greedy, local search and CP-SAT, with combinatorial bounds"
    moved, largest = problem.moved_bytes(placed), _share(problem, placed)
    return LogDirPlacement(
        placed,
        Certificate("bytes moved between log directories", moved, min(moved_bound, moved), solver),
        Certificate("largest share of a log directory", largest, min(largest_bound, largest), solver),
    )
