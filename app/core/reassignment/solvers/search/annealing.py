"""Less movement within bounds of loads, by simulated annealing under dual prices.

Near the lowest ceilings every change alone violates some bound, and local search ends. At the prices of a near-optimal
dual a change that an optimal placement needs costs nothing: its movement is paid by the loads that it changes. So the
energy has these prices, and a penalty whose weight grows while the temperature falls. A search mends the rest.

Source: Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing" (1983).
"""

import numpy as np

from app.core.model import Float64s
from app.core.reassignment.bounds.movement_bound import WIDE, Dual
from app.core.reassignment.model import Deadline
from app.core.reassignment.resource_problem import RESOURCES, Bounds, ResourceProblem, SearchedPlacement
from app.core.reassignment.solvers.search import annealing_kernel
from app.core.reassignment.solvers.search.search import SEED, begun, bounded_resources, search

LEVELS, OF_A_REPLICA, MOST_STEPS = 100, 2_000, 16_000_000
"""Temperatures of a run, and the changes that are tried in it: for each replica, and in all at most."""
MOST_RUNS, ALL_STEPS = 10, 32_000_000
"""Runs at most, and the changes that all of them try at most if no fewer are given."""
TEMPERATURES = 1e-2, 1e-3
"""First and last, in units of the mean cost of a move."""
WEIGHTS = 0.01, 5.0
"""First and last weight of the penalty, in units of the weight of the replicas of a broker."""
OF_LEADER = 4e-2
"""The cost of another leader in the first run, in units of the mean cost of a move: of 16,667 leaders 1,150 change; if
it is a quarter, 5,347, for 0.16 % less movement.
"""
RAISED, MOST_CHEAPER = 4, 4
"""By which the first weight rises after a run that found nothing better, often because it ended outside the bounds; and
the cost of a leader falls after each of the first runs.
"""


def annealed(
    problem: ResourceProblem,
    bounds: Bounds,
    best: SearchedPlacement,
    dual: Dual,
    prices: Float64s,
    bound: int,
    is_over: Deadline,
    *,
    most_changes: int = ALL_STEPS,
    gap: float = WIDE,
) -> SearchedPlacement:
    """A placement within the bounds that moves less than `best`, or that.

    Parameters
    ----------
    bounds : none of them of topics. dual : of these. prices : (brokers, resources) float64, near the best.
    bound : lower bound on the movement. most_changes : that all runs try. gap : relative gap at which they end.
    """
    rules, every = dual.rules, np.zeros((len(prices), len(RESOURCES)))
    every[:, dual.resources] = prices
    steps = min(MOST_STEPS, most_changes, OF_A_REPLICA * max(1, best.at.size))
    (first_weight, last_weight), at = WEIGHTS, best.at
    for run in range(min(MOST_RUNS, most_changes // steps)):
        if best.penalty > 0 or best.moved - bound <= gap * best.moved:
            break
        state = begun(problem, rules, at, bounds, SEED + run)
        of_loads = np.ascontiguousarray(every[:, bounded_resources(problem, bounds)]) * state.per_cost
        unit = dual.weight_of_broker() * state.per_cost
        of_leader = OF_LEADER / RAISED ** min(run, MOST_CHEAPER)
        by_load = np.ascontiguousarray(np.argsort(state.of_follower, axis=0, kind="stable").T)
        rank = np.argsort(by_load, axis=1)
        for done in np.linspace(0, 1, LEVELS).tolist():
            if is_over():
                return best
            temperature = TEMPERATURES[0] * (TEMPERATURES[1] / TEMPERATURES[0]) ** done
            weight = first_weight * (last_weight / first_weight) ** done
            energy = annealing_kernel.Energy(of_loads, of_leader, weight * unit, temperature, by_load, rank)
            annealing_kernel.anneal(rules, state, energy, steps // LEVELS)
        found = search(problem, rules, state.at, bounds, is_over)
        if found.penalty <= 0 and found.moved < best.moved:
            best, at = found, found.at
        else:
            at = found.at if at is best.at and found.moved < best.moved else best.at
            first_weight = min(RAISED * first_weight, last_weight)
    return best
