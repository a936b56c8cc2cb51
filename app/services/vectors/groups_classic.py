"""Cases of the classic client's range and round-robin assignors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.core.groups.classic import range as range_assignor
from app.core.groups.classic import roundrobin
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, TopicMetadata
from app.core.model import padded

Assign = Callable[[Sequence[Member], GroupMetadata], GroupAssignment]


def _members(given: Mapping[str, Any]) -> list[Member]:
    return [
        Member(
            member["id"],
            tuple(member["topics"]),
            rack_id=member["rack_id"],
            group_instance_id=member["group_instance_id"],
        )
        for member in given["members"]
    ]


def _metadata(given: Mapping[str, Any]) -> GroupMetadata:
    topics = [TopicMetadata(topic["name"], padded(topic["replicas"])) for topic in given["topics"]]
    rack_of = {broker["id"]: broker["rack"] for broker in given["brokers"]}
    return GroupMetadata(rack_of, {topic.name: topic for topic in topics})


def _lists(assignment: GroupAssignment) -> dict[str, Any]:
    """Each member's list: consecutive partitions of a topic under one mention of it."""
    lists = {}
    for place, member in enumerate(assignment.members):
        own = slice(int(assignment.offsets[place]), int(assignment.offsets[place + 1]))
        runs: list[list[Any]] = []
        for topic, partition in zip(assignment.topic_index[own], assignment.partitions[own], strict=True):
            name = assignment.topics[topic]
            if not runs or runs[-1][0] != name:
                runs.append([name, []])
            runs[-1][1].append(int(partition))
        lists[member] = runs
    return lists


def _answer(assign: Assign) -> Callable[[Mapping[str, Any]], Any]:
    return lambda given: {"assignment": _lists(assign(_members(given), _metadata(given)))}


ANSWERS = {"consumer_range": _answer(range_assignor.assign), "consumer_roundrobin": _answer(roundrobin.assign)}
