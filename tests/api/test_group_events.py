"""`/v1/plans/group`: effects of one event after another, and of metadata that the leader sees differently."""

from typing import Any

import httpx
import pytest

from tests.api.contract import problem
from tests.api.group_requests import Json, ask, brokers, codes, member, owning, plan, read_in, topic


def settled(**fields: Any) -> list[Json]:
    """Three members that read their partitions in rack, two each."""
    return [owning("m-a", "a", 0, 3, **fields), owning("m-b", "b", 1, 4), owning("m-c", "c", 2, 5)]


def steps(client: httpx.Client, *events: Json, **body: Any) -> list[Json]:
    """The steps of a cooperative-sticky group of three."""
    found: list[Json] = plan(client, **{"assignor": "cooperative-sticky", "members": settled()} | body, events=events)[
        "steps"
    ]
    return found


RACK_OF_A_BROKER = {"replica_racks_changed": {"brokers": [{"id": 1, "rack": "a"}]}}


class TestEvents:
    """One step an event, each from the state after the previous one."""

    def test_a_member_joins(self, client: httpx.Client) -> None:
        (step,) = steps(client, {"join": member("m-d", "a")})
        assert step["event"]["join"]["member_id"] == "m-d"
        assert read_in(step["assignment"]) == [("t", p) for p in range(6)]
        assert (step["moved"], step["revoked"]) == (1, 1)
        assert step["locality_before"]["in_rack_share"] == 1.0
        (rebalance,) = step["rebalances"]
        assert [phase["pending"] for phase in rebalance["phases"]] == [1, 0]
        assert rebalance["phases"][-1]["assignment"] == step["assignment"]
        assert step["optimum"]["moved"] == 1

    def test_a_member_leaves(self, client: httpx.Client) -> None:
        (step,) = steps(client, {"leave": "m-b"})
        assert set(step["assignment"]) == {"m-a", "m-c"}
        assert (step["moved"], step["revoked"], step["handover"]["kept"]) == (2, 0, 4)
        assert step["locality"]["in_rack"] == step["optimum"]["in_rack"] == 4

    def test_a_static_member_that_comes_back_moves_nothing(self, client: httpx.Client) -> None:
        back = {"replace": {"member_id": "m-a", "by": member("m-a2", "a", group_instance_id="i-a")}}
        (step,) = steps(client, back, members=settled(group_instance_id="i-a"))
        assert (step["rebalances"], step["moved"], step["revoked"]) == ([], 0, 0)
        assert step["assignment"]["m-a2"] == {"t": [0, 3]}
        (step,) = steps(client, {"replace": {"member_id": "m-a", "by": member("m-a2", "a")}})
        assert len(step["rebalances"]) == 2

    def test_a_rolling_restart_is_a_step_a_member(self, client: httpx.Client) -> None:
        dynamic = steps(client, {"rolling_restart": True}, {"leave": "m-b-restarted"})
        assert [step["event_index"] for step in dynamic] == [0, 0, 0, 1]
        assert [len(step["rebalances"]) for step in dynamic] == [2, 2, 2, 1]
        assert dynamic[0]["event"] == {"rolling_restart": True}
        static = [each | {"group_instance_id": f"i-{each['member_id']}"} for each in settled()]
        still = steps(client, {"rolling_restart": True}, members=static)
        assert [(step["rebalances"], step["moved"]) for step in still] == [([], 0)] * 3

    def test_a_lost_rack_takes_its_members_and_its_brokers_racks(self, client: httpx.Client) -> None:
        (step,) = steps(client, {"lose_rack": "b"})
        assert set(step["assignment"]) == {"m-a", "m-c"}
        # Partitions 1 and 4 have their only replica on a broker that is gone, in a rack that is unknown now.
        assert (step["locality"]["in_rack"], step["locality"]["unknown"]) == (4, 2)
        assert step["trigger"]["would_rebalance"] is True

    def test_a_topic_grows(self, client: httpx.Client) -> None:
        known, unknown = steps(
            client,
            {"topic_grown": {"topic": "t", "partitions": 8, "replicas": [[1], [2]]}},
            {"topic_grown": {"topic": "t", "partitions": 9}},
        )
        assert (known["handover"]["taken_up"], known["locality"]["in_rack"]) == (2, 8)
        assert (unknown["handover"]["taken_up"], unknown["locality"]["unknown"]) == (1, 1)
        assert known["trigger"]["because"] == [{"topic": "t", "what": "partitions", "partitions": [6, 7], "count": 2}]

    @pytest.mark.parametrize(
        ("grown", "fields", "is_unknown"),
        [
            ({}, {}, True),
            ({"replicas": [[1]]}, {}, False),
            ({}, {"assignor": "roundrobin"}, False),
            ({}, {"members": [owning("m-a", None, *range(6))]}, False),
            ({}, {"members": [owning("m-a", None, *range(6))], "events": [{"join": member("m-b", "b")}]}, True),
            ({}, {"brokers": brokers({1: "a", 2: "a", 3: "a"})}, True),
            ({}, {"brokers": [{"id": broker} for broker in (1, 2, 3)]}, False),
            ({}, {"brokers": [{"id": broker} for broker in (1, 2, 3)], "events": [RACK_OF_A_BROKER]}, True),
            ({}, {"assignor": "range"}, True),
            ({}, {"assignor": "range", "members": [each | {"client": "kafka-python"} for each in settled()]}, False),
        ],
    )
    def test_racks_of_new_partitions_are_missed_where_they_may_decide(
        self, client: httpx.Client, grown: Json, fields: Json, is_unknown: bool
    ) -> None:
        """The assignor uses racks, and a member and a broker have some."""
        body = {"assignor": "cooperative-sticky", "members": settled(), **fields}
        body["events"] = [*body.get("events", []), {"topic_grown": {"topic": "t", "partitions": 7, **grown}}]
        found = plan(client, **body)
        assert ("racks_of_new_partitions_unknown" in codes(found)) == is_unknown
        in_burst = plan(client, **body | {"events": [{"burst": body["events"]}]})
        assert ("racks_of_new_partitions_unknown" in codes(in_burst)) == is_unknown

    @pytest.mark.parametrize(("partition", "decides"), [(16, True), (17, False)])
    def test_the_coordinator_alone_knows_which_of_a_bucket_stays(
        self, client: httpx.Client, partition: int, decides: bool
    ) -> None:
        """0 and 16 share a bucket: of the two partitions the one stays that the member was assigned first."""
        others = [owning(f"m-{other}", None, other) for other in range(1, 18) if other != partition]
        found = plan(
            client,
            assignor="uniform",
            topics=[topic(partitions=18)],
            members=[owning("m-a", None, 0, partition), *others],
            events=[{"join": member("m-new")}],
        )
        assert ("order_of_sets_decides" in codes(found)) == decides

    def test_racks_change_and_only_a_leader_with_a_rack_looks(self, client: httpx.Client) -> None:
        swapped = {"replica_racks_changed": {"brokers": [{"id": 1, "rack": "b"}, {"id": 2, "rack": "a"}]}}
        (seen,) = steps(client, swapped)
        assert (seen["trigger"]["would_rebalance"], seen["moved"]) == (True, 4)
        (unseen,) = steps(client, swapped, members=[*settled(), member("m-z")], leader="m-z")
        assert (unseen["trigger"]["would_rebalance"], unseen["rebalances"]) == (False, [])
        assert unseen["trigger"]["unseen"][0]["what"] == "racks"
        assert unseen["locality"]["in_rack"] < unseen["locality_before"]["in_rack"]

    def test_the_coordinator_needs_no_leader(self, client: httpx.Client) -> None:
        """It looks at partitions, and not at racks, as Kafka 4.0 has it."""
        moved = {"replica_racks_changed": {"replicas": {"t": [[2]] * 6}}}
        grown = {"topic_grown": {"topic": "t", "partitions": 7}}
        unseen, seen = steps(client, moved, grown, assignor="uniform")
        assert (unseen["trigger"]["would_rebalance"], seen["trigger"]["would_rebalance"]) == (False, True)

    def test_a_member_joins_by_its_raw_metadata(self, client: httpx.Client) -> None:
        raw = {"member_id": "m-d", "member_metadata": "AAAAAAABAAF0/////w=="}
        (step,) = steps(client, {"join": raw})
        assert len(read_in({"m-d": step["assignment"]["m-d"]})) == 1

    @pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky", "uniform", "server-range", "optimal"])
    def test_every_assignor_goes_through_events(self, client: httpx.Client, assignor: str) -> None:
        """The sticky one reads its members' earlier assignments from user data."""
        events: list[Json] = [{"join": member("m-d", "a")}, {"leave": "m-a"}, {"rolling_restart": True}]
        for step in steps(client, *events, assignor=assignor):
            assert read_in(step["assignment"]) == [("t", p) for p in range(6)]
            assert all(rebalance["settled"] for rebalance in step["rebalances"])


