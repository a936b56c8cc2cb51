"""`/v1/sweeps`: requested, followed, read, compared. Runs on a real Spark are tested in tests/jobs."""

import io
from typing import Any
from uuid import UUID

import httpx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from app.api.examples import EXAMPLE_SWEEP_ID, SWEEP
from app.jobs.kernels.scenarios import KERNEL, payload
from app.services import sweeps
from app.services.limits import Limits
from app.services.sweeps import KINDS
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import UNKNOWN_ID, only_error, problem

Json = dict[str, Any]
EXAMPLE = f"/v1/sweeps/{EXAMPLE_SWEEP_ID}"


def ask(client: httpx.Client, **changed: Any) -> httpx.Response:
    """The example's sweep with other fields; None leaves one out."""
    return client.post(
        "/v1/sweeps", json={name: value for name, value in (SWEEP | changed).items() if value is not None}
    )


def swept(client: httpx.Client, database: Database, **changed: Any) -> str:
    """A sweep that has been scored, as by a worker, without Spark: its path."""
    response = ask(client, **changed)
    assert response.status_code == 202, response.text
    score(database, response.json()["id"])
    actual: str = response.headers["location"]
    return actual


def score(database: Database, sweep_id: str, *, chunks: int = 1_000) -> None:
    """Score `chunks` of a sweep, with the loop that executors run."""
    for _ in range(chunks):
        with database.begin() as uow:
            chunk = sweeps.next_chunk(uow, UUID(sweep_id), Limits())
        if chunk is None:
            return
        task = pa.record_batch({"start": pa.array([chunk.start]), "stop": pa.array([chunk.stop])})
        prepared = KERNEL.prepare(payload(KINDS[chunk.sweep.kind].reader, chunk.sweep.definition))
        batches = list(KERNEL.run(prepared, iter([task])))
        rows = [
            (index, row)
            for batch in batches
            for index, row in zip(batch.column("index").to_pylist(), batch.column("row").to_pylist(), strict=True)
        ]
        with database.begin() as uow:
            sweeps.record(uow, chunk, rows, seconds=0.01)


def nested(depth: int) -> list[Any]:
    """A list in a list in a list …"""
    return [nested(depth - 1)] if depth else []


