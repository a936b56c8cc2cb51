"""`POST /v1/plans/reassignment`: the plan and its explanation."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from app.api.examples import EXAMPLE_REASSIGNMENT_PLAN_ID, REASSIGNMENT_REQUEST, STORED_REASSIGNMENT
from app.services import jobs
from app.services.limits import Limits
from app.store.database import Database
from tests.api.conftest import Serve
from tests.api.contract import SNAPSHOT_ID, is_uuid7, only_error, problem
from tests.conftest import SAMPLES

PATH = "/v1/plans/reassignment"
RACKS = ("a", "b", "c")


def snapshot(client: httpx.Client, *, topics: list[dict[str, Any]], brokers: list[dict[str, Any]] | None = None) -> str:
    """Keep a cluster: six brokers, two in each of three racks, where nothing else is said."""
    listed = brokers or [{"id": broker, "rack": RACKS[(broker - 1) // 2]} for broker in range(1, 7)]
    response = client.post("/v1/snapshots", json={"cluster": "c", "brokers": listed, "topics": topics})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def topic(name: str, *rows: list[int], sizes: list[int] | None = None) -> dict[str, Any]:
    """A topic by the replicas of its partitions; each has 100 bytes where nothing else is said."""
    known_sizes = sizes or [100] * len(rows)
    return {
        "name": name,
        "partitions": [
            {"partition": partition, "replicas": replicas, "leader": replicas[0]}
            | ({} if size < 0 else {"size_bytes": size})
            for partition, (replicas, size) in enumerate(zip(rows, known_sizes, strict=True))
        ],
    }


def change(client: httpx.Client, snapshot_id: str, **fields: Any) -> dict[str, Any]:
    """The plan of a change."""
    response = client.post(PATH, json={"snapshot_id": snapshot_id, **fields})
    assert response.status_code == 201, response.text
    document: dict[str, Any] = response.json()
    return document


def rows(plan: dict[str, Any], name: str) -> list[list[int]]:
    """The replicas of a topic's partitions."""
    return [row for placed in plan["topics"] if placed["name"] == name for row in placed["replicas"]]


def codes(plan: dict[str, Any]) -> set[str]:
    """The warnings of the plan."""
    return {warning["code"] for warning in plan["warnings"]}


@pytest.fixture
def real(client: httpx.Client) -> str:
    """The captured cluster."""
    texts = {
        "brokers": "kafka-broker-api-versions.txt",
        "topics": "kafka-topics-describe.txt",
        "log_dirs": "kafka-log-dirs-describe.txt",
    }
    files: dict[str, Any] = {part: (None, (SAMPLES / name).read_text()) for part, name in texts.items()}
    response = client.post("/v1/snapshots", files={"cluster": (None, "real"), **files})
    return str(response.json()["id"])


class TestExamples:
    """Examples of the documentation."""

    @pytest.mark.parametrize("name", list(REASSIGNMENT_REQUEST))
    def test_each_is_answered_and_read_again(self, client: httpx.Client, name: str) -> None:
        response = client.post(PATH, json=REASSIGNMENT_REQUEST[name]["value"])
        assert response.status_code == 201, response.text
        plan = response.json()
        assert is_uuid7(plan["id"])
        assert response.headers["location"] == f"/v1/plans/{plan['id']}"
        assert client.get(f"/v1/plans/{plan['id']}").json() == plan
        assert "kept_steps" not in plan

    def test_the_stored_one_is_there(self, client: httpx.Client) -> None:
        stored = client.get(f"/v1/plans/{EXAMPLE_REASSIGNMENT_PLAN_ID}").json()
        assert stored["request"]["remove_brokers"] == STORED_REASSIGNMENT["remove_brokers"]

    def test_removing_a_broker_by_hand(self, client: httpx.Client) -> None:
        """106 has one replica of 2 MiB and leaves; 105 is alone in its rack, so it is the one to receive it."""
        plan = change(client, SNAPSHOT_ID, remove_brokers=[106])
        assert rows(plan, "orders") == [[101, 103, 105], [104, 105, 102]]
        certificate = plan["certificate"]
        assert (certificate["moved_replicas"], certificate["moved_bytes"]) == (1, 2097152)
        assert (certificate["lower_bound_bytes"], certificate["optimal"], certificate["gap"]) == (2097152, True, 0.0)
        assert (plan["leader_changes"], plan["prediction"], plan["violations"]) == (0, "pinned", [])
        assert [batch["partitions"] for batch in plan["batches"]] == [[{"topic": "orders", "partition": 1}]]
        of_105 = next(row for row in plan["movement"] if row["broker"] == 105)
        assert (of_105["replicas_before"], of_105["replicas_in"], of_105["bytes_in"]) == (1, 1, 2097152)


