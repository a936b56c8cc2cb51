"""The classic range assignor, rack-aware since KIP-881.

Goals, in order
    1. Each topic is divided among its subscribers into shares that differ by at most one partition.
    2. Topics with as many partitions and the same subscribers are divided alike (co-partitioning).
    3. If racks distinguish partitions, members get partitions with a replica in their rack.
    4. A share is a range of partitions.

Algorithm
    Members are visited in one order: static members by group instance id, then the others by member id. Without racks,
    each takes the next partitions, the first ones one more if the division leaves a remainder. If racks distinguish the
    partitions of any topic, all topics are first divided by rack, and the rest as in steps 1 and 2:

    - co-partitioned topics: each partition number goes to the first member below its share whose rack contains a
      replica of that partition of *every* one of the topics;
    - a single topic, if racks distinguish its partitions: each member takes the first partitions with a replica in its
      rack, up to its share.

    A member without a rack matches any. Racks distinguish a topic's partitions if a subscriber's rack contains one of
    its replicas, and some partition has no replica in a rack in which another one has one. Offline replicas count.

C0 in rack a and C1 in rack b subscribe to t0, whose four partitions are in the racks b, a, b, a:

    C0 → t0: 1 3        C1 → t0: 0 2        without racks: C0 → t0: 0 1, C1 → t0: 2 3

Kafka tests every member with every partition and sorts the lists afterwards. Three facts save this work:
co-partitioned topics have one pattern of owners; a member that has reached its share never gets more, so that the queue
of each rack's members is walked once; and if topics are visited by name, each list is sorted.

Source: KIP-881, "Rack-aware Partition Assignment for Kafka Consumers";
`org.apache.kafka.clients.consumer.RangeAssignor`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.groups.arrays.partition_table import PartitionOwners, range_owners
from app.core.groups.arrays.racks import RackTable
from app.core.groups.arrays.subscriptions import Subscriptions, static_first
from app.core.groups.classic import range_kernel as kernel
from app.core.groups.model import GroupAssignment, GroupMetadata, Member, TopicMetadata
from app.core.jvm import string_hash_order
from app.core.jvm.hashes import utf16_order
from app.core.kafka_versions import Replayed
from app.core.model import NO_RACK, Int32s, Int64s

REPLAYS = Replayed("org.apache.kafka.clients.consumer.RangeAssignor")


def assign(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
    """Assign partitions as `RangeAssignor` does. O(members log members + partitions · replication factor).

    Parameters
    ----------
    members : of distinct ids; owned partitions have no influence.
    metadata : subscribed topics that it does not know, or knows without partitions, are left out.

    Returns
    -------
    Every member has a list: by topic name if racks were used, else in the order of Kafka's hash map of topics. No
    members, no lists.

    Examples
    --------
    >>> import numpy as np
    >>> from app.core.groups.model import GroupMetadata, Member, TopicMetadata
    >>> t0 = TopicMetadata("t0", np.array([[1], [0], [1], [0]], np.int32))
    >>> members = [Member("C0", ("t0",), rack_id="a"), Member("C1", ("t0",), rack_id="b")]
    >>> answer = assign(members, GroupMetadata({0: "a", 1: "b"}, {"t0": t0}))
    >>> answer.offsets.tolist(), answer.partitions.tolist()
    ([0, 2, 4], [1, 3, 0, 2])
    """
    problem = _RangeProblem.of(members, metadata)
    order: Sequence[int] = range(len(problem.topics))
    if problem.is_rack_aware():
        patterns = [problem.by_rack(group) for group in problem.groups]
        order = sorted(order, key=lambda topic: utf16_order(problem.topics[topic].name))
    else:
        patterns = [problem.by_range(group) for group in problem.groups]
    names = [problem.topics[topic].name for topic in order]
    owners = PartitionOwners.of_patterns(names, [problem.group_of[topic] for topic in order], patterns)
    return owners.assignment([member.id for member in members])


@dataclass(frozen=True, slots=True, eq=False)
class _CoPartitionedTopics:
    """Topics with the same subscribers and as many partitions, and their subscribers.

    Parameters
    ----------
    members : (subscribers,) int64 indices, in the order in which they are visited.
    racks : (subscribers,) int32, `NO_RACK` without one.
    """

    topics: Sequence[TopicMetadata]
    partitions: int
    members: Int64s = field(repr=False)
    racks: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class _RangeProblem:
    """The topics to divide, and their subscribers.

    Parameters
    ----------
    topics : in the order of Kafka's hash map.
    group_of : of each topic, its index in `groups`.
    """

    topics: Sequence[TopicMetadata]
    group_of: Sequence[int]
    groups: Sequence[_CoPartitionedTopics]
    rack_table: RackTable

    @classmethod
    def of(cls, members: Sequence[Member], metadata: GroupMetadata) -> Self:
        """Read a group as Kafka does: members, and with them topics, in the order of hash maps."""
        hashed = string_hash_order([member.id for member in members])
        in_hash_order = [members[index] for index in hashed.tolist()]
        subscriptions = Subscriptions.of(in_hash_order)
        rack_table = RackTable.of(members, metadata.rack_of)
        topics = [metadata.topics[name] for name in _in_hash_order(subscriptions.topics, metadata)]
        subscribers_of = dict(zip(subscriptions.topics, subscriptions.subscriber_set_of_topic.tolist(), strict=True))
        keys = [(subscribers_of[topic.name], len(topic.replicas)) for topic in topics]
        number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        group_of = [number_of[key] for key in keys]
        grouped: list[list[TopicMetadata]] = [[] for _ in number_of]
        for topic, number in zip(topics, group_of, strict=True):
            grouped[number].append(topic)
        visited = [hashed[each] for each in subscriptions.subscriber_sets(static_first(in_hash_order))]
        groups = [
            _CoPartitionedTopics(
                grouped[number], partitions, visited[subscribers], rack_table.of_member[visited[subscribers]]
            )
            for (subscribers, partitions), number in number_of.items()
        ]
        return cls(topics, group_of, groups, rack_table)

    def is_rack_aware(self) -> bool:
        """Whether racks distinguish the partitions of some topic."""
        return any(self._racks_distinguish(topic, group) for group in self.groups for topic in group.topics)

    def by_range(self, group: _CoPartitionedTopics) -> Int32s:
        """The member of each partition without regard to racks: (partitions,) int32."""
        return group.members[range_owners(group.partitions, len(group.members))].astype(np.int32)

    def by_rack(self, group: _CoPartitionedTopics) -> Int32s:
        """The member of each partition with regard to racks: (partitions,) int32."""
        first, *others = group.topics
        if (group.racks == NO_RACK).all() or not (others or self._racks_distinguish(first, group)):
            return self.by_range(group)
        racks = self.rack_table.racks_of(first.replicas)
        for topic in others:
            kernel.intersect_racks(racks, self.rack_table.broker_index(topic.replicas), self.rack_table.of_broker)
        divide = kernel.divide_by_partition if others else kernel.divide_by_member
        return group.members[divide(racks, group.racks, self.rack_table.count)].astype(np.int32)

    def _racks_distinguish(self, topic: TopicMetadata, group: _CoPartitionedTopics) -> bool:
        is_member_rack = np.zeros(self.rack_table.count, np.bool_)
        is_member_rack[group.racks[group.racks != NO_RACK]] = True
        if not is_member_rack.any():
            return False
        return bool(
            kernel.distinguishes(
                self.rack_table.broker_index(topic.replicas), self.rack_table.of_broker, is_member_rack
            )
        )


def _in_hash_order(subscribed: Sequence[str], metadata: GroupMetadata) -> list[str]:
    """Topics with partitions in the order of Kafka's hash map of them, which is filled from a set of all subscribed."""
    existing = []
    for index in string_hash_order(subscribed).tolist():
        topic = metadata.topics.get(subscribed[index])
        if topic is not None and len(topic.replicas):
            existing.append(subscribed[index])
    return [existing[index] for index in string_hash_order(existing).tolist()]
