"""Swaps of a broker's replicas with those of others, where no single change lowers the penalty."""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import FloatVector, Int64Matrix, Int64Vector
from app.core.compiled.loops import subroutine
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.changes_kernel import CHANGE_COST, cost_of_move, sampled_slots, worth
from app.core.reassignment.solvers.search.receivers_kernel import RECEIVERS
from app.core.reassignment.solvers.search.state_kernel import (
    SearchState,
    may_place,
    penalty_if_swapped,
    place,
    sampled,
    topic_change,
    violation,
)

SAMPLES = 40
SWAP_WORTH = 0.5
"""A swap is made if it is worth this part of its estimate, after the swaps before it."""
POOR = 0.2
"""Swaps with a receiver that are worth less than this part of the best swap with another one are left out."""


@subroutine
def make_swaps(rules: LoadRules, state: SearchState, broker: int, receivers: Int64Vector, least: float) -> int:
    """Swap samples of a broker's replicas with samples of others', the largest decreases for their cost first, until
    half of its penalty is left. Returns the number of swaps: 0 if consumers fetch from followers.

    With each receiver there is one swap, the best of the samples. The penalties of topics are left to the caller.
    """
    if len(state.of_reads):
        return 0
    ours = sampled_slots(state, broker, SAMPLES)
    our_loads = _loads(state, ours)
    count = min(len(receivers), 2 * RECEIVERS)
    swaps, values = np.zeros((count, 2), np.int64), np.zeros(count)
    best = np.zeros(1)
    for i in range(count):
        other = receivers[i] if len(receivers) <= 2 * RECEIVERS else receivers[sampled(state, len(receivers))]
        if other == broker:
            continue
        best[0] *= POOR
        if _try_swaps(rules, state, broker, other, ours, our_loads, least, best, swaps[i]):
            values[i] = best[0]
        best[0] = max(values.max(), best[0])
    enough = 0.5 * (state.penalty[broker] + state.of_topics[broker])
    made = 0
    for i in np.argsort(-values):
        if values[i] <= 0 or (made > 0 and state.penalty[broker] + state.of_topics[broker] <= enough):
            break
        made += _swap(rules, state, broker, swaps[i], least, values[i])
    return made


@subroutine
def _swap(rules: LoadRules, state: SearchState, broker: int, swap: Int64Vector, least: float, estimate: float) -> int:
    """Make a swap if it is still legal and worth `SWAP_WORTH` of its estimate. Returns the number of swaps: 0 or 1."""
    width = state.at.shape[1]
    mine, theirs = swap[0], swap[1]
    other = state.at[theirs // width, theirs % width]
    if state.at[mine // width, mine % width] != broker or other == broker:
        return 0
    if not may_place(rules, state, mine, other) or not may_place(rules, state, theirs, broker):
        return 0
    cost = cost_of_move(rules, state, mine, other)
    cost += cost_of_move(rules, state, theirs, broker)
    if worth(_rise(rules, state, mine, theirs), cost, least) < SWAP_WORTH * estimate:
        return 0
    place(rules, state, theirs, broker)
    place(rules, state, mine, other)
    return 1


@subroutine
def _loads(state: SearchState, slots: Int64Vector) -> NDArray[np.int64]:
    """(slots, resources) int64."""
    width, columns = state.at.shape[1], state.loads.shape[1]
    loads = np.empty((len(slots), columns), np.int64)
    for i in range(len(slots)):
        row, leads = slots[i] // width, slots[i] % width == 0
        for column in range(columns):
            loads[i, column] = state.of_leader[row, column] if leads else state.of_follower[row, column]
    return loads


@subroutine
def _try_swaps(
    rules: LoadRules,
    state: SearchState,
    broker: int,
    other: int,
    ours: Int64Vector,
    our_loads: Int64Matrix,
    least: float,
    best: FloatVector,
    swap: Int64Vector,
) -> bool:
    """Write the slots of the best swap of some slots with samples of another broker's to `swap`, and what it is worth
    to `best`, if that is more; whether it is.

    A pair is left out as soon as what it has added to the penalties leaves too little of their decrease.
    """
    width, columns = state.at.shape[1], state.loads.shape[1]
    has_topics = len(state.topic_of) > 0
    theirs = sampled_slots(state, other, SAMPLES)
    their_loads, costs = _loads(state, theirs), np.empty(len(theirs))
    for i in range(len(theirs)):
        costs[i] = cost_of_move(rules, state, theirs[i], broker)
    before = state.penalty[broker] + state.penalty[other]
    is_better = False
    for i in range(len(ours)):
        mine = ours[i]
        my_cost = cost_of_move(rules, state, mine, other)
        if not may_place(rules, state, mine, other):
            continue
        for j in range(len(theirs)):
            cost = my_cost + costs[j]
            needed = best[0] * 0.1 * CHANGE_COST
            needed = needed / (1.0 - cost) if cost < 0 else best[0] * cost + needed
            allowed = before - max(least, needed)
            after = 0.0
            if has_topics:
                after += _topic_rise(rules, state, mine, theirs[j])
            for column in range(columns):
                if after >= allowed:
                    break
                more = their_loads[j, column] - our_loads[i, column]
                for side in range(2):
                    at = broker if side == 0 else other
                    load = state.loads[at, column] + (more if side == 0 else -more)
                    after += violation(state, at, column, load)
            if after >= allowed or theirs[j] // width == mine // width:
                continue
            value = worth(after - before, cost, least)
            if value > best[0] and may_place(rules, state, theirs[j], broker):
                best[0] = value
                swap[0], swap[1] = mine, theirs[j]
                is_better = True
    return is_better


@subroutine
def _topic_rise(rules: LoadRules, state: SearchState, mine: int, theirs: int) -> float:
    """How much the penalty of topics rises if two slots swap their brokers."""
    width = state.at.shape[1]
    row, their_row = mine // width, theirs // width
    if state.topic_of[row] == state.topic_of[their_row]:
        return 0.0
    broker, other = state.at[row, mine % width], state.at[their_row, theirs % width]
    rise = topic_change(rules, state, row, broker, -1)
    rise += topic_change(rules, state, row, other, 1)
    rise += topic_change(rules, state, their_row, other, -1)
    rise += topic_change(rules, state, their_row, broker, 1)
    return float(rise)


@subroutine
def _rise(rules: LoadRules, state: SearchState, mine: int, theirs: int) -> float:
    """How much the penalty rises if two slots swap their brokers."""
    width = state.at.shape[1]
    row, their_row = mine // width, theirs // width
    broker, other = state.at[row, mine % width], state.at[their_row, theirs % width]
    leads, they_lead = int(mine % width == 0), int(theirs % width == 0)
    rise = penalty_if_swapped(state, broker, row, leads, their_row, they_lead) - state.penalty[broker]
    rise += penalty_if_swapped(state, other, their_row, they_lead, row, leads) - state.penalty[other]
    if len(state.topic_of):
        rise += _topic_rise(rules, state, mine, theirs)
    return float(rise)
