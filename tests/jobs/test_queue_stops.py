"""The stop of a worker while it starts."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from procrastinate.manager import JobManager

from app.jobs.spark import Spark
from app.store.database import Database
from tests.jobs.working import working

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("statement", ["prune_stalled_workers", "register_worker"])
def test_a_cancellation_is_lost_while_the_worker_registers(
    database: Database, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """As when a connection of the pool becomes free at that moment. The worker ends; it ran until it was killed."""
    original: Callable[..., Any] = getattr(JobManager, statement)
    has_begun, lost = Event(), []

    async def losing_a_cancellation(self: JobManager, *arguments: Any) -> Any:
        has_begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            lost.append(statement)
        return await original(self, *arguments)

    monkeypatch.setattr(JobManager, statement, losing_a_cancellation)
    with Spark() as spark, working(database, spark):
        assert has_begun.wait(20)
    assert lost == [statement]
