"""`/v1/plans/group`: the assignment, and its distance from the optimum."""

from base64 import b64encode
from typing import Any

import httpx
import numpy as np
import pytest

from app.api.examples import EXAMPLE_GROUP_PLAN_ID
from app.core.groups.model import Owned
from app.core.groups.registry import ASSIGNORS
from app.formats.groups.consumer_protocol import Subscription
from tests.api.conftest import Serve, StartWorker
from tests.api.contract import problem
from tests.api.group_requests import ask, brokers, codes, member, owning, plan, read_in, three, topic
from tests.api.test_jobs import _until
from tests.formats.writers.assignor_user_data import write_sticky
from tests.formats.writers.consumer_protocol import write_subscription


def metadata(*topics: str, **fields: Any) -> str:
    """A member's raw metadata, as the coordinator keeps it."""
    return b64encode(write_subscription(Subscription(topics, **fields))).decode()


class TestPrediction:
    """Predictions of Kafka's assignment."""

    def test_range_reads_each_partition_in_its_rack(self, client: httpx.Client) -> None:
        """Partitions 0 … 5 are in the racks a b c a b c, one replica each (KIP-881's own picture)."""
        found = plan(client, assignor="range")
        assert found["assignment"] == {"m-a": {"t": [0, 3]}, "m-b": {"t": [1, 4]}, "m-c": {"t": [2, 5]}}
        assert found["locality"] == {"in_rack": 6, "cross_rack": 0, "unknown": 0, "in_rack_share": 1.0}
        assert (found["kind"], found["prediction"], found["seed"]) == ("group", "replay", None)
        assert (found["optimum"]["in_rack"], found["optimum"]["moved"], found["warnings"]) == (6, 0, [])

    def test_without_racks_range_is_a_range(self, client: httpx.Client) -> None:
        found = plan(client, brokers=[{"id": 1}, {"id": 2}, {"id": 3}])
        assert found["assignment"] == {"m-a": {"t": [0, 1]}, "m-b": {"t": [2, 3]}, "m-c": {"t": [4, 5]}}
        assert found["locality"] == {"in_rack": 0, "cross_rack": 0, "unknown": 6, "in_rack_share": None}

    def test_roundrobin_deals_out_all_topics(self, client: httpx.Client) -> None:
        found = plan(client, assignor="roundrobin", topics=[topic(), topic("u", 2)], members=[
            member("m0", None, "t", "u"), member("m1", None, "u", "t")
        ])  # fmt: skip
        assert found["assignment"] == {"m0": {"t": [0, 2, 4], "u": [0]}, "m1": {"t": [1, 3, 5], "u": [1]}}
        assert codes(found) == ["assignor_ignores_racks"]

    @pytest.mark.parametrize("assignor", [name for name, one in ASSIGNORS.items() if one.is_exclusive])
    def test_every_assignor_hands_out_each_partition_once(self, client: httpx.Client, assignor: str) -> None:
        found = plan(client, assignor=assignor, topics=[topic("t", 7), topic("u", 5, replicas=2)], members=[
            member("m0", "a", "t", "u"), member("m1", "b", "t"), member("m2", None, "u")
        ])  # fmt: skip
        everything = [("t", p) for p in range(7)] + [("u", p) for p in range(5)]
        assert read_in(found["assignment"]) == everything
        assert found["assignor"] == assignor
        assert sum(found["locality"][where] for where in ("in_rack", "cross_rack", "unknown")) == 12
        assert found["optimum"]["certificate"]["optimal"] is True
        assert [row["partitions"] for row in found["loads"]["per_member"]] == [
            sum(len(listed) for listed in by_topic.values()) for by_topic in found["assignment"].values()
        ]
        assert found["optimum"]["in_rack"] >= found["locality"]["in_rack"] or found["loads"]["partitions"]["spread"] > 1

    def test_a_share_groups_members_read_everything_in_4_0(self, client: httpx.Client) -> None:
        found = plan(client, assignor="simple", kafka_version="4.0")
        assert found["assignment"] == {name: {"t": [0, 1, 2, 3, 4, 5]} for name in ("m-a", "m-b", "m-c")}
        assert (found["locality"]["in_rack"], found["locality"]["cross_rack"]) == (6, 12)
        assert (found["optimum"], found["handover"], found["moved"], found["phases"]) == (None, None, None, [])
        page = client.get(f"/v1/plans/{found['id']}/partitions", params={"page_size": 1}).json()
        assert page["items"] == [{"topic": "t", "partition": 0, "members": ["m-a", "m-b", "m-c"]}]

    def test_cooperative_sticky_shows_both_phases(self, client: httpx.Client) -> None:
        """m0 owns all; it gives up m1's part in the first phase, and m1 gets it in the second."""
        members = [owning("m0", None, 0, 1, 2, 3, 4, 5), member("m1")]
        found = plan(client, assignor="cooperative-sticky", members=members)
        first, second = found["phases"]
        assert [len(read_in(phase["assignment"])) for phase in (first, second)] == [3, 6]
        assert first["assignment"]["m1"] == {}
        assert (first["revoked"], first["added"], first["pending"]) == (3, 0, 3)
        assert (second["revoked"], second["added"], second["pending"]) == (0, 3, 0)
        assert second["assignment"] == found["assignment"]
        assert (found["moved"], found["revoked"], found["settled"]) == (3, 3, True)
        assert "partitions_withheld" in codes(found)

    def test_an_eager_assignor_has_everybody_give_up_everything(self, client: httpx.Client) -> None:
        members = [owning("m0", None, 0, 1, 2), owning("m1", None, 3, 4, 5)]
        found = plan(client, assignor="range", members=members)
        assert (found["moved"], found["revoked"], len(found["phases"])) == (0, 6, 1)
        assert found["handover"] == {"kept": 6, "moved": 0, "taken_up": 0, "dropped": 0, "revoked": 0}

    def test_the_coordinator_reconciles_to_one_target(self, client: httpx.Client) -> None:
        members = [owning("m0", None, 0, 1, 2, 3, 4, 5), member("m1")]
        found = plan(client, assignor="uniform", members=members)
        assert [phase["pending"] for phase in found["phases"]] == [3, 0]
        assert found["protocol"] == "reconciled"
        assert "assignor_ignores_racks" in codes(found)

    def test_topic_ids_decide_where_the_coordinator_looks_at_them(self, client: httpx.Client) -> None:
        """Two topics, unequal shares: which is dealt out first is a matter of their ids."""
        topics = [topic("t", 3), topic("u", 3)]
        members = [member("m0", None, "t", "u"), member("m1", None, "t", "u")]
        assert "topic_ids_unknown" in codes(plan(client, assignor="uniform", topics=topics, members=members))
        ids = ["AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ"]
        named = [
            plan(client, assignor="uniform", members=members, topics=[
                each | {"topic_id": topic_id} for each, topic_id in zip(topics, order, strict=True)
            ])
            for order in (ids, ids[::-1])
        ]  # fmt: skip
        assert all("topic_ids_unknown" not in codes(found) for found in named)
        assert named[0]["assignment"] != named[1]["assignment"]

    def test_the_optimum_is_a_plan_to_hand_over(self, client: httpx.Client) -> None:
        members = [owning("m-a", "a", 1, 4), owning("m-b", "b", 0, 3), owning("m-c", "c", 2, 5)]
        found = plan(client, assignor="optimal", members=members)
        assert found["assignment"] == {"m-a": {"t": [0, 3]}, "m-b": {"t": [1, 4]}, "m-c": {"t": [2, 5]}}
        assert (found["prediction"], found["moved"], found["locality"]["in_rack"]) == ("pinned", 4, 6)
        assert found["optimum"]["certificate"] == {
            "in_rack_bound": 6,
            "moved_bound": 4,
            "optimal": True,
            "gap": 0.0,
            "solver": "ortools min-cost flow",
        }

    def test_the_same_request_is_the_same_plan(self, client: httpx.Client) -> None:
        body: dict[str, Any] = {
            "assignor": ["sticky", "optimal"],
            "topics": [topic(), topic("u")],
            "members": [
                member("m0", "a", "t", "u", owned_partitions={"t": [0, 1], "u": [2]}, generation_id=3),
                member("m1", "b", "t", "u"),
            ],
        }
        first = ask(client, **body)
        turned = body["members"][0] | {"owned_partitions": {"u": [2], "t": [0, 1]}}
        second = ask(client, **body | {"members": [turned, body["members"][1]]})
        assert first.content == second.content
        assert first.headers["location"] == f"/v1/plans/{first.json()['id']}"
        assert client.get(first.headers["location"]).content == first.content

    def test_it_is_listed_filtered_and_sliced(self, client: httpx.Client) -> None:
        found = plan(client, topics=[topic(), topic("u", 2), topic("nobody", 1)], members=[
            member("m0", "a", "t"), member("m1", "b", "u", "t")
        ], labels={"team": "billing"})  # fmt: skip
        # Of groups a new service keeps its documentation's example.
        for wanted, others in (
            ({"kind": "group"}, [str(EXAMPLE_GROUP_PLAN_ID)]),
            ({"topic": "u"}, []),
            ({"label": "team=billing"}, []),
        ):
            listed = client.get("/v1/plans", params=wanted).json()["items"]
            assert [item["id"] for item in listed] == [found["id"], *others]
        page = client.get(f"/v1/plans/{found['id']}/partitions", params={"topic": "u"}).json()
        assert page["items"] == [{"topic": "u", "partition": p, "members": ["m1"]} for p in range(2)]
        assert client.get(f"/v1/plans/{found['id']}/partitions").json()["total"] == 8


