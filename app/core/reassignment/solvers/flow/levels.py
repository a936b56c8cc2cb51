"""Bands of counts, of replicas or leaders, in proportion to the weights of brokers.

A level is a number of replicas for a unit of weight. At a level a broker of weight w has at most ceil(level · w)
replicas, or at least floor(level · w): the two whole numbers around its share, if the level is the mean. The narrowest
band has the lowest feasible level of ceilings and then the highest feasible level of floors, where no floor is above
its ceiling. With equal weights these are the smallest maximum and the largest minimum (`bands`).

Ceilings change at the levels k / w alone, so that a level is found by galloping and bisection over these.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor, gcd, lcm

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import Bools, Int64s
from app.core.reassignment.bounds.bands import grouped_counts, narrowest_band
from app.core.reassignment.model import (
    TIGHT,
    Balance,
    Band,
    BrokerBounds,
    MovementProblem,
    bounded,
    capped_floors,
    capped_load,
)

LARGEST_WEIGHT = 10**6
"""Weights are whole numbers up to this one: more digits than any capacity is known to."""
_LARGEST_SCALED = 1 << 60


def whole_weights(weights: Int64s) -> Int64s:
    """Weights without a common factor, at most `LARGEST_WEIGHT`; scaling all of them changes nothing.

    Parameters
    ----------
    weights : (brokers,) int64 > 0.
    """
    reduced = [weight // gcd(*weights.tolist()) for weight in weights.tolist()]
    largest = max(reduced, default=1)
    if largest > LARGEST_WEIGHT:
        reduced = [max(1, (2 * weight * LARGEST_WEIGHT + largest) // (2 * largest)) for weight in reduced]
        divisor = gcd(*reduced)
        reduced = [weight // divisor for weight in reduced]
    return np.array(reduced, np.int64)


def shares_of_weights(weights: Sequence[Fraction], stays: Bools) -> Int64s | None:
    """(brokers,) int64 > 0 without a common factor, in proportion to weights; None if all brokers that stay weigh the
    same. The weights of the others do not count.

    Parameters
    ----------
    weights : > 0, by broker. stays : (brokers,) bool.

    Examples
    --------
    >>> shares_of_weights([Fraction(1), Fraction(3, 2), Fraction(7)], np.array([True, True, False])).tolist()
    [2, 3, 3]
    """
    scale = lcm(*(each.denominator for each in weights))
    largest = max(weights, default=Fraction(1))
    if largest * scale > _LARGEST_SCALED:  # what does not fit into 64 bits is rounded to the digits that do
        scaled = [max(1, int(each / largest * _LARGEST_SCALED)) for each in weights]
    else:
        scaled = [int(each * scale) for each in weights]
    numbers = np.array(scaled, np.int64)
    whole = whole_weights(np.where(stays, numbers, numbers[stays].max(initial=1)))
    return None if len(np.unique(whole)) < 2 else whole


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The levels of floors and ceilings of the target brokers.

    Parameters
    ----------
    target : (brokers,) bool. weight : (brokers,) int64. mean : the level of what targets share. low, high : levels.
    floor_cap : (brokers,) int64 or None, as of `MovementProblem`.
    """

    target: Bools = field(repr=False)
    weight: Int64s = field(repr=False)
    mean: Fraction
    low: Fraction
    high: Fraction
    floor_cap: Int64s | None = field(default=None, repr=False)

    @property
    def unit(self) -> Fraction:
        """The level of one replica on a broker of the mean weight."""
        weights = self.weight[self.target]
        return Fraction(max(1, len(weights)), max(1, int(weights.sum())))

    def bounds(self, balance: Balance = TIGHT, *, below: int = 0, above: int = 0) -> BrokerBounds:
        """The bounds of a balance: the narrowest ones, joined with those within its tolerance of the mean.

        Parameters
        ----------
        below, above : by how many replicas of a broker of the mean weight the narrowest floors and ceilings are wider.

        Raises
        ------
        ValueError : with `keep`, which has no band.
        """
        if balance.tolerance is None:
            raise ValueError("keep has no band")
        low, high = max(self.low - below * self.unit, Fraction(0)), self.high + above * self.unit
        # Floors are whole: their level may be almost one replica above the mean.
        mean = min(self.mean, self.high)
        weights, of_broker = np.unique(self.weight, return_inverse=True)
        near, far = mean * (1 - balance.tolerance_below), mean * (1 + balance.tolerance)
        least = [min(floor(low * w), ceil(self.high * w), ceil(near * w)) for w in weights.tolist()]
        most = [max(ceil(high * w), floor(far * w)) for w in weights.tolist()]
        floors, ceilings = np.array([least, most], np.int64)[:, of_broker]
        return BrokerBounds(capped_floors(floors, self.target, self.floor_cap), ceilings)

    def width(self, counts: Int64s) -> int:
        """By how many replicas of a broker of the mean weight the bounds have to be wider to have these counts."""
        lacks, widest = self.target, -self.unit
        if self.floor_cap is not None:
            lacks = lacks | (counts < self.floor_cap)
        for broker in np.flatnonzero(bounded(self.target, self.floor_cap)).tolist():
            count, weight = int(counts[broker]), int(self.weight[broker])
            widest = max(widest, Fraction(count - 1, weight) - self.high)
            if lacks[broker] and count < ceil(self.high * weight):
                widest = max(widest, self.low - Fraction(count + 1, weight))
        # A ceiling is above count - 1, and a floor below count + 1.
        return max(0, floor(widest / self.unit) + 1)


