"""Score one chunk of a sweep on Spark, between two short transactions."""

import time
from threading import Event, Thread
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import structlog

from app.errors import Failure
from app.errors.access import DatabaseUnavailable, ServiceBusy, StorageFull
from app.errors.machine import SparkJobCancelled, SparkUnavailable
from app.errors.requests import SweepNotFound
from app.jobs import keys
from app.jobs.kernels import scenarios
from app.jobs.sources import Ranges
from app.jobs.spark import Spark
from app.services import sweeps
from app.services.limits import Limits
from app.services.sweeps import KINDS, Chunk
from app.store.database import Database

TASKS_PER_CORE = 2
"""More than one, so that a slow or lost core delays the chunk by part of its share only."""
TRACES_LOGGED = 3
"""Of a chunk: a defect that one scenario meets is usually met by thousands, with the same trace."""
_POLLED_EVERY_S = 1.0


def run_chunk(database: Database, spark: Spark, sweep_id: UUID, *, limits: Limits) -> None:
    """Score the sweep's next chunk and store it. If Spark is unavailable the sweep waits, and says so.

    A sweep that reaches its deadline fails, and its job on Spark is cancelled. It fails as well if its team may not
    store the rows; those before stay.
    """
    try:
        _score_chunk(database, spark, sweep_id, limits)
    except (SweepNotFound, SparkJobCancelled):
        return  # deleted, or cancelled
    except (DatabaseUnavailable, StorageFull, ServiceBusy):
        raise  # the chunk is scored again once the database is back
    except SparkUnavailable as unavailable:
        structlog.get_logger().warning("sweep.waiting", sweep=str(sweep_id), detail=unavailable.detail)
        with database.begin() as uow:
            sweeps.wait(uow, sweep_id, unavailable)
    except Failure as failure:
        with database.begin() as uow:
            sweeps.fail(uow, sweep_id, failure)


def _score_chunk(database: Database, spark: Spark, sweep_id: UUID, limits: Limits) -> None:
    limit_s = limits.sweep_deadline_seconds
    with database.begin() as uow:
        sweeps.fail_late(uow, sweep_id, limit_s=limit_s)
        # Of a sweep that an earlier release stored, this fails if it is larger than the limits are now.
        chunk = sweeps.next_chunk(uow, sweep_id, limits)
    if chunk is not None:
        spark.session()  # may take seconds to start, which are not part of the cost of the chunk
        started = time.monotonic()
        rows = _scored(database, spark, chunk, limit_s)
        with database.begin() as uow:
            sweeps.record(uow, chunk, rows, seconds=time.monotonic() - started)


def log_traces(chunk: Chunk, rows: pa.Table) -> None:
    """Log the traces of defects that scenarios met on executors; the stored rows have their codes."""
    unexpected = rows.filter(pc.is_valid(rows.column("trace")))
    for row in unexpected.slice(0, TRACES_LOGGED).to_pylist():
        structlog.get_logger().error(
            "scenario.unexpected_error",
            sweep=str(chunk.sweep.id),
            kind=chunk.sweep.kind,
            scenario=row["index"],
            of_chunk=len(unexpected),
            trace=row["trace"],
        )


def _scored(database: Database, spark: Spark, chunk: Chunk, limit_s: int) -> list[tuple[int, bytes]]:
    ended = Event()
    watch = Thread(target=_cancel_with_sweep, args=(database, spark, chunk.sweep.id, limit_s, ended), daemon=True)
    watch.start()
    try:
        if KINDS[chunk.sweep.kind].is_measured_whole:
            return keys.score(spark, chunk.sweep.definition, group=str(chunk.sweep.id))
        return _ranges(spark, chunk)
    finally:
        ended.set()
        watch.join()


def _ranges(spark: Spark, chunk: Chunk) -> list[tuple[int, bytes]]:
    cores = spark.session().sparkContext.defaultParallelism
    step = max(1, -(-(chunk.stop - chunk.start) // (cores * TASKS_PER_CORE)))
    rows = spark.run(
        scenarios.KERNEL.name,
        payload=scenarios.payload(KINDS[chunk.sweep.kind].reader, chunk.sweep.definition),
        over=Ranges(chunk.start, chunk.stop, step),
        schema=scenarios.SCHEMA,
        group=str(chunk.sweep.id),
    )
    log_traces(chunk, rows)
    return list(zip(rows.column("index").to_pylist(), rows.column("row").to_pylist(), strict=True))


def _cancel_with_sweep(database: Database, spark: Spark, sweep_id: UUID, limit_s: int, ended: Event) -> None:
    """Cancel the job in Spark once the sweep has been cancelled, or has reached its deadline."""
    while not ended.wait(_POLLED_EVERY_S):
        try:
            with database.begin() as uow:
                sweeps.fail_late(uow, sweep_id, limit_s=limit_s)
                is_over = uow.sweeps.get(sweep_id).has_ended
        except DatabaseUnavailable:
            continue
        except SweepNotFound:
            is_over = True
        if is_over:
            spark.cancel(str(sweep_id))
            return
