"""The share groups' assignors of 4.1 and 4.2 step by step, over Java's collections: the oracle of the replays."""

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from uuid import UUID

from app.core.groups.model import Member
from app.core.groups.server.share_group import sized_for
from app.core.jvm import JavaHashMap, JavaHashSet, KeyType
from app.core.jvm.hashes import INTEGER, STRING, int32, string_hash_code, uuid_hash_code
from tests.conformance.jvm import KAFKA_UUID
from tests.core.groups.uniform_by_hand import Answer, Read, Thrown

Partition = tuple[UUID, int]
TOPIC_ID_PARTITION: KeyType[Partition] = KeyType(
    "topic_id_partition", lambda key: int32(31 * uuid_hash_code(key[0]) + key[1])
)
Assignable = Mapping[str, Collection[int]]


class ShareRead(Read):
    """A group of which some partitions may be assigned."""

    def __init__(self, members: Sequence[Member], topics: Mapping[str, int], assignable: Assignable | None) -> None:
        super().__init__(members, topics)
        self.may = None if assignable is None else {self.uuid(name): set(may) for name, may in assignable.items()}

    def targets(self, topics: Collection[UUID]) -> list[Partition]:
        """Topic by topic, ascending."""
        for topic in topics:
            if topic not in self.count:
                raise Thrown("PartitionAssignorException")
        return [
            (topic, partition)
            for topic in topics
            for partition in range(self.count[topic])
            if self.may is None or partition in self.may.get(topic, ())
        ]

    def current(self) -> JavaHashMap[Partition, list[str]]:
        """The owners of each partition."""
        owners: JavaHashMap[Partition, list[str]] = JavaHashMap(TOPIC_ID_PARTITION)
        for member in self.members:
            for topic, partitions in self.owned[member].items():
                for partition in partitions:
                    owners.compute_if_absent((topic, partition), list).append(member)
        return owners

    def by_topic(self, given: Mapping[str, Collection[Partition]]) -> Answer:
        """Each member's partitions by the topic's name."""
        answer: Answer = {member: {} for member in self.members}
        for member, partitions in given.items():
            for topic, partition in partitions:
                answer[member].setdefault(self.name_of[topic], set()).add(partition)
        return answer


def hash_members(members: Sequence[str], targets: Sequence[Partition], into: JavaHashMap[Partition, list[str]]) -> None:
    """One partition a member."""
    for member in members if targets else ():
        code = string_hash_code(member)
        remainder = code % len(targets) if code >= 0 else -(-code % len(targets))
        into.compute_if_absent(targets[abs(remainder)], list).append(member)


def hashed(
    members: Sequence[Member], topics: Mapping[str, int], assignable: Assignable | None, *, is_homogeneous: bool
) -> Answer:
    """Kafka 4.1."""
    group = ShareRead(members, topics, assignable)
    if not members:
        return {}
    return _hashed_homogeneous(group) if is_homogeneous else _hashed_heterogeneous(group)


def _hashed_homogeneous(group: ShareRead) -> Answer:
    subscribed = group.subscribed[group.members[0]]
    if not subscribed:
        return {}
    targets = group.targets(subscribed)
    desired = (len(targets) + len(group.members) - 1) // len(group.members)
    new: JavaHashMap[Partition, list[str]] = JavaHashMap(TOPIC_ID_PARTITION, initial_capacity=sized_for(len(targets)))
    hash_members(group.members, targets, new)
    final: dict[str, set[Partition]] = {}
    has_members = set(new)
    for partition, owners in new.items():
        for member in owners:
            final.setdefault(member, set()).add(partition)
    for partition, owners in group.current().items():
        for member in owners if partition[0] in subscribed else ():
            own = final.setdefault(member, set())
            if len(own) < desired and partition not in new:
                own.add(partition)
                has_members.add(partition)
    line, turn = list(group.members), 0
    left = [partition for partition in targets if partition not in has_members]
    while left:
        if turn >= len(line):
            turn = 0
            if not line:
                raise Thrown("PartitionAssignorException")
        own = final.setdefault(line[turn], set())
        if len(own) <= desired:
            own.add(left.pop(0))
            turn += 1
        else:
            line.pop(turn)
    return group.by_topic(final)


