"""Rates of consumption if records may wait: the smoothest that consume each record within the delay."""

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s

Floats = NDArray[np.float64]
_FIRST_REACH = 64
"""Points ahead that are looked at first; twice as many until a bound is met."""


def delayed(rates: Int64s, intervals: int) -> Int64s:
    """(intervals, partitions) int64 rates at which partitions are consumed if each record may wait some intervals.

    All records are consumed in the order in which they arrive, by the end of the series. The cumulative rate of all
    partitions is the shortest path (taut string) between arrived records and those due for consumption, so that its
    peaks are least. O(intervals · (segment + partitions)), by the
    length of the longest straight segment.
    """
    if intervals == 0 or not rates.any():
        return rates
    arrived = np.vstack([np.zeros_like(rates[:1]), np.cumsum(rates, axis=0)])
    due = arrived[np.maximum(np.arange(len(arrived)) - intervals, 0)]
    due[-1] = arrived[-1]
    total = arrived.sum(axis=1, dtype=np.float64)
    consumed = _taut_string(due.sum(axis=1, dtype=np.float64), total)
    moments = np.interp(consumed, total, np.arange(len(total)))  # when the records that are consumed by then arrived
    whole = np.minimum(moments.astype(np.int64), len(rates) - 1)
    of_rows = arrived[whole] + np.floor((moments - whole)[:, None] * rates[whole]).astype(np.int64)
    return np.asarray(np.diff(np.clip(of_rows, due, arrived), axis=0), np.int64)


def _taut_string(lower: Floats, upper: Floats) -> Floats:
    """The shortest path between two bounds that are equal at both ends, at every point."""
    path, at = np.zeros(len(lower)), 0
    while at < len(lower) - 1:
        reach = _FIRST_REACH
        while True:
            after = np.arange(at + 1, min(at + reach, len(lower)))
            to_lower, to_upper = ((bound[after] - path[at]) / (after - at) for bound in (lower, upper))
            down, up = np.maximum.accumulate(to_lower), np.minimum.accumulate(to_upper)
            blocked = np.flatnonzero(down > up)
            if len(blocked) or after[-1] == len(lower) - 1:
                break
            reach *= 2
        first = int(blocked[0]) if len(blocked) else len(after)
        turns_up = first == len(after) or down[first] > down[first - 1]  # it has to rise: follow the upper bound so far
        slopes, slope, bound = (to_upper, up[first - 1], upper) if turns_up else (to_lower, down[first - 1], lower)
        to = at + 1 + int(np.flatnonzero(slopes[:first] == slope)[-1])
        path[at : to + 1] = np.linspace(path[at], bound[to], to - at + 1)
        at = to
    return path
