"""What a group's own records say that cannot be, or hardly: no assignor stops at it, and its users should know."""

from collections.abc import Iterable, Sequence

import numpy as np

from app.core.groups.arrays.owned import UNKNOWN_TOPIC, OwnedReader
from app.core.groups.measures.findings import Finding
from app.core.groups.model import GroupMetadata, Member
from app.core.model import Int64s


def doubts(members: Sequence[Member], metadata: GroupMetadata) -> list[Finding]:
    """Name what is doubtful about members, before any assignor has seen them.

    - `empty_subscription`: members that subscribe to nothing.
    - `unknown_topic`: subscribed topics that do not exist; nothing is assigned of them.
    - `topic_without_partitions`: subscribed topics that have 0 partitions; nothing can be assigned of them.
    - `owned_partition_missing`: owned partitions that do not exist.
    - `partition_owned_twice`: partitions that two members say they own, whatever their generations.
    - `rack_without_broker`: members in a rack that no broker is in.
    """
    found = [
        _empty_subscriptions(members),
        *_unreadable_topics(members, metadata),
        *_claims(members, metadata),
        _racks(members, metadata),
    ]
    return [finding for finding in found if finding is not None]


def _empty_subscriptions(members: Sequence[Member]) -> Finding | None:
    without = [member.id for member in members if not member.topics]
    if not without:
        return None
    detail = f"{len(without)} of {len(members)} members subscribe to no topic, {without[0]} first"
    return Finding("empty_subscription", detail, without[0], count=len(without))


def _unreadable_topics(members: Sequence[Member], metadata: GroupMetadata) -> Iterable[Finding | None]:
    subscribed = dict.fromkeys(
        topic for topics in dict.fromkeys(member.topics for member in members) for topic in topics
    )
    unknown = [topic for topic in subscribed if topic not in metadata.topics]
    if unknown:
        detail = f"{len(unknown)} subscribed topics do not exist, {unknown[0]} first; nothing is assigned of them"
        yield Finding("unknown_topic", detail, topic=unknown[0], count=len(unknown))
    empty = [topic for topic in subscribed if topic in metadata.topics and not len(metadata.topics[topic].replicas)]
    if empty:
        detail = f"{len(empty)} subscribed topics have 0 partitions, {empty[0]} first; nothing is assigned of them"
        yield Finding("topic_without_partitions", detail, topic=empty[0], count=len(empty))


def _claims(members: Sequence[Member], metadata: GroupMetadata) -> Iterable[Finding | None]:
    topics = tuple(dict.fromkeys([*metadata.topics, *_owned_topics(members)]))
    counts = np.array([len(metadata.topics[name].replicas) if name in metadata.topics else 0 for name in topics], int)
    reader = OwnedReader(topics)
    read = [reader.read(member.owned) for member in members]
    owner = np.repeat(np.arange(len(members)), [len(partitions) for _, partitions in read])
    nothing = np.empty(0, np.int64)
    topic = np.concatenate([nothing, *(where for where, _ in read)])
    partition = np.concatenate([nothing, *(partitions for _, partitions in read)])
    known = topic != UNKNOWN_TOPIC
    owner, topic, partition = owner[known], topic[known], partition[known]
    yield _missing(members, topics, counts, owner, topic, partition)
    yield _twice(members, topics, owner, topic, partition)


def _owned_topics(members: Sequence[Member]) -> Iterable[str]:
    return (run.topic for member in members for run in member.owned)


def _missing(
    members: Sequence[Member], topics: Sequence[str], counts: Int64s, owner: Int64s, topic: Int64s, partition: Int64s
) -> Finding | None:
    beyond = np.flatnonzero((partition < 0) | (partition >= counts[topic]))
    if not len(beyond):
        return None
    first = int(beyond[0])
    name, has = topics[topic[first]], int(counts[topic[first]])
    who = members[owner[first]].id
    detail = f"{len(beyond)} owned partitions do not exist: {who} owns {name}-{partition[first]}, of {has} partitions"
    return Finding("owned_partition_missing", detail, who, name, len(beyond))


def _twice(
    members: Sequence[Member], topics: Sequence[str], owner: Int64s, topic: Int64s, partition: Int64s
) -> Finding | None:
    order = np.lexsort((owner, partition, topic))
    same = (np.diff(topic[order]) == 0) & (np.diff(partition[order]) == 0) & (np.diff(owner[order]) != 0)
    again = np.flatnonzero(same)
    if not len(again):
        return None
    first, second = order[again[0]], order[again[0] + 1]
    name = topics[topic[first]]
    who, other = members[owner[first]].id, members[owner[second]].id
    detail = f"{len(again)} partitions are owned by two members: {name}-{partition[first]} by {who} and {other}"
    return Finding("partition_owned_twice", detail, who, name, len(again))


def _racks(members: Sequence[Member], metadata: GroupMetadata) -> Finding | None:
    racks = {rack for rack in metadata.rack_of.values() if rack}
    strangers = [member for member in members if member.rack_id and member.rack_id not in racks]
    if not strangers:
        return None
    first = strangers[0]
    detail = f"{len(strangers)} members are in a rack that no broker is in: {first.id} in {first.rack_id}"
    return Finding("rack_without_broker", detail, first.id, count=len(strangers))
