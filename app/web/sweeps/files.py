"""The files of a sweep as parts of its page, which a share link opens: its scenarios as tables, and its definition."""

from typing import Literal
from uuid import UUID

import orjson
from fastapi import APIRouter, Request, Response

from app.formats.tables.scenario_tables import TABLES
from app.services import sweeps
from app.services.sweeps import results
from app.services.sweeps.kinds import KINDS
from app.services.sweeps.results import ScenarioFilter
from app.store.database import Database
from app.web.pages import Pages, download
from app.web.sweeps.view import SweepView


def router(database: Database) -> APIRouter:
    """The files."""
    routes = Pages()

    @routes.get("/sweeps/{sweep_id:uuid}/scenarios.{table}")
    def scenarios(request: Request, sweep_id: UUID, table: Literal[tuple(TABLES)]) -> Response:  # type: ignore[valid-type] # the formats decide
        """All scenarios that the page shows, in its order."""
        with database.begin() as uow:
            sweep = uow.sweeps.get(sweep_id)
            view = SweepView.of(sweep, KINDS[sweep.kind], dict(request.query_params))
            selection = ScenarioFilter(view.is_feasible)
            rows = results.every(uow, sweep_id, selection, sort=view.sort, descending=view.descending)
            written = TABLES[table].write(rows, results.columns(uow, sweep_id))
        return download(written, TABLES[table].media_type, f"sweep-{sweep_id}.{table}")

    @routes.get("/sweeps/{sweep_id:uuid}/definition.json")
    def definition(sweep_id: UUID) -> Response:
        """The body of a request that submits the sweep again."""
        with database.begin() as uow:
            document = sweeps.request_of(uow.sweeps.get(sweep_id))
        written = orjson.dumps(document, option=orjson.OPT_INDENT_2)
        return download(written, "application/json", f"sweep-{sweep_id}.json")

    return routes
