"""Cases of the consumer-group assignors: of the classic client and of the group coordinator."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.classic import cooperative_sticky, librdkafka_sticky, roundrobin, sticky
from app.core.groups.classic import range as classic_range
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.groups.server import range as server_range
from app.core.groups.server import simple, simple_hashed, simple_shared, uniform
from app.core.groups.server.group import SubscriptionType, set_order, type_of
from app.core.groups.server.uniform import Remainder
from app.core.model import padded
from tests.conformance.jvm import kafka_uuid
from tests.conformance.topic_hash import group_hash, topic_hash

Assign = Callable[..., GroupAssignment]


def _member(given: Mapping[str, Any]) -> Member:
    return Member(
        given["id"],
        tuple(given["topics"]),
        rack_id=given["rack_id"],
        group_instance_id=given["instance_id"] if "instance_id" in given else given["group_instance_id"],
        owned=tuple(Owned(topic, np.array(ids, np.int32)) for topic, ids in given.get("owned") or ()),
        generation_id=given.get("generation_id"),
    )


def _metadata(given: Mapping[str, Any]) -> GroupMetadata:
    topics = [TopicMetadata(topic["name"], padded(topic["replicas"])) for topic in given["topics"]]
    rack_of = {broker["id"]: broker["rack"] for broker in given["brokers"]}
    return GroupMetadata(rack_of, {topic.name: topic for topic in topics})


def _partitions_of(assignment: GroupAssignment, place: int) -> Iterable[tuple[str, int]]:
    """The partitions of one member, in the order of the assignor's list."""
    own = slice(int(assignment.offsets[place]), int(assignment.offsets[place + 1]))
    topics = (assignment.topics[topic] for topic in assignment.topic_index[own].tolist())
    return zip(topics, assignment.partitions[own].tolist(), strict=True)


def _runs(assignment: GroupAssignment) -> dict[str, Any]:
    """Each member's list, as runs of partitions of one topic."""
    return {
        member: [
            [topic, [partition for _, partition in run]]
            for topic, run in groupby(_partitions_of(assignment, place), key=lambda partition: partition[0])
        ]
        for place, member in enumerate(assignment.members)
    }


def _by_topic(assignment: GroupAssignment) -> dict[str, Any]:
    """Each member's topics by id, with their partitions."""
    answer = {}
    for place, member in enumerate(assignment.members):
        by_topic: dict[str, list[int]] = {}
        for topic, partition in _partitions_of(assignment, place):
            by_topic.setdefault(topic, []).append(partition)
        for named_by, index in assignment.without_partitions:
            if named_by == place:
                by_topic.setdefault(assignment.topics[index], [])
        answer[member] = sorted([topic, partitions] for topic, partitions in by_topic.items())
    return answer


def _classic(assign: Assign, seen: Callable[[Member], Member] = lambda member: member) -> Callable[..., Any]:
    def answer(given: Mapping[str, Any]) -> Any:
        members = [seen(_member(member)) for member in given["members"]]
        return {"assignment": _runs(assign(members, _metadata(given)))}

    return answer


def _hashed(member: Member) -> Member:
    """With topics in the order of a hash set of ids, in which the cases have them."""
    ids = list(dict.fromkeys(member.topics))
    return replace(member, topics=tuple(ids[index] for index in set_order(ids).tolist()))


def _server(assign: Assign) -> Callable[..., Any]:
    def answer(given: Mapping[str, Any]) -> Any:
        members = [_hashed(_member(member)) for member in given["members"]]
        topics = {topic["id"]: topic["n_partitions"] for topic in given["topics"]}
        named = given.get("subscription_type")
        subscription_type = SubscriptionType(named) if named else type_of(Subscriptions.of(members))
        assignment = assign(members, topics, subscription_type=subscription_type)
        return {"subscription_type": subscription_type.value, "assignment": _by_topic(assignment)}

    return answer


def _share(assign: Assign) -> Callable[..., Any]:
    """Of an assignor that takes which partitions may be assigned."""

    def answer(given: Mapping[str, Any]) -> Any:
        listed = given.get("assignable")
        assignable = None if listed is None else {topic: frozenset(numbers) for topic, numbers in listed}
        return _server(partial(assign, assignable=assignable))(given)

    return answer


def _topic_hash(given: Mapping[str, Any]) -> Any:
    rack_of = {broker["id"]: broker["rack"] for broker in given["brokers"]}
    hash_of = {
        topic["name"]: topic_hash(topic["name"], kafka_uuid(topic["id"]), padded(topic["replicas"]), rack_of)
        for topic in given["topics"]
    }
    subscribed = given["subscribed"]
    return {
        "topic_hashes": {name: hash_of.get(name, 0) for name in subscribed},
        "group_hash": group_hash({name: hash_of[name] for name in subscribed if name in hash_of}),
    }


ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "consumer_range": _classic(classic_range.assign),
    "consumer_roundrobin": _classic(roundrobin.assign),
    "consumer_sticky": _classic(sticky.assign, sticky.in_user_data),
    "consumer_cooperative_sticky": _classic(cooperative_sticky.assign),
    "librdkafka_cooperative_sticky": _classic(librdkafka_sticky.assign),
    "server_range": _server(server_range.assign),
    "server_simple": _server(simple.assign),
    "server_simple_4_1": _share(simple_hashed.assign),
    "server_simple_4_2": _share(simple_shared.assign),
    "topic_hash_4_1": _topic_hash,
    "server_uniform": _server(uniform.assign),
    "server_uniform_4_0_1": _server(partial(uniform.assign, remainder=Remainder.OWNERS)),
}
