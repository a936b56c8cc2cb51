"""Jobs: requests with `Prefer: respond-async`, and their states."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from app.errors import Json
from app.errors.requests import JobEnded, JobNotFound
from app.store.queue import ENDED, Attempted, defer
from app.store.tables import jobs
from app.store.webhooks import publish

RUN_JOB = "run_job"
"""Name of the queue task that runs a job; its argument is the id of the job."""
STEPS = ("resolve", "solve", "measure", "compare", "store")
"""The steps of a running job, in their order."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a team without its request, which may have megabytes.

    It is queued, running (with `step`, one of `STEPS`), succeeded (with `plan_id`), failed (with `error`) or cancelled.
    """

    id: UUID
    team: str
    kind: str
    state: str
    step: str | None
    plan_id: UUID | None
    error: Mapping[str, Json] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class StartedJob:
    """A job that a worker runs: a request of one kind of plan, for the job's team."""

    team: str
    kind: str
    request: Mapping[str, Json]


class Jobs(Attempted[Job]):
    """Jobs in one transaction."""

    _table, _record, _missing = jobs, Job, JobNotFound

    def enqueue(
        self, kind: str, request: Mapping[str, Json], *, job_id: UUID | None = None, deadline_s: int | None = None
    ) -> Job:
        """Store a job and put it on the queue, in the same transaction; `deadline_s` is the one that it asks for."""
        job = self._inserted(job_id, kind=kind, state="queued", request=request, deadline_s=deadline_s)
        defer(self._writing, RUN_JOB, {"job_id": str(job.id)})
        return job

    def start(self, job_id: UUID) -> StartedJob | None:
        """Mark a queued or stalled job as running; None if it has ended already, so that it does not run twice."""
        started = (
            _unfinished(job_id)
            .values(state="running", started_at=sa.func.coalesce(jobs.c.started_at, sa.func.now()))
            .returning(jobs.c.team, jobs.c.kind, jobs.c.request)
        )
        row = self._writing.execute(started).one_or_none()
        return None if row is None else StartedJob(*row)

    def advance(self, job_id: UUID, step: str) -> bool:
        """Record the step that a running job begins; False if the job has ended, as by `cancel`."""
        return self._writing.execute(_unfinished(job_id).values(step=step)).rowcount > 0

    def succeed(self, job_id: UUID, plan_id: UUID) -> bool:
        """End a job with its plan; False if it has ended already."""
        return self._end(job_id, state="succeeded", plan_id=plan_id)

    def fail(self, job_id: UUID, error: Mapping[str, Json]) -> None:
        """End a job with its failure, unless it has ended already."""
        self._end(job_id, state="failed", error=error)

    def cancel(self, job_id: UUID) -> Job:
        """End a job without a result, or raise `JobNotFound` or `JobEnded`."""
        job = self.get(job_id, for_update=True)
        if job.state in ENDED:
            raise JobEnded(f"job {job_id} is {job.state} and cannot be cancelled", state=job.state)
        self._end(job_id, state="cancelled")
        return self.get(job_id)

    def _end(self, job_id: UUID, **values: object) -> bool:
        # Nothing reads the request any more, and nothing would delete it.
        ended = _unfinished(job_id).values(finished_at=sa.func.now(), step=None, request={}, **values)
        job = self._written(ended)
        if job is not None:
            plan_id = None if job.plan_id is None else str(job.plan_id)
            links = {"job": f"/v1/jobs/{job.id}", "plan": plan_id and f"/v1/plans/{plan_id}"}
            code = None if job.error is None else job.error["code"]
            data: dict[str, Json] = {"job_id": str(job.id), "kind": job.kind, "state": job.state, "error_code": code}
            publish(self._writing, "job.ended", {**data, "plan_id": plan_id, "links": links}, team=job.team)
        return job is not None


def _unfinished(job_id: UUID) -> sa.Update:
    return jobs.update().where(jobs.c.id == job_id, jobs.c.state.not_in(ENDED))
