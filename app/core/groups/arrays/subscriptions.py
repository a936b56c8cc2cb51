"""Subscriptions of a group's members, interned, and the orders in which Kafka's assignors visit members.

Thousands of members usually have one subscription. `Subscriptions` stores each distinct list of topics once, and
`SubscriptionClasses` is its quotient: topics with the same subscribers form one class, and so do members that subscribe
to the same existing topics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Self

import numpy as np

from app.core.groups.arrays.partition_table import PartitionTable
from app.core.groups.model import Member
from app.core.jvm.hashes import utf16_order
from app.core.model import Bools, Int32s, Int64s
from app.core.replica_lists import sums_by

NO_CLASS = -1
"""The class of a topic without subscribers, and of a member that subscribes to no existing topic."""


@dataclass(frozen=True, eq=False)
class Subscriptions:
    """The distinct subscriptions of a group.

    Parameters
    ----------
    topics : every subscribed topic once, in the order in which the members name them.
    lists : each distinct subscription as its members state it, in order of first use.
    indices : of each distinct subscription, (topics,) int32 indices into `topics`, in its own order, without
        repetitions.
    list_of_member : (members,) int32 indices into `lists`.
    """

    topics: tuple[str, ...]
    lists: tuple[tuple[str, ...], ...] = field(repr=False)
    indices: tuple[Int32s, ...] = field(repr=False)
    list_of_member: Int32s = field(repr=False)

    @classmethod
    def of(cls, members: Sequence[Member]) -> Self:
        """Intern the members' subscriptions."""
        number_of: dict[tuple[str, ...], int] = {}
        # Hashing a tuple of thousands of topics is slow, and members often share one tuple. The members keep their
        # tuples alive, so that an identity is not used again while this loop runs.
        number_of_object: dict[int, int] = {}
        list_of_member = np.empty(len(members), np.int32)
        for index, member in enumerate(members):
            number = number_of_object.get(id(member.topics))
            if number is None:
                number = number_of_object[id(member.topics)] = number_of.setdefault(member.topics, len(number_of))
            list_of_member[index] = number
        topics = tuple(dict.fromkeys(chain.from_iterable(number_of)))
        index_of = {topic: index for index, topic in enumerate(topics)}
        indices = tuple(np.fromiter(map(index_of.__getitem__, dict.fromkeys(names)), np.int32) for names in number_of)
        return cls(topics, tuple(number_of), indices, list_of_member)

    @property
    def subscriber_set_of_topic(self) -> Int32s:
        """(topics,) int32: topics with the same subscribers have the same number, in order of first appearance."""
        return self._subscriber_sets[0]

    @property
    def lists_of_subscriber_set(self) -> tuple[Int32s, ...]:
        """Of each subscriber set, the distinct subscriptions that it consists of: int32 indices, ascending."""
        return self._subscriber_sets[1]

    def subscriber_sets(self, order: Int64s) -> list[Int64s]:
        """The members of each subscriber set in the order of `order`, which contains indices of members."""
        lists = self.list_of_member[order]
        is_in_set = np.zeros((len(self.lists_of_subscriber_set), len(self.lists)), np.bool_)
        for row, of_set in zip(is_in_set, self.lists_of_subscriber_set, strict=True):
            row[of_set] = True
        return [order[row[lists]] for row in is_in_set]

    def is_subscribed(self, members: Int64s, topics: Int64s) -> Bools:
        """Whether each member subscribes to the topic beside it: (n,) bool for (n,) indices of members and topics."""
        sizes = [len(topics_of_list) for topics_of_list in self.indices]
        pairs = self.list_of_member[members].astype(np.int64) * len(self.topics) + topics
        listed = np.repeat(np.arange(len(sizes), dtype=np.int64) * len(self.topics), sizes)
        return np.isin(pairs, listed + np.concatenate([np.empty(0, np.int64), *self.indices]))

    @cached_property
    def _subscriber_sets(self) -> tuple[Int32s, tuple[Int32s, ...]]:
        entries = np.concatenate([np.empty(0, np.int32), *self.indices])
        by_topic = np.argsort(entries, kind="stable")
        list_of_entry = np.repeat(np.arange(len(self.lists), dtype=np.int32), [len(topics) for topics in self.indices])
        subscribers = list_of_entry[by_topic]
        number_of: dict[bytes, int] = {}
        of_topic = []
        start = 0
        for end in np.cumsum(np.bincount(entries, minlength=len(self.topics))).tolist():
            of_topic.append(number_of.setdefault(subscribers[start:end].tobytes(), len(number_of)))
            start = end
        return np.array(of_topic, np.int32), tuple(np.frombuffer(lists, np.int32) for lists in number_of)


