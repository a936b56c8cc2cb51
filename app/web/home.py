"""`/`: an introduction, the newest plans, and the form that makes a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response, params
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from app.core.replicas.rack_modes import RackMode
from app.core.replicas.registry import PLACEMENTS
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.store.records import PlanFilter, PlanHead, PlanTopic
from app.web import first_plan
from app.web.first_plan import Unusable
from app.web.pages import page
from app.web.plans import VIEWS
from app.web.views import Worth

NEWEST = 10
_RACK_MODES = {
    RackMode.ENFORCED: "if one broker has a rack, all brokers need one",
    RackMode.SAFE: "if a broker has no rack, racks are ignored",
    RackMode.DISABLED: "racks are ignored",
}


@dataclass(frozen=True, slots=True)
class ListedPlan:
    """A plan as a list shows it."""

    head: PlanHead
    topics: Sequence[PlanTopic]

    @property
    def partitions(self) -> int:
        """Those of all topics."""
        return sum(topic.partitions for topic in self.topics)

    @property
    def title(self) -> str:
        """The title of the plan's page."""
        return VIEWS[self.head.kind].title(self.head, [topic.name for topic in self.topics])

    @property
    def worth(self) -> Worth:
        """Its quality, as a share."""
        return VIEWS[self.head.kind].worth(self.head)


def router(
    database: Database,
    limits: Limits,
    *,
    dependencies: Sequence[params.Depends] = (),
    form_dependencies: Sequence[params.Depends] = (),
) -> APIRouter:
    """The home page.

    Parameters
    ----------
    dependencies : apply to every request.
    form_dependencies : apply also to a request that makes a plan.
    """
    routes = APIRouter(include_in_schema=False, dependencies=list(dependencies))

    async def typed_form(request: Request) -> Mapping[str, str]:
        # A part may be as long as a body: the texts are what makes a body long.
        async with request.form(max_fields=50, max_files=50, max_part_size=limits.max_body_bytes) as form:
            return {name: await _text(form.get(name, "")) for name in first_plan.EMPTY}

    @routes.get("/")
    def home(example: str = "") -> Response:
        with database.begin() as uow:
            newest = _newest(uow)
        return _page(first_plan.EXAMPLE if example else first_plan.EMPTY, newest=newest, is_example=bool(example))

    @routes.post("/", dependencies=list(form_dependencies))
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
    newest: Sequence[ListedPlan] = (),
    problems: Mapping[str, str] | None = None,
    is_example: bool = False,
) -> Response:
    return page(
        "home.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        typed=typed,
        newest=newest,
        problems=problems or {},
        labels=first_plan.LABELS,
        is_example=is_example,
        algorithms=PLACEMENTS.values(),
        rack_modes=_RACK_MODES,
    )


def _newest(uow: UnitOfWork) -> list[ListedPlan]:
    newest = uow.plans.page(PlanFilter(), before=None, size=NEWEST).items
    return [ListedPlan(uow.plans.get(plan.id), uow.plans.topics(plan.id)) for plan in newest]


async def _text(value: UploadFile | str) -> str:
    """The text of a field, also if it was sent as a file; a reader then reports invalid bytes."""
    return value if isinstance(value, str) else (await value.read()).decode(errors="replace")
