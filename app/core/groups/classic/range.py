"""The classic range assignor, rack-aware as KIP-881 made it.

Goals, in order
    1. Each topic is dealt out to its subscribers in shares that differ by one partition at most.
    2. Topics of as many partitions and of the same subscribers are dealt out alike (co-partitioning).
    3. Where racks distinguish partitions, members get partitions with a replica in their rack.
    4. A share is a range of partitions.

Algorithm
    Subscribers stand in line: static members by instance id, then the others by member id. Without racks the first of
    them have one partition more where the division leaves a remainder, and each takes the next ones. As soon as racks
    distinguish the partitions of one topic, all topics are dealt out by rack first, and what is left over as above:

    - co-partitioned topics: each partition number goes to the first in line who may have more and whose rack has a
      replica of that partition of *every* one of the topics;
    - a topic by itself, if racks distinguish its partitions: each in line takes as many as it may of the first ones
      with a replica in its rack.

    A member without a rack matches any. Racks distinguish a topic's partitions where a subscriber's rack holds one of
    its replicas, and some partition has no replica in a rack where another has one. Replicas count though offline.

C0 in rack a and C1 in rack b read t0, whose four partitions are in the racks b, a, b, a:

    C0 → t0: 1 3        C1 → t0: 0 2        without racks: C0 → t0: 0 1, C1 → t0: 2 3

Kafka asks every member for every partition and sorts the lists afterwards. The same answer is had faster: topics that
are co-partitioned have one pattern of owners, found once; a member that may have no more never may again, so that each
rack's queue of members is walked once; and where topics are gone through by name, each list comes out sorted.

Source: KIP-881, "Rack-aware Partition Assignment for Kafka Consumers";
`org.apache.kafka.clients.consumer.RangeAssignor`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.groups.arrays.audiences import Audiences
from app.core.groups.arrays.member_order import hash_ordered, static_first
from app.core.groups.arrays.owners import Owners
from app.core.groups.arrays.rack_index import RackIndex
from app.core.groups.arrays.ranges import in_ranges
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, TopicMetadata
from app.core.jvm.hashes import utf16_order
from app.core.model import Int32s, Int64s


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `RangeAssignor` does.

    Parameters
    ----------
    members : of distinct ids; what they own does not count.
    metadata : subscribed topics that it does not know, or knows without partitions, are left out.

    Returns
    -------
    Every member has a list. Lists go by topic name where racks counted, else in the order of Kafka's hash map of
    topics; no members, no lists.
    """
    line = _Line.of(members, metadata)
    order: Sequence[int] = range(len(line.topics))
    if line.is_rack_aware():
        patterns = [line.by_rack(group) for group in line.groups]
        order = sorted(order, key=lambda topic: utf16_order(line.topics[topic].name))
    else:
        patterns = [line.by_range(group) for group in line.groups]
    names = [line.topics[topic].name for topic in order]
    owners = Owners.alike(names, [line.group_of[topic] for topic in order], patterns)
    return owners.assignment([member.id for member in members])


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Topics of the same subscribers and of as many partitions, and who stands in line for them.

    Parameters
    ----------
    members : indices, in line. racks : of each, -1 without one.
    """

    topics: Sequence[TopicMetadata]
    partitions: int
    members: Int64s = field(repr=False)
    racks: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """What there is to deal out, and to whom.

    Parameters
    ----------
    topics : in the order of Kafka's hash map. group_of : of each, its index in `groups`.
    """

    topics: Sequence[TopicMetadata]
    group_of: Sequence[int]
    groups: Sequence[_Group]
    index: RackIndex

    @classmethod
    def of(cls, members: Sequence[Member], metadata: GroupMetadata) -> Self:
        """Read a group as Kafka does: its members, and with them the topics, come in the order of hash maps."""
        hashed = hash_ordered([member.id for member in members])
        read = [members[index] for index in hashed.tolist()]
        audiences = Audiences.of(read)
        index = RackIndex.of(members, metadata.rack_of)
        topics = [metadata.topics[name] for name in _in_hash_order(audiences.topics, metadata)]
        audience_of = dict(zip(audiences.topics, audiences.audience_of.tolist(), strict=True))
        keys = [(audience_of[topic.name], len(topic.replicas)) for topic in topics]
        number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        group_of = [number_of[key] for key in keys]
        alike: list[list[TopicMetadata]] = [[] for _ in number_of]
        for topic, number in zip(topics, group_of, strict=True):
            alike[number].append(topic)
        in_line = static_first(read)
        lines = {audience: hashed[audiences.members_of(audience, in_line)] for audience, _ in number_of}
        groups = [
            _Group(alike[number], partitions, lines[audience], index.of_member[lines[audience]])
            for (audience, partitions), number in number_of.items()
        ]
        return cls(topics, group_of, groups, index)

    def is_rack_aware(self) -> bool:
        """Whether racks distinguish the partitions of some topic."""
        return any(self._racks_distinguish(topic, group) for group in self.groups for topic in group.topics)

    def by_range(self, group: _Group) -> Int32s:
        """The member of each partition, where racks do not count."""
        return group.members[in_ranges(group.partitions, len(group.members))].astype(np.int32)

    def by_rack(self, group: _Group) -> Int32s:
        """The member of each partition, where racks count."""
        from app.core.groups.classic import range_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

        first, *others = group.topics
        if (group.racks < 0).all() or not (others or self._racks_distinguish(first, group)):
            return self.by_range(group)
        racks = kernel.racks_of(self.index.brokers_of(first.replicas), self.index.of_broker)
        for topic in others:
            kernel.keep_shared(racks, self.index.brokers_of(topic.replicas), self.index.of_broker)
        deal = kernel.deal_partition_by_partition if others else kernel.deal_seat_by_seat
        return group.members[deal(racks, group.racks, self.index.racks)].astype(np.int32)

    def _racks_distinguish(self, topic: TopicMetadata, group: _Group) -> bool:
        from app.core.groups.classic import range_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

        wanted = np.zeros(self.index.racks, np.bool_)
        wanted[group.racks[group.racks >= 0]] = True
        if not wanted.any():
            return False
        return bool(kernel.distinguishes(self.index.brokers_of(topic.replicas), self.index.of_broker, wanted))


def _in_hash_order(subscribed: Sequence[str], metadata: GroupMetadata) -> list[str]:
    """The topics that have partitions, as they come out of a set of all that are subscribed and a map of these."""
    known = []
    for index in hash_ordered(subscribed).tolist():
        topic = metadata.topics.get(subscribed[index])
        if topic is not None and len(topic.replicas):
            known.append(subscribed[index])
    return [known[index] for index in hash_ordered(known).tolist()]
