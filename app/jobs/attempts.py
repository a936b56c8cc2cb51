"""How often a job or a chunk of a sweep is tried: attempts that fail unexpectedly, and workers that are lost over one.

The counts are in the rows of jobs and sweeps, not in the queue, whose count of attempts has those that a stopping
worker has handed back, too.
"""

from uuid import UUID

import structlog

from app.errors.machine import SparkJobFailed
from app.services import jobs, sweeps
from app.store.attempts import Count
from app.store.database import Database, UnitOfWork
from app.store.jobs import RUN_JOB

MAX_FAILURES = 3
"""Attempts that fail unexpectedly before the job fails."""
MAX_LOSSES = 10
"""Workers that are lost during a job before it fails: each of them may have ended for a reason of its own."""


def failed(database: Database, task: str, row_id: UUID, reason: str) -> bool:
    """Count a failed attempt; whether the job is tried again. After the last attempt it has ended."""
    detail = f"it failed {MAX_FAILURES} times, at last because {reason}"
    with database.begin() as uow:
        return _count(uow, task, row_id, "failures", detail)


def lost(uow: UnitOfWork, task: str, row_id: UUID) -> bool:
    """Count a worker that ended or stopped answering during the job; returns as `failed` does."""
    return _count(uow, task, row_id, "losses", f"{MAX_LOSSES} workers ended while they ran it")


def _count(uow: UnitOfWork, task: str, row_id: UUID, counted: Count, detail: str) -> bool:
    maximum = MAX_FAILURES if counted == "failures" else MAX_LOSSES
    count = (uow.jobs if task == RUN_JOB else uow.sweeps).count_attempt(row_id, counted)
    if count < maximum:
        return True
    structlog.get_logger().error("job.given_up", task=task, id=str(row_id), detail=detail)
    if task == RUN_JOB:
        jobs.give_up(uow, row_id, detail)
    else:
        sweeps.fail(uow, row_id, SparkJobFailed(detail))
    return False
