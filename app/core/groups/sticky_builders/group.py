"""A group as the sticky assignors use it: members, topics, partitions, claims and racks as arrays.

Members are numbered in the order in which they are first given. Kafka visits them in two orders: `order` is its
map of subscriptions, `owned_order` a second map, filled in the first one's order.

Topics are those that have subscribers and metadata, by name as Java sorts strings. Partitions are numbered by topic,
then by id; partitions that are claimed and do not exist have the last numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions
from app.core.groups.arrays.racks import RackTable
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import GroupMetadata, Member
from app.core.groups.sticky_builders import group_kernel as kernel
from app.core.jvm import string_hash_order
from app.core.jvm.hashes import utf16_order
from app.core.model import Bools, Int32s, Int64s
from app.errors.kafka import AssignorLosesCount, KafkaError, KafkaRefuses, OwnedPartitionMissing


@dataclass(frozen=True, slots=True, eq=False)
class NumberedPartitions:
    """Partitions by number. The first `existing` ones exist; the rest are only claimed.

    Parameters
    ----------
    topics : names, sorted.
    offsets : (topics + 1,) int64; partition p of topic t has the number offsets[t] + p.
    topic_of, id_of : (numbers,) int32 topic index and partition id.
    """

    topics: tuple[str, ...]
    offsets: Int64s
    topic_of: Int32s = field(repr=False)
    id_of: Int32s = field(repr=False)

    @property
    def existing(self) -> int:
        """Number of partitions that exist."""
        return int(self.offsets[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Partitions that members claim to own, and the claims that Kafka accepts.

    Parameters
    ----------
    members, partitions : (claims,) int64, in `order`, within a member in its own order.
    accepted : (numbers,) int64, the claim that Kafka accepts, or -1.
    disputed : (numbers,) bool, whether two members of one generation claimed the partition.
    previous : (numbers,) int64, the claimant in the newest of the older generations, or `NO_MEMBER` (Kafka's
        `prevAssignment`).
    """

    members: Int64s = field(repr=False)
    partitions: Int64s = field(repr=False)
    accepted: Int64s = field(repr=False)
    disputed: Bools = field(repr=False)
    previous: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class StickyGroup:
    """The input of both builders.

    Parameters
    ----------
    ids : of the members.
    order, owned_order : (members,) int64, the two orders in which Kafka visits members.
    rank : (members,) int64, the position of each id among the sorted ids.
    list_of_member : (members,) int32, the number of each member's subscription.
    times : (subscriptions, topics) int32, how often each subscription names each topic.
    all_equal : whether Kafka takes all subscriptions to be equal. It ignores empty ones that are first in `order`, and
        counts topics without metadata.
    racks : None if racks do not decide.
    """

    ids: tuple[str, ...]
    order: Int64s
    owned_order: Int64s
    rank: Int64s
    list_of_member: Int32s
    times: Int32s
    all_equal: bool
    partitions: NumberedPartitions
    claims: Claims
    racks: "DecidingRacks | None"


@dataclass(frozen=True, slots=True, eq=False)
class DecidingRacks:
    """The rack table of a group in which racks decide.

    Parameters
    ----------
    table : over the existing partitions.
    of_partition : (partitions, widest) int32, the rack of each replica, or `NO_RACK`.
    members_near : (partitions,) int64, the number of members in one of the partition's racks.
    """

    table: RackTable
    of_partition: Int32s = field(repr=False)
    members_near: Int64s = field(repr=False)

    @classmethod
    def of(
        cls, members: Sequence[Member], replicas: Sequence[Int32s], rack_of: Mapping[int, str | None]
    ) -> "DecidingRacks | None":
        """The racks, or None if they do not decide.

        They do not decide if no member's rack contains a replica, or if all partitions are in the same racks. An empty
        rack counts as none for a member, and as a rack for a broker.
        """
        if not any(member.rack_id for member in members):
            return None
        table = RackTable.of(members, rack_of, replicas)
        of_partition = np.ascontiguousarray(table.of_replicas.T)
        members_in = np.bincount(table.of_member + 1, minlength=table.count + 1)[1:]
        members_near, width, has_replica = kernel.count_near(of_partition, members_in)
        if not members_in[has_replica].any() or (width == has_replica.sum()).all():
            return None
        return cls(table, of_partition, members_near)

    def are_away(self, members: Int64s, partitions: Int64s) -> Bools:
        """Whether each member has a rack that contains no replica of the partition beside it: (n,) bool.

        A partition that does not exist is in no rack.
        """
        return kernel.are_away(members, partitions, self.table.of_member, self.of_partition)


