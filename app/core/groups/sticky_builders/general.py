"""The sticky assignors for members with different subscriptions (general builder).

1. A member keeps partitions of still subscribed topics; if racks decide, only those with a replica in its rack.
2. The rest is assigned, topics with few subscribers first, to the potential member with the fewest partitions; if racks
   decide, first among members that are not in another rack, then among all.
3. Partitions move, each to the subscriber with the fewest partitions, as long as that one has at least two fewer: first
   the partitions of step 2, unless some had to be revoked, then all. A partition returns to its owner in an older
   generation if that helps; and one that has moved the other way returns instead of another one of its topic.
4. If the moves did not improve the balance (the sum of differences over pairs of members), they are undone.

Kafka searches all partitions before each move, to see whether the assignment is balanced. The result depends only on
sizes, subscriptions and the topics of assigned partitions. So the first subscriber and the largest member of each topic
are compared here, only after a move, and only if the pair that showed the last imbalance no longer shows it.

A partition that a member owns and its topic does not have stays assigned, and counts. As in the constrained builder,
all later partitions are assigned again, kept or not; a partition can then be in two lists. These cases are searched as
Kafka does.

Source: KIP-54, KIP-341, KIP-881; `AbstractStickyAssignor.GeneralAssignmentBuilder` of Apache Kafka 4.0.
"""

from dataclasses import dataclass

import numpy as np

from app.core.groups.sticky_builders.general_state_kernel import MemberLists, PotentialMembers, assign_to_first
from app.core.groups.sticky_builders.group import StickyGroup
from app.core.groups.sticky_builders.reassignment import MapOrder, ReassignmentPlan, reassign
from app.core.model import NO_MEMBER, NO_RACK, Bools, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class KeptPartitions:
    """Owned partitions that members may keep.

    Parameters
    ----------
    numbers, owners : (kept,) int64 partitions and members.
    must_revoke : whether some owned partitions are not kept.
    """

    numbers: Int64s
    owners: Int64s
    must_revoke: bool

    @classmethod
    def of(cls, group: StickyGroup, potential: PotentialMembers) -> "KeptPartitions":
        """Accepted claims to partitions that the member subscribes to and that are not away from its rack."""
        numbers = np.flatnonzero(group.claims.accepted >= 0)
        owners = group.claims.members[group.claims.accepted[numbers]]
        is_kept = potential.subscribes[potential.list_of_member[owners], potential.topic_of[numbers]]
        if group.racks is not None:
            is_kept &= ~group.racks.are_away(owners, numbers)
        return cls(numbers[is_kept], owners[is_kept], not is_kept.all())


def build(group: StickyGroup, *, cooperative: bool) -> tuple[Int64s, Int64s]:
    """Assign; if `cooperative`, withhold partitions that another member must first revoke.

    Returns
    -------
    offsets : (members + 1,) int64. numbers : (assigned,) int64 partitions by number, in the order of Kafka's lists.

    Raises
    ------
    OwnedPartitionMissing, AssignorLosesCount : if Kafka's own code looks up a member that it has removed.
    AssignorNeverEnds : if it moves the same partitions forever.
    """
    potential = _potential_members(group)
    subscribers = group.times[potential.list_of_member].sum(axis=0)
    kept = KeptPartitions.of(group, potential)
    # Topics with few subscribers first; of equal ones by name, which is how they are numbered.
    topic_order = np.argsort(subscribers, kind="stable")
    position = np.empty(len(subscribers), np.int64)
    position[topic_order] = np.arange(len(subscribers))
    sequence = np.argsort(position[potential.topic_of[: group.partitions.existing]], kind="stable")
    unassigned = _unassigned(group, kept, sequence, position)
    lists = new_lists(group, kept.numbers, kept.owners)
    remaining = unassigned if group.racks is None else assign_to_first(unassigned, potential, lists, potential.rack_of)
    assign_to_first(remaining, potential, lists, np.full(len(group.ids), NO_RACK, np.int32))
    is_movable = (subscribers >= 2)[potential.topic_of]
    movable_members = np.concatenate([lists.member[is_movable], lists.twin_member[is_movable]])
    active = lists.sizes < potential.capacity
    active[movable_members[movable_members != NO_MEMBER]] = True
    order = MapOrder(group, active)
    passes = [sequence] if kept.must_revoke else [unassigned, sequence]
    plan = ReassignmentPlan(tuple(numbers[is_movable[numbers]] for numbers in passes), is_fresh=not len(kept.numbers))
    lists = reassign(group, potential, ranked(lists, potential.rank, active), plan, order)
    is_left_out = withheld(group, lists, order) if cooperative else np.zeros((2, len(lists.member)), np.bool_)
    return in_order(lists, is_left_out)