class TestComparison:
    """Several assignors on one group."""

    def test_a_line_each_in_the_requested_order(self, client: httpx.Client) -> None:
        names = [name for name in ASSIGNORS if name != "simple"]
        found = plan(client, assignor=names, members=[
            owning("m-a", "a", 0, 1), owning("m-b", "b", 2, 3), owning("m-c", "c", 4, 5)
        ])  # fmt: skip
        table = found["comparison"]
        assert [line["assignor"] for line in table] == names
        assert found["assignor"] == names[0] == "range"
        by_name = {line["assignor"]: line for line in table}
        assert by_name["optimal"]["in_rack"] == 6 == by_name["range"]["in_rack"]
        assert by_name["uniform"]["moved"] == 0
        assert by_name["uniform"]["in_rack"] == 2
        assert by_name["server-range"]["rack_aware"] is False
        assert all(line["error"] is None for line in table)
        assert table[0] == plan(client, assignor="range", members=found["request"]["members"])["comparison"][0]

    def test_an_assignor_that_fails_says_how(self, client: httpx.Client) -> None:
        """The homogeneous builder of the coordinator gives up where two members own one partition."""
        members = [owning("m0", None, 0, 1), owning("m1", None, 1, 2)]
        found = plan(client, assignor=["range", "uniform"], members=members)
        failed = found["comparison"][1]
        assert failed["error"]["code"] == "partitions_left_unassigned"
        assert failed["error"]["kafka_exception"] == "PartitionAssignorException"
        assert failed["in_rack"] is None
        assert "partition_owned_twice" in codes(found)


