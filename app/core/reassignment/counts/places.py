"""Where partitions are, counted, costed and put in order: what every search for a better place starts and ends with."""

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.counts.pricing import Costs, movement_costs, settled
from app.core.reassignment.problem import NO_HOME, Problem


def stay_put(problem: Problem) -> tuple[Int32s, NDArray[np.bool_]]:
    """(rows, widest) int32 where settled partitions are, padding elsewhere; (rows,) bool, which those are."""
    stays = settled(problem)
    widest = max((domain.factor for domain in problem.domains), default=0)
    replicas = np.full((len(stays), widest), NO_HOME, np.int32)
    width = min(widest, problem.homes.shape[1])
    replicas[stays, :width] = problem.homes[stays, :width]
    return replicas, stays


def counts(problem: Problem, replicas: Int32s) -> Int64s:
    """(brokers,) int64 replicas on each broker, those of partitions that are not asked about included."""
    here = np.bincount(replicas[replicas != NO_HOME], minlength=len(problem.base))
    return np.asarray(problem.base + here, np.int64)


def frozen_counts(problem: Problem, replicas: Int32s, is_active: NDArray[np.bool_]) -> Int64s:
    """(brokers,) int64 as `counts`, of what the active partitions leave as it is: the others, and what must be kept."""
    musts = problem.must_keep[is_active]
    kept = np.bincount(musts[musts != NO_HOME], minlength=len(problem.base))
    return np.asarray(counts(problem, replicas[~is_active]) + kept, np.int64)


def costs_of(problem: Problem, costs: Costs, replicas: Int32s) -> Int64s:
    """(rows,) int64: what the place of each partition costs."""
    total = np.zeros(len(replicas), np.int64)
    for column in replicas.T:
        matches = (problem.homes == column[:, None]) & (column != NO_HOME)[:, None]
        elsewhere = np.where((column != NO_HOME) & ~matches.any(axis=1), costs.away, 0)
        total += np.where(matches, costs.home, 0).sum(axis=1) + elsewhere
    return total


def moved_weight(problem: Problem, replicas: Int32s) -> int:
    """The weight of all replicas that have to be copied: see `Placed.moved`."""
    return int(costs_of(problem, movement_costs(problem), replicas).sum())


def in_order(problem: Problem, replicas: Int32s) -> Int32s:
    """Each row with kept homes where they stood, in their order, and newcomers by ascending position in the gaps."""
    from app.core.reassignment.counts import places_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

    ordered = np.full_like(replicas, NO_HOME)
    kernel.put_in_order(problem.homes, np.sort(replicas, axis=1), ordered)
    return ordered
