"""Which brokers receive the replicas of a broker, and which give replicas to one that lacks load."""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import Int64Vector
from app.core.compiled.loops import subroutine
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.state_kernel import SearchState, sampled

RECEIVERS = 12
ALL_RECEIVERS = 28
"""If there are no more brokers than this, each is tried as receiver."""


@subroutine
def receivers_for(rules: LoadRules, state: SearchState, broker: int) -> NDArray[np.int64]:
    """The brokers with the most slack: in all resources, in the broker's rack, and in its worst resource."""
    brokers = len(state.penalty)
    if brokers <= ALL_RECEIVERS:
        return np.arange(brokers)
    worst = _worst_resource(state, broker)
    pressure, of_worst = np.full(brokers, -np.inf), np.empty(brokers)
    for other in range(brokers):
        of_worst[other] = _level(state, other, worst)
        for resource in range(state.loads.shape[1]):
            pressure[other] = max(pressure[other], _level(state, other, resource))
    chosen = np.empty(2 * RECEIVERS + 4, np.int64)
    count = _least_pressed(rules, np.argsort(pressure), broker, chosen)
    for other in np.argsort(of_worst)[: RECEIVERS // 2]:
        if count < len(chosen) and other != broker:
            chosen[count] = other
            count += 1
    while count < len(chosen):
        chosen[count] = sampled(state, brokers)
        count += 1
    return chosen[:count]


@subroutine
def _worst_resource(state: SearchState, broker: int) -> int:
    """The resource of a broker that is farthest above its ceiling or limit; the first one if none is."""
    worst, most = 0, -1.0
    for resource in range(state.loads.shape[1]):
        level = _level(state, broker, resource)
        if level > most:
            worst, most = resource, level
    return worst


@subroutine
def _least_pressed(rules: LoadRules, order: Int64Vector, broker: int, chosen: Int64Vector) -> int:
    """Write the first brokers of an order to `chosen`, those in the broker's rack beside `RECEIVERS` others.

    Returns the number of brokers that are chosen.
    """
    count = inside = 0
    for other in order:
        if count == RECEIVERS + RECEIVERS // 2:
            break
        is_inside = rules.rack_of[other] == rules.rack_of[broker]
        if other != broker and (is_inside or count - inside < RECEIVERS):
            chosen[count] = other
            count += 1
            inside += int(is_inside)
    return count


@subroutine
def _level(state: SearchState, broker: int, resource: int) -> float:
    """How far a load is above its ceiling or limit, negative below; -inf without any."""
    load, level = state.loads[broker, resource], -np.inf
    if state.unit[broker, resource] > 0:
        level = (load - state.ceiling[broker, resource]) * state.unit[broker, resource]
    if state.limit_unit[broker, resource] > 0:
        over = load - state.limit[broker, resource]
        level = max(level, over * state.limit_unit[broker, resource])
    return float(level)


@subroutine
def senders_for(rules: LoadRules, state: SearchState, broker: int, resource: int) -> NDArray[np.int64]:
    """The brokers that are furthest above their floor of a resource; some of them in the broker's rack."""
    brokers = len(state.penalty)
    surplus = np.zeros(brokers)
    for other in range(brokers):
        if resource >= 0:
            surplus[other] = (state.loads[other, resource] - state.floor[other, resource]) * max(
                state.unit[other, resource], state.unit[broker, resource]
            )
        else:
            surplus[other] = -sampled(state, 1 << 20)
        if not rules.target[other]:
            surplus[other] += 1.0
    surplus[broker] = -np.inf
    order = np.argsort(-surplus)
    chosen = np.empty(RECEIVERS, np.int64)
    count = 0
    for i in range(brokers):
        other = order[i]
        if other != broker and (count < RECEIVERS // 2 or rules.rack_of[other] == rules.rack_of[broker]):
            chosen[count] = other
            count += 1
            if count == RECEIVERS:
                break
    return chosen[:count]
