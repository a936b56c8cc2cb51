"""Why the replicas of a broker cannot be packed in its log directories: an irreducible infeasible subset.

A deletion filter removes drains, then replicas by ascending size: without which the rest is still proven not to fit is
dropped. If the solver's time ends before a proof, a replica is kept, so that the subset is always infeasible.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.log_dirs.model import LogDirProblem
from app.core.reassignment.log_dirs.placing import any_placement
from app.core.reassignment.model import KEEP

_SOLVER_TIME = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class PackingConflict:
    """Replicas that cannot be packed together.

    Parameters
    ----------
    replicas : indices, by descending size; without any one of them the others fit, if `is_proven`.
    drains : directories whose drain is part of the conflict.
    free_bytes : (directories,) int64 free under the limits beside the replicas that may stay; 0 of those that may not
        receive.
    is_proven : whether the subset is proven infeasible; False if the time of the solver ended first.
    """

    replicas: Int64s
    drains: tuple[int, ...]
    free_bytes: Int64s = field(repr=False)
    is_proven: bool


def packing_conflict(problem: LogDirProblem) -> PackingConflict:
    """An irreducible set of replicas that do not fit under the limits, however they are packed."""
    current = problem.current.copy()
    stays = np.where(problem.has_to_move, np.int32(-1), current).astype(np.int32)
    free = np.where(problem.may_receive, np.maximum(problem.limit - problem.loads(stays), 0), 0)
    everything = np.arange(len(current))
    if not _is_proven_infeasible(problem, everything):
        worst = everything[problem.has_to_move][np.argsort(-problem.size_bytes[problem.has_to_move])][:1]
        return PackingConflict(worst, (), free, is_proven=False)
    drains = []
    for directory in np.flatnonzero(problem.is_drained).tolist():
        without = _undrained(problem, directory)
        if _is_proven_infeasible(without, everything):
            problem = without
        else:
            drains.append(directory)
    chosen = _filtered(problem, everything[np.argsort(problem.size_bytes, kind="stable")])
    order = np.lexsort((chosen, -problem.size_bytes[chosen]))
    return PackingConflict(chosen[order], tuple(drains), free, is_proven=True)


def _filtered(problem: LogDirProblem, replicas: Int64s) -> Int64s:
    """Drop runs of replicas, ever shorter ones, without which the rest still does not fit."""
    chosen, run = replicas, len(replicas) // 2
    while run:
        start = 0
        while start < len(chosen):
            rest = np.concatenate([chosen[:start], chosen[start + run :]])
            if _is_proven_infeasible(problem, rest):
                chosen = rest
            else:
                start += run
        run //= 2
    return chosen


def _is_proven_infeasible(problem: LogDirProblem, chosen: Int64s) -> bool:
    sizes, current = problem.size_bytes[chosen], problem.current[chosen].astype(np.int32)
    part = replace(problem, size_bytes=sizes, current=current, balance=KEEP)
    residual = part.limit[~part.is_drained] - part.base_bytes[~part.is_drained]
    # Several directories without a limit are more than int64 holds.
    if int(sizes.sum()) > sum(residual.tolist()) or (len(sizes) and not len(residual)):
        return True
    return any_placement(part, _SOLVER_TIME).is_infeasible


def _undrained(problem: LogDirProblem, directory: int) -> LogDirProblem:
    is_drained, may_receive = problem.is_drained.copy(), problem.may_receive.copy()
    is_drained[directory], may_receive[directory] = False, True
    return replace(problem, is_drained=is_drained, may_receive=may_receive)
