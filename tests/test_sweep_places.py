"""A kind of sweep has the same name on every floor; the places are derived from the table of kinds."""

import doctest
from importlib import import_module

import pytest

from app.core import sweep_kinds
from app.core.sweep_kinds import READERS
from app.jobs.kernels.registry import KERNELS
from app.services.sweeps import KINDS
from tests.conftest import ROOT

ROOMS = {name: name for name in READERS} | {"draws": "replicas"}
"""The room of the core of each kind; a placement drawn from many seeds is one of `replicas`."""
EXAMPLES = (
    "app.core.capacity.sweep",
    "app.core.groups.sweep",
    "app.core.keys.sweep",
    "app.core.measures.distribution",
    "app.core.reassignment.sweep",
    "app.core.reassignment.sweep_definition",
    "app.core.replicas.sweep",
    "app.core.sweeps.axes",
    "app.core.sweeps.sampling",
)


@pytest.mark.parametrize("name", READERS)
def test_a_kind_is_where_its_name_says(name: str) -> None:
    module = ROOT / "app" / "core" / ROOMS[name] / "sweep"
    assert module.is_dir() or module.with_suffix(".py").is_file()
    assert (ROOT / "app" / "services" / "sweeps" / f"{name}.py").is_file()
    assert (ROOT / "app" / "api" / "sweeps" / f"{name}.py").is_file()
    assert KERNELS[name].name == name


def test_requests_and_services_have_the_kinds_of_the_core_and_no_others() -> None:
    assert [kind.module for kind in KINDS.values()] == list(READERS)
    assert [kind.name for kind in KINDS.values()] == list(KINDS)
    requests = (ROOT / "app" / "api" / "sweeps" / "requests.py").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert f"from app.api.sweeps.{kind.module} import" in requests
        assert f'Tag("{kind.name}")' in requests


@pytest.mark.parametrize("name", READERS)
def test_the_core_reads_a_kind_from_its_own_room(name: str) -> None:
    reader = READERS[name]
    if reader is None:
        assert KINDS[next(kind.name for kind in KINDS.values() if kind.module == name)].is_measured_whole
    else:
        assert reader.__module__.startswith(f"app.core.{ROOMS[name]}.sweep")


def test_the_recipe_names_every_file_to_touch() -> None:
    recipe = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    table = [line for line in recipe.splitlines() if line.startswith("| `app/")]
    assert len(table) == 6
    for place in (
        "core/<room>/sweep.py",
        "core/sweep_kinds.py",
        "services/sweeps/<name>.py",
        "services/sweeps/kinds.py",
        "api/sweeps/<name>.py",
        "api/sweeps/requests.py",
    ):
        assert any(f"`app/{place}`" in line for line in table), place
    assert sweep_kinds.__doc__ is not None
    assert "docs/extending" in sweep_kinds.__doc__


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_in_docstrings_run(module: str) -> None:
    results = doctest.testmod(import_module(module))
    assert results.attempted
    assert not results.failed
