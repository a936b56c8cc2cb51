"""The uniform assignor if all members subscribe to the same topics.

Members are visited in the order of Kafka's hash map. Each keeps its partitions up to its quota, in the order of a hash
map of topics and of hash sets of partitions. The rest (first the partitions that no member owns, topic by topic in the
order of a hash set, then those above a quota) fills the members in turn. Quotas differ by one partition if the members
do not divide the partitions evenly; `Remainder` names the members that have the larger one.

    M0, M1 and M2 subscribe to T1 of four partitions; M2 owns 2 and 3

    FIRST_MEMBERS   M0 → 0 1    M1 → 3    M2 → 2        M2 loses a partition, since the first member has two
    OWNERS          M0 → 0      M1 → 1    M2 → 2 3

Kafka walks all owned partitions in hash order. The order matters only for members above their quota, so that all others
are processed as arrays here. In a bucket of a hash set it is that in which the coordinator assigned the partitions,
which only the coordinator knows: here it is the order in which a member lists them, and `arbitrary_choices` counts the
buckets for which it decides.

Source: `org.apache.kafka.coordinator.group.assignor.UniformHomogeneousAssignmentBuilder` of Apache Kafka 4.0.0 to 4.4.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from app.core.groups.arrays.owned import UNKNOWN_TOPIC, MemberPartitions, named_without_partitions, owned_topics
from app.core.groups.arrays.partition_table import PartitionOwners
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import ServerGroup, require_topics, set_order
from app.core.jvm import hash_order
from app.core.jvm.hash_map import CHAIN_LIMIT, DEFAULT_CAPACITY, TREE_TABLE, capacity_for, table_size
from app.core.model import NO_MEMBER, Int32s, Int64s
from app.errors.kafka import KafkaError, PartitionsLeftUnassigned


class Remainder(Enum):
    """Which members have one partition more, if the members do not divide the partitions evenly."""

    FIRST_MEMBERS = "first_members"
    """The first members in the coordinator's order (4.0.0)."""
    OWNERS = "owners"
    """Members that own more than the others may have; then the last members (since 4.0.1, KAFKA-18688)."""


def assign(group: ServerGroup, topics: Mapping[str, int], remainder: Remainder) -> GroupAssignment:
    """Assign the partitions of the topics that the first member subscribes to; see `uniform.assign`."""
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
