"""Leadership as a flow between brokers: the compiled loops of `shares`.

A row is led by brokers in amounts that sum to its weight: one of them has all of it, unless leadership is split for a
bound. What broker a leads of a row can pass to another candidate b of the row: an arc a → b of the exchange graph,
whose nodes are the brokers and one slack node: a broker below its maximum may take from it, one above its minimum may
give to it. Walks in this graph are the walks of the flow network of rows and brokers with the rows contracted, so that
paths and cuts are the same in both; with a few hundred nodes, distances are computed on a dense matrix. That is why
these loops exist beside `app.core.flow`, whose solvers see every row as a node.

Source: Dinic (1970) for the blocking flows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import BoolMatrix, Int32Matrix, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import Int64s

_LARGEST_COST = np.iinfo(np.int32).max


class ShareFlow(NamedTuple):
    """The flow, which the loops change in place.

    Parameters
    ----------
    table : (rows, width) int32 brokers. costs : (rows, width) int32, negative if that replica may not lead.
    amounts : (rows, width) int64, what each leads. group : (brokers,) int64; nothing passes between groups.
    excess : (brokers + 1,) int64, > 0 what a node has to give, < 0 what it has to take.
    up, down : (brokers,) int64 residual capacity from the broker to the slack node, and back.
    """

    table: Int32Matrix
    costs: Int32Matrix
    amounts: Int64Matrix
    group: Int64Vector
    excess: Int64Vector
    up: Int64Vector
    down: Int64Vector


@compiled
def start(table: Int32Matrix, costs: Int32Matrix, weight: Int64Vector, base: Int64Vector) -> Int64s:
    """Amounts with each row led by a cheapest candidate, the least loaded one if there are several.

    Rows with one cheapest candidate come first, then the others in their order.
    """
    rows, width = table.shape
    amounts = np.zeros((rows, width), np.int64)
    loads = base.copy()
    for is_choosing in (False, True):
        for row in range(rows):
            least, alike = _LARGEST_COST, 0
            for at in range(width):
                if 0 <= costs[row, at] < least:
                    least, alike = costs[row, at], 1
                elif costs[row, at] == least:
                    alike += 1
            if alike == 0 or (alike > 1) != is_choosing:
                continue
            chosen = -1
            for at in range(width):
                if costs[row, at] == least and (chosen < 0 or loads[table[row, at]] < loads[table[row, chosen]]):
                    chosen = at
            amounts[row, chosen] = weight[row]
            loads[table[row, chosen]] += weight[row]
    return amounts


@compiled
def saturate(flow: ShareFlow) -> NDArray[np.bool_]:
    """Pass on as much excess as arcs allow; (brokers + 1,) bool: nodes that the rest could reach.

    Within a round, paths lead from level to level. An amount that arrives in the same round needs no second look: an
    arc from it two levels up would have existed at its previous broker, and would be one level.
    """
    excess, brokers = flow.excess, len(flow.up)
    while True:
        starts, led_cells = cells_by_broker(flow.table, flow.amounts > 0, brokers)
        level = np.full(brokers + 1, -1, np.int64)
        if not _levels(flow, starts, led_cells, level):
            return level >= 0
        cursor = np.concatenate((starts[:brokers], np.zeros(1, np.int64)))
        column = np.zeros(brokers, np.int64)
        nodes, cells = np.empty(brokers + 2, np.int64), np.empty(brokers + 2, np.int64)
        columns = np.empty(brokers + 2, np.int64)
        for source in range(brokers + 1):
            while excess[source] > 0 and level[source] >= 0:
                nodes[0], depth = source, 0
                while depth >= 0 and (depth == 0 or excess[nodes[depth]] >= 0):
                    node = nodes[depth]
                    after = _next_node(flow, level, led_cells, starts, cursor, column, node)
                    cells[depth] = -1
                    if node < brokers and 0 <= after < brokers:
                        cells[depth], columns[depth] = led_cells[cursor[node]], column[node]
                    if after < 0:
                        level[node] = -1
                        depth -= 1
                    else:
                        depth += 1
                        nodes[depth] = after
                if depth > 0:
                    _pass_on(flow, nodes, cells, columns, depth)


@subroutine
def cells_by_broker(table: Int32Matrix, is_chosen: BoolMatrix, brokers: int) -> tuple[Int64s, Int64s]:
    """The chosen cells (row · width + column) of each broker, as one list by broker and row, with its starts.

    Parameters
    ----------
    is_chosen : (rows, width) bool.
    """
    rows, width = table.shape
    starts = np.zeros(brokers + 1, np.int64)
    for row in range(rows):
        for at in range(width):
            if is_chosen[row, at]:
                starts[table[row, at] + 1] += 1
    for broker in range(brokers):
        starts[broker + 1] += starts[broker]
    cells = np.empty(starts[brokers], np.int64)
    place = starts[:brokers].copy()
    for row in range(rows):
        for at in range(width):
            if is_chosen[row, at]:
                cells[place[table[row, at]]] = row * width + at
                place[table[row, at]] += 1
    return starts, cells


@subroutine
def _levels(flow: ShareFlow, starts: Int64Vector, led_cells: Int64Vector, level: Int64Vector) -> bool:
    """Breadth-first levels from the nodes with excess; whether a node that has to take is reached."""
    table, costs, _, group, excess, up, down = flow
    brokers, width = len(up), table.shape[1]
    queue = np.empty(brokers + 1, np.int64)
    length, done, is_taking = 0, 0, False
    for node in range(brokers + 1):
        if excess[node] > 0:
            level[node] = 0
            queue[length] = node
            length += 1
    while done < length <= brokers:
        node = queue[done]
        done += 1
        if node == brokers:
            for broker in range(brokers):
                if down[broker] > 0 and level[broker] < 0:
                    level[broker] = level[node] + 1
                    queue[length] = broker
                    length += 1
            continue
        if up[node] > 0 and level[brokers] < 0:
            level[brokers] = level[node] + 1
            queue[length] = brokers
            length += 1
        for place in range(starts[node], starts[node + 1]):
            row = led_cells[place] // width
            for other in range(width):
                broker = table[row, other]
                if costs[row, other] >= 0 and level[broker] < 0 and group[broker] == group[node]:
                    level[broker] = level[node] + 1
                    queue[length] = broker
                    length += 1
            if length > brokers:
                break
    for place in range(length):
        is_taking |= excess[queue[place]] < 0
    return is_taking


@subroutine
def _next_node(
    flow: ShareFlow,
    level: Int64Vector,
    led_cells: Int64Vector,
    starts: Int64Vector,
    cursor: Int64Vector,
    column: Int64Vector,
    node: int,
) -> int:
    """The next node, one level on, to which this one can pass something; −1 if there is none."""
    brokers = len(flow.up)
    if node == brokers:
        while cursor[node] < brokers:
            broker = cursor[node]
            if flow.down[broker] > 0 and level[broker] == level[node] + 1:
                return int(broker)
            cursor[node] += 1
        return -1
    if flow.up[node] > 0 and level[brokers] == level[node] + 1:
        return brokers
    return _next(flow, level, led_cells, starts[node + 1], cursor, column, node)


@subroutine
def _next(
    flow: ShareFlow,
    level: Int64Vector,
    led_cells: Int64Vector,
    end: int,
    cursor: Int64Vector,
    column: Int64Vector,
    node: int,
) -> int:
    """The next broker, one level on, to which this one can pass something: by led_cells[cursor] to column; −1 if
    none.
    """
    table, costs, amounts, group, _, _, _ = flow
    width = table.shape[1]
    while cursor[node] < end:
        row, at = divmod(led_cells[cursor[node]], width)
        while amounts[row, at] > 0 and column[node] < width:
            other = column[node]
            if costs[row, other] >= 0:
                broker = table[row, other]
                if level[broker] == level[node] + 1 and group[broker] == group[node]:
                    return int(broker)
            column[node] += 1
        cursor[node] += 1
        column[node] = 0
    return -1


@subroutine
def _pass_on(flow: ShareFlow, nodes: Int64Vector, cells: Int64Vector, columns: Int64Vector, depth: int) -> None:
    """Pass along one path what all of it can carry."""
    amounts, excess, up, down = flow.amounts, flow.excess, flow.up, flow.down
    brokers, width = len(up), amounts.shape[1]
    source, sink = nodes[0], nodes[depth]
    amount = min(excess[source], -excess[sink])
    for step in range(depth):
        if cells[step] >= 0:
            row, at = divmod(cells[step], width)
            amount = min(amount, amounts[row, at])
        elif nodes[step] == brokers:
            amount = min(amount, down[nodes[step + 1]])
        else:
            amount = min(amount, up[nodes[step]])
    for step in range(depth):
        if cells[step] >= 0:
            row, at = divmod(cells[step], width)
            amounts[row, at] -= amount
            amounts[row, columns[step]] += amount
        elif nodes[step] == brokers:
            down[nodes[step + 1]] -= amount
            up[nodes[step + 1]] += amount
        else:
            up[nodes[step]] -= amount
            down[nodes[step]] += amount
    excess[source] -= amount
    excess[sink] += amount
