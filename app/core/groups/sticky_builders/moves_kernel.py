"""Which partitions have moved from whom to whom, topic by topic, and which of them goes back first.

Of several partitions of a topic that have moved from one member to another, Kafka takes the one that a HashSet iterates
over first: the lowest bin, and in it the one that was put first. The set's table grows as a HashMap's does and never
shrinks. Where a bin becomes a tree the set is odd, and what it iterates over first is asked of `JavaHashSet`.
"""

from typing import NamedTuple

from numba import njit

from app.core.jvm.hash_map import CHAIN_LIMIT, DEFAULT_CAPACITY, TREE_TABLE
from app.core.model import Int64s

FROM, TO, SIZE, TABLE, FIRST, LAST, NEXT, ODD = range(8)
BECOMES_ODD, ADDED, REMOVED = range(3)


class Moves(NamedTuple):
    """Sets of moved partitions.

    origin : (numbers,) int64: whose a partition was before it moved, -1 where it has not.
    following : (numbers,) int64: which was put into the same set next, or -1.
    bins : (numbers,) int64: the spread hash of each partition.
    sets : (sets, 8) int64: FROM whom TO whom, SIZE, TABLE size, FIRST and LAST partition, the NEXT set of the topic (or
        of those that are free), ODD.
    of_topic : (topics,) int64: the first set of each, or -1. free : (1,) the first free set.
    news : (2, 3) int64: what has happened to odd sets: BECOMES_ODD, ADDED or REMOVED, the set, the partition.
    n_news : (1,).
    """

    origin: Int64s
    following: Int64s
    bins: Int64s
    sets: Int64s
    of_topic: Int64s
    free: Int64s
    news: Int64s
    n_news: Int64s


@njit(cache=True, nogil=True)
def find(moves: Moves, topic: int, source: int, to: int) -> int:
    """The set of what has moved from one to another, or -1."""
    at = moves.of_topic[topic]
    while at >= 0 and (moves.sets[at, FROM] != source or moves.sets[at, TO] != to):
        at = moves.sets[at, NEXT]
    return int(at)


@njit(cache=True, nogil=True)
def first_of(moves: Moves, which: int) -> int:
    """What a set that is not odd iterates over first."""
    mask = moves.sets[which, TABLE] - 1
    first = moves.sets[which, FIRST]
    number = moves.following[first]
    while number >= 0:
        if moves.bins[number] & mask < moves.bins[first] & mask:
            first = number
        number = moves.following[number]
    return int(first)


@njit(cache=True, nogil=True)
def _tell(moves: Moves, what: int, which: int, number: int) -> None:
    at = moves.n_news[0]
    moves.news[at, 0] = what
    moves.news[at, 1] = which
    moves.news[at, 2] = number
    moves.n_news[0] += 1


@njit(cache=True, nogil=True)
def _new_set(moves: Moves, topic: int, source: int, to: int) -> int:
    which = moves.free[0]
    one = moves.sets[which]
    moves.free[0] = one[NEXT]
    one[FROM] = source
    one[TO] = to
    one[SIZE] = 0
    one[TABLE] = DEFAULT_CAPACITY
    one[FIRST] = -1
    one[LAST] = -1
    one[NEXT] = moves.of_topic[topic]
    one[ODD] = 0
    moves.of_topic[topic] = which
    return int(which)


@njit(cache=True, nogil=True)
def _add(moves: Moves, topic: int, number: int, source: int, to: int) -> None:
    which = find(moves, topic, source, to)
    if which < 0:
        which = _new_set(moves, topic, source, to)
    one = moves.sets[which]
    if one[ODD]:
        _tell(moves, ADDED, which, number)
    else:
        mask = one[TABLE] - 1
        in_bin = 0
        other = one[FIRST]
        while other >= 0:
            in_bin += moves.bins[other] & mask == moves.bins[number] & mask
            other = moves.following[other]
        if in_bin >= CHAIN_LIMIT and one[TABLE] >= TREE_TABLE:
            one[ODD] = 1
            _tell(moves, BECOMES_ODD, which, number)
        else:
            if in_bin >= CHAIN_LIMIT:
                one[TABLE] *= 2
            if one[SIZE] + 1 > one[TABLE] * 3 // 4:
                one[TABLE] *= 2
    if one[SIZE] == 0:
        one[FIRST] = number
    else:
        moves.following[one[LAST]] = number
    moves.following[number] = -1
    one[LAST] = number
    one[SIZE] += 1


@njit(cache=True, nogil=True)
def _remove(moves: Moves, topic: int, number: int, source: int, to: int) -> None:
    which = find(moves, topic, source, to)
    one = moves.sets[which]
    if one[FIRST] == number:
        one[FIRST] = moves.following[number]
    else:
        before = one[FIRST]
        while moves.following[before] != number:
            before = moves.following[before]
        moves.following[before] = moves.following[number]
        if one[LAST] == number:
            one[LAST] = before
    one[SIZE] -= 1
    if one[SIZE] > 0:
        if one[ODD]:
            _tell(moves, REMOVED, which, number)
        return
    if moves.of_topic[topic] == which:
        moves.of_topic[topic] = one[NEXT]
    else:
        at = moves.of_topic[topic]
        while moves.sets[at, NEXT] != which:
            at = moves.sets[at, NEXT]
        moves.sets[at, NEXT] = one[NEXT]
    one[NEXT] = moves.free[0]
    moves.free[0] = which


@njit(cache=True, nogil=True)
def record(moves: Moves, topic: int, number: int, old: int, to: int) -> None:
    """Remember that a partition has moved; one that is back where it came from has not."""
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
