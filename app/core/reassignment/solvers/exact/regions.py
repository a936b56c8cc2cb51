"""Less movement within bounds by exact models of regions, and its lower bound.

A model has the partitions of a region that move, and those that shed the most load for their cost, on all its brokers.
The other partitions stay, which gives a placement, or load brokers in fractions, which gives a bound on the movement of
every placement. A model of all partitions gives both. Models grow.

Before, replicas that load more than half of the ceiling are pinned to one broker after another. Such a replica
determines the movement of all others on its broker, and local search and models of free cells rarely move it: all
others would have to move at once. The brokers that `heavy_bound` finds cheapest come first; the rest is searched anew.
After the models, others have what is on a few brokers alone, chosen at random, until many in a row move no less.

Solves are limited in deterministic time, so that the same problem has the same answer; a deadline ends them earlier.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.bounds.heavy_bound import NOT_POSSIBLE, HeavyPlaces, heavy_places
from app.core.reassignment.model import BrokerBounds, Deadline
from app.core.reassignment.rules import LoadRules, Region, moved_weight, regions_of
from app.core.reassignment.solvers.exact.cell_model import CellModel, FreeCells
from app.core.reassignment.solvers.search.heaviest_first import CandidatePlacement, candidate
from app.core.replica_lists import not_among

MOST_CELLS = 2_000_000
"""Rows times brokers of a region, at most."""
SIZES = {300: 0.2, 1_000: 0.3, 10_000: 1.0}
"""Free cells of a region's models, about, and the deterministic time of their solves, about seconds."""
RELAXED_CELLS = 1_000
"""The size of models that also bound the movement, with the other partitions in fractions."""
RELAXED_WORK, WORK, WORK_NEAR = 0.2, 1.0, 1.0
"""Deterministic time, about seconds, of the solve of a bound, of all solves before neighbourhoods, and for these."""
NEAR, NEAR_CELLS = (4, 5), 300
"""Brokers of neighbourhoods in turn, and their free cells at most."""
NEAR_WORK, LEAST_WORK, PATIENCE = 0.1, 0.005, 100
"""Deterministic time of a solve of a neighbourhood, what one is charged at least, since it is built in as long, and the
number of these that move no less before the search of a region ends.
"""
NEAR_GAP = 2e-3
"""Relative gap of the movement at which it ends: a smaller one is not worth the time of many models."""
MOST_NEAR_CELLS = 300_000
"""Rows times brokers of a problem with such searches, at most."""
SEED = 1
"""Of the brokers chosen at random, so that a problem always has the same answer."""
MOST_PINNED = 4
"""Brokers that are tried for a heavy replica."""
MOST_SEARCHED = 20_000_000
"""Rows times brokers times searches with pinned replicas in a region, at most: some seconds."""
CLOSE = 1e-4
"""Relative gap of the movement at which the search ends."""


