"""Balance replicas by one load: exactly if the problem is small, else by searches (`one_load`).

To minimise the largest load over whole replicas is NP-hard (two brokers and a list of sizes are the partition problem).
So the answer has two certificates: of the largest load, and of the movement within the band that the placement reaches.
Replicas in sync are kept before others by exchanges at equal movement.

These are for solvers that search: a solver by flows has the replicas in sync among its costs
(`solvers.flow.places.sync_costs`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.bounds.bands import highest_floor, lowest_ceiling
from app.core.reassignment.bounds.movement_bound import least_load
from app.core.reassignment.goals.answers import EXACT_SOLVER, LEGAL
from app.core.reassignment.goals.balancing import CLOSE, MOST_SETTLED, is_hardly_wider
from app.core.reassignment.goals.exact import Stages, is_small_band
from app.core.reassignment.goals.one_load import OneLoad
from app.core.reassignment.model import TIGHT, Balance, Band, Deadline, MovementProblem, ReplicaPlacement
from app.core.reassignment.resource_problem import RESOURCES, Goal, ResourceProblem, SearchedPlacement
from app.core.reassignment.rules import LoadRules, load_rules, moved_weight, within_band
from app.core.reassignment.solvers.exact.placement_model import NotProven
from app.core.reassignment.solvers.flow.places import in_order
from app.core.reassignment.solvers.search.heaviest_first import (
    CandidatePlacement,
    candidate,
    initial_placement,
    redistributed,
)
from app.core.reassignment.solvers.search.search import first_leaders, led_by
from app.core.replica_lists import not_among, per_broker


def in_sync_exchanges(problem: MovementProblem, replicas: Int32s) -> Iterator[tuple[int, int, int]]:
    """Find replicas that are kept out of sync while one in sync is removed, and racks allow the opposite.

    The caller sets `replicas[row, column]` to the broker before it continues, or leaves it: the exchange moves nothing.

    Parameters
    ----------
    replicas : (rows, widest) int32 legal placement.

    Yields
    ------
    Row, column of the replica out of sync, and the current broker in sync.
    """
    if problem.in_sync is None:
        return
    stays = problem.may_stay & ~problem.is_copied
    kept_first = stays & problem.in_sync
    behind = stays & ~problem.in_sync & (problem.current != problem.must_keep[:, None])
    for row in np.flatnonzero(kept_first.any(axis=1) & behind.any(axis=1)).tolist():
        others = problem.current[row, behind[row]]
        for broker in problem.current[row, kept_first[row]].tolist():
            for column in np.flatnonzero(np.isin(replicas[row], others)).tolist():
                if broker in replicas[row]:
                    break
                if _fits_racks(problem, replicas, row, column, broker):
                    yield row, column, broker


def exchange_sources(problem: MovementProblem, replicas: Int32s, load: Int64s) -> None:
    """Let another partition move, of the same load and weight, in place of one that loses its only replica in sync.

    Parameters
    ----------
    replicas : (rows, widest) int32 legal placement, which is changed. load : (rows,) int64 of one replica.
    """
    if problem.in_sync is None:
        return
    is_there, number = problem.current != NO_REPLICA, np.count_nonzero(problem.in_sync, axis=1)
    may_keep = problem.may_stay & ~problem.is_copied
    is_lost = may_keep & problem.in_sync & not_among(problem.current, replicas) & (number == 1)[:, None]
    is_lost &= np.asarray((is_there & ~problem.in_sync).any(axis=1))[:, None]
    is_new = not_among(replicas, problem.current)
    for row in np.flatnonzero(is_lost.any(axis=1)).tolist():
        source = int(problem.current[row, is_lost[row]][0])
        alike = (load == load[row]) & (problem.weight == problem.weight[row]) & (problem.must_keep != source)
        # Another replica in sync remains there, or the one that moves is not in sync itself.
        is_source = (problem.current == source) & may_keep
        alike &= (is_source & (~problem.in_sync | (number > 1)[:, None])).any(axis=1)
        others = np.flatnonzero(alike & (replicas == source).any(axis=1))
        for column in np.flatnonzero(is_new[row]).tolist():
            receiver = int(replicas[row, column])
            fits = problem.table.may_receive[problem.domain_of[others], receiver]
            fits = (
                fits & ~(replicas[others] == receiver).any(axis=1) & ~(problem.current[others] == receiver).any(axis=1)
            )
            columns = (replicas[others] == source).argmax(axis=1)
            pairs = zip(others[fits].tolist(), columns[fits].tolist(), strict=True)
            other = next((pair for pair in pairs if _fits_racks(problem, replicas, *pair, receiver)), None)
            if other is not None and _fits_racks(problem, replicas, row, column, source):
                replicas[row, column], replicas[other] = source, receiver
                break


def _fits_racks(problem: MovementProblem, replicas: Int32s, row: int, column: int, broker: int) -> bool:
    """Whether the racks of a row are within the bounds of its domain if `broker` replaces the replica in `column`."""
    table, domain = problem.table, problem.domain_of[row]
    there = replicas[row][replicas[row] != NO_REPLICA]
    in_racks = np.bincount(problem.rack_of[there], minlength=problem.racks)
    in_racks[problem.rack_of[replicas[row, column]]] -= 1
    in_racks[problem.rack_of[broker]] += 1
    return bool(((in_racks >= table.least[domain]) & (in_racks <= table.most[domain])).all())


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


def place_forced(problem: MovementProblem, rules: LoadRules, base_load: Int64s, is_over: Deadline) -> LoadPlacement:
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

    A move costs more than any difference of loads, so that every row chooses among its sets of fewest moves. The
    groups are all target brokers, those of a rack, those of a rack that receive something, and the most loaded one.
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


def _groups(rules: LoadRules, placement: CandidatePlacement) -> list[Bools]:
    receiving = np.zeros(len(placement.loads), np.bool_)
    receiving[placement.at[not_among(placement.at, rules.current)]] = True
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


def place_by_load(
    problem: MovementProblem, load: Int64s, base_load: Int64s, balance: Balance, is_over: Deadline
) -> LoadPlacement:
    """Balance replicas by load.

    Of small problems the answer is the best there is: with a tolerance, every target broker is within it or, if no
    placement is, as near to the mean as the farthest can be. So a wider tolerance never moves more. Of others:

        tight      the ceiling is the lowest one of split replicas, and a thousandth of it more
        tolerance  within the tolerance of the mean, or the lowest ceiling and the highest floor of split replicas, and
                   a thousandth of these more, if they are wider
        keep       forced moves alone, to the receivers that leave the smallest largest load

    A band that whole replicas do not reach is widened to what they reach, and the movement is bounded for that band.

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
    >>> from app.core.reassignment.goals.by_load import place_by_load
    >>> from app.core.reassignment.model import Domain, MovementProblem, TIGHT
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
    if is_small_band(rules):
        try:
            return _exactly(problem, rules, base_load, balance, is_over)
        except NotProven:
            pass
    return search_by_load(problem, rules, base_load, balance, is_over)


