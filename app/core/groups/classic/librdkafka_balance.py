"""The balancing of librdkafka's cooperative-sticky assignor: partitions move to members that have fewer.

Partitions are visited in a given order, again and again until no partition moves or the group is balanced: no member
that lacks some of its topics' partitions could get one from a member with more. Each goes

- back to its previous member, if its member has at least two partitions more than that;
- else, if its member has at least two more than any subscribed member: to the subscribed member with the fewest, of
  several the smallest id. librdkafka compares members in the partition's racks first, which changes nothing.

librdkafka keeps a record of moved partitions for a rule of Java's assignor: rather than move a partition of a topic
from A to B after one from B to A, move that one back. Its code for this reads memory that it has freed: the process
ends, or moves another partition than it chose. No assignment can be predicted then.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse
from typing import NoReturn, Self

from app.core.groups.model import GroupMetadata, Member
from app.errors.kafka import AssignorLosesCount, KafkaError

Partition = tuple[str, int]
UNDEFINED = KafkaError("undefined behaviour")
"""The effect of reading freed memory, in C's term: in 25 of 30 measured groups SIGSEGV or SIGABRT."""
FEWEST_TO_EXCHANGE = 2
"""A topic of fewer subscribed members has no partition to move."""


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """Existing topics that members subscribe to.

    Parameters
    ----------
    ids : of the members. rank : the place of each id among the sorted ids.
    counts : partitions of each subscribed topic, in the order of the metadata.
    members_of : by topic, the subscribed members.
    topics_of : by member, its topics.
    rack_of : by member. near : by partition, the racks of its replicas; None if racks do not decide.
    """

    ids: tuple[str, ...]
    rank: Sequence[int]
    counts: Mapping[str, int]
    members_of: Mapping[str, Sequence[int]]
    topics_of: Sequence[frozenset[str]]
    rack_of: Sequence[str | None]
    near: Mapping[Partition, frozenset[str]] | None = field(repr=False)

    @classmethod
    def of(cls, members: Sequence[Member], metadata: GroupMetadata) -> Self:
        """The readers among members that have a subscription."""
        ids = tuple(member.id for member in members)
        place = {member: rank for rank, member in enumerate(sorted(ids))}
        subscribed = {topic for member in members for topic in member.topics}
        counts = {
            name: len(topic.replicas)
            for name, topic in metadata.topics.items()
            if name in subscribed and len(topic.replicas)
        }
        topics_of = [frozenset(counts).intersection(member.topics) for member in members]
        return cls(
            ids=ids,
            rank=[place[member] for member in ids],
            counts=counts,
            members_of={name: [m for m, topics in enumerate(topics_of) if name in topics] for name in counts},
            topics_of=topics_of,
            rack_of=[member.rack_id for member in members],
            near=_deciding_racks(members, counts, metadata),
        )

    def exists(self, partition: Partition) -> bool:
        """Whether a member could be assigned the partition."""
        return 0 <= partition[1] < self.counts.get(partition[0], 0)

    def can_keep(self, member: int, partition: Partition) -> bool:
        """Whether the partition exists, the member subscribes to its topic, and racks allow it."""
        is_subscribed = self.exists(partition) and partition[0] in self.topics_of[member]
        return is_subscribed and self.is_near(member, partition)

    def is_near(self, member: int, partition: Partition) -> bool:
        """Whether the member is in a rack of the partition, has none, or racks do not decide."""
        return self.near is None or self.rack_of[member] is None or self.rack_of[member] in self.near[partition]

    def is_exchangeable(self, partition: Partition) -> bool:
        """Whether at least two members subscribe to the topic."""
        return len(self.members_of[partition[0]]) >= FEWEST_TO_EXCHANGE

    def most_of(self, member: int) -> int:
        """The number of partitions of a member's topics."""
        return sum(self.counts[topic] for topic in self.topics_of[member])