class RegionSearch:
    """The search, region by region.

    Parameters
    ----------
    base_load : (brokers,) int64 of partitions outside the problem. within : of the loads.
    best : the placement with the least movement so far; it is within the bounds.
    bound : known so far. bounds : of each region's movement. work : deterministic time that is left.
    """

    def __init__(
        self,
        rules: LoadRules,
        base_load: Int64s,
        within: BrokerBounds,
        best: CandidatePlacement,
        bound: int,
        is_over: Deadline,
    ) -> None:
        self.rules, self.within, self.best, self.bound, self.is_over = rules, within, best, bound, is_over
        self.regions, self.work = regions_of(rules), WORK
        heavy = [heavy_places(rules, base_load, within.high, region) for region in self.regions]
        self.bounds = [0 if each is None else each.bound for each in heavy]

    @property
    def lower_bound(self) -> int:
        """The bound on the movement of every placement within the bounds."""
        return min(self.best.moved, max(self.bound, sum(self.bounds)))

    def run(self) -> None:
        """Solve models until every region is close to its bound, none moves less, or the work is done."""
        self._solve_growing()
        self.work += WORK_NEAR
        if self.rules.load.size * len(self.rules.rack_of) <= MOST_NEAR_CELLS and not self._is_done(NEAR_GAP):
            generator = np.random.default_rng(SEED)
            for place in self._open_regions():
                self._search_near(place, generator)
        self._solve_growing()

    def _solve_growing(self) -> None:
        """Solve models that grow, again if any moves less."""
        before = None
        while (before is None or self.best.moved < before) and not self._is_done():
            before = self.best.moved
            for cells, work in SIZES.items():
                for place in self._open_regions():
                    self._solve(place, cells, work)
                for place in self._open_regions() if cells == RELAXED_CELLS else ():
                    self._relax(place)

    def _is_done(self, gap: float = CLOSE) -> bool:
        close = self.best.moved - self.lower_bound <= gap * self.best.moved
        return close or self.work <= 0 or self.is_over()

    def _open_regions(self) -> Iterator[int]:
        """Regions that are far from their bounds, those with the largest gap first."""
        gaps = [
            _moved_within(self.rules, self.best, region) - bound
            for region, bound in zip(self.regions, self.bounds, strict=True)
        ]
        for place in np.argsort(-np.array(gaps), kind="stable").tolist():
            if gaps[place] > CLOSE * self.best.moved / len(gaps) and not self._is_done():
                yield place

    def _search_near(self, place: int, generator: np.random.Generator) -> None:
        """Free what is on a few brokers of a region, again and again, within its part of the work."""
        brokers, ends = self.regions[place].brokers, self.work - WORK_NEAR / len(self.regions)
        in_vain, sizes = 0, cycle(NEAR)
        while in_vain < PATIENCE and self.work > ends and not self._is_done(NEAR_GAP):
            near = np.sort(generator.choice(brokers, min(next(sizes), len(brokers)), replace=False))
            model = CellModel(self.rules, self.best, cells_near(self.rules, self.best, near, NEAR_CELLS))
            solved = model.less_movement(self.within, NEAR_WORK, self.is_over)
            self.work -= max(solved.work, LEAST_WORK)
            in_vain = in_vain + 1 if solved.placement.moved == self.best.moved else 0
            self.best = solved.placement

    def _solve(self, place: int, cells: int, work: float) -> None:
        region = self.regions[place]
        elsewhere = self.best.moved - _moved_within(self.rules, self.best, region)
        free = cells_worth_moving(self.rules, self.best, region, cells)
        if free is None:
            return
        solved = CellModel(self.rules, self.best, free).less_movement(self.within, min(work, self.work), self.is_over)
        self.work -= solved.work
        if len(free.rows) == len(self.rules.load):
            self.bounds[place] = max(self.bounds[place], solved.bound - elsewhere)
        if solved.placement.moved < self.best.moved:
            self.best = solved.placement

    def _relax(self, place: int) -> None:
        region = self.regions[place]
        elsewhere = self.best.moved - _moved_within(self.rules, self.best, region)
        free = cells_worth_moving(self.rules, self.best, region, RELAXED_CELLS)
        if free is None or len(free.rows) == len(self.rules.load):
            return
        bound, work = CellModel(self.rules, self.best, free).movement_lower_bound(
            self.within, min(RELAXED_WORK, self.work), self.is_over
        )
        self.work -= work
        self.bounds[place] = max(self.bounds[place], bound - elsewhere)


def _moved_within(rules: LoadRules, placement: CandidatePlacement, region: Region) -> int:
    """The movement within a region."""
    inside = np.isin(placement.at, region.brokers)
    return moved_weight(rules, np.where(inside, placement.at, NO_REPLICA))


