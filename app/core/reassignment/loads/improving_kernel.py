"""Moves that raise brokers to a floor, and moves that undo unnecessary ones; the placement stays legal throughout."""

import numpy as np
from numpy.typing import NDArray

from app.core.compiled.arrays import FloatVector, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import Int64s
from app.core.reassignment.loads.moves_kernel import WorkingPlacement, fits, floor_of, may_move, move, stays_free
from app.core.reassignment.loads.rules import LoadRules

ANY_LOAD = 1 << 60
"""Above every load."""


@compiled
def undo_moves(
    rules: LoadRules,
    working: WorkingPlacement,
    away: Int64Vector,
    by_broker: Int64Vector,
    starts: Int64Vector,
    low: int,
    high: int,
) -> int:
    """Return replicas to current brokers, alone or in exchange for a cheaper one; the cost saved.

    Brokers that were within low … high stay so, and none above it receives more load.

    Parameters
    ----------
    away : slots that are not on a current broker, in the order in which they return.
    by_broker : all slots by broker, then by ascending load; starts : (brokers + 1,) where each broker's begin. Slots
        that have moved since are skipped.
    """
    width = working.at.shape[1]
    heaviest_away, best_ratio = _swap_potential(rules, working)
    saved = 0
    for slot in away:
        row = slot // width
        for column in range(rules.current.shape[1]):
            current_broker = int(np.int64(rules.current[row, column]))
            if not rules.stays_free[row, column] or not may_move(rules, working, slot, current_broker):
                continue
            gain = _undo_alone(rules, working, slot, current_broker, low, high)
            if gain == 0 and _may_have_swap(rules, working, slot, current_broker, low, high, heaviest_away, best_ratio):
                others = by_broker[starts[current_broker] : starts[current_broker + 1]]
                gain = _undo_by_swap(rules, working, slot, current_broker, others, low, high)
            saved += gain
            if gain > 0:
                break
    return saved


@subroutine
def _undo_alone(
    rules: LoadRules, working: WorkingPlacement, slot: int, current_broker: int, low: int, high: int
) -> int:
    """1-move: return one replica to a current broker if both brokers' loads allow it; the cost saved."""
    width = working.at.shape[1]
    row = slot // width
    broker, load = int(np.int64(working.at[row, slot % width])), rules.load[row]
    if fits(rules, working, current_broker, load, low, high) and fits(rules, working, broker, -load, low, high):
        move(rules, working, slot, current_broker)
        return int(rules.cost[row])
    return 0


@subroutine
def _undo_by_swap(
    rules: LoadRules,
    working: WorkingPlacement,
    slot: int,
    current_broker: int,
    others: Int64Vector,
    low: int,
    high: int,
) -> int:
    """2-swap: return one replica, and move the cheapest one of that broker to where it was; the cost saved."""
    width = working.at.shape[1]
    row = slot // width
    broker, load = int(np.int64(working.at[row, slot % width])), rules.load[row]
    best, cheapest = int(np.int64(-1)), int(rules.cost[row])
    more_most, less_most = _most_exchanged(rules, working, broker, current_broker, low, high)
    for at in range(_first_as_heavy(rules, others, width, load - more_most), len(others)):
        other = others[at]
        other_row = other // width
        if rules.load[other_row] > load + less_most:
            break
        if working.at[other_row, other % width] != current_broker or other_row == row:
            continue
        cost = 0
        if stays_free(rules, other_row, current_broker) and not stays_free(rules, other_row, broker):
            cost = int(rules.cost[other_row])
        is_better = cost < cheapest or (cost == cheapest and 0 <= other < best)
        if is_better and may_move(rules, working, int(other), broker):
            best, cheapest = int(other), cost
    if best < 0:
        return 0
    move(rules, working, slot, current_broker)
    move(rules, working, best, broker)
    return int(rules.cost[row]) - cheapest


@subroutine
def _may_have_swap(
    rules: LoadRules,
    working: WorkingPlacement,
    slot: int,
    current_broker: int,
    low: int,
    high: int,
    heaviest_away: Int64Vector,
    best_ratio: FloatVector,
) -> bool:
    """Whether some replica of that broker may be heavy enough to go in exchange, and cheaper."""
    width = working.at.shape[1]
    row = slot // width
    broker = working.at[row, slot % width]
    needed = np.int64(0)
    if rules.target[current_broker]:
        needed = max(needed, working.loads[current_broker] + rules.load[row] - high)
    needed = max(needed, floor_of(rules, broker, low) + rules.load[row] - working.loads[broker])
    return bool(needed <= heaviest_away[current_broker] or needed * best_ratio[current_broker] < rules.cost[row])


