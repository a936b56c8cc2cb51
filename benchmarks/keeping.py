"""A plan stored, without HTTP, beside the bare SQL."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from secrets import token_hex
from uuid import UUID

import numpy as np
import orjson
import psycopg
import sqlalchemy as sa

from app.core.model import Cluster, NewTopic
from app.services import replicas
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.replicas import ReplicasRequest
from app.store.database import Database
from app.store.records import NewPlan, PlanHead
from app.store.transaction import uuid7
from benchmarks import service
from benchmarks.clusters import brokers
from benchmarks.measure import Floor, Result, interleaved

FACTOR = 3
BROKERS = 60
RUNS = {1_000: 200, 1_000_000: 9}
_HEAD = """
    INSERT INTO plans
        (id, kind, hash, labels, request, answer, engine_version, prediction, seed, title, summary, part_bytes)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_TOPIC = """
    INSERT INTO plan_topics (plan_id, ordinal, name, first_partition_id, partitions, replication_factor, replicas)
    VALUES (%s, 0, %s, 0, %s, %s, %b)
"""


def run() -> Iterator[Result]:
    """A small plan and a large one, each in a transaction of its own."""
    with service.database() as database, database.engine.connect() as pooled:
        connection = pooled.connection.driver_connection
        assert isinstance(connection, psycopg.Connection)
        for partitions, runs in RUNS.items():
            plan = _planned(partitions)
            calls: dict[str, Callable[[], object]] = {
                "keep": partial(_keep, database, plan),
                "insert": partial(_insert, connection, plan),
            }
            times = interleaved(calls, runs=runs, warm_ups=3)
            yield Result(
                name="keep a plan",
                parameters={"partitions": partitions, "replication_factor": FACTOR},
                times=times["keep"],
                floor=Floor("bare SQL", times["insert"]),
                is_in_process=False,
            )
        kept = pooled.execute(sa.text("SELECT count(*), count(DISTINCT length(replicas)) FROM plan_topics")).one()
        assert tuple(kept) == (2 * sum(runs + 3 for runs in RUNS.values()), len(RUNS))


def _planned(partitions: int) -> NewPlan:
    request = ReplicasRequest([NewTopic("events", partitions, FACTOR)], algorithm="striped", seed=42)
    return draft_plan(replicas.PLANNER, request, Cluster("", brokers(BROKERS, racks="even")), Limits())


def _keep(database: Database, plan: NewPlan) -> PlanHead:
    with database.begin() as uow:
        return uow.plans.store(replace(plan, hash=token_hex(32)))


def _insert(connection: "psycopg.Connection[tuple[object, ...]]", plan: NewPlan) -> UUID:
    plan_id = uuid7()
    labels, request, answer = (orjson.dumps(value).decode() for value in (plan.labels, plan.request, plan.answer))
    rows = plan.placements[0].replicas
    of_lists = [
        plan.request["engine_version"],
        plan.answer["prediction"],
        plan.answer["seed"],
        plan.title,
        plan.summary,
    ]
    head = [plan_id, plan.kind, token_hex(32), labels, request, answer, *of_lists, rows.nbytes]
    connection.execute(_HEAD, head)
    replicas_bytes = np.ascontiguousarray(rows, "<i4").data
    connection.execute(_TOPIC, [plan_id, plan.placements[0].topic, *rows.shape, replicas_bytes])
    connection.commit()
    return plan_id
