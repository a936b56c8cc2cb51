"""Which scenarios are acceptable, which is best, and between which there is no better in every respect.

Everything here is over columns: one float64 number a scenario, NaN where a scenario could not be scored, infinite where
headroom or the month of its end is without limit.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.core.model import Int64s
from app.errors import Json

Columns: TypeAlias = Mapping[str, NDArray[np.float64]]

NUMBERS = (
    "monthly_cost",
    "headroom",
    "cross_rack_bytes_per_s",
    "first_breaking_month",
    "brokers",
    "partitions",
    "partitions_offline",
    "partitions_under_min_isr",
    "partitions_not_rack_safe",
)
"""The columns that objectives and constraints are over; a scored scenario's document has a number of each name."""
_WITHOUT_LIMIT = ("headroom", "first_breaking_month")
"""Null in a document means that nothing limits them."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What is to be small, or large."""

    column: str
    wants_more: bool = False


@dataclass(frozen=True, slots=True)
class Constraint:
    """A bound that a number must keep: at least that, or at most."""

    column: str
    is_minimum: bool = False

    def holds(self, numbers: NDArray[np.float64], bound: float) -> NDArray[np.bool_]:
        """(scenarios,) bool; a number that is not there keeps no bound."""
        return np.greater_equal(numbers, bound) if self.is_minimum else np.less_equal(numbers, bound)


OBJECTIVES: Mapping[str, Objective] = MappingProxyType(
    {
        "monthly_cost": Objective("monthly_cost"),
        "headroom": Objective("headroom", wants_more=True),
        "cross_rack_bytes_per_s": Objective("cross_rack_bytes_per_s"),
        "first_breaking_month": Objective("first_breaking_month", wants_more=True),
        "brokers": Objective("brokers"),
    }
)
CONSTRAINTS: Mapping[str, Constraint] = MappingProxyType(
    {
        "min_headroom": Constraint("headroom", is_minimum=True),
        "min_first_breaking_month": Constraint("first_breaking_month", is_minimum=True),
        "max_monthly_cost": Constraint("monthly_cost"),
        "max_cross_rack_bytes_per_s": Constraint("cross_rack_bytes_per_s"),
        "max_brokers": Constraint("brokers"),
        "max_partitions_offline": Constraint("partitions_offline"),
        "max_partitions_under_min_isr": Constraint("partitions_under_min_isr"),
        "max_partitions_not_rack_safe": Constraint("partitions_not_rack_safe"),
    }
)


def columns(documents: Sequence[Mapping[str, Json]]) -> Columns:
    """The `NUMBERS` and `feasible` (1 or 0) of scored scenarios' documents."""
    found = {name: np.array([_number(document, name) for document in documents], np.float64) for name in NUMBERS}
    return found | {"feasible": np.array([document.get("feasible") is True for document in documents], np.float64)}


def _number(document: Mapping[str, Json], name: str) -> float:
    if document.get("error") is not None:
        return nan
    value = document.get(name)
    if isinstance(value, int | float):
        return float(value)
    return inf if name in _WITHOUT_LIMIT else nan


def acceptable(scored: Columns, constraints: Mapping[str, float]) -> NDArray[np.bool_]:
    """(scenarios,) bool: feasible, and within every constraint."""
    accepted = np.equal(scored["feasible"], 1)
    for name, bound in constraints.items():
        constraint = CONSTRAINTS[name]
        accepted &= constraint.holds(scored[constraint.column], bound)
    return np.asarray(accepted, np.bool_)


def rank(scored: Columns, *, objective: str, constraints: Mapping[str, float]) -> Int64s:
    """The rows of the acceptable scenarios, best first; of equals the cheaper one, then the earlier."""
    wanted = OBJECTIVES[objective]
    numbers = -scored[wanted.column] if wanted.wants_more else scored[wanted.column]
    order = np.lexsort((scored["monthly_cost"], numbers)).astype(np.int64)
    return order[acceptable(scored, constraints)[order]]


def front(scored: Columns, *, constraints: Mapping[str, float]) -> Int64s:
    """The rows of the acceptable scenarios that no acceptable one beats, ascending.

    One beats another where it costs no more, has no less headroom, sends no more across racks, and differs in one of
    them; equals all stay. O(n log n) comparisons.
    """
    rows = np.flatnonzero(acceptable(scored, constraints))
    cost = scored["monthly_cost"][rows]
    lack = -scored["headroom"][rows]
    crossed = scored["cross_rack_bytes_per_s"][rows]
    stairs = _Stairs()
    # By rising cost, then lack, then bytes: whoever beats a row comes before it.
    order = np.lexsort((crossed, lack, cost)).tolist()
    kept = [at for at in order if stairs.take(float(lack[at]), float(crossed[at]), float(cost[at]))]
    return np.sort(rows[kept]).astype(np.int64)


class _Stairs:
    """The pairs (lack, crossed) that no earlier pair beats: as one rises, the other falls."""

    def __init__(self) -> None:
        self._lack: list[float] = []
        self._crossed: list[float] = []
        self._cost: list[float] = []

    def take(self, lack: float, crossed: float, cost: float) -> bool:
        """Whether no earlier row beats this one; it is a stair from then on."""
        at = bisect_right(self._lack, lack) - 1
        if at >= 0 and self._crossed[at] <= crossed:
            return (self._lack[at], self._crossed[at], self._cost[at]) == (lack, crossed, cost)
        begin = bisect_left(self._lack, lack)
        end = begin
        while end < len(self._lack) and self._crossed[end] >= crossed:
            end += 1
        self._lack[begin:end], self._crossed[begin:end], self._cost[begin:end] = [lack], [crossed], [cost]
        return True
