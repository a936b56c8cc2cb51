"""The group coordinator's uniform assignor (KIP-848). As shipped it ignores racks.

Hard constraints: each partition of a subscribed topic is assigned to one subscriber, except that Kafka lets two
members keep a partition that both own if subscriptions differ. Soft goals: balance first, then stickiness.

If all members subscribe to the same topics (homogeneous)
    Members are visited in the order of Kafka's hash map; the first ones get the remainder, one partition each. Each
    keeps what it owns up to its quota, in the order of a hash map of topics and of hash sets of partitions. The rest
    (first the partitions that no member owns, topic by topic in the order of a hash set, then those above a quota)
    fills the members in turn. Kafka walks all owned partitions in hash order. The order matters only for members above
    their quota, so that all others are processed as arrays here.

If subscriptions differ (heterogeneous)
    Members keep what they own of topics that they still subscribe to. Topics are visited by most partitions a
    subscriber, then fewest subscribers, then id. Each in turn assigns its unassigned partitions to the subscribers with
    the fewest partitions of all topics; ties are broken by the order of Kafka's hash map of members. Then, topic by
    topic again, partitions move from the subscribers with the most to those with the fewest as long as that balances
    them, for at most 16 rounds over all topics. Kafka sorts the subscribers anew for every topic. Their counts are
    close together, so that a counting sort serves here.

        M0 and M1 subscribe to T1, M1 and M2 to T2; four partitions each, none of which is owned

        T1 → M0: 0 2, M1: 1 3        T2 → M2: 0 1 2, M1: 3

Source: KIP-848; `org.apache.kafka.coordinator.group.assignor.UniformAssignor`, `UniformHomogeneousAssignmentBuilder`
and `UniformHeterogeneousAssignmentBuilder` of Apache Kafka 4.0. From 4.1 on any member may get the remainder
(KAFKA-18688), which is not reproduced here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions, OwnedPartitions
from app.core.groups.arrays.partition_table import PartitionOwners
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server import uniform_kernel as kernel
from app.core.groups.server.group import (
    ServerGroup,
    SubscriptionType,
    require_subscribed_topics,
    require_topics,
)
from app.core.groups.server.topic_ids import id_bits, set_copy_order, set_order, signed_halves
from app.core.jvm import hash_order
from app.core.jvm.hash_map import DEFAULT_CAPACITY, capacity_for
from app.core.model import NO_MEMBER, Int32s, Int64s
from app.errors.kafka import KafkaError, OwnedPartitionMissing, PartitionsLeftUnassigned


def assign(
    members: Sequence[Member], topics: Mapping[str, int], *, subscription_type: SubscriptionType | None = None
) -> GroupAssignment:
    """Assign partitions as the coordinator's `UniformAssignor` does.

    O(partitions + members) if the group is homogeneous, else O(rounds · (partitions + subscriptions)).

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids; `owned` is what the coordinator has assigned to them so far.
    topics : number of partitions by topic id.
    subscription_type : None to derive it. In a group declared homogeneous, all members are taken to subscribe to the
        topics of the first member in the order of Kafka's hash map.

    Returns
    -------
    Lists by topic id and partition: none if no member subscribes to a topic, else one for every member. If
    subscriptions differ, a partition that two members own can stay with both, as in Kafka.

    Raises
    ------
    SubscribedTopicMissing : if a member subscribes to a topic that is not in `topics`.
    OwnedPartitionMissing : if subscriptions differ and a member owns a partition that its topic does not have.
    PartitionsLeftUnassigned : if subscriptions are equal, and a member owns such a partition or one that another owns.

    Examples
    --------
    >>> from app.core.groups.model import Member
    >>> t1, t2 = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
    >>> answer = assign([Member("M0", (t1,)), Member("M1", (t1, t2)), Member("M2", (t2,))], {t1: 4, t2: 4})
    >>> answer.members, answer.offsets.tolist()
    (['M0', 'M1', 'M2'], [0, 2, 5, 8])
    >>> answer.topic_index.tolist(), answer.partitions.tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1], [0, 2, 1, 3, 3, 0, 1, 2])
    """
    group = ServerGroup.of(members, subscription_type)
    return _assign_homogeneous(group, topics) if group.is_homogeneous else _assign_heterogeneous(group, topics)


def _assign_homogeneous(group: ServerGroup, topics: Mapping[str, int]) -> GroupAssignment:
    subscribed = list(dict.fromkeys(group.members[0].topics)) if group.members else []
    if not subscribed:
        return PartitionOwners.of_patterns((), (), ()).assignment([])
    copied = set_copy_order(subscribed, max(capacity_for(len(subscribed)), DEFAULT_CAPACITY))
    in_set_order = [subscribed[index] for index in copied.tolist()]
    require_topics(in_set_order, topics)
    names = sorted(in_set_order)
    index_of = {name: index for index, name in enumerate(names)}
    counts = np.array([topics[name] for name in names], np.int64)
    starts = np.cumsum(counts) - counts
    owned = OwnedPartitions.of(group.members, index_of)
    _require_distinct(owned.pairs, starts, counts)
    rows = starts[owned.pairs.topics] + owned.pairs.partitions
    quotas = _quotas(int(counts.sum()), len(group.members))
    above_quota = _above_quota(owned.pairs, group.members, quotas, index_of)
    owners = np.full(int(counts.sum()), NO_MEMBER, np.int32)
    owners[rows] = owned.pairs.members
    by_topic = [starts[index_of[name]] + np.arange(topics[name]) for name in in_set_order]
    unowned = np.concatenate([topic_rows[owners[topic_rows] == NO_MEMBER] for topic_rows in by_topic])
    owners[rows[above_quota]] = NO_MEMBER
    slack = quotas - np.bincount(owners[owners != NO_MEMBER], minlength=len(quotas))
    owners[np.concatenate([unowned, rows[above_quota]])] = np.repeat(np.arange(len(quotas)), slack)
    assignment = PartitionOwners(names, starts, counts, group.hashed[owners].astype(np.int32)).assignment(group.ids)
    without_partitions = [
        (int(group.hashed[member]), topic)
        for member, topic in owned.without_partitions
        if member not in owners[starts[topic] : starts[topic] + counts[topic]]
    ]
    return replace(assignment, without_partitions=without_partitions)


def _quotas(partitions: int, members: int) -> Int64s:
    quotas = np.full(members, partitions // members, np.int64)
    quotas[: partitions % members] += 1
    return quotas


def _require_distinct(owned: MemberPartitions, starts: Int64s, counts: Int64s) -> None:
    """Raise if members own a partition that does not exist, or one that another member owns.

    Kafka counts these as assigned. As the quotas add up to the number of partitions, others are always left without a
    member, and Kafka's code fails.
    """
    exists = (owned.partitions >= 0) & (owned.partitions < counts[owned.topics])
    distinct = len(np.unique((starts[owned.topics] + owned.partitions)[exists], return_index=True)[1])
    if distinct < len(owned):
        raise PartitionsLeftUnassigned(
            f"members own {len(owned)} partitions, of which {distinct} exist and are owned once: "
            f"{len(owned) - distinct} others would be left without a member",
            kafka=KafkaError("PartitionAssignorException", "Partitions were left unassigned"),
            path=("members",),
            owned=len(owned),
            distinct=distinct,
        )


def _above_quota(
    owned: MemberPartitions, members: Sequence[Member], quotas: Int64s, index_of: Mapping[str, int]
) -> Int64s:
    """Owned partitions above their owner's quota, in Kafka's order: int64 indices of pairs."""
    sizes = np.bincount(owned.members, minlength=len(members))
    starts = np.cumsum(sizes) - sizes
    above: list[int] = []
    for index in np.flatnonzero(sizes > quotas).tolist():
        pairs = slice(starts[index], starts[index] + sizes[index])
        surplus = _surplus(members[index], owned.topics[pairs], owned.partitions[pairs], int(quotas[index]), index_of)
        above.extend(int(starts[index]) + place for place in surplus)
    return np.array(above, np.int64)


def _surplus(member: Member, topics: Int64s, partitions: Int64s, quota: int, index_of: Mapping[str, int]) -> list[int]:
    """Owned partitions of one member above its quota: places in `topics` and `partitions`, which are what it owns."""
    by_topic: dict[int, list[int]] = {}
    for place, topic in enumerate(topics.tolist()):
        by_topic.setdefault(topic, []).append(place)
    # Topics that it no longer subscribes to are in the hash map too, and enlarge it.
    names = list(dict.fromkeys(run.topic for run in member.owned))
    surplus: list[int] = []
    for name in (names[index] for index in set_order(names).tolist()):
        places = by_topic.get(index_of.get(name, -1), [])
        if len(places) > quota:
            numbers = partitions[places].astype(np.int32)
            surplus.extend(places[index] for index in hash_order(numbers, order=numbers.tolist())[quota:].tolist())
        quota = max(quota - len(places), 0)
    return surplus


def _assign_heterogeneous(group: ServerGroup, topics: Mapping[str, int]) -> GroupAssignment:
    subscriptions = group.subscriptions
    require_subscribed_topics(subscriptions, topics, first_only=False)
    if not subscriptions.topics:
        return PartitionOwners.of_patterns((), (), ()).assignment([])
    table = _SubscribedTopics.of(subscriptions, topics)
    owned = OwnedPartitions.of(group.members, {name: topic for topic, name in enumerate(table.names)})
    current = owned.pairs.select(subscriptions.is_subscribed(owned.pairs.members, owned.pairs.topics))
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
    without_partitions = _still_named(owned.without_partitions, subscriptions, moves, table)
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
    is_missing = (owned.partitions < 0) | (owned.partitions >= table.counts[owned.topics])
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
