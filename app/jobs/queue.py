"""Take jobs from the queue and run them. A worker that dies over one leaves it to another."""

import asyncio
import signal
from datetime import timedelta
from typing import Any
from uuid import UUID

import procrastinate
import psycopg
import structlog

from app.jobs import sweeps
from app.jobs.spark import Spark
from app.services import jobs
from app.services.limits import Limits
from app.services.plans.outcomes import PlanOutcome, receiving
from app.store.database import Database
from app.store.jobs import RUN_JOB
from app.store.sweeps import RUN_SWEEP

HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 10.0
"""A worker that was not heard of for so long is dead, and what it was doing is done again."""
STALLED_LOOKED_FOR = "* * * * * */5"
"""When dead workers are looked for; a cron line whose last field is seconds."""
CONNECTED_WITHIN_S = 5.0
BEGUN_AGAIN_AFTER_S = 1.0
"""After the database was lost."""
MAX_ATTEMPTS = 3
CONCURRENCY = 2
"""What a worker does at a time: a plan does not wait for a sweep's chunk, nor one sweep for another."""


def run_job(context: procrastinate.JobContext, *, job_id: str) -> None:
    """Run one stored job. What is not a failure of the domain is tried again, and in the end is the job's error."""
    database: Database = context.additional_context["database"]
    limits: Limits = context.additional_context["limits"]
    try:
        with receiving(lambda outcome: _log_plan(job_id, outcome)):
            jobs.run(database, UUID(job_id), limits)
    except Exception as unexpected:
        if context.job.attempts + 1 >= MAX_ATTEMPTS:
            jobs.give_up(database, UUID(job_id), f"{type(unexpected).__name__} after {MAX_ATTEMPTS} attempts")
        raise


def _log_plan(job_id: str, outcome: PlanOutcome) -> None:
    structlog.get_logger().info("job.planned", job=job_id, code=outcome.code, **outcome.log_fields())


def run_sweep(context: procrastinate.JobContext, *, sweep_id: str) -> None:
    """Score one chunk of a sweep, which puts the next one on the queue."""
    database: Database = context.additional_context["database"]
    try:
        sweeps.run_chunk(database, context.additional_context["spark"], UUID(sweep_id))
    except Exception as unexpected:
        if context.job.attempts + 1 >= MAX_ATTEMPTS:
            sweeps.give_up(database, UUID(sweep_id), f"{type(unexpected).__name__} after {MAX_ATTEMPTS} attempts")
        raise


async def retry_stalled_jobs(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 — given to every periodic task
    """Put the jobs of dead workers back on the queue."""
    manager = context.app.job_manager
    for job in await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
        structlog.get_logger().warning("job.stalled", queue_id=job.id, task=job.task_name)
        await manager.retry_job(job)


def forget_answers(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 — as above
    """Forget what was answered to Idempotency-Keys long ago."""
    database: Database = context.additional_context["database"]
    with database.begin() as uow:
        uow.answers.forget(older_than=context.additional_context["idempotency_age"])


def forget_sweeps(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 — as above
    """Forget the sweeps that ended long ago."""
    database: Database = context.additional_context["database"]
    with database.begin() as uow:
        uow.sweeps.expire(older_than=context.additional_context["sweep_age"])


async def run(
    database: Database, limits: Limits, *, spark: Spark, idempotency_age: timedelta, sweep_age: timedelta
) -> None:
    """Run jobs until the process is told to stop; the job at hand is finished first.

    A database that is lost ends the queue's own loop. It is begun again, and what was being done is then done again.
    """
    given: dict[str, Any] = {
        "database": database,
        "limits": limits,
        "spark": spark,
        "idempotency_age": idempotency_age,
        "sweep_age": sweep_age,
    }
    told_to_stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told_to_stop.set)
    stopping = asyncio.create_task(told_to_stop.wait())
    while not told_to_stop.is_set():
        working = asyncio.create_task(_work(database, given))
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if told_to_stop.is_set():
            working.cancel()
        try:
            await working
        except asyncio.CancelledError:
            return
        except (procrastinate.exceptions.ConnectorException, psycopg.Error) as lost:
            structlog.get_logger().warning("queue.lost", detail=str(lost.__cause__ or lost).strip())
        await asyncio.sleep(BEGUN_AGAIN_AFTER_S)


async def _work(database: Database, given: dict[str, Any]) -> None:
    dsn = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    app = _app(procrastinate.PsycopgConnector(conninfo=dsn, min_size=1, max_size=4, timeout=CONNECTED_WITHIN_S))
    async with app.open_async():
        await app.run_worker_async(
            additional_context=given,
            concurrency=CONCURRENCY,
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            delete_jobs="always",
        )


def _app(connector: procrastinate.PsycopgConnector) -> procrastinate.App:
    app = procrastinate.App(connector=connector)
    # Whatever a task raises is tried again: what the caller could mend has ended the job before.
    retry = procrastinate.RetryStrategy(max_attempts=MAX_ATTEMPTS, exponential_wait=2, retry_exceptions=[Exception])
    app.task(name=RUN_JOB, pass_context=True, retry=retry)(run_job)
    app.task(name=RUN_SWEEP, pass_context=True, retry=retry)(run_sweep)
    for function, cron in (
        (retry_stalled_jobs, STALLED_LOOKED_FOR),
        (forget_answers, "17 * * * *"),
        (forget_sweeps, "23 * * * *"),
    ):
        name = function.__name__
        app.periodic(cron=cron)(app.task(name=name, pass_context=True, queueing_lock=name)(function))
    return app
