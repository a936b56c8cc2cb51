"""Score a range of a sweep's scenarios: one loop for every kind, in which a scenario that fails does so alone.

A failure of the domain is the scenario's answer: its code, detail and path. Any other exception is a defect of the
program. It has the code `unexpected_error` and its trace travels beside the row, to be logged and never answered.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from traceback import format_exception
from typing import Any, Protocol, TypeAlias

from app.errors import Failure, Json
from app.errors.quotation import DETAIL_CHARACTERS, detail_of, quoted

UNEXPECTED = "unexpected_error"
"""The code of an exception that is no `Failure`."""
LONGEST_TRACE = 4_000
"""Characters of a trace, from its end, where the exception was raised."""


class SweepScenarios(Protocol):
    """The scenarios of one sweep, by index, whatever their kind; what executors prepare once and score ranges of."""

    @property
    def count(self) -> int:
        """The number of scenarios."""

    @property
    def without_figures(self) -> Mapping[str, Json]:
        """The fields of a row, besides its coordinates and its error, that a scenario without figures has."""

    def coordinates(self, index: int) -> dict[str, Json]:
        """What tells scenario `index` from the others: `axes`, and what its kind adds. IndexError beyond the last."""

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
