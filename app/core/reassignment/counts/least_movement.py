"""The least movement: exact, with its certificate, by balance, by budget, and as a trade-off.

The least movement there is: exact, with its proof.

Hard constraints: every partition has a legal place in its domain, what must be kept is kept, and the target brokers'
counts are within the band. Goals, each exactly reached among the placements that are best in all before it:

1. the smallest weight moved (`Problem.weight`: bytes, or 1);
2. the fewest replicas moved; a replaced broker's replicas go to its successor where that costs nothing else.

With `keep` there is no band, and every partition moves as little as it must whatever the others do; `receivers` says
who takes what moves.

What evenness costs: movement by balance, and the best balance that a budget of movement pays for.

Between the narrowest band and none at all lie the bands that are wider by one replica at either end, by two, and so
on. A wider one never moves more, so that the widest that is worth asking for is the one in which only what has to move
moves, and the narrowest that a budget pays for is found by halving.

Only what has to move moves, to the receivers that leave the fairest counts: what `keep` means.

Without a band no partition depends on another, and how little each can move follows from itself alone. Who receives
what moves is free, and is chosen so that the largest count is as small as can be, then the second largest, and so on.
Such counts have the smallest sum of squares, so they are a flow in which the n-th replica of a broker costs n. Only
partitions that cannot stay take part; a move that is avoidable costs more than all evenness is worth. So does, among
those, passing over a replaced broker's successor, and where one of two homes has to go, letting the leader's go.

Source: Frank and Murota, "Decreasing minimization on M-convex sets" (2018).
"""

from collections.abc import Callable

import numpy as np

from app.core.certificate import Certificate
from app.core.flow import cheapest_amounts
from app.core.model import Int32s, Int64s
from app.core.reassignment.counts.narrowest import narrowest_band
from app.core.reassignment.counts.network import Room, offers, placement_network
from app.core.reassignment.counts.places import (
    Costs,
    Terms,
    cheapest,
    counts,
    frozen_counts,
    in_order,
    moved_weight,
    movement_costs,
    stay_put,
)
from app.core.reassignment.counts.within_band import least_within
from app.core.reassignment.model import KEEP, NO_HOME, Balance, Band, Problem, ReplicaPlacement

SOLVER = "ortools min-cost flow"


def never() -> bool:
    """There is no deadline."""
    return False


def least_movement(problem: Problem, balance: Balance, *, is_over: Callable[[], bool] = never) -> ReplicaPlacement:
    """Move as little as can be, so that the target brokers' counts are as even as asked for.

    Parameters
    ----------
    is_over : whether the deadline has passed; then the best placement found so far is answered, with its gap.
    """
    if balance.tolerance is None:
        replicas, bound = fairest_receivers(problem)
        return _placed(problem, replicas, bound, None)
    return movement_within(problem, balance.widened(narrowest_band(problem)), is_over=is_over)


def movement_within(problem: Problem, band: Band, *, is_over: Callable[[], bool] = never) -> ReplicaPlacement:
    """Move as little as can be, so that each target broker's count is within the band.

    Raises
    ------
    InfeasibleFlow : no legal placement is within the band.
    """
    replicas, bound = least_within(problem, band, is_over=is_over)
    return _placed(problem, replicas, bound, band)


def _placed(problem: Problem, replicas: Int32s, bound: int, band: Band | None) -> ReplicaPlacement:
    constraints = ["distinct brokers that each partition may be on", "replicas of a partition spread over racks"]
    if band is not None:
        constraints.append(f"{band.low} to {band.high} replicas on every target broker")
    moved = moved_weight(problem, replicas)
    certificate = Certificate("moved weight", moved, min(bound, moved), SOLVER, tuple(constraints))
    return ReplicaPlacement(in_order(problem, replicas), band, certificate)


class BudgetTooSmall(Exception):
    """More has to move whatever the balance: `minimum` in the weight of the problem."""

    def __init__(self, minimum: int) -> None:
        super().__init__(f"at least {minimum} has to move")
        self.minimum = minimum


def trade_off(problem: Problem, *, points: int, is_over: Callable[[], bool] = never) -> list[ReplicaPlacement]:
    """Movement by balance: from the narrowest band to the one in which only what has to move moves.

    Parameters
    ----------
    points : how many bands at most, the ends among them; they lie closer where bands are narrow.
    is_over : whether the deadline has passed; the points found by then are answered, the narrowest band first.

    Returns
    -------
    The least movement within each band, the narrowest first.
    """
    narrowest, widest = narrowest_band(problem), _width_of_keeping(problem)
    found: list[ReplicaPlacement] = []
    for width in _spread_out(widest, points):
        found.append(movement_within(problem, _wider(narrowest, width), is_over=is_over))
        if is_over():
            break
    return found


