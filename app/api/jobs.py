"""`/v1/jobs`: requests with `Prefer: respond-async`; list, follow and cancel them."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query, Request, Response

from app.api import examples
from app.api.http.auth import Uow
from app.api.http.following import EVENT_STREAM, Observation, Preferences, WaitPreference, awaited, events
from app.api.http.operations import Operations, PageSize, PageToken, id_of_token, json_response, page_response
from app.services.bodies import AnswerRecord
from app.services.fields import Id
from app.services.plans.kinds import KINDS
from app.store.database import UnitOfWork
from app.store.jobs import STEPS, Job

router = Operations("/v1/jobs", "jobs")

RETRY_AFTER_SECONDS = 1
JobId = Annotated[Id, examples.JOB_ID]
State = Literal["queued", "running", "succeeded", "failed", "cancelled"]


class JobProgress(AnswerRecord):
    """How far a running job is."""

    step: Literal[STEPS]  # type: ignore[valid-type] # the store's
    """Step in progress: the request and the snapshot become a problem, it is solved, the solution is verified and
    measured, other releases of Kafka are compared, and the plan is stored.
    """
    steps_done: int
    """Number of complete steps."""
    steps: int
    """Number of all steps. Their durations differ; `solve` usually takes longest."""


class JobDocument(AnswerRecord):
    """A job. `plan` is set once `state` is `succeeded`, `error` once it is `failed`."""

    id: UUID
    """Id of the job, a UUIDv7."""
    kind: str
    """Kind of the plan that the job makes: `replicas`, `reassignment`, `group` or `streams`."""
    state: State
    """State of the job; the last three are final."""
    progress: JobProgress | None
    """How far the job is; null unless `state` is `running`."""
    plan: str | None
    """Path of the plan, `/v1/plans/{id}`; null unless `state` is `succeeded`, and again once the plan is deleted."""
    error: dict[str, Any] | None
    """Problem that the request has met; null unless `state` is `failed`."""
    created_at: datetime
    """When the job was accepted, RFC 3339 in UTC."""
    started_at: datetime | None
    """When a worker started the job, RFC 3339 in UTC; null before."""
    finished_at: datetime | None
    """When the job ended, RFC 3339 in UTC; null before."""


class JobsPage(AnswerRecord):
    """Jobs, newest first."""

    items: list[JobDocument]
    """Jobs of the page."""
    next_page_token: str | None
    """Token of the next page; null on the last page."""


@router.operation("GET", answer=JobsPage, scope="read")
def list_jobs(
    uow: Uow,
    kind: Annotated[Literal[tuple(KINDS)] | None, Query(description="Jobs that make plans of this kind.")] = None,  # type: ignore[valid-type] # the registry decides
    state: Annotated[State | None, Query(description="Jobs in this state.")] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """List jobs, newest first.

    Page through the jobs of plans. Sweeps have a list of their own, `/v1/sweeps`.
    """
    page = uow.jobs.page(kind=kind, state=state, before=id_of_token(page_token), size=page_size)
    return page_response(page, map(_document, page.items))


@router.operation("GET /{job_id}", answer=JobDocument, scope="read")
def get_job(request: Request, uow: Uow, job_id: JobId, prefer: WaitPreference) -> Response:
    """Read the state of a job.

    Return the state and the progress of a job. While it is queued or running, `Retry-After` is the time until the
    next request; a job that has succeeded names its plan, a failed one its error.

    With `Prefer: wait=20` the answer comes once the job has ended, after 20 s at the latest.
    """
    now = _of_observation(uow, observed(uow, job_id))
    return awaited(request, prefer, now, observe=partial(observed, job_id=job_id), render=_of_observation)


@router.operation(
    "GET /{job_id}/events",
    scope="read",
    others={200: {"content": {EVENT_STREAM: {}}, "description": "Progress until the job has ended"}},
)
def follow_job(request: Request, uow: Uow, job_id: JobId) -> Response:
    """Follow a job's progress as events.

    Server-sent events: `progress` when a step begins, and a last one named after the final state. The data of each
    is the job.
    """
    uow.jobs.get(job_id)
    return events(request, partial(observed, job_id=job_id))


@router.operation("DELETE /{job_id}", answer=JobDocument, scope="plan")
def cancel_job(uow: Uow, job_id: JobId) -> Response:
    """Cancel a job.

    End a job without a plan. It is `cancelled` at once and nothing of it is stored.

    A queued job never starts. The process that plans a running job is killed within a second. A job that has ended is
    a 409 problem.
    """
    return json_response(_document(uow.jobs.cancel(job_id)))


def accepted(job: Job, prefer: Preferences) -> Response:
    """202: the URL of the job, and when to poll it."""
    headers = {
        "Location": f"/v1/jobs/{job.id}",
        "Retry-After": str(RETRY_AFTER_SECONDS),
        "Preference-Applied": prefer.applied,
    }
    return json_response(_document(job), 202, headers)


def observed(uow: UnitOfWork, job_id: UUID) -> Observation:
    """A look at a job."""
    job = uow.jobs.get(job_id)
    done = len(STEPS) if job.state == "succeeded" else 0 if job.step is None else STEPS.index(job.step)
    return Observation(_document(job), done, (job.state, job.step))


def _of_observation(_: UnitOfWork, observation: Observation) -> Response:
    headers = {} if observation.has_ended else {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return json_response(observation.document, headers=headers)


def _document(job: Job) -> dict[str, object]:
    is_running = job.state == "running" and job.step is not None
    progress = JobProgress(job.step, STEPS.index(job.step), len(STEPS)) if is_running else None
    return vars(JobDocument.of(job, progress=progress, plan=job.plan_id and f"/v1/plans/{job.plan_id}"))
