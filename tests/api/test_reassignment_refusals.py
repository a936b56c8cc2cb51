"""`POST /v1/plans/reassignment`: impossible ones, each as a problem that names the field, the value and the limit."""

from typing import Any

import httpx
import pytest

from tests.api.contract import SNAPSHOT_ID, only_error, problem
from tests.api.test_reassignment import PATH, RACKS, change, codes, rows, snapshot, topic


def rejection(
    client: httpx.Client, status: int, code: str, snapshot_id: str = SNAPSHOT_ID, **fields: Any
) -> dict[str, Any]:
    """The problem with a change."""
    return problem(client.post(PATH, json={"snapshot_id": snapshot_id, **fields}), status, code)


@pytest.fixture
def snapshot_id(client: httpx.Client) -> str:
    """Six brokers, two a rack; two topics of factor 3."""
    return snapshot(client, topics=[topic("t", [1, 3, 5], [4, 2, 6]), topic("u", [2, 4, 6])])


class TestNames:
    """Brokers, topics, racks and partitions that are not there, or are there already, or twice."""

    @pytest.mark.parametrize(
        ("fields", "code", "pointer", "value"),
        [
            ({"remove_brokers": [9]}, "unknown_broker", "/remove_brokers/0", 9),
            ({"forbid_brokers": [1, 9]}, "unknown_broker", "/forbid_brokers/1", 9),
            ({"receivers": [1, 9]}, "unknown_broker", "/receivers/1", 9),
            ({"receivers": [1, 1]}, "duplicate_broker", "/receivers/1", 1),
            ({"replace_brokers": {"9": 10}}, "unknown_broker", "/replace_brokers/9", 9),
            ({"isolate": [{"topics": ["t"], "brokers": [9]}]}, "unknown_broker", "/isolate/0/brokers/0", 9),
            ({"evacuate_leaders": {"brokers": [9]}}, "unknown_broker", "/evacuate_leaders/brokers/0", 9),
            ({"evacuate_leaders": {"racks": ["z"]}}, "unknown_rack", "/evacuate_leaders/racks/0", "z"),
            ({"pins": [{"topic": "t", "partition": 0, "replicas": [9]}]}, "unknown_broker", "/pins/0/replicas/0", 9),
            ({"pins": [{"topic": "t", "partition": 2, "replicas": [1]}]}, "unknown_partition", "/pins/0/partition", 2),
            ({"pins": [{"topic": "x", "partition": 0, "replicas": [1]}]}, "unknown_topic", "/pins/0/topic", "x"),
            ({"topics": ["t", "x"]}, "unknown_topic", "/topics/1", "x"),
            ({"replication_factor": {"x": 2}}, "unknown_topic", "/replication_factor/x", "x"),
            ({"partitions": {"x": 2}}, "unknown_topic", "/partitions/x", "x"),
            ({"isolate": [{"topics": ["x"], "brokers": [1]}]}, "unknown_topic", "/isolate/0/topics/0", "x"),
            ({"preferred_racks": {"*": ["a", "z"]}}, "unknown_rack", "/preferred_racks/*/1", "z"),
            ({"preferred_racks": {"x": ["a"]}}, "unknown_topic", "/preferred_racks/x", "x"),
            ({"preferred_racks": {"t": ["a", "a"]}}, "conflicting_fields", "/preferred_racks/t/1", "a"),
            ({"min_leaders_per_broker": {"x": 1}}, "unknown_topic", "/min_leaders_per_broker/x", "x"),
            ({"remove_racks": ["a", "z"]}, "unknown_rack", "/remove_racks/1", "z"),
            ({"remove_racks": ["a", "a"]}, "conflicting_fields", "/remove_racks/1", "a"),
            ({"remove_racks": ["a"], "replace_brokers": {"3": 1}}, "conflicting_fields", "/remove_racks/0", "a"),
            ({"remove_racks": ["a"], "add_brokers": [{"id": 1}]}, "conflicting_fields", "/remove_racks/0", "a"),
            ({"add_brokers": [{"id": 1, "rack": "b"}]}, "broker_exists", "/add_brokers/0/rack", "b"),
            ({"add_brokers": [{"id": 9, "rack": "a"}] * 2}, "duplicate_broker", "/add_brokers/1/id", 9),
            ({"remove_brokers": [1, 1]}, "duplicate_broker", "/remove_brokers/1", 1),
            ({"topics": ["t", "t"]}, "duplicate_topic", "/topics/1", "t"),
            ({"isolate": [{"topics": ["t"], "brokers": [1]}] * 2}, "duplicate_topic", "/isolate/1/topics/0", "t"),
            (
                {"pins": [{"topic": "t", "partition": 0, "replicas": [1, 3, 1]}]},
                "duplicate_partition",
                "/pins/0/replicas/2",
                1,
            ),
            (
                {"pins": [{"topic": "t", "partition": 0, "replicas": [1, 3, 5]}] * 2},
                "duplicate_partition",
                "/pins/1/partition",
                "t-0",
            ),
        ],
    )
    def test_are_named(
        self, client: httpx.Client, snapshot_id: str, fields: dict[str, Any], code: str, pointer: str, value: object
    ) -> None:
        error = only_error(rejection(client, 422, code, snapshot_id, **fields), pointer)
        assert error["value"] == value
        assert str(value) in error["detail"]


