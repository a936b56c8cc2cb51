"""The only door to the solver of integer models, CP-SAT of OR-tools."""

from math import inf
from typing import Any


def integer_solver(deterministic_time: float = inf) -> Any:
    """A solver whose answer is the same every time, and which leaves the signals of the process alone.

    By default CP-SAT handles SIGINT while it solves and then restores the default handler, whatever was
    there before: the next SIGINT would end the process at once, without an orderly stop. And it has one worker,
    since the answer of several depends on timing.

    Its presolve does not look for constraints that include others: in OR-tools 9.15 that cuts off optima or all
    solutions if sums are about 2^34 or larger; models whose sums are smaller may set the limit anew. Nor are symmetries
    detected, which does not end if some coefficients are large and equal.

    Parameters
    ----------
    deterministic_time : a unit takes 1 to 2 CPU seconds, and 6.5 in the slowest of 211 random models with heavy loads.
        No solve is limited in seconds alone: answers would depend on how busy the machine is.

    Returns
    -------
    `cp_model.CpSolver`.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    solver = cp_model.CpSolver()
    solver.parameters.catch_sigint_signal = False
    solver.parameters.num_workers = 1
    solver.parameters.presolve_inclusion_work_limit = 0
    solver.parameters.symmetry_level = 0
    solver.parameters.max_deterministic_time = deterministic_time
    return solver
