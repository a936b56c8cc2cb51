"""Leaders within bounds at the least cost: the compiled loops of `paths`.

A partition is led by one broker. What broker a leads passes to broker b along an arc a → b, at the least difference of
costs of any partition there; a slack node takes from brokers below their maximum, and gives to those above their
minimum. Excess passes along shortest paths, and distances become prices. If an arc becomes longer since its row has
passed on, that may be found later: prices for shorter arcs hold for longer ones.

Source: Tomizawa (1971), and Edmonds and Karp (1972), for shortest augmenting paths with prices.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolMatrix, Int32Matrix, Int32Vector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, inlined, subroutine

FAR = 1 << 61
"""The length of an arc that is not there."""
LONGEST = 1 << 59
"""Distances and prices up to this one are exact."""


class Leading(NamedTuple):
    """Partitions with their leaders, which the loops change in place. Nodes are the brokers, then the slack node.

    Parameters
    ----------
    table : (rows, width) int32 brokers. costs : (rows, width) int64 of these as leaders, negative if one may not lead.
    other : (rows,) int64, the cost of a receiver, no less than those. set_of : (rows,) int64 index of the receivers in
        `receivers`, (sets, brokers) bool.
    leader : (rows,) int32, a cheapest one at the prices; -1 is left as it is.
    after : (rows + brokers,) int32 lists of rows by leader: the row after each, and the first of each broker; -1 ends.
    step : (nodes, nodes) int64 lengths of arcs.
    least : (sets,) int64 `FAR`.
    prices, excess : (nodes,) int64. up, down : (brokers,) int64 how many leaders more and fewer are within bounds.
    """

    table: Int32Matrix
    costs: Int64Matrix
    other: Int64Vector
    set_of: Int64Vector
    receivers: BoolMatrix
    leader: Int32Vector
    after: Int32Vector
    step: Int64Matrix
    least: Int64Vector
    prices: Int64Vector
    excess: Int64Vector
    up: Int64Vector
    down: Int64Vector


@compiled
def settle(led: Leading) -> bool:
    """Pass on all excess at the least cost; False if no path is left, or distances are too long."""
    nodes = len(led.excess)
    for row in range(len(led.leader) - 1, -1, -1):
        if led.leader[row] >= 0:
            _put(led.after, len(led.leader) + led.leader[row], row)
    for broker in range(nodes - 1):
        _measure(led, broker)
    distance, order = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    path, carried = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    while (led.excess > 0).any():
        end = _nearest(led, distance, order)
        if end < 0:
            return False
        farthest = distance[end]
        for node in range(nodes):
            led.prices[node] -= min(distance[node], farthest)
        if led.prices.min() < -LONGEST:
            return False
        for end in range(nodes):
            while led.excess[end] < 0 and distance[end] == farthest:
                length = _path(led, order, end, path)
                if not length:
                    break
                _pass_on(led, path, length, carried)
    return True


@inlined
def _put(after: Int32Vector, place: int, row: int) -> None:
    """Put a row into a list after a place."""
    after[row], after[place] = after[place], row


@subroutine
def _measure(led: Leading, broker: int) -> None:
    """The lengths of all arcs from a broker."""
    led.step[broker] = FAR
    rows = len(led.leader)
    row = led.after[rows + broker]
    while row >= 0:
        _shorten(led, broker, row)
        row = led.after[row]
    row = led.after[rows + broker]
    while row >= 0:
        led.least[led.set_of[row]] = FAR
        row = led.after[row]
    _open_slack(led, broker)


@subroutine
def _shorten(led: Leading, broker: int, row: int) -> None:
    """Make the arcs from a broker as short as one of its rows allows."""
    step, cost = led.step[broker], _cost(led, row, broker)
    for at in range(led.table.shape[1]):
        if led.costs[row, at] >= 0:
            step[led.table[row, at]] = min(step[led.table[row, at]], led.costs[row, at] - cost)
    length, receivers = led.other[row] - cost, led.set_of[row]
    if length < led.least[receivers]:
        led.least[receivers] = length
        for to in range(len(led.up)):
            if led.receivers[receivers, to]:
                step[to] = min(step[to], length)
    step[broker] = FAR


@subroutine
def _open_slack(led: Leading, broker: int) -> None:
    """The arcs between a broker and the slack node."""
    slack = len(led.up)
    led.step[broker, slack] = 0 if led.up[broker] > 0 else FAR
    led.step[slack, broker] = 0 if led.down[broker] > 0 else FAR


@subroutine
def _cost(led: Leading, row: int, broker: int) -> int:
    """The cost of a broker as leader of a row, `FAR` if it may not lead it."""
    for at in range(led.table.shape[1]):
        if led.table[row, at] == broker and led.costs[row, at] >= 0:
            return int(led.costs[row, at])
    return int(led.other[row]) if led.receivers[led.set_of[row], broker] else FAR


@subroutine
def _nearest(led: Leading, distance: Int64Vector, order: Int64Vector) -> int:
    """The node that has to take which is nearest to those with excess, by reduced costs; -1 if none is reached.

    Fills the distances of nodes, and the order in which they are final: 0 for those with excess.
    """
    nodes, final = len(distance), 0
    for node in range(nodes):
        is_source = led.excess[node] > 0
        order[node], distance[node] = (0, 0) if is_source else (nodes, FAR)
    for node in range(nodes):
        if order[node] == 0:
            _relax(led.step[node], led.prices, distance, -led.prices[node])
    end = int(np.int64(-1))  # typed, since a literal compiles a second version
    while True:
        nearest, least = -1, LONGEST if end < 0 else distance[end] + 1
        for node in range(nodes):
            if order[node] == nodes and distance[node] < least:
                nearest, least = node, distance[node]
        if nearest < 0:
            return end
        final += 1
        order[nearest] = final
        if led.excess[nearest] < 0 and end < 0:
            end = nearest
        _relax(led.step[nearest], led.prices, distance, least - led.prices[nearest])


@subroutine
def _relax(step: Int64Vector, prices: Int64Vector, distance: Int64Vector, begin: int) -> None:
    for node in range(len(step)):
        distance[node] = min(distance[node], begin + step[node] + prices[node])


@subroutine
def _path(led: Leading, order: Int64Vector, end: int, path: Int64Vector) -> int:
    """Fill a path to a node from one with excess, backwards, along arcs of reduced cost 0.

    Returns the number of its arcs; 0 if there is no path.
    """
    path[0], length, node = end, 0, end
    while led.excess[node] <= 0:
        previous = -1
        for other in range(len(order)):
            is_free = order[other] < order[node] and led.step[other, node] + led.prices[node] == led.prices[other]
            if is_free:
                previous = other
                if led.excess[other] > 0:
                    break
        if previous >= 0:
            length += 1
            path[length] = node = previous
        elif length:
            order[node], length = len(order), length - 1
            node = path[length]
        else:
            return 0
    return length


@subroutine
def _pass_on(led: Leading, path: Int64Vector, length: int, carried: Int64Vector) -> None:
    """Pass along one path what all of it can carry; if that is nothing, measure the arcs that were shorter before."""
    end, slack = path[0], len(led.up)
    amount = min(led.excess[path[length]], -led.excess[end])
    for place in range(length, 0, -1):
        carried[place] = _pass(led, path[place], path[place - 1], amount + 1, False)
        amount = min(amount, carried[place])
    if amount > 0:
        for place in range(length, 0, -1):
            _pass(led, path[place], path[place - 1], amount, True)
        led.excess[path[length]] -= amount
        led.excess[end] += amount
    # Arcs of other rows may be longer now; that is found when one of them carries nothing.
    for place in range(1, length + 1):
        if slack not in {path[place], path[place - 1]} and carried[place] <= amount:
            _measure(led, path[place])


@subroutine
def _pass(led: Leading, giver: int, taker: int, amount: int, is_done: bool) -> int:
    """How much of an amount one arc can carry; it is passed if `is_done`."""
    slack = len(led.up)
    if slack in {giver, taker}:
        more, fewer, broker = (led.down, led.up, taker) if giver == slack else (led.up, led.down, giver)
        amount = min(amount, more[broker])
        if is_done:
            more[broker] -= amount
            fewer[broker] += amount
            _open_slack(led, broker)
        return amount
    passed, place = 0, len(led.leader) + giver
    while passed < amount and led.after[place] >= 0:
        row = led.after[place]
        if _cost(led, row, taker) - _cost(led, row, giver) != led.step[giver, taker]:
            place = row
            continue
        passed += 1
        if is_done:
            led.after[place] = led.after[row]
            led.leader[row] = taker
            _put(led.after, len(led.leader) + taker, row)
            _shorten(led, taker, row)
            led.least[led.set_of[row]] = FAR
        else:
            place = row
    return passed
