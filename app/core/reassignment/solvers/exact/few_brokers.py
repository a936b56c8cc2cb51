"""Less movement within bounds of several loads: a few brokers at a time exchange replicas and leaders, by exact models.

Local search changes one or two replicas at once. Near the lowest ceilings of two resources, or of one that depends on
leaders, several have to change together. So what is on a few brokers is free, chosen at random from a fixed seed, again
and again until many models in a row move no less. For one load that no leader changes, `regions` does the same.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle

import numpy as np

from app.core.model import Int32s
from app.core.reassignment.model import Deadline
from app.core.reassignment.resource_problem import NO_LIMIT, Bounds, ResourceProblem, SearchedPlacement, loads_of
from app.core.reassignment.rules import LoadRules, moved_weight, regions_of
from app.core.reassignment.solvers.exact.placement_model import Attempt, Neighbourhood, NotProven, PlacementModel
from app.core.reassignment.solvers.exact.regions import LEAST_WORK, NEAR, NEAR_CELLS, NEAR_WORK, SEED, cells_near
from app.core.reassignment.solvers.search.heaviest_first import candidate

MOST_CELLS = 4_000
"""Rows times brokers, at most: of larger problems, what is on a few brokers is too small a part."""
WORK, PATIENCE, GAP = 0.7, 60, 1e-2
"""Deterministic time of all models, about seconds, the number of those in a row that move no less, and the relative gap
of the movement at which they end.
"""
ATTEMPTS = (Attempt(2, NEAR_WORK),)


def exchanged(
    problem: ResourceProblem,
    rules: LoadRules,
    bounds: Bounds,
    best: SearchedPlacement,
    bound: int,
    is_over: Deadline,
) -> Int32s:
    """(rows, widest) int32 placement that moves no more than `best`, the leader in column 0. No load is farther above
    or below the bounds and the limits than that of `best`.

    Parameters
    ----------
    bounds : none of them of topics. bound : lower bound on the movement, near which the models end.
    """
    at, moved, is_small = best.at, best.moved, len(rules.cost) * len(rules.rack_of) <= MOST_CELLS
    generator, regions = np.random.default_rng(SEED), regions_of(rules)
    work, in_vain = WORK if is_small and problem.loads.reads is None else 0.0, 0
    for size, region in zip(cycle(NEAR), cycle(regions), strict=False):
        if in_vain >= PATIENCE or work <= 0 or moved - bound <= GAP * moved or is_over():
            break
        brokers = np.sort(generator.choice(region.brokers, min(size, len(region.brokers)), replace=False))
        model = _model(problem, rules, bounds, at, brokers.tolist())
        with suppress(NotProven):
            model.minimum(model.moved(rules.cost))
        found = model.placement() if model.is_placed else at
        work -= max(model.work, LEAST_WORK)
        in_vain += 1
        if moved_weight(rules, found) < moved:
            at, moved, in_vain = found, moved_weight(rules, found), 0
    return at


def _model(
    problem: ResourceProblem, rules: LoadRules, bounds: Bounds, at: Int32s, brokers: Sequence[int]
) -> PlacementModel:
    """The placements that differ from another one on a few brokers, within the bounds and limits."""
    loads = loads_of(problem.loads, problem.movement.rack_of, at, at[:, 0])
    free = cells_near(rules, candidate(rules, at, loads[:, 0]), np.array(brokers), NEAR_CELLS)
    model = PlacementModel(problem, rules, Neighbourhood(free, at, loads))
    model.attempts = ATTEMPTS
    model.hint(at)
    upper, is_bounded = np.minimum(bounds.ceiling, problem.limits.upper), bounds.unit > 0
    for broker in brokers:
        for column in np.flatnonzero((upper[broker] < NO_LIMIT) | is_bounded[broker]).tolist():
            load, now = model.of(broker, column), int(loads[broker, column])
            model.at_most(load, max(now, int(upper[broker, column])))
            model.at_least(load, min(now, int(bounds.floor[broker, column])))
    return model
