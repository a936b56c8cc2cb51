"""The least movement within a band of counts, by a flow of ever more partitions.

This is a minimum-cost flow, but hardly any partition takes part in it: most stay where they are. So the flow is of
those that cannot stay, and of the lightest ones on brokers that have too many; the others are frozen. Its dual gives
brokers prices, and with these *every* partition is asked for its cheapest place (`pricing`). Those that would rather
move join the flow, and it is solved again, until nobody would. Then the sum of the cheapest places, less the worth of
the brokers' room, equals what is moved, and nothing can move less; stopped before that, it still is a lower bound.

As in the simplex method there are two phases: the first brings all counts within the band at whatever cost, with a
price of one replica on each that is outside; the second moves as little as can be.

Source: column generation, after Dantzig and Wolfe, "Decomposition principle for linear programs" (1960).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.flow import InfeasibleFlow, min_cost_flow
from app.core.model import Int32s, Int64s
from app.core.reassignment.balance import Band
from app.core.reassignment.counts.network import PlacementNetwork, Room, placement_network
from app.core.reassignment.counts.offers import Offers, offers
from app.core.reassignment.counts.places import costs_of, counts, frozen_counts, stay_put
from app.core.reassignment.counts.pricing import Costs, Terms, cheapest, movement_costs
from app.core.reassignment.problem import NO_HOME, Problem

SPARE = 64
"""How many more partitions than seem to be needed take part from the start, or are woken to come within the band."""
LARGEST_SCALED = 1 << 40
"""Weights times ties that a network of two million nodes still solves exactly: see `flow.largest_cost`."""


def least_within(problem: Problem, band: Band, *, is_over: Callable[[], bool]) -> tuple[Int32s, int]:
    """(rows, widest) int32 places that move least within the band, and a weight that none moves less than.

    Raises
    ------
    InfeasibleFlow : no legal placement is within the band.
    """
    replicas, stays = stay_put(problem)
    state = _State(problem, Terms.of(problem), band, replicas, ~stays, np.empty(0, np.int64), problem.target)
    state.lacking = state.lacking & (state.counts() < band.low)
    state.is_active |= _lightest(state)
    _come_within(state)
    costs, scale = _scaled(problem)
    bound = 0
    while True:
        network = _network(state, costs, _room(state))
        flow = min_cost_flow(network.flow, [network.costs])
        state.carry_out(network, flow.amounts)
        prices = _prices(state, network, flow.potentials[0])
        wishes, places = cheapest(problem, costs, prices)
        bound = max(bound, int(wishes.sum()) - _worth(state, prices))
        if not state.wake(np.flatnonzero(wishes < _priced(state, costs, prices)), places) or is_over():
            break
    if scale == 1:
        # Too heavy to count replicas in the same number: among the flows that move least, the fewest replicas.
        network = _network(state, costs, _room(state))
        ties = _network(state, _ties(problem), _room(state))
        state.carry_out(network, min_cost_flow(network.flow, [network.costs, ties.costs]).amounts)
    return state.replicas, bound // scale


@dataclass(slots=True, eq=False)
class _State:
    """Where all partitions are, and which of them take part in the flow: the others are frozen."""

    problem: Problem
    terms: Terms
    band: Band
    replicas: Int32s
    is_active: NDArray[np.bool_]
    asked: Int64s
    """Partition times brokers plus broker, of each place that a partition asked for."""
    lacking: NDArray[np.bool_]
    """(brokers,): the targets that had too few from the start."""

    def counts(self) -> Int64s:
        """(brokers,) int64 of all replicas."""
        return counts(self.problem, self.replicas)

    def frozen(self) -> Int64s:
        """(brokers,) int64 of the replicas that the flow leaves alone."""
        return frozen_counts(self.problem, self.replicas, self.is_active)

    def outside(self) -> int:
        """By how many replicas counts are outside the band."""
        found = self.counts()[self.problem.target]
        return int(np.maximum(found - self.band.high, 0).sum() + np.maximum(self.band.low - found, 0).sum())

    def wake(self, rows: Int64s, places: Int32s) -> bool:
        """Let partitions take part, and be offered the places that they ask for; whether any asks for anything new."""
        known = len(self.asked), int(np.count_nonzero(self.is_active))
        self.asked = np.union1d(self.asked, self._pairs(rows, places[rows]))
        self.is_active[rows] = True
        return known != (len(self.asked), int(np.count_nonzero(self.is_active)))

    def offers(self, rows: Int64s) -> Offers:
        """What partitions are offered: where they are, too, so that no placement is lost once found."""
        asked = np.union1d(self.asked, self._pairs(rows, self.replicas[rows]))
        return offers(self.problem, self.terms, rows, lacking=self.lacking, asked=asked)

    def _pairs(self, rows: Int64s, places: Int32s) -> Int64s:
        pairs = rows[:, None] * len(self.problem.broker_ids) + places
        return np.asarray(pairs[places != NO_HOME], np.int64)

    def carry_out(self, network: PlacementNetwork, amounts: Int64s) -> None:
        """Put the partitions of a network where its flow says."""
        self.replicas[network.rows] = network.places(amounts, self.problem.must_keep, self.replicas.shape[1])


def _lightest(state: _State) -> NDArray[np.bool_]:
    """The lightest partitions on brokers that have too many, and anywhere if some broker has too few."""
    problem, found = state.problem, state.counts()
    chosen = np.zeros(len(state.is_active), np.bool_)
    order = np.argsort(problem.weight, kind="stable")
    order = order[~state.is_active[order]]
    missing = int(np.maximum(state.band.low - found[problem.target], 0).sum())
    if missing:
        chosen[order[: missing + SPARE]] = True
    surplus = np.where(problem.target, found - state.band.high, 0)
    for broker in np.flatnonzero(surplus > 0):
        here = order[(state.replicas[order] == broker).any(axis=1)]
        chosen[here[: 1 * surplus[broker] + SPARE]] = True
    return chosen


def _come_within(state: _State) -> None:
    """Bring all counts within the band, at whatever cost. Raises `InfeasibleFlow`."""
    nothing = Costs(np.zeros_like(state.problem.homes, np.int64), np.zeros_like(state.problem.weight))
    while True:
        network = _network(state, nothing, _any_room(state))
        flow = min_cost_flow(network.flow, [network.costs])
        state.carry_out(network, flow.amounts)
        outside = state.outside()
        if not outside:
            return
        found, target = state.counts(), state.problem.target
        prices = _prices(state, network, flow.potentials[0], free=1)
        prices[target & (found > state.band.high)] = 1
        prices[target & (found < state.band.low)] = -1
        wishes, places = cheapest(state.problem, nothing, prices)
        would_move = np.flatnonzero(wishes < _priced(state, nothing, prices))
        # Each helps; the lightest are those that will be wanted in the end.
        lightest = np.argsort(state.problem.weight[would_move], kind="stable")[: 4 * outside + SPARE]
        if not state.wake(would_move[lightest], places):
            raise InfeasibleFlow


def _network(state: _State, costs: Costs, room: Room) -> PlacementNetwork:
    rows = np.flatnonzero(state.is_active)
    return placement_network(state.problem, state.terms, costs, rows, room, state.offers(rows))


def _room(state: _State) -> Room:
    """What active partitions may, and must, put on each broker so that its count is within the band."""
    frozen, target = state.frozen(), state.problem.target
    low = np.where(target, np.maximum(state.band.low - frozen, 0), 0)
    high = np.where(target, np.maximum(state.band.high - frozen, low), state.replicas.size)
    return Room(low, np.arange(len(frozen)), high - low, np.zeros_like(frozen))


def _any_room(state: _State) -> Room:
    """As `_room`, but everything is let in: a replica below the band is free, one within costs 1, one above 2."""
    frozen, target = state.frozen(), state.problem.target
    below = np.where(target, np.maximum(state.band.low - frozen, 0), 0)
    within = np.where(target, np.maximum(state.band.high - frozen - below, 0), state.replicas.size)
    above = np.where(target, state.replicas.size, 0)
    each = np.arange(len(frozen))
    return Room(
        demands=np.zeros_like(frozen),
        brokers=np.concatenate([each, each, each]),
        capacities=np.concatenate([below, within, above]),
        costs=np.repeat(np.array([0, 1, 2], np.int64), len(frozen)),
    )


def _prices(state: _State, network: PlacementNetwork, potentials: Int64s, *, free: int = 0) -> Int64s:
    """(brokers,) int64 price of a replica: above 0 at brokers that are full, below 0 where one is missing.

    Only those are: the flow of the active partitions alone leaves the prices of frozen counts open.

    Parameters
    ----------
    free : what a replica costs the flow at a broker that is neither.
    """
    found, target, band = state.counts(), state.problem.target, state.band
    prices = np.where(target, network.prices(potentials, len(found)) - free, 0)
    prices = np.where(found > band.low, np.maximum(prices, 0), prices)
    return np.asarray(np.where(found < band.high, np.minimum(prices, 0), prices), np.int64)


def _worth(state: _State, prices: Int64s) -> int:
    """What the room within the band is worth at these prices."""
    free = np.where(prices > 0, state.band.high, state.band.low) - state.problem.base
    return int((prices * np.maximum(free, 0)).sum())


def _priced(state: _State, costs: Costs, prices: Int64s) -> Int64s:
    """(rows,) int64: what each partition's place costs with the brokers' prices."""
    paid = np.where(state.replicas != NO_HOME, prices[state.replicas], 0).sum(axis=1)
    return np.asarray(costs_of(state.problem, costs, state.replicas) + paid, np.int64)


def _ties(problem: Problem) -> Costs:
    """2 for a replica that moves, 1 for one that moves to a successor."""
    moves = (problem.homes != NO_HOME).any(axis=1).astype(np.int64)
    return Costs(problem.is_copied.astype(np.int64), 2 * moves)


def _scaled(problem: Problem) -> tuple[Costs, int]:
    """The costs of movement with those of ties in the same numbers, if they fit, and what a unit of weight is in them.

    No sum of ties comes to one unit of weight.
    """
    costs, ties = movement_costs(problem), _ties(problem)
    scale = 2 * int(problem.factors.sum()) + 1
    if int(costs.away.max(initial=0)) * scale > LARGEST_SCALED:
        return costs, 1
    return Costs(costs.home * scale + ties.home, costs.away * scale + ties.away), scale
