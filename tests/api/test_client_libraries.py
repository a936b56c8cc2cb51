"""`client` of members: the leader's library runs the classic assignors, and some decide otherwise than Java's."""

from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem
from tests.api.group_requests import ask, codes, member, plan

DIFFERS, UNCOMPARED = "assignor_of_another_client", "client_not_compared"


@pytest.mark.parametrize(
    ("client_library", "assignor", "warned"),
    [
        (None, "range", None),
        ("java", "range", None),
        ("kafka-python", "range", DIFFERS),
        ("kafka-python", "sticky", DIFFERS),
        ("kafka-python", "roundrobin", UNCOMPARED),
        ("librdkafka", "cooperative-sticky", DIFFERS),
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
    assert [code for code in codes(found) if code in (DIFFERS, UNCOMPARED)] == ([warned] if warned else [])


def test_the_leaders_library_counts(client: httpx.Client) -> None:
    members = [member("a"), member("b", client="kafka-python")]
    assert DIFFERS not in codes(plan(client, members=members))
    assert DIFFERS in codes(plan(client, members=members, leader="b"))


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
    overrides = [{"client_id": "app-*", "client": "kafka-python"}]
    found = plan(client, snapshot_id=snapshot, group="g", member_overrides=overrides)
    assert DIFFERS in codes(found)
    assert found["request"]["member_overrides"][0]["client"] == "kafka-python"


def test_an_unknown_library_is_named(client: httpx.Client) -> None:
    only_error(problem(ask(client, members=[member("a", client="sarama")]), 422, "validation"), "/members/0/client")


def test_a_request_that_does_not_state_it_is_the_same_plan_as_before(client: httpx.Client) -> None:
    """The field is not in its stored request, so that its hash is that of requests from before there was one."""
    found = plan(client, members=[member("a")], events=[{"join": member("b")}, {"leave": "b"}])
    assert "client" not in found["request"]["members"][0]
    assert "client" not in found["request"]["events"][0]["join"]
    assert found["request"]["events"][1] == {"leave": "b"}
