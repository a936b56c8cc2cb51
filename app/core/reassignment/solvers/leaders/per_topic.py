"""Leaders by count with bands of topics: the brokers lead alike many partitions of each topic, and of all.

A topic on a broker is a node of a flow, between the partitions and the broker. Minimums of topics are lower bounds of
these nodes, and the band of the cluster bounds the brokers. Goals, in lexicographic order, each reached exactly:

1. the least excess: by how many leaders topics are outside their bands, over all target brokers;
2. the fewest changes, then the fewest leaders on new replicas.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from app.core.flow import InfeasibleFlow, Network, min_cost_flow
from app.core.model import NO_LEADER, Bools, Int32s, Int64s
from app.core.reassignment.model import UNLIMITED, band_around
from app.core.reassignment.solvers.flow.network import tiers
from app.core.reassignment.solvers.leaders.problem import LeaderProblem, LeaderTopics
from app.core.replica_lists import sums_by


def topic_bands(
    totals: Int64s, tolerance: Sequence[Fraction | None], target: Bools, pinned: Int64s, share: Int64s | None = None
) -> tuple[Int64s, Int64s]:
    """(topics, brokers) int64 twice: the fewest and the most leaders of each topic on a broker, besides pinned ones.

    Parameters
    ----------
    totals : (topics,) int64 partitions with a leader. tolerance : of each topic's mean; None has no band.
    target : (brokers,) bool, the brokers that have a band. pinned : (topics, brokers) int64 leaders that are given.
    share : (brokers,) int64 weights, in proportion to which brokers have the mean; None is the same for all.
    """
    weights, of_broker = np.unique(np.ones(len(target), np.int64) if share is None else share, return_inverse=True)
    number = max(1, int(weights[of_broker][target].sum()))
    band_of = cache(band_around)
    bands = [
        [band_of(Fraction(total * weight, number), most) for weight in weights.tolist()]
        for total, most in zip(totals.tolist(), tolerance, strict=True)
    ]
    ends = np.array([[(band.low, band.high) for band in row] for row in bands], np.int64)
    low, high = (ends.reshape(len(bands), len(weights), 2)[:, of_broker.reshape(-1), end] - pinned for end in (0, 1))
    return np.where(target, np.maximum(low, 0), 0), np.where(target, np.maximum(high, 0), UNLIMITED)


def with_topics(
    problem: LeaderProblem, topics: LeaderTopics, costs: Int32s, low: Int64s, high: Int64s
) -> tuple[Int32s, int]:
    """Choose the leaders within bounds of the brokers, which have to be feasible.

    Returns (rows,) int32 leaders with the least excess of topics, then the least cost; the lower bound on that cost.

    Complexity: two minimum-cost flows over rows, their candidates and the topics on brokers.

    Parameters
    ----------
    costs : (rows, width) int32 as of `change_costs`. low, high : (brokers,) int64 bounds of loads without `base`.

    Raises
    ------
    InfeasibleFlow : the bounds or the minimums of topics cannot hold.
    """
    rows, brokers = len(problem.leader), len(problem.base)
    is_led = (costs >= 0).any(axis=1)
    row, column = np.nonzero(costs >= 0)
    broker = problem.replicas[row, column].astype(np.int64)
    group, bands = _groups(problem, topics)
    # The last group has neither bands nor minimums: its partitions go to brokers at once.
    is_free = group[row] == len(bands[0])
    cells, place = np.unique(group[row][~is_free] * brokers + broker[~is_free], return_inverse=True)
    least, *more = (each.ravel()[cells] for each in bands)
    if least.sum() < bands[0].sum():
        raise InfeasibleFlow
    low, high = np.maximum(low, 0), np.maximum(high, np.maximum(low, 0))
    supplies = np.concatenate([is_led, -least, sums_by(cells % brokers, least, brokers) - low])
    of_cells, of_brokers = rows + np.arange(len(cells)), rows + len(cells) + np.arange(brokers)
    heads = of_brokers[broker]
    heads[~is_free] = of_cells[place.reshape(-1)]
    network = Network(
        np.append(supplies, -supplies.sum()),
        np.concatenate([row, *[of_cells] * 3, of_brokers]).astype(np.int32),
        np.concatenate([heads, *[of_brokers[cells % brokers]] * 3, np.full(brokers, len(supplies))]).astype(np.int32),
        np.concatenate([np.ones(len(row), np.int64), *more, high - low]).astype(np.int64),
    )
    rest, nothing = np.zeros(brokers, np.int64), np.zeros(len(cells), np.int64)
    excess = np.concatenate([np.zeros(len(row), np.int64), nothing, nothing + 1, nothing + 2, rest])
    changes = np.concatenate([costs[row, column].astype(np.int64), nothing, nothing, nothing, rest])
    flow = min_cost_flow(network, [excess, changes])
    leaders = np.full(rows, NO_LEADER, np.int32)
    is_chosen = flow.amounts[: len(row)] > 0
    leaders[row[is_chosen]] = broker[is_chosen]
    return leaders, flow.lower_bounds[1]


def _groups(problem: LeaderProblem, topics: LeaderTopics) -> tuple[Int64s, tuple[Int64s, ...]]:
    """(rows,) int64 group of each row: its topic with a band and its topic with a minimum; and what groups may have:
    (groups, brokers) int64 leaders that are required, then below the band, within it and above it.
    """
    rows, brokers = len(problem.leader), len(problem.base)
    of_minimum = np.full(rows, -1, np.int64) if problem.minimums is None else problem.minimums.topic.astype(np.int64)
    pair = (topics.topic + 1) * (int(of_minimum.max(initial=-1)) + 2) + of_minimum + 1
    pairs, first, group = np.unique(pair, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    if len(pairs) and pairs[0] == 0:
        group = np.where(group == 0, len(pairs), group) - 1
        pairs, first = pairs[1:], first[1:]
    everything, nothing = rows + 1, np.zeros((1, brokers), np.int64)
    # The index −1 is of the last row: no band, no minimum.
    low = np.vstack([topics.low, nothing])[topics.topic[first]]
    high = np.minimum(np.vstack([topics.high, nothing + everything])[topics.topic[first]], everything)
    minimums = nothing if problem.minimums is None else np.vstack([problem.minimums.low, nothing])
    least = minimums[of_minimum[first]]
    return group, (least, *tiers(low, high, least, high < everything, everything))
