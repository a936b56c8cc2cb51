"""Destinations of moved replicas: of placements that move the same, one with balanced bytes and topics.

The least movement determines how much moves, and seldom to where: the moved replicas of a rack may exchange their
destinations at no cost. So after the exact solution a local search changes the destinations of moved replicas alone.
Nothing else moves, each broker's count stays within the band, and the certificate of the movement holds as it is.

With `keep` there is no band. A broker's count then differs by at most `COUNT_TOLERANCE` of the mean from the fairest
count, and by nothing from the smallest and the largest count of all.

Goals, in this order:

1. bytes: the least sum of squares of the brokers' bytes;
2. topics: the least sum of cubes of the replicas that a broker has of a topic, so that large numbers count most; a
   broker's bytes differ by at most `BYTES_TOLERANCE` of the mean from those of the first goal, and the smallest and the
   largest broker are at most `EXTREMES_TOLERANCE` of the mean worse;
3. bytes again, while no topic is less spread.

The search is a heuristic without a bound, deterministic, and ends after a fixed amount of work.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import Int32s, Int64s
from app.core.reassignment.model import MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow import destinations_kernel as kernel
from app.core.reassignment.solvers.flow.places import counts, in_order, moved_weight, place_rules
from app.core.replica_lists import not_among, per_broker, per_group

COUNT_TOLERANCE = 10
"""With `keep`, counts differ from the fairest ones by the mean divided by this number."""
BYTES_TOLERANCE = 20
"""For the spread of topics, bytes of a broker differ by the mean divided by this number."""
EXTREMES_TOLERANCE = 128
"""For the spread of topics, the smallest and the largest broker are worse by the mean divided by this number."""
WORK = 1_500_000
"""Exchanges that each goal looks at, at most: some 0.25 s."""
MAX_PASSES = 24
SMALLEST_DEPTH = 2
"""Moved replicas of a broker with which an exchange is looked at in a pass, if there are too many to look at all."""
LARGEST_TABLE = 1 << 26
"""Topics times brokers whose replicas are counted; if there are more, topics with few moved replicas do not count."""
_UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class TieBreaks:
    """What decides between placements that move the same.

    Parameters
    ----------
    size_bytes : (rows,) int64 >= 0 of one replica; 0 if unknown.
    base_bytes : (brokers,) int64 of replicas outside the problem.
    topic_of : (rows,) int64 >= 0 index of the partition's topic.
    """

    size_bytes: Int64s = field(repr=False)
    base_bytes: Int64s = field(repr=False)
    topic_of: Int64s = field(repr=False)


def spread_destinations(problem: MovementProblem, placement: ReplicaPlacement, ties: TieBreaks) -> ReplicaPlacement:
    """Change the destinations of moved replicas so that bytes and topics are balanced, at no additional movement.

    Hard constraints: those of `least_movement`, and the same replicas move. Goals: see the module.

    Complexity: O(`WORK`), compiled.

    Parameters
    ----------
    problem, placement : the problem and its least movement.
    ties : what the destinations are chosen by.

    Raises
    ------
    RuntimeError : the movement has changed, which is an error of this module.

    Examples
    --------
    Broker 2 is removed. Its four replicas go to brokers 0 and 1, which have as many bytes each afterwards.

    >>> import numpy as np
    >>> from app.core.reassignment.solvers.flow.destinations import spread_destinations
    >>> from app.core.reassignment.model import Domain, KEEP, MovementProblem
    >>> from app.core.reassignment.solvers.flow.destinations import TieBreaks
    >>> from app.core.reassignment.solvers.flow.least_movement import least_movement
    >>> stays, one = np.array([True, True, False]), np.ones(1, np.int64)
    >>> problem = MovementProblem(
    ...     broker_ids=np.array([0, 1, 2], np.int32), rack_of=np.zeros(3, np.int32), target=stays,
    ...     base=np.zeros(3, np.int64), domains=(Domain(1, stays, stays, one, one),), domain_of=np.zeros(6, np.int32),
    ...     current=np.array([[0], [1], [2], [2], [2], [2]], np.int32), is_copied=np.zeros((6, 1), bool),
    ...     must_keep=np.full(6, -1, np.int32), weight=np.array([2, 2, 1, 5, 6, 2]))
    >>> ties = TieBreaks(problem.weight, np.zeros(3, np.int64), np.zeros(6, np.int64))
    >>> placement = spread_destinations(problem, least_movement(problem, KEEP), ties)
    >>> np.bincount(placement.replicas.ravel(), problem.weight, 3).tolist(), placement.moved
    ([9.0, 9.0, 0.0], 14)
    """
    at = placement.replicas.copy()
    row, column = np.nonzero(not_among(at, problem.current) & np.append(problem.target, False)[at])
    if not len(row):
        return placement
    number, of_topic = _topic_table(problem, at, row, ties.topic_of)
    moved = _moved_replicas(problem, at, row, column, ties.size_bytes, number[row])
    rules, targets, placed = place_rules(problem), _targets(problem), _occupancy(problem, placement, at, of_topic, ties)
    largest_first = np.argsort(-moved.size, kind="stable")
    depth = max(SMALLEST_DEPTH, WORK // (MAX_PASSES * kernel.BREADTH * len(row)))
    goals = [kernel.BYTES, kernel.TOPICS, kernel.BYTES_WITHIN_TOPICS] if moved.size.any() else [kernel.TOPICS]
    for goal in goals:
        if goal == kernel.TOPICS:
            _limit_bytes(problem, placed)
        kernel.exchange(rules, targets, moved, placed, largest_first, goal, depth, MAX_PASSES, WORK)
    if moved_weight(problem, at) != placement.moved:
        raise RuntimeError(f"{moved_weight(problem, at)} is moved, not {placement.moved}")
    return replace(placement, replicas=in_order(problem, at))


def _targets(problem: MovementProblem) -> kernel.Targets:
    targets = np.flatnonzero(problem.target)
    by_rack = targets[np.argsort(problem.rack_of[targets], kind="stable")]
    first = np.searchsorted(problem.rack_of[by_rack], np.arange(problem.racks + 1))
    return kernel.Targets(by_rack, first.astype(np.int64))


def _moved_replicas(
    problem: MovementProblem, at: Int32s, row: Int64s, column: Int64s, size_bytes: Int64s, topic: Int64s
) -> kernel.MovedReplicas:
    """The replicas at these places, (moved,) int64 each, as circular lists by broker."""
    broker = at[row, column]
    order = np.argsort(broker, kind="stable")
    starts = np.flatnonzero(np.diff(broker[order], prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    following, preceding = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    following[order], preceding[order] = np.roll(order, -1), np.roll(order, 1)
    following[order[ends]], preceding[order[starts]] = order[starts], order[ends]
    first = np.full(len(problem.broker_ids), kernel.NONE, np.int64)
    first[broker[order[starts]]] = order[starts]
    return kernel.MovedReplicas(
        row.astype(np.int64), column.astype(np.int64), size_bytes[row], topic, following, preceding, first
    )


def _topic_table(problem: MovementProblem, at: Int32s, moved_rows: Int64s, topic_of: Int64s) -> tuple[Int64s, Int32s]:
    """(rows,) int64 index of each row's topic in the table, or `NONE`; (topics, brokers) int32 replicas.

    In the table are the topics with moved replicas, those with the most if there are too many.
    """
    moved = np.bincount(topic_of[moved_rows], minlength=int(topic_of.max(initial=-1)) + 1)
    counted = np.argsort(-moved, kind="stable")[: min(int(np.count_nonzero(moved)), LARGEST_TABLE // len(problem.base))]
    number = np.full(len(moved), kernel.NONE, np.int64)
    number[counted] = np.arange(len(counted))
    topic = number[topic_of]
    is_counted = topic != kernel.NONE
    of_topic = per_group(topic[is_counted], at[is_counted], len(counted), len(problem.base))
    return topic, of_topic.astype(np.int32)


def _occupancy(
    problem: MovementProblem, placement: ReplicaPlacement, at: Int32s, of_topic: Int32s, ties: TieBreaks
) -> kernel.Occupancy:
    on_each = counts(problem, at)
    low, high = _count_bounds(problem, placement, on_each)
    brokers = len(on_each)
    return kernel.Occupancy(
        at=at,
        counts=on_each,
        count_low=low,
        count_high=high,
        loads=ties.base_bytes + per_broker(at, brokers, ties.size_bytes),
        load_low=np.full(brokers, -_UNLIMITED),
        load_high=np.full(brokers, _UNLIMITED),
        of_topic=of_topic,
    )


def _count_bounds(problem: MovementProblem, placement: ReplicaPlacement, on_each: Int64s) -> tuple[Int64s, Int64s]:
    """(brokers,) int64 twice: the fewest and the most replicas that a broker may have."""
    if placement.band is not None:
        # If the deadline passed before the band was reached, what is outside gets no farther from it.
        return np.minimum(on_each, placement.band.low), np.maximum(on_each, placement.band.high)
    of_targets = on_each[problem.target]
    farthest = int(of_targets.sum()) // (len(of_targets) * COUNT_TOLERANCE)
    return (
        np.maximum(on_each - farthest, np.minimum(on_each, of_targets.min())),
        np.minimum(on_each + farthest, np.maximum(on_each, of_targets.max())),
    )


def _limit_bytes(problem: MovementProblem, placed: kernel.Occupancy) -> None:
    """Set the bounds of bytes around what each broker has."""
    of_targets = placed.loads[problem.target]
    mean = int(of_targets.sum()) // len(of_targets)
    smallest, largest = of_targets.min() - mean // EXTREMES_TOLERANCE, of_targets.max() + mean // EXTREMES_TOLERANCE
    farthest = mean // BYTES_TOLERANCE
    placed.load_low[:] = np.minimum(placed.loads, np.maximum(placed.loads - farthest, smallest))
    placed.load_high[:] = np.maximum(placed.loads, np.minimum(placed.loads + farthest, largest))
