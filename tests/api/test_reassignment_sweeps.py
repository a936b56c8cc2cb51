"""`/v1/sweeps` over reassignments: `kind: reassignment`."""

import io
from typing import Any
from uuid import UUID

import httpx
import pyarrow as pa
import pyarrow.csv
import pytest
import sqlalchemy as sa

from app.api.examples import EXAMPLE_SNAPSHOT_ID
from app.errors.requests import LimitExceeded
from app.services.limits import Limits
from app.services.sweeps import next_chunk
from app.store import tables
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import UNKNOWN_ID, only_error, problem
from tests.api.test_sweep_kinds import items, sweep
from tests.api.test_sweeps import score

Json = dict[str, Any]
RACKS = ("a", "b", "c")
BROKERS = [{"id": i, "rack": RACKS[i % 3]} for i in range(6)]
CLUSTER: Json = {
    "cluster": "what-if",
    "brokers": BROKERS,
    "topics": [
        {
            "name": name,
            "partitions": [
                {
                    "partition": p,
                    "replicas": [(p + shift + step) % 6 for step in range(factor)],
                    "size_bytes": 100 * (p + 1),
                }
                for p in range(count)
            ],
        }
        for name, count, shift, factor in (("orders", 12, 0, 3), ("payments", 5, 2, 2))
    ],
}
SIZES_BY_BROKER = {
    broker: [
        part["size_bytes"] for topic in CLUSTER["topics"] for part in topic["partitions"] if broker in part["replicas"]
    ]
    for broker in range(6)
}


@pytest.fixture
def request_body(client: httpx.Client) -> Json:
    """A sweep over the removal of each broker, with none and one added."""
    return request_of(client, CLUSTER, {"remove_broker": "each", "add_brokers": [0, 1]})


def request_of(client: httpx.Client, cluster: Json, axes: Json) -> Json:
    """A sweep of these axes over a cluster, which is stored first."""
    snapshot = client.post("/v1/snapshots", json=cluster)
    assert snapshot.status_code == 201, snapshot.text
    return {"kind": "reassignment", "snapshot_id": snapshot.json()["id"], "axes": axes}


