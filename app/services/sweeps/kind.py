"""Interface of a kind of sweep: validation, results, tables, and a scenario as a plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from app.core.sweeps import ReadSweep, ScenarioRow, score
from app.errors.every import FieldPath, NotForThisKind
from app.formats.tables.scenario_tables import Column
from app.services.limits import Limits
from app.services.plans import Planner
from app.services.sweeps.answers import BestDocument
from app.store.sweeps import Sweep
from app.store.unit import UnitOfWork

Definition: TypeAlias = Mapping[str, Any]
"""The stored JSON of a sweep."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answers of a kind that has an objective.

    Parameters
    ----------
    front : the scenarios that no other dominates. best : the best scenario, and why each cheaper neighbour is not it.
    """

    front: Callable[[UnitOfWork, Sweep], list[Mapping[str, Any]]]
    best: Callable[[UnitOfWork, Sweep], BestDocument]


@dataclass(frozen=True, slots=True)
class SweepKind:
    """One kind of sweep.

    Parameters
    ----------
    name : the value of `kind` in requests and answers, which is a contract.
    read_sweep : reads a resolved definition, on executors as well, so that it is a function of the core; None if one
        pass over a dataset yields the rows of all scenarios.
    resolve : validates a definition and adds, as `resolved`, data for executors that answers omit; raises `Failure`s
        whose paths begin at the definition. A definition that is resolved already is not resolved again.
    count : the number of scenarios of a resolved definition. counted_by : the field to name if there are too many.
    changes : the fields that a clone of a sweep may change.
    numbers : the numeric fields of rows, by which scenarios are sorted and which summaries describe.
    columns : of its tables, between the index and the error; the axes first.
    planner, request : of one scenario as a plan, and its request; None if a scenario places nothing.
    ranking : None if the kind has no objective.
    is_resolved : whether a stored definition has all that executors need; not if an earlier release stored it.
    has_feasibility : whether rows state if the scenario is feasible, so that they are filtered by it.
    """

    name: str
    read_sweep: ReadSweep | None
    resolve: Callable[[UnitOfWork, Definition, Limits], Definition]
    count: Callable[[Definition], int]
    counted_by: FieldPath
    changes: Sequence[str]
    numbers: Sequence[str]
    columns: Callable[[Definition], Sequence[Column]]
    planner: Planner[Any, Any, Any] | None = None
    request: Callable[[Sweep, int], Any] | None = None
    ranking: Ranking | None = None
    has_feasibility: bool = False
    is_resolved: Callable[[Definition], bool] = lambda _: True

    @property
    def is_measured_whole(self) -> bool:
        """Whether one job yields all scenarios, since it reads the same dataset for each."""
        return self.read_sweep is None

    @property
    def reader(self) -> ReadSweep:
        """`read_sweep`. Raises `NotForThisKind` if scenarios are not scored one by one."""
        if self.read_sweep is None:
            raise NotForThisKind("a dataset of keys is measured by a worker on Spark, and nowhere else", kind=self.name)
        return self.read_sweep

    def score(self, definition: Definition, start: int, stop: int) -> list[ScenarioRow]:
        """Score scenarios start … stop − 1 in this process. Raises as `reader` does."""
        return score(self.reader(definition), start, stop)
