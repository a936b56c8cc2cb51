"""The files of a plan as parts of its page, which a share link opens; the API has the same ones under `/v1/plans`."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.core.model import INT32_MAX
from app.services import plans
from app.services.plans.kinds import export
from app.store.database import Database
from app.web.pages import Pages, download


def router(database: Database) -> APIRouter:
    """The files."""
    routes = Pages()

    @routes.get("/plans/{plan_id:uuid}/plan.json")
    def document(plan_id: UUID) -> Response:
        with database.begin() as uow:
            plan = plans.load(uow, plan_id)
        return Response(plans.plan_json(plan), media_type="application/json")

    @routes.get("/plans/{plan_id:uuid}/export")
    def file(
        plan_id: UUID,
        format: Literal[tuple(plans.FORMATS)],  # type: ignore[valid-type] # noqa: A002 -- as in the API
        batch: Annotated[int | None, Query(ge=1, le=INT32_MAX)] = None,
        inverse: bool = False,
        from_: Annotated[UUID | None, Query(alias="from")] = None,
    ) -> Response:
        part = plans.FilePart(batch, inverse, from_)
        with database.begin() as uow:
            written = export(uow, plans.load(uow, plan_id), format, part)
        return download(written, plans.FORMATS[format].media_type, plans.file_name(plan_id, format, part))

    return routes
