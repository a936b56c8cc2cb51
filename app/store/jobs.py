"""Jobs: requests with `Prefer: respond-async`, and their states."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from app.errors import Json
from app.errors.lookups import JobNotFound
from app.store.ids import uuid7
from app.store.queue import defer
from app.store.tables import jobs
from app.store.transaction import Store, columns_of

RUN_JOB = "run_job"
"""Name of the queue task that runs a job; its argument is the id of the job."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job: queued, running, succeeded (with `plan_id`), failed (with `error`) or cancelled."""

    id: UUID
    kind: str
    state: str
    request: Mapping[str, Json]
    plan_id: UUID | None
    error: Mapping[str, Json] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


_COLUMNS = columns_of(jobs, Job)


class Jobs(Store):
    """Jobs in one transaction."""

    def enqueue(self, kind: str, request: Mapping[str, Json], *, job_id: UUID | None = None) -> Job:
        """Store a job and put it on the queue, in the same transaction."""
        new = jobs.insert().values(id=job_id or uuid7(), kind=kind, state="queued", request=request)
        job = Job(*self._writing.execute(new.returning(*_COLUMNS)).one())
        defer(self._writing, RUN_JOB, {"job_id": str(job.id)})
        return job

    def get(self, job_id: UUID) -> Job:
        """The job, or `JobNotFound`."""
        row = self._reading.execute(sa.select(*_COLUMNS).where(jobs.c.id == job_id)).one_or_none()
        if row is None:
            raise JobNotFound(f"there is no job {job_id}", job_id=str(job_id))
        return Job(*row)

    def start(self, job_id: UUID) -> Job | None:
        """Mark a queued or stalled job as running; None if it has ended already, so that it does not run twice."""
        started = (
            jobs.update()
            .where(jobs.c.id == job_id, jobs.c.state.in_(("queued", "running")))
            .values(state="running", started_at=sa.func.coalesce(jobs.c.started_at, sa.func.now()))
            .returning(*_COLUMNS)
        )
        row = self._writing.execute(started).one_or_none()
        return None if row is None else Job(*row)

    def succeed(self, job_id: UUID, plan_id: UUID) -> None:
        """End a job with its plan."""
        self._end(job_id, state="succeeded", plan_id=plan_id)

    def fail(self, job_id: UUID, error: Mapping[str, Json]) -> None:
        """End a job with its failure."""
        self._end(job_id, state="failed", error=error)

    def _end(self, job_id: UUID, **values: object) -> None:
        self._writing.execute(jobs.update().where(jobs.c.id == job_id).values(finished_at=sa.func.now(), **values))