def search_by_load(
    problem: MovementProblem, rules: LoadRules, base_load: Int64s, balance: Balance, is_over: Deadline
) -> LoadPlacement:
    """Balance replicas by load, as problems that are not small; `rules` have the load."""
    if balance.tolerance is None:
        return place_forced(problem, rules, base_load, is_over)
    one, best, band, bound = _searched(problem, rules, base_load, balance, is_over)
    best, moved_bound = one.widened(within_band(rules, band)).improve(best, is_over)
    for _ in range(MOST_SETTLED):
        if is_over() or not best.moved:
            break
        planned = problem.planned(in_order(problem, best.at))
        _, again, narrower, _ = _searched(planned, load_rules(planned, rules.load), base_load, balance, is_over)
        if not again.moved:
            break
        best = one.widened(within_band(rules, narrower)).search_again(again, is_over)
        band = _reached(rules, best.loads[:, 0], narrower)
        best, moved_bound = one.widened(within_band(rules, band)).improve(best, is_over)
    placement = with_replicas_in_sync(problem, rules, candidate(rules, best.at, best.loads[:, 0]), band)
    return load_placement(problem, placement, band=band, bound=moved_bound, largest_bound=min(bound, placement.largest))


def _searched(
    problem: MovementProblem, rules: LoadRules, base_load: Int64s, balance: Balance, is_over: Deadline
) -> tuple[OneLoad, SearchedPlacement, Band, int]:
    """The load, a placement of it with little movement, the band that it reaches, and the lowest ceiling."""
    bound, targets = lowest_ceiling(rules, base_load), int(np.count_nonzero(rules.target))
    aimed = Band(0, bound + int(bound * CLOSE))
    if balance != TIGHT:
        total = int((rules.load * problem.factors).sum()) + int(base_load[rules.target].sum())
        floor = highest_floor(rules, base_load, bound)
        aimed = balance.band(total, targets, Band(floor - int(floor * CLOSE), aimed.high))
    resources = ResourceProblem.of_one_load(problem, 0, rules.load, rules.load, base_load)
    start = initial_placement(rules, base_load)
    one = OneLoad.of(resources, 0, led_by(start.at, first_leaders(resources, start.at)), within_band(rules, aimed))
    best = one.search(is_over)
    band = _reached(rules, best.loads[:, 0], aimed)
    if band != aimed:
        wider = _reached(rules, start.loads, band)
        band = wider if is_hardly_wider(aimed, band, wider) else band  # A planned cluster stays.
        best = one.widened(within_band(rules, band)).search_again(best, is_over)
        band = _reached(rules, best.loads[:, 0], band)
    return one, best, band, bound


def _reached(rules: LoadRules, of_brokers: Int64s, aimed: Band) -> Band:
    """The band, widened to the loads of brokers."""
    loads = of_brokers[rules.target]
    return Band(int(loads.min(initial=aimed.low)), int(loads.max(initial=aimed.high)))


def _exactly(
    problem: MovementProblem, rules: LoadRules, base_load: Int64s, balance: Balance, is_over: Deadline
) -> LoadPlacement:
    start = initial_placement(rules, base_load).at
    stages = Stages(ResourceProblem.of_one_load(problem, 0, rules.load, rules.load, base_load), rules, start, is_over)
    goal = Goal.of(RESOURCES[0], balance)
    if balance.tolerance is not None:
        stages.balanced([goal])
    stages.moved()
    if balance.tolerance is None:
        stages.balanced([goal])
    of_brokers = base_load + per_broker(stages.at, len(base_load), rules.load)
    placement, loads = candidate(rules, stages.at, of_brokers), of_brokers[problem.target]
    total = int((rules.load * problem.factors).sum()) + int(base_load[problem.target].sum())
    mean, bound, band = Fraction(total, max(1, len(loads))), placement.largest, None
    if balance == TIGHT:
        band = Band(0, placement.largest)
    elif balance.tolerance is not None:
        farthest = max(placement.largest - mean, mean - placement.smallest, mean * balance.tolerance)
        band = Band(ceil(mean - farthest), floor(mean + farthest))
        bound = min(bound, lowest_ceiling(rules, base_load))
    return load_placement(
        problem, placement, band=band, bound=placement.moved, largest_bound=bound, solver=EXACT_SOLVER
    )
