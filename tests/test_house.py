"""The house keeps its own rules."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

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
