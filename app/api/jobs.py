"""`/v1/jobs`: requests with `Prefer: respond-async`."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Response, Security
from pydantic import BaseModel

from app.api import examples
from app.api.auth import principal
from app.api.dependencies import Uow
from app.api.fields import Id
from app.api.negotiation import json_response
from app.api.problems import responses
from app.errors.lookups import JobNotFound
from app.store.jobs import Job

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

RETRY_AFTER_SECONDS = 1


class JobDocument(BaseModel):
    """A job. `plan` is set once `state` is `succeeded`, `error` once it is `failed`."""

    id: UUID
    """Id of the job, a UUIDv7."""
    kind: str
    """Kind of the plan that the job makes: `replicas`, `reassignment`, `group` or `streams`."""
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    """State of the job; the last three are final."""
    plan: str | None
    """Path of the plan, `/v1/plans/{id}`; null unless `state` is `succeeded`."""
    error: dict[str, Any] | None
    """Problem that the request has met; null unless `state` is `failed`."""
    created_at: datetime
    """When the job was accepted, RFC 3339 in UTC."""
    started_at: datetime | None
    """When a worker started the job, RFC 3339 in UTC; null before."""
    finished_at: datetime | None
    """When the job ended, RFC 3339 in UTC; null before."""


@router.get(
    "/{job_id}",
    operation_id="get_job",
    summary="Read the state of a job",
    response_model=JobDocument,
    responses=responses(JobNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def get(uow: Uow, job_id: Annotated[Id, examples.JOB_ID]) -> Response:
    """Return the state of a job. While it is queued or running, `Retry-After` is the time until the next request; a
    job that has succeeded names its plan, a failed one its error.
    """
    job = uow.jobs.get(job_id)
    has_ended = job.finished_at is not None
    return _response(job, status=200, headers={} if has_ended else {"Retry-After": str(RETRY_AFTER_SECONDS)})


def wants_job(prefer: str | None) -> bool:
    """Whether a `Prefer` header has `respond-async` (RFC 7240)."""
    return "respond-async" in (prefer or "").lower().replace(" ", "").split(",")


def accepted(job: Job) -> Response:
    """202: the URL of the job, and when to poll it."""
    headers = {
        "Location": f"/v1/jobs/{job.id}",
        "Retry-After": str(RETRY_AFTER_SECONDS),
        "Preference-Applied": "respond-async",
    }
    return _response(job, status=202, headers=headers)


def _response(job: Job, *, status: int, headers: dict[str, str]) -> Response:
    document = {name: getattr(job, name, None) for name in JobDocument.model_fields}
    document["plan"] = None if job.plan_id is None else f"/v1/plans/{job.plan_id}"
    return json_response(document, status, headers)
