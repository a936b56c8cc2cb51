"""How well a share group covers its partitions: those without a member, members per partition, loads of members.

A partition may be read by several members, so that two things count: that each has one, and that members have as many
partitions. The best possible is exact:

    partitions without a member   of topics to which no member subscribes
    largest load                  the smallest possible if each partition has one member (`fair_shares`); members beyond
                                  that share a partition, which makes no load larger
    spread of loads               0, but for members that subscribe to fewer partitions than the largest load
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions, owned_topics
from app.core.groups.arrays.partition_table import partition_table
from app.core.groups.arrays.subscriptions import subscription_classes
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.optimum.fair_shares import fair_shares

MemberPartition: TypeAlias = tuple[str, str, int]
"""Member id, topic and partition id."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The partitions that may be assigned, and their members.

    Parameters
    ----------
    partitions : of topics to which a member subscribes, as far as they may be assigned.
    uncovered : of these, the topics and ids of those without a member.
    fewest_members, most_members : of a partition.
    smallest_load, largest_load : partitions of a member.
    """

    partitions: int
    uncovered: tuple[tuple[str, int], ...]
    fewest_members: int
    most_members: int
    smallest_load: int
    largest_load: int

    @property
    def spread(self) -> int:
        """Largest − smallest load."""
        return self.largest_load - self.smallest_load


def restricted(metadata: GroupMetadata, assignable: Mapping[str, Collection[int]] | None) -> GroupMetadata:
    """The metadata with as many partitions of each topic as may be assigned; without their ids."""
    if assignable is None:
        return metadata
    topics = {
        name: replace(topic, replicas=topic.replicas[: len(set(assignable.get(name, ())))])
        for name, topic in metadata.topics.items()
    }
    return replace(metadata, topics=topics)


def coverage(
    members: Sequence[Member],
    metadata: GroupMetadata,
    assignment: GroupAssignment,
    assignable: Mapping[str, Collection[int]] | None = None,
) -> Coverage:
    """Measure an assignment.

    Parameters
    ----------
    assignable : by topic, the partitions that may be assigned; None for all.
    """
    subscribed = sorted({topic for member in members for topic in member.topics if topic in metadata.topics})
    targets = {
        (topic, number)
        for topic in subscribed
        for number in (range(len(metadata.topics[topic].replicas)) if assignable is None else assignable.get(topic, ()))
    }
    members_of = dict.fromkeys(targets, 0)
    loads = {member.id: 0 for member in members}
    for member, topic, number in member_partitions(assignment):
        loads[member] += 1
        if (topic, number) in members_of:
            members_of[topic, number] += 1
    counts = members_of.values()
    return Coverage(
        partitions=len(targets),
        uncovered=tuple(sorted(partition for partition, count in members_of.items() if not count)),
        fewest_members=min(counts, default=0),
        most_members=max(counts, default=0),
        smallest_load=min(loads.values(), default=0),
        largest_load=max(loads.values(), default=0),
    )


def member_partitions(assignment: GroupAssignment) -> set[MemberPartition]:
    member_of = np.repeat(np.arange(len(assignment.members)), np.diff(assignment.offsets)).tolist()
    pairs = zip(member_of, assignment.topic_index.tolist(), assignment.partitions.tolist(), strict=True)
    return {(assignment.members[member], assignment.topics[topic], number) for member, topic, number in pairs}


def shared_assignment(members: Sequence[Member]) -> GroupAssignment:
    """The owned partitions as an assignment; several members may own one partition."""
    topics = sorted(frozenset[str]().union(*map(owned_topics, members)))
    owned = MemberPartitions.owned(members, {topic: index for index, topic in enumerate(topics)})
    return owned.assignment([member.id for member in members], topics)


@dataclass(frozen=True, slots=True)
class BestSharing:
    """The best values among assignments that cover every subscribed partition.

    Parameters
    ----------
    largest_load : in partitions of a member.
    spread : largest − smallest load, with that largest load. Members share partitions to reach it.
    """

    largest_load: int
    spread: int


def best_sharing(members: Sequence[Member], metadata: GroupMetadata) -> BestSharing:
    """The best largest load and spread, exactly. The largest load comes from the fairest division of partitions among
    members; a member with less can read partitions of others, up to all that it subscribes to.

    Parameters
    ----------
    metadata : with the partitions that may be assigned.

    Examples
    --------
    >>> from app.core.groups.model import TopicMetadata
    >>> def topic(name, partitions):
    ...     return TopicMetadata(name, np.empty((partitions, 0), np.int32))
    >>> metadata = GroupMetadata({}, {"a": topic("a", 1), "b": topic("b", 6)})
    >>> best_sharing([Member("M0", ("a",)), Member("M1", ("b",)), Member("M2", ("a", "b"))], metadata)
    BestSharing(largest_load=3, spread=2)
    """
    table = partition_table(metadata)
    shares = fair_shares(subscription_classes(members, table))
    largest = max((share.high for share in shares), default=0)
    sizes = {topic: len(metadata.topics[topic].replicas) for topic in metadata.topics}
    reach = min((sum(sizes.get(topic, 0) for topic in set(member.topics)) for member in members), default=0)
    return BestSharing(largest, largest - min(largest, reach))
