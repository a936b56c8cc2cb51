"""Liveness, readiness and metrics.

None of the three needs a slot, a thread or a connection that serves requests: they answer at any load. The probes have
database connections and threads of their own, and concurrent callers share one result.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import orjson
import sqlalchemy as sa
import structlog
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from app.api.http import metrics
from app.errors.access import DatabaseUnavailable, ServiceBusy
from app.errors.machine import DatabaseNewer, SparkUnavailable
from app.services.spark_master import SparkMaster
from app.slots.pool import NO_PROCESS
from app.store import migrations
from app.store.activity import Activity
from app.store.database import Database
from app.store.tables import STATEMENTS

router = APIRouter(tags=["health"])

_TIMEOUT_SECONDS = 2.0
_PROMPT_SECONDS = 0.1
"""Wait for a check, if its last result can be used."""
_USED_FOR_SECONDS = 5.0
"""Age up to which the last result of a check is used while the next one takes long."""
_SILENT_S = 10
"""Seconds without a heartbeat after which a worker counts as dead, for the queue too."""
ResultT = TypeVar("ResultT")


class Alive(BaseModel):
    """The process answers."""

    status: str
    """Always `ok`."""


class Ready(BaseModel):
    """The state of each dependency: `ok`, or the error."""

    status: str
    """`ok`, or `unavailable` if `database`, `queue`, `spark` or `slots` fails."""
    checks: dict[str, str]
    """Result of each check by name: `ok`, another state in which requests are served, or the failure."""


class Readiness:
    """Probes the dependencies of requests, and reads the activity of workers. Belongs to one event loop.

    `close` ends its threads and its connections.

    Parameters
    ----------
    compiling : the progress of the compilation of loops, `120 of 220`; None if nothing is compiled.
    slots : the state of the processes that serve requests, in words.
    """

    def __init__(
        self, database_url: str, spark_master: str, *, compiling: Callable[[], str | None], slots: Callable[[], str]
    ) -> None:
        self.compiling, self.slots = compiling, slots
        self._database = Database(database_url, connections=2)
        self._checks: Mapping[str, Callable[[], str]] = {
            "database": partial(_seen, self._database, _schema),
            "queue": partial(_seen, self._database, _queue),
            "spark": lambda: _spark(SparkMaster(spark_master)),
            "worker": partial(_seen, self._database, _worker),
        }
        self._threads = ThreadPoolExecutor(len(self._checks) + 1, thread_name_prefix="readiness")
        self._running: dict[str, asyncio.Future[Any]] = {}
        self._last: dict[str, tuple[float, str]] = {}

    async def checks(self) -> dict[str, str]:
        """Each check's answer: `ok`, `local`, `not asked`, or the failure."""
        return dict(zip(self._checks, await asyncio.gather(*map(self._check, self._checks)), strict=True))

    async def activity(self) -> Activity | None:
        """Jobs, sweeps and the queue as the database has them; None if it does not answer in time."""
        try:
            return await self._shared("activity", lambda: _activity(self._database))
        except (TimeoutError, sa.exc.SQLAlchemyError, DatabaseUnavailable, ServiceBusy) as failure:
            structlog.get_logger().warning("metrics.database_unavailable", reason=type(failure).__name__)
            return None

    async def _check(self, name: str) -> str:
        """The result of a check, or its last one: a busy machine makes a check slow, not the answer about it."""
        at, last = self._last.get(name, (-math.inf, ""))
        is_usable = time.monotonic() - at < _USED_FOR_SECONDS

        def read() -> str:
            found = self._checks[name]()
            self._last[name] = time.monotonic(), found
            return found

        try:
            return await self._shared(name, read, within_s=_PROMPT_SECONDS if is_usable else _TIMEOUT_SECONDS)
        except TimeoutError:
            return last if is_usable else f"does not answer within {_TIMEOUT_SECONDS:g} s"

    async def _shared(self, name: str, read: Callable[[], ResultT], *, within_s: float = _TIMEOUT_SECONDS) -> ResultT:
        """The result of the probe that runs, or of a new one. Raises `TimeoutError`, and as the probe does."""
        running: asyncio.Future[ResultT] | None = self._running.get(name)
        if running is None or running.done():
            running = asyncio.get_running_loop().run_in_executor(self._threads, read)
            self._running[name] = running
        # After a timeout the probe continues, and the next caller gets its result: callers start no further threads.
        return await asyncio.wait_for(asyncio.shield(running), within_s)

    def close(self) -> None:
        """End the threads, once the checks that run have ended, and close the connections."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._database.close()


@router.get("/healthz", operation_id="healthz", summary="Check liveness", response_model=Alive)
async def healthz() -> Response:
    """Return 200 while the process answers requests."""
    return Response(orjson.dumps({"status": "ok"}), media_type="application/json")


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="Check readiness",
    response_model=Ready,
    responses={503: {"model": Ready, "description": "Not ready; `checks` has the reason"}},
)
async def readyz(request: Request) -> Response:
    """Whether the database answers with the schema that this version needs, its queue is there, Spark can be reached
    where it is a cluster's, and processes for requests can be started (`slots`).

    `loops` has the progress of a compilation, during which the service is ready. It is also ready without a `worker`:
    only jobs and sweeps wait for one, and a load balancer that took the API away would stop everything else, too.
    """
    readiness: Readiness = request.app.state.readiness
    checks = await readiness.checks()
    checks |= {"slots": readiness.slots()}
    is_ready = checks["slots"] != NO_PROCESS
    is_ready &= all(checks[name] in {"ok", "local", "not asked"} for name in ("database", "queue", "spark"))
    # The service is ready while it compiles: only a request that needs a missing loop takes longer.
    progress = readiness.compiling()
    checks |= {"loops": "compiled" if progress is None else f"compiling, {progress}"}
    document = {"status": "ok" if is_ready else "unavailable", "checks": checks}
    return Response(orjson.dumps(document), 200 if is_ready else 503, media_type="application/json")


@router.get("/metrics", operation_id="metrics", summary="Read metrics", response_class=Response)
async def read_metrics(request: Request) -> Response:
    """Return the metrics in Prometheus' text format."""
    readiness: Readiness = request.app.state.readiness
    state = request.app.state
    text = metrics.exposition(
        await readiness.activity(), state.occupancy(), dropped_log_lines=state.dropped_log_lines()
    )
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


