"""Single moves of a placement, and the moves that bring brokers below a ceiling.

Who holds which replica, and whether one may go elsewhere. A replica is known by its slot, row · widest + column.

The cheapest replicas that make up a surplus: a knapsack to be covered.

Greedy by cost for its load, the heaviest of equal ones first, as far as nothing is given too much; before each step,
the cheapest single replica that would make up the rest is tried, and the best of these ends wins.

Source: the rule is Gens and Levner's (1979), which is at most twice as dear as the best.

Brokers above a ceiling give replicas, and what was given is dealt out; the placement stays legal all along.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from app.core.model import Int32s, Int64s
from app.core.reassignment.loads.rules import Rules


class Held(NamedTuple):
    """A legal placement that changes a replica at a time.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, padded with -1. loads : (brokers,) int64, base included.
    """

    at: Int32s
    loads: Int64s


@njit(cache=True, nogil=True)
def move(rules: Rules, held: Held, slot: int, to: int) -> None:
    """Let another broker hold the replica and carry its load."""
    width = held.at.shape[1]
    row, column = slot // width, slot % width
    held.loads[held.at[row, column]] -= rules.load[row]
    held.loads[to] += rules.load[row]
    held.at[row, column] = to


@njit(cache=True, nogil=True)
def may_go(rules: Rules, held: Held, slot: int, to: int) -> bool:
    """Whether the placement stays legal when the replica goes there; not to where it is, nor to its partition's own."""
    width = held.at.shape[1]
    row = slot // width
    broker = held.at[row, slot % width]
    domain = rules.domain_of[row]
    rack, rack_left = rules.rack_of[to], rules.rack_of[broker]
    there = left = 0
    for at in range(rules.factor[domain]):
        other = held.at[row, at]
        if other == to:
            return False
        there += rules.rack_of[other] == rack
        left += rules.rack_of[other] == rack_left
    if rack != rack_left and (there >= rules.most[domain, rack] or left <= rules.least[domain, rack_left]):
        return False
    return broker != rules.must_keep[row] and bool(rules.may_receive[domain, to] or is_home(rules, row, to))


@njit(cache=True, nogil=True)
def is_home(rules: Rules, row: int, broker: int) -> bool:
    """Whether a replica of the row may be there because one is there, or is copied there in any case."""
    for column in range(rules.homes.shape[1]):  # noqa: SIM110 — any() over a generator is nothing that numba compiles
        if rules.homes[row, column] == broker:
            return True
    return False


@njit(cache=True, nogil=True)
def stays_free(rules: Rules, row: int, broker: int) -> bool:
    """Whether a replica of the row costs nothing there."""
    for column in range(rules.homes.shape[1]):
        if rules.homes[row, column] == broker:
            return bool(rules.stays_free[row, column])
    return False


@njit(cache=True, nogil=True)
def fits(rules: Rules, held: Held, broker: int, more: int, low: int, high: int) -> bool:
    """Whether the broker's load is within the band with so much more on it (or less); one that is no target fits."""
    load = held.loads[broker] + more
    return bool(not rules.target[broker] or (load <= high if more >= 0 else load >= low))


