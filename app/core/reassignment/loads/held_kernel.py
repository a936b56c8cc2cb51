"""Who holds which replica, and whether one may go elsewhere. A replica is known by its slot, row · widest + column."""

from typing import NamedTuple

from numba import njit

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
