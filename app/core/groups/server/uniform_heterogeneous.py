"""The uniform assignor if members subscribe to different topics.

Members keep partitions of topics that they still subscribe to. Topics are visited by most partitions a subscriber,
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

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions, named_without_partitions
from app.core.groups.arrays.partition_table import PartitionOwners
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupAssignment
from app.core.groups.server import uniform_kernel as kernel
from app.core.groups.server.group import ServerGroup, id_bits, require_subscribed_topics, signed_halves
from app.core.groups.server.uniform_kernel import TopicArrays
from app.core.model import NO_MEMBER, Int32s, Int64s
from app.errors.kafka import KafkaError, OwnedPartitionMissing


def assign(group: ServerGroup, topics: Mapping[str, int]) -> GroupAssignment:
    """Assign the partitions of the subscribed topics; see `uniform.assign`."""
    subscriptions = group.subscriptions
    require_subscribed_topics(subscriptions, topics, first_only=False)
    if not subscriptions.topics:
        return PartitionOwners.of_patterns((), (), ()).assignment([])
    names, table = subscriptions.topics, _table(subscriptions, topics)
    index_of = {name: topic for topic, name in enumerate(names)}
    owned = MemberPartitions.owned(group.members, index_of).distinct()
    current = owned.select(subscriptions.is_subscribed(owned.members, owned.topics))
    _require_existing(current, names, table.counts)
    rows = table.starts[current.topics] + current.partitions
    owners = np.full(int(table.counts.sum()), NO_MEMBER, np.int32)
    owners[rows] = current.members
    # Of several owners the last one counts; the others keep the partition all the same.
    is_shared = owners[rows] != current.members
    sizes = np.bincount(current.members, minlength=len(group.members)).astype(np.int64)
    subscribers = np.diff(table.set_starts)[table.subscriber_set_of]
    # By most partitions a subscriber, then by fewest subscribers, then by id.
    order = np.lexsort((*signed_halves(id_bits(names)).T[::-1], subscribers, -table.counts / subscribers))
    kernel.assign_unassigned(order, table, owners, sizes)
    moves = kernel.balance(order[subscribers[order] >= 2], table, owners, sizes)
    # A member that came to own a shared partition, and sent it to another, does not have it any more.
    sent = moves[:, 0] * len(sizes) + moves[:, 1]
    shared = current.select(is_shared & ~np.isin(rows * len(sizes) + current.members, sent))
    named = _still_named(named_without_partitions(group.members, index_of), subscriptions, moves, table.starts)
    return _answer(group, table, owners, shared, named)


def _table(subscriptions: Subscriptions, topics: Mapping[str, int]) -> TopicArrays:
    """The subscribed topics and their subscribers, in the order of `subscriptions`."""
    counts = np.array([topics[name] for name in subscriptions.topics], np.int64)
    ascending = np.arange(len(subscriptions.list_of_member))
    sets = [subscriptions.members_of(each, ascending) for each in range(len(subscriptions.lists_of_subscriber_set))]
    return TopicArrays(
        starts=np.cumsum(counts) - counts,
        counts=counts,
        subscriber_set_of=subscriptions.subscriber_set_of_topic,
        set_starts=np.cumsum([0, *map(len, sets)], dtype=np.int64),
        subscribers=np.concatenate(sets),
    )


def _require_existing(owned: MemberPartitions, names: Sequence[str], counts: Int64s) -> None:
    is_missing = ~owned.exist(counts)
    if is_missing.any():
        first = int(np.argmax(is_missing))
        topic, partition = int(owned.topics[first]), int(owned.partitions[first])
        raise OwnedPartitionMissing(
            f"a member owns partition {partition} of topic {names[topic]}, which has {counts[topic]}",
            kafka=KafkaError("ArrayIndexOutOfBoundsException"),
            path=("members",),
            topic=names[topic],
            partition=partition,
            partitions=int(counts[topic]),
        )


def _still_named(
    without_partitions: Sequence[tuple[int, int]], subscriptions: Subscriptions, moves: Int64s, starts: Int64s
) -> list[tuple[int, int]]:
    """The (member, topic) pairs that Kafka still names: subscribed, and no partition of the topic was sent away."""
    topic_of_move = np.searchsorted(starts, moves[:, 0], side="right") - 1
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
    table: TopicArrays,
    owners: Int32s,
    shared: MemberPartitions,
    without_partitions: Sequence[tuple[int, int]],
) -> GroupAssignment:
    """The owners' lists with the shared partitions and the topics that are named without partitions added."""
    topics = group.subscriptions.topics
    by_name = np.array(sorted(range(len(topics)), key=topics.__getitem__), np.int64)
    names = [topics[topic] for topic in by_name.tolist()]
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
