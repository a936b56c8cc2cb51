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

    If all values are whole numbers, every bin has the same number of whole numbers, and one if the range is small.

    Examples
    --------
    >>> described = distribution(np.array([3.0, 1.0, 2.0, 2.0]))
    >>> described.min, described.mean, described.p50, described.max
    (1.0, 2.0, 2.0, 3.0)
    >>> described.histogram.edges.tolist(), described.histogram.counts.tolist()
    ([1.0, 2.0, 3.0, 4.0], [1, 2, 1])
    """
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    p50, p95 = np.quantile(values, [0.5, 0.95], method="inverted_cdf").tolist()
    # The mean of sorted values does not depend on their order; rounding may take it past the ends.
    mean = min(max(float(np.mean(np.sort(values))), low), high)
    edges = _edges(values, low, high)
    return Distribution(len(values), low, mean, p50, p95, high, Histogram(edges, np.histogram(values, edges)[0]))


def _edges(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    if np.equal(values, np.floor(values)).all():
        width = float((high - low) // MOST_BINS + 1)
        return np.asarray(low + width * np.arange((high - low) // width + 2), np.float64)
    return np.asarray(np.linspace(low, high, 2 if low == high else MOST_BINS + 1), np.float64)
