"""Lists of partitions that move are chosen among replica sets that the cluster has: no set is opened.

The partitions that a placement moves choose again, and others that may move instead, within the bounds of the placement
at the least movement: by a linear program, then by an integer model of the lists that its dual prices leave. The lower
bound of the placement is one for all placements, and holds in any case.

Brokers that are on no set, since they are added, need sets of their own: lists with one of them are not restricted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from app.core.integer import integer_solver
from app.core.model import NO_REPLICA, Bools, Float64s, Int32s, Int64s
from app.core.reassignment.goals.answers import GoalRange, answer
from app.core.reassignment.model import NO_LIMIT, KnownSets, MovementProblem
from app.core.reassignment.resource_problem import RESOURCES, ResourcePlacement, ResourceProblem
from app.core.reassignment.solvers.exact.limit_model import ExcessProof
from app.core.reassignment.solvers.flow.places import in_order
from app.core.reassignment.solvers.search.search import first_leaders, led_by, rules_of
from app.core.replica_lists import not_among, per_group

MOST_SETS = 32
"""Sets that a partition chooses among for each of its replicas that stays, at regular intervals if there are more."""
MOST_OTHERS = 1_000
"""Partitions that may move instead of those that the placement moves."""
CORES = {500: 2.0, 2_000: 2.0, 10_000: 4.0}
"""Lists of an integer model beside those of the linear program, and its deterministic time, about seconds."""
IMPROVED = 1_000, 25.0
"""The same if the plan that is found moves more than the placement: several searches take turns."""
SHARED = 1e-9
"""A larger part of a partition is on a list of the linear program."""


class BoundedLoad(NamedTuple):
    """The load of one replica, and the bounds of its sums on brokers.

    Parameters
    ----------
    of_row : (rows,) int64 >= 0. base : (brokers,) int64 of other replicas. low, high : (brokers,) int64 bounds.
    """

    of_row: Int64s
    base: Int64s
    low: Int64s
    high: Int64s


class _Sum(NamedTuple):
    """Coefficients of lists, whose sum over the chosen ones is bounded."""

    lists: Int64s
    coefficients: Int64s
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class SetChoice:
    """Lists on known sets in place of those of a placement.

    Parameters
    ----------
    replicas : (rows, widest) int32, the placement. is_pinned : (rows,) bool, partitions whose lists are given.
    loads : with bounds. topic_of : (rows,) int64 if each topic keeps its number of replicas on each broker.
    moves_others : whether other replicas may move than in the placement. seconds : until the deadline.
    """

    known: KnownSets
    problem: MovementProblem
    replicas: Int32s = field(repr=False)
    is_pinned: Bools = field(repr=False)
    loads: Sequence[BoundedLoad]
    topic_of: Int64s | None
    moves_others: bool
    seconds: float

    def solved(self) -> Int32s | None:
        """(rows, widest) int32 positions on known sets with the least movement that is found; None without any."""
        if not all(lists for _, lists in self._choices):
            return None
        sums = list(self._sums())
        priced = self._relaxed(sums)
        if priced is None:
            return None
        for others, solver_time in CORES.items():
            core = np.argsort(priced, kind="stable")[: np.count_nonzero(priced < 0) + others]
            chosen = self._chosen(sums, np.sort(core), solver_time)
            if chosen is not None:
                chosen = self._improved(sums, priced, chosen)
                after = self.replicas.copy()
                after[self._of_row[chosen]] = self._lists[chosen]
                return in_order(self.problem, after)
        return None

    def _improved(self, sums: Sequence[_Sum], priced: Float64s, chosen: Int64s) -> Int64s:
        """Lists that move no more than the placement, or than they have to; else the best that are found."""
        rows, cheapest = self._cheapest
        enough = max(int(cheapest.sum()), int(self._cost_of(self.replicas[rows], rows).sum()))
        if int(self._cost[chosen].sum()) <= enough:
            return chosen
        others, solver_time = IMPROVED
        core = np.argsort(priced, kind="stable")[: np.count_nonzero(priced < 0) + others]
        found = self._chosen(sums, np.sort(core), solver_time, enough)
        return chosen if found is None else min(chosen, found, key=lambda lists: int(self._cost[lists].sum()))

    @cached_property
    def _cheapest(self) -> tuple[Int64s, Int64s]:
        """(choosing,) int64 rows that choose, and the least cost of a list of each."""
        rows, starts = np.unique(self._of_row, return_index=True)
        return rows, np.minimum.reduceat(self._cost, starts) if len(rows) else starts

    @property
    def least(self) -> tuple[int, int]:
        """A lower bound on the weight that is copied, by partitions that lose replicas; and the number of those that
        copy more of them, since no known set has all that stay. 0 if a broker on no set may receive.
        """
        problem, table, (rows, cheapest) = self.problem, self.problem.table, self._cheapest
        may_open = table.may_receive[:, self.known.unused].any()
        has = problem.current != NO_REPLICA
        kept = problem.may_stay.sum(axis=1)
        loses = (kept < has.sum(axis=1)) & (kept < problem.factors) & ~self.is_pinned & ~problem.is_copied.any(axis=1)
        if may_open or not self.moves_others:
            return 0, 0
        missing, weighs = (problem.factors - kept) * np.maximum(problem.weight, 1), problem.weight[rows] > 0
        copied = (cheapest * weighs)[loses[rows]]  # the cost of a copy without weight is 1
        return int(copied.sum()), int(np.count_nonzero((cheapest > missing[rows])[loses[rows]]))

    def _relaxed(self, sums: Sequence[_Sum]) -> Float64s | None:
        """(lists,) float64 reduced costs, -1 of lists in the optimum of the linear program; None if there is none."""
        from ortools.linear_solver import pywraplp  # noqa: PLC0415 — few requests need it

        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        variables = [solver.NumVar(0.0, solver.infinity(), "") for _ in self._of_row]
        for each in sums:
            unit = float(each.coefficients.max(initial=1))
            bounded = solver.Constraint(each.low / unit, each.high / unit)
            for at, coefficient in zip(each.lists.tolist(), (each.coefficients / unit).tolist(), strict=True):
                bounded.SetCoefficient(variables[at], coefficient)
        objective, unit = solver.Objective(), float(self._cost.max(initial=1))
        for variable, cost in zip(variables, (self._cost / unit).tolist(), strict=True):
            objective.SetCoefficient(variable, cost)
        if np.isfinite(self.seconds):
            solver.SetTimeLimit(int(1000 * max(self.seconds, 0.0)))
        if solver.Solve() != pywraplp.Solver.OPTIMAL:
            return None
        pairs = ((each.solution_value(), each.reduced_cost()) for each in variables)
        return np.array([-1.0 if value > SHARED else max(0.0, cost) for value, cost in pairs])

    def _chosen(
        self, sums: Sequence[_Sum], core: Int64s, solver_time: float, enough: int | None = None
    ) -> Int64s | None:
        """The list of each row, by an integer model of some lists; None if none was found in time.

        Parameters
        ----------
        enough : a cost that ends the search.
        """
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        class Enough(cp_model.CpSolverSolutionCallback):
            def on_solution_callback(self) -> None:
                if enough is not None and self.objective_value <= enough:
                    self.stop_search()

        model = cp_model.CpModel()
        variables = {at: model.new_bool_var("") for at in core.tolist()}
        for each in sums:
            pairs = zip(each.lists.tolist(), each.coefficients.tolist(), strict=True)
            terms: list[tuple[Any, int]] = [(variables[at], load) for at, load in pairs if at in variables]
            total = cp_model.LinearExpr.weighted_sum(*zip(*(terms or [(0, 0)]), strict=True))
            model.add_linear_constraint(total, each.low, each.high)
        model.minimize(cp_model.LinearExpr.weighted_sum(list(variables.values()), self._cost[core].tolist()))
        solver = integer_solver(solver_time)
        solver.parameters.max_time_in_seconds = max(self.seconds, 0.0)
        if enough is not None:
            solver.parameters.interleave_search, solver.parameters.linearization_level = True, 2
        if solver.solve(model, Enough()) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return np.array([at for at, variable in variables.items() if solver.value(variable)], np.int64)

    def _sums(self) -> Iterator[_Sum]:
        """One list of each row, and what lists load on each broker."""
        every, brokers = np.arange(len(self._of_row)), len(self.problem.broker_ids)
        for lists in np.split(every, np.flatnonzero(np.diff(self._of_row)) + 1):
            yield _Sum(lists, np.ones_like(lists), 1, 1)
        if self.topic_of is not None:
            one, topics = np.ones(len(self.replicas), np.int64), self.topic_of
            counts = per_group(topics, self.replicas, int(topics.max(initial=-1)) + 1, brokers).ravel()
            yield from self._within(BoundedLoad(one, np.zeros_like(counts), counts, counts), topics)
        for load in self.loads:
            yield from self._within(load, np.zeros(len(self.replicas), np.int64))

    def _within(self, load: BoundedLoad, topic_of: Int64s) -> Iterator[_Sum]:
        """The load of each topic on each broker, in the order of topics."""
        brokers = len(self.problem.broker_ids)
        others = np.setdiff1d(np.arange(len(self.replicas)), self._of_row)
        topics = len(load.base) // brokers
        totals = per_group(topic_of[others], self.replicas[others], topics, brokers, load.of_row[others])
        base = load.base + totals.ravel()
        at, column = np.nonzero(self._lists != NO_REPLICA)
        cell = topic_of[self._of_row[at]] * brokers + self._lists[at, column]
        order = np.argsort(cell, kind="stable")
        used, starts = np.unique(cell[order], return_index=True)
        of_cells = dict(zip(used.tolist(), np.split(at[order], starts[1:]), strict=True))
        for index in np.flatnonzero((load.low > base) | (load.high < NO_LIMIT)).tolist():
            lists = of_cells.get(index, np.zeros(0, np.int64))
            if len(lists) or load.low[index] > base[index]:
                low, high = max(0, int(load.low[index] - base[index])), max(0, int(load.high[index] - base[index]))
                yield _Sum(lists, load.of_row[self._of_row[lists]], low, high)

    @cached_property
    def _choices(self) -> Sequence[tuple[int, Sequence[Sequence[int]]]]:
        """Rows that choose, ascending, with their lists."""
        opened = self.known.opened(self.replicas)
        moves = np.asarray(not_among(self.replicas, self.problem.current).any(axis=1), np.bool_)
        moves[opened] = True
        others = np.flatnonzero(~moves & ~self.is_pinned)
        load = np.sum([each.of_row for each in self.loads], axis=0) if self.loads else np.zeros(len(moves))
        number = MOST_OTHERS if self.moves_others else 0
        moves[others[np.argsort(-load[others], kind="stable")][:number]] = True
        is_opened = np.isin(np.arange(len(moves)), opened)
        return [(row, self._lists_of(row, is_opened=bool(is_opened[row]))) for row in np.flatnonzero(moves).tolist()]

    @cached_property
    def _of_row(self) -> Int64s:
        """(lists,) int64 the row of each list, ascending."""
        return np.repeat([row for row, _ in self._choices], [len(lists) for _, lists in self._choices])

    @cached_property
    def _lists(self) -> Int32s:
        """(lists, widest) int32 positions, padded with -1."""
        lists = np.full((len(self._of_row), self.replicas.shape[1]), NO_REPLICA, np.int32)
        for at, brokers in enumerate(brokers for _, of_row in self._choices for brokers in of_row):
            lists[at, : len(brokers)] = brokers
        return lists

    @cached_property
    def _cost(self) -> Int64s:
        """(lists,) int64 as of `_cost_of`."""
        return self._cost_of(self._lists, self._of_row)

    def _cost_of(self, lists: Int32s, rows: Int64s) -> Int64s:
        """(lists,) int64 weight that is copied, at least 1 a copy; 0 of new partitions."""
        there = np.where(self.problem.is_copied, np.int32(NO_REPLICA), self.problem.current)
        copies = not_among(lists, there[rows]).sum(axis=1)
        is_new = (self.problem.current == NO_REPLICA).all(axis=1)
        return np.asarray(copies * np.where(is_new, 0, np.maximum(self.problem.weight, 1))[rows], np.int64)

    def _lists_of(self, row: int, *, is_opened: bool) -> list[list[int]]:
        """The sets that a row may be on; its own list of the placement first if that is one of them."""
        placed = [broker for broker in self.replicas[row].tolist() if broker != NO_REPLICA]
        lists = [placed] if self.is_pinned[row] or not is_opened else []
        if self.is_pinned[row]:
            return lists
        current = [broker for broker in self.problem.current[row].tolist() if broker != NO_REPLICA]
        if not self.moves_others:
            stay = [broker for broker in placed if broker in current]
            others = self._legal(row, [stay], current, placed)
            return lists + [each for each in others if len(set(each) & set(current)) == len(stay)]
        # Fewer replicas stay only if no known set has more of them.
        for number in range(max(0, len(current) - 1), -1, -1):
            if others := self._legal(row, list(combinations(sorted(current), number)), current, placed):
                return lists + others
        return lists

    def _legal(
        self, row: int, kept: Sequence[Sequence[int]], current: Sequence[int], placed: Sequence[int]
    ) -> list[list[int]]:
        """The known sets with all brokers of one of `kept` that the row may be on, and such with a broker on no set,
        other than that of the placement; at regular intervals if there are more than `MOST_SETS` for each.
        """
        problem, known = self.problem, self.known
        domain, must_keep = problem.domains[problem.domain_of[row]], int(problem.must_keep[row])
        found = np.unique(np.concatenate([known.with_brokers(each, domain.factor) for each in kept]))
        opening = [[*each, broker] for each in kept if len(each) == domain.factor - 1 for broker in known.unused]
        of_unused = np.array(opening, np.int32).reshape(-1, domain.factor)
        # If the factor is above all known sets, none is found, and these are narrower.
        of_known = known.sets[found, : domain.factor].reshape(-1, domain.factor)
        sets = np.concatenate([of_known, of_unused])
        stays = np.isin(sets, current)
        in_racks = (problem.rack_of[sets][:, :, None] == np.arange(problem.racks)).sum(axis=1)
        is_legal = np.where(stays, domain.may_keep[sets], domain.may_receive[sets]).all(axis=1)
        is_legal &= ((in_racks >= domain.least) & (in_racks <= domain.most)).all(axis=1)
        is_legal &= ~stays.all(axis=1) | (domain.factor >= len(current))  # which replicas are left depends on the ISR
        if must_keep != NO_REPLICA:
            is_legal &= ((sets == must_keep) & stays).any(axis=1)
        legal = [brokers for brokers in sets[is_legal].tolist() if set(brokers) != set(placed)]
        return legal[:: max(1, len(legal) // (MOST_SETS * len(kept)))]


def resources_on_known_sets(
    known: KnownSets, problem: ResourceProblem, placement: ResourcePlacement, seconds: float
) -> ResourcePlacement | None:
    """Lists on known sets that reach the goals as those of a placement do; None if none are found.

    Parameters
    ----------
    problem : without limits, whose goals no leader changes.
    """
    if not len(known.opened(placement.replicas)):
        return placement
    loads = [
        BoundedLoad(problem.loads.of_follower[:, column], problem.loads.base[:, column], goal.floor, goal.ceiling)
        for goal in placement.goals
        for column in [RESOURCES.index(goal.goal.name)]
    ]
    is_pinned = np.zeros(len(placement.replicas), np.bool_)
    choice = SetChoice(known, problem.movement, placement.replicas, is_pinned, loads, None, True, seconds)
    lists = choice.solved()
    if lists is None:
        return None
    ranges = [GoalRange(each.goal, each.ceiling, each.floor, each.largest.lower_bound) for each in placement.goals]
    at, bound = led_by(lists, first_leaders(problem, lists)), max(placement.movement.lower_bound, choice.least[0])
    return answer(problem, rules_of(problem), at, ranges=ranges, moved_bound=bound, proof=ExcessProof())
