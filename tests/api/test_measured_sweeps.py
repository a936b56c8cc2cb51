"""`/v1/sweeps` over the topics of a snapshot, with write rates from monitoring."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from app.store.database import Database
from tests.api.contract import UNKNOWN_ID, only_error, problem
from tests.api.test_sweep_kinds import items, sweep

Json = dict[str, Any]
TEXTS = Path(__file__).parents[1] / "samples"
BASE: Json = {
    "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 2},
    "broker_profile": {"disk_bytes": 1e9, "nic_in_bytes_per_s": 1e6, "price_per_month": 10},
    "placement": {"seed": 7},
    "failures": ["none", "rack"],
}
AT = "/base/measured"


@pytest.fixture
def snapshot(client: httpx.Client) -> str:
    """Two topics: orders with bytes on disk, payments whose second partition is not measured."""
    sizes: dict[str, list[int | None]] = {"orders": [100, 300, 200], "payments": [50, None]}
    body = {
        "cluster": "measured",
        "brokers": [{"id": broker, "rack": "abc"[broker % 3]} for broker in range(6)],
        "topics": [
            {
                "name": name,
                "partitions": [
                    {"partition": p, "replicas": [p, p + 1, p + 2]} | ({} if size is None else {"size_bytes": size})
                    for p, size in enumerate(its)
                ],
            }
            for name, its in sizes.items()
        ],
    }
    response = client.post("/v1/snapshots", json=body)
    assert response.status_code == 201, response.text
    actual: str = response.json()["id"]
    return actual


def request_body(measured: Json, **changed: Any) -> Json:
    return {"base": {**BASE, "measured": measured} | changed.pop("base", {}), **changed}


def test_topics_are_as_they_were_measured(client: httpx.Client, database: Database, snapshot: str) -> None:
    """orders by partition at two times: 3 and 5 in sum; payments from the request; each fact is stored once."""
    samples = ["orders,0,0,1", "orders,1,0,2", "orders,2,60,5", "orders,7,60,1", "gone,0,0,1"]
    rates = "\n".join(["topic,partition,timestamp,bytes_in_per_s", *samples])
    stated = [{"name": "payments", "ingress_bytes_per_s": 9, "retained_bytes": 80}]
    measured = {"snapshot_id": snapshot, "bytes_in": {"csv": rates}, "every_topic": {"consumer_groups": 2}}
    path = sweep(
        client, database, request_body(measured, base={"topics": stated}, axes={"partitions_multiplier": [1, 2]})
    )
    answered = client.get(path).json()["definition"]
    assert answered["topics_read"] == [
        {
            "name": "orders",
            "partitions": 3,
            "replication_factor": 3,
            "ingress_bytes_per_s": 4.5,
            "peak_ingress_bytes_per_s": 6.0,
            "retained_bytes": 600,
        },
        {
            "name": "payments",
            "partitions": 2,
            "replication_factor": 3,
            "ingress_bytes_per_s": 9.0,
            "retained_bytes": 80.0,
        },
    ]
    assert [(its["code"], its["topics"]) for its in answered["warnings"]] == [
        ("rates_of_unknown_topics", ["gone"]),
        ("rates_of_unknown_partitions", ["orders"]),
    ]
    assert answered["snapshot_content_hash"] == client.get(f"/v1/snapshots/{snapshot}").json()["content_hash"]
    assert answered["base"]["measured"] == {"snapshot_id": snapshot, "every_topic": {"consumer_groups": 2}}
    once, twice = items(client, path)
    assert (once["partitions"], twice["partitions"]) == (5, 10)
    assert once["resources"]["nic_in"]["before"]["mean"] * 6 == pytest.approx((6 + 9) * 3)
    assert once["resources"]["disk"]["before"]["mean"] * 6 == pytest.approx((600 + 80) * 3)
    assert twice["resources"]["disk"]["before"]["mean"] == pytest.approx(once["resources"]["disk"]["before"]["mean"])
    plan = client.post(f"{path}/scenarios/0/plan")
    assert [len(topic["replicas"]) for topic in plan.json()["topics"]] == [3, 2]


def test_local_retention_of_every_topic_is_that_of_tiered_ones(client: httpx.Client, database: Database) -> None:
    """Of three topics one is not tiered, and one states no retention: its bytes in remote storage are a lower bound.

    10 bytes/s each: an hour of two topics is local, beside a segment of 7 bytes a replica, and 100 bytes of the third.
    """
    tiered = {"remote.storage.enable": "true", "segment.bytes": "7"}
    configs = {"known": {**tiered, "retention.ms": "86400000"}, "unknown": tiered, "plain": {}}
    body = {
        "cluster": "tiered",
        "brokers": [{"id": broker} for broker in range(3)],
        "topics": [
            {"name": name, "configs": its, "partitions": [{"partition": 0, "replicas": [0, 1, 2], "size_bytes": 100}]}
            for name, its in configs.items()
        ],
    }
    measured = {
        "snapshot_id": client.post("/v1/snapshots", json=body).raise_for_status().json()["id"],
        "bytes_in": {"csv": "topic,bytes_in_per_s\n" + "\n".join(f"{name},10" for name in configs)},
        "every_topic": {"local_retention_s": 3600},
    }
    axes = {"topics.*.local_retention_s": [60, 3600]}
    path = sweep(client, database, request_body(measured, axes=axes))
    answered = client.get(path).json()["definition"]
    assert [(its["code"], its["topics"]) for its in answered["warnings"]] == [("remote_bytes_unknown", ["unknown"])]
    assert [its.get("local_retention_s") for its in answered["topics_read"]] == [3600, None, 3600]
    shorter, longer = items(client, path)
    assert shorter["remote_bytes"] == longer["remote_bytes"] == 864_000 + 100
    disks = [row["resources"]["disk"]["before"]["mean"] * 6 for row in (shorter, longer)]
    assert disks == pytest.approx([3 * (607 + 100 + 100), 3 * (36_007 + 100 + 100)])


def test_a_clone_sweeps_over_the_same_topics(client: httpx.Client, database: Database, snapshot: str) -> None:
    measured = {"snapshot_id": snapshot, "topics": ["orders"], "bytes_in": {"csv": "topic,bytes_in_per_s\norders,6"}}
    first = sweep(client, database, request_body(measured))
    assert client.delete(f"/v1/snapshots/{snapshot}").status_code == 204, "the sweep has a copy of what it needs"
    clone = client.post(f"{first}/clones", json={"axes": {"topics.orders.replication_factor": [2, 3]}})
    assert (clone.status_code, clone.json()["scenarios"]) == (202, 2)
    answered = [client.get(path).json()["definition"] for path in (first, clone.headers["location"])]
    assert answered[0]["topics_read"] == answered[1]["topics_read"]


def test_a_planned_topic_is_added_to_the_measured_ones(client: httpx.Client, database: Database, snapshot: str) -> None:
    planned = {"name": "new", "partitions": 4, "replication_factor": 2, "ingress_bytes_per_s": 3, "retention_s": 60}
    known = {"name": "orders", "ingress_bytes_per_s": 1}
    body = request_body({"snapshot_id": snapshot, "topics": ["orders"]}, base={"topics": [planned, known]})
    [row] = items(client, sweep(client, database, body))
    assert (row["partitions"], row["error"]) == (7, None)


def test_the_texts_of_a_real_cluster(client: httpx.Client, database: Database) -> None:
    """Six topics as the tools print them, rates as Prometheus answers: bytes on disk are the measured ones."""
    texts = {
        "brokers": "kafka-broker-api-versions.txt",
        "topics": "kafka-topics-describe.txt",
        "log_dirs": "kafka-log-dirs-describe.txt",
    }
    files = {name: (file, (TEXTS / file).read_bytes(), "text/plain") for name, file in texts.items()}
    response = client.post("/v1/snapshots", files=files, data={"cluster": "real"})
    assert response.status_code == 201, response.text
    snapshot = response.json()["id"]
    nothing = request_body({"snapshot_id": snapshot})
    rejection = problem(client.post("/v1/sweeps", json=nothing), 422, "conflicting_fields")
    names = rejection["topics"]
    result = [{"metric": {"topic": name}, "values": [[0, "100"], [60, "300"]]} for name in names]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    body = request_body({"snapshot_id": snapshot, "bytes_in": {"prometheus": answer}})
    path = sweep(client, database, body)
    read = client.get(path).json()["definition"]["topics_read"]
    assert {its["name"] for its in read} == set(names)
    assert all((its["ingress_bytes_per_s"], its["peak_ingress_bytes_per_s"]) == (200, 300) for its in read)
    [row] = items(client, path)
    on_disk = sum(its["retained_bytes"] * its["replication_factor"] for its in read)
    assert row["resources"]["disk"]["before"]["mean"] * 6 == pytest.approx(on_disk)


def rates(text: str) -> Json:
    return {"bytes_in": {"csv": f"topic,bytes_in_per_s\n{text}"}}


BAD: list[tuple[Json, Json, str, str]] = [
    ({}, {}, "conflicting_fields", f"{AT}/bytes_in"),
    (rates("orders,1"), {}, "conflicting_fields", f"{AT}/bytes_in"),
    (rates("orders,1\npayments,1"), {}, "conflicting_fields", AT),
    (rates("orders;1"), {}, "malformed_text", f"{AT}/bytes_in/csv"),
    ({"bytes_in": {}}, {}, "conflicting_fields", f"{AT}/bytes_in"),
    ({"bytes_in": {"csv": "x", "prometheus": {}}}, {}, "conflicting_fields", f"{AT}/bytes_in"),
    ({"bytes_in": {"prometheus": {}}}, {}, "impossible_value", f"{AT}/bytes_in/prometheus/data"),
    ({"topics": ["orders", "nope"]}, {}, "conflicting_fields", f"{AT}/topics/1"),
    ({"topics": ["orders", "orders"]}, {}, "conflicting_fields", f"{AT}/topics/1"),
    ({"topics": []}, {}, "validation", f"{AT}/topics"),
    ({"topics": ["orders"]}, {"topics": [{"name": "x"}]}, "conflicting_fields", "/base/topics/0/partitions"),
    ({}, {"topics": [{"name": "orders"}] * 2}, "conflicting_fields", "/base/topics/1/name"),
    ({}, {"topics": [{"name": "orders", "partitions": 0}]}, "validation", "/base/topics/0/partitions"),
    ({"rates": {}}, {}, "validation", f"{AT}/rates"),
]


@pytest.mark.parametrize(("measured", "base", "code", "pointer"), BAD, ids=lambda value: str(value)[:50])
def test_an_impossible_definition_is_named(
    client: httpx.Client, snapshot: str, measured: Json, base: Json, code: str, pointer: str
) -> None:
    response = client.post("/v1/sweeps", json=request_body({"snapshot_id": snapshot} | measured, base=base))
    only_error(problem(response, 422, code), pointer)


def test_an_unknown_snapshot_is_not_found(client: httpx.Client) -> None:
    problem(client.post("/v1/sweeps", json=request_body({"snapshot_id": UNKNOWN_ID})), 404, "snapshot_not_found")


def test_a_scenario_needs_topics(client: httpx.Client) -> None:
    response = client.post("/v1/sweeps", json={"base": BASE})
    only_error(problem(response, 422, "validation"), "/base/topics")
