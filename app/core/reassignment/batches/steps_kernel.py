"""The replica lists that each partition passes through: the compiled loops of `scheduling`.

All replica lists are (rows, widest) int32 broker positions, padded with -1, of the same width before and after.

In which order a partition exchanges its replicas, so that no list spans fewer racks than both ends do: replicas are
replaced within their rack if possible, which neither opens a rack nor leaves one. Of the other pairs, those that open a
rack come first. After j of them min(j, opened) racks are opened and at most min(j, left) are left: while j <= opened
that is no fewer racks than at first, and afterwards no fewer than at last. Additional replicas precede all pairs, which
opens racks earlier still, and surplus ones are removed in the last step.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import Int32s, Int64s


@compiled
def count(before: Int32Matrix, after: Int32Matrix, most_adds: int) -> tuple[Int32s, NDArray[np.bool_]]:
    """Number of steps of each row, and whether one more sets its final order; a new row has none.

    most_adds : in one step.
    """
    n_steps = np.zeros(len(before), np.int32)
    is_reordered = np.zeros(len(before), np.bool_)
    spare = np.empty(before.shape[1], np.int32)
    for row in range(len(before)):
        if before[row, 0] < 0:
            continue
        n_adds, n_drops = missing(after[row], before[row], spare), missing(before[row], after[row], spare)
        if n_adds + n_drops > 0:
            n_steps[row] = _n_steps(n_adds, n_drops, most_adds)
            is_reordered[row] = before[row, 0] != after[row, 0] and place(after[row], before[row, 0]) >= 0
        else:
            for column in range(before.shape[1]):
                is_reordered[row] |= before[row, column] != after[row, column]
    return n_steps, is_reordered


@compiled
def fill(
    before: Int32Matrix, after: Int32Matrix, rows: Int64Vector, first: Int64Vector, rack_of: Int32Vector, most_adds: int
) -> tuple[Int32s, Int32s, Int32s, Int64s, Int32s, Int64s]:
    """The lists before and after each step of `rows`, then added and removed replicas, as in `StepChains`.

    first : (rows + 1,) int64 where each row's steps begin.
    """
    n_steps, widest = first[-1], before.shape[1]
    lists_before, lists_after = np.full((n_steps, widest), -1, np.int32), np.full((n_steps, widest), -1, np.int32)
    adds, adds_from = np.empty(len(rows) * widest, np.int32), np.zeros(n_steps + 1, np.int64)
    drops, drops_from = np.empty(len(rows) * widest, np.int32), np.zeros(n_steps + 1, np.int64)
    gained, lost = np.empty(widest, np.int32), np.empty(widest, np.int32)
    added = dropped = 0
    for at in range(len(rows)):
        old, new = before[rows[at]], after[rows[at]]
        n_adds, n_drops = exchange(old, new, rack_of, gained, lost)
        at_first = _at_first(n_adds, n_drops)
        add = drop = 0
        current = old
        for step in range(first[at], first[at + 1]):
            is_last = step == first[at + 1] - 1
            until = min(add + most_adds, at_first) if add < at_first else min(add + 1, n_adds)
            n_dropped = n_drops - drop if is_last else int(until >= at_first)
            lists_before[step] = current
            _replace(lists_after[step], current, gained[add:until], lost[drop : drop + n_dropped])
            for k in range(add, until):
                adds[added] = gained[k]
                added += 1
            for k in range(drop, drop + n_dropped):
                drops[dropped] = lost[k]
                dropped += 1
            add, drop = until, drop + n_dropped
            adds_from[step + 1], drops_from[step + 1] = added, dropped
            if is_last:
                _with_first(lists_after[step], new, old[0])
            current = lists_after[step]
    return lists_before, lists_after, adds[:added], adds_from, drops[:dropped], drops_from


@compiled
def unordered(before: Int32Matrix, after: Int32Matrix, rows: Int64Vector) -> Int32s:
    """The lists of `rows` before their final order: after all data has moved, or as they were if none does."""
    lists = np.empty((len(rows), before.shape[1]), np.int32)
    spare = np.empty(before.shape[1], np.int32)
    for at in range(len(rows)):
        old, new = before[rows[at]], after[rows[at]]
        if missing(new, old, spare) + missing(old, new, spare) > 0:
            _with_first(lists[at], new, old[0])
        else:
            lists[at] = old
    return lists


@subroutine
def _at_first(n_adds: int, n_drops: int) -> int:
    """How many replicas are added until the first is replaced: that one's, and the additional ones."""
    return max(n_adds - n_drops, 0) + int(min(n_adds, n_drops) > 0)