def within_budget(problem: Problem, budget: int, *, is_over: Callable[[], bool] = never) -> ReplicaPlacement:
    """The placement in the narrowest band that moves no more than the budget.

    Raises
    ------
    BudgetTooSmall : what has to move whatever the balance is more.
    """
    kept = least_movement(problem, KEEP)
    if kept.certificate.lower_bound > budget:
        raise BudgetTooSmall(kept.certificate.lower_bound)
    narrowest = narrowest_band(problem)
    best, low, high = kept, 0, _width(problem, kept, narrowest)
    while low <= high:
        middle = (low + high) // 2
        placed = movement_within(problem, _wider(narrowest, middle), is_over=is_over)
        if placed.moved <= budget:
            best, high = placed, middle - 1
        elif is_over():
            break
        else:
            low = middle + 1
    return best


def _width_of_keeping(problem: Problem) -> int:
    return _width(problem, least_movement(problem, KEEP), narrowest_band(problem))


def _width(problem: Problem, placed: ReplicaPlacement, narrowest: Band) -> int:
    """By how much the narrowest band has to be widened until the placement is within."""
    on_targets = counts(problem, placed.replicas)[problem.target]
    if not len(on_targets):
        return 0
    return max(int(on_targets.max()) - narrowest.high, narrowest.low - int(on_targets.min()), 0)


def _wider(band: Band, width: int) -> Band:
    return Band(max(band.low - width, 0), band.high + width)


def _spread_out(widest: int, points: int) -> list[int]:
    """At most so many whole numbers from 0 to `widest`, in steps that grow."""
    steps = np.linspace(0, np.sqrt(widest), max(points, 2)) ** 2
    return sorted({round(step) for step in steps.tolist()})


def fairest_receivers(problem: Problem) -> tuple[Int32s, int]:
    """(rows, widest) int32 places in which nothing moves that need not, and the weight that none moves less than."""
    replicas, stays = stay_put(problem)
    rows = np.flatnonzero(~stays)
    if len(rows):
        terms, frozen = Terms.of(problem), frozen_counts(problem, replicas, ~stays)
        room = _steps(problem, frozen, rows)
        lacking = problem.target & (frozen <= np.median(frozen))
        offered = offers(problem, terms, rows, lacking=lacking, asked=np.empty(0, np.int64))
        network = placement_network(problem, terms, _avoidable(problem, room), rows, room, offered)
        amounts = cheapest_amounts(network.flow, network.costs)
        replicas[rows] = network.places(amounts, problem.must_keep, replicas.shape[1])
    free = np.zeros(len(problem.broker_ids), np.int64)
    return replicas, int(cheapest(problem, movement_costs(problem), free)[0].sum())


def _avoidable(problem: Problem, room: Room) -> Costs:
    """Costs of moves in units of evenness: one more move outweighs every chain of successors passed over, one of those
    every chain of leaders dropped, and one of those all evenness.
    """
    chain = len(problem.broker_ids) + 2
    dropping = int(room.costs.max(initial=0)) + 1
    passing_over = dropping * chain
    moving = passing_over * chain
    is_home = problem.homes != NO_HOME
    others = np.where(np.arange(problem.homes.shape[1]) > 0, dropping, 0)
    return Costs(
        np.where(is_home, others + np.where(problem.is_copied, moving, 0), 0).astype(np.int64),
        np.where(is_home.any(axis=1), moving + passing_over, 0).astype(np.int64),
    )


def _steps(problem: Problem, frozen: Int64s, rows: Int64s) -> Room:
    """Each broker's next replicas one by one, the n-th at a cost of n, as far as the fairest counts can reach."""
    terms = Terms.of(problem)
    domains = np.unique(problem.domain_of[rows])
    coming = int(terms.factor[problem.domain_of[rows]].sum())
    homes = problem.homes[rows]
    # Which of its homes a partition keeps is free, too, where it keeps not all of them.
    reach = frozen + np.bincount(homes[homes != NO_HOME], minlength=len(frozen))
    for domain in domains:
        receives = terms.may_receive[domain]
        for rack in np.unique(problem.rack_of[receives]):
            brokers = np.flatnonzero(receives & (problem.rack_of == rack))
            level = _level(frozen[brokers], coming)
            reach[brokers] = np.maximum(reach[brokers], level)
    # A partition cannot put two on one broker, so that the water may stand a little higher elsewhere.
    steps = np.maximum(reach - frozen, 0) + int(terms.factor.max())
    broker = np.repeat(np.arange(len(frozen)), steps)
    nth = np.arange(len(broker)) - np.repeat(np.cumsum(steps) - steps, steps)
    cost = frozen[broker] + nth
    lowest = int(cost.min(initial=0)) if len(cost) else 0
    beyond = int(cost.max(initial=0)) + 1 - lowest
    each = np.arange(len(frozen))
    return Room(
        demands=np.zeros_like(frozen),
        brokers=np.concatenate([broker, each]),
        capacities=np.concatenate([np.ones(len(broker), np.int64), np.full(len(each), coming)]),
        costs=np.concatenate([cost - lowest, np.full(len(each), beyond)]),
    )


def _level(heights: Int64s, poured: int) -> int:
    """How high the water stands once so much is poured on ground of these heights, rounded up."""
    ground = np.sort(heights)
    filled = np.arange(1, len(ground) + 1) * ground - np.cumsum(ground)
    wet = int(np.searchsorted(filled, poured, side="left"))  # so many columns are under water
    wet = max(wet, 1)
    return int(-(-(poured + int(ground[:wet].sum())) // wet))
