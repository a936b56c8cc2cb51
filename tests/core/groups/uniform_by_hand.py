"""The coordinator's uniform assignor step by step, over Java's collections: for comparison with the arrays."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from app.core.groups.model import Member
from app.core.jvm import JavaHashMap, JavaHashSet
from app.core.jvm.hashes import INTEGER, STRING
from tests.conformance.jvm import KAFKA_UUID, kafka_uuid

Answer = dict[str, dict[str, set[int]]]
"""Member → topic → partitions. A topic of which a member has nothing may be named."""


class Thrown(Exception):
    """An exception of Java, by its name."""


class Read:
    """A group over Java's collections."""

    def __init__(self, members: Sequence[Member], topics: Mapping[str, int]) -> None:
        self.count = {kafka_uuid(name): partitions for name, partitions in topics.items()}
        self.name_of: dict[UUID, str] = {}
        self.subscribed: JavaHashMap[str, dict[UUID, None]] = JavaHashMap(STRING)
        self.owned: dict[str, JavaHashMap[UUID, JavaHashSet[int]]] = {}
        for member in members:
            self.subscribed[member.id] = dict.fromkeys(map(self.uuid, member.topics))
            self.owned[member.id] = JavaHashMap(KAFKA_UUID)
            for run in member.owned:
                topic = self.uuid(run.topic)
                if topic not in self.owned[member.id]:
                    self.owned[member.id][topic] = JavaHashSet(INTEGER)
                for partition in run.partitions.tolist():
                    self.owned[member.id][topic].add(partition)
        self.members = list(self.subscribed)

    def uuid(self, name: str) -> UUID:
        """The id, whose name is stored."""
        topic = kafka_uuid(name)
        self.name_of[topic] = name
        return topic

    def answer(self, given: Mapping[str, Mapping[UUID, set[int]]]) -> Answer:
        """By names."""
        return {
            member: {self.name_of[topic]: partitions for topic, partitions in own.items()}
            for member, own in given.items()
        }


def homogeneous(members: Sequence[Member], topics: Mapping[str, int], *, to_owners: bool) -> Answer:
    """If all members read the same topics; since 4.0.1 an extra partition is left `to_owners`."""
    group = Read(members, topics)
    read = JavaHashSet.copy_of(group.subscribed[group.members[0]], KAFKA_UUID) if group.members else ()
    if not read:
        return {}
    if any(topic not in group.count for topic in read):
        raise Thrown("PartitionAssignorException")
    everywhere = {
        (topic, partition)
        for own in group.owned.values()
        for topic, partitions in own.items()
        for partition in partitions
    }
    free = [(t, p) for t in read for p in range(group.count[t]) if (t, p) not in everywhere]
    quota, extra = divmod(sum(group.count[topic] for topic in read), len(group.members))
    given: dict[str, dict[UUID, set[int]]] = {}
    room_of: dict[str, int] = {}
    for index, member in enumerate(group.members):
        reserves = extra > 0
        room = quota + reserves
        given[member] = {}
        for topic, partitions in group.owned[member].items():
            if topic in read:
                retained = list(partitions)[:room]
                free += [(topic, partition) for partition in list(partitions)[room:]]
                room -= len(retained)
                if retained or not partitions:
                    given[member][topic] = set(retained)
        if to_owners and reserves and room > 0 and len(group.members) - index > extra:
            reserves, room = False, room - 1
        extra -= reserves
        room_of[member] = room
    waiting = iter(free)
    for member, room in room_of.items():
        for _, (topic, partition) in zip(range(room), waiting, strict=False):
            given[member].setdefault(topic, set()).add(partition)
    if next(waiting, None) is not None:
        raise Thrown("PartitionAssignorException")
    return group.answer(given)


