"""Replicas balanced per topic and over the whole cluster: the least movement, exact, with its certificate.

A replica passes the capacity of its topic on a broker, and that of the broker. So the bands of topics and the band of
the cluster hold together, and the placement still is a minimum-cost flow (`topic_network`).

Hard constraints: those of `least_movement`, the band of the cluster included. Goals, in lexicographic order, each
reached exactly:

1. the least excess: by how many replicas topics are outside their bands, over all bounded brokers. It is 0 if the bands
   of all topics can hold together with the band of the cluster;
2. the least weight moved, then the fewest replicas, then the fewest replicas in sync that are not kept.

The dual solution of the flow proves the optimum. If the deadline passes before movement is minimised, the bound counts
each topic in each rack on its own.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import floor

import numpy as np

from app.core.flow import InfeasibleFlow, min_cost_flow
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.model import (
    UNLIMITED,
    Balance,
    Band,
    BrokerBounds,
    Deadline,
    MovementProblem,
    ReplicaPlacement,
    band_around,
)
from app.core.reassignment.solvers.flow.least_movement import never, placed
from app.core.reassignment.solvers.flow.levels import narrowest_levels
from app.core.reassignment.solvers.flow.network import CandidateReceivers, candidate_receivers
from app.core.reassignment.solvers.flow.places import movement_costs
from app.core.reassignment.solvers.flow.topic_network import TopicBands, TopicNetwork, TopicPlaces
from app.core.reassignment.solvers.flow.within_band import scaled_costs, tie_costs
from app.core.replica_lists import per_group, sums_by

LARGEST_PAIRS = 4_000_000
"""Partitions that may have several replicas in a rack, times its receivers: each pair is an arc."""


class TooManyPairs(Exception):
    """More than `limit` pairs of a partition and a receiver."""

    def __init__(self, pairs: int, limit: int) -> None:
        super().__init__(f"{pairs} pairs; {limit} at most")
        self.pairs, self.limit = pairs, limit


@dataclass(frozen=True, slots=True, eq=False)
class TopicBalance:
    """The balance of each topic over the bounded brokers.

    Parameters
    ----------
    topic_of : (rows,) int64 of each partition. topics : their number.
    tolerance : of each topic's mean on the brokers of a rack; 0 is *tight*, which is the two whole numbers around the
        mean. None has no band.
    """

    topic_of: Int64s = field(repr=False)
    topics: int
    tolerance: Sequence[Fraction | None]

    def bands(self, problem: MovementProblem) -> tuple[Int64s, Int64s]:
        """(topics, brokers) int64 twice: the fewest and the most replicas of each topic on a bounded broker.

        A topic's mean on the brokers of a rack is the rack's share of its replicas over the brokers that share them, in
        proportion to their weights. The shares of racks are those that leave brokers the most alike, within what its
        partitions may have in each rack. A broker that may not receive shares the replicas if it has more than the
        mean; else it keeps its own up to the floor of the others, which share the rest.
        """
        table, topics, racks, bounded = problem.table, self.topics, problem.racks, problem.is_bounded
        totals = sums_by(self.topic_of, problem.factors, topics)
        least, most = np.zeros((topics, racks), np.int64), np.zeros((topics, racks), np.int64)
        np.add.at(least, self.topic_of, table.least[problem.domain_of])
        np.add.at(most, self.topic_of, table.most[problem.domain_of])
        weight = np.ones(len(problem.base), np.int64) if problem.share is None else problem.share
        # Brokers of one rack and weight have the same band.
        alike, of_broker = np.unique(np.column_stack([problem.rack_of, weight]), axis=0, return_inverse=True)
        shares = _Shares(racks, bounded, tuple(map(tuple, alike.tolist())), of_broker.reshape(-1))
        kept = self._kept(problem, bounded & ~table.may_receive.any(axis=0))
        low, high = np.zeros((topics, len(bounded)), np.int64), np.full((topics, len(bounded)), UNLIMITED)
        for topic, tolerance in enumerate(self.tolerance):
            sharing, means = shares.of(int(totals[topic]), least[topic], most[topic], kept[topic])
            of_means = [shares.band(mean, tolerance) for mean in means]
            bands = np.array([(band.low, band.high) for band in of_means], np.int64)[shares.of_broker]
            floors = np.where(sharing, bands[:, 0], np.minimum(bands[:, 0], kept[topic]))
            low[topic, bounded], high[topic, bounded] = floors[bounded], bands[bounded, 1]
        return low, high

    def _kept(self, problem: MovementProblem, closed: Bools) -> Int64s:
        """(topics, brokers) int64: what closed brokers may keep of each topic; `UNLIMITED` of the other brokers."""
        stays = problem.may_stay & closed[problem.current]
        kept = self.table(np.where(stays, problem.current, NO_REPLICA), len(closed))
        return np.where(closed, kept, UNLIMITED)

    def grouped(self, problem: MovementProblem) -> TopicBands:
        """The bands, with all topics that have none as one."""
        low, high = self.bands(problem)
        has_band = np.array([tolerance is not None for tolerance in self.tolerance], np.bool_)
        group = np.where(has_band, np.cumsum(has_band) - 1, np.count_nonzero(has_band))
        without = np.full((1, low.shape[1]), UNLIMITED)
        return TopicBands(
            group[self.topic_of], np.vstack([low[has_band], 0 * without]), np.vstack([high[has_band], without])
        )

    def table(self, replicas: Int32s, brokers: int) -> Int64s:
        """(topics, brokers) int64: the replicas of each topic on each broker."""
        return per_group(self.topic_of, replicas, self.topics, brokers)

    def excess(self, problem: MovementProblem, replicas: Int32s) -> int:
        """By how many replicas topics are outside their bands."""
        low, high = self.bands(problem)
        table = self.table(replicas, len(problem.base))
        return int(np.maximum(low - table, 0).sum() + np.maximum(table - high, 0).sum())


def balance_topics(
    problem: MovementProblem, balance: Balance, topics: TopicBalance, *, is_over: Deadline = never
) -> ReplicaPlacement:
    """Minimise the movement that brings each topic within its band, together with the band of the cluster.

    Complexity: two or three minimum-cost flows over topics in racks and brokers, with at most an arc for each topic on
    each broker if all bands can hold, and one for each replica if not; partitions without slots are nodes besides.

    Parameters
    ----------
    problem : the partitions and their eligible brokers.
    balance : of the whole cluster; `KEEP` has no band.
    topics : the balance of each topic.
    is_over : whether the deadline has passed; then the best placement so far is returned, with its gap.

    Raises
    ------
    InfeasibleFlow : no legal placement exists. TooManyPairs : the network would be too large.

    Examples
    --------
    Two topics, each on one of two brokers; one partition of each changes places, the lightest.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from app.core.reassignment.model import Domain, MovementProblem, TIGHT
    >>> from app.core.reassignment.solvers.flow.per_topic import TopicBalance, balance_topics
    >>> every, one = np.ones(2, bool), np.ones(1, np.int64)
    >>> problem = MovementProblem(
    ...     broker_ids=np.array([0, 1], np.int32), rack_of=np.zeros(2, np.int32), target=every,
    ...     base=np.zeros(2, np.int64), domains=(Domain(1, every, every, one, one),), domain_of=np.zeros(4, np.int32),
    ...     current=np.array([[0], [0], [1], [1]], np.int32), is_copied=np.zeros((4, 1), bool),
    ...     must_keep=np.full(4, -1, np.int32), weight=np.array([5, 3, 4, 7]))
    >>> topics = TopicBalance(np.array([0, 0, 1, 1]), 2, [Fraction(0), Fraction(0)])
    >>> placement = balance_topics(problem, TIGHT, topics)
    >>> placement.replicas.ravel().tolist(), placement.moved, placement.topic_excess
    ([0, 1, 0, 1], 7, 0)
    """
    bounds = None if balance.tolerance is None else narrowest_levels(problem).bounds(balance)
    replicas, bound = _least(problem, bounds, topics, is_over)
    return placed(problem, replicas, bound, bounds, topic_excess=topics.excess(problem, replicas))


def _least(
    problem: MovementProblem, within: BrokerBounds | None, topics: TopicBalance, is_over: Deadline
) -> tuple[Int32s, int]:
    """(rows, widest) int32 placement, unordered, and a lower bound on the weight moved with its excess.

    The bands of topics are hard at first, which leaves a small network; if they cannot hold, their excess is minimised.
    """
    places = TopicPlaces(problem, topics.grouped(problem))
    candidates = _all_candidates(problem, places.rows)
    with suppress(InfeasibleFlow):
        network = TopicNetwork(places, within, candidates, is_hard=True)
        replicas, bound = _solved(problem, network, is_over)
        if not network.excess.any() or not topics.excess(problem, replicas):
            return replicas, bound
    return _solved(problem, TopicNetwork(places, within, candidates, is_hard=False), is_over)


def _solved(problem: MovementProblem, network: TopicNetwork, is_over: Deadline) -> tuple[Int32s, int]:
    """As `_least`. A flow of the least excess is soon found; it is the answer if the deadline passes meanwhile."""
    movement = movement_costs(problem)
    costs, scale, unit = scaled_costs(problem, movement)
    goals = [network.excess, network.costs(costs)]
    if scale == 1:
        goals.append(network.costs(tie_costs(problem)))
    flow = min_cost_flow(network.flow, goals, is_over=is_over)
    bound = network.least_by_topic(movement)
    if len(flow.costs) > 1:
        bound = (flow.lower_bounds[1] + network.constant(costs)) // scale * unit
    return network.places(flow.amounts), bound


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """The brokers that share the replicas of a topic, and their means.

    Parameters
    ----------
    bounded : (brokers,) bool. alike : the distinct racks and weights. of_broker : (brokers,) int64 indices in `alike`.
    """

    racks: int
    bounded: Bools
    alike: tuple[tuple[int, int], ...]
    of_broker: Int64s
    means: Callable[..., list[Fraction]] = field(default_factory=lambda: cache(_rack_means))
    band: Callable[[Fraction, Fraction | None], Band] = field(default_factory=lambda: cache(band_around))

    def of(self, total: int, least: Int64s, most: Int64s, kept: Int64s) -> tuple[Bools, list[Fraction]]:
        """(brokers,) bool, the brokers that share, and the mean on each kind of broker in `alike`.

        Parameters
        ----------
        total : replicas. least, most : (racks,) int64. kept : (brokers,) int64 as of `TopicBalance`.
        """
        rack_of, weight = np.array(self.alike, np.int64).reshape(-1, 2)[self.of_broker].T
        sharing = self.bounded
        while True:
            apart = self.bounded & ~sharing
            sizes = sums_by(rack_of[sharing], weight[sharing], self.racks)
            inside = sums_by(rack_of[apart], kept[apart], self.racks)
            ends = (tuple(np.maximum(bounds - inside, 0).tolist()) for bounds in (least, most))
            of_rack = self.means(tuple(sizes.tolist()), max(0, total - int(inside.sum())), *ends)
            means = [of_rack[rack] * weight for rack, weight in self.alike]
            is_below = kept <= np.array([floor(mean) for mean in means], np.int64)[self.of_broker]
            if not (sharing & is_below).any():
                return sharing, means
            sharing = sharing & ~is_below


def _rack_means(sizes: Sequence[int], total: int, least: Sequence[int], most: Sequence[int]) -> list[Fraction]:
    """The mean of a topic on a broker of weight 1 of each rack: one level, within the bounds of the racks.

    Parameters
    ----------
    sizes : the sum of the weights of the sharing brokers of each rack. total : replicas. least, most : of each rack.
    """

    def placed(level: Fraction) -> Fraction:
        return sum((_share(level, *rack) for rack in racks), Fraction(0))

    racks = [(size, low, max(low, high)) for size, low, high in zip(sizes, least, most, strict=True) if size]
    ends = sorted({Fraction(bound, size) for size, *bounds in racks for bound in bounds})
    below = max((end for end in ends if placed(end) <= total), default=Fraction(0))
    free = sum(size for size, low, high in racks if low <= below * size < high)
    level = below + (Fraction(total) - placed(below)) / free if free and placed(below) < total else below
    bounded = zip(sizes, least, most, strict=True)
    return [_share(level, size, low, max(low, high)) / size if size else level for size, low, high in bounded]


def _share(level: Fraction, size: int, least: int, most: int) -> Fraction:
    """The replicas of a rack whose brokers have this number for a unit of weight, within its bounds."""
    return min(max(level * size, Fraction(least)), Fraction(most))


def _all_candidates(problem: MovementProblem, rows: Int64s) -> CandidateReceivers:
    """Every receiver of a rack that may have several replicas of a partition. Raises `TooManyPairs`."""
    table, racks = problem.table, problem.racks
    receivers = np.zeros((len(problem.domains), racks), np.int64)
    for domain, receives in enumerate(table.may_receive):
        receivers[domain] = np.bincount(problem.rack_of[receives], minlength=racks)
    pairs = int(((table.most > 1) * receivers)[problem.domain_of].sum())
    if pairs > LARGEST_PAIRS:
        raise TooManyPairs(pairs, LARGEST_PAIRS)
    return candidate_receivers(problem, rows, most_pairs=LARGEST_PAIRS)