def _potential_members(group: StickyGroup) -> PotentialMembers:
    partitions, racks = group.partitions, group.racks
    counts = np.diff(partitions.offsets)
    topics_named = group.times.sum(axis=1)
    # Kafka takes a subscription that names as many topics as there are to name all of them.
    capacity = np.where(topics_named == len(counts), partitions.existing, group.times @ counts)
    return PotentialMembers(
        topic_of=partitions.topic_of,
        offsets=partitions.offsets,
        list_of_member=group.list_of_member,
        subscribes=group.times > 0,
        capacity=capacity[group.list_of_member],
        rank=group.rank,
        rack_of=np.full(len(group.ids), NO_RACK, np.int32) if racks is None else racks.table.of_member,
        racks_of=np.empty((partitions.existing, 0), np.int32) if racks is None else racks.of_partition,
    )


def _unassigned(group: StickyGroup, kept: KeptPartitions, sequence: Int64s, position: Int64s) -> Int64s:
    """Partitions that Kafka takes to be unassigned (`unassignedPartitions`), in the order of `sequence`."""
    partitions = group.partitions
    is_free = np.ones(len(partitions.topic_of), np.bool_)
    is_free[kept.numbers] = False
    only_claimed = kept.numbers[kept.numbers >= partitions.existing]
    if len(only_claimed):
        places = position[partitions.topic_of[only_claimed]].tolist()
        place, partition = min(zip(places, partitions.id_of[only_claimed].tolist(), strict=True))
        is_free[: partitions.existing] |= position[partitions.topic_of[: partitions.existing]] >= place + (
            partition >= 0
        )
    return sequence[is_free[sequence]]


def new_lists(group: StickyGroup, numbers: Int64s, owners: Int64s) -> MemberLists:
    """Lists of kept partitions, in the order in which members claim them; all members are active."""
    count = len(group.partitions.topic_of)
    member, stamp = np.full(count, NO_MEMBER, np.int64), np.full(count, NO_MEMBER, np.int64)
    member[numbers] = owners
    stamp[numbers] = group.claims.accepted[numbers]
    lists = MemberLists(
        member,
        stamp,
        twin_member=np.full(count, NO_MEMBER, np.int64),
        twin_stamp=np.full(count, NO_MEMBER, np.int64),
        clock=np.array([len(group.claims.members)], np.int64),
        sizes=np.bincount(owners, minlength=len(group.ids)).astype(np.int64),
        ranking=np.empty(0, np.int64),
        place=np.empty(0, np.int64),
    )
    return ranked(lists, group.rank, np.ones(len(group.ids), np.bool_))


def ranked(lists: MemberLists, rank: Int64s, active: Bools) -> MemberLists:
    """The lists with a ranking of the active members; all other arrays are shared."""
    members = np.flatnonzero(active)
    ranking = members[np.lexsort((rank[members], lists.sizes[members]))]
    place = np.full(len(active), -1, np.int64)
    place[ranking] = np.arange(len(ranking))
    return lists._replace(ranking=ranking, place=place)


def withheld(group: StickyGroup, lists: MemberLists, order: MapOrder) -> Bools:
    """Partitions that their member did not own, and that another member owned and must revoke first.

    Claims of all generations count as ownership.

    Returns
    -------
    (2, numbers) bool: whether the first, and the second, list entry of each partition is left out.
    """
    members, numbers = group.claims.members, group.claims.partitions
    assigned = np.stack([lists.member, lists.twin_member])
    is_own = members == assigned[:, numbers]
    owned = np.zeros(assigned.shape, np.bool_)
    for place in (0, 1):
        owned[place, numbers[is_own[place]]] = True
    revoked = np.zeros(len(lists.member), np.bool_)
    revoked[numbers[~is_own.any(axis=0)]] = True
    added = (assigned != NO_MEMBER) & ~owned
    is_left_out: Bools = added & revoked
    for number in np.flatnonzero(is_left_out.all(axis=0)).tolist():
        is_left_out[:, number] = False
        is_left_out[_removed_entry(lists, order, number), number] = True
    return is_left_out


def _removed_entry(lists: MemberLists, order: MapOrder, number: int) -> int:
    """Which of two list entries of a partition Kafka removes: the one in the later list, or the first in one list."""
    if lists.member[number] == lists.twin_member[number]:
        return int(lists.twin_stamp[number] < lists.stamp[number])
    return int(order.at_the_end(lists.twin_member[number]) > order.at_the_end(lists.member[number]))


def in_order(lists: MemberLists, is_left_out: Bools) -> tuple[Int64s, Int64s]:
    """Each member's list: offsets (members + 1,) and the partitions by number."""
    assigned = np.stack([lists.member, lists.twin_member])
    is_listed = (assigned != NO_MEMBER) & ~is_left_out
    owners = assigned[is_listed]
    stamps = np.stack([lists.stamp, lists.twin_stamp])[is_listed]
    numbers = np.nonzero(is_listed)[1]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owners, minlength=len(lists.sizes)))])
    return offsets, numbers[np.lexsort((stamps, owners))]
