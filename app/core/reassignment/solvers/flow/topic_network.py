"""The flow network of topics balanced over brokers: slots by topic and rack, and the other partitions one by one.

    topic in a rack ──(free)──→ any receiver of the rack ──→ sink
                    ←──(cost of the replica that leaves)── broker that has replicas of the topic

What a topic has on a broker is a convex function of its movement: replicas leave in the order of their costs, and any
may come for nothing. So partitions that consist of slots need no nodes: a topic is a node in each rack, and each of its
places on brokers an arc in, and one arc out for each replica that may leave. With 100,000 partitions of 2,000 topics
and 300 brokers the network has 6,000 nodes, where partitions and places as nodes are a million.

Other partitions (several replicas in a rack, or a choice of racks) are in the network as `PlacementNetwork` builds it.
Topics with such partitions have a *place* on each broker as a node, which their slots pass as well.

A topic's excess on a broker is convex, too: each replica that leaves or comes decreases it by one, leaves it, or
increases it by one, in this order. If the bands of topics are hard, replicas of the first kind are moved from the
start, those of the last kind have no arc, and what is left is small.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow, Network
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import BrokerBounds, MovementProblem
from app.core.reassignment.solvers.flow.network import (
    CandidateReceivers,
    PlacementNetwork,
    TopicArcs,
    band_capacity,
    tiers,
)
from app.core.reassignment.solvers.flow.places import PlaceCosts, Slots, movement_costs
from app.core.reassignment.solvers.flow.within_band import tie_costs
from app.core.replica_lists import per_broker


@dataclass(frozen=True, slots=True, eq=False)
class TopicBands:
    """What each topic may have on each broker.

    Parameters
    ----------
    topic_of : (rows,) int64 of each partition. low, high : (topics, brokers) int64.
    """

    topic_of: Int64s = field(repr=False)
    low: Int64s = field(repr=False)
    high: Int64s = field(repr=False)


class TopicNetwork:
    """The network of all partitions, and the meaning of its arcs.

    Complexity: O(slots · log(slots) + topics · brokers), and that of `PlacementNetwork` for the other partitions.

    Parameters
    ----------
    places : the places of topics on brokers. within : bounds of the target brokers' counts; None has none.
    candidates : receivers, as arcs of their own, of the partitions that do not consist of slots.
    is_hard : whether topics have to be within their bands. The excess of those with other partitions, or with several
        sets of receivers, is a cost all the same.

    Attributes
    ----------
    excess : (arcs,) int64 cost of each arc in replicas outside the bands of topics.
    leaving : (slots,) bool, slots that leave their current broker from the start; those without one do.
    coming : (arrivals,) int64 pool · brokers + broker, receivers that get a replica from the start.

    Raises
    ------
    InfeasibleFlow : a topic is below its hard band on a broker that may not receive it.
    """

    def __init__(
        self, places: "TopicPlaces", within: BrokerBounds | None, candidates: CandidateReceivers, *, is_hard: bool
    ) -> None:
        problem, slots = places.problem, places.slots
        brokers = len(problem.base)
        ins, outs = places.coming(), places.leaving()
        leaving, coming = slots.current_broker == NO_REPLICA, np.empty(0, np.int64)
        if is_hard:
            leaving[outs.slot[outs.excess < 0]] = True
            coming = ins.from_the_start(brokers)
            places.require(coming)
            ins, outs = ins.within(), outs.within()
        self.leaving, self.coming, self._places, self._ins, self._out_slot = leaving, coming, places, ins, outs.slot
        level = np.bincount(coming % brokers, minlength=brokers) + np.bincount(
            slots.current_broker[slots.is_free & ~leaving & ~places.is_node[places.topic]], minlength=brokers
        )
        pinned = problem.base + per_broker(problem.must_keep[:, None], brokers)
        capacity = band_capacity(problem, within, pinned, level)
        self._detailed = detailed = PlacementNetwork(problem, places.rows, capacity, candidates, places.arcs())
        first_pool, pools = len(detailed.flow.supplies), places.pools
        supplies = np.append(detailed.flow.supplies, np.zeros(pools, np.int64))
        supplies[first_pool:] = np.bincount(places.pool_of[leaving], minlength=pools)
        supplies[first_pool:] -= np.bincount(coming // brokers, minlength=pools)
        stock = places.stock.reshape(-1, brokers)[places.is_node].ravel()
        supplies[detailed.first_place : detailed.first_place + len(stock)] += stock
        supplies[detailed.first_broker + brokers] -= supplies.sum()
        to = places.nodes(places.topic_of_family[ins.pool // problem.racks], ins.broker, detailed)
        start = places.nodes(places.topic[outs.slot], slots.current_broker[outs.slot].astype(np.int64), detailed)
        self.flow = Network(
            supplies,
            np.concatenate([detailed.flow.tails, ins.pool + first_pool, start]).astype(np.int32),
            np.concatenate([detailed.flow.heads, to, places.pool_of[outs.slot] + first_pool]).astype(np.int32),
            np.concatenate([detailed.flow.capacities, ins.capacity, np.ones(len(outs.slot), np.int64)]),
        )
        self.excess = np.concatenate([detailed.fixed, ins.excess, outs.excess])

    def costs(self, costs: PlaceCosts) -> Int64s:
        """(arcs,) int64 cost of each arc, from those of places."""
        nothing = np.zeros(len(self._ins.pool), np.int64)
        leaving = self._places.slots.costs_of_leaving(costs)[self._out_slot]
        return np.concatenate([self._detailed.costs(costs), nothing, leaving])

    def constant(self, costs: PlaceCosts) -> int:
        """What every flow costs besides its arcs."""
        slots = self._places.slots
        return int(slots.costs_of_staying(costs).sum() + slots.costs_of_leaving(costs)[self.leaving].sum())

    def least_by_topic(self, costs: PlaceCosts) -> int:
        """A lower bound without a flow: the cheapest replicas that have to leave, each topic and rack on its own.

        What comes to a topic in a rack from the start, less what leaves, has to leave as well, at least.
        """
        places, slot = self._places, self._out_slot
        lacking = np.bincount(self.coming // len(places.problem.base), minlength=places.pools)
        lacking = lacking - np.bincount(places.pool_of[self.leaving], minlength=places.pools)
        leaving, pool = places.slots.costs_of_leaving(costs)[slot], places.pool_of[slot]
        order = np.lexsort((leaving, pool))
        starts = np.searchsorted(pool[order], np.arange(places.pools))
        is_least = np.arange(len(order)) - starts[pool[order]] < lacking[pool[order]]
        return self.constant(costs) + int(leaving[order][is_least].sum())

    def places(self, amounts: Int64s) -> Int32s:
        """(rows, widest) int32 brokers of each partition under a flow, unordered, padded with `NO_REPLICA`."""
        slots, problem, pool_of = self._places.slots, self._places.problem, self._places.pool_of
        brokers = len(problem.base)
        detailed = len(self._detailed.fixed)
        ins = amounts[detailed : detailed + len(self._ins.pool)]
        leaves = self.leaving.copy()
        leaves[self._out_slot[amounts[detailed + len(ins) :] > 0]] = True
        arrivals = np.concatenate([self.coming, np.repeat(self._ins.pool * brokers + self._ins.broker, ins)])
        leaving = np.flatnonzero(leaves)
        leaving = leaving[np.argsort(pool_of[leaving], kind="stable")]
        at = slots.current_broker.copy()
        # Replicas of a topic that leave brokers of a rack are interchangeable, and so are the receivers.
        at[leaving] = np.sort(arrivals) % brokers
        replicas = slots.replicas(at, len(problem.current), problem.widest)
        if len(self._detailed.rows):
            replicas[self._detailed.rows] = self._detailed.places(amounts[:detailed], problem.must_keep, problem.widest)
        return replicas


@dataclass(frozen=True, slots=True, eq=False)
class _Coming:
    """Arcs from a topic in a rack to receivers there, which fill in the order of their excess.

    Parameters
    ----------
    pool, broker, capacity, excess : (arcs,) int64.
    """

    pool: Int64s
    broker: Int64s
    capacity: Int64s
    excess: Int64s

    def from_the_start(self, brokers: int) -> Int64s:
        """Pool · brokers + broker, for each replica that is lacking in a band."""
        is_lacking = self.excess < 0
        return np.repeat(self.pool * brokers + self.broker, np.where(is_lacking, self.capacity, 0))

    def within(self) -> "_Coming":
        """The arcs within bands."""
        fits = self.excess == 0
        return _Coming(self.pool[fits], self.broker[fits], self.capacity[fits], self.excess[fits])


@dataclass(frozen=True, slots=True, eq=False)
class _Leaving:
    """Arcs from places to the topic in the rack, one for each slot; those of a place have ascending excess and costs.

    Parameters
    ----------
    slot, excess : (arcs,) int64.
    """

    slot: Int64s
    excess: Int64s

    def within(self) -> "_Leaving":
        """The arcs within bands."""
        return _Leaving(self.slot[self.excess == 0], self.excess[self.excess == 0])


class TopicPlaces:
    """Places of topics on brokers. Families are topics with one set of receivers; each has a pool in every rack.

    Parameters
    ----------
    rows : partitions that do not consist of slots. topic, pool_of : (slots,) int64.
    receives : (families, brokers) bool. topic_of_family : (families,) int64.
    is_node : (topics,) bool, topics whose places are nodes, since other partitions or families share them.
    stock : (topics · brokers,) int64 slots that may leave. low, high : the same shape, the band without pinned ones.
    """

    def __init__(self, problem: MovementProblem, topics: TopicBands) -> None:
        self.problem, self.slots, self.topic_of = problem, Slots(problem), topics.topic_of
        slots, brokers, number = self.slots, len(problem.base), len(topics.low)
        self.rows, self.topic = np.flatnonzero(~slots.consists), topics.topic_of[slots.row]
        families, family = np.unique(slots.receivers * number + self.topic, return_inverse=True)
        self.receives, self.topic_of_family = slots.sets[families // number], families % number
        self.pool_of = family.reshape(-1) * problem.racks + slots.rack
        self.is_node = np.bincount(self.topic_of_family, minlength=number) > 1
        self.is_node[topics.topic_of[self.rows]] = True
        must = problem.must_keep
        pinned = np.bincount((topics.topic_of * brokers + must)[must != NO_REPLICA], minlength=number * brokers)
        bounded, everything = np.tile(problem.is_bounded, number), self._everything
        self.low = np.where(bounded, np.maximum(topics.low.ravel() - pinned, 0), 0)
        self.high = np.where(bounded, np.clip(topics.high.ravel() - pinned, self.low, everything), everything)
        cells = (self.topic * brokers + slots.current_broker)[slots.is_free]
        self.stock = np.bincount(cells, minlength=number * brokers)

    @property
    def pools(self) -> int:
        """The number of pools."""
        return len(self.receives) * self.problem.racks

    def require(self, coming: Int64s) -> None:
        """Raise `InfeasibleFlow` if what is lacking in bands cannot come."""
        lacking = np.maximum(self.low - self.stock, 0).reshape(len(self.is_node), -1)
        if lacking[~self.is_node].sum() != len(coming):
            raise InfeasibleFlow

    def coming(self) -> _Coming:
        """As far as the lower end of the band, as far as the upper end, and beyond it; at once to places."""
        is_node, (below, within, above) = np.repeat(self.is_node, len(self.problem.base)), self._tiers(self.stock)
        # What places that are nodes have is bounded behind them.
        of_places = (
            np.where(is_node, 0, below),
            np.where(is_node, self._everything, within),
            np.where(is_node, 0, above),
        )
        of_topics = (tier.reshape(len(self.is_node), -1) for tier in of_places)
        of_families = (np.where(self.receives, tier[self.topic_of_family], 0) for tier in of_topics)
        family, broker, capacity, excess = _laid(of_families, first=-1)
        return _Coming(family * self.problem.racks + self.problem.rack_of[broker], broker, capacity, excess)

    @property
    def _everything(self) -> int:
        return int(self.problem.factors.sum()) + 1

    def _tiers(self, stock: Int64s) -> tuple[Int64s, Int64s, Int64s]:
        return tiers(self.low, self.high, stock, self.high < self._everything, self._everything)

    def leaving(self) -> _Leaving:
        """The slots that may leave, those of each place by ascending cost."""
        movement, ties = movement_costs(self.problem), tie_costs(self.problem)
        slot = np.flatnonzero(self.slots.is_free)
        cell = (self.topic * len(self.problem.base) + self.slots.current_broker)[slot]
        tie, cost = self.slots.costs_of_leaving(ties)[slot], self.slots.costs_of_leaving(movement)[slot]
        order = np.lexsort((tie, cost, cell))
        slot, cell = slot[order], cell[order]
        left = self.stock[cell] - (np.arange(len(cell)) - np.searchsorted(cell, cell))
        excess = np.where(left > self.high[cell], -1, np.where(left <= self.low[cell], 1, 0))
        return _Leaving(slot, np.where(self.is_node[self.topic[slot]], 0, excess))

    def arcs(self) -> TopicArcs | None:
        """From places that are nodes: a replica below the band is free, one within costs 1, one above 2.

        The sum differs from the excess by a constant. On brokers that are no targets a replica costs 1.
        """
        if not self.is_node.any():
            return None
        of_places = (tier.reshape(len(self.is_node), -1)[self.is_node] for tier in self._tiers(0 * self.stock))
        return TopicArcs(int(self.is_node.sum()), self._index()[self.topic_of], *_laid(of_places, first=0))

    def nodes(self, topic: Int64s, broker: Int64s, network: PlacementNetwork) -> Int64s:
        """(n,) int64 nodes of topics on brokers: places, or the brokers."""
        place = network.first_place + self._index()[topic] * len(self.problem.base) + broker
        return np.where(self.is_node[topic], place, network.first_broker + broker)

    def _index(self) -> Int64s:
        """(topics,) int64 index among those whose places are nodes; 0 of others."""
        return np.where(self.is_node, np.cumsum(self.is_node) - 1, 0)


def _laid(tables: Iterable[Int64s], *, first: int) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Arcs of tiers whose cost rises by one from tier to tier: row, column, capacity and cost, (arcs,) int64 each.

    Parameters
    ----------
    tables : (rows, columns) int64 capacities. first : cost of the first tier.
    """
    kinds = [
        (*(at := np.nonzero(table)), table[at], np.full(len(at[0]), cost)) for cost, table in enumerate(tables, first)
    ]
    row, column, capacity, cost = (np.concatenate(column).astype(np.int64) for column in zip(*kinds, strict=True))
    return row, column, capacity, cost
