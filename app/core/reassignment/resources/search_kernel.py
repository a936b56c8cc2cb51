"""Lower the penalty of brokers by moves of replicas, transfers of leaders and swaps, the cheapest per penalty first.

The broker with the largest penalty changes next: of all changes that lower the penalty, those with the largest decrease
for their cost are made. Receivers are the brokers with the most slack, in all resources and in the worst one, and the
current brokers of a partition. If no single change helps, swaps with samples of their replicas are tried.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import FloatVector, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.loads.moves_kernel import stays_free
from app.core.reassignment.loads.rules import LoadRules
from app.core.reassignment.resources.state_kernel import (
    NOWHERE,
    ResourceRules,
    SearchState,
    add_row,
    leader_cost,
    link,
    may_place,
    may_transfer,
    move_cost,
    penalty_if,
    penalty_if_swapped,
    place,
    refresh,
    rise_if_led,
    rise_if_placed,
    sampled,
    topic_change,
    topic_penalty,
    transfer,
)

RECEIVERS = 12
ALL_RECEIVERS = 28
"""If there are no more brokers than this, each is tried as receiver."""
SAMPLES = 40
SMALLEST_DECREASE = 1e-5
"""A change has to lower the penalty of a broker by this part of it."""
WORTH = 0.5
CHANGE_COST = 1e-3
"""Of a leader change, in units of the mean cost of a move; a change that costs nothing counts a tenth of that."""
NO_CHANGE = 0
MOVE = 1
TRANSFER = 2
SWAP = 3


@compiled
def begin(rules: LoadRules, resources: ResourceRules, state: SearchState) -> None:
    """Compute loads (base is in them), counts, lists and penalties of a placement."""
    rows, width = state.at.shape
    state.first[:] = NOWHERE
    for row in range(rows):
        if state.at[row, 0] < 0:
            continue
        if len(resources.of_reads):
            add_row(rules, resources, state, row, int(np.int64(1)))
        for column in range(width):
            broker = state.at[row, column]
            if broker < 0:
                continue
            link(state, row * width + column)
            if len(resources.topic_of):
                state.counts[resources.topic_of[row], broker] += 1
            if not len(resources.of_reads):
                for resource in range(state.loads.shape[1]):
                    of_slot = resources.of_follower[row, resource] if column else resources.of_leader[row, resource]
                    state.loads[broker, resource] += of_slot
    renew(resources, state)


@subroutine
def renew(resources: ResourceRules, state: SearchState) -> None:
    """Compute penalties anew, and let every broker be tried again."""
    for broker in range(len(state.penalty)):
        refresh(resources, state, broker)
        state.is_stuck[broker] = False


@subroutine
def topics_of(rules: LoadRules, resources: ResourceRules, state: SearchState, broker: int) -> float:
    """The penalty of the topics on a broker."""
    total = 0.0
    if len(resources.topic_of) and rules.target[broker]:
        for topic in range(len(resources.topic_most)):
            total += topic_penalty(resources, topic, state.counts[topic, broker])
    return total


@compiled
def lower_penalty(
    rules: LoadRules, resources: ResourceRules, state: SearchState, per_cost: float, steps: int, swaps: bool
) -> int:
    """Make up to so many changes; how many were made, fewer if no change lowers the penalty.

    Parameters
    ----------
    per_cost : 1 over the mean cost of a move. swaps : whether swaps are tried if no single change helps.
    """
    brokers = len(state.penalty)
    change, best = np.zeros(4, np.int64), np.zeros(1)
    of_topics = np.zeros(brokers)
    for broker in range(brokers):
        of_topics[broker] = topics_of(rules, resources, state, broker)
    done = failed = 0
    while done < steps:
        worst = NOWHERE
        for broker in range(brokers):
            weight = state.penalty[broker] + of_topics[broker]
            if state.is_stuck[broker] or weight <= 1e-12:
                continue
            if worst < 0 or weight > state.penalty[worst] + of_topics[worst]:
                worst = broker
        if worst < 0:
            break
        change[0], best[0] = NO_CHANGE, 0.0
        least = SMALLEST_DECREASE * (state.penalty[worst] + of_topics[worst])
        receivers = receivers_for(rules, resources, state, worst)
        made = shed(rules, resources, state, worst, receivers, per_cost, least, of_topics)
        if made:
            done += made
            state.is_stuck[:] = False
            continue
        _best_from(rules, resources, state, worst, receivers, per_cost, least, change, best)
        _best_to(rules, resources, state, worst, per_cost, least, change, best)
        if change[0] == NO_CHANGE and swaps:
            _best_swap(rules, resources, state, worst, receivers, per_cost, least, change, best)
        if change[0] == NO_CHANGE:
            state.is_stuck[worst] = True
            failed += 1
            continue
        _make(rules, resources, state, change, of_topics)
        done += 1
        if done % max(1, brokers // 4) == 0:
            state.is_stuck[:] = False
    return done


@subroutine
def shed(
    rules: LoadRules,
    resources: ResourceRules,
    state: SearchState,
    broker: int,
    receivers: Int64Vector,
    per_cost: float,
    least: float,
    of_topics: FloatVector,
) -> int:
    """Make many changes of one broker, the largest decreases for their cost first, until half of its penalty is left;
    how many.

    Each replica goes to the first receiver, from a random one on, that has no more violations then; if there is none,
    to the one with the smallest rise. A change that falls short of its estimate by `WORTH` waits for a later turn.
    """
    width = state.at.shape[1]
    slots, columns, values = _estimates(rules, resources, state, broker, per_cost, least)
    enough = 0.5 * (state.penalty[broker] + of_topics[broker])
    made = 0
    for i in np.argsort(-values):
        slot, column = slots[i], columns[i]
        row = slot // width
        if state.at[row, slot % width] != broker or state.penalty[broker] + of_topics[broker] <= enough:
            continue
        if column:
            cost = CHANGE_COST * leader_cost(resources, row, broker, state.at[row, column])
            value = worth(rise_if_led(rules, resources, state, row, column), cost, least)
            if value >= WORTH * values[i]:
                transfer(rules, resources, state, row, column)
                made += 1
            continue
        to = _receiver(rules, resources, state, slot, receivers)
        if to < 0:
            continue
        cost = per_cost * move_cost(rules, row, broker, to)
        value = worth(rise_if_placed(rules, resources, state, slot, to), cost, least)
        if value >= WORTH * values[i]:
            place(rules, resources, state, slot, to)
            made += 1
            if len(resources.topic_of):
                of_topics[broker] = topics_of(rules, resources, state, broker)
                of_topics[to] = topics_of(rules, resources, state, to)
    return made


@subroutine
def _estimates(
    rules: LoadRules, resources: ResourceRules, state: SearchState, broker: int, per_cost: float, least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Slots of a broker's changes, the column that leads then (0 if the replica moves), and what they are worth.

    A move is worth what it is if its receiver has no more violations.
    """
    width = state.at.shape[1]
    count = 0
    slot = state.first[broker]
    while slot != NOWHERE:
        count += 1
        slot = state.after[slot]
    slots, columns, values = np.empty(2 * count, np.int64), np.zeros(2 * count, np.int64), np.zeros(2 * count)
    some = 0
    slot = state.first[broker]
    while slot != NOWHERE:
        after = state.after[slot]
        row = slot // width
        if slot % width == 0:
            for column in range(1, width):
                if may_transfer(resources, state, row, column):
                    cost = CHANGE_COST * leader_cost(resources, row, broker, state.at[row, column])
                    value = worth(rise_if_led(rules, resources, state, row, column), cost, least)
                    if value > values[some]:
                        values[some], columns[some], slots[some] = value, column, slot
            if values[some] > 0:
                some += 1
        cost = per_cost * rules.cost[row] if stays_free(rules, row, broker) else 0.0
        value = worth(rise_if_gone(rules, resources, state, slot), cost, least)
        if value > 0:
            values[some], columns[some], slots[some] = value, 0, slot
            some += 1
        slot = after
    return slots[:some], columns[:some], values[:some]