class TestContradictions:
    """Fields that do not go together."""

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"add_brokers": [{"id": 9, "rack": "a"}], "remove_brokers": [9]}, "/remove_brokers/0"),
            ({"replace_brokers": {"1": 9}, "remove_brokers": [1]}, "/remove_brokers/0"),
            ({"replace_brokers": {"1": 2}, "remove_brokers": [2]}, "/replace_brokers/1"),
            ({"replace_brokers": {"1": 2, "2": 9}}, "/replace_brokers/1"),
            ({"replace_brokers": {"1": 1}}, "/replace_brokers/1"),
            ({"replace_brokers": {"1": 9, "2": 9}}, "/replace_brokers/2"),
            ({"replace_brokers": {"1": 2}, "forbid_brokers": [2]}, "/replace_brokers/1"),
            ({"receivers": "added"}, "/receivers"),
            ({"preferred_racks": {"*": ["a"]}, "balance": {"leaders": "preferred"}}, "/preferred_racks"),
            ({"min_leaders_per_broker": {"t": 1}, "balance": {"leaders": "preferred"}}, "/min_leaders_per_broker"),
            ({"preferred_racks": {"*": ["a"]}, "balance": {"resources": ["nic_out"]}}, "/preferred_racks"),
            ({"min_leaders_per_broker": {"t": 1}, "topics": ["u"]}, "/min_leaders_per_broker/t"),
            ({"receivers": [2], "forbid_brokers": [2]}, "/receivers/0"),
            ({"receivers": [2], "remove_brokers": [2]}, "/receivers/0"),
            ({"receivers": [2], "leaders_only": True}, "/receivers"),
            ({"leaders_only": True, "remove_brokers": [1]}, "/remove_brokers"),
            ({"leaders_only": True, "replication_factor": {"t": 2}}, "/replication_factor"),
            ({"leaders_only": True, "balance": {"replicas": "tight"}}, "/balance/replicas"),
            ({"max_replicas_per_rack": 1, "rack_mode": "disabled"}, "/max_replicas_per_rack"),
            ({"max_moved_bytes": 1, "minimise": "replicas"}, "/max_moved_bytes"),
            ({"trade_off": True, "balance": {"replicas_by": "bytes"}}, "/trade_off"),
            ({"topics": ["u"], "replication_factor": {"t": 2}}, "/replication_factor/t"),
            ({"topics": ["u"], "pins": [{"topic": "t", "partition": 0, "replicas": [1, 3, 5]}]}, "/pins/0/topic"),
            (
                {"replication_factor": {"t": 2}, "pins": [{"topic": "t", "partition": 0, "replicas": [1, 3, 5]}]},
                "/pins/0/replicas",
            ),
            (
                {"balance": {"leaders_by": "ingress"}, "ingress_bytes_per_s": {"t": [1.0], "u": 1.0}},
                "/ingress_bytes_per_s/t",
            ),
        ],
    )
    def test_are_named(self, client: httpx.Client, snapshot_id: str, fields: dict[str, Any], pointer: str) -> None:
        only_error(rejection(client, 422, "conflicting_fields", snapshot_id, **fields), pointer)

    @pytest.mark.parametrize(
        ("fields", "contradicts"),
        [
            ({"remove_brokers": [1]}, "/remove_brokers"),
            ({"replace_brokers": {"1": 9}}, "/replace_brokers"),
            ({"isolate": [{"topics": ["t"], "brokers": [2, 4, 6]}]}, "/isolate/0/brokers"),
            ({"isolate": [{"topics": ["u"], "brokers": [1, 3, 5], "exclusive": True}]}, "/isolate/0/brokers"),
            ({"forbid_brokers": [1]}, "/forbid_brokers"),
        ],
    )
    def test_a_pin_that_contradicts_the_rest(
        self, client: httpx.Client, snapshot_id: str, fields: dict[str, Any], contradicts: str
    ) -> None:
        """Partition 1 of t has nothing on broker 1, so that it would have to receive it there."""
        pins = [{"topic": "t", "partition": 1, "replicas": [4, 1, 6]}]
        found = rejection(client, 422, "pin_contradicted", snapshot_id, pins=pins, **fields)
        assert only_error(found, "/pins/0/replicas/1")["value"] == 1
        assert found["contradicts"] == contradicts
        relaxed = change(client, snapshot_id, pins=pins, on_conflict="relax", **fields)["relaxed"]
        assert "pins" in {each["constraint"] for each in relaxed}

    def test_a_pin_may_keep_what_a_forbidden_broker_has(self, client: httpx.Client, snapshot_id: str) -> None:
        pins = [{"topic": "t", "partition": 0, "replicas": [5, 1, 3]}]
        assert rows(change(client, snapshot_id, pins=pins, forbid_brokers=[1]), "t")[0] == [5, 1, 3]


