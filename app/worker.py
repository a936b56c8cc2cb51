"""The job loop, put together: settings → database → Spark → queue.

`python -m app.worker` runs it; `rackplan worker` does the same.
"""

import asyncio
import os
import signal
import sys
import time
from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from multiprocessing.connection import Connection
from threading import Thread
from typing import TYPE_CHECKING, Any

import structlog

from app import __version__, logs, tracing
from app.deferred import IMPORTING
from app.errors.machine import SettingNotValid
from app.jobs import housekeeping, plans, queue
from app.settings import SLOT_CONNECTIONS, Settings
from app.slots import process, server
from app.slots.admission import Capacity
from app.slots.pool import Pool
from app.store.database import Database

if TYPE_CHECKING:
    from app.jobs.spark import Spark
    from app.jobs.webhooks import Sender

ENDS_WITHIN_S = 10.0
"""Seconds that a worker has to end after the process that started it."""

_PLANS = "plans"
_SLOT_WITHIN_S = 60.0
_PRELOADED = ("app.slots.tied", "app.jobs.plans", "app.core.compiled.loaded")
STARTS_SPARK_AFTER_S = 5.0
"""Seconds after the start at which a worker starts Spark ahead of the first job: the service starts first."""


def main() -> None:
    """Run jobs until the process receives SIGINT or SIGTERM; a running job is handed back to the queue."""
    settings = Settings()
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is None:
        raise SettingNotValid(
            "RACKPLAN_DATABASE_URL is not set; `rackplan serve` runs a worker beside its own Postgres"
        )
    if "--until-stdin-closes" in sys.argv:
        Thread(target=_stop_when_stdin_closes, daemon=True).start()
    tracing.start("worker", __version__)
    spark = _spark(settings)
    pool = _slots(settings) if settings.solver_processes else None
    with Database(settings.database_url, quotas=settings.quotas) as database, spark or nullcontext():
        # Not `asyncio.run`, which waits for the tasks that it cancels: tasks of an opening pool ignore it.
        # They end with the process.
        asyncio.new_event_loop().run_until_complete(
            _run(
                pool,
                database,
                settings.limits,
                spark=spark,
                lane=None if pool is None else pool.lanes[_PLANS],
                sender=_sender(settings),
                retention=housekeeping.Retention(
                    answers=timedelta(hours=settings.idempotency_hours),
                    sweeps=timedelta(days=settings.sweep_days),
                    deliveries=timedelta(days=settings.webhook_days),
                    audit_entries=timedelta(days=settings.audit_days),
                ),
            )
        )
    server.remove_files()
    tracing.stop()
    # Without waiting for the threads of jobs that were handed back.
    logs.flush()
    os._exit(0)


async def _run(pool: Pool | None, *given: Any, **options: Any) -> None:
    """Run the queue, and end the slots with it."""
    try:
        await queue.run(*given, **options)
    finally:
        if pool is not None:
            pool.close()


def serve_slot(connection: Connection, settings: Settings) -> None:
    """Run the jobs of a slot."""
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is None:
        raise ValueError("the parent states the database")
    tracing.start("worker-slot", __version__)
    database = Database(settings.database_url, connections=SLOT_CONNECTIONS, quotas=settings.quotas)
    process.run(partial(plans.answer, database, settings.limits), connection, memory_mib=settings.job_memory_mib)
    logs.flush()


def _slots(settings: Settings) -> Pool:
    # There are as many slots as jobs run at a time. After the loss of a connection those that run have them for longer.
    capacity = Capacity(queue.CONCURRENCY, queued=queue.CONCURRENCY, queue_s=_SLOT_WITHIN_S)
    return Pool(serve_slot, (settings,), preloaded=_PRELOADED, lanes={_PLANS: capacity})


def _spark(settings: Settings) -> "Spark | None":
    """Spark, of which nothing is started yet: the first sweep starts its JVM. None if PySpark is not installed."""
    if find_spec("pyspark") is None:
        structlog.get_logger().warning("spark.not_installed", detail="sweeps fail; pyspark[sql] is not installed")
        return None
    with IMPORTING:
        from app.jobs import spark  # noqa: PLC0415 — needs PySpark

    found = spark.Spark(
        settings.spark_master, driver_memory=settings.spark_driver_memory, properties=settings.spark_properties
    )
    # A session on a cluster takes executors from others, so it is started when there is a job.
    if settings.spark_early and found.master.is_local:
        Thread(target=found.prepare, args=(STARTS_SPARK_AFTER_S, _measure_example), name="spark", daemon=True).start()
    return found


def _measure_example(spark: "Spark") -> None:
    with IMPORTING:
        from app.jobs import keys  # noqa: PLC0415 — imports every planner, while the service starts

    keys.measure_example(spark)


def _sender(settings: Settings) -> "Sender | None":
    if not settings.webhooks:
        return None
    with IMPORTING:
        from app.jobs.webhooks import Sender  # noqa: PLC0415 — loads an HTTP client, which nothing else needs

    return Sender(settings.outbound)


def _stop_when_stdin_closes() -> None:
    """End when the parent process ends: its end of the pipe closes even if it is killed."""
    while os.read(0, 4096):  # not sys.stdin: a thread that reads it keeps the interpreter from ending
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    # No parent is left to kill a worker that does not end by itself. Another one runs its jobs, which are stalled then.
    time.sleep(ENDS_WITHIN_S)
    os._exit(1)


if __name__ == "__main__":
    main()
