"""The job loop, put together: settings → database → Spark → queue.

`python -m app.worker` runs it; `rackplan worker` does the same.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from threading import Thread

from app import logs
from app.jobs import queue
from app.jobs.spark import Spark
from app.settings import Settings
from app.store.database import Database


def main() -> None:
    """Run jobs until the process is told to stop; the job at hand is finished first."""
    settings = Settings()
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is None:
        raise SystemExit("RACKPLAN_DATABASE_URL is not set; `rackplan serve` runs a worker beside its own Postgres")
    if "--until-stdin-closes" in sys.argv:
        Thread(target=_stop_when_stdin_closes, daemon=True).start()
    # Nothing is started yet: Spark's JVM is, by the first job that needs it. It ends with this process.
    spark = Spark(
        settings.spark_master, driver_memory=settings.spark_driver_memory, properties=settings.spark_properties
    )
    with Database(settings.database_url) as database, spark:
        age = timedelta(hours=settings.idempotency_hours)
        kept = timedelta(days=settings.sweep_days)
        asyncio.run(queue.run(database, settings.limits, spark=spark, idempotency_age=age, sweep_age=kept))


def _stop_when_stdin_closes() -> None:
    """End with the process that started this one: its end of the pipe closes even when it is killed."""
    while os.read(0, 4096):  # not sys.stdin: a thread that waits in it keeps the interpreter from ending
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
