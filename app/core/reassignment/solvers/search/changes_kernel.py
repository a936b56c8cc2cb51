"""The change of a broker that lowers the penalty most for its cost: a move, or a transfer of a leader."""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import FloatVector, Int64Vector
from app.core.compiled.loops import subroutine
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.moves_kernel import stays_free
from app.core.reassignment.solvers.search.receivers_kernel import senders_for
from app.core.reassignment.solvers.search.state_kernel import (
    NOWHERE,
    SearchState,
    leader_cost,
    may_place,
    may_transfer,
    move_cost,
    penalty_if,
    rise_if_led,
    rise_if_placed,
    sampled,
    slots_on,
    topic_change,
)

FILLS = 400
"""Of a broker's replicas, how many are samples when a broker is filled."""
CHANGE_COST = 1e-3
"""Of a leader change, in units of the mean cost of a move; a change that costs nothing counts a tenth of that."""
NO_CHANGE = 0
MOVE = 1
TRANSFER = 2


@subroutine
def best_from(
    rules: LoadRules,
    state: SearchState,
    broker: int,
    receivers: Int64Vector,
    least: float,
    change: Int64Vector,
    best: FloatVector,
) -> None:
    """Moves of the broker's replicas, and transfers of its leaders."""
    width = state.at.shape[1]
    for slot in slots_on(state, broker):
        row = slot // width
        if slot % width == 0:
            for column in range(1, width):
                if may_transfer(state, row, column):
                    value = worth_if_led(rules, state, row, column, least)
                    _consider(value, TRANSFER, row * width + column, broker, change, best)
        if _is_worth(rules, state, slot, least, best[0]):
            for to in receivers:
                _try_move(rules, state, slot, to, least, change, best)
        for column in range(rules.current.shape[1]):
            current_broker = rules.current[row, column]
            if current_broker >= 0 and rules.stays_free[row, column] and current_broker != broker:
                _try_move(rules, state, slot, current_broker, least, change, best)


@subroutine
def _is_worth(rules: LoadRules, state: SearchState, slot: int, least: float, best: float) -> bool:
    """Whether a move of the replica to a broker without violations would be the best change so far."""
    if len(state.of_reads):
        return True
    width = state.at.shape[1]
    row = slot // width
    decrease = -rise_if_gone(rules, state, slot)
    if decrease <= least and len(state.topic_of) == 0:
        return False
    cost = state.per_cost * rules.cost[row] if stays_free(rules, row, state.at[row, slot % width]) else 0.0
    return bool(len(state.topic_of) or decrease > best * (cost + 0.1 * CHANGE_COST))


@subroutine
def _try_move(
    rules: LoadRules, state: SearchState, slot: int, to: int, least: float, change: Int64Vector, best: FloatVector
) -> None:
    width = state.at.shape[1]
    if to == state.at[slot // width, slot % width]:
        return
    cost = cost_of_move(rules, state, slot, to)
    rise = rise_if_placed(rules, state, slot, to)
    is_better = -rise > least and (cost <= 0 or -rise > best[0] * (cost + 0.1 * CHANGE_COST))
    if is_better and may_place(rules, state, slot, to):
        _consider(worth(rise, cost, least), MOVE, slot, to, change, best)


@subroutine
def best_to(
    rules: LoadRules, state: SearchState, broker: int, least: float, change: Int64Vector, best: FloatVector
) -> None:
    """If the broker is below a floor: moves of other brokers' replicas to it, and of leaders among its replicas."""
    width = state.at.shape[1]
    worst = lacking_resource(state, broker)
    if worst < 0 and len(state.topic_of) == 0:
        return
    for slot in slots_on(state, broker):
        row, column = slot // width, slot % width
        if column and may_transfer(state, row, column):
            value = worth_if_led(rules, state, row, column, least)
            _consider(value, TRANSFER, slot, broker, change, best)
    for sender in senders_for(rules, state, broker, worst):
        for slot in slots_on(state, sender):
            _try_move(rules, state, slot, broker, least, change, best)


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
def _consider(value: float, kind: int, slot: int, to: int, change: Int64Vector, best: FloatVector) -> None:
    """Keep a change if it is worth most."""
    if value > best[0]:
        best[0] = value
        change[0], change[1], change[2] = kind, slot, to


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
