"""Local search over legal placements, within a band of loads.

1. Replicas that move in any case, and the cheapest that brokers above the ceiling can shed, are redistributed, heaviest
   first, to the least loaded eligible brokers; repeatedly while that lowers the excess above the ceiling.
2. Brokers below the floor receive the cheapest replicas of brokers that can spare them.
3. Unnecessary moves are undone (1-move and 2-swap), within the band.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import Int32s, Int64s
from app.core.reassignment.loads import improving_kernel
from app.core.reassignment.loads.legal_sets_kernel import initial_places
from app.core.reassignment.loads.moves_kernel import WorkingPlacement, redistribute, shed_load
from app.core.reassignment.loads.rules import LoadRules, costs_saved, moved_weight
from app.core.reassignment.model import Band


@dataclass(frozen=True, slots=True, eq=False)
class LocalSearch:
    """A legal placement that its methods improve in place.

    Parameters
    ----------
    at : (rows, widest) int32 brokers, padded with -1. loads : (brokers,) int64, base included.
    """

    rules: LoadRules
    at: Int32s
    loads: Int64s

    def lower_to_ceiling(self, ceiling: int, *, gather: bool, keep_current: bool) -> None:
        """Let target brokers above the ceiling shed their cheapest replicas, and redistribute those, heaviest first.

        Each replica moves to a current broker of its partition with slack if that costs nothing, else to the least
        loaded eligible broker.

        Parameters
        ----------
        ceiling : of the load of a target broker.
        gather : redistribute every replica that moves in any case, too.
        keep_current : a replica on a current broker may only move to another one if that costs nothing.
        """
        rules, working = self.rules, WorkingPlacement(self.at, self.loads)
        flat = self.at.ravel()
        is_shed = self._moves_already() if gather else np.zeros(len(flat), np.bool_)
        np.subtract.at(self.loads, flat[is_shed], self._load_of_slots()[is_shed])
        above = np.where(rules.target, self.loads - ceiling, 0)
        senders = np.argsort(-above, kind="stable")[: np.count_nonzero(above > 0)]
        slots = self._by_cost_ratio(np.flatnonzero((above > 0)[flat] & (flat >= 0)))
        place = np.empty(len(self.loads), np.int64)
        place[senders] = np.arange(len(senders))
        of_sender = place[flat[slots]]
        slots = slots[np.argsort(of_sender, kind="stable")]
        ends = np.cumsum(np.bincount(of_sender, minlength=len(senders)))
        lightest = np.lexsort((np.where(rules.target, self.loads, -1), rules.rack_of))
        starts = np.searchsorted(rules.rack_of[lightest], np.arange(rules.least.shape[1] + 1))
        shed_load(rules, working, slots, np.append(0, ends), senders, lightest, starts, ceiling, keep_current, is_shed)
        shed = np.flatnonzero(is_shed)
        order = np.argsort(-self._load_of_slots()[shed], kind="stable")
        redistribute(rules, working, shed[order], ceiling, keep_current)

    def raise_to_floor(self, floor: int, ceiling: int) -> None:
        """Let target brokers below the floor receive the cheapest replicas of brokers that can spare them."""
        rules, flat = self.rules, self.at.ravel()
        order = np.argsort(self.loads, kind="stable")
        receivers = order[(rules.target & (self.loads < floor))[order]]
        slots = self._by_cost_ratio(np.flatnonzero(flat >= 0))
        # If the count of each rack is fixed, a replica stays in its rack: receivers elsewhere need not consider it.
        stays_in_rack = (rules.least == rules.most).all(axis=1)[rules.domain_of][slots // self.at.shape[1]]
        rack = rules.rack_of[flat[slots]]
        for own in np.unique(rules.rack_of[receivers]):
            movable = slots[~stays_in_rack | (rack == own)]
            improving_kernel.raise_to_floor(
                rules,
                WorkingPlacement(self.at, self.loads),
                receivers[rules.rack_of[receivers] == own],
                movable,
                floor,
                ceiling,
            )

    def undo_moves(self, low: int, high: int) -> int:
        """Undo unnecessary moves within a band, the costliest first, alone or as a swap; the cost saved."""
        flat, cost = self.at.ravel(), np.repeat(self.rules.cost, self.at.shape[1])
        away = np.flatnonzero((flat >= 0) & (cost > costs_saved(self.rules, self.at).ravel()))
        by_broker = np.lexsort((self._load_of_slots(), flat))
        starts = np.searchsorted(flat[by_broker], np.arange(len(self.loads) + 1))
        costliest_first = away[np.argsort(-cost[away], kind="stable")]
        return improving_kernel.undo_moves(
            self.rules, WorkingPlacement(self.at, self.loads), costliest_first, by_broker, starts, low, high
        )

    def _load_of_slots(self) -> Int64s:
        return np.repeat(self.rules.load, self.at.shape[1])

    def _moves_already(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        moved = self.at >= 0
        for current_broker in self.rules.current.T:
            moved &= self.at != current_broker[:, None]
        return moved.ravel()

    def _by_cost_ratio(self, slots: Int64s) -> Int64s:
        """Slots with a load that may move, by cost saved for the load, the heaviest first among equals."""
        rules, width = self.rules, self.at.shape[1]
        load, broker = rules.load[slots // width], self.at.ravel()[slots]
        slots = slots[(load > 0) & (broker != rules.must_keep[slots // width])]
        load = rules.load[slots // width]
        return slots[np.lexsort((-load, costs_saved(rules, self.at).ravel()[slots] / load))]


MAX_ROUNDS = 16
MAX_UNDO_PASSES = 4


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePlacement:
    """A legal placement with its figures.

    Parameters
    ----------
    at : (rows, widest) int32 brokers. loads : (brokers,) int64. moved : its cost.
    smallest, largest : loads of target brokers.
    """

    at: Int32s = field(repr=False)
    loads: Int64s = field(repr=False)
    moved: int
    smallest: int
    largest: int


def initial_placement(rules: LoadRules, base_load: Int64s) -> CandidatePlacement:
    """The placement with the fewest moves, receivers chosen for the heaviest replicas first as the least loaded.

    Raises
    ------
    InfeasibleFlow : if some partition has no legal placement.
    """
    rows = len(rules.load)
    at = np.full((rows, int(rules.factor.max(initial=0))), -1, np.int32)
    loads = base_load.astype(np.int64).copy()
    if initial_places(rules, np.argsort(-rules.load, kind="stable"), loads, at) >= 0:
        raise InfeasibleFlow
    return candidate(rules, at, loads)


def search_within_band(
    rules: LoadRules, start: CandidatePlacement, band: Band, is_over: Callable[[], bool]
) -> CandidatePlacement:
    """Search a placement with loads within the band, or near it, and little movement.

    Parameters
    ----------
    start : a legal placement.
    is_over : whether the deadline has passed, checked between steps; then the best placement so far is returned.
    """
    if is_over():
        return start
    search = LocalSearch(rules, start.at.copy(), start.loads.copy())
    search.lower_to_ceiling(band.high, gather=True, keep_current=False)
    best = candidate(rules, search.at, search.loads)
    for _ in range(MAX_ROUNDS):
        if is_over() or _excess(rules, best, band) == 0:
            break
        search.lower_to_ceiling(band.high, gather=False, keep_current=False)
        placement = candidate(rules, search.at, search.loads)
        if _excess(rules, placement, band) >= _excess(rules, best, band):
            break
        best = placement
    search = LocalSearch(rules, best.at.copy(), best.loads.copy())
    high = max(band.high, best.largest)
    if band.low > best.smallest and not is_over():
        search.raise_to_floor(band.low, high)
    for _ in range(MAX_UNDO_PASSES):
        if is_over() or not search.undo_moves(band.low, high):
            break
    return candidate(rules, search.at, search.loads)


def balance_without_moves(
    rules: LoadRules, start: CandidatePlacement, ceiling: int, is_over: Callable[[], bool]
) -> CandidatePlacement:
    """Balance the loads without an additional move: only replicas that move in any case are redistributed."""
    best, search = start, LocalSearch(rules, start.at.copy(), start.loads.copy())
    for gather in (True, *[False] * MAX_ROUNDS):
        if is_over() or best.largest <= ceiling:
            break
        search.lower_to_ceiling(ceiling, gather=gather, keep_current=True)
        placement = candidate(rules, search.at, search.loads)
        if (placement.largest, -placement.smallest) < (best.largest, -best.smallest):
            best = placement
        elif not gather:
            break
    return best


def _excess(rules: LoadRules, placement: CandidatePlacement, band: Band) -> int:
    return int(np.maximum(placement.loads[rules.target] - band.high, 0).sum())


def candidate(rules: LoadRules, at: Int32s, loads: Int64s) -> CandidatePlacement:
    """A placement, (rows, widest) int32 brokers padded with -1, with its figures; arrays are copied."""
    of_targets = loads[rules.target]
    smallest, largest = (int(of_targets.min()), int(of_targets.max())) if len(of_targets) else (0, 0)
    return CandidatePlacement(at.copy(), loads.copy(), moved_weight(rules, at), smallest, largest)
