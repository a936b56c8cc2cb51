"""What a placement above hard limits could reach at best: conflicts, bounds, and the placement of the least excess."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from app.core.reassignment.loads.rules import LoadRules
from app.core.reassignment.resources.evaluation import excess_of, loads_of
from app.core.reassignment.resources.integer_model import MAX_CELLS, is_infeasible, least_excess
from app.core.reassignment.resources.model import NO_LIMIT, LimitConflict, ResourceProblem
from app.core.reassignment.resources.search import Bounds, SearchedPlacement, search
from app.core.reassignment.resources.start import rules_of
from app.core.reassignment.resources.sums import conflicts_of


@dataclass(frozen=True, slots=True, eq=False)
class ExcessProof:
    """Conflicts of hard limits, and lower bounds on the hard and the soft excess."""

    conflicts: tuple[LimitConflict, ...]
    hard: Fraction
    soft: Fraction


def proven_excess(
    problem: ResourceProblem,
    rules: LoadRules,
    bounds: Bounds,
    placement: SearchedPlacement,
    is_over: Callable[[], bool],
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
