"""Rates of consumption if records may wait: the smoothest that consume each record within the delay."""

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s

Floats = NDArray[np.float64]


def delayed(rates: Int64s, intervals: int) -> Int64s:
    """(intervals, partitions) int64 rates at which partitions are consumed if each record may wait some intervals.

    All records are consumed in the order in which they arrive, by the end of the series. The cumulative rate of all
    partitions is the shortest path (taut string) between what has arrived and what has to be consumed, so that its
    peaks are least. O(intervals² + intervals · partitions).
    """
    if intervals == 0 or not rates.any():
        return rates
    arrived = np.vstack([np.zeros_like(rates[:1]), np.cumsum(rates, axis=0)])
    due = arrived[np.maximum(np.arange(len(arrived)) - intervals, 0)]
    due[-1] = arrived[-1]
    total = arrived.sum(axis=1).astype(np.float64)
    consumed = _taut_string(due.sum(axis=1).astype(np.float64), total)
    moments = np.interp(consumed, total, np.arange(len(total)))  # when the records that are consumed by then arrived
    whole = np.minimum(moments.astype(np.int64), len(rates) - 1)
    of_rows = arrived[whole] + np.floor((moments - whole)[:, None] * rates[whole]).astype(np.int64)
    return np.asarray(np.diff(np.clip(of_rows, due, arrived), axis=0), np.int64)


def _taut_string(lower: Floats, upper: Floats) -> Floats:
    """The shortest path between two bounds that are equal at both ends, at every point."""
    path, at = np.zeros(len(lower)), 0
    while at < len(lower) - 1:
        after = np.arange(at + 1, len(lower))
        down = np.maximum.accumulate((lower[after] - path[at]) / (after - at))
        up = np.minimum.accumulate((upper[after] - path[at]) / (after - at))
        blocked = np.flatnonzero(down > up)
        if len(blocked) == 0:
            slope, to = up[-1], len(lower) - 1
        else:
            first = int(blocked[0])
            turns_up = first == 0 or down[first] > down[first - 1]  # the lower bound rises above: follow the upper one
            slope = up[first - 1] if turns_up else down[first - 1]
            to = at + 1 + int(np.flatnonzero((up if turns_up else down)[:first] == slope)[0])
            bound = upper if turns_up else lower
            slope = (bound[to] - path[at]) / (to - at)
        path[at : to + 1] = path[at] + slope * np.arange(to - at + 1)
        at = to
    return path
