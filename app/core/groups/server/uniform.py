"""The group coordinator's uniform assignor (KIP-848). As shipped it ignores racks.

Hard constraints: each partition of a subscribed topic is assigned to one subscriber, except that Kafka lets two
members keep a partition that both own if subscriptions differ. Soft goals: balance first, then stickiness.

If all members subscribe to the same topics, `Remainder` differs between releases; else all releases decide alike.

Source: KIP-848; `UniformAssignor`, `UniformHomogeneousAssignmentBuilder` and `UniformHeterogeneousAssignmentBuilder` of
`org.apache.kafka.coordinator.group.assignor` of Apache Kafka 4.0.0 to 4.4.

If all members subscribe to the same topics, they are visited in the order of Kafka's hash map. Each keeps its
partitions up to its quota, in the order of a hash map of topics and of hash sets of partitions. The rest (first the
partitions that no member owns, topic by topic in the order of a hash set, then those above a quota) fills the members
in turn. Quotas differ by one partition if the members do not divide the partitions evenly; `Remainder` names the
members that have the larger one.

    M0, M1 and M2 subscribe to T1 of four partitions; M2 owns 2 and 3

    FIRST_MEMBERS   M0 → 0 1    M1 → 3    M2 → 2        M2 loses a partition, since the first member has two
    OWNERS          M0 → 0      M1 → 1    M2 → 2 3

Kafka walks all owned partitions in hash order. The order matters only for members above their quota, so that all others
are processed as arrays here. In a bucket of a hash set it is that in which the coordinator assigned the partitions,
which only the coordinator knows: here it is the order in which a member lists them, and `arbitrary_choices` counts the
buckets for which it decides.

If members subscribe to different topics, they keep partitions of topics that they still subscribe to. Topics are
visited by most partitions a subscriber, then fewest subscribers, then id. Each in turn assigns its unassigned
partitions to the subscribers with the fewest partitions of all topics; ties are broken by the order of Kafka's hash map
of members. Then, topic by topic again, partitions move from the subscribers with the most to those with the fewest as
long as that balances them, for at most 16 rounds over all topics. Kafka sorts the subscribers anew for every topic.
Their counts are close together, so that a counting sort serves here.

    M0 and M1 subscribe to T1, M1 and M2 to T2; four partitions each, none of which is owned

    T1 → M0: 0 2, M1: 1 3        T2 → M2: 0 1 2, M1: 3
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from app.core.groups.arrays.owned import UNKNOWN_TOPIC, MemberPartitions, named_without_partitions, owned_topics
from app.core.groups.arrays.partition_table import PartitionOwners
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server import uniform_kernel as kernel
from app.core.groups.server.group import (
    ServerGroup,
    SubscriptionType,
    id_bits,
    require_subscribed_topics,
    require_topics,
    set_order,
    signed_halves,
)
from app.core.groups.server.uniform_kernel import TopicArrays
from app.core.jvm import hash_order
from app.core.jvm.hash_map import CHAIN_LIMIT, DEFAULT_CAPACITY, TREE_TABLE, capacity_for, table_size
from app.core.kafka_versions import KafkaRange, Replayed
from app.core.model import NO_MEMBER, Int32s, Int64s
from app.errors.kafka import KafkaError, OwnedPartitionMissing, PartitionsLeftUnassigned


class Remainder(Enum):
    """Which members have one partition more, if the members do not divide the partitions evenly."""

    FIRST_MEMBERS = "first_members"
    """The first members in the coordinator's order (4.0.0)."""
    OWNERS = "owners"
    """Members that own more than the others may have; then the last members (since 4.0.1, KAFKA-18688)."""


