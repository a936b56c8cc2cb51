"""Liveness, readiness and metrics."""

from collections.abc import Callable

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


@router.get("/healthz", operation_id="healthz", summary="Check liveness", response_model=Alive)
def healthz() -> Response:
    """Return 200 while the process answers requests."""
    return Response(orjson.dumps({"status": "ok"}), media_type="application/json")


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="Check readiness",
    response_model=Ready,
    responses={503: {"model": Ready, "description": "Not ready; `checks` has the reason"}},
)
def readyz(request: Request) -> Response:
    """Whether the database answers with the schema that this version needs, its queue is there, and Spark can be
    reached where it is a cluster's.
    """
    database: Database = request.app.state.database
    checks: dict[str, Callable[[], str]] = {
        "database": lambda: _database(database),
        "queue": lambda: _queue(database),
        "spark": lambda: _spark(SparkMaster(request.app.state.spark_master)),
    }
    found = {name: check() for name, check in checks.items()}
    is_ready = all(said in {"ok", "local", "not asked"} for said in found.values())
    document = {"status": "ok" if is_ready else "unavailable", "checks": found}
    return Response(orjson.dumps(document), 200 if is_ready else 503, media_type="application/json")


@router.get("/metrics", operation_id="metrics", summary="Read metrics", response_class=Response)
def metrics() -> Response:
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
