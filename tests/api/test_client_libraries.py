"""`client` of members: the leader's library runs the classic assignors, and some decide otherwise than Java's."""

import struct
from base64 import b64encode
from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem
from tests.api.group_requests import ask, codes, member, owning, plan, three, topic

UNCOMPARED = "client_not_compared"


@pytest.mark.parametrize(
    ("client_library", "assignor", "warned"),
    [
        (None, "range", None),
        ("java", "range", None),
        ("kafka-python", "range", None),
        ("kafka-python", "sticky", None),
        ("kafka-python", "roundrobin", UNCOMPARED),
        ("librdkafka", "cooperative-sticky", None),
        ("librdkafka", "range", UNCOMPARED),
        ("other", "range", UNCOMPARED),
        ("kafka-python", "uniform", None),
        ("librdkafka", "optimal", None),
    ],
)
def test_a_plan_says_whether_the_replay_holds(
    client: httpx.Client, client_library: str | None, assignor: str, warned: str | None
) -> None:
    found = plan(client, assignor=assignor, members=[member("a", client=client_library), member("b")])
    assert (UNCOMPARED in codes(found)) == (warned is not None)


@pytest.mark.parametrize(
    ("member_id", "library"),
    [("sarama-1", "sarama"), ("kgo-1", "franz-go"), ("kafkajs-1", "KafkaJS"), ("rdkafka-1", "librdkafka")],
)
def test_a_default_client_id_tells_the_library(client: httpx.Client, member_id: str, library: str) -> None:
    """sarama and franz-go have assignors of their own under Kafka's names; their results are never called Kafka's."""
    found = plan(client, members=[member(member_id), member("zz")], leader=member_id)
    (warning,) = [one for one in found["warnings"] if one["code"] == UNCOMPARED]
    assert f"runs range of {library}" in warning["detail"]
    assert UNCOMPARED not in codes(
        plan(client, members=[member(member_id, client="java"), member("zz")], leader=member_id)
    )
    assert UNCOMPARED not in codes(plan(client, assignor="uniform", members=[member(member_id)], leader=member_id))


def test_the_assignor_of_librdkafka_is_its_own(client: httpx.Client) -> None:
    """If A owns all of four partitions and B joins, Java's assignor moves the last two and librdkafka's the first."""
    topics = [{"name": "t", "partitions": 4}]

    def assigned(library: str) -> Any:
        known = [owning("A", None, 0, 1, 2, 3, client=library), member("B")]
        return plan(client, assignor="cooperative-sticky", topics=topics, members=known)["assignment"]

    assert assigned("librdkafka") == {"A": {"t": [2, 3]}, "B": {"t": [0, 1]}}
    assert assigned("java") == {"A": {"t": [0, 1]}, "B": {"t": [2, 3]}}


def test_the_order_of_several_topics_is_named_as_unknown(client: httpx.Client) -> None:
    topics = [{"name": "t", "partitions": 4}, {"name": "u", "partitions": 4}]
    known = [member("A", None, "t", "u", client="librdkafka")]
    found = plan(client, assignor="cooperative-sticky", topics=topics, members=known)
    assert "topic_order_unknown" in codes(found)


def test_the_leaders_library_counts(client: httpx.Client) -> None:
    members = [member("a"), member("b", client="librdkafka")]
    assert UNCOMPARED not in codes(plan(client, members=members))
    assert UNCOMPARED in codes(plan(client, members=members, leader="b"))


def test_the_library_of_recorded_members_is_given_beside_the_group(client: httpx.Client) -> None:
    group: dict[str, Any] = {
        "group_id": "g",
        "state": "Stable",
        "assignor": "range",
        "members": [{"member_id": "m", "client_id": "app-1", "topics": ["t"], "assigned_partitions": {"t": [0]}}],
    }
    topics = [{"name": "t", "partitions": [{"partition": 0, "replicas": [1]}]}]
    body = {"cluster": "c", "brokers": [{"id": 1}], "topics": topics, "groups": [group]}
    snapshot = client.post("/v1/snapshots", json=body).json()["id"]
    overrides = [{"client_id": "app-*", "client": "librdkafka"}]
    found = plan(client, snapshot_id=snapshot, group="g", member_overrides=overrides)
    assert UNCOMPARED in codes(found)
    assert found["request"]["member_overrides"][0]["client"] == "librdkafka"


def test_an_unknown_library_is_named(client: httpx.Client) -> None:
    only_error(problem(ask(client, members=[member("a", client="sarama")]), 422, "validation"), "/members/0/client")


def test_a_request_that_does_not_state_it_is_the_same_plan_as_before(client: httpx.Client) -> None:
    """The field is not in its stored request, so that its hash is the same as before the field existed."""
    found = plan(client, members=[member("a")], events=[{"join": member("b")}, {"leave": "b"}])
    assert "client" not in found["request"]["members"][0]
    assert "client" not in found["request"]["events"][0]["join"]
    assert found["request"]["events"][1] == {"leave": "b"}


