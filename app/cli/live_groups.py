"""The groups of a running cluster: members, subscriptions, racks, assignments and epochs of every type of group.

A broker lists the groups that it coordinates, and describes them by the message of their type. This module needs the
extra `kafka`.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from kafka.errors import GroupIdNotFoundError, for_code
from kafka.protocol.admin import DescribeGroupsRequest

from app.cli import messages
from app.cli.live_client import CLIENT_ERRORS, AdminClient, one_line
from app.core.model import control_in
from app.core.recorded import GroupType, RecordedGroup, RecordedMember, RecordedTasks, TopicPartitions
from app.errors.kafka import CorruptProtocolBytes
from app.errors.quotation import quoted
from app.formats.groups import recorded_groups
from app.formats.groups.consumer_protocol import read_assignment, read_subscription
from app.formats.groups.described_groups import DescribedGroup, DescribedMember
from app.formats.groups.group_texts import GroupTexts

Message: TypeAlias = Any
"""A message of the client, or a part of one, whose attributes are the fields of the protocol."""
_GROUPS_AT_ONCE = 100
_CLASSIC = "classic"
_OF_CONSUMERS = ("consumer", "")
"""Protocols of classic groups whose members are consumers, unlike in Kafka Connect and schema registries."""


class _Unreadable(Exception):
    """A group cannot be read, and why."""


def groups(
    admin: AdminClient, brokers: Iterable[int], topics: Collection[str], cautions: list[str]
) -> tuple[RecordedGroup, ...]:
    """The groups that brokers coordinate, by group id. A caution names each that cannot be read, and why.

    Parameters
    ----------
    topics : names, which subscriptions by a regular expression are matched with.
    """
    found: dict[str, RecordedGroup] = {}
    silent: list[str] = []
    for broker in brokers:
        try:
            listed = _listed(admin, broker)
        except CLIENT_ERRORS as failed:
            silent.append(f"{broker} ({one_line(failed)})")
            continue
        for group_type, ids in listed.items():
            for start in range(0, len(ids), _GROUPS_AT_ONCE):
                some = ids[start : start + _GROUPS_AT_ONCE]
                found |= {group.group_id: group for group in _read(admin, broker, group_type, some, topics, cautions)}
    if silent:
        cautions.append(f"groups are without those of coordinators that did not list them: {', '.join(silent)}")
    return tuple(found[name] for name in sorted(found))


def _listed(admin: AdminClient, broker: int) -> Mapping[str, Sequence[str]]:
    """Group ids by the type of the group. Brokers before 3.7 name no type, since all groups are classic."""
    by_type: dict[str, list[str]] = defaultdict(list)
    for group in admin.list_groups(broker_ids=[broker]):
        group_type = (group.get("group_type") or _CLASSIC).lower()
        if group_type != _CLASSIC or group["protocol_type"] in _OF_CONSUMERS:
            by_type[group_type].append(group["group_id"])
    return by_type


def _read(
    admin: AdminClient, broker: int, group_type: str, ids: Sequence[str], topics: Collection[str], cautions: list[str]
) -> Iterator[RecordedGroup]:
    try:
        is_classic = group_type == _CLASSIC
        request = DescribeGroupsRequest(groups=ids) if is_classic else messages.REQUESTS[group_type](group_ids=ids)
        described = admin.answer(request, broker).groups
    except CLIENT_ERRORS as failed:
        named = ", ".join(map(quoted, ids))
        cautions.append(f"groups of the type {quoted(group_type)} are left out, {named}: {one_line(failed)}")
        return
    for group in described:
        if group.error_code == GroupIdNotFoundError.errno or group.group_state == "Dead":
            continue  # deleted since it was listed
        try:
            yield _recorded(group, group_type, topics)
        except (_Unreadable, CorruptProtocolBytes) as unreadable:
            cautions.append(f"group {quoted(group.group_id)} is left out: {quoted(str(unreadable))}")


def _recorded(group: Message, group_type: str, topics: Collection[str]) -> RecordedGroup:
    """Raises `_Unreadable` and `CorruptProtocolBytes`."""
    if group.error_code:
        message = getattr(group, "error_message", None) or ""
        raise _Unreadable(f"{for_code(group.error_code).__name__} {message}".strip())
    recorded = _classic(group) if group_type == _CLASSIC else _of_coordinator(group, group_type, topics)
    for member in recorded.members:
        for text in (member.member_id, member.client_id, member.group_instance_id, member.rack_id, member.process_id):
            if text is not None and control_in(text) is not None:  # no snapshot with it can be stored
                raise _Unreadable(f"a member has {text} with a control character")
    return recorded


def _classic(group: Message) -> RecordedGroup:
    """A group whose leader assigns: the coordinator has bytes of the consumer protocol."""
    members = [
        DescribedMember(
            member.member_id,
            member.client_id,
            member.client_host,
            member.group_instance_id,
            read_subscription(member.member_metadata) if member.member_metadata else None,
            read_assignment(member.member_assignment) if member.member_assignment else None,
        )
        for member in group.members
    ]
    described = DescribedGroup(group.group_id, group.group_state, group.protocol_data, tuple(members))
    (recorded,) = recorded_groups.join(GroupTexts(described=(described,))).groups
    return recorded


def _of_coordinator(group: Message, group_type: str, topics: Collection[str]) -> RecordedGroup:
    """A group to which the coordinator assigns."""
    topology = getattr(group, "topology", None)
    return RecordedGroup(
        group.group_id,
        group.group_state,
        group.assignor_name or None,
        tuple(_member(member, topics) for member in group.members),
        type=cast("GroupType", group_type),
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology_epoch=None if topology is None else topology.epoch,
    )


def _member(member: Message, topics: Collection[str]) -> RecordedMember:
    """A member: share groups describe neither static members nor targets; Streams groups describe tasks."""
    target, fields = getattr(member, "target_assignment", None), dict[str, Any]()
    if hasattr(member, "process_id"):
        fields |= {"process_id": member.process_id, "tasks": _tasks(member.assignment), "target_tasks": _tasks(target)}
    else:
        fields |= {"topics": _subscription(member, topics), "assigned": _partitions(member.assignment)}
        fields |= {"target": None if target is None else _partitions(target)}
    instance, rack = getattr(member, "instance_id", None), member.rack_id or None
    identity = (member.member_id, member.client_id, member.client_host, instance, rack)
    return RecordedMember(*identity, member_epoch=member.member_epoch, **fields)


def _subscription(member: Message, topics: Collection[str]) -> tuple[str, ...]:
    """Topics by name, and those that the regular expression of the member matches. Raises `_Unreadable`."""
    named, pattern = set(member.subscribed_topic_names), getattr(member, "subscribed_topic_regex", None)
    if pattern:
        try:
            named |= set(filter(re.compile(pattern).fullmatch, topics))
        except re.error as error:  # Kafka has the syntax of RE2
            raise _Unreadable(f"the regular expression {pattern} is not read: {error}") from None
    return tuple(sorted(named))


def _partitions(assignment: Message) -> tuple[TopicPartitions, ...]:
    """By the name of the topic, with ascending partitions."""
    listed = [TopicPartitions(each.topic_name, tuple(sorted(each.partitions))) for each in assignment.topic_partitions]
    return tuple(sorted(listed))


def _tasks(assignment: Message) -> RecordedTasks:
    """The tasks of each kind, by subtopology and partition."""
    kinds = (assignment.active_tasks, assignment.standby_tasks, assignment.warmup_tasks)
    return RecordedTasks(
        *(tuple(f"{of.subtopology_id}_{id_}" for of in tasks for id_ in of.partitions) for tasks in kinds)
    )
