"""Balance replicas by bytes or throughput, with lower bounds for the largest load and for the movement.

To minimise the largest load over whole replicas is NP-hard (two brokers and a list of sizes are the partition problem).
So this returns a good placement and two certificates: of the largest load, and of the movement within the band that the
placement reaches.

    tight      the ceiling is the lowest one of split replicas, raised to what whole ones reach
    tolerance  within the tolerance of the mean, or the lowest ceiling and the highest floor of split replicas if wider
    keep       forced moves alone, to the receivers that leave the smallest maximum load

If whole replicas do not reach the requested band, it is widened to what they reach, and the movement is bounded for
that band: the bound is valid for the placement returned. Replicas in sync are kept before others by exchanges at equal
movement (`in_sync`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.model import Int64s
from app.core.reassignment.counts.places import in_order
from app.core.reassignment.in_sync import exchange_sources, in_sync_exchanges
from app.core.reassignment.loads.bounds import (
    highest_floor,
    least_cost,
    lowest_ceiling,
    movement_lower_bound,
)
from app.core.reassignment.loads.local_search import (
    CandidatePlacement,
    balance_without_moves,
    candidate,
    initial_placement,
    search_within_band,
)
from app.core.reassignment.loads.neighbourhoods import CLOSE, lower_ceiling, search_regions
from app.core.reassignment.loads.rules import LARGEST_SUM, LoadRules, load_rules
from app.core.reassignment.model import Balance, Band, MovementProblem, ReplicaPlacement

SOLVER = "relaxation by flow and prices, rounding, local search, CP-SAT"
MAX_CEILINGS = 4
"""Searches with a tight ceiling, each with the largest load that the last one reached."""
CLOSE_ENOUGH = 10_000
"""If a tight ceiling is reached up to one part in so many, one more search for less movement is made, and no more."""


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
    problem: MovementProblem, load: Int64s, base_load: Int64s, balance: Balance, is_over: Callable[[], bool]
) -> LoadPlacement:
    """Balance replicas by load.

    Complexity: initial placement and each round of local search O(rows · widest · brokers) at worst; the bounds are
    maximum flows over domains and brokers, and up to 80 passes over the partitions.

    Parameters
    ----------
    problem : the partitions and their eligible brokers.
    load : (rows,) int64 >= 0, of one replica of the partition on its broker.
    base_load : (brokers,) int64 >= 0, of partitions outside the problem.
    balance : `KEEP`, `TIGHT` or a tolerance.
    is_over : whether the deadline has passed; then the best placement so far is returned, with the bounds proven so
        far.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    LimitExceeded : if loads or weights are so large that they cannot be added exactly.

    Examples
    --------
    Broker 1 joins broker 0, which has partitions of 4, 3, 2 and 1 bytes.

    >>> import numpy as np
    >>> from app.core.reassignment import TIGHT, Domain, MovementProblem, place_by_load
    >>> both, one, size_bytes = np.ones(2, bool), np.ones(1, np.int64), np.array([4, 3, 2, 1])
    >>> problem = MovementProblem(
    ...     broker_ids=np.array([0, 1], np.int32), rack_of=np.zeros(2, np.int32), target=both,
    ...     base=np.zeros(2, np.int64), domains=(Domain(1, both, both, one, one),), domain_of=np.zeros(4, np.int32),
    ...     current=np.zeros((4, 1), np.int32), is_copied=np.zeros((4, 1), bool), must_keep=np.full(4, -1, np.int32),
    ...     weight=size_bytes)
    >>> balanced = place_by_load(problem, size_bytes, np.zeros(2, np.int64), TIGHT, lambda: False)
    >>> balanced.largest.value, balanced.largest.lower_bound, balanced.placement.moved
    (5, 5, 5)
    """
    rules = load_rules(problem, load)
    start = initial_placement(rules, base_load)
    if balance.tolerance is None:
        return _keep(problem, rules, base_load, start, is_over)
    bound = lowest_ceiling(rules, base_load)
    if balance.tolerance == 0:
        requested = Band(0, bound)
        placement = _tightest(rules, start, bound, is_over)
    else:
        total = int((rules.load * problem.factors).sum()) + int(base_load[rules.target].sum())
        tight = Band(highest_floor(rules, base_load, bound), bound)
        requested = balance.band(total, int(np.count_nonzero(rules.target)), tight)
        placement = search_within_band(rules, start, requested, is_over)
    lowest = max(bound, requested.high)
    if placement.largest - lowest > CLOSE * placement.largest:
        floor = min(requested.low, placement.smallest)
        placement = lower_ceiling(rules, placement, lowest, floor, is_over)
    band = _reached(placement, requested)
    least = movement_lower_bound(rules, base_load, band, placement.moved, is_over)
    placement, moved_bound = search_regions(rules, base_load, placement, band, least, is_over)
    band = _reached(placement, requested)
    placement = _with_replicas_in_sync(problem, rules, placement, band)
    return _answer(problem, placement, band=band, requested=requested, bound=moved_bound, largest_bound=bound)


def _reached(placement: CandidatePlacement, requested: Band) -> Band:
    """The requested band, widened to the loads of the placement."""
    return Band(min(requested.low, placement.smallest), max(requested.high, placement.largest))


def _tightest(
    rules: LoadRules, start: CandidatePlacement, bound: int, is_over: Callable[[], bool]
) -> CandidatePlacement:
    """The smallest largest load that the search reaches, and, once that is known, less movement below it."""
    best = search_within_band(rules, start, Band(0, bound), is_over)
    if start.largest <= best.largest:
        best = start
    for _ in range(MAX_CEILINGS):
        if best.largest <= bound or is_over():
            break
        again = search_within_band(rules, start, Band(0, best.largest), is_over)
        if (again.largest, again.moved) >= (best.largest, best.moved) or again.moved > best.moved:
            break
        best = again
        if best.largest - bound <= bound // CLOSE_ENOUGH:
            break
    return best


def _keep(
    problem: MovementProblem,
    rules: LoadRules,
    base_load: Int64s,
    start: CandidatePlacement,
    is_over: Callable[[], bool],
) -> LoadPlacement:
    """Forced moves alone, balanced; their lower bound is what they move."""
    bound = _keep_lower_bound(rules, base_load, start)
    placement = balance_without_moves(rules, start, bound, is_over)
    placement = _with_replicas_in_sync(problem, rules, placement, None)
    bound = max(bound, _keep_lower_bound(rules, base_load, placement))
    return _answer(problem, placement, band=None, requested=None, bound=placement.moved, largest_bound=bound)


def _with_replicas_in_sync(
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
    heaviest, factor = int(rules.load.max()), int(rules.factor.max())
    above = factor * heaviest + 1
    if 2 * factor * above > LARGEST_SUM:
        return int(base_load[rules.target].max())
    move_cost = np.where((rules.current >= 0).any(axis=1), np.int64(above), 0)
    fewest = least_cost(rules, np.zeros(len(base_load), np.int64), move_cost)[0]
    bound = 0
    for group in _groups(rules, placement):
        cost, _ = least_cost(rules, group.astype(np.int64), move_cost)
        bound = max(bound, -(-(cost - fewest + int(base_load[group].sum())) // int(np.count_nonzero(group))))
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


def _answer(
    problem: MovementProblem,
    placement: CandidatePlacement,
    *,
    band: Band | None,
    requested: Band | None,
    bound: int,
    largest_bound: int,
) -> LoadPlacement:
    limits = ["replicas on distinct brokers that may keep or receive them", "least and most replicas per rack"]
    limits.append("only moves that are forced" if band is None else f"loads within {band.low} … {band.high}")
    movement = Certificate("moved weight", placement.moved, bound, SOLVER, tuple(limits))
    largest = Certificate("largest load", placement.largest, largest_bound, SOLVER, tuple(limits))
    replicas = ReplicaPlacement(in_order(problem, placement.at), band, movement)
    return LoadPlacement(replicas, requested, placement.smallest, largest)
