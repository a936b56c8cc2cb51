"""`/v1/sweeps` over draws of a placement and over consumer groups: the same operations, other scenarios."""

import io
from collections import Counter
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from app.api.examples import (
    EXAMPLE_GROUPS_SNAPSHOT_ID,
    EXAMPLE_SNAPSHOT_ID,
    EXAMPLE_SWEEP_ID,
    SNAPSHOT_WITH_GROUP,
    SWEEP_REQUEST,
)
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import UNKNOWN_ID, only_error, problem
from tests.api.test_sweeps import score

Json = dict[str, Any]
RACKS = ("a", "b", "c")
BROKERS = [{"id": i, "rack": RACKS[i % 3]} for i in range(6)]
DRAWS: Json = {
    "kind": "placement_draws",
    "brokers": BROKERS,
    "topics": [{"name": "orders", "partitions": 13, "replication_factor": 2}],
    "seeds": {"first": -5, "count": 40},
}
CLUSTER: Json = {
    "cluster": "estate",
    "brokers": BROKERS,
    "topics": [
        {
            "name": name,
            "partitions": [{"partition": p, "replicas": [(p + shift) % 6, (p + shift + 1) % 6]} for p in range(count)],
        }
        for name, count, shift in (("orders", 12, 0), ("payments", 5, 2), ("unread", 3, 0))
    ],
    "groups": [
        {
            "group_id": "billing",
            "state": "Stable",
            "assignor": "range",
            "members": [
                {
                    "member_id": f"billing-{i}",
                    "rack_id": RACKS[i],
                    "topics": ["orders", "payments"],
                    "owned_partitions": {},
                    "assigned_partitions": {"orders": list(range(4 * i, 4 * i + 4)), "payments": [i]},
                }
                for i in range(3)
            ],
        },
        {
            "group_id": "audit",
            "state": "Stable",
            "assignor": "cooperative-sticky",
            "members": [
                {"member_id": f"audit-{i}", "topics": ["payments"], "assigned_partitions": {"payments": own}}
                for i, own in enumerate(([0, 1, 2], [3, 4]))
            ],
        },
        {"group_id": "idle", "state": "Empty", "members": []},
    ],
}


def sweep(client: httpx.Client, database: Database, body: Json) -> str:
    """A sweep that has been scored, as by a worker, without Spark: its path."""
    response = client.post("/v1/sweeps", json=body)
    assert response.status_code == 202, response.text
    score(database, response.json()["id"])
    actual: str = response.headers["location"]
    assert client.get(actual).json()["state"] == "succeeded"
    return actual


def items(client: httpx.Client, path: str, **params: Any) -> list[Json]:
    """The first thousand scenarios."""
    response = client.get(f"{path}/scenarios", params={"page_size": 1000} | params)
    assert response.status_code == 200, response.text
    actual: list[Json] = response.json()["items"]
    return actual


@pytest.fixture
def groups_sweep(client: httpx.Client) -> Json:
    """A sweep over the groups of a snapshot: 2 groups × 3 assignors × 3 × 2."""
    snapshot = client.post("/v1/snapshots", json=CLUSTER)
    assert snapshot.status_code == 201, snapshot.text
    return {
        "kind": "consumer_groups",
        "snapshot_id": snapshot.json()["id"],
        "assignors": ["range", "cooperative-sticky", "optimal"],
        "members_lost": [0, 1, 3],
        "members_added": [0, 2],
        "seed": 4,
    }