class TestRealCluster:
    """The captured cluster, where Kafka's own tool moves 195 replicas for nothing."""

    def test_nothing_moves_where_nothing_changes(self, client: httpx.Client, real: str) -> None:
        plan = change(client, real)
        assert (
            plan["certificate"]["moved_replicas"] == plan["certificate"]["moved_bytes"] == plan["leader_changes"] == 0
        )
        assert plan["batches"] == []

    def test_removing_105_moves_what_it_holds_and_no_more(self, client: httpx.Client, real: str) -> None:
        before = next(row for row in change(client, real)["movement"] if row["broker"] == 105)
        plan = change(client, real, remove_brokers=[105])
        assert plan["certificate"]["moved_replicas"] == before["replicas_before"]
        assert plan["certificate"]["moved_bytes"] == before["bytes_before"]
        assert plan["certificate"]["optimal"]
        assert plan["leader_changes"] >= before["leaders_before"]
        keeping = change(client, real, remove_brokers=[105], balance={"leaders": "keep"})
        assert keeping["leader_changes"] == before["leaders_before"]
        assert plan["violations"] == []
        assert sum(batch["moved_bytes"] for batch in plan["batches"]) == before["bytes_before"]

    def test_leaders_only_moves_no_replica(self, client: httpx.Client, real: str) -> None:
        plan = change(client, real, leaders_only=True)
        leaders = plan["balance"]["leaders"]
        assert leaders["largest"] - leaders["smallest"] <= 1
        assert (leaders["changes"], leaders["optimal"]) == (plan["leader_changes"], True)
        assert plan["certificate"]["moved_replicas"] == 0
        assert not any(batch["moves_data"] for batch in plan["batches"])

    def test_a_trade_off_ranges_from_balanced_to_unchanged(self, client: httpx.Client, real: str) -> None:
        points = change(client, real, trade_off=True)["trade_off"]
        assert [point["moved_bytes"] for point in points] == sorted((p["moved_bytes"] for p in points), reverse=True)
        assert points[-1]["moved_bytes"] == 0
        assert all(point["optimal"] for point in points)

    def test_a_budget_buys_the_best_balance_that_it_pays_for(self, client: httpx.Client, real: str) -> None:
        even = change(client, real, balance={"replicas": "tight"})
        budget = even["certificate"]["moved_bytes"] // 2
        some = change(client, real, max_moved_bytes=budget)
        unchanged = change(client, real)
        spreads = [
            p["balance"]["replicas"]["largest"] - p["balance"]["replicas"]["smallest"] for p in (even, some, unchanged)
        ]
        assert some["certificate"]["moved_bytes"] <= budget
        assert spreads == sorted(spreads)


