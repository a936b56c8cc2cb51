"""A placement for a band of loads: what has to move does, then brokers give and take until they are within the band.

1. Everything that is not at home, and the cheapest that brokers above the ceiling can give, is dealt out anew, heaviest
   first, to the least loaded legal brokers; again and again while that lowers what is above the ceiling.
2. Brokers below the floor take the cheapest from those that can spare it.
3. What was moved for nothing goes home.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import Int32s, Int64s
from app.core.reassignment.balance import Band
from app.core.reassignment.loads.repair import Repair
from app.core.reassignment.loads.rules import Rules, moved_weight

MOST_ROUNDS = 16
MOST_HOMECOMINGS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A legal placement. at : (rows, widest) int32. loads : (brokers,) int64. smallest, largest : of target brokers."""

    at: Int32s = field(repr=False)
    loads: Int64s = field(repr=False)
    moved: int
    smallest: int
    largest: int

    def is_within(self, band: Band) -> bool:
        """Whether every target broker's load is."""
        return band.low <= self.smallest and self.largest <= band.high


def first_attempt(rules: Rules, base_load: Int64s) -> Attempt:
    """What moves least, its receivers chosen heaviest first as the least loaded.

    Raises
    ------
    InfeasibleFlow : if some partition cannot be placed at all.
    """
    from app.core.reassignment.loads.first_places_kernel import (  # noqa: PLC0415 — numba takes most of a second to import
        first_places,
    )

    rows = len(rules.load)
    at = np.full((rows, int(rules.factor.max(initial=0))), -1, np.int32)
    loads = base_load.astype(np.int64).copy()
    if first_places(rules, np.argsort(-rules.load, kind="stable"), loads, at) >= 0:
        raise InfeasibleFlow
    return _attempt(rules, at, loads)


def attempt(rules: Rules, start: Attempt, band: Band, is_over: Callable[[], bool]) -> Attempt:
    """A placement whose loads are within the band or near it, and that moves little.

    Parameters
    ----------
    is_over : asked between the steps; once it is, what has been found is the answer.
    """
    if is_over():
        return start
    repair = Repair(rules, start.at.copy(), start.loads.copy())
    repair.relieve(band.high, gather=True, homes_stay=False)
    best = _attempt(rules, repair.at, repair.loads)
    for _ in range(MOST_ROUNDS):
        if is_over() or _excess(rules, best, band) == 0:
            break
        repair.relieve(band.high, gather=False, homes_stay=False)
        found = _attempt(rules, repair.at, repair.loads)
        if _excess(rules, found, band) >= _excess(rules, best, band):
            break
        best = found
    repair = Repair(rules, best.at.copy(), best.loads.copy())
    high = max(band.high, best.largest)
    if band.low > best.smallest and not is_over():
        repair.fill(band.low, high)
    for _ in range(MOST_HOMECOMINGS):
        if is_over() or not repair.bring_home(band.low, high):
            break
    return _attempt(rules, repair.at, repair.loads)


def evened(rules: Rules, start: Attempt, ceiling: int, is_over: Callable[[], bool]) -> Attempt:
    """The loads evened out without a single move more: only what moves in any case is dealt out anew."""
    best, repair = start, Repair(rules, start.at.copy(), start.loads.copy())
    for gather in (True, *[False] * MOST_ROUNDS):
        if is_over() or best.largest <= ceiling:
            break
        repair.relieve(ceiling, gather=gather, homes_stay=True)
        found = _attempt(rules, repair.at, repair.loads)
        if (found.largest, -found.smallest) < (best.largest, -best.smallest):
            best = found
        elif not gather:
            break
    return best


def _excess(rules: Rules, found: Attempt, band: Band) -> int:
    return int(np.maximum(found.loads[rules.target] - band.high, 0).sum())


def _attempt(rules: Rules, at: Int32s, loads: Int64s) -> Attempt:
    of_targets = loads[rules.target]
    smallest, largest = (int(of_targets.min()), int(of_targets.max())) if len(of_targets) else (0, 0)
    return Attempt(at.copy(), loads.copy(), moved_weight(rules, at), smallest, largest)