class TestDraws:
    """`kind: placement_draws`."""

    def test_a_scenario_is_the_plan_of_its_seed(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, DRAWS)
        actual = items(client, path)
        assert len({its["axes"]["seed"] for its in actual}) == 40
        for index in (0, 7, 39):
            response = client.post(f"{path}/scenarios/{index}/plan")
            assert response.status_code == 201, response.text
            plan, row = response.json(), actual[index]
            assert (plan["seed"], plan["prediction"]) == (row["axes"]["seed"], "replay")
            assert plan["measures"]["leaders"]["spread"] == row["leader_spread"]
            assert plan["measures"]["replicas"]["spread"] == row["replica_spread"]
            assert plan["measures"]["leaders"]["max"] == row["most_leaders"]
            assert plan["measures"]["replicas"]["max"] == row["most_replicas"]
            assert plan["measures"]["rack_safe_share"] == row["rack_safe_share"]

    def test_brokers_may_come_from_a_snapshot(self, client: httpx.Client, database: Database) -> None:
        body = {name: value for name, value in DRAWS.items() if name != "brokers"}
        path = sweep(client, database, body | {"snapshot_id": str(EXAMPLE_SNAPSHOT_ID), "algorithm": "admin_utils"})
        definition = client.get(path).json()["definition"]
        snapshot = client.get(f"/v1/snapshots/{EXAMPLE_SNAPSHOT_ID}").json()
        assert definition["snapshot_content_hash"] == snapshot["content_hash"]
        assert "resolved" not in definition
        plan = client.post(f"{path}/scenarios/3/plan").json()
        assert plan["snapshot_id"] == str(EXAMPLE_SNAPSHOT_ID)
        assert plan["measures"]["leaders"]["spread"] == items(client, path)[3]["leader_spread"]

    def test_the_summary_is_over_all_seeds(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, DRAWS)
        actual = items(client, path)
        answered = client.get(f"{path}/summary").json()
        assert (answered["kind"], answered["scenarios"], answered["failed"]) == ("placement_draws", 40, 0)
        for name in ("leader_spread", "replica_spread", "most_leaders", "most_replicas", "rack_safe_share"):
            values, figure = sorted(its[name] for its in actual), answered["figures"][name]
            assert (figure["min"], figure["max"], figure["count"], figure["without"]) == (values[0], values[-1], 40, 0)
            assert (figure["p50"], figure["p95"]) == (values[19], values[37])
            assert figure["mean"] == pytest.approx(sum(values) / 40)
            assert sum(figure["histogram"]["counts"]) == 40
        counted = Counter(its["leader_spread"] for its in actual)
        histogram = answered["figures"]["leader_spread"]["histogram"]
        assert {edge: n for edge, n in zip(histogram["edges"], histogram["counts"], strict=False) if n} == counted
        assert len(counted) > 1  # else nothing was random

    def test_without_racks_there_is_no_share(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, DRAWS | {"brokers": [{"id": i} for i in range(4)]})
        assert client.get(f"{path}/summary").json()["figures"]["rack_safe_share"] is None
        last = items(client, path, sort="rack_safe_share", descending=True)
        assert [its["index"] for its in last] == list(range(40))

    @pytest.mark.parametrize(
        ("changed", "status", "code", "pointer"),
        [
            ({"brokers": None}, 422, "conflicting_fields", "/snapshot_id"),
            ({"snapshot_id": UNKNOWN_ID}, 422, "conflicting_fields", "/snapshot_id"),
            ({"brokers": None, "snapshot_id": UNKNOWN_ID}, 404, "snapshot_not_found", "/snapshot_id"),
            ({"brokers": [{"id": 1}, {"id": 1}]}, 422, "duplicate_broker", "/brokers/1/id"),
            ({"brokers": [{"id": 1}]}, 422, "invalid_replication_factor", "/topics/0/replication_factor"),
            (
                {"brokers": [{"id": 1, "rack": "a"}, {"id": 2}], "rack_mode": "enforced"},
                422,
                "brokers_without_rack",
                "/brokers",
            ),
            (
                {"topics": [{"name": "t", "partitions": 0, "replication_factor": 1}]},
                422,
                "invalid_partitions",
                "/topics/0/partitions",
            ),
            ({"topics": DRAWS["topics"] * 2}, 422, "duplicate_topic", "/topics/1/name"),
            ({"seeds": {"count": 1_000_001}}, 413, "limit_exceeded", "/seeds/count"),
        ],
    )
    def test_impossible_draws_are_named(
        self, client: httpx.Client, changed: Json, status: int, code: str, pointer: str
    ) -> None:
        body = {name: value for name, value in (DRAWS | changed).items() if value is not None}
        only_error(problem(client.post("/v1/sweeps", json=body), status, code), pointer)

    @pytest.mark.parametrize(
        ("changed", "pointer"),
        [
            ({"seeds": {"first": 2**63, "count": 1}}, "/seeds/first"),
            ({"seeds": {"count": 0}}, "/seeds/count"),
            ({"algorithm": "best"}, "/algorithm"),
            ({"rack_mode": "some"}, "/rack_mode"),
            ({"topics": []}, "/topics"),
            ({"axes": {}}, "/axes"),
        ],
    )
    def test_a_field_that_cannot_be_is_named(self, client: httpx.Client, changed: Json, pointer: str) -> None:
        rejection = problem(client.post("/v1/sweeps", json=DRAWS | changed), 422, "validation")
        assert {error["pointer"] for error in rejection["errors"]} == {pointer}

    def test_the_last_series_of_64_bits_is_accepted(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, DRAWS | {"seeds": {"first": 2**63 - 1, "count": 2}})
        seeds = [its["axes"]["seed"] for its in items(client, path)]
        table = client.get(f"{path}/scenarios", headers={"Accept": "text/csv"})
        assert pa.csv.read_csv(io.BytesIO(table.content)).column("axes.seed").to_pylist() == seeds

    def test_a_clone_has_other_seeds(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, DRAWS)
        assert client.post(f"{path}/clones", json={"seeds": None}).json()["scenarios"] == 40
        again = client.post(f"{path}/clones", json={"seeds": {"first": 0, "count": 3}})
        assert again.status_code == 202, again.text
        score(database, again.json()["id"])
        assert [its["leader_spread"] for its in items(client, again.headers["location"])] == [
            its["leader_spread"] for its in items(client, path)[5:8]
        ]
        rejection = problem(client.post(f"{path}/clones", json={"axes": {}}), 422, "conflicting_fields")
        assert "seeds" in only_error(rejection, "/axes")["detail"]


