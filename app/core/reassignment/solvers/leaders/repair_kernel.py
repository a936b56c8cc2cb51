"""Moves and swaps of whole leaderships off the heaviest broker: the compiled loops of `choosing`, by ingress."""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolVector, Int32Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import Int64s
from app.core.reassignment.solvers.leaders.shares_kernel import cells_by_broker

_NONE = -1
_PATIENCE = 30


class Leadership(NamedTuple):
    """Rows, each led whole by one of its replicas.

    Parameters
    ----------
    table : (rows, width) int32 brokers; rows by descending weight. costs : (rows, width) int32, negative if that
        replica may not lead. weight : (rows,) int64. target : (brokers,) bool; the others may lead any amount.
    columns : (rows,) int64, the replica that leads; loads : (brokers,) int64 of that. Both change in place.
    step_cost : the cost of each step of repair, in addition to that of its changes.
    """

    table: Int32Matrix
    costs: Int32Matrix
    weight: Int64Vector
    target: BoolVector
    columns: Int64Vector
    loads: Int64Vector
    step_cost: int


@compiled
def repair(led: Leadership, goal: int) -> None:
    """Relieve the heaviest target broker until it leads at most the goal, or no step relieves it.

    If no step relieves a broker, the candidates of its rows are relieved first, the heaviest first, even below the
    goal, and so on from those. That is limited to some tens of steps a broker, since it only helps if a few heavy rows
    fill all their candidates.
    """
    table, costs, _, target, _, loads, _ = led
    brokers, width = len(loads), table.shape[1]
    starts, cells = cells_by_broker(table, costs >= 0, brokers)
    longest = 0
    for broker in range(brokers):
        longest = max(longest, starts[broker + 1] - starts[broker])
    # Cells that a broker could pass on, and those that it could take in exchange, grouped by the other broker.
    out, back = np.empty(longest * width, np.int64), np.empty(longest, np.int64)
    # Brokers to relieve: those above the goal, and those next to one that no step relieves.
    is_near, is_exhausted = np.zeros(brokers, np.bool_), np.zeros(brokers, np.bool_)
    patience = _PATIENCE * brokers
    while patience > 0:
        heaviest = -1
        for broker in range(brokers):
            if target[broker] and loads[broker] > goal and (heaviest < 0 or loads[broker] > loads[heaviest]):
                heaviest = broker
        if heaviest < 0:
            return
        is_near[heaviest] = True
        full = int(np.int64(-1))  # typed, since a literal compiles a second version of what it is passed to
        for broker in range(brokers):
            is_open = is_near[broker] and not is_exhausted[broker] and target[broker]
            if is_open and (full < 0 or loads[broker] > loads[full]):
                full = broker
        if full < 0:
            return
        own_cells = cells[starts[full] : starts[full + 1]]
        out_starts, back_starts = _grouped(led, own_cells, full, out, back)
        enough = goal if loads[full] > goal else 0
        out_cell, back_cell = _step(led, full, enough, out, out_starts, back, back_starts)
        if full != heaviest or out_cell == _NONE:
            patience -= 1
        if out_cell == _NONE:
            is_exhausted[full] = True
            for other in range(brokers):
                is_near[other] |= out_starts[other] < out_starts[other + 1]
            continue
        _lead(led, out_cell)
        if back_cell != _NONE:
            _lead(led, back_cell)
        is_near[:] = False
        is_exhausted[:] = False