class TestKafkaPython:
    """Its `range` and `sticky` are replayed if it is the leader's library."""

    def test_range_ignores_racks(self, client: httpx.Client) -> None:
        """Kafka's own range would give m-a the partitions 0 and 3, which are in its rack."""
        members = [one | {"client": "kafka-python"} for one in three()]
        found = plan(client, members=members, compare_kafka_versions=["3.9"], kafka_version="4.0")
        assert found["assignment"] == {"m-a": {"t": [0, 1]}, "m-b": {"t": [2, 3]}, "m-c": {"t": [4, 5]}}
        assert plan(client)["assignment"]["m-a"] == {"t": [0, 3]}
        assert found["kafka"] is None
        assert "assignor_ignores_racks" in codes(found)
        (row,) = found["comparison"]
        assert (row["assignor"], row["rack_aware"]) == ("range", False)

    def test_sticky_keeps_the_partition_of_the_first_of_two_claimants(self, client: httpx.Client) -> None:
        """To Kafka's own sticky assignor neither claimant owns it."""
        members = [owning("a", None, 1, client="kafka-python"), owning("b", None, 1)]
        found = plan(client, assignor="sticky", topics=[topic(partitions=2)], members=members)
        assert found["assignment"] == {"a": {"t": [1]}, "b": {"t": [0]}}
        assert "order_of_sets_decides" not in codes(found)

    def test_a_plan_warns_if_the_order_of_a_set_decides(self, client: httpx.Client) -> None:
        newer = owning("a", None, 0, 1, client="kafka-python") | {"generation_id": 3}
        members = [newer, owning("b", None, 0, 1)]
        found = plan(client, assignor="sticky", topics=[topic(partitions=2)], members=members)
        assert "order_of_sets_decides" in codes(found)
        assert sorted(len(topics["t"]) for topics in found["assignment"].values()) == [1, 1]

    def test_steps_are_warned_of_as_well(self, client: httpx.Client) -> None:
        """A member that comes back with an older assignment claims the first one's partitions."""
        back = owning("b", None, 0, 1)
        members = [owning("a", None, 0, 1, client="kafka-python") | {"generation_id": 3}]
        events = [{"join": back}]
        found = plan(client, assignor="sticky", topics=[topic(partitions=2)], members=members, events=events)
        assert "order_of_sets_decides" in codes(found)
        assert "order_of_sets_decides" not in codes(
            plan(client, assignor="sticky", topics=[topic(partitions=2)], members=members)
        )

    def test_events_go_on_by_its_rules(self, client: httpx.Client) -> None:
        """A static member joins after another member: the first static one is left out."""
        members = [member("a", group_instance_id="i", client="kafka-python"), member("b")]
        joins = [{"join": member("c", group_instance_id="j")}, {"leave": "b"}]
        found = plan(client, topics=[topic(partitions=4)], members=members, events=joins)
        assert found["assignment"] == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
        assert [step["assignment"] for step in found["steps"]] == [
            {"a": {}, "b": {"t": [2, 3]}, "c": {"t": [0, 1]}},
            {"a": {"t": [0, 1]}, "c": {"t": [2, 3]}},
        ]

    @pytest.mark.parametrize(("prefix", "is_read"), [(b"\0\1", True), (b"", False), (b"\xff\xff", False)])
    def test_user_data_have_a_version_in_front(self, client: httpx.Client, prefix: bytes, is_read: bool) -> None:
        """Without it they are Kafka's client's, which kafka-python cannot read; a member then owns nothing."""
        user_data = prefix + struct.pack(">ih1siiii", 1, 1, b"t", 2, 0, 1, 7)
        metadata = struct.pack(">hih1si", 0, 1, 1, b"t", len(user_data)) + user_data
        owner = {"member_id": "b", "member_metadata": b64encode(metadata).decode()}
        members = [member("a", client="kafka-python"), owner]
        found = plan(client, assignor="sticky", topics=[topic(partitions=4)], members=members)
        assert found["assignment"]["b"] == {"t": [0, 1] if is_read else [1, 3]}
        assert found["revoked"] == (2 if is_read else 0)

    def test_an_internal_topic_is_a_problem(self, client: httpx.Client) -> None:
        members = [member("a", None, "__consumer_offsets", client="kafka-python")]
        topics = [topic("__consumer_offsets", 1)]
        response = ask(client, assignor="sticky", topics=topics, members=members)
        assert problem(response, 422, "assignor_loses_count")["kafka_exception"] == "KeyError"

    def test_a_stored_plan_is_compared_with_what_its_members_owned(self, client: httpx.Client) -> None:
        members = [owning("a", None, 0, 1, 2, client="kafka-python"), member("b")]
        found = plan(client, assignor="sticky", members=members)
        response = client.get(f"/v1/plans/{found['id']}/diff")
        assert response.status_code == 200, response.text
