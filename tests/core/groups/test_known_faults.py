"""The known faults: each is named where it occurs, with its numbers, and nothing is named where none does."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import given

from app.core.groups.classic import sticky
from app.core.groups.measures.findings import Finding, known_faults
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from tests.core.groups.sticky_cases import Partition, cases, flat


def known(**counts: int) -> GroupMetadata:
    return GroupMetadata(
        {}, {name: TopicMetadata(name, np.zeros((count, 1), np.int32)) for name, count in counts.items()}
    )


def member(name: str, topics: Sequence[str], *owned: Partition, generation: int = 1) -> Member:
    runs = tuple(Owned(topic, np.array([partition], np.int32)) for topic, partition in owned)
    return Member(name, tuple(topics), owned=runs, generation_id=generation)


def named(members: Sequence[Member], metadata: GroupMetadata) -> list[Finding]:
    return known_faults(members, metadata, sticky.assign(members, metadata))


@given(cases())
def test_nothing_is_named_in_a_group_that_owns_nothing(group: Mapping[str, Any]) -> None:
    metadata = known(**{topic["name"]: len(topic["replicas"]) for topic in group["topics"]})
    members = [member(its["id"], its["topics"], *flat(its["owned"])) for its in group["members"]]
    assert named(members, metadata) == []


def test_no_members() -> None:
    nothing = GroupAssignment((), (), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    (answered,), (failed,) = known_faults([], known(t=1), nothing), known_faults([], known(t=1), None)
    assert answered.code == failed.code == "no_members"
    assert "empty assignment" in answered.detail
    assert "fails" in failed.detail


def test_partitions_of_topics_that_are_not_subscribed() -> None:
    (fault,) = named([member("A", []), member("B", ["t"])], known(t=4))
    assert fault == Finding(
        "partitions_not_subscribed",
        "2 partitions go to 1 members that do not subscribe to their topics: of topic t to A",
        member="A",
        topic="t",
        count=2,
    )


def test_a_partition_beyond_its_topic() -> None:
    (fault,) = named([member("A", ["t"], ("t", 7)), member("B", ["t"])], known(t=3))
    assert (fault.code, fault.member, fault.topic, fault.count) == ("partition_beyond_topic", "A", "t", 1)
    assert "partition 7 of topic t, which has 3" in fault.detail


def test_a_partition_that_is_assigned_twice() -> None:
    members = [member("A", "tu", ("t", 9), ("t", 0)), member("B", "ut", ("u", 0)), member("C", "v")]
    codes = {fault.code: fault for fault in named(members, known(t=1, u=1, v=2))}
    twice = codes["partition_assigned_twice"]
    assert set(codes) == {"partition_beyond_topic", "partition_assigned_twice"}
    assert (twice.topic, twice.member, twice.count) == ("u", "B", 1)


def test_topics_without_metadata_make_subscriptions_differ() -> None:
    (fault,) = named([member("A", ["t", "gone"]), member("B", ["t"])], known(t=2))
    assert (fault.code, fault.topic, fault.count) == ("missing_topic_counts", "gone", 1)


def test_subscriptions_that_differ_anyway_are_no_fault() -> None:
    assert named([member("A", ["t", "gone"]), member("B", ["t", "u"])], known(t=2, u=1)) == []