def _to_homogeneous(group: ServerGroup, topics: Mapping[str, int], remainder: Remainder) -> GroupAssignment:
    """Assign the partitions of the topics that the first member subscribes to; see `assign`."""
    subscribed = list(dict.fromkeys(group.members[0].topics)) if group.members else []
    if not subscribed:
        return PartitionOwners.of_patterns((), (), ()).assignment([])
    capacity = max(capacity_for(len(subscribed)), DEFAULT_CAPACITY)
    in_set_order = [subscribed[index] for index in set_order(subscribed, capacity).tolist()]
    require_topics(in_set_order, topics)
    names = sorted(in_set_order)
    index_of = {name: index for index, name in enumerate(names)}
    counts = np.array([topics[name] for name in names], np.int64)
    starts = np.cumsum(counts) - counts
    owned = MemberPartitions.owned(group.members, index_of).distinct()
    _require_distinct(owned, starts, counts)
    rows = starts[owned.topics] + owned.partitions
    quotas = _QUOTAS[remainder](int(counts.sum()), np.bincount(owned.members, minlength=len(group.members)))
    excesses = list(_excesses(owned, group.members, quotas, index_of))
    above_quota = np.concatenate([np.zeros(0, np.int64), *(each.pairs[each.kept :] for each in excesses)])
    owners = np.full(int(counts.sum()), NO_MEMBER, np.int32)
    owners[rows] = owned.members
    in_visit_order = np.concatenate([starts[index_of[name]] + np.arange(topics[name]) for name in in_set_order])
    added = _fill(owners, quotas, in_visit_order, rows[above_quota])
    assignment = PartitionOwners(names, starts, counts, group.hashed[owners].astype(np.int32)).assignment(group.ids)
    without_partitions = [
        (int(group.hashed[member]), topic)
        for member, topic in named_without_partitions(group.members, index_of)
        if member not in owners[starts[topic] : starts[topic] + counts[topic]]
    ]
    insertions = np.stack([group.hashed[owners[added]], np.searchsorted(starts, added, side="right") - 1], axis=1)
    return replace(
        assignment,
        without_partitions=without_partitions,
        insertions=insertions,
        arbitrary_choices=_arbitrary_choices(owned.partitions, excesses, owners[rows[above_quota]]),
    )


def _fill(owners: Int32s, quotas: Int64s, in_visit_order: Int64s, above_quota: Int64s) -> Int64s:
    """Assign the rows without a member, then those above a quota; changes `owners`, returns these rows in order."""
    added = np.concatenate([in_visit_order[owners[in_visit_order] == NO_MEMBER], above_quota])
    owners[above_quota] = NO_MEMBER
    slack = quotas - np.bincount(owners[owners != NO_MEMBER], minlength=len(quotas))
    owners[added] = np.repeat(np.arange(len(quotas)), slack)
    return added


def _quotas_of_first_members(partitions: int, sizes: Int64s) -> Int64s:
    quota, extras = divmod(partitions, len(sizes))
    quotas = np.full(len(sizes), quota, np.int64)
    quotas[:extras] += 1
    return quotas


def _quotas_of_owners(partitions: int, sizes: Int64s) -> Int64s:
    """A member that would have room with an extra partition leaves it to a later one, while enough members follow."""
    quota, extras = divmod(partitions, len(sizes))
    takes = sizes > quota
    # The member at which the extras that are left are as many as the members from it on: these all take one.
    left = np.maximum(extras - (np.cumsum(takes) - takes), 0)
    takes |= left >= np.arange(len(sizes), 0, -1)
    quotas = np.full(len(sizes), quota, np.int64)
    quotas[np.flatnonzero(takes)[:extras]] += 1
    return quotas


_QUOTAS = {Remainder.FIRST_MEMBERS: _quotas_of_first_members, Remainder.OWNERS: _quotas_of_owners}


def _require_distinct(owned: MemberPartitions, starts: Int64s, counts: Int64s) -> None:
    """Raise if members own a partition that does not exist, or one that another member owns.

    Kafka counts these as assigned. As the quotas add up to the number of partitions, others are always left without a
    member, and Kafka's code fails.
    """
    rows = (starts[owned.topics] + owned.partitions)[owned.exist(counts)]
    distinct = len(np.unique(rows, return_index=True)[1])
    if distinct < len(owned):
        raise PartitionsLeftUnassigned(
            f"members own {len(owned)} partitions, of which {distinct} exist and are owned once: "
            f"{len(owned) - distinct} others would be left without a member",
            kafka=KafkaError("PartitionAssignorException", "Partitions were left unassigned"),
            path=("members",),
            owned=len(owned),
            distinct=distinct,
        )


class _Excess(NamedTuple):
    """The partitions of a topic that a member owns above its quota.

    Parameters
    ----------
    pairs : (owned,) int64 indices of pairs, in the order of Kafka's hash set. kept : how many of them the member keeps.
    """

    pairs: Int64s
    kept: int


def _excesses(
    owned: MemberPartitions, members: Sequence[Member], quotas: Int64s, index_of: Mapping[str, int]
) -> Iterator[_Excess]:
    """The partitions that members own above their quotas, in Kafka's order."""
    sizes = np.bincount(owned.members, minlength=len(members))
    starts = np.cumsum(sizes) - sizes
    for index in np.flatnonzero(sizes > quotas).tolist():
        start, quota = int(starts[index]), int(quotas[index])
        by_topic: dict[int, list[int]] = {}
        for place, topic in enumerate(owned.topics[start : start + sizes[index]].tolist(), start):
            by_topic.setdefault(topic, []).append(place)
        # Topics that it no longer subscribes to are in the hash map too, and enlarge it.
        names = list(owned_topics(members[index]))
        for name in (names[at] for at in set_order(names).tolist()):
            pairs = np.array(by_topic.get(index_of.get(name, UNKNOWN_TOPIC), ()), np.int64)
            if len(pairs) > quota:
                numbers = owned.partitions[pairs].astype(np.int32)
                yield _Excess(pairs[hash_order(numbers, order=numbers.tolist().__getitem__)], quota)
            quota = max(quota - len(pairs), 0)


