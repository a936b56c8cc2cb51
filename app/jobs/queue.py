"""Run the jobs of the queue, and the deliveries to webhooks. If a worker dies, another runs its job again."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial, wraps
from typing import TYPE_CHECKING, Any
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
from app.store.queue import DELIVERIES, JOBS
from app.store.sweeps import RUN_SWEEP
from app.store.webhooks import DELIVER

if TYPE_CHECKING:
    from app.jobs.webhooks import Sender

HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 10.0
"""A worker without a heartbeat for so long is considered dead, and its jobs are run again."""
STALLED_CRON = "* * * * * */5"
"""When jobs of dead workers are searched for; the last field of the cron line is seconds."""
CONNECTION_TIMEOUT_S = 5.0
RECONNECTED_AFTER_S = 1.0
"""The pause after the connection to the database is lost."""
MAX_ATTEMPTS = 3
FINISHED_WITHIN_S = 0.5
"""A job that has not ended so long after the request to stop is put back on the queue."""
CONCURRENCY = 2
"""Jobs that a worker runs at a time: a plan does not wait for a sweep's chunk, nor one sweep for another."""

DELIVERY_CONCURRENCY = 8
"""Attempts to deliver an event that a worker makes at a time."""


class HandedBack(Exception):
    """The worker stops: another one runs the job."""


class _Retry(procrastinate.BaseRetryStrategy):
    """A job that is handed back is due at once; one that raised waits as `raised` says.

    Every exception is retried: a failure that the caller can correct has ended the job before.
    """

    def __init__(self, raised: procrastinate.RetryStrategy) -> None:
        self._raised = raised

    def get_retry_decision(
        self, *, exception: BaseException, job: procrastinate.jobs.Job
    ) -> procrastinate.RetryDecision | None:
        """When the job runs again; None if never."""
        if isinstance(exception, HandedBack):
            return procrastinate.RetryDecision(retry_in={"seconds": 0})
        return self._raised.get_retry_decision(exception=exception, job=job)


_RETRY = _Retry(
    procrastinate.RetryStrategy(max_attempts=MAX_ATTEMPTS, exponential_wait=2, retry_exceptions=[Exception])
)
# Without an end: what a receiver answers is no exception, and an event is lost with its task.
_RETRY_DELIVERY = _Retry(procrastinate.RetryStrategy(wait=30, retry_exceptions=[Exception]))


def run_job(context: procrastinate.JobContext, *, job_id: str) -> None:
    """Run one stored job. An exception that is no `Failure` is retried, and after the last attempt ends the job."""
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
    """Score one chunk of a sweep, and queue the next one."""
    database: Database = context.additional_context["database"]
    try:
        sweeps.run_chunk(database, context.additional_context["spark"], UUID(sweep_id))
    except Exception as unexpected:
        if context.job.attempts + 1 >= MAX_ATTEMPTS:
            sweeps.give_up(database, UUID(sweep_id), f"{type(unexpected).__name__} after {MAX_ATTEMPTS} attempts")
        raise


