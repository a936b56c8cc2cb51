"""Balance replicas by one load: exactly if the problem is small, else by the search of `loads`."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import numpy as np

from app.core.certificate import Certificate
from app.core.model import NO_LEADER, Int64s
from app.core.reassignment.counts.places import in_order
from app.core.reassignment.loads import by_load
from app.core.reassignment.loads.bounds import lowest_ceiling
from app.core.reassignment.loads.by_load import LoadPlacement
from app.core.reassignment.loads.exact_model import NotProven
from app.core.reassignment.loads.local_search import initial_placement
from app.core.reassignment.loads.rules import LoadRules, load_rules, moved_weight
from app.core.reassignment.model import Balance, Band, MovementProblem, ReplicaPlacement
from app.core.reassignment.resources.answers import EXACT_SOLVER, LEGAL
from app.core.reassignment.resources.exact import Stages, is_small
from app.core.reassignment.resources.model import RESOURCES, Goal, Limits, ResourceLoads, ResourceProblem
from app.core.replica_lists import per_broker


def place_by_load(
    problem: MovementProblem, load: Int64s, base_load: Int64s, balance: Balance, is_over: Callable[[], bool]
) -> LoadPlacement:
    """Balance replicas by load, as `loads.place_by_load` does; the answer for a small problem is the best there is.

    With a tolerance, every target broker is within it or, if no placement is, as near to the mean as the farthest can
    be. So a wider tolerance never moves more.

    Parameters, errors : as of `loads.place_by_load`.
    """
    rules = load_rules(problem, load)
    table = problem.table
    is_inside = bool((problem.target | ~(table.may_receive | table.may_keep).any(axis=0)).all())
    if is_inside and is_small(rules):
        try:
            return _exactly(problem, rules, base_load, balance, is_over)
        except NotProven:
            pass
    return by_load.place_by_load(problem, load, base_load, balance, is_over)


def _exactly(
    problem: MovementProblem, rules: LoadRules, base_load: Int64s, balance: Balance, is_over: Callable[[], bool]
) -> LoadPlacement:
    start = initial_placement(rules, base_load).at
    stages = Stages(_one_resource(problem, rules.load, base_load), rules, start, is_over)
    goal = Goal(RESOURCES[0], balance.tolerance or Fraction(0))
    if balance.tolerance is not None:
        stages.balanced([goal])
    stages.moved()
    if balance.tolerance is None:
        stages.balanced([goal])
    of_brokers = base_load + per_broker(stages.at, len(base_load), rules.load)
    loads = of_brokers[problem.target]
    smallest, largest = (int(loads.min()), int(loads.max())) if len(loads) else (0, 0)
    mean = Fraction(int(loads.sum()), max(1, len(loads)))
    band = requested = None
    bound = largest
    if balance.tolerance == 0:
        band = requested = Band(0, largest)
    elif balance.tolerance is not None:
        requested = Band(ceil(mean * (1 - balance.tolerance)), floor(mean * (1 + balance.tolerance)))
        farthest = max(abs(largest - mean), abs(mean - smallest))
        band = Band(min(requested.low, ceil(mean - farthest)), max(requested.high, floor(mean + farthest)))
        bound = min(largest, lowest_ceiling(rules, base_load))
    limits = (*LEGAL, "only moves that are forced" if band is None else f"loads within {band.low} … {band.high}")
    moved = moved_weight(rules, stages.at)
    movement = Certificate("moved weight", moved, moved, EXACT_SOLVER, limits)
    replicas = ReplicaPlacement(in_order(problem, stages.at), band, movement)
    return LoadPlacement(
        replicas, requested, smallest, Certificate("largest load", largest, bound, EXACT_SOLVER, limits)
    )


def _one_resource(problem: MovementProblem, load: Int64s, base_load: Int64s) -> ResourceProblem:
    """The problem whose only load is this, on brokers of equal capacity."""
    rows, brokers = len(load), len(base_load)
    of_row, base = np.zeros((rows, len(RESOURCES)), np.int64), np.zeros((brokers, len(RESOURCES)), np.int64)
    of_row[:, 0], base[:, 0] = load, base_load
    return ResourceProblem(
        movement=problem,
        loads=ResourceLoads(of_row, of_row, base, np.zeros_like(base)),
        limits=Limits.none(brokers),
        leader=np.full(rows, NO_LEADER, np.int32),
        may_lead=np.ones(brokers, np.bool_),
    )
