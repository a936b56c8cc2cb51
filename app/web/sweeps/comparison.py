"""`/sweeps/compare`: two sweeps of one kind side by side, with their Pareto fronts in one chart."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Response

from app.errors import Failure
from app.services.sweeps import results
from app.services.sweeps.kinds import KINDS
from app.services.sweeps.results import ScenarioFilter
from app.store.database import Database, UnitOfWork
from app.store.sweeps import Sweep
from app.web import charts
from app.web.lists import as_id
from app.web.pages import Pages, page
from app.web.plans.selection import differing
from app.web.sweeps import plots, view
from app.web.sweeps.plots import axes_of_all, fronts, words
from app.web.words import figure

MOST_SWEEPS = 50
Text = Annotated[str, Query(max_length=100)]


def router(database: Database) -> APIRouter:
    """The page that compares sweeps, and its chart."""
    routes = Pages()

    @routes.get("/sweeps/compare")
    def compare(a: Text = "", b: Text = "", x: Text = "", y: Text = "") -> Response:
        try:
            with database.begin() as uow:
                return _page(uow, a, b, x=x, y=y)
        except Failure as failure:
            with database.begin() as uow:
                return _page(uow, "", "", problem=failure.detail)

    @routes.get("/pictures/sweeps-compared.{suffix}")
    def chart(
        suffix: charts.Suffix,
        a: Text,
        b: Text,
        x: Text = "",
        y: Text = "",
        theme: charts.Theme = "light",
        width: charts.Width = charts.WIDTH,
    ) -> Response:
        try:
            with database.begin() as uow:
                pair = _sweep(uow, a), _sweep(uow, b)
                if pair[0] is None or pair[1] is None or _incomparable(*pair):
                    raise HTTPException(404)
                spec = fronts(uow, [pair[0], pair[1]], *view.pair(pair[0].kind, x, y))
        except Failure:
            raise HTTPException(404) from None
        return charts.response(spec, suffix, theme=theme, width=width)

    return routes


def _sweep(uow: UnitOfWork, text: str) -> Sweep | None:
    known = as_id(text)
    return None if known is None else uow.sweeps.get(known)


def _incomparable(first: Sweep | None, second: Sweep | None) -> str:
    if first is None or second is None or first.kind == second.kind:
        return ""
    return f"a {first.kind} sweep and a {second.kind} sweep have no figures in common"


def _page(uow: UnitOfWork, a: str, b: str, *, x: str = "", y: str = "", problem: str = "") -> Response:
    first, second = _sweep(uow, a), _sweep(uow, b)
    problem = problem or _incomparable(first, second)
    kind = first.kind if first is not None else None
    x, y = view.pair(kind, x, y) if kind else ("", "")
    return page(
        "sweeps_compared.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        pair=(first, second),
        choices=uow.sweeps.page(kind=kind, state=None, before=None, size=MOST_SWEEPS).items,
        problem=problem,
        compared=None if first is None or second is None or problem else _values(uow, (first, second)),
        numbers=[] if kind is None else list(KINDS[kind].numbers),
        x=x,
        y=y,
        words=words,
    )


def _values(uow: UnitOfWork, pair: tuple[Sweep, Sweep]) -> dict[str, Any]:
    """The answers of both, and their differences: rows of a part of the studies, a name, and two numbers or texts."""
    kind = KINDS[pair[0].kind]
    is_sized = "first_breaking_month" in kind.numbers
    # Growth is no choice: the best scenario would be the one with the least.
    has_best = kind.ranking is not None and plots.GROWTH not in axes_of_all(pair)
    bests = [_best(uow, sweep) if has_best else _means(uow, sweep) for sweep in pair]
    part = "best scenario" if has_best else "mean of all scenarios"
    rows = [
        *((part, name, *(best.get(name) for best in bests)) for name in kind.numbers),
        *((part, name, *(best.get("axes", {}).get(name, "") for best in bests)) for name in axes_of_all(pair)),
        *(("compared values", name, *(_axis(sweep, name) for sweep in pair)) for name in axes_of_all(pair)),
        *(("definition", *each) for each in differing(*map(_stated, pair))),
        ("study", "scored scenarios", *(uow.sweeps.progress(sweep.id).done for sweep in pair)),
    ]
    differences = [row for row in rows if row[2] != row[3]]
    return {
        "answers": [(plots.sizes(uow, sweep), plots.horizon_of(sweep)) if is_sized else ([], 0) for sweep in pair],
        "bests": bests,
        "has_best": has_best,
        "is_ranked": kind.ranking is not None,
        "differences": differences,
        "alike": len(rows) - len(differences),
    }


def _best(uow: UnitOfWork, sweep: Sweep) -> Mapping[str, Any]:
    """The best scenario; empty if no scenario is scored."""
    return results.best(uow, sweep.id).best or {}


def _means(uow: UnitOfWork, sweep: Sweep) -> Mapping[str, Any]:
    """The mean of each figure; empty if no scenario is scored."""
    figures = results.summary(uow, sweep.id, ScenarioFilter()).figures
    return {name: each.mean for name, each in figures.items() if each}


def _axis(sweep: Sweep, name: str) -> str:
    """The values of an axis, if the definition lists them."""
    axes: Any = sweep.definition.get("axes")
    values = axes.get(name) if isinstance(axes, dict) else None
    if isinstance(values, dict) and "from" in values:
        step = f" by {figure(values['step'])}" if values.get("step") else ""
        return f"{figure(values['from'])} to {figure(values['to'])}{step}"
    return ", ".join(map(str, values)) if isinstance(values, list) else str(values or "")


def _stated(sweep: Sweep) -> Mapping[str, Any]:
    """The definition without derived fields, and without the axes, which are compared by themselves."""
    return {name: value for name, value in sweep.definition.items() if name not in ("resolved", "axes")}
