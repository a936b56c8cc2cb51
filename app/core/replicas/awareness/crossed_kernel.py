"""Rows over attributes that cross: a greedy construction by cost and then by load, and a local search.

A row is filled with the brokers that add least to its cost, attribute by attribute, and of those with the least loaded.
If it costs more than the least possible, its brokers are replaced one after another by cheaper ones. If that does not
reach the least cost either, the row is built from the kinds of a row that is known to have it. Once all rows are made,
brokers are replaced by others that cost as little and are less loaded.
"""

import numpy as np

from app.core.compiled.arrays import (
    BoolVector,
    FloatVector,
    Int32Matrix,
    Int32Vector,
    Int64Cube,
    Int64Matrix,
    Int64Vector,
)
from app.core.compiled.loops import compiled, subroutine
from app.core.replicas.awareness.layout import FORBIDDEN

_ENOUGH = 1e-9
_PASSES = 4


@compiled
def fill(
    table: Int32Matrix,
    value_of: Int64Matrix,
    costs: Int64Cube,
    best: Int64Vector,
    kind_of: Int64Vector,
    known_kinds: Int64Vector,
    weights: FloatVector,
    load: Int64Matrix,
    claims_of: Int64Vector,
    ranks: Int64Vector,
) -> None:
    """Fill (rows, placed) `table` with brokers by position, and add their replicas to `load`.

    Parameters
    ----------
    value_of : (attributes, brokers) int64. costs : (attributes, values, placed + 1) int64: of the next replica, by how
        many there are. best : (attributes,) int64, the cost that every row has to have.
    kind_of : (brokers,) int64: brokers of one kind have the same values. known_kinds : (placed,) int64, for `best`.
    load : (2, brokers) int64: replicas of brokers, in all and in rows that their value leads.
    claims_of : (brokers,) int64: which of the two decides the broker's turn. ranks : (brokers,) int64; among equals the
        least (rank + row) modulo brokers goes first.
    """
    rows, replicas = table.shape
    counts = np.zeros(costs.shape[:2], np.int64)
    following = np.empty(costs.shape[:2], np.int64)
    is_in = np.zeros(len(ranks), np.bool_)
    for row in range(rows):
        _clear(costs, counts, following)
        is_in[:] = False
        for column in range(replicas):
            new = _next(value_of, following, is_in, weights, load, claims_of, ranks, row, -1, kind_of)
            table[row, column] = new
            _put(new, 1, value_of, costs, counts, following, is_in, load, claims_of)
        if _costs_more(costs, counts, best):
            _better(
                table[row], value_of, costs, counts, following, is_in, weights, load, claims_of, ranks, row, kind_of
            )
        if _costs_more(costs, counts, best):
            for column in range(replicas):
                _put(table[row, column], -1, value_of, costs, counts, following, is_in, load, claims_of)
            for column in range(replicas):
                new = _next(
                    value_of, following, is_in, weights, load, claims_of, ranks, row, known_kinds[column], kind_of
                )
                table[row, column] = new
                _put(new, 1, value_of, costs, counts, following, is_in, load, claims_of)


@compiled
def settle(
    table: Int32Matrix,
    value_of: Int64Matrix,
    costs: Int64Cube,
    kind_of: Int64Vector,
    weights: FloatVector,
    load: Int64Matrix,
    claims_of: Int64Vector,
    ranks: Int64Vector,
) -> bool:
    """Replace brokers of each row of a filled table by others of equal cost and less load. Returns whether any changed.

    Parameters as of `fill`.
    """
    counts = np.zeros(costs.shape[:2], np.int64)
    following = np.empty(costs.shape[:2], np.int64)
    is_in = np.zeros(len(ranks), np.bool_)
    has_changed = False
    for row in range(len(table)):
        _clear(costs, counts, following)
        is_in[:] = False
        for broker in table[row]:
            load[0, broker] -= 1
            load[1, broker] -= claims_of[broker]
            _put(broker, 1, value_of, costs, counts, following, is_in, load, claims_of)
        if _better(
            table[row], value_of, costs, counts, following, is_in, weights, load, claims_of, ranks, row, kind_of
        ):
            has_changed = True
    return has_changed


@subroutine
def _clear(costs: Int64Cube, counts: Int64Matrix, following: Int64Matrix) -> None:
    """Begin a row without replicas."""
    for attribute in range(counts.shape[0]):
        for value in range(counts.shape[1]):
            counts[attribute, value] = 0
            following[attribute, value] = costs[attribute, value, 0]