class TestChanges:
    """Fields of a request, each on a cluster that the eye can check."""

    def test_a_successor_takes_the_places_of_the_one_it_replaces(self, client: httpx.Client) -> None:
        plan = change(client, snapshot(client, topics=[topic("t", [1, 3, 5], [4, 2, 6])]), replace_brokers={"3": 9})
        assert rows(plan, "t") == [[1, 9, 5], [4, 2, 6]]
        assert plan["certificate"]["moved_bytes"] == 100
        assert [row["rack"] for row in plan["movement"] if row["broker"] == 9] == ["b"]

    def test_a_successor_that_is_there_already_gets_no_second_replica(self, client: httpx.Client) -> None:
        """4 has a replica of partition 0, so that 3's just goes; another broker has to have the third."""
        snapshot_id = snapshot(client, topics=[topic("t", [3, 4, 5]), topic("u", [3, 1, 5])])
        plan = change(client, snapshot_id, replace_brokers={"3": 4})
        assert set(rows(plan, "t")[0]) in ({4, 5, 1}, {4, 5, 2})
        assert rows(plan, "u") == [[4, 1, 5]]

    def test_a_successor_that_is_listed_evens_nothing(self, client: httpx.Client) -> None:
        """9 alone is to have the replicas of 3, as if it were the only target; a further one is to have its share."""
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [1, 3, 5], [1, 3, 5])])
        replaced = change(client, snapshot_id, replace_brokers={"3": 9}, add_brokers=[{"id": 9, "rack": "b"}])
        assert rows(replaced, "t") == [[1, 9, 5]] * 3
        more = [{"id": 9, "rack": "b"}, {"id": 10, "rack": "b"}]
        assert rows(change(client, snapshot_id, replace_brokers={"3": 9}, add_brokers=more), "t") != [[1, 9, 5]] * 3

    def test_a_successor_in_another_rack_is_allowed_and_said(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5])])
        plan = change(
            client,
            snapshot_id,
            add_brokers=[{"id": 9, "rack": "a"}],
            replace_brokers={"3": 9},
            balance={"replicas": "keep"},
        )
        assert rows(plan, "t") == [[1, 4, 5]]  # rack b has to keep a replica
        assert "replacement_in_another_rack" in codes(plan)

    def test_a_lower_factor_keeps_the_leader_and_costs_nothing(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [2, 4, 6], [5, 1, 3])])
        plan = change(client, snapshot_id, replication_factor={"t": 1})
        assert rows(plan, "t") == [[2], [5]]
        assert (plan["certificate"]["moved_bytes"], plan["leader_changes"]) == (0, 0)

    def test_a_higher_factor_copies_once_a_replica(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [2, 4], [5, 1])])
        plan = change(client, snapshot_id, replication_factor={"t": 3})
        assert [row[0] for row in rows(plan, "t")] == [2, 5]
        assert [len(row) for row in rows(plan, "t")] == [3, 3]
        assert plan["certificate"]["moved_bytes"] == 200

    def test_new_partitions_are_created_and_not_copied(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5])])
        plan = change(client, snapshot_id, partitions={"t": 4})
        assert [len(row) for row in rows(plan, "t")] == [3, 3, 3, 3]
        assert rows(plan, "t")[0] == [1, 3, 5]
        assert (plan["certificate"]["moved_replicas"], plan["leader_changes"], plan["batches"]) == (0, 0, [])

    def test_racks_are_mended_unless_they_may_stay(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 2, 3])])
        mended = change(client, snapshot_id)
        assert mended["certificate"]["moved_replicas"] == 1
        assert (mended["measures_before"]["rack_safe_share"], mended["measures"]["rack_safe_share"]) == (0.0, 1.0)
        assert rows(change(client, snapshot_id, repair_racks=False), "t") == [[1, 2, 3]]

    def test_racks_of_topics_that_are_not_named_stay(self, client: httpx.Client) -> None:
        """A change of one topic moves no other by default; a warning counts repairable partitions."""
        snapshot_id = snapshot(client, topics=[topic("t", [1, 2, 3]), topic("u", [1, 2, 3], [1, 3, 5], [5, 6, 1])])
        lowered = change(client, snapshot_id, replication_factor={"t": 2})
        assert rows(lowered, "t") == [[1, 3]]
        assert rows(lowered, "u") == [[1, 2, 3], [1, 3, 5], [5, 6, 1]]
        warning = next(warning for warning in lowered["warnings"] if warning["code"] == "racks_not_repaired")
        assert warning["detail"].startswith("2 partitions of 1 topic span fewer racks")
        assert warning["topics"] == ["u"]
        assert lowered["request"]["repair_racks"] is None
        for about_racks in (
            {"repair_racks": True},
            {"remove_racks": ["b"], "rack_mode": "safe"},
            {"max_replicas_per_rack": 1},
        ):
            mended = change(client, snapshot_id, replication_factor={"t": 2}, **about_racks)
            assert rows(mended, "u") != rows(lowered, "u"), about_racks
            assert "racks_not_repaired" not in codes(mended)

    def test_topics_that_may_move_are_named(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 2, 3]), topic("u", [1, 2, 3])])
        plan = change(client, snapshot_id, replication_factor={"t": 2}, topics=["t", "u"])
        assert plan["measures"]["rack_safe_share"] == 1.0

    def test_a_removed_rack_is_its_brokers(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [2, 4, 6])])
        by_rack = change(client, snapshot_id, remove_racks=["c"], rack_mode="safe")
        assert by_rack["hash"] == change(client, snapshot_id, remove_brokers=[5, 6], rack_mode="safe")["hash"]
        assert by_rack["request"]["remove_brokers"] == [5, 6]
        combined = change(
            client, snapshot_id, remove_racks=["c"], remove_brokers=[6], replace_brokers={"5": 7}, rack_mode="safe"
        )
        assert combined["request"]["remove_brokers"] == [6]
        assert not {5, 6} & {broker for row in rows(combined, "t") for broker in row}

    def test_a_removed_rack_that_conflicts_is_named(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5])])
        response = client.post(PATH, json={"snapshot_id": snapshot_id, "remove_racks": ["c"]})
        document = problem(response, 422, "infeasible_reassignment")
        only_error(document, "/remove_racks")
        assert any("remove_racks" in change for change in document["lifted_by"])

    def test_an_added_broker_that_is_up_means_itself(self, client: httpx.Client) -> None:
        """The order in which it is usually done: the broker is started first, and the snapshot has it."""
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [2, 3, 5], [1, 4, 5])])
        plan = change(client, snapshot_id, add_brokers=[{"id": 6}, {"id": 7, "rack": "a"}])
        warning = next(warning for warning in plan["warnings"] if warning["code"] == "added_brokers_up")
        assert warning["brokers"] == [6]
        assert 6 in {broker for row in rows(plan, "t") for broker in row}
        assert [(broker["id"], broker["rack"]) for broker in plan["request"]["add_brokers"]] == [(6, "c"), (7, "a")]
        assert [row["broker"] for row in plan["movement"]] == [1, 2, 3, 4, 5, 6, 7]
        again = change(client, snapshot_id, add_brokers=[{"id": 6, "rack": "c"}, {"id": 7, "rack": "a"}])
        assert again["hash"] == plan["hash"]

    def test_an_added_broker_that_is_fenced_is_a_problem(self, client: httpx.Client) -> None:
        listed = [{"id": broker, "rack": "a", "fenced": broker == 2} for broker in (1, 2)]
        snapshot_id = snapshot(client, topics=[topic("t", [1])], brokers=listed)
        response = client.post(PATH, json={"snapshot_id": snapshot_id, "add_brokers": [{"id": 2}]})
        document = problem(response, 422, "broker_exists")
        assert "fenced or down" in document["detail"]

    def test_offline_brokers_keep_their_replicas_by_default(self, client: httpx.Client) -> None:
        listed = [{"id": broker, "rack": RACKS[(broker - 1) // 2]} for broker in range(1, 6)]
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 6])], brokers=listed)
        stays = change(client, snapshot_id)
        assert rows(stays, "t") == [[1, 3, 6]]
        assert "offline_replicas_stay" in codes(stays)
        assert rows(change(client, snapshot_id, fix_offline_replicas=True), "t") == [[1, 3, 5]]

    def test_forbidden_brokers_receive_nothing_and_keep_what_they_have(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [2, 4, 5])])
        plan = change(client, snapshot_id, remove_brokers=[1], forbid_brokers=[2], rack_mode="disabled")
        assert rows(plan, "t")[1] == [2, 4, 5]
        assert 2 not in rows(plan, "t")[0]

    @pytest.mark.parametrize(
        "restricted", [{"receivers": "added"}, {"receivers": [9]}, {"forbid_brokers": [1, 2, 3, 4, 5, 6]}]
    )
    def test_an_added_broker_alone_receives(self, client: httpx.Client, restricted: dict[str, object]) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", *[[1]] * 4, *[[3]] * 4)])
        plan = change(client, snapshot_id, add_brokers=[{"id": 9, "rack": "a"}], rack_mode="disabled", **restricted)
        counts = [len([row for row in rows(plan, "t") if row == [broker]]) for broker in (1, 3, 9)]
        assert counts == [3, 3, 2]
        assert plan["certificate"]["optimal"]

    def test_rates_are_those_of_the_snapshot_unless_the_request_has_some(self, client: httpx.Client) -> None:
        hot = topic("t", *[[1, 3, 5]] * 4)
        for partition, rate in zip(hot["partitions"], [4e6, 1e6, 1e6, 2e6], strict=True):
            partition["ingress_bytes_per_s"] = rate
        snapshot_id = snapshot(client, topics=[hot])
        balance = {"leaders": "tight", "leaders_by": "ingress"}
        recorded = change(client, snapshot_id, leaders_only=True, balance=balance)
        assert recorded["balance"]["leaders"]["largest"] == 4_000_000
        stated = change(client, snapshot_id, leaders_only=True, balance=balance, ingress_bytes_per_s={"t": 4e6})
        assert stated["balance"]["leaders"]["largest"] == 2_000_000
        assert recorded["request"]["ingress_bytes_per_s"] is None

    def test_isolated_topics_are_alone_where_they_are(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5]), topic("u", [2, 4, 6])])
        plan = change(client, snapshot_id, isolate=[{"topics": ["t"], "brokers": [2, 3, 6], "exclusive": True}])
        assert rows(plan, "t") == [[3, 2, 6]]  # one that has the data leads, and not one that it is copied to
        assert rows(plan, "u") == [[4, 1, 5]]

    def test_a_pin_is_exact(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [2, 4, 6])])
        plan = change(client, snapshot_id, pins=[{"topic": "t", "partition": 1, "replicas": [6, 1, 2]}])
        assert rows(plan, "t") == [[1, 3, 5], [6, 1, 2]]
        assert [found["code"] for found in plan["violations"]] == ["too_few_racks"]

    def test_leaders_leave_a_rack(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [2, 4, 6], [3, 1, 5])])
        plan = change(client, snapshot_id, evacuate_leaders={"racks": ["a"]})
        assert not {row[0] for row in rows(plan, "t")} & {1, 2}
        assert [set(row) for row in rows(plan, "t")] == [{1, 3, 5}, {2, 4, 6}, {1, 3, 5}]
        assert plan["leader_changes"] == 2

    def test_only_some_topics_may_move(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5]), topic("u", [1, 4, 6])])
        plan = change(client, snapshot_id, remove_brokers=[1], topics=["t"])
        assert [placed["name"] for placed in plan["topics"]] == ["t"]
        assert rows(plan, "t") == [[3, 2, 5]]
        assert "removed_brokers_in_use" in codes(plan)

    def test_partitions_may_have_gaps(self, client: httpx.Client) -> None:
        described = topic("t", [1, 3, 5], [2, 4, 6])
        described["partitions"][1]["partition"] = 7
        plan = change(client, snapshot(client, topics=[described]), remove_brokers=[1])
        assert [(placed["first_partition_id"], placed["replicas"]) for placed in plan["topics"]] == [
            (0, [[3, 2, 5]]),
            (7, [[2, 4, 6]]),
        ]

    def test_factors_may_be_mixed(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1], [1, 3, 5], [2, 4])])
        plan = change(client, snapshot_id, remove_brokers=[1])
        assert rows(plan, "t") == [[6], [3, 2, 5], [2, 4]]  # 6 has no replica yet
        listed = client.get(f"/v1/plans/{plan['id']}/partitions").json()["items"]
        assert [item["replicas"] for item in listed] == rows(plan, "t")

    def test_a_cluster_without_topics_has_nothing_to_move(self, client: httpx.Client) -> None:
        plan = change(client, snapshot(client, topics=[]), remove_brokers=[1])
        assert (plan["topics"], plan["batches"], plan["certificate"]["optimal"]) == ([], [], True)

    def test_a_broker_on_paper_takes_its_share(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3], [2, 4], [3, 5], [4, 6], [5, 1], [6, 2], [1, 4])])
        plan = change(client, snapshot_id, add_brokers=[{"id": 7, "rack": "a"}])
        balance = plan["balance"]["replicas"]
        assert (balance["low"], balance["high"], balance["smallest"], balance["largest"]) == (2, 2, 2, 2)
        assert plan["certificate"]["optimal"]

    def test_bytes_are_made_even_by_bytes(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1], [1], [1], sizes=[10, 20, 30])])
        plan = change(client, snapshot_id, balance={"replicas": "tight", "replicas_by": "bytes"})
        assert plan["balance"]["replicas"]["by"] == "bytes"
        assert plan["balance"]["replicas"]["largest"] >= 30