class TestNumbers:
    """Numbers beyond their limits."""

    @pytest.mark.parametrize(
        ("fields", "pointer", "limits"),
        [
            ({"balance": {"replicas": {"tolerance": -0.1}}}, "/balance/replicas/tolerance", {"ge": 0}),
            ({"balance": {"leaders": {"tolerance": 1.5}}}, "/balance/leaders/tolerance", {"le": 1}),
            ({"batches": {"max_moves_in_per_broker": 0}}, "/batches/max_moves_in_per_broker", {"ge": 1}),
            ({"batches": {"max_bytes_in_per_broker": -1}}, "/batches/max_bytes_in_per_broker", {"ge": 1}),
            ({"batches": {"throttle_bytes_per_s": 0}}, "/batches/throttle_bytes_per_s", {"ge": 1}),
            ({"max_moved_bytes": -1}, "/max_moved_bytes", {"ge": 0}),
            ({"max_replicas_per_rack": 0}, "/max_replicas_per_rack", {"ge": 1}),
            ({"deadline_s": 0}, "/deadline_s", {"gt": 0}),
            ({"partitions": {"t": 0}}, "/partitions/t", {"ge": 1}),
            ({"min_leaders_per_broker": {"t": 0}}, "/min_leaders_per_broker/t", {"ge": 1}),
        ],
    )
    def test_problems_have_the_limit(
        self, client: httpx.Client, fields: dict[str, Any], pointer: str, limits: dict[str, int]
    ) -> None:
        assert only_error(rejection(client, 422, "validation", **fields), pointer)["limits"] == limits

    @pytest.mark.parametrize("factor", [0, -1])
    def test_a_factor_below_one(self, client: httpx.Client, snapshot_id: str, factor: int) -> None:
        found = rejection(client, 422, "invalid_replication_factor", snapshot_id, replication_factor={"t": factor})
        error = only_error(found, "/replication_factor/t")
        assert (error["value"], error["minimum"]) == (factor, 1)

    def test_a_factor_above_the_brokers(self, client: httpx.Client, snapshot_id: str) -> None:
        found = rejection(client, 422, "invalid_replication_factor", snapshot_id, replication_factor={"t": 7})
        error = only_error(found, "/replication_factor/t")
        assert (error["value"], error["limit"]) == (7, 6)
        plan = change(client, snapshot_id, replication_factor={"t": 7}, on_conflict="relax")
        assert [len(row) for row in rows(plan, "t")] == [6, 6]
        assert [each["constraint"] for each in plan["relaxed"]] == ["replication_factor"]

    def test_fewer_partitions_than_there_are(self, client: httpx.Client, snapshot_id: str) -> None:
        found = rejection(client, 422, "invalid_partitions", snapshot_id, partitions={"t": 1})
        error = only_error(found, "/partitions/t")
        assert (error["value"], error["minimum"]) == (1, 2)

    def test_a_budget_below_what_has_to_move(self, client: httpx.Client, snapshot_id: str) -> None:
        found = rejection(client, 422, "budget_below_minimum", snapshot_id, remove_brokers=[6], max_moved_bytes=199)
        assert found["minimum_bytes"] == 200
        assert only_error(found, "/max_moved_bytes")["value"] == 199
        assert change(client, snapshot_id, remove_brokers=[6], max_moved_bytes=200)["certificate"]["moved_bytes"] == 200
        relaxed = change(client, snapshot_id, remove_brokers=[6], max_moved_bytes=199, on_conflict="relax")
        assert [each["constraint"] for each in relaxed["relaxed"]] == ["max_moved_bytes"]

    def test_a_replica_larger_than_a_batch_names_its_partition(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [1, 3, 6], sizes=[100, 200])])
        fields = {"remove_brokers": [6], "batches": {"max_bytes_in_per_broker": 199}}
        error = only_error(
            rejection(client, 422, "move_exceeds_batch_limit", snapshot_id, **fields),
            "/batches/max_bytes_in_per_broker",
        )
        assert (error["partition"], error["size_bytes"], error["limit"]) == ("t-1", 200, 199)
        assert error["detail"].startswith("t-1: a replica of 200 bytes moves to broker 5")