class TestScenarios:
    """Results."""

    def test_each_broker_removed_in_turn(self, client: httpx.Client, database: Database, request_body: Json) -> None:
        """Of every rack one broker is left, so that only the removed one's replicas move."""
        path = sweep(client, database, request_body | {"axes": {"remove_broker": "each"}})
        actual = items(client, path)
        assert [its["axes"] for its in actual] == [{"remove_broker": broker} for broker in range(6)]
        for its in actual:
            sizes = SIZES_BY_BROKER[its["axes"]["remove_broker"]]
            assert (its["moved_replicas"], its["moved_bytes"]) == (len(sizes), sum(sizes))
            assert (its["lower_bound_bytes"], its["optimal"], its["gap"]) == (sum(sizes), True, 0)
            assert (its["brokers"], its["short_of_racks"], its["error"]) == (5, 0, None)

    def test_brokers_added(self, client: httpx.Client, database: Database, request_body: Json) -> None:
        """46 replicas on 7, 8 and 9 brokers; the racks of 2, 2 and 3 brokers are as even as racks let them be."""
        path = sweep(client, database, request_body | {"axes": {"add_brokers": {"from": 1, "to": 3}}})
        actual = items(client, path)
        assert [its["brokers"] for its in actual] == [7, 8, 9]
        assert [its["moved_replicas"] for its in actual] == sorted(its["moved_replicas"] for its in actual)
        assert (actual[2]["smallest_after"], actual[2]["largest_after"], actual[2]["spread_after"]) == (5, 6, 1)

    def test_the_definition_is_answered_without_the_cluster(
        self, client: httpx.Client, database: Database, request_body: Json
    ) -> None:
        answered = client.get(sweep(client, database, request_body)).json()["definition"]
        snapshot = client.get(f"/v1/snapshots/{request_body['snapshot_id']}").json()
        assert answered.pop("snapshot_content_hash") == snapshot["content_hash"]
        expected = {name: value for name, value in request_body.items() if name != "kind"}
        assert answered == expected | {"minimise": "bytes", "rack_mode": "enforced", "warnings": []}
        assert list(answered["axes"]) == ["remove_broker", "add_brokers"]

    def test_unrecorded_facts_are_warnings(self, client: httpx.Client, database: Database) -> None:
        unknown = {"name": "new", "partitions": [{"partition": 0, "replicas": [0, 1]}]}
        body = request_of(client, CLUSTER | {"topics": [*CLUSTER["topics"], unknown]}, {"remove_broker": [0]})
        path = sweep(client, database, body)
        [warning] = client.get(path).json()["definition"]["warnings"]
        assert warning["code"] == "unknown_sizes"
        [row] = items(client, path)
        assert (row["moved_replicas"], row["moved_bytes"]) == (len(SIZES_BY_BROKER[0]) + 1, sum(SIZES_BY_BROKER[0]))

    def test_a_reassignment_in_progress_counts_as_complete(self, client: httpx.Client, database: Database) -> None:
        part = {"partition": 0, "replicas": [0, 1, 3], "adding_replicas": [0], "removing_replicas": [3]}
        topics = [{"name": "orders", "partitions": [part | {"size_bytes": 7}]}]
        body = request_of(client, CLUSTER | {"topics": topics}, {"remove_broker": [0, 3]})
        path = sweep(client, database, body)
        assert [its["moved_bytes"] for its in items(client, path)] == [7, 0]
        [warning] = client.get(path).json()["definition"]["warnings"]
        assert warning["code"] == "merged_with_running_reassignment"

    def test_an_impossible_scenario_fails_alone(self, client: httpx.Client, database: Database) -> None:
        """Broker 2 is the only one of rack c; payments have two replicas and lack nothing."""
        body = request_of(
            client, CLUSTER | {"brokers": [*BROKERS[:5], {"id": 5, "rack": "a"}]}, {"remove_broker": "each"}
        )
        actual = items(client, sweep(client, database, body))
        assert [its["axes"]["remove_broker"] for its in actual if its["error"] is not None] == [2]
        assert actual[2]["error"] == {
            "code": "infeasible_reassignment",
            "detail": "3 racks are needed for factor 3 on topic orders; 2 are left (c loses all its brokers)",
            "path": ["axes", "remove_broker"],
        }
        [relaxed] = items(client, sweep(client, database, body | {"axes": {"remove_broker": [2]}, "rack_mode": "safe"}))
        assert (relaxed["error"], relaxed["short_of_racks"]) == (None, 12)
        [short] = items(
            client, sweep(client, database, body | {"axes": {"remove_broker": [2]}, "topics": ["payments"]})
        )
        assert (short["error"], short["short_of_racks"]) == (None, 0)

    def test_scenarios_are_sorted_filtered_summarised_and_written_as_tables(
        self, client: httpx.Client, database: Database, request_body: Json
    ) -> None:
        path = sweep(client, database, request_body)
        actual = items(client, path)
        alone = items(client, path, axis="add_brokers=0", sort="moved_bytes", descending=True)
        assert [its["moved_bytes"] for its in alone] == sorted(map(sum, SIZES_BY_BROKER.values()), reverse=True)
        figure = client.get(f"{path}/summary", params={"axis": "add_brokers=0"}).json()["figures"]["moved_bytes"]
        assert (figure["max"], figure["count"], figure["without"]) == (alone[0]["moved_bytes"], 6, 0)
        table = client.get(f"{path}/scenarios", headers={"Accept": "text/csv"})
        read = pa.csv.read_csv(io.BytesIO(table.content))
        assert read.column_names[:3] == ["index", "axes.remove_broker", "axes.add_brokers"]
        for name in ("moved_replicas", "spread_after", "largest_bytes_after", "optimal"):
            assert read.column(name).to_pylist() == [its[name] for its in actual]

    def test_limits_are_axes(self, client: httpx.Client, database: Database, request_body: Json) -> None:
        """A row equals the plan of the same scenario; one above its limits is no plan."""
        body = request_body | {
            "axes": {"limits.disk": [0.4, 0.46, 1]},
            "capacity": {"*": {"disk_bytes": 10_000}},
            "ingress_bytes_per_s": {"orders": 120, "payments": 50},
            "objective": "relieve",
        }
        path = sweep(client, database, body)
        actual = items(client, path)
        assert [row["feasible"] for row in actual] == [False, True, True]
        assert items(client, path, feasible=False) == actual[:1]
        [violated] = actual[0]["violated_limits"]
        assert (violated["resource"], violated["limit"], violated["soft"]) == ("disk", 4_000, False)
        opened = client.post(f"{path}/scenarios/1/plan").json()
        assert opened["certificate"]["moved_bytes"] == actual[1]["moved_bytes"] > 0
        after = [load["disk"]["after"] for load in opened["loads"].values()]
        assert max(after) / 10_000 == actual[1]["disk_utilisation"] <= 0.46
        rejection = problem(client.post(f"{path}/scenarios/0/plan"), 422, "infeasible_reassignment")
        assert rejection["conflict"][0]["constraint"] == "limits.disk"
        assert rejection["lifted_by"][0] == "1 more broker with a limit of 4000 of disk"
        table = client.get(f"{path}/scenarios", headers={"Accept": "text/csv"})
        read = pa.csv.read_csv(io.BytesIO(table.content))
        assert read.column("axes.limits.disk").to_pylist() == [0.4, 0.46, 1.0]
        assert read.column("feasible").to_pylist() == [False, True, True]
        clone = client.post(f"{path}/clones", json={"axes": {"add_brokers": [0, 1]}, "limits": {"disk": 0.5}})
        assert clone.json()["scenarios"] == 2

    def test_sets_are_axes(self, client: httpx.Client, database: Database, request_body: Json) -> None:
        """A set of three brokers, one of each rack, or of six; a topic in it or in none. Plans equal their scores."""
        axes: Json = {"broker_sets.blue": [[0, 1, 2], [0, 1, 2, 3, 4, 5]], "topic_sets.payments": ["blue", None]}
        body = request_body | {"axes": axes, "topic_sets": {"orders": "blue"}}
        path = sweep(client, database, body)
        actual = items(client, path)
        assert [its["axes"] for its in actual] == [
            {"broker_sets.blue": brokers, "topic_sets.payments": name}
            for brokers in axes["broker_sets.blue"]
            for name in axes["topic_sets.payments"]
        ]
        # With all brokers in blue, payments has none.
        assert [its["error"] is None for its in actual] == [True, True, True, False]
        assert actual[2]["moved_replicas"] == 0 < actual[1]["moved_replicas"]
        for its in actual[:3]:
            opened = client.post(f"{path}/scenarios/{its['index']}/plan").json()
            certificate = opened["certificate"]
            assert (certificate["moved_bytes"], certificate["lower_bound_bytes"]) == (
                its["moved_bytes"],
                its["lower_bound_bytes"],
            )
            assert opened["request"]["broker_sets"] == {"blue": its["axes"]["broker_sets.blue"]}
        table = client.get(f"{path}/scenarios", headers={"Accept": "text/csv"})
        read = pa.csv.read_csv(io.BytesIO(table.content))
        assert read.column("axes.broker_sets.blue").to_pylist()[:2] == ["[0,1,2]", "[0,1,2]"]
        assert read.column("axes.topic_sets.payments").to_pylist()[0] == "blue"

    def test_a_clone_changes_the_same_cluster_differently(
        self, client: httpx.Client, database: Database, request_body: Json
    ) -> None:
        path = sweep(client, database, request_body)
        unchanged = client.post(f"{path}/clones", json={"axes": None, "balance": None, "minimise": None})
        assert unchanged.json()["scenarios"] == 12
        change = {"axes": {"remove_broker": "each"}, "balance": {"replicas": {"tolerance": 0.1}}}
        again = client.post(f"{path}/clones", json=change | {"racks_of_added": ["c"]})
        assert (again.status_code, again.json()["scenarios"]) == (202, 6), again.text
        score(database, again.json()["id"])
        without_added = items(client, path, axis="add_brokers=0")
        assert all(
            one["moved_bytes"] >= other["moved_bytes"]
            for one, other in zip(items(client, again.headers["location"]), without_added, strict=True)
        )
        rejection = problem(client.post(f"{path}/clones", json={"racks_of_added": ["z"]}), 422, "unknown_rack")
        only_error(rejection, "/racks_of_added/0")
        only_error(
            problem(client.post(f"{path}/clones", json={"assignors": ["range"]}), 422, "conflicting_fields"),
            "/assignors",
        )


