"""The groups of a running cluster: members, subscriptions, racks, assignments and epochs of every type of group.

A broker lists the groups that it coordinates, and describes them by the message of their type. This module needs the
extra `kafka`.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kafka.errors import GroupIdNotFoundError, for_code
from kafka.protocol.admin import DescribeGroupsRequest

from app.cli import messages
from app.cli.live_client import CLIENT_ERRORS, AdminClient, one_line
from app.core.names import control_in
from app.core.recorded import GroupType, RecordedGroup, RecordedMember, RecordedTasks, TopicPartitions
from app.errors.kafka import CorruptProtocolBytes
from app.errors.quotation import quoted
from app.formats.groups import recorded_groups
from app.formats.groups.consumer_protocol import read_assignment, read_subscription
from app.formats.groups.described_groups import DescribedGroup, DescribedMember
from app.formats.groups.group_texts import GroupTexts

Message: TypeAlias = Any
"""A message of the client, whose attributes are the fields of the protocol."""
_GROUPS_AT_ONCE = 100
_OF_CONSUMERS = ("consumer", "")
"""Protocols of classic groups whose members are consumers, unlike those of Kafka Connect and of schema registries."""


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
        group_type = (group.get("group_type") or "classic").lower()
        if group_type != "classic" or group["protocol_type"] in _OF_CONSUMERS:
            by_type[group_type].append(group["group_id"])
    return by_type


def _read(
    admin: AdminClient, broker: int, group_type: str, ids: Sequence[str], topics: Collection[str], cautions: list[str]
) -> Iterator[RecordedGroup]:
    try:
        request, recorded = _TYPES[group_type]
        described = admin.answer(request(ids), broker).groups
    except CLIENT_ERRORS as failed:
        named = ", ".join(map(quoted, ids))
        cautions.append(f"groups of the type {quoted(group_type)} are left out, {named}: {one_line(failed)}")
        return
    for group in described:
        if group.error_code == GroupIdNotFoundError.errno or group.group_state == "Dead":
            continue  # deleted since it was listed
        try:
            _check(group)
            yield _with_plain_names(recorded(group, topics))
        except (_Unreadable, CorruptProtocolBytes) as unreadable:
            cautions.append(f"group {quoted(group.group_id)} is left out: {quoted(str(unreadable))}")


def _check(group: Message) -> None:
    """Raise `_Unreadable` if the coordinator did not describe the group."""
    if group.error_code:
        message = getattr(group, "error_message", None) or ""
        raise _Unreadable(f"{for_code(group.error_code).__name__} {message}".strip())


def _with_plain_names(recorded: RecordedGroup) -> RecordedGroup:
    """Raise `_Unreadable` if a snapshot could not be stored with the group."""
    for member in recorded.members:
        for text in (member.member_id, member.client_id, member.group_instance_id, member.rack_id, member.process_id):
            if text is not None and control_in(text) is not None:
                raise _Unreadable(f"a member has {text} with a control character")
    return recorded


def _classic(group: Message, _: Collection[str]) -> RecordedGroup:
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


def _consumer(group: Message, topics: Collection[str]) -> RecordedGroup:
    members = [
        _member(
            member,
            topics=_subscription(member, topics),
            assigned=_partitions(member.assignment),
            group_instance_id=member.instance_id,
            target=_partitions(member.target_assignment),
        )
        for member in group.members
    ]
    return _group(group, "consumer", members)


def _share(group: Message, _: Collection[str]) -> RecordedGroup:
    members = [
        _member(member, topics=tuple(member.subscribed_topic_names), assigned=_partitions(member.assignment))
        for member in group.members
    ]
    return _group(group, "share", members)


def _streams(group: Message, _: Collection[str]) -> RecordedGroup:
    members = [
        _member(
            member,
            group_instance_id=member.instance_id,
            process_id=member.process_id,
            tasks=_tasks(member.assignment),
            target_tasks=_tasks(member.target_assignment),
        )
        for member in group.members
    ]
    return _group(group, "streams", members, topology_epoch=group.topology.epoch if group.topology else None)


_TYPES: Mapping[str, tuple[Callable[[Sequence[str]], Message], Callable[[Message, Collection[str]], RecordedGroup]]] = {
    "classic": (lambda ids: DescribeGroupsRequest(groups=ids), _classic),
    "consumer": (lambda ids: messages.ConsumerGroupDescribeRequest(group_ids=ids), _consumer),
    "share": (lambda ids: messages.ShareGroupDescribeRequest(group_ids=ids), _share),
    "streams": (lambda ids: messages.StreamsGroupDescribeRequest(group_ids=ids), _streams),
}
"""By type: the message that asks for groups, and how a group of the answer is recorded."""


def _group(
    group: Message, group_type: GroupType, members: Iterable[RecordedMember], *, topology_epoch: int | None = None
) -> RecordedGroup:
    return RecordedGroup(
        group.group_id,
        group.group_state,
        group.assignor_name or None,
        tuple(members),
        type=group_type,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology_epoch=topology_epoch,
    )


def _member(member: Message, **fields: Any) -> RecordedMember:
    return RecordedMember(
        member.member_id,
        member.client_id,
        member.client_host,
        rack_id=member.rack_id or None,
        member_epoch=member.member_epoch,
        **fields,
    )


def _subscription(member: Message, topics: Collection[str]) -> tuple[str, ...]:
    """Topics by name, and those that the regular expression of the member matches. Raises `_Unreadable`."""
    named = set(member.subscribed_topic_names)
    if member.subscribed_topic_regex:
        try:
            matches = re.compile(member.subscribed_topic_regex).fullmatch
        except re.error as error:  # Kafka has the syntax of RE2
            raise _Unreadable(f"the regular expression {member.subscribed_topic_regex} is not read: {error}") from None
        named |= set(filter(matches, topics))
    return tuple(sorted(named))


def _partitions(assignment: Message) -> tuple[TopicPartitions, ...]:
    """By the name of the topic, with ascending partitions."""
    listed = [TopicPartitions(each.topic_name, tuple(sorted(each.partitions))) for each in assignment.topic_partitions]
    return tuple(sorted(listed))


def _tasks(assignment: Message) -> RecordedTasks:
    """The tasks of each kind, by subtopology and partition."""
    return RecordedTasks(
        *(
            tuple(f"{each.subtopology_id}_{partition}" for each in tasks for partition in each.partitions)
            for tasks in (assignment.active_tasks, assignment.standby_tasks, assignment.warmup_tasks)
        )
    )
