"""`POST /v1/plans/consumers` over HTTP: the examples, rows, files, differences, problems, jobs."""

from typing import Any

import httpx
import pytest

from app.api.examples import CONSUMERS_REQUEST, EXAMPLE_SNAPSHOT_ID
from tests.api.contract import only_error, problem

Json = dict[str, Any]
HOURS: Json = CONSUMERS_REQUEST["hours"]["value"]


def planned(client: httpx.Client, **fields: Any) -> Json:
    response = client.post("/v1/plans/consumers", json={**HOURS, **fields})
    assert response.status_code == 201, response.text
    found: Json = response.json()
    return found


@pytest.mark.parametrize("name", CONSUMERS_REQUEST)
def test_examples_have_proven_numbers_of_consumers(client: httpx.Client, name: str) -> None:
    response = client.post("/v1/plans/consumers", json=CONSUMERS_REQUEST[name]["value"])
    plan = response.json()
    assert plan["proven_consumers"] == len(plan["intervals"])
    assert (plan["kind"], plan["prediction"]) == ("consumers", "pinned")
    assert plan["kafka"].keys() == {"from", "to", "assignor", "consumers_needed", "intervals_above_capacity"}


def test_a_plan_is_found_again_with_its_partitions_as_rows(client: httpx.Client) -> None:
    plan = planned(client)
    assert client.get(f"/v1/plans/{plan['id']}").json() == plan
    rows = client.get(f"/v1/plans/{plan['id']}/partitions", params={"topic": "payments"}).json()
    owners = [interval["assignment"]["payments"] for interval in plan["intervals"]]
    assert [row["consumers"] for row in rows["items"]] == [list(row) for row in zip(*owners, strict=True)]
    assert planned(client)["id"] == plan["id"]


def test_two_plans_differ_by_the_consumers_of_intervals(client: httpx.Client) -> None:
    one, other = planned(client), planned(client, spare=1)
    found = client.get(f"/v1/plans/{other['id']}/diff", params={"against": one["id"]}).json()
    hours = one["consumer_hours"]
    assert found["summary"] == {
        "intervals": 5, "changed": 5, "consumer_hours_before": hours, "consumer_hours_after": hours + 5
    }  # fmt: skip
    assert all(item["after"] == item["before"] + 1 for item in found["items"])
    alone = client.get(f"/v1/plans/{one['id']}/diff").json()
    assert (alone["summary"]["changed"], alone["items"][0]["before"]) == (5, None)


def test_files_are_named_by_format(client: httpx.Client) -> None:
    plan = planned(client)
    for name, start in (("schedule", "2026-11-27T05:58:00Z 1\n"), ("keda", "apiVersion: keda.sh"), ("hpa", "api")):
        exported = client.get(f"/v1/plans/{plan['id']}/export", params={"format": name})
        assert exported.text.startswith(start), name
    wrong = client.get(f"/v1/plans/{plan['id']}/export", params={"format": "script"})
    assert problem(wrong, 422, "not_exportable")["formats"] == ["csv", "schedule", "keda", "hpa"]


def test_a_job_makes_the_same_plan(client: httpx.Client) -> None:
    accepted = client.post("/v1/plans/consumers", json=HOURS | {"spare": 2}, headers={"Prefer": "respond-async"})
    assert accepted.status_code == 202, accepted.text


@pytest.mark.parametrize(
    ("rates", "pointer"),
    [
        ([[1, None]], "/series/ingress_bytes_per_s/orders/0/1"),
        ([[1, -2]], "/series/ingress_bytes_per_s/orders/0/1"),
        ([[1e13]], "/series/ingress_bytes_per_s/orders/0/0"),
        (["1 XB"], "/series/ingress_bytes_per_s/orders/0"),
    ],
)
def test_rates_that_are_none_are_named(client: httpx.Client, rates: Any, pointer: str) -> None:
    body = {**HOURS, "series": {**HOURS["series"], "ingress_bytes_per_s": {"orders": rates}}}
    only_error(problem(client.post("/v1/plans/consumers", json=body), 422, "validation"), pointer)


def test_numbers_that_json_lacks_are_rejected(client: httpx.Client) -> None:
    body = '{"series": {"step_s": 60, "start": "2026-11-27T06:00:00Z", "bytes_per_s": {"a": [[NaN]]}}}'
    response = client.post("/v1/plans/consumers", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"capacity_bytes_per_s": 0}, "/capacity_bytes_per_s"),
        ({"start_s": -1}, "/start_s"),
        ({"min": 0}, "/min"),
        ({"max": 0}, "/max"),
        ({"assignor": "sticky"}, "/assignor"),
        ({"workload": "Orders"}, "/workload"),
        ({"series": {**HOURS["series"], "start": "yesterday"}}, "/series/start"),
        ({"series": {**HOURS["series"], "step_s": 0}}, "/series/step_s"),
    ],
)
def test_fields_out_of_range_are_named(client: httpx.Client, fields: Json, pointer: str) -> None:
    only_error(problem(client.post("/v1/plans/consumers", json={**HOURS, **fields}), 422, "validation"), pointer)


def test_idle_consumers_take_no_time(client: httpx.Client) -> None:
    """Kafka's assignor was replayed for each number of consumers, for half a minute with 10,000 members."""
    plan = planned(client, spare=10_000)
    assert min(interval["consumers"] for interval in plan["intervals"]) > 10_000
    assert plan["kafka"]["intervals_above_capacity"] == 0
    assert planned(client, min=10_000)["kafka"] == plan["kafka"] | {"consumers_needed": 10_000}


def test_topics_and_missing_snapshots_are_problems(client: httpx.Client) -> None:
    body = {**HOURS, "snapshot_id": str(EXAMPLE_SNAPSHOT_ID)}
    unknown = client.post("/v1/plans/consumers", json=body)
    only_error(problem(unknown, 422, "conflicting_fields"), "/series/ingress_bytes_per_s/orders")
    limited = client.post("/v1/plans/consumers", json={**HOURS, "min": 3, "max": 2})
    only_error(problem(limited, 422, "conflicting_fields"), "/max")