def group_of(
    members: Sequence[Member], metadata: GroupMetadata, *, claimed_generation: Mapping[str, int]
) -> StickyGroup:
    """The arrays of a group. Of members with one id, the last replaces the first, as in a map.

    Parameters
    ----------
    claimed_generation : by member id, the generation of the member's claims; the claims of other members do not count.
    """
    distinct = {member.id: member for member in members}
    ids = tuple(distinct)
    unique = tuple(distinct.values())
    order = string_hash_order(ids)
    owned_order = order[string_hash_order([ids[member] for member in order.tolist()])]
    rank = np.empty(len(ids), np.int64)
    rank[sorted(range(len(ids)), key=lambda member: utf16_order(ids[member]))] = np.arange(len(ids))
    subscriptions = Subscriptions.of(unique)
    existing = (
        topic for topic in subscriptions.topics if topic in metadata.topics and len(metadata.topics[topic].replicas)
    )
    topics = tuple(sorted(existing, key=utf16_order))
    replicas = [metadata.topics[topic].replicas for topic in topics]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(rows) for rows in replicas], dtype=np.int64)])
    partitions, claims = _claims(unique, order, topics, offsets, claimed_generation)
    return StickyGroup(
        ids,
        order,
        owned_order,
        rank,
        subscriptions.list_of_member,
        _times(subscriptions, topics),
        _all_equal(subscriptions.lists, subscriptions.list_of_member[order]),
        partitions,
        claims,
        DecidingRacks.of(unique, replicas, metadata.rack_of),
    )


def _times(subscriptions: Subscriptions, topics: Sequence[str]) -> Int32s:
    index_of = {topic: index for index, topic in enumerate(topics)}
    times = np.zeros((len(subscriptions.lists), len(topics)), np.int32)
    for row, names in zip(times, subscriptions.lists, strict=True):
        np.add.at(row, [index_of[name] for name in names if name in index_of], 1)
    return times


def _all_equal(lists: Sequence[tuple[str, ...]], visited: Int32s) -> bool:
    subscribing = np.flatnonzero(np.array([bool(names) for names in lists], np.bool_)[visited])
    if not len(subscribing):
        return True
    first = frozenset(lists[visited[subscribing[0]]])
    is_equal = np.array([len(names) == len(first) and first.issuperset(names) for names in lists])
    return bool(is_equal[visited[subscribing[0] + 1 :]].all())


def _claims(
    members: Sequence[Member],
    order: Int64s,
    topics: tuple[str, ...],
    offsets: Int64s,
    claimed_generation: Mapping[str, int],
) -> tuple[NumberedPartitions, Claims]:
    claimants = [member for member in order.tolist() if members[member].id in claimed_generation]
    index_of = {topic: index for index, topic in enumerate(topics)}
    claimed = MemberPartitions.owned([members[member] for member in claimants], index_of)
    claimant, of_topic, ids = np.array(claimants, np.int64)[claimed.members], claimed.topics, claimed.partitions
    counts = np.diff(offsets)
    numbers = offsets[of_topic] + ids
    is_missing = ~claimed.exist(counts)
    missing = list(zip(of_topic[is_missing].tolist(), ids[is_missing].tolist(), strict=True))
    only_claimed = sorted(set(missing))
    number_of = {pair: offsets[-1] + place for place, pair in enumerate(only_claimed)}
    numbers[is_missing] = [number_of[pair] for pair in missing]
    id_of = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    partitions = NumberedPartitions(
        topics,
        offsets,
        topic_of=np.append(np.repeat(np.arange(len(topics)), counts), [topic for topic, _ in only_claimed]).astype(
            np.int32
        ),
        id_of=np.append(id_of, [partition for _, partition in only_claimed]).astype(np.int32),
    )
    generation = np.full(len(members), -1, np.int64)
    generation[claimants] = [claimed_generation[members[member].id] for member in claimants]
    return partitions, Claims(
        claimant, numbers, *kernel.settle(numbers, claimant, generation, len(partitions.topic_of))
    )


def count_failure(group: StickyGroup, kafka: KafkaError) -> KafkaRefuses:
    """The failure to raise; it names the first owned partition that its topic does not have, if there is one."""
    partitions, claims = group.partitions, group.claims
    beyond = claims.partitions[claims.partitions >= partitions.existing]
    if not len(beyond):
        return AssignorLosesCount(
            f"Kafka's sticky assignor fails with {kafka.exception}, since a member that owned partitions in an older "
            "generation takes no part any more",
            kafka=kafka,
        )
    topic = int(partitions.topic_of[beyond[0]])
    partition = int(partitions.id_of[beyond[0]])
    count = int(partitions.offsets[topic + 1] - partitions.offsets[topic])
    member = group.ids[int(claims.members[claims.partitions >= partitions.existing][0])]
    name = partitions.topics[topic]
    return OwnedPartitionMissing(
        f"member {member} owns partition {partition} of topic {name}, which has {count}; Kafka's sticky assignor fails "
        f"with {kafka.exception}",
        kafka=kafka,
        member=member,
        topic=name,
        partition=partition,
        partitions=count,
    )
