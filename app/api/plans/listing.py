"""`GET /v1/plans`: list plans."""

from typing import Annotated, Literal

from fastapi import Query, Response
from pydantic import Field

from app.api.http.auth import Uow
from app.api.http.operations import Operations, PageSize, PageToken, id_of_token, page_response
from app.errors.every import ConflictingFields, quoted
from app.formats.syntax.lines import first_repeated
from app.services.bodies import AnswerRecord
from app.services.fields import NAMED_VALUE, Moment, Name, TopicName
from app.services.plans import Status
from app.services.plans.answers import PlanSummary
from app.services.plans.kinds import KINDS
from app.store.records import PlanFilter

router = Operations("/v1/plans", "plans")


class PlansPage(AnswerRecord):
    """Plans, newest first."""

    items: list[PlanSummary]
    """Plans without their assignments, newest first."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


@router.operation("GET", answer=PlansPage, scope="read")
def list_plans(
    uow: Uow,
    kind: Annotated[Literal[tuple(KINDS)] | None, Query(description="Plans of this kind.")] = None,  # type: ignore[valid-type] # the registry decides
    status: Annotated[Status | None, Query(description="Plans of this status.")] = None,
    cluster: Annotated[Name | None, Query(description="Plans made from a snapshot of this cluster.")] = None,
    topic: Annotated[TopicName | None, Query(description="Plans that place this topic.")] = None,
    label: Annotated[
        list[Annotated[str, Field(max_length=320, pattern=NAMED_VALUE)]] | None,
        Query(description="`name=value`; plans that have all of them.", max_length=16),
    ] = None,
    created_after: Annotated[Moment | None, Query(description="RFC 3339; this moment or later.")] = None,
    created_before: Annotated[Moment | None, Query(description="RFC 3339; before this moment.")] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """List plans, newest first.

    Page through the plans. A plan is listed if it matches all filters.
    """
    pairs = [(name, value) for name, _, value in (pair.partition("=") for pair in dict.fromkeys(label or ()))]
    if (repeated := first_repeated(name for name, _ in pairs)) is not None:
        raise ConflictingFields(f"a plan has one value of the label {quoted(repeated)}, not two", path=("label",))
    plan_filter = PlanFilter(
        kind=kind,
        status=status,
        cluster=cluster,
        topic=topic,
        labels=dict(pairs),
        created_after=created_after,
        created_before=created_before,
    )
    page = uow.plans.selected(plan_filter, before=id_of_token(page_token), size=page_size)
    return page_response(page, page.items)
