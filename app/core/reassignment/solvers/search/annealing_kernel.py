"""Random changes of a placement at a temperature: moves of replicas, exchanges of two, and transfers of leaders.

The energy of a placement is its movement, the load of brokers at dual prices, and their penalty times a weight. A
change that raises it by r is made with probability exp(-r / temperature) (Metropolis), others always.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import FloatMatrix, Int64Matrix
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.moves_kernel import stays_free
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
    sampled,
    transfer,
)

ODDS = 8
"""One change of eight returns a replica to a current broker, one transfers a leader, and one only moves a replica."""
MOST_HALVINGS = 8
"""Of the rows that are near another one by their load, so that half of the exchanges are among few rows."""
HALF = 1 << 29
"""Half of the numbers that are sampled."""


class Energy(NamedTuple):
    """What a placement is worth: in units of the mean cost of a move, as the temperature.

    Parameters
    ----------
    prices : (brokers, resources) float64, of the load of brokers. leader : cost of another leader.
    weight : of the penalty.
    by_load, rank : (resources, rows) int64, the rows by the load of a follower, and the place of each row among these.
    """

    prices: FloatMatrix
    leader: float
    weight: float
    temperature: float
    by_load: Int64Matrix
    rank: Int64Matrix


@compiled
def anneal(rules: LoadRules, state: SearchState, energy: Energy, steps: int) -> None:
    """Try random changes of a placement."""
    rows, width = state.at.shape
    for _ in range(steps):
        slot = sampled(state, rows * width)
        broker = state.at[slot // width, slot % width]
        if broker < 0:
            continue
        kind = sampled(state, ODDS)
        if kind == 0:
            to = _free_broker(rules, state, slot)
            if to >= 0 and _is_accepted(state, _rise(rules, state, energy, slot, to), energy):
                place(rules, state, slot, to)
        elif kind == 1 and slot % width > 0:
            is_legal = may_transfer(state, slot // width, slot % width)
            if is_legal and _is_accepted(state, _rise_if_led(rules, state, energy, slot), energy):
                transfer(rules, state, slot // width, slot % width)
        else:
            other = _partner(state, energy, slot) if kind % 2 else sampled(state, rows * width)
            to = state.at[other // width, other % width]
            if to >= 0 and other // width != slot // width and may_place(rules, state, slot, to):
                _move_or_exchange(rules, state, energy, slot, other, kind)


@subroutine
def _partner(state: SearchState, energy: Energy, slot: int) -> int:
    """A replica of similar load of some resource: exchanges of others hardly ever stay within narrow bounds."""
    rows, width = state.at.shape
    resource = sampled(state, state.loads.shape[1])
    span = max(1, rows >> (1 + sampled(state, MOST_HALVINGS)))
    at = (energy.rank[resource, slot // width] + sampled(state, 2 * span + 1) - span) % rows
    return int(energy.by_load[resource, at] * width + sampled(state, width))


@subroutine
def _move_or_exchange(rules: LoadRules, state: SearchState, energy: Energy, slot: int, other: int, kind: int) -> None:
    """Move a replica to the broker of another one, alone, or while that goes to its current or to the first broker."""
    width = state.at.shape[1]
    broker, to = state.at[slot // width, slot % width], state.at[other // width, other % width]
    rise = _rise(rules, state, energy, slot, to)
    is_made = _is_accepted(state, rise, energy)
    if not is_made and kind <= 2:
        return
    place(rules, state, slot, to)
    if is_made:
        return
    target = _free_broker(rules, state, other) if kind <= ODDS // 2 else NOWHERE
    target = broker if target < 0 else target
    if may_place(rules, state, other, target):
        rise += _rise(rules, state, energy, other, target)
        if _is_accepted(state, rise, energy):
            place(rules, state, other, target)
            return
    place(rules, state, slot, broker)


@subroutine
def _rise(rules: LoadRules, state: SearchState, energy: Energy, slot: int, to: int) -> float:
    """How much the energy rises if a replica goes to another broker."""
    width = state.at.shape[1]
    row, column = slot // width, slot % width
    broker = state.at[row, column]
    rise = state.per_cost * move_cost(rules, row, broker, to)
    if column == 0:
        rise += energy.leader * leader_cost(state, row, broker, to)
    for resource in range(state.loads.shape[1]):
        load = state.of_follower[row, resource] if column else state.of_leader[row, resource]
        rise += load * (energy.prices[to, resource] - energy.prices[broker, resource])
    return float(rise + energy.weight * rise_if_placed(rules, state, slot, to))


@subroutine
def _rise_if_led(rules: LoadRules, state: SearchState, energy: Energy, slot: int) -> float:
    """How much the energy rises if a replica leads."""
    row, width = slot // state.at.shape[1], state.at.shape[1]
    leader, broker = state.at[row, 0], state.at[row, slot % width]
    rise = energy.leader * leader_cost(state, row, leader, broker)
    for resource in range(state.loads.shape[1]):
        extra = state.of_leader[row, resource] - state.of_follower[row, resource]
        rise += extra * (energy.prices[broker, resource] - energy.prices[leader, resource])
    return float(rise + energy.weight * rise_if_led(rules, state, row, slot % width))


@subroutine
def _is_accepted(state: SearchState, rise: float, energy: Energy) -> bool:
    """Whether a change is made, at random if the energy rises."""
    return bool(rise <= 0 or sampled(state, 2 * HALF) < 2 * HALF * np.exp(-rise / energy.temperature))


@subroutine
def _free_broker(rules: LoadRules, state: SearchState, slot: int) -> int:
    """A current broker to which a replica may return at no cost, if it is not on one; else `NOWHERE`."""
    row, columns = slot // state.at.shape[1], rules.current.shape[1]
    if not stays_free(rules, row, state.at[row, slot % state.at.shape[1]]):
        turn = sampled(state, columns)
        for place_of in range(columns):
            column = (turn + place_of) % columns
            broker = rules.current[row, column]
            if broker >= 0 and rules.stays_free[row, column] and may_place(rules, state, slot, broker):
                return int(broker)
    return NOWHERE
