"""What a sweep has found: its scenarios in any order, their figures' distributions, the front and the best one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

import numpy as np

from app.core.measures.distribution import Distribution, distribution
from app.errors import Json, NotForThisKind, ScenarioNotFound, UnknownAxis, UnknownFigure
from app.formats.scenario_tables import ERROR, INDEX, Column
from app.services.limits import Limits
from app.services.plans import Plan
from app.services.sweep_kinds import KINDS, Ranking, SweepKind
from app.store.database import UnitOfWork
from app.store.pages import Page
from app.store.sweeps import Order, RowFilter, Sweep

BY_INDEX = "index"
SORTABLE = (*dict.fromkeys(name for kind in KINDS.values() for name in kind.numbers), BY_INDEX)
"""What scenarios of one kind or another can be sorted by."""
Row = Mapping[str, Any]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which scenarios are asked for.

    Parameters
    ----------
    feasible : only these, or only the others. axes : by name, what their values read like.
    """

    feasible: bool | None = None
    axes: Mapping[str, str] = field(default_factory=dict)


def scenarios(
    uow: UnitOfWork,
    sweep_id: UUID,
    wanted: Wanted,
    *,
    sort: str,
    descending: bool,
    after: tuple[float | None, int] | None,
    size: int,
) -> Page[tuple[int, Row]]:
    """A page of scored scenarios.

    Raises
    ------
    SweepNotFound
    UnknownFigure, UnknownAxis : the kind has nothing of that name. NotForThisKind : nothing of it is feasible or not.
    """
    sweep = uow.sweeps.get(sweep_id)
    numbers = KINDS[sweep.kind].numbers
    if sort not in (*numbers, BY_INDEX):
        there = [*numbers, BY_INDEX]
        detail = f"scenarios of a {sweep.kind} sweep have no {sort}; they are sorted by {', '.join(there)}"
        raise UnknownFigure(detail, path=("sort",), value=sort, known=there)
    where = _filter(sweep, wanted)
    order = Order(None if sort == BY_INDEX else sort, descending)
    return uow.sweeps.rows(sweep_id, where=where, order=order, after=after, size=size)


def one(uow: UnitOfWork, sweep_id: UUID, index: int) -> Row:
    """One scored scenario. Raises `SweepNotFound`, `ScenarioNotFound`."""
    sweep = uow.sweeps.get(sweep_id)
    row = uow.sweeps.row(sweep_id, index)
    if row is None:
        detail = f"scenario {index} of {sweep.scenarios} has not been scored"
        raise ScenarioNotFound(detail, index=index, scenarios=sweep.scenarios)
    return row


def columns(uow: UnitOfWork, sweep_id: UUID) -> list[Column]:
    """What a table of the sweep's scenarios holds, in its order. Raises `SweepNotFound`."""
    sweep = uow.sweeps.get(sweep_id)
    return [INDEX, *KINDS[sweep.kind].columns(sweep.definition), ERROR]


def summary(uow: UnitOfWork, sweep_id: UUID, wanted: Wanted) -> dict[str, Json]:
    """How each figure is distributed over the scenarios that have it.

    Raises as `scenarios` does.
    """
    sweep = uow.sweeps.get(sweep_id)
    kind = KINDS[sweep.kind]
    where = _filter(sweep, wanted)
    found = np.array(uow.sweeps.numbers(sweep_id, kind.numbers, where=where), np.float64)
    found = found.reshape(len(found), 1 + len(kind.numbers))[:, 1:]
    scored = RowFilter({**where.values, "error": None}, where.axes)
    figures = {
        name: _told(distribution(values[~np.isnan(values)]), without=int(np.isnan(values).sum()))
        for name, values in zip(kind.numbers, found.T, strict=True)
    }
    failed = len(found) - uow.sweeps.count(sweep_id, where=scored)
    return {"kind": sweep.kind, "scenarios": len(found), "failed": failed, "figures": figures}


def front(uow: UnitOfWork, sweep_id: UUID) -> list[Row]:
    """The scenarios that no other beats. Raises `SweepNotFound`, `NotForThisKind`."""
    sweep = uow.sweeps.get(sweep_id)
    return _ranking(sweep).front(uow, sweep)


def best(uow: UnitOfWork, sweep_id: UUID) -> dict[str, Json]:
    """The best scenario, and why each cheaper neighbour is not it. Raises `SweepNotFound`, `NotForThisKind`."""
    sweep = uow.sweeps.get(sweep_id)
    return _ranking(sweep).best(uow, sweep)


def compared(uow: UnitOfWork, first: UUID, second: UUID) -> dict[str, Json]:
    """Two sweeps by what each found best, and by how many scenarios were feasible."""
    return {"first": best(uow, first), "second": best(uow, second)}


def opened(uow: UnitOfWork, sweep_id: UUID, index: int, limits: Limits) -> Plan:
    """A scenario as a full plan: what was scored, to look at and to hand over.

    Raises `SweepNotFound`, `ScenarioNotFound`, and what the scenario itself does.
    """
    sweep = uow.sweeps.get(sweep_id)
    if not 0 <= index < sweep.scenarios:
        detail = f"the sweep has {sweep.scenarios} scenarios, and none of index {index}"
        raise ScenarioNotFound(detail, index=index, scenarios=sweep.scenarios)
    return KINDS[sweep.kind].opened(uow, sweep, index, limits)


def _ranking(sweep: Sweep) -> Ranking:
    ranking = KINDS[sweep.kind].ranking
    if ranking is None:
        raise _not_ranked(sweep)
    return ranking


def _filter(sweep: Sweep, wanted: Wanted) -> RowFilter:
    kind = KINDS[sweep.kind]
    if wanted.feasible is not None and kind.ranking is None:
        raise _not_ranked(sweep)
    there = _axes(kind, sweep)
    for name in wanted.axes:
        if name not in there:
            detail = f"the sweep varies no {name}; it varies {', '.join(there) or 'nothing'}"
            raise UnknownAxis(detail, path=("axis",), value=name, known=there)
    return RowFilter({} if wanted.feasible is None else {"feasible": wanted.feasible}, wanted.axes)


def _axes(kind: SweepKind, sweep: Sweep) -> Sequence[str]:
    return [column.path[1] for column in kind.columns(sweep.definition) if column.path[0] == "axes"]


def _not_ranked(sweep: Sweep) -> NotForThisKind:
    detail = (
        f"a {sweep.kind} sweep has no objective: none of its scenarios is feasible or better than another; "
        f"/v1/sweeps/{sweep.id}/summary says how their figures are distributed"
    )
    return NotForThisKind(detail, kind=sweep.kind, operation="summarise_sweep")


def _told(found: Distribution | None, *, without: int) -> dict[str, Json] | None:
    if found is None:
        return None
    return {
        "count": found.count,
        "without": without,
        **{name: getattr(found, name) for name in ("min", "mean", "p50", "p95", "max")},
        "histogram": {"edges": found.histogram.edges.tolist(), "counts": found.histogram.counts.tolist()},
    }
