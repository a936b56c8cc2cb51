"""`POST /v1/plans/{id}/progress`: progress of a reassignment at a later snapshot."""

from typing import Annotated

from fastapi import Body, Response
from pydantic import Field

from app.api import examples
from app.api.http.auth import Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.api.http.operations import Operations, json_response
from app.errors.requests import ConflictingFields
from app.services import plans
from app.services.fields import Id, OnSnapshot
from app.services.reassignment.progress.progress import PlanProgressDocument, progress_of, with_log

MOST_LOG_CHARACTERS = 2**22
"""Length of the largest log."""

router = Operations("/v1/plans", "plans")  # its routes are among those of stored plans


class ProgressRequest(OnSnapshot):
    """A later snapshot of the plan's cluster, by default the newest one, and the log of the execution."""

    log: Annotated[str, Field(max_length=MOST_LOG_CHARACTERS)] | None = None
    """The content of `run.log`, which `run.sh` of the plan's archive writes. If the plan is done, the bytes and
    times of its batches are stored as the plan's `ledger`, in place of an earlier one."""


@router.operation("POST /{plan_id:uuid}/progress", answer=PlanProgressDocument, takes=json_only)
def plan_progress(
    uow: Uow,
    once: OnceOnly,
    plan_id: Annotated[Id, examples.REASSIGNMENT_PLAN_ID],
    body: Annotated[ProgressRequest, Body(openapi_examples=examples.PROGRESS_REQUEST)],
) -> Response:
    """Compute the progress of a reassignment.

    Compare a reassignment with a later snapshot of its cluster: the batches that are done, in progress and left, the
    bytes and the time left, changes by something else, the next file, and the rollback from there.

    With the `log` of the execution of a plan that is done, the bytes and seconds of its batches are stored with the
    plan; the same log again changes nothing. Without a log nothing is stored.

    Partitions that something else has changed are in no file of the answer.
    """

    def answer() -> Response:
        plan = plans.load(uow, plan_id)
        named = body.cluster if body.snapshot_id else body.cluster or plan.head.cluster
        chosen = body.model_copy(update={"cluster": named}).on_newest(uow).snapshot_id
        if chosen is None:
            raise ConflictingFields("the plan is of no cluster, and no snapshot is given", path=("snapshot_id",))
        found = progress_of(uow, plan, chosen)
        return json_response(found.answer() if body.log is None else with_log(uow, found, body.log))

    return once(answer)
