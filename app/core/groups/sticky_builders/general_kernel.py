"""The loop that moves partitions from full members to emptier ones, as long as that helps."""

from typing import NamedTuple

import numpy as np
from numba import njit

from app.core.groups.sticky_builders.group_kernel import is_near
from app.core.groups.sticky_builders.lists_kernel import Lists, Readers, hand_over
from app.core.groups.sticky_builders.moves_kernel import ODD, Moves, find, first_of, record
from app.core.model import Int64s

DONE, WANTS_FIRST, HAS_NEWS, NULL_POINTER, NO_SUCH_ELEMENT, PASS_ENDS = range(6)
AT, MODIFIED, CHANGED, BALANCE, ANSWER, WANTED, POOR, SHARED, RICH, VERSION = range(10)
"""Places in `progress`: the next partition of `work`; whether this pass and whether any pass has moved one; the balance
that was found since the last move; what an odd set iterates over first, and which set that is asked of; a member, a
topic and a member that show why it is not balanced; how many moves there were."""
UNKNOWN, BALANCED, UNBALANCED = range(3)
STAYS, NOBODY_THERE = -1, -2
"""Instead of a member who takes a partition: nobody needs to; Kafka looks one up that it has set aside, and fails."""


class Ledger(NamedTuple):
    """What saves looking through all partitions.

    tally : (members, topics) int32: how many partitions of a topic each holds. Without rows where partitions are in two
        lists, or are held that do not exist; then everything is looked at, in Kafka's order.
    best, best_at : (topics,) int64: the first reader in the ranking, and at which VERSION it was.
    order : (members,) int64 of the map of subscriptions. position : (members,) int64 in the map of lists.
    starts, named : the known topics that each kind of subscription names, in its order.
    """

    tally: np.ndarray[tuple[int, int], np.dtype[np.int32]]
    best: Int64s
    best_at: Int64s
    order: Int64s
    position: Int64s
    starts: Int64s
    named: Int64s


@njit(cache=True, nogil=True)
def _is_unbalanced_still(lists: Lists, readers: Readers, ledger: Ledger, progress: Int64s) -> bool:
    poor = progress[POOR]
    rich = progress[RICH]
    return bool(
        poor >= 0
        and lists.sizes[poor] != readers.room[poor]
        and lists.sizes[poor] + 1 < lists.sizes[rich]
        and ledger.tally[rich, progress[SHARED]] > 0
    )


@njit(cache=True, nogil=True)
def _tallied_balance(lists: Lists, readers: Readers, ledger: Ledger, progress: Int64s) -> int:
    """Whether a member could take from one that holds two more; by topics, since only sizes and topics decide."""
    if _is_unbalanced_still(lists, readers, ledger, progress):
        return UNBALANCED
    topics = len(ledger.best)
    most = lists.sizes[lists.ranking[-1]]
    poorest = np.full(topics, -1, np.int64)
    missing = topics
    for member in lists.ranking:
        if lists.sizes[member] + 1 >= most or missing == 0:
            break
        if lists.sizes[member] == readers.room[member]:
            continue
        reads = readers.reads[readers.kind_of[member]]
        for topic in range(topics):
            if reads[topic] and poorest[topic] < 0:
                poorest[topic] = member
                missing -= 1
    for place in range(len(lists.ranking) - 1, -1, -1):
        rich = lists.ranking[place]
        if lists.sizes[rich] <= lists.sizes[lists.ranking[0]] + 1:
            break
        for topic in range(topics):
            poor = poorest[topic]
            if poor >= 0 and ledger.tally[rich, topic] > 0 and lists.sizes[poor] + 1 < lists.sizes[rich]:
                progress[POOR] = poor
                progress[SHARED] = topic
                progress[RICH] = rich
                return UNBALANCED
    return BALANCED


@njit(cache=True, nogil=True)
def _is_later(lists: Lists, position: Int64s, member: int, other: int) -> bool:
    """Whether a member's list comes behind another's, for those who are in the map of lists at all."""
    if member < 0 or lists.place[member] < 0:
        return False
    return other < 0 or lists.place[other] < 0 or position[member] > position[other]


@njit(cache=True, nogil=True)
def _searched_balance(lists: Lists, readers: Readers, ledger: Ledger) -> int:
    """The same, partition by partition; NULL_POINTER where one is held by nobody who takes part."""
    for member in lists.ranking:
        if lists.sizes[member] == readers.room[member]:
            continue
        kind = readers.kind_of[member]
        for topic in ledger.named[ledger.starts[kind] : ledger.starts[kind + 1]]:
            for number in range(readers.offsets[topic], readers.offsets[topic + 1]):
                holder = lists.holder[number]
                twin = lists.twin_holder[number]
                if member in (holder, twin):
                    continue
                other = twin if _is_later(lists, ledger.position, twin, holder) else holder
                if lists.place[other] < 0:
                    return NULL_POINTER
                if lists.sizes[member] + 1 < lists.sizes[other]:
                    return UNBALANCED
    return BALANCED


