"""Legal moves of a working placement, and the moves that bring brokers below a ceiling.

A replica is identified by its slot, row · widest + column. Brokers and constants are passed as int64, so that each loop
is compiled once. What an overloaded broker sheds is a knapsack cover: greedy
by cost for the load, the heaviest of equals first, while nothing exceeds the surplus; before each step the cheapest
single replica that covers the rest is tried, and the best of these covers wins.

Source: Gens and Levner (1979) for the cover, at most twice as expensive as the optimum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import BoolVector, Int32Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.reassignment.legal_sets_kernel import contains
from app.core.reassignment.rules import LoadRules


class WorkingPlacement(NamedTuple):
    """A legal placement that changes one replica at a time.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, padded with -1. loads : (brokers,) int64, base included.
    """

    at: Int32Matrix
    loads: Int64Vector


@subroutine
def may_move(rules: LoadRules, working: WorkingPlacement, slot: int, to: int) -> bool:
    """Whether the placement stays legal if the replica goes there; not to where it is, nor to another of its
    partition.
    """
    width = working.at.shape[1]
    row = slot // width
    broker = working.at[row, slot % width]
    domain = rules.domain_of[row]
    rack, rack_left = rules.rack_of[to], rules.rack_of[broker]
    there = left = 0
    for at in range(rules.factor[domain]):
        other = working.at[row, at]
        if other == to:
            return False
        there += rules.rack_of[other] == rack
        left += rules.rack_of[other] == rack_left
    if rack != rack_left and (there >= rules.most[domain, rack] or left <= rules.least[domain, rack_left]):
        return False
    return broker != rules.must_keep[row] and bool(rules.may_receive[domain, to] or contains(rules.current, row, to))


@subroutine
def stays_free(rules: LoadRules, row: int, broker: int) -> bool:
    """Whether a replica of the row costs nothing on the broker."""
    for column in range(rules.current.shape[1]):
        if rules.current[row, column] == broker:
            return bool(rules.stays_free[row, column])
    return False


@subroutine
def has_capacity(rules: LoadRules, working: WorkingPlacement, broker: int, load: int, ceiling: int) -> bool:
    """Whether the broker is no target, or stays below the ceiling with a load added."""
    return bool(not rules.target[broker] or working.loads[broker] + load <= ceiling)


@subroutine
def cheapest_cover(loads: Int64Vector, costs: Int64Vector, surplus: int) -> NDArray[np.bool_]:
    """Choose replicas to shed so that they cover the surplus; all of them if they do not.

    Parameters
    ----------
    loads, costs : (replicas,) int64, > 0 and >= 0, by ascending cost for the load, then by descending load.
    """
    chosen = np.zeros(len(loads), np.bool_)
    heaviest = 0
    for load in loads:
        heaviest = max(heaviest, load)
    rest, spent = surplus, 0
    best, best_last, best_first = -1, -1, 0
    for item in range(len(loads) + 1):
        is_item = item < len(loads)
        if is_item and loads[item] > rest:
            continue
        if heaviest >= rest:
            last = _cheapest_end(loads, costs, chosen, rest)
            if last >= 0 and (best < 0 or spent + costs[last] < best):
                best, best_last, best_first = spent + int(costs[last]), last, item
        if not is_item:
            break
        chosen[item] = True
        rest -= int(loads[item])
        spent += int(costs[item])
        if rest == 0:
            if best < 0 or spent <= best:
                return chosen
            break
    if best >= 0:
        chosen[best_first:] = False
        chosen[best_last] = True
    return chosen


@subroutine
def _cheapest_end(loads: Int64Vector, costs: Int64Vector, chosen: BoolVector, rest: int) -> int:
    """The cheapest of the others that covers the rest alone, the lightest of equals; -1 if none does."""
    best = -1
    for item in range(len(loads)):
        if chosen[item] or loads[item] < rest:
            continue
        if best < 0 or costs[item] < costs[best] or (costs[item] == costs[best] and loads[item] < loads[best]):
            best = item
    return best


@compiled
def shed_load(
    rules: LoadRules,
    working: WorkingPlacement,
    slots: Int64Vector,
    slots_of: Int64Vector,
    senders: Int64Vector,
    least: int,
    ceiling: int,
    keep_current: bool,
    is_shed: BoolVector,
) -> None:
    """Let each sender in turn choose what to shed of its load above the ceiling, and mark that in `is_shed`.

    A shed replica still is at its broker, whose load no longer includes it. Replicas are not shed if they would load
    the least loaded broker more than their own is loaded.

    Parameters
    ----------
    slots : of the senders, sender by sender, by ascending cost for the load, then by descending load.
    slots_of : (senders + 1,) where each sender's begin.
    least : load of a broker that receives.
    keep_current : a replica on a current broker may only go to another one where it costs nothing.
    """
    width = working.at.shape[1]
    choice = np.empty(len(slots), np.int64)
    loads, costs = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
    for i in range(len(senders)):
        broker = senders[i]
        count = 0
        for at in range(slots_of[i], slots_of[i + 1]):
            slot = slots[at]
            row = slot // width
            if is_shed[slot] or least + rules.load[row] >= working.loads[broker]:
                continue
            lighter = other_current(rules, working, slot, int(working.loads[broker]))
            if lighter >= 0 or not (keep_current and contains(rules.current, row, broker)):
                in_place = stays_free(rules, row, broker) and other_current(rules, working, slot, ceiling) < 0
                choice[count] = slot
                loads[count] = rules.load[row]
                costs[count] = rules.cost[row] if in_place else 0
                count += 1
        chosen = cheapest_cover(loads[:count], costs[:count], working.loads[broker] - ceiling)
        for j in range(count):
            if chosen[j]:
                is_shed[choice[j]] = True
                working.loads[broker] -= loads[j]


@compiled
def redistribute(
    rules: LoadRules, working: WorkingPlacement, slots: Int64Vector, ceiling: int, keep_current: bool
) -> None:
    """Place shed replicas on a current broker with slack where they cost nothing, or on the least loaded broker.

    Parameters
    ----------
    slots : in the order in which they are placed. keep_current : as in `shed_load`.
    """
    width = working.at.shape[1]
    for slot in slots:
        to = _destination(rules, working, slot, ceiling, keep_current)
        working.loads[to] += rules.load[slot // width]
        working.at[slot // width, slot % width] = to


@subroutine
def other_current(rules: LoadRules, working: WorkingPlacement, slot: int, ceiling: int) -> int:
    """The least loaded other current broker where the replica costs nothing and fits below the ceiling, or -1."""
    row = slot // working.at.shape[1]
    best = -1
    for column in range(rules.current.shape[1]):
        current_broker = int(np.int64(rules.current[row, column]))
        if (
            rules.stays_free[row, column]
            and has_capacity(rules, working, current_broker, rules.load[row], ceiling)
            and (best < 0 or working.loads[current_broker] < working.loads[best])
            and may_move(rules, working, slot, current_broker)
        ):
            best = current_broker
    return best


@subroutine
def _destination(rules: LoadRules, working: WorkingPlacement, slot: int, ceiling: int, keep_current: bool) -> int:
    """The broker for a shed replica: a current one with slack, or the least loaded; at worst the one where it is.

    A broker that is no target counts as filled exactly to the ceiling: better than any beyond it.
    """
    width = working.at.shape[1]
    row = slot // width
    broker = int(np.int64(working.at[row, slot % width]))
    load = rules.load[row]
    was_current = contains(rules.current, row, broker)
    if was_current and has_capacity(rules, working, broker, load, ceiling):
        return int(broker)
    current_broker = other_current(rules, working, slot, ceiling)
    if current_broker >= 0:
        return current_broker
    best = broker
    least = working.loads[broker] if rules.target[broker] else ceiling - load
    is_open = _open_racks(rules, working, slot)
    for to in range(len(working.loads)):
        level = working.loads[to] if rules.target[to] else ceiling - load
        if level >= least or not is_open[rules.rack_of[to]] or not may_move(rules, working, slot, to):
            continue
        if not (keep_current and was_current) or stays_free(rules, row, to):
            best, least = to, level
    return int(best)


@subroutine
def _open_racks(rules: LoadRules, working: WorkingPlacement, slot: int) -> NDArray[np.bool_]:
    """(racks,) bool: racks that may have the replica by the counts of its partition."""
    width = working.at.shape[1]
    row = slot // width
    domain = rules.domain_of[row]
    per_rack = np.zeros(rules.least.shape[1], np.int64)
    for column in range(rules.factor[domain]):
        per_rack[rules.rack_of[working.at[row, column]]] += 1
    own = rules.rack_of[working.at[row, slot % width]]
    is_open = np.zeros(len(per_rack), np.bool_)
    for rack in range(len(per_rack)):
        is_open[rack] = per_rack[own] > rules.least[domain, own] and per_rack[rack] < rules.most[domain, rack]
    is_open[own] = True
    return is_open
