"""The examples in docstrings of the planners print the stated output."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "app.core.groups.classic.cooperative_sticky",
    "app.core.groups.classic.range",
    "app.core.groups.classic.roundrobin",
    "app.core.groups.classic.sticky",
    "app.core.groups.optimum.by_load",
    "app.core.groups.optimum.optimal",
    "app.core.groups.server.range",
    "app.core.groups.server.simple",
    "app.core.groups.server.uniform",
    "app.core.keys.partitioners",
    "app.core.measures.movement",
    "app.core.measures.tally",
    "app.core.measures.traffic",
    "app.core.measures.transfers",
    "app.core.measures.violations",
    "app.core.reassignment.domains",
    "app.core.capacity.ranking",
    "app.core.replica_lists",
    "app.core.replicas.awareness.placing",
    "app.core.replicas.copysets",
    "app.core.sweeps.fields",
    "app.core.replicas.admin_utils",
    "app.core.replicas.striped",
    "app.core.streams.additions",
    "app.core.streams.assignors.high_availability",
    "app.core.streams.assignors.sticky",
    "app.core.streams.optimum.best_standbys",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_state(name: str) -> None:
    """Each module has an example, so that a change of its output is seen here."""
    outcome = doctest.testmod(import_module(name))
    assert outcome.attempted > 0
    assert outcome.failed == 0
