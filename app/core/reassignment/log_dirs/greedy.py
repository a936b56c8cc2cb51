"""Placement under a ceiling: what has to move or is above the ceiling, largest first, then local improvement."""

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_LOG_DIR, Bools, Int32s, Int64s
from app.core.reassignment.log_dirs.model import LogDirProblem

_MOST_EXCHANGES = 100
"""The largest number of improvements of one placement."""
_MOST_LOOKED_AT = 60
"""The largest number of replicas of a directory that are considered for one improvement."""


def placed_under(problem: LogDirProblem, ceiling: Int64s) -> Int32s | None:
    """(replicas,) int32 directories under a ceiling, with few bytes moved; None if none is found.

    Each directory above the ceiling gives up the replicas that cover the excess with few bytes. They and those that
    have to move are placed by descending size: where the share is then smallest, or, if that fails, where the least
    capacity is left.
    """
    log_dirs = np.where(problem.has_to_move, np.int32(NO_LOG_DIR), problem.current).astype(np.int32)
    for directory in np.flatnonzero(problem.loads(log_dirs) > ceiling).tolist():
        excess = int(problem.loads(log_dirs)[directory] - ceiling[directory])
        replicas = np.flatnonzero(log_dirs == directory)
        log_dirs[replicas[_cover(problem.size_bytes[replicas], excess)]] = NO_LOG_DIR
    if (problem.loads(log_dirs) > ceiling).any():
        return None
    free = np.flatnonzero(log_dirs == NO_LOG_DIR)
    order = free[np.lexsort((free, -problem.size_bytes[free]))]
    for fits_tightly in (False, True):
        placed = _packed(problem, log_dirs, order, ceiling, fits_tightly=fits_tightly)
        if placed is not None:
            return placed
    return None


def _cover(sizes: Int64s, excess: int) -> Int64s:
    """Indices of replicas whose sum is at least the excess: the largest that are below what is left, then one above."""
    order = np.argsort(-sizes, kind="stable")
    chosen, left = [], excess
    for place in order.tolist():
        if 0 < sizes[place] <= left:
            chosen.append(place)
            left -= int(sizes[place])
    if left > 0:
        enough = [place for place in order.tolist() if sizes[place] >= left and place not in chosen]
        if enough:
            one = enough[-1]
            # What the last one makes unnecessary stays.
            spare, needed = int(sizes[one]) - left, []
            for place in chosen:
                if sizes[place] <= spare:
                    spare -= int(sizes[place])
                else:
                    needed.append(place)
            chosen = [*needed, one]
    return np.array(chosen, np.int64)


def _packed(
    problem: LogDirProblem, log_dirs: Int32s, order: Int64s, ceiling: Int64s, *, fits_tightly: bool
) -> Int32s | None:
    placed, loads = log_dirs.copy(), problem.loads(log_dirs).tolist()
    most, capacity, current = ceiling.tolist(), problem.capacity.tolist(), problem.current.tolist()
    receiving = np.flatnonzero(problem.may_receive).tolist()
    sizes, forced = problem.size_bytes.tolist(), problem.has_to_move.tolist()
    for replica in order.tolist():
        size = sizes[replica]
        open_to = receiving
        if not forced[replica] and current[replica] not in receiving:
            open_to = [*receiving, current[replica]]
        fitting = [directory for directory in open_to if size == 0 or loads[directory] + size <= most[directory]]
        if not fitting:
            return None
        if fits_tightly:
            best = min(fitting, key=lambda directory: (most[directory] - loads[directory] - size, directory))
        else:
            best = min(fitting, key=lambda directory: ((loads[directory] + size) / capacity[directory], directory))
        placed[replica] = best
        loads[best] += size
    return placed


def lowered(problem: LogDirProblem, placed: Int32s, *, only: Int64s | None = None) -> Int32s:
    """Lower the largest share by moving or exchanging single replicas while that is possible.

    Parameters
    ----------
    only : replicas that may be moved; None is all.
    """
    placed = placed.copy()
    movable = np.ones(len(placed), np.bool_) if only is None else np.isin(np.arange(len(placed)), only)
    movable &= problem.size_bytes > 0
    for _ in range(_MOST_EXCHANGES):
        loads = problem.loads(placed)
        if not _lower_once(problem, placed, loads, movable):
            break
    return placed


def _lower_once(problem: LogDirProblem, placed: Int32s, loads: Int64s, movable: Bools) -> bool:
    """Move a replica out of the directory of the largest share, or exchange it for a smaller one; False if neither."""
    shares = np.where(problem.is_drained, -1.0, loads / problem.capacity)
    worst = int(np.argmax(shares))
    best, change = float(shares[worst]) * (1 - 1e-12), None
    mine = _some(np.flatnonzero(movable & (placed == worst)))
    if not len(mine):
        return False
    for other in np.flatnonzero(problem.may_receive).tolist():
        if other == worst:
            continue
        theirs = np.zeros(0, np.int64)
        if problem.may_receive[worst]:
            theirs = _some(np.flatnonzero(movable & (placed == other)))
        after = _shares_after(problem, loads, (worst, mine), (other, theirs))
        row, column = np.unravel_index(int(np.argmin(after)), after.shape)
        if after[row, column] < best:
            best = float(after[row, column])
            change = int(mine[row]), other, None if not column else int(theirs[column - 1])
    if change is None:
        return False
    replica, other, exchanged = change
    placed[replica] = other
    if exchanged is not None:
        placed[exchanged] = worst
    return True


def _shares_after(
    problem: LogDirProblem, loads: Int64s, giving: tuple[int, Int64s], taking: tuple[int, Int64s]
) -> NDArray[np.float64]:
    """(replicas, 1 + others) float64: the larger share of two directories if one gives a replica alone, or for another
    one; infinite if that is not less for it, or above the limit of the other.

    Parameters
    ----------
    giving, taking : a directory, and some of its replicas.
    """
    back = np.concatenate([[0], problem.size_bytes[taking[1]]])
    shift = problem.size_bytes[giving[1]][:, None] - back[None, :]
    left, taken = loads[giving[0]] - shift, loads[taking[0]] + shift
    after = np.maximum(left / problem.capacity[giving[0]], taken / problem.capacity[taking[0]])
    return np.where((shift <= 0) | (taken > problem.limit[taking[0]]), np.inf, after)


def _some(replicas: Int64s) -> Int64s:
    """At most `_MOST_LOOKED_AT` of the replicas, at equal distances."""
    if len(replicas) <= _MOST_LOOKED_AT:
        return replicas
    return replicas[np.linspace(0, len(replicas) - 1, _MOST_LOOKED_AT).astype(np.int64)]