@subroutine
def _step(
    led: Leadership,
    full: int,
    enough: int,
    out: Int64Vector,
    out_starts: Int64Vector,
    back: Int64Vector,
    back_starts: Int64Vector,
) -> tuple[int, int]:
    """The best step that relieves a broker: the cell that leads instead, and the one it takes over; −1 for nothing.

    It moves one of its rows to another candidate, or swaps it for a lighter one, so that the heavier of the two brokers
    ends below its load before: steps terminate. The best step costs least for what it takes off the larger load, as far
    as that is more than enough. A step costs something beside its changes: many small ones lead to more changes.
    """
    table, costs, weight, target, columns, loads, step_cost = led
    width = table.shape[1]
    best, out_cell, back_cell = np.inf, _NONE, _NONE
    for other in range(len(loads)):
        begin, end = out_starts[other], out_starts[other + 1]
        if begin == end or (target[other] and loads[other] >= loads[full]):
            continue
        slack = loads[full] - loads[other] if target[other] else 2 * loads[full]
        first, last = back_starts[other], back_starts[other + 1]
        place = first
        for index in range(begin, end):
            row, at = divmod(out[index], width)
            # Rows are by descending weight, so those to swap for become lighter with the cell that is passed on.
            while place < last and 2 * (weight[row] - weight[back[place] // width]) < slack:
                place += 1
            for swap in range(place - 2, min(place + 1, last)):
                # The first of the three takes nothing in exchange.
                if place - 2 < swap < first:
                    continue
                cell = back[swap] if swap > place - 2 else _NONE
                difference, cost = weight[row], step_cost + costs[row, at] - costs[row, columns[row]]
                if cell != _NONE:
                    difference -= weight[cell // width]
                    cost += costs[cell // width, cell % width] - costs[cell // width, columns[cell // width]]
                worst = max(loads[full] - difference, loads[other] + difference if target[other] else 0, enough)
                if difference > 0 and worst < loads[full] and cost / (loads[full] - worst) < best:
                    best, out_cell, back_cell = cost / (loads[full] - worst), out[index], cell
    return out_cell, back_cell


@compiled
def undo_changes(led: Leadership, goal: int) -> None:
    """Return rows to their cheapest candidate, the lightest first, while no target broker exceeds the limit.

    The limit is the goal, or the largest load if that exceeds the goal.
    """
    table, costs, weight, target, columns, loads, _ = led
    limit = goal
    for broker in range(len(loads)):
        if target[broker]:
            limit = max(limit, loads[broker])
    for row in range(len(table) - 1, -1, -1):
        for at in range(table.shape[1]):
            if 0 <= costs[row, at] < costs[row, columns[row]]:
                broker = table[row, at]
                if not target[broker] or loads[broker] + weight[row] <= limit:
                    _lead(led, row * table.shape[1] + at)


@subroutine
def _lead(led: Leadership, cell: int) -> None:
    table, _, weight, _, columns, loads, _ = led
    row, at = divmod(cell, table.shape[1])
    loads[table[row, columns[row]]] -= weight[row]
    loads[table[row, at]] += weight[row]
    columns[row] = at


@subroutine
def _grouped(
    led: Leadership, own_cells: Int64Vector, full: int, out: Int64Vector, back: Int64Vector
) -> tuple[Int64s, Int64s]:
    """Fill `out` with the cells to which rows led by `full` can move, `back` with its own that others lead, by
    broker.
    """
    table, costs, _, _, columns, loads, _ = led
    brokers, width = len(loads), table.shape[1]
    out_starts, back_starts = np.zeros(brokers + 1, np.int64), np.zeros(brokers + 1, np.int64)
    out_place, back_place = np.zeros(brokers, np.int64), np.zeros(brokers, np.int64)
    for is_counting in (True, False):
        for cell in own_cells:
            row = cell // width
            leader = table[row, columns[row]]
            if leader != full:
                if is_counting:
                    back_starts[leader + 1] += 1
                else:
                    back[back_place[leader]] = cell
                    back_place[leader] += 1
                continue
            for at in range(width):
                if costs[row, at] >= 0 and at != columns[row]:
                    broker = table[row, at]
                    if is_counting:
                        out_starts[broker + 1] += 1
                    else:
                        out[out_place[broker]] = row * width + at
                        out_place[broker] += 1
        if is_counting:
            for broker in range(brokers):
                out_place[broker], back_place[broker] = out_starts[broker], back_starts[broker]
                out_starts[broker + 1] += out_starts[broker]
                back_starts[broker + 1] += back_starts[broker]
    return out_starts, back_starts