class TestUpgrade:
    """Releases before this one stored parts of the cluster, and not the cluster."""

    def stored_before(self, client: httpx.Client, database: Database, body: Json) -> str:
        path: str = client.post("/v1/sweeps", json=body).headers["location"]
        its = tables.sweeps.c.id == UUID(path.rsplit("/", 1)[1])
        with database.engine.begin() as connection:
            definition = connection.execute(sa.select(tables.sweeps.c.definition).where(its)).scalar_one()
            del definition["resolved"]["cluster"]
            connection.execute(sa.update(tables.sweeps).where(its).values(definition=definition))
        return path

    def test_a_sweep_goes_on_from_its_snapshot(
        self, client: httpx.Client, database: Database, request_body: Json
    ) -> None:
        path = self.stored_before(client, database, request_body)
        score(database, path.rsplit("/", 1)[1])
        assert items(client, path) == items(client, sweep(client, database, request_body))
        assert client.post(f"{path}/clones", json={}).json()["scenarios"] == 12

    def test_it_fails_if_the_limits_are_smaller_now(
        self, client: httpx.Client, database: Database, request_body: Json
    ) -> None:
        path = self.stored_before(client, database, request_body)
        with database.begin() as uow, pytest.raises(LimitExceeded):
            next_chunk(uow, UUID(path.rsplit("/", 1)[1]), Limits(max_partitions=1))


