"""The results of a sweep: scored scenarios in any order, distributions of figures, the front and the best scenario."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np

from app.core.sweeps.scoring import Distribution, distribution
from app.errors.every import NotForThisKind, ScenarioNotFound, UnknownAxis, UnknownFigure
from app.formats.tables.scenario_tables import ERROR, INDEX, Column
from app.services.limits import Limits
from app.services.plans import Plan, make_plan
from app.services.sweeps import answers
from app.services.sweeps.kind import Ranking, SweepKind
from app.services.sweeps.kinds import KINDS
from app.store.sweeps import Order, RowFilter, Sweep
from app.store.transaction import Page
from app.store.unit import UnitOfWork

BY_INDEX = "index"
_READ_ROWS = 5_000
SORTABLE = (*dict.fromkeys(name for kind in KINDS.values() for name in kind.numbers), BY_INDEX)
"""The keys by which scenarios of some kind can be sorted."""
RowDocument = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ScenarioFilter:
    """Which scenarios a request selects.

    Parameters
    ----------
    feasible : only feasible scenarios, or only the others; None for both. axes : the value of an axis as text, by name.
    """

    feasible: bool | None = None
    axes: Mapping[str, str] = field(default_factory=dict)


def axes_of(kind: SweepKind, sweep: Sweep) -> Sequence[str]:
    """The names of the axes that the sweep varies, in order."""
    return [column.path[1] for column in kind.columns(sweep.definition) if column.path[0] == "axes"]


def scenarios(
    uow: UnitOfWork,
    sweep_id: UUID,
    selection: ScenarioFilter,
    *,
    sort: str,
    descending: bool,
    after: tuple[float | None, int] | None,
    size: int,
) -> Page[tuple[int, RowDocument]]:
    """A page of scored scenarios.

    Raises
    ------
    SweepNotFound
    UnknownFigure, UnknownAxis : the kind has none of that name. NotForThisKind : the kind has no notion of feasible.
    """
    sweep = uow.sweeps.get(sweep_id)
    numbers = KINDS[sweep.kind].numbers
    if sort not in (*numbers, BY_INDEX):
        sortable = [*numbers, BY_INDEX]
        detail = f"scenarios of a {sweep.kind} sweep have no {sort}; they are sorted by {', '.join(sortable)}"
        raise UnknownFigure(detail, path=("sort",), value=sort, known=sortable)
    where = _row_filter(sweep, selection)
    order = Order(None if sort == BY_INDEX else sort, descending)
    return uow.sweeps.rows(sweep_id, where=where, order=order, after=after, size=size)


def every(
    uow: UnitOfWork, sweep_id: UUID, selection: ScenarioFilter, *, sort: str, descending: bool
) -> Iterator[RowDocument]:
    """All scored scenarios of a filter, read some thousands at a time. Raises as `scenarios`."""
    after: tuple[float | None, int] | None = None
    has_more = True
    while has_more:
        page = scenarios(uow, sweep_id, selection, sort=sort, descending=descending, after=after, size=_READ_ROWS)
        yield from (row for _, row in page.items)
        has_more = page.has_more
        after = place(page.items[-1][1], sort) if page.items else None


def place(row: RowDocument, sort: str) -> tuple[float | None, int]:
    """The place of a scenario in the order of a figure, from which the next page continues."""
    value = None if sort == BY_INDEX else row.get(sort)
    return (None if value is None else float(value)), int(row["index"])


def one(uow: UnitOfWork, sweep_id: UUID, index: int) -> RowDocument:
    """One scored scenario. Raises `SweepNotFound`, `ScenarioNotFound`."""
    sweep = uow.sweeps.get(sweep_id)
    row = uow.sweeps.row(sweep_id, index)
    if row is None:
        detail = f"scenario {index} of {sweep.scenarios} has not been scored"
        raise ScenarioNotFound(detail, index=index, scenarios=sweep.scenarios)
    return row


def columns(uow: UnitOfWork, sweep_id: UUID) -> list[Column]:
    """The columns of a table of the sweep's scenarios, in order. Raises `SweepNotFound`."""
    sweep = uow.sweeps.get(sweep_id)
    return [INDEX, *KINDS[sweep.kind].columns(sweep.definition), ERROR]


