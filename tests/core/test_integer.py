"""The solver of integer models in a process that handles SIGINT."""

import subprocess
import sys

import pytest

SOLVES_AND_IS_INTERRUPTED = """
import signal

signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
from ortools.sat.python import cp_model
from app.core.integer import integer_solver

model, solver = cp_model.CpModel(), integer_solver()
number = model.new_int_var(0, 5, "")
model.maximize(number)
assert solver.solve(model) == cp_model.OPTIMAL
signal.raise_signal(signal.SIGINT)
print(solver.value(number))
"""


@pytest.mark.slow
def test_the_handler_of_the_process_is_the_same_after_a_solution() -> None:
    """SIGINT reaches it; by the operating system's default the process would end by the signal."""
    ended = subprocess.run(
        [sys.executable, "-c", SOLVES_AND_IS_INTERRUPTED], check=False, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "handled\n5\n", "")
