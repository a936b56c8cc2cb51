"""How many standbys each profile of clients should have: the least imbalance that a choice of patterns can reach.

A profile's standbys are spread evenly over its clients, so that what it adds to the imbalance is a convex function of
their number. Tasks count by the profile of their active client alone. A linear program gives what a further standby of
each profile is worth. Such prices, whatever they are, prove a bound; where it is reached, they also say which patterns
and which numbers of standbys the evenest distributions have: those that are cheapest at these prices.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.model import Int64s
from app.core.streams.optimum.problem import Problem
from app.core.streams.optimum.tag_patterns import Patterns

SCALE = 12
"""Prices are whole multiples of a twelfth, so that bounds are exact whatever the linear program's rounding did."""
SEED = 1
MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True, eq=False)
class ProfileLoads:
    """The evenest choice of patterns that was found.

    Parameters
    ----------
    taken : by the profile of active clients, (patterns,) int64: how many tasks take each.
    imbalance, bound : in the problem's units; bound : no choice stays below.
    prices : (profiles,) int64, `SCALE` times what a standby there is worth.
    slack : `SCALE` times the imbalance, less what the prices prove.
    """

    taken: Mapping[int, Int64s] = field(repr=False)
    imbalance: int
    bound: int
    prices: Int64s = field(repr=False)
    slack: int


def profile_loads(problem: Problem, patterns: Patterns, effort: float) -> ProfileLoads:
    """Find the least imbalance; `effort` : deterministic seconds for CP-SAT."""
    curves = _Curves(problem, patterns)
    prices, near = curves.prices()
    proven = curves.proven(prices)
    taken, bound = curves.choose(near, effort)
    standbys = sum((curves.patterns[own].T @ taken[own] for own in taken), np.zeros(len(curves.marginal), np.int64))
    imbalance = sum(int(its[:count].sum()) for its, count in zip(curves.marginal, standbys.tolist(), strict=True))
    return ProfileLoads(taken, imbalance, max(bound, -(-proven // SCALE)), prices, slack=SCALE * imbalance - proven)


class _Curves:
    """What profiles add to the imbalance, and what tasks ask of them.

    marginal : of each profile, (standbys,) int64, ascending: what one more adds.
    """

    def __init__(self, problem: Problem, patterns: Patterns) -> None:
        self.patterns = patterns.listed
        own = patterns.profiles.of_client[problem.active]
        self.tasks = {profile: int((own == profile).sum()) for profile in self.patterns}
        steps = 2 * np.arange(len(own), dtype=np.int64) + 1
        self.marginal = [
            np.sort(np.outer(problem.weights[patterns.profiles.of_client == profile], steps).ravel())
            for profile in range(len(patterns.profiles.sizes))
        ]
        self.total = [np.concatenate([[0], np.cumsum(its)]) for its in self.marginal]

    def proven(self, prices: Int64s) -> int:
        """`SCALE` times what no choice stays below, by Lagrange's bound; any prices give one."""
        clients = sum(
            int(np.minimum(SCALE * its - price, 0).sum())
            for its, price in zip(self.marginal, prices.tolist(), strict=True)
        )
        return clients + sum(n * int((self.patterns[own] @ prices).min()) for own, n in self.tasks.items())

    def prices(self) -> tuple[Int64s, Int64s]:
        """What a standby in each profile is worth, and about how many there should be, by a linear program."""
        from ortools.linear_solver import pywraplp  # noqa: PLC0415 — solvers are loaded when something is to be solved

        solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        taken = {own: [solver.NumVar(0, n, "") for _ in self.patterns[own]] for own, n in self.tasks.items()}
        count = [solver.NumVar(0, len(its), "") for its in self.marginal]
        added = [solver.NumVar(0, solver.infinity(), "") for _ in self.marginal]
        for own, n in self.tasks.items():
            solver.Add(sum(taken[own]) == n)
        rows = [solver.Add(count[p] == self._given(taken, p)) for p in range(len(count))]
        solver.Minimize(sum(added))
        near = np.zeros(len(count), np.int64)
        cut: set[tuple[int, int]] = set()
        for _ in range(MOST_ROUNDS):
            if solver.Solve() != pywraplp.Solver.OPTIMAL:
                break
            near = np.array([round(its.solution_value()) for its in count], np.int64)
            lines = [
                (p, at)
                for p, its in enumerate(count)
                for at in {int(its.solution_value()), int(its.solution_value()) - 1}
                if 0 <= at < len(self.marginal[p])
            ]
            if cut.issuperset(lines):
                break
            for p, at in lines:
                if (p, at) not in cut:
                    cut.add((p, at))
                    solver.Add(added[p] >= self._line(p, at, count[p]))
        found = np.array([round(SCALE * row.dual_value()) for row in rows], np.int64)
        return max((found, -found), key=self.proven), near

    def choose(self, near: Int64s, effort: float) -> tuple[dict[int, Int64s], int]:
        """Choose patterns by CP-SAT, and say what no choice stays below."""
        from ortools.sat.python import cp_model  # noqa: PLC0415 — as above

        model: Any = cp_model.CpModel()
        taken = {own: [model.new_int_var(0, n, "") for _ in self.patterns[own]] for own, n in self.tasks.items()}
        count = [model.new_int_var(0, len(its), "") for its in self.marginal]
        added = [model.new_int_var(0, int(its[-1]), "") for its in self.total]
        for own, n in self.tasks.items():
            model.add(sum(taken[own]) == n)
        for p in range(len(count)):
            model.add(count[p] == self._given(taken, p))
        model.minimize(sum(added))
        lines = {(p, at) for p in range(len(count)) for at in range(int(near[p]) - 4, int(near[p]) + 4)}
        cut: set[tuple[int, int]] = set()
        best = {own: np.bincount([0], minlength=len(its)) * self.tasks[own] for own, its in self.patterns.items()}
        least, bound, left = None, 0, effort
        for _ in range(MOST_ROUNDS):
            for p, at in sorted(lines - cut):
                if 0 <= at < len(self.marginal[p]):
                    model.add(added[p] >= self._line(p, at, count[p]))
            cut |= lines
            solver = cp_model.CpSolver()
            solver.parameters.num_workers = 1
            solver.parameters.random_seed = SEED
            solver.parameters.max_deterministic_time = max(left, 0.01)
            if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                break
            left -= float(solver.response_proto.deterministic_time)
            bound = max(bound, round(solver.best_objective_bound))
            held = [solver.value(its) for its in count]
            reached = sum(int(self.total[p][held[p]]) for p in range(len(held)))
            if least is None or reached < least:
                least = reached
                best = {own: np.array([solver.value(x) for x in its], np.int64) for own, its in taken.items()}
            lines = {(p, at) for p, n in enumerate(held) for at in (n - 1, n)}
            if least <= bound or left <= 0 or lines <= cut:
                break
        return best, bound

    def _line(self, profile: int, at: int, count: Any) -> Any:
        """What a profile adds, on the line from so many standbys to one more; below its curve everywhere else."""
        slope = int(self.marginal[profile][at])
        return slope * count + (int(self.total[profile][at]) - slope * at)

    def _given(self, taken: Mapping[int, list[Any]], profile: int) -> Any:
        """The standbys that patterns send to a profile."""
        return sum(
            its * int(n)
            for own, variables in taken.items()
            for its, n in zip(variables, self.patterns[own][:, profile], strict=True)
            if n
        )
