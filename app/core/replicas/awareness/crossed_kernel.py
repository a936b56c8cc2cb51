"""Rows over attributes that cross: each broker by broker, where it costs least, then by what the brokers have already.

A row is begun with the brokers that add least to its cost, attribute by attribute. Then one broker after another gives
way to the one whose place costs less, or as little with less on it. Rows that do not come down to the least possible
cost that way are built like one that is known to.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s

_ENOUGH = 1e-9
_PASSES = 4


@njit(cache=True, nogil=True)
def fill(
    table: Int32s,
    value_of: Int64s,
    costs: Int64s,
    best: Int64s,
    kind_of: Int64s,
    known: Int64s,
    weights: NDArray[np.float64],
    load: Int64s,
    ranks: Int64s,
) -> None:
    """Fill (rows, placed) `table` with brokers by position, and add what they get to `load`.

    Parameters
    ----------
    value_of : (attributes, brokers) int64. costs : (attributes, values, placed + 1) int64: of the next replica, by how
        many there are. best : (attributes,) int64, the cost that every row has to have.
    kind_of : (brokers,) int64: brokers of one kind have the same values. known : (placed,) int64 kinds, for `best`.
    load : (brokers,) int64. ranks : (brokers,) int64; among equals the least (rank + row) modulo brokers goes first.
    """
    rows, placed = table.shape
    brokers = value_of.shape[1]
    counts = np.zeros(costs.shape[:2], np.int64)
    is_in = np.zeros(brokers, np.bool_)
    for row in range(rows):
        counts[:] = 0
        is_in[:] = False
        for column in range(placed):
            table[row, column] = _next(value_of, costs, counts, is_in, weights, load, ranks, row, -1, kind_of)
            _put(table[row, column], 1, value_of, counts, is_in, load)
        _better(table[row], value_of, costs, counts, is_in, weights, load, ranks, row)
        if _is_dearer(value_of, costs, counts, best):
            for column in range(placed):
                _put(table[row, column], -1, value_of, counts, is_in, load)
            for column in range(placed):
                table[row, column] = _next(
                    value_of, costs, counts, is_in, weights, load, ranks, row, known[column], kind_of
                )
                _put(table[row, column], 1, value_of, counts, is_in, load)
            _better(table[row], value_of, costs, counts, is_in, weights, load, ranks, row)


@njit(cache=True, nogil=True)
def _put(broker: int, sign: int, value_of: Int64s, counts: Int64s, is_in: NDArray[np.bool_], load: Int64s) -> None:
    for attribute in range(len(value_of)):
        counts[attribute, value_of[attribute, broker]] += sign
    is_in[broker] = sign > 0
    load[broker] += sign


@njit(cache=True, nogil=True)
def _is_dearer(value_of: Int64s, costs: Int64s, counts: Int64s, best: Int64s) -> bool:
    for attribute in range(len(value_of)):
        cost = 0
        for value in range(counts.shape[1]):
            for count in range(counts[attribute, value]):
                cost += costs[attribute, value, count]
        if cost != best[attribute]:
            return True
    return False


@njit(cache=True, nogil=True)
def _next(
    value_of: Int64s,
    costs: Int64s,
    counts: Int64s,
    is_in: NDArray[np.bool_],
    weights: NDArray[np.float64],
    load: Int64s,
    ranks: Int64s,
    row: int,
    kind: int,
    kind_of: Int64s,
) -> int:
    """The broker that costs the row least, of those the one with the least load; of that kind, if it is one."""
    attributes, brokers = value_of.shape
    found, least, rank = -1, 0.0, 0
    for broker in range(brokers):
        if is_in[broker] or (kind >= 0 and kind_of[broker] != kind):
            continue
        order = 0
        if found >= 0:
            for attribute in range(attributes):
                mine, other = value_of[attribute, broker], value_of[attribute, found]
                order = (
                    costs[attribute, mine, counts[attribute, mine]] - costs[attribute, other, counts[attribute, other]]
                )
                if order != 0:
                    break
        if order > 0:
            continue
        claim = (2 * load[broker] + 1) / weights[broker]
        turn = (ranks[broker] + row) % brokers
        if found < 0 or order < 0 or claim < least - _ENOUGH or (claim <= least + _ENOUGH and turn < rank):
            found, least, rank = broker, claim, turn
    return found


@njit(cache=True, nogil=True)
def _better(
    members: Int32s,
    value_of: Int64s,
    costs: Int64s,
    counts: Int64s,
    is_in: NDArray[np.bool_],
    weights: NDArray[np.float64],
    load: Int64s,
    ranks: Int64s,
    row: int,
) -> None:
    """Let members give way, one after another, until none does or it has been tried often enough."""
    attributes = len(value_of)
    for _ in range(_PASSES):
        has_changed = False
        for column in range(len(members)):
            old = members[column]
            _put(old, -1, value_of, counts, is_in, load)
            new = _next(value_of, costs, counts, is_in, weights, load, ranks, row, -1, value_of[0])
            order = 0
            for attribute in range(attributes):
                mine, other = value_of[attribute, new], value_of[attribute, old]
                order = (
                    costs[attribute, mine, counts[attribute, mine]] - costs[attribute, other, counts[attribute, other]]
                )
                if order != 0:
                    break
            gain = (2 * load[old] + 1) / weights[old] - (2 * load[new] + 1) / weights[new]
            if order < 0 or (order == 0 and gain > _ENOUGH):
                members[column] = new
                has_changed = True
            _put(members[column], 1, value_of, counts, is_in, load)
        if not has_changed:
            return