def narrowest_levels(problem: MovementProblem) -> Levels:
    """The narrowest feasible band in proportion to the weights of the problem, exactly.

    Complexity: O(log(rows) + log(brokers)) maximum flows, as of `narrowest_band`.

    Raises
    ------
    InfeasibleFlow : no legal placement exists.
    """
    target, cap = problem.target, problem.floor_cap
    if problem.share is None:
        band, mean = narrowest_band(problem), Fraction(problem.shared_count, max(1, int(np.count_nonzero(target))))
        return Levels(target, np.ones(len(target), np.int64), mean, Fraction(band.low), Fraction(band.high), cap)
    groups = grouped_counts(problem)
    return find_levels(
        lambda bounds: groups.is_feasible(bounds.low, bounds.high),
        target,
        problem.share,
        problem.shared_count,
        is_within=bool(target[groups.broker].all()),
        floor_cap=cap,
    )


def find_levels(
    is_feasible: Callable[[BrokerBounds], bool],
    target: Bools,
    weight: Int64s,
    total: int,
    *,
    is_within: bool,
    floor_cap: Int64s | None = None,
) -> Levels:
    """The lowest feasible level of ceilings and, up to these, the highest feasible level of floors.

    Parameters
    ----------
    is_feasible : whether some placement is within bounds; monotone.
    target : (brokers,) bool. weight : (brokers,) int64 > 0. total : what the targets share, as `shared_count`.
    is_within : whether all of it is on targets, so that no level of ceilings is below the mean.
    floor_cap : (brokers,) int64 or None, as of `MovementProblem`.

    Raises
    ------
    InfeasibleFlow : no level is feasible.
    """
    weights = weight[bounded(target, floor_cap)]
    if not len(weights):
        return Levels(target, weight, Fraction(0), Fraction(0), Fraction(0))
    sharing = weight[target] if target.any() else weights
    mean, step = Fraction(total, int(sharing.sum())), Fraction(len(sharing), int(sharing.sum()))

    def holds(low: Fraction, high: Fraction) -> bool:
        return is_feasible(_at(weight, low, high))

    # Ceilings exceed shares by less than one, floors are below them by less than one.
    start = max(mean - step, Fraction(0)) if is_within else Fraction(0)
    end = Fraction(total + capped_load(floor_cap) + 1, int(weights.min()))
    if not holds(Fraction(0), end):
        raise InfeasibleFlow
    high = _first(lambda level: holds(Fraction(0), level), start, end, step, weights, rising=True)
    # The highest level with these ceilings; above the level at which all floors are ceilings, floors do not change.
    ends = [Fraction(ceil(high * each), each) for each in weights.tolist()]
    high = min(ends)
    low = _first(lambda level: holds(level, high), max(ends), Fraction(0), step, weights, rising=False)
    return Levels(target, weight, mean, low, high, floor_cap)


def _at(weight: Int64s, low: Fraction, high: Fraction) -> BrokerBounds:
    highs = [ceil(high * each) for each in weight.tolist()]
    lows = [min(floor(low * each), most) for each, most in zip(weight.tolist(), highs, strict=True)]
    return BrokerBounds(np.array(lows, np.int64), np.array(highs, np.int64))


MOST_LEVELS = 10_000
"""Levels that are listed between two; weights of 1 and 10⁹ have 10⁹ of them, of which bisection leaves these."""


def _first(
    holds: Callable[[Fraction], bool], start: Fraction, end: Fraction, step: Fraction, weights: Int64s, *, rising: bool
) -> Fraction:
    """The first level from `start` to `end` for which a monotone predicate holds, given that it holds for `end`."""
    failing, level, size = start, start, step
    while level != end and not holds(level):
        failing, size = level, size * 2
        level = min(level + size, end) if rising else max(level - size, end)
    if level == failing:
        return level
    # Ceilings are the same from one k / w, exclusive, to the next; floors from one, inclusive, to the next.
    while abs(level - failing) * sum(set(weights.tolist())) > MOST_LEVELS:
        middle = (failing + level) / 2
        to_next = (Fraction((ceil if rising else floor)(middle * each), each) for each in weights.tolist())
        middle = min(to_next) if rising else max(to_next)
        failing, level = (failing, middle) if holds(middle) else (middle, level)
    between = {
        Fraction(count, weight)
        for weight in set(weights.tolist())
        for count in range(floor(min(level, failing) * weight), ceil(max(level, failing) * weight) + 1)
    }
    inside = [each for each in between if min(level, failing) < each < max(level, failing)]
    candidates = [*sorted(inside, reverse=not rising), level]
    return candidates[bisect_left(candidates, True, hi=len(candidates) - 1, key=holds)]


def summary(target: Bools, bounds: BrokerBounds) -> Band:
    """The smallest floor and the largest ceiling of a target broker; of all brokers, and 0, without targets."""
    if not target.any():
        return Band(0, int(bounds.high.max(initial=0)))
    return Band(int(bounds.low[target].min()), int(bounds.high[target].max()))