class TestGroups:
    """`kind: consumer_groups`."""

    def test_every_group_under_every_assignor(
        self, client: httpx.Client, database: Database, groups_sweep: Json
    ) -> None:
        """An empty group has nothing to rebalance; a topic without readers does not count."""
        path = sweep(client, database, groups_sweep)
        actual = items(client, path)
        assert len(actual) == 2 * 3 * 3 * 2
        assert list(actual[0]["axes"]) == ["group", "assignor", "members_lost", "members_added"]
        assert {its["axes"]["group"] for its in actual} == {"billing", "audit"}
        read = {its["axes"]["group"]: its["partitions"] for its in actual if its["axes"]["members_lost"] == 0}
        assert read == {"billing": 17, "audit": 5}
        definition = client.get(path).json()["definition"]
        assert definition["groups"] == ["audit", "billing"]
        assert "resolved" not in definition

    def test_losing_more_members_than_exist_fails_alone(
        self, client: httpx.Client, database: Database, groups_sweep: Json
    ) -> None:
        path = sweep(client, database, groups_sweep)
        for its in items(client, path):
            axes = its["axes"]
            if axes["group"] == "audit" and axes["members_lost"] == 3:
                assert its["error"]["code"] == "conflicting_fields"
            else:
                assert its["error"] is None
        answered = client.get(f"{path}/summary").json()
        assert (answered["scenarios"], answered["failed"]) == (36, 6)
        assert (answered["figures"]["moved"]["count"], answered["figures"]["moved"]["without"]) == (30, 6)

    def test_a_scenario_opens_as_the_group_that_was_scored(
        self, client: httpx.Client, database: Database, groups_sweep: Json
    ) -> None:
        path = sweep(client, database, groups_sweep)
        compared = 0
        for its in items(client, path):
            if its["error"] is not None or its["members"] == 0:
                continue
            response = client.post(f"{path}/scenarios/{its['index']}/plan")
            assert response.status_code == 201, response.text
            plan = response.json()
            assert plan["assignor"] == its["axes"]["assignor"]
            assert {name: its[name] for name in ("in_rack", "cross_rack", "unknown", "in_rack_share")} == {
                name: plan["locality"][name] for name in ("in_rack", "cross_rack", "unknown", "in_rack_share")
            }
            assert len(plan["assignment"]) == its["members"]
            assert plan["loads"]["partitions"]["spread"] == its["spread"]
            assert plan["revoked"] == its["revoked"]
            # Partitions of the lost ones are taken up in the plan, and has moved in the sweep.
            assert plan["handover"]["moved"] + plan["handover"]["taken_up"] == its["moved"] + its["taken_up"]
            compared += 1
        assert compared == 27

    def test_a_scenario_that_has_no_figures_has_no_plan(
        self, client: httpx.Client, database: Database, groups_sweep: Json
    ) -> None:
        """Three of two members cannot be lost; a group that has lost all is an empty plan, as its assignor has it."""
        path = sweep(
            client, database, groups_sweep | {"members_lost": [3], "members_added": [0], "assignors": ["uniform"]}
        )
        audit, billing = items(client, path)
        rejection = problem(client.post(f"{path}/scenarios/{audit['index']}/plan"), 422, "conflicting_fields")
        assert "has 2 members; 3 cannot be lost" in rejection["detail"]
        assert (billing["members"], billing["dropped"], billing["error"]) == (0, 15, None)
        plan = client.post(f"{path}/scenarios/{billing['index']}/plan")
        assert (plan.status_code, plan.json()["assignment"]) == (201, {})

    def test_added_members_receive_their_share(
        self, client: httpx.Client, database: Database, groups_sweep: Json
    ) -> None:
        path = sweep(
            client, database, groups_sweep | {"groups": ["billing"], "members_lost": [0], "members_added": [3]}
        )
        for its in items(client, path, axis="assignor=optimal"):
            plan = client.post(f"{path}/scenarios/{its['index']}/plan").json()
            joined = {row["member_id"]: row["rack_id"] for row in plan["loads"]["per_member"]}
            assert {name: joined[name] for name in ("added-1", "added-2", "added-3")} == {
                "added-1": "a",
                "added-2": "b",
                "added-3": "c",
            }
            assert (its["spread"], its["members"]) == (1, 6)

    def test_scenarios_are_filtered_by_axes(self, client: httpx.Client, database: Database, groups_sweep: Json) -> None:
        path = sweep(client, database, groups_sweep)
        every = items(client, path)
        axes = ["assignor=range", "members_lost=1"]
        chosen = items(client, path, axis=axes)
        assert chosen
        assert chosen == [
            its for its in every if its["axes"]["assignor"] == "range" and its["axes"]["members_lost"] == 1
        ]
        assert client.get(f"{path}/summary", params={"axis": axes}).json()["scenarios"] == len(chosen)
        error = only_error(
            problem(client.get(f"{path}/scenarios", params={"axis": "rack=a"}), 422, "unknown_axis"), "#query/axis"
        )
        assert error["known"] == ["group", "assignor", "members_lost", "members_added"]

    def test_the_sort_misses_nothing(self, client: httpx.Client, database: Database, groups_sweep: Json) -> None:
        """Rows without the figure come last, whichever way."""
        path = sweep(client, database, groups_sweep)
        for descending in (False, True):
            seen: list[Json] = []
            params: Json = {"sort": "in_rack_share", "descending": descending, "page_size": 7}
            while True:
                page = client.get(f"{path}/scenarios", params=params).json()
                seen += page["items"]
                if page["next_page_token"] is None:
                    break
                params["page_token"] = page["next_page_token"]
            assert sorted(its["index"] for its in seen) == list(range(36))
            shares = [its["in_rack_share"] for its in seen if its.get("in_rack_share") is not None]
            assert shares == sorted(shares, reverse=descending)
            assert all(its.get("in_rack_share") is None for its in seen[len(shares) :])

    @pytest.mark.parametrize(
        ("changed", "status", "code", "pointer"),
        [
            ({"snapshot_id": UNKNOWN_ID}, 404, "snapshot_not_found", "/snapshot_id"),
            ({"snapshot_id": str(EXAMPLE_SNAPSHOT_ID)}, 422, "conflicting_fields", "/snapshot_id"),
            ({"groups": ["billing", "ghost"]}, 422, "conflicting_fields", "/groups/1"),
            ({"groups": ["idle"]}, 422, "conflicting_fields", "/groups/0"),
            ({"groups": ["audit", "audit"]}, 422, "conflicting_fields", "/groups/1"),
            ({"assignors": ["range", "simple"]}, 422, "impossible_value", "/assignors/1"),
            ({"members_lost": [1, 1]}, 422, "conflicting_fields", "/members_lost/1"),
            (
                {"members_lost": list(range(1000)), "members_added": list(range(1000))},
                413,
                "limit_exceeded",
                "/groups",
            ),
        ],
    )
    def test_impossible_changes_are_named(
        self, client: httpx.Client, groups_sweep: Json, changed: Json, status: int, code: str, pointer: str
    ) -> None:
        only_error(problem(client.post("/v1/sweeps", json=groups_sweep | changed), status, code), pointer)

    @pytest.mark.parametrize(
        ("changed", "pointer"),
        [
            ({"assignors": ["range", "best"]}, "/assignors/1"),
            ({"assignors": []}, "/assignors"),
            ({"members_lost": [0, -1]}, "/members_lost/1"),
            ({"members_added": [-1]}, "/members_added/0"),
            ({"seed": 2**63}, "/seed"),
            ({"brokers": BROKERS}, "/brokers"),
        ],
    )
    def test_a_field_that_cannot_be_is_named(
        self, client: httpx.Client, groups_sweep: Json, changed: Json, pointer: str
    ) -> None:
        body = {name: value for name, value in (groups_sweep | changed).items() if value is not None}
        rejection = problem(client.post("/v1/sweeps", json=body), 422, "validation")
        assert {error["pointer"] for error in rejection["errors"]} == {pointer}

    def test_a_group_larger_than_the_limit(self, scratch: Database, serve: Serve) -> None:
        limited = serve(scratch, max_members=2)
        snapshot = limited.post("/v1/snapshots", json=CLUSTER).json()["id"]
        body = {"kind": "consumer_groups", "snapshot_id": snapshot, "assignors": ["range"]}
        error = only_error(problem(limited.post("/v1/sweeps", json=body), 413, "limit_exceeded"), "/groups")
        assert (error["value"], error["limit_name"]) == (3, "max_members")

    def test_unrecorded_facts_are_warnings(self, client: httpx.Client, database: Database) -> None:
        """A table of `kafka-consumer-groups` says neither racks nor subscriptions; whoever joins has no rack then."""
        members = [
            {"member_id": its["member_id"], "assigned_partitions": its["assigned_partitions"]}
            for its in SNAPSHOT_WITH_GROUP["groups"][0]["members"]
        ]
        group = {"group_id": "billing", "members": members}
        answered = client.post("/v1/snapshots", json=SNAPSHOT_WITH_GROUP | {"cluster": "table", "groups": [group]})
        body = {"kind": "consumer_groups", "snapshot_id": answered.json()["id"], "assignors": ["range"]}
        path = sweep(client, database, body | {"members_added": [0, 1]})
        [warning] = client.get(path).json()["definition"]["warnings"]
        assert warning["code"] == "subscriptions_not_recorded"
        assert warning["detail"].startswith("group billing: ")
        assert [its["unknown"] for its in items(client, path)] == [2, 2]

    def test_a_clone_keeps_the_groups_and_changes_assignors(
        self, client: httpx.Client, database: Database, groups_sweep: Json
    ) -> None:
        path = sweep(client, database, groups_sweep)
        unchanged = client.post(f"{path}/clones", json={"assignors": None, "members_lost": None})
        assert unchanged.json()["scenarios"] == client.get(path).json()["scenarios"]
        again = client.post(f"{path}/clones", json={"assignors": ["range"], "members_lost": [1]})
        assert (again.status_code, again.json()["scenarios"]) == (202, 4)
        score(database, again.json()["id"])
        figures = [{**its, "index": 0} for its in items(client, again.headers["location"])]
        assert figures == [
            {**its, "index": 0} for its in items(client, path, axis=["assignor=range", "members_lost=1"])
        ]
        only_error(
            problem(client.post(f"{path}/clones", json={"seeds": {"count": 1}}), 422, "conflicting_fields"), "/seeds"
        )
        only_error(
            problem(client.post(f"{path}/clones", json={"assignors": ["simple"]}), 422, "impossible_value"),
            "/assignors/0",
        )


