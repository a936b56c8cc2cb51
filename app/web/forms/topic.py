"""`/plan/replicas`: the form that places a new topic."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.services.limits import Limits
from app.store.database import Database
from app.web.access import Access
from app.web.forms import first_plan
from app.web.forms.first_plan import Unusable
from app.web.pages import page

ADDRESS = "/plan/replicas"
_RACK_MODES = {
    RackMode.ENFORCED: "if one broker has a rack, all brokers need one",
    RackMode.SAFE: "if a broker has no rack, racks are ignored",
    RackMode.DISABLED: "racks are ignored",
}


def router(database: Database, limits: Limits, access: Access) -> APIRouter:
    """The form; making a plan needs the right to plan."""
    routes = APIRouter(include_in_schema=False)

    async def typed_form(request: Request) -> Mapping[str, str]:
        # A part may be as long as a body: the texts are what makes a body long.
        async with request.form(max_fields=50, max_files=50, max_part_size=limits.max_body_bytes) as form:
            return {name: await _text(form.get(name, "")) for name in first_plan.EMPTY}

    @routes.get(ADDRESS)
    def form(example: str = "") -> Response:
        return _page(first_plan.EXAMPLE if example else first_plan.EMPTY, is_example=bool(example))

    @routes.post(ADDRESS, dependencies=[access.plan])
    def make(typed: Annotated[Mapping[str, str], Depends(typed_form)]) -> Response:
        try:
            wanted = first_plan.read(typed)
            with database.begin() as uow:
                plan = first_plan.carry_out(uow, wanted, limits)
        except Unusable as unusable:
            return _page(typed, problems=unusable.problems)
        return RedirectResponse(f"/plans/{plan.head.id}", HTTPStatus.SEE_OTHER)

    return routes


def _page(
    typed: Mapping[str, str],
    *,
    problems: Mapping[str, str] | None = None,
    is_example: bool = False,
) -> Response:
    return page(
        "topic_form.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        typed=typed,
        problems=problems or {},
        labels=first_plan.LABELS,
        is_example=is_example,
        algorithms=PLACEMENTS.values(),
        rack_modes=_RACK_MODES,
    )


async def _text(value: UploadFile | str) -> str:
    """The text of a field, also if it was sent as a file; a reader then reports invalid bytes."""
    return value if isinstance(value, str) else (await value.read()).decode(errors="replace")