class TestAsking:
    """`POST /v1/sweeps`."""

    def test_it_is_accepted_and_can_be_read(self, client: httpx.Client) -> None:
        response = ask(client, labels={"team": "platform"})
        assert response.status_code == 202
        document = response.json()
        assert (document["state"], document["scenarios"], document["done"]) == ("queued", 8, 0)
        assert response.headers["location"] == f"/v1/sweeps/{document['id']}"
        assert "retry-after" in response.headers
        read = client.get(response.headers["location"]).json()
        assert read["definition"]["axes"] == SWEEP["axes"]
        assert list(read["definition"]["axes"]) == list(SWEEP["axes"])  # their order says which varies fastest
        assert read["labels"] == {"team": "platform"}

    def test_scenarios_are_numbered_with_the_last_axis_fastest(self, client: httpx.Client, database: Database) -> None:
        path = swept(client, database)
        items = client.get(f"{path}/scenarios").json()["items"]
        assert [item["index"] for item in items] == list(range(8))
        assert [tuple(item["axes"].values()) for item in items[:3]] == [(2, 2), (2, 3), (3, 2)]

    def test_a_sample_is_without_replacement(self, client: httpx.Client, database: Database) -> None:
        axes = {"topology.brokers_per_rack": {"from": 1, "to": 40}, "traffic.growth_per_month": [0, 0.01, 0.02]}
        path = swept(client, database, axes=axes, sample={"count": 30, "seed": 5})
        items = client.get(f"{path}/scenarios").json()["items"]
        assert len({item["grid_index"] for item in items}) == 30

    @pytest.mark.parametrize(
        ("changed", "code", "pointer"),
        [
            ({"axes": {"topology.shelves": [1]}}, "unknown_axis", "/axes/topology.shelves"),
            ({"axes": {"traffic.growth_per_month": []}}, "empty_axis", "/axes/traffic.growth_per_month"),
            ({"axes": {"traffic.growth_per_month": [0, -1.5]}}, "impossible_value", "/axes/traffic.growth_per_month"),
            ({"axes": {"topics.ghost.partitions": [1]}}, "unknown_axis", "/axes/topics.ghost.partitions"),
            ({"axes": {"placement.seed": {"from": 1, "to": 1e308}}}, "impossible_value", "/axes/placement.seed"),
            (
                {"axes": {"placement.seed": {"from": 0, "to": 1, "step": 1e-300}}},
                "impossible_value",
                "/axes/placement.seed",
            ),
            ({"axes": {"placement.seed": [1, 10**30]}}, "validation", "/axes/placement.seed"),
            ({"axes": {"placement.seed": [nested(300)]}}, "validation", "/axes/placement.seed"),
            ({"sample": {"count": 9}}, "conflicting_fields", "/sample/count"),
        ],
    )
    def test_an_impossible_sweep_is_named(self, client: httpx.Client, changed: Json, code: str, pointer: str) -> None:
        only_error(problem(ask(client, **changed), 422, code), pointer)

    @pytest.mark.parametrize(
        ("section", "changed", "pointer"),
        [
            ("broker_profile", {"disk_bytes": None}, "/base/broker_profile/disk_bytes"),
            ("broker_profile", {"disk_bytes": 0}, "/base/broker_profile/disk_bytes"),
            ("traffic", {"growth_per_month": -1.01}, "/base/traffic/growth_per_month"),
            ("topology", {"brokers_per_rack": 0}, "/base/topology/brokers_per_rack"),
            ("placement", {"algorithm": "best"}, "/base/placement/algorithm"),
            ("targets", {"disk": 1.5}, "/base/targets/disk"),
            ("topology", {"shelves": 1}, "/base/topology/shelves"),
        ],
    )
    def test_an_impossible_base_is_named(self, client: httpx.Client, section: str, changed: Json, pointer: str) -> None:
        its = {name: value for name, value in (SWEEP["base"][section] | changed).items() if value is not None}
        rejection = problem(ask(client, base=SWEEP["base"] | {section: its}), 422, "validation")
        assert {error["pointer"] for error in rejection["errors"]} == {pointer}

    def test_growth_to_no_traffic_is_accepted(self, client: httpx.Client, database: Database) -> None:
        path = swept(client, database, axes={"traffic.growth_per_month": [-1, 0]})
        assert [item["error"] for item in client.get(f"{path}/scenarios").json()["items"]] == [None, None]

    def test_a_billion_scenarios_are_rejected_with_the_count_and_the_limit(self, client: httpx.Client) -> None:
        many = {"from": 1, "to": 1000}
        axes = {"topology.brokers_per_rack": many, "topics.*.partitions": many, "traffic.horizon_months": many}
        error = only_error(problem(ask(client, axes=axes), 413, "limit_exceeded"), "/axes")
        assert (error["value"], error["limit"], error["limit_name"]) == (10**9, 1_000_000, "max_scenarios")

    def test_active_sweeps_of_one_key_are_limited(self, scratch: Database, serve: Serve) -> None:
        limited = serve(scratch, max_active_sweeps=2)
        first = ask(limited)
        assert [first.status_code, ask(limited).status_code] == [202, 202]
        rejection = problem(ask(limited), 429, "too_many_sweeps")
        assert (rejection["limit"], rejection["limit_name"]) == (2, "max_active_sweeps")
        limited.delete(first.headers["location"])
        assert ask(limited).status_code == 202

    def test_the_same_key_and_body_is_one_sweep(self, client: httpx.Client) -> None:
        headers = {"Idempotency-Key": "sweep-1"}
        first = client.post("/v1/sweeps", json=SWEEP, headers=headers)
        assert client.post("/v1/sweeps", json=SWEEP, headers=headers).json() == first.json()


