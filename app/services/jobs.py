"""Requests that a worker answers later, as stored jobs."""

from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from app.errors.every import DatabaseUnavailable, Failure, StorageFull, document_of
from app.services.limits import Limits
from app.services.plans import make_plan
from app.services.plans.kinds import KINDS
from app.store import transaction

if TYPE_CHECKING:
    from app.store.database import Database
    from app.store.jobs import StartedJob


class _Cancelled(Exception):
    """The job has been cancelled: whatever it was about to store is rolled back."""


def run(database: "Database", job_id: UUID, limits: Limits) -> None:
    """Run one job to its end and store the result.

    The plan and the job's end are one transaction: a worker that dies in between leaves a job that another runs again,
    and the plan, addressed by its content, is stored once. A failure of the domain ends the job;
    anything else goes to the queue, which tries again.

    A cancelled job stores nothing: that it has ended is noticed when its next step begins, if the process is not
    stopped before.
    """
    with database.begin() as uow:
        job = uow.jobs.start(job_id)
    if job is None:
        return
    with transaction.acting_as(job.team):
        _run(database, job_id, job, limits)


def _run(database: "Database", job_id: UUID, job: "StartedJob", limits: Limits) -> None:
    def begin(step: str) -> None:
        with database.begin() as uow:
            if not uow.jobs.advance(job_id, step):
                raise _Cancelled

    try:
        with database.begin() as uow:
            planner = KINDS[job.kind].planner
            plan = make_plan(uow, planner, planner.restored(job.request), limits, on_step=begin)
            if not uow.jobs.succeed(job_id, plan.head.id):
                raise _Cancelled
    except (DatabaseUnavailable, StorageFull):
        raise  # the job is run again once the database is back
    except Failure as failure:
        with database.begin() as uow:
            uow.jobs.fail(job_id, document_of(failure))
    except _Cancelled:
        structlog.get_logger().info("job.cancelled", job=str(job_id))
