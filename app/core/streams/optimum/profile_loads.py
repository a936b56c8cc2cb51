"""Least imbalance that a choice of patterns can reach, over profiles of clients, with a Lagrangian bound.

A profile's standbys are balanced over its clients, so that its imbalance is a convex function of their number. Tasks
count by the profile of their active client alone. A linear program gives the dual price of a standby in each profile.
Any prices prove a lower bound; if it is reached, the optimal patterns and numbers of standbys have the least
reduced cost.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from app.core.integer import integer_solver
from app.core.model import Int64s
from app.core.streams.optimum.quality import StandbyProblem
from app.core.streams.optimum.tag_patterns import TagPatterns

SCALE = 12
"""Dual prices are integer multiples of 1/12, so that bounds are exact despite rounding in the linear program."""
SEED = 1
MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True, eq=False)
class ProfileLoads:
    """The best choice of patterns that was reached.

    Parameters
    ----------
    counts : by the profile of active clients, (patterns,) int64: the number of tasks that use each pattern.
    imbalance, bound : the value and its lower bound, in the problem's units.
    prices : (profiles,) int64, `SCALE` times the dual price of a standby.
    slack : `SCALE` times the imbalance − the bound that the prices prove.
    """

    counts: Mapping[int, Int64s] = field(repr=False)
    imbalance: int
    bound: int
    prices: Int64s = field(repr=False)
    slack: int


def solver_for(effort: float) -> Any:
    """A solver of CP-SAT models with `effort` deterministic seconds; the same model gets the same answer."""
    solver = integer_solver(effort)
    solver.parameters.random_seed = SEED
    return solver


def profile_loads(problem: StandbyProblem, patterns: TagPatterns, effort: float) -> ProfileLoads:
    """Find the least imbalance; `effort` : deterministic seconds of CP-SAT."""
    curves = _Curves(problem, patterns)
    prices, near = curves.prices()
    proven = curves.proven(prices)
    counts, bound = curves.choose(near, effort)
    standbys = sum(
        (curves.patterns[profile].T @ counts[profile] for profile in counts), np.zeros(len(curves.marginal), np.int64)
    )
    imbalance = sum(int(costs[:count].sum()) for costs, count in zip(curves.marginal, standbys.tolist(), strict=True))
    return ProfileLoads(counts, imbalance, max(bound, -(-proven // SCALE)), prices, slack=SCALE * imbalance - proven)


class _Curves:
    """Convex imbalance of each profile, and the patterns of the tasks.

    marginal : of each profile, (standbys,) int64, ascending: the imbalance that one more standby adds.
    """

    def __init__(self, problem: StandbyProblem, patterns: TagPatterns) -> None:
        self.patterns = patterns.listed
        profile_of_task = patterns.profiles.of_client[problem.active]
        self.tasks = {profile: int((profile_of_task == profile).sum()) for profile in self.patterns}
        steps = 2 * np.arange(len(profile_of_task), dtype=np.int64) + 1
        self.marginal = [
            np.sort(np.outer(problem.weights[patterns.profiles.of_client == profile], steps).ravel())
            for profile in range(len(patterns.profiles.sizes))
        ]
        self.total = [np.concatenate([[0], np.cumsum(costs)]) for costs in self.marginal]

    def proven(self, prices: Int64s) -> int:
        """`SCALE` times the Lagrangian lower bound at the given prices."""
        clients = sum(
            int(np.minimum(SCALE * costs - price, 0).sum())
            for costs, price in zip(self.marginal, prices.tolist(), strict=True)
        )
        return clients + sum(n * int((self.patterns[profile] @ prices).min()) for profile, n in self.tasks.items())

    def prices(self) -> tuple[Int64s, Int64s]:
        """Dual price of a standby in each profile, and the rounded number of standbys, from a linear program."""
        from ortools.linear_solver import pywraplp  # noqa: PLC0415 — solvers are loaded when something is to be solved

        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        most = [solver.infinity()] * len(self.marginal)
        _, count, added, rows = self._model(solver.NumVar, solver.Add, most)
        solver.Minimize(sum(added))
        near = np.zeros(len(count), np.int64)
        known: set[tuple[int, int]] = set()
        for _ in range(MOST_ROUNDS):
            if solver.Solve() != pywraplp.Solver.OPTIMAL:
                break
            values = [variable.solution_value() for variable in count]
            near = np.array([*map(round, values)], np.int64)
            lines = ((p, at) for p, value in enumerate(values) for at in {int(value), int(value) - 1})
            if not self._add_lines(solver.Add, lines, known, count, added):
                break
        dual_prices = np.array([round(SCALE * row.dual_value()) for row in rows], np.int64)
        return max((dual_prices, -dual_prices), key=self.proven), near

    def choose(self, near: Int64s, effort: float) -> tuple[dict[int, Int64s], int]:
        """Patterns chosen by CP-SAT, and a lower bound."""
        from ortools.sat.python import cp_model  # noqa: PLC0415 — solvers are loaded when something is to be solved

        model: Any = cp_model.CpModel()
        used, count, added, _ = self._model(model.new_int_var, model.add, [int(costs[-1]) for costs in self.total])
        model.minimize(sum(added))
        known: set[tuple[int, int]] = set()
        around = ((p, at) for p, n in enumerate(near.tolist()) for at in range(n - 4, n + 4))
        self._add_lines(model.add, around, known, count, added)
        best = {
            profile: np.bincount([0], minlength=len(patterns)) * self.tasks[profile]
            for profile, patterns in self.patterns.items()
        }
        least, bound, remaining_effort = inf, 0, effort
        for _ in range(MOST_ROUNDS):
            solver = solver_for(max(remaining_effort, 0.01))
            if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                break
            remaining_effort -= float(solver.response_proto.deterministic_time)
            bound = max(bound, round(solver.best_objective_bound))
            standbys = [*map(solver.value, count)]
            reached = sum(int(costs[n]) for costs, n in zip(self.total, standbys, strict=True))
            if reached < least:
                least = reached
                best = {profile: np.array([*map(solver.value, each)], np.int64) for profile, each in used.items()}
            lines = ((p, at) for p, n in enumerate(standbys) for at in (n - 1, n))
            if least <= bound or remaining_effort <= 0 or not self._add_lines(model.add, lines, known, count, added):
                break
        return best, bound

    def _model(
        self, variable: Callable[[int, Any, str], Any], add: Callable[[Any], Any], most: Sequence[Any]
    ) -> tuple[dict[int, list[Any]], list[Any], list[Any], list[Any]]:
        """Variables of a solver, and the constraints that define the standbys in each profile.

        Returns
        -------
        By the profile of active clients, the tasks that use each pattern; of each profile, its standbys, its imbalance,
        which is at most `most`, and the constraint of its standbys.
        """
        used = {profile: [variable(0, n, "") for _ in self.patterns[profile]] for profile, n in self.tasks.items()}
        count = [variable(0, len(costs), "") for costs in self.marginal]
        added = [variable(0, each, "") for each in most]
        for profile, n in self.tasks.items():
            add(sum(used[profile]) == n)
        return used, count, added, [add(count[p] == self._standbys_in(used, p)) for p in range(len(count))]

    def _add_lines(
        self,
        add: Callable[[Any], Any],
        lines: Iterable[tuple[int, int]],
        known: set[tuple[int, int]],
        count: list[Any],
        added: list[Any],
    ) -> bool:
        """Bound the imbalance by the lines at (profile, standbys) that are not `known`; whether there is one."""
        new = [(p, at) for p, at in lines if (p, at) not in known and 0 <= at < len(self.marginal[p])]
        for p, at in new:
            add(added[p] >= self._line(p, at, count[p]))
        known.update(new)
        return bool(new)

    def _line(self, profile: int, at: int, count: Any) -> Any:
        """The line through a profile's imbalance at `at` and `at` + 1 standbys; the curve is nowhere below it."""
        slope = int(self.marginal[profile][at])
        return slope * count + (int(self.total[profile][at]) - slope * at)

    def _standbys_in(self, used: Mapping[int, list[Any]], profile: int) -> Any:
        """The standbys that patterns place in a profile."""
        return sum(
            variable * int(n)
            for active_profile, variables in used.items()
            for variable, n in zip(variables, self.patterns[active_profile][:, profile], strict=True)
            if n
        )
