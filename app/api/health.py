"""Liveness, readiness and metrics.

None of the three needs a slot, one of the threads or a connection that requests are served with: they answer at any
load. Readiness has a database connection and threads of its own, and callers who ask at the same time share one answer.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import orjson
import sqlalchemy as sa
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from app.errors import SparkUnavailable
from app.services.spark_master import SparkMaster
from app.store import migrations
from app.store.database import Database

router = APIRouter(tags=["health"])

_TIMEOUT_SECONDS = 2.0


class Alive(BaseModel):
    """The process answers."""

    status: str


class Ready(BaseModel):
    """The state of each dependency: `ok`, or the error."""

    status: str
    checks: dict[str, str]


class Readiness:
    """Checks what requests need. It belongs to one event loop; `close` ends its threads and its connection."""

    def __init__(self, database_url: str, spark_master: str) -> None:
        self._database = Database(database_url, connections=2)
        self._checks: Mapping[str, Callable[[], str]] = {
            "database": lambda: _database(self._database),
            "queue": lambda: _queue(self._database),
            "spark": lambda: _spark(SparkMaster(spark_master)),
        }
        self._threads = ThreadPoolExecutor(len(self._checks), thread_name_prefix="readiness")
        self._running: dict[str, asyncio.Future[str]] = {}

    async def checks(self) -> dict[str, str]:
        """Each check's answer: `ok`, `local`, `not asked`, or what is wrong."""
        answers = await asyncio.gather(*map(self._answer, self._checks))
        return dict(zip(self._checks, answers, strict=True))

    async def _answer(self, name: str) -> str:
        running = self._running.get(name)
        if running is None or running.done():
            running = asyncio.get_running_loop().run_in_executor(self._threads, self._checks[name])
            self._running[name] = running
        try:
            # The check goes on, and whoever asks next is told what came of it: no thread is started for each caller.
            return await asyncio.wait_for(asyncio.shield(running), _TIMEOUT_SECONDS)
        except TimeoutError:
            return f"does not answer within {_TIMEOUT_SECONDS:g} s"

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
    """Whether the database answers with the schema that this version needs, its queue is there, and Spark can be
    reached where it is a cluster's.
    """
    readiness: Readiness = request.app.state.readiness
    found = await readiness.checks()
    is_ready = all(said in {"ok", "local", "not asked"} for said in found.values())
    document = {"status": "ok" if is_ready else "unavailable", "checks": found}
    return Response(orjson.dumps(document), 200 if is_ready else 503, media_type="application/json")


@router.get("/metrics", operation_id="metrics", summary="Read metrics", response_class=Response)
async def metrics() -> Response:
    """Return the metrics in Prometheus' text format."""
    return Response(generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _database(database: Database) -> str:
    try:
        with database.engine.connect() as connection:
            revision = migrations.current(connection)
    except sa.exc.SQLAlchemyError as failure:
        return f"cannot be reached: {type(failure).__name__}"
    wanted = migrations.newest()
    return "ok" if revision == wanted else f"the schema is at {revision}; `rackplan migrate` brings it to {wanted}"


def _queue(database: Database) -> str:
    try:
        with database.engine.connect() as connection:
            connection.execute(sa.text("SELECT 1 FROM procrastinate_jobs LIMIT 1"))
    except sa.exc.SQLAlchemyError as failure:
        return f"cannot be read: {type(failure).__name__}"
    return "ok"


def _spark(master: SparkMaster) -> str:
    """`local` has no master, and the one of `yarn` is known to Hadoop's own configuration alone."""
    if master.is_local:
        return "local"
    try:
        return "not asked" if master.connect(within_s=_TIMEOUT_SECONDS) is None else "ok"
    except SparkUnavailable as failure:
        return failure.detail