class TestDisks:
    """Batches that mind how full disks are at any time."""

    def _on_disks(self, client: httpx.Client, size: int | None) -> str:
        capacity = {} if size is None else {"capacity": {"disk_bytes": size}}
        brokers = [{"id": broker, "rack": "a"} | capacity for broker in (1, 2, 3)]
        return snapshot(client, topics=[topic("t", [1], [2])], brokers=brokers)

    def _pinned(self, *brokers: int, share: float) -> dict[str, Any]:
        pins = [{"topic": "t", "partition": place, "replicas": [broker]} for place, broker in enumerate(brokers)]
        return {"pins": pins, "batches": {"max_disk_share": share}}

    def test_a_removed_replica_frees_space_for_an_added_one(self, client: httpx.Client) -> None:
        snapshot_id = self._on_disks(client, 200)
        both = [{"topic": "t", "partition": 0}, {"topic": "t", "partition": 1}]
        roomy = change(client, snapshot_id, **self._pinned(2, 3, share=1.0))
        assert [batch["partitions"] for batch in roomy["batches"]] == [both]
        tight = change(client, snapshot_id, **self._pinned(2, 3, share=0.5))
        assert [batch["partitions"] for batch in tight["batches"]] == [both[1:], both[:1]]

    def test_no_room_at_all_names_the_broker_and_what_is_missing(self, client: httpx.Client) -> None:
        found = rejection(
            client, 422, "batches_out_of_disk", self._on_disks(client, 200), **self._pinned(2, 1, share=0.5)
        )
        error = only_error(found, "/batches/max_disk_share")
        assert (error["partition"], error["missing_bytes"], error["limit"]) == ("t-0", 100, 100)

    def test_disks_of_unknown_size(self, client: httpx.Client) -> None:
        found = rejection(
            client, 422, "conflicting_fields", self._on_disks(client, None), **self._pinned(2, 3, share=0.5)
        )
        assert only_error(found, "/batches/max_disk_share")["value"] == 0.5

    def test_batches_are_not_spread(self, client: httpx.Client) -> None:
        fields = {"batches": {"max_disk_share": 0.5, "hottest": "spread"}}
        found = rejection(client, 422, "conflicting_fields", self._on_disks(client, 200), **fields)
        assert only_error(found, "/batches/hottest")["value"] == "spread"


