"""The flow network of some partitions, and back from its flow to the brokers of their replicas.

Which receivers a partition is offered where a rack may have several of its replicas.

There each receiver is an arc of its own in the flow (see `network`), and all partitions times all receivers soon are
too many. As long as they are not, all are offered. Otherwise each partition is offered some: brokers that lack
replicas, others evenly spread over the rack, each partition starting elsewhere, and whichever it asked for when prices
were known. That makes the flow a search among fewer placements, and the bound, which knows no offers, says whether any
is missed.

The flow network of some partitions, and back from its flow to where their replicas shall be.

    partition ──(least … most)──→ its share of a rack ──(home's cost)──→ the home's broker ──→ sink
        └─────────────┴──(away)──→ the rack's receivers ──→ any of them ──┘

A replica that comes from elsewhere may go to any receiver of the rack: all of a rack's newcomers are one pool, so that
there are some arcs a partition and not one to every broker. That is exact while a partition has one replica in the
rack. Where it may have more they must not meet on one broker, and it has an arc to each receiver that it is offered.

What a partition takes at least of each rack is sent on from the start, and so is what must be kept.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.flow import Network
from app.core.model import Int32s, Int64s
from app.core.reassignment.counts.places import Costs, Terms
from app.core.reassignment.model import NO_HOME, Problem

ALL = 600_000
"""As many offers are made without choosing."""
SOME = 8
"""How many brokers that lack replicas, and how many others, a partition is offered in a rack where not all are; as many
more as it can put there, so that there always is a place."""
_SCATTER = 2_654_435_761


@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """Pairs of a partition (an index into the rows of a network) and a receiver, each once.

    Parameters
    ----------
    row : (offers,) int64. broker : (offers,) int32.
    """

    row: Int64s
    broker: Int32s


def offers(problem: Problem, terms: Terms, rows: Int64s, *, lacking: NDArray[np.bool_], asked: Int64s) -> Offers:
    """What the partitions `rows` are offered.

    Parameters
    ----------
    lacking : (brokers,) bool, who has too few replicas. asked : partition times brokers plus broker, of each broker
        that a partition asked for.
    """
    brokers = len(problem.broker_ids)
    several = terms.most > 1
    sets, set_of = np.unique(terms.may_receive, axis=0, return_inverse=True)
    domain = problem.domain_of[rows]
    row_set = set_of.reshape(-1)[domain]
    offered = [np.empty(0, np.int64)]
    takers = [
        (
            np.flatnonzero((row_set == number) & several[domain, rack]),
            np.flatnonzero(receives & (problem.rack_of == rack)),
        )
        for number, receives in enumerate(sets)
        for rack in range(problem.racks)
    ]
    is_all = sum(len(taking) * len(receivers) for taking, receivers in takers) <= ALL
    for taking, receivers in takers:
        chosen = [receivers] if is_all else [receivers[lacking[receivers]], receivers]
        enough = len(receivers) if is_all else SOME + int(terms.most.max()) + problem.homes.shape[1]
        offered += [(taking[:, None] * brokers + _scattered(rows[taking], some, enough)).ravel() for some in chosen]
    offered.append(np.searchsorted(rows, asked // brokers) * brokers + asked % brokers)
    pairs = np.unique(np.concatenate(offered))
    row, broker = pairs // brokers, (pairs % brokers).astype(np.int32)
    own = (problem.homes[rows[row]] == broker[:, None]).any(axis=1) & terms.may_keep[domain[row], broker]
    fits = ~own & several[domain[row], problem.rack_of[broker]] & terms.may_receive[domain[row], broker]
    return Offers(row[fits], broker[fits])


def _scattered(rows: Int64s, receivers: Int64s, enough: int) -> Int64s:
    """(rows, at most `enough`) of the receivers, evenly spread; where a row starts hangs on its number alone."""
    if not len(receivers):
        return np.empty((len(rows), 0), np.int64)
    some = min(enough, len(receivers))
    steps = np.arange(some) * len(receivers) // some
    starts = (rows * _SCATTER >> 7) % len(receivers)
    return np.asarray(receivers[(starts[:, None] + steps) % len(receivers)], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """What brokers take in: on each, arcs to the sink that fill in the order of their costs.

    Parameters
    ----------
    demands : (brokers,) int64, what each has to take in besides.
    brokers, capacities, costs : (arcs,) int64.
    """

    demands: Int64s
    brokers: Int64s
    capacities: Int64s
    costs: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class PlacementNetwork:
    """The network of some partitions, and what its arcs stand for.

    Parameters
    ----------
    rows : (active,) int64 partitions. costs : (arcs,) int64.
    first_broker : the node of the first broker; the last node is the sink.
    """

    rows: Int64s
    flow: Network
    costs: Int64s
    first_broker: int
    _direct: slice
    """Arcs that lead to a broker: those of homes and of single receivers."""
    _pooled: slice
    _pools: slice
    _row_of: Int64s = field(repr=False)
    """(arcs,) int64 the partition that an arc is of, an index into `rows`; −1 where it is nobody's own."""

    def prices(self, potentials: Int64s, brokers: int) -> Int64s:
        """(brokers,) int64: what one more replica at each broker costs."""
        at = potentials[self.first_broker : self.first_broker + brokers]
        return np.asarray(potentials[-1] - at, np.int64)

    def places(self, amounts: Int64s, must_keep: Int32s, widest: int) -> Int32s:
        """(active, widest) int32: the brokers of each partition if so much flows, in no order, padded with −1."""
        heads = self.flow.heads
        direct = np.arange(self._direct.start, self._direct.stop)[amounts[self._direct] > 0]
        pooled = np.arange(self._pooled.start, self._pooled.stop)[amounts[self._pooled] > 0]
        # Those of a pool are alike, and so are the places that it leads to: they are handed out one by one.
        pooled = pooled[np.argsort(heads[pooled], kind="stable")]
        pools = np.arange(self._pools.start, self._pools.stop)
        pools = pools[np.argsort(self.flow.tails[pools], kind="stable")]
        to = np.repeat(heads[pools], amounts[pools])
        musts = np.flatnonzero(must_keep[self.rows] != NO_HOME)
        row = np.concatenate([musts, self._row_of[direct], self._row_of[pooled]])
        broker = np.concatenate(
            [must_keep[self.rows][musts], heads[direct] - self.first_broker, to - self.first_broker]
        )
        order = np.argsort(row, kind="stable")
        row, broker = row[order], broker[order]
        first = np.searchsorted(row, np.arange(len(self.rows)))
        found = np.full((len(self.rows), widest), NO_HOME, np.int32)
        found[row, np.arange(len(row)) - first[row]] = broker
        return found


