"""Jobs of plans in processes: stopped at their deadline and when they are cancelled, bounded in memory and attempts."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from typing import Any
from uuid import UUID

import psutil
import pytest
import sqlalchemy as sa

from app.jobs import housekeeping, plans
from app.jobs.plans import AttemptFailed, PlanSlots
from app.services import jobs
from app.services.limits import Limits
from app.services.replicas import KIND, PLANNER
from app.slots import process
from app.slots.admission import Capacity
from app.slots.pool import Pool
from app.store.database import Database
from app.store.jobs import RUN_JOB, Job
from app.store.sweeps import RUN_SWEEP
from tests import forked
from tests.api.conftest import StartWorker, start_worker

__all__ = ["start_worker"]

pytestmark = pytest.mark.slow

MEMORY_MIB = 64
REQUEST: dict[str, Any] = {
    "brokers": [{"id": 1}, {"id": 2}, {"id": 3}],
    "topics": [{"name": "orders", "partitions": 6, "replication_factor": 2}],
}
WITHIN_S = 180.0


def _sleep(*_: object) -> None:
    time.sleep(3600)  # as a solver that asks for nothing meanwhile


def _crash(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _be_killed(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _allocate(*_: object) -> None:
    bytearray(2 * MEMORY_MIB * 2**20)


def _raise(*_: object) -> None:
    raise ZeroDivisionError


def serve_instead(connection: Connection, run: Callable[..., None]) -> None:
    """A slot whose jobs do something else than planning."""
    jobs.run = run
    process.run(partial(plans.answer, None, Limits()), connection, memory_mib=MEMORY_MIB)  # type: ignore[arg-type]


def stored(database: Database, *, seed: int = 1, deadline_s: int | None = None) -> UUID:
    """A job on the queue."""
    with database.begin() as uow:
        request = PLANNER.stored(PLANNER.restored(REQUEST | {"seed": seed}))
        return uow.jobs.enqueue(KIND, request, deadline_s=deadline_s).id


def state_of(database: Database, job_id: UUID) -> Job:
    with database.begin() as uow:
        return uow.jobs.get(job_id)


Attempt = Callable[..., None]


@pytest.fixture
def attempt(database: Database) -> Iterator[Attempt]:
    """One attempt at a job in a slot that does something else."""

    def attempt(run: Callable[..., None], job_id: UUID, *, limits: Limits | None = None) -> None:
        async def once() -> None:
            pool = Pool(serve_instead, (run,), preloaded=forked.PRELOADED, lanes={"plans": Capacity(1, 0, 1)})
            with ThreadPoolExecutor(2) as threads:
                slots = PlanSlots(database, limits or Limits(), pool.lanes["plans"], threads)
                try:
                    await slots.run(job_id, lambda _: None)
                finally:
                    pool.close()

        asyncio.run(once())

    before = _zombies()  # the JVM of a session that another test lost is one
    yield attempt
    assert not _zombies() - before


def _zombies() -> set[psutil.Process]:
    return {child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE}


class TestLimits:
    """A job never runs forever, whatever its solver does."""

    def test_a_job_ends_at_the_limit_of_the_service(self, database: Database, attempt: Attempt) -> None:
        job_id = stored(database)
        attempt(_sleep, job_id, limits=Limits(job_deadline_seconds=1))
        job = state_of(database, job_id)
        assert job.state == "failed"
        assert job.error is not None
        assert (job.error["code"], job.error["limit_name"], job.error["limit"]) == (
            "limit_exceeded",
            "job_deadline_seconds",
            1,
        )

    def test_a_job_ends_at_a_deadline_of_its_own(self, database: Database, attempt: Attempt) -> None:
        job_id = stored(database, deadline_s=1)
        attempt(_sleep, job_id)
        error = state_of(database, job_id).error
        assert error is not None
        assert error["detail"] == "the job takes longer than its deadline of 1 s; ask for less at a time"

    def test_the_time_counts_from_the_first_start(self, database: Database, attempt: Attempt) -> None:
        """Attempts that follow do not begin it anew."""
        job_id = stored(database)
        with database.engine.begin() as connection:
            connection.execute(
                sa.text("UPDATE jobs SET started_at = now() - interval '2 hours', state = 'running' WHERE id = :id"),
                {"id": job_id},
            )
        attempt(_sleep, job_id)
        assert state_of(database, job_id).state == "failed"

    def test_a_job_that_is_cancelled_is_stopped_within_its_step(self, database: Database, attempt: Attempt) -> None:
        job_id = stored(database)

        def cancel() -> None:
            time.sleep(1)
            with database.begin() as uow:
                uow.jobs.cancel(job_id)

        with ThreadPoolExecutor(1) as threads:
            threads.submit(cancel)
            started = time.monotonic()
            attempt(_sleep, job_id)
        assert time.monotonic() - started < WITHIN_S
        assert state_of(database, job_id).state == "cancelled"

    def test_a_job_beyond_its_memory_fails_at_once(self, database: Database, attempt: Attempt) -> None:
        job_id = stored(database)
        attempt(_allocate, job_id)
        error = state_of(database, job_id).error
        assert error is not None
        assert (error["code"], error["limit_name"]) == ("limit_exceeded", "job_memory_mib")

    def test_a_job_that_has_ended_is_not_begun(self, database: Database, attempt: Attempt) -> None:
        job_id = stored(database)
        with database.begin() as uow:
            uow.jobs.cancel(job_id)
        attempt(_crash, job_id)
        attempt(_crash, UUID(int=1))


class TestAttempts:
    """Unexpected failures, and jobs that kill workers, are retried up to a limit."""

    @pytest.mark.parametrize(
        ("run", "reason"),
        [
            (_crash, "its process crashed (SIGSEGV)"),
            (_be_killed, "its process was killed (SIGKILL), as the system does if memory runs out"),
            (_raise, "of ZeroDivisionError"),
        ],
    )
    def test_an_attempt_says_how_it_failed(
        self, database: Database, attempt: Attempt, run: Callable[..., None], reason: str
    ) -> None:
        job_id = stored(database)
        with pytest.raises(AttemptFailed, match="^" + reason.replace("(", r"\(").replace(")", r"\)") + "$"):
            attempt(run, job_id)
        assert state_of(database, job_id).state == "queued", "an attempt alone does not end the job"

    def test_the_third_failure_ends_a_job(self, database: Database) -> None:
        job_id = stored(database)
        reason = "its process crashed (SIGSEGV)"
        tried = [housekeeping.failed(database, RUN_JOB, job_id, reason) for _ in range(housekeeping.MAX_FAILURES)]
        assert tried == [True, True, False]
        job = state_of(database, job_id)
        assert (job.state, job.error) == (
            "failed",
            {
                "code": "internal_error",
                "detail": "it failed 3 times, at last because its process crashed (SIGSEGV)",
            },
        )

    def test_lost_workers_are_counted_apart(self, database: Database) -> None:
        job_id = stored(database)
        housekeeping.failed(database, RUN_JOB, job_id, "of it")
        tried = []
        for _ in range(housekeeping.MAX_LOSSES):
            with database.begin() as uow:
                tried.append(housekeeping.lost(uow, RUN_JOB, job_id))
        assert tried == [True] * (housekeeping.MAX_LOSSES - 1) + [False]
        assert state_of(database, job_id).state == "failed"

    def test_a_stored_chunk_clears_the_counts_of_a_sweep(self, database: Database) -> None:
        with database.begin() as uow:
            sweep = uow.sweeps.create(kind="capacity", definition={}, scenarios=9, labels={}, principal="p")
        for start in range(housekeeping.MAX_FAILURES):
            for _ in range(housekeeping.MAX_FAILURES - 1):
                assert housekeeping.failed(database, RUN_SWEEP, sweep.id, "of it")
            with database.begin() as uow:
                uow.sweeps.record(sweep.id, start, [], stop=start + 1, seconds=1.0)
        for _ in range(housekeeping.MAX_FAILURES):
            housekeeping.failed(database, RUN_SWEEP, sweep.id, "of it")
        with database.begin() as uow:
            assert uow.sweeps.get(sweep.id).state == "failed"


@pytest.mark.long
def test_a_job_that_is_handed_back_loses_no_attempt(database: Database, start_worker: StartWorker) -> None:
    """It waits for a lock of the test when its worker stops; the slot ends with the worker, the next one finishes."""
    first = start_worker(RACKPLAN_SOLVER_PROCESSES="2")
    with database.engine.connect() as connection:
        connection.execute(sa.text("LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE"))
        job_id = stored(database, seed=31)
        _until(lambda: state_of(database, job_id).step == "store")
        first.process.terminate()
        first.process.wait(WITHIN_S)
        counted = connection.execute(sa.text("SELECT failures, losses FROM jobs WHERE id = :id"), {"id": job_id}).one()
        assert tuple(counted) == (0, 0)
        connection.rollback()
    start_worker(RACKPLAN_SOLVER_PROCESSES="2")
    _until(lambda: state_of(database, job_id).state == "succeeded")


def _until(holds: Callable[[], Any]) -> None:
    ends = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)
