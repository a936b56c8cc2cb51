"""Limits that conflict only together, across resources or for whole replicas: an irreducible infeasible subset of them.

Sums prove that the limits of one resource conflict (`sums`). If none does and the search is above hard limits, an
integer model of small problems decides (CP-SAT): a Boolean for each eligible broker of each partition, and one for its
leader. If no placement is within all hard limits, those of a resource, then those of a broker, are left out as long as
there is still none (a deletion filter). The same model finds the least total excess.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.integer import integer_solver
from app.core.model import NO_REPLICA, Int32s
from app.core.reassignment.loads.rules import LoadRules
from app.core.reassignment.resources.model import NO_LIMIT, RESOURCES, LimitConflict, ResourceProblem

MAX_CELLS = 2_000
"""The most pairs of a partition and a broker of a model."""
SOLVER_TIME = 1.0
"""Deterministic time of one solve, about seconds; the same problem always gets the same answer."""
LARGEST_VALUE = 1 << 60
"""Of an objective, which the solver adds in 64 bits; shares of limits are rounded down to parts of it."""


@dataclass(frozen=True, slots=True, eq=False)
class LeastExcess:
    """What the model proves. at : (rows, widest) int32 placement, the leader in column 0, or None if none was found.

    bound : on the hard excess, as in `Excess`.
    """

    conflicts: tuple[LimitConflict, ...]
    at: Int32s | None = field(repr=False)
    bound: Fraction


def least_excess(problem: ResourceProblem, rules: LoadRules, is_over: Callable[[], bool]) -> LeastExcess | None:
    """The hard limits that conflict, and the placement with the least excess; None if the problem is too large, if
    consumers fetch from followers, or if that there is no placement within the limits is not proven.
    """
    rows, brokers = len(rules.cost), len(rules.rack_of)
    limited = (problem.limits.upper < NO_LIMIT) & ~problem.limits.is_soft
    if problem.loads.reads is not None or rows * brokers > MAX_CELLS or not limited.any():
        return None
    if is_over() or not _is_infeasible(problem, rules, limited):
        return None
    subset = _irreducible(problem, rules, limited, is_over)
    solved = _Solve(problem, rules)
    upper = np.where(limited, problem.limits.upper, NO_LIMIT)
    at, bound = solved.least(upper, shares=True)
    any_limit = Fraction(1, max(1, int(problem.limits.upper[subset].max())))
    return LeastExcess(tuple(_conflicts(problem, rules, subset)), at, max(any_limit, bound))


def _is_infeasible(problem: ResourceProblem, rules: LoadRules, limited: NDArray[np.bool_]) -> bool:
    """Whether it is proven that no placement is within these limits, (brokers, resources) bool."""
    solve = _Solve(problem, rules)
    for broker, column in zip(*np.nonzero(limited), strict=True):
        solve.model.add(solve.load(int(broker), int(column)) <= int(problem.limits.upper[broker, column]))
    return bool(solve.status() == "INFEASIBLE")


def _irreducible(
    problem: ResourceProblem, rules: LoadRules, limited: NDArray[np.bool_], is_over: Callable[[], bool]
) -> NDArray[np.bool_]:
    """(brokers, resources) bool limits that conflict, without those of any resource or broker that are not needed."""
    subset = limited.copy()
    for axis in (1, 0):
        for place in range(limited.shape[axis]):
            fewer = subset.copy()
            if axis:
                fewer[:, place] = False
            else:
                fewer[place] = False
            if is_over() or not fewer.any() or (fewer == subset).all():
                continue
            if _is_infeasible(problem, rules, fewer):
                subset = fewer
    return subset


def _conflicts(problem: ResourceProblem, rules: LoadRules, subset: NDArray[np.bool_]) -> list[LimitConflict]:
    """The conflict, once for each of its resources: the least load above its limits if those of the others hold."""
    columns = np.flatnonzero(subset.any(axis=0)).tolist()
    brokers = tuple(np.flatnonzero(subset.any(axis=1)).tolist())
    conflicts = []
    for column in columns:
        solve = _Solve(problem, rules)
        for broker, other in zip(*np.nonzero(subset), strict=True):
            if other != column:
                solve.model.add(solve.load(int(broker), int(other)) <= int(problem.limits.upper[broker, other]))
        upper = np.full_like(problem.limits.upper, NO_LIMIT)
        upper[subset[:, column], column] = problem.limits.upper[subset[:, column], column]
        available = int(problem.limits.upper[subset[:, column], column].sum())
        more = max(1, ceil(solve.least(upper, shares=False)[1]))
        names = [column, *(each for each in columns if each != column)]
        joined = "+".join(RESOURCES[each] for each in names)
        conflicts.append(LimitConflict(joined, brokers, available + more, available, is_of_sums=False))
    return conflicts


class _Solve:
    """One CP-SAT model: the legal sets of all partitions and their leaders."""

    def __init__(self, problem: ResourceProblem, rules: LoadRules) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        self._problem, self._rules = problem, rules
        self.model: Any = cp_model.CpModel()
        self._solver: Any = integer_solver()
        self._solver.parameters.max_deterministic_time = SOLVER_TIME
        self._cells: list[dict[int, tuple[Any, Any]]] = [self._add_partition(row) for row in range(len(rules.cost))]

    def _add_partition(self, row: int) -> dict[int, tuple[Any, Any]]:
        """Whether each broker has a replica of the row, and whether it leads."""
        rules, model = self._rules, self.model
        domain = rules.domain_of[row]
        factor = int(rules.factor[domain])
        current = {broker for broker in rules.current[row].tolist() if broker != NO_REPLICA}
        brokers = sorted(set(np.flatnonzero(rules.may_receive[domain]).tolist()) | current)
        cells = {broker: (model.new_bool_var(""), model.new_bool_var("")) for broker in brokers}
        model.add(sum(has for has, _ in cells.values()) == factor)
        model.add(sum(leads for _, leads in cells.values()) == min(factor, 1))
        for rack in range(rules.least.shape[1]):
            inside = [has for broker, (has, _) in cells.items() if rules.rack_of[broker] == rack]
            if inside:
                model.add_linear_constraint(sum(inside), int(rules.least[domain, rack]), int(rules.most[domain, rack]))
        for broker, (has, leads) in cells.items():
            model.add_implication(leads, has)
            if broker == rules.must_keep[row]:
                model.add(has == 1)
            if not self._problem.may_lead[broker]:
                for other, (there, _) in cells.items():
                    if self._problem.may_lead[other]:
                        model.add_bool_or([leads.negated(), there.negated()])
        return cells

    def load(self, broker: int, column: int) -> Any:
        """The load of a broker."""
        loads = self._problem.loads
        terms = [int(loads.base[broker, column])]
        for row, cells in enumerate(self._cells):
            if broker in cells:
                has, leads = cells[broker]
                follows = int(loads.of_follower[row, column])
                terms.append(has * follows + leads * (int(loads.of_leader[row, column]) - follows))
        return sum(terms)

    def least(self, upper: NDArray[np.int64], *, shares: bool) -> tuple[Int32s | None, Fraction]:
        """Minimise the sum of loads above limits: the placement, or None, and a lower bound.

        Parameters
        ----------
        upper : (brokers, resources) int64, or `NO_LIMIT`. shares : count the load above a limit over the limit.
        """
        loads = self._problem.loads
        most = loads.base.sum(axis=0) + self._rules.factor.max(initial=0) * np.maximum(
            loads.of_leader, loads.of_follower
        ).sum(axis=0)
        cells = [(int(at), int(column)) for at, column in zip(*np.nonzero(upper < NO_LIMIT), strict=True)]
        limits = [max(1, int(upper[cell])) if shares else 1 for cell in cells]
        largest = sum(int(most[column]) // limit + 1 for (_, column), limit in zip(cells, limits, strict=True))
        scale = LARGEST_VALUE // max(1, largest) if shares else 1
        if not 0 < scale * largest <= LARGEST_VALUE:
            return None, Fraction(0)
        terms = []
        for (broker, column), limit in zip(cells, limits, strict=True):
            over = self.model.new_int_var(0, int(most[column]), "")
            self.model.add(over >= self.load(broker, column) - int(upper[broker, column]))
            terms.append(over * (scale // limit))
        self.model.minimize(sum(terms))
        status = self.status()
        if status not in {"OPTIMAL", "FEASIBLE"}:
            return None, Fraction(0)
        bound = int(self._solver.response_proto.inner_objective_lower_bound)
        return self._placement(), Fraction(max(0, bound), scale)

    def status(self) -> str:
        """Solve, and name what the solver knows."""
        return str(self._solver.status_name(self._solver.solve(self.model)))

    def _placement(self) -> Int32s:
        """(rows, widest) int32, the leader in column 0."""
        at = np.full((len(self._cells), int(self._rules.factor.max(initial=0))), NO_REPLICA, np.int32)
        for row, cells in enumerate(self._cells):
            has = [broker for broker, (there, _) in cells.items() if self._solver.boolean_value(there)]
            leader = [broker for broker in has if self._solver.boolean_value(cells[broker][1])]
            at[row, : len(has)] = leader + [broker for broker in has if broker not in leader]
        return at