@dataclass(slots=True)
class _Arcs:
    """Arcs as they are laid, kind after kind."""

    kinds: list[tuple[NDArray[np.int64], ...]] = field(default_factory=list)
    count: int = 0

    def lay(
        self, tails: Int64s, heads: Int64s, *, capacity: Int64s | int, cost: Int64s | int, row: Int64s | int = -1
    ) -> slice:
        """Lay arcs from tails to heads one by one; where they are."""
        columns = np.broadcast_arrays(tails, heads, capacity, cost, row)
        self.kinds.append(tuple(np.asarray(column, np.int64) for column in columns))
        self.count += len(columns[0])
        return slice(self.count - len(columns[0]), self.count)

    def joined(self) -> list[Int64s]:
        """The five columns."""
        return [np.concatenate(column) for column in zip(*self.kinds, strict=True)]


def placement_network(
    problem: Problem, terms: Terms, costs: Costs, rows: Int64s, room: Room, offered: Offers
) -> PlacementNetwork:
    """Build the network of the partitions `rows`, into brokers that take in what `room` says.

    Parameters
    ----------
    offered : receivers that are an arc of their own.
    """
    brokers, racks = len(problem.broker_ids), problem.racks
    domain = problem.domain_of[rows]
    need, least, most = terms.factor[domain], terms.least[domain], terms.most[domain]
    must = problem.must_keep[rows]
    kept = np.flatnonzero(must != NO_HOME)
    need[kept] -= 1
    for bounds in (least, most):
        bounds[kept, problem.rack_of[must[kept]]] -= 1
    least = np.maximum(least, 0)
    # A newcomer from the pool could meet what must be kept, where a rack has room for both.
    alone = terms.most[domain] == 1
    homes, home_cost = problem.homes[rows], costs.home[rows]
    is_home = (homes != NO_HOME) & (homes != must[:, None])
    is_home &= terms.may_keep[domain[:, None], homes]

    # A partition's share of a rack is a node of its own only where a pool alone would not do.
    in_rack = np.zeros((len(rows), racks), np.bool_)
    at_row, at_column = np.nonzero(is_home)
    in_rack[at_row, problem.rack_of[homes[at_row, at_column]]] = True
    shares = (in_rack | ~alone | (least > 0)) & (most > 0)
    share_row, share_rack = np.nonzero(shares)
    share_of = np.full((len(rows), racks), -1, np.int64)
    share_of[share_row, share_rack] = len(rows) + np.arange(len(share_row))
    sets, set_of = np.unique(terms.may_receive, axis=0, return_inverse=True)
    row_set = set_of.reshape(-1)[domain]
    first_pool = len(rows) + len(share_row)
    first_broker = first_pool + len(sets) * racks
    sink = first_broker + brokers
    pool_of = first_pool + row_set[:, None] * racks + np.arange(racks)

    arcs = _Arcs()
    lows, highs = least[share_row, share_rack], most[share_row, share_rack]
    arcs.lay(share_row, share_of[share_row, share_rack], capacity=highs - lows, cost=0)
    at_share = share_of[at_row, problem.rack_of[homes[at_row, at_column]]]
    usable = at_share >= 0
    at_row, at_column, at_share = at_row[usable], at_column[usable], at_share[usable]
    at_broker = first_broker + homes[at_row, at_column].astype(np.int64)
    direct = arcs.lay(at_share, at_broker, capacity=1, cost=home_cost[at_row, at_column], row=at_row)
    single = (must[offered.row] != offered.broker) & (share_of[offered.row, problem.rack_of[offered.broker]] >= 0)
    row, broker = offered.row[single], offered.broker[single]
    singles = arcs.lay(
        share_of[row, problem.rack_of[broker]],
        first_broker + broker.astype(np.int64),
        capacity=1,
        cost=costs.away[rows][row],
        row=row,
    )
    pool_row, pool_rack = np.nonzero(alone & (most > 0))
    from_share = share_of[pool_row, pool_rack]
    pooled = arcs.lay(
        np.where(from_share >= 0, from_share, pool_row),
        pool_of[pool_row, pool_rack],
        capacity=1,
        cost=costs.away[rows][pool_row],
        row=pool_row,
    )
    in_set, receiver = np.nonzero(sets)
    pools = arcs.lay(
        first_pool + in_set * racks + problem.rack_of[receiver], first_broker + receiver, capacity=len(rows), cost=0
    )
    arcs.lay(first_broker + room.brokers, np.full(len(room.brokers), sink), capacity=room.capacities, cost=room.costs)
    tails, heads, capacities, cost, row_of = arcs.joined()

    supplies = np.zeros(sink + 1, np.int64)
    supplies[: len(rows)] = need - least.sum(axis=1)
    supplies[share_of[share_row, share_rack]] = lows
    supplies[first_broker:sink] = -room.demands
    supplies[sink] = int(room.demands.sum()) - int(need.sum())
    return PlacementNetwork(
        rows=rows,
        flow=Network(supplies, tails.astype(np.int32), heads.astype(np.int32), capacities),
        costs=cost,
        first_broker=first_broker,
        _direct=slice(direct.start, singles.stop),
        _pooled=pooled,
        _pools=pools,
        _row_of=row_of,
    )