class TestUnknownSizes:
    """Partitions of unknown size."""

    def test_replicas_are_counted_where_bytes_are_not_known(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [1, 4, 6], sizes=[-1, 70])])
        plan = change(client, snapshot_id, remove_brokers=[1])
        certificate = plan["certificate"]
        assert (certificate["minimised"], certificate["moved_replicas"], certificate["lower_bound_replicas"]) == (
            "replicas",
            2,
            2,
        )
        assert (certificate["moved_bytes"], certificate["unknown_size_replicas"]) == (70, 1)
        assert certificate["lower_bound_bytes"] == 70
        assert "unknown_sizes" in codes(plan)

    def test_an_estimate_is_the_mean_of_the_topic_and_said(self, client: httpx.Client) -> None:
        snapshot_id = snapshot(client, topics=[topic("t", [1, 3, 5], [1, 4, 6], [2, 4, 6], sizes=[-1, 70, 30])])
        plan = change(client, snapshot_id, remove_brokers=[1], unknown_sizes="estimate")
        assert plan["certificate"]["moved_bytes"] == 50 + 70
        assert plan["certificate"]["unknown_size_replicas"] == 0
        assert "estimated_sizes" in codes(plan)


class TestRunning:
    """A reassignment that is under way in the snapshot."""

    @pytest.fixture
    def moving(self, client: httpx.Client) -> str:
        described = topic("t", [2, 3, 5, 1])
        described["partitions"][0] |= {"adding_replicas": [2], "removing_replicas": [1]}
        return snapshot(client, topics=[described])

    def test_is_rejected(self, client: httpx.Client, moving: str) -> None:
        response = client.post(PATH, json={"snapshot_id": moving})
        found = problem(response, 409, "reassignment_under_way")
        assert found["partitions"] == ["t-0"]

    def test_or_merged(self, client: httpx.Client, moving: str) -> None:
        """It is going to [2, 3, 5]; from there broker 5 is emptied."""
        plan = change(client, moving, running_reassignment="merge", remove_brokers=[5])
        assert rows(plan, "t") == [[2, 3, 6]]
        assert "merged_with_running_reassignment" in codes(plan)


