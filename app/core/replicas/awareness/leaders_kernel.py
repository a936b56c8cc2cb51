"""Leaders of the rows of a table, in proportion to weights as nearly as the rows allow.

The objective is to minimise Σ leaders² / weight. Each row first gets the candidate that adds least to the sum. Then
leadership passes along chains (a row led by one broker is led by another of its replicas, one of that broker's rows by
a third …) as long as a chain decreases the sum. If none does, it is minimal: it is convex, and the rows are a flow.
"""

import numpy as np

from app.core.compiled.arrays import FloatVector, Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.replicas.awareness.rows_kernel import integer_below, next_state

_ENOUGH = 1e-9


@compiled
def lead(
    table: Int32Matrix,
    candidates: Int64Vector,
    weights: FloatVector,
    leads: Int64Vector,
    rank: Int64Vector,
    state: np.uint64,
) -> np.uint64:
    """Bring each row's leader to the front and shuffle the others; gives the generator's new state.

    Parameters
    ----------
    table : (rows, placed) int32 brokers by position. candidates : (rows,) int64 how many first ones may lead.
    leads : (brokers,) int64 rows that each broker leads elsewhere; rows of the table are added.
    rank : (brokers,) int64: of brokers with the same claim the lowest rank goes first.
    """
    rows, brokers = len(table), len(weights)
    column = np.zeros(rows, np.int64)
    head = np.full(brokers, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    before = np.full(rows, -1, np.int64)
    table_leads = np.zeros(brokers, np.int64)
    for row in range(rows):
        column[row] = _first_claim(table[row, : candidates[row]], weights, leads, rank)
        broker = table[row, column[row]]
        leads[broker] += 1
        table_leads[broker] += 1
        _link(row, broker, head, after, before)
    _improve(table, candidates, weights, leads, column, table_leads, head, after, before)
    for row in range(rows):
        at = column[row]
        broker = table[row, at]
        for back in range(at, 0, -1):
            table[row, back] = table[row, back - 1]
        table[row, 0] = broker
        state = _shuffle_row(table, row, 1, candidates[row], state)
        state = _shuffle_row(table, row, candidates[row], table.shape[1], state)
    return state


@subroutine
def _first_claim(brokers: Int32Vector, weights: FloatVector, leads: Int64Vector, rank: Int64Vector) -> int:
    """The place of the broker whose next lead costs least; ties by the lowest rank."""
    best = 0
    for at in range(1, len(brokers)):
        broker, other = brokers[at], brokers[best]
        claim = (2 * leads[broker] + 1) / weights[broker] - (2 * leads[other] + 1) / weights[other]
        if claim < -_ENOUGH or (claim <= _ENOUGH and rank[broker] < rank[other]):
            best = at
    return best


@subroutine
def _shuffle_row(table: Int32Matrix, row: int, begin: int, end: int, state: np.uint64) -> np.uint64:
    """Shuffle columns begin … end - 1 of a row, as `rows_kernel.shuffle` does."""
    for size in range(end - begin, 1, -1):
        state = next_state(state)
        last, other = begin + size - 1, begin + integer_below(state, size)
        table[row, last], table[row, other] = table[row, other], table[row, last]
    return state


@subroutine
def _link(row: int, broker: int, head: Int64Vector, after: Int64Vector, before: Int64Vector) -> None:
    after[row] = head[broker]
    before[row] = -1
    if head[broker] >= 0:
        before[head[broker]] = row
    head[broker] = row


@subroutine
def _unlink(row: int, broker: int, head: Int64Vector, after: Int64Vector, before: Int64Vector) -> None:
    if before[row] >= 0:
        after[before[row]] = after[row]
    else:
        head[broker] = after[row]
    if after[row] >= 0:
        before[after[row]] = before[row]


@subroutine
def _improve(
    table: Int32Matrix,
    candidates: Int64Vector,
    weights: FloatVector,
    leads: Int64Vector,
    column: Int64Vector,
    table_leads: Int64Vector,
    head: Int64Vector,
    after: Int64Vector,
    before: Int64Vector,
) -> None:
    """Pass leadership along chains until none decreases the sum.

    Chains begin at the brokers in descending order of the cost of their last lead. If no chain from a broker decreases
    the sum, none from a broker that it reaches does: all of these are closed for good, since no later chain passes
    through them.
    """
    brokers = len(weights)
    is_closed = np.zeros(brokers, np.bool_)
    visited = np.full(brokers, -1, np.int64)
    by_row = np.full(brokers, -1, np.int64)
    queue = np.empty(brokers, np.int64)
    search = 0
    while True:
        source, cost = -1, 0.0
        for broker in range(brokers):
            if not is_closed[broker] and table_leads[broker] > 0:
                last = (2 * leads[broker] - 1) / weights[broker]
                if source < 0 or last > cost:
                    source, cost = broker, last
        if source < 0:
            return
        queue[0], length, visited[source] = source, 1, search
        target, least = -1, cost - _ENOUGH * (1 + cost)
        done = 0
        while done < length:
            broker = queue[done]
            done += 1
            row = head[broker]
            while row >= 0:
                for at in range(candidates[row]):
                    other = table[row, at]
                    if visited[other] != search and not is_closed[other]:
                        visited[other], by_row[other] = search, row
                        queue[length] = other
                        length += 1
                        claim = (2 * leads[other] + 1) / weights[other]
                        if claim < least:
                            target, least = other, claim
                row = after[row]
        search += 1
        if target < 0:
            for place in range(length):
                is_closed[queue[place]] = True
            continue
        leads[source] -= 1
        table_leads[source] -= 1
        leads[target] += 1
        table_leads[target] += 1
        broker = target
        while broker != source:
            row = by_row[broker]
            leader = table[row, column[row]]
            _unlink(row, leader, head, after, before)
            _link(row, broker, head, after, before)
            for at in range(candidates[row]):
                if table[row, at] == broker:
                    column[row] = at
            broker = leader