@subroutine
def rise_if_gone(rules: LoadRules, resources: ResourceRules, state: SearchState, slot: int) -> float:
    """How much the penalty of a replica's broker rises without it, consumers of followers apart."""
    width = state.at.shape[1]
    row, leads = slot // width, int(np.int64(slot % width == 0))
    broker = int(np.int64(state.at[row, slot % width]))
    rise = penalty_if(resources, state, broker, row, -leads, leads - 1) - state.penalty[broker]
    return float(rise + topic_change(rules, resources, state, row, broker, int(np.int64(-1))))


@subroutine
def worth(rise: float, cost: float, least: float) -> float:
    """The decrease of the penalty for the cost; 0 if it is too small."""
    if -rise <= least:
        return 0.0
    if cost >= 0:
        return -rise / (cost + 0.1 * CHANGE_COST)
    return -rise / (0.1 * CHANGE_COST) * (1.0 - cost)


@subroutine
def _receiver(rules: LoadRules, resources: ResourceRules, state: SearchState, slot: int, receivers: Int64Vector) -> int:
    """The broker that a replica goes to; -1 if no receiver may have it."""
    width = state.at.shape[1]
    row, broker = slot // width, int(np.int64(state.at[slot // width, slot % width]))
    gone = rise_if_gone(rules, resources, state, slot)
    for column in range(rules.current.shape[1]):
        home = int(np.int64(rules.current[row, column]))
        if home < 0 or home == broker or not rules.stays_free[row, column]:
            continue
        is_legal = may_place(rules, resources, state, slot, home)
        if is_legal and rise_if_placed(rules, resources, state, slot, home) <= 0.5 * gone:
            return home
    best, smallest = -1, np.inf
    first = sampled(state, len(receivers))
    for i in range(len(receivers)):
        to = receivers[(first + i) % len(receivers)]
        if to == broker or not may_place(rules, resources, state, slot, to):
            continue
        rise = rise_if_placed(rules, resources, state, slot, to)
        if rise < smallest:
            best, smallest = to, rise
            if rise <= gone:
                break
    return int(best)


