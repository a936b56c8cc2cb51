"""Only what has to move moves, to the receivers that leave the fairest counts: what `keep` means.

Without a band no partition depends on another, and how little each can move follows from itself alone. Who receives
what moves is free, and is chosen so that the largest count is as small as can be, then the second largest, and so on.
Such counts have the smallest sum of squares, so they are a flow in which the n-th replica of a broker costs n. Only
partitions that cannot stay take part; a move that is avoidable costs more than all evenness is worth. So does, among
those, passing over a replaced broker's successor, and where one of two homes has to go, letting the leader's go.

Source: Frank and Murota, "Decreasing minimization on M-convex sets" (2018).
"""

import numpy as np

from app.core.flow import cheapest_amounts
from app.core.model import Int32s, Int64s
from app.core.reassignment.counts.network import Room, placement_network
from app.core.reassignment.counts.offers import offers
from app.core.reassignment.counts.places import frozen_counts, stay_put
from app.core.reassignment.counts.pricing import Costs, Terms, cheapest, movement_costs
from app.core.reassignment.problem import NO_HOME, Problem


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