class TestOpened:
    """A scenario as a plan of a reassignment."""

    @pytest.mark.parametrize(
        "changed",
        [
            {},
            {"balance": {"replicas": {"tolerance": 0.2}}, "racks_of_added": ["c", "a"]},
            {"topics": ["orders"], "rack_mode": "disabled", "balance": {"replicas": "keep"}},
            {"minimise": "replicas", "rack_mode": "safe", "balance": {"replicas": "tight"}},
        ],
    )
    def test_it_is_the_change_that_was_scored(
        self, client: httpx.Client, database: Database, request_body: Json, changed: Json
    ) -> None:
        path = sweep(
            client, database, request_body | {"axes": {"remove_broker": [1, 4], "add_brokers": [0, 2]}} | changed
        )
        for its in items(client, path):
            response = client.post(f"{path}/scenarios/{its['index']}/plan")
            assert response.status_code == 201, response.text
            plan, count = response.json(), its["axes"]["add_brokers"]
            certificate = plan["certificate"]
            assert plan["kind"] == "reassignment"
            assert plan["snapshot_id"] == request_body["snapshot_id"]
            for name in ("moved_replicas", "moved_bytes", "optimal", "gap"):
                assert certificate[name] == its[name], name
            assert certificate["lower_bound_bytes"] <= its["lower_bound_bytes"]
            if changed.get("minimise") != "replicas":
                assert certificate["lower_bound_bytes"] == its["lower_bound_bytes"]
            after = plan["balance"]["replicas"]
            assert (after["smallest"], after["largest"]) == (its["smallest_after"], its["largest_after"])
            replicas = {broker for topic in plan["topics"] for row in topic["replicas"] for broker in row}
            assert its["axes"]["remove_broker"] not in replicas
            assert replicas & set(range(6, 9)) <= set(range(6, 6 + count))

    def test_an_impossible_scenario_has_no_plan(self, client: httpx.Client, database: Database) -> None:
        body = request_of(client, CLUSTER | {"brokers": [*BROKERS[:5], {"id": 5, "rack": "a"}]}, {"remove_broker": [2]})
        path = sweep(client, database, body)
        rejection = problem(client.post(f"{path}/scenarios/0/plan"), 422, "infeasible_reassignment")
        assert rejection["detail"].startswith("3 racks are needed for factor 3 on topic orders; 2 are left")

    def test_a_scenario_of_a_reassignment_in_progress(self, client: httpx.Client, database: Database) -> None:
        part = {
            "partition": 0,
            "replicas": [0, 1, 3],
            "adding_replicas": [0],
            "removing_replicas": [3],
            "size_bytes": 7,
        }
        topics = [{"name": "orders", "partitions": [part]}]
        path = sweep(client, database, request_of(client, CLUSTER | {"topics": topics}, {"remove_broker": [0]}))
        [row] = items(client, path)
        plan = client.post(f"{path}/scenarios/0/plan").json()
        assert plan["certificate"]["moved_bytes"] == row["moved_bytes"] == 7