@dataclass(frozen=True, slots=True, eq=False)
class SubscriptionClasses:
    """Topics and members of a group by class. A topic without partitions, or without metadata, has no class.

    Parameters
    ----------
    topic_class : (topics,) int32, by the table's index, or `NO_CLASS`.
    member_class : (members,) int32, or `NO_CLASS`.
    partitions : (topic classes,) int64, the partitions of the class.
    members : (member classes,) int64, the members of the class.
    subscribes : (topic classes, member classes) bool.
    """

    topic_class: Int32s
    member_class: Int32s
    partitions: Int64s
    members: Int64s
    subscribes: Bools


def subscription_classes(members: Sequence[Member], table: PartitionTable) -> SubscriptionClasses:
    """Sort the topics of a partition table and the members of a group into classes."""
    subscriptions = Subscriptions.of(members)
    sizes = np.diff(table.starts)
    column_of = np.array([table.index_of.get(topic, -1) for topic in subscriptions.topics], np.int64)
    subscribes = np.zeros((len(subscriptions.lists), len(table.topics)), np.bool_)
    for row, topics in zip(subscribes, subscriptions.indices, strict=True):
        columns = column_of[topics]
        row[columns[columns >= 0]] = True
    subscribes[:, sizes == 0] = False
    topic_class = _numbered_rows(subscribes.T)
    by_topic_class = _one_of_each(subscribes, topic_class, axis=1)
    class_of_list = _numbered_rows(by_topic_class)
    member_class = class_of_list[subscriptions.list_of_member]
    has_subscribers, has_topics = topic_class != NO_CLASS, member_class != NO_CLASS
    classes = int(topic_class.max(initial=-1)) + 1
    partitions = sums_by(topic_class[has_subscribers], sizes[has_subscribers], classes)
    return SubscriptionClasses(
        topic_class=topic_class,
        member_class=member_class,
        partitions=partitions,
        members=np.bincount(member_class[has_topics]).astype(np.int64),
        subscribes=_one_of_each(by_topic_class, class_of_list, axis=0).T,
    )


def _numbered_rows(rows: Bools) -> Int32s:
    """Number the rows by content, in order of first appearance; `NO_CLASS` for a row without True."""
    packed = np.packbits(rows, axis=1)
    numbers: dict[bytes, int] = {}
    classes = np.full(len(rows), NO_CLASS, np.int32)
    for index in np.flatnonzero(rows.any(axis=1)).tolist():
        classes[index] = numbers.setdefault(packed[index].tobytes(), len(numbers))
    return classes


def _one_of_each(rows: Bools, classes: Int32s, *, axis: int) -> Bools:
    """One example of each class along the axis, in the order of the class numbers."""
    numbers, first = np.unique(classes, return_index=True)
    examples: Bools = np.take(rows, first[numbers != NO_CLASS], axis=axis)
    return examples


def static_first(members: Sequence[Member]) -> Int64s:
    """Static members by group instance id, then the others by member id: (members,) int64 indices.

    Two members with one group instance id stay in the order in which they are given.

    Source: `org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor.MemberInfo.compareTo`.
    """

    def key(index: int) -> tuple[bool, bytes]:
        instance = members[index].group_instance_id
        return instance is None, utf16_order(members[index].id if instance is None else instance)

    return np.array(sorted(range(len(members)), key=key), np.int64)
