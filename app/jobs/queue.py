"""Run the jobs of the queue, and the deliveries to webhooks. If a worker dies, another runs its job again."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

import procrastinate
import psycopg
import structlog
from procrastinate.manager import JobManager
from procrastinate.worker import Worker
from psycopg.conninfo import make_conninfo

from app import tracing
from app.deferred import IMPORTING
from app.errors.access import DatabaseUnavailable, ServiceBusy, StorageFull
from app.errors.machine import SparkNotInstalled
from app.jobs import housekeeping
from app.jobs.housekeeping import DeadWorkers, Retention, keep_house
from app.jobs.plans import AttemptFailed, PlanSlots
from app.services import jobs, sweeps
from app.services.limits import Limits
from app.services.plans.pipeline import PlanOutcome, receiving
from app.slots.pool import Lane
from app.store import addresses
from app.store.database import Database
from app.store.jobs import RUN_JOB
from app.store.queue import DELIVERIES, JOBS, TAKE
from app.store.sweeps import RUN_SWEEP
from app.store.tables import STATEMENTS
from app.store.webhooks import DELIVER

if TYPE_CHECKING:
    from app.jobs.spark import Spark
    from app.jobs.webhooks import Sender

T = TypeVar("T")
HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 10.0
"""A worker without a heartbeat for so long is considered dead, and its jobs are run again."""
_CONFIRMED_AFTER_HEARTBEATS = 2
"""Missed heartbeats after which a worker is considered dead, whatever the clock of the database says."""
_DECISION = datetime.fromtimestamp(0, UTC)
"""Stands for the moment at which a retry is decided."""
CONNECTION_TIMEOUT_S = 5.0
RECONNECTED_AFTER_S = 1.0
"""The pause after the connection to the database is lost."""
RETRIED_AFTER_S = 3
"""When a job is tried again that failed unexpectedly."""
FINISHED_WITHIN_S = 0.5
"""A job that has not ended so long after the request to stop is put back on the queue."""
CONCURRENCY = 2
"""Jobs that a worker runs at a time: a plan does not wait for a sweep's chunk, nor one sweep for another."""

DELIVERY_CONCURRENCY = 8
"""Attempts to deliver an event that a worker makes at a time."""


class HandedBack(Exception):
    """The worker stops: another one runs the job."""


class _Retry(procrastinate.BaseRetryStrategy):
    """A job that is handed back is due at once; one that raised waits `after_s`.

    Every exception is retried without an end: a failure that the caller can correct has ended the job before, and so
    has the last of the attempts that `attempts` counts. The answer of a receiver of webhooks is no exception.
    """

    def __init__(self, *, after_s: int) -> None:
        self._after_s = after_s

    def get_retry_decision(
        self,
        *,
        exception: BaseException,
        job: procrastinate.jobs.Job,  # noqa: ARG002 -- the base class names it
    ) -> procrastinate.RetryDecision | None:
        """When the job runs again."""
        after_s = 0 if isinstance(exception, HandedBack) else self._after_s
        return procrastinate.RetryDecision(retry_at=_DECISION + timedelta(seconds=after_s))


