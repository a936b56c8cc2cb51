"""The flow network of the active partitions, and back from its flow to the brokers of their replicas.

    partition ──(least … most)──→ its share of a rack ──(cost of a current broker)──→ that broker ──→ sink
        └─────────────┴──(cost of another)──→ pool of the rack's receivers ──→ any receiver ──┘

A moved replica may go to any receiver of the rack: all receivers of a rack are one pool, so that a partition has some
arcs and not one to every broker. That is exact while a partition has at most one replica in the rack. If it may have
more, two must not meet on one broker, so that each candidate receiver is an arc of its own.

Partitions times receivers can be too many arcs. Up to `ALL_CANDIDATES` all are candidates. Beyond that a partition's
candidates are underfull brokers, others evenly spread over the rack with a different start for each partition, and
every broker that pricing has requested for it. The flow then searches among fewer placements, and the lower bound,
which does not depend on candidates, shows whether an omitted one matters.

The minimum of each rack is sent from the start, and so is the replica of a broker that must keep it.

If topics are balanced as well, a *place* of a topic on a broker is a node of its own, between replicas and the broker,
and each topic has pools of its own. Otherwise the places are the brokers.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.flow import Network
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import BrokerBounds, MovementProblem
from app.core.reassignment.solvers.flow.places import PlaceCosts

ALL_CANDIDATES = 600_000
"""The largest number of pairs with which every receiver is a candidate."""
CANDIDATES_PER_RACK = 8
"""Underfull candidates, and others, of a partition in a rack if not all are; plus as many as it can have there, so that
a
feasible one always remains."""
_SCATTER = 2_654_435_761


@dataclass(frozen=True, slots=True, eq=False)
class CandidateReceivers:
    """Pairs of a partition (an index into the rows of a network) and a receiver, each once.

    Parameters
    ----------
    row : (pairs,) int64. broker : (pairs,) int32.
    """

    row: Int64s
    broker: Int32s


def candidate_receivers(
    problem: MovementProblem,
    rows: Int64s,
    *,
    underfull: Bools | None = None,
    requested: Int64s | None = None,
    most_pairs: int | None = None,
) -> CandidateReceivers:
    """Choose the receivers that are arcs of their own, for partitions that may have several replicas in a rack.

    Parameters
    ----------
    rows : (active,) int64 partitions.
    underfull : (brokers,) bool, brokers with too few replicas; None are none.
    requested : int64 partition · brokers + broker, of each broker that pricing has requested for a partition.
    most_pairs : up to as many pairs, every receiver is a candidate; None is `ALL_CANDIDATES`.
    """
    limit = ALL_CANDIDATES if most_pairs is None else most_pairs
    brokers, table = len(problem.broker_ids), problem.table
    several = table.most > 1
    sets, set_of = np.unique(table.may_receive, axis=0, return_inverse=True)
    domain = problem.domain_of[rows]
    row_set = set_of.reshape(-1)[domain]
    candidates = [np.empty(0, np.int64)]
    receivers_of_rows = [
        (
            np.flatnonzero((row_set == number) & several[domain, rack]),
            np.flatnonzero(receives & (problem.rack_of == rack)),
        )
        for number, receives in enumerate(sets)
        for rack in range(problem.racks)
    ]
    is_all = sum(len(rows_there) * len(receivers) for rows_there, receivers in receivers_of_rows) <= limit
    for rows_there, receivers in receivers_of_rows:
        chosen = [receivers] if is_all or underfull is None else [receivers[underfull[receivers]], receivers]
        enough = len(receivers) if is_all else CANDIDATES_PER_RACK + int(table.most.max()) + problem.current.shape[1]
        candidates += [
            (rows_there[:, None] * brokers + _scattered(rows[rows_there], some, enough)).ravel() for some in chosen
        ]
    if requested is not None:
        candidates.append(np.searchsorted(rows, requested // brokers) * brokers + requested % brokers)
    pairs = np.unique(np.concatenate(candidates))
    row, broker = pairs // brokers, (pairs % brokers).astype(np.int32)
    own = (problem.current[rows[row]] == broker[:, None]).any(axis=1) & table.may_keep[domain[row], broker]
    fits = ~own & several[domain[row], problem.rack_of[broker]] & table.may_receive[domain[row], broker]
    return CandidateReceivers(row[fits], broker[fits])


def _scattered(rows: Int64s, receivers: Int64s, enough: int) -> Int64s:
    """(rows, at most `enough`) of the receivers, evenly spread; the start depends on the number of the row alone."""
    if not len(receivers):
        return np.empty((len(rows), 0), np.int64)
    some = min(enough, len(receivers))
    steps = np.arange(some) * len(receivers) // some
    starts = (rows * _SCATTER >> 7) % len(receivers)
    return np.asarray(receivers[(starts[:, None] + steps) % len(receivers)], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class BrokerArcs:
    """What brokers take: arcs to the sink, which fill in the order of their costs.

    Parameters
    ----------
    demands : (brokers,) int64, what each has to take in addition.
    brokers, capacities, costs : (arcs,) int64.
    """

    demands: Int64s
    brokers: Int64s
    capacities: Int64s
    costs: Int64s


def band_capacity(problem: MovementProblem, band: BrokerBounds | None, frozen: Int64s, level: Int64s) -> BrokerArcs:
    """What the network may and must put on each broker so that its count is within bounds.

    Parameters
    ----------
    band : of bounded brokers; None has no bounds.
    frozen, level : (brokers,) int64 replicas that are no part of the network, and those on brokers before its flow.
    """
    low, high = np.zeros_like(frozen), np.full_like(frozen, len(problem.current) * problem.widest)
    if band is not None:
        low = np.where(problem.is_bounded, np.maximum(band.low - frozen, 0), 0)
        high = np.where(problem.is_bounded, np.maximum(band.high - frozen, low), high)
    return BrokerArcs(low - level, np.arange(len(frozen)), high - low, np.zeros_like(frozen))


def tiers(low: Int64s, high: Int64s, stock: Int64s, ends: Bools, everything: int) -> tuple[Int64s, Int64s, Int64s]:
    """How many more fit below a band, within it, and above it, where `stock` are. Shapes are those of the band.

    Parameters
    ----------
    ends : whether the band has an upper end, above which there is something. everything : more than there are.
    """
    above = np.where(ends, everything, 0)
    return np.maximum(low - stock, 0), np.maximum(high - np.maximum(stock, low), 0), above


@dataclass(frozen=True, slots=True, eq=False)
class TopicArcs:
    """What topics put on brokers: arcs from places to brokers, which fill in the order of their costs.

    Parameters
    ----------
    topics : their number. topic_of : (rows,) int64 of each partition of the problem.
    topic, broker, capacities, costs : (arcs,) int64.
    """

    topics: int
    topic_of: Int64s
    topic: Int64s
    broker: Int64s
    capacities: Int64s
    costs: Int64s


class PlacementNetwork:
    """The network of the active partitions into brokers of a given capacity, and the meaning of its arcs.

    Complexity: O(rows · (racks + widest) + candidates + brokers · sets of receivers).

    Parameters
    ----------
    problem : the partitions and their domains. rows : (active,) int64 partitions.
    capacity : what brokers take. candidates : receivers that are arcs of their own.
    topics : what topics put on brokers, if they are balanced.

    Attributes
    ----------
    fixed : (arcs,) int64 costs of the arcs that topics and brokers share.
    first_place, first_broker : the nodes of the first place and of the first broker; the last node is the sink.
    brokers : their number.
    """

    def __init__(
        self,
        problem: MovementProblem,
        rows: Int64s,
        capacity: BrokerArcs,
        candidates: CandidateReceivers,
        topics: TopicArcs | None = None,
    ) -> None:
        nodes, arcs = _Nodes(problem, rows, topics), _Arcs()
        self.rows, self.brokers = rows, len(problem.broker_ids)
        self.first_place, self.first_broker = nodes.first_place, nodes.first_broker
        has_share = nodes.share >= 0
        arcs.lay(np.nonzero(has_share)[0], nodes.share[has_share], capacity=(nodes.most - nodes.least)[has_share])
        # Arcs that end at a place: those of current brokers and of candidate receivers.
        self._direct = _lay_direct(arcs, nodes, problem, candidates)
        pool_row, pool_rack = np.nonzero(nodes.pool >= 0)
        from_share = nodes.share[pool_row, pool_rack]
        tail = np.where(from_share >= 0, from_share, pool_row)
        self._pooled = arcs.lay(tail, nodes.pool[pool_row, pool_rack], capacity=1, row=pool_row)
        group, receiver = np.nonzero(nodes.receivers)
        pool = nodes.first_pool + group * problem.racks + problem.rack_of[receiver]
        self._pools = arcs.lay(pool, nodes.place(nodes.topic_of_group[group], receiver), capacity=len(rows))
        if topics is not None:
            places, to = nodes.place(topics.topic, topics.broker), nodes.first_broker + topics.broker
            arcs.lay(places, to, capacity=topics.capacities, cost=topics.costs)
        arcs.lay(nodes.first_broker + capacity.brokers, nodes.sink, capacity=capacity.capacities, cost=capacity.costs)
        # The partition of an arc, an index into `rows`, or −1 if it is shared; and the column of its current broker,
        # or −1 if it leads to another broker.
        tails, heads, capacities, self.fixed, self._row_of, self._column_of = arcs.joined()
        supplies = nodes.supplies(capacity.demands)
        self.flow = Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities)

    def costs(self, costs: PlaceCosts) -> Int64s:
        """(arcs,) int64 costs of places; 0 of shared arcs."""
        of_rows, is_own = np.column_stack([costs.current[self.rows], costs.other[self.rows]]), self._row_of >= 0
        priced = np.zeros_like(self.fixed)
        # The column −1 is the last one: another broker.
        priced[is_own] = of_rows[self._row_of[is_own], self._column_of[is_own]]
        return priced

    def prices(self, potentials: Int64s) -> Int64s:
        """(brokers,) int64 dual price of one more replica at each broker."""
        at = potentials[self.first_broker : self.first_broker + self.brokers]
        return np.asarray(potentials[-1] - at, np.int64)

    def places(self, amounts: Int64s, must_keep: Int32s, widest: int) -> Int32s:
        """(active, widest) int32 brokers of each partition under a flow, unordered, padded with `NO_REPLICA`."""
        heads = self.flow.heads
        direct = np.arange(self._direct.start, self._direct.stop)[amounts[self._direct] > 0]
        pooled = np.arange(self._pooled.start, self._pooled.stop)[amounts[self._pooled] > 0]
        # The units of a pool are interchangeable, and so are its receivers: they are paired one by one.
        pooled = pooled[np.argsort(heads[pooled], kind="stable")]
        pools = np.arange(self._pools.start, self._pools.stop)
        pools = pools[np.argsort(self.flow.tails[pools], kind="stable")]
        to = np.repeat(heads[pools], amounts[pools])
        musts = np.flatnonzero(must_keep[self.rows] != NO_REPLICA)
        row = np.concatenate([musts, self._row_of[direct], self._row_of[pooled]])
        broker = np.concatenate(
            [
                must_keep[self.rows][musts],
                (heads[direct] - self.first_place) % self.brokers,
                (to - self.first_place) % self.brokers,
            ]
        )
        order = np.argsort(row, kind="stable")
        row, broker = row[order], broker[order]
        first = np.searchsorted(row, np.arange(len(self.rows)))
        brokers_of = np.full((len(self.rows), widest), NO_REPLICA, np.int32)
        brokers_of[row, np.arange(len(row)) - first[row]] = broker
        return brokers_of


@dataclass(slots=True)
class _Arcs:
    """Arcs, kind after kind."""

    kinds: list[tuple[NDArray[np.int64], ...]] = field(default_factory=list)
    count: int = 0

    def lay(
        self,
        tails: Int64s,
        heads: Int64s | int,
        *,
        capacity: Int64s | int,
        cost: Int64s | int = 0,
        row: Int64s | int = -1,
        column: Int64s | int = -1,
    ) -> slice:
        """Add arcs from tails to heads one by one; the slice of their indices."""
        columns = np.broadcast_arrays(tails, heads, capacity, cost, row, column)
        self.kinds.append(tuple(np.asarray(column, np.int64) for column in columns))
        self.count += len(columns[0])
        return slice(self.count - len(columns[0]), self.count)

    def joined(self) -> list[Int64s]:
        """The six columns of all arcs."""
        return [np.concatenate(column) for column in zip(*self.kinds, strict=True)]


class _Nodes:
    """The nodes, in this order: active partitions, shares of racks, pools of receivers by rack, places if there are
    topics, brokers, the sink.

    Parameters
    ----------
    rows : (active,) int64 partitions. need : (active,) int64 replicas that are not pinned.
    least, most : (active, racks) int64 bounds of those in each rack.
    is_current : (active, widest) bool, current brokers that a replica may stay on, the pinned one apart.
    share : (active, racks) int64 node of the partition's share of the rack; -1 if it needs none.
    pool : (active, racks) int64 node of the pool; -1 if the rack may have several replicas of the partition, of which
        two could meet on a broker, or none.
    receivers : (groups, brokers) bool, the distinct sets of receivers (of each topic), each with a pool in every rack.
    topic_of_group : (groups,) int64. topic_of : (active,) int64; 0 without topics.
    first_pool, first_place, first_broker, sink : nodes.
    """

    def __init__(self, problem: MovementProblem, rows: Int64s, topics: TopicArcs | None) -> None:
        table, racks, domain = problem.table, problem.racks, problem.domain_of[rows]
        need, least, most = table.factor[domain], table.least[domain], table.most[domain]
        current, must = problem.current[rows], problem.must_keep[rows]
        pinned = np.flatnonzero(must != NO_REPLICA)
        need[pinned] -= 1
        for bounds in (least, most):
            bounds[pinned, problem.rack_of[must[pinned]]] -= 1
        self.rows, self.need, self.least, self.most = rows, need, np.maximum(least, 0), most
        may_keep = (current != must[:, None]) & table.may_keep[domain[:, None], current]
        self.is_current = (current != NO_REPLICA) & may_keep
        in_rack = np.zeros((len(rows), racks), np.bool_)
        at_row, at_column = np.nonzero(self.is_current)
        in_rack[at_row, problem.rack_of[current[at_row, at_column]]] = True
        # A replica from the pool could meet the pinned one if the rack may have both.
        is_alone = table.most[domain] == 1
        # A partition's share of a rack is a node only if the pool alone is not enough.
        has_share = (in_rack | ~is_alone | (least > 0)) & (most > 0)
        self.share = np.full((len(rows), racks), -1, np.int64)
        self.share[has_share] = len(rows) + np.arange(np.count_nonzero(has_share))
        self.first_pool = len(rows) + int(np.count_nonzero(has_share))
        sets, set_of = np.unique(table.may_receive, axis=0, return_inverse=True)
        number = 1 if topics is None else topics.topics
        self.topic_of = np.zeros(len(rows), np.int64) if topics is None else topics.topic_of[rows]
        groups, group_of = np.unique(set_of.reshape(-1)[domain] * number + self.topic_of, return_inverse=True)
        self.receivers, self.topic_of_group = sets[groups // number], groups % number
        self.pool = self.first_pool + group_of.reshape(-1)[:, None] * racks + np.arange(racks)
        self.pool[~is_alone | (most <= 0)] = -1
        self.first_place, brokers = self.first_pool + len(groups) * racks, len(problem.broker_ids)
        self.first_broker = self.first_place + (0 if topics is None else number * brokers)
        self.sink = self.first_broker + brokers

    def place(self, topic: Int64s, broker: Int64s) -> Int64s:
        """(n,) int64 node of each topic on a broker; that of the broker without topics."""
        return np.asarray(self.first_place + topic * self.receivers.shape[1] + broker, np.int64)

    def supplies(self, demands: Int64s) -> Int64s:
        """(nodes,) int64, with the minimum of each rack at its share, and what brokers have to take."""
        supplies = np.zeros(self.sink + 1, np.int64)
        supplies[: len(self.rows)] = self.need - self.least.sum(axis=1)
        has_share = self.share >= 0
        supplies[self.share[has_share]] = self.least[has_share]
        supplies[self.first_broker : self.sink] = -demands
        supplies[self.sink] = int(demands.sum()) - int(self.need.sum())
        return supplies


def _lay_direct(arcs: _Arcs, nodes: _Nodes, problem: MovementProblem, candidates: CandidateReceivers) -> slice:
    """Arcs from shares of racks to current brokers there, then to candidate receivers."""
    row, column = np.nonzero(nodes.is_current)
    is_free = problem.must_keep[nodes.rows][candidates.row] != candidates.broker
    broker = np.append(problem.current[nodes.rows][row, column], candidates.broker[is_free]).astype(np.int64)
    row, column = np.append(row, candidates.row[is_free]), np.append(column, np.full(np.count_nonzero(is_free), -1))
    share = nodes.share[row, problem.rack_of[broker]]
    usable = share >= 0
    place = nodes.place(nodes.topic_of[row[usable]], broker[usable])
    return arcs.lay(share[usable], place, capacity=1, row=row[usable], column=column[usable])
