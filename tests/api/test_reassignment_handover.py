"""A reassignment handed over: every format reads back, batches add up to the plan, and the page shows all of it."""

import io
import zipfile
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest

from app.formats.kafka_files import reassignment
from app.services.plans import FORMATS
from app.services.plans.kinds import KINDS
from tests.api.contract import SNAPSHOT_ID, problem
from tests.formats.readers import leader_election

Lists = dict[tuple[str, int], tuple[int, ...]]
EXECUTE = FORMATS["reassignment"].media_type


@pytest.fixture
def plan(client: httpx.Client) -> dict[str, Any]:
    """106 is emptied, one move at a time."""
    body = {
        "snapshot_id": str(SNAPSHOT_ID),
        "remove_brokers": [106],
        "batches": {"max_moves_in_per_broker": 1, "throttle_bytes_per_s": 1 << 20},
    }
    response = client.post("/v1/plans/reassignment", json=body)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def export(client: httpx.Client, plan: dict[str, Any], name: str, **params: str | int | bool) -> httpx.Response:
    response = client.get(f"/v1/plans/{plan['id']}/export", params={"format": name, **params})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == FORMATS[name].media_type
    return response


def lists(text: str) -> Lists:
    return {(p.topic, p.partition): p.replicas for p in reassignment.read(text).partitions}


def test_execute_and_rollback_go_there_and_back(client: httpx.Client, plan: dict[str, Any]) -> None:
    execute, rollback = (lists(export(client, plan, name).text) for name in ("reassignment", "rollback"))
    moved = sum(len(set(ids) - set(rollback[its])) for its, ids in execute.items())
    assert moved == plan["certificate"]["moved_replicas"] > 0
    assert execute.keys() == rollback.keys()
    accepted = client.get(f"/v1/plans/{plan['id']}", headers={"Accept": EXECUTE})
    assert lists(accepted.text) == execute


@pytest.mark.parametrize(("leaders", "elected"), [("preferred", ["t-0"]), ("keep", [])])
def test_preferred_leaders_are_handed_to_an_election(client: httpx.Client, leaders: str, elected: list[str]) -> None:
    """Partition 1 is led by another, too, but its preferred replica is not in sync, so that no election can help."""
    rows = [{"replicas": [1, 2], "isr": [2, 1], "leader": 2}, {"replicas": [2, 1], "isr": [1], "leader": 1}]
    topics = [{"name": "t", "partitions": [row | {"partition": number} for number, row in enumerate(rows)]}]
    brokers = [{"id": broker, "rack": f"rack-{broker}"} for broker in (1, 2)]
    snapshot_id = client.post("/v1/snapshots", json={"cluster": "c", "brokers": brokers, "topics": topics}).json()["id"]
    body = {"snapshot_id": snapshot_id, "leaders_only": True, "balance": {"leaders": leaders}}
    plan = client.post("/v1/plans/reassignment", json=body).json()
    assert (plan["not_preferred"], plan["batches"]) == (2, [])
    with zipfile.ZipFile(io.BytesIO(export(client, plan, "batches").content)) as archive:
        has_file = "leader-election.json" in archive.namelist()
        named = leader_election.read(archive.read("leader-election.json").decode()) if has_file else ()
        assert ("kafka-leader-election" in archive.read("README.txt").decode()) == bool(elected)
    assert [f"{topic}-{partition}" for topic, partition in named] == elected


def test_each_batch_and_its_inverse_are_in_the_archive(client: httpx.Client, plan: dict[str, Any]) -> None:
    with zipfile.ZipFile(io.BytesIO(export(client, plan, "batches").content)) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    executed: Lists = {}
    for number, batch in enumerate(plan["batches"], start=1):
        for what, inverse in (("execute", False), ("rollback", True)):
            response = export(client, plan, "batch", batch=number, inverse=inverse)
            assert response.text == files[f"{number:02d}-{what}.json"]
            tail = f"-batch-{number}" + ("-rollback" if inverse else "")
            assert f"plan-{plan['id']}{tail}.json" in response.headers["content-disposition"]
        assert len(lists(files[f"{number:02d}-execute.json"])) == batch["count"]
        executed |= lists(files[f"{number:02d}-execute.json"])
    assert executed == lists(export(client, plan, "reassignment").text)
    assert "--throttle 1048576" in files["README.txt"]


def test_an_invalid_batch_is_rejected(client: httpx.Client, plan: dict[str, Any]) -> None:
    path = f"/v1/plans/{plan['id']}/export"
    problem(client.get(path, params={"format": "batch"}), 422, "conflicting_fields")
    problem(client.get(path, params={"format": "batch", "batch": 99}), 422, "not_exportable")
    problem(client.get(path, params={"format": "rollback", "batch": 1}), 422, "conflicting_fields")
    problem(client.get(path, params={"format": "batches", "topic": "orders"}), 422, "not_exportable")


def test_every_other_format_is_written(client: httpx.Client, plan: dict[str, Any]) -> None:
    for name in set(KINDS["reassignment"].exports) - {"replica_assignment"}:
        assert export(client, plan, name).content
    problem(client.get(f"/v1/plans/{plan['id']}/export?format=replica_assignment"), 422, "not_exportable")


def test_its_difference_keeps_books(client: httpx.Client, plan: dict[str, Any]) -> None:
    found = client.get(f"/v1/plans/{plan['id']}/diff").json()
    summary = found["summary"]
    assert summary["moved_bytes"] == plan["certificate"]["moved_bytes"]
    assert summary["replicas_added"] == plan["certificate"]["moved_replicas"]
    for broker in summary["brokers"]:
        assert broker["replicas_after"] - broker["replicas_before"] == broker["replicas_in"] - broker["replicas_out"]
    assert {broker["broker"]: broker["replicas_after"] for broker in summary["brokers"]}[106] == 0
    assert all(item["racks_after"] >= 1 for item in found["items"])


def test_it_can_be_looked_at(client: httpx.Client, plan: dict[str, Any]) -> None:
    page = client.get(f"/plans/{plan['id']}")
    assert page.status_code == 200
    assert "no plan that satisfies these constraints moves less" in page.text
    picture = client.get(f"/v1/plans/{plan['id']}/picture.svg")
    root = ET.fromstring(picture.content)  # noqa: S314 — it was drawn just now
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Reassignment: remove broker 106"


def test_brokers_factors_and_partitions_that_come_are_shown_too(client: httpx.Client) -> None:
    body = {
        "snapshot_id": str(SNAPSHOT_ID),
        "add_brokers": [{"id": 111, "rack": "use1-az1"}],
        "replication_factor": {"orders": 4},
        "partitions": {"orders": 5},
    }
    response = client.post("/v1/plans/reassignment", json=body)
    assert response.status_code == 201, response.text
    plan = response.json()
    new = {("orders", partition) for partition in range(2, 5)}
    assert not new & lists(export(client, plan, "reassignment").text).keys()
    with zipfile.ZipFile(io.BytesIO(export(client, plan, "batches").content)) as archive:
        named = set().union(*(lists(archive.read(n).decode()) for n in archive.namelist() if n.endswith("e.json")))
        assert "new-partitions/orders.txt" in archive.namelist()
    assert not new & named
    found = client.get(f"/v1/plans/{plan['id']}/diff").json()["summary"]
    assert 111 in {broker["broker"] for broker in found["brokers"]}
    assert found["partitions_added"] == 3
    assert client.get(f"/plans/{plan['id']}").status_code == 200