class TestBadEvents:
    """Impossible events are rejected and named."""

    @pytest.mark.parametrize(
        ("event", "pointer"),
        [
            ({"leave": "ghost"}, "/events/1"),
            ({"join": member("m-a")}, "/events/1"),
            ({"replace": {"member_id": "ghost", "by": member("m-z")}}, "/events/1"),
            ({"lose_rack": "nowhere"}, "/events/1"),
            ({"topic_grown": {"topic": "ghost", "partitions": 7}}, "/events/1"),
            ({"topic_grown": {"topic": "t", "partitions": 6}}, "/events/1/topic_grown/partitions"),
            ({"topic_grown": {"topic": "t", "partitions": 8, "replicas": [[1]]}}, "/events/1/topic_grown/replicas"),
            ({"replica_racks_changed": {"replicas": {"t": [[1]]}}}, "/events/1"),
            ({"join": {"member_id": "m-z"}}, "/events/1/join/topics"),
            ({"join": {"member_id": "m-z", "member_metadata": "AAAA"}}, "/events/1/join/member_metadata"),
        ],
    )
    def test_it_is_named(self, client: httpx.Client, event: Json, pointer: str) -> None:
        response = ask(client, members=settled(), events=[{"join": member("m-x")}, event])
        assert response.status_code == 422
        (error,) = response.json()["errors"]
        assert error["pointer"] == pointer

    @pytest.mark.parametrize(
        "event", [{}, {"leave": "m-a", "lose_rack": "a"}, {"explode": True}, "leave", None, {"rolling_restart": False}]
    )
    def test_an_event_has_one_name(self, client: httpx.Client, event: Any) -> None:
        rejection = problem(ask(client, members=settled(), events=[event]), 422, "validation")
        assert all(error["pointer"].startswith("/events/0") for error in rejection["errors"])

    def test_shared_partitions_are_not_handed_over(self, client: httpx.Client) -> None:
        (step,) = plan(client, assignor="simple", events=[{"leave": "m-a"}])["steps"]
        assert (step["moved"], step["handover"], step["optimum"], step["rebalances"]) == (None, None, None, [])