def pin_heavy(
    rules: LoadRules,
    base_load: Int64s,
    start: CandidatePlacement,
    within: BrokerBounds,
    searched: Callable[[LoadRules], CandidatePlacement],
    is_over: Deadline,
) -> CandidatePlacement:
    """The placement that moves least, of searches with each heavy replica pinned to the brokers where it may be
    cheaper, one after another; the start if there are none.

    Parameters
    ----------
    start : a legal placement within the bounds. searched : a search of all partitions by some rules; it raises
        `InfeasibleFlow` if some partition has no legal placement.
    """
    best = start
    for region in regions_of(rules):
        heavy, pinned = heavy_places(rules, base_load, within.high, region), rules
        if heavy is None:
            continue
        places = _worth_a_search(rules, heavy, _moved_within(rules, best, region))
        for row, broker in [*islice(places, max(1, MOST_SEARCHED // (len(rules.load) * len(base_load))))]:
            if is_over():
                return best
            if pinned.must_keep[row] != NO_REPLICA or (best.at[row] == broker).any():
                continue
            tried = _pinned(pinned, row, broker)
            with suppress(InfeasibleFlow):
                found = searched(tried)
                merged = merged_in(rules, best, found, region) if within.hold(found.loads) else best
                if merged.moved < best.moved:
                    best, pinned = merged, tried
    return best


def _worth_a_search(rules: LoadRules, heavy: HeavyPlaces, moved: int) -> Iterator[tuple[int, int]]:
    """Rows and brokers that may be cheaper, if the movement within the region is known to be at most `moved`."""
    for place, row in enumerate(heavy.heavy.tolist()):
        if rules.must_keep[row] != NO_REPLICA:
            continue
        # A pin overrides the most replicas of its rack.
        is_possible = rules.most[rules.domain_of[row], rules.rack_of] > 0
        is_possible &= heavy.costs[place] != NOT_POSSIBLE
        order = np.argsort(heavy.costs[place], kind="stable")
        possible = order[is_possible[order]][:MOST_PINNED].tolist()
        without = heavy.bound - int(heavy.least[place])
        yield from ((row, broker) for broker in possible if without + int(heavy.costs[place, broker]) < moved)


def _pinned(rules: LoadRules, row: int, broker: int) -> LoadRules:
    """The same rules, but that the row has to have a replica on the broker: one that is copied, unless it is there."""
    must_keep = rules.must_keep.copy()
    must_keep[row] = broker
    if broker in rules.current[row]:
        return rules._replace(must_keep=must_keep)
    column = np.full((len(rules.load), 1), NO_REPLICA, np.int32)
    column[row] = broker
    return rules._replace(
        must_keep=must_keep,
        current=np.ascontiguousarray(np.hstack([rules.current, column])),
        stays_free=np.ascontiguousarray(np.hstack([rules.stays_free, np.zeros_like(column, np.bool_)])),
    )


def merged_in(
    rules: LoadRules, best: CandidatePlacement, other: CandidatePlacement, region: Region
) -> CandidatePlacement:
    """A placement with the replicas of another one within a region. Each partition has as many there in both."""
    inside = np.zeros(len(rules.rack_of), np.bool_)
    inside[region.brokers] = True
    at = np.concatenate([_within(best.at, ~inside), _within(other.at, inside)], axis=1)
    at = np.take_along_axis(at, np.argsort(at == NO_REPLICA, axis=1, kind="stable"), axis=1)
    return candidate(rules, at[:, : best.at.shape[1]], np.where(inside, other.loads, best.loads))


def _within(at: Int32s, inside: Bools) -> Int32s:
    """The replicas on some brokers; `NO_REPLICA` for the others."""
    return np.where(inside[at] & (at != NO_REPLICA), at, NO_REPLICA).astype(np.int32)


def cells_worth_moving(rules: LoadRules, start: CandidatePlacement, region: Region, most: int) -> FreeCells | None:
    """All cells in a region of partitions that the start moves, and of those that shed the most load for their cost.

    Parameters
    ----------
    most : cells, about; None if the former have more, or if there are no partitions.
    """
    rows, in_order = most // max(1, len(region.brokers)), _worth_moving(rules, start)
    if not len(in_order) or np.count_nonzero(_is_moved(rules, start)) > rows:
        return None
    return _cells(rules, in_order[:rows], region.brokers)


def cells_near(rules: LoadRules, start: CandidatePlacement, brokers: Int64s, most: int) -> FreeCells:
    """Up to `most` cells on some brokers of the partitions that the start has there, in the same order."""
    in_order = _worth_moving(rules, start)
    is_there = np.asarray(np.isin(start.at, brokers).any(axis=1))
    return _cells(rules, in_order[is_there[in_order]][: most // len(brokers)], brokers)


def _is_moved(rules: LoadRules, start: CandidatePlacement) -> Bools:
    in_place = np.where(rules.stays_free, rules.current, NO_REPLICA)
    return np.asarray(not_among(start.at, in_place).any(axis=1))


def _worth_moving(rules: LoadRules, start: CandidatePlacement) -> Int64s:
    """(rows,) int64: the rows that the start moves, then the others, those that shed the most load for their cost
    first.
    """
    per_cost = rules.load / np.maximum(rules.cost, 1)
    return np.lexsort((-rules.load, -per_cost, ~_is_moved(rules, start)))


def _cells(rules: LoadRules, rows: Int64s, brokers: Int64s) -> FreeCells:
    """The cells of some rows on brokers that may receive or keep them."""
    chosen = np.sort(rows)
    is_free = rules.may_receive[rules.domain_of[chosen]][:, brokers]
    for column in rules.current[chosen].T:
        is_free |= column[:, None] == brokers
    return FreeCells(chosen, brokers, is_free)


def search_regions(
    rules: LoadRules, base_load: Int64s, start: CandidatePlacement, within: BrokerBounds, bound: int, is_over: Deadline
) -> tuple[CandidatePlacement, int]:
    """The placement with the least movement that is found, and a lower bound on that of every placement within bounds.

    Parameters
    ----------
    start : a legal placement within the bounds. bound : known so far. is_over : whether the deadline has passed.
    """
    largest = max((len(rules.load) * len(region.brokers) for region in regions_of(rules)), default=0)
    if largest > MOST_CELLS or start.moved - bound <= CLOSE * start.moved or is_over():
        return start, bound
    search = RegionSearch(rules, base_load, within, start, bound, is_over)
    search.run()
    return search.best, search.lower_bound
