"""Recorded groups as the snapshot's canonical JSON writes them.

    {"assignor":"range","group_id":"billing","members":[{"assigned_partitions":{"orders":[0,1]},"client_id":"b-0",
    "generation_id":4,"member_id":"b-0-35ee","owned_partitions":{"orders":[0]},"rack_id":"use1-az1",
    "topics":["orders"],"user_data":"AAAABA=="}],"offsets":[{"current_offset":7,"lag":2,"log_end_offset":9,
    "member_id":"b-0-35ee","partition":0,"topic":"orders"}],"state":"Stable"}

Groups of the new protocols also have their `type` and epochs, and members of Streams groups `process_id`, `tasks` and
`target_tasks`. Missing data are left out. Members are in listed order, offsets by topic and partition. Keys are
sorted, but for the topics of a member's partitions: an assignor may truncate them.
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import orjson

from app.core.recorded import RecordedGroup, RecordedMember, RecordedOffset, RecordedTasks, TopicPartitions


def group_members(group: RecordedGroup) -> dict[str, object]:
    """A group as an object to write; its keys are sorted by whoever does."""
    members: dict[str, object] = {
        "group_id": group.group_id,
        "members": [_member_members(member) for member in group.members],
        "offsets": [_offset_members(one) for one in sorted(group.offsets, key=attrgetter("topic", "partition"))],
    }
    return members | _said(
        state=group.state,
        assignor=group.assignor,
        type=group.type,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology_epoch=group.topology_epoch,
    )


def group(members: dict[str, Any]) -> RecordedGroup:
    """The group that `group_members` wrote. The shape is trusted."""
    return RecordedGroup(
        group_id=members["group_id"],
        state=members.get("state"),
        assignor=members.get("assignor"),
        members=tuple([_member(member) for member in members["members"]]),
        offsets=tuple([RecordedOffset(**one) for one in members["offsets"]]),
        type=members.get("type"),
        group_epoch=members.get("group_epoch"),
        assignment_epoch=members.get("assignment_epoch"),
        topology_epoch=members.get("topology_epoch"),
    )


def _member_members(member: RecordedMember) -> dict[str, object]:
    return _said(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.host,
        group_instance_id=member.group_instance_id,
        rack_id=member.rack_id,
        topics=member.topics,
        owned_partitions=_by_topic(member.owned),
        generation_id=member.generation_id,
        user_data=None if member.user_data is None else b64encode(member.user_data).decode(),
        assigned_partitions=_by_topic(member.assigned),
        member_epoch=member.member_epoch,
        target_partitions=_by_topic(member.target),
        process_id=member.process_id,
        tasks=member.tasks,
        target_tasks=member.target_tasks,
    )


def _offset_members(offset: RecordedOffset) -> dict[str, object]:
    return _said(
        topic=offset.topic,
        partition=offset.partition,
        current_offset=offset.current_offset,
        log_end_offset=offset.log_end_offset,
        lag=offset.lag,
        member_id=offset.member_id,
    )


def _said(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def _by_topic(listed: Sequence[TopicPartitions] | None) -> orjson.Fragment | None:
    """An object whose keys stay in order, whatever is done to those around it."""
    return None if listed is None else orjson.Fragment(orjson.dumps(dict(listed)))


def _member(members: dict[str, Any]) -> RecordedMember:
    topics, user_data = members.get("topics"), members.get("user_data")
    return RecordedMember(
        member_id=members["member_id"],
        client_id=members.get("client_id"),
        host=members.get("host"),
        group_instance_id=members.get("group_instance_id"),
        rack_id=members.get("rack_id"),
        topics=None if topics is None else tuple(topics),
        owned=_listed(members.get("owned_partitions")),
        generation_id=members.get("generation_id"),
        user_data=None if user_data is None else b64decode(user_data),
        assigned=_listed(members.get("assigned_partitions")),
        member_epoch=members.get("member_epoch"),
        target=_listed(members.get("target_partitions")),
        process_id=members.get("process_id"),
        tasks=_tasks(members.get("tasks")),
        target_tasks=_tasks(members.get("target_tasks")),
    )


def _tasks(members: dict[str, list[str]] | None) -> RecordedTasks | None:
    return None if members is None else RecordedTasks(**{kind: tuple(tasks) for kind, tasks in members.items()})


def _listed(by_topic: dict[str, list[int]] | None) -> tuple[TopicPartitions, ...] | None:
    if by_topic is None:
        return None
    return tuple([TopicPartitions(topic, tuple(partitions)) for topic, partitions in by_topic.items()])
