"""Undo moves, and changes of leaders, that the penalty does not need."""

from app.core.compiled.arrays import Int32Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.legal_sets_kernel import contains
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.state_kernel import (
    NOWHERE,
    SearchState,
    leader_cost,
    may_place,
    may_transfer,
    move_cost,
    place,
    rise_if_led,
    rise_if_placed,
    transfer,
)

LOOKS = 50
"""Replicas of a broker that are tried as partners of one that returns."""


@compiled
def undo(rules: LoadRules, state: SearchState, rows: Int32Vector) -> int:
    """Undo moves, and changes of leaders, that the penalty does not need; how many.

    A replica returns to a current broker of its partition alone, or while another replica that is not in its place
    leaves that broker for the one that it returns from, or for a receiver, if less is moved then. A replica
    that is not ready to lead is exchanged for one that is removed and ready.

    Parameters
    ----------
    rows : in the order in which they are tried.
    """
    width = state.at.shape[1]
    undone = 0
    for row in rows:
        for column in range(width):
            slot = row * width + column
            if state.at[row, column] >= 0 and _return_slot(rules, state, slot):
                undone += 1
        undone += _keep_in_sync(rules, state, row)
        for column in range(1, width):
            broker = state.at[row, column]
            if broker < 0 or leader_cost(state, row, state.at[row, 0], broker) >= 0:
                continue
            may_lead = may_transfer(state, row, column)
            if may_lead and rise_if_led(rules, state, row, column) <= 1e-15:
                transfer(rules, state, row, column)
                undone += 1
    return undone


@subroutine
def _return_slot(rules: LoadRules, state: SearchState, slot: int) -> bool:
    """Return a replica to a current broker if that moves less: alone, or in exchange."""
    width = state.at.shape[1]
    row = slot // width
    broker = state.at[row, slot % width]
    for column in range(rules.current.shape[1]):
        current_broker = rules.current[row, column]
        if current_broker < 0 or not rules.stays_free[row, column]:
            continue
        if move_cost(rules, row, broker, current_broker) >= 0:
            continue
        if not may_place(rules, state, slot, current_broker):
            continue
        if rise_if_placed(rules, state, slot, current_broker) <= 1e-15:
            place(rules, state, slot, current_broker)
            return True
        if _return_in_exchange(rules, state, slot, current_broker):
            return True
    return False


@subroutine
def _in_sync_rank(rules: LoadRules, state: SearchState, row: int, broker: int) -> int:
    """2 for the only current replica of the row that is ready to lead, if others are not; 1 for one of several."""
    if state.behind.shape[1] == 0 or contains(state.behind, row, broker):
        return 0
    ready = others = 0
    for column in range(rules.current.shape[1]):
        if rules.current[row, column] >= 0:
            if contains(state.behind, row, rules.current[row, column]):
                others += 1
            else:
                ready += 1
    return 2 if ready == 1 and others else 1


@subroutine
def _keep_in_sync(rules: LoadRules, state: SearchState, row: int) -> int:
    """Keep current replicas that are ready to lead instead of others. Returns the number of replicas that are kept."""
    width, kept = state.at.shape[1], 0
    for column in range(width if state.behind.shape[1] else 0):
        broker = state.at[row, column]
        if broker < 0 or not contains(state.behind, row, broker):
            continue
        for current_column in range(rules.current.shape[1]):
            other, slot = rules.current[row, current_column], row * width + column
            if other < 0 or contains(state.behind, row, other) or move_cost(rules, row, broker, other) > 0:
                continue
            if not may_place(rules, state, slot, other):
                continue
            if rise_if_placed(rules, state, slot, other) <= 1e-15:
                place(rules, state, slot, other)
                kept += 1
                break
    return kept


@subroutine
def _return_in_exchange(rules: LoadRules, state: SearchState, slot: int, current_broker: int) -> bool:
    """Return a replica while another leaves its broker, if that does not raise the penalty and moves less, or as much
    while a replica that is ready to lead returns for one of a partition that has others.
    """
    width = state.at.shape[1]
    row = slot // width
    broker = state.at[row, slot % width]
    saved = -move_cost(rules, row, broker, current_broker)
    rank = _in_sync_rank(rules, state, row, current_broker)
    rise = rise_if_placed(rules, state, slot, current_broker)
    place(rules, state, slot, current_broker)
    partner = state.first[current_broker]
    looked = 0
    while partner != NOWHERE and looked < LOOKS:
        after = state.after[partner]
        looked += 1
        cost = move_cost(rules, partner // width, current_broker, broker)
        is_cheaper = partner != slot and (
            cost < saved or (cost == saved and _in_sync_rank(rules, state, partner // width, current_broker) < rank)
        )
        if is_cheaper and may_place(rules, state, partner, broker):
            more = rise_if_placed(rules, state, partner, broker)
            if rise + more <= 1e-15:
                place(rules, state, partner, broker)
                return True
        partner = after
    place(rules, state, slot, broker)
    return False
