"""The consumers of all intervals, and other choices between fewer consumers and less movement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from app.core.consumers.exact import Effort
from app.core.consumers.model import NO_CONSUMER, ConsumersProblem, Interval
from app.core.consumers.moves import least_moves
from app.core.consumers.packing import Packing, balanced, packed
from app.core.model import Int32s, Int64s

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
    packings = _packings(scaled, effort)
    return [
        replace(each, moved=each.moved * unit, moved_lower_bound=each.moved_lower_bound * unit, lost=lost)
        for place, each in enumerate(_intervals(scaled, packings, _counts(scaled, packings), effort))
        for lost in [problem.lost(place, each.owners)]
    ]


def _packings(problem: ConsumersProblem, effort: Effort) -> list[Packing]:
    return [packed(weights, problem.capacity, effort) for weights in problem.weights]


def front(problem: ConsumersProblem, solved: Sequence[Interval]) -> list[FrontPoint]:
    """Choices of `hold` and `spare` of which none has both fewer consumers and less movement, by consumers.

    The solved one is among the candidates. The others are found without the integer model, so that they may move more
    than they need to.
    """
    length = len(problem.rates)
    packings = _packings(problem, Effort(0, 0))
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
        moves = least_moves(weights, costs, of_before, count, capacity, start, effort)
        total = int(costs[previous != NO_CONSUMER].sum())
        previous = _named(moves.owners, names)
        yield Interval(
            count,
            max(packing.lower_bound, problem.least),
            previous,
            total - moves.kept,
            total - moves.kept_bound,
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
