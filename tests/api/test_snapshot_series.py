"""`series.snapshots`: the rates of consumers from what the service has stored of a cluster."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from app.store.database import Database
from tests import shell
from tests.api.contract import only_error, problem

Json = dict[str, Any]
START = datetime(2026, 11, 20, tzinfo=UTC)
HOUR = 3_600
RANGE: Json = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"}


def topic(*partitions: Mapping[str, Any], name: str = "orders", **fields: Any) -> Json:
    listed = [{"partition": at, "replicas": [1], **each} for at, each in enumerate(partitions)]
    return {"name": name, "partitions": listed, **fields}


def rates(*bytes_per_s: float, **fields: Any) -> Json:
    return topic(*({"ingress_bytes_per_s": rate} for rate in bytes_per_s), **fields)


def sizes(*size_bytes: int, **fields: Any) -> Json:
    return topic(*({"size_bytes": size} for size in size_bytes), **fields)


def store(client: httpx.Client, database: Database, seconds: float, *topics: Json) -> None:
    """Store a snapshot of `shop` as if it had been received this long after the start."""
    body = {"cluster": "shop", "brokers": [{"id": 1}], "topics": topics}
    answer = client.post("/v1/snapshots", json=body)
    assert answer.status_code == 201, answer.text
    # What is stored again was received before: its first time stays.
    moved = "UPDATE snapshots SET last_seen_at = :at, created_at = least(created_at, :at) WHERE id = :id"
    with database.engine.begin() as connection:
        connection.execute(sa.text(moved), {"at": START + timedelta(seconds=seconds), "id": answer.json()["id"]})


def store_each(client: httpx.Client, database: Database, topics: Sequence[Json], step: float = HOUR) -> None:
    for at, each in enumerate(topics):
        store(client, database, at * step, each)


def post(client: httpx.Client, snapshots: Json | None = None, **fields: Any) -> httpx.Response:
    series = {"snapshots": RANGE | (snapshots or {})}
    body = {"cluster": "shop", "series": series, "capacity_bytes_per_s": 1000, **fields}
    return client.post("/v1/plans/consumers", json=body)


def planned(client: httpx.Client, snapshots: Json | None = None, **fields: Any) -> Json:
    answer = post(client, snapshots, **fields)
    assert answer.status_code == 201, answer.text
    plan: Json = answer.json()
    return plan


def series_of(plan: Json) -> Json:
    series: Json = plan["request"]["series"]
    return series


def test_a_reported_rate_holds_until_the_next_snapshot(client: httpx.Client, database: Database) -> None:
    store_each(client, database, [rates(100, 50), rates(900, 600), rates(300, 100)])
    plan = planned(client)
    assert series_of(plan)["bytes_per_s"] == {"orders": [[100, 50], [900, 600]]}
    assert (series_of(plan)["step_s"], plan["intervals"][0]["from"]) == (HOUR, "2026-11-20T00:00:00Z")
    assert [each["consumers"] for each in plan["intervals"]] == [1, 2]
    assert plan["warnings"] == []


def test_without_rates_sizes_grow_by_what_is_written(client: httpx.Client, database: Database) -> None:
    store_each(client, database, [sizes(0, 5), sizes(36_000, 5), sizes(72_000, 7_205)])
    plan = planned(client)
    assert series_of(plan)["bytes_per_s"] == {"orders": [[10, 0], [10, 2]]}
    [warning] = plan["warnings"]
    assert (warning["code"], warning["topics"]) == ("rates_of_size_growth", ["orders"])


def test_one_topic_may_have_rates_and_another_sizes(client: httpx.Client, database: Database) -> None:
    for at in range(3):
        store(client, database, at * HOUR, rates(at + 1), sizes(at * 7_200, name="payments"))
    series = series_of(planned(client))
    assert series["bytes_per_s"] == {"orders": [[1], [2]], "payments": [[2], [2]]}
    assert series["size_growth_of"] == ["payments"]
    assert [*series_of(planned(client, {"topics": ["orders"]}))["bytes_per_s"]] == ["orders"]
    assert [*series_of(planned(client, topics=["payments"]))["bytes_per_s"]] == ["payments"]


def test_irregular_times_have_intervals_of_one_step(client: httpx.Client, database: Database) -> None:
    for seconds in (0, 3_500, 7_300, 10_800):
        store(client, database, seconds, sizes(seconds * 10))
    series = series_of(planned(client))
    assert (series["step_s"], series["bytes_per_s"]) == (3_500, {"orders": [[10]] * 3})


def test_a_stated_step_sums_what_snapshots_have(client: httpx.Client, database: Database) -> None:
    store_each(client, database, [sizes(size) for size in (0, 7_200, 36_000, 43_200, 72_000)])
    body = {"cluster": "shop", "series": {"snapshots": RANGE, "step_s": 2 * HOUR}, "capacity_bytes_per_s": 1000}
    plan = client.post("/v1/plans/consumers", json=body).json()
    assert series_of(plan)["bytes_per_s"] == {"orders": [[5], [5]]}


def test_the_same_state_again_is_seen_twice(client: httpx.Client, database: Database) -> None:
    """It is stored once, with its first and its last time; in between nothing was written, however long it is."""
    for hours, size in ((0, 0), (1, 36_000), (2, 72_000), (12, 72_000), (13, 108_000)):
        store(client, database, hours * HOUR, sizes(size))
    series = series_of(planned(client))
    assert series["bytes_per_s"]["orders"] == [[10], [10], *[[0]] * 10, [10]]


def test_the_plan_stays_when_its_snapshots_change(client: httpx.Client, database: Database) -> None:
    """The canonical request has the rates, so that it is planned again without a snapshot of the range."""
    store_each(client, database, [rates(100), rates(900)])
    plan = planned(client)
    assert series_of(plan)["snapshots"] is None
    stated = {name: series_of(plan)[name] for name in ("start", "step_s", "bytes_per_s")}
    body = {"cluster": "shop", "series": stated, "capacity_bytes_per_s": 1000}
    again = client.post("/v1/plans/consumers", json=body)
    assert (again.status_code, again.json()["id"]) == (201, plan["id"])


def test_a_job_plans_the_same(client: httpx.Client, database: Database) -> None:
    store_each(client, database, [rates(100), rates(900)])
    body = {"cluster": "shop", "series": {"snapshots": RANGE}, "capacity_bytes_per_s": 1000}
    accepted = client.post("/v1/plans/consumers", json=body, headers={"Prefer": "respond-async"})
    assert accepted.status_code == 202, accepted.text


GROWN = [sizes(0), sizes(36_000), sizes(72_000)]


@pytest.mark.parametrize(
    ("topics", "detail"),
    [
        ([sizes(9), sizes(5)], "topic orders has no rates, and partition 0 fell from 9 to 5 bytes"),
        ([topic({}), topic({"size_bytes": 4})], "topic orders has neither rates nor sizes of all partitions"),
        ([rates(5), sizes(9, name="other")], "topic orders is missing in the snapshot of 2026-11-20T01:00:00"),
        ([rates(5), rates(5, 6)], "topic orders has 2 partitions, and not those from 0 to 0,"),
        (
            [sizes(5), sizes(9, configs={"cleanup.policy": "compact,delete"})],
            "cleanup.policy=compact,delete sizes",
        ),
        ([sizes(5), sizes(9, configs={"remote.storage.enable": "true"})], "with remote.storage.enable=true sizes"),
        (
            [sizes(5, topic_id="AAAAAAAAAAAAAAAAAAAAAQ"), sizes(9, topic_id="AAAAAAAAAAAAAAAAAAAAAg")],
            "topic orders was created again: its id is no longer AAAAAAAAAAAAAAAAAAAAAQ",
        ),
    ],
)
def test_rates_that_do_not_follow_are_a_problem_with_the_topic(
    client: httpx.Client, database: Database, topics: Sequence[Json], detail: str
) -> None:
    store_each(client, database, topics)
    failed = problem(post(client, {"topics": ["orders"]}), 422, "conflicting_fields")
    assert detail in failed["detail"]
    assert failed["errors"][0]["pointer"] == "/series/snapshots/topics"


@pytest.mark.parametrize(
    ("snapshots", "pointer", "detail"),
    [
        ({"from": "2026-11-20T01:30:00Z"}, "/series/snapshots", "was stored 1 times from"),
        ({"from": "2026-11-21T00:00:00Z"}, "/series/snapshots/from", "from is 2026-11-21T00:00:00Z, and to is"),
        ({"topics": ["nothing"]}, "/series/snapshots/topics", "topic nothing is missing"),
    ],
)
def test_ranges_without_a_series_are_named(
    client: httpx.Client, database: Database, snapshots: Json, pointer: str, detail: str
) -> None:
    store_each(client, database, GROWN)
    failed = problem(post(client, snapshots), 422, "conflicting_fields")
    assert detail in failed["detail"]
    assert failed["errors"][0]["pointer"] == pointer


def test_a_gap_is_named_with_its_limit(client: httpx.Client, database: Database) -> None:
    for hours in (0, 1, 2, 6):
        store(client, database, hours * HOUR, sizes(hours))
    failed = problem(post(client), 422, "conflicting_fields")
    assert (failed["value"], failed["limit"]) == (4 * HOUR, 3 * HOUR)
    assert "no snapshot was stored from 2026-11-20T02:00:00Z to 2026-11-20T06:00:00Z" in failed["detail"]


def test_a_step_longer_than_the_range_is_named(client: httpx.Client, database: Database) -> None:
    store_each(client, database, GROWN)
    body = {"cluster": "shop", "series": {"snapshots": RANGE, "step_s": 9_000}, "capacity_bytes_per_s": 1000}
    failed = problem(client.post("/v1/plans/consumers", json=body), 422, "conflicting_fields")
    assert (failed["errors"][0]["pointer"], failed["value"], failed["limit"]) == ("/series/step_s", 9_000, 7_200)


def test_the_cluster_of_snapshots_is_named(client: httpx.Client, database: Database) -> None:
    store_each(client, database, GROWN)
    assert len(planned(client, {"cluster": "shop"}, cluster=None)["intervals"]) == 2
    failed = problem(post(client, {"cluster": "shob"}, cluster=None), 404, "snapshot_not_found")
    assert "shop" in failed["detail"]
    failed = problem(post(client, cluster=None), 422, "conflicting_fields")
    assert failed["errors"][0]["pointer"] == "/series/snapshots/cluster"


def test_a_series_has_one_source(client: httpx.Client) -> None:
    series = {"snapshots": RANGE, "start": RANGE["from"], "step_s": 1, "ingress_bytes_per_s": {"orders": [[1]]}}
    failed = client.post("/v1/plans/consumers", json={"series": series, "capacity_bytes_per_s": 1})
    stated = problem(failed, 422, "conflicting_fields")["detail"]
    assert stated == "a series is one of ingress_bytes_per_s, prometheus and snapshots"
    del series["ingress_bytes_per_s"]
    failed = client.post("/v1/plans/consumers", json={"series": series, "capacity_bytes_per_s": 1})
    assert problem(failed, 422, "conflicting_fields")["errors"][0]["pointer"] == "/series/start"


@pytest.mark.parametrize("moment", ["2026-11-20", "2026-11-20T00:00:00", 5])
def test_times_are_those_of_rfc_3339(client: httpx.Client, moment: object) -> None:
    only_error(problem(post(client, {"from": moment}), 422, "validation"), "/series/snapshots/from")


def test_a_study_reads_the_snapshots_of_each_group(client: httpx.Client, database: Database) -> None:
    store_each(client, database, GROWN)
    groups = {"billing": {"snapshots": RANGE | {"cluster": "shop"}}}
    body = {"kind": "consumers", "groups": groups, "capacities_bytes_per_s": [5, 20]}
    sweep = client.post("/v1/sweeps", json=body)
    assert sweep.status_code == 202, sweep.text
    definition = client.get(sweep.headers["Location"]).json()["definition"]
    assert definition["groups"]["billing"]["bytes_per_s"] == {"orders": [[10], [10]]}
    groups["billing"]["snapshots"]["cluster"] = "shob"
    failed = problem(client.post("/v1/sweeps", json=body), 404, "snapshot_not_found")
    assert failed["errors"][0]["pointer"] == "/groups/billing/snapshots/cluster"


def test_the_form_has_the_range(client: httpx.Client, database: Database) -> None:
    store_each(client, database, GROWN)
    typed = {
        "cluster": "shop", "topics": "orders", "snapshots_from": RANGE["from"], "snapshots_to": RANGE["to"],
        "capacity_bytes_per_s": "1",
    }  # fmt: skip
    made = client.post("/plan/consumers", data=typed)
    assert made.status_code == 303, made.text[:2000]
    plan = client.get(f"/v1{made.headers['Location']}").json()
    assert series_of(plan)["bytes_per_s"] == {"orders": [[10], [10]]}
    assert 'value="orders"' in client.get(f"/plan/consumers?again={plan['id']}").text
    refused = client.post("/plan/consumers", data=typed | {"snapshots_from": RANGE["to"]})
    assert "from is 2026-11-21T00:00:00Z" in refused.text
    assert 'href="#snapshots_from"' in refused.text


def test_the_command_asks_a_service(client: httpx.Client, database: Database) -> None:
    store_each(client, database, GROWN)
    options = ["--cluster", "shop", "--from", RANGE["from"], "--to", RANGE["to"], "--capacity", "1000"]
    command = [str(shell.rackplan()), "plan", "consumers", *options, "--url", str(client.base_url), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["intervals"]) == 2
