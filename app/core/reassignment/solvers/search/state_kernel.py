"""A placement that changes one replica or leader at a time, with the loads of brokers and their penalty.

A replica is a slot, row · widest + column; the leader is in column 0. The penalty of a broker adds v + STEEPNESS · v²
for each resource above its ceiling, below its floor or above its limit, where v is the violation times its unit. It is
0 if and only if nothing is violated. Brokers and constants are passed as int64, so that each loop is compiled once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import (
    BoolVector,
    FloatMatrix,
    FloatVector,
    Int32Matrix,
    Int32Vector,
    Int64Matrix,
    Int64Vector,
)
from app.core.compiled.loops import subroutine
from app.core.reassignment.legal_sets_kernel import contains
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.search.moves_kernel import WorkingPlacement, may_move, stays_free

STEEPNESS = 20.0
MILLION = 1_000_000
NOWHERE = -1


class SearchState(NamedTuple):
    """A search: the problem, its bounds and weights, and the placement that it changes.

    Parameters
    ----------
    of_leader, of_follower : (rows, resources). of_reads : (rows, resources), or no rows if leaders serve all consumers.
    share : (racks,) millionths of consumers.
    ceiling, floor, limit : (brokers, resources) int64. unit, limit_unit : (brokers, resources) float64 >= 0.
    may_lead : (brokers,) bool. leader : (rows,) int32 current leaders.
    behind : (rows, any) int32 current brokers whose replica is not ready to lead, padded.
    topic_of : (rows,) int32; no rows without a goal for topics. topic_most, topic_least : (topics,) replicas on a
        target broker. topic_unit : (topics,) float64.
    per_cost : 1 over the mean cost of a move.
    at : (rows, widest) int32, the leader in column 0. loads : (brokers, resources) int64. counts : (topics, brokers).
    first : (brokers,) first slot of each broker's list; after, before : (slots,) its neighbours; `NOWHERE` at the ends.
    penalty : (brokers,) float64, of resources. of_topics : (brokers,) float64 penalties of topics.
    is_stuck : (brokers,) bool, no change lowers the penalty.
    seed : (1,) int64 of the generator of samples. singles : (1,) changes that were made one at a time.
    unused : (0,) int64.
    """

    of_leader: Int64Matrix
    of_follower: Int64Matrix
    of_reads: Int64Matrix
    share: Int64Vector
    ceiling: Int64Matrix
    floor: Int64Matrix
    limit: Int64Matrix
    unit: FloatMatrix
    limit_unit: FloatMatrix
    may_lead: BoolVector
    leader: Int32Vector
    behind: Int32Matrix
    topic_of: Int32Vector
    topic_most: Int64Vector
    topic_least: Int64Vector
    topic_unit: FloatVector
    per_cost: float
    at: Int32Matrix
    loads: Int64Matrix
    counts: Int64Matrix
    first: Int64Vector
    after: Int64Vector
    before: Int64Vector
    penalty: FloatVector
    of_topics: FloatVector
    is_stuck: BoolVector
    seed: Int64Vector
    singles: Int64Vector
    unused: Int64Vector


@subroutine
def sampled(state: SearchState, below: int) -> int:
    """The next number of a linear congruential generator (Knuth's MMIX), from 0 to below - 1."""
    state.seed[0] = state.seed[0] * np.int64(6364136223846793005) + np.int64(1442695040888963407)
    return int((state.seed[0] >> np.int64(33)) & np.int64(0x3FFFFFFF)) % below


@subroutine
def violation(state: SearchState, broker: int, resource: int, load: int) -> float:
    """The penalty of one load of a broker."""
    total = 0.0
    if load > state.ceiling[broker, resource]:
        above = (load - state.ceiling[broker, resource]) * state.unit[broker, resource]
        total += above + STEEPNESS * above * above
    elif load < state.floor[broker, resource]:
        below = (state.floor[broker, resource] - load) * state.unit[broker, resource]
        total += below + STEEPNESS * below * below
    if load > state.limit[broker, resource]:
        over = (load - state.limit[broker, resource]) * state.limit_unit[broker, resource]
        total += over + STEEPNESS * over * over
    return total


@subroutine
def penalty_if(state: SearchState, broker: int, row: int, leads: int, follows: int) -> float:
    """The penalty of a broker if the row led or followed there this number of times more."""
    total = 0.0
    for resource in range(state.loads.shape[1]):
        load = state.loads[broker, resource]
        load += leads * state.of_leader[row, resource] + follows * state.of_follower[row, resource]
        total += violation(state, broker, resource, load)
    return total


@subroutine
def penalty_if_swapped(state: SearchState, broker: int, old: int, old_leads: int, new: int, new_leads: int) -> float:
    """The penalty of a broker if it had a replica of one row instead of one of another."""
    total = 0.0
    for resource in range(state.loads.shape[1]):
        load = state.loads[broker, resource]
        load -= state.of_leader[old, resource] if old_leads else state.of_follower[old, resource]
        load += state.of_leader[new, resource] if new_leads else state.of_follower[new, resource]
        total += violation(state, broker, resource, load)
    return total


@subroutine
def refresh(state: SearchState, broker: int) -> None:
    """Compute a broker's penalty anew."""
    state.penalty[broker] = penalty_if(state, broker, 0, 0, 0)


@subroutine
def topic_penalty(state: SearchState, topic: int, count: int) -> float:
    """The penalty of a number of replicas of a topic on a target broker."""
    off = max(count - state.topic_most[topic], state.topic_least[topic] - count)
    if off <= 0:
        return 0.0
    over = off * state.topic_unit[topic]
    return float(over + STEEPNESS * over * over)


@subroutine
def topic_change(rules: LoadRules, state: SearchState, row: int, broker: int, more: int) -> float:
    """How much the penalty of a row's topic on a broker rises with a replica more or less."""
    if len(state.topic_of) == 0 or not rules.target[broker]:
        return 0.0
    topic = state.topic_of[row]
    count = int(state.counts[topic, broker])
    return topic_penalty(state, topic, count + more) - topic_penalty(state, topic, count)


@subroutine
def leader_rank(state: SearchState, row: int, broker: int) -> int:
    """Replicas of the lowest rank lead: ready before others, then those on brokers that may lead."""
    return (2 if contains(state.behind, row, broker) else 0) + (0 if state.may_lead[broker] else 1)


@subroutine
def may_place(rules: LoadRules, state: SearchState, slot: int, to: int) -> bool:
    """Whether the placement stays legal, led by a broker that may lead, if the replica goes there."""
    width = state.at.shape[1]
    row = slot // width
    leader = state.at[row, 0]
    difference = leader_rank(state, row, to) - leader_rank(state, row, leader)
    # No replica ranks before the leader.
    if difference > 0 if slot % width == 0 else difference < 0:
        return False
    return may_move(rules, WorkingPlacement(state.at, state.unused), slot, to)


@subroutine
def may_transfer(state: SearchState, row: int, column: int) -> bool:
    """Whether the replica in the column may lead instead of that in column 0."""
    broker = state.at[row, column]
    return bool(broker >= 0 and leader_rank(state, row, broker) <= leader_rank(state, row, state.at[row, 0]))


@subroutine
def move_cost(rules: LoadRules, row: int, broker: int, to: int) -> int:
    """How much more is moved if the row's replica goes from one broker to another."""
    before = 0 if stays_free(rules, row, broker) else rules.cost[row]
    return int((0 if stays_free(rules, row, to) else rules.cost[row]) - before)


@subroutine
def leader_cost(state: SearchState, row: int, broker: int, to: int) -> int:
    """How many more leaders change if another broker leads the row."""
    if state.leader[row] < 0:
        return 0
    return int(state.leader[row] != to) - int(state.leader[row] != broker)


@subroutine
def unlink(state: SearchState, slot: int) -> None:
    """Take a slot from its broker's list."""
    width = state.at.shape[1]
    before, after = state.before[slot], state.after[slot]
    if before == NOWHERE:
        state.first[state.at[slot // width, slot % width]] = after
    else:
        state.after[before] = after
    if after != NOWHERE:
        state.before[after] = before


@subroutine
def link(state: SearchState, slot: int) -> None:
    """Put a slot at the front of its broker's list."""
    width = state.at.shape[1]
    broker = state.at[slot // width, slot % width]
    after = state.first[broker]
    state.first[broker] = slot
    state.before[slot] = NOWHERE
    state.after[slot] = after
    if after != NOWHERE:
        state.before[after] = slot


@subroutine
def slots_on(state: SearchState, broker: int) -> NDArray[np.int64]:
    """The slots of a broker's replicas as they are now, those that were linked last first."""
    count = 0
    slot = state.first[broker]
    while slot != NOWHERE:
        count += 1
        slot = state.after[slot]
    slots = np.empty(count, np.int64)
    slot = state.first[broker]
    for i in range(count):
        slots[i] = slot
        slot = state.after[slot]
    return slots


@subroutine
def serves(rules: LoadRules, state: SearchState, row: int, column: int) -> int:
    """The millionths of the consumers that a follower serves: those of its rack, unless another replica does."""
    broker = state.at[row, column]
    rack = rules.rack_of[broker]
    for other in range(state.at.shape[1]):
        there = state.at[row, other]
        if other != column and there >= 0 and rules.rack_of[there] == rack and (other == 0 or there > broker):
            return 0
    return int(state.share[rack])


@subroutine
def add_row(rules: LoadRules, state: SearchState, row: int, sign: int) -> None:
    """Add the loads of all replicas of a row, or subtract them, consumers that fetch from followers included."""
    leader = state.at[row, 0]
    for column in range(state.at.shape[1]):
        broker = state.at[row, column]
        if broker < 0:
            continue
        share = serves(rules, state, row, column) if column else 0
        for resource in range(state.loads.shape[1]):
            if column == 0:
                load = state.of_leader[row, resource] + state.of_reads[row, resource]
            else:
                read = state.of_reads[row, resource] * share // MILLION
                load = state.of_follower[row, resource] + read
                state.loads[leader, resource] -= sign * read
            state.loads[broker, resource] += sign * load


@subroutine
def refresh_row(state: SearchState, row: int) -> float:
    """Compute the penalties of a row's brokers anew; their sum."""
    total = 0.0
    for column in range(state.at.shape[1]):
        broker = state.at[row, column]
        if broker >= 0:
            refresh(state, broker)
            total += state.penalty[broker]
    return total


@subroutine
def place(rules: LoadRules, state: SearchState, slot: int, to: int) -> None:
    """Move a replica, its load and its place in the lists."""
    width = state.at.shape[1]
    row, column = slot // width, slot % width
    broker = state.at[row, column]
    unlink(state, slot)
    if len(state.of_reads):
        add_row(rules, state, row, -1)
        state.at[row, column] = to
        add_row(rules, state, row, 1)
    else:
        for resource in range(state.loads.shape[1]):
            load = state.of_follower[row, resource] if column else state.of_leader[row, resource]
            state.loads[broker, resource] -= load
            state.loads[to, resource] += load
        state.at[row, column] = to
    link(state, slot)
    if len(state.topic_of):
        state.counts[state.topic_of[row], broker] -= 1
        state.counts[state.topic_of[row], to] += 1
    refresh(state, broker)
    if len(state.of_reads):
        refresh_row(state, row)
    else:
        refresh(state, to)


@subroutine
def transfer(rules: LoadRules, state: SearchState, row: int, column: int) -> None:
    """Let the replica in the column lead instead of that in column 0; they swap columns."""
    width = state.at.shape[1]
    leader, other = state.at[row, 0], state.at[row, column]
    unlink(state, row * width)
    unlink(state, row * width + column)
    if len(state.of_reads):
        add_row(rules, state, row, -1)
    else:
        for resource in range(state.loads.shape[1]):
            extra = state.of_leader[row, resource] - state.of_follower[row, resource]
            state.loads[leader, resource] -= extra
            state.loads[other, resource] += extra
    state.at[row, 0], state.at[row, column] = other, leader
    if len(state.of_reads):
        add_row(rules, state, row, 1)
    link(state, row * width)
    link(state, row * width + column)
    refresh_row(state, row)


@subroutine
def rise_if_placed(rules: LoadRules, state: SearchState, slot: int, to: int) -> float:
    """How much the penalty rises if a replica goes to another broker."""
    width = state.at.shape[1]
    row = slot // width
    broker = state.at[row, slot % width]
    rise = topic_change(rules, state, row, broker, -1)
    rise += topic_change(rules, state, row, to, 1)
    if len(state.of_reads):
        before = refresh_row(state, row) + state.penalty[to]
        place(rules, state, slot, to)
        after = refresh_row(state, row) + state.penalty[broker]
        place(rules, state, slot, broker)
        return float(rise + after - before)
    leads = int(slot % width == 0)
    rise += penalty_if(state, broker, row, -leads, leads - 1) - state.penalty[broker]
    return float(rise + penalty_if(state, to, row, leads, 1 - leads) - state.penalty[to])


@subroutine
def rise_if_led(rules: LoadRules, state: SearchState, row: int, column: int) -> float:
    """How much the penalty rises if the replica in the column leads."""
    if len(state.of_reads):
        before = refresh_row(state, row)
        transfer(rules, state, row, column)
        after = refresh_row(state, row)
        transfer(rules, state, row, column)
        return float(after - before)
    leader, other = state.at[row, 0], state.at[row, column]
    rise = penalty_if(state, leader, row, -1, 1) - state.penalty[leader]
    return float(rise + penalty_if(state, other, row, 1, -1) - state.penalty[other])