class TestTwice:
    """The same request, as a plan is stored."""

    def test_the_same_request_gets_the_same_plan(self, client: httpx.Client) -> None:
        first = change(client, SNAPSHOT_ID, remove_brokers=[101])
        assert change(client, SNAPSHOT_ID, remove_brokers=[101]) == first
        assert change(client, SNAPSHOT_ID, remove_brokers=[102])["id"] != first["id"]

    def test_a_changed_cluster_is_a_412(self, client: httpx.Client) -> None:
        body = {"snapshot_id": SNAPSHOT_ID, "remove_brokers": [101]}
        problem(client.post(PATH, json=body, headers={"If-Match": '"other"'}), 412, "snapshot_changed")

    def test_a_large_one_becomes_a_job(self, client: httpx.Client, database: Database, serve: Serve) -> None:
        """The job stores the whole request: the plan that it makes is the one of an answer at once."""
        narrow = serve(database, max_sync_partitions=1)
        fields: dict[str, Any] = {"replace_brokers": {"103": 9}, "balance": {"replicas": {"tolerance": 0.1}}}
        body = {"snapshot_id": SNAPSHOT_ID, **fields}
        found = problem(narrow.post(PATH, json=body), 413, "limit_exceeded")
        assert found["limit_name"] == "max_sync_partitions"
        response = narrow.post(PATH, json=body, headers={"Prefer": "respond-async"})
        assert (response.status_code, response.json()["kind"]) == (202, "reassignment")
        jobs.run(database, UUID(response.json()["id"]), Limits())
        done = client.get(response.headers["location"]).json()
        assert (done["state"], done["error"]) == ("succeeded", None)
        assert change(client, SNAPSHOT_ID, **fields) == client.get(done["plan"]).json()


