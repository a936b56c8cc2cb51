"""The coordinator of a homogeneous consumer group over Java's collections: its state between rebalances.

A target assignment is a record, whose topics are in the order of the assignor's map; reading it puts them into a new
map. The assignor copies a map that it changes (sized for its topics, put), and adds topics by `computeIfAbsent`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

from app.core.jvm import JavaHashMap, JavaHashSet
from app.core.jvm.hashes import INTEGER, STRING
from tests.conformance.jvm import KAFKA_UUID, kafka_uuid

Target: TypeAlias = dict[str, set[int]]
"""Partitions by topic name."""
Owned: TypeAlias = JavaHashMap[UUID, JavaHashSet[int]]


class TimelineTable:
    """The order of Kafka's `TimelineHashMap`: slots of a product's highest bits, each from its newest entry on."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._slots: list[list[str]] = [[], []]
        for text in texts:
            self.add(text)

    def __iter__(self) -> Iterator[str]:
        for slot in self._slots:
            yield from reversed(slot)

    def add(self, text: str) -> None:
        """Add a text unless it is there; a table that is above 4/3 entries a slot is doubled before."""
        if (sum(map(len, self._slots)) + 1) * 0.75 > len(self._slots):
            before = [text for slot in self._slots for text in slot]
            self._slots = [[] for _ in range(2 * len(self._slots))]
            for each in before:
                self._slot_of(each).append(each)
        slot = self._slot_of(text)
        if text not in slot:
            slot.append(text)

    def remove(self, text: str) -> None:
        """Remove a text that is there."""
        self._slot_of(text).remove(text)

    def _slot_of(self, text: str) -> list[str]:
        product = STRING.hash_code(text) * -7046029254386353131 % (1 << 64)
        return self._slots[product * len(self._slots) >> 64]


class Coordinator:
    """A group whose members subscribe to the same topics."""

    def __init__(self, topics: Mapping[str, tuple[str, int]], *, to_owners: bool) -> None:
        """topics : id and number of partitions by name. to_owners : as since 4.0.1."""
        self._id_of = {name: kafka_uuid(topic_id) for name, (topic_id, _) in topics.items()}
        self._name_of = {topic: name for name, topic in self._id_of.items()}
        self._count = {self._id_of[name]: count for name, (_, count) in topics.items()}
        self._to_owners = to_owners
        self._records: dict[str, list[tuple[UUID, list[int]]]] = {}
        self._members = TimelineTable()

    def rebalance(self, members: Sequence[str], subscription: Sequence[str]) -> dict[str, Target]:
        """Assign to the members that there are now; returns the targets."""
        group = self._copied(members)
        names = JavaHashSet.copy_of(subscription, STRING)
        read = JavaHashSet.copy_of([self._id_of[name] for name in names], KAFKA_UUID)
        old = {member: self._read(member) for member in members}
        taken = {(t, p) for own in old.values() for t, partitions in own.items() for p in partitions}
        free = [(t, p) for t in read for p in range(self._count[t]) if (t, p) not in taken]
        quota, extra = divmod(sum(self._count[topic] for topic in read), len(members))
        target: dict[str, Owned] = {}
        rooms: dict[str, int] = {}
        in_order = list(group)
        for index, member in enumerate(in_order):
            reserves = extra > 0
            room = quota + reserves
            new: Owned | None = None
            for topic, partitions in old[member].items():
                owned = list(partitions)
                for partition in owned[room:]:
                    new = self._copy(old[member]) if new is None else new
                    new[topic].remove(partition)
                    if not len(new[topic]):
                        del new[topic]
                    free.append((topic, partition))
                room -= min(len(owned), room)
            if self._to_owners and reserves and room > 0 and len(in_order) - index > extra:
                reserves, room = False, room - 1
            extra -= reserves
            target[member] = old[member] if new is None else new
            rooms[member] = room
        waiting = iter(free)
        for member, room in rooms.items():
            if room:
                target[member] = self._copy(target[member])
            for _, (topic, partition) in zip(range(room), waiting, strict=False):
                target[member].compute_if_absent(topic, lambda: JavaHashSet(INTEGER)).add(partition)
        self._records = {
            member: [(topic, list(partitions)) for topic, partitions in own.items()] for member, own in target.items()
        }
        return {
            member: {self._name_of[topic]: set(partitions) for topic, partitions in own.items()}
            for member, own in target.items()
        }

    def _copied(self, members: Sequence[str]) -> JavaHashMap[str, bool]:
        """The hash map of members that the assignor gets: one that joins is no record yet, and is added at the end."""
        there = list(self._members)
        joining = [member for member in members if member not in there]
        if len(joining) > 1:
            for member in joining:
                self._members.add(member)
        group: JavaHashMap[str, bool] = JavaHashMap(STRING)
        for member in [*self._members, *joining]:
            if member in members:
                group[member] = True
        for member in joining:
            self._members.add(member)
        for member in set(there) - set(members):
            self._members.remove(member)
        return group

    def _read(self, member: str) -> Owned:
        own: Owned = JavaHashMap(KAFKA_UUID)
        for topic, partitions in self._records.get(member, ()):
            own[topic] = JavaHashSet.copy_of(partitions, INTEGER)
        return own

    def _copy(self, own: Owned) -> Owned:
        copied: Owned = JavaHashMap(KAFKA_UUID, initial_capacity=len(own))
        for topic, partitions in own.items():
            copied[topic] = JavaHashSet.copy_of(list(partitions), INTEGER)
        return copied