class TestUnknowns:
    """Figures that a request needs and does not state."""

    @pytest.mark.parametrize(
        ("balance", "pointer"),
        [
            ({"replicas": "tight", "replicas_by": "throughput"}, "/balance/replicas_by"),
            ({"leaders": "tight", "leaders_by": "ingress"}, "/balance/leaders_by"),
        ],
    )
    def test_rates(self, client: httpx.Client, snapshot_id: str, balance: dict[str, str], pointer: str) -> None:
        only_error(rejection(client, 422, "rates_missing", snapshot_id, balance=balance), pointer)

    def test_the_rate_of_one_topic(self, client: httpx.Client, snapshot_id: str) -> None:
        balance = {"leaders": "tight", "leaders_by": "ingress"}
        found = rejection(client, 422, "rates_missing", snapshot_id, balance=balance, ingress_bytes_per_s={"t": 1e6})
        assert found["topic"] == "u"

    @pytest.mark.parametrize("fields", [{"max_moved_bytes": 100}, {"balance": {"replicas_by": "bytes"}}])
    def test_sizes(self, client: httpx.Client, fields: dict[str, Any]) -> None:
        unknown = snapshot(client, topics=[topic("t", [1, 3, 5], [2, 4, 6], sizes=[10, -1])])
        found = rejection(client, 422, "sizes_missing", unknown, **fields)
        assert found["partitions"] == 1
        change(client, unknown, unknown_sizes="estimate", **fields)


