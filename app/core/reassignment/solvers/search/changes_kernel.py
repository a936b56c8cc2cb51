"""The worth of moves of replicas and transfers of leaders: the decrease of the penalty for their cost."""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.loops import subroutine
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.receivers_kernel import senders_for
from app.core.reassignment.solvers.search.state_kernel import (
    NOWHERE,
    SearchState,
    leader_cost,
    move_cost,
    penalty_if,
    rise_if_led,
    sampled,
    slots_on,
    topic_change,
)

FILLS = 400
"""Of a broker's replicas, how many are samples when a broker is filled."""
CHANGE_COST = 1e-3
"""Of a leader change, in units of the mean cost of a move; a change that costs nothing counts a tenth of that."""


@subroutine
def lacking_resource(state: SearchState, broker: int) -> int:
    """The resource of which a broker is farthest below its floor; -1 if there is none."""
    worst, deficit = NOWHERE, 0.0
    for resource in range(state.loads.shape[1]):
        lacks = (state.floor[broker, resource] - state.loads[broker, resource]) * state.unit[broker, resource]
        if lacks > deficit:
            worst, deficit = resource, lacks
    return worst


@subroutine
def slots_to_fill(rules: LoadRules, state: SearchState, broker: int, lacking: int) -> NDArray[np.int64]:
    """Samples of the slots of a broker that is below a floor, and of those of the sending brokers."""
    senders = senders_for(rules, state, broker, lacking)
    slots = np.empty((len(senders) + 1) * 2 * FILLS, np.int64)
    count = 0
    for i in range(len(senders) + 1):
        some = sampled_slots(state, broker if i == 0 else senders[i - 1], FILLS)
        for slot in some:
            slots[count] = slot
            count += 1
    return slots[:count]


@subroutine
def sampled_slots(state: SearchState, broker: int, enough: int) -> NDArray[np.int64]:
    """Some of a broker's slots: all, or at least as many as are enough and fewer than twice as many."""
    slots = slots_on(state, broker)
    stride = max(1, len(slots) // enough)
    skip = sampled(state, stride) if stride > 1 else 0
    return slots[skip::stride].copy()


@subroutine
def worth(rise: float, cost: float, least: float) -> float:
    """The decrease of the penalty for the cost; 0 if it is too small."""
    if -rise <= least:
        return 0.0
    if cost >= 0:
        return -rise / (cost + 0.1 * CHANGE_COST)
    return -rise / (0.1 * CHANGE_COST) * (1.0 - cost)


@subroutine
def worth_if_led(rules: LoadRules, state: SearchState, row: int, column: int, least: float) -> float:
    """What it is worth that the replica in the column leads."""
    cost = CHANGE_COST * leader_cost(state, row, state.at[row, 0], state.at[row, column])
    return worth(rise_if_led(rules, state, row, column), cost, least)


@subroutine
def cost_of_move(rules: LoadRules, state: SearchState, slot: int, to: int) -> float:
    """What it costs that a replica goes to another broker, in units of the mean cost of a move."""
    width = state.at.shape[1]
    row, broker = slot // width, state.at[slot // width, slot % width]
    cost = state.per_cost * move_cost(rules, row, broker, to)
    if slot % width == 0:
        cost += CHANGE_COST * leader_cost(state, row, broker, to)
    return float(cost)


@subroutine
def rise_if_gone(rules: LoadRules, state: SearchState, slot: int) -> float:
    """How much the penalty of a replica's broker rises without it, consumers of followers apart."""
    width = state.at.shape[1]
    row, leads = slot // width, int(slot % width == 0)
    broker = state.at[row, slot % width]
    rise = penalty_if(state, broker, row, -leads, leads - 1) - state.penalty[broker]
    return float(rise + topic_change(rules, state, row, broker, -1))
