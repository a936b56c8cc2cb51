"""A share group over topic ids as its assignors read it: assignable and owned partitions, in Kafka's orders.

A partition is a pair (topic index, partition id). Several members may own it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np

from app.core.groups.arrays.owned import MemberPartitions, owned_topics
from app.core.groups.model import GroupAssignment, Member
from app.core.groups.server.group import id_bits, id_hash_codes, set_order
from app.core.jvm import hash_order
from app.core.model import Int32s

TopicPartition: TypeAlias = tuple[int, int]
Assignable: TypeAlias = Mapping[str, Collection[int]]
"""By topic id, the partitions that are initialised in the share group and may be assigned."""

_UINT32 = 0xFFFFFFFF


def sized_for(count: int) -> int:
    """The initial capacity of a hash map that Kafka makes for `count` keys."""
    return int(np.float32(count + 1) / np.float32(0.75) + np.float32(1))


class ShareTopics:
    """The topics that a group's members subscribe to or own.

    Parameters
    ----------
    members : in the order of the coordinator.
    counts : number of partitions by topic id.
    assignable : None if all partitions are.
    """

    def __init__(self, members: Sequence[Member], counts: Mapping[str, int], assignable: Assignable | None) -> None:
        subscribed = (member.topics for member in members)
        self.names = list(dict.fromkeys(chain(*subscribed, *map(owned_topics, members))))
        self.index_of = {name: index for index, name in enumerate(self.names)}
        self._codes = id_hash_codes(id_bits(self.names))
        self._counts = counts
        self._assignable = assignable

    def targets(self, topics: Iterable[str]) -> list[TopicPartition]:
        """The partitions that may be assigned, topic by topic, ascending."""
        return [(self.index_of[topic], number) for topic in topics for number in self._assignable_of(topic)]

    def _assignable_of(self, topic: str) -> Iterable[int]:
        every = range(self._counts[topic])
        if self._assignable is None:
            return every
        allowed = frozenset(self._assignable.get(topic, ()))
        return (number for number in every if number in allowed)

    def owned(self, member: Member) -> list[TopicPartition]:
        """The partitions of a member in the order of a hash map of topics and of hash sets of partitions."""
        numbers_of: dict[str, list[int]] = {}
        for run in member.owned:
            numbers_of.setdefault(run.topic, []).extend(run.partitions.tolist())
        names = list(numbers_of)
        return [
            (self.index_of[name], number)
            for name in (names[index] for index in set_order(names).tolist())
            for number in int_set_order(list(dict.fromkeys(numbers_of[name])))
        ]

    def codes(self, partitions: Sequence[TopicPartition]) -> Int32s:
        """`TopicIdPartition.hashCode`, a record's: (partitions,) int32."""
        pairs = np.array(partitions, np.int64).reshape(-1, 2)
        return (
            ((31 * self._codes[pairs[:, 0]].astype(np.int64) + pairs[:, 1]) & _UINT32).astype(np.uint32).view(np.int32)
        )

    def map_order(self, computed: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The keys of a hash map in its order. computed : the keys of all calls of `computeIfAbsent`, with repeats."""
        keys, is_last_known = list(dict.fromkeys(computed)), bool(computed) and computed[-1] in computed[:-1]
        order = hash_order(self.codes(keys), computed=True, recomputed=is_last_known)
        return [keys[index] for index in order.tolist()]

    def assignment(
        self,
        members: Sequence[str],
        partitions_of: Sequence[Collection[TopicPartition]],
        named: Sequence[Collection[int]],
    ) -> GroupAssignment:
        """The members' partitions as lists by topic id and partition.

        Parameters
        ----------
        named : of each member, topics that the answer names, if only without partitions.
        """
        by_name = sorted(range(len(self.names)), key=self.names.__getitem__)
        place_of = {topic: place for place, topic in enumerate(by_name)}
        return MemberPartitions.of_rows(
            (member, place_of[topic], number) for member, own in enumerate(partitions_of) for topic, number in own
        ).assignment(
            members,
            [self.names[topic] for topic in by_name],
            without_partitions=[(member, place_of[topic]) for member, of in enumerate(named) for topic in sorted(of)],
        )


def int_set_order(numbers: Sequence[int]) -> list[int]:
    """Distinct integers in the order of a HashSet of them, filled as listed."""
    order = hash_order(np.array(numbers, np.int32), order=numbers.__getitem__)
    return [numbers[index] for index in order.tolist()]