class TestInfeasible:
    """Conflicting demands: an irreducible set, in words, and remedies."""

    def test_all_brokers_of_a_rack(self, client: httpx.Client, snapshot_id: str) -> None:
        found = rejection(
            client, 422, "infeasible_reassignment", snapshot_id, remove_brokers=[5, 6], forbid_brokers=[1]
        )
        detail = "3 racks are needed for factor 3 on topic t; 2 are left (c loses all its brokers)"
        assert only_error(found, "/remove_brokers")["detail"] == detail
        assert [each["pointer"] for each in found["conflict"]] == ["/remove_brokers", "/rack_mode"]
        assert len(found["lifted_by"]) == 3

    @pytest.mark.parametrize(
        "lifted",
        [
            {"remove_brokers": [5]},
            {"add_brokers": [{"id": 9, "rack": "c"}]},
            {"rack_mode": "safe"},
            {"replication_factor": {"t": 2, "u": 2}},
        ],
    )
    def test_what_is_said_to_lift_it_does(self, client: httpx.Client, snapshot_id: str, lifted: dict[str, Any]) -> None:
        assert change(client, snapshot_id, **({"remove_brokers": [5, 6]} | lifted))["relaxed"] == []

    def test_relaxed_it_is_planned_over_the_racks_that_are_left(self, client: httpx.Client, snapshot_id: str) -> None:
        plan = change(client, snapshot_id, remove_brokers=[5, 6], on_conflict="relax")
        assert [each["constraint"] for each in plan["relaxed"]] == ["rack_mode"]
        assert all(len({(broker - 1) // 2 for broker in row}) == 2 for row in rows(plan, "t"))

    def test_more_removed_than_the_factor_bears(self, client: httpx.Client, snapshot_id: str) -> None:
        fields: dict[str, Any] = {"remove_brokers": [1, 2, 3, 4], "rack_mode": "disabled"}
        found = rejection(client, 422, "infeasible_reassignment", snapshot_id, **fields)
        assert found["detail"] == "3 brokers are needed for factor 3 on topic t; 2 may have it"
        assert [each["pointer"] for each in found["conflict"]] == ["/remove_brokers"]
        plan = change(client, snapshot_id, on_conflict="relax", **fields)
        assert [len(row) for row in rows(plan, "t")] == [2, 2]

    def test_no_broker_is_left(self, client: httpx.Client, snapshot_id: str) -> None:
        everyone = [1, 2, 3, 4, 5, 6]
        rejection(client, 422, "infeasible_reassignment", snapshot_id, remove_brokers=everyone, on_conflict="relax")

    def test_a_cap_without_racks(self, client: httpx.Client) -> None:
        """Without racks, or with only some of them in the mode `safe`, no rack has a number of replicas."""
        for racks in (None, None, None), ("a", "b", None):
            brokers = [{"id": id_} | ({"rack": rack} if rack else {}) for id_, rack in enumerate(racks, 1)]
            rackless = snapshot(client, brokers=brokers, topics=[topic("t", [1, 2])])
            fields: dict[str, Any] = {"max_replicas_per_rack": 1, "rack_mode": "safe", "on_conflict": "relax"}
            found = rejection(client, 422, "conflicting_fields", rackless, **fields)
            assert only_error(found, "/max_replicas_per_rack")["value"] == 1

    def test_too_few_racks_for_the_cap(self, client: httpx.Client, snapshot_id: str) -> None:
        fields: dict[str, Any] = {"replication_factor": {"u": 4}, "max_replicas_per_rack": 1}
        found = rejection(client, 422, "infeasible_reassignment", snapshot_id, **fields)
        detail = "4 racks are needed for factor 4 on topic u at 1 replica a rack; 3 exist"
        assert only_error(found, "/max_replicas_per_rack")["detail"] == detail
        pointers = [each["pointer"] for each in found["conflict"]]
        assert pointers == ["/max_replicas_per_rack", "/replication_factor/u"]
        plan = change(client, snapshot_id, on_conflict="relax", **fields)
        assert [each["constraint"] for each in plan["relaxed"]] == ["max_replicas_per_rack"]

    def test_isolated_in_one_rack(self, client: httpx.Client, snapshot_id: str) -> None:
        found = rejection(
            client, 422, "infeasible_reassignment", snapshot_id, isolate=[{"topics": ["t"], "brokers": [1, 2, 3]}]
        )
        assert [each["pointer"] for each in found["conflict"]] == ["/isolate/0/brokers", "/rack_mode"]

    def test_no_broker_may_lead(self, client: httpx.Client, snapshot_id: str) -> None:
        fields: dict[str, Any] = {"evacuate_leaders": {"racks": list(RACKS)}}
        found = rejection(client, 422, "infeasible_reassignment", snapshot_id, **fields)
        assert only_error(found, "/evacuate_leaders")["count"] == 3
        assert "evacuate_leaders" in {
            each["constraint"] for each in change(client, snapshot_id, on_conflict="relax", **fields)["relaxed"]
        }


class TestRackless:
    """Racks are enforced, and some broker has none."""

    def test_one_that_is_added(self, client: httpx.Client, snapshot_id: str) -> None:
        found = rejection(client, 422, "brokers_without_rack", snapshot_id, add_brokers=[{"id": 9}])
        assert only_error(found, "/add_brokers/0/rack")["brokers"] == [9]
        plan = change(client, snapshot_id, add_brokers=[{"id": 9}], rack_mode="safe")
        assert "racks_ignored" in codes(plan)

    def test_the_successor_of_one_that_is_down(self, client: httpx.Client) -> None:
        listed = [{"id": broker, "rack": RACKS[(broker - 1) // 2]} for broker in range(1, 6)]
        down = snapshot(client, topics=[topic("t", [1, 3, 6])], brokers=listed)
        only_error(rejection(client, 422, "brokers_without_rack", down, replace_brokers={"6": 9}), "/replace_brokers/6")
        plan = change(
            client,
            down,
            add_brokers=[{"id": 9, "rack": "c"}],
            replace_brokers={"6": 9},
            balance={"replicas": "keep"},
        )
        assert rows(plan, "t") == [[1, 3, 9]]


class TestLeaders:
    """Minimums of a topic that its replica lists do not allow."""

    def test_a_minimum_above_the_partitions(self, client: httpx.Client, snapshot_id: str) -> None:
        """Two partitions of t cannot be led by six brokers."""
        found = rejection(client, 422, "infeasible_reassignment", snapshot_id, min_leaders_per_broker={"t": 1})
        error = only_error(found, "/min_leaders_per_broker/t")
        assert (error["value"], error["limit"]) == (1, 0)
        assert [each["constraint"] for each in found["conflict"]] == ["min_leaders_per_broker"]
        assert "each of 6 brokers is to lead 1" in found["detail"]

    def test_preferred_racks_are_no_part_of_a_conflict_without_them(
        self, client: httpx.Client, snapshot_id: str
    ) -> None:
        fields = {"min_leaders_per_broker": {"t": 1}, "preferred_racks": {"t": ["a"]}}
        found = rejection(client, 422, "infeasible_reassignment", snapshot_id, **fields)
        assert [each["constraint"] for each in found["conflict"]] == ["min_leaders_per_broker"]

    def test_minimums_are_relaxed_to_what_can_be(self, client: httpx.Client, snapshot_id: str) -> None:
        plan = change(client, snapshot_id, min_leaders_per_broker={"t": 1}, on_conflict="relax")
        assert [each["constraint"] for each in plan["relaxed"]] == ["min_leaders_per_broker"]
        assert plan["leader_changes"] == 0
