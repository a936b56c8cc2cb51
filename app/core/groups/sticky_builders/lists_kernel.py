"""Who holds what, and the members ranked by how much: the arrays that the general builder's loops work on."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.groups.sticky_builders.group_kernel import is_near
from app.core.model import Int32s, Int64s


class Readers(NamedTuple):
    """Who may hold what.

    topic_of : (numbers,) int32. offsets : (topics + 1,) int64. kind_of : (members,) int64.
    reads : (kinds, topics) bool. room : (members,) int64: how many partitions of its topics there are.
    rank : (members,) int64 by id. rack_of : (members,) int64, -1 where racks do not decide or it has none.
    racks_of : (partitions, widest) int32.
    """

    topic_of: Int32s
    offsets: Int64s
    kind_of: Int64s
    reads: NDArray[np.bool_]
    room: Int64s
    rank: Int64s
    rack_of: Int64s
    racks_of: Int32s


class Lists(NamedTuple):
    """Each member's list, told by partition: it is in its holder's list, behind those that have an earlier stamp.

    A partition that is given away though somebody keeps it is in two lists, or twice in one; the twin is the one that
    Kafka does not look at when it moves the partition.

    holder, stamp, twin_holder, twin_stamp : (numbers,) int64, -1 for none. clock : (1,) the next stamp.
    sizes : (members,) int64. ranking : (active,) members by size, then id. place : (members,) in it, -1 where inactive.
    """

    holder: Int64s
    stamp: Int64s
    twin_holder: Int64s
    twin_stamp: Int64s
    clock: Int64s
    sizes: Int64s
    ranking: Int64s
    place: Int64s


@njit(cache=True, nogil=True)
def grow(lists: Lists, rank: Int64s, member: int) -> None:
    """Count one partition more, and move the member up its ranking."""
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


@njit(cache=True, nogil=True)
def shrink(lists: Lists, rank: Int64s, member: int) -> None:
    """Count one partition less, and move the member down its ranking."""
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


@njit(cache=True, nogil=True)
def give_to_first(left: Int64s, readers: Readers, lists: Lists, rack_of: Int64s) -> Int64s:
    """Give each partition to the first in the ranking that reads it and is not in another rack.

    Parameters
    ----------
    rack_of : (members,) int64; those with -1 are nowhere away.

    Returns
    -------
    Those that nobody may have.
    """
    rest = np.empty(len(left), np.int64)
    n_rest = 0
    for number in left:
        topic = readers.topic_of[number]
        taker = -1
        for member in lists.ranking:
            if not readers.reads[readers.kind_of[member], topic]:
                continue
            if rack_of[member] < 0 or is_near(rack_of[member], readers.racks_of[number]):
                taker = member
                break
        if taker < 0:
            rest[n_rest] = number
            n_rest += 1
            continue
        if lists.holder[number] >= 0:
            lists.twin_holder[number] = lists.holder[number]
            lists.twin_stamp[number] = lists.stamp[number]
        lists.holder[number] = taker
        lists.stamp[number] = lists.clock[0]
        lists.clock[0] += 1
        grow(lists, readers.rank, taker)
    return rest[:n_rest]


@njit(cache=True, nogil=True)
def hand_over(lists: Lists, rank: Int64s, number: int, to: int) -> None:
    """Take a partition out of its holder's list, there where it comes first, and append it to another's."""
    old = lists.holder[number]
    if lists.twin_holder[number] == old and lists.twin_stamp[number] < lists.stamp[number]:
        lists.twin_stamp[number] = lists.stamp[number]
    lists.holder[number] = to
    lists.stamp[number] = lists.clock[0]
    lists.clock[0] += 1
    shrink(lists, rank, old)
    grow(lists, rank, to)
