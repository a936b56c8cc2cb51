"""Share groups (KIP-932) in `/v1/plans/group`: assignable partitions, coverage, events, recorded groups."""

from typing import Any

import httpx
import pytest

from tests.api.contract import only_error, problem
from tests.api.group_requests import ask, codes, member, plan, topic
from tests.conftest import SAMPLES

Json = dict[str, Any]


def shared(client: httpx.Client, **fields: Any) -> Json:
    """Three members of a share group under 4.2, a topic of six partitions."""
    return plan(client, **({"assignor": "simple", "kafka_version": "4.2"} | fields))


def pairs(assignment: Json) -> set[tuple[str, str, int]]:
    return {(name, t, p) for name, by_topic in assignment.items() for t, ids in by_topic.items() for p in ids}


def test_coverage_is_beside_the_best(client: httpx.Client) -> None:
    found = shared(client, topics=[topic("t", 2)])
    again = shared(
        client,
        topics=[topic("t", 2)],
        members=[member(name, owned_partitions=owned) for name, owned in found["assignment"].items()],
    )
    assert again["assignment"] == found["assignment"]
    assert "partition_owned_twice" not in codes(again)
    assert found["sharing"] == {
        "partitions": 2,
        "uncovered": 0,
        "uncovered_partitions": [],
        "members_per_partition": {"min": 2, "max": 2},
        "largest_load": 2,
        "spread": 1,
        "best": {"uncovered": 0, "largest_load": 1, "spread": 0},
    }
    assert found["optimum"] is None
    assert plan(client, assignor="range")["sharing"] is None


def test_only_initialised_partitions_are_assigned(client: httpx.Client) -> None:
    found = shared(client, assignable={"t": [1, 3, 4]})
    assert {partition for _, _, partition in pairs(found["assignment"])} == {1, 3, 4}
    assert found["sharing"]["partitions"] == 3
    assert shared(client, assignable={})["sharing"]["partitions"] == 0


@pytest.mark.parametrize(
    ("fields", "code", "pointer"),
    [
        ({"assignable": {"nope": [0]}}, "conflicting_fields", "/assignable/nope"),
        ({"assignable": {"t": [0, 6]}}, "impossible_value", "/assignable/t/1"),
        ({"assignable": {"t": [2, 2]}}, "conflicting_fields", "/assignable/t/1"),
        ({"assignable": {"t": [0]}, "kafka_version": "4.0.0"}, "conflicting_fields", "/assignable"),
        ({"assignable": {"t": [0]}, "assignor": "range"}, "conflicting_fields", "/assignable"),
        ({"assignable": {"t": [-1]}}, "validation", "/assignable/t/0"),
        ({"events": [{"leave": "nobody"}]}, "conflicting_fields", "/events/0"),
    ],
)
def test_what_cannot_be_is_named(client: httpx.Client, fields: Json, code: str, pointer: str) -> None:
    body = {"assignor": "simple", "kafka_version": "4.2"} | fields
    only_error(problem(ask(client, **body), 422, code), pointer)


@pytest.mark.parametrize("version", ["4.0.0", "4.1", "4.2", "4.4"])
def test_each_step_counts_what_it_adds_and_removes(client: httpx.Client, version: str) -> None:
    events: list[Json] = [{"join": member("m-d")}, {"leave": "m-a"}, {"rolling_restart": True}]
    found = shared(client, events=events, kafka_version=version)
    before = pairs(found["assignment"])
    assert [step["event_index"] for step in found["steps"]] == [0, 1, 2, 2, 2]
    for step in found["steps"]:
        after = pairs(step["assignment"])
        assert (step["added"], step["revoked"]) == (len(after - before), len(before - after))
        assert (step["failures"], step["sharing"]["uncovered"]) == ([], 0)
        before = after
    page = client.get(f"/plans/{found['id']}")
    assert page.status_code == 200
    assert "Smallest possible" in page.text


def test_kafkas_own_failure_is_named(client: httpx.Client) -> None:
    """A partition that no longer exists counts towards a member's quota; then members run out."""
    owned = {"node_11": 2, "pod-49.svc": 0, "47": 0, "25": 0, "new-734": None}
    members = [
        member(name, owned_partitions=None if partition is None else {"t": [partition]})
        for name, partition in owned.items()
    ]
    topics = [topic("t", 1) | {"topic_id": "AAAAAAAAAAAAAAAAAAAAJg"}]
    rejection = problem(
        ask(client, assignor="simple", kafka_version="4.2", members=members, topics=topics),
        422,
        "assignor_runs_out_of_members",
    )
    assert "NoSuchElementException" in rejection["detail"]


def test_a_recorded_group_starts_from_what_its_members_read(client: httpx.Client) -> None:
    tables = ("kafka-topics-describe", "kafka-share-groups-members-verbose", "kafka-share-groups-state-verbose")
    text = "\n".join((SAMPLES / f"{name}.txt").read_text(encoding="utf-8") for name in tables)
    posted = client.post("/v1/snapshots?cluster=share", content=text, headers={"content-type": "text/plain"})
    body = {"snapshot_id": posted.json()["id"], "group": "alerts", "kafka_version": "4.2"}
    leaving = "S9wKx0b1QiOQ0kq1m3x7gA"
    response = client.post("/v1/plans/group", json=body | {"events": [{"leave": leaving}]})
    assert response.status_code == 201, response.text
    found = response.json()
    assert found["assignor"] == "simple"
    (step,) = found["steps"]
    assert set(step["assignment"]) == {"tm2v3cJkT6a1T0cQyQw8zw", "wD1cF0hJSg2nP7l1Yb3mLQ"}
    assert "assignor_fails" not in codes(found)


@pytest.mark.parametrize(("other", "decides"), [("BBTCZNWS1RFq2gDoBpvNjw", True), ("bZ_YlvXKTV2gnHgjm4KoGA", False)])
def test_members_of_one_slot_are_in_the_order_of_the_coordinator(
    client: httpx.Client, other: str, decides: bool
) -> None:
    """Two members get a third one's partitions: which ones, the order in which they joined decides if they share both
    a bucket of a hash map and a slot of the group's own map."""
    owned = {"AaTCZNWS1RFq2gDoBpvNjw": [0, 1], other: [2, 3], "gone": [4, 5]}
    members = [member(name, owned_partitions={"t": numbers}) for name, numbers in owned.items()]
    found = shared(client, members=members, events=[{"leave": "gone"}])
    assert ("order_of_sets_decides" in codes(found)) == decides
