"""The examples in docstrings give the printed output."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "app.core.certificate",
    "app.core.flow",
    "app.core.reassignment.batches.cutting",
    "app.core.reassignment.solvers.flow.least_movement",
    "app.core.reassignment.solvers.leaders.choosing",
    "app.core.reassignment.goals.by_load",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name: str) -> None:
    """Each module listed has an example; a change that alters its output is seen here."""
    outcome = doctest.testmod(import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0
