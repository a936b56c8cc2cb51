"""Who holds which replica, and whether one may go elsewhere.

A replica is known by its slot, row · widest + column. The slots of each broker are a doubly linked list, so that one
moves without a search.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s
from app.core.reassignment.loads.rules import Rules

NO_SLOT = -1


class Held(NamedTuple):
    """A legal placement that changes a replica at a time.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, padded with -1. loads : (brokers,) int64, base included.
    first : (brokers,) int64 slots. following, before : (slots,) int64.
    """

    at: Int32s
    loads: Int64s
    first: Int64s
    following: Int64s
    before: Int64s


@njit(cache=True, nogil=True)
def held_from(at: Int32s, loads: Int64s) -> Held:
    """A placement to change; what is given is copied. A broker lists its slots by ascending row."""
    held = Held(
        at.copy(),
        loads.copy(),
        np.full(len(loads), NO_SLOT, np.int64),
        np.full(at.size, NO_SLOT, np.int64),
        np.full(at.size, NO_SLOT, np.int64),
    )
    width = at.shape[1]
    for slot in range(at.size - 1, -1, -1):
        broker = at[slot // width, slot % width]
        if broker >= 0:
            _link(held, slot, broker)
    return held


@njit(cache=True, nogil=True)
def relink(held: Held, slot: int, to: int) -> None:
    """Let another broker hold the replica; loads are the caller's."""
    width = held.at.shape[1]
    row, column = slot // width, slot % width
    ahead, behind = held.before[slot], held.following[slot]
    if ahead == NO_SLOT:
        held.first[held.at[row, column]] = behind
    else:
        held.following[ahead] = behind
    if behind != NO_SLOT:
        held.before[behind] = ahead
    held.at[row, column] = to
    _link(held, slot, to)


@njit(cache=True, nogil=True)
def _link(held: Held, slot: int, broker: int) -> None:
    behind = held.first[broker]
    held.first[broker] = slot
    held.before[slot] = NO_SLOT
    held.following[slot] = behind
    if behind != NO_SLOT:
        held.before[behind] = slot


@njit(cache=True, nogil=True)
def move(rules: Rules, held: Held, slot: int, to: int) -> None:
    """Let another broker hold the replica and carry its load."""
    row = slot // held.at.shape[1]
    held.loads[held.at[row, slot % held.at.shape[1]]] -= rules.load[row]
    held.loads[to] += rules.load[row]
    relink(held, slot, to)


@njit(cache=True, nogil=True)
def may_go(rules: Rules, held: Held, slot: int, to: int) -> bool:
    """Whether the placement stays legal when the replica goes there; not to where it is, nor to its partition's own."""
    width = held.at.shape[1]
    row = slot // width
    broker = held.at[row, slot % width]
    domain = rules.domain_of[row]
    if broker == rules.must_keep[row] or not (rules.may_receive[domain, to] or is_home(rules, row, to)):
        return False
    rack, rack_left = rules.rack_of[to], rules.rack_of[broker]
    there = left = 0
    for other in held.at[row]:
        if other < 0:
            break
        if other == to:
            return False
        there += rules.rack_of[other] == rack
        left += rules.rack_of[other] == rack_left
    if rack == rack_left:
        return True
    return bool(there < rules.most[domain, rack] and left > rules.least[domain, rack_left])


@njit(cache=True, nogil=True)
def is_home(rules: Rules, row: int, broker: int) -> bool:
    """Whether a replica of the row may be there because one is there, or is copied there in any case."""
    for home in rules.homes[row]:  # noqa: SIM110 — any() over a generator is nothing that numba compiles
        if home == broker:
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
