"""`POST /v1/plans/{id}/progress`: what a reassignment has done and left at a later snapshot."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Depends, Response
from pydantic import BaseModel, Field

from app.api import examples
from app.api.http.auth import Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.api.http.json_bodies import JsonRoute
from app.api.http.negotiation import json_response
from app.api.models.clusters import WarningDocument
from app.api.problems.responses import responses
from app.api.reassignment.documents import LedgerDocument
from app.errors.access import IdempotencyKeyInFlight, UnsupportedMediaType
from app.errors.reassignments import LogOfAnotherPlan, NoProgress, SnapshotOfAnotherCluster, SnapshotTooOld
from app.errors.requests import ConflictingFields, MalformedText, PlanNotFound, QuotaExceeded, SnapshotNotFound
from app.services import plans
from app.services.fields import Id, OnSnapshot
from app.services.reassignment import Drift
from app.services.reassignment.progress.ledger import with_log
from app.services.reassignment.progress.progress import BatchProgress, progress_of
from app.services.reassignment.reports.batches import ExecutedStep

MOST_LOG_CHARACTERS = 2**22
"""Length of the largest log."""

router = APIRouter(route_class=JsonRoute)  # is included in that of stored plans


class ProgressRequest(OnSnapshot):
    """A later snapshot of the plan's cluster, by default the newest one, and the log of the execution."""

    log: Annotated[str, Field(max_length=MOST_LOG_CHARACTERS)] | None = None
    """The content of `run.log`, which `run.sh` of the plan's archive writes. If the plan is done, what its batches
    copied and took is stored as the plan's `ledger`, in place of what was stored before."""


class PlanProgressDocument(BaseModel):
    """What a reassignment has done and left at a later snapshot, and the files to go on or back from there."""

    plan_id: Id
    """Id of the plan."""
    snapshot_id: Id
    """Id of the snapshot that the progress is computed from."""
    state: Literal["not_started", "in_progress", "done", "drifted"]
    """`drifted`: something else has changed partitions that the plan moves or creates."""
    batches: list[BatchProgress]
    """Batches, in the order of execution."""
    replicas_left: int
    """Number of replicas to copy that are not in sync yet."""
    bytes_left: int
    """Bytes of these replicas, each as a whole, of those of known size."""
    unknown_size_replicas_left: int
    """Number of these replicas whose size is unknown."""
    seconds_left: float | None
    """Duration of what is left, batch after batch, at the throttle of the plan; null if it is unknown."""
    new_partitions: int
    """Number of partitions that the plan creates."""
    new_partitions_left: int
    """Number of these partitions that the snapshot lacks."""
    returning_partitions: int
    """Number of partitions that are being reassigned back to their lists before the plan."""
    drift: list[Drift]
    """The first 100 partitions that something else has changed: those of the plan, then others of the cluster, by topic
    and partition id."""
    drifted_partitions: int
    """Number of partitions of the plan that something else has changed."""
    drifted_other_partitions: int
    """Number of other partitions that are not as in the plan's snapshot; they do not count for `state`."""
    next: str | None
    """The first batch with partitions to be requested of Kafka, as `batch/3`; null if there is none."""
    next_file: str | None
    """Path of the file with these partitions; null if there is none."""
    rollback: str | None
    """Path of the file with the previous lists of all partitions that have others now; null if none has."""
    rollback_execution: list[ExecutedStep]
    """The same in batches: inverses of those that were begun, from the last to the first, each the file
    `format=batch&inverse=true` with `from`, and the cordons in between; empty if none was begun."""
    ledger: LedgerDocument | None
    """What the execution took, against what was predicted; null if no log of it was recorded."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the answer; empty if there are none."""


@router.post(
    "/{plan_id:uuid}/progress",
    operation_id="plan_progress",
    summary="Compute the progress of a reassignment",
    dependencies=[Depends(json_only)],
    response_model=PlanProgressDocument,
    responses=responses(
        PlanNotFound,
        SnapshotNotFound,
        ConflictingFields,
        NoProgress,
        SnapshotOfAnotherCluster,
        SnapshotTooOld,
        MalformedText,
        LogOfAnotherPlan,
        QuotaExceeded,
        UnsupportedMediaType,
        IdempotencyKeyInFlight,
    ),
)
def plan_progress(
    uow: Uow,
    once: OnceOnly,
    plan_id: Annotated[Id, examples.REASSIGNMENT_PLAN_ID],
    body: Annotated[ProgressRequest, Body(openapi_examples=examples.PROGRESS_REQUEST)],
) -> Response:
    """Compare a reassignment with a later snapshot of its cluster: the batches that are done, in progress and left, the
    bytes and the time left, what something else has changed, the next file, and the rollback from there.

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
        return json_response(found.as_json() if body.log is None else with_log(uow, found, body.log))

    return once(answer)