class TestWeights:
    """Bytes/s, and lag."""

    def test_the_optimum_reads_the_heavy_partitions_in_rack(self, client: httpx.Client) -> None:
        """One member in rack a: of the partitions in a, it can read as many as its share lets it."""
        topics = [{"name": "t", "partitions": [{"partition": p, "replicas": [1]} for p in range(4)]}]
        found = plan(
            client, assignor="optimal", topics=topics, bytes_per_s={"t": [1, 50, 1, 100]},
            members=[member("m-a", "a"), member("m-b", "b")],
        )  # fmt: skip
        assert found["assignment"] == {"m-a": {"t": [1, 3]}, "m-b": {"t": [0, 2]}}
        assert found["locality"]["bytes_per_s"] == {
            "in_rack": 150,
            "cross_rack": 2,
            "unknown": 0,
            "in_rack_share": 150 / 152,
        }
        assert found["optimum"]["certificate"]["in_rack_bound"] == 150
        assert found["loads"]["bytes_per_s"] == {"min": 2, "max": 150, "spread": 148, "total": 152}

    def test_lag_is_reported_and_balanced(self, client: httpx.Client) -> None:
        members = [member("m0"), member("m1")]
        body: dict[str, Any] = {"topics": [topic("t", 4)], "members": members, "lag": {"t": [90, 40, 30, 20]}}
        by_count = plan(client, **body, assignor="range")
        assert by_count["loads"]["lag"] == {"min": 50, "max": 130, "spread": 80, "total": 180}
        assert [row["lag"] for row in by_count["loads"]["per_member"]] == [130, 50]
        balanced = plan(client, **body, assignor="range", balance="lag")["optimum"]
        assert (balanced["balance"], balanced["largest_load"]) == ("lag", 90)
        assert balanced["certificate"]["optimal"] is True
        assert balanced["certificate"]["largest_load_bound"] == 90
        equal = plan(client, **body | {"lag": {"t": 25}}, assignor="range")["loads"]["lag"]
        assert equal == {"min": 50, "max": 50, "spread": 0, "total": 100}

    def test_optimal_balances_the_requested_load(self, client: httpx.Client) -> None:
        found = plan(
            client, topics=[topic("t", 4)], members=[member("m0"), member("m1")], lag={"t": [90, 40, 30, 20]},
            assignor="optimal", balance="lag",
        )  # fmt: skip
        assert sorted(row["lag"] for row in found["loads"]["per_member"]) == [90, 90]