@subroutine
def _put(
    broker: int,
    sign: int,
    value_of: Int64Matrix,
    costs: Int64Cube,
    counts: Int64Matrix,
    following: Int64Matrix,
    is_in: BoolVector,
    load: Int64Matrix,
    claims_of: Int64Vector,
) -> None:
    """Put a broker into the row (sign 1) or take it out (-1); `following`: the next cost at each value."""
    for attribute in range(len(value_of)):
        value = value_of[attribute, broker]
        counts[attribute, value] += sign
        following[attribute, value] = costs[attribute, value, counts[attribute, value]]
    is_in[broker] = sign > 0
    load[0, broker] += sign
    if claims_of[broker] == 1:
        load[1, broker] += sign


@subroutine
def _costs_more(costs: Int64Cube, counts: Int64Matrix, best: Int64Vector) -> bool:
    for attribute in range(len(counts)):
        cost = 0
        for value in range(counts.shape[1]):
            for count in range(counts[attribute, value]):
                cost += costs[attribute, value, count]
        if cost != best[attribute]:
            return True
    return False


@subroutine
def _next(
    value_of: Int64Matrix,
    following: Int64Matrix,
    is_in: BoolVector,
    weights: FloatVector,
    load: Int64Matrix,
    claims_of: Int64Vector,
    ranks: Int64Vector,
    row: int,
    kind: int,
    kind_of: Int64Vector,
) -> int:
    """The broker that costs the row least, of those the one with the least load; of that kind, if it is one.

    One that the row must not have is taken only where there is no other, however little it costs by earlier attributes.
    """
    attributes, brokers = value_of.shape
    best, least = -1, 0.0
    forbidden = -1
    price = np.empty(attributes, np.int64)
    for broker in range(brokers):
        if is_in[broker] or (kind >= 0 and kind_of[broker] != kind):
            continue
        order = -1
        if best >= 0:
            order = 0
            for attribute in range(attributes):
                order = following[attribute, value_of[attribute, broker]] - price[attribute]
                if order != 0:
                    break
            if order > 0:
                continue
        claim = (2 * load[claims_of[broker], broker] + 1) / weights[broker]
        if order == 0:
            if claim > least + _ENOUGH:
                continue
            if claim >= least - _ENOUGH and (ranks[broker] + row) % brokers >= (ranks[best] + row) % brokers:
                continue
        if _is_forbidden(value_of, following, broker):
            forbidden = broker
            continue
        if order != 0:
            for attribute in range(attributes):
                price[attribute] = following[attribute, value_of[attribute, broker]]
        best, least = broker, claim
    return forbidden if best < 0 else best


@subroutine
def _is_forbidden(value_of: Int64Matrix, following: Int64Matrix, broker: int) -> bool:
    """Whether the broker's value of some attribute may have no further replica."""
    costliest = 0
    for attribute in range(len(value_of)):
        costliest = max(costliest, following[attribute, value_of[attribute, broker]])
    return costliest >= FORBIDDEN


@subroutine
def _better(
    members: Int32Vector,
    value_of: Int64Matrix,
    costs: Int64Cube,
    counts: Int64Matrix,
    following: Int64Matrix,
    is_in: BoolVector,
    weights: FloatVector,
    load: Int64Matrix,
    claims_of: Int64Vector,
    ranks: Int64Vector,
    row: int,
    kind_of: Int64Vector,
) -> bool:
    """Let members give way, one after another, until none does or it has been tried often enough; says if any did."""
    for trial in range(_PASSES):
        has_changed = False
        for column in range(len(members)):
            old = members[column]
            _put(old, -1, value_of, costs, counts, following, is_in, load, claims_of)
            new = _next(value_of, following, is_in, weights, load, claims_of, ranks, row, -1, kind_of)
            order = 0
            if _is_forbidden(value_of, following, old) and not _is_forbidden(value_of, following, new):
                order = -1
            for attribute in range(len(value_of)):
                if order != 0:
                    break
                order = following[attribute, value_of[attribute, new]] - following[attribute, value_of[attribute, old]]
            gain = (2 * load[claims_of[old], old] + 1) / weights[old] - (2 * load[claims_of[new], new] + 1) / weights[
                new
            ]
            if order < 0 or (order == 0 and gain > _ENOUGH):
                members[column] = new
                has_changed = True
            _put(members[column], 1, value_of, costs, counts, following, is_in, load, claims_of)
        if not has_changed:
            return trial > 0
    return True
