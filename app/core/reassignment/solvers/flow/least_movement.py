"""The least movement: exact, with its certificate, by balance, within a budget, and as a trade-off.

Hard constraints: every partition has a legal placement in its domain, brokers that must keep their replica do, and the
target brokers' counts are within the band. Goals, in lexicographic order, each reached exactly:

1. the least weight moved (`MovementProblem.weight`: bytes, or 1);
2. the fewest replicas moved; a replaced broker's replicas go to its successor if that costs nothing else;
3. the fewest replicas in sync that are not kept (`MovementProblem.in_sync`).

With `keep` there is no band, and every partition makes its forced moves independently of the others. The receivers are
chosen so that the largest count is minimal, then the second largest, and so on. Such counts have the least sum of
squares, so they are a minimum-cost flow in which the n-th replica of a broker costs n. Only partitions with forced
moves are in it. Costs are in classes, each larger than every sum of the classes below: an avoidable move, passing over
the successor of a replaced broker, removing replicas in sync, removing the leader's replica if one of two has to go,
balance.

The trade-off of movement and balance is over the bands between the narrowest and the one of `keep`, each wider by one
replica at both ends. A wider band never moves more, so that a budget is searched by bisection.

Source: Frank and Murota, "Decreasing minimization on M-convex sets" (2018), for `keep`.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from app.core.certificate import Certificate
from app.core.flow import cheapest_amounts
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import KEEP, Balance, BrokerBounds, Deadline, MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow.levels import narrowest_levels, summary
from app.core.reassignment.solvers.flow.network import BrokerArcs, PlacementNetwork, candidate_receivers
from app.core.reassignment.solvers.flow.places import (
    PlaceCosts,
    cheapest,
    counts,
    frozen_counts,
    in_order,
    moved_weight,
    movement_costs,
    stay_put,
    sync_costs,
)
from app.core.reassignment.solvers.flow.within_band import least_within
from app.core.replica_lists import per_broker

SOLVER = "ortools min-cost flow"
PLACEMENT_RULES = ("distinct brokers that each partition may be on", "replicas of a partition spread over racks")
LARGEST_RATIO = 100
"""With `keep`, a broker counts as no smaller than the largest one divided by this number."""


def never() -> bool:
    """No deadline: never over."""
    return False


def least_movement(problem: MovementProblem, balance: Balance, *, is_over: Deadline = never) -> ReplicaPlacement:
    """Minimise the movement that brings the target brokers' counts to a balance.

    Complexity: the narrowest band is O(log(rows)) maximum flows over domains and brokers. The movement is some rounds
    of column generation, each a minimum-cost flow over the partitions that take part (usually few) and one pass over
    all partitions, O(rows · (widest + racks · factor)).

    Parameters
    ----------
    problem : the partitions and their eligible brokers.
    balance : `KEEP`, `TIGHT` or a tolerance.
    is_over : whether the deadline has passed; then the best placement so far is returned, with its gap.

    Raises
    ------
    InfeasibleFlow : no legal placement exists.

    Examples
    --------
    Broker 2 is added to brokers 0 and 1 in one rack; six partitions of one replica, one of them of weight 5.

    >>> import numpy as np
    >>> from app.core.reassignment.model import Domain, MovementProblem, TIGHT
    >>> from app.core.reassignment.solvers.flow.least_movement import least_movement
    >>> every, one = np.ones(3, bool), np.ones(1, np.int64)
    >>> problem = MovementProblem(
    ...     broker_ids=np.array([0, 1, 2], np.int32), rack_of=np.zeros(3, np.int32), target=every,
    ...     base=np.zeros(3, np.int64), domains=(Domain(1, every, every, one, one),), domain_of=np.zeros(6, np.int32),
    ...     current=np.array([[0], [0], [0], [1], [1], [1]], np.int32), is_copied=np.zeros((6, 1), bool),
    ...     must_keep=np.full(6, -1, np.int32), weight=np.array([5, 3, 2, 1, 4, 3]))
    >>> placement = least_movement(problem, TIGHT)
    >>> placement.replicas.ravel().tolist(), placement.moved, placement.certificate.optimal
    ([0, 0, 2, 2, 1, 1], 3, True)
    """
    if balance.tolerance is None:
        return placed(problem, *fairest_receivers(problem), None)
    return movement_within(problem, narrowest_levels(problem).bounds(balance), is_over=is_over)


def movement_within(problem: MovementProblem, bounds: BrokerBounds, *, is_over: Deadline = never) -> ReplicaPlacement:
    """Minimise the movement that brings each target broker's count within bounds.

    Parameters
    ----------
    problem, is_over : as in `least_movement`.
    bounds : counts of the target brokers, `base` included.

    Raises
    ------
    InfeasibleFlow : no legal placement is within the bounds.
    """
    return placed(problem, *least_within(problem, bounds, is_over=is_over), bounds)


def placed(
    problem: MovementProblem,
    replicas: Int32s,
    bound: int,
    bounds: BrokerBounds | None,
    *,
    topic_excess: int | None = None,
) -> ReplicaPlacement:
    """The placement with its certificate.

    Parameters
    ----------
    replicas : (rows, widest) int32, unordered. bound : a weight that no placement within the bounds moves less than.
    bounds : of the counts of brokers; None with `keep`. topic_excess : as of `ReplicaPlacement`.
    """
    constraints = [*PLACEMENT_RULES]
    band = None if bounds is None else summary(problem.target, bounds)
    if band is not None:
        words = "on every target broker" if problem.share is None else "on target brokers, each by its weight"
        constraints.append(f"{band.low} to {band.high} replicas {words}")
    if topic_excess is not None:
        constraints.append(f"topics are outside their bands by {topic_excess} replicas, the fewest possible")
    moved = moved_weight(problem, replicas)
    certificate = Certificate("moved weight", moved, min(bound, moved), SOLVER, tuple(constraints))
    of_each = None if problem.share is None else bounds
    return ReplicaPlacement(in_order(problem, replicas), band, certificate, topic_excess, of_each)


class BudgetTooSmall(Exception):
    """Forced moves exceed the budget: they come to `minimum`, in the weight of the problem."""

    def __init__(self, minimum: int) -> None:
        super().__init__(f"at least {minimum} has to move")
        self.minimum = minimum


def trade_off(
    problems: Sequence[MovementProblem], *, points: int, is_over: Deadline = never
) -> list[Sequence[ReplicaPlacement]]:
    """Movement by balance: from the narrowest bands to the bands in which only forced moves are left.

    Parameters
    ----------
    problems : parts without common partitions and brokers; the bands of all are wider by the same number of replicas.
    is_over : as in `least_movement`; the points computed before the deadline are returned.
    points : maximum number of bands, both ends included; their widths are closer together where bands are narrow.

    Returns
    -------
    The least movement of each problem within its band, the narrowest first.
    """
    curve = _Curve(problems, is_over)
    placements: list[Sequence[ReplicaPlacement]] = []
    for width in _spread_out(curve.widest, points):
        placements.append(curve.within(width))
        if is_over():
            break
    return placements


def within_budget(
    problems: Sequence[MovementProblem], budget: int, *, is_over: Deadline = never
) -> Sequence[ReplicaPlacement]:
    """The placements in the narrowest bands whose movement is within a budget, by bisection over the bands' width.

    Parameters
    ----------
    problems : parts without common partitions and brokers; the bands of all are wider by the same number of replicas.
    budget : maximum weight moved by all of them. is_over : as in `least_movement`.

    Raises
    ------
    BudgetTooSmall : forced moves alone exceed the budget.
    """
    curve = _Curve(problems, is_over)
    forced = sum(placement.certificate.lower_bound for placement in curve.keeping)
    if forced > budget:
        raise BudgetTooSmall(forced)
    tried = narrowest(curve.widest, curve.within, lambda made: sum(each.moved for each in made) <= budget, is_over)
    return tried or curve.keeping


Tried = TypeVar("Tried")


def narrowest(
    widest: int, within: Callable[[int], Tried], fits: Callable[[Tried], bool], is_over: Deadline
) -> Tried | None:
    """The answer within the smallest width up to `widest` that fits, by bisection; None if none does before the
    deadline. A wider one fits if a narrower one does.
    """
    best, low, high = None, 0, widest
    while low <= high:
        middle = (low + high) // 2
        tried = within(middle)
        if fits(tried):
            best, high = tried, middle - 1
        else:
            low = middle + 1
        if is_over():
            break
    return best


class _Curve:
    """The least movement of several problems by the width of their bands.

    Parameters
    ----------
    keeping : the placement of each with forced moves alone. widest : the width at which bands contain these.
    """

    def __init__(self, problems: Sequence[MovementProblem], is_over: Deadline) -> None:
        self.problems, self.is_over = problems, is_over
        self.narrowest = [narrowest_levels(problem) for problem in problems]
        self.keeping: Sequence[ReplicaPlacement] = [least_movement(problem, KEEP) for problem in problems]
        kept = zip(problems, self.keeping, self.narrowest, strict=True)
        self.widest = max((levels.width(counts(problem, each.replicas)) for problem, each, levels in kept), default=0)

    def within(self, width: int) -> Sequence[ReplicaPlacement]:
        """The least movement of each within its narrowest band, wider by `width` replicas at both ends."""
        return [
            movement_within(problem, levels.bounds(below=width, above=width), is_over=self.is_over)
            for problem, levels in zip(self.problems, self.narrowest, strict=True)
        ]


def _spread_out(widest: int, points: int) -> list[int]:
    """At most `points` whole numbers from 0 to `widest`, in growing steps."""
    steps = np.linspace(0, np.sqrt(widest), max(points, 2)) ** 2
    return sorted({round(step) for step in steps.tolist()})


def fairest_receivers(problem: MovementProblem) -> tuple[Int32s, int]:
    """Make only forced moves, to the receivers that leave the fairest counts.

    Returns
    -------
    (rows, widest) int32 placement, and a weight that no placement moves less than.
    """
    replicas, stays = stay_put(problem)
    rows = np.flatnonzero(~stays)
    if len(rows):
        frozen = frozen_counts(problem, replicas, ~stays)
        capacity = _unit_capacities(problem, frozen, rows)
        underfull = problem.target & (frozen <= np.median(frozen))
        candidates = candidate_receivers(problem, rows, underfull=underfull)
        network = PlacementNetwork(problem, rows, capacity, candidates)
        amounts = cheapest_amounts(network.flow, network.fixed + network.costs(_avoidable(problem, capacity)))
        replicas[rows] = network.places(amounts, problem.must_keep, replicas.shape[1])
    return replicas, forced_weight(problem)


def forced_weight(problem: MovementProblem) -> int:
    """A weight that no legal placement moves less than."""
    free = np.zeros(len(problem.broker_ids), np.int64)
    return int(cheapest(problem, movement_costs(problem), free)[0].sum())


def _avoidable(problem: MovementProblem, capacity: BrokerArcs) -> PlaceCosts:
    """Costs of moves in units of balance: one more move exceeds every chain of successors passed over, one of those
    all replicas in sync that a partition loses, one of those every chain of leaders removed, and one of those all
    balance.
    """
    chain, sync = len(problem.broker_ids) + 2, sync_costs(problem)
    dropping = int(capacity.costs.max(initial=0)) + 1
    losing = dropping * chain
    passing_over = losing * (int((problem.factors * sync.other).max(initial=0)) + 1)
    moving = passing_over * chain
    is_current = problem.current != NO_REPLICA
    others = np.where(np.arange(problem.current.shape[1]) > 0, dropping, 0)
    return PlaceCosts(
        np.where(is_current, others + losing * sync.current + np.where(problem.is_copied, moving, 0), 0).astype(
            np.int64
        ),
        np.where(is_current.any(axis=1), moving + passing_over + losing * sync.other, 0).astype(np.int64),
    )


def _unit_capacities(problem: MovementProblem, frozen: Int64s, rows: Int64s) -> BrokerArcs:
    """Unit arcs for each broker's next replicas, the n-th at a cost of n, up to the highest count of a fairest
    solution.
    """
    table = problem.table
    moving_replicas = int(problem.factors[rows].sum())
    # If a partition keeps only some of its replicas, which ones is free as well.
    reach = frozen + per_broker(problem.current[rows], len(frozen))
    for domain in np.unique(problem.domain_of[rows]):
        receives = table.may_receive[domain]
        for rack in np.unique(problem.rack_of[receives]):
            brokers = np.flatnonzero(receives & (problem.rack_of == rack))
            reach[brokers] = np.maximum(reach[brokers], _levels(problem, frozen, brokers, moving_replicas))
    # A partition has one replica on a broker at most, so that counts elsewhere may exceed the level a little.
    steps = np.maximum(reach - frozen, 0) + int(table.factor.max())
    broker = np.repeat(np.arange(len(frozen)), steps)
    nth = np.arange(len(broker)) - np.repeat(np.cumsum(steps) - steps, steps)
    cost = frozen[broker] + nth
    if problem.share is not None:
        # What matters is the count for the weight; the largest weight counts as one.
        ratio = np.minimum(int(problem.share.max()) / problem.share, LARGEST_RATIO)
        cost = np.floor(cost * ratio[broker]).astype(np.int64)
    lowest = int(cost.min(initial=0)) if len(cost) else 0
    beyond = int(cost.max(initial=0)) + 1 - lowest
    each = np.arange(len(frozen))
    return BrokerArcs(
        demands=np.zeros_like(frozen),
        brokers=np.concatenate([broker, each]),
        capacities=np.concatenate([np.ones(len(broker), np.int64), np.full(len(each), moving_replicas)]),
        costs=np.concatenate([cost - lowest, np.full(len(each), beyond)]),
    )


def _levels(problem: MovementProblem, frozen: Int64s, brokers: Int64s, amount: int) -> Int64s:
    """(len(brokers),) int64: counts that none of these brokers exceeds if it shares this amount fairly."""
    if problem.share is None:
        return np.full(len(brokers), _water_level(frozen[brokers], amount))
    weights = np.maximum(problem.share[brokers], int(problem.share.max()) / LARGEST_RATIO)
    order = np.argsort(frozen[brokers] / weights)
    sums, counted = np.cumsum(weights[order]), np.cumsum(frozen[brokers][order])
    # Each broker may be a whole replica above its share.
    level = float(((amount + len(brokers) + counted) / sums).min())
    return np.asarray(np.ceil(level * weights) + 1, np.int64)


def _water_level(heights: Int64s, amount: int) -> int:
    """The smallest whole level h with Σ max(h − height, 0) >= amount, at least the lowest height."""
    filled = amount + np.cumsum(np.sort(heights))
    return int((-(-filled // np.arange(1, len(filled) + 1))).min())
