"""The least movement within a band of counts, by column generation over partitions.

The problem is a minimum-cost flow, but most partitions do not take part in it: they stay on their brokers. The
restricted problem is the flow of the partitions with forced moves and of the lightest ones on overfull brokers; all
others are frozen. Its dual prices the brokers, and the pricing step (`places.cheapest`) finds the cheapest place of
each partition under these prices. Partitions with negative reduced cost are added to the restricted problem, which is
solved again, until there is none. Then the sum of the cheapest places less the value of the brokers' capacity equals
the movement, which proves it optimal; stopped earlier, that sum still is a lower bound.

As in the simplex method there are two phases: the first brings all counts within the band at any cost, with a price of
one replica on each that is outside; the second minimises the movement.

Source: column generation, after Dantzig and Wolfe, "Decomposition principle for linear programs" (1960).
"""

from dataclasses import dataclass

import numpy as np

from app.core.flow import InfeasibleFlow, min_cost_flow
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import BrokerBounds, Deadline, MovementProblem
from app.core.reassignment.solvers.flow.network import (
    BrokerArcs,
    CandidateReceivers,
    PlacementNetwork,
    band_capacity,
    candidate_receivers,
    tiers,
)
from app.core.reassignment.solvers.flow.places import (
    PlaceCosts,
    cheapest,
    costs_of,
    counts,
    frozen_counts,
    movement_costs,
    stay_put,
    sync_costs,
)

SPARE_PARTITIONS = 64
"""Partitions beyond the apparent need that are active from the start, or are activated to reach the band."""
LARGEST_SCALED = 1 << 40
"""Largest weight times tie scale that a network of two million nodes solves exactly: see `flow.largest_cost`."""


def least_within(problem: MovementProblem, band: BrokerBounds, *, is_over: Deadline) -> tuple[Int32s, int]:
    """Minimise the movement within bounds of counts.

    Returns
    -------
    (rows, widest) int32 placement, unordered, and a lower bound on the weight that any placement within the band moves.

    Raises
    ------
    InfeasibleFlow : no legal placement is within the band.
    """
    replicas, stays = stay_put(problem)
    state = _RestrictedProblem(problem, band, replicas, ~stays, np.empty(0, np.int64), problem.is_bounded)
    state.underfull = state.underfull & (state.counts() < band.low)
    state.is_active |= _lightest(state)
    _reach_band(state)
    costs, scale, unit = scaled_costs(problem, movement_costs(problem))
    bound = 0
    while True:
        prices = _solved(state, costs, state.capacity())
        priced_costs, places = cheapest(problem, costs, prices)
        bound = max(bound, int(priced_costs.sum()) - _capacity_value(state, prices))
        if (
            not state.activate(np.flatnonzero(priced_costs < _current_priced_costs(state, costs, prices)), places)
            or is_over()
        ):
            break
    if scale == 1:
        # Weights leave no headroom for ties in the same number: they are the second lexicographic cost.
        network = _network(state, state.capacity())
        goals = [network.costs(costs), network.costs(tie_costs(problem))]
        state.apply(network, min_cost_flow(network.flow, goals).amounts)
    return state.replicas, bound // scale * unit


@dataclass(slots=True, eq=False)
class _RestrictedProblem:
    """The placement, and the active partitions, which are in the restricted problem; the others are frozen."""

    problem: MovementProblem
    band: BrokerBounds
    replicas: Int32s
    is_active: Bools
    requested: Int64s
    """Partition · brokers + broker, of each place that pricing requested for a partition."""
    underfull: Bools
    """(brokers,) bool: targets below the band at the start."""

    def counts(self) -> Int64s:
        """(brokers,) int64 of all replicas."""
        return counts(self.problem, self.replicas)

    def frozen(self) -> Int64s:
        """(brokers,) int64 of the replicas that the restricted problem leaves where they are."""
        return frozen_counts(self.problem, self.replicas, self.is_active)

    def capacity(self) -> BrokerArcs:
        """What active partitions may and must put on each broker so that its count is within the band."""
        frozen = self.frozen()
        return band_capacity(self.problem, self.band, frozen, np.zeros_like(frozen))

    def distance_to_band(self) -> int:
        """By how many replicas counts are outside the band."""
        counted, target = self.counts(), self.problem.is_bounded
        above, below = np.maximum(counted - self.band.high, 0), np.maximum(self.band.low - counted, 0)
        return int((above + below)[target].sum())

    def activate(self, rows: Int64s, places: Int32s) -> bool:
        """Add partitions to the restricted problem with the places that pricing requests; whether anything is new."""
        known = len(self.requested), int(np.count_nonzero(self.is_active))
        self.requested = np.union1d(self.requested, self._pairs(rows, places[rows]))
        self.is_active[rows] = True
        return known != (len(self.requested), int(np.count_nonzero(self.is_active)))

    def candidate_receivers(self, rows: Int64s) -> CandidateReceivers:
        """Candidates of the active partitions; their present brokers are among them, so that no placement is lost."""
        requested = np.union1d(self.requested, self._pairs(rows, self.replicas[rows]))
        return candidate_receivers(self.problem, rows, underfull=self.underfull, requested=requested)

    def _pairs(self, rows: Int64s, places: Int32s) -> Int64s:
        pairs = rows[:, None] * len(self.problem.broker_ids) + places
        return np.asarray(pairs[places != NO_REPLICA], np.int64)

    def apply(self, network: PlacementNetwork, amounts: Int64s) -> None:
        """Place the partitions of a network by its flow."""
        self.replicas[network.rows] = network.places(amounts, self.problem.must_keep, self.replicas.shape[1])


