"""Findings about a group: contradictions in its records, and known faults of Kafka's assignors.

Each finding needs the input and the answer alone, so that it applies to the answer of any assignor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions, owned_topics
from app.core.groups.model import GroupAssignment, GroupMetadata, Member


@dataclass(frozen=True, slots=True)
class Finding:
    """A contradiction in a group's records, or an unexpected result of Kafka's assignor.

    Parameters
    ----------
    code : stable.
    detail : a sentence with names and numbers.
    member, topic : of the first case, or None.
    count : number of cases (members, topics or partitions).
    """

    code: str
    detail: str
    member: str | None = None
    topic: str | None = None
    count: int = 1


def input_findings(members: Sequence[Member], metadata: GroupMetadata) -> list[Finding]:
    """Contradictions in the members' records, whatever the assignor.

    - `empty_subscription`: members that subscribe to nothing.
    - `unknown_topic`: subscribed topics that do not exist; none of their partitions is assigned.
    - `topic_without_partitions`: subscribed topics that have 0 partitions.
    - `owned_partition_missing`: owned partitions that do not exist.
    - `partition_owned_twice`: partitions that two members claim to own, whatever their generations.
    - `rack_without_broker`: members in a rack without a broker.
    """
    return [
        *_empty_subscriptions(members),
        *_unreadable_topics(members, metadata),
        *_owned_partitions(members, metadata),
        *_racks_without_broker(members, metadata),
    ]


def _empty_subscriptions(members: Sequence[Member]) -> Iterator[Finding]:
    unsubscribed = [member.id for member in members if not member.topics]
    if unsubscribed:
        detail = f"{len(unsubscribed)} of {len(members)} members subscribe to no topic, {unsubscribed[0]} first"
        yield Finding("empty_subscription", detail, unsubscribed[0], count=len(unsubscribed))


def _unreadable_topics(members: Sequence[Member], metadata: GroupMetadata) -> Iterator[Finding]:
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


def _owned_partitions(members: Sequence[Member], metadata: GroupMetadata) -> Iterator[Finding]:
    topics = tuple(dict.fromkeys([*metadata.topics, *chain.from_iterable(map(owned_topics, members))]))
    owned = MemberPartitions.owned(members, {name: index for index, name in enumerate(topics)})
    yield from _owned_missing(members, metadata, topics, owned)
    yield from _owned_twice(members, topics, owned)


def _owned_missing(
    members: Sequence[Member], metadata: GroupMetadata, topics: Sequence[str], owned: MemberPartitions
) -> Iterator[Finding]:
    counts = [len(metadata.topics[name].replicas) if name in metadata.topics else 0 for name in topics]
    beyond = owned.select(~owned.exist(np.array(counts, np.int64)))
    if len(beyond):
        member, topic = members[beyond.members[0]].id, int(beyond.topics[0])
        case = f"{member} owns {topics[topic]}-{beyond.partitions[0]}, of {counts[topic]} partitions"
        detail = f"{len(beyond)} owned partitions do not exist: {case}"
        yield Finding("owned_partition_missing", detail, member, topics[topic], len(beyond))


def _owned_twice(members: Sequence[Member], topics: Sequence[str], owned: MemberPartitions) -> Iterator[Finding]:
    owned = owned.select(np.lexsort((owned.members, owned.partitions, owned.topics)))
    is_repeated = (np.diff(owned.topics) == 0) & (np.diff(owned.partitions) == 0) & (np.diff(owned.members) != 0)
    repeated = np.flatnonzero(is_repeated)
    if len(repeated):
        first = int(repeated[0])
        member, other_member = (members[index].id for index in owned.members[first : first + 2].tolist())
        name = topics[owned.topics[first]]
        partition = f"{name}-{owned.partitions[first]}"
        detail = f"{len(repeated)} partitions are owned by two members: {partition} by {member} and {other_member}"
        yield Finding("partition_owned_twice", detail, member, name, len(repeated))


def _racks_without_broker(members: Sequence[Member], metadata: GroupMetadata) -> Iterator[Finding]:
    racks = {rack for rack in metadata.rack_of.values() if rack}
    outside = [member for member in members if member.rack_id and member.rack_id not in racks]
    if outside:
        first = outside[0]
        detail = f"{len(outside)} members are in a rack that no broker is in: {first.id} in {first.rack_id}"
        yield Finding("rack_without_broker", detail, first.id, count=len(outside))


def known_faults(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment | None
) -> list[Finding]:
    """Known faults of Kafka's classic assignors that occur with this input and answer.

    - `no_members`: range returns an empty answer for an empty group; round-robin and the sticky assignors fail.
    - `partitions_not_subscribed`: a member is assigned partitions of topics that it does not subscribe to. The sticky
      assignors do this to members without a subscription that are first in hash order, and to members that owned a
      partition in an older generation.
    - `partition_beyond_topic`: a member owns a partition that its topic does not have; the sticky assignors assign it.
    - `partition_assigned_twice`: a consequence of `partition_beyond_topic` in the sticky assignors.
    - `missing_topic_counts`: subscriptions differ only in topics without metadata; the sticky assignors treat them as
      unequal and use the general builder.

    Parameters
    ----------
    assignment : None if Kafka's code fails.
    """
    return [
        *_no_members(members, assignment),
        *_not_subscribed(members, assignment),
        *_beyond_topic(members, metadata),
        *_assigned_twice(assignment),
        *_missing_topic_counts(members, metadata),
    ]


def _no_members(members: Sequence[Member], assignment: GroupAssignment | None) -> Iterator[Finding]:
    if members:
        return
    outcome = "the assignor fails" if assignment is None else "the assignor returns an empty assignment"
    yield Finding("no_members", f"the group has 0 members; {outcome}", count=0)


def _not_subscribed(members: Sequence[Member], assignment: GroupAssignment | None) -> Iterator[Finding]:
    if assignment is None:
        return
    topics_of = {member.id: member.topics for member in members}
    index_of = {topic: index for index, topic in enumerate(assignment.topics)}
    subscribed: dict[int, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
    cases: list[tuple[str, str, int]] = []
    for position, member in enumerate(assignment.members):
        topics = topics_of[member]
        # Members often share one tuple of topics.
        if id(topics) not in subscribed:
            mask = np.zeros(len(assignment.topics), np.bool_)
            mask[[index_of[topic] for topic in topics if topic in index_of]] = True
            subscribed[id(topics)] = mask
        assigned = assignment.topic_index[assignment.offsets[position] : assignment.offsets[position + 1]]
        foreign = assigned[~subscribed[id(topics)][assigned]]
        if len(foreign):
            cases.append((member, assignment.topics[foreign[0]], len(foreign)))
    if cases:
        count = sum(partitions for _, _, partitions in cases)
        name, topic, _ = cases[0]
        yield Finding(
            "partitions_not_subscribed",
            f"{count} partitions go to {len(cases)} members that do not subscribe to their topics: of topic {topic} to "
            f"{name}",
            name,
            topic,
            count,
        )


def _beyond_topic(members: Sequence[Member], metadata: GroupMetadata) -> Iterator[Finding]:
    counts = {name: len(topic.replicas) for name, topic in metadata.topics.items() if len(topic.replicas)}
    names = list(counts)
    owned = MemberPartitions.owned(members, {name: index for index, name in enumerate(names)})
    beyond = owned.select(~owned.exist(np.array([*counts.values()], np.int64)))
    if len(beyond):
        owner, topic = members[beyond.members[0]].id, names[beyond.topics[0]]
        yield Finding(
            "partition_beyond_topic",
            f"{len(beyond)} owned partitions do not exist: member {owner} owns partition {beyond.partitions[0]} of "
            f"topic {topic}, which has {counts[topic]}",
            owner,
            topic,
            len(beyond),
        )


def _assigned_twice(assignment: GroupAssignment | None) -> Iterator[Finding]:
    if assignment is None or not len(assignment.partitions):
        return
    keys = assignment.topic_index.astype(np.int64) << 32 | assignment.partitions.astype(np.int64) & 0xFFFFFFFF
    order = np.argsort(keys, kind="stable")
    repeated = order[1:][keys[order][1:] == keys[order][:-1]]
    if len(repeated):
        entry = int(repeated[0])
        topic = assignment.topics[assignment.topic_index[entry]]
        member = assignment.members[int(np.searchsorted(assignment.offsets, entry, side="right")) - 1]
        yield Finding(
            "partition_assigned_twice",
            f"{len(repeated)} partitions are assigned more than once: partition {assignment.partitions[entry]} of "
            f"topic {topic}, to {member} and before",
            member,
            topic,
            len(repeated),
        )


def _missing_topic_counts(members: Sequence[Member], metadata: GroupMetadata) -> Iterator[Finding]:
    distinct = {id(member.topics): member.topics for member in members}.values()
    full = {frozenset(topics) for topics in distinct}
    known = {name for name, topic in metadata.topics.items() if len(topic.replicas)}
    if len(full) < 2 or len({topics & known for topics in full}) > 1:
        return
    missing = sorted(frozenset().union(*full) - known)
    yield Finding(
        "missing_topic_counts",
        f"subscriptions differ only in topics that have no metadata, {len(missing)} of them ({missing[0]} first); "
        "they are taken for unequal all the same",
        topic=missing[0],
        count=len(missing),
    )
