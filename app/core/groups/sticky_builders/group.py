"""What the sticky assignors look at, as arrays: members, topics, partitions, claims and racks.

Members are numbered in the order in which they are first given. Kafka visits them in two orders: `order` is that of
its map of subscriptions, `owned_order` that of a second map, filled in the first one's order.

Topics are those that somebody subscribes to and the metadata knows, by name as Java sorts strings. Partitions are
numbered by topic, then by their own number; behind them come those that somebody claims and the topic does not have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.member_order import hash_ordered
from app.core.groups.arrays.owned import OwnedReader
from app.core.groups.model import GroupMetadata, Member
from app.core.groups.sticky_builders.group_kernel import settle
from app.core.groups.sticky_builders.racks import Racks
from app.core.jvm.hashes import utf16_order
from app.core.model import Int32s, Int64s

NOBODY = -1


@dataclass(frozen=True, slots=True, eq=False)
class Subscriptions:
    """Who subscribes to what.

    Parameters
    ----------
    kind_of : (members,) int64: which of the distinct subscriptions a member has.
    times : (kinds, topics) int32: how often a subscription names a topic.
    all_equal : what Kafka takes for equal: those that come first in `order` and are empty are not looked at, and a
        topic counts that nobody has metadata for.
    """

    kind_of: Int64s
    times: Int32s
    all_equal: bool


@dataclass(frozen=True, slots=True, eq=False)
class Partitions:
    """Partitions by number. `known` of them exist; the rest are claimed only.

    Parameters
    ----------
    topics : names, sorted. offsets : (topics + 1,) int64: partition p of topic t has the number offsets[t] + p.
    topic_of, id_of : (numbers,) int32.
    """

    topics: tuple[str, ...]
    offsets: Int64s
    topic_of: Int32s = field(repr=False)
    id_of: Int32s = field(repr=False)

    @property
    def known(self) -> int:
        """How many partitions there are."""
        return int(self.offsets[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """What members say they own, and whom Kafka believes.

    Parameters
    ----------
    members, partitions : (claims,) int64, in `order`, each member's in its own.
    believed : (numbers,) int64: the claim that is, or -1.
    disputed : (numbers,) bool: two of one generation claimed it.
    previous : (numbers,) int64: who claimed it in the newest of the older generations, or -1.
    """

    members: Int64s = field(repr=False)
    partitions: Int64s = field(repr=False)
    believed: Int64s = field(repr=False)
    disputed: NDArray[np.bool_] = field(repr=False)
    previous: Int64s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class StickyGroup:
    """The input of both builders. `rank` : (members,) int64: the place of an id among the sorted ids."""

    ids: tuple[str, ...]
    order: Int64s
    owned_order: Int64s
    rank: Int64s
    subscriptions: Subscriptions
    partitions: Partitions
    claims: Claims
    racks: Racks | None


def group_of(
    members: Sequence[Member], metadata: GroupMetadata, *, claimed_generation: Mapping[str, int]
) -> StickyGroup:
    """Arrays of a group. Of an id that is given twice the last is taken in the place of the first, as a map does.

    Parameters
    ----------
    claimed_generation : of those members whose claims arrive, the generation that goes with them.
    """
    distinct = {member.id: member for member in members}
    ids = tuple(distinct)
    unique = tuple(distinct.values())
    order = hash_ordered(ids)
    again = hash_ordered([ids[member] for member in order.tolist()])
    rank = np.empty(len(ids), np.int64)
    rank[sorted(range(len(ids)), key=lambda member: utf16_order(ids[member]))] = np.arange(len(ids))
    topics, subscriptions = _subscriptions(unique, order, metadata)
    replicas = [metadata.topics[topic].replicas for topic in topics]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(rows) for rows in replicas], dtype=np.int64)])
    partitions, claims = _claims(unique, order, topics, offsets, claimed_generation)
    racks = Racks.of(unique, replicas, metadata.rack_of)
    return StickyGroup(ids, order, order[again], rank, subscriptions, partitions, claims, racks)


def _subscriptions(
    members: Sequence[Member], order: Int64s, metadata: GroupMetadata
) -> tuple[tuple[str, ...], Subscriptions]:
    kinds: dict[tuple[str, ...], int] = {}
    # Members often share one tuple, whose hash would be computed anew for each.
    kind_of_object: dict[int, int] = {}
    for member in members:
        if id(member.topics) not in kind_of_object:
            kind_of_object[id(member.topics)] = kinds.setdefault(member.topics, len(kinds))
    kind_of = np.array([kind_of_object[id(member.topics)] for member in members], np.int64)
    subscribed = set().union(*kinds)
    known = (topic for topic in subscribed if topic in metadata.topics and len(metadata.topics[topic].replicas))
    topics = tuple(sorted(known, key=utf16_order))
    index_of = {topic: index for index, topic in enumerate(topics)}
    times = np.zeros((len(kinds), len(topics)), np.int32)
    for kind, names in enumerate(kinds):
        np.add.at(times[kind], [index_of[name] for name in names if name in index_of], 1)
    return topics, Subscriptions(kind_of, times, _all_equal(tuple(kinds), kind_of[order]))


def _all_equal(kinds: Sequence[tuple[str, ...]], visited: Int64s) -> bool:
    subscribing = np.flatnonzero(np.array([bool(kind) for kind in kinds], np.bool_)[visited])
    if not len(subscribing):
        return True
    first = frozenset(kinds[visited[subscribing[0]]])
    alike = np.array([len(kind) == len(first) and first.issuperset(kind) for kind in kinds])
    return bool(alike[visited[subscribing[0] + 1 :]].all())


def _claims(
    members: Sequence[Member],
    order: Int64s,
    topics: tuple[str, ...],
    offsets: Int64s,
    claimed_generation: Mapping[str, int],
) -> tuple[Partitions, Claims]:
    claimants = [member for member in order.tolist() if members[member].id in claimed_generation]
    reader = OwnedReader(topics)
    pieces = [reader.read(members[member].owned) for member in claimants]
    who = np.repeat(np.array(claimants, np.int64), [len(ids) for _, ids in pieces])
    of_topic = np.concatenate([np.empty(0, np.int64), *(where for where, _ in pieces)])
    ids = np.concatenate([np.empty(0, np.int64), *(ids for _, ids in pieces)])
    if of_topic.min(initial=0) < 0:
        who, ids, of_topic = who[of_topic >= 0], ids[of_topic >= 0], of_topic[of_topic >= 0]
    counts = np.diff(offsets)
    numbers = offsets[of_topic] + ids
    beyond = (ids < 0) | (ids >= counts[of_topic])
    only_claimed = sorted(set(zip(of_topic[beyond].tolist(), ids[beyond].tolist(), strict=True)))
    place_of = {claimed: offsets[-1] + place for place, claimed in enumerate(only_claimed)}
    numbers[beyond] = [
        place_of[claimed] for claimed in zip(of_topic[beyond].tolist(), ids[beyond].tolist(), strict=True)
    ]
    id_of = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    partitions = Partitions(
        topics,
        offsets,
        topic_of=np.append(np.repeat(np.arange(len(topics)), counts), [topic for topic, _ in only_claimed]).astype(
            np.int32
        ),
        id_of=np.append(id_of, [claimed for _, claimed in only_claimed]).astype(np.int32),
    )
    generation = np.full(len(members), -1, np.int64)
    generation[claimants] = [claimed_generation[members[member].id] for member in claimants]
    return partitions, Claims(who, numbers, *settle(numbers, who, generation, len(partitions.topic_of)))
