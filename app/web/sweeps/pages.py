"""`/sweeps` and `/sweeps/{id}`: progress, charts, scenarios; a scenario opened as a plan."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.errors.requests import SweepNotFound
from app.services import sweeps
from app.services.limits import Limits
from app.services.sweeps import results
from app.services.sweeps.kinds import KINDS
from app.services.sweeps.results import ScenarioFilter
from app.store.database import Database, UnitOfWork
from app.store.sweeps import Sweep
from app.web import charts
from app.web.access import Access
from app.web.clusters.view import STUDY, ClusterView, place
from app.web.lists import SIZE, STATES, as_id, id_of, next_page
from app.web.pages import Pages, page
from app.web.plans.selection import twin_studies
from app.web.sweeps import comparison, files, plots
from app.web.sweeps.view import TABS, SweepView, pair

ROWS = 25
Text = Annotated[str, Query(max_length=300)]


def router(database: Database, limits: Limits, access: Access) -> APIRouter:
    """The pages of sweeps."""
    routes = Pages()

    @routes.get("/sweeps")
    def listed(kind: Text = "", state: Text = "", before: Text = "") -> Response:
        return _list(database, {"kind": kind, "state": state}, before)

    routes.routes += comparison.router(database).routes  # before the pages of sweeps, whose ids it would be

    routes.routes += files.router(database).routes

    @routes.get("/sweeps/{sweep_id}")
    def one(request: Request, sweep_id: str) -> Response:
        return _page(database, sweep_id, dict(request.query_params))

    @routes.get("/sweeps/{sweep_id}/scenarios/{index}")
    def scenario(sweep_id: str, index: int) -> Response:
        return _scenario(database, sweep_id, index)

    @routes.get("/pictures/sweep-{plot}.{suffix}")
    def chart(
        request: Request,
        plot: str,
        suffix: charts.Suffix,
        sweep: Text,
        theme: charts.Theme = "light",
        width: charts.Width = charts.WIDTH,
    ) -> Response:
        spec = _spec(database, plot, sweep, dict(request.query_params))
        return charts.response(spec, suffix, theme=theme, width=width)

    @routes.post("/sweeps/{sweep_id}/cancel", dependencies=[access.sweep])
    def cancel(sweep_id: UUID) -> Response:
        with database.begin() as uow:
            sweep = sweeps.cancel(uow, sweep_id)
        return RedirectResponse(f"/sweeps/{sweep.id}", HTTPStatus.SEE_OTHER)

    @routes.post("/sweeps/{sweep_id}/scenarios/{index}/plan", dependencies=[access.plan])
    def open_scenario(sweep_id: UUID, index: int) -> Response:
        with database.begin() as uow:
            plan = results.opened(uow, sweep_id, index, limits)
        return RedirectResponse(f"/plans/{plan.head.id}", HTTPStatus.SEE_OTHER)

    return routes


def _list(database: Database, chosen: Mapping[str, str], before: str) -> Response:
    """The page of sweeps of a kind in a state, each of them empty for all."""
    kind, state = (text or None for text in chosen.values())
    with database.begin() as uow:
        found = uow.sweeps.page(kind=kind, state=state, before=as_id(before), size=SIZE)
        done = {sweep.id: uow.sweeps.progress(sweep.id).done for sweep in found.items if not sweep.has_ended}
    return page(
        "sweeps.html",
        chosen=chosen,
        listed=found.items,
        twins=twin_studies(found.items),
        done=done,
        kinds=list(KINDS),
        states=STATES,
        next_page=next_page("/sweeps", chosen, found),
    )


def _page(database: Database, sweep_id: str, query: dict[str, str]) -> Response:
    """The page of a sweep. Raises `SweepNotFound`."""
    with database.begin() as uow:
        sweep = _sweep(uow, sweep_id)
        view = SweepView.of(sweep, KINDS[sweep.kind], query)
        values = _values(uow, sweep, view)
        cluster = sweep.labels.get(STUDY)
        where = place(uow, ClusterView(cluster, "capacity")) if cluster else None
        alike = uow.sweeps.page(kind=sweep.kind, state=None, before=None, size=comparison.MOST_SWEEPS).items
    return page("sweep.html", sweep=sweep, view=view, words=plots.words, alike=alike, place=where, **values)


def _scenario(database: Database, sweep_id: str, index: int) -> Response:
    """The page of one scenario of a sweep, its main figures first. Raises `SweepNotFound`."""
    with database.begin() as uow:
        sweep = _sweep(uow, sweep_id)
        row = results.one(uow, sweep.id, index)
    figures, main = list(KINDS[sweep.kind].numbers), list(pair(sweep.kind, None, None))
    return page("scenario.html", sweep=sweep, row=row, main=main, figures=figures, words=plots.words)


def _spec(database: Database, plot: str, sweep_id: str, query: dict[str, str]) -> charts.Spec:
    """A chart of `plots.PLOTS`. Raises `SweepNotFound`."""
    if plot not in plots.PLOTS:
        raise HTTPException(404)
    with database.begin() as uow:
        sweep = _sweep(uow, sweep_id)
        return plots.PLOTS[plot](uow, sweep, SweepView.of(sweep, KINDS[sweep.kind], query))


def _sweep(uow: UnitOfWork, sweep_id: str) -> Sweep:
    """Raises `SweepNotFound`."""
    return uow.sweeps.get(id_of(sweep_id, SweepNotFound))


def _values(uow: UnitOfWork, sweep: Sweep, view: SweepView) -> dict[str, Any]:
    kind = KINDS[sweep.kind]
    selection = ScenarioFilter(view.is_feasible)
    rows = results.scenarios(
        uow, sweep.id, selection, sort=view.sort, descending=view.descending, after=view.place, size=ROWS
    )
    done = uow.sweeps.progress(sweep.id).done
    is_sized = "first_breaking_month" in kind.numbers
    return {
        "kind": kind,
        "axes": list(results.axes_of(kind, sweep)),
        "rows": [row for _, row in rows.items],
        "more": _after(rows.items[-1], view) if rows.has_more else None,
        "done": done,
        "tabs": TABS,
        "sizes": plots.sizes(uow, sweep) if is_sized and done and not view.tab else [],
        "horizon": plots.horizon_of(sweep) if is_sized else None,
        "choices": [] if kind.ranking or not done or view.tab else plots.choices(uow, sweep, view),
        "best": results.best(uow, sweep.id) if kind.ranking is not None and done else None,
        "most_points": plots.MOST_POINTS,
    }


def _after(last: tuple[int, Mapping[str, Any]], view: SweepView) -> str:
    index, row = last
    value = row.get(view.sort)
    return f"{'null' if value is None else value},{index}"
