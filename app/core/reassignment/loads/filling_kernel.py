"""Brokers below a floor take replicas from those that can spare them; the placement stays legal all along."""

import numpy as np
from numba import njit

from app.core.model import Int64s
from app.core.reassignment.loads.held_kernel import Held, may_go, move, stays_free
from app.core.reassignment.loads.rules import Rules

SMALL_REST = 1000
"""Once a broker misses less of its floor than one part in so many, one replica makes it up and costs little."""


@njit(cache=True, nogil=True)
def fill(rules: Rules, held: Held, takers: Int64s, slots: Int64s, floor: int, ceiling: int) -> None:
    """Let each taker in turn take what costs least.

    It takes replicas in their order as long as they do not pass the floor, then the cheapest that reaches it.

    Parameters
    ----------
    slots : what may move and has a load, by ascending cost for the load, then by descending load.
    """
    width = held.at.shape[1]
    # Most replicas are passed over, so that what decides that stands together.
    loads, holders = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
    for at in range(len(slots)):
        row = slots[at] // width
        loads[at], holders[at] = rules.load[row], held.at[row, slots[at] % width]
    carried, target = held.loads, rules.target
    for broker in takers:
        for at in range(len(slots)):
            missing = floor - carried[broker]
            if missing < max(1, floor // SMALL_REST):
                break
            load, holder = loads[at], holders[at]
            if load > missing or holder == broker or (target[holder] and carried[holder] - load < floor):
                continue
            if may_go(rules, held, slots[at], broker):
                move(rules, held, slots[at], broker)
                holders[at] = broker
        missing = floor - carried[broker]
        best, cheapest = -1, np.int64(0)
        for at in range(len(slots) if missing > 0 else 0):
            load, holder = loads[at], holders[at]
            if load < missing or load > missing + ceiling - floor or holder == broker:
                continue
            if target[holder] and carried[holder] - load < floor:
                continue
            row = slots[at] // width
            cost = rules.cost[row] if stays_free(rules, row, holder) else np.int64(0)
            if (best < 0 or cost < cheapest) and may_go(rules, held, slots[at], broker):
                best, cheapest = at, cost
        if best >= 0:
            move(rules, held, slots[best], broker)
            holders[best] = broker
