"""Limits that conflict only together, across resources or for whole replicas: an irreducible infeasible subset of them.

Sums prove that the limits of one resource conflict (`sums`). If none does and the search is above hard limits, an
integer model of small problems decides (CP-SAT): a Boolean for each eligible broker of each partition, and one for its
leader. If no placement is within all hard limits, those of a resource, then those of a broker, are left out as long as
there is still none (a deletion filter). The same model finds the least total excess.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil

import numpy as np

from app.core.model import Bools, Int32s
from app.core.reassignment.bounds.sums import conflicts_of
from app.core.reassignment.model import Deadline
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    Bounds,
    LimitConflict,
    ResourceProblem,
    SearchedPlacement,
    excess_of,
    loads_of,
)
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.exact.placement_model import ATTEMPTS, Attempt, PlacementModel
from app.core.reassignment.solvers.search.search import rules_of, search

MAX_CELLS = 2_000
"""The most pairs of a partition and a broker of a model."""
FEASIBILITY = (*ATTEMPTS, Attempt(2, 1.0))
"""Attempts to find a placement within limits near the mean of the loads: the strongest relaxation finds some that the
others do not, and takes as long to build as they take to solve most models.
"""


@dataclass(frozen=True, slots=True, eq=False)
class LeastExcess:
    """What the model proves. at : (rows, widest) int32 placement, the leader in column 0, or None if none was found.

    conflicts : none if the placement is within the hard limits. bound : on the hard excess, as in `Excess`.
    """

    conflicts: tuple[LimitConflict, ...]
    at: Int32s | None = field(repr=False)
    bound: Fraction


def least_excess(problem: ResourceProblem, rules: LoadRules, is_over: Deadline) -> LeastExcess | None:
    """The hard limits that conflict, and the placement with the least excess; None if the problem is too large, if
    consumers fetch from followers, or if it is not known whether a placement is within the limits.
    """
    rows, brokers = len(rules.cost), len(rules.rack_of)
    limited = (problem.limits.upper < NO_LIMIT) & ~problem.limits.is_soft
    if problem.loads.reads is not None or rows * brokers > MAX_CELLS or not limited.any():
        return None
    if is_over():
        return None
    within = _within(problem, rules, limited)
    within.attempts = FEASIBILITY
    status = within.status()
    if status != "INFEASIBLE":
        return LeastExcess((), within.placement(), Fraction(0)) if status == "OPTIMAL" else None
    subset = _irreducible(problem, rules, limited, is_over)
    solved = PlacementModel(problem, rules)
    upper = np.where(limited, problem.limits.upper, NO_LIMIT)
    at, bound = solved.least(upper, shares=True)
    any_limit = Fraction(1, max(1, int(problem.limits.upper[subset].max())))
    return LeastExcess(tuple(_conflicts(problem, rules, subset)), at, max(any_limit, bound))


def limit_conflicts(problem: ResourceProblem, rules: LoadRules, is_over: Deadline) -> tuple[LimitConflict, ...]:
    """An irreducible subset of hard limits that conflict, once for each of its resources; all of them do conflict."""
    limited = (problem.limits.upper < NO_LIMIT) & ~problem.limits.is_soft
    return tuple(_conflicts(problem, rules, _irreducible(problem, rules, limited, is_over)))


def is_infeasible(problem: ResourceProblem, rules: LoadRules, limited: Bools) -> bool:
    """Whether it is proven that no placement is within these limits, (brokers, resources) bool."""
    return _within(problem, rules, limited).status() == "INFEASIBLE"


def _within(problem: ResourceProblem, rules: LoadRules, limited: Bools) -> PlacementModel:
    """The model of the placements within these limits, (brokers, resources) bool."""
    model = PlacementModel(problem, rules)
    for broker, column in zip(*np.nonzero(limited), strict=True):
        model.at_most(model.of(int(broker), int(column)), int(problem.limits.upper[broker, column]))
    return model


def _irreducible(problem: ResourceProblem, rules: LoadRules, limited: Bools, is_over: Deadline) -> Bools:
    """(brokers, resources) bool limits that conflict, without those of any resource or broker that are not needed."""
    subset = limited.copy()
    for axis in (1, 0):
        for place in range(limited.shape[axis]):
            fewer = subset.copy()
            if axis:
                fewer[:, place] = False
            else:
                fewer[place] = False
            if is_over() or not fewer.any() or (fewer == subset).all():
                continue
            if is_infeasible(problem, rules, fewer):
                subset = fewer
    return subset


def _conflicts(problem: ResourceProblem, rules: LoadRules, subset: Bools) -> list[LimitConflict]:
    """The conflict, once for each of its resources: the least load above its limits if those of the others hold."""
    columns = np.flatnonzero(subset.any(axis=0)).tolist()
    brokers = tuple(np.flatnonzero(subset.any(axis=1)).tolist())
    conflicts = []
    for column in columns:
        others = subset.copy()
        others[:, column] = False
        solve = _within(problem, rules, others)
        upper = np.full_like(problem.limits.upper, NO_LIMIT)
        upper[subset[:, column], column] = problem.limits.upper[subset[:, column], column]
        available = int(problem.limits.upper[subset[:, column], column].sum())
        more = max(1, ceil(solve.least(upper, shares=False)[1]))
        names = [column, *(each for each in columns if each != column)]
        joined = "+".join(RESOURCES[each] for each in names)
        conflicts.append(LimitConflict(joined, brokers, available + more, available, False))
    return conflicts


@dataclass(frozen=True, slots=True, eq=False)
class ExcessProof:
    """Conflicts of hard limits, and lower bounds on the hard and the soft excess."""

    conflicts: tuple[LimitConflict, ...] = ()
    hard: Fraction = Fraction(0)
    soft: Fraction = Fraction(0)


def proven_excess(
    problem: ResourceProblem, rules: LoadRules, bounds: Bounds, placement: SearchedPlacement, is_over: Deadline
) -> tuple[ExcessProof, SearchedPlacement]:
    """What is proven of the excess of a placement, and the placement: another one if the model finds a smaller excess.

    Parameters
    ----------
    bounds : of goals, for the search that undoes what a smaller excess does not need.
    """
    conflicts, hard, soft = conflicts_of(problem)
    reached = hard_excess(problem, placement)
    model = least_excess(problem, rules, is_over) if reached > hard else None
    if model is None:
        return ExcessProof(tuple(conflicts), hard, soft), placement
    proof = ExcessProof(tuple(conflicts) or model.conflicts, max(hard, model.bound), soft)
    if model.at is None:
        return proof, placement
    loads = loads_of(problem.loads, problem.movement.rack_of, model.at, model.at[:, 0])
    hard_columns = ~problem.limits.is_soft
    upper = np.where(hard_columns, np.maximum(problem.limits.upper, loads), problem.limits.upper)
    within = replace(problem, limits=replace(problem.limits, upper=upper))
    better = search(within, rules, model.at, bounds, is_over)
    return proof, better if hard_excess(problem, better) < reached else placement


def limits_conflict(problem: ResourceProblem) -> bool:
    """Whether it is proven that no placement is within the hard limits: by sums, or by the model of a small problem."""
    limited = (problem.limits.upper < NO_LIMIT) & ~problem.limits.is_soft
    is_small = problem.loads.reads is None and len(problem.leader) * len(limited) <= MAX_CELLS
    return bool(conflicts_of(problem)[0]) or (is_small and is_infeasible(problem, rules_of(problem), limited))


def hard_excess(problem: ResourceProblem, placement: SearchedPlacement) -> Fraction:
    """The load above hard limits, in shares of the limits."""
    return excess_of(placement.loads, np.where(problem.limits.is_soft, NO_LIMIT, problem.limits.upper))
