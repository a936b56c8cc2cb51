"""`cluster` in place of `snapshot_id`: the newest snapshot of a cluster, in every request about a snapshot."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from app.store.database import Database
from tests.api.contract import UNKNOWN_ID, only_error, problem
from tests.api.test_measured_sweeps import BASE
from tests.formats.strategies import sample

Json = dict[str, Any]
ORDERS = {"topic": "orders", "partition": 0, "replicas": [2, 1]}
MEASURED = {"name": "orders", "ingress_bytes_per_s": 1, "retained_bytes": 9}
CLIENT = {"process_id": "00000000-0000-0000-0000-000000000001", "capacity": 1}
SERIES = {"start": "2026-11-27T06:00:00Z", "step_s": 60, "bytes_per_s": {"orders": [[5]]}}
REQUESTS: dict[str, tuple[str, Json, str]] = {
    "replicas": ("/v1/plans/replicas", {"topics": [{"name": "t", "partitions": 3, "replication_factor": 2}]}, ""),
    "reassignment": ("/v1/plans/reassignment", {"remove_brokers": [3]}, ""),
    "group": ("/v1/plans/group", {"members": [{"member_id": "m", "topics": ["orders"]}]}, ""),
    "streams": ("/v1/plans/streams", {"tasks": ["0_0"], "clients": [CLIENT]}, ""),
    "restart": ("/v1/plans/restart", {}, ""),
    "consumers": ("/v1/plans/consumers", {"series": SERIES, "capacity_bytes_per_s": 9}, ""),
    "check": ("/v1/checks", {"reassignment": {"version": 1, "partitions": [ORDERS]}}, ""),
    "draws": (
        "/v1/sweeps",
        {
            "kind": "placement_draws",
            "topics": [{"name": "t", "partitions": 3, "replication_factor": 2}],
            "seeds": {"count": 2},
        },
        "",
    ),
    "groups": ("/v1/sweeps", {"kind": "consumer_groups", "assignors": ["range"]}, ""),
    "changes": ("/v1/sweeps", {"kind": "reassignment", "axes": {"remove_broker": "each"}}, ""),
    "measured": (
        "/v1/sweeps",
        {
            "base": BASE | {"topics": [MEASURED], "measured": {}},
            "axes": {"partitions_multiplier": [1]},
        },
        "/base/measured",
    ),
}
PLANS = ("replicas", "reassignment", "group", "streams")


def _on(name: str, **snapshot: object) -> tuple[str, Json]:
    """The path and the body of a request, on this snapshot."""
    path, body, at = REQUESTS[name]
    if at:
        return path, body | {"base": body["base"] | {"measured": snapshot}}
    return path, body | snapshot


def _store(client: httpx.Client, cluster: str, brokers: int) -> str:
    body = {
        "cluster": cluster,
        "brokers": [{"id": broker + 1, "rack": "abc"[broker % 3]} for broker in range(brokers)],
        "topics": [{"name": "orders", "partitions": [{"partition": 0, "replicas": [1, 2], "size_bytes": 5}]}],
        "groups": [
            {
                "group_id": "g",
                "assignor": "range",
                "state": "Stable",
                "members": [
                    {"member_id": "m", "client_id": "m", "topics": ["orders"], "owned_partitions": {"orders": [0]}}
                ],
            }
        ],
    }
    response = client.post("/v1/snapshots", json=body)
    assert response.status_code == 201, response.text
    snapshot_id: str = response.json()["id"]
    return snapshot_id


def _snapshot_of(client: httpx.Client, response: httpx.Response) -> str:
    """The snapshot that an answer names; a sweep's is in its definition."""
    assert response.status_code in (200, 201, 202), response.text
    document = response.json()
    if response.status_code == 202:
        document = client.get(response.headers["location"]).json()
    definition = document.get("definition")
    if definition is None:
        actual: str = document["snapshot_id"]
        return actual
    assert "cluster" not in definition
    measured: str = definition.get("base", {}).get("measured", definition)["snapshot_id"]
    return measured


