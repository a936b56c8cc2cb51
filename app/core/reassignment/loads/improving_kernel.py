"""Moves that raise brokers to a floor, and moves that undo unnecessary ones.

Replicas that were moved for nothing go home, as far as the band of loads allows it.

Brokers below a floor take replicas from those that can spare them; the placement stays legal all along.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.reassignment.loads.moves_kernel import Held, fits, may_go, move, stays_free
from app.core.reassignment.loads.rules import Rules


@njit(cache=True, nogil=True)
def bring_home(rules: Rules, held: Held, away: Int64s, by_broker: Int64s, starts: Int64s, low: int, high: int) -> int:
    """Bring replicas home, or let a cheaper one go in their stead; what that saves.

    Brokers that were within low … high stay so, and none that was above comes to carry more.

    Parameters
    ----------
    away : slots that are not at home, in the order in which they return.
    by_broker : all slots by broker; starts : (brokers + 1,) where each broker's begin. Slots that have moved since
        are passed over.
    """
    width = held.at.shape[1]
    heaviest_away, best_ratio = _worth_in_exchange(rules, held)
    saved = 0
    for slot in away:
        row = slot // width
        for column in range(rules.homes.shape[1]):
            home = rules.homes[row, column]
            if not rules.stays_free[row, column] or not may_go(rules, held, slot, home):
                continue
            gain = _return_alone(rules, held, slot, home, low, high)
            if gain == 0 and _is_worth_a_search(rules, held, slot, home, low, high, heaviest_away, best_ratio):
                others = by_broker[starts[home] : starts[home + 1]]
                gain = _return_against(rules, held, slot, home, others, low, high)
            saved += gain
            if gain > 0:
                break
    return saved


@njit(cache=True, nogil=True)
def _return_alone(rules: Rules, held: Held, slot: int, home: int, low: int, high: int) -> int:
    """Bring one replica to its home if both brokers' loads allow it; what that saves."""
    width = held.at.shape[1]
    row = slot // width
    broker, load = held.at[row, slot % width], rules.load[row]
    if fits(rules, held, home, load, low, high) and fits(rules, held, broker, -load, low, high):
        move(rules, held, slot, home)
        return int(rules.cost[row])
    return 0


@njit(cache=True, nogil=True)
def _return_against(rules: Rules, held: Held, slot: int, home: int, others: Int64s, low: int, high: int) -> int:
    """Bring one replica to its home, and what costs least of the home's to where it was; what that saves."""
    width = held.at.shape[1]
    row = slot // width
    broker, load = held.at[row, slot % width], rules.load[row]
    best, cheapest = -1, int(rules.cost[row])
    for other in others:
        other_row = other // width
        if held.at[other_row, other % width] != home or other_row == row:
            continue
        more = load - rules.load[other_row]
        if not (_keeps(rules, held, home, more, low, high) and _keeps(rules, held, broker, -more, low, high)):
            continue
        cost = 0
        if stays_free(rules, other_row, home) and not stays_free(rules, other_row, broker):
            cost = int(rules.cost[other_row])
        if cost < cheapest and may_go(rules, held, other, broker):
            best, cheapest = int(other), cost
    if best < 0:
        return 0
    move(rules, held, slot, home)
    move(rules, held, best, broker)
    return int(rules.cost[row]) - cheapest


@njit(cache=True, nogil=True)
def _is_worth_a_search(
    rules: Rules,
    held: Held,
    slot: int,
    home: int,
    low: int,
    high: int,
    heaviest_away: Int64s,
    best_ratio: NDArray[np.float64],
) -> bool:
    """Whether something at the home may be heavy enough to go in exchange, and cheaper all the same."""
    width = held.at.shape[1]
    row = slot // width
    broker = held.at[row, slot % width]
    needed = np.int64(0)
    if rules.target[home]:
        needed = max(needed, held.loads[home] + rules.load[row] - high)
    if rules.target[broker]:
        needed = max(needed, low + rules.load[row] - held.loads[broker])
    return bool(needed <= heaviest_away[home] or needed * best_ratio[home] < rules.cost[row])


@njit(cache=True, nogil=True)
def _worth_in_exchange(rules: Rules, held: Held) -> tuple[Int64s, NDArray[np.float64]]:
    """Per broker, the heaviest replica that is not at home there, and the least cost for its load of those that are.

    What has to go in exchange must weigh so much: where neither can, nobody needs to look through the broker's list.
    Both grow stale as replicas move, which only leaves a few exchanges unmade until the next pass.
    """
    width = held.at.shape[1]
    heaviest_away = np.full(len(held.loads), -1, np.int64)
    best_ratio = np.full(len(held.loads), np.inf)
    for slot in range(held.at.size):
        row = slot // width
        broker = held.at[row, slot % width]
        if broker >= 0 and rules.load[row] > 0:
            if stays_free(rules, row, broker):
                best_ratio[broker] = min(best_ratio[broker], rules.cost[row] / rules.load[row])
            else:
                heaviest_away[broker] = max(heaviest_away[broker], rules.load[row])
    return heaviest_away, best_ratio


@njit(cache=True, nogil=True)
def _keeps(rules: Rules, held: Held, broker: int, more: int, low: int, high: int) -> bool:
    return more == 0 or fits(rules, held, broker, more, low, high)


SMALL_REST = 1000
"""Once a broker misses less of its floor than one part in so many, one replica makes it up and costs little."""


@njit(cache=True, nogil=True)
def fill(rules: Rules, held: Held, takers: Int64s, slots: Int64s, floor: int, ceiling: int) -> None:
    """Let each taker in turn take what costs least.

    It takes replicas in their order as long as they do not pass the floor, then the cheapest that reaches it.

    Parameters
    ----------
    slots : what may move and has a load, by ascending cost for the load, then by descending load.
    """
    width = held.at.shape[1]
    # Most replicas are passed over, so that what decides that stands together.
    loads, holders = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
    for at in range(len(slots)):
        row = slots[at] // width
        loads[at], holders[at] = rules.load[row], held.at[row, slots[at] % width]
    carried, target = held.loads, rules.target
    for broker in takers:
        for at in range(len(slots)):
            missing = floor - carried[broker]
            if missing < max(1, floor // SMALL_REST):
                break
            load, holder = loads[at], holders[at]
            if load > missing or holder == broker or (target[holder] and carried[holder] - load < floor):
                continue
            if may_go(rules, held, slots[at], broker):
                move(rules, held, slots[at], broker)
                holders[at] = broker
        missing = floor - carried[broker]
        best, cheapest = -1, np.int64(0)
        for at in range(len(slots) if missing > 0 else 0):
            load, holder = loads[at], holders[at]
            if load < missing or load > missing + ceiling - floor or holder == broker:
                continue
            if target[holder] and carried[holder] - load < floor:
                continue
            row = slots[at] // width
            cost = rules.cost[row] if stays_free(rules, row, holder) else np.int64(0)
            if (best < 0 or cost < cheapest) and may_go(rules, held, slots[at], broker):
                best, cheapest = at, cost
        if best >= 0:
            move(rules, held, slots[best], broker)
            holders[best] = broker