@subroutine
def _make(
    rules: LoadRules, resources: ResourceRules, state: SearchState, change: Int64Vector, of_topics: FloatVector
) -> None:
    """Make a change."""
    width = state.at.shape[1]
    kind, slot, to, other = change[0], change[1], change[2], change[3]
    broker = state.at[slot // width, slot % width]
    if kind == TRANSFER:
        transfer(rules, resources, state, slot // width, slot % width)
        return
    if kind == SWAP:
        place(rules, resources, state, other, int(np.int64(broker)))
    place(rules, resources, state, slot, to)
    of_topics[broker] = topics_of(rules, resources, state, broker)
    of_topics[to] = topics_of(rules, resources, state, to)


@subroutine
def _consider(
    rise: float, cost: float, least: float, kind: int, slot: int, to: int, change: Int64Vector, best: FloatVector
) -> None:
    """Keep a change if it lowers the penalty most for its cost."""
    value = worth(rise, cost, least)
    if value > best[0]:
        best[0] = value
        change[0], change[1], change[2] = kind, slot, to


@subroutine
def _best_from(
    rules: LoadRules,
    resources: ResourceRules,
    state: SearchState,
    broker: int,
    receivers: Int64Vector,
    per_cost: float,
    least: float,
    change: Int64Vector,
    best: FloatVector,
) -> None:
    """Moves of the broker's replicas, and transfers of its leaders."""
    width = state.at.shape[1]
    slot = state.first[broker]
    while slot != NOWHERE:
        after = state.after[slot]
        row = slot // width
        if slot % width == 0:
            for column in range(1, width):
                if may_transfer(resources, state, row, column):
                    cost = CHANGE_COST * leader_cost(resources, row, broker, state.at[row, column])
                    rise = rise_if_led(rules, resources, state, row, column)
                    _consider(rise, cost, least, TRANSFER, row * width + column, broker, change, best)
        if _is_worth(rules, resources, state, slot, per_cost, least, best[0]):
            for to in receivers:
                _try_move(rules, resources, state, slot, to, per_cost, least, change, best)
        for column in range(rules.current.shape[1]):
            home = rules.current[row, column]
            if home >= 0 and rules.stays_free[row, column] and home != broker:
                _try_move(rules, resources, state, slot, home, per_cost, least, change, best)
        slot = after


@subroutine
def _is_worth(
    rules: LoadRules,
    resources: ResourceRules,
    state: SearchState,
    slot: int,
    per_cost: float,
    least: float,
    best: float,
) -> bool:
    """Whether a move of the replica to a broker without violations would be the best change so far."""
    if len(resources.of_reads):
        return True
    width = state.at.shape[1]
    row = slot // width
    decrease = -rise_if_gone(rules, resources, state, slot)
    if decrease <= least and len(resources.topic_of) == 0:
        return False
    cost = per_cost * rules.cost[row] if stays_free(rules, row, state.at[row, slot % width]) else 0.0
    return bool(len(resources.topic_of) or decrease > best * (cost + 0.1 * CHANGE_COST))


@subroutine
def _try_move(
    rules: LoadRules,
    resources: ResourceRules,
    state: SearchState,
    slot: int,
    to: int,
    per_cost: float,
    least: float,
    change: Int64Vector,
    best: FloatVector,
) -> None:
    width = state.at.shape[1]
    row = slot // width
    broker = int(np.int64(state.at[row, slot % width]))
    if to == broker:
        return
    cost = per_cost * move_cost(rules, row, broker, to)
    if slot % width == 0:
        cost += CHANGE_COST * leader_cost(resources, row, broker, to)
    rise = rise_if_placed(rules, resources, state, slot, to)
    is_better = -rise > least and (cost <= 0 or -rise > best[0] * (cost + 0.1 * CHANGE_COST))
    if is_better and may_place(rules, resources, state, slot, to):
        _consider(rise, cost, least, MOVE, slot, to, change, best)


@subroutine
def _best_to(
    rules: LoadRules,
    resources: ResourceRules,
    state: SearchState,
    broker: int,
    per_cost: float,
    least: float,
    change: Int64Vector,
    best: FloatVector,
) -> None:
    """If the broker is below a floor: moves of other brokers' replicas to it, and of leaders among its replicas."""
    width = state.at.shape[1]
    worst, deficit = NOWHERE, 0.0
    for resource in range(state.loads.shape[1]):
        lacks = (resources.floor[broker, resource] - state.loads[broker, resource]) * resources.unit[broker, resource]
        if lacks > deficit:
            worst, deficit = resource, lacks
    if worst < 0 and len(resources.topic_of) == 0:
        return
    slot = state.first[broker]
    while slot != NOWHERE:
        after = state.after[slot]
        row, column = slot // width, slot % width
        if column and may_transfer(resources, state, row, column):
            cost = CHANGE_COST * leader_cost(resources, row, state.at[row, 0], broker)
            rise = rise_if_led(rules, resources, state, row, column)
            _consider(rise, cost, least, TRANSFER, slot, broker, change, best)
        slot = after
    for giver in _givers(rules, resources, state, broker, worst):
        slot = state.first[giver]
        while slot != NOWHERE:
            after = state.after[slot]
            _try_move(rules, resources, state, slot, broker, per_cost, least, change, best)
            slot = after


@subroutine
def _givers(
    rules: LoadRules, resources: ResourceRules, state: SearchState, broker: int, resource: int
) -> NDArray[np.int64]:
    """The brokers that are furthest above their floor of a resource; some of them in the broker's rack."""
    brokers = len(state.penalty)
    surplus = np.zeros(brokers)
    for other in range(brokers):
        if resource >= 0:
            surplus[other] = (state.loads[other, resource] - resources.floor[other, resource]) * max(
                resources.unit[other, resource], resources.unit[broker, resource]
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


@subroutine
def receivers_for(rules: LoadRules, resources: ResourceRules, state: SearchState, broker: int) -> NDArray[np.int64]:
    """The brokers with the most slack: in all resources, in the broker's rack, and in its worst resource."""
    brokers = len(state.penalty)
    if brokers <= ALL_RECEIVERS:
        return np.arange(brokers)
    worst, most = int(np.int64(0)), -1.0
    for resource in range(state.loads.shape[1]):
        above = (state.loads[broker, resource] - resources.ceiling[broker, resource]) * resources.unit[broker, resource]
        over = (state.loads[broker, resource] - resources.limit[broker, resource]) * resources.limit_unit[
            broker, resource
        ]
        if max(above, over) > most:
            worst, most = resource, max(above, over)
    pressure, of_worst = np.full(brokers, -np.inf), np.full(brokers, -np.inf)
    for other in range(brokers):
        for resource in range(state.loads.shape[1]):
            load = state.loads[other, resource]
            unit, limit_unit = resources.unit[other, resource], resources.limit_unit[other, resource]
            level = -np.inf
            if unit > 0:
                level = (load - resources.ceiling[other, resource]) * unit
            if limit_unit > 0:
                level = max(level, (load - resources.limit[other, resource]) * limit_unit)
            pressure[other] = max(pressure[other], level)
            if resource == worst:
                of_worst[other] = level
    by_all, by_worst = np.argsort(pressure), np.argsort(of_worst)
    chosen = np.empty(2 * RECEIVERS + 4, np.int64)
    count = 0
    inside = int(np.int64(0))
    for i in range(brokers):
        other = by_all[i]
        is_inside = rules.rack_of[other] == rules.rack_of[broker]
        if count == RECEIVERS + RECEIVERS // 2:
            break
        if other != broker and (is_inside or count - inside < RECEIVERS):
            chosen[count] = other
            count += 1
            inside += int(is_inside)
    for i in range(RECEIVERS // 2):
        if count < len(chosen) and by_worst[i] != broker:
            chosen[count] = by_worst[i]
            count += 1
    while count < len(chosen):
        chosen[count] = sampled(state, brokers)
        count += 1
    return chosen[:count]


@subroutine
def _samples(state: SearchState, broker: int) -> NDArray[np.int64]:
    """Some of the broker's slots."""
    count = 0
    slot = state.first[broker]
    while slot != NOWHERE:
        count += 1
        slot = state.after[slot]
    stride = max(1, count // SAMPLES)
    chosen = np.empty(count // stride + 1, np.int64)
    skip = sampled(state, stride) if stride > 1 else 0
    some = 0
    slot = state.first[broker]
    while slot != NOWHERE:
        if skip == 0:
            chosen[some] = slot
            some += 1
            skip = stride
        skip -= 1
        slot = state.after[slot]
    return chosen[:some]


@subroutine
def _best_swap(
    rules: LoadRules,
    resources: ResourceRules,
    state: SearchState,
    broker: int,
    receivers: Int64Vector,
    per_cost: float,
    least: float,
    change: Int64Vector,
    best: FloatVector,
) -> None:
    """Swaps of samples of the broker's replicas with samples of others; none if consumers fetch from followers."""
    width = state.at.shape[1]
    if len(resources.of_reads):
        return
    ours = _samples(state, broker)
    for i in range(min(len(receivers), 2 * RECEIVERS)):
        other = receivers[i] if len(receivers) <= 2 * RECEIVERS else receivers[sampled(state, len(receivers))]
        if other == broker:
            continue
        theirs = _samples(state, other)
        for mine in ours:
            row = mine // width
            if not may_place(rules, resources, state, mine, other):
                continue
            of_mine = per_cost * move_cost(rules, row, broker, other)
            for slot in theirs:
                their_row = slot // width
                if their_row == row:
                    continue
                leads, theirs_lead = int(np.int64(mine % width == 0)), int(np.int64(slot % width == 0))
                rise = penalty_if_swapped(resources, state, broker, row, leads, their_row, theirs_lead)
                rise -= state.penalty[broker]
                if -rise + state.penalty[other] <= least:
                    continue
                rise += penalty_if_swapped(resources, state, other, their_row, theirs_lead, row, leads)
                rise -= state.penalty[other]
                if len(resources.topic_of) and resources.topic_of[row] != resources.topic_of[their_row]:
                    for_row, for_theirs = int(np.int64(-1)), int(np.int64(1))
                    rise += topic_change(rules, resources, state, row, broker, for_row)
                    rise += topic_change(rules, resources, state, row, other, for_theirs)
                    rise += topic_change(rules, resources, state, their_row, other, for_row)
                    rise += topic_change(rules, resources, state, their_row, broker, for_theirs)
                if -rise <= least:
                    continue
                cost = of_mine + per_cost * move_cost(rules, their_row, other, broker)
                if leads:
                    cost += CHANGE_COST * leader_cost(resources, row, broker, other)
                if theirs_lead:
                    cost += CHANGE_COST * leader_cost(resources, their_row, other, broker)
                before = best[0]
                if -rise > before * (max(cost, 0.0) + 0.1 * CHANGE_COST) and may_place(
                    rules, resources, state, slot, broker
                ):
                    _consider(rise, cost, least, SWAP, mine, other, change, best)
                    if best[0] > before:
                        change[3] = slot


@compiled
def undo(rules: LoadRules, resources: ResourceRules, state: SearchState, rows: Int32Vector, looks: int) -> int:
    """Undo moves, and changes of leaders, that the penalty does not need; how many.

    A replica returns to a current broker of its partition alone, or while another replica that is not in its place
    leaves that broker for the one that it returns from, or for a receiver, if less is moved then.

    Parameters
    ----------
    rows : in the order in which they are tried. looks : the most replicas of a broker that are tried as partner.
    """
    width = state.at.shape[1]
    undone = 0
    for row in rows:
        for column in range(width):
            slot = row * width + column
            broker = int(np.int64(state.at[row, column]))
            if broker < 0 or move_cost(rules, row, broker, broker) != 0:
                continue
            for current in range(rules.current.shape[1]):
                home = int(np.int64(rules.current[row, current]))
                if home < 0 or not rules.stays_free[row, current] or move_cost(rules, row, broker, home) >= 0:
                    continue
                if not may_place(rules, resources, state, slot, home):
                    continue
                if rise_if_placed(rules, resources, state, slot, home) <= 1e-15:
                    place(rules, resources, state, slot, home)
                    undone += 1
                    break
                if _return_in_exchange(rules, resources, state, slot, home, looks):
                    undone += 1
                    break
        for column in range(1, width):
            broker = int(np.int64(state.at[row, column]))
            if broker < 0 or leader_cost(resources, row, int(np.int64(state.at[row, 0])), broker) >= 0:
                continue
            may_lead = may_transfer(resources, state, row, column)
            if may_lead and rise_if_led(rules, resources, state, row, column) <= 1e-15:
                transfer(rules, resources, state, row, column)
                undone += 1
    return undone


@subroutine
def _return_in_exchange(
    rules: LoadRules, resources: ResourceRules, state: SearchState, slot: int, home: int, looks: int
) -> bool:
    """Return a replica while another leaves its broker, if that does not raise the penalty and moves less."""
    width = state.at.shape[1]
    row = slot // width
    broker = int(np.int64(state.at[row, slot % width]))
    saved = -move_cost(rules, row, broker, home)
    rise = rise_if_placed(rules, resources, state, slot, home)
    place(rules, resources, state, slot, home)
    partner = state.first[home]
    looked = 0
    while partner != NOWHERE and looked < looks:
        after = state.after[partner]
        looked += 1
        is_cheaper = partner != slot and move_cost(rules, partner // width, home, broker) < saved
        if is_cheaper and may_place(rules, resources, state, partner, broker):
            more = rise_if_placed(rules, resources, state, partner, broker)
            if rise + more <= 1e-15:
                place(rules, resources, state, partner, broker)
                return True
        partner = after
    place(rules, resources, state, slot, broker)
    return False
