"""The only door to the solver of integer models, CP-SAT of OR-tools."""

from typing import Any


def small_model_solver(deterministic_time: float) -> Any:
    """A solver of models of some hundred Booleans.

    Without the detection of symmetries: in OR-tools 9.15 it does not end if some coefficients are large and equal.
    Without it a unit of deterministic time takes 1 to 2 CPU seconds, and 6.5 in the slowest of 211 random models with
    heavy loads. No solve is limited in seconds: answers would depend on how busy the machine is.
    """
    solver = integer_solver()
    solver.parameters.max_deterministic_time = deterministic_time
    solver.parameters.symmetry_level = 0
    return solver


def integer_solver() -> Any:
    """A solver whose answer is the same every time, and which leaves the signals of the process alone.

    By default CP-SAT handles SIGINT while it solves and then restores the default handler, whatever was
    there before: the next SIGINT would end the process at once, without an orderly stop. And it has one worker,
    since the answer of several depends on timing.

    Returns
    -------
    `cp_model.CpSolver`; the caller limits its deterministic time.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 — it takes long to import, and few requests need it

    solver = cp_model.CpSolver()
    solver.parameters.catch_sigint_signal = False
    solver.parameters.num_workers = 1
    return solver
