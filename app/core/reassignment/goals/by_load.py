"""Balance replicas by one load: a goal for a resource of which brokers have equal shares, or forced moves alone.

To minimise the largest load over whole replicas is NP-hard (two brokers and a list of sizes are the partition problem).
So the answer has two certificates: of the largest load, and of the movement within the band that the placement reaches.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np

from app.core.certificate import Certificate
from app.core.model import Bools, Int32s, Int64s
from app.core.reassignment.bounds.bands import lowest_ceiling
from app.core.reassignment.bounds.movement_bound import least_load
from app.core.reassignment.goals.answers import EXACT_SOLVER, LEGAL, SOLVER, totals_of
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.goals.exact import Stages, is_small_band
from app.core.reassignment.goals.one_load import OneLoad
from app.core.reassignment.model import Balance, Band, BrokerBounds, Deadline, MovementProblem, ReplicaPlacement
from app.core.reassignment.resource_problem import RESOURCES, Goal, ResourceProblem
from app.core.reassignment.rules import LoadRules, load_rules, moved_weight, within_band
from app.core.reassignment.solvers.exact.placement_model import NotProven
from app.core.reassignment.solvers.flow.levels import summary
from app.core.reassignment.solvers.flow.places import in_order
from app.core.reassignment.solvers.search.heaviest_first import CandidatePlacement, initial_placement, redistributed
from app.core.replica_lists import not_among, per_broker


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


def _forced(
    resources: ResourceProblem, rules: LoadRules, base_load: Int64s, is_over: Deadline
) -> tuple[Int32s, int | None]:
    """Forced moves alone, to the receivers that leave the smallest largest load; and a lower bound on that load, or
    None if a model has proven it the smallest one.
    """
    start = initial_placement(rules, base_load)
    if is_small_band(rules):
        stages = Stages(resources, rules, start.at, is_over)
        with suppress(NotProven):
            stages.moved()
            stages.balanced([Goal(RESOURCES[0])])
            return stages.at, None
    bound = _keep_lower_bound(rules, base_load, start)
    placed = redistributed(rules, start, bound, is_over, keep_current=True)
    bound = max(bound, _keep_lower_bound(rules, base_load, placed))
    within = within_band(rules, Band(0, placed.largest))
    return OneLoad.of(resources, 0, placed.at, within).undone(is_over).at, bound


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
    rules, goal = load_rules(problem, load), Goal.of(RESOURCES[0], balance)
    resources = ResourceProblem.of_one_load(problem, 0, load, load, base_load)
    resources = replace(resources, is_ready=problem.in_sync)
    if balance.tolerance is None:
        at, bound = _forced(resources, rules, base_load, is_over)
        moved, solver = moved_weight(rules, at), SOLVER if bound is not None else EXACT_SOLVER
        movement = Certificate("moved weight", moved, moved, solver, (*LEGAL, "only moves that are forced"))
        placement = ReplicaPlacement(in_order(problem, at), None, movement)
    else:
        found = reach_goals(_with_floors(resources, goal), [[goal]], is_over)
        [reached] = found.goals
        band = summary(problem.target, BrokerBounds(reached.floor, reached.ceiling))
        movement = replace(found.movement, then=None, constraints=(*LEGAL, f"loads within {band.low} … {band.high}"))
        placement = ReplicaPlacement(found.replicas, band, movement)
        mean = Fraction(int(totals_of(resources)[0]), max(1, int(np.count_nonzero(problem.target))))
        bound = max(lowest_ceiling(rules, base_load), ceil(reached.largest.lower_bound * mean))
    loads = base_load + per_broker(placement.replicas, len(base_load), load)
    largest = int(loads[problem.target].max(initial=0))
    bound = largest if bound is None else min(bound, largest)
    return LoadPlacement(placement, Certificate("largest load", largest, bound, movement.solver, movement.constraints))


def _with_floors(resources: ResourceProblem, goal: Goal) -> ResourceProblem:
    """The problem in which brokers with a capped floor keep their load if small loads count."""
    cap = resources.movement.floor_cap
    if cap is None or not goal.has_floor:
        return resources
    kept = np.zeros_like(resources.loads.base)
    kept[:, 0] = np.maximum(cap, 0)
    return replace(resources, kept=kept)
