"""A worker within this process: the queue of `app.worker` in a thread, over the Spark session that tests share."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import Any

from app.jobs import queue
from app.jobs.housekeeping import Retention
from app.jobs.spark import Spark
from app.settings import Settings
from app.store.database import Database

_ENDS_WITHIN_S = 60.0
_AGE = timedelta(days=30)


class _Loop(asyncio.SelectorEventLoop):
    """Without signals, which are the main thread's: tests call the handlers."""

    def __init__(self) -> None:
        super().__init__()
        self.end: Callable[..., object] = self.stop
        self.is_ready = Event()

    def add_signal_handler(self, sig: int, callback: Callable[..., Any], *args: Any) -> None:  # type: ignore[override] # noqa: ARG002
        self.end = callback
        self.is_ready.set()


@contextmanager
def working(database: Database, spark: Spark) -> Iterator[None]:
    """Run the jobs of a database while the context lasts, with the settings that a worker has by default."""
    loop = _Loop()
    running = queue.run(
        database, Settings().limits, spark=spark, lane=None, sender=None,
        retention=Retention(_AGE, _AGE, _AGE, _AGE),
    )  # fmt: skip
    thread = Thread(target=loop.run_until_complete, args=(running,), daemon=True)
    thread.start()
    try:
        assert loop.is_ready.wait(_ENDS_WITHIN_S)
        yield
    finally:
        loop.call_soon_threadsafe(loop.end)
        thread.join(_ENDS_WITHIN_S)
        assert not thread.is_alive(), "the worker did not end"
        loop.close()