class TestDefaults:
    """`min.insync.replicas` that the snapshot does not have may be stated, and counts in losses before and after."""

    def test_it_counts_where_it_is_unknown(self, client: httpx.Client) -> None:
        known = {**topic("known", [1, 3, 5]), "configs": {"min.insync.replicas": "1"}}
        taken = snapshot(client, topics=[topic("t", [1, 2, 3], [1, 2, 4]), known])
        plan = change(client, taken, repair_racks=True, defaults={"min_insync_replicas": 2})
        before, after = (plan[name]["losses"]["racks"]["a"]["unwritable"] for name in ("measures_before", "measures"))
        assert (before, after) == (2, 0)
        (warning,) = [each for each in plan["warnings"] if each["code"] == "min_isr_assumed"]
        assert warning["topics"] == ["t"]
        assert plan["request"]["defaults"] == {"min_insync_replicas": 2}
        assert plan["measures"]["losses"]["min_isr_unknown"] == 0
        unstated = change(client, taken, repair_racks=True)
        assert "defaults" not in unstated["request"]
        assert unstated["measures"]["losses"]["min_isr_unknown"] == 2
        assert unstated["topics"] == plan["topics"]

    def test_of_new_topics(self, client: httpx.Client) -> None:
        taken = snapshot(client, topics=[])
        body = {"snapshot_id": taken, "topics": [{"name": "n", "partitions": 6, "replication_factor": 3}], "seed": 1}
        stated = client.post("/v1/plans/replicas", json={**body, "defaults": {"min_insync_replicas": 3}}).json()
        assert stated["measures"]["losses"]["racks"]["a"]["unwritable"] == 6
        assert codes(stated) == {"algorithm_assumed", "min_isr_assumed"}
        assert stated["measures"]["copysets"]["loss_probability"]["2"] == 0
        above = client.post("/v1/plans/replicas", json={**body, "defaults": {"min_insync_replicas": 4}}).json()
        assert above["warnings"][-1] == {
            "code": "below_min_isr",
            "detail": "3 replicas are fewer than min.insync.replicas=4: Kafka rejects writes with acks=all; "
            "more replicas lift it, or a lower min.insync.replicas",
            "topics": ["n"],
        }
        unstated = client.post("/v1/plans/replicas", json=body).json()
        assert unstated["measures"]["losses"]["racks"]["a"]["unwritable"] is None
        assert "defaults" not in unstated["request"]
        assert unstated["topics"] == stated["topics"]

    @pytest.mark.parametrize("kind", ["replicas", "reassignment"])
    def test_out_of_range(self, client: httpx.Client, kind: str) -> None:
        response = client.post(f"/v1/plans/{kind}", json={"cluster": "c", "defaults": {"min_insync_replicas": 0}})
        problem(response, 422, "validation")
        assert "/defaults/min_insync_replicas" in {error["pointer"] for error in response.json()["errors"]}