class TestBadInput:
    """Infeasible scenarios are named."""

    @pytest.mark.parametrize(
        ("changed", "status", "code", "pointer"),
        [
            ({"snapshot_id": UNKNOWN_ID}, 404, "snapshot_not_found", "/snapshot_id"),
            ({"axes": {"remove_broker": [0, 99]}}, 422, "unknown_broker", "/axes/remove_broker/1"),
            ({"axes": {"remove_broker": [0, 0]}}, 422, "conflicting_fields", "/axes/remove_broker/1"),
            ({"axes": {"remove_broker": []}}, 422, "empty_axis", "/axes/remove_broker"),
            ({"axes": {"remove_broker": [None]}}, 422, "impossible_value", "/axes/remove_broker/0"),
            ({"axes": {"add_brokers": "each"}}, 422, "impossible_value", "/axes/add_brokers"),
            ({"axes": {"add_brokers": [1, -1]}}, 422, "impossible_value", "/axes/add_brokers/1"),
            ({"axes": {"add_brokers": ["1"]}}, 422, "impossible_value", "/axes/add_brokers/0"),
            ({"axes": {"add_brokers": [9_995]}}, 413, "limit_exceeded", "/axes/add_brokers"),
            ({"axes": {"replace_broker": [1]}}, 422, "unknown_axis", "/axes/replace_broker"),
            ({"racks_of_added": ["a", "z"]}, 422, "unknown_rack", "/racks_of_added/1"),
            ({"topics": ["ghost"]}, 422, "unknown_topic", "/topics/0"),
            ({"axes": {"broker_sets.blue": [[0, 99]]}}, 422, "unknown_broker", "/axes/broker_sets.blue/0/1"),
            ({"axes": {"topic_sets.ghost": [None]}}, 422, "unknown_topic", "/axes/topic_sets.ghost"),
            ({"axes": {"topic_sets.orders": ["red"]}}, 422, "unknown_broker_set", "/axes/topic_sets.orders/0"),
            ({"broker_sets": {"blue": [99]}}, 422, "unknown_broker", "/broker_sets/blue/0"),
            ({"topic_sets": {"orders": "red"}}, 422, "unknown_broker_set", "/topic_sets/orders"),
            ({"topics": ["orders", "orders"]}, 422, "duplicate_topic", "/topics/1"),
        ],
    )
    def test_by_its_code(
        self, client: httpx.Client, request_body: Json, changed: Json, status: int, code: str, pointer: str
    ) -> None:
        only_error(problem(client.post("/v1/sweeps", json=request_body | changed), status, code), pointer)

    @pytest.mark.parametrize(
        ("changed", "pointer"),
        [
            ({"axes": {}}, "/axes"),
            ({"axes": None}, "/axes"),
            ({"axes": {"remove_broker": "every"}}, "/axes/remove_broker"),
            ({"axes": {"add_brokers": {"from": 1}}}, "/axes/add_brokers"),
            ({"balance": {"replicas": {"tolerance": -0.1}}}, "/balance/replicas/tolerance"),
            ({"balance": {"replicas": "even"}}, "/balance/replicas"),
            ({"balance": {"leaders": "even"}}, "/balance/leaders"),
            ({"pins": [{"topic": "orders", "replicas": [1]}]}, "/pins/0/partition"),
            ({"minimise": "leaders"}, "/minimise"),
            ({"rack_mode": "some"}, "/rack_mode"),
            ({"racks_of_added": []}, "/racks_of_added"),
            ({"seeds": {"count": 1}}, "/seeds"),
        ],
    )
    def test_a_field_that_cannot_be(
        self, client: httpx.Client, request_body: Json, changed: Json, pointer: str
    ) -> None:
        body = {name: value for name, value in (request_body | changed).items() if value is not None}
        rejection = problem(client.post("/v1/sweeps", json=body), 422, "validation")
        assert {error["pointer"].removesuffix("/to") for error in rejection["errors"]} == {pointer}

    def test_racks_that_only_some_have(self, client: httpx.Client) -> None:
        body = request_of(client, CLUSTER | {"brokers": [*BROKERS[:5], {"id": 5}]}, {"remove_broker": [0]})
        assert problem(client.post("/v1/sweeps", json=body), 422, "brokers_without_rack")["brokers"] == [5]
        assert client.post("/v1/sweeps", json=body | {"rack_mode": "safe"}).status_code == 202

    def test_racks_where_there_are_none(self, client: httpx.Client) -> None:
        body = request_of(client, CLUSTER | {"brokers": [{"id": i} for i in range(6)]}, {"add_brokers": [1]})
        rejection = problem(client.post("/v1/sweeps", json=body | {"racks_of_added": ["a"]}), 422, "unknown_rack")
        assert "the racks are none" in only_error(rejection, "/racks_of_added/0")["detail"]

    def test_a_cluster_larger_than_the_limit(self, scratch: Database, serve: Serve) -> None:
        limited = serve(scratch, max_partitions=10)
        error = only_error(
            problem(
                limited.post("/v1/sweeps", json=request_of(limited, CLUSTER, {"add_brokers": [1]})),
                413,
                "limit_exceeded",
            ),
            "/topics",
        )
        assert (error["value"], error["limit_name"]) == (17, "max_partitions")

    @pytest.mark.parametrize(
        ("changed", "code", "pointer"),
        [
            ({"axes": {"limits.disk": [0.8]}, "capacity": {}}, "capacity_missing", "/axes/limits.disk"),
            ({"axes": {"limits.nic_out": [0.8]}}, "rates_missing", "/axes/limits.nic_out"),
            ({"axes": {"limits.disk": [1.5]}}, "impossible_value", "/axes/limits.disk/0"),
            ({"axes": {"limits.memory": [1]}}, "unknown_axis", "/axes/limits.memory"),
            ({"limits": {"leaders": 0.5}}, "conflicting_fields", "/limits/leaders"),
            ({"objective": "relieve"}, "conflicting_fields", "/objective"),
            ({"capacity": {"77": {"disk_bytes": 1}}}, "unknown_broker", "/capacity/77"),
            ({"consumers": {"ghost": 1}}, "unknown_topic", "/consumers/ghost"),
            ({"balance": {"resources": ["nic_in"]}}, "rates_missing", "/balance/resources/0"),
        ],
    )
    def test_limits_that_cannot_be(
        self, client: httpx.Client, request_body: Json, changed: Json, code: str, pointer: str
    ) -> None:
        body = request_body | {"capacity": {"*": {"disk_bytes": 9_000}}} | changed
        only_error(problem(client.post("/v1/sweeps", json=body), 422, code), pointer)

    def test_it_has_no_best(self, client: httpx.Client, database: Database) -> None:
        body = {"kind": "reassignment", "snapshot_id": str(EXAMPLE_SNAPSHOT_ID), "axes": {"remove_broker": "each"}}
        path = sweep(client, database, body)
        problem(client.get(f"{path}/best"), 422, "not_for_this_kind")
