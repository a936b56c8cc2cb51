"""Replicas balanced by the bytes or the throughput that they put on brokers, with what cannot be bettered beside it.

To make the largest load as small as can be over whole replicas is NP-hard: two brokers and a list of sizes are the
partition problem. So this answers a good placement and how far from the best it can be, twice: the largest load beside
its lower bound, and the movement beside the least movement that the band of loads allows.

    tight      the ceiling is the lowest that pieces of replicas could keep, raised to what whole ones came to
    tolerance  the lowest ceiling and the highest floor of pieces, widened by it
    keep       only what has to move moves, and goes where the largest load stays smallest

Where whole replicas do not come to be within the band asked for, it is widened to what they came to, and the bound of
the movement is measured against that: it stays one for the answer given.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int64s
from app.core.reassignment.answer import ReplicaPlacement
from app.core.reassignment.balance import Balance, Band
from app.core.reassignment.counts.places import in_order
from app.core.reassignment.loads.attempts import Attempt, attempt, evened, first_attempt
from app.core.reassignment.loads.levels import highest_floor, lowest_ceiling
from app.core.reassignment.loads.prices import least_cost, least_movement
from app.core.reassignment.loads.rules import LARGEST_SUM, Rules, rules_of
from app.core.reassignment.problem import Problem

SOLVER = "relaxation by flow and prices, rounding and local repair"
MOST_CEILINGS = 4
"""How often a tight ceiling is tried anew with what the last try came to."""
CLOSE_ENOUGH = 10_000
"""A tight ceiling that is reached but for one part in so many is tried anew once, for less movement, and no more."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadPlacement:
    """A placement balanced by load, with the certificate of its largest load beside that of its movement.

    Parameters
    ----------
    placement : its band is `requested`, widened if whole replicas cannot be within it; its floor is 0 if only a ceiling
        was requested.
    requested : the band of loads that the balance asks for; None with `keep`.
    smallest_load : of the target brokers, partitions outside the problem included.
    largest : certificate of the largest load of a target broker; with `keep`, among the placements that move as little.
    """

    placement: ReplicaPlacement
    requested: Band | None
    smallest_load: int
    largest: Certificate[int]


def place_by_load(
    problem: Problem, load: Int64s, base_load: Int64s, balance: Balance, is_over: Callable[[], bool]
) -> LoadPlacement:
    """Balance replicas by load.

    Parameters
    ----------
    load : (rows,) int64 >= 0, what one replica of the partition puts on its broker.
    base_load : (brokers,) int64 >= 0, what partitions that are not asked about put there.
    is_over : whether it is time to answer what has been found so far; the bounds are what was proven by then.

    Raises
    ------
    InfeasibleFlow : if some partition cannot be placed at all.
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.
    """
    rules = rules_of(problem, load)
    start = first_attempt(rules, base_load)
    if balance.tolerance is None:
        return _kept(problem, rules, base_load, start, is_over)
    bound = lowest_ceiling(rules, base_load)
    if balance.tolerance == 0:
        requested = Band(0, bound)
        found = _tightest(rules, start, bound, is_over)
    else:
        requested = balance.widened(Band(highest_floor(rules, base_load, bound), bound))
        found = attempt(rules, start, requested, is_over)
    band = Band(min(requested.low, found.smallest), max(requested.high, found.largest))
    least = least_movement(rules, base_load, band, found.moved, is_over)
    return _answer(problem, found, band=band, requested=requested, bound=least, bound_of_largest=bound)


def _tightest(rules: Rules, start: Attempt, bound: int, is_over: Callable[[], bool]) -> Attempt:
    """The smallest largest load found, and, once it is known, less movement below it."""
    best = attempt(rules, start, Band(0, bound), is_over)
    if start.largest <= best.largest:
        best = start
    for _ in range(MOST_CEILINGS):
        if best.largest <= bound or is_over():
            break
        again = attempt(rules, start, Band(0, best.largest), is_over)
        if (again.largest, again.moved) >= (best.largest, best.moved) or again.moved > best.moved:
            break
        best = again
        if best.largest - bound <= bound // CLOSE_ENOUGH:
            break
    return best


def _kept(
    problem: Problem, rules: Rules, base_load: Int64s, start: Attempt, is_over: Callable[[], bool]
) -> LoadPlacement:
    """Only the moves that are forced, evened out; the least movement is what it moves."""
    bound = _bound_when_kept(rules, base_load, start)
    found = evened(rules, start, bound, is_over)
    bound = max(bound, _bound_when_kept(rules, base_load, found))
    return _answer(problem, found, band=None, requested=None, bound=found.moved, bound_of_largest=bound)


def _bound_when_kept(rules: Rules, base_load: Int64s, found: Attempt) -> int:
    """No placement with as few moves has a smaller largest load: the best mean of some brokers that share their loads.

    Moves cost so much more than loads that every row chooses among its sets of fewest moves. The means tried are those
    of all target brokers, of a rack's, of those of a rack that received something, and of the most loaded one.
    """
    if not rules.target.any() or not len(rules.load):
        return int(base_load[rules.target].max(initial=0))
    heaviest, factor = int(rules.load.max()), int(rules.factor.max())
    above = factor * heaviest + 1
    if 2 * factor * above > LARGEST_SUM:
        return int(base_load[rules.target].max())
    move_cost = np.where((rules.homes >= 0).any(axis=1), np.int64(above), 0)
    fewest = least_cost(rules, np.zeros(len(base_load), np.int64), move_cost)[0]
    bound = 0
    for group in _groups(rules, found):
        cost, _ = least_cost(rules, group.astype(np.int64), move_cost)
        bound = max(bound, -(-(cost - fewest + int(base_load[group].sum())) // int(np.count_nonzero(group))))
    return bound


def _groups(rules: Rules, found: Attempt) -> list[NDArray[np.bool_]]:
    homes = np.sort(rules.homes, axis=1)
    receiving = np.zeros(len(found.loads), np.bool_)
    for column in found.at.T:
        new = (column >= 0) & ~(homes == column[:, None]).any(axis=1)
        receiving[column[new]] = True
    most_loaded = np.where(rules.target, found.loads, -1).argmax()
    groups = [rules.target, np.arange(len(found.loads)) == most_loaded]
    for rack in range(rules.least.shape[1]):
        groups += [rules.target & (rules.rack_of == rack), rules.target & (rules.rack_of == rack) & receiving]
    return [group for group in groups if group.any()]


def _answer(
    problem: Problem, found: Attempt, *, band: Band | None, requested: Band | None, bound: int, bound_of_largest: int
) -> LoadPlacement:
    limits = ["replicas on distinct brokers that may keep or receive them", "least and most replicas per rack"]
    limits.append("only moves that are forced" if band is None else f"loads within {band.low} … {band.high}")
    movement = Certificate("moved weight", found.moved, bound, SOLVER, tuple(limits))
    largest = Certificate("largest load", found.largest, bound_of_largest, SOLVER, tuple(limits))
    placement = ReplicaPlacement(in_order(problem, found.at), band, movement)
    return LoadPlacement(placement, requested, found.smallest, largest)
