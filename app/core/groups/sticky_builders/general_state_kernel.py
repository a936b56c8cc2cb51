"""Arrays that the general builder's loop works on: member lists with their ranking, and sets of moved partitions.

Of several partitions of a topic that have moved from one member to another, Kafka takes the one that a HashSet iterates
over first: the lowest bin, and in it the first that was added. The set's table grows as a HashMap's does and never
shrinks. If a bin becomes a tree, the set is treeified, and `JavaHashSet` answers set_number element is first.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolMatrix, Int32Matrix, Int32Vector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.groups.sticky_builders.group_kernel import is_near
from app.core.jvm.hash_map import CHAIN_LIMIT, DEFAULT_CAPACITY, TREE_TABLE
from app.core.model import NO_RACK, Int64s


class PotentialMembers(NamedTuple):
    """The members that a partition may be assigned to (Kafka's `topic2AllPotentialConsumers`).

    topic_of : (numbers,) int32 topic of each partition.
    offsets : (topics + 1,) int64 first partition of each topic.
    list_of_member : (members,) int32 number of each member's subscription.
    subscribes : (subscriptions, topics) bool.
    capacity : (members,) int64 number of partitions of the member's topics.
    rank : (members,) int64 position among the sorted ids.
    rack_of : (members,) int32, `NO_RACK` if racks do not decide or the member has none.
    racks_of : (partitions, widest) int32.
    """

    topic_of: Int32Vector
    offsets: Int64Vector
    list_of_member: Int32Vector
    subscribes: BoolMatrix
    capacity: Int64Vector
    rank: Int64Vector
    rack_of: Int32Vector
    racks_of: Int32Matrix


class MemberLists(NamedTuple):
    """Each member's list (Kafka's `currentAssignment`), by partition: its member, and a stamp for the list's order.

    A partition that is assigned again although a member keeps it is in two lists, or twice in one; Kafka moves the
    first entry, not the twin.

    member, stamp, twin_member, twin_stamp : (numbers,) int64, -1 for none.
    clock : (1,) int64 the next stamp.
    sizes : (members,) int64 number of partitions.
    ranking : (active,) int64 active members by size, then id (Kafka's `sortedCurrentSubscriptions`).
    place : (members,) int64 position in the ranking, -1 if inactive.
    """

    member: Int64Vector
    stamp: Int64Vector
    twin_member: Int64Vector
    twin_stamp: Int64Vector
    clock: Int64Vector
    sizes: Int64Vector
    ranking: Int64Vector
    place: Int64Vector


@subroutine
def grow(lists: MemberLists, rank: Int64Vector, member: int) -> None:
    """Add 1 to a member's size and move it up the ranking."""
    lists.sizes[member] += 1
    size = lists.sizes[member]
    ranking = lists.ranking
    at = lists.place[member]
    while at + 1 < len(ranking):
        other = ranking[at + 1]
        if lists.sizes[other] > size or (lists.sizes[other] == size and rank[other] > rank[member]):
            break
        ranking[at] = other
        lists.place[other] = at
        at += 1
    ranking[at] = member
    lists.place[member] = at


@subroutine
def shrink(lists: MemberLists, rank: Int64Vector, member: int) -> None:
    """Subtract 1 from a member's size and move it down the ranking."""
    lists.sizes[member] -= 1
    size = lists.sizes[member]
    ranking = lists.ranking
    at = lists.place[member]
    while at > 0:
        other = ranking[at - 1]
        if lists.sizes[other] < size or (lists.sizes[other] == size and rank[other] < rank[member]):
            break
        ranking[at] = other
        lists.place[other] = at
        at -= 1
    ranking[at] = member
    lists.place[member] = at


@compiled
def assign_to_first(
    unassigned: Int64Vector, potential: PotentialMembers, lists: MemberLists, rack_of: Int32Vector
) -> Int64s:
    """Assign each partition to the first member of the ranking that subscribes to it and is not in another rack.

    Parameters
    ----------
    rack_of : (members,) int32; a member with `NO_RACK` is in no other rack.

    Returns
    -------
    The partitions that remain unassigned.
    """
    remaining = np.empty(len(unassigned), np.int64)
    n_remaining = 0
    for number in unassigned:
        topic = potential.topic_of[number]
        receiver = -1
        for member in lists.ranking:
            if not potential.subscribes[potential.list_of_member[member], topic]:
                continue
            if rack_of[member] == NO_RACK or is_near(rack_of[member], potential.racks_of[number]):
                receiver = member
                break
        if receiver < 0:
            remaining[n_remaining] = number
            n_remaining += 1
            continue
        if lists.member[number] >= 0:
            lists.twin_member[number] = lists.member[number]
            lists.twin_stamp[number] = lists.stamp[number]
        lists.member[number] = receiver
        lists.stamp[number] = lists.clock[0]
        lists.clock[0] += 1
        grow(lists, potential.rank, receiver)
    return remaining[:n_remaining]


@subroutine
def move(lists: MemberLists, rank: Int64Vector, number: int, to: int) -> None:
    """Remove the first entry of a partition from its member's list and append it to another one's."""
    old = lists.member[number]
    if lists.twin_member[number] == old and lists.twin_stamp[number] < lists.stamp[number]:
        lists.twin_stamp[number] = lists.stamp[number]
    lists.member[number] = to
    lists.stamp[number] = lists.clock[0]
    lists.clock[0] += 1
    shrink(lists, rank, old)
    grow(lists, rank, to)


FROM, TO, SIZE, TABLE, FIRST, LAST, NEXT, TREEIFIED = range(8)
TREEIFIES, ADDED, REMOVED = range(3)


class PartitionMovements(NamedTuple):
    """Sets of moved partitions, one for each topic, source and destination (Kafka's `PartitionMovements`).

    origin : (numbers,) int64 member of a partition before it moved, -1 if it has not moved.
    following : (numbers,) int64 partition that was added to the same set next, or -1.
    bins : (numbers,) int64 spread hash of each partition.
    sets : (sets, 8) int64 FROM and TO member, SIZE, TABLE size, FIRST and LAST partition, the NEXT set of the topic (or
        the next free one), TREEIFIED.
    of_topic : (topics,) int64 first set of each topic, or -1.
    free : (1,) int64 first free set.
    events : (2, 3) int64 changes of treeified sets: TREEIFIES, ADDED or REMOVED, the set, the partition.
    n_events : (1,) int64.
    """

    origin: Int64Vector
    following: Int64Vector
    bins: Int64Vector
    sets: Int64Matrix
    of_topic: Int64Vector
    free: Int64Vector
    events: Int64Matrix
    n_events: Int64Vector


@subroutine
def find(moves: PartitionMovements, topic: int, source: int, to: int) -> int:
    """The set of partitions of a topic that have moved from one member to another, or -1."""
    at = moves.of_topic[topic]
    while at >= 0 and (moves.sets[at, FROM] != source or moves.sets[at, TO] != to):
        at = moves.sets[at, NEXT]
    return int(at)


@subroutine
def first_of(moves: PartitionMovements, set_number: int) -> int:
    """The first partition in the iteration order of a set that is not treeified."""
    mask = moves.sets[set_number, TABLE] - 1
    first = moves.sets[set_number, FIRST]
    number = moves.following[first]
    while number >= 0:
        if moves.bins[number] & mask < moves.bins[first] & mask:
            first = number
        number = moves.following[number]
    return int(first)


@subroutine
def _report(moves: PartitionMovements, event: int, set_number: int, number: int) -> None:
    at = moves.n_events[0]
    moves.events[at, 0] = event
    moves.events[at, 1] = set_number
    moves.events[at, 2] = number
    moves.n_events[0] += 1


@subroutine
def _new_set(moves: PartitionMovements, topic: int, source: int, to: int) -> int:
    set_number = moves.free[0]
    row = moves.sets[set_number]
    moves.free[0] = row[NEXT]
    row[FROM] = source
    row[TO] = to
    row[SIZE] = 0
    row[TABLE] = DEFAULT_CAPACITY
    row[FIRST] = -1
    row[LAST] = -1
    row[NEXT] = moves.of_topic[topic]
    row[TREEIFIED] = 0
    moves.of_topic[topic] = set_number
    return int(set_number)


@subroutine
def _add(moves: PartitionMovements, topic: int, number: int, source: int, to: int) -> None:
    set_number = find(moves, topic, source, to)
    if set_number < 0:
        set_number = _new_set(moves, topic, source, to)
    row = moves.sets[set_number]
    if row[TREEIFIED]:
        _report(moves, ADDED, set_number, number)
    else:
        mask = row[TABLE] - 1
        in_bin = 0
        other = row[FIRST]
        while other >= 0:
            in_bin += moves.bins[other] & mask == moves.bins[number] & mask
            other = moves.following[other]
        if in_bin >= CHAIN_LIMIT and row[TABLE] >= TREE_TABLE:
            row[TREEIFIED] = 1
            _report(moves, TREEIFIES, set_number, number)
        else:
            if in_bin >= CHAIN_LIMIT:
                row[TABLE] *= 2
            if row[SIZE] + 1 > row[TABLE] * 3 // 4:
                row[TABLE] *= 2
    if row[SIZE] == 0:
        row[FIRST] = number
    else:
        moves.following[row[LAST]] = number
    moves.following[number] = -1
    row[LAST] = number
    row[SIZE] += 1


@subroutine
def _remove(moves: PartitionMovements, topic: int, number: int, source: int, to: int) -> None:
    set_number = find(moves, topic, source, to)
    row = moves.sets[set_number]
    if row[FIRST] == number:
        row[FIRST] = moves.following[number]
    else:
        before = row[FIRST]
        while moves.following[before] != number:
            before = moves.following[before]
        moves.following[before] = moves.following[number]
        if row[LAST] == number:
            row[LAST] = before
    row[SIZE] -= 1
    if row[SIZE] > 0:
        if row[TREEIFIED]:
            _report(moves, REMOVED, set_number, number)
        return
    if moves.of_topic[topic] == set_number:
        moves.of_topic[topic] = row[NEXT]
    else:
        at = moves.of_topic[topic]
        while moves.sets[at, NEXT] != set_number:
            at = moves.sets[at, NEXT]
        moves.sets[at, NEXT] = row[NEXT]
    row[NEXT] = moves.free[0]
    moves.free[0] = set_number


@subroutine
def record(moves: PartitionMovements, topic: int, number: int, old: int, to: int) -> None:
    """Record that a partition has moved; a partition that is back at its origin has not moved."""
    origin = moves.origin[number]
    if origin >= 0:
        _remove(moves, topic, number, origin, old)
    else:
        origin = old
    if origin == to:
        moves.origin[number] = -1
    else:
        moves.origin[number] = origin
        _add(moves, topic, number, origin, to)
