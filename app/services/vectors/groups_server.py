"""Cases of the group coordinator's assignors."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupAssignment, Member, Owned
from app.core.groups.server import range as server_range
from app.core.groups.server import simple as server_simple
from app.core.groups.server import uniform as server_uniform
from app.core.groups.server.group import SubscriptionType, type_of
from app.core.groups.server.uniform_homogeneous import Remainder

Assign = Callable[..., GroupAssignment]


def _members(given: Mapping[str, Any]) -> list[Member]:
    return [
        Member(
            member["id"],
            tuple(member["topics"]),
            rack_id=member["rack_id"],
            group_instance_id=member["instance_id"],
            owned=tuple(Owned(topic, np.array(partitions, np.int32)) for topic, partitions in member["owned"]),
        )
        for member in given["members"]
    ]


def _by_topic(assignment: GroupAssignment) -> dict[str, Any]:
    """Each member's topics by id, with their partitions."""
    answer = {}
    for place, member in enumerate(assignment.members):
        own = slice(int(assignment.offsets[place]), int(assignment.offsets[place + 1]))
        by_topic: dict[str, list[int]] = {}
        for topic, partition in zip(assignment.topic_index[own], assignment.partitions[own], strict=True):
            by_topic.setdefault(assignment.topics[topic], []).append(int(partition))
        for named_by, topic in assignment.without_partitions:
            if named_by == place:
                by_topic.setdefault(assignment.topics[topic], [])
        answer[member] = sorted([topic, partitions] for topic, partitions in by_topic.items())
    return answer


def _answer(assign: Assign) -> Callable[[Mapping[str, Any]], Any]:
    def answer(given: Mapping[str, Any]) -> Any:
        members = _members(given)
        topics = {topic["id"]: topic["n_partitions"] for topic in given["topics"]}
        named = given.get("subscription_type")
        subscription_type = SubscriptionType(named) if named else type_of(Subscriptions.of(members))
        assignment = assign(members, topics, subscription_type=subscription_type)
        return {"subscription_type": subscription_type.value, "assignment": _by_topic(assignment)}

    return answer


ANSWERS = {
    "server_range": _answer(server_range.assign),
    "server_simple": _answer(server_simple.assign),
    "server_uniform": _answer(server_uniform.assign),
    "server_uniform_4_0_1": _answer(partial(server_uniform.assign, remainder=Remainder.OWNERS)),
}
