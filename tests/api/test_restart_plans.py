"""`POST /v1/plans/restart` over HTTP: the example, files, differences, problems, jobs."""

from typing import Any

import httpx
import pytest

from app.api.examples import EXAMPLE_SNAPSHOT_ID, RESTART_REQUEST
from tests.api.contract import only_error, problem

Json = dict[str, Any]
SNAPSHOT_ID = str(EXAMPLE_SNAPSHOT_ID)


def planned(client: httpx.Client, **fields: Any) -> Json:
    response = client.post("/v1/plans/restart", json={"snapshot_id": SNAPSHOT_ID, **fields})
    assert response.status_code == 201, response.text
    found: Json = response.json()
    return found


@pytest.mark.parametrize("name", RESTART_REQUEST)
def test_examples_are_proven_schedules_of_every_broker(client: httpx.Client, name: str) -> None:
    plan = planned(client, **RESTART_REQUEST[name]["value"])
    assert sorted(broker for wave in plan["waves"] for broker in wave["brokers"]) == [101, 102, 103, 104, 105, 106]
    certificate = plan["certificate"]
    assert certificate["optimal"]
    assert certificate["waves"] == len(plan["waves"]) == sum(part["waves"] for part in certificate["conflict"])
    assert (plan["kind"], plan["prediction"], plan["kafka"]) == ("restart", "pinned", None)


def test_a_plan_is_found_again_with_its_waves_as_rows(client: httpx.Client) -> None:
    plan = planned(client, per="rack")
    assert client.get(f"/v1/plans/{plan['id']}").json() == plan
    rows = client.get(f"/v1/plans/{plan['id']}/partitions").json()
    assert rows["items"] == [{"wave": n, "brokers": wave["brokers"]} for n, wave in enumerate(plan["waves"], 1)]
    assert planned(client, per="rack")["id"] == plan["id"]


def test_two_restarts_differ_by_the_waves_of_brokers(client: httpx.Client) -> None:
    one, other = planned(client, per="rack"), planned(client, max_brokers_per_wave=1)
    found = client.get(f"/v1/plans/{other['id']}/diff", params={"against": one["id"]}).json()
    assert found["summary"] == {"brokers": 6, "changed": len(found["items"]), "waves_before": 3, "waves_after": 6}
    wave_of = {broker: n for n, wave in enumerate(other["waves"], 1) for broker in wave["brokers"]}
    assert all(item["after"] == wave_of[item["broker"]] != item["before"] for item in found["items"])
    alone = client.get(f"/v1/plans/{one['id']}/diff").json()
    assert (alone["summary"]["changed"], alone["items"][0]["before"]) == (6, None)


def test_files_are_negotiated_by_format(client: httpx.Client) -> None:
    plan = planned(client)
    script = client.get(f"/v1/plans/{plan['id']}/export", params={"format": "script"})
    assert script.headers["content-type"] == "application/x-sh"
    assert script.text.startswith("#!/bin/bash")
    rejected = problem(
        client.get(f"/v1/plans/{plan['id']}/export", params={"format": "reassignment"}), 422, "not_exportable"
    )
    assert rejected["formats"] == ["script", "kubernetes", "csv"]


def test_a_job_makes_the_same_plan(client: httpx.Client) -> None:
    body = {"snapshot_id": SNAPSHOT_ID, "max_brokers_per_wave": 3}
    accepted = client.post("/v1/plans/restart", json=body, headers={"Prefer": "respond-async"})
    assert accepted.status_code == 202, accepted.text


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"max_brokers_per_wave": 0}, "/max_brokers_per_wave"),
        ({"per": "zone"}, "/per"),
        ({"restart_seconds": -1}, "/restart_seconds"),
        ({"pod_name": "kafka-0"}, "/pod_name"),
        ({"order": "first"}, "/order"),
        ({"defaults": {"min_insync_replicas": 0}}, "/defaults/min_insync_replicas"),
    ],
)
def test_fields_out_of_range_are_named(client: httpx.Client, fields: Json, pointer: str) -> None:
    response = client.post("/v1/plans/restart", json={"snapshot_id": SNAPSHOT_ID, **fields})
    only_error(problem(response, 422, "validation"), pointer)


def test_unknown_controllers_and_missing_snapshots_are_problems(client: httpx.Client) -> None:
    unknown = client.post("/v1/plans/restart", json={"snapshot_id": SNAPSHOT_ID, "controllers": [101, 9]})
    only_error(problem(unknown, 422, "unknown_broker"), "/controllers/1")
    problem(client.post("/v1/plans/restart", json={}), 422, "conflicting_fields")