@subroutine
def _swap_potential(rules: LoadRules, working: WorkingPlacement) -> tuple[Int64s, NDArray[np.float64]]:
    """Per broker, the heaviest replica that is not on a current broker there, and the least cost for its load of the
    others.

    If neither can weigh enough, the list of the broker need not be searched. Both become outdated as replicas move,
    which only leaves a few swaps to the next pass.
    """
    width = working.at.shape[1]
    heaviest_away = np.full(len(working.loads), -1, np.int64)
    best_ratio = np.full(len(working.loads), np.inf)
    for slot in range(working.at.size):
        row = slot // width
        broker = int(np.int64(working.at[row, slot % width]))
        if broker >= 0 and rules.load[row] > 0:
            if stays_free(rules, row, broker):
                best_ratio[broker] = min(best_ratio[broker], rules.cost[row] / rules.load[row])
            else:
                heaviest_away[broker] = max(heaviest_away[broker], rules.load[row])
    return heaviest_away, best_ratio


@subroutine
def _most_exchanged(
    rules: LoadRules, working: WorkingPlacement, broker: int, current_broker: int, low: int, high: int
) -> tuple[int, int]:
    """The most load that the current broker may gain, and lose, in exchange with the other one; at least 0 each."""
    gained, lost = ANY_LOAD, ANY_LOAD
    of_broker, of_current = int(working.loads[broker]), int(working.loads[current_broker])
    lost = min(lost, of_current - floor_of(rules, current_broker, low))
    gained = min(gained, of_broker - floor_of(rules, broker, low))
    if rules.target[current_broker]:
        gained = min(gained, high - of_current)
    if rules.target[broker]:
        lost = min(lost, high - of_broker)
    return max(gained, 0), max(lost, 0)


@subroutine
def _first_as_heavy(rules: LoadRules, slots: Int64Vector, width: int, load: int) -> int:
    """Where the first replica of at least a load is in a list by ascending load."""
    first, end = 0, len(slots)
    while first < end:
        middle = (first + end) // 2
        if rules.load[slots[middle] // width] < load:
            first = middle + 1
        else:
            end = middle
    return first


SMALL_REST = 1000
"""A broker short of its floor by less than one part in so many is completed by one replica, at little cost."""


@compiled
def raise_to_floor(
    rules: LoadRules, working: WorkingPlacement, receivers: Int64Vector, slots: Int64Vector, floor: int, ceiling: int
) -> None:
    """Let each receiver in turn take the cheapest replicas until it reaches the floor.

    It takes replicas in their order as long as they do not pass the floor, then the cheapest one that reaches it.

    Parameters
    ----------
    slots : movable replicas with a load, by ascending cost for the load, then by descending load.
    """
    width = working.at.shape[1]
    # Most replicas are skipped, so that what decides on that is contiguous in memory.
    loads, holders = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
    for at in range(len(slots)):
        row = slots[at] // width
        loads[at], holders[at] = rules.load[row], working.at[row, slots[at] % width]
    carried = working.loads
    for broker in receivers:
        for at in range(len(slots)):
            missing = floor - carried[broker]
            if missing < max(1, floor // SMALL_REST):
                break
            load, holder = loads[at], holders[at]
            if load > missing or holder == broker or carried[holder] - load < floor_of(rules, holder, floor):
                continue
            if may_move(rules, working, slots[at], broker):
                move(rules, working, slots[at], broker)
                holders[at] = broker
        missing = floor - carried[broker]
        best, cheapest = -1, np.int64(0)
        for at in range(len(slots) if missing > 0 else 0):
            load, holder = loads[at], holders[at]
            if load < missing or load > missing + ceiling - floor or holder == broker:
                continue
            if carried[holder] - load < floor_of(rules, holder, floor):
                continue
            row = slots[at] // width
            cost = rules.cost[row] if stays_free(rules, row, holder) else np.int64(0)
            if (best < 0 or cost < cheapest) and may_move(rules, working, slots[at], broker):
                best, cheapest = at, cost
        if best >= 0:
            move(rules, working, slots[best], broker)
            holders[best] = broker