async def retry_stalled_jobs(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 — every periodic task gets it
    """Put the jobs of dead workers back on the queue."""
    manager = context.app.job_manager
    for job in await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
        structlog.get_logger().warning("job.stalled", queue_id=job.id, task=job.task_name)
        await manager.retry_job(job)


def forget_answers(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 — as above
    """Delete old answers to Idempotency-Keys."""
    database: Database = context.additional_context["database"]
    with database.begin() as uow:
        uow.answers.expire(older_than=context.additional_context["idempotency_age"])


def forget_deliveries(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 — as above
    """Delete deliveries of events that happened long ago."""
    database: Database = context.additional_context["database"]
    with database.begin() as uow:
        uow.webhooks.expire(older_than=context.additional_context["delivery_age"])


async def deliver_webhook(context: procrastinate.JobContext, *, delivery_id: str, attempts: int) -> None:
    """Make one attempt to deliver an event; recording it queues the next one."""
    sender: Sender = context.additional_context["sender"]
    database: Database = context.additional_context["database"]
    await sender.deliver(database, delivery_id=UUID(delivery_id), attempts_before=attempts)


def forget_sweeps(context: procrastinate.JobContext, timestamp: int) -> None:  # noqa: ARG001 — as above
    """Delete sweeps that ended long ago."""
    database: Database = context.additional_context["database"]
    with database.begin() as uow:
        uow.sweeps.expire(older_than=context.additional_context["sweep_age"])


async def run(
    database: Database,
    limits: Limits,
    *,
    spark: Spark,
    sender: "Sender | None",
    idempotency_age: timedelta,
    sweep_age: timedelta,
    delivery_age: timedelta,
) -> None:
    """Run jobs, and deliver events if there is a sender, until the process receives SIGINT or SIGTERM.

    Running jobs that do not end within `FINISHED_WITHIN_S` are handed back: their threads still run when this function
    returns, and have to end with the process. What such a thread stores is not stored twice by the next worker.

    Losing the connection to the database ends a queue's own loop. It is started again, and so are unfinished jobs.
    """
    additional_context: dict[str, Any] = {
        "database": database,
        "limits": limits,
        "spark": spark,
        "sender": sender,
        "idempotency_age": idempotency_age,
        "sweep_age": sweep_age,
        "delivery_age": delivery_age,
    }
    stop_requested = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    loops = [_loop(partial(_run_jobs, database, additional_context, stop_requested), stop_requested)]
    if sender is not None:
        loops.append(_loop(partial(_deliver, database, additional_context, stop_requested), stop_requested))
    await asyncio.gather(*loops)


async def _loop(work: Callable[[], Coroutine[Any, Any, None]], stop_requested: asyncio.Event) -> None:
    """Work on one queue, again after each loss of the connection, until the stop."""
    stopping = asyncio.create_task(stop_requested.wait())
    while not stop_requested.is_set():
        working = asyncio.create_task(work())
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if stop_requested.is_set():
            working.cancel()
        try:
            await working
        except asyncio.CancelledError:
            return
        except (procrastinate.exceptions.ConnectorException, psycopg.Error) as lost:
            structlog.get_logger().warning("queue.lost", detail=str(lost.__cause__ or lost).strip())
        await asyncio.sleep(RECONNECTED_AFTER_S)


async def _run_jobs(database: Database, additional_context: dict[str, Any], stop_requested: asyncio.Event) -> None:
    app = _app(database, connections=4)
    threads = ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="job")
    for name, run_one in ((RUN_JOB, run_job), (RUN_SWEEP, run_sweep)):
        handed_back = _handed_back(_in_thread(run_one, threads), stop_requested)
        app.task(name=name, pass_context=True, retry=_RETRY)(handed_back)
    for function, cron in (
        (retry_stalled_jobs, STALLED_CRON),
        (forget_answers, "17 * * * *"),
        (forget_sweeps, "23 * * * *"),
        (forget_deliveries, "29 * * * *"),
    ):
        name = function.__name__
        app.periodic(cron=cron)(app.task(name=name, pass_context=True, queueing_lock=name)(function))
    await _work(app, JOBS, additional_context, concurrency=CONCURRENCY)


async def _deliver(database: Database, additional_context: dict[str, Any], stop_requested: asyncio.Event) -> None:
    app = _app(database, connections=2)
    handed_back = _handed_back(deliver_webhook, stop_requested)
    app.task(name=DELIVER, pass_context=True, retry=_RETRY_DELIVERY)(handed_back)
    await _work(app, DELIVERIES, additional_context, concurrency=DELIVERY_CONCURRENCY)


def _app(database: Database, *, connections: int) -> procrastinate.App:
    dsn = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    return procrastinate.App(
        connector=procrastinate.PsycopgConnector(
            conninfo=dsn, min_size=1, max_size=connections, timeout=CONNECTION_TIMEOUT_S
        )
    )


async def _work(app: procrastinate.App, queue: str, additional_context: dict[str, Any], *, concurrency: int) -> None:
    async with app.open_async():
        await app.run_worker_async(
            queues=[queue],
            additional_context=additional_context,
            concurrency=concurrency,
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            delete_jobs="always",
        )


def _in_thread(run_one: Callable[..., None], threads: ThreadPoolExecutor) -> Callable[..., Awaitable[None]]:
    @wraps(run_one)
    def in_thread(context: procrastinate.JobContext, **arguments: Any) -> Awaitable[None]:
        return asyncio.get_running_loop().run_in_executor(threads, partial(run_one, context, **arguments))

    return in_thread


def _handed_back(
    run_one: Callable[..., Awaitable[None]], stop_requested: asyncio.Event
) -> Callable[..., Awaitable[None]]:
    """Run a job; raise `HandedBack` if it does not end soon after the request to stop. A thread goes on until then."""

    @wraps(run_one)
    async def run_until_stop(context: procrastinate.JobContext, **arguments: Any) -> None:
        ended = asyncio.ensure_future(run_one(context, **arguments))
        stopping = asyncio.create_task(stop_requested.wait())
        either: set[asyncio.Future[Any]] = {ended, stopping}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        done, _ = await asyncio.wait({ended}, timeout=FINISHED_WITHIN_S)
        if not done:
            ended.cancel()
            raise HandedBack
        ended.result()

    return run_until_stop
