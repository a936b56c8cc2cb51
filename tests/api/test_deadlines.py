"""Costly requests within every documented limit: each is answered within the deadline, or stopped with its name."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest

from tests.api.contract import problem
from tests.databases import Rows
from tests.service import client_of, served

DEADLINE_S = 1
LATER_S = 5.0
"""For the time before and after a slot, on a machine that runs other tests."""
Json = dict[str, Any]


@pytest.fixture(scope="module")
def strict(rows: Rows) -> Iterator[httpx.Client]:
    """A service whose deadline is short: the time of a request beyond it shows."""
    rows.reset(examples=False)
    with (
        served(rows.database, solver_processes=1, reader_processes=1, deadline_seconds=DEADLINE_S) as address,
        client_of(address) as client,
    ):
        yield client


def brokers(count: int, racks: int) -> list[Json]:
    # Racks of unequal size, over which outcomes cannot be enumerated.
    return [{"id": number, "rack": f"r{int(number**0.7) % racks}"} for number in range(count)]


def envelope() -> Json:
    topic = {"name": "large", "partitions": 1_000_000, "replication_factor": 3}
    return {"brokers": brokers(600, 7), "algorithm": "striped", "topics": [topic]}


def group_of_many_events() -> Json:
    members = [{"member_id": f"m{number:04}", "topics": ["t"]} for number in range(1_000)]
    return {
        "brokers": brokers(3, 3),
        "topics": [{"name": "t", "partitions": 999}],
        "assignor": "uniform",
        "members": members,
        "events": [{"leave": f"m{number:04}"} for number in range(999)],
    }


def keys() -> Json:
    return {
        "keys": [f"key-{number}" for number in range(200_000)],
        "partitioner": "murmur2",
        "partitions": 12,
        "compare_partitions": list(range(13, 35)),
    }


def snapshot_of(topics: int, partitions: int) -> Json:
    rows = [{"partition": number, "replicas": [number % 60, (number + 7) % 60]} for number in range(partitions)]
    return {
        "cluster": "costly",
        "brokers": brokers(60, 5),
        "topics": [{"name": f"t{number}", "partitions": rows} for number in range(topics)],
    }


@pytest.mark.long
class TestDeadline:
    """A client waits for the deadline at most, whatever it has requested."""

    @pytest.mark.parametrize(
        ("path", "body", "becomes_job"),
        [
            ("/v1/plans/replicas", envelope(), True),
            ("/v1/plans/group", group_of_many_events(), True),
            ("/v1/keys/partitions", keys(), False),
            ("/v1/snapshots", snapshot_of(400, 300), False),
        ],
        ids=["envelope of a striped plan", "999 events of a group", "keys under 23 counts", "reading of a snapshot"],
    )
    def test_a_costly_request_is_answered_or_stopped(
        self, strict: httpx.Client, path: str, body: Json, *, becomes_job: bool
    ) -> None:
        self.answered(strict, path, body, becomes_job=becomes_job)

    def test_costly_requests_over_a_snapshot_are_answered_or_stopped(self, strict: httpx.Client, address: str) -> None:
        with client_of(address) as client:  # without a deadline that counts
            stored = client.post("/v1/snapshots", json=snapshot_of(100, 100))
        assert stored.status_code == 201
        on = {"snapshot_id": stored.json()["id"]}
        balance = {"replicas": "tight", "leaders": "tight"}
        trade_off = {**on, "remove_brokers": [5, 6, 7], "balance": balance, "trade_off": True}
        self.answered(strict, "/v1/plans/reassignment", trade_off, becomes_job=True)
        limits = {"limits": {"replicas": {"absolute": 340}}}
        self.answered(strict, "/v1/checks", {**on, **limits}, becomes_job=False)

    def answered(self, strict: httpx.Client, path: str, body: Json, *, becomes_job: bool) -> None:
        content = orjson.dumps(body)
        started = time.monotonic()
        response = strict.post(path, content=content, headers={"Content-Type": "application/json"})
        assert time.monotonic() - started < DEADLINE_S + LATER_S
        if response.is_success:
            return
        found = problem(response, 413, "limit_exceeded")
        assert found["limit_name"] == "deadline_seconds", found["detail"]
        assert ("`Prefer: respond-async`" in found["detail"]) == becomes_job
        assert strict.get("/readyz").is_success
