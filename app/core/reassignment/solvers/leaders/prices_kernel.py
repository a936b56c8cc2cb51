"""Dual prices of what brokers lead, ascended: the compiled loops of `prices`."""

import numpy as np

from app.core.compiled.arrays import BoolVector, FloatVector, Int32Matrix
from app.core.compiled.loops import compiled, subroutine
from app.core.model import Float64s

LONGEST, SHORTEST = 3.0, 3e-3
"""First and last length of a step, as the price of a load of 1 in mean numbers of partitions of a broker."""
STEADY, STEADY_SQUARES = 0.7, 0.95
"""How much of earlier slopes, and of their squares, counts in a step."""
ROUNDING = 2.0**-52
"""Bounds are lowered by this share of all that is added, in absolute values, for each addition."""


@compiled
def ascend(
    table: Int32Matrix, changes: Int32Matrix, weight: FloatVector, room: FloatVector, target: BoolVector, steps: int
) -> tuple[float, Float64s]:
    """The largest lower bound on the changes on the way from prices of 0, and the (brokers,) float64 prices there.

    It ends before the last step if the loads of the cheapest leaders are within all maxima, and at those with a price.

    Parameters
    ----------
    table : (rows, width) int32 brokers. changes : (rows, width) int32: 1 or 0, negative if that replica may not lead;
        each row has one that may.
    weight : (rows,) float64. room : (brokers,) float64 that each target broker leads at most.
    """
    rows, brokers = len(table), len(room)
    prices, first, second = np.zeros(brokers), np.zeros(brokers), np.zeros(brokers)
    best, best_prices = -np.inf, prices.copy()
    rounding, loads_at_most = ROUNDING * (rows + brokers + 8), weight.sum() + np.abs(room).sum()
    for step in range(steps):
        cost, loads = _cheapest_leaders(table, changes, weight, prices)
        bound = cost - (prices * room).sum() - rounding * (rows + prices.max() * loads_at_most)
        if bound > best:
            best = bound
            best_prices[:] = prices
        slope = np.where(target & ((loads > room) | (prices > 0)), loads - room, 0.0)
        if not slope.any():
            break
        first = STEADY * first + (1 - STEADY) * slope
        second = STEADY_SQUARES * second + (1 - STEADY_SQUARES) * slope * slope
        deviation = np.sqrt(second / (1 - STEADY_SQUARES ** (step + 1))) + 1e-3
        length = rows / brokers * LONGEST * (SHORTEST / LONGEST) ** (step / steps)
        prices = np.maximum(0.0, prices + length * first / (1 - STEADY ** (step + 1)) / deviation)
    return best, best_prices


@subroutine
def _cheapest_leaders(
    table: Int32Matrix, changes: Int32Matrix, weight: FloatVector, prices: FloatVector
) -> tuple[float, Float64s]:
    """The costs of all partitions led by their cheapest candidate, added, and the (brokers,) float64 loads of these."""
    total, loads = 0.0, np.zeros(len(prices))
    for row in range(len(table)):
        least, leader = np.inf, -1
        for at in range(table.shape[1]):
            broker = table[row, at]
            cost = changes[row, at] + prices[broker] * weight[row]
            if changes[row, at] >= 0 and cost < least:
                least, leader = cost, broker
        total += least
        loads[leader] += weight[row]
    return total, loads
