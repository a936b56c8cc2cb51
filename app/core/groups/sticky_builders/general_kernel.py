"""Compiled loop that moves partitions to members with fewer, as long as that improves the balance."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.groups.sticky_builders.general_state_kernel import (
    TREEIFIED,
    MemberLists,
    PartitionMovements,
    PotentialMembers,
    find,
    first_of,
    move,
    record,
)
from app.core.groups.sticky_builders.group_kernel import is_near
from app.core.model import Int64s

DONE, NEEDS_FIRST, HAS_EVENTS, NULL_POINTER, NO_SUCH_ELEMENT, PASS_ENDS = range(6)
AT, MODIFIED, CHANGED, BALANCE, FIRST_ELEMENT, REQUESTED_SET, SMALLER, SHARED, LARGER, VERSION = range(10)
"""Places in `progress`: the next partition of the sequence; whether this pass, and whether any pass, has moved one; the
balance since the last move; the first element of a treeified set, and the set it is requested of; a member, a topic and
a member that show the imbalance; the number of moves."""
UNKNOWN, BALANCED, UNBALANCED = range(3)
STAYS, MISSING_MEMBER = -1, -2
"""Instead of a receiving member: the partition stays; Kafka looks up a member that it has removed, and fails."""


class BalanceIndex(NamedTuple):
    """Counts and caches that replace a search of all partitions.

    counts : (members, topics) int32 number of partitions of each topic that each member has. Without rows if partitions
        are in two lists, or do not exist; then all partitions are searched, in Kafka's order.
    best, best_at : (topics,) int64 first subscriber in the ranking, and the VERSION at which it was.
    order : (members,) int64 order of the map of subscriptions.
    position : (members,) int64 position in the map of lists.
    starts, named : the existing topics that each distinct subscription names, in its order.
    """

    counts: Int32Matrix
    best: Int64Vector
    best_at: Int64Vector
    order: Int64Vector
    position: Int64Vector
    starts: Int64Vector
    named: Int64Vector


@subroutine
def _is_still_unbalanced(
    lists: MemberLists, potential: PotentialMembers, index: BalanceIndex, progress: Int64Vector
) -> bool:
    smaller = progress[SMALLER]
    larger = progress[LARGER]
    return bool(
        smaller >= 0
        and lists.sizes[smaller] != potential.capacity[smaller]
        and lists.sizes[smaller] + 1 < lists.sizes[larger]
        and index.counts[larger, progress[SHARED]] > 0
    )


@subroutine
def _smallest_subscribers(lists: MemberLists, potential: PotentialMembers, topics: int) -> Int64s:
    """(topics,) int64: the smallest member that could take a partition of the topic from the largest member, or -1."""
    largest = lists.sizes[lists.ranking[-1]]
    smallest = np.full(topics, -1, np.int64)
    missing = topics
    for member in lists.ranking:
        if lists.sizes[member] + 1 >= largest or missing == 0:
            break
        if lists.sizes[member] == potential.capacity[member]:
            continue
        subscribes = potential.subscribes[potential.list_of_member[member]]
        for topic in range(topics):
            if subscribes[topic] and smallest[topic] < 0:
                smallest[topic] = member
                missing -= 1
    return smallest


@subroutine
def _indexed_balance(
    lists: MemberLists, potential: PotentialMembers, index: BalanceIndex, progress: Int64Vector
) -> int:
    """Whether a member could take a partition from one with two more; by topic, since only sizes and topics decide."""
    if _is_still_unbalanced(lists, potential, index, progress):
        return UNBALANCED
    topics = len(index.best)
    smallest = _smallest_subscribers(lists, potential, topics)
    for place in range(len(lists.ranking) - 1, -1, -1):
        larger = lists.ranking[place]
        if lists.sizes[larger] <= lists.sizes[lists.ranking[0]] + 1:
            break
        for topic in range(topics):
            smaller = smallest[topic]
            if smaller >= 0 and index.counts[larger, topic] > 0 and lists.sizes[smaller] + 1 < lists.sizes[larger]:
                progress[SMALLER] = smaller
                progress[SHARED] = topic
                progress[LARGER] = larger
                return UNBALANCED
    return BALANCED


@subroutine
def _is_later(lists: MemberLists, position: Int64Vector, member: int, other: int) -> bool:
    """Whether a member's list is after another one's in the map of lists; False if it is not in the map."""
    if member < 0 or lists.place[member] < 0:
        return False
    return other < 0 or lists.place[other] < 0 or position[member] > position[other]


@subroutine
def _searched_balance(lists: MemberLists, potential: PotentialMembers, index: BalanceIndex) -> int:
    """As `_indexed_balance`, partition by partition; NULL_POINTER if the member of a partition is not active."""
    for member in lists.ranking:
        if lists.sizes[member] == potential.capacity[member]:
            continue
        number_of_list = potential.list_of_member[member]
        for topic in index.named[index.starts[number_of_list] : index.starts[number_of_list + 1]]:
            for number in range(potential.offsets[topic], potential.offsets[topic + 1]):
                assigned = lists.member[number]
                twin = lists.twin_member[number]
                if member in (assigned, twin):
                    continue
                other = twin if _is_later(lists, index.position, twin, assigned) else assigned
                if lists.place[other] < 0:
                    return NULL_POINTER
                if lists.sizes[member] + 1 < lists.sizes[other]:
                    return UNBALANCED
    return BALANCED


@subroutine
def _first_subscriber(
    lists: MemberLists, potential: PotentialMembers, index: BalanceIndex, topic: int, version: int
) -> int:
    if index.best_at[topic] != version:
        index.best_at[topic] = version
        index.best[topic] = -1
        for member in lists.ranking:
            if potential.subscribes[potential.list_of_member[member], topic]:
                index.best[topic] = member
                break
    return int(index.best[topic])


@subroutine
def _meets_inactive(
    lists: MemberLists, potential: PotentialMembers, order: Int64Vector, number: int, member: int
) -> bool:
    """Whether Kafka visits a subscriber that it has removed before it finds a receiving member."""
    topic = potential.topic_of[number]
    racks = potential.racks_of[number]
    rounds = 0 if potential.rack_of[member] >= 0 and is_near(potential.rack_of[member], racks) else 1
    while rounds < 2:
        for subscriber in order:
            if not potential.subscribes[potential.list_of_member[subscriber], topic]:
                continue
            if rounds == 0 and (potential.rack_of[subscriber] < 0 or not is_near(potential.rack_of[subscriber], racks)):
                continue
            if lists.place[member] < 0 or lists.place[subscriber] < 0:
                return True
            if lists.sizes[member] > lists.sizes[subscriber] + 1:
                return False
        rounds += 1
    return False


@subroutine
def _receiver(
    lists: MemberLists, potential: PotentialMembers, index: BalanceIndex, number: int, previous: int, version: int
) -> int:
    """The member to move a partition to: its previous owner, else its first subscriber in the ranking; or STAYS."""
    member = lists.member[number]
    if previous >= 0:
        if lists.place[member] < 0 or lists.place[previous] < 0:
            return MISSING_MEMBER
        if lists.sizes[member] > lists.sizes[previous] + 1:
            return previous
    if not len(index.counts) and _meets_inactive(lists, potential, index.order, number, member):
        return MISSING_MEMBER
    best = _first_subscriber(lists, potential, index, potential.topic_of[number], version)
    return best if lists.sizes[member] > lists.sizes[best] + 1 else STAYS


@subroutine
def _move(
    lists: MemberLists,
    potential: PotentialMembers,
    moves: PartitionMovements,
    index: BalanceIndex,
    progress: Int64Vector,
    number: int,
    to: int,
) -> bool:
    """Move a partition, or one that replaces it; False if the first element of a treeified set is needed."""
    topic = potential.topic_of[number]
    source = moves.origin[number] if moves.origin[number] >= 0 else lists.member[number]
    reverse = find(moves, topic, to, source)
    if reverse >= 0:
        if not moves.sets[reverse, TREEIFIED]:
            number = first_of(moves, reverse)
        elif progress[FIRST_ELEMENT] >= 0:
            number = progress[FIRST_ELEMENT]
            progress[FIRST_ELEMENT] = -1
        else:
            progress[REQUESTED_SET] = reverse
            return False
    old = lists.member[number]
    record(moves, topic, number, old, to)
    move(lists, potential.rank, number, to)
    if len(index.counts):
        index.counts[old, topic] -= 1
        index.counts[to, topic] += 1
    progress[MODIFIED] = 1
    progress[CHANGED] = 1
    progress[BALANCE] = UNKNOWN
    progress[VERSION] += 1
    return True


@subroutine
def _find_balance(lists: MemberLists, potential: PotentialMembers, index: BalanceIndex, progress: Int64Vector) -> int:
    if len(lists.ranking) == 0:
        return NO_SUCH_ELEMENT
    if lists.sizes[lists.ranking[0]] >= lists.sizes[lists.ranking[-1]] - 1:
        return BALANCED
    if len(index.counts):
        return _indexed_balance(lists, potential, index, progress)
    return _searched_balance(lists, potential, index)


@compiled
def reassign(
    sequence: Int64Vector,
    previous: Int64Vector,
    lists: MemberLists,
    potential: PotentialMembers,
    moves: PartitionMovements,
    index: BalanceIndex,
    progress: Int64Vector,
) -> int:
    """Visit the partitions of `sequence` in passes until a pass moves none or all is balanced; call again until DONE.

    Parameters
    ----------
    sequence : partitions by number, in the order in which they are visited.
    previous : (numbers,) int64 member that a partition returns to if that helps, or -1.

    Returns
    -------
    DONE; PASS_ENDS: some have moved; NEEDS_FIRST: the caller sets progress[FIRST_ELEMENT] to the first element of the
    treeified set progress[REQUESTED_SET]; HAS_EVENTS: of treeified sets, in `moves`; NULL_POINTER, NO_SUCH_ELEMENT:
    Kafka's code fails.
    """
    while progress[AT] < len(sequence):
        if progress[BALANCE] == UNKNOWN:
            progress[BALANCE] = _find_balance(lists, potential, index, progress)
        if progress[BALANCE] == NULL_POINTER or progress[BALANCE] == NO_SUCH_ELEMENT:
            return int(progress[BALANCE])
        if progress[BALANCE] == BALANCED:
            break
        number = sequence[progress[AT]]
        to = _receiver(lists, potential, index, number, previous[number], progress[VERSION])
        if to == MISSING_MEMBER:
            return NULL_POINTER
        if to != STAYS and not _move(lists, potential, moves, index, progress, number, to):
            return NEEDS_FIRST
        progress[AT] += 1
        if moves.n_events[0]:
            return HAS_EVENTS
    progress[AT] = 0
    if not progress[MODIFIED]:
        return DONE
    progress[MODIFIED] = 0
    return PASS_ENDS
