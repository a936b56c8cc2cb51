"""Exact placement of the replicas of one broker (CP-SAT): a Boolean for each replica and eligible directory.

If replicas cannot be packed, a deletion filter finds an irreducible infeasible subset: it removes drains, then replicas
by ascending size; without which the rest is still proven not to fit is dropped. If the solver's time ends before a
proof, a replica is kept, so that the subset is always infeasible.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from app.core.integer import integer_solver
from app.core.model import NO_LOG_DIR, Int32s, Int64s
from app.core.reassignment.log_dirs.greedy import placed_under
from app.core.reassignment.log_dirs.model import LogDirProblem
from app.core.reassignment.model import KEEP, NO_LIMIT

MAX_CELLS = 6_000
"""The most Booleans of a model: replicas times directories."""
RELATIVE_GAP = 1e-3
"""A solve for shares, or of more than `EXACT_CELLS`, ends when its gap is smaller."""
EXACT_CELLS = 400
"""The most Booleans of a model whose fewest bytes are found to the byte."""
_CONFLICT_TIME = 0.2
"""Deterministic time of a solve for a conflict, about seconds."""
_LARGEST = 1 << 60
"""The largest sum in a model."""


@dataclass(frozen=True, slots=True)
class Solved:
    """What the solver found: directories, or None; whether there is proven to be none; and a lower bound."""

    log_dirs: Int32s | None
    is_infeasible: bool
    lower_bound: Fraction


class PackingModel:
    """Placements of a broker under a ceiling.

    Parameters
    ----------
    ceiling : (directories,) int64.
    solver_time : deterministic, about seconds, so that the same problem always gets the same answer.
    """

    def __init__(self, problem: LogDirProblem, ceiling: Int64s, solver_time: float) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — only if a model is solved

        self.problem, self.solver_time = problem, solver_time
        self._model: Any = cp_model.CpModel()
        model = self._model
        replicas = range(len(problem.current))
        receiving = np.flatnonzero(problem.may_receive).tolist()
        forced, current = problem.has_to_move.tolist(), problem.current.tolist()
        self._cells: dict[tuple[int, int], Any] = {
            (replica, directory): model.new_bool_var("")
            for replica in replicas
            for directory in sorted({*receiving, *([] if forced[replica] else [current[replica]])})
        }
        for replica in replicas:
            model.add_exactly_one(cell for (one, _), cell in self._cells.items() if one == replica)
        for directory in range(len(problem.capacity)):
            if ceiling[directory] < NO_LIMIT:
                model.add(self._load(directory) <= int(ceiling[directory]))

    def feasible(self) -> Solved:
        """Any placement."""
        return self._solved(0, 1)

    def fewest_bytes(self, start: Int32s) -> Solved:
        """The placement that moves the fewest bytes."""
        self._hint(start)
        return self._solved(self._moved(), 1, 0.0 if len(self._cells) <= EXACT_CELLS else RELATIVE_GAP)

    def smallest_share(self, start: Int32s, moved: int | None) -> Solved:
        """The placement whose largest share is smallest, of those that move at most that number of bytes."""
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

    def _solved(self, objective: Any, scale: Fraction | int, relative_gap: float = RELATIVE_GAP) -> Solved:
        from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

        if not isinstance(objective, int):
            self._model.minimize(objective)
        solver = integer_solver(self.solver_time)
        solver.parameters.random_seed = 0
        solver.parameters.relative_gap_limit = relative_gap
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


def any_placement(problem: LogDirProblem, solver_time: float) -> Solved:
    """A placement under the limits: the greedy one, or one of an integer model of at most `MAX_CELLS`."""
    greedy = placed_under(problem, problem.limit)
    if greedy is not None or not solver_time or len(problem.size_bytes) * len(problem.capacity) > MAX_CELLS:
        return Solved(greedy, False, Fraction(0))
    return PackingModel(problem, problem.limit, solver_time).feasible()


@dataclass(frozen=True, slots=True, eq=False)
class PackingConflict:
    """Replicas that cannot be packed together.

    Parameters
    ----------
    replicas : indices, by descending size; without any one of them the others fit, if `is_proven`.
    drains : directories whose drain is part of the conflict.
    free_bytes : (directories,) int64 free under the limits beside the replicas that may stay; 0 of those that may not
        receive.
    is_proven : whether the subset is proven infeasible; False if the time of the solver ended first.
    """

    replicas: Int64s
    drains: tuple[int, ...]
    free_bytes: Int64s = field(repr=False)
    is_proven: bool


def packing_conflict(problem: LogDirProblem) -> PackingConflict:
    """An irreducible set of replicas that do not fit under the limits, however they are packed."""
    current = problem.current.copy()
    stays = np.where(problem.has_to_move, np.int32(-1), current).astype(np.int32)
    free = np.where(problem.may_receive, np.maximum(problem.limit - problem.loads(stays), 0), 0)
    everything = np.arange(len(current))
    if not _is_proven_infeasible(problem, everything):
        worst = everything[problem.has_to_move][np.argsort(-problem.size_bytes[problem.has_to_move])][:1]
        return PackingConflict(worst, (), free, is_proven=False)
    drains = []
    for directory in np.flatnonzero(problem.is_drained).tolist():
        without = _undrained(problem, directory)
        if _is_proven_infeasible(without, everything):
            problem = without
        else:
            drains.append(directory)
    chosen = _filtered(problem, everything[np.argsort(problem.size_bytes, kind="stable")])
    order = np.lexsort((chosen, -problem.size_bytes[chosen]))
    return PackingConflict(chosen[order], tuple(drains), free, is_proven=True)


def _filtered(problem: LogDirProblem, replicas: Int64s) -> Int64s:
    """Drop runs of replicas, ever shorter ones, without which the rest still does not fit."""
    chosen, run = replicas, len(replicas) // 2
    while run:
        start = 0
        while start < len(chosen):
            rest = np.concatenate([chosen[:start], chosen[start + run :]])
            if _is_proven_infeasible(problem, rest):
                chosen = rest
            else:
                start += run
        run //= 2
    return chosen


def _is_proven_infeasible(problem: LogDirProblem, chosen: Int64s) -> bool:
    sizes, current = problem.size_bytes[chosen], problem.current[chosen].astype(np.int32)
    part = replace(problem, size_bytes=sizes, current=current, balance=KEEP)
    residual = part.limit[~part.is_drained] - part.base_bytes[~part.is_drained]
    # Several directories without a limit are more than int64 holds.
    if int(sizes.sum()) > sum(residual.tolist()) or (len(sizes) and not len(residual)):
        return True
    return any_placement(part, _CONFLICT_TIME).is_infeasible


def _undrained(problem: LogDirProblem, directory: int) -> LogDirProblem:
    is_drained, may_receive = problem.is_drained.copy(), problem.may_receive.copy()
    is_drained[directory], may_receive[directory] = False, True
    return replace(problem, is_drained=is_drained, may_receive=may_receive)