class TestProgress:
    """A sweep on its way, and its end."""

    def test_its_state_changes_from_queued_to_succeeded(self, client: httpx.Client, database: Database) -> None:
        path = ask(client, axes={"topology.brokers_per_rack": {"from": 2, "to": 60}}).headers["location"]
        score(database, path.rpartition("/")[2], chunks=1)
        running = client.get(path)
        assert (running.json()["state"], running.json()["done"]) == ("running", sweeps.FIRST_SCENARIOS)
        assert running.json()["seconds_left"] > 0
        assert running.headers["retry-after"] == "1"
        score(database, path.rpartition("/")[2])
        ended = client.get(path)
        assert (ended.json()["state"], ended.json()["done"], ended.json()["seconds_left"]) == ("succeeded", 59, None)
        assert "retry-after" not in ended.headers

    def test_a_chunk_scored_twice_is_stored_once(self, client: httpx.Client, database: Database) -> None:
        """As when a worker was taken for dead, and was not."""
        path = ask(client).headers["location"]
        with database.begin() as uow:
            chunk = sweeps.next_chunk(uow, UUID(path.rpartition("/")[2]), Limits())
        assert chunk is not None
        rows = [(index, b'{"index": 0}') for index in range(chunk.start, chunk.stop)]
        for _ in range(2):
            with database.begin() as uow:
                sweeps.record(uow, chunk, rows, seconds=1.0)
        assert client.get(path).json()["done"] == 8

    def test_events_report_progress_and_the_end(self, client: httpx.Client, database: Database) -> None:
        path = swept(client, database)
        with client.stream("GET", f"{path}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = [line for line in stream.iter_lines() if line]
        assert lines[0] == "event: succeeded"
        assert lines[1] == "id: 8"
        assert lines[2].startswith('data: {"id":')

    def test_a_cancelled_sweep_keeps_its_scored_scenarios(self, client: httpx.Client, database: Database) -> None:
        path = ask(client, axes={"topology.brokers_per_rack": {"from": 2, "to": 60}}).headers["location"]
        score(database, path.rpartition("/")[2], chunks=1)
        cancelled = client.delete(path)
        assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
        score(database, path.rpartition("/")[2])
        assert client.get(path).json()["done"] == sweeps.FIRST_SCENARIOS
        assert client.delete(path).json() == cancelled.json()
        assert client.delete(EXAMPLE).json()["state"] == "succeeded"

    def test_they_are_listed_newest_first(self, client: httpx.Client) -> None:
        paths = [ask(client).headers["location"] for _ in range(3)]
        page = client.get("/v1/sweeps", params={"page_size": 2, "state": "queued"}).json()
        assert [f"/v1/sweeps/{item['id']}" for item in page["items"]] == paths[:0:-1]
        rest = client.get("/v1/sweeps", params={"page_token": page["next_page_token"], "state": "queued"}).json()
        assert [f"/v1/sweeps/{item['id']}" for item in rest["items"]] == paths[:1]

    @pytest.mark.parametrize("path", ["", "/scenarios", "/front", "/best", "/events", "/scenarios/0"])
    def test_an_unknown_sweep_is_not_found(self, client: httpx.Client, path: str) -> None:
        problem(client.get(f"/v1/sweeps/{UNKNOWN_ID}{path}"), 404, "sweep_not_found")


class TestScenarios:
    """Results."""

    def test_the_sort_is_stable_and_pages_miss_nothing(self, client: httpx.Client, database: Database) -> None:
        axes = {"topology.brokers_per_rack": [2, 3, 4], "traffic.growth_per_month": [0, 0.01, 0.02, 0.03]}
        path = swept(client, database, axes=axes)
        for descending in (False, True):
            seen: list[Json] = []
            token = None
            while True:
                params = {"sort": "monthly_cost", "descending": descending, "page_size": 5}
                page = client.get(f"{path}/scenarios", params=params | ({"page_token": token} if token else {})).json()
                seen += page["items"]
                token = page["next_page_token"]
                if token is None:
                    break
            assert sorted(item["index"] for item in seen) == list(range(12))
            costs = [item["monthly_cost"] for item in seen]
            assert costs == sorted(costs, reverse=descending)

    def test_feasible_ones_alone(self, client: httpx.Client) -> None:
        every = client.get(f"{EXAMPLE}/scenarios").json()["items"]
        for feasible in (True, False):
            chosen = client.get(f"{EXAMPLE}/scenarios", params={"feasible": feasible}).json()["items"]
            assert chosen == [item for item in every if item["feasible"] is feasible]
            assert chosen
        assert all(item["binding"] is not None for item in every if item["feasible"] is False)

    def test_an_impossible_scenario_fails_alone(self, client: httpx.Client, database: Database) -> None:
        """Three replicas on one broker: a row with its error, and the others as if it were not there."""
        axes = {"topology.brokers_per_rack": [1, 2], "topics.*.replication_factor": [3, 4]}
        items = client.get(f"{swept(client, database, axes=axes)}/scenarios").json()["items"]
        assert [item["error"] is None for item in items] == [True, False, True, True]
        assert items[1]["error"]["code"] == "conflicting_fields"

    @pytest.mark.parametrize(
        ("media_type", "read"),
        [
            ("text/csv", lambda body: pa.csv.read_csv(io.BytesIO(body))),
            ("application/vnd.apache.parquet", lambda body: pa.parquet.read_table(io.BytesIO(body))),
            ("application/vnd.apache.arrow.stream", lambda body: pa.ipc.open_stream(body).read_all()),
        ],
    )
    def test_tables_hold_every_scenario(self, client: httpx.Client, media_type: str, read: Any) -> None:
        response = client.get(f"{EXAMPLE}/scenarios", headers={"Accept": media_type}, params={"page_size": 1})
        assert response.headers["content-type"].startswith(media_type)
        table = read(response.content)
        items = client.get(f"{EXAMPLE}/scenarios").json()["items"]
        assert table.column("index").to_pylist() == [item["index"] for item in items]
        assert table.column("monthly_cost").to_pylist() == [item["monthly_cost"] for item in items]
        assert table.column("axes.topology.brokers_per_rack").to_pylist() == [2, 2, 3, 3, 4, 4, 6, 6]

    def test_the_best_and_why_cheaper_neighbours_are_not_acceptable(self, client: httpx.Client) -> None:
        actual = client.get(f"{EXAMPLE}/best").json()
        items = client.get(f"{EXAMPLE}/scenarios").json()["items"]
        will_do = [item for item in items if item["feasible"] and item["headroom"] >= 1.2]
        assert actual["counts"] == {
            "scored": 8,
            "feasible": sum(item["feasible"] for item in items),
            "acceptable": len(will_do),
        }
        assert actual["best"] == min(will_do, key=lambda item: item["monthly_cost"])
        for reason in actual["why_not_cheaper"]:
            assert reason["monthly_cost"] < actual["best"]["monthly_cost"]
            assert reason["binding"] or reason["broken_constraints"] or reason["error"]

    @pytest.mark.parametrize(
        ("traffic", "constraints", "bound"),
        [
            ({"growth_per_month": 0.03, "horizon_months": 24}, {}, 25),
            ({"growth_per_month": 0.03, "horizon_months": 24}, {"min_first_breaking_month": 0}, 0),
            ({"growth_per_month": 0.03}, {}, None),
            ({"growth_per_month": 0, "horizon_months": 24}, {}, None),
        ],
    )
    def test_the_best_lasts_the_horizon_that_the_request_states(
        self, client: httpx.Client, database: Database, traffic: Json, constraints: Json, bound: float | None
    ) -> None:
        axes = {"topology.brokers_per_rack": [3, 4, 5, 6, 7], "topics.*.replication_factor": [2]}
        changed = {"base": SWEEP["base"] | {"traffic": traffic}, "axes": axes, "constraints": constraints}
        best = client.get(f"{swept(client, database, **changed)}/best").json()
        assert best["constraints"].get("min_first_breaking_month") == bound
        month = best["best"]["first_breaking_month"]
        assert month is None if bound or not traffic["growth_per_month"] else month in range(1, 25)

    def test_no_scenario_dominates_the_front(self, client: httpx.Client) -> None:
        front = client.get(f"{EXAMPLE}/front").json()["items"]
        items = [item for item in client.get(f"{EXAMPLE}/scenarios").json()["items"] if item["feasible"]]
        assert front
        for item in front:
            assert not any(
                other["monthly_cost"] < item["monthly_cost"]
                and (other["headroom"] or 1e9) >= (item["headroom"] or 1e9)
                and other["cross_rack_bytes_per_s"] <= item["cross_rack_bytes_per_s"]
                for other in items
                if other["headroom"] is None or other["headroom"] >= 1.2
            )

    def test_without_an_acceptable_scenario_there_is_no_best(self, client: httpx.Client, database: Database) -> None:
        path = swept(client, database, constraints={"min_headroom": 1e6})
        actual = client.get(f"{path}/best").json()
        assert (actual["best"], actual["counts"]["acceptable"]) == (None, 0)
        assert client.get(f"{path}/front").json() == {"items": []}

    def test_a_scenario_opens_as_the_plan_that_was_scored(self, client: httpx.Client) -> None:
        """The same placement: leaders and replicas a broker equal the scenario's."""
        scenario = client.get(f"{EXAMPLE}/scenarios/5").json()
        response = client.post(f"{EXAMPLE}/scenarios/5/plan")
        assert response.status_code == 201, response.text
        measures = response.json()["measures"]
        for what in ("leaders", "replicas"):
            counts = scenario[f"{what}_per_broker"]
            assert (measures[what]["min"], measures[what]["max"]) == (counts["min"], counts["max"])
        assert client.get(f"{response.headers['location']}/picture.svg").status_code == 200
        problem(client.post(f"{EXAMPLE}/scenarios/8/plan"), 404, "scenario_not_found")
        problem(client.get(f"{EXAMPLE}/scenarios/8"), 404, "scenario_not_found")

    def test_a_null_changes_the_sample_alone(self, client: httpx.Client, database: Database) -> None:
        path = swept(client, database, sample={"count": 3})
        for nulls, scenarios in ((dict.fromkeys(("axes", "objective", "constraints")), 3), ({"sample": None}, 8)):
            again = client.post(f"{path}/clones", json=nulls)
            assert (again.status_code, again.json().get("scenarios")) == (202, scenarios)

    def test_a_clone_has_other_axes_over_the_same_base(self, client: httpx.Client, database: Database) -> None:
        changed = {"axes": {"traffic.growth_per_month": [0, 0.1]}, "constraints": {}}
        response = client.post(f"{EXAMPLE}/clones", json=changed)
        assert (response.status_code, response.json()["scenarios"]) == (202, 2)
        again = client.post(f"{EXAMPLE}/clones", json={})
        score(database, again.json()["id"])
        rows = [client.get(f"{path}/scenarios").json()["items"] for path in (EXAMPLE, again.headers["location"])]
        assert rows[0] == rows[1]
        both = client.get(f"{EXAMPLE}/comparison", params={"against": again.json()["id"]}).json()
        assert both["first"] == both["second"]
