"""Housekeeping of a worker beside its jobs: it finds the jobs of dead workers, and deletes expired rows.

Nothing of it is a task of the queue, whose periodic tasks follow the clock of the worker's machine: if that is set back
by a day, no dead worker is found for a day, and if it is set forward, 17,280 searches are queued. Here pauses are
monotonic, and ages are those that the database states.

How often a job or a chunk of a sweep is tried: attempts that fail unexpectedly, and workers that are lost over one.

The counts are in the rows of jobs and sweeps, not in the queue, whose count of attempts has those that a stopping
worker has handed back, too.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

import sqlalchemy as sa
import structlog

from app.errors.access import DatabaseUnavailable, ServiceBusy, StorageFull
from app.errors.machine import SparkJobFailed
from app.services import sweeps
from app.services.webhooks import LONGEST_PAUSE
from app.store.database import Database, UnitOfWork
from app.store.jobs import RUN_JOB
from app.store.queue import DELIVERIES, JOBS, Count
from app.store.sweeps import RUN_SWEEP

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
        uow.jobs.fail(row_id, {"code": "internal_error", "detail": detail})
    else:
        sweeps.fail(uow, row_id, SparkJobFailed(detail))
    return False


FORGETS_EVERY_S = 3600.0
_LATEST = {JOBS: timedelta(minutes=1), DELIVERIES: LONGEST_PAUSE + timedelta(minutes=1)}
"""No task of a queue is scheduled later than that."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How old rows become before a worker deletes them: stored answers, ended sweeps, deliveries, audit entries."""

    answers: timedelta
    sweeps: timedelta
    deliveries: timedelta
    audit_entries: timedelta


@dataclass(slots=True)
class DeadWorkers:
    """Distinguishes dead workers from clocks that jump.

    A worker is dead if by the clock of the database it has had no heartbeat for `silent_s`, and none either while this
    object looked, for `confirmed_s` on a monotonic clock. A jump makes every worker silent, until its next heartbeat.
    """

    database: Database
    silent_s: float
    confirmed_s: float
    clock: Callable[[], float] = monotonic
    _since: dict[tuple[int, datetime], float] = field(default_factory=dict)

    def repeat_their_tasks(self) -> None:
        """Put the tasks of dead workers on the queue; a job over which too many workers died has failed then."""
        with self.database.begin() as uow:
            now, silent = self.clock(), uow.queue.silent_workers(seconds=self.silent_s)
            self._since = {each: self._since.get(each, now) for each in silent.items()}
            dead = {id_: last for (id_, last), since in self._since.items() if now - since >= self.confirmed_s}
            for task in uow.queue.repeat_tasks(dead):
                structlog.get_logger().warning("job.stalled", queue_id=task.id, task=task.name)
                if task.name in {RUN_JOB, RUN_SWEEP}:
                    row_id = next(value for name, value in task.arguments.items() if name != "traceparent")
                    lost(uow, task.name, UUID(str(row_id)))
            for queue, longest in _LATEST.items():
                if count := uow.queue.bring_forward(queue, later_than=longest):
                    structlog.get_logger().warning("queue.clock_set_back", queue=queue, tasks=count)


async def keep_house(database: Database, retention: Retention, dead: DeadWorkers, *, pause_s: float) -> None:
    """Look for dead workers after each pause, and for old rows at once and every hour, until cancelled."""
    old_rows: tuple[Callable[[UnitOfWork], int], ...] = (
        lambda uow: uow.answers.expire(older_than=retention.answers),
        lambda uow: uow.sweeps.expire(older_than=retention.sweeps),
        lambda uow: uow.webhooks.expire(older_than=retention.deliveries),
        lambda uow: uow.audit.expire(older_than=retention.audit_entries),
    )

    def forget() -> None:
        for expire in old_rows:
            with database.begin() as uow:
                expire(uow)

    forgets_at = monotonic()
    while True:
        await asyncio.to_thread(_unless_unavailable, dead.repeat_their_tasks)
        if monotonic() >= forgets_at:
            forgets_at = monotonic() + FORGETS_EVERY_S
            await asyncio.to_thread(_unless_unavailable, forget)
        await asyncio.sleep(pause_s)


def _unless_unavailable(work: Callable[[], None]) -> None:
    """Leave it to the next time if the database does not answer, or two workers do the same."""
    try:
        work()
    except (DatabaseUnavailable, ServiceBusy, StorageFull, sa.exc.SQLAlchemyError) as failure:
        structlog.get_logger().warning("housekeeping.postponed", reason=type(failure).__name__)