def summary(uow: UnitOfWork, sweep_id: UUID, selection: ScenarioFilter) -> answers.SummaryDocument:
    """The distribution of each figure over the scenarios that have it.

    Raises as `scenarios` does.
    """
    sweep = uow.sweeps.get(sweep_id)
    kind = KINDS[sweep.kind]
    where = _row_filter(sweep, selection)
    rows = np.array(uow.sweeps.numbers(sweep_id, kind.numbers, where=where), np.float64)
    numbers = rows.reshape(len(rows), 1 + len(kind.numbers))[:, 1:]
    scored = RowFilter({**where.values, "error": None}, where.axes)
    figures = {
        name: _distribution_document(distribution(values[~np.isnan(values)]), without=int(np.isnan(values).sum()))
        for name, values in zip(kind.numbers, numbers.T, strict=True)
    }
    failed = len(rows) - uow.sweeps.count(sweep_id, where=scored)
    return answers.SummaryDocument(sweep.kind, len(rows), failed, figures)


def front(uow: UnitOfWork, sweep_id: UUID) -> list[RowDocument]:
    """The Pareto front. Raises `SweepNotFound`, `NotForThisKind`."""
    sweep = uow.sweeps.get(sweep_id)
    return _ranking(sweep).front(uow, sweep)


def best(uow: UnitOfWork, sweep_id: UUID) -> answers.BestDocument:
    """The best scenario, and why each cheaper neighbour is not it. Raises `SweepNotFound`, `NotForThisKind`."""
    sweep = uow.sweeps.get(sweep_id)
    return _ranking(sweep).best(uow, sweep)


def compared(uow: UnitOfWork, first: UUID, second: UUID) -> answers.ComparisonDocument:
    """The best scenario of two sweeps, and how many scenarios of each are feasible."""
    return answers.ComparisonDocument(best(uow, first), best(uow, second))


def opened(uow: UnitOfWork, sweep_id: UUID, index: int, limits: Limits) -> Plan:
    """A scenario as a plan, the same that was scored.

    Raises `SweepNotFound`, `ScenarioNotFound`, and the failures of the scenario.
    """
    sweep = uow.sweeps.get(sweep_id)
    if not 0 <= index < sweep.scenarios:
        detail = f"the sweep has {sweep.scenarios} scenarios, and none of index {index}"
        raise ScenarioNotFound(detail, index=index, scenarios=sweep.scenarios)
    kind = KINDS[sweep.kind]
    if kind.planner is None or kind.request is None:
        detail = f"a scenario of a {kind.name} sweep places no replicas and no members, so there is no plan of it"
        raise NotForThisKind(detail, kind=kind.name, operation="get_scenario")
    labels = {"sweep": str(sweep.id), "scenario": str(index)}
    return make_plan(uow, kind.planner, replace(kind.request(sweep, index), labels=labels), limits)


def _ranking(sweep: Sweep) -> Ranking:
    ranking = KINDS[sweep.kind].ranking
    if ranking is None:
        raise _without(sweep, "objective: none of its scenarios is better than another")
    return ranking


def _row_filter(sweep: Sweep, selection: ScenarioFilter) -> RowFilter:
    kind = KINDS[sweep.kind]
    if selection.feasible is not None and not kind.has_feasibility:
        raise _without(sweep, "limits, and its scenarios are neither feasible nor infeasible")
    axes = axes_of(kind, sweep)
    for name in selection.axes:
        if name not in axes:
            detail = f"the sweep varies no {name}; it varies {', '.join(axes) or 'nothing'}"
            raise UnknownAxis(detail, path=("axis",), value=name, known=axes)
    return RowFilter({} if selection.feasible is None else {"feasible": selection.feasible}, selection.axes)


def _without(sweep: Sweep, what: str) -> NotForThisKind:
    detail = f"a {sweep.kind} sweep has no {what}; /v1/sweeps/{sweep.id}/summary has the distributions of their figures"
    return NotForThisKind(detail, kind=sweep.kind, operation="summarise_sweep")


def _distribution_document(described: Distribution | None, *, without: int) -> answers.DistributionDocument | None:
    if described is None:
        return None
    histogram = answers.HistogramDocument(described.histogram.edges.tolist(), described.histogram.counts.tolist())
    return answers.DistributionDocument.of(described, without=without, histogram=histogram)
