"""A group as the coordinator's assignors read it, and the check of its topics that they share."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from hashlib import sha256
from math import ceil, log2
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.owned import OwnedRuns, owned_topics
from app.core.groups.arrays.subscriptions import Subscriptions
from app.core.groups.model import Assign, GroupAssignment, GroupMetadata, Member, Owned, TopicMetadata
from app.core.jvm import hash_order, string_hash_order
from app.core.jvm.hash_map import DEFAULT_CAPACITY, capacity_for
from app.core.jvm.hashes import string_hash_codes
from app.core.model import Int32s, Int64s
from app.errors.kafka import KafkaError, KafkaRefuses, SubscribedTopicMissing

_ID = re.compile("[A-Za-z0-9_-]{22}", re.ASCII)
_ID_BYTES = 16
# `BaseHashTable`: the highest bits of a product are the slot, and a table grows above 4/3 entries a slot.
_FIBONACCI = np.uint64(0x9E3779B97F4A7C15)
_TIMELINE_LOAD = 0.75


def id_bits(ids: Sequence[str]) -> NDArray[np.uint64]:
    """The 128 bits of each id, which is 16 bytes in URL-safe base64 without padding: (ids, 2) uint64.

    Raises `ValueError` if one is not.
    """
    wrong = next((topic_id for topic_id in ids if not _ID.fullmatch(topic_id)), None)
    if wrong is not None:
        raise ValueError(f"a topic id is 16 bytes in URL-safe base64, 22 characters; {wrong!r} given")
    # Two digits of 0 after each id make it 18 bytes.
    decoded = np.frombuffer(urlsafe_b64decode("".join(f"{topic_id}AA" for topic_id in ids)), np.uint8)
    return decoded.reshape(-1, _ID_BYTES + 2)[:, :_ID_BYTES].copy().view(">u8").astype(np.uint64)


def signed_halves(bits: NDArray[np.uint64]) -> Int64s:
    """The values that `Uuid.compareTo` of Kafka 4.0 compares, the first half first: (ids, 2) int64, signed.

    Measured: an id whose first byte is 0x80 or more comes before one whose first byte is smaller.
    """
    return bits.view(np.int64)


def set_order(ids: Sequence[str], initial_capacity: int | None = None) -> Int64s:
    """Iteration order of a HashSet to which distinct ids were added as listed: (ids,) int64 indices."""
    bits = id_bits(ids)
    halves = signed_halves(bits)
    return hash_order(
        id_hash_codes(bits), initial_capacity=initial_capacity, order=lambda index: tuple(halves[index].tolist())
    )


def id_hash_codes(bits: NDArray[np.uint64]) -> Int32s:
    """`Uuid.hashCode` of each id: (ids,) int32."""
    halves = bits[:, 0] ^ bits[:, 1]
    return ((halves >> np.uint64(32)) ^ halves).astype(np.uint32).view(np.int32)


class AssignById(Protocol):
    """An assignor of the coordinator."""

    def __call__(self, members: Sequence[Member], topics: Mapping[str, int]) -> GroupAssignment: ...


def by_name(assign: AssignById, *, depends_on_order: bool = True) -> Assign:
    """The assignor with topics by name, in its input and its answer.

    The coordinator identifies topics by id, and the assignment can depend on the order of the ids. If a topic's id is
    unknown, it is derived from its name, so that the same request has the same answer; Kafka's own may then differ.
    Subscribed topics that do not exist have no id and are left out.

    If two ids share a bucket of a hash map, the order in which the coordinator has filled its maps decides, and is
    replayed here. Subscribed ids follow a hash set of the topics' names. The map of owned partitions is filled by
    `computeIfAbsent`, in the order of insertion of each rebalance, so that a later topic is in front; copies and
    records keep that order. Partitions owned before the first rebalance of a plan are taken to be assigned in one, in
    the order of the set of ids; `arbitrary_choices` counts it if the reverse order would assign otherwise.

    So it is with members, whose ids the coordinator copies out of a `TimelineHashMap`. If two share a slot of that too,
    the last that joined comes first, and `members` are taken to be in the order in which they joined. A member that
    joins is taken to be in the map, though the coordinator may add it at the end. It is counted, too, if the reverse
    order, or that end, would assign otherwise.

    Parameters
    ----------
    depends_on_order : whether the order of such ids can change the assignment; if not, no other order is tried.
    """

    def assign_by_name(members: Sequence[Member], metadata: GroupMetadata) -> GroupAssignment:
        id_of = {name: id_of_topic(topic) for name, topic in metadata.topics.items()}
        name_of = {topic_id: name for name, topic_id in id_of.items()}
        topics = {id_of[name]: len(topic.replicas) for name, topic in metadata.topics.items()}
        translated = _Translated(id_of)
        filled, *others = _filled(translated.members(members))
        if translated.shares_bucket and any(len(owned_topics(member)) > 1 for member in members):
            others.append(next(_filled(_Translated(id_of, is_reversed=True).members(members))))
        answer = assign(filled, topics)
        # Topics of one bucket that a member gets in another order decide in the next rebalance.
        by_member = partial(_by_member, in_order=translated.shares_bucket)
        is_decided = not depends_on_order or all(
            by_member(_answer(assign, other, topics)) == by_member(answer) for other in others
        )
        return replace(
            answer,
            topics=[name_of[topic_id] for topic_id in answer.topics],
            arbitrary_choices=answer.arbitrary_choices + (not is_decided),
        )

    return assign_by_name


def _filled(members: Sequence[Member]) -> Iterator[list[Member]]:
    """The order in which the coordinator fills its hash map of members, and others that are possible and differ."""
    ids = [member.id for member in members]
    is_known = np.array([member.generation_id is not None for member in members], np.bool_)
    # One member that has never been in the group joins; a group of such members is taken to be there.
    joins = ~is_known if is_known.sum() == len(ids) - 1 else np.zeros(len(ids), np.bool_)
    table = max(1, ceil(log2(_TIMELINE_LOAD * max(1, len(ids) - int(joins.sum())))))
    slots = (string_hash_codes(ids).astype(np.uint64) * _FIBONACCI) >> np.uint64(64 - table)
    listed = np.arange(len(ids))
    found: list[Int64s] = []
    for keys in ((-listed, slots), (listed, slots), (-listed, slots, joins)):
        order = np.lexsort(keys)
        hashed = order[string_hash_order([ids[place] for place in order.tolist()])]
        if not any(np.array_equal(hashed, other) for other in found):
            found.append(hashed)
            yield [members[place] for place in order.tolist()]


def _answer(assign: AssignById, members: Sequence[Member], topics: Mapping[str, int]) -> GroupAssignment | None:
    """The assignment to members in another order; None if Kafka rejects it."""
    try:
        return assign(members, topics)
    except KafkaRefuses:
        return None


def _by_member(answer: GroupAssignment | None, *, in_order: bool) -> Mapping[str, tuple[list[int], ...]] | None:
    """The topics and partitions of each member, and with `in_order` the topics of added partitions as they come."""
    if answer is None:
        return None
    parts = zip(answer.members, answer.offsets[:-1].tolist(), answer.offsets[1:].tolist(), strict=True)
    added: dict[str, list[int]] = {member: [] for member in answer.members}
    for member, topic in answer.insertions.tolist() if in_order and answer.insertions is not None else ():
        added[answer.members[member]].append(topic)
    return {
        member: (answer.topic_index[first:end].tolist(), answer.partitions[first:end].tolist(), added[member])
        for member, first, end in parts
    }


def id_of_topic(topic: TopicMetadata) -> str:
    """The topic's id; if unknown, one that is derived from its name."""
    if topic.topic_id is not None:
        return topic.topic_id
    return urlsafe_b64encode(sha256(topic.name.encode()).digest()[:_ID_BYTES]).decode().rstrip("=")


