"""Cases of the classic client's sticky and cooperative-sticky assignors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from app.core.groups.classic import cooperative_sticky, sticky
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.model import padded


def _member(given: Mapping[str, Any]) -> Member:
    return Member(
        given["id"],
        tuple(given["topics"]),
        rack_id=given["rack_id"],
        group_instance_id=given["group_instance_id"],
        owned=tuple(Owned(topic, np.array(ids, np.int32)) for topic, ids in given.get("owned") or ()),
        generation_id=given.get("generation_id"),
    )


def _metadata(given: Mapping[str, Any]) -> GroupMetadata:
    topics = [TopicMetadata(topic["name"], padded(topic["replicas"])) for topic in given["topics"]]
    rack_of = {broker["id"]: broker["rack"] for broker in given["brokers"]}
    return GroupMetadata(rack_of, {topic.name: topic for topic in topics})


def _runs(topics: Sequence[str], partitions: Sequence[int]) -> list[list[Any]]:
    """Consecutive partitions of a topic under one mention of it."""
    runs: list[list[Any]] = []
    for topic, partition in zip(topics, partitions, strict=True):
        if not runs or runs[-1][0] != topic:
            runs.append([topic, []])
        runs[-1][1].append(partition)
    return runs


def _lists(assignment: GroupAssignment) -> dict[str, Any]:
    names = [assignment.topics[topic] for topic in assignment.topic_index.tolist()]
    partitions = assignment.partitions.tolist()
    bounds = assignment.offsets.tolist()
    return {
        member: _runs(names[begin:end], partitions[begin:end])
        for member, begin, end in zip(assignment.members, bounds[:-1], bounds[1:], strict=True)
    }


def _sticky(given: Mapping[str, Any]) -> Any:
    members = [sticky.in_user_data(_member(member)) for member in given["members"]]
    return {"assignment": _lists(sticky.assign(members, _metadata(given)))}


def _cooperative_sticky(given: Mapping[str, Any]) -> Any:
    members = [_member(member) for member in given["members"]]
    return {"assignment": _lists(cooperative_sticky.assign(members, _metadata(given)))}


ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "consumer_sticky": _sticky,
    "consumer_cooperative_sticky": _cooperative_sticky,
}
