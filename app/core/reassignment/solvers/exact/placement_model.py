"""An exact model of a placement (CP-SAT): a Boolean for each eligible broker of each partition, and for its leader.

All cells of a small problem are free, or those of some partitions on some brokers of a larger one; other replicas and
leaders are then as in a placement to start from.

Solves are limited in deterministic time, so that the same problem always gets the same answer.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import floor, gcd, lcm
from typing import Any, NamedTuple

import numpy as np

from app.core.integer import integer_solver
from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import BrokerBounds
from app.core.reassignment.resource_problem import NO_LIMIT, ResourceProblem, loads_of
from app.core.reassignment.rules import LoadRules
from app.core.reassignment.solvers.exact.cell_model import FreeCells, add_legal_set

SOLVER_TIME = 1.0
"""Deterministic time of the longest attempt of a solve, about seconds."""


class Attempt(NamedTuple):
    """The level of linear relaxation, the share of the time of a solve, and whether the model is presolved."""

    level: int
    share: float
    is_presolved: bool = True


Attempts = Sequence[Attempt]
ATTEMPTS: Attempts = (Attempt(1, 0.2), Attempt(0, 0.8), Attempt(1, 1.0, is_presolved=False))
"""Without relaxation, the least largest of some loads is proven in a fifth of the time, if a lower bound by linear
programming is below it by one or two; others are proven sooner as they are stated.
"""
CONFIGURED: Attempts = (Attempt(2, 1.0),)
"""With configurations, whose linear relaxation is nearly integer."""
OF_ROLES: Attempts = (Attempt(2, 1.0, is_presolved=False),)
"""If only loads that depend on leaders are bounded."""
MAX_CONFIGURED, MAX_CONFIGURATIONS = 13, 400
"""The most partitions whose sets are enumerated, and the most of these sets that are configurations of a broker."""


LARGEST_PRESOLVED, INCLUSION_WORK = 1 << 32, 100_000_000
"""The largest sum of a model whose presolve looks for constraints that include others, as hard instances need, and its
work limit, CP-SAT's default. Optima were cut off from sums of 2^34 on.
"""
LARGEST_EXCESS = 1 << 60
"""Of sums of shares of limits."""
LARGEST_SUM = 1 << 60
"""The largest sum: the solver adds in int64."""


class NotProven(Exception):
    """The time of a solve has passed before its answer was proven, or a sum is too large."""


@dataclass(frozen=True, slots=True, eq=False)
class Sum:
    """A linear expression. terms : each variable, its coefficient, and the largest value of the variable."""

    terms: tuple[tuple[Any, int, int], ...]
    constant: int = 0

    @property
    def size(self) -> int:
        """An upper bound on its absolute value."""
        return abs(self.constant) + sum(abs(coefficient) * most for _, coefficient, most in self.terms)

    @property
    def parts(self) -> Iterable[int]:
        """Its coefficients and its constant."""
        return (self.constant, *(coefficient for _, coefficient, _ in self.terms))

    def plus(self, terms: Iterable[tuple[Any, int, int]], constant: int = 0) -> "Sum":
        """With further terms."""
        return Sum((*self.terms, *terms), self.constant + constant)

    def times(self, factor: Fraction | int) -> "Sum":
        """Each coefficient times a factor, rounded."""
        terms = tuple((variable, round(coefficient * factor), most) for variable, coefficient, most in self.terms)
        return Sum(terms, round(self.constant * factor))


def subsets(rows: int) -> Int64s:
    """(2 ** rows, rows) int64: which rows each set has."""
    return np.arange(1 << rows)[:, None] >> np.arange(rows) & 1


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """The placements that differ from another one in free cells alone.

    Parameters
    ----------
    free : no consumers fetch from followers of its rows. at : (rows, widest) int32, the leader in column 0.
    loads : (brokers, resources) int64 of that placement.
    """

    free: FreeCells
    at: Int32s
    loads: Int64s

    def base(self, problem: ResourceProblem) -> Int64s:
        """(brokers, resources) int64: the loads without the free cells."""
        changing = self.free.changing(self.at)
        of_cells = replace(problem.loads, base=np.zeros_like(self.loads), reads=None)
        return self.loads - loads_of(of_cells, problem.movement.rack_of, changing, changing[:, 0])


class PlacementModel:
    """The legal sets of partitions and their leaders, with the loads of a problem.

    Of a partition's replicas one that is ready leads before others, then one on a broker that may lead.

    Parameters
    ----------
    near : the placements of the model; None is all.
    """

    def __init__(self, problem: ResourceProblem, rules: LoadRules, near: Neighbourhood | None = None) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        self.model: Any = cp_model.CpModel()
        self._rules, self._loads, self._may_lead, self._behind = rules, problem.loads, problem.may_lead, problem.behind
        largest = np.maximum(self._loads.of_leader, self._loads.of_follower).sum(axis=0)
        self._most: Int64s = self._loads.base.sum(axis=0) + rules.factor.max(initial=0) * largest
        self._base = self._loads.base if near is None else near.base(problem)
        widest = int(rules.factor.max(initial=0))
        self._at = np.full((len(rules.cost), widest), NO_REPLICA, np.int32) if near is None else near.at
        self._near = near
        self._solver: Any = None
        self.bound, self.is_placed, self.attempts, self._largest = 0, False, ATTEMPTS, 0
        rows = range(len(rules.cost)) if near is None else near.free.rows.tolist()
        self._cells: dict[int, dict[int, tuple[Any, Any]]] = {row: self._add_partition(row) for row in rows}

    def _add_partition(self, row: int) -> dict[int, tuple[Any, Any]]:
        """Whether each broker has a replica of the row, and whether it leads."""
        rules, domain, behind = self._rules, self._rules.domain_of[row], self._behind[row]
        current = {broker for broker in rules.current[row].tolist() if broker != NO_REPLICA}
        eligible, start = set(np.flatnonzero(rules.may_receive[domain]).tolist()) | current, self._at[row].tolist()
        if self._near is not None:
            eligible &= set(self._near.free.brokers.tolist())
        brokers, others = sorted(eligible), [each for each in start if each != NO_REPLICA and each not in eligible]
        leads = [self.model.new_bool_var("") for _ in brokers]
        chosen = add_legal_set(self.model, rules, row, brokers, others)
        cells = {broker: (chosen[broker], led) for broker, led in zip(brokers, leads, strict=True)}
        rank = {each: 2 * int(each in behind) + int(not self._may_lead[each]) for each in (*brokers, *others)}
        for broker, led in zip(brokers, leads, strict=True):
            if any(rank[each] < rank[broker] for each in others):
                self.model.add(led == 0)
        is_led_by_others = bool(others) and others[0] == start[0]
        self._add_leader(cells, min(int(rules.factor[domain]), 1) - int(is_led_by_others), rank)
        return cells

    def _add_leader(self, cells: dict[int, tuple[Any, Any]], leaders: int, rank: dict[int, int]) -> None:
        self.model.add(sum(leads for _, leads in cells.values()) == leaders)
        for broker, (has, leads) in cells.items():
            self.model.add_implication(leads, has)
            for other, (there, _) in cells.items():
                if rank[other] < rank[broker]:
                    self.model.add_bool_or([leads.negated(), there.negated()])

    def of(self, broker: int, column: int) -> Sum:
        """The load of a broker by one resource."""
        of_leader, of_follower = self._loads.of_leader[:, column], self._loads.of_follower[:, column]
        terms: list[tuple[Any, int, int]] = []
        for row, cells in self._cells.items():
            if broker in cells:
                has, leads = cells[broker]
                follows = int(of_follower[row])
                terms += [(has, follows, 1), (leads, int(of_leader[row]) - follows, 1)]
        return Sum(tuple(term for term in terms if term[1]), int(self._base[broker, column]))

    def excess(self, upper: Int64s, *, shares: bool) -> tuple[Sum, int]:
        """The sum of loads above limits, and in which parts of a limit it is counted.

        Parameters
        ----------
        upper : (brokers, resources) int64, or `NO_LIMIT`. shares : count the load above a limit over the limit.

        Raises `NotProven` if the sum may be too large.
        """
        cells = [(int(at), int(column)) for at, column in zip(*np.nonzero(upper < NO_LIMIT), strict=True)]
        limits = [max(1, int(upper[cell])) if shares else 1 for cell in cells]
        largest = sum(int(self._most[column]) // limit + 1 for (_, column), limit in zip(cells, limits, strict=True))
        scale = lcm(*limits)
        if scale * largest > LARGEST_EXCESS:
            scale = LARGEST_EXCESS // max(1, largest)
        if scale < max(limits, default=1):
            raise NotProven
        total = Sum(())
        for (broker, column), limit in zip(cells, limits, strict=True):
            over = self.number(int(self._most[column]))
            self.at_most(self.of(broker, column).plus(over.times(-1).terms), int(upper[broker, column]))
            total = total.plus(over.times(scale // limit).terms)
        return total, scale

    def least(self, upper: Int64s, *, shares: bool) -> tuple[Int32s | None, Fraction]:
        """Minimise the sum of loads above limits, as in `excess`: the placement, or None, and a lower bound."""
        scale = 1
        with suppress(NotProven):
            total, scale = self.excess(upper, shares=shares)
            self.minimum(total)
        return self.placement() if self.is_placed else None, Fraction(max(0, self.bound), scale)

    def configure(self, load: Int64s, base: Int64s, within: BrokerBounds) -> None:
        """Add a Boolean for each configuration of a broker, a set of partitions whose load is within its bounds.

        Parameters
        ----------
        load : (rows,) int64 of a replica, whichever leads. base : (brokers,) int64. within : loads.
        """
        if len(load) > MAX_CONFIGURED:
            return
        sets = subsets(len(load))
        sums = sets @ load
        for broker, (low, high) in enumerate(zip(within.low - base, within.high - base, strict=True)):
            may_have = np.array([broker in cells for cells in self._cells.values()])
            inside = sets[(sums >= low) & (sums <= high) & ~sets[:, ~may_have].any(axis=1)]
            if len(inside) > MAX_CONFIGURATIONS:
                continue
            self.attempts, chosen = CONFIGURED, [self.model.new_bool_var("") for _ in inside]
            self.model.add_exactly_one(chosen)
            for row in np.flatnonzero(may_have).tolist():
                having = (chosen[place] for place in np.flatnonzero(inside[:, row]).tolist())
                self.model.add(sum(having) == self._cells[row][broker][0])

    def order(self, groups: Iterable[Sequence[int]], rows: Sequence[int]) -> None:
        """Exclude placements that differ by an exchange of the brokers of a group: their roles in some rows descend."""
        weighted = [(self._cells[row], 3**place) for place, row in enumerate(rows)]
        for group in groups:
            roles = [sum(sum(cells.get(broker, (0,))) * weight for cells, weight in weighted) for broker in group]
            for higher, lower in pairwise(roles):
                self.model.add(higher >= lower)

    def count(self, broker: int, rows: Int64s) -> Sum:
        """The replicas of some rows on a broker."""
        return Sum(tuple((self._cells[row][broker][0], 1, 1) for row in rows.tolist() if broker in self._cells[row]))

    def moved(self, weight: Int64s) -> Sum:
        """The moved weight of partitions with free cells, with (rows,) int64 of one replica; 0 of those that have none
        now. Replicas that are as in the start count as moved.
        """
        rules = self._rules
        terms, constant = [], 0
        for row, cells in self._cells.items():
            each = int(weight[row])
            constant += int(rules.factor[rules.domain_of[row]]) * each
            stays = rules.current[row][rules.stays_free[row]].tolist()
            terms += [(cells[broker][0], -each, 1) for broker in stays if each and broker in cells]
        return Sum(tuple(terms), constant)

    def kept(self, worth: Int64s) -> Sum:
        """The worth of replicas that stay: (rows, widest) int64 of `rules.current`."""
        cells, current = zip(*np.nonzero(worth * self._rules.stays_free), strict=True), self._rules.current
        return Sum(tuple((self._cells[row][int(current[row, at])][0], int(worth[row, at]), 1) for row, at in cells))

    def changes(self, leader: Int32s) -> Sum:
        """Partitions with another leader than their current one, (rows,) int32."""
        led = [(cells, int(leader[row])) for row, cells in self._cells.items() if leader[row] != NO_LEADER]
        return Sum(tuple((cells[at][1], -1, 1) for cells, at in led if at in cells), len(led))

    def number(self, most: int) -> Sum:
        """A new number from 0 to `most`."""
        return Sum(((self.model.new_int_var(0, most, ""), 1, most),))

    def at_most(self, total: Sum, most: int) -> None:
        """Bound a sum from above. Raises `NotProven` if it is too large."""
        self.model.add(self._expression(total) <= most)

    def at_least(self, total: Sum, least: int) -> None:
        """Bound a sum from below. Raises `NotProven` if it is too large."""
        self.at_most(total.times(-1), -least)

    def _expression(self, total: Sum) -> Any:
        self._largest = max(self._largest, total.size)
        if self._largest > LARGEST_SUM:
            raise NotProven
        return sum((variable * coefficient for variable, coefficient, _ in total.terms), total.constant)

    def hint(self, at: Int32s) -> None:
        """Start the search with a placement, (rows, widest) int32, the leader in column 0."""
        for row, cells in self._cells.items():
            brokers = at[row].tolist()
            for broker, (has, leads) in cells.items():
                self.model.add_hint(has, broker in brokers)
                self.model.add_hint(leads, broker == brokers[0])

    def status(self) -> str:
        """Solve, and name what the solver knows; of attempts that prove nothing the best placement is kept."""
        status = ""
        for level, share, is_presolved in self.attempts:
            solver = integer_solver(share * SOLVER_TIME)
            solver.parameters.linearization_level = level
            if is_presolved and self._largest <= LARGEST_PRESOLVED:
                solver.parameters.presolve_inclusion_work_limit = INCLUSION_WORK
            else:
                solver.parameters.cp_model_presolve = False  # it takes as long as it saves
            found = str(solver.status_name(solver.solve(self.model)))
            is_placed = found in {"OPTIMAL", "FEASIBLE"}
            if status != "FEASIBLE" or (is_placed and solver.objective_value <= self._solver.objective_value):
                self._solver, status = solver, found
            if status in {"OPTIMAL", "INFEASIBLE"}:
                break
        return status

    @property
    def work(self) -> float:
        """Deterministic time of the last attempt."""
        return float(self._solver.response_proto.deterministic_time)

    def is_feasible(self) -> bool:
        """Whether there is a placement. Raises `NotProven`."""
        status = self.status()
        if status not in {"OPTIMAL", "FEASIBLE", "INFEASIBLE"}:
            raise NotProven
        return status != "INFEASIBLE"

    def minimum(self, *totals: Sum, least: int | None = None) -> int:
        """The least number, of `least` or more, that no sum exceeds.

        Sums count in their greatest common divisor, so that a bound between two of its multiples proves the upper one.

        Raises `NotProven`; `bound` then is a lower bound.
        """
        unit = max(1, gcd(least or 0, *(part for total in totals for part in total.parts)))
        if unit > 1:
            totals = tuple(total.times(Fraction(1, unit)) for total in totals)
            least = None if least is None else least // unit
        expressions = [self._expression(total) for total in totals]
        objective = expressions[0]
        if len(totals) > 1 or least is not None:
            size = max(total.size for total in totals)
            objective = self.model.new_int_var(-size if least is None else min(least, size), max(size, least or 0), "")
            for each in expressions:
                self.model.add(each <= objective)
        self.model.minimize(objective)
        status = self.status()
        self.is_placed = status in {"OPTIMAL", "FEASIBLE"}
        if status != "OPTIMAL":
            bound = floor(self._solver.best_objective_bound)
            self.bound = unit * (bound - (abs(bound) >> 50))  # the solver states it as a float
            raise NotProven
        self.bound = unit * int(self._solver.value(objective))
        return self.bound

    def placement(self) -> Int32s:
        """(rows, widest) int32 of the last solve, the leader in column 0."""
        at = self._at.copy()
        for row, cells in self._cells.items():
            others = [broker for broker in at[row].tolist() if broker != NO_REPLICA and broker not in cells]
            has = [broker for broker, (there, _) in cells.items() if self._solver.boolean_value(there)]
            leader = [each for each in has if self._solver.boolean_value(cells[each][1])]
            in_order = [*leader, *others, *(broker for broker in has if broker not in leader)]
            at[row] = NO_REPLICA
            at[row, : len(in_order)] = in_order
        return at
