"""One load of replicas, whichever leads, between a floor and a ceiling of each broker.

The search starts twice: from the forced moves, and where brokers have shed and received the heaviest replicas first,
which is better if few replicas decide; each of these is then pinned to one broker after another. The better placement
is improved by annealing and, if its gap is still wide, by exact models of regions (`solvers.exact.regions`). Heavy
replicas and duality bound it.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from app.core.model import Bools, Float64s, Int32s, Int64s
from app.core.reassignment.bounds.bands import highest_floor, lowest_ceiling
from app.core.reassignment.bounds.heavy_bound import heavy_movement_bound
from app.core.reassignment.bounds.movement_bound import WIDE, Dual, moved_lower_bound
from app.core.reassignment.model import NO_LIMIT, BrokerBounds, Deadline
from app.core.reassignment.resource_problem import RESOURCES, Bounds, ResourceProblem, SearchedPlacement
from app.core.reassignment.rules import LoadRules, load_rules
from app.core.reassignment.solvers.exact.regions import pin_heavy, search_regions
from app.core.reassignment.solvers.search import heaviest_first
from app.core.reassignment.solvers.search.annealing import annealed
from app.core.reassignment.solvers.search.search import first_leaders, led_by, search

EARLIER = 100.0
"""Weight of bounds that come first, beside 1 for those of the present priority."""
MOST_CHANGES, CLOSE = 12_000_000, 2e-3
"""That annealing tries, in some 3 s, and the relative gap of the movement at which it ends."""
MOST_CELLS = 4_000
"""Rows times brokers of problems whose least movement models may prove, so that any gap is worth them."""
ROUNDED = 2
"""Units of load by which rounded ceilings and floors may be off."""


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

    @property
    def bounds(self) -> Bounds:
        """The bounds as the search takes them: load outside of them is weighed by the mean load of a broker."""
        bounds, loads = Bounds.none(self.problem), self.rules.load * self.problem.movement.factors
        bounds.ceiling[:, self.column], bounds.floor[:, self.column] = self.within.high, self.within.low
        is_bounded = (self.within.high < NO_LIMIT) | (self.within.low > 0)
        mean = max(1.0, float(loads.sum()) / max(1, int(np.count_nonzero(is_bounded))))
        weight = np.where(self.within.high < NO_LIMIT, 1.0, EARLIER)  # nothing can fill a broker with a floor alone
        bounds.unit[:, self.column] = is_bounded * weight / mean
        return bounds

    @property
    def _base(self) -> Int64s:
        return self.problem.loads.base[:, self.column]

    def search(self, is_over: Deadline) -> SearchedPlacement:
        """A placement within the bounds, or near them, with little movement."""
        found = self._searched(self.rules, self.start, is_over)

        def searched(rules: LoadRules) -> heaviest_first.CandidatePlacement:
            return self._from_heaviest(rules, is_over)

        placed = searched(self.rules)
        reached = self.within.joined(placed.loads)
        placed = pin_heavy(self.rules, self._base, placed, reached, searched, is_over)
        other = self._searched(self.rules, placed.at, is_over)
        return min((found, other), key=lambda each: (each.penalty, each.moved))

    def undone(self, is_over: Deadline) -> SearchedPlacement:
        """The start, if it is within the bounds, with replicas in sync kept in place of others, at equal movement."""
        return self._searched(self.rules, self.start, is_over)

    def _from_heaviest(self, rules: LoadRules, is_over: Deadline) -> heaviest_first.CandidatePlacement:
        """The placement of the search that starts where brokers shed and receive the heaviest replicas first.

        Parameters
        ----------
        rules : with the pins so far. Raises `InfeasibleFlow` if some partition has no legal placement.
        """
        high = self.within.high
        top = int(high[high < NO_LIMIT].max(initial=0))
        # A ceiling that is lower than the highest one is a larger base.
        start = heaviest_first.initial_placement(rules, self._base + np.where(high < NO_LIMIT, top - high, 0))
        placed = heaviest_first.redistributed(rules, start, top, is_over, keep_current=False)
        found = self._searched(rules, placed.at, is_over)
        return heaviest_first.candidate(rules, found.at, found.loads[:, self.column])

    def improve(self, best: SearchedPlacement, is_over: Deadline) -> tuple[SearchedPlacement, int]:
        """A placement that moves no more, and a lower bound on the movement of all placements within the bounds.

        Parameters
        ----------
        best : a placement within the bounds.
        """
        rules, base = self.rules, self._base
        known = min(best.moved, heavy_movement_bound(rules, base, self.within.high))
        dual = Dual(self.problem, rules, self.bounds, best)
        bound, prices = moved_lower_bound(dual, self.start, best.moved, is_over, known=known)
        best = annealed(
            self.problem, self.bounds, best, dual, prices, bound, is_over, most_changes=MOST_CHANGES, gap=CLOSE
        )
        is_small = len(rules.load) * len(base) <= MOST_CELLS
        if best.moved - bound > (0 if is_small else WIDE) * best.moved:
            begun = heaviest_first.candidate(rules, best.at, best.loads[:, self.column])
            placed, bound = search_regions(rules, base, begun, self.within, bound, is_over)
            if placed.moved < best.moved:
                best = self._searched(rules, placed.at, is_over)
        return best, min(best.moved, bound)

    def _searched(self, rules: LoadRules, at: Int32s, is_over: Deadline) -> SearchedPlacement:
        return search(self.problem, rules, led_by(at, first_leaders(self.problem, at)), self.bounds, is_over)


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


def _of_column(problem: ResourceProblem, column: int) -> tuple[LoadRules, Bools, Int64s]:
    target = problem.targets[:, column]
    rules = load_rules(replace(problem.movement, target=target), problem.loads.of_follower[:, column])
    return rules, target, problem.loads.base[:, column]


def is_one_load(problem: ResourceProblem, name: str) -> bool:
    """Whether only the load of a resource counts, `target` brokers share it, and no leader changes it."""
    if name not in RESOURCES or problem.sharing is not None or (problem.limits.upper < NO_LIMIT).any():
        return False
    loads, column = problem.loads, RESOURCES.index(name)
    return np.array_equal(loads.of_leader[:, column], loads.of_follower[:, column]) and (
        loads.reads is None or not loads.reads.load[:, column].any()
    )
