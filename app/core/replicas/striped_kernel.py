"""The rows of the striped placer, one after another, and its reshuffles; draws as `app.core.jvm.JavaRandom` does.

The brokers of all lists stand in one array: list 2r holds the unfenced brokers of rack r, list 2r + 1 the fenced ones.

    members : (brokers,) int32 ids.
    bounds : (lists + 1,) int64; list l is members[bounds[l] : bounds[l + 1]].
    cursors : (lists, 3) int64: how many of the list this partition has taken, where in the list it began, and the
        epoch of the partition that last took from it.
    rack_order : (racks,) int32 permutation, in which the racks are visited.
"""

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.jvm.random import INCREMENT, MULTIPLIER, STATE_MASK

_MULTIPLIER = np.uint64(MULTIPLIER)
_INCREMENT = np.uint64(INCREMENT)
_STATE_MASK = np.uint64(STATE_MASK)
_TO_31_BITS = np.uint64(17)
TAKEN, BEGIN, EPOCH = 0, 1, 2


@subroutine
def _next(bounds: Int64Vector, cursors: Int64Matrix, list_index: int, epoch: int) -> int:
    """The place in `members` of a list's next broker, or -1 where the partition has taken all of them."""
    size = bounds[list_index + 1] - bounds[list_index]
    if size == 0:
        return -1
    begin = cursors[list_index, BEGIN]
    if cursors[list_index, EPOCH] != epoch:
        cursors[list_index, EPOCH] = epoch
        cursors[list_index, TAKEN] = 0
        begin += 1
        if begin == size:
            begin = 0
        cursors[list_index, BEGIN] = begin
    position = cursors[list_index, TAKEN]
    if position >= size:
        return -1
    cursors[list_index, TAKEN] = position + 1
    place = begin + position
    if place >= size:
        place -= size
    return int(bounds[list_index] + place)


@subroutine
def _next_leader(
    bounds: Int64Vector, cursors: Int64Matrix, rack_order: Int32Vector, rack: int, epoch: int
) -> tuple[int, int]:
    """The place of the next unfenced broker of a rack, else of the first rack after it that has one; and its rack."""
    while True:
        place = _next(bounds, cursors, 2 * rack_order[rack], epoch)
        if place >= 0:
            return place, rack
        rack += 1
        if rack == len(rack_order):
            rack = 0


@compiled
def fill_epoch(
    rows: Int32Matrix,
    begin: int,
    end: int,
    members: Int32Vector,
    bounds: Int64Vector,
    cursors: Int64Matrix,
    rack_order: Int32Vector,
    rack_offset: int,
) -> int:
    """Fill rows begin … end - 1 of (partitions, factor), as epochs 0 on; gives the next row's rack offset."""
    racks = len(rack_order)
    factor = rows.shape[1]
    for row in range(begin, end):
        epoch = row - begin
        if rack_offset == racks:
            rack_offset = 0
        place, leader_rack = _next_leader(bounds, cursors, rack_order, rack_offset, epoch)
        rows[row, 0] = members[place]
        rack = rack_offset
        for column in range(1, factor):
            place = -1
            while place < 0:
                if rack == leader_rack:
                    leader_rack = -1  # the leader's rack is passed over the first time only
                else:
                    place = _next(bounds, cursors, 2 * rack_order[rack], epoch)
                    if place < 0:
                        place = _next(bounds, cursors, 2 * rack_order[rack] + 1, epoch)
                rack += 1
                if rack == racks:
                    rack = 0
            rows[row, column] = members[place]
        rack_offset += 1
    return rack_offset


@subroutine
def _next_int(state: np.uint64, bound: int) -> tuple[np.uint64, np.int64]:
    """JavaRandom.next_int: the new state and the number."""
    while True:
        state = (state * _MULTIPLIER + _INCREMENT) & _STATE_MASK
        bits = np.int64(state >> _TO_31_BITS)
        if bound & (bound - 1) == 0:
            return state, (bound * bits) >> 31
        value = np.int64(np.uint32(bits) % np.uint32(bound))
        if bits - value + bound <= 2**31:
            return state, value


@subroutine
def _shuffle(items: Int32Vector, begin: int, end: int, state: np.uint64) -> np.uint64:
    """Collections.shuffle of items begin … end - 1, in place; gives the new state."""
    for size in range(end - begin, 1, -1):
        state, offset = _next_int(state, size)
        last, other = begin + size - 1, begin + offset
        items[last], items[other] = items[other], items[last]
    return state


@compiled
def fill(
    rows: Int32Matrix,
    members: Int32Vector,
    bounds: Int64Vector,
    cursors: Int64Matrix,
    rack_order: Int32Vector,
    rack_offset: int,
    hash_order: Int64Vector,
    epoch_length: int,
    state: np.uint64,
) -> np.uint64:
    """Fill (partitions, factor) rows, with a reshuffle after each `epoch_length`; gives the generator's new state.

    hash_order : (racks,) int64: in which order the racks' lists are reshuffled.
    """
    for begin in range(0, len(rows), epoch_length):
        if begin > 0:
            state = _shuffle(rack_order, 0, len(rack_order), state)
            for rack in hash_order:
                state = _shuffle(members, bounds[2 * rack + 1], bounds[2 * rack + 2], state)
                state = _shuffle(members, bounds[2 * rack], bounds[2 * rack + 1], state)
        end = min(begin + epoch_length, len(rows))
        rack_offset = fill_epoch(rows, begin, end, members, bounds, cursors, rack_order, rack_offset)
    return state


@compiled
def count(rows: Int32Matrix, counts: Int64Matrix) -> None:
    """Add to (2, brokers) `counts` how often each broker leads and how often it is a replica at all."""
    for row in range(len(rows)):
        counts[0, rows[row, 0]] += 1
        for column in range(rows.shape[1]):
            counts[1, rows[row, column]] += 1
