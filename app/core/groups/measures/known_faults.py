"""Faults of Kafka's classic assignors that a prediction repeats, and a plan names.

What is looked at is the input and the answer alone, so that it can be said of any assignor's answer.
"""

from collections.abc import Sequence

import numpy as np

from app.core.groups.arrays.owned import UNKNOWN_TOPIC, OwnedReader
from app.core.groups.measures.findings import Finding
from app.core.groups.model import GroupAssignment, GroupMetadata, Member


def faults(members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment | None) -> list[Finding]:
    """Name the known faults that occurred.

    - `no_members`: range answers an empty group with nothing; round-robin and the sticky assignors fail.
    - `partitions_not_subscribed`: a member was given partitions of topics that it does not subscribe to. The sticky
      assignors do that to members without a subscription that come first in hash order, and to members that owned a
      partition in an older generation.
    - `partition_beyond_topic`: a member owns a partition that its topic does not have; the sticky assignors keep it.
    - `partition_assigned_twice`: which they then may do with others.
    - `missing_topic_counts`: subscriptions differ only in topics without metadata, for which nothing is assigned; the
      sticky assignors take them for unequal all the same, and look for the assignment the longer way.

    Parameters
    ----------
    assignment : None where Kafka's code fails.
    """
    found = [
        _no_members(members, assignment),
        _not_subscribed(members, assignment),
        _beyond_topic(members, metadata),
        _assigned_twice(assignment),
        _missing_topic_counts(members, metadata),
    ]
    return [fault for fault in found if fault is not None]


def _no_members(members: Sequence[Member], assignment: GroupAssignment | None) -> Finding | None:
    if members:
        return None
    outcome = "the assignor fails" if assignment is None else "the assignor answers that nobody gets anything"
    return Finding("no_members", f"the group has 0 members; {outcome}", count=0)


def _not_subscribed(members: Sequence[Member], assignment: GroupAssignment | None) -> Finding | None:
    if assignment is None:
        return None
    topics_of = {member.id: member.topics for member in members}
    index_of = {topic: index for index, topic in enumerate(assignment.topics)}
    subscribed: dict[int, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
    cases: list[tuple[str, str, int]] = []
    for place, member in enumerate(assignment.members):
        topics = topics_of[member]
        # Members often share one tuple of topics.
        if id(topics) not in subscribed:
            mask = np.zeros(len(assignment.topics), np.bool_)
            mask[[index_of[topic] for topic in topics if topic in index_of]] = True
            subscribed[id(topics)] = mask
        own = assignment.topic_index[assignment.offsets[place] : assignment.offsets[place + 1]]
        foreign = own[~subscribed[id(topics)][own]]
        if len(foreign):
            cases.append((member, assignment.topics[foreign[0]], len(foreign)))
    if not cases:
        return None
    count = sum(partitions for _, _, partitions in cases)
    name, topic, _ = cases[0]
    return Finding(
        "partitions_not_subscribed",
        f"{count} partitions go to {len(cases)} members that do not subscribe to their topics: of topic {topic} to "
        f"{name}",
        name,
        topic,
        count,
    )


def _beyond_topic(members: Sequence[Member], metadata: GroupMetadata) -> Finding | None:
    names = [name for name, topic in metadata.topics.items() if len(topic.replicas)]
    counts = np.array([len(metadata.topics[name].replicas) for name in names], np.int64)
    reader = OwnedReader(names)
    cases: list[tuple[str, str, int]] = []
    for member in members:
        where, ids = reader.read(member.owned)
        where, ids = where[where != UNKNOWN_TOPIC], ids[where != UNKNOWN_TOPIC]
        beyond = np.flatnonzero((ids < 0) | (ids >= counts[where])).tolist()
        cases += [(member.id, names[where[place]], int(ids[place])) for place in beyond]
    if not cases:
        return None
    owner, topic, partition = cases[0]
    return Finding(
        "partition_beyond_topic",
        f"{len(cases)} owned partitions do not exist: member {owner} owns partition {partition} of topic {topic}, "
        f"which has {len(metadata.topics[topic].replicas)}",
        owner,
        topic,
        len(cases),
    )


def _assigned_twice(assignment: GroupAssignment | None) -> Finding | None:
    if assignment is None or not len(assignment.partitions):
        return None
    keys = assignment.topic_index.astype(np.int64) << 32 | assignment.partitions.astype(np.int64) & 0xFFFFFFFF
    order = np.argsort(keys, kind="stable")
    again = order[1:][keys[order][1:] == keys[order][:-1]]
    if not len(again):
        return None
    entry = int(again[0])
    topic = assignment.topics[assignment.topic_index[entry]]
    member = assignment.members[int(np.searchsorted(assignment.offsets, entry, side="right")) - 1]
    return Finding(
        "partition_assigned_twice",
        f"{len(again)} partitions are assigned more than once: partition {assignment.partitions[entry]} of topic "
        f"{topic}, to {member} and before",
        member,
        topic,
        len(again),
    )


def _missing_topic_counts(members: Sequence[Member], metadata: GroupMetadata) -> Finding | None:
    distinct = {id(member.topics): member.topics for member in members}.values()
    full = {frozenset(topics) for topics in distinct}
    known = {name for name, topic in metadata.topics.items() if len(topic.replicas)}
    if len(full) < 2 or len({topics & known for topics in full}) > 1:
        return None
    missing = sorted(frozenset().union(*full) - known)
    return Finding(
        "missing_topic_counts",
        f"subscriptions differ only in topics that have no metadata, {len(missing)} of them ({missing[0]} first); "
        "they are taken for unequal all the same",
        topic=missing[0],
        count=len(missing),
    )