@njit(cache=True, nogil=True)
def _best_reader(lists: Lists, readers: Readers, ledger: Ledger, topic: int, version: int) -> int:
    if ledger.best_at[topic] != version:
        ledger.best_at[topic] = version
        ledger.best[topic] = -1
        for member in lists.ranking:
            if readers.reads[readers.kind_of[member], topic]:
                ledger.best[topic] = member
                break
    return int(ledger.best[topic])


@njit(cache=True, nogil=True)
def _meets_inactive(lists: Lists, readers: Readers, order: Int64s, number: int, mine: int) -> bool:
    """Whether Kafka comes upon a reader that it has set aside before it finds one to move the partition to."""
    topic = readers.topic_of[number]
    racks = readers.racks_of[number]
    rounds = 0 if readers.rack_of[mine] >= 0 and is_near(readers.rack_of[mine], racks) else 1
    while rounds < 2:
        for reader in order:
            if not readers.reads[readers.kind_of[reader], topic]:
                continue
            if rounds == 0 and (readers.rack_of[reader] < 0 or not is_near(readers.rack_of[reader], racks)):
                continue
            if lists.place[mine] < 0 or lists.place[reader] < 0:
                return True
            if lists.sizes[mine] > lists.sizes[reader] + 1:
                return False
        rounds += 1
    return False


@njit(cache=True, nogil=True)
def _taker(lists: Lists, readers: Readers, ledger: Ledger, number: int, previous: int, version: int) -> int:
    """Who is to have a partition instead of its holder: its previous owner, else the first of its readers."""
    mine = lists.holder[number]
    if previous >= 0:
        if lists.place[mine] < 0 or lists.place[previous] < 0:
            return NOBODY_THERE
        if lists.sizes[mine] > lists.sizes[previous] + 1:
            return previous
    if not len(ledger.tally) and _meets_inactive(lists, readers, ledger.order, number, mine):
        return NOBODY_THERE
    best = _best_reader(lists, readers, ledger, readers.topic_of[number], version)
    return best if lists.sizes[mine] > lists.sizes[best] + 1 else STAYS


@njit(cache=True, nogil=True)
def _move(lists: Lists, readers: Readers, moves: Moves, ledger: Ledger, progress: Int64s, number: int, to: int) -> bool:
    """Move a partition, or one that takes its place; False where an odd set must be asked first."""
    topic = readers.topic_of[number]
    source = moves.origin[number] if moves.origin[number] >= 0 else lists.holder[number]
    back = find(moves, topic, to, source)
    if back >= 0:
        if not moves.sets[back, ODD]:
            number = first_of(moves, back)
        elif progress[ANSWER] >= 0:
            number = progress[ANSWER]
            progress[ANSWER] = -1
        else:
            progress[WANTED] = back
            return False
    old = lists.holder[number]
    record(moves, topic, number, old, to)
    hand_over(lists, readers.rank, number, to)
    if len(ledger.tally):
        ledger.tally[old, topic] -= 1
        ledger.tally[to, topic] += 1
    progress[MODIFIED] = 1
    progress[CHANGED] = 1
    progress[BALANCE] = UNKNOWN
    progress[VERSION] += 1
    return True


@njit(cache=True, nogil=True)
def _find_balance(lists: Lists, readers: Readers, ledger: Ledger, progress: Int64s) -> int:
    if len(lists.ranking) == 0:
        return NO_SUCH_ELEMENT
    if lists.sizes[lists.ranking[0]] >= lists.sizes[lists.ranking[-1]] - 1:
        return BALANCED
    if len(ledger.tally):
        return _tallied_balance(lists, readers, ledger, progress)
    return _searched_balance(lists, readers, ledger)


@njit(cache=True, nogil=True)
def rebalance(
    work: Int64s, previous: Int64s, lists: Lists, readers: Readers, moves: Moves, ledger: Ledger, progress: Int64s
) -> int:
    """Go through `work`, again and again until nothing moves or all is balanced; to be called again until DONE.

    Parameters
    ----------
    work : partitions by number, in the order in which they are looked at.
    previous : (numbers,) int64 member to whom a partition goes back if that helps, or -1.

    Returns
    -------
    DONE; PASS_ENDS: some have moved; WANTS_FIRST: progress[ANSWER] is to be what the odd set progress[WANTED] iterates
    over first; HAS_NEWS: of odd sets, in `moves`; NULL_POINTER, NO_SUCH_ELEMENT: Kafka's code fails.
    """
    while progress[AT] < len(work):
        if progress[BALANCE] == UNKNOWN:
            progress[BALANCE] = _find_balance(lists, readers, ledger, progress)
        if progress[BALANCE] == NULL_POINTER or progress[BALANCE] == NO_SUCH_ELEMENT:
            return int(progress[BALANCE])
        if progress[BALANCE] == BALANCED:
            break
        number = work[progress[AT]]
        to = _taker(lists, readers, ledger, number, previous[number], progress[VERSION])
        if to == NOBODY_THERE:
            return NULL_POINTER
        if to != STAYS and not _move(lists, readers, moves, ledger, progress, number, to):
            return WANTS_FIRST
        progress[AT] += 1
        if moves.n_news[0]:
            return HAS_NEWS
    progress[AT] = 0
    if not progress[MODIFIED]:
        return DONE
    progress[MODIFIED] = 0
    return PASS_ENDS
