"""The consumers of all intervals, and other choices between fewer consumers and less movement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heapreplace
from itertools import product

import numpy as np

from app.core.consumers.exact import Effort, assigned
from app.core.consumers.model import NO_CONSUMER, ConsumersProblem, Interval, Packing
from app.core.consumers.packing_kernel import Rows, fill, give_back
from app.core.flow import Network, cheapest_amounts, largest_cost
from app.core.model import Bools, Int32s, Int64s
from app.core.replica_lists import sums_by

_LARGEST_PARTS = 20


def packed(weights: Int64s, capacity: int, effort: Effort) -> Packing:
    """Pack rows of int64 weights <= capacity on the fewest consumers.

    Best fit decreasing, and if it exceeds the lower bounds, a model that finds fewer consumers or proves that these
    are the fewest. The numbers do not depend on the order of rows. O(rows · consumers) without the model.
    """
    order = np.argsort(-weights, kind="stable")
    heavy = order[weights[order] > 0]
    loads, owners = np.zeros(max(1, len(heavy)), np.int64), np.zeros(len(weights), np.int32)
    fill(heavy, weights, capacity, loads, owners)
    used, bound = max(1, int(np.count_nonzero(loads))), lower_bound(weights, capacity)
    rows = Rows(weights[heavy], weights[heavy], np.full(len(heavy), NO_CONSUMER, np.int32))
    while bound < used:
        fewer = assigned(rows, bound, capacity, effort)
        if fewer.owners is not None:
            owners[heavy] = fewer.owners
            return Packing(bound, bound, owners)
        if not fewer.is_infeasible:
            break
        bound += 1
    return Packing(used, bound, owners)


def balanced(weights: Int64s, consumers: int) -> Int32s:
    """(rows,) int32: rows by descending weight, each to the least loaded consumer."""
    owners = np.zeros(len(weights), np.int32)
    loads = [(0, consumer) for consumer in range(consumers)]
    heapify(loads)
    for row in np.argsort(-weights, kind="stable").tolist():
        load, consumer = loads[0]
        owners[row] = consumer
        heapreplace(loads, (load + int(weights[row]), consumer))
    return owners


def lower_bound(weights: Int64s, capacity: int) -> int:
    """No packing has fewer consumers: the largest of the bounds of the sum, of Martello and Toth (L2), and of the dual
    feasible functions u(k) of Fekete and Schepers.
    """
    ascending = np.sort(weights[weights > 0])
    bounds = [1, -(-int(ascending.sum()) // capacity), _large_rows(ascending, capacity)]
    for parts in range(1, _LARGEST_PARTS + 1):
        shares = ascending * (parts + 1)
        rounded = np.where(shares % capacity == 0, ascending * parts, shares // capacity * capacity)
        bounds.append(-(-int(rounded.sum()) // (parts * capacity)))
    return max(bounds)


def _large_rows(ascending: Int64s, capacity: int) -> int:
    """The bound L2: rows above half a consumer need one each; rows of at least a threshold share the rest."""
    sums = np.append(0, np.cumsum(ascending))
    half = int(np.searchsorted(2 * ascending, capacity, side="right"))
    thresholds = np.append(0, np.unique(ascending[:half]))
    alone = np.maximum(np.searchsorted(ascending, capacity - thresholds, side="right"), half)
    small = sums[half] - sums[np.searchsorted(ascending, thresholds)]
    room = (alone - half) * capacity - (sums[alone] - sums[half])
    return int((len(ascending) - half + np.maximum(0, -(-(small - room) // capacity))).max())


_MOST_SUMS = 4_096
"""Sums of the partitions of one consumer that are searched exactly; beyond, some are left out."""
_THRESHOLDS = (0, 0.25, 0.5, 0.625, 0.75, 0.875, 0.9375, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """An assignment, and an upper bound on the costs that any assignment keeps.

    Parameters
    ----------
    owners : (rows,) int32; consumers from the number of previous ones on are new.
    kept : the costs of rows that stay. kept_bound : no assignment to as many consumers keeps more.
    """

    owners: Int32s = field(repr=False)
    kept: int
    kept_bound: int


def least_moves(rows: Rows, consumers: int, capacity: int, packing: Int32s, effort: Effort | None) -> Moves:
    """Keep as much as possible with its consumer.

    Overloaded consumers, and those that stop, pass rows on, which best fit assigns to others; if they do not fit, small
    rows of all consumers are packed again, then larger ones. Local search gives rows back. An integer model improves
    the result of small groups and proves it.

    Parameters
    ----------
    rows : previous consumers are 0, 1, …, or `NO_CONSUMER`. packing : (rows,) int32, any assignment to the consumers.
    effort : None leaves out the model.
    """
    before = int(rows.previous.max(initial=NO_CONSUMER)) + 1
    stays, kept_bounds = _stays(rows, before, capacity)
    going_on = np.argsort(-kept_bounds, kind="stable")[:consumers]
    bound = int(kept_bounds[going_on].sum())
    position = np.full(before + 1, NO_CONSUMER, np.int32)  # the last one is for `NO_CONSUMER`
    position[going_on] = np.arange(len(going_on))
    owners = _refilled(rows._replace(previous=position[rows.previous]), stays, consumers, capacity)
    best = relabeled(packing if owners is None else owners, rows, consumers)
    if _kept(rows, best) < bound and effort is not None:
        exact = assigned(rows, consumers, capacity, effort, best)
        best = best if exact.owners is None else max(best, exact.owners, key=lambda each: _kept(rows, each))
        bound = bound if exact.kept_bound is None else min(bound, exact.kept_bound)
    return Moves(best, _kept(rows, best), bound)


def _kept(rows: Rows, owners: Int32s) -> int:
    return int(rows.costs[(owners == rows.previous) & (rows.previous != NO_CONSUMER)].sum())


def _stays(rows: Rows, before: int, capacity: int) -> tuple[Bools, Int64s]:
    """(rows,) bool rows that each previous consumer can keep, and (before,) int64 bounds of their costs."""
    weights, costs, previous = rows
    stays = np.zeros(len(weights), np.bool_)
    bounds = np.zeros(before, np.int64)
    for consumer in range(before):
        its = np.flatnonzero(previous == consumer)
        kept, most = _largest_subset(weights[its], capacity)
        stays[its[kept]] = True
        extra = np.sort((costs - weights)[its])[::-1][: capacity // max(1, int(weights[its].max(initial=1)))]
        bounds[consumer] = min(most + int(extra.sum()), int(costs[its].sum()))
    return stays, bounds


def _largest_subset(weights: Int64s, capacity: int) -> tuple[Int64s, int]:
    """Indices of rows with the largest sum that is at most `capacity`, and a bound of that sum."""
    if weights.sum() <= capacity:
        return np.arange(len(weights)), int(weights.sum())
    order = np.argsort(-weights, kind="stable")
    layers, is_exact = [np.zeros(1, np.int64)], True
    for weight in weights[order].tolist():
        sums = np.union1d(layers[-1], layers[-1] + weight)
        sums = sums[sums <= capacity]
        is_exact &= len(sums) <= _MOST_SUMS
        layers.append(sums[-1 :: -1 - len(sums) // _MOST_SUMS][::-1])
    left = best = int(layers[-1][-1])
    chosen = []
    for place in range(len(order) - 1, -1, -1):
        if left not in layers[place]:
            chosen.append(order[place])
            left -= int(weights[order[place]])
    return np.array(chosen, np.int64), best if is_exact else capacity


def _refilled(rows: Rows, stays: Bools, consumers: int, capacity: int) -> Int32s | None:
    """(rows,) int32: consumers keep previous rows, at first all, then only large ones; the others are filled in."""
    weights, _, previous = rows
    for threshold in _THRESHOLDS:
        is_kept = stays & (previous != NO_CONSUMER) & (weights >= np.quantile(weights, threshold) * (threshold > 0))
        owners = np.where(is_kept, previous, 0).astype(np.int32)
        loads = sums_by(owners[is_kept], weights[is_kept], consumers)
        others = np.flatnonzero(~is_kept)
        order = others[np.argsort(-weights[others], kind="stable")]
        if fill(order, weights, capacity, loads, owners) == len(order):
            give_back(rows, capacity, loads, owners)
            return owners
    return None


def relabeled(owners: Int32s, among: Rows, consumers: int) -> Int32s:
    """The same assignment with the consumers named so that the costs of rows that stay are largest.

    A maximum-weight matching of consumers to previous ones and to new ones, which are numbered after these.
    """
    costs, previous = among.costs, among.previous
    before = int(previous.max(initial=NO_CONSUMER)) + 1
    _, positions = np.unique(owners, return_inverse=True)
    size = max(before, consumers)
    had = previous != NO_CONSUMER
    pairs, pair_of = np.unique(positions[had].astype(np.int64) * size + previous[had], return_inverse=True)
    gains = sums_by(pair_of, costs[had], len(pairs))
    rows, columns = np.divmod(pairs, size)
    nodes, sink = np.arange(2 * size), np.full(2 * size, 2 * size)
    network = Network(
        supplies=np.repeat([1, 0, -size], [size, size, 1]),
        tails=np.append(rows, nodes).astype(np.int32),
        heads=np.append(columns + size, sink).astype(np.int32),
        capacities=np.ones(len(rows) + 2 * size, np.int64),
    )
    scale = int(gains.max(initial=0)) // largest_cost(2 * size + 1) + 1
    amounts = cheapest_amounts(network, np.append(-gains // scale, np.zeros(2 * size, np.int64)))
    names = np.full(size, NO_CONSUMER, np.int32)
    is_matched = amounts[: len(rows)] > 0
    names[rows[is_matched]] = columns[is_matched]
    names[names == NO_CONSUMER] = np.setdiff1d(np.arange(size), columns[is_matched])
    return names[positions]


MODEL_SECONDS, SERIES_SECONDS = 0.6, 8.0
"""Deterministic seconds of the solver for one interval, and for the whole series."""
MOST_FRONT_WORK, _INTERVAL_WORK = 200_000, 50
"""Rates × choices of the front, of which larger series have fewer; and the rates that take as long as an interval."""


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """One choice: `hold` and `spare` of the problem, the sum of consumers, and the mean of moved bytes/s."""

    hold: int
    spare: int
    consumers: int
    moved: float


def scale(problem: ConsumersProblem) -> list[Interval]:
    """The fewest consumers of each interval, and the assignment that moves least from the interval before.

    An interval is solved after the one before: later ones do not matter for it.

    Examples
    --------
    A rise from 60 to 90 bytes/s does not fit beside the other partition, of which the lighter one moves.

    >>> rates = np.array([[60, 40], [90, 40]])
    >>> [(each.consumers, each.owners.tolist(), each.moved) for each in scale(ConsumersProblem(rates, 100))]
    [(1, [0, 0], 0), (2, [0, 1], 40)]
    """
    effort = Effort(MODEL_SECONDS, SERIES_SECONDS)
    unit = max(1, int(np.gcd.reduce(problem.rates, axis=None)))
    scaled = replace(problem, rates=problem.rates // unit, capacity=max(1, problem.capacity // unit))
    packings = [packed(weights, scaled.capacity, effort) for weights in scaled.weights]
    return [
        replace(each, moved=each.moved * unit, moved_lower_bound=each.moved_lower_bound * unit, lost=lost)
        for place, each in enumerate(_intervals(scaled, packings, _counts(scaled, packings), effort))
        for lost in [problem.lost(place, each.owners)]
    ]


def front(problem: ConsumersProblem, solved: Sequence[Interval]) -> list[FrontPoint]:
    """Choices of `hold` and `spare` of which none has both fewer consumers and less movement, by consumers.

    The solved one is among the candidates. The others have as many consumers as a problem with their `hold` and `spare`
    has; their movement is found without the integer model, so that they may move more than they need to.
    """
    length = len(problem.rates)
    packings = [each.packing for each in solved]
    points = [_point(problem, solved)]
    tried = {tuple(each.consumers for each in solved)}
    spares = sorted({0, 1, max(each.consumers for each in packings) // 10})
    choices = list(product(sorted({0, 1, 2, 4, length // 8, length // 4, length}), spares))
    for hold, spare in choices[: max(2, MOST_FRONT_WORK // (problem.rates.size + _INTERVAL_WORK * length))]:
        other = replace(problem, hold=hold, spare=spare)
        counts = _counts(other, packings)
        if tuple(counts.tolist()) not in tried:
            tried.add(tuple(counts.tolist()))
            points.append(_point(other, [*_intervals(other, packings, counts, None)]))
    points.sort(key=lambda point: (point.consumers, point.moved))
    least = np.minimum.accumulate([np.inf, *(point.moved for point in points)])
    return [point for point, before in zip(points, least[:-1].tolist(), strict=True) if point.moved < before]


def _point(problem: ConsumersProblem, intervals: Sequence[Interval]) -> FrontPoint:
    consumers, moved = (sum(getattr(each, name) for each in intervals) for name in ("consumers", "moved"))
    return FrontPoint(problem.hold, problem.spare, consumers, moved / len(intervals))


def _counts(problem: ConsumersProblem, packings: Sequence[Packing]) -> Int64s:
    """(intervals,) int64: the fewest consumers within `least` and `most`, without dips of at most `hold` intervals."""
    counts = np.array([max(each.consumers + problem.spare, problem.least) for each in packings], np.int64)
    hold = min(problem.hold, len(counts))
    counts = _windows(_windows(np.pad(counts, hold), hold + 1, np.maximum), hold + 1, np.minimum)
    return counts if problem.most is None else np.minimum(counts, problem.most)


def _windows(counts: Int64s, width: int, larger: np.ufunc) -> Int64s:
    """The largest (or smallest) count of each window. O(intervals · log width)."""
    done = 1
    while done < width:
        shift = min(done, width - done)
        counts = larger(counts[shift:], counts[:-shift])
        done += shift
    return counts


def _intervals(
    problem: ConsumersProblem, packings: Sequence[Packing], counts: Int64s, effort: Effort | None
) -> Iterator[Interval]:
    previous = np.full(problem.rates.shape[1], NO_CONSUMER, np.int32)
    for place, (packing, count) in enumerate(zip(packings, counts.tolist(), strict=True)):
        weights, costs = problem.weights[place], np.ascontiguousarray(problem.rates[place])
        capacity, start = problem.capacity, packing.owners
        if count < packing.consumers:
            start = balanced(weights, count)
            capacity = int(np.bincount(start, weights).max())
        names, of_before = _compact(previous)
        moves = least_moves(Rows(weights, costs, of_before), count, capacity, start, effort)
        total = int(costs[previous != NO_CONSUMER].sum())
        previous = _named(moves.owners, names)
        yield Interval(
            consumers=count,
            lower_bound=max(packing.lower_bound, problem.least),
            owners=previous,
            moved=total - moves.kept,
            moved_lower_bound=total - moves.kept_bound,
            packing=packing,
        )


def _compact(previous: Int32s) -> tuple[Int32s, Int32s]:
    """The numbers of the consumers, ascending, and the position of each row's among them."""
    names = np.unique(previous[previous != NO_CONSUMER])
    return names, np.where(previous == NO_CONSUMER, NO_CONSUMER, np.searchsorted(names, previous)).astype(np.int32)


def _named(owners: Int32s, names: Int32s) -> Int32s:
    """The numbers of consumers: previous ones keep theirs, new ones have the smallest that none of these has."""
    used = np.unique(owners)
    of_new = used[used >= len(names)]
    taken = names[used[used < len(names)]]
    free = np.setdiff1d(np.arange(len(used), dtype=np.int32), taken)[: len(of_new)]
    number_of = np.zeros(int(used.max(initial=0)) + 1, np.int32)
    number_of[used[used < len(names)]] = taken
    number_of[of_new] = free
    return number_of[owners]
