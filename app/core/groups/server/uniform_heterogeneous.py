"""The uniform assignor where members subscribe to different topics.

Members keep what they own of topics that they still read. Topics stand in order: most partitions a subscriber first, of
these the fewest subscribers first, then by id. Each in turn gives its unowned partitions to the subscribers that have
least, counting all topics; ties go by the order of Kafka's hash map of members. Then, topic by topic again, partitions
go from the subscribers that have most to those that have least, as long as that evens them out; this is repeated until
a round over all topics changes nothing, 16 times at most.

    M0 and M1 read T1, M1 and M2 read T2; four partitions each, of which nobody owns any

    T1 → M0: 0 2, M1: 1 3        T2 → M2: 0 1 2, M1: 3

Kafka sorts the subscribers anew for every topic. Their counts lie close together, so that here sorting is counting, and
the members of an audience are listed once, however many topics they have in common.

Source: `org.apache.kafka.coordinator.group.assignor.UniformHeterogeneousAssignmentBuilder` of Kafka 4.0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.groups.arrays.audiences import Audiences
from app.core.groups.arrays.holdings import Holdings, OwnedPartitions
from app.core.groups.arrays.owners import Owners
from app.core.groups.model import GroupAssignment
from app.core.groups.server.group import ServerGroup, refuse_missing
from app.core.groups.server.topic_ids import id_bits, signed_halves
from app.core.model import Int32s, Int64s
from app.errors import KafkaError, OwnedPartitionMissing

NOBODY = -1


def build(group: ServerGroup, topics: Mapping[str, int]) -> GroupAssignment:
    """Assign partitions; parameters, answer and errors are those of `server_uniform.assign`."""
    from app.core.groups.server import uniform_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

    audiences = group.audiences
    refuse_missing(audiences, topics, first_only=False)
    if not audiences.topics:
        return Owners.none().assignment([])
    table = _Topics.of(audiences, topics)
    owned = OwnedPartitions.of(group.members, {name: topic for topic, name in enumerate(table.names)})
    held = owned.holdings.chosen(audiences.reads(owned.holdings.members, owned.holdings.topics))
    _refuse_beyond(held, table)
    places = table.starts[held.topics] + held.partitions
    owners = np.full(int(table.counts.sum()), NOBODY, np.int32)
    owners[places] = held.members
    # Of several owners the last one counts; the others keep the partition all the same.
    is_shared = owners[places] != held.members
    sizes = np.bincount(held.members, minlength=len(group.members)).astype(np.int64)
    order = table.order()
    kernel.deal_out(order, *table.arrays(), owners, sizes)
    movable = order[table.readers_of(order) >= 2]
    moves = kernel.even_out(movable, *table.arrays(), owners, sizes)
    # A member that came to own what it shared, and gave it away, does not hold it any more.
    given_away = moves[:, 0] * len(sizes) + moves[:, 1]
    shared = held.chosen(is_shared & ~np.isin(places * len(sizes) + held.members, given_away))
    bare = _still_named(owned.without_partitions, audiences, moves, table)
    return _answer(group, table, owners, shared, bare)


@dataclass(frozen=True, slots=True, eq=False)
class _Topics:
    """The subscribed topics.

    Parameters
    ----------
    names : ids. starts, counts : (topics,) int64, where a topic's partitions begin and how many they are.
    audience_of : (topics,) int32. reader_starts : (audiences + 1,) int64. readers : members by audience, ascending.
    """

    names: Sequence[str]
    starts: Int64s = field(repr=False)
    counts: Int64s = field(repr=False)
    audience_of: Int32s = field(repr=False)
    reader_starts: Int64s = field(repr=False)
    readers: Int64s = field(repr=False)

    @classmethod
    def of(cls, audiences: Audiences, topics: Mapping[str, int]) -> Self:
        counts = np.array([topics[name] for name in audiences.topics], np.int64)
        everyone = np.arange(len(audiences.kind_of))
        readers = [audiences.members_of(audience, everyone) for audience in range(len(audiences.kinds_in))]
        reader_starts = np.cumsum([0, *map(len, readers)], dtype=np.int64)
        starts = np.cumsum(counts) - counts
        return cls(audiences.topics, starts, counts, audiences.audience_of, reader_starts, np.concatenate(readers))

    def arrays(self) -> tuple[Int64s, Int64s, Int32s, Int64s, Int64s]:
        """What the compiled loops take, in their order."""
        return self.starts, self.counts, self.audience_of, self.reader_starts, self.readers

    def readers_of(self, topics: Int64s) -> Int64s:
        """How many subscribers topics have."""
        readers: Int64s = np.diff(self.reader_starts)[self.audience_of[topics]]
        return readers

    def order(self) -> Int64s:
        """The topics as they are dealt out: most partitions a subscriber, then fewest subscribers, then by id."""
        readers = self.readers_of(np.arange(len(self.names)))
        high, low = signed_halves(id_bits(self.names)).T
        return np.lexsort((low, high, readers, -self.counts / readers))


def _refuse_beyond(held: Holdings, table: _Topics) -> None:
    is_beyond = (held.partitions < 0) | (held.partitions >= table.counts[held.topics])
    if is_beyond.any():
        first = int(np.argmax(is_beyond))
        topic, partition = int(held.topics[first]), int(held.partitions[first])
        raise OwnedPartitionMissing(
            f"a member owns partition {partition} of topic {table.names[topic]}, which has {table.counts[topic]}",
            kafka=KafkaError("ArrayIndexOutOfBoundsException"),
            path=("members",),
            topic=table.names[topic],
            partition=partition,
            partitions=int(table.counts[topic]),
        )


def _still_named(
    without_partitions: Sequence[tuple[int, int]], audiences: Audiences, moves: Int64s, table: _Topics
) -> list[tuple[int, int]]:
    """Topics that members owned without partitions, read, and gave no partitions of away, with which the name goes."""
    topic_of_move = np.searchsorted(table.starts, moves[:, 0], side="right") - 1
    gave = set(zip(moves[:, 1].tolist(), topic_of_move.tolist(), strict=True)) if without_partitions else set()
    pairs = np.array(without_partitions, np.int64).reshape(-1, 2)
    is_read = audiences.reads(pairs[:, 0], pairs[:, 1]).tolist()
    return [pair for pair, read in zip(without_partitions, is_read, strict=True) if read and pair not in gave]


def _answer(
    group: ServerGroup, table: _Topics, owners: Int32s, shared: Holdings, bare: Sequence[tuple[int, int]]
) -> GroupAssignment:
    """The owners' lists, and with them what members hold that others own, and topics of which they hold nothing."""
    by_name = np.array(sorted(range(len(table.names)), key=table.names.__getitem__), np.int64)
    names = [table.names[topic] for topic in by_name.tolist()]
    by_caller = group.hashed[owners].astype(np.int32)
    assignment = Owners(names, table.starts[by_name], table.counts[by_name], by_caller).assignment(group.ids)
    if not len(shared) and not bare:
        return assignment
    place_of = np.empty_like(by_name)
    place_of[by_name] = np.arange(len(by_name))
    others = Holdings(group.hashed[shared.members], place_of[shared.topics], shared.partitions)
    named = [(int(group.hashed[member]), int(place_of[topic])) for member, topic in bare]
    return Holdings.joined([Holdings.of(assignment), others]).assignment(group.ids, names, without_partitions=named)
