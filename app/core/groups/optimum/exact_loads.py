"""Small groups balanced by load exactly: integer models (CP-SAT), each with the optima of those before it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.integer import small_model_solver
from app.core.model import NO_MEMBER, Int32s, Int64s

MAX_CELLS = 160
"""The most pairs of a partition and a subscriber."""
SOLVER_TIME = 1.0
"""Deterministic time of one solve, about seconds; the same group always gets the same answer."""


def exact_readers(
    load: Int64s, may_read: NDArray[np.bool_], is_in_rack: NDArray[np.bool_], owners: Int32s
) -> Int32s | None:
    """The assignment with the smallest largest load, then the largest smallest load, the most partitions read in rack
    and the fewest moves.

    Parameters
    ----------
    load : (rows,) int64 > 0, whose sum is below 2^62. may_read, is_in_rack : (rows, members) bool; each row has a
        subscriber. owners : (rows,) int32, or `NO_MEMBER`.

    Returns
    -------
    (rows,) int32 member that reads each row; None if the group is too large, or if an optimum is not proven in time.
    """
    if not 0 < np.count_nonzero(may_read) <= MAX_CELLS:
        return None
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    model, solver = cp_model.CpModel(), small_model_solver(SOLVER_TIME)
    reads = {(int(row), int(member)): model.new_bool_var("") for row, member in np.argwhere(may_read)}
    for row, of_row in enumerate(may_read):
        model.add_exactly_one(reads[row, member] for member in np.flatnonzero(of_row).tolist())
    total = int(load.sum())
    largest, smallest = model.new_int_var(0, total, ""), model.new_int_var(0, total, "")
    for member in np.flatnonzero(may_read.any(axis=0)).tolist():
        of_member = sum(reads[row, member] * int(load[row]) for row in np.flatnonzero(may_read[:, member]).tolist())
        model.add_linear_constraint(largest - of_member, 0, total)
        model.add_linear_constraint(of_member - smallest, 0, total)
    out_of_rack = sum(read for cell, read in reads.items() if not is_in_rack[cell])
    moved = sum(read for (row, member), read in reads.items() if owners[row] not in {NO_MEMBER, member})
    goals: tuple[Any, ...] = (largest, -smallest, out_of_rack, moved)
    for goal in (each for each in goals if not isinstance(each, int)):
        model.minimize(goal)
        if solver.status_name(solver.solve(model)) != "OPTIMAL":
            return None
        model.add(goal <= solver.value(goal))
    readers = np.full(len(load), NO_MEMBER, np.int32)
    for (row, member), read in reads.items():
        if solver.boolean_value(read):
            readers[row] = member
    return readers
