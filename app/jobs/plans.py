"""Run the jobs of plans in slots: within a deadline and a limit on memory, and stopped when they are cancelled.

The process of a slot runs one job at a time (`answer`), and reports how the attempt ended. Whatever it does, it is
killed at the deadline of its job, when the job is cancelled or deleted, and when the worker stops.
"""

import asyncio
import traceback
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import asdict
from typing import Any
from uuid import UUID

import structlog

from app import tracing
from app.errors.access import DatabaseUnavailable, StorageFull
from app.errors.quotation import document_of
from app.errors.requests import LimitExceeded
from app.services import jobs
from app.services.limits import Limits
from app.services.plans.pipeline import PlanOutcome, receiving
from app.slots.pool import Lane, Slot, SlotEnded
from app.store.database import Database

_POLLED_EVERY_S = 0.5
"""How often it is looked whether a running job has been cancelled."""

_OF_THE_DATABASE = {failure.__name__: failure for failure in (DatabaseUnavailable, StorageFull)}
"""Failures that are not the job's fault: it is retried until they pass."""


class AttemptFailed(Exception):
    """The attempt ended unexpectedly; the message says how, after `because`."""


class PlanSlots:
    """Runs jobs in the slots of a lane. Belongs to one event loop.

    Parameters
    ----------
    threads : for statements of the database, which would block the loop.
    """

    def __init__(self, database: Database, limits: Limits, lane: Lane, threads: Executor) -> None:
        self._database, self._limits, self._lane, self._threads = database, limits, lane, threads

    async def run(self, job_id: UUID, report: Callable[[PlanOutcome], None]) -> None:
        """Run one attempt of a job. Raises `DatabaseUnavailable`, and `AttemptFailed` if it may be tried again."""
        left = await self._in_thread(self._seconds_left, job_id)
        if left is None:
            return
        async with self._lane.slot() as slot:
            running = asyncio.create_task(_called(slot, job_id))
            try:
                async with asyncio.timeout(left):
                    await self._followed(running, job_id)
            except TimeoutError:
                await self._in_thread(self._end_late, job_id)
            finally:
                running.cancel()
            if running.done() and not running.cancelled():
                await self._judge(slot, running.result(), job_id, report)

    async def _followed(self, running: "asyncio.Task[dict[str, Any] | None]", job_id: UUID) -> None:
        """Wait for the end of an attempt, or of its job."""
        while not (await asyncio.wait({running}, timeout=_POLLED_EVERY_S))[0]:
            try:
                if await self._in_thread(self._seconds_left, job_id) is None:
                    # Cancelled, or ended a moment ago by the attempt itself.
                    if (await asyncio.wait({running}, timeout=_POLLED_EVERY_S))[0]:
                        return
                    structlog.get_logger().info("job.cancelled", job=str(job_id))
                    return
            except DatabaseUnavailable:
                continue

    async def _judge(
        self, slot: Slot, noted: "dict[str, Any] | None", job_id: UUID, report: Callable[[PlanOutcome], None]
    ) -> None:
        if noted is None:
            ending = await slot.end()
            structlog.get_logger().error("job.process_ended", job=str(job_id), detail=f"the process {ending}")
            raise AttemptFailed(f"its process {ending}")
        for outcome in noted["outcomes"]:
            report(PlanOutcome(**outcome))
        failure = noted["failure"]
        if failure == MemoryError.__name__:
            await self._in_thread(self._end_large, job_id)
        elif failure in _OF_THE_DATABASE:
            raise _OF_THE_DATABASE[failure](noted["detail"])
        elif failure is not None:
            structlog.get_logger().error("job.failed", job=str(job_id), trace=noted["trace"])
            raise AttemptFailed(f"of {failure}")

    def _seconds_left(self, job_id: UUID) -> float | None:
        with self._database.begin() as uow:
            return uow.jobs.seconds_left(job_id, limit_s=self._limits.job_deadline_seconds)

    def _end_late(self, job_id: UUID) -> None:
        with self._database.begin() as uow:
            limit = uow.jobs.deadline(job_id, limit_s=self._limits.job_deadline_seconds)
            detail = f"the job takes longer than its deadline of {limit} s; ask for less at a time"
            uow.jobs.fail(job_id, document_of(LimitExceeded(detail, limit_name="job_deadline_seconds", limit=limit)))

    def _end_large(self, job_id: UUID) -> None:
        limit = self._limits.job_memory_mib
        detail = f"the job needs more memory than the limit of {limit} MiB; ask for less at a time"
        with self._database.begin() as uow:
            uow.jobs.fail(job_id, document_of(LimitExceeded(detail, limit_name="job_memory_mib", limit=limit)))

    async def _in_thread(self, function: Callable[[UUID], Any], job_id: UUID) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, job_id)


async def _called(slot: Slot, job_id: UUID) -> dict[str, Any] | None:
    """The slot's note about an attempt; None if its process has ended."""
    try:
        noted, _ = await slot.call(job_id.bytes, (tracing.traceparent() or "").encode())
    except SlotEnded:
        return None
    return noted


def answer(database: Database, limits: Limits, head: bytes, body: bytes) -> tuple[dict[str, object], bytes]:
    """Run the job of an id in this process, within the trace that the body has, and note how the attempt ended."""
    outcomes: list[PlanOutcome] = []
    noted: dict[str, object] = {"failure": None}
    try:
        with tracing.continued(body.decode()), receiving(outcomes.append):
            jobs.run(database, UUID(bytes=head), limits)
    except tuple(_OF_THE_DATABASE.values()) as unavailable:
        noted = {"failure": type(unavailable).__name__, "detail": unavailable.detail}
    except MemoryError:
        noted = {"failure": MemoryError.__name__}
    except Exception as unexpected:  # noqa: BLE001 -- the worker logs it, and counts the attempt
        noted = {"failure": type(unexpected).__name__, "trace": traceback.format_exc()}
    return noted | {"outcomes": [asdict(outcome) for outcome in outcomes]}, b""