@njit(cache=True, nogil=True)
def cheapest_cover(loads: Int64s, costs: Int64s, surplus: int) -> NDArray[np.bool_]:
    """Which of them to give so that at least the surplus goes; all of them where they do not come to it.

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


@njit(cache=True, nogil=True)
def _cheapest_end(loads: Int64s, costs: Int64s, chosen: NDArray[np.bool_], rest: int) -> int:
    """The cheapest of the others that comes to the rest alone, the lightest of equal ones; -1 where none does."""
    best = -1
    for item in range(len(loads)):
        if chosen[item] or loads[item] < rest:
            continue
        if best < 0 or costs[item] < costs[best] or (costs[item] == costs[best] and loads[item] < loads[best]):
            best = item
    return best


@njit(cache=True, nogil=True)
def give(
    rules: Rules,
    held: Held,
    slots: Int64s,
    slots_of: Int64s,
    givers: Int64s,
    lightest: Int64s,
    starts: Int64s,
    ceiling: int,
    homes_stay: bool,
    is_dealt: NDArray[np.bool_],
) -> None:
    """Let each giver in turn give what costs least, as much as it has above the ceiling, and mark that in `is_dealt`.

    What is given is still at its broker, which no longer carries it.

    Parameters
    ----------
    slots : of the givers, giver by giver, by ascending cost for the load, then by descending load.
    slots_of : (givers + 1,) where each giver's begin.
    lightest : the brokers by rack, those whose load does not count first, then by load.
    starts : (racks + 1,) where each rack's begin.
    homes_stay : what is at home goes only to another home, where it costs nothing.
    """
    width = held.at.shape[1]
    choice = np.empty(len(slots), np.int64)
    loads, costs = np.empty(len(slots), np.int64), np.empty(len(slots), np.int64)
    for i in range(len(givers)):
        broker = givers[i]
        count = 0
        for at in range(slots_of[i], slots_of[i + 1]):
            slot = slots[at]
            row = slot // width
            if not is_dealt[slot] and _can_leave(rules, held, slot, homes_stay, lightest, starts):
                at_home = stays_free(rules, row, broker) and other_home(rules, held, slot, ceiling) < 0
                choice[count] = slot
                loads[count] = rules.load[row]
                costs[count] = rules.cost[row] if at_home else 0
                count += 1
        chosen = cheapest_cover(loads[:count], costs[:count], held.loads[broker] - ceiling)
        for j in range(count):
            if chosen[j]:
                is_dealt[choice[j]] = True
                held.loads[broker] -= loads[j]


@njit(cache=True, nogil=True)
def deal(rules: Rules, held: Held, slots: Int64s, ceiling: int, homes_stay: bool) -> None:
    """Let replicas whose loads nobody carries go to a free home that has room, or to the least loaded broker.

    Parameters
    ----------
    slots : in the order in which they go. homes_stay : as in `give`.
    """
    width = held.at.shape[1]
    for slot in slots:
        to = _destination(rules, held, slot, ceiling, homes_stay)
        held.loads[to] += rules.load[slot // width]
        held.at[slot // width, slot % width] = to


@njit(cache=True, nogil=True)
def _can_leave(rules: Rules, held: Held, slot: int, homes_stay: bool, lightest: Int64s, starts: Int64s) -> bool:
    """Whether some broker would carry less with the replica than the one that has it does now.

    Those that were lightest are asked first: as only the heaviest have given since, others are not lighter now.
    """
    width = held.at.shape[1]
    row = slot // width
    broker = held.at[row, slot % width]
    stays_home = homes_stay and is_home(rules, row, broker)
    is_open = _open_racks(rules, held, slot)
    for rack in range(len(is_open)):
        if not is_open[rack]:
            continue
        for at in range(starts[rack], starts[rack + 1]):
            to = lightest[at]
            if rules.target[to] and held.loads[to] + rules.load[row] >= held.loads[broker]:
                break
            if (not stays_home or stays_free(rules, row, to)) and may_go(rules, held, slot, to):
                return True
    return False


@njit(cache=True, nogil=True)
def other_home(rules: Rules, held: Held, slot: int, ceiling: int) -> int:
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
    home = other_home(rules, held, slot, ceiling)
    if home >= 0:
        return home
    best = broker
    least = held.loads[broker] if rules.target[broker] else ceiling - load
    is_open = _open_racks(rules, held, slot)
    for to in range(len(held.loads)):
        level = held.loads[to] if rules.target[to] else ceiling - load
        if level >= least or not is_open[rules.rack_of[to]] or not may_go(rules, held, slot, to):
            continue
        if not (homes_stay and was_home) or stays_free(rules, row, to):
            best, least = to, level
    return int(best)


@njit(cache=True, nogil=True)
def _open_racks(rules: Rules, held: Held, slot: int) -> NDArray[np.bool_]:
    """(racks,) where the replica may go as far as the counts of racks are concerned."""
    width = held.at.shape[1]
    row = slot // width
    domain = rules.domain_of[row]
    per_rack = np.zeros(rules.least.shape[1], np.int64)
    for column in range(rules.factor[domain]):
        per_rack[rules.rack_of[held.at[row, column]]] += 1
    own = rules.rack_of[held.at[row, slot % width]]
    is_open = np.zeros(len(per_rack), np.bool_)
    for rack in range(len(per_rack)):
        is_open[rack] = per_rack[own] > rules.least[domain, own] and per_rack[rack] < rules.most[domain, rack]
    is_open[own] = True
    return is_open