class _Queue(JobManager):
    """The queue, in which teams take turns, and retries are timed by the clock of the database.

    The next task belongs to the team with the fewest running tasks; of several, to that whose last turn is longest ago;
    within a team tasks begin in their order. The library would take them in the order in which they were queued.

    The library adds the pause before a retry to the clock of the worker's machine. If that is an hour ahead, a task
    handed back by one worker would wait for an hour. Here it is the distance of a moment from `_DECISION`.
    """

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> procrastinate.jobs.Job | None:
        """Take the next task, or None if none waits."""
        if queues is None or JOBS not in queues:
            return await super().fetch_job(queues, worker_id)
        row = await self.connector.execute_query_one_async(TAKE, queues=list(queues), worker_id=worker_id)
        return None if row["id"] is None else procrastinate.jobs.Job.from_row(row)

    async def retry_job(
        self,
        job: procrastinate.jobs.Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put a job on the queue again."""
        await self.connector.execute_query_async(
            STATEMENTS["retry_task"],
            job_id=job.id,
            seconds=((retry_at or _DECISION) - _DECISION).total_seconds(),
            priority=priority,
            queue=queue,
            lock=lock,
        )


_RETRY = _Retry(after_s=RETRIED_AFTER_S)
_RETRY_DELIVERY = _Retry(after_s=30)


@dataclass(frozen=True, slots=True)
class _Work:
    """Services of tasks, as `run` has them."""

    database: Database
    limits: Limits
    spark: "Spark | None"
    slots: PlanSlots | None
    sender: "Sender | None"
    threads: Executor

    @staticmethod
    def of(context: procrastinate.JobContext) -> "_Work":
        """The services of this context's task."""
        work: _Work = context.additional_context["work"]
        return work

    async def in_thread(self, function: Callable[[], T]) -> T:
        """Call a function in a thread, within the context of this task."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, copy_context().run, function)


async def run_job(context: procrastinate.JobContext, *, job_id: str) -> None:
    """Run one stored job, in a slot if the worker has slots. Unexpected failures are retried; the last ends it."""
    work = _Work.of(context)
    async with _counted(work, RUN_JOB, UUID(job_id)):
        if work.slots is None:
            await work.in_thread(partial(_run_here, work.database, work.limits, job_id))
        else:
            await work.slots.run(UUID(job_id), partial(_log_plan, job_id))


def _run_here(database: Database, limits: Limits, job_id: str) -> None:
    with receiving(partial(_log_plan, job_id)):
        jobs.run(database, UUID(job_id), limits)


def _log_plan(job_id: str, outcome: PlanOutcome) -> None:
    structlog.get_logger().info("job.planned", job=job_id, code=outcome.code, **outcome.log_fields())


async def run_sweep(context: procrastinate.JobContext, *, sweep_id: str) -> None:
    """Score one chunk of a sweep, and queue the next one. Unexpected failures are retried; the last ends it."""
    work = _Work.of(context)
    async with _counted(work, RUN_SWEEP, UUID(sweep_id)):
        await work.in_thread(partial(_run_chunk, work.database, work.spark, UUID(sweep_id), work.limits))


def _run_chunk(database: Database, spark: "Spark | None", sweep_id: UUID, limits: Limits) -> None:
    if spark is None:
        missing = SparkNotInstalled(
            "the worker was installed without Spark; pyspark[sql], and Java 17 or 21, are missing"
        )
        with database.begin() as uow:
            sweeps.fail(uow, sweep_id, missing)
        return
    with IMPORTING:
        from app.jobs.sweeps import run_chunk  # noqa: PLC0415 — needs PySpark, which a worker may lack

    run_chunk(database, spark, sweep_id, limits=limits)


@asynccontextmanager
async def _counted(work: _Work, task: str, row_id: UUID) -> AsyncIterator[None]:
    """Count an attempt that fails unexpectedly; raised failures are retried, but not after the last attempt."""
    try:
        yield
    except (DatabaseUnavailable, StorageFull, ServiceBusy):
        raise
    except Exception as unexpected:
        if isinstance(unexpected, AttemptFailed):  # which is logged where it is raised
            reason = str(unexpected)
        else:
            reason = f"of {type(unexpected).__name__}"
            noun = "job" if task == RUN_JOB else "sweep"
            structlog.get_logger().error(f"{noun}.failed", **{noun: str(row_id)}, exc_info=unexpected)
        if await work.in_thread(partial(housekeeping.failed, work.database, task, row_id, reason)):
            raise


async def deliver_webhook(
    context: procrastinate.JobContext, *, delivery_id: str, attempts: int, traceparent: str | None = None
) -> None:
    """Make one attempt to deliver an event; recording it queues the next one."""
    work = _Work.of(context)
    with tracing.continued(traceparent), tracing.span(DELIVER, "consumer", rackplan_delivery=delivery_id):
        await cast("Sender", work.sender).deliver(
            work.database, delivery_id=UUID(delivery_id), attempts_before=attempts
        )


async def run(
    database: Database,
    limits: Limits,
    *,
    spark: "Spark | None",
    lane: Lane | None,
    sender: "Sender | None",
    retention: Retention,
) -> None:
    """Run jobs, and deliver events if there is a sender, until the process receives SIGINT or SIGTERM.

    Plans are made in the slots of the lane, or in this process if it is None. Without Spark, sweeps fail.

    Running jobs that do not end within `FINISHED_WITHIN_S` are handed back: their threads still run when this function
    returns, and have to end with the process. The next worker does not store their rows twice.

    Losing the connection to the database ends a queue's own loop. It is started again, and so are unfinished jobs.
    """
    threads = ThreadPoolExecutor(2 * CONCURRENCY, thread_name_prefix="job")
    slots = None if lane is None else PlanSlots(database, limits, lane, threads)
    work = _Work(database, limits, spark, slots, sender, threads)
    stop_requested = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    dead = DeadWorkers(database, STALLED_SECONDS, _CONFIRMED_AFTER_HEARTBEATS * HEARTBEAT_SECONDS)
    on_queue = partial(_run_queue, work, stop_requested)
    tasks = {name: _traced(name, run_one) for name, run_one in ((RUN_JOB, run_job), (RUN_SWEEP, run_sweep))}
    loops = [
        partial(on_queue, JOBS, tasks, retry=_RETRY, connections=4, concurrency=CONCURRENCY),
        partial(keep_house, database, retention, dead, pause_s=HEARTBEAT_SECONDS),
    ]
    if sender is not None:
        given = {"connections": 2, "concurrency": DELIVERY_CONCURRENCY}
        loops.append(partial(on_queue, DELIVERIES, {DELIVER: deliver_webhook}, retry=_RETRY_DELIVERY, **given))
    await asyncio.gather(*(_loop(each, stop_requested) for each in loops))


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
        await asyncio.wait({stopping}, timeout=RECONNECTED_AFTER_S)


def _app(database: Database, *, connections: int) -> procrastinate.App:
    conninfo = make_conninfo("", **addresses.parameters(database.url))
    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(
            conninfo=conninfo, min_size=1, max_size=connections, timeout=CONNECTION_TIMEOUT_S
        )
    )
    app.job_manager = _Queue(app.connector)
    return app


async def _run_queue(
    work: _Work,
    stop_requested: asyncio.Event,
    queue: str,
    tasks: Mapping[str, Callable[..., Awaitable[None]]],
    *,
    retry: _Retry,
    connections: int,
    concurrency: int,
) -> None:
    app = _app(work.database, connections=connections)
    for name, run_one in tasks.items():
        app.task(name=name, pass_context=True, retry=retry)(_handed_back(run_one, stop_requested))
    async with app.open_async():
        worker = Worker(
            app,
            queues=[queue],
            additional_context={"work": work},
            concurrency=concurrency,
            install_signal_handlers=False,
            update_heartbeat_interval=HEARTBEAT_SECONDS,
            stalled_worker_timeout=STALLED_SECONDS,
            delete_jobs="always",
        )
        # `_loop` cancels this as well, which interrupts a statement that waits. But a cancellation is lost if the pool
        # has a free connection at that moment (`asyncio.wait_for` of Python 3.11), and the worker would run on.
        stopping = asyncio.create_task(_stop(worker, stop_requested))
        try:
            if not stop_requested.is_set():
                await worker.run()  # type: ignore[no-untyped-call] # theirs has no types
        finally:
            stopping.cancel()


async def _stop(worker: Worker, stop_requested: asyncio.Event) -> None:
    await stop_requested.wait()
    worker.stop()  # type: ignore[no-untyped-call] # theirs has no types


def _traced(task: str, run_one: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Run a task in the trace of the request that queued it."""

    @wraps(run_one)
    async def traced(context: procrastinate.JobContext, *, traceparent: str | None = None, **arguments: str) -> None:
        named = {f"rackplan_{name}": value for name, value in arguments.items()}
        with (
            tracing.continued(traceparent),
            tracing.span(task, "consumer", **named),
            structlog.contextvars.bound_contextvars(**tracing.log_fields()),
        ):
            await run_one(context, **arguments)

    return traced


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
            await asyncio.wait({ended})  # stops the process of a slot; a thread goes on
            raise HandedBack
        ended.result()

    return run_until_stop
