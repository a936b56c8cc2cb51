"""One load of replicas, whichever leads, between a floor and a ceiling of each broker.

The load of a broker is shifted by what its ceiling is below the highest one, so that all have the same ceiling: a
weight is a larger or smaller base. Two searches start from the forced moves. `loads` places the heaviest replicas
first, each pinned to one broker after another, and is better if few replicas decide; `search` makes many small changes.
The better placement is improved by exact models of regions (`loads.neighbourhoods`), and bounded by duality.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from app.core.model import Float64s, Int32s, Int64s
from app.core.reassignment.loads.bounds import highest_floor, lowest_ceiling, movement_lower_bound
from app.core.reassignment.loads.local_search import candidate, search_within_band
from app.core.reassignment.loads.neighbourhoods import pin_heavy, search_regions
from app.core.reassignment.loads.rules import LoadRules, load_rules
from app.core.reassignment.model import Band, BrokerBounds
from app.core.reassignment.resources.model import NO_LIMIT, RESOURCES, ResourceProblem
from app.core.reassignment.resources.movement_bound import WIDE, moved_lower_bound
from app.core.reassignment.resources.search import Bounds, SearchedPlacement, search
from app.core.reassignment.resources.start import first_leaders, led_by
from app.core.replica_lists import per_broker

ROUNDED = 2
"""Units of load by which rounded ceilings and floors may be off."""
MOST_SLOTS = 100_000
"""Replicas of problems without weights whose movement is bounded twice."""


@dataclass(frozen=True, eq=False)
class OneLoad:
    """The load of a resource that depends on replicas alone, within bounds.

    Parameters
    ----------
    problem : without limits. column : of the resource. rules : with its load.
    start : (rows, widest) int32, the forced moves; the leader in column 0.
    within : (brokers,) bounds of the load; `NO_LIMIT` and 0 for brokers without.
    """

    problem: ResourceProblem
    column: int
    rules: LoadRules = field(repr=False)
    start: Int32s = field(repr=False)
    within: BrokerBounds

    @classmethod
    def of(cls, problem: ResourceProblem, column: int, start: Int32s, within: BrokerBounds) -> "OneLoad":
        """The load of a resource."""
        return cls(problem, column, load_rules(problem.movement, problem.loads.of_follower[:, column]), start, within)

    def widened(self, within: BrokerBounds) -> "OneLoad":
        """The same load within other bounds."""
        return replace(self, within=within)

    @property
    def bounds(self) -> Bounds:
        """The bounds as the search takes them: load outside of them is weighed by the mean load of a broker."""
        bounds, loads = Bounds.none(self.problem), self.rules.load * self.problem.movement.factors
        bounds.ceiling[:, self.column], bounds.floor[:, self.column] = self.within.high, self.within.low
        is_bounded = (self.within.high < NO_LIMIT) | (self.within.low > 0)
        mean = max(1.0, float(loads.sum()) / max(1, int(np.count_nonzero(is_bounded))))
        bounds.unit[:, self.column] = is_bounded / mean
        return bounds

    @property
    def _shift(self) -> Int64s:
        """(brokers,) int64: how far each ceiling is below the highest one."""
        high = self.within.high
        return np.where(high < NO_LIMIT, self._top - high, 0)

    @property
    def _top(self) -> int:
        """The highest ceiling."""
        return int(self.within.high[self.within.high < NO_LIMIT].max(initial=0))

    @property
    def _base(self) -> Int64s:
        return self.problem.loads.base[:, self.column] + self._shift

    def _floors(self) -> tuple[int, int]:
        """The lowest and the highest floor of a target broker, shifted."""
        floors = (self.within.low + self._shift)[self.rules.target]
        return (int(floors.min()), int(floors.max())) if self.within.low.any() and len(floors) else (0, 0)

    def search(self, is_over: Callable[[], bool]) -> SearchedPlacement:
        """A placement within the bounds, or near them, with little movement."""
        found = self._searched(self.start, is_over)
        begun = candidate(self.rules, self.start, self._loads(self.start))
        band = Band(self._floors()[1], self._top)
        placed = search_within_band(self.rules, begun, band, is_over)
        reached = Band(min(band.low, placed.smallest), max(band.high, placed.largest))
        placed = pin_heavy(self.rules, self._base, placed, reached, is_over)
        other = self._searched(led_by(placed.at, first_leaders(self.problem, placed.at)), is_over)
        return min((found, other), key=lambda each: (each.penalty, each.moved))

    def improve(self, best: SearchedPlacement, is_over: Callable[[], bool]) -> tuple[SearchedPlacement, int]:
        """A placement that moves no more, and a lower bound on the movement of all placements within the bounds.

        Parameters
        ----------
        best : a placement within the bounds.
        """
        relaxed, strict = self._floors()
        band, base = Band(relaxed, self._top), self._base
        bound = movement_lower_bound(self.rules, base, band, best.moved, is_over)
        begun = candidate(self.rules, best.at, self._loads(best.at))
        placed, proven = search_regions(self.rules, base, begun, replace(band, low=strict), bound, is_over)
        if placed.moved < best.moved:
            best = self._searched(led_by(placed.at, first_leaders(self.problem, placed.at)), is_over)
        proven = bound.value if relaxed < strict else proven  # regions are within the highest floor
        # The ascent of the other dual is longer, and ends nearer to the best prices if there are floors.
        is_wide = best.moved - proven > WIDE * best.moved
        if is_wide and (relaxed < strict or (relaxed > 0 and self.start.size <= MOST_SLOTS)):
            of_all = moved_lower_bound(self.problem, self.rules, self.start, self.bounds, best, is_over)
            proven = max(proven, of_all)
        return best, min(best.moved, proven)

    def _searched(self, at: Int32s, is_over: Callable[[], bool]) -> SearchedPlacement:
        return search(self.problem, self.rules, at, self.bounds, is_over)

    def _loads(self, at: Int32s) -> Int64s:
        return self._base + per_broker(at, len(self._base), self.rules.load)


MOST_FLOWS = 8
"""Flows by which a level of all brokers is found."""


def lowest_level(problem: ResourceProblem, column: int, ideal: Float64s, level: Fraction) -> Fraction:
    """A lower bound on the largest load over the ideal load, if replicas may be split.

    At each step loads are shifted so that the ceilings at the level are equal. If a flow needs them to be higher by
    some amount, the level is higher by at least that amount over the largest ideal load.

    Parameters
    ----------
    ideal : (brokers,) float64, 0 for brokers that are no targets. level : a lower bound.
    """
    rules, target, base = _of_column(problem, column)
    for _ in range(MOST_FLOWS):
        ceiling = np.floor(ideal * float(level)).astype(np.int64)
        top = int(ceiling[target].max(initial=0))
        more = lowest_ceiling(rules, base + np.where(target, top - ceiling, 0)) - top - ROUNDED
        if more <= 0:
            break
        level += Fraction(more, int(ideal.max()) + 1)
    return level


def highest_level(problem: ResourceProblem, column: int, ideal: Float64s, level: Fraction, ceiling: Int64s) -> Fraction:
    """An upper bound on the smallest load over the ideal load, if replicas may be split, by steps as in `lowest_level`.

    Parameters
    ----------
    level : an upper bound, or what is wanted. ceiling : (brokers,) int64 of target brokers.
    """
    rules, target, base = _of_column(problem, column)
    for _ in range(MOST_FLOWS):
        floor = np.ceil(ideal * float(level)).astype(np.int64)
        top = int(floor[target].max(initial=0))
        shift = np.where(target, top - floor, 0)
        most = int((ceiling + shift)[target].max(initial=0))
        less = top - highest_floor(rules, base + shift, most) - ROUNDED
        if less <= 0:
            break
        level -= Fraction(less, int(ideal.max()) + 1)
    return max(level, Fraction(0))


def _of_column(problem: ResourceProblem, column: int) -> tuple[LoadRules, NDArray[np.bool_], Int64s]:
    movement = problem.movement
    return load_rules(movement, problem.loads.of_follower[:, column]), movement.target, problem.loads.base[:, column]


def is_one_load(problem: ResourceProblem, name: str) -> bool:
    """Whether only the load of a resource counts, and no leader changes it."""
    if name not in RESOURCES or (problem.limits.upper < NO_LIMIT).any():
        return False
    loads, column = problem.loads, RESOURCES.index(name)
    return np.array_equal(loads.of_leader[:, column], loads.of_follower[:, column]) and (
        loads.reads is None or not loads.reads.load[:, column].any()
    )
