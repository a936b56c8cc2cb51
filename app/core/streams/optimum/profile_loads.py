"""Least imbalance that a choice of patterns can reach, over profiles of clients, with a Lagrangian bound.

A profile's standbys are balanced over its clients, so that its imbalance is a convex function of their number. Tasks
count by the profile of their active client alone. A linear program gives the dual price of a standby in each profile.
Any prices prove a lower bound; if it is reached, the optimal patterns and numbers of standbys are those of least
reduced cost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
        used = {profile: [solver.NumVar(0, n, "") for _ in self.patterns[profile]] for profile, n in self.tasks.items()}
        count = [solver.NumVar(0, len(costs), "") for costs in self.marginal]
        added = [solver.NumVar(0, solver.infinity(), "") for _ in self.marginal]
        for profile, n in self.tasks.items():
            solver.Add(sum(used[profile]) == n)
        rows = [solver.Add(count[p] == self._standbys_in(used, p)) for p in range(len(count))]
        solver.Minimize(sum(added))
        near = np.zeros(len(count), np.int64)
        lines_added: set[tuple[int, int]] = set()
        for _ in range(MOST_ROUNDS):
            if solver.Solve() != pywraplp.Solver.OPTIMAL:
                break
            near = np.array([round(variable.solution_value()) for variable in count], np.int64)
            lines = [
                (p, at)
                for p, variable in enumerate(count)
                for at in {int(variable.solution_value()), int(variable.solution_value()) - 1}
                if 0 <= at < len(self.marginal[p])
            ]
            if lines_added.issuperset(lines):
                break
            for p, at in lines:
                if (p, at) not in lines_added:
                    lines_added.add((p, at))
                    solver.Add(added[p] >= self._line(p, at, count[p]))
        dual_prices = np.array([round(SCALE * row.dual_value()) for row in rows], np.int64)
        return max((dual_prices, -dual_prices), key=self.proven), near

    def choose(self, near: Int64s, effort: float) -> tuple[dict[int, Int64s], int]:
        """Patterns chosen by CP-SAT, and a lower bound."""
        from ortools.sat.python import cp_model  # noqa: PLC0415 — as above

        model: Any = cp_model.CpModel()
        used = {
            profile: [model.new_int_var(0, n, "") for _ in self.patterns[profile]] for profile, n in self.tasks.items()
        }
        count = [model.new_int_var(0, len(costs), "") for costs in self.marginal]
        added = [model.new_int_var(0, int(costs[-1]), "") for costs in self.total]
        for profile, n in self.tasks.items():
            model.add(sum(used[profile]) == n)
        for p in range(len(count)):
            model.add(count[p] == self._standbys_in(used, p))
        model.minimize(sum(added))
        lines = {(p, at) for p in range(len(count)) for at in range(int(near[p]) - 4, int(near[p]) + 4)}
        lines_added: set[tuple[int, int]] = set()
        best = {
            profile: np.bincount([0], minlength=len(patterns)) * self.tasks[profile]
            for profile, patterns in self.patterns.items()
        }
        least, bound, remaining_effort = None, 0, effort
        for _ in range(MOST_ROUNDS):
            for p, at in sorted(lines - lines_added):
                if 0 <= at < len(self.marginal[p]):
                    model.add(added[p] >= self._line(p, at, count[p]))
            lines_added |= lines
            solver = integer_solver()
            solver.parameters.random_seed = SEED
            solver.parameters.max_deterministic_time = max(remaining_effort, 0.01)
            if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                break
            remaining_effort -= float(solver.response_proto.deterministic_time)
            bound = max(bound, round(solver.best_objective_bound))
            standbys = [solver.value(variable) for variable in count]
            reached = sum(int(self.total[p][standbys[p]]) for p in range(len(standbys)))
            if least is None or reached < least:
                least = reached
                best = {
                    profile: np.array([solver.value(x) for x in variables], np.int64)
                    for profile, variables in used.items()
                }
            lines = {(p, at) for p, n in enumerate(standbys) for at in (n - 1, n)}
            if least <= bound or remaining_effort <= 0 or lines <= lines_added:
                break
        return best, bound

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