def _arbitrary_choices(partitions: Int64s, excesses: Iterable[_Excess], receivers: Int64s) -> int:
    """How often the coordinator's history decides which partitions a member keeps, or which member gets them.

    Another order in a bucket exchanges the partitions of its places, which matters if not all of these are kept or go
    to the same member. Another size of the table exchanges places of different buckets.

    Parameters
    ----------
    partitions : (owned,) int64 number of each pair.
    receivers : (above quotas,) int64 members, in the order of excesses.
    """
    choices = start = 0
    for pairs, kept in excesses:
        stop = start + len(pairs) - kept
        fates = np.concatenate([np.full(kept, NO_MEMBER), receivers[start:stop]])
        start, orders = stop, []
        codes = partitions[pairs] ^ (partitions[pairs] >> 16)
        for size in _table_sizes(codes):
            buckets = codes & (size - 1)
            order = np.argsort(buckets, kind="stable")
            is_chosen = (np.diff(buckets[order]) == 0) & (np.diff(fates) != 0)
            choices += len(np.unique(buckets[order][1:][is_chosen]))
            orders.append(fates[np.argsort(order)])
        choices += any(not np.array_equal(each, orders[0]) for each in orders)
    return choices


def _table_sizes(codes: Int64s) -> set[int]:
    """The possible sizes of a hash set that is a copy of another: they differ for 3·2ᵏ keys, and with full buckets."""
    sizes = {table_size(max(capacity_for(len(codes), jdk=jdk), DEFAULT_CAPACITY)) for jdk in (17, 19)}
    if np.bincount(codes & (min(sizes) - 1)).max() > CHAIN_LIMIT:
        sizes |= {size for size in (32, TREE_TABLE) if size > min(sizes)}
    return sizes


def _to_heterogeneous(group: ServerGroup, topics: Mapping[str, int]) -> GroupAssignment:
    """Assign the partitions of the subscribed topics; see `assign`."""
    subscriptions = group.subscriptions
    require_subscribed_topics(subscriptions, topics, first_only=False)
    if not subscriptions.topics:
        return PartitionOwners.of_patterns((), (), ()).assignment([])
    names, table = subscriptions.topics, _topic_arrays(subscriptions, topics)
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
    if is_shared.any():
        is_shared &= ~np.isin(rows * len(sizes) + current.members, sent)
    shared = current.select(is_shared)
    named = _still_named(named_without_partitions(group.members, index_of), subscriptions, moves, table.starts)
    return _with_shared(group, table, owners, shared, named)


def _topic_arrays(subscriptions: Subscriptions, topics: Mapping[str, int]) -> TopicArrays:
    """The subscribed topics and their subscribers, in the order of `subscriptions`."""
    counts = np.array([topics[name] for name in subscriptions.topics], np.int64)
    sets = subscriptions.subscriber_sets(np.arange(len(subscriptions.list_of_member)))
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


def _with_shared(
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


_SOURCE = "org.apache.kafka.coordinator.group.assignor.UniformAssignor"
REPLAYS: Mapping[Remainder, Replayed] = {
    Remainder.FIRST_MEMBERS: Replayed(_SOURCE, KafkaRange("4.0.0", "4.0.0")),
    Remainder.OWNERS: Replayed(_SOURCE, KafkaRange("4.0.1", "4.4")),
}


def assign(
    members: Sequence[Member],
    topics: Mapping[str, int],
    *,
    subscription_type: SubscriptionType | None = None,
    remainder: Remainder = Remainder.FIRST_MEMBERS,
) -> GroupAssignment:
    """Assign partitions as the coordinator's `UniformAssignor` does.

    O(partitions + members) if the group is homogeneous, else O(rounds · (partitions + subscriptions)).

    Parameters
    ----------
    members : of distinct ids, subscribed to topic ids; `owned` is their current assignment.
    topics : number of partitions by topic id.
    subscription_type : None to derive it. In a group declared homogeneous, all members are taken to subscribe to the
        topics of the first member in the order of Kafka's hash map.
    remainder : which members of a homogeneous group have one partition more than others.

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
    if group.is_homogeneous:
        return _to_homogeneous(group, topics, remainder)
    return _to_heterogeneous(group, topics)