def _lightest(state: _RestrictedProblem) -> Bools:
    """The lightest partitions on overfull brokers, and the lightest anywhere if some broker is underfull."""
    problem, counted = state.problem, state.counts()
    chosen = np.zeros(len(state.is_active), np.bool_)
    order = np.argsort(problem.weight, kind="stable")
    order = order[~state.is_active[order]]
    missing = int(np.maximum(state.band.low - counted, 0)[problem.is_bounded].sum())
    if missing:
        chosen[order[: missing + SPARE_PARTITIONS]] = True
    surplus = np.where(problem.is_bounded, counted - state.band.high, 0)
    for broker in np.flatnonzero(surplus > 0):
        here = order[(state.replicas[order] == broker).any(axis=1)]
        chosen[here[: surplus[broker] + SPARE_PARTITIONS]] = True
    return chosen


def _reach_band(state: _RestrictedProblem) -> None:
    """Phase one: bring all counts within the band at any cost. Raises `InfeasibleFlow`."""
    nothing = PlaceCosts(np.zeros_like(state.problem.current, np.int64), np.zeros_like(state.problem.weight))
    while True:
        prices = _solved(state, nothing, _relaxed_capacity(state), free=1)
        distance_to_band = state.distance_to_band()
        if not distance_to_band:
            return
        counted, target = state.counts(), state.problem.is_bounded
        prices[target & (counted > state.band.high)] = 1
        prices[target & (counted < state.band.low)] = -1
        priced_costs, places = cheapest(state.problem, nothing, prices)
        improving = np.flatnonzero(priced_costs < _current_priced_costs(state, nothing, prices))
        # Each of them helps; the lightest are likely to be in the final solution.
        lightest = np.argsort(state.problem.weight[improving], kind="stable")[: 4 * distance_to_band + SPARE_PARTITIONS]
        if not state.activate(improving[lightest], places):
            raise InfeasibleFlow


def _network(state: _RestrictedProblem, capacity: BrokerArcs) -> PlacementNetwork:
    rows = np.flatnonzero(state.is_active)
    return PlacementNetwork(state.problem, rows, capacity, state.candidate_receivers(rows))


def _relaxed_capacity(state: _RestrictedProblem) -> BrokerArcs:
    """Capacity without limits: a replica below the band is free, one within costs 1, one above 2."""
    frozen, target, everything = state.frozen(), state.problem.is_bounded, state.replicas.size
    low, high = np.where(target, state.band.low, 0), np.where(target, state.band.high, frozen + everything)
    each = np.arange(len(frozen))
    return BrokerArcs(
        demands=np.zeros_like(frozen),
        brokers=np.concatenate([each, each, each]),
        capacities=np.concatenate(tiers(low, high, frozen, target, everything)),
        costs=np.repeat(np.array([0, 1, 2], np.int64), len(frozen)),
    )


def _solved(state: _RestrictedProblem, costs: PlaceCosts, capacity: BrokerArcs, *, free: int = 0) -> Int64s:
    """Place the active partitions at the least cost.

    Returns (brokers,) int64 dual prices of a replica: positive only at brokers at the upper end of the band, negative
    only at the lower end.

    The flow of the active partitions alone leaves the prices between undetermined.

    Parameters
    ----------
    free : what a replica costs the flow at a broker at neither end.
    """
    network = _network(state, capacity)
    flow = min_cost_flow(network.flow, [network.fixed + network.costs(costs)])
    state.apply(network, flow.amounts)
    counted, target, band = state.counts(), state.problem.is_bounded, state.band
    prices = np.where(target, network.prices(flow.potentials[0]) - free, 0)
    prices = np.where(counted > band.low, np.maximum(prices, 0), prices)
    return np.asarray(np.where(counted < band.high, np.minimum(prices, 0), prices), np.int64)


def _capacity_value(state: _RestrictedProblem, prices: Int64s) -> int:
    """The value of the capacity within the band at these prices."""
    free = np.where(prices > 0, state.band.high, state.band.low) - state.problem.base
    return int((prices * np.maximum(free, 0)).sum())


def _current_priced_costs(state: _RestrictedProblem, costs: PlaceCosts, prices: Int64s) -> Int64s:
    """(rows,) int64: the cost of each partition's present place, prices included."""
    paid = np.where(state.replicas != NO_REPLICA, prices[state.replicas], 0).sum(axis=1)
    return np.asarray(costs_of(state.problem, costs, state.replicas) + paid, np.int64)


def tie_costs(problem: MovementProblem) -> PlaceCosts:
    """2 for a replica that moves, 1 for one that moves to a successor, in units above every sum of `sync_costs`."""
    moves, sync = problem.is_there.astype(np.int64), sync_costs(problem)
    unit = int((problem.factors * sync.other).sum()) + 1
    return PlaceCosts(unit * problem.is_copied + sync.current, unit * 2 * moves + sync.other)


def scaled_costs(problem: MovementProblem, costs: PlaceCosts) -> tuple[PlaceCosts, int, int]:
    """Costs and those of ties in one number, if they fit, the scale of a unit of weight, and this unit.

    The unit is the largest common divisor of the costs, so that the same sizes in other units are the same problem. No
    sum of ties reaches it.
    """
    unit = max(1, int(np.gcd(np.gcd.reduce(costs.current, axis=None), np.gcd.reduce(costs.other))))
    costs = PlaceCosts(costs.current // unit, costs.other // unit)
    ties = tie_costs(problem)
    scale = max(2, int(ties.other.max(initial=0))) * int(problem.factors.sum()) + 1
    if int(costs.other.max(initial=0)) * scale > LARGEST_SCALED:
        return costs, 1, unit
    return PlaceCosts(costs.current * scale + ties.current, costs.other * scale + ties.other), scale, unit
