"""Balance replicas by one load: exactly if the problem is small, else by searches (`one_load`)."""

from fractions import Fraction
from math import ceil, floor

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.bounds.bands import highest_floor, lowest_ceiling
from app.core.reassignment.goals.answers import EXACT_SOLVER
from app.core.reassignment.goals.balancing import CLOSE, is_hardly_wider
from app.core.reassignment.goals.exact import Stages, is_small_band
from app.core.reassignment.goals.forced import LoadPlacement, load_placement, place_forced, with_replicas_in_sync
from app.core.reassignment.goals.one_load import OneLoad
from app.core.reassignment.model import TIGHT, Balance, Band, Deadline, MovementProblem
from app.core.reassignment.resource_problem import RESOURCES, Goal, ResourceProblem
from app.core.reassignment.rules import LoadRules, load_rules, within_band
from app.core.reassignment.solvers.exact.placement_model import NotProven
from app.core.reassignment.solvers.search.heaviest_first import candidate, initial_placement
from app.core.reassignment.solvers.search.search import first_leaders, led_by
from app.core.replica_lists import per_broker


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
    best, moved_bound = one.widened(within_band(rules, band)).improve(best, is_over)
    placement = with_replicas_in_sync(problem, rules, candidate(rules, best.at, best.loads[:, 0]), band)
    return load_placement(problem, placement, band=band, bound=moved_bound, largest_bound=min(bound, placement.largest))


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