def _hashed_heterogeneous(group: ShareRead) -> Answer:  # noqa: C901, PLR0912 — Kafka's steps in one place

    targets_of: JavaHashMap[str, list[Partition]] = JavaHashMap(STRING)
    for member in group.members:
        if group.subscribed[member]:
            targets_of[member] = group.targets(group.subscribed[member])
    readers: dict[UUID, list[str]] = {}
    new: JavaHashMap[Partition, list[str]] = JavaHashMap(TOPIC_ID_PARTITION)
    every: dict[Partition, None] = {}
    for member, targets in targets_of.items():
        every |= dict.fromkeys(targets)
        for topic in dict.fromkeys(topic for topic, _ in targets):
            readers.setdefault(topic, []).append(member)
    for member, targets in targets_of.items():
        hash_members([member], targets, new)
    current, was_hashed = group.current(), set(new)
    free: JavaHashMap[UUID, list[Partition]] = JavaHashMap(KAFKA_UUID)
    for partition in every:
        if partition not in was_hashed and partition not in current:
            free.compute_if_absent(partition[0], list).append(partition)
    for topic, partitions in free.items():
        for turn, partition in enumerate(partitions):
            new.compute_if_absent(partition, list).append(readers[topic][turn % len(readers[topic])])
    final: dict[str, set[Partition]] = {}
    for partition, owners in new.items():
        for member in owners:
            final.setdefault(member, set()).add(partition)
    for partition, owners in current.items():
        for member in owners:
            if member in readers.get(partition[0], ()) and partition not in new:
                final.setdefault(member, set()).add(partition)
    return group.by_topic(final)


def shared(
    members: Sequence[Member], topics: Mapping[str, int], assignable: Assignable | None, *, is_homogeneous: bool
) -> Answer:
    """Kafka 4.2 and later."""
    group = ShareRead(members, topics, assignable)
    subscribed: Collection[UUID] = group.subscribed[group.members[0]] if is_homogeneous and members else ()
    if not is_homogeneous:
        read = dict.fromkeys(topic for member in group.members for topic in group.subscribed[member])
        subscribed = JavaHashSet.copy_of([], KAFKA_UUID)
        for topic in read:
            subscribed.add(topic)
    targets = group.targets(subscribed)
    if not subscribed:
        return {}
    # Parts of each member's answer: topics may be left without partitions.
    answer = [{topic: set(own) for topic, own in group.owned[member].items()} for member in group.members]
    if is_homogeneous:
        for own in answer:
            for topic in set(own) - set(subscribed):
                del own[topic]
        everyone = list(range(len(group.members)))
        _share(group, answer, everyone, targets, set(subscribed), TOPIC_ID_PARTITION)
    else:
        for topic in subscribed:
            readers = [n for n, member in enumerate(group.members) if topic in group.subscribed[member]]
            by_number: KeyType[Partition] = KeyType("partition", lambda key: key[1], lambda key: key[1])
            _share(group, answer, readers, [p for p in targets if p[0] == topic], {topic}, by_number)
    return group.answer(dict(zip(group.members, answer, strict=True)))


def _share(  # noqa: C901, PLR0912 — Kafka's steps in one place
    group: ShareRead,
    answer: Sequence[dict[UUID, set[int]]],
    readers: Sequence[int],
    targets: Sequence[Partition],
    topics: Collection[UUID],
    key_type: KeyType[Partition],
) -> None:
    sharing = (len(readers) + len(targets) - 1) // len(targets) if targets else 0
    precise = sharing * len(targets) / len(readers)
    desired = dict.fromkeys(range(len(group.members)), 0)
    for place, reader in enumerate(readers):
        desired[reader] = ceil(precise * (place + 1)) - ceil(precise * place)
    sharers: JavaHashMap[Partition, JavaHashSet[int]] = JavaHashMap(key_type, initial_capacity=sized_for(len(targets)))
    own_of: dict[int, JavaHashSet[Partition]] = {}
    for number, member in enumerate(group.members):
        own_of[number] = JavaHashSet(key_type)
        for topic, owned in group.owned[member].items():
            for partition in [(topic, each) for each in owned if topic in topics]:
                sharers.compute_if_absent(partition, lambda: JavaHashSet(INTEGER)).add(number)
                own_of[number].add(partition)
    for number, own in own_of.items():
        for partition in list(own):
            if len(own) <= desired[number]:
                break
            own.remove_by_iterator(partition)
            sharers[partition].discard(number)
            answer[number][partition[0]].discard(partition[1])
    for partition, members in sharers.items():
        for number in list(members):
            if len(members) <= sharing:
                break
            members.remove_by_iterator(number)
            own_of[number].discard(partition)
            answer[number][partition[0]].discard(partition[1])
    for partition in targets:
        sharers.compute_if_absent(partition, lambda: JavaHashSet(INTEGER))
    unfilled: JavaHashSet[int] = JavaHashSet(INTEGER, initial_capacity=sized_for(len(group.members)))
    for number in readers:
        if len(own_of[number]) < desired[number]:
            unfilled.add(number)
    line, assigned = list(unfilled), False
    for partition, members in sharers.items():
        while len(members) < sharing:
            if not line:
                if not assigned:
                    break
                line, assigned = list(unfilled), False
                if not line:
                    raise Thrown("NoSuchElementException")
            number = line.pop(0)
            if number not in members:
                members.add(number)
                own_of[number].add(partition)
                answer[number].setdefault(partition[0], set()).add(partition[1])
                assigned = True
                if len(own_of[number]) >= desired[number]:
                    unfilled.remove_by_iterator(number)
        if not unfilled:
            break
