"""Lower the penalty of brokers by moves of replicas, transfers of leaders and swaps, the cheapest per penalty first.

The broker with the largest penalty changes next: of all changes that lower the penalty, those with the largest decrease
for their cost are made. Receivers are the brokers with the most slack, in all resources and in the worst one, and the
current brokers of a partition. If no such change helps, swaps with samples of their replicas are tried.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.changes_kernel import (
    cost_of_move,
    lacking_resource,
    rise_if_gone,
    slots_to_fill,
    worth,
    worth_if_led,
)
from app.core.reassignment.solvers.search.moves_kernel import stays_free
from app.core.reassignment.solvers.search.receivers_kernel import receivers_for
from app.core.reassignment.solvers.search.state_kernel import (
    NOWHERE,
    SearchState,
    add_row,
    link,
    may_place,
    may_transfer,
    move_cost,
    place,
    refresh,
    rise_if_placed,
    sampled,
    slots_on,
    topic_penalty,
    transfer,
)
from app.core.reassignment.solvers.search.swaps_kernel import make_swaps

SMALLEST_DECREASE = 1e-5
"""A change has to lower the penalty of a broker by this part of it."""
WORTH = 0.5


@compiled
def begin(rules: LoadRules, state: SearchState) -> None:
    """Compute loads (base is in them), counts, lists and penalties of a placement."""
    rows, width = state.at.shape
    state.first[:] = NOWHERE
    for row in range(rows):
        if state.at[row, 0] < 0:
            continue
        if len(state.of_reads):
            add_row(rules, state, row, 1)
        for column in range(width):
            broker = state.at[row, column]
            if broker < 0:
                continue
            link(state, row * width + column)
            if len(state.topic_of):
                state.counts[state.topic_of[row], broker] += 1
            if not len(state.of_reads):
                for resource in range(state.loads.shape[1]):
                    of_slot = state.of_follower[row, resource] if column else state.of_leader[row, resource]
                    state.loads[broker, resource] += of_slot
    for broker in range(len(state.penalty)):
        refresh(state, broker)


@subroutine
def _renew_topics(rules: LoadRules, state: SearchState) -> None:
    """Compute the penalties of the topics on all brokers anew."""
    if len(state.topic_of):
        for broker in range(len(state.of_topics)):
            state.of_topics[broker] = _penalty_of_topics(rules, state, broker)


@subroutine
def _penalty_of_topics(rules: LoadRules, state: SearchState, broker: int) -> float:
    total = 0.0
    if rules.target[broker]:
        for topic in range(len(state.topic_most)):
            total += topic_penalty(state, topic, state.counts[topic, broker])
    return total


@subroutine
def _move(rules: LoadRules, state: SearchState, slot: int, to: int) -> None:
    """Move a replica, and compute the penalties of topics of its two brokers anew."""
    width = state.at.shape[1]
    broker = state.at[slot // width, slot % width]
    place(rules, state, slot, to)
    if len(state.topic_of):
        state.of_topics[broker] = _penalty_of_topics(rules, state, broker)
        state.of_topics[to] = _penalty_of_topics(rules, state, to)


@compiled
def lower_penalty(rules: LoadRules, state: SearchState, turns: int) -> tuple[int, bool]:
    """Improve the broker with the largest penalty, `turns` times at most. Returns (changes, whether none is left)."""
    brokers = len(state.penalty)
    _renew_topics(rules, state)
    done, since_all_were_tried = 0, 0
    for _ in range(turns):
        worst = _worst(state)
        if worst < 0 and since_all_were_tried:
            # What was changed meanwhile may help those that nothing helped before.
            state.is_stuck[:] = False
            since_all_were_tried = 0
            worst = _worst(state)
        if worst < 0:
            return done, True
        least = SMALLEST_DECREASE * (state.penalty[worst] + state.of_topics[worst])
        receivers = receivers_for(rules, state, worst)
        made = shed(rules, state, worst, receivers, least, WORTH)
        if not made:
            made = fill(rules, state, worst, least)
        if not made:
            made = shed(rules, state, worst, receivers, least, 0.0)
        if made:
            done += made
            state.is_stuck[:] = False
            since_all_were_tried = 0
            continue
        made = make_swaps(rules, state, worst, receivers, least)
        if not made:
            state.is_stuck[worst] = True
            continue
        _renew_topics(rules, state)
        done += made
        since_all_were_tried += 1
        state.singles[0] += 1
        if state.singles[0] % max(1, brokers // 4) == 0:
            state.is_stuck[:] = False
            since_all_were_tried = 0
    return done, False


@subroutine
def _worst(state: SearchState) -> int:
    """The broker with the largest penalty, of those that some change may help; -1 if there is none."""
    worst = NOWHERE
    for broker in range(len(state.penalty)):
        weight = state.penalty[broker] + state.of_topics[broker]
        if state.is_stuck[broker] or weight <= 1e-12:
            continue
        if worst < 0 or weight > state.penalty[worst] + state.of_topics[worst]:
            worst = broker
    return worst


@subroutine
def fill(rules: LoadRules, state: SearchState, broker: int, least: float) -> int:
    """Fill a broker that is below a floor, or any if topics have goals, until half of its penalty is left: make many
    changes of samples of its replicas and those of sending brokers, the largest decreases for their cost first.
    Returns the number of changes.
    """
    lacking = lacking_resource(state, broker)
    if lacking < 0 and not len(state.topic_of):
        return 0
    width = state.at.shape[1]
    slots = slots_to_fill(rules, state, broker, lacking)
    values = np.zeros(len(slots))
    for i in range(len(slots)):
        values[i] = _worth_of_filling(rules, state, slots[i], broker, least)
    enough = 0.5 * (state.penalty[broker] + state.of_topics[broker])
    made = 0
    for i in np.argsort(-values):
        if values[i] <= 0 or state.penalty[broker] + state.of_topics[broker] <= enough:
            break
        if _worth_of_filling(rules, state, slots[i], broker, least) < WORTH * values[i]:
            continue
        row, sender = slots[i] // width, state.at[slots[i] // width, slots[i] % width]
        if sender == broker:
            transfer(rules, state, row, slots[i] % width)
        else:
            _move(rules, state, slots[i], broker)
        made += 1
    return made


@subroutine
def _worth_of_filling(rules: LoadRules, state: SearchState, slot: int, broker: int, least: float) -> float:
    """What it is worth that a replica leads, if it is on the broker, or goes there; 0 if it may not."""
    width = state.at.shape[1]
    row, column = slot // width, slot % width
    if state.at[row, column] == broker:
        if column == 0 or not may_transfer(state, row, column):
            return 0.0
        return worth_if_led(rules, state, row, column, least)
    if not may_place(rules, state, slot, broker):
        return 0.0
    cost = cost_of_move(rules, state, slot, broker)
    return worth(rise_if_placed(rules, state, slot, broker), cost, least)


@subroutine
def shed(rules: LoadRules, state: SearchState, broker: int, receivers: Int64Vector, least: float, share: float) -> int:
    """Make many changes of one broker, the largest decreases for their cost first, until half of its penalty is left.
    Returns the number of changes.

    Each replica goes to the first receiver, from a random one on, that has no more violations then; if there is none,
    to the one with the smallest rise. A change that is not worth more than a share of its estimate is not made.
    """
    width = state.at.shape[1]
    slots, columns, values = _estimates(rules, state, broker, least)
    enough = 0.5 * (state.penalty[broker] + state.of_topics[broker])
    made = 0
    for i in np.argsort(-values):
        slot, column = slots[i], columns[i]
        row = slot // width
        if state.at[row, slot % width] != broker or state.penalty[broker] + state.of_topics[broker] <= enough:
            continue
        if column:
            if worth_if_led(rules, state, row, column, least) > share * values[i]:
                transfer(rules, state, row, column)
                made += 1
            continue
        to = _receiver(rules, state, slot, receivers)
        if to < 0:
            continue
        cost = state.per_cost * move_cost(rules, row, broker, to)
        value = worth(rise_if_placed(rules, state, slot, to), cost, least)
        if value > share * values[i]:
            _move(rules, state, slot, to)
            made += 1
    return made


@subroutine
def _estimates(
    rules: LoadRules, state: SearchState, broker: int, least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Slots of a broker's changes, the column that leads then (0 if the replica moves), and what they are worth.

    A move is worth what it is if its receiver has no more violations.
    """
    width = state.at.shape[1]
    here = slots_on(state, broker)
    count = 2 * len(here)
    slots, columns, values = np.empty(count, np.int64), np.zeros(count, np.int64), np.zeros(count)
    some = 0
    for slot in here:
        row = slot // width
        if slot % width == 0:
            for column in range(1, width):
                if may_transfer(state, row, column):
                    value = worth_if_led(rules, state, row, column, least)
                    if value > values[some]:
                        values[some], columns[some], slots[some] = value, column, slot
            if values[some] > 0:
                some += 1
        cost = state.per_cost * rules.cost[row] if stays_free(rules, row, broker) else 0.0
        value = worth(rise_if_gone(rules, state, slot), cost, least)
        if value > 0:
            values[some], columns[some], slots[some] = value, 0, slot
            some += 1
    return slots[:some], columns[:some], values[:some]


@subroutine
def _receiver(rules: LoadRules, state: SearchState, slot: int, receivers: Int64Vector) -> int:
    """The broker that a replica goes to; -1 if no receiver may have it."""
    width = state.at.shape[1]
    row, broker = slot // width, state.at[slot // width, slot % width]
    rise_without = rise_if_gone(rules, state, slot)
    for column in range(rules.current.shape[1]):
        current_broker = rules.current[row, column]
        if current_broker < 0 or current_broker == broker or not rules.stays_free[row, column]:
            continue
        is_legal = may_place(rules, state, slot, current_broker)
        if is_legal and rise_if_placed(rules, state, slot, current_broker) <= 0.5 * rise_without:
            return int(current_broker)
    best, smallest = -1, np.inf
    first = sampled(state, len(receivers))
    for i in range(len(receivers)):
        to = receivers[(first + i) % len(receivers)]
        if to == broker or not may_place(rules, state, slot, to):
            continue
        rise = rise_if_placed(rules, state, slot, to)
        if rise < smallest:
            best, smallest = to, rise
            if rise <= rise_without:
                break
    return int(best)
