"""Cordoned brokers (KIP-1066): nothing new is placed on them, and they are no targets."""

from typing import Any

import httpx
import pytest

from tests.api.contract import brokers, only_error, place, problem
from tests.api.contract import topic as new_topic
from tests.api.test_reassignment import PATH, RACKS, change, codes, rows, snapshot, topic


def cordoned(*ids: int, brokers: int = 6) -> list[dict[str, Any]]:
    """Six brokers, two in each of three racks, some of them cordoned."""
    return [
        {"id": broker, "rack": RACKS[(broker - 1) // 2]} | ({"cordoned": True} if broker in ids else {})
        for broker in range(1, brokers + 1)
    ]


@pytest.fixture
def kept(client: httpx.Client) -> str:
    """Broker 2 is cordoned and has replicas; of broker 3 one log directory is."""
    listed = cordoned(2)
    listed[2] |= {"cordoned_log_dirs": ["/d1"]}
    return snapshot(client, brokers=listed, topics=[topic("t", [1, 3, 5], [2, 4, 6]), topic("u", [3, 5], [2, 3])])


@pytest.mark.parametrize("algorithm", ["admin_utils", "striped", "awareness"])
class TestPlacement:
    def test_nothing_is_placed_on_them(self, client: httpx.Client, kept: str, algorithm: str) -> None:
        """As Kafka's controllers place since 4.3; of the others it is a constraint of Rackplan's, which is said."""
        plan = place(
            client, new_topic(partitions=30, replication_factor=3), snapshot_id=kept, algorithm=algorithm
        ).json()
        assert {broker for row in rows(plan, "t") for broker in row} == {1, 3, 4, 5, 6}
        warning = next(warning for warning in plan["warnings"] if warning["code"] == "cordoned_brokers_left_out")
        assert warning["brokers"] == [2]
        assert ("constraint of Rackplan" in warning["detail"]) == (algorithm != "striped")

    def test_as_if_they_were_not_there(self, client: httpx.Client, algorithm: str) -> None:
        listed = brokers(6, 0 if algorithm == "admin_utils" else 3)
        few = place(client, brokers=listed[:2] + listed[3:], algorithm=algorithm, seed=7)
        marked = [listed[0], listed[1], listed[2] | {"cordoned": True}, *listed[3:]]
        assert place(client, brokers=marked, algorithm=algorithm, seed=7).json()["topics"] == few.json()["topics"]
        named = place(client, brokers=listed, cordoned_brokers=[3], algorithm=algorithm, seed=7)
        assert named.json()["topics"] == few.json()["topics"]
        assert named.json()["request"]["cordoned_brokers"] == [3]

    def test_a_request_overrides_the_snapshot(self, client: httpx.Client, kept: str, algorithm: str) -> None:
        plan = place(
            client, new_topic(partitions=30), snapshot_id=kept, algorithm=algorithm, cordoned_brokers=[5]
        ).json()
        assert {broker for row in rows(plan, "t") for broker in row} == {1, 2, 3, 4, 6}
        nothing = place(client, snapshot_id=kept, algorithm=algorithm, cordoned_brokers=[]).json()
        assert "cordoned_brokers_left_out" not in codes(nothing)

    def test_too_few_others(self, client: httpx.Client, kept: str, algorithm: str) -> None:
        answer = place(client, snapshot_id=kept, algorithm=algorithm, cordoned_brokers=[1, 2, 3, 4, 5, 6])
        assert answer.status_code == 422

    def test_an_unknown_one(self, client: httpx.Client, kept: str, algorithm: str) -> None:
        answer = place(client, snapshot_id=kept, algorithm=algorithm, cordoned_brokers=[1, 9])
        assert only_error(problem(answer, 422, "unknown_broker"), "/cordoned_brokers/1")["value"] == 9


class TestReassignment:
    @pytest.mark.parametrize(
        "fields",
        [
            {"remove_brokers": [1], "rack_mode": "safe"},
            {"replication_factor": {"u": 3}},
            {"partitions": {"u": 12}},
            {"balance": {"replicas": "tight"}},
            {"balance": {"replicas": "tight", "replicas_by": "bytes"}},
            {"add_brokers": [{"id": 7, "rack": "a"}]},
            {"replace_brokers": {"1": 8}},
            {"forbid_brokers": [6], "remove_brokers": [5], "rack_mode": "safe"},
        ],
    )
    def test_nothing_new_is_placed_on_them(self, client: httpx.Client, kept: str, fields: dict[str, Any]) -> None:
        """Whatever the change; the replicas that they have may stay."""
        plan = change(client, kept, **fields)
        had = {("t", 1), ("u", 1)}
        for name in ("t", "u"):
            for partition, row in enumerate(rows(plan, name)):
                assert 2 not in row or (name, partition) in had
        assert 2 in rows(plan, "t")[1] or "tight" in str(fields)

    def test_racks_are_repaired_elsewhere(self, client: httpx.Client) -> None:
        """Rack a has the brokers 1 and 2. Where 1 is cordoned, 2 is the one that repairs."""
        kept = snapshot(client, brokers=cordoned(1), topics=[topic("t", [3, 4, 5])])
        assert {2, 5} < set(rows(change(client, kept), "t")[0])

    def test_they_are_emptied_as_others_are(self, client: httpx.Client, kept: str) -> None:
        plan = change(client, kept, remove_brokers=[2])
        assert not any(2 in row for name in ("t", "u") for row in rows(plan, name))

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"replace_brokers": {"1": 2}}, "/replace_brokers/1"),
            ({"add_brokers": [{"id": 2, "rack": "a"}]}, "/add_brokers/0/id"),
            ({"add_brokers": [{"id": 7, "rack": "a"}], "cordoned_brokers": [7]}, "/add_brokers/0/id"),
            ({"pins": [{"topic": "t", "partition": 0, "replicas": [1, 3, 2]}]}, "/pins/0/replicas/2"),
        ],
    )
    def test_as_a_target(self, client: httpx.Client, kept: str, fields: dict[str, Any], pointer: str) -> None:
        document = client.post(PATH, json={"snapshot_id": kept, **fields}).json()
        assert document["code"] in {"cordoned_target", "broker_exists", "pin_contradicted"}
        error = only_error(document, pointer)
        assert error["value"] in {2, 7}
        assert str(error["value"]) in error["detail"]
        if document["code"] != "broker_exists":
            assert "cordoned" in error["detail"]

    def test_a_pin_may_keep_what_is_there(self, client: httpx.Client, kept: str) -> None:
        plan = change(client, kept, pins=[{"topic": "t", "partition": 1, "replicas": [4, 2, 6]}])
        assert rows(plan, "t")[1] == [4, 2, 6]

    def test_where_no_other_broker_is_left(self, client: httpx.Client) -> None:
        """The conflict names them, and what would resolve it."""
        kept = snapshot(client, brokers=cordoned(1, 2), topics=[topic("t", [3, 4])])
        answer = client.post(PATH, json={"snapshot_id": kept, "replication_factor": {"t": 3}})
        document = problem(answer, 422, "infeasible_reassignment")
        assert "cordoned" in {each["constraint"] for each in document["conflict"]}
        assert "brokers that are uncordoned" in document["lifted_by"]

    def test_a_request_overrides_the_snapshot(self, client: httpx.Client, kept: str) -> None:
        """No broker is cordoned: 2 takes what 1 had, being the other broker of its rack."""
        plan = change(client, kept, remove_brokers=[1], cordoned_brokers=[])
        assert 2 in rows(plan, "t")[0]
        assert plan["request"]["cordoned_brokers"] == []

    def test_unknown_and_listed_twice(self, client: httpx.Client, kept: str) -> None:
        for ids, code, at in (([2, 9], "unknown_broker", 1), ([2, 2], "duplicate_broker", 1)):
            answer = client.post(PATH, json={"snapshot_id": kept, "cordoned_brokers": ids})
            assert only_error(problem(answer, 422, code), f"/cordoned_brokers/{at}")["value"] == ids[at]


class TestChecks:
    def test_a_list_with_a_cordoned_broker_is_rejected(self, client: httpx.Client, kept: str) -> None:
        """Also where the broker has the replica already (Kafka 4.3.2)."""
        partitions = [
            {"topic": "u", "partition": at, "replicas": row} for at, row in enumerate(([1, 2], [2, 5], [4, 5]))
        ]
        body = {"snapshot_id": kept, "reassignment": {"version": 1, "partitions": partitions[:2]}}
        document = problem(client.post("/v1/checks", json=body), 422, "illegal_reassignment")
        assert [(error["pointer"], error["value"]) for error in document["errors"]] == [
            ("/reassignment/partitions/0/replicas/1", 2),
            ("/reassignment/partitions/1/replicas/0", 2),
        ]
        partitions[1]["replicas"] = [3, 5]
        partitions[0]["replicas"] = [3, 4]
        body["reassignment"] = {"version": 1, "partitions": partitions[:2]}
        assert client.post("/v1/checks", json=body).status_code == 200
