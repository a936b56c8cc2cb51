"""Local search over legal placements, within a band of loads.

A legal placement, mended step by step: brokers give, brokers take, replicas go home. The loops are in kernels.

A placement for a band of loads: what has to move does, then brokers give and take until they are within the band.

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
from app.core.reassignment.loads.improving_kernel import bring_home, fill
from app.core.reassignment.loads.legal_sets_kernel import (
    first_places,
)
from app.core.reassignment.loads.moves_kernel import Held, deal, give
from app.core.reassignment.loads.rules import Rules, costs_saved, moved_weight
from app.core.reassignment.model import Band


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """A legal placement that its own steps change.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, padded with -1. loads : (brokers,) int64, base included.
    """

    rules: Rules
    at: Int32s
    loads: Int64s

    def relieve(self, ceiling: int, *, gather: bool, homes_stay: bool) -> None:
        """Let target brokers above the ceiling give what costs least, and deal it out, heaviest first.

        Each replica goes to a free home that has room, else to the least loaded broker that may have it.

        Parameters
        ----------
        gather : deal out everything that is not at home as well, since it moves in any case.
        homes_stay : what is at home goes only to another home, where it costs nothing.
        """
        rules, held = self.rules, Held(self.at, self.loads)
        flat = self.at.ravel()
        is_dealt = self._is_moved_anyway() if gather else np.zeros(len(flat), np.bool_)
        np.subtract.at(self.loads, flat[is_dealt], self._load_of_slots()[is_dealt])
        above = np.where(rules.target, self.loads - ceiling, 0)
        givers = np.argsort(-above, kind="stable")[: np.count_nonzero(above > 0)]
        slots = self._dearest_last(np.flatnonzero((above > 0)[flat] & (flat >= 0)))
        place = np.empty(len(self.loads), np.int64)
        place[givers] = np.arange(len(givers))
        of_giver = place[flat[slots]]
        slots = slots[np.argsort(of_giver, kind="stable")]
        ends = np.cumsum(np.bincount(of_giver, minlength=len(givers)))
        lightest = np.lexsort((np.where(rules.target, self.loads, -1), rules.rack_of))
        starts = np.searchsorted(rules.rack_of[lightest], np.arange(rules.least.shape[1] + 1))
        give(rules, held, slots, np.append(0, ends), givers, lightest, starts, ceiling, homes_stay, is_dealt)
        dealt = np.flatnonzero(is_dealt)
        order = np.argsort(-self._load_of_slots()[dealt], kind="stable")
        deal(rules, held, dealt[order], ceiling, homes_stay)

    def fill(self, floor: int, ceiling: int) -> None:
        """Let target brokers below the floor take what costs least from those that can spare it."""
        rules, flat = self.rules, self.at.ravel()
        order = np.argsort(self.loads, kind="stable")
        takers = order[(rules.target & (self.loads < floor))[order]]
        slots = self._dearest_last(np.flatnonzero(flat >= 0))
        # Where the count of each rack is given, a replica stays in its rack: nobody elsewhere has to look at it.
        stays_in_rack = (rules.least == rules.most).all(axis=1)[rules.domain_of][slots // self.at.shape[1]]
        rack = rules.rack_of[flat[slots]]
        for own in np.unique(rules.rack_of[takers]):
            within_reach = slots[~stays_in_rack | (rack == own)]
            fill(rules, Held(self.at, self.loads), takers[rules.rack_of[takers] == own], within_reach, floor, ceiling)

    def bring_home(self, low: int, high: int) -> int:
        """Bring back what was moved for nothing, the dearest first, alone or against a cheaper one; what that saves."""
        flat, cost = self.at.ravel(), np.repeat(self.rules.cost, self.at.shape[1])
        away = np.flatnonzero((flat >= 0) & (cost > costs_saved(self.rules, self.at).ravel()))
        by_broker = np.argsort(flat, kind="stable")
        starts = np.searchsorted(flat[by_broker], np.arange(len(self.loads) + 1))
        dearest_first = away[np.argsort(-cost[away], kind="stable")]
        return bring_home(self.rules, Held(self.at, self.loads), dearest_first, by_broker, starts, low, high)

    def _load_of_slots(self) -> Int64s:
        return np.repeat(self.rules.load, self.at.shape[1])

    def _is_moved_anyway(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        moved = self.at >= 0
        for home in self.rules.homes.T:
            moved &= self.at != home[:, None]
        return moved.ravel()

    def _dearest_last(self, slots: Int64s) -> Int64s:
        """Those slots that have a load and may move, by what they cost where they are for it, the heaviest first."""
        rules, width = self.rules, self.at.shape[1]
        load, broker = rules.load[slots // width], self.at.ravel()[slots]
        slots = slots[(load > 0) & (broker != rules.must_keep[slots // width])]
        load = rules.load[slots // width]
        return slots[np.lexsort((-load, costs_saved(rules, self.at).ravel()[slots] / load))]


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
