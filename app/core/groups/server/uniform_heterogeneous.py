"""The uniform assignor if members subscribe to different topics.

Members keep what they own of topics that they still subscribe to. Topics are visited by most partitions a subscriber,
then fewest subscribers, then id. Each in turn assigns its unassigned partitions to the subscribers with the fewest
partitions of all topics; ties are broken by the order of Kafka's hash map of members. Then, topic by topic again,
partitions move from the subscribers with the most to those with the fewest as long as that balances them, for at most
16 rounds over all topics. Kafka sorts the subscribers anew for every topic. Their counts are close together, so that a
counting sort serves here.

    M0 and M1 subscribe to T1, M1 and M2 to T2; four partitions each, none of which is owned

    T1 → M0: 0 2, M1: 1 3        T2 → M2: 0 1 2, M1: 3

Source: `org.apache.kafka.coordinator.group.assignor.UniformHeterogeneousAssignmentBuilder` of Kafka 4.0.0 to 4.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions, named_without_partitions
from app.core.groups.arrays.partition_table import PartitionOwners
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupAssignment
from app.core.groups.server import uniform_kernel as kernel
from app.core.groups.server.group import ServerGroup, id_bits, require_subscribed_topics, signed_halves
from app.core.model import NO_MEMBER, Int32s, Int64s
from app.errors.kafka import KafkaError, OwnedPartitionMissing


def assign(group: ServerGroup, topics: Mapping[str, int]) -> GroupAssignment:
    """Assign the partitions of the subscribed topics; see `uniform.assign`."""
    subscriptions = group.subscriptions
    require_subscribed_topics(subscriptions, topics, first_only=False)
    if not subscriptions.topics:
        return PartitionOwners.of_patterns((), (), ()).assignment([])
    table = _SubscribedTopics.of(subscriptions, topics)
    index_of = {name: topic for topic, name in enumerate(table.names)}
    owned = MemberPartitions.owned(group.members, index_of).distinct()
    current = owned.select(subscriptions.is_subscribed(owned.members, owned.topics))
    _require_existing(current, table)
    rows = table.starts[current.topics] + current.partitions
    owners = np.full(int(table.counts.sum()), NO_MEMBER, np.int32)
    owners[rows] = current.members
    # Of several owners the last one counts; the others keep the partition all the same.
    is_shared = owners[rows] != current.members
    sizes = np.bincount(current.members, minlength=len(group.members)).astype(np.int64)
    order = table.order()
    kernel.assign_unassigned(order, *table.arrays(), owners, sizes)
    movable = order[table.subscriber_counts(order) >= 2]
    moves = kernel.balance(movable, *table.arrays(), owners, sizes)
    # A member that came to own what it shared, and sent it to another, does not have it any more.
    sent = moves[:, 0] * len(sizes) + moves[:, 1]
    shared = current.select(is_shared & ~np.isin(rows * len(sizes) + current.members, sent))
    without_partitions = _still_named(named_without_partitions(group.members, index_of), subscriptions, moves, table)
    return _answer(group, table, owners, shared, without_partitions)


@dataclass(frozen=True, slots=True, eq=False)
class _SubscribedTopics:
    """The subscribed topics and their subscribers.

    Parameters
    ----------
    names : topic ids.
    starts, counts : (topics,) int64, the first row of each topic and its number of partitions.
    subscriber_set_of : (topics,) int32.
    set_starts : (subscriber sets + 1,) int64; set s is subscribers[set_starts[s] : set_starts[s + 1]].
    subscribers : int64 members by subscriber set, ascending in each.
    """

    names: Sequence[str]
    starts: Int64s = field(repr=False)
    counts: Int64s = field(repr=False)
    subscriber_set_of: Int32s = field(repr=False)
    set_starts: Int64s = field(repr=False)
    subscribers: Int64s = field(repr=False)

    @classmethod
    def of(cls, subscriptions: Subscriptions, topics: Mapping[str, int]) -> Self:
        counts = np.array([topics[name] for name in subscriptions.topics], np.int64)
        ascending = np.arange(len(subscriptions.list_of_member))
        sets = [subscriptions.members_of(each, ascending) for each in range(len(subscriptions.lists_of_subscriber_set))]
        set_starts = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        starts = np.cumsum(counts) - counts
        set_of = subscriptions.subscriber_set_of_topic
        return cls(subscriptions.topics, starts, counts, set_of, set_starts, np.concatenate(sets))

    def arrays(self) -> tuple[Int64s, Int64s, Int32s, Int64s, Int64s]:
        """The arguments of the compiled loops, in their order."""
        return self.starts, self.counts, self.subscriber_set_of, self.set_starts, self.subscribers

    def subscriber_counts(self, topics: Int64s) -> Int64s:
        """Number of subscribers of each topic: (n,) int64."""
        counts: Int64s = np.diff(self.set_starts)[self.subscriber_set_of[topics]]
        return counts

    def order(self) -> Int64s:
        """The topics by most partitions a subscriber, then by fewest subscribers, then by id."""
        subscribers = self.subscriber_counts(np.arange(len(self.names)))
        high, low = signed_halves(id_bits(self.names)).T
        return np.lexsort((low, high, subscribers, -self.counts / subscribers))


def _require_existing(owned: MemberPartitions, table: _SubscribedTopics) -> None:
    is_missing = ~owned.exist(table.counts)
    if is_missing.any():
        first = int(np.argmax(is_missing))
        topic, partition = int(owned.topics[first]), int(owned.partitions[first])
        raise OwnedPartitionMissing(
            f"a member owns partition {partition} of topic {table.names[topic]}, which has {table.counts[topic]}",
            kafka=KafkaError("ArrayIndexOutOfBoundsException"),
            path=("members",),
            topic=table.names[topic],
            partition=partition,
            partitions=int(table.counts[topic]),
        )


def _still_named(
    without_partitions: Sequence[tuple[int, int]], subscriptions: Subscriptions, moves: Int64s, table: _SubscribedTopics
) -> list[tuple[int, int]]:
    """The (member, topic) pairs that Kafka still names: subscribed, and no partition of the topic was sent away."""
    topic_of_move = np.searchsorted(table.starts, moves[:, 0], side="right") - 1
    senders = set(zip(moves[:, 1].tolist(), topic_of_move.tolist(), strict=True)) if without_partitions else set()
    pairs = np.array(without_partitions, np.int64).reshape(-1, 2)
    is_subscribed = subscriptions.is_subscribed(pairs[:, 0], pairs[:, 1]).tolist()
    return [
        pair
        for pair, subscribed in zip(without_partitions, is_subscribed, strict=True)
        if subscribed and pair not in senders
    ]


def _answer(
    group: ServerGroup,
    table: _SubscribedTopics,
    owners: Int32s,
    shared: MemberPartitions,
    without_partitions: Sequence[tuple[int, int]],
) -> GroupAssignment:
    """The owners' lists with the shared partitions and the topics that are named without partitions added."""
    by_name = np.array(sorted(range(len(table.names)), key=table.names.__getitem__), np.int64)
    names = [table.names[topic] for topic in by_name.tolist()]
    by_caller = group.hashed[owners].astype(np.int32)
    assignment = PartitionOwners(names, table.starts[by_name], table.counts[by_name], by_caller).assignment(group.ids)
    if not len(shared) and not without_partitions:
        return assignment
    position = np.empty_like(by_name)
    position[by_name] = np.arange(len(by_name))
    additional = MemberPartitions(group.hashed[shared.members], position[shared.topics], shared.partitions)
    pairs = MemberPartitions.concatenate([MemberPartitions.of(assignment), additional])
    named = [(int(group.hashed[member]), int(position[topic])) for member, topic in without_partitions]
    return pairs.assignment(group.ids, names, without_partitions=named)
