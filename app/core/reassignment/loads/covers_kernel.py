"""The cheapest replicas that make up a surplus: a knapsack to be covered.

Greedy by cost for its load, the heaviest of equal ones first, as far as nothing is given too much; before each step,
the cheapest single replica that would make up the rest is tried, and the best of these ends wins.

Source: the rule is Gens and Levner's (1979), which is at most twice as dear as the best.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int64s


@njit(cache=True, nogil=True)
def cheapest_cover(loads: Int64s, costs: Int64s, surplus: int) -> NDArray[np.bool_]:
    """Which of them to give so that at least the surplus goes; all of them where they do not come to it.

    Parameters
    ----------
    loads, costs : (replicas,) int64, > 0 and >= 0, by ascending cost for the load, then by descending load.
    """
    chosen = np.zeros(len(loads), np.bool_)
    heaviest = 0
    for load in loads:
        heaviest = max(heaviest, load)
    rest, spent = surplus, 0
    best, best_last, best_first = -1, -1, 0
    for item in range(len(loads) + 1):
        is_item = item < len(loads)
        if is_item and loads[item] > rest:
            continue
        if heaviest >= rest:
            last = _cheapest_end(loads, costs, chosen, rest)
            if last >= 0 and (best < 0 or spent + costs[last] < best):
                best, best_last, best_first = spent + int(costs[last]), last, item
        if not is_item:
            break
        chosen[item] = True
        rest -= int(loads[item])
        spent += int(costs[item])
        if rest == 0:
            if best < 0 or spent <= best:
                return chosen
            break
    if best >= 0:
        chosen[best_first:] = False
        chosen[best_last] = True
    return chosen


@njit(cache=True, nogil=True)
def _cheapest_end(loads: Int64s, costs: Int64s, chosen: NDArray[np.bool_], rest: int) -> int:
    """The cheapest of the others that comes to the rest alone, the lightest of equal ones; -1 where none does."""
    best = -1
    for item in range(len(loads)):
        if chosen[item] or loads[item] < rest:
            continue
        if best < 0 or costs[item] < costs[best] or (costs[item] == costs[best] and loads[item] < loads[best]):
            best = item
    return best
