"""Which scenarios are acceptable, which is best, the Pareto front, and why the cheaper neighbours of a scenario fail.

Columns have one float64 number a scenario: NaN if a scenario could not be scored, infinite if headroom or the month in
which a limit breaks is unlimited.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Bools, Int64s
from app.core.sweeps.axes import Grid
from app.errors import Json

Columns: TypeAlias = Mapping[str, NDArray[np.float64]]

_COLUMNS: Mapping[str, tuple[int, str]] = {
    "monthly_cost": (1, "max"),
    "headroom": (-1, "min"),
    "cross_rack_bytes_per_s": (1, "max"),
    "first_breaking_month": (-1, "min"),
    "brokers": (1, "max"),
    "partitions": (0, ""),
    "partitions_offline": (0, "max"),
    "partitions_under_min_isr": (0, "max"),
    "partitions_not_rack_safe": (0, "max"),
    "remote_bytes": (0, ""),
    "restart_waves": (0, "max"),
}
"""By column, 1 if the smallest value is the best, −1 if the largest is, 0 if it is no objective; and the bound that a
constraint sets: `min`, `max` or none."""
NUMBERS = tuple(_COLUMNS)
"""The columns of objectives and constraints; the document of a scored scenario has a number of each name."""
_WITHOUT_LIMIT = ("headroom", "first_breaking_month")
"""Null in a document means unlimited."""


OBJECTIVES: Mapping[str, int] = {column: sign for column, (sign, _) in _COLUMNS.items() if sign}
"""The columns that can be optimised: 1 if the smallest value is the best, −1 if the largest is."""
CONSTRAINTS: Mapping[str, tuple[str, np.ufunc]] = {
    f"{kind}_{column}": (column, holds)
    for kind, holds in (("min", np.greater_equal), ("max", np.less_equal))
    for column, (_, bound) in _COLUMNS.items()
    if bound == kind
}
"""The column of each constraint, and how its numbers compare with the bound; NaN is within none."""


def columns(documents: Sequence[Mapping[str, Json]]) -> Columns:
    """The `NUMBERS` and `feasible` (1 or 0) of scored scenarios' documents."""
    numbers = {name: np.array([_number(document, name) for document in documents], np.float64) for name in NUMBERS}
    return numbers | {"feasible": np.array([document.get("feasible") is True for document in documents], np.float64)}


def _number(document: Mapping[str, Json], name: str) -> float:
    if document.get("error") is not None:
        return nan
    value = document.get(name)
    if isinstance(value, int | float):
        return float(value)
    return inf if name in _WITHOUT_LIMIT else nan


def acceptable(scored: Columns, constraints: Mapping[str, float]) -> Bools:
    """(scenarios,) bool: feasible, and within every constraint."""
    accepted = np.equal(scored["feasible"], 1)
    for name, bound in constraints.items():
        column, holds = CONSTRAINTS[name]
        accepted &= holds(scored[column], bound)
    return np.asarray(accepted, np.bool_)


def rank(scored: Columns, *, objective: str, constraints: Mapping[str, float]) -> Int64s:
    """The rows of the acceptable scenarios, best first; of equal ones the cheaper, then the earlier."""
    numbers = OBJECTIVES[objective] * scored[objective]
    order = np.lexsort((scored["monthly_cost"], numbers)).astype(np.int64)
    return order[acceptable(scored, constraints)[order]]


def front(scored: Columns, *, constraints: Mapping[str, float]) -> Int64s:
    """The Pareto front: the rows of the acceptable scenarios that no acceptable one dominates, ascending.

    A scenario dominates another if it costs no more, has no less headroom, sends no more bytes across racks, and
    differs in one of them. Equal scenarios are all on the front.

    Complexity: O(n log n) comparisons.

    Examples
    --------
    >>> scored = {
    ...     "feasible": np.ones(3), "cross_rack_bytes_per_s": np.zeros(3),
    ...     "monthly_cost": np.array([100.0, 200.0, 300.0]), "headroom": np.array([1.1, 1.5, 1.4])}
    >>> front(scored, constraints={}).tolist()
    [0, 1]
    """
    rows = np.flatnonzero(acceptable(scored, constraints))
    cost = scored["monthly_cost"][rows]
    lack = -scored["headroom"][rows]
    crossed = scored["cross_rack_bytes_per_s"][rows]
    staircase = _Staircase()
    # By cost, then lack, then bytes, ascending: a scenario that dominates another precedes it.
    order = np.lexsort((crossed, lack, cost)).tolist()
    on_front = [row for row in order if staircase.add(float(lack[row]), float(crossed[row]), float(cost[row]))]
    return np.sort(rows[on_front]).astype(np.int64)


