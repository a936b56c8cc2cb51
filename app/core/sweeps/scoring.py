"""Score a range of a sweep's scenarios: one loop for every kind, in which a scenario that fails does so alone.

A failure of the domain is the scenario's answer: its code, detail and path. Any other exception is a defect of the
program. It has the code `unexpected_error` and its trace travels beside the row, to be logged and never answered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from traceback import format_exception
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.errors import Failure, Json
from app.errors.quotation import DETAIL_CHARACTERS, detail_of, quoted

UNEXPECTED = "unexpected_error"
"""The code of an exception that is no `Failure`."""
LONGEST_TRACE = 4_000
"""Characters of a trace, from its end, where the exception was raised."""


class SweepScenarios(Protocol):
    """The scenarios of a sweep of any kind, by index; executors prepare them once and score ranges."""

    @property
    def count(self) -> int:
        """The number of scenarios."""

    @property
    def without_figures(self) -> Mapping[str, Json]:
        """The fields of a row, besides its coordinates and its error, that a scenario without figures has."""

    def coordinates(self, index: int) -> dict[str, Json]:
        """The identity of scenario `index`: `axes`, and fields of its kind. IndexError beyond the last."""

    def figures(self, index: int) -> Mapping[str, Json]:
        """The figures of scenario `index`. Raises a `Failure` if the scenario is not possible."""


ReadSweep: TypeAlias = Callable[[Mapping[str, Any]], SweepScenarios]
"""Reads a resolved definition, as stored with the sweep."""


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """The row of one scenario.

    Parameters
    ----------
    index : of the scenario. document : JSON: index, coordinates, figures, and `error`, which is None if it has figures.
    trace : the end of an unexpected exception's trace; None for figures and for failures of the domain.
    """

    index: int
    document: dict[str, Json]
    trace: str | None = None


def score(sweep: SweepScenarios, start: int, stop: int) -> list[ScenarioRow]:
    """Score scenarios start … stop − 1, in their order; the rows are the same however a range is divided.

    Raises
    ------
    IndexError : the sweep has fewer than `stop` scenarios.
    """
    return [_row(sweep, index) for index in range(start, stop)]


def _row(sweep: SweepScenarios, index: int) -> ScenarioRow:
    identity: dict[str, Json] = {"index": index, **sweep.coordinates(index)}
    try:
        return ScenarioRow(index, {**identity, **sweep.figures(index), "error": None})
    except Failure as failure:
        error, trace = _error(failure.code, detail_of(failure), *failure.path), None
    except Exception as unexpected:  # noqa: BLE001 — a defect that one scenario meets must not stop a million others
        detail = quoted(f"{type(unexpected).__name__}: {unexpected}", DETAIL_CHARACTERS)
        error, trace = _error(UNEXPECTED, detail), _trace(unexpected)
    return ScenarioRow(index, {**identity, **sweep.without_figures, "error": error}, trace)


def _error(code: str, detail: str, *path: str | int) -> dict[str, Json]:
    return {"code": code, "detail": detail, "path": list(path)}


def _trace(unexpected: Exception) -> str:
    return "".join(format_exception(unexpected))[-LONGEST_TRACE:]


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