def _schema(connection: sa.Connection) -> str:
    if connection.scalar(sa.text("SHOW transaction_read_only")) == "on":
        connection.invalidate()  # the next check looks whether another server takes writes
        return "is read-only; nothing can be stored"
    migrations.check_age(connection)
    revision = migrations.current(connection)
    if migrations.suffices(revision):
        return "ok"
    return f"the schema is at {revision}; `rackplan migrate` brings it to {migrations.newest()}"


def _queue(connection: sa.Connection) -> str:
    connection.execute(sa.text("SELECT 1 FROM procrastinate_jobs LIMIT 1"))
    return "ok"


def _worker(connection: sa.Connection) -> str:
    is_there = connection.scalar(sa.text(STATEMENTS["any_worker"]), {"seconds": _SILENT_S})
    return "ok" if is_there else "none; jobs and sweeps wait for one"


def _seen(database: Database, look: Callable[[sa.Connection], str]) -> str:
    """The result of a query, or the reason that the database gives none."""
    try:
        with database.engine.connect() as connection:
            return look(connection)
    except DatabaseNewer as failure:
        return failure.detail
    except DatabaseUnavailable as failure:
        return f"cannot be reached: {type(failure.__cause__).__name__}"
    except sa.exc.SQLAlchemyError as failure:
        return f"cannot be read: {type(failure).__name__}"


def _activity(database: Database) -> Activity:
    with database.begin() as uow:
        return uow.activities.now()


def _spark(master: SparkMaster) -> str:
    """`local` has no master, and the one of `yarn` is known to Hadoop's own configuration alone."""
    if master.is_local:
        return "local"
    try:
        return "not asked" if master.connect(within_s=_TIMEOUT_SECONDS) is None else "ok"
    except SparkUnavailable as failure:
        return failure.detail
