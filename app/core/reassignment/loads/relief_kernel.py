"""Brokers above a ceiling give replicas, brokers below a floor take some; the placement stays legal all along."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int64s
from app.core.reassignment.loads.covers_kernel import cheapest_cover
from app.core.reassignment.loads.held_kernel import NO_SLOT, Held, fits, is_home, may_go, move, relink, stays_free
from app.core.reassignment.loads.rules import Rules


@njit(cache=True, nogil=True)
def relieve(rules: Rules, held: Held, ceiling: int, gather: bool, homes_stay: bool) -> int:
    """Let target brokers above the ceiling give what costs least, and deal it out, heaviest first; how many were dealt.

    Each goes to a free home that has room, else to the least loaded broker that may have it.

    Parameters
    ----------
    gather : deal out everything that is not at home as well, since it moves in any case.
    homes_stay : what is at home goes only to another home, where it costs nothing.
    """
    width = held.at.shape[1]
    dealt = np.empty(held.at.size, np.int64)
    is_dealt = np.zeros(held.at.size, np.bool_)
    count = 0
    if gather:
        for slot in range(held.at.size):
            row = slot // width
            broker = held.at[row, slot % width]
            if broker >= 0 and broker != rules.must_keep[row] and not is_home(rules, row, broker):
                is_dealt[slot] = True
                dealt[count] = slot
                count += 1
                held.loads[broker] -= rules.load[row]
    for broker in np.argsort(-held.loads, kind="mergesort"):
        if rules.target[broker] and held.loads[broker] > ceiling:
            count = _give(rules, held, broker, ceiling, homes_stay, is_dealt, dealt, count)
    slots = np.sort(dealt[:count])
    for slot in slots[np.argsort(-rules.load[slots // width], kind="mergesort")]:
        row = slot // width
        to = _destination(rules, held, slot, ceiling, homes_stay)
        held.loads[to] += rules.load[row]
        if to != held.at[row, slot % width]:
            relink(held, slot, to)
    return count


@njit(cache=True, nogil=True)
def _give(
    rules: Rules,
    held: Held,
    broker: int,
    ceiling: int,
    homes_stay: bool,
    is_dealt: NDArray[np.bool_],
    dealt: Int64s,
    count: int,
) -> int:
    """Take the surplus off a broker: choose what it gives, add that to `dealt`; how many are there now."""
    width = held.at.shape[1]
    choice = np.empty(held.at.size if held.at.size < 1024 else 1024, np.int64)
    choices = 0
    slot = held.first[broker]
    while slot != NO_SLOT:
        row = slot // width
        if not is_dealt[slot] and rules.load[row] > 0 and _can_leave(rules, held, slot, homes_stay):
            if choices == len(choice):
                choice = np.concatenate((choice, np.empty_like(choice)))
            choice[choices] = slot
            choices += 1
        slot = held.following[slot]
    if choices == 0:
        return count
    slots = np.sort(choice[:choices])
    costs = np.empty(choices, np.int64)
    for i in range(choices):
        row = slots[i] // width
        at_home = stays_free(rules, row, broker) and _other_home(rules, held, slots[i], ceiling) < 0
        costs[i] = rules.cost[row] if at_home else 0
    chosen = cheapest_cover(rules.load[slots // width], costs, held.loads[broker] - ceiling)
    for slot in slots[chosen]:
        is_dealt[slot] = True
        dealt[count] = slot
        count += 1
        held.loads[broker] -= rules.load[slot // width]
    return count


@njit(cache=True, nogil=True)
def _can_leave(rules: Rules, held: Held, slot: int, homes_stay: bool) -> bool:
    """Whether some broker would carry less with the replica than the one that has it does now."""
    width = held.at.shape[1]
    row = slot // width
    broker = held.at[row, slot % width]
    bound_home = homes_stay and is_home(rules, row, broker)
    for to in range(len(held.loads)):
        if not rules.target[to] or held.loads[to] + rules.load[row] < held.loads[broker]:
            if bound_home and not stays_free(rules, row, to):
                continue
            if may_go(rules, held, slot, to):
                return True
    return False


@njit(cache=True, nogil=True)
def _other_home(rules: Rules, held: Held, slot: int, ceiling: int) -> int:
    """The least loaded other broker where the replica costs nothing and fits below the ceiling, or -1."""
    row = slot // held.at.shape[1]
    best = -1
    for column in range(rules.homes.shape[1]):
        home = rules.homes[row, column]
        if (
            rules.stays_free[row, column]
            and fits(rules, held, home, rules.load[row], 0, ceiling)
            and (best < 0 or held.loads[home] < held.loads[best])
            and may_go(rules, held, slot, home)
        ):
            best = home
    return best


@njit(cache=True, nogil=True)
def _destination(rules: Rules, held: Held, slot: int, ceiling: int, homes_stay: bool) -> int:
    """Where a replica whose load nobody carries is to go: a home with room, or the least loaded; where it is at worst.

    A broker that is no target counts as one that it would fill to the ceiling exactly: better than any beyond.
    """
    width = held.at.shape[1]
    row = slot // width
    broker = held.at[row, slot % width]
    load = rules.load[row]
    was_home = is_home(rules, row, broker)
    if was_home and fits(rules, held, broker, load, 0, ceiling):
        return int(broker)
    home = _other_home(rules, held, slot, ceiling)
    if home >= 0:
        return home
    best = broker
    least = held.loads[broker] if rules.target[broker] else ceiling - load
    for to in range(len(held.loads)):
        level = held.loads[to] if rules.target[to] else ceiling - load
        if level < least and (not (homes_stay and was_home) or stays_free(rules, row, to)):  # noqa: SIM102 — the cheap test first
            if may_go(rules, held, slot, to):
                best, least = to, level
    return int(best)


@njit(cache=True, nogil=True)
def fill(rules: Rules, held: Held, floor: int, ceiling: int) -> int:
    """Let target brokers below the floor take what costs least from those that can spare it; how many were moved."""
    width = held.at.shape[1]
    movable = np.empty(held.at.size, np.int64)
    ratio = np.empty(held.at.size, np.float64)
    count = moved = 0
    for slot in range(held.at.size):
        row = slot // width
        broker = held.at[row, slot % width]
        if broker >= 0 and broker != rules.must_keep[row] and rules.load[row] > 0:
            movable[count] = slot
            ratio[count] = rules.cost[row] / rules.load[row] if stays_free(rules, row, broker) else 0.0
            count += 1
    slots = movable[:count]
    by_load = np.argsort(-rules.load[slots // width], kind="mergesort")
    slots = slots[by_load[np.argsort(ratio[:count][by_load], kind="mergesort")]]
    for broker in np.argsort(held.loads, kind="mergesort"):
        if rules.target[broker]:
            moved += _take(rules, held, broker, slots, floor, ceiling)
    return moved


@njit(cache=True, nogil=True)
def _take(rules: Rules, held: Held, broker: int, slots: Int64s, floor: int, ceiling: int) -> int:
    """Take replicas in their order as long as they do not pass the floor, then the cheapest that reaches it."""
    width = held.at.shape[1]
    moved = 0
    for slot in slots:
        if held.loads[broker] >= floor:
            return moved
        if held.loads[broker] + rules.load[slot // width] <= floor and _can_spare(rules, held, slot, broker, floor):
            move(rules, held, slot, broker)
            moved += 1
    if held.loads[broker] >= floor:
        return moved
    best, cheapest = -1, np.int64(0)
    for slot in slots:
        row = slot // width
        cost = rules.cost[row] if stays_free(rules, row, held.at[row, slot % width]) else np.int64(0)
        reached = held.loads[broker] + rules.load[row]
        if (
            floor <= reached <= ceiling
            and (best < 0 or cost < cheapest)
            and _can_spare(rules, held, slot, broker, floor)
        ):
            best, cheapest = slot, cost
    if best >= 0:
        move(rules, held, best, broker)
        moved += 1
    return moved


@njit(cache=True, nogil=True)
def _can_spare(rules: Rules, held: Held, slot: int, to: int, floor: int) -> bool:
    width = held.at.shape[1]
    row = slot // width
    return fits(rules, held, held.at[row, slot % width], -rules.load[row], floor, 0) and may_go(rules, held, slot, to)
