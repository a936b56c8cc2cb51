"""A million partitions planned, stored and answered, beside serialising the answer."""

from collections.abc import Callable, Iterator
from functools import partial
from math import isclose

import sqlalchemy as sa

from app.services import replicas
from app.services.limits import Limits
from app.services.plans import Plan, make_plan, plan_json
from app.store.database import Database
from benchmarks import service
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.request import TopicRequest
from benchmarks.service import Service

PARTITIONS = 1_000_000
RUNS = 11
WARM_UPS = 2
SETTLING_PLANS = 20
TARGET_RATIO = 3
REQUESTS = tuple(
    TopicRequest(algorithm, "even", seed, PARTITIONS) for seed in (42, None) for algorithm in ("admin_utils", "striped")
)


def run() -> Iterator[Result]:
    """Each algorithm with a seed and without one; the server's memory is what it was at most up to then."""
    with service.running() as running:
        _settle(running)
        for request in REQUESTS:
            yield from _measured(running, request)


def _settle(running: Service) -> None:
    """Have the database write as one that has been up for a while does.

    A new one makes and fills every file of its log (WAL) before it writes to it, which makes a large plan's INSERT take
    twice as long; after a checkpoint it writes over the files that it has.
    """
    request = TopicRequest("admin_utils", "none", 42, PARTITIONS)
    for _ in range(SETTLING_PLANS):
        request.post(running.client)
    with running.database.engine.begin() as connection:
        connection.execute(sa.text("CHECKPOINT"))


def _measured(running: Service, request: TopicRequest) -> Iterator[Result]:
    kept_before = running.kept_plans()
    resident_before = running.memory_bytes()["resident_bytes"]
    plan = _place(running.database, request)
    answer_bytes = len(request.post(running.client))
    # A seed that is derived from the request differs with the label, and so do some counts.
    assert isclose(answer_bytes, len(plan_json(plan)), rel_tol=0.01), "over HTTP something else is answered"
    calls: dict[str, Callable[[], object]] = {
        "post": partial(request.post, running.client),
        "place": partial(_place, running.database, request),
        "serialise": partial(plan_json, plan),
    }
    times = interleaved(calls, runs=RUNS, warm_ups=WARM_UPS)
    assert running.kept_plans() - kept_before == 2 * (1 + WARM_UPS + RUNS), "not every request was stored"
    floor = Floor("serialising the answer", times["serialise"])
    peak = running.memory_bytes()["peak_bytes"]
    yield Result(
        name="POST /v1/plans/replicas",
        parameters=request.parameters,
        times=times["post"],
        floor=floor,
        is_in_process=False,
        target_ratio=TARGET_RATIO,
        facts={
            "answer_bytes": answer_bytes,
            "server_resident_bytes_before": resident_before,
            "server_peak_bytes": peak,
        },
    )
    yield Result(
        name="plan and store, without HTTP",
        parameters=request.parameters,
        times=times["place"],
        floor=floor,
        is_in_process=False,
    )


def _place(database: Database, request: TopicRequest) -> Plan:
    with database.begin() as uow:
        return make_plan(uow, replicas.PLANNER, request.service(), Limits())
