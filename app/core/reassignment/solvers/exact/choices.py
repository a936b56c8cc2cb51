"""Less movement within bounds of several loads: a linear program of the cheapest choices of partitions.

A partition chooses its replicas and a leader among them. In the linear program it may choose parts of several: those
that are cheapest under dual prices, beside its choice in a placement that is known. Its optimum has new prices, and
with these there are other choices, until the bound of the prices is near (column generation). An optimum at a vertex
divides at most as many partitions as there are bounds, which are few: the others are placed as it says, and a search
mends the rest, after each program.

Source: Barnhart et al., "Branch-and-price: column generation for solving huge integer programs" (1998).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from threading import Event, Thread
from typing import Any, NamedTuple

import numpy as np

from app.core.model import NO_REPLICA, Float64s, Int32s, Int64s
from app.core.reassignment.bounds.movement_bound import WIDE, Dual, whole
from app.core.reassignment.model import Deadline
from app.core.reassignment.resource_problem import Bounds, ResourceProblem, SearchedPlacement
from app.core.reassignment.rules import costs_saved
from app.core.reassignment.solvers.exact.choices_kernel import CheapestChoices, list_cheapest_choices
from app.core.reassignment.solvers.search.search import SEED, search

MOST_BOUNDS, MOST_ROWS = 400, 50_000
"""Loads of brokers that have bounds, and partitions, of the largest linear program."""
PROGRAMS, OF_A_ROW, CHOICES = 5, 3, 12_000
"""Linear programs, and the choices of a partition and of all of them that each has beside those that the last one took.
"""
NEAR = 3e-3
"""Relative gap between the optimum of a linear program and the bound at which no other one follows."""
SOLVER_TIME = 20.0
"""Deterministic time of a linear program, about seconds."""
LOOK_S = 0.05
"""Seconds between two looks at the deadline while a linear program is solved."""
STEPS = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03)
"""How far prices go to those of a linear program, which are the farther from the best ones the more choices it lacks.
The step of the largest bound is taken.
"""
NOISE, NOISES = 1e-5, 4093
"""Choices whose costs differ by less than this part of the mean cost of a move count as equal: each has noise of up to
that added, one of `NOISES` values, which are a prime number.
"""
OF_LEADER = 1e-4
"""The cost of another leader, in parts of the mean cost of a move: as many leaders stay as may."""
SHARED = 1e-9
"""The linear program has taken a choice if the choice has a larger part of its partition than this."""


class _Choices(NamedTuple):
    """Replicas that partitions may have: (choices,) int64 rows and (choices, widest) int32, the leader in column 0."""

    rows: Int64s
    at: Int32s


class _Relaxed(NamedTuple):
    """A solution of the linear program.

    Parameters
    ----------
    shares : (choices,) float64 part of its row that is a choice. prices : (brokers, resources) float64.
    cost : of all partitions.
    """

    shares: Float64s
    prices: Float64s
    cost: float


def is_small(problem: ResourceProblem, dual: Dual) -> bool:
    """Whether linear programs of a problem are solved in some seconds; with loads of consumers they are not linear."""
    return (
        problem.loads.reads is None
        and 0 < int(dual.is_bounded.sum()) <= MOST_BOUNDS
        and len(dual.rules.cost) <= MOST_ROWS
    )


def fewer_moves(
    problem: ResourceProblem,
    bounds: Bounds,
    best: SearchedPlacement,
    dual: Dual,
    prices: Float64s,
    bound: int,
    is_over: Deadline,
) -> tuple[SearchedPlacement, int]:
    """A placement within the bounds that moves less than `best`, or that; and a lower bound, at least `bound`.

    Parameters
    ----------
    bounds : none of them of topics. dual : of these. prices : (brokers, resources) float64, near the best.
    """
    if best.penalty > 0 or best.moved - bound <= WIDE * best.moved:
        return best, bound
    program, nothing = _Program(problem, dual, best.at), np.zeros_like(prices)
    taken = _Choices(np.zeros(0, np.int64), best.at[:0])
    for _ in range(PROGRAMS):
        choices = program.beside(prices, taken)
        relaxed = program.relaxed(choices, is_over)
        if relaxed is None:
            break
        is_taken = relaxed.shares > SHARED
        taken = _Choices(choices.rows[is_taken], choices.at[is_taken])
        found = search(problem, dual.rules, program.rounded(taken, relaxed.shares[is_taken]), bounds, is_over)
        best = found if found.penalty <= 0 and found.moved < best.moved else best
        tried = [dual.allowed(nothing, (1 - step) * prices + step * relaxed.prices) for step in STEPS]
        value, prices = max(((dual.value(each)[0], each) for each in tried), key=itemgetter(0))
        bound = max(bound, whole(value))
        if relaxed.cost - bound <= NEAR * relaxed.cost:
            break
    return best, min(bound, best.moved)


class _Program:
    """The linear program of a problem, beside a placement within its bounds: there its simplex algorithm begins."""

    def __init__(self, problem: ResourceProblem, dual: Dual, at: Int32s) -> None:
        cost, rows = dual.rules.cost, np.arange(len(at))
        self._problem, self._dual, self._at = problem, dual, at
        self._move = float(cost[cost > 0].mean()) if cost.any() else 1.0
        # Which replicas that are out of sync may lead depends on the others.
        self._may_change = (problem.behind == NO_REPLICA).all(axis=1)
        self._listed = CheapestChoices(
            may_lead=problem.may_lead.astype(np.bool_),
            leader=problem.leader.astype(np.int32),
            other_leader=OF_LEADER * self._move,
            known=np.ascontiguousarray(at, np.int32),
            noise=np.random.default_rng(SEED).random(NOISES) * NOISE * self._move,
            at=np.full((len(at), OF_A_ROW, at.shape[1]), NO_REPLICA, np.int32),
            cost=np.full((len(at), OF_A_ROW), np.inf),
            least=np.full(len(at), np.inf),
        )
        self._scale = np.maximum(dual.of_leader.max(axis=0, initial=1), 1).astype(np.float64)
        self._cost, self._loads = self._cost_of(rows, at), dual.base.copy()
        np.add.at(self._loads, *self._of_brokers(rows, at, np.zeros_like(rows)))

    def beside(self, prices: Float64s, taken: _Choices) -> _Choices:
        """The choices that cost least under some prices, and those that the last program took."""
        listed = self._listed
        list_cheapest_choices(self._dual.rules, self._dual.priced(prices), listed)
        more = np.where(self._may_change[:, None] & np.isfinite(listed.cost), listed.cost, np.inf)
        more[np.isfinite(listed.least)] -= listed.least[np.isfinite(listed.least), None]
        cheapest = np.argsort(more, axis=None, kind="stable")[: min(CHOICES, int(np.isfinite(more).sum()))]
        rows, places = np.divmod(np.sort(cheapest), OF_A_ROW)
        return _Choices(np.concatenate([taken.rows, rows]), np.concatenate([taken.at, listed.at[rows, places]]))

    def relaxed(self, choices: _Choices, is_over: Deadline) -> _Relaxed | None:
        """The least cost of parts of choices within the bounds; None if it is not found before the deadline."""
        from ortools.linear_solver import pywraplp  # noqa: PLC0415 — few requests need it

        costs = self._cost_of(*choices) - self._cost[choices.rows]
        unit = float(np.abs(costs).max(initial=1.0))
        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        solver.LoadModelFromProto(self._model(choices, costs / unit))
        # The algorithm begins at the known placement; what preprocessing leaves has another begin, far from it.
        solver.SetSolverSpecificParametersAsString(f"use_preprocessing: false max_deterministic_time: {SOLVER_TIME}")
        with _interrupted(solver, is_over):
            status = solver.Solve()
        if status != pywraplp.Solver.OPTIMAL:  # Other prices than those of the optimum are of no use.
            return None
        shares = np.array([each.solution_value() for each in solver.variables()])
        prices, is_bounded = np.zeros_like(self._loads), self._dual.is_bounded
        of_loads = solver.constraints()[-np.count_nonzero(is_bounded) :]
        prices[is_bounded] = [-each.dual_value() for each in of_loads]
        return _Relaxed(
            shares, prices * unit / self._scale, solver.Objective().Value() * unit + float(self._cost.sum())
        )

    def _model(self, choices: _Choices, costs: Float64s) -> Any:
        """The message of the linear program: a variable for each choice, constraints of rows, then those of loads."""
        from ortools.linear_solver import linear_solver_pb2  # noqa: PLC0415 — few requests need it

        model: Any = linear_solver_pb2.MPModelProto()
        for cost in costs.tolist():
            model.variable.add(lower_bound=0.0, upper_bound=1.0, objective_coefficient=cost)
        order = np.argsort(choices.rows, kind="stable")
        for indices in np.split(order, np.flatnonzero(np.diff(choices.rows[order])) + 1):
            if len(indices) > 1:
                parts = model.constraint.add(upper_bound=1.0)
                parts.var_index.extend(indices.tolist())
                parts.coefficient.extend([1.0] * len(indices))
        self._add_loads(model, choices)
        return model

    def rounded(self, choices: _Choices, shares: Float64s) -> Int32s:
        """(rows, widest) int32: the choice of which each row has the largest part."""
        at, largest = self._at.copy(), np.ones(len(self._at))
        np.subtract.at(largest, choices.rows, shares)
        for index in np.argsort(shares, kind="stable"):
            row = choices.rows[index]
            if shares[index] > largest[row]:
                at[row], largest[row] = choices.at[index], shares[index]
        return at

    def _add_loads(self, model: Any, choices: _Choices) -> None:
        """Bound the load of every broker by each resource: what choices change of that of the known placement."""
        dual, (brokers, resources) = self._dual, self._loads.shape
        indices = np.arange(len(choices.rows))
        cells, loads = self._of_brokers(*choices, indices)
        known, earlier = self._of_brokers(choices.rows, self._at[choices.rows], indices)
        used, place = np.unique(np.concatenate([cells, known]), return_inverse=True)
        change = np.zeros((len(used), resources))
        np.add.at(change, place, np.concatenate([loads, -earlier]) / self._scale)
        order = np.argsort(used % brokers, kind="stable")
        ends = np.searchsorted(used[order] % brokers, np.arange(brokers + 1))
        low = np.where(dual.floor > 0, dual.floor - self._loads, -np.inf) / self._scale
        high = (dual.ceiling - self._loads) / self._scale
        for broker, resource in np.argwhere(dual.is_bounded).tolist():
            mine = order[ends[broker] : ends[broker + 1]]
            changes = mine[change[mine, resource] != 0]
            bounded = model.constraint.add(lower_bound=low[broker, resource], upper_bound=high[broker, resource])
            bounded.var_index.extend((used[changes] // brokers).tolist())
            bounded.coefficient.extend(change[changes, resource].tolist())

    def _of_brokers(self, rows: Int64s, at: Int32s, indices: Int64s) -> tuple[Int64s, Float64s]:
        """Index of the choice times brokers plus broker, and (…, resources) load, of every replica."""
        choice, column = np.nonzero(at != NO_REPLICA)
        row, is_leader = rows[choice], (column == 0)[:, None]
        loads = np.where(is_leader, self._dual.of_leader[row], self._dual.of_follower[row])
        return indices[choice] * len(self._dual.base) + at[choice, column], loads.astype(np.float64)

    def _cost_of(self, rows: Int64s, at: Int32s) -> Float64s:
        """(choices,) float64 weight that is moved, and the cost of another leader."""
        rules = self._dual.rules
        moved = rules.cost[rows] * np.count_nonzero(at != NO_REPLICA, axis=1)
        moved -= costs_saved(rules, at, rows).sum(axis=1)
        is_changed = at[:, 0] != self._problem.leader[rows]
        return np.asarray(moved + OF_LEADER * self._move * is_changed, np.float64)


@contextmanager
def _interrupted(solver: Any, is_over: Deadline) -> Iterator[None]:
    """A block in which a solver ends soon after the deadline."""
    is_done = Event()

    def watch() -> None:
        while not is_done.wait(LOOK_S):
            if is_over():
                solver.InterruptSolve()
                break

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()