class TestEveryKind:
    """Common rules of all kinds, and errors that name another kind's fields."""

    def test_an_unknown_kind_is_rejected(self, client: httpx.Client) -> None:
        for kind in ("best", 5, None, ["capacity"]):
            rejection = problem(client.post("/v1/sweeps", json=DRAWS | {"kind": kind}), 422, "validation")
            [error] = [error for error in rejection["errors"] if error["pointer"] == "/kind"]
            assert "capacity, placement_draws, consumer_groups" in error["detail"]

    @pytest.mark.parametrize("body", [[], "capacity", 7])
    def test_a_body_that_is_not_an_object_is_rejected(self, client: httpx.Client, body: Any) -> None:
        problem(client.post("/v1/sweeps", json=body), 422, "validation")

    def test_they_are_listed_by_kind(self, client: httpx.Client) -> None:
        made = client.post("/v1/sweeps", json=DRAWS).json()["id"]
        page = client.get("/v1/sweeps", params={"kind": "placement_draws"}).json()
        assert [its["id"] for its in page["items"]] == [made]

    def test_without_an_objective_there_is_a_summary_instead(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, DRAWS)
        requests: list[tuple[str, Json]] = [
            ("/front", {}),
            ("/best", {}),
            ("/comparison", {"against": str(EXAMPLE_SWEEP_ID)}),
            ("/scenarios", {"feasible": True}),
            ("/summary", {"feasible": False}),
        ]
        for operation, params in requests:
            rejection = problem(client.get(path + operation, params=params), 422, "not_for_this_kind")
            assert (rejection["kind"], rejection["operation"]) == ("placement_draws", "summarise_sweep")
            assert f"{path}/summary" in rejection["detail"]

    def test_a_figure_of_another_kind_is_no_sort_key(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, DRAWS)
        rejection = problem(client.get(f"{path}/scenarios", params={"sort": "monthly_cost"}), 422, "unknown_figure")
        error = only_error(rejection, "#query/sort")
        assert error["known"] == [
            "leader_spread",
            "replica_spread",
            "most_leaders",
            "most_replicas",
            "rack_safe_share",
            "index",
        ]
        by_spread = [its["leader_spread"] for its in items(client, path, sort="leader_spread", descending=True)]
        assert by_spread == sorted(by_spread, reverse=True)

    def test_a_capacity_sweep_has_a_summary_too(self, client: httpx.Client) -> None:
        path = f"/v1/sweeps/{EXAMPLE_SWEEP_ID}"
        every = items(client, path)
        for feasible, chosen in ((None, every), (True, [its for its in every if its["feasible"]])):
            answered = client.get(f"{path}/summary", params={} if feasible is None else {"feasible": feasible}).json()
            costs = [its["monthly_cost"] for its in chosen]
            assert answered["scenarios"] == len(chosen)
            assert answered["figures"]["monthly_cost"]["max"] == max(costs)
            assert answered["figures"]["monthly_cost"]["mean"] == pytest.approx(sum(costs) / len(costs))
        chosen = items(client, path, axis="topology.brokers_per_rack=3")
        assert [its["axes"]["topology.brokers_per_rack"] for its in chosen] == [3, 3]

    @pytest.mark.parametrize("name", ["draws", "groups"])
    @pytest.mark.parametrize(
        ("media_type", "read"),
        [
            ("text/csv", lambda body: pa.csv.read_csv(io.BytesIO(body))),
            ("application/vnd.apache.parquet", lambda body: pa.parquet.read_table(io.BytesIO(body))),
            ("application/vnd.apache.arrow.stream", lambda body: pa.ipc.open_stream(body).read_all()),
        ],
    )
    def test_tables_hold_the_figures_of_their_kind(
        self, client: httpx.Client, database: Database, name: str, media_type: str, read: Any
    ) -> None:
        path = sweep(client, database, SWEEP_REQUEST[name]["value"])
        response = client.get(f"{path}/scenarios", headers={"Accept": media_type})
        table = read(response.content)
        actual = items(client, path)
        assert table.column_names[0] == "index"
        assert table.column_names[-1] == "error"
        assert table.num_rows == client.get(path).json()["done"]
        for column in table.column_names[:-1]:
            answered = [
                its["axes"][column.removeprefix("axes.")] if column.startswith("axes.") else its.get(column)
                for its in actual
            ]
            assert table.column(column).to_pylist()[: len(answered)] == answered, column

    def test_the_example_of_groups_reads_a_snapshot_that_is_there(self, client: httpx.Client) -> None:
        snapshot = client.get(f"/v1/snapshots/{EXAMPLE_GROUPS_SNAPSHOT_ID}").json()
        assert snapshot["groups"] == 1