@subroutine
def _n_steps(n_adds: int, n_drops: int, most_adds: int) -> int:
    if n_adds == 0:
        return 1
    at_first = _at_first(n_adds, n_drops)
    return (at_first - 1) // most_adds + 1 + n_adds - at_first


@subroutine
def _replace(lists_after: Int32Vector, current: Int32Vector, adds: Int32Vector, drops: Int32Vector) -> None:
    """Write the list after a step: the last added replica takes the place of the first removed one."""
    n_more = len(adds) - int(len(adds) > 0 and len(drops) > 0)
    size = 0
    for broker in current:
        if broker < 0:
            break
        if place(drops, broker) < 0:
            lists_after[size] = broker
            size += 1
        elif n_more < len(adds) and broker == drops[0]:
            lists_after[size] = adds[n_more]
            size += 1
    for k in range(n_more):
        lists_after[size] = adds[k]
        size += 1


@subroutine
def _with_first(lists_after: Int32Vector, new: Int32Vector, leader: int) -> None:
    """Write the new list in its order, with the leader first if it is in it."""
    size = 0
    if place(new, leader) >= 0:
        lists_after[0] = leader
        size = 1
    for broker in new:
        if broker != leader:
            lists_after[size] = broker
            size += 1


@subroutine
def exchange(
    old: Int32Vector, new: Int32Vector, rack_of: Int32Vector, adds: Int32Vector, drops: Int32Vector
) -> tuple[int, int]:
    """Write added and removed replicas in the order of the steps, and return the number of either.

    old, new : (widest,) int32 positions, padded with -1. adds, drops : (widest,) int32, overwritten. After the e
        additional replicas, if there are any, `adds[e + i]` replaces `drops[i]`; the first of `old` is removed last.
    """
    n_adds, n_drops = missing(new, old, adds), missing(old, new, drops)
    leader_goes = n_drops > 0 and drops[0] == old[0]
    if leader_goes:
        _move(drops, 0, n_drops - 1)
    n_within = _pair_within_racks(adds, n_adds, drops, n_drops, rack_of)
    opened = n_within
    for k in range(n_within, n_adds):
        # Those that open a rack are before k already, so that no rack is opened twice.
        if not _is_spanned(rack_of[adds[k]], old, new, adds[:opened], rack_of):
            _move(adds, k, opened)
            opened += 1
    n_additional = max(n_adds - n_drops, 0)
    for k in range(n_additional):
        _move(adds, n_within + k, k)
    if leader_goes:
        at = place(drops, old[0])
        if at < n_within:
            _move(adds, n_additional + at, n_adds - 1)
        _move(drops, at, n_drops - 1)
    return n_adds, n_drops


@subroutine
def missing(replicas: Int32Vector, others: Int32Vector, lists_before: Int32Vector) -> int:
    """Write the replicas that are not among the others, in their order, and return how many there are."""
    n_missing = 0
    for broker in replicas:
        if broker >= 0 and place(others, broker) < 0:
            lists_before[n_missing] = broker
            n_missing += 1
    return n_missing


@subroutine
def place(replicas: Int32Vector, broker: int) -> int:
    """Index of a broker among the replicas, or -1."""
    for at in range(len(replicas)):
        if replicas[at] == broker:
            return at
    return -1


@subroutine
def _move(brokers: Int32Vector, at: int, to: int) -> None:
    """Move a broker to another index, the others in their order."""
    broker = brokers[at]
    step = 1 if to > at else -1
    for k in range(at, to, step):
        brokers[k] = brokers[k + step]
    brokers[to] = broker


@subroutine
def _pair_within_racks(adds: Int32Vector, n_adds: int, drops: Int32Vector, n_drops: int, rack_of: Int32Vector) -> int:
    """Put pairs of one rack first, at the same indices on both sides; the number of pairs."""
    n_within = 0
    for drop in range(n_drops):
        for add in range(n_within, n_adds):
            if rack_of[adds[add]] == rack_of[drops[drop]]:
                _move(adds, add, n_within)
                _move(drops, drop, n_within)
                n_within += 1
                break
    return n_within


@subroutine
def _has_rack(brokers: Int32Vector, rack: int, rack_of: Int32Vector) -> bool:
    for broker in brokers:  # noqa: SIM110 — numba compiles no generator expressions
        if rack_of[broker] == rack:
            return True
    return False


@subroutine
def _is_spanned(rack: int, old: Int32Vector, new: Int32Vector, adds: Int32Vector, rack_of: Int32Vector) -> bool:
    """Whether a replica that stays is in the rack, or one of `adds`."""
    for broker in old:
        if broker >= 0 and rack_of[broker] == rack and place(new, broker) >= 0:
            return True
    return _has_rack(adds, rack, rack_of)
