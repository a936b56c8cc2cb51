"""`/v1/ledger`: how well the executions of plans were predicted."""

from typing import Annotated

from fastapi import Query, Response

from app.api.http.auth import Uow
from app.api.http.negotiation import json_response
from app.api.http.operations import Operations
from app.services.bodies import AnswerRecord
from app.services.fields import Name
from app.store.records import ExecutedPlan

MOST_PLANS = 100
router = Operations("/v1/ledger", "plans", scope="read")


class ErrorDocument(AnswerRecord):
    """|actual − predicted| / predicted, over plans."""

    median: float
    """Error that half of the plans do not exceed."""
    p90: float
    """Error that nine of ten plans do not exceed."""


class LedgerSummaryDocument(AnswerRecord):
    """Relative errors of the predictions of plans that were executed; null if nothing can be compared."""

    count: int
    """Number of plans whose execution was recorded."""
    bytes_error: ErrorDocument | None
    """Error of the copied bytes, over these plans."""
    seconds_error: ErrorDocument | None
    """Error of the duration, over these plans."""
    plans: list[ExecutedPlan]
    """The newest 100 of them, newest first."""


@router.operation("GET", answer=LedgerSummaryDocument)
def get_ledger(
    uow: Uow, cluster: Annotated[Name | None, Query(description="Only plans of this cluster.")] = None
) -> Response:
    """Errors of predictions.

    The errors of predicted bytes and seconds, over the plans whose execution was recorded by their progress with a
    `log`.
    """
    found = uow.plans.ledger(cluster=cluster, size=MOST_PLANS)
    of_bytes, of_seconds = (ErrorDocument(*of) if of else None for of in (found.bytes_error, found.seconds_error))
    return json_response(LedgerSummaryDocument(found.count, of_bytes, of_seconds, [*found.plans]))
