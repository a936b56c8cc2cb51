"""The house keeps its own rules."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from app.api.plan_kinds import PLAN_RESOURCES
from app.core.replicas.registry import PLACEMENT_OPTIONS
from app.services.plans.kinds import KINDS
from app.web.plans import VIEWS
from tests.conftest import ROOT

CORE = ROOT / "app" / "core"
ALLOWED = {*sys.stdlib_module_names, "numpy", "numba", "ortools", "scipy", "app"}


def imported(path: Path) -> set[str]:
    """Every module that a file imports, wherever in it."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            modules.add(node.module or "")
    return modules


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: str(path.relative_to(CORE)))
def test_the_core_imports_the_standard_library_numpy_numba_and_solvers(path: Path) -> None:
    for module in imported(path):
        assert module.split(".")[0] in ALLOWED, f"{path.name} imports {module}"
        assert not module.startswith("app") or module.startswith(("app.core", "app.errors")), module


def test_the_core_has_no_clock_log_or_environment() -> None:
    forbidden = {"time", "datetime", "logging", "os", "random", "secrets", "socket", "subprocess"}
    for path in CORE.rglob("*.py"):
        assert not imported(path) & forbidden, path


def test_flow_solvers_have_one_door() -> None:
    """Statuses, limits and potentials of the flow solvers are read in one place."""
    importing = {
        str(path.relative_to(CORE))
        for path in CORE.rglob("*.py")
        if any(module.startswith("ortools.graph") for module in imported(path))
    }
    assert importing == {"flow.py"}


def test_imports_point_down() -> None:
    """The layers are exhaustive: a new room that nobody gave a place fails here as well."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c(['--no-logo'])"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_answers_for_help_without_loading_what_it_does_not_need() -> None:
    heavy = {"numba", "numpy", "fastapi", "sqlalchemy", "pydantic", "pyarrow", "uvicorn"}
    code = "import sys, app.cli; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not set(loaded.split()) & heavy


def test_locks_carry_hashes_and_no_address() -> None:
    for name in ("requirements.lock", "requirements-build.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        pinned = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
        assert all("==" in line for line in pinned)
        assert text.count("--hash=sha256:") >= len(pinned)


def test_every_package_says_what_it_holds() -> None:
    """The folder map is the packages' docstrings."""
    for package in (ROOT / "app").rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))), package


def _listed_in(section: str) -> list[str]:
    """The files that a recipe of the documentation lists."""
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    [recipe] = [part for part in text.split("\n## ") if part.startswith(section)]
    return re.findall(r"^- `((?:app|docs|tests)/[^`]+)`", recipe, re.MULTILINE)


def _package_of(kind: str) -> str:
    """The package of a plan kind: `app.services.<package>.planning` has its planner."""
    return type(KINDS[kind].planner).__module__.split(".")[2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_recipe_for_a_plan_kind_is_what_every_kind_has(kind: str) -> None:
    view = VIEWS[kind]
    page = view.draw.__module__.removeprefix("app.web.")
    if not (ROOT / "app" / "web" / "templates" / view.template).is_file():
        pytest.fail(f"{view.template} is no template")
    files = _listed_in("Add a plan kind")
    assert len(files) <= 12
    for listed in files:
        named = listed.replace("<kind>", _package_of(kind)).replace("<page>", page).replace("<template>", view.template)
        path = ROOT / named
        assert path.exists() or path.with_suffix(".py").is_file(), f"{kind}: {named} does not exist"


def test_every_plan_kind_is_registered_on_every_floor() -> None:
    assert list(KINDS) == list(PLAN_RESOURCES) == list(VIEWS)
    for kind, resource in PLAN_RESOURCES.items():
        assert {route.path for route in resource.router.routes if isinstance(route, APIRoute)} == {f"/v1/plans/{kind}"}


def test_recipes_are_short_and_name_files_that_exist() -> None:
    for section, most in (("Add a placement algorithm", 4), ("Add a reassignment objective", 6)):
        files = _listed_in(section)
        assert 0 < len(files) <= most
        assert all((ROOT / listed).is_file() for listed in files), section


def test_options_of_placement_algorithms_are_named_in_the_registry_alone() -> None:
    """Otherwise an option would have to be threaded through request models and services by hand."""
    names = "|".join(PLACEMENT_OPTIONS)
    for path in [ROOT / "app/api/replicas.py", *(ROOT / "app/services/replicas").glob("[!a]*.py")]:
        code = ast.unparse(ast.parse(path.read_text(encoding="utf-8")))
        threaded = re.findall(rf"\b(?:request|self|body)\.({names})\b", code)
        assert not threaded, f"{path.name} reads {threaded}"


def test_nothing_below_the_resolved_problem_sees_a_reassignment_request() -> None:
    """Solvers, verifiers and reports read the problem; what they miss there belongs into it."""
    folder = ROOT / "app" / "services" / "reassignment"
    for name in ("reports", "differences", "exports"):
        assert "app.services.reassignment.requests" not in imported(folder / f"{name}.py")
    functions = ast.parse((folder / "planning.py").read_text(encoding="utf-8")).body
    for function in functions:
        if isinstance(function, ast.FunctionDef):
            assert "request" not in {argument.arg for argument in function.args.args}, function.name
