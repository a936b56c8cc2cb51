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
def snapshot_id(client: httpx.Client) -> str:
    """Broker 2 is cordoned and has replicas; of broker 3 one log directory is."""
    listed = cordoned(2)
    listed[2] |= {"cordoned_log_dirs": ["/d1"]}
    return snapshot(client, brokers=listed, topics=[topic("t", [1, 3, 5], [2, 4, 6]), topic("u", [3, 5], [2, 3])])


@pytest.mark.parametrize("algorithm", ["admin_utils", "striped", "awareness"])
class TestPlacement:
    def test_nothing_is_placed_on_them(self, client: httpx.Client, snapshot_id: str, algorithm: str) -> None:
        """As Kafka's controllers place since 4.3; of the others it is a constraint of Rackplan's, which is said."""
        plan = place(
            client, new_topic(partitions=30, replication_factor=3), snapshot_id=snapshot_id, algorithm=algorithm
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

    def test_a_request_overrides_the_snapshot(self, client: httpx.Client, snapshot_id: str, algorithm: str) -> None:
        plan = place(
            client, new_topic(partitions=30), snapshot_id=snapshot_id, algorithm=algorithm, cordoned_brokers=[5]
        ).json()
        assert {broker for row in rows(plan, "t") for broker in row} == {1, 2, 3, 4, 6}
        nothing = place(client, snapshot_id=snapshot_id, algorithm=algorithm, cordoned_brokers=[]).json()
        assert "cordoned_brokers_left_out" not in codes(nothing)

    def test_too_few_others(self, client: httpx.Client, snapshot_id: str, algorithm: str) -> None:
        answer = place(client, snapshot_id=snapshot_id, algorithm=algorithm, cordoned_brokers=[1, 2, 3, 4, 5, 6])
        assert answer.status_code == 422

    def test_an_unknown_one(self, client: httpx.Client, snapshot_id: str, algorithm: str) -> None:
        answer = place(client, snapshot_id=snapshot_id, algorithm=algorithm, cordoned_brokers=[1, 9])
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
    def test_nothing_new_is_placed_on_them(
        self, client: httpx.Client, snapshot_id: str, fields: dict[str, Any]
    ) -> None:
        """Whatever the change; the replicas that they have may stay."""
        plan = change(client, snapshot_id, **fields)
        had = {("t", 1), ("u", 1)}
        for name in ("t", "u"):
            for partition, row in enumerate(rows(plan, name)):
                assert 2 not in row or (name, partition) in had
        assert 2 in rows(plan, "t")[1] or "tight" in str(fields)

    def test_racks_are_repaired_elsewhere(self, client: httpx.Client) -> None:
        """Rack a has the brokers 1 and 2. Where 1 is cordoned, 2 is the one that repairs."""
        snapshot_id = snapshot(client, brokers=cordoned(1), topics=[topic("t", [3, 4, 5])])
        assert {2, 5} < set(rows(change(client, snapshot_id), "t")[0])

    def test_they_are_emptied_as_others_are(self, client: httpx.Client, snapshot_id: str) -> None:
        plan = change(client, snapshot_id, remove_brokers=[2])
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
    def test_as_a_target(self, client: httpx.Client, snapshot_id: str, fields: dict[str, Any], pointer: str) -> None:
        document = client.post(PATH, json={"snapshot_id": snapshot_id, **fields}).json()
        assert document["code"] in {"cordoned_target", "pin_contradicted"}
        error = only_error(document, pointer)
        assert error["value"] in {2, 7}
        assert str(error["value"]) in error["detail"]
        assert "cordoned" in error["detail"]

    def test_a_pin_may_keep_what_is_there(self, client: httpx.Client, snapshot_id: str) -> None:
        plan = change(client, snapshot_id, pins=[{"topic": "t", "partition": 1, "replicas": [4, 2, 6]}])
        assert rows(plan, "t")[1] == [4, 2, 6]

    def test_where_no_other_broker_is_left(self, client: httpx.Client) -> None:
        """The conflict names them, and the remedy."""
        snapshot_id = snapshot(client, brokers=cordoned(1, 2), topics=[topic("t", [3, 4])])
        answer = client.post(PATH, json={"snapshot_id": snapshot_id, "replication_factor": {"t": 3}})
        document = problem(answer, 422, "infeasible_reassignment")
        assert "cordoned" in {each["constraint"] for each in document["conflict"]}
        assert "brokers that are uncordoned" in document["lifted_by"]

    def test_a_request_overrides_the_snapshot(self, client: httpx.Client, snapshot_id: str) -> None:
        """No broker is cordoned: 2 takes the replicas of 1, being the other broker of its rack."""
        plan = change(client, snapshot_id, remove_brokers=[1], cordoned_brokers=[])
        assert 2 in rows(plan, "t")[0]
        assert plan["request"]["cordoned_brokers"] == []

    def test_unknown_and_listed_twice(self, client: httpx.Client, snapshot_id: str) -> None:
        for ids, code, at in (([2, 9], "unknown_broker", 1), ([2, 2], "duplicate_broker", 1)):
            answer = client.post(PATH, json={"snapshot_id": snapshot_id, "cordoned_brokers": ids})
            assert only_error(problem(answer, 422, code), f"/cordoned_brokers/{at}")["value"] == ids[at]


class TestChecks:
    @staticmethod
    def check(client: httpx.Client, snapshot_id: str, version: str, *lists: list[int]) -> httpx.Response:
        partitions = [{"topic": "u", "partition": at, "replicas": row} for at, row in enumerate(lists)]
        body = {
            "snapshot_id": snapshot_id,
            "reassignment": {"version": 1, "partitions": partitions},
            "kafka_version": version,
        }
        return client.post("/v1/checks", json=body)

    @pytest.mark.parametrize("version", ["4.3.2", "4.4"])
    def test_a_list_with_a_cordoned_broker_is_rejected(
        self, client: httpx.Client, snapshot_id: str, version: str
    ) -> None:
        """Also where the broker has the replica already."""
        answer = self.check(client, snapshot_id, version, [1, 2], [2, 5])
        document = problem(answer, 422, "illegal_reassignment")
        assert [(error["pointer"], error["value"]) for error in document["errors"]] == [
            ("/reassignment/partitions/0/replicas/1", 2),
            ("/reassignment/partitions/1/replicas/0", 2),
        ]
        assert self.check(client, snapshot_id, version, [3, 4], [3, 5]).status_code == 200

    @pytest.mark.parametrize("version", ["4.3.0", "4.3.1"])
    def test_before_4_3_2_a_new_replica_there_is_warned_of(
        self, client: httpx.Client, snapshot_id: str, version: str
    ) -> None:
        answer = self.check(client, snapshot_id, version, [1, 2], [2, 5]).json()
        warning = next(one for one in answer["warnings"] if one["code"] == "cordoned_brokers_receive")
        assert warning["brokers"] == [2]
        assert "cordoned_brokers_receive" not in codes(self.check(client, snapshot_id, version, [3, 5], [2, 5]).json())


class TestExecution:
    """The order in which a plan's files are executed, and which cordons are lifted for them."""

    @staticmethod
    def steps(plan: dict[str, Any], name: str = "batches") -> list[tuple[str, Any]]:
        """Each step with its batch or its brokers."""
        return [(step["action"], step["batch"] or step["brokers"]) for step in plan["execution"][name]]

    def test_nothing_is_cordoned(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5])])
        plan = change(client, snapshot_id, kafka_version="4.4", replication_factor={"t": 2})
        assert plan["execution"] is None

    @pytest.mark.parametrize("version", ["4.2", "4.3.1", "4.4"])
    def test_a_cordoned_broker_that_is_removed(self, client: httpx.Client, snapshot_id: str, version: str) -> None:
        plan = change(client, snapshot_id, kafka_version=version, remove_brokers=[2])
        batches = [("execute", number + 1) for number in range(len(plan["batches"]))]
        assert batches
        if version == "4.2":
            assert plan["execution"] is None
            return
        assert self.steps(plan) == self.steps(plan, "at_once") * len(batches) == batches
        lifts = version == "4.4"
        assert (("uncordon", [2]) in self.steps(plan, "rollback")) == lifts
        assert ("rollback_lifts_cordons" in codes(plan)) == lifts

    def test_removed_brokers_are_cordoned_first(self, client: httpx.Client, snapshot_id: str) -> None:
        plan = change(client, snapshot_id, kafka_version="4.4", remove_brokers=[6])
        assert self.steps(plan)[0] == ("cordon", [6])
        assert self.steps(plan, "rollback")[0] == ("uncordon", [2, 6])
        assert self.steps(plan, "rollback")[-1] == ("cordon", [2])

    def test_a_list_that_keeps_a_cordoned_broker_needs_it_uncordoned(
        self, client: httpx.Client, snapshot_id: str
    ) -> None:
        """t-1 is on 2, 4 and 6; 6 leaves, and 2 stays, so that the list has a cordoned broker."""
        plan = change(
            client,
            snapshot_id,
            kafka_version="4.4",
            remove_brokers=[6],
            balance={"leaders": "keep"},
            batches={"max_partitions": 1},
        )
        (number,) = [
            number for number, batch in enumerate(plan["batches"], 1) if batch["partitions"][0]["topic"] == "t"
        ]
        steps = self.steps(plan)
        at = steps.index(("execute", number))
        assert steps[at - 1 : at + 2] == [("uncordon", [2]), ("execute", number), ("cordon", [2])]
        assert "cordons_lifted" in codes(plan)
        earlier = change(client, snapshot_id, kafka_version="4.3.1", remove_brokers=[6])
        assert not {"uncordon"} & {action for action, _ in self.steps(earlier)}
        assert "cordons_lifted" not in codes(earlier)

    def test_several_replicas_leave_at_once(self, client: httpx.Client) -> None:
        """Both brokers of t are cordoned for their removal: no list between may have either."""
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5])])
        plan = change(client, snapshot_id, kafka_version="4.4", remove_brokers=[1, 3])
        assert self.steps(plan) == [("cordon", [1, 3]), ("execute", 1)]
        assert "replicas_leave_at_once" in codes(plan)
        one_by_one = change(client, snapshot_id, kafka_version="4.3", remove_brokers=[1, 3])
        assert self.steps(one_by_one) == [("cordon", [1, 3]), ("execute", 1), ("execute", 2)]
        assert "replicas_leave_at_once" not in codes(one_by_one)

    def test_the_leader_may_send_one_replica_at_a_time(self, client: httpx.Client) -> None:
        """Then the replicas leave one by one, and the brokers are uncordoned for the list between."""
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5])])
        plan = change(
            client, snapshot_id, kafka_version="4.4", remove_brokers=[1, 3], batches={"max_moves_out_per_broker": 1}
        )
        assert self.steps(plan) == [
            ("cordon", [3]),
            ("execute", 1),
            ("cordon", [1]),
            ("execute", 2),
        ]