@pytest.mark.parametrize("name", REQUESTS)
def test_the_newest_state_of_the_cluster(client: httpx.Client, name: str) -> None:
    """A cluster that returns to an earlier state has that snapshot as its newest again."""
    cluster = f"newest-{name}"
    first, second = _store(client, cluster, 5), _store(client, cluster, 6)
    path, body = _on(name, cluster=cluster)
    assert _snapshot_of(client, client.post(path, json=body)) == second
    assert _store(client, cluster, 5) == first
    assert _snapshot_of(client, client.post(path, json=body)) == first


@pytest.mark.parametrize("name", PLANS)
def test_one_plan_by_either_name(client: httpx.Client, name: str) -> None:
    snapshot_id = _store(client, "either", 5)
    by_id, by_cluster = (
        client.post(path, json=body) for path, body in (_on(name, snapshot_id=snapshot_id), _on(name, cluster="either"))
    )
    assert by_cluster.status_code == 201, by_cluster.text
    assert by_cluster.content == by_id.content
    assert by_cluster.json()["request"]["snapshot_content_hash"]


@pytest.mark.parametrize("name", REQUESTS)
def test_a_repeated_key_gets_the_first_answer(client: httpx.Client, name: str) -> None:
    cluster = f"repeated-{name}"
    _store(client, cluster, 5)
    path, body = _on(name, cluster=cluster)
    first = client.post(path, json=body, headers={"Idempotency-Key": cluster})
    _store(client, cluster, 6)
    again = client.post(path, json=body, headers={"Idempotency-Key": cluster})
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"


def test_a_job_is_about_the_snapshot_of_its_submission(client: httpx.Client, database: Database) -> None:
    """A worker plans on the snapshot that was the newest when the request was received."""
    snapshot_id = _store(client, "queued", 5)
    path, body = _on("replicas", cluster="queued")
    job = client.post(path, json=body, headers={"Prefer": "respond-async"})
    assert job.status_code == 202, job.text
    _store(client, "queued", 6)
    with database.begin() as uow:
        stored = uow.jobs.start(UUID(job.json()["id"]))
    assert stored is not None
    assert stored.request["snapshot_id"] == snapshot_id


@pytest.mark.parametrize("name", REQUESTS)
class TestRejected:
    def test_both(self, client: httpx.Client, name: str) -> None:
        path, body = _on(name, cluster="both", snapshot_id=UNKNOWN_ID)
        document = problem(client.post(path, json=body), 422, "conflicting_fields")
        error = only_error(document, f"{REQUESTS[name][2]}/cluster")
        assert error["value"] == "both"
        assert UNKNOWN_ID in document["detail"]

    def test_an_unknown_cluster(self, client: httpx.Client, name: str) -> None:
        _store(client, "prod-north", 5)
        path, body = _on(name, cluster="prod-nroth")
        document = problem(client.post(path, json=body), 404, "snapshot_not_found")
        error = only_error(document, f"{REQUESTS[name][2]}/cluster")
        assert error["value"] == "prod-nroth"
        assert document["detail"].endswith("; did you mean 'prod-north'?")

    def test_none(self, client: httpx.Client, name: str) -> None:
        if name in ("streams", "consumers"):  # whose tasks and rates need no cluster
            return
        path, body = _on(name)
        document = problem(client.post(path, json=body), 422, "conflicting_fields")
        only_error(document, f"{REQUESTS[name][2]}/snapshot_id")
        assert "cluster" in document["detail"]


def test_a_state_that_is_posted_again_has_the_warnings_of_the_newest_text(client: httpx.Client) -> None:
    """A configuration of a broker warns, and is no part of the state."""
    found = []
    for value in ("false", "true", "false"):
        config = f"confluent.balancer.enable={value} sensitive=false synonyms={{}}"
        text = f"{sample('kafka-topics-describe.txt')}\nAll configs for broker 101 are:\n  {config}\n"
        body = client.post(
            "/v1/snapshots", params={"cluster": "warned"}, content=text, headers={"content-type": "text/plain"}
        ).json()
        warnings = client.get(f"/v1/snapshots/{body['id']}").json()["warnings"]
        assert warnings == body["warnings"]
        found.append((body["id"], any(each["code"] == "others_decide" for each in warnings)))
    assert found == [(found[0][0], each) for each in (False, True, False)]