def _deciding_racks(
    members: Sequence[Member], counts: Mapping[str, int], metadata: GroupMetadata
) -> dict[Partition, frozenset[str]] | None:
    """The racks of each partition; None if no member is in one of them, or all partitions are in the same ones."""
    rack_of = metadata.rack_of
    near = {
        (name, number): frozenset(rack for broker in row if (rack := rack_of.get(broker)) is not None)
        for name in counts
        for number, row in enumerate(metadata.topics[name].replicas.tolist())
    }
    everywhere = frozenset[str]().union(*near.values())
    is_any_near = any(member.rack_id and member.rack_id in everywhere for member in members)
    return near if is_any_near and any(racks != everywhere for racks in near.values()) else None


class Moves:
    """The record of moved partitions, in which librdkafka looks up the opposite move before each."""

    def __init__(self) -> None:
        self._pair_of: dict[Partition, tuple[int, int]] = {}
        self._partitions: dict[tuple[str, int, int], list[Partition]] = {}
        self._freed: set[tuple[str, int, int]] = set()

    def record(self, partition: Partition, source: int, to: int) -> None:
        """Record a move.

        Raises
        ------
        AssignorLosesCount : if librdkafka would use freed memory: a partition of the topic was moved the other way, or
            the entry of the two members is a partition that has moved on.
        """
        topic = partition[0]
        if (topic, to, source) in self._partitions:
            _fail("it moves a partition back")
        first = self._pair_of.get(partition)
        if first is not None:
            self._forget((topic, *first), partition)
            source = first[0]
        pair = (topic, source, to)
        if pair in self._freed:
            _fail("it looks up a move of a partition that has moved on")
        self._pair_of[partition] = (source, to)
        self._partitions.setdefault(pair, []).append(partition)

    def _forget(self, pair: tuple[str, int, int], partition: Partition) -> None:
        moved = self._partitions[pair]
        if moved[0] == partition:
            self._freed.add(pair)
        moved.remove(partition)
        if not moved:
            del self._partitions[pair]
            self._freed.discard(pair)


