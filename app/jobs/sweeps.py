"""Score one chunk of a sweep on Spark, between two short transactions."""

import time
from collections.abc import Callable, Mapping
from threading import Event, Thread
from types import MappingProxyType
from uuid import UUID

import structlog

from app.errors import Failure, SparkJobCancelled, SparkJobFailed, SparkUnavailable, SweepNotFound
from app.jobs import key_skew
from app.jobs.kernels import scenarios
from app.jobs.spark import Ranges, Spark
from app.services import sweeps
from app.services.sweep_kinds import KINDS
from app.services.sweeps import Chunk
from app.store.database import Database

TASKS_PER_CORE = 2
"""So that a core that is slow, or lost, does not hold up the others for long."""
_LOOKED_AFTER_EVERY_S = 1.0


def run_chunk(database: Database, spark: Spark, sweep_id: UUID) -> None:
    """Score the sweep's next chunk and keep it. What Spark cannot do now is tried again later, and said meanwhile."""
    try:
        with database.begin() as uow:
            chunk = sweeps.next_chunk(uow, sweep_id)
    except SweepNotFound:
        return  # forgotten since it was put on the queue
    if chunk is None:
        return
    try:
        spark.session()  # takes its time where there is none yet, and is no part of what the chunk costs
        started = time.monotonic()
        rows = _scored(database, spark, chunk)
    except SparkJobCancelled:
        return
    except SparkUnavailable as unavailable:
        structlog.get_logger().warning("sweep.waiting", sweep=str(sweep_id), detail=unavailable.detail)
        with database.begin() as uow:
            sweeps.wait(uow, sweep_id, unavailable)
        return
    except Failure as failure:
        with database.begin() as uow:
            sweeps.fail(uow, sweep_id, failure)
        return
    with database.begin() as uow:
        sweeps.record(uow, chunk, rows, seconds=time.monotonic() - started)


def give_up(database: Database, sweep_id: UUID, detail: str) -> None:
    """End a sweep that could not be scored, for a reason that is none of the caller's."""
    with database.begin() as uow:
        sweeps.fail(uow, sweep_id, SparkJobFailed(detail))


def _scored(database: Database, spark: Spark, chunk: Chunk) -> list[tuple[int, bytes]]:
    ended = Event()
    watch = Thread(target=_cancel_with_sweep, args=(database, spark, chunk.sweep.id, ended), daemon=True)
    watch.start()
    try:
        return _WHOLE.get(chunk.sweep.kind, _ranges)(spark, chunk)
    finally:
        ended.set()
        watch.join()


def _ranges(spark: Spark, chunk: Chunk) -> list[tuple[int, bytes]]:
    cores = spark.session().sparkContext.defaultParallelism
    step = max(1, -(-(chunk.stop - chunk.start) // (cores * TASKS_PER_CORE)))
    found = spark.run(
        KINDS[chunk.sweep.kind].kernel,
        payload=scenarios.payload(chunk.sweep.definition),
        over=Ranges(chunk.start, chunk.stop, step),
        schema=scenarios.SCHEMA,
        group=str(chunk.sweep.id),
    )
    return list(zip(found.column("index").to_pylist(), found.column("row").to_pylist(), strict=True))


def _key_skew(spark: Spark, chunk: Chunk) -> list[tuple[int, bytes]]:
    return key_skew.score(spark, chunk.sweep.definition, group=str(chunk.sweep.id))


_WHOLE: Mapping[str, Callable[[Spark, Chunk], list[tuple[int, bytes]]]] = MappingProxyType({"key_skew": _key_skew})
"""How kinds that are measured whole are; every other kind is scored range by range."""


def _cancel_with_sweep(database: Database, spark: Spark, sweep_id: UUID, ended: Event) -> None:
    """Cancel in Spark, too, once somebody has cancelled the sweep."""
    while not ended.wait(_LOOKED_AFTER_EVERY_S):
        try:
            with database.begin() as uow:
                is_over = uow.sweeps.get(sweep_id).has_ended
        except SweepNotFound:
            is_over = True
        if is_over:
            spark.cancel(str(sweep_id))
            return