class Heterogeneous:
    """Where members read this and that."""

    def __init__(self, members: Sequence[Member], topics: Mapping[str, int]) -> None:
        self.group = Read(members, topics)
        self.readers: dict[UUID, list[str]] = {}
        for member, read in self.group.subscribed.items():
            for topic in read:
                if topic not in self.group.count:
                    raise Thrown("PartitionAssignorException")
                self.readers.setdefault(topic, []).append(member)
        self.rank = {member: rank for rank, member in enumerate(self.group.members)}
        self.owner: dict[UUID, list[str | None]] = {t: [None] * self.group.count[t] for t in self.readers}
        self.size = dict.fromkeys(self.group.members, 0)
        self.given: dict[str, dict[UUID, set[int]]] = {member: {} for member in self.group.members}

    def answer(self) -> Answer:
        """Keep, deal out, even out."""
        if not self.readers:
            return {}
        for member in self.group.members:
            self.keep(member)
        order = sorted(self.readers, key=self.place_of)
        for topic in order:
            self.deal_out(topic)
        movable = [topic for topic in order if len(self.readers[topic]) > 1]
        last = -1
        for turn in range(16 * len(movable)):
            if turn % len(movable) == last:
                break
            if self.even_out(movable[turn % len(movable)]) or last < 0:
                last = turn % len(movable)
        return self.group.answer(self.given)

    def place_of(self, topic: UUID) -> tuple[float, int, int, int]:
        """Most partitions a reader, fewest readers, least id by signed halves."""
        readers = len(self.readers[topic])
        halves = divmod(topic.int, 1 << 64)
        high, low = (half - (1 << 64) if half >> 63 else half for half in halves)
        return -self.group.count[topic] / readers, readers, high, low

    def keep(self, member: str) -> None:
        """Its partitions of topics that it reads."""
        for topic, partitions in self.group.owned[member].items():
            if topic in self.group.subscribed[member]:
                self.given[member][topic] = set(partitions)
                self.size[member] += len(partitions)
                for partition in partitions:
                    if partition >= self.group.count[topic]:
                        raise Thrown("ArrayIndexOutOfBoundsException")
                    self.owner[topic][partition] = member

    def move(self, topic: UUID, partition: int, taker: str) -> None:
        """A partition to a member, and away from its owner."""
        giver = self.owner[topic][partition]
        if giver is not None:
            self.size[giver] -= 1
            self.given[giver][topic].discard(partition)
            if not self.given[giver][topic]:
                del self.given[giver][topic]
        self.owner[topic][partition] = taker
        self.size[taker] += 1
        self.given[taker].setdefault(topic, set()).add(partition)

    def line(self, topic: UUID) -> list[str]:
        """Its readers by how much they have."""
        return sorted(self.readers[topic], key=lambda member: (self.size[member], self.rank[member]))

    def deal_out(self, topic: UUID) -> None:
        """The partitions without owner, level by level."""
        poor = Poor(self.line(topic), self.size)
        for partition, owner in enumerate(self.owner[topic]):
            if owner is None:
                self.move(topic, partition, poor.next())

    def even_out(self, topic: UUID) -> bool:
        """From rich to poor; whether anything moved."""
        line = self.line(topic)
        if self.size[line[-1]] - self.size[line[0]] <= 1:
            return False
        stock: dict[str, list[int]] = {}
        for partition, owner in enumerate(self.owner[topic]):
            assert owner is not None
            stock.setdefault(owner, []).append(partition)
        poor, rich = Poor(line, self.size), Rich(line, self.size)
        has_moved = False
        while True:
            giver = rich.next()
            while giver is not None and not stock.get(giver):
                rich.exclude()
                giver = rich.next()
            if giver is None:
                return has_moved
            partition = stock[giver].pop()
            taker = poor.next()
            if rich.level - poor.level <= 1:
                return has_moved
            self.move(topic, partition, taker)
            has_moved = True


class Poor:
    """The front of a line, one level after another."""

    def __init__(self, line: list[str], size: Mapping[str, int]) -> None:
        self.line, self.size = line, size
        self.end = self.at = 0
        self.level = size[line[0]] - 1

    def next(self) -> str:
        """Who is to have one more."""
        if self.at >= self.end:
            self.level += 1
            while self.end < len(self.line) and self.size[self.line[self.end]] == self.level:
                self.end += 1
            self.at = 0
        self.at += 1
        return self.line[self.at - 1]


class Rich:
    """The end of a line, one level after another; an excluded member is behind it."""

    def __init__(self, line: list[str], size: Mapping[str, int]) -> None:
        self.line, self.size = line, size
        self.start = self.end = len(line)
        self.at = len(line) - 1
        self.level = size[line[-1]] + 1

    def next(self) -> str | None:
        """Who is to have one less."""
        if self.at < self.start:
            if self.end <= self.start > 0:
                self.level = self.size[self.line[self.start - 1]]
            else:
                self.level -= 1
            while self.start > 0 and self.size[self.line[self.start - 1]] == self.level:
                self.start -= 1
            self.at = self.end - 1
        if self.at < 0:
            return None
        self.at -= 1
        return self.line[self.at + 1]

    def exclude(self) -> None:
        """Leave out the last member."""
        self.end -= 1
        self.line[self.at + 1], self.line[self.end] = self.line[self.end], self.line[self.at + 1]
