"""`compare_kafka_versions`: the difference between the answers of two releases, and the warning before an upgrade."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given

from app.core.groups.registry import assignor_for
from app.core.kafka_versions import KafkaVersion
from app.core.model import unpadded
from app.errors import Json
from app.services.groups import PLANNER, GroupRequest, MemberRequest
from app.services.groups.requests import GroupTopic
from app.services.groups.stored import stored_group
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.plans.pipeline import LISTED_ROWS
from app.store.records import NewPlan
from tests import draws as st
from tests.profiles import costly

RELEASES = ["4.0.0", "4.0.1", "4.1", "4.2", "4.4"]


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """A group under one of the coordinator's assignors, whose members own some of the partitions."""
    topics = {name: draw(st.integers(1, 8)) for name in draw(st.lists(st.sampled_from("abc"), min_size=1, unique=True))}
    names = [f"m-{number}" for number in range(draw(st.integers(1, 5)))]
    owners = {
        (topic, p): draw(st.sampled_from([*names, None])) for topic, count in topics.items() for p in range(count)
    }
    members = [
        MemberRequest(
            name,
            topics=list(topics),
            owned_partitions={
                topic: [p for p in range(count) if owners[topic, p] == name] for topic, count in topics.items()
            },
        )
        for name in names
    ]
    return {
        "assignors": [draw(st.sampled_from(["uniform", "server-range", "simple"]))],
        "members": members,
        "topics": [GroupTopic(name, count) for name, count in topics.items()],
    }


def planned(request: Mapping[str, Any], version: str, *compared: str) -> NewPlan:
    stated = GroupRequest(**request, kafka_version=version, compare_kafka_versions=compared)
    return draft_plan(PLANNER, stated, None, Limits())


def rows_of(plan: NewPlan) -> dict[tuple[str, int], list[str]]:
    """The members of each partition, by their ids."""
    loads: Any = plan.answer["loads"]
    names = [member["member_id"] for member in loads["per_member"]]
    return {
        (placement.topic, placement.first_partition_id + at): [names[place] for place in places]
        for placement in plan.placements
        for at, places in enumerate(unpadded(placement.replicas))
    }


def compared(plan: NewPlan) -> list[dict[str, Any]]:
    listed: Any = plan.answer["compared_kafka_versions"]
    return list(listed)


@given(requests(), st.sampled_from(RELEASES), st.sampled_from(RELEASES))
@costly(150)
def test_the_difference_applied_to_one_answer_is_the_other(request: dict[str, Any], one: str, other: str) -> None:
    first, second = planned(request, one, other), planned(request, other)
    (difference,) = compared(first)
    patched = rows_of(first)
    for row in difference["rows"]:
        key = (row["before"]["topic"], row["before"]["partition"])
        assert (row["after"]["topic"], row["after"]["partition"]) == key
        assert patched[key] == row["before"]["members"] != row["after"]["members"]
        patched[key] = row["after"]["members"]
    assert patched == rows_of(second)
    assert difference["differing"] == len(difference["rows"])
    assert (difference["error"], difference["kafka"]) == (None, second.answer["kafka"])


@given(requests(), st.sampled_from(RELEASES))
@costly(100)
def test_a_warning_names_each_later_release_that_decides_otherwise(request: dict[str, Any], version: str) -> None:
    """Of the releases whose code is another; and nothing is warned of at the newest one."""
    plan = planned(request, version, *RELEASES)
    warnings: Any = plan.answer["warnings"]
    warned = {warning["kafka_version"] for warning in warnings if warning["code"] == "differs_after_upgrade"}
    changes = {"uniform": ["4.0.1"], "simple": ["4.1.0", "4.2.0"], "server-range": []}[str(plan.answer["assignor"])]
    by_version = {one["kafka_version"]: one["differing"] for one in compared(plan)}
    assert warned == {release for release in changes if release > plan_version(plan) and by_version[release]}
    assert by_version[plan_version(plan)] == 0
    assert version != RELEASES[-1] or not warned


def plan_version(plan: NewPlan) -> str:
    return str(plan.request["kafka_version"])


def test_a_release_without_the_assignor_is_an_entry_with_its_failure() -> None:
    request: dict[str, Any] = {
        "assignors": ["uniform"],
        "members": [MemberRequest("m", topics=["t"])],
        "topics": [GroupTopic("t", 2)],
    }
    (entry,) = compared(planned(request, "4.2", "3.9"))
    assert entry["error"]["code"] == "assignor_unavailable"
    assert (entry["differing"], entry["rows"], entry["kafka"]) == (None, [], None)


def test_a_release_is_compared_once_and_belongs_to_the_hash() -> None:
    request: dict[str, Any] = {
        "assignors": ["range"],
        "members": [MemberRequest("m", topics=["t"])],
        "topics": [GroupTopic("t", 2)],
    }
    once, twice = planned(request, "4.2", "4.3"), planned(request, "4.2", "4.3", "4.3.0")
    assert [entry["kafka_version"] for entry in compared(twice)] == ["4.3.0"]
    assert once.hash == twice.hash != planned(request, "4.2").hash


def test_more_rows_than_are_listed_are_counted() -> None:
    """Every member of a share group of 4.0 reads everything, and since 4.2 each partition is of one of two members."""
    count = LISTED_ROWS + 5
    request: dict[str, Any] = {
        "assignors": ["simple"],
        "members": [MemberRequest(name, topics=["t"]) for name in ("a", "b")],
        "topics": [GroupTopic("t", count)],
    }
    (entry,) = compared(planned(request, "4.0", "4.2"))
    assert (entry["differing"], len(entry["rows"])) == (count, LISTED_ROWS)
    row: dict[str, Json] = entry["rows"][0]["before"]
    assert row == {"topic": "t", "partition": 0, "members": ["a", "b"]}


def test_a_stored_plan_without_a_release_is_read_as_of_4_0_0() -> None:
    """Plans of engine version 1 were all of that release."""
    request: dict[str, Any] = {
        "assignors": ["uniform"],
        "members": [MemberRequest("m", topics=["t"])],
        "topics": [GroupTopic("t", 2)],
    }
    plan = planned(request, "4.2")
    old = replace(plan, request={name: value for name, value in plan.request.items() if name != "kafka_version"})
    assert stored_group(plan, None).assignor is assignor_for("uniform", KafkaVersion(4, 2))
    assert stored_group(old, None).assignor is assignor_for("uniform", KafkaVersion(4, 0, 0))
