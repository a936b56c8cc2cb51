"""The distribution of a figure over many scenarios: minimum, maximum, mean, quantiles and histogram."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s

MOST_BINS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of values in bins of equal width.

    Parameters
    ----------
    edges : (bins + 1,) float64, ascending. counts : (bins,) int64: values v with edges[i] ≤ v < edges[i + 1]; the last
        bin includes its upper edge.
    """

    edges: NDArray[np.float64] = field(repr=False)
    counts: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """A figure over many scenarios; `p50` and `p95` are values that occur (nearest rank)."""

    count: int
    min: float
    mean: float
    p50: float
    p95: float
    max: float
    histogram: Histogram


def distribution(values: NDArray[np.float64]) -> Distribution | None:
    """Describe (n,) finite values; None if there are none. O(n log n).

    If all values are integers, every bin spans equally many integers, one each if they are few.
    """
    if not len(values):
        return None
    ordered = np.sort(values)
    low, high = float(ordered[0]), float(ordered[-1])
    p50, p95 = (float(ordered[_rank(len(ordered), percent)]) for percent in (50, 95))
    # Clipped against rounding: the mean of equal values is that value, and never outside the range.
    mean = min(max(float(np.mean(ordered)), low), high)
    return Distribution(len(ordered), low, mean, p50, p95, high, _histogram(ordered))


def _rank(count: int, percent: int) -> int:
    """Index of the smallest value that at least `percent` % of `count` do not exceed."""
    return -(-count * percent // 100) - 1


def _histogram(ordered: NDArray[np.float64]) -> Histogram:
    low, high = float(ordered[0]), float(ordered[-1])
    if np.equal(ordered, np.floor(ordered)).all():
        width = float((high - low) // MOST_BINS + 1)
        edges = low + width * np.arange((high - low) // width + 2)
    else:
        edges = np.asarray(np.linspace(low, high, 2 if low == high else MOST_BINS + 1), np.float64)
    below = np.searchsorted(ordered, edges, side="left")
    below[-1] = len(ordered)
    return Histogram(edges, np.diff(below).astype(np.int64))