class TestConsumers:
    """`kind: consumers`."""

    BODY: Json = SWEEP_REQUEST["consumers"]["value"]

    def test_a_scenario_is_the_plan_of_its_group(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, self.BODY | {"delays_s": [0, 14400]})
        actual = items(client, path)
        assert len(actual) == 2 * 2 * 2 * 2
        assert {its["axes"]["capacity_bytes_per_s"] for its in actual} == {3e6, 2e6}
        for its in actual:
            response = client.post(f"{path}/scenarios/{its['index']}/plan")
            assert response.status_code in (200, 201), response.text
            plan = response.json()
            counts = [interval["consumers"] for interval in plan["intervals"]]
            assert its["most_consumers"] == max(counts)
            assert its["consumer_hours"] == plan["consumer_hours"]
            assert its["moved_bytes_per_s"] == plan["moved_bytes_per_s"]
            assert its["proven_moves_share"] == plan["proven_moves"] / len(counts)
            assert its["lost_bytes_per_s"] == max(interval["lost_bytes_per_s"] for interval in plan["intervals"])

    def test_a_clone_has_other_capacities(self, client: httpx.Client, database: Database) -> None:
        path = sweep(client, database, self.BODY)
        clone = client.post(f"{path}/clones", json={"capacities_bytes_per_s": ["6 MB"], "spares": [0]})
        score(database, clone.json()["id"])
        assert [its["most_consumers"] for its in items(client, clone.headers["location"])] == [1, 1]

    @pytest.mark.parametrize(
        ("changed", "code", "pointer"),
        [
            ({"capacities_bytes_per_s": [1, 1]}, "conflicting_fields", "/capacities_bytes_per_s/1"),
            ({"min": 3, "max": 2}, "conflicting_fields", "/max"),
            ({"groups": {}}, "validation", "/groups"),
            ({"delays_s": [-1]}, "validation", "/delays_s/0"),
            ({"groups": {"g": {"start": "2026-11-27T00:00:00Z"}}}, "conflicting_fields", "/groups/g"),
            (
                {"groups": {"g": {"start": "2026-11-27T00:00:00Z", "step_s": 60, "bytes_per_s": {"t": [[1, 2], [1]]}}}},
                "conflicting_fields",
                "/groups/g/ingress_bytes_per_s/t/1",
            ),
        ],
    )
    def test_what_cannot_be_is_named(self, client: httpx.Client, changed: Json, code: str, pointer: str) -> None:
        only_error(problem(client.post("/v1/sweeps", json=self.BODY | changed), 422, code), pointer)
