"""Exact placement of the replicas of one broker (CP-SAT): a Boolean for each replica and eligible directory."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from app.core.integer import integer_solver
from app.core.model import NO_LOG_DIR, Int32s, Int64s
from app.core.reassignment.log_dirs.model import LogDirProblem
from app.core.reassignment.model import NO_LIMIT

MAX_CELLS = 6_000
"""The most Booleans of a model: replicas times directories."""
RELATIVE_GAP = 1e-3
"""A solve ends when its gap is smaller."""
_LARGEST = 1 << 60
"""The largest sum in a model."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What the solver found: directories, or None; whether there is proven to be none; and a lower bound."""

    log_dirs: Int32s | None
    is_infeasible: bool
    lower_bound: Fraction


@dataclass(slots=True, eq=False)
class PackingModel:
    """Placements of a broker under a ceiling.

    Parameters
    ----------
    ceiling : (directories,) int64.
    solver_time : deterministic, about seconds, so that the same problem always gets the same answer.
    """

    problem: LogDirProblem
    ceiling: Int64s
    solver_time: float
    _cells: dict[tuple[int, int], Any] = field(init=False, repr=False)
    _model: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — only if a model is solved

        problem = self.problem
        model = self._model = cp_model.CpModel()
        replicas = range(len(problem.current))
        receiving = np.flatnonzero(problem.may_receive).tolist()
        forced, current = problem.has_to_move.tolist(), problem.current.tolist()
        self._cells = {
            (replica, directory): model.new_bool_var("")
            for replica in replicas
            for directory in sorted({*receiving, *([] if forced[replica] else [current[replica]])})
        }
        for replica in replicas:
            model.add_exactly_one(cell for (one, _), cell in self._cells.items() if one == replica)
        for directory in range(len(problem.capacity)):
            if self.ceiling[directory] < NO_LIMIT:
                model.add(self._load(directory) <= int(self.ceiling[directory]))

    def feasible(self) -> Solved:
        """Any placement."""
        return self._solved(0, 1)

    def fewest_bytes(self, start: Int32s) -> Solved:
        """The placement that moves the fewest bytes."""
        self._hint(start)
        return self._solved(self._moved(), 1)

    def smallest_share(self, start: Int32s, moved: int | None) -> Solved:
        """The placement whose largest share is smallest, of those that move at most so many bytes."""
        self._hint(start)
        problem = self.problem
        counted = np.flatnonzero(~problem.is_drained).tolist()
        capacity = [int(problem.capacity[directory]) for directory in counted]
        total = int(problem.size_bytes.sum() + problem.base_bytes.sum())
        scale = _scale(capacity, total)
        if not scale:  # sums would overflow
            return Solved(None, False, Fraction(0))
        largest = self._model.new_int_var(0, _LARGEST, "")
        for directory, bytes_ in zip(counted, capacity, strict=True):
            # Rounded down, so that the bound of the model is one of the shares.
            self._model.add(self._load(directory) * int(scale / bytes_) <= largest)
        if moved is not None:
            self._model.add(self._moved() <= moved)
        return self._solved(largest, scale)

    def _load(self, directory: int) -> Any:
        terms = [
            int(self.problem.size_bytes[replica]) * cell
            for (replica, place), cell in self._cells.items()
            if place == directory
        ]
        return sum(terms, start=int(self.problem.base_bytes[directory]))

    def _moved(self) -> Any:
        problem = self.problem
        return sum(
            int(problem.size_bytes[replica]) * cell
            for (replica, place), cell in self._cells.items()
            if problem.current[replica] not in (NO_LOG_DIR, place)
        )

    def _hint(self, start: Int32s) -> None:
        for (replica, place), cell in self._cells.items():
            self._model.add_hint(cell, bool(start[replica] == place))

    def _solved(self, objective: Any, scale: Fraction | int) -> Solved:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        if not isinstance(objective, int):
            self._model.minimize(objective)
        solver = integer_solver()
        solver.parameters.random_seed = 0
        solver.parameters.max_deterministic_time = self.solver_time
        solver.parameters.relative_gap_limit = RELATIVE_GAP
        status = solver.solve(self._model)
        is_infeasible = status == cp_model.INFEASIBLE
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Solved(None, is_infeasible, Fraction(0))
        placed = np.full(len(self.problem.current), NO_LOG_DIR, np.int32)
        for (replica, place), cell in self._cells.items():
            if solver.boolean_value(cell):
                placed[replica] = place
        bound = 0 if isinstance(objective, int) else int(solver.response_proto.inner_objective_lower_bound)
        return Solved(placed, False, Fraction(max(bound, 0)) / scale)


def _scale(capacity: list[int], total: int) -> Fraction:
    """The number that makes shares integers: exactly if that does not overflow, else as large as possible."""
    exact = lcm(*capacity)
    most = _LARGEST // max(total, 1) * min(capacity)
    return Fraction(exact if exact <= most else most)
