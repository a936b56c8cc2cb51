"""The rows of a table: which partitions each broker gets, dealt down the tree; draws as `app.core.jvm.JavaRandom` does.

A node holds its rows as a sequence that names all of them once, then again, and so on; the last time perhaps only some.
Its children get pieces of it one after another. A piece that is shorter than one naming holds no row twice, and any
piece holds every row as often as its length asks for, rounded down or up. A node may name its rows in another order as
long as those named once more than the others come first, so that each does, at random: brokers that share a partition
are thereby no fixed sets.
"""

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int64Vector
from app.core.compiled.loops import compiled, inlined
from app.core.jvm.random import INCREMENT, MULTIPLIER, STATE_MASK
from app.core.model import Int64s

_MULTIPLIER = np.uint64(MULTIPLIER)
_INCREMENT = np.uint64(INCREMENT)
_STATE_MASK = np.uint64(STATE_MASK)
_TO_31_BITS = np.uint64(17)


@inlined
def next_state(state: np.uint64) -> np.uint64:
    """The next state of the generator."""
    return (state * _MULTIPLIER + _INCREMENT) & _STATE_MASK


@inlined
def integer_below(state: np.uint64, bound: int) -> int:
    """The integer below the bound that a state gives, as `JavaRandom.next_int` does for powers of two."""
    return int((np.int64(state >> _TO_31_BITS) * bound) >> 31)


@compiled
def shuffle(items: Int64Vector, begin: int, end: int, state: np.uint64) -> np.uint64:
    """Shuffle items begin … end - 1 in place, a draw each but the first; gives the generator's new state."""
    for size in range(end - begin, 1, -1):
        state = next_state(state)
        last, other = begin + size - 1, begin + integer_below(state, size)
        items[last], items[other] = items[other], items[last]
    return state


@compiled
def deal(
    parents: Int64Vector,
    counts: Int64Vector,
    rows_of_nodes: Int64Vector,
    bounds: Int64Vector,
    rows: int,
    state: np.uint64,
) -> tuple[Int64s, Int64s, np.uint64]:
    """Deal the replicas of the nodes of one level to the next level.

    Parameters
    ----------
    parents : (nodes,) int64, ascending. counts : (nodes,) int64 how many replicas each gets.
    rows_of_nodes, bounds : the rows that each node of the level above names, node by node:
        rows_of_nodes[bounds[i] : bounds[i + 1]].
    rows : how many there are; no node names more.

    Returns
    -------
    `rows_of_nodes` and `bounds` of this level, and the generator's state.
    """
    nodes = len(parents)
    next_bounds = np.zeros(nodes + 1, np.int64)
    totals = np.zeros(len(bounds) - 1, np.int64)
    for node in range(nodes):
        next_bounds[node + 1] = next_bounds[node] + min(counts[node], rows)
        totals[parents[node]] += counts[node]
    assigned = np.empty(next_bounds[nodes], np.int64)
    parent, at = -1, 0
    for node in range(nodes):
        if parents[node] != parent:
            parent, at = parents[node], 0
            begin, named = bounds[parent], bounds[parent + 1] - bounds[parent]
            once_more = totals[parent] % named if named else 0
            state = shuffle(rows_of_nodes, begin, begin + once_more, state)
            state = shuffle(rows_of_nodes, begin + once_more, begin + named, state)
        for place in range(next_bounds[node], next_bounds[node + 1]):
            assigned[place] = rows_of_nodes[begin + at % named]
            at += 1
        at += counts[node] - (next_bounds[node + 1] - next_bounds[node])
    return assigned, next_bounds, state


@compiled
def collect(rows_of_nodes: Int64Vector, bounds: Int64Vector, brokers: Int64Vector, table: Int32Matrix) -> None:
    """Fill (rows, placed) `table` with the brokers that hold each row, in the order of the tree."""
    filled = np.zeros(len(table), np.int64)
    for leaf in range(len(brokers)):
        for place in range(bounds[leaf], bounds[leaf + 1]):
            row = rows_of_nodes[place]
            table[row, filled[row]] = brokers[leaf]
            filled[row] += 1


@compiled
def lead_first(table: Int32Matrix, value_of: Int64Vector, value: int) -> int:
    """Put the brokers of one value first in every row; gives how many they are in the row that has the fewest."""
    fewest = table.shape[1]
    for row in range(len(table)):
        first = 0
        for column in range(table.shape[1]):
            if value_of[table[row, column]] == value:
                broker = table[row, column]
                for back in range(column, first, -1):
                    table[row, back] = table[row, back - 1]
                table[row, first] = broker
                first += 1
        fewest = min(fewest, first)
    return int(fewest)
