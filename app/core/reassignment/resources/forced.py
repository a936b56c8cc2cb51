"""Replicas balanced by one load: the answer with its certificates, and placements with forced moves alone.

To minimise the largest load over whole replicas is NP-hard (two brokers and a list of sizes are the partition problem).
So the answer has two certificates: of the largest load, and of the movement within the band that the placement reaches.
Replicas in sync are kept before others by exchanges at equal movement (`in_sync`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int64s
from app.core.reassignment.counts.places import in_order
from app.core.reassignment.in_sync import exchange_sources, in_sync_exchanges
from app.core.reassignment.loads.local_search import (
    CandidatePlacement,
    candidate,
    initial_placement,
    redistributed,
)
from app.core.reassignment.loads.rules import LoadRules, moved_weight
from app.core.reassignment.model import Band, MovementProblem, ReplicaPlacement
from app.core.reassignment.resources.answers import LEGAL
from app.core.reassignment.resources.movement_bound import least_load

SOLVER = "relaxation by flow and prices, local search, CP-SAT"


@dataclass(frozen=True, slots=True, eq=False)
class LoadPlacement:
    """A placement balanced by load, with the certificate of its largest load beside that of its movement.

    Parameters
    ----------
    placement : its band is that of the balance, widened if whole replicas cannot be within it, with a floor of 0 if
        tight; None with `keep`.
    largest : certificate of the largest load of a target broker; with `keep`, among the placements that move as little.
    """

    placement: ReplicaPlacement
    largest: Certificate[int]


def place_forced(
    problem: MovementProblem, rules: LoadRules, base_load: Int64s, is_over: Callable[[], bool]
) -> LoadPlacement:
    """Forced moves alone, to the receivers that leave the smallest largest load. They are what moves at least.

    Raises `InfeasibleFlow` if some partition has no legal placement.
    """
    start = initial_placement(rules, base_load)
    bound = _keep_lower_bound(rules, base_load, start)
    placement = redistributed(rules, start, bound, is_over, keep_current=True)
    placement = with_replicas_in_sync(problem, rules, placement, None)
    bound = max(bound, _keep_lower_bound(rules, base_load, placement))
    return load_placement(problem, placement, band=None, bound=placement.moved, largest_bound=bound)


def with_replicas_in_sync(
    problem: MovementProblem, rules: LoadRules, placement: CandidatePlacement, band: Band | None
) -> CandidatePlacement:
    """Keep replicas in sync instead of others, within the band, at equal movement."""
    at, loads = placement.at.copy(), placement.loads.copy()
    for row, column, broker in in_sync_exchanges(problem, at):
        other, load = at[row, column], rules.load[row]
        if band is not None and (
            (rules.target[broker] and loads[broker] + load > band.high)
            or (rules.target[other] and loads[other] - load < band.low)
        ):
            continue
        loads[broker] += load
        loads[other] -= load
        at[row, column] = broker
    exchange_sources(problem, at, rules.load)
    return candidate(rules, at, loads)


def _keep_lower_bound(rules: LoadRules, base_load: Int64s, placement: CandidatePlacement) -> int:
    """A lower bound on the largest load of placements with forced moves alone: the best mean over some groups of
    brokers.

    Moves cost so much more than loads that every row chooses among its sets of fewest moves. The groups are all target
    brokers, those of a rack, those of a rack that receive something, and the most loaded one.
    """
    if not rules.target.any() or not len(rules.load):
        return int(base_load[rules.target].max(initial=0))
    above = int(rules.factor.max()) * int(rules.load.max()) + 1
    moving = rules._replace(cost=np.where((rules.current >= 0).any(axis=1), np.int64(above), 0))
    fewest, bound = moved_weight(moving, placement.at), 0
    for group in _groups(rules, placement):
        load = least_load(moving, group) - fewest + int(base_load[group].sum())
        bound = max(bound, ceil(load / int(np.count_nonzero(group)) - 0.5))
    return bound


def _groups(rules: LoadRules, placement: CandidatePlacement) -> list[NDArray[np.bool_]]:
    current = np.sort(rules.current, axis=1)
    receiving = np.zeros(len(placement.loads), np.bool_)
    for column in placement.at.T:
        new = (column >= 0) & ~(current == column[:, None]).any(axis=1)
        receiving[column[new]] = True
    most_loaded = np.where(rules.target, placement.loads, -1).argmax()
    groups = [rules.target, np.arange(len(placement.loads)) == most_loaded]
    for rack in range(rules.least.shape[1]):
        groups += [rules.target & (rules.rack_of == rack), rules.target & (rules.rack_of == rack) & receiving]
    return [group for group in groups if group.any()]


def load_placement(
    problem: MovementProblem,
    placement: CandidatePlacement,
    *,
    band: Band | None,
    bound: int,
    largest_bound: int,
    solver: str = SOLVER,
) -> LoadPlacement:
    """The answer for a placement, within a band or with forced moves alone.

    Parameters
    ----------
    bound : lower bound on the movement. largest_bound : lower bound on the largest load.
    """
    limits = (*LEGAL, "only moves that are forced" if band is None else f"loads within {band.low} … {band.high}")
    movement = Certificate("moved weight", placement.moved, bound, solver, limits)
    largest = Certificate("largest load", placement.largest, largest_bound, solver, limits)
    replicas = ReplicaPlacement(in_order(problem, placement.at), band, movement)
    return LoadPlacement(replicas, largest)
