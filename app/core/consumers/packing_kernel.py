"""Loops over partitions and consumers: best fit, and changes that give partitions back to their consumers."""

from typing import NamedTuple

from app.core.compiled.arrays import Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine


class Rows(NamedTuple):
    """Rows as loops read them.

    Parameters
    ----------
    weights, costs : (rows,) capacity that a row takes, and its cost if it moves.
    previous : (rows,) consumers, −1 if a row has none to return to.
    """

    weights: Int64Vector
    costs: Int64Vector
    previous: Int32Vector


@compiled
def fill(order: Int64Vector, weights: Int64Vector, capacity: int, loads: Int64Vector, owners: Int32Vector) -> int:
    """Best fit: assign rows in order, each to the fullest consumer that has room.

    Parameters
    ----------
    order : rows to assign. loads : (consumers,), changed. owners : (rows,), changed.

    Returns
    -------
    The number of rows that are assigned: the next one fits nowhere.
    """
    for place in range(len(order)):
        row = order[place]
        best = _fullest(loads, capacity - weights[row], -1)
        if best < 0:
            return place
        loads[best] += weights[row]
        owners[row] = best
    return len(order)


@compiled
def give_back(rows: Rows, capacity: int, loads: Int64Vector, owners: Int32Vector) -> None:
    """Local search: return moved rows to their consumers, alone or in exchange for another row of that consumer.

    The other row goes to its previous consumer, or to the fullest one with room. Every change moves less.

    Parameters
    ----------
    loads, owners : changed.
    """
    improves = True
    while improves:
        improves = False
        for row in range(len(owners)):
            target = rows.previous[row]
            if target < 0 or owners[row] == target or rows.costs[row] == 0:
                continue
            loads[owners[row]] -= rows.weights[row]
            is_better, other, to = _exchange(rows, capacity, loads, owners, row)
            if not is_better:
                loads[owners[row]] += rows.weights[row]
                continue
            loads[target] += rows.weights[row]
            owners[row] = target
            if other >= 0:
                loads[target] -= rows.weights[other]
                loads[to] += rows.weights[other]
                owners[other] = to
            improves = True


@subroutine
def _exchange(rows: Rows, capacity: int, loads: Int64Vector, owners: Int32Vector, row: int) -> tuple[bool, int, int]:
    """Whether a row that is on no consumer can return and less moves; which row leaves for it, or −1; and to where."""
    target, weight = rows.previous[row], rows.weights[row]
    if loads[target] + weight <= capacity:
        return True, -1, -1
    best_gain, best_other, best_to = 0, -1, -1
    for other in range(len(owners)):
        if owners[other] != target or loads[target] - rows.weights[other] + weight > capacity:
            continue
        room, home = capacity - rows.weights[other], rows.previous[other]
        gain, to = rows.costs[row], home
        if home < 0 or home == target or loads[home] > room:
            to = _fullest(loads, room, target)
            gain -= rows.costs[other] if home == target else 0
        else:
            gain += rows.costs[other]
        if to >= 0 and gain > best_gain:
            best_gain, best_other, best_to = gain, other, to
    return best_gain > 0, best_other, best_to


@subroutine
def _fullest(loads: Int64Vector, most: int, without: int) -> int:
    """The consumer with the largest load that is at most `most`, the first of equals, or −1; not `without`."""
    best = -1
    for consumer in range(len(loads)):
        if loads[consumer] <= most and consumer != without and (best < 0 or loads[consumer] > loads[best]):
            best = consumer
    return best