class _Translated:
    """Members with topic ids instead of names; a sequence that many members share is translated once.

    Parameters
    ----------
    is_reversed : whether topics that were owned before the plan are in the reverse order, where they share a bucket.
    """

    def __init__(self, id_of: Mapping[str, str], *, is_reversed: bool = False) -> None:
        self._id_of = id_of
        self._is_reversed = is_reversed
        buckets = id_hash_codes(id_bits(list(id_of.values())))
        buckets = (buckets ^ (buckets.view(np.uint32) >> np.uint32(16)).view(np.int32)) & (DEFAULT_CAPACITY - 1)
        # Ids that share no bucket of the smallest table share none of a larger one.
        self.shares_bucket = len(np.unique(buckets)) < len(buckets)
        # By identity; the original is stored beside the translation to stay alive.
        self._subscribed: dict[int, tuple[Sequence[str], tuple[str, ...]]] = {}
        self._named: dict[int, tuple[Sequence[str], Sequence[str]]] = {}

    def members(self, members: Sequence[Member]) -> list[Member]:
        return [replace(member, topics=self._topics(member.topics), owned=self._owned(member)) for member in members]

    def _topics(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if id(names) not in self._subscribed:
            distinct = list(dict.fromkeys(names))
            capacity = max(capacity_for(len(distinct)), DEFAULT_CAPACITY)
            ordered = string_hash_order(distinct, initial_capacity=capacity)
            known = tuple(self._id_of[distinct[at]] for at in ordered.tolist() if distinct[at] in self._id_of)
            self._subscribed[id(names)] = names, known
        return self._subscribed[id(names)][1]

    def _owned(self, member: Member) -> Sequence[Owned]:
        owned = member.owned
        if not isinstance(owned, OwnedRuns):
            runs = [run for run in owned if run.topic in self._id_of]
            places = self._newest_first([run.topic for run in runs], member)
            return tuple(Owned(self._id_of[runs[at].topic], runs[at].partitions) for at in places)
        if id(owned.topics) not in self._named:
            # A deleted topic keeps its position under its name, which is no topic's id.
            self._named[id(owned.topics)] = owned.topics, [self._id_of.get(name, name) for name in owned.topics]
        renamed = replace(owned, topics=self._named[id(owned.topics)][1])
        if not self.shares_bucket:
            return renamed
        there = [index for index in np.unique(owned.topic_index).tolist() if owned.topics[index] in self._id_of]
        rank = np.full(len(owned.topics), len(there), np.int64)
        places = self._newest_first([owned.topics[index] for index in there], member)
        rank[[there[at] for at in places]] = np.arange(len(there))
        by_rank = np.argsort(rank[owned.topic_index], kind="stable")
        return replace(renamed, topic_index=renamed.topic_index[by_rank], partitions=renamed.partitions[by_rank])

    def _newest_first(self, names: Sequence[str], member: Member) -> list[int]:
        """Places of topics, those first that `computeIfAbsent` put into the member's map last."""
        if not self.shares_bucket:
            return list(range(len(names)))
        ids = self._topics(member.topics)
        place_of = {ids[at]: place for place, at in enumerate(set_order(ids).tolist())}

        def age(at: int) -> tuple[tuple[int, int], int]:
            place = place_of.get(self._id_of[names[at]], -1)
            return member.owned_since.get(names[at], (0, 0)), -place if self._is_reversed else place

        return sorted(range(len(names)), key=age, reverse=True)


class SubscriptionType(StrEnum):
    """Whether the coordinator takes all members to subscribe to the same topics."""

    HOMOGENEOUS = "HOMOGENEOUS"
    HETEROGENEOUS = "HETEROGENEOUS"


@dataclass(frozen=True, slots=True, eq=False)
class ServerGroup:
    """A group in the order in which the coordinator's hash map has its members.

    Parameters
    ----------
    ids : of the members, in the caller's order.
    hashed : (members,) int64, the caller's index of each member.
    members, subscriptions : in this order.
    subscription_type : as declared, else derived.
    """

    ids: Sequence[str]
    hashed: Int64s = field(repr=False)
    members: Sequence[Member] = field(repr=False)
    subscriptions: Subscriptions
    subscription_type: SubscriptionType

    @classmethod
    def of(cls, members: Sequence[Member], subscription_type: SubscriptionType | None) -> Self:
        """Read a group. A group without members is homogeneous."""
        ids = [member.id for member in members]
        hashed = string_hash_order(ids)
        in_hash_order = [members[index] for index in hashed.tolist()]
        subscriptions = Subscriptions.of(in_hash_order)
        return cls(ids, hashed, in_hash_order, subscriptions, subscription_type or type_of(subscriptions))

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members are taken to subscribe to the same topics."""
        return self.subscription_type is SubscriptionType.HOMOGENEOUS


def type_of(subscriptions: Subscriptions) -> SubscriptionType:
    """Homogeneous if all members subscribe to the same set of topics, in any order."""
    is_homogeneous = all(len(lists) == len(subscriptions.lists) for lists in subscriptions.lists_of_subscriber_set)
    return SubscriptionType.HOMOGENEOUS if is_homogeneous else SubscriptionType.HETEROGENEOUS


def require_subscribed_topics(subscriptions: Subscriptions, topics: Mapping[str, int], *, first_only: bool) -> None:
    """Raise `SubscribedTopicMissing` for the missing topic that Kafka visits first.

    Members are visited in order, the topics of each in the order of its hash set.

    Parameters
    ----------
    first_only : check the subscription of the first member only.
    """
    if all(map(topics.__contains__, subscriptions.topics)):
        return
    # Distinct subscriptions are in the order of their first members.
    for indices in subscriptions.indices[:1] if first_only else subscriptions.indices:
        names = [subscriptions.topics[topic] for topic in indices.tolist()]
        if not all(map(topics.__contains__, names)):
            require_topics([names[index] for index in set_order(names).tolist()], topics)


def require_topics(names: Sequence[str], topics: Mapping[str, int]) -> None:
    """Raise `SubscribedTopicMissing` for the first name that is not in `topics`."""
    for topic in names:
        if topic not in topics:
            message = f"Members are subscribed to topic {topic} which doesn't exist in the topic metadata."
            raise SubscribedTopicMissing(
                f"members subscribe to topic {topic}, which does not exist",
                kafka=KafkaError("PartitionAssignorException", message),
                path=("members",),
                topic=topic,
            )