class Balancing:
    """Members and their partitions, while the assignment is improved.

    Parameters
    ----------
    held : by member, its partitions. A partition that a newer and then an older claimant list counts as the second's
        when it moves, which leaves it with the first too; a member can get a partition twice so.
    holder : by partition, the member that it moves from.
    previous : by partition, the member that it returns to.
    """

    def __init__(
        self,
        readers: Readers,
        held: Sequence[Iterable[Partition]],
        holder: Mapping[Partition, int],
        previous: Mapping[Partition, int],
    ) -> None:
        self.readers = readers
        self.held = [Counter(own) for own in held]
        self._sizes = [own.total() for own in self.held]
        self._holder = dict(holder)
        self._previous = previous
        self._is_ambiguous = any(partition not in self.held[member] for partition, member in holder.items())
        self._ranking = sorted((size, rank) for size, rank in zip(self._sizes, readers.rank, strict=True))
        self._member_of_rank = {rank: member for member, rank in enumerate(readers.rank)}
        self._fixed: set[int] = set()
        self._moves = Moves()

    def balance(self, unassigned: Sequence[Partition], order: Sequence[Partition], *, is_revoking: bool) -> None:
        """Assign partitions and improve the balance, in place.

        Parameters
        ----------
        unassigned : the partitions without a member. order : all that exist.
        is_revoking : whether a member lost a partition that exists. If not, partitions of `unassigned` move first.
        """
        is_first = self._ranking[-1][0] == 0
        left = unassigned if self.readers.near is None else [p for p in unassigned if not self._assign(p, is_near=True)]
        for partition in left:
            self._assign(partition, is_near=False)
        self._fixed = set(filterfalse(self._can_exchange, range(len(self.held))))
        self._ranking = [entry for entry in self._ranking if self._member_of_rank[entry[1]] not in self._fixed]
        before = [own.copy() for own in self.held], self._score()
        if not is_revoking:
            self._improve(list(filter(self.readers.is_exchangeable, unassigned)))
        has_moved = self._improve(list(filter(self.readers.is_exchangeable, order)))
        if has_moved and not is_first and self._score() >= before[1]:
            self.held = before[0]

    def _assign(self, partition: Partition, *, is_near: bool) -> bool:
        for _, rank in self._ranking:
            member = self._member_of_rank[rank]
            if partition[0] not in self.readers.topics_of[member]:
                continue
            if is_near and not self.readers.is_near(member, partition):
                continue
            self._add(member, partition)
            self._holder[partition] = member
            return True
        return False

    def _can_exchange(self, member: int) -> bool:
        if self._sizes[member] < self.readers.most_of(member):
            return True
        return any(self.readers.is_exchangeable(partition) for partition in self.held[member])

    def _improve(self, order: Sequence[Partition]) -> bool:
        """Move partitions until none moves or the group is balanced; whether any did."""
        has_moved = False
        is_moving = bool(order)
        is_balanced = is_moving and self._is_balanced()
        while is_moving and not is_balanced:
            is_moving = False
            for partition in order:
                to = self._better(partition)
                if to is None:
                    continue
                self._move(partition, to)
                is_moving = has_moved = True
                is_balanced = self._is_balanced()
                if is_balanced:
                    break
        return has_moved

    def _better(self, partition: Partition) -> int | None:
        """The member that a partition moves to, or None."""
        member = self._holder[partition]
        size = self._size(member)
        previous = self._previous.get(partition)
        if previous is not None and size > self._size(previous) + 1:
            return previous
        if size <= self._ranking[0][0] + 1:
            return None
        if not any(size > self._size(other) + 1 for other in self.readers.members_of[partition[0]]):
            return None
        subscribed = (self._member_of_rank[rank] for _, rank in self._ranking)
        return next(other for other in subscribed if partition[0] in self.readers.topics_of[other])

    def _is_balanced(self) -> bool:
        if self._ranking[0][0] >= self._ranking[-1][0] - 1:
            return True
        holder: Mapping[Partition, int] = self._holder
        if self._is_ambiguous:
            free = [member for member in reversed(range(len(self.held))) if member not in self._fixed]
            holder = {partition: member for member in free for partition in self.held[member]}
        # Members come with more and more partitions: a holder with too few for one has too few for the next.
        unchecked = list(self.readers.counts)
        for size, rank in self._ranking:
            member = self._member_of_rank[rank]
            if size == self.readers.most_of(member):
                continue
            own = list(filter(self.readers.topics_of[member].__contains__, unchecked))
            if any(self._size(holder[topic, p]) > size for topic in own for p in range(self.readers.counts[topic])):
                return False
            unchecked = list(filterfalse(self.readers.topics_of[member].__contains__, unchecked))
        return True

    def _move(self, partition: Partition, to: int) -> None:
        source = self._holder[partition]
        self._moves.record(partition, source, to)
        self._add(to, partition)
        if self.held[source][partition]:
            self._resize(source, -1)
            self.held[source][partition] -= 1
        self._holder[partition] = to

    def _add(self, member: int, partition: Partition) -> None:
        self.held[member][partition] += 1
        self._resize(member, 1)

    def _resize(self, member: int, change: int) -> None:
        rank = self.readers.rank[member]
        del self._ranking[bisect_left(self._ranking, (self._sizes[member], rank))]
        self._sizes[member] += change
        insort(self._ranking, (self._sizes[member], rank))

    def _size(self, member: int) -> int:
        if member in self._fixed:
            _fail("it looks up a member that it has removed")
        return self._sizes[member]

    def _score(self) -> int:
        """The sum of the differences of all pairs of members."""
        last = len(self._ranking) - 1
        return sum(size * (2 * place - last) for place, (size, _) in enumerate(self._ranking))


def _fail(why: str) -> NoReturn:
    detail = f"librdkafka's cooperative-sticky assignor fails on this group, in most cases with its process: {why}"
    raise AssignorLosesCount(detail, kafka=UNDEFINED)