class TestRawMetadata:
    """The coordinator's record of a member, in base64."""

    def test_it_is_the_member(self, client: httpx.Client) -> None:
        raw = [
            {"member_id": each["member_id"], "member_metadata": metadata("t", rack_id=each["rack_id"])}
            for each in three()
        ]
        assert plan(client, members=raw)["assignment"] == plan(client)["assignment"]

    def test_a_version_from_the_future_is_read_as_the_newest_and_said(self, client: httpx.Client) -> None:
        data = bytearray(write_subscription(Subscription(("t",), rack_id="a")))
        data[1] = 9
        raw = {"member_id": "m0", "member_metadata": b64encode(bytes(data) + b"new").decode()}
        found = plan(client, members=[raw])
        (warning,) = [each for each in found["warnings"] if each["code"] == "subscription_from_the_future"]
        assert "version 9" in warning["detail"]
        assert warning["members"] == ["m0"]
        assert found["assignment"] == {"m0": {"t": [0, 1, 2, 3, 4, 5]}}

    def test_each_sticky_assignor_reads_ownership_where_its_client_writes_it(self, client: httpx.Client) -> None:
        """The eager one in user data, the cooperative one in the subscription."""
        owned = (Owned("t", np.array([5, 4, 3], np.int32)),)
        user_data = write_sticky(owned, generation_id=4)
        in_data = {"member_id": "m0", "member_metadata": metadata("t", user_data=user_data)}
        in_field = {"member_id": "m0", "member_metadata": metadata("t", owned=owned, generation_id=4)}
        for assignor, keeping, losing in (
            ("sticky", in_data, in_field),
            ("cooperative-sticky", in_field, in_data),
        ):
            body = {"assignor": assignor, "brokers": [{"id": 1}]}
            retained = plan(client, **body, members=[keeping, member("m1")])["assignment"]["m0"]["t"]
            assert sorted(retained) == [3, 4, 5], assignor
            # Nothing is owned here: then the two take turns.
            assert sorted(plan(client, **body, members=[losing, member("m1")])["assignment"]["m0"]["t"]) == [0, 2, 4]

    @pytest.mark.parametrize("cut", [1, 5, 12])
    def test_truncated_bytes_are_rejected_where_they_end(self, client: httpx.Client, cut: int) -> None:
        data = write_subscription(Subscription(("t",), rack_id="a"))[:cut]
        raw = [member("m0"), {"member_id": "m1", "member_metadata": b64encode(data).decode()}]
        rejection = problem(ask(client, members=raw), 422, "corrupt_protocol_bytes")
        assert rejection["errors"][0]["pointer"] == "/members/1/member_metadata"
        assert "byte" in rejection["detail"]

    def test_invalid_base64_is_rejected(self, client: httpx.Client) -> None:
        rejection = problem(ask(client, members=[{"member_id": "m", "member_metadata": "%"}]), 422, "malformed_text")
        assert rejection["errors"][0]["pointer"] == "/members/0/member_metadata"


class TestSize:
    """Small requests at once, large ones as jobs."""

    def test_the_rejection_of_a_large_request_names_the_way_to_a_job(
        self, client: httpx.Client, start_worker: StartWorker
    ) -> None:
        body: dict[str, Any] = {
            "assignor": ["range", "roundrobin"],
            "topics": [{"name": "t", "partitions": 600_000}],
            "members": [member("m0"), member("m1")],
        }
        rejection = problem(ask(client, **body), 413, "limit_exceeded")
        assert (rejection["value"], rejection["limit_name"]) == (1_200_000, "max_sync_partitions")
        assert "respond-async" in rejection["detail"]
        small = body | {
            "brokers": brokers(),
            "topics": [topic()],
            "events": [{"leave": "m1"}],
            "labels": {"via": "job"},
        }
        response = client.post("/v1/plans/group", json=small, headers={"Prefer": "respond-async"})
        assert response.status_code == 202
        start_worker()
        job = _until(client, response.headers["location"], "succeeded", "failed")
        assert job["state"] == "succeeded", job
        assert client.get(job["plan"]).content == client.post("/v1/plans/group", json=small).content

    def test_members_and_events_have_limits(self, scratch: Any, serve: Serve) -> None:
        limited = serve(scratch, max_members=2, max_events=1)
        assert problem(ask(limited), 413, "limit_exceeded")["limit_name"] == "max_members"
        events = [{"leave": "m0"}, {"leave": "m1"}]
        rejection = problem(ask(limited, members=[member("m0"), member("m1")], events=events), 413, "limit_exceeded")
        assert (rejection["limit_name"], rejection["limit"], rejection["value"]) == ("max_events", 1, 2)

    def test_shared_partitions_count_for_every_member(self, client: httpx.Client) -> None:
        members = [member(f"m{i}") for i in range(20)]
        topics = [{"name": "t", "partitions": 100_000}]
        rejection = problem(ask(client, assignor="simple", members=members, topics=topics), 413, "limit_exceeded")
        assert rejection["value"] == 2_100_000
