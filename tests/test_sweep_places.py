"""A kind of sweep has the same name on every floor; the places are derived from the table of kinds."""

import doctest
from importlib import import_module

import pytest

from app.services.sweeps import KINDS
from app.services.sweeps.kind import SweepKind
from tests.conftest import ROOT

BY_MODULE = {kind.resolve.__module__.removeprefix("app.services.sweeps."): kind for kind in KINDS.values()}
"""By the name that the kind has on every floor: its service's module."""
ROOMS = {name: f"core/{name}" for name in BY_MODULE} | {
    "draws": "core/replicas",
    "reassignment": "services/reassignment",
}
"""The package of each kind; a placement sampled from many seeds is one of `replicas`, and a scenario of a reassignment
is a request for a plan."""
EXAMPLES = (
    "app.core.capacity.sweep",
    "app.core.consumers.sweep",
    "app.core.groups.sweep",
    "app.core.keys.sweep",
    "app.core.sweeps.scoring",
    "app.core.replicas.sweep",
    "app.core.sweeps.axes",
    "app.core.sweeps.axes",
    "app.services.reassignment.sweep.axes",
)


@pytest.mark.parametrize("name", BY_MODULE)
def test_a_kind_is_where_its_name_says(name: str) -> None:
    module = ROOT / "app" / ROOMS[name] / "sweep"
    assert module.is_dir() or module.with_suffix(".py").is_file()
    assert (ROOT / "app" / "services" / "sweeps" / f"{name}.py").is_file()
    assert (ROOT / "app" / "api" / "sweeps" / f"{name}.py").is_file()


def test_requests_have_the_kinds_of_the_services_and_no_others() -> None:
    assert [kind.name for kind in KINDS.values()] == list(KINDS)
    requests = (ROOT / "app" / "api" / "sweeps" / "requests.py").read_text(encoding="utf-8")
    imported = [line for line in requests.splitlines() if line.startswith("from app.api.sweeps.")]
    for name, kind in BY_MODULE.items():
        assert any(line.startswith(f"from app.api.sweeps.{name} import") for line in imported)
        assert f'Tag("{kind.name}")' in requests
    assert len(imported) == len(BY_MODULE) + 1  # and the fields that kinds share


@pytest.mark.parametrize(("name", "kind"), BY_MODULE.items())
def test_executors_read_a_kind_from_its_own_room(name: str, kind: SweepKind) -> None:
    """A function is sent to them as its name."""
    if kind.is_measured_whole:
        return
    module = kind.reader.__module__
    assert module.startswith(f"app/{ROOMS[name]}/sweep".replace("/", "."))
    assert getattr(import_module(module), kind.reader.__qualname__) is kind.reader


def test_the_recipe_names_every_file_to_touch() -> None:
    recipe = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8").partition("## Add a sweep kind")[2]
    table = [line for line in recipe.splitlines() if line.startswith("| `app/")]
    places = (
        "<floor>/<room>/sweep.py",
        "services/sweeps/<name>.py",
        "services/sweeps/kinds.py",
        "api/sweeps/<name>.py",
        "api/sweeps/requests.py",
    )
    assert len(table) == len(places) == 5
    for place in places:
        assert any(f"`app/{place}`" in line for line in table), place


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_in_docstrings_run(module: str) -> None:
    results = doctest.testmod(import_module(module))
    assert results.attempted
    assert not results.failed
