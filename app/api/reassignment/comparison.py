"""`POST /v1/plans/{id}/diff`: a stored reassignment beside one of another origin."""

from typing import Annotated, Any

from fastapi import Body, Response
from pydantic import BeforeValidator, Field

from app.api import examples
from app.api.http import operations
from app.api.http.auth import Uow, json_or_text, of_text
from app.api.http.idempotency import OnceOnly
from app.services import plans
from app.services.bodies import Request
from app.services.checks.comparison import ComparisonWithTextDocument, compare_with_text
from app.services.fields import Id

router = operations.Operations("/v1/plans", "plans")  # its routes are among those of stored plans


class ComparisonRequest(Request):
    """A reassignment of another origin, for the cluster of the plan."""

    output: Annotated[str, Field(min_length=1)]
    """Output of `kafka-reassign-partitions`, its file, or the proposal of another tool, unchanged."""


@router.operation(
    "POST /{plan_id:uuid}/diff",
    answer=ComparisonWithTextDocument,
    takes=json_or_text,
    openapi_extra=examples.COMPARISON_TEXT,
)
def compare_plan(
    uow: Uow,
    once: OnceOnly,
    plan_id: Annotated[Id, examples.REASSIGNMENT_PLAN_ID],
    body: Annotated[ComparisonRequest, BeforeValidator(of_text), Body(openapi_examples=examples.COMPARISON_REQUEST)],
    page_size: operations.PageSize = 100,
    page_token: operations.PageToken = None,
) -> Response:
    """Compare a reassignment with one of another origin.

    List the partitions that the plan has otherwise than the text: the file or the output of
    `kafka-reassign-partitions`, or the proposal of another tool, such as Cruise Control. A `text/plain` body is that
    text. Partitions that neither names are as they were, and no difference.
    """

    def answer() -> Response:
        compared = compare_with_text(uow, plans.load(uow, plan_id), body.output)
        difference, start = compared.difference, operations.offset_of_token(page_token)
        token = operations.token_of_offset(start + page_size) if start + page_size < difference.total else None
        items = difference.items(start, start + page_size)
        document: dict[str, Any] = {"summary": difference.summary, "items": items, "next_page_token": token}
        return operations.json_response(document | {"warnings": compared.warnings})

    return once(answer)
