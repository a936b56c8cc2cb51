"""Workers run the jobs of teams in turns."""

import time

import pytest
import sqlalchemy as sa

from app.api.replicas import PlaceRequest
from app.jobs.spark import Spark
from app.services import replicas
from app.store import transaction
from app.store.database import Database
from tests.jobs.working import working

pytestmark = pytest.mark.slow

_ENDED = "SELECT team FROM jobs WHERE state = 'succeeded' ORDER BY started_at"


def test_a_backlog_of_one_team_delays_no_other(database: Database) -> None:
    """Of 20 jobs of one team, only those that run start before the job that another queued behind them."""
    topic = {"name": "t", "partitions": 3, "replication_factor": 2}
    place = PlaceRequest.model_validate({"brokers": [{"id": 1}, {"id": 2}], "topics": [topic], "seed": 1})
    request = replicas.PLANNER.stored(place.service())
    with transaction.acting_as("blue"):
        for _ in range(20):
            with database.begin() as uow:
                uow.jobs.enqueue(replicas.KIND, request)
    with transaction.acting_as("green"), database.begin() as uow:
        uow.jobs.enqueue(replicas.KIND, request)
    with Spark() as spark, working(database, spark):
        ends = time.monotonic() + 60
        while len(begun := _teams(database)) < 21:
            assert time.monotonic() < ends
            time.sleep(0.05)
    assert begun.index("green") <= 2


def _teams(database: Database) -> list[str]:
    with database.engine.connect() as connection:
        return list(connection.scalars(sa.text(_ENDED)))