class TestTrigger:
    """Two snapshots: would the leader ask for a rebalance (KIP-881)?"""

    def _snapshot(self, client: httpx.Client, racks: dict[int, str], partitions: int = 6) -> str:
        parts = [{"partition": p, "replicas": [1 + p % 3]} for p in range(partitions)]
        body = {"cluster": "c", "brokers": brokers(racks), "topics": [{"name": "t", "partitions": parts}]}
        found: str = client.post("/v1/snapshots", json=body).json()["id"]
        return found

    def test_racks_of_partitions_changed(self, client: httpx.Client) -> None:
        before = self._snapshot(client, {1: "a", 2: "b", 3: "c"})
        after = self._snapshot(client, {1: "a", 2: "b", 3: "b"})
        found = plan(client, snapshot_id=after, previous_snapshot_id=before, members=settled())["trigger"]
        change = {"topic": "t", "what": "racks", "partitions": [2, 5], "count": 2}
        assert found == {"leader": "m-a", "would_rebalance": True, "because": [change], "unseen": []}
        blind = plan(
            client, snapshot_id=after, previous_snapshot_id=before, members=[*settled(), member("m-z")], leader="m-z"
        )["trigger"]
        assert blind == {"leader": "m-z", "would_rebalance": False, "because": [], "unseen": [change]}

    def test_nothing_changed(self, client: httpx.Client) -> None:
        now = self._snapshot(client, {1: "a", 2: "b", 3: "c"})
        found = plan(client, snapshot_id=now, previous_snapshot_id=now, members=settled())
        assert found["trigger"]["would_rebalance"] is False
        assert plan(client, snapshot_id=now, members=settled())["trigger"] is None

    def test_a_plan_on_a_snapshot_respects_if_match(self, client: httpx.Client) -> None:
        now = self._snapshot(client, {1: "a", 2: "b", 3: "c"})
        tag = client.get(f"/v1/snapshots/{now}").headers["etag"]
        body = {"snapshot_id": now, "members": settled()}
        assert client.post("/v1/plans/group", json=body, headers={"If-Match": tag}).status_code == 201
        self._snapshot(client, {1: "a"})
        stale = client.post("/v1/plans/group", json=body | {"labels": {"n": "2"}}, headers={"If-Match": tag})
        problem(stale, 412, "snapshot_changed")
        later = client.post("/v1/plans/group", json=body, headers={"If-Match": tag, "Prefer": "respond-async"})
        problem(later, 412, "snapshot_changed")


def test_topics_are_those_of_the_request(client: httpx.Client) -> None:
    """Unknown replicas are in no rack."""
    found = plan(client, topics=[topic("t", 3), {"name": "u", "partitions": 4}], members=[member("m", "a", "t", "u")])
    assert (found["locality"]["in_rack"], found["locality"]["unknown"]) == (1, 4)
