"""The cheapest legal set of brokers for one partition.

Sets with between `least` and `most` members of each rack, `factor` in all, are the bases of a laminar matroid: the
cheapest of every rack up to its least, then the cheapest of what is left wherever its rack is not full, is optimal.
"""

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s

ALLOWED_NONE = -1


@njit(cache=True, nogil=True)
def take_cheapest(
    brokers: Int32s,
    costs: Int64s,
    candidates: int,
    rack_of: Int32s,
    least: Int64s,
    most: Int64s,
    factor: int,
    must_keep: int,
    taken: Int64s,
    per_rack: Int64s,
) -> bool:
    """Write the indices of the candidates taken to `taken[:factor]`; whether there is a legal set at all.

    Of equally cheap ones the first candidate is taken. `must_keep` is taken whatever it costs.

    Parameters
    ----------
    brokers, costs : the candidates, distinct brokers; only the first `candidates` count.
    taken : room for `factor` indices. per_rack : (racks,) room for the counts of each rack.
    """
    per_rack[:] = 0
    free = np.ones(candidates, np.bool_)
    count = 0
    for i in range(candidates):
        if brokers[i] == must_keep:
            taken[0] = i
            free[i] = False
            per_rack[rack_of[must_keep]] += 1
            count = 1
            break
    for rack in range(len(least)):
        while per_rack[rack] < least[rack]:
            best = ALLOWED_NONE
            for i in range(candidates):
                if free[i] and rack_of[brokers[i]] == rack and (best < 0 or costs[i] < costs[best]):
                    best = i
            if best < 0 or count == factor:
                return False
            free[best] = False
            taken[count] = best
            per_rack[rack] += 1
            count += 1
    while count < factor:
        best = ALLOWED_NONE
        for i in range(candidates):
            rack = rack_of[brokers[i]]
            if free[i] and per_rack[rack] < most[rack] and (best < 0 or costs[i] < costs[best]):
                best = i
        if best < 0:
            return False
        free[best] = False
        taken[count] = best
        per_rack[rack_of[brokers[best]]] += 1
        count += 1
    return True
