"""Replicas that were moved for nothing go home, as far as the band of loads allows it."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.reassignment.loads.held_kernel import NO_SLOT, Held, fits, may_go, move, stays_free
from app.core.reassignment.loads.rules import Rules


@njit(cache=True, nogil=True)
def bring_home(rules: Rules, held: Held, low: int, high: int) -> int:
    """Bring replicas home, the dearest first, or let a cheaper one go in their stead; what that saves.

    Brokers that were within low … high stay so, and none that was above comes to carry more.
    """
    width = held.at.shape[1]
    away = np.empty(held.at.size, np.int64)
    count = 0
    for slot in range(held.at.size):
        row = slot // width
        broker = held.at[row, slot % width]
        if broker >= 0 and rules.cost[row] > 0 and not stays_free(rules, row, broker):
            away[count] = slot
            count += 1
    slots = away[:count]
    heaviest_away, best_ratio = _worth_in_exchange(rules, held)
    saved = 0
    for slot in slots[np.argsort(-rules.cost[slots // width], kind="mergesort")]:
        row = slot // width
        for column in range(rules.homes.shape[1]):
            home = rules.homes[row, column]
            if rules.stays_free[row, column] and may_go(rules, held, slot, home):
                gain = _return_to(rules, held, slot, home, low, high, heaviest_away, best_ratio)
                saved += gain
                if gain > 0:
                    break
    return saved


@njit(cache=True, nogil=True)
def _return_to(
    rules: Rules,
    held: Held,
    slot: int,
    home: int,
    low: int,
    high: int,
    heaviest_away: Int64s,
    best_ratio: NDArray[np.float64],
) -> int:
    """Bring one replica to its home, alone or against another that goes where it was; what that saves."""
    width = held.at.shape[1]
    row = slot // width
    broker, load = held.at[row, slot % width], rules.load[row]
    if fits(rules, held, home, load, low, high) and fits(rules, held, broker, -load, low, high):
        move(rules, held, slot, home)
        return int(rules.cost[row])
    needed = held.loads[home] + load - high if rules.target[home] else 0
    if needed > heaviest_away[home] and needed * best_ratio[home] >= rules.cost[row]:
        return 0
    best, cheapest = _cheapest_in_exchange(rules, held, slot, home, low, high)
    if best < 0:
        return 0
    move(rules, held, slot, home)
    move(rules, held, best, broker)
    return int(rules.cost[row] - cheapest)


@njit(cache=True, nogil=True)
def _cheapest_in_exchange(rules: Rules, held: Held, slot: int, home: int, low: int, high: int) -> tuple[int, int]:
    """The replica at the home that goes at the least cost instead, and that cost; -1 where that saves nothing."""
    width = held.at.shape[1]
    row = slot // width
    broker, load = held.at[row, slot % width], rules.load[row]
    best, cheapest = np.int64(-1), int(rules.cost[row])
    other = held.first[home]
    while other != NO_SLOT:
        other_row = other // width
        more = load - rules.load[other_row]
        cost = 0
        if stays_free(rules, other_row, home) and not stays_free(rules, other_row, broker):
            cost = int(rules.cost[other_row])
        if (
            cost < cheapest
            and other_row != row
            and _keeps(rules, held, home, more, low, high)
            and _keeps(rules, held, broker, -more, low, high)
            and may_go(rules, held, other, broker)
        ):
            best, cheapest = other, cost
        other = held.following[other]
    return int(best), cheapest


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
