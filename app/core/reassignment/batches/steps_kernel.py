"""The replica lists that each partition goes through; `steps` says by which rules.

All replica lists are (rows, widest) int32 broker positions, padded with -1, with as many columns on both sides.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.batches.exchange_kernel import exchange, missing, place


@njit(cache=True, nogil=True)
def count(before: Int32s, after: Int32s, most_adds: int) -> tuple[Int32s, NDArray[np.bool_]]:
    """How many steps each row takes, and whether its list gets its final order in one more; a new row takes none.

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


@njit(cache=True, nogil=True)
def fill(
    before: Int32s, after: Int32s, rows: Int64s, first: Int64s, rack_of: Int32s, most_adds: int
) -> tuple[Int32s, Int32s, Int32s, Int64s, Int32s, Int64s]:
    """The lists before and after each step of `rows`, then what it adds and what it drops, as `Chains` has them.

    first : (rows + 1,) int64 where each row's steps begin.
    """
    n_steps, widest = first[-1], before.shape[1]
    found, wanted = np.full((n_steps, widest), -1, np.int32), np.full((n_steps, widest), -1, np.int32)
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
            found[step] = current
            _replace(wanted[step], current, gained[add:until], lost[drop : drop + n_dropped])
            for k in range(add, until):
                adds[added] = gained[k]
                added += 1
            for k in range(drop, drop + n_dropped):
                drops[dropped] = lost[k]
                dropped += 1
            add, drop = until, drop + n_dropped
            adds_from[step + 1], drops_from[step + 1] = added, dropped
            if is_last:
                _with_first(wanted[step], new, old[0])
            current = wanted[step]
    return found, wanted, adds[:added], adds_from, drops[:dropped], drops_from


@njit(cache=True, nogil=True)
def unordered(before: Int32s, after: Int32s, rows: Int64s) -> Int32s:
    """The lists of `rows` before their final order: once all data has moved, or as they were if none does."""
    lists = np.empty((len(rows), before.shape[1]), np.int32)
    spare = np.empty(before.shape[1], np.int32)
    for at in range(len(rows)):
        old, new = before[rows[at]], after[rows[at]]
        if missing(new, old, spare) + missing(old, new, spare) > 0:
            _with_first(lists[at], new, old[0])
        else:
            lists[at] = old
    return lists


@njit(cache=True, nogil=True)
def _at_first(n_adds: int, n_drops: int) -> int:
    """How many replicas are added until the first one is replaced: that one's, and the additional ones."""
    return max(n_adds - n_drops, 0) + int(min(n_adds, n_drops) > 0)


@njit(cache=True, nogil=True)
def _n_steps(n_adds: int, n_drops: int, most_adds: int) -> int:
    if n_adds == 0:
        return 1
    at_first = _at_first(n_adds, n_drops)
    return (at_first - 1) // most_adds + 1 + n_adds - at_first


@njit(cache=True, nogil=True)
def _replace(wanted: Int32s, current: Int32s, adds: Int32s, drops: Int32s) -> None:
    """Write the list after a step: the last that is added takes the place of the first that is dropped."""
    n_more = len(adds) - int(len(adds) > 0 and len(drops) > 0)
    size = 0
    for broker in current:
        if broker < 0:
            break
        if place(drops, broker) < 0:
            wanted[size] = broker
            size += 1
        elif n_more < len(adds) and broker == drops[0]:
            wanted[size] = adds[n_more]
            size += 1
    for k in range(n_more):
        wanted[size] = adds[k]
        size += 1


@njit(cache=True, nogil=True)
def _with_first(wanted: Int32s, new: Int32s, leader: int) -> None:
    """Write the new list in its order, and yet the leader first if it is in it."""
    size = 0
    if place(new, leader) >= 0:
        wanted[0] = leader
        size = 1
    for broker in new:
        if broker != leader:
            wanted[size] = broker
            size += 1