class _Staircase:
    """The pairs (lack, crossed) that no earlier pair dominates: as one rises, the other falls."""

    def __init__(self) -> None:
        self._lack: list[float] = []
        self._crossed: list[float] = []
        self._cost: list[float] = []

    def add(self, lack: float, crossed: float, cost: float) -> bool:
        """Add a pair unless an earlier one dominates it; return whether none does."""
        step = bisect_right(self._lack, lack) - 1
        if step >= 0 and self._crossed[step] <= crossed:
            return (self._lack[step], self._crossed[step], self._cost[step]) == (lack, crossed, cost)
        begin = bisect_left(self._lack, lack)
        end = begin
        while end < len(self._lack) and self._crossed[end] >= crossed:
            end += 1
        self._lack[begin:end], self._crossed[begin:end], self._cost[begin:end] = [lack], [crossed], [cost]
        return True


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A scenario one step away along one axis: the axis, its other value, and the grid index."""

    axis: str
    value: Json
    grid_index: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a cheaper neighbour is not acceptable: an error, a limit that breaks, or constraints that it violates.

    Parameters
    ----------
    monthly_cost : None if the neighbour could not be scored.
    broken_constraints : name, the neighbour's value (None if unlimited), the bound.
    """

    neighbour: Neighbour
    monthly_cost: float | None
    error: Json
    binding: Json
    broken_constraints: tuple[tuple[str, Json, float], ...]


def neighbours(grid: Grid, index: int) -> list[Neighbour]:
    """The scenarios one step before and after along each axis, in the order of the axes."""
    digits = grid.digits(index)
    return [
        Neighbour(axis.path, axis.values[digit], grid.index((*digits[:position], digit, *digits[position + 1 :])))
        for position, axis in enumerate(grid.axes)
        for digit in (digits[position] - 1, digits[position] + 1)
        if 0 <= digit < len(axis.values)
    ]


def why_not_cheaper(
    grid: Grid, index: int, documents: Mapping[int, Mapping[str, Json]], *, constraints: Mapping[str, float]
) -> list[Reason]:
    """Explain every neighbour that costs less and is not acceptable, or could not be scored.

    Parameters
    ----------
    documents : scored scenarios by grid index; neighbours that are absent (most are, of a sample) are left out.
    """
    cost = _cost(documents[index])
    reasons = []
    for neighbour in neighbours(grid, index):
        scored = documents.get(neighbour.grid_index)
        if scored is None:
            continue
        neighbour_cost = _cost(scored)
        if neighbour_cost is not None and cost is not None and neighbour_cost >= cost:
            continue
        reason = Reason(
            neighbour=neighbour,
            monthly_cost=neighbour_cost,
            error=scored.get("error"),
            binding=scored.get("binding"),
            broken_constraints=tuple(_broken(scored, constraints)),
        )
        if reason.error is not None or reason.binding is not None or reason.broken_constraints:
            reasons.append(reason)
    return reasons


def _cost(scored: Mapping[str, Json]) -> float | None:
    cost = scored.get("monthly_cost")
    return float(cost) if isinstance(cost, int | float) else None


def _broken(scored: Mapping[str, Json], constraints: Mapping[str, float]) -> Sequence[tuple[str, Json, float]]:
    if scored.get("error") is not None:
        return ()
    numbers = columns([scored])
    return [
        (name, scored.get(column), bound)
        for name, bound in constraints.items()
        for column, holds in [CONSTRAINTS[name]]
        if not holds(numbers[column], bound)[0]
    ]
