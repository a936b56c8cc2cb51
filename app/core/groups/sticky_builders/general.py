"""The sticky assignors where members subscribe to different topics.

1. A member keeps what it owns and still subscribes to; where racks decide, only what has a replica in its rack.
2. What is left goes, topics with few subscribers first, to whoever has least of those that may have it; where racks
   decide, first to those that are not in another rack, and what then is left to anyone.
3. Partitions are moved, each to who has least of its readers, as long as that one has two or more fewer: first those
   that were left, unless some had to be taken away, then all. A partition goes back to who owned it in an older
   generation if that helps; and one that has moved the other way goes back instead of another of its topic.
4. Where that has not made the sizes more even (by the sum of differences over pairs), it is undone.

Kafka looks through all partitions before each move, to see whether all is balanced. Only sizes decide, and who reads
and who holds topics; so here the first reader and the fullest holder of each topic are compared, and only after a move,
and not while the pair that showed the imbalance last still shows it. The answer is the same.

A partition that a member owns and its topic does not have stays with it, and counts. As in the constrained builder all
that comes later is given away again, kept or not; a partition can then be in two lists. Those cases are searched
as Kafka does.

Source: KIP-54, KIP-341, KIP-881; `AbstractStickyAssignor.GeneralAssignmentBuilder` of Apache Kafka 4.0.
"""

from dataclasses import dataclass

import numpy as np

from app.core.groups.sticky_builders.group import StickyGroup
from app.core.groups.sticky_builders.lists import in_order, new_lists, ranked, withheld
from app.core.groups.sticky_builders.lists_kernel import Readers, give_to_first
from app.core.groups.sticky_builders.map_order import MapOrder
from app.core.groups.sticky_builders.rebalance import Work, rebalance
from app.core.model import Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What members own and may keep. `numbers`, `owners` : (kept,) int64. `must_revoke` : whether they lose some."""

    numbers: Int64s
    owners: Int64s
    must_revoke: bool

    @classmethod
    def of(cls, group: StickyGroup, readers: Readers) -> "Kept":
        """Believed claims to what a member reads and is not in another rack."""
        numbers = np.flatnonzero(group.claims.believed >= 0)
        owners = group.claims.members[group.claims.believed[numbers]]
        stays = readers.reads[readers.kind_of[owners], readers.topic_of[numbers]]
        if group.racks is not None:
            stays &= ~group.racks.are_away(owners, numbers)
        return cls(numbers[stays], owners[stays], not stays.all())


def build(group: StickyGroup, *, cooperative: bool) -> tuple[Int64s, Int64s]:
    """Assign, and where `cooperative` withhold what another member must first give up.

    Returns
    -------
    offsets : (members + 1,) int64. numbers : (assigned,) int64 partitions by number, in the order of Kafka's lists.

    Raises
    ------
    OwnedPartitionMissing, AssignorLosesCount : Kafka's own code looks up a member that it has set aside.
    AssignorNeverEnds : it moves the same partitions for ever.
    """
    readers = _readers(group)
    audience = group.subscriptions.times[readers.kind_of].sum(axis=0)
    kept = Kept.of(group, readers)
    # Topics with few readers first; of equal ones by name, which is how they are numbered.
    topic_order = np.argsort(audience, kind="stable")
    place_of = np.empty(len(audience), np.int64)
    place_of[topic_order] = np.arange(len(audience))
    sequence = np.argsort(place_of[readers.topic_of[: group.partitions.known]], kind="stable")
    left = _left(group, kept, sequence, place_of)
    lists = new_lists(group, kept.numbers, kept.owners)
    rest = left if group.racks is None else give_to_first(left, readers, lists, readers.rack_of)
    give_to_first(rest, readers, lists, np.full(len(group.ids), -1, np.int64))
    shared = audience >= 2
    held = np.concatenate([lists.holder[shared[readers.topic_of]], lists.twin_holder[shared[readers.topic_of]]])
    active = lists.sizes < readers.room
    active[held[held >= 0]] = True
    order = MapOrder(group, active)
    works = [sequence] if kept.must_revoke else [left, sequence]
    work = Work(tuple(some[shared[readers.topic_of[some]]] for some in works), fresh=not len(kept.numbers))
    lists = rebalance(group, readers, ranked(lists, readers.rank, active), work, order)
    leave_out = withheld(group, lists, order) if cooperative else np.zeros((2, len(lists.holder)), np.bool_)
    return in_order(lists, leave_out)


def _readers(group: StickyGroup) -> Readers:
    subscriptions, partitions, racks = group.subscriptions, group.partitions, group.racks
    counts = np.diff(partitions.offsets)
    named = subscriptions.times.sum(axis=1)
    # Kafka takes a subscription that names as many topics as there are for one that names them all.
    room = np.where(named == len(counts), partitions.known, subscriptions.times @ counts)
    return Readers(
        topic_of=partitions.topic_of,
        offsets=partitions.offsets,
        kind_of=subscriptions.kind_of,
        reads=subscriptions.times > 0,
        room=room[subscriptions.kind_of],
        rank=group.rank,
        rack_of=np.full(len(group.ids), -1, np.int64) if racks is None else racks.of_member,
        racks_of=np.empty((partitions.known, 0), np.int32) if racks is None else racks.of_partition,
    )


def _left(group: StickyGroup, kept: Kept, sequence: Int64s, place_of: Int64s) -> Int64s:
    """The partitions that Kafka takes for not yet assigned, in `sequence`."""
    partitions = group.partitions
    free = np.ones(len(partitions.topic_of), np.bool_)
    free[kept.numbers] = False
    only_claimed = kept.numbers[kept.numbers >= partitions.known]
    if len(only_claimed):
        places = place_of[partitions.topic_of[only_claimed]].tolist()
        place, number = min(zip(places, partitions.id_of[only_claimed].tolist(), strict=True))
        free[: partitions.known] |= place_of[partitions.topic_of[: partitions.known]] >= place + (number >= 0)
    return sequence[free[sequence]]
