"""Excess passed on at the least cost, by prices: the loops of `Shares.settle`. Arrays are as in `shares_kernel`.

Source: the primal-dual method of Ford and Fulkerson, its distances by Dijkstra.
"""

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s
from app.core.reassignment.leaders.shares_kernel import saturate

_FAR = np.iinfo(np.int32).max
_UNREACHED = np.iinfo(np.int64).max


@njit(cache=True, nogil=True)
def settle(
    table: Int32s, costs: Int32s, amounts: Int64s, prices: Int64s, excess: Int64s, up: Int64s, down: Int64s
) -> None:
    """Pass on all excess at the least cost, from amounts and prices that are optimal but for the excess.

    Each round finds the distances from all that have to give, which become prices, and then passes on as much as free
    arcs take. It ends without excess, or where no path is left.
    """
    group = np.zeros(len(up), np.int64)
    while _reprice(table, costs, amounts, prices, excess, up, down):
        saturate(table, costs, amounts, group, prices, excess, up, down)


@njit(cache=True, nogil=True)
def _reprice(
    table: Int32s, costs: Int32s, amounts: Int64s, prices: Int64s, excess: Int64s, up: Int64s, down: Int64s
) -> bool:
    """Raise the prices by the distances from all that have to give; whether somebody who has to take is reached.

    Dijkstra's method on the dense matrix of reduced costs. Who is not reached is taken to be as far as the farthest.
    """
    brokers, width = len(up), table.shape[1]
    nearest = np.full((brokers, brokers), _FAR, np.int32)
    for row in range(len(table)):
        for at in range(width):
            if amounts[row, at] > 0:
                for other in range(width):
                    if costs[row, other] >= 0:
                        step = costs[row, other] - costs[row, at]
                        a, b = table[row, at], table[row, other]
                        nearest[a, b] = min(nearest[a, b], step)
    distance = np.full(brokers + 1, _UNREACHED, np.int64)
    is_done = np.zeros(brokers + 1, np.bool_)
    for node in range(brokers + 1):
        if excess[node] > 0:
            distance[node] = 0
    is_reached, farthest = False, 0
    while True:
        node, least = -1, _UNREACHED
        for other in range(brokers + 1):
            if not is_done[other] and distance[other] < least:
                node, least = other, distance[other]
        if node < 0:
            break
        is_done[node] = True
        is_reached |= excess[node] < 0
        farthest = least
        for broker in range(brokers):
            if is_done[broker]:
                continue
            step = (0 if down[broker] > 0 else _FAR) if node == brokers else nearest[node, broker]
            if step != _FAR:
                distance[broker] = min(distance[broker], least + step + prices[node] - prices[broker])
        if node != brokers and up[node] > 0:
            distance[brokers] = min(distance[brokers], least + prices[node] - prices[brokers])
    for node in range(brokers + 1):
        prices[node] += min(distance[node], farthest)
    return is_reached
