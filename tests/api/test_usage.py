"""`/v1/usage`, and requests beyond a quota."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from app.api.examples import EXAMPLE_PLAN_ID, SNAPSHOT, SWEEP
from app.api.replicas import PlaceRequest
from app.services import jobs, replicas
from app.services.limits import Limits
from app.services.quotas import Quotas
from app.store import transaction
from app.store.database import Database
from app.store.usage import QUOTAS
from tests.api.conftest import Serve
from tests.api.contract import problem
from tests.store.test_usage import counted, quoted, recounted

LATER = {"Prefer": "respond-async"}
DEFAULTS = dict(zip(QUOTAS, Quotas().quotas, strict=True))


def plan(name: str, partitions: int = 3, factor: int = 2) -> dict[str, Any]:
    """A request that no other test makes."""
    topic = {"name": name, "partitions": partitions, "replication_factor": factor}
    return {"brokers": [{"id": broker} for broker in range(1, 1 + max(3, factor))], "topics": [topic], "seed": 5}


def used(client: httpx.Client) -> dict[str, int]:
    """The usage of the team of a client."""
    (team,) = client.get("/v1/usage").json()["teams"]
    return {name: team[name]["used"] for name in QUOTAS}


def test_the_usage_of_an_open_service(client: httpx.Client) -> None:
    """It is counted for the team `default`, to which the examples belong."""
    before = used(client)
    assert before["plans"] >= 3
    (team,) = client.get("/v1/usage").json()["teams"]
    assert team["team"] == "default"
    assert {name: team[name]["limit"] for name in QUOTAS} == DEFAULTS
    stored = client.post("/v1/plans/replicas", json=plan("usage")).json()
    after = used(client)
    assert after["plans"] == before["plans"] + 1
    assert after["stored_bytes"] > before["stored_bytes"]
    assert client.post("/v1/plans/replicas", json=plan("usage")).json()["id"] == stored["id"]
    assert used(client) == after
    assert client.delete(f"/v1/plans/{stored['id']}").status_code == 204
    assert used(client) == before


def test_a_key_sees_its_team_and_a_key_of_all_teams_sees_all(client: httpx.Client, database: Database) -> None:
    with database.begin() as uow:
        secrets = {team: uow.api_keys.create(f"of {team}", ["plan"], team=team)[1] for team in ("blue", "green", "*")}
    keys = {team: {"Authorization": f"Bearer {secret}"} for team, secret in secrets.items()}

    def teams_of(headers: dict[str, str]) -> dict[str, int]:
        found = client.get("/v1/usage", headers=headers).json()["teams"]
        return {of["team"]: of["plans"]["used"] for of in found}

    assert teams_of(keys["blue"]) == {"blue": 0}
    assert client.post("/v1/plans/replicas", json=plan("t"), headers=keys["blue"]).status_code == 201
    assert teams_of(keys["blue"]) == {"blue": 1}
    assert teams_of(keys["green"]) == {"green": 0}
    every = teams_of(keys["*"])
    assert every["blue"] == 1
    assert {"blue", "default"} <= every.keys()
    assert teams_of(keys["*"] | {"Rackplan-Team": "blue"}) == {"blue": 1}
    problem(client.get("/v1/usage"), 401, "unauthenticated")


def _of_plan(client: httpx.Client, number: int) -> httpx.Response:
    return client.post("/v1/plans/replicas", json=plan(f"quota-{number}"))


def _of_snapshot(client: httpx.Client, number: int) -> httpx.Response:
    return client.post("/v1/snapshots", json=SNAPSHOT | {"cluster": f"quota-{number}"})


def _of_link(client: httpx.Client, _: int) -> httpx.Response:
    return client.post("/v1/share-links", json={"kind": "plan", "name": str(EXAMPLE_PLAN_ID)})


def _of_job(client: httpx.Client, number: int) -> httpx.Response:
    return client.post("/v1/plans/replicas", json=plan(f"quota-{number}"), headers=LATER)


def _of_sweep(client: httpx.Client, number: int) -> httpx.Response:
    return client.post("/v1/sweeps", json=SWEEP | {"labels": {"number": str(number)}})


@pytest.mark.parametrize(
    ("quota", "make"),
    [
        ("plans", _of_plan),
        ("snapshots", _of_snapshot),
        ("share_links", _of_link),
        ("unfinished_jobs", _of_job),
        ("unfinished_jobs", _of_sweep),
        ("stored_bytes", _of_plan),
        ("stored_bytes", _of_snapshot),
    ],
)
def test_beyond_a_quota(
    client: httpx.Client, database: Database, serve: Serve, quota: str, make: Callable[[httpx.Client, int], Any]
) -> None:
    """The problem names the quota, and the request has changed nothing."""
    limit = used(client)[quota] + (2 if quota != "stored_bytes" else 1)
    limited = serve(database, **{f"quota_{quota}": limit})
    for number in range(2 if quota != "stored_bytes" else 0):
        assert make(limited, number).is_success
    before = used(limited)
    rejected = problem(make(limited, 2), 403, "quota_exceeded")
    assert (rejected["limit_name"], rejected["limit"], rejected["team"]) == (f"quota_{quota}", limit, "default")
    assert rejected["value"] > limit
    assert used(limited) == before
    assert counted(database) == recounted(database)
    if quota == "plans":  # one that is stored is still the answer
        assert make(limited, 1).status_code == 201


def test_what_is_deleted_makes_space(client: httpx.Client, database: Database, serve: Serve) -> None:
    limited = serve(database, quota_plans=used(client)["plans"] + 1)
    first = _of_plan(limited, 0)
    problem(_of_plan(limited, 1), 403, "quota_exceeded")
    assert limited.delete(first.headers["location"]).status_code == 204
    assert _of_plan(limited, 1).status_code == 201


@pytest.mark.long
def test_a_small_request_for_a_large_plan(client: httpx.Client, database: Database, serve: Serve) -> None:
    """36 MB of replicas are not written, and neither is the response to an `Idempotency-Key`."""
    body = plan("large", partitions=300_000, factor=30)
    limited = serve(database, quota_stored_bytes=used(client)["stored_bytes"] + 20_000_000)
    before = _size(database)
    for headers in ({}, {"Idempotency-Key": "large"}):
        rejected = problem(limited.post("/v1/plans/replicas", json=body, headers=headers), 403, "quota_exceeded")
        assert rejected["value"] > 36_000_000
    assert _size(database) - before < 2_000_000


def test_the_response_to_an_idempotency_key_counts(client: httpx.Client, database: Database, serve: Serve) -> None:
    """Beyond the quota the plan is not stored either, and the key is free."""
    before, body, headers = used(client)["stored_bytes"], plan("counted"), {"Idempotency-Key": "counted"}
    first = client.post("/v1/plans/replicas", json=body)
    limited = serve(database, quota_stored_bytes=used(client)["stored_bytes"] + 10)
    assert client.delete(first.headers["location"]).status_code == 204
    problem(limited.post("/v1/plans/replicas", json=body, headers=headers), 403, "quota_exceeded")
    assert used(client)["stored_bytes"] == before
    assert limited.post("/v1/plans/replicas", json=body).status_code == 201
    with_key = client.post("/v1/plans/replicas", json=body, headers=headers)
    assert with_key.status_code == 201
    assert used(client)["stored_bytes"] > before + 200
    assert counted(database) == recounted(database)


def test_concurrent_requests_do_not_exceed_a_quota(client: httpx.Client, database: Database, serve: Serve) -> None:
    limited = serve(database, quota_plans=used(client)["plans"] + 5)
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda number: _of_plan(limited, number).status_code, range(16)))
    assert sorted(statuses) == [201] * 5 + [403] * 11
    assert counted(database) == recounted(database)


def test_a_job_is_cancelled_while_its_plan_is_stored(database: Database) -> None:
    """The transaction of the plan waits for the usage of its team, and the cancellation for neither."""
    request = PlaceRequest.model_validate(plan("cancelled")).service()
    with transaction.acting_as("blue"), database.begin() as uow:
        job = uow.jobs.enqueue(replicas.KIND, replicas.PLANNER.stored(request))

    def cancel() -> None:
        with transaction.acting_as("blue"), database.begin() as uow:
            uow.jobs.cancel(job.id)

    with ThreadPoolExecutor(2) as threads:
        with database.engine.begin() as other:
            other.exec_driver_sql("UPDATE team_usage SET plans = plans WHERE team = 'blue'")
            storing = threads.submit(jobs.run, database, job.id, Limits())
            _await_waiting(database, 1)
            threads.submit(cancel).result(30)
        storing.result(30)
    with database.begin() as uow:
        assert uow.jobs.get(job.id).state == "cancelled"
    assert counted(database) == {}
    assert counted(database) == recounted(database)


def test_a_job_whose_plan_is_beyond_the_quota(database: Database) -> None:
    """It fails and says why, and nothing of the plan is stored."""
    request = PlaceRequest.model_validate(plan("of-a-job")).service()
    with quoted(database, stored_bytes=10) as limited:
        with transaction.acting_as("blue"), limited.begin() as uow:
            job = uow.jobs.enqueue(replicas.KIND, replicas.PLANNER.stored(request))
        jobs.run(limited, job.id, Limits())
        with limited.begin() as uow:
            ended = uow.jobs.get(job.id)
    assert (ended.state, ended.plan_id) == ("failed", None)
    assert ended.error is not None
    assert (ended.error["code"], ended.error["team"]) == ("quota_exceeded", "blue")
    assert counted(database) == {}


def test_a_service_starts_beyond_its_quotas(scratch: Database, serve: Serve) -> None:
    """Without the examples of the documentation, for which there is no space."""
    assert used(serve(scratch, quota_plans=1))["plans"] <= 1


def _await_waiting(database: Database, number: int) -> None:
    """Wait until as many transactions wait for locks."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ends = time.monotonic() + 30
    while True:
        with database.engine.connect() as connection:
            if connection.exec_driver_sql(query).scalar_one() == number:
                return
        assert time.monotonic() < ends
        time.sleep(0.02)


def _size(database: Database) -> int:
    with database.engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())
