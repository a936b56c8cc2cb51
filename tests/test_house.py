"""The house keeps its own rules."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from fastapi.routing import APIRoute

from app.api.plans.stored import PLAN_RESOURCES
from app.api.resources import ROUTERS
from app.core.replicas.registry import PLACEMENT_OPTIONS
from app.deferred import Registry
from app.services.plans.kinds import KINDS
from app.web.plans.page import VIEWS
from tests.conftest import ROOT

CORE = ROOT / "app" / "core"
ALLOWED = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite", "ortools", "scipy", "app"}


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax, the module first: each file is parsed once for all rules."""
    return (*ast.walk(ast.parse(path.read_text(encoding="utf-8"))),)


@cache
def imported(path: Path) -> frozenset[str]:
    """Every module that a file imports, wherever in it."""
    modules = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            modules.add(node.module or "")
    return frozenset(modules)


def test_the_core_imports_the_standard_library_numpy_numba_and_solvers() -> None:
    for path in CORE.rglob("*.py"):
        for module in imported(path):
            assert module.split(".")[0] in ALLOWED, f"{path} imports {module}"
            assert not module.startswith("app") or module.startswith(("app.core", "app.errors")), f"{path}: {module}"


def test_the_core_has_no_clock_log_or_environment() -> None:
    """Except the cache of its own code."""
    forbidden = {"time", "datetime", "logging", "os", "random", "secrets", "socket", "subprocess"}
    for path in {*CORE.rglob("*.py")} - {*(CORE / "compiled").glob("*.py")}:
        assert not imported(path) & forbidden, path


def test_the_client_needs_httpx_alone() -> None:
    """pyarrow is one of its extras, imported by the functions that return its tables."""
    for path in sorted((ROOT / "client" / "rackplan").rglob("*.py")):
        needed = {module.split(".")[0] for module in imported(path)} - sys.stdlib_module_names
        assert needed <= {"rackplan", "httpx", "pyarrow", "typing_extensions"}, path


def test_the_client_is_imported_without_httpx() -> None:
    """Half of the time of its import; a client loads it."""
    code = "import sys, rackplan; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "client", capture_output=True, text=True, check=True
    )
    assert not set(loaded.stdout.split()) & {"httpx", "asyncio", "pyarrow", "numpy", "app"}


def test_flow_solvers_have_one_door() -> None:
    """Statuses, limits and potentials of the flow solvers are read in one place."""
    importing = {
        str(path.relative_to(CORE))
        for path in CORE.rglob("*.py")
        if any(module.startswith("ortools.graph") for module in imported(path))
    }
    assert importing == {"flow.py"}


def test_the_integer_solver_has_one_door() -> None:
    """By its defaults it takes the signals of the process."""
    creating = {
        str(path.relative_to(CORE))
        for path in CORE.rglob("*.py")
        if re.search(r"\bCpSolver\(|CreateSolver\(\"(?!GLOP\")", path.read_text(encoding="utf-8"))
    }
    assert creating == {"integer.py"}


def test_imports_point_down() -> None:
    """The layers are exhaustive: a new package without a layer fails here as well."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c(['--no-logo'])"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _registries() -> dict[str, Registry[object]]:
    """Every registry of the application, by its module and name."""
    found: dict[str, Registry[object]] = {}
    for path in sorted((ROOT / "app").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if "app.deferred" in imported(path):
            members = vars(importlib.import_module(name.removesuffix(".__init__")))
            if "Registry" in members:  # others import the lock alone
                found |= {f"{name}:{key}": value for key, value in members.items() if isinstance(value, Registry)}
    return found


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports for types alone count, too."""
    imports = grimp.build_graph("app")
    TopologicalSorter({file: imports.find_modules_directly_imported_by(file) for file in imports.modules}).prepare()


def test_registries_refer_to_what_exists_and_point_down_as_imports_do() -> None:
    """import-linter does not see references of registries, which are imported when they are read."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = [row.split(" | ") for row in contracts[0]["layers"]]
    layers = {module: place for place, row in enumerate(rows) for module in row}
    registries = _registries()
    assert {"app.services.plans.kinds:KINDS", "app.api.resources:ROUTERS"} <= set(registries)
    for name, registry in registries.items():
        assert all(value is not None for value in registry.values()), name
        for reference in registry.references.values():
            assert layers[reference.split(".")[1]] >= layers[name.split(".")[1]], f"{name} → {reference}"


THREADED = [ROOT / "app" / "main.py", ROOT / "app" / "operations.py", ROOT / "app" / "worker.py"] + [
    path for room in ("api", "web", "services", "store") for path in (ROOT / "app" / room).rglob("*.py")
]


def unguarded_imports(nodes: Sequence[ast.AST]) -> list[int]:
    """The lines of a file on which a function imports from the application without the lock."""
    imports = {node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("app")}
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    within_functions = imports & {node for function in functions for node in ast.walk(function)} if imports else set()
    if not within_functions:
        return []
    locked = (node for node in nodes if isinstance(node, ast.With) and ast.unparse(node.items[0]) == "IMPORTING")
    guarded = {node for block in locked for node in ast.walk(block)}
    return sorted(node.lineno for node in within_functions - guarded)


def test_threads_import_modules_of_the_application_one_at_a_time() -> None:
    """Imports within a function happen while other threads run."""
    assert {path: lines for path in THREADED if (lines := unguarded_imports(nodes_of(path)))} == {}


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("from app.core import flow", []),
        ("def f():\n    import json", []),
        ("def f():\n    from app.core import flow", [2]),
        ("async def f():\n    def g():\n        from app.core import flow", [3]),
        ("def f():\n    with IMPORTING:\n        from app.core import flow", []),
    ],
)
def test_unguarded_imports_are_found(source: str, lines: list[int]) -> None:
    assert unguarded_imports([*ast.walk(ast.parse(source))]) == lines


def test_the_command_answers_for_help_without_loading_what_it_does_not_need() -> None:
    heavy = {"numba", "numpy", "fastapi", "sqlalchemy", "pydantic", "pyarrow", "uvicorn"}
    code = "import sys, app.cli; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not set(loaded.split()) & heavy


def test_the_api_is_imported_without_what_only_solvers_need() -> None:
    """A start waits for none of it: the service loads the loops once it listens, and the rest with its first use."""
    late = {
        "numba",
        "llvmlite",
        "ortools",
        "scipy",
        "pyarrow",
        "pyspark",
        "alembic",
        "joserfc",
        "cryptography",
        "httpx",
    }
    late |= {"app.services.oidc.issuer", "app.services.oidc.tokens", "app.services.oidc.sign_in"}
    code = "import sys, app.main, app.api.plans.listing; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & late
    planners = re.compile(
        r"app\.(core|services|api|web)\.(replicas|reassignment|groups|streams|sweeps|keys|plans\.page)\."
    )
    assert not {module for module in loaded if planners.match(module)}


def test_a_worker_starts_without_planners_and_solvers() -> None:
    """It starts beside the first requests of a service, and the first job imports what it needs."""
    code = "import sys, app.worker, app.jobs.spark; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numba", "llvmlite", "ortools", "scipy", "pandas"}
    assert not [name for name in loaded if re.match(r"app\.core\.(replicas|reassignment|groups|streams|keys)\.", name)]
    assert not {"app.services.sweeps.answers", "app.services.reassignment", "app.services.replicas"} & loaded


@pytest.mark.parametrize("collects", [True, False])
def test_an_import_of_the_api_leaves_collections_as_they_were(collects: bool) -> None:
    """The server process of slots imports more after it, and collects nothing."""
    code = f"import gc; gc.{'enable' if collects else 'disable'}(); import app.main; print(gc.isenabled())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{collects}\n"


def test_locks_carry_hashes_and_no_address() -> None:
    for name in ("requirements.lock", "requirements-build.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        pinned = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
        assert all("==" in line for line in pinned)
        assert text.count("--hash=sha256:") >= len(pinned)


def test_every_check_that_is_silenced_has_its_reason() -> None:
    """On the same line, after the directive."""
    bare = re.compile(r"# (noqa: [A-Z0-9, ]+|type: ignore\[[a-z, -]+\])$", re.MULTILINE)
    for path in (ROOT / "app").rglob("*.py"):
        assert not bare.findall(path.read_text(encoding="utf-8")), path


def test_every_package_says_what_it_holds() -> None:
    """The folder map is the packages' docstrings."""
    for package in (ROOT / "app").rglob("__init__.py"):
        module = nodes_of(package)[0]
        assert isinstance(module, ast.Module)
        assert ast.get_docstring(module), package


FORBIDDEN_CALLS = frozenset(
    {
        *(f"{module}.{name}" for module in ("pickle", "cloudpickle", "marshal", "dill") for name in ("load", "loads")),
        "pickle.Unpickler",
        *("shelve.open", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "numpy.load", "joblib.load"),
        *("eval", "exec", "compile", "__import__", "builtins.eval", "builtins.exec", "builtins.compile"),
        *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
    }
)
"""Calls that make code, or objects of any class, of their argument; or that hand it to a shell."""
LITERAL_ONLY = frozenset({"importlib.import_module", "import_module"})
"""Calls whose first argument is written in the source."""
EXCEPTIONS = {
    "core/compiled/dispatchers.py": ["pickle.loads"],  # entries that no other account may write
    "formats/snapshots/snapshot_columns.py": ["numpy.load"],  # with `allow_pickle=False`, which a test holds
    "deferred.py": ["importlib.import_module"],  # of references that are written in the sources
    "core/compiled/building.py": ["importlib.import_module"],  # of a module that is among those found in the package
}
"""Calls that are safe where they are, by file."""


def dangerous_calls(nodes: Sequence[ast.AST]) -> list[str]:
    """Every call in a file that turns data into code or objects, or hands it to a shell, with its line."""
    aliases = _imported_names(nodes)
    dangerous = []
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = _called_name(node.func, aliases)
        has_shell = any(
            keyword.arg == "shell" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
            for keyword in node.keywords
        )
        is_computed = name in LITERAL_ONLY and not (node.args and isinstance(node.args[0], ast.Constant))
        if name in FORBIDDEN_CALLS or has_shell or is_computed:
            dangerous.append(f"{node.lineno}: {name}")
    return dangerous


def _imported_names(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """The imported object of each name of a file: `{"np": "numpy", "loads": "pickle.loads"}`."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _called_name(called: ast.expr, aliases: dict[str, str]) -> str:
    """The dotted name of the callee, as it was imported; the last two parts of a longer one."""
    written = ast.unparse(called)
    first, _, rest = written.partition(".")
    full = aliases.get(first, first) + (f".{rest}" if rest else "")
    parts = full.split(".")
    return ".".join(parts[-2:]) if parts[-1] in {"load", "loads", "Unpickler", "import_module"} else full


class TestDataStaysData:
    """Nothing in `app` makes code of a text, or an object of a class that a text names."""

    @pytest.mark.parametrize(
        "source",
        [
            "import pickle\npickle.loads(x)",
            "import pickle as p\np.load(x)",
            "from pickle import loads as read\nread(x)",
            "from pyspark import cloudpickle\ncloudpickle.loads(x)",
            "import pyspark\npyspark.cloudpickle.load(x)",
            "import marshal\nmarshal.loads(x)",
            "import shelve\nshelve.open(x)",
            "import yaml\nyaml.load(x)",
            "import numpy as np\nnp.load(x)",
            "eval(x)",
            "exec(x)",
            "compile(x, '', 'exec')",
            "import subprocess\nsubprocess.run(x, shell=True)",
            "import subprocess as s\ns.Popen(x, shell=is_asked)",
            "import os\nos.system(x)",
            "from os import popen\npopen(x)",
            "import importlib\nimportlib.import_module(x)",
            "from importlib import import_module as load\nload(name)",
            "__import__(x)",
        ],
    )
    def test_the_search_finds(self, source: str) -> None:
        assert dangerous_calls([*ast.walk(ast.parse(source))])

    @pytest.mark.parametrize(
        "source",
        [
            "import re\nre.compile(x)",
            "import orjson\norjson.loads(x)",
            "import subprocess\nsubprocess.run([x], shell=False)",
            "import importlib\nimportlib.import_module('app.core')",
            "session.exec(x)",
        ],
    )
    def test_the_search_passes_over(self, source: str) -> None:
        assert not dangerous_calls([*ast.walk(ast.parse(source))])

    def test_no_file_calls_what_makes_code_of_data(self) -> None:
        found = {
            path.relative_to(ROOT / "app"): dangerous_calls(nodes_of(path)) for path in (ROOT / "app").rglob("*.py")
        }
        named = {str(path): [call.partition(": ")[2] for call in calls] for path, calls in found.items() if calls}
        assert named == EXCEPTIONS, found

    def test_what_templates_leave_unescaped_says_why_it_is_safe(self) -> None:
        for template in (ROOT / "app").rglob("*.html"):
            lines = template.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines):
                if re.search(r"\|\s*safe\b|autoescape\s+false", line):
                    assert "{# Safe: " in lines[number - 1], f"{template.name}:{number + 1} gives no reason"

    def test_no_module_marks_text_as_safe_markup(self) -> None:
        """Templates escape values; `Markup` would let a text through unescaped."""
        for path in (ROOT / "app").rglob("*.py"):
            assert not {module for module in imported(path) if module.startswith("markupsafe")}, path


def test_every_test_that_the_security_document_names_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::([\w:]+))?`", (ROOT / "docs" / "security.md").read_text("utf-8"))
    assert len(named) > 20
    for file, path in named:
        scope = nodes_of(ROOT / file)[0]
        for part in filter(None, path.split("::")):
            members = {
                node.name: node
                for node in ast.iter_child_nodes(scope)
                if isinstance(node, ast.ClassDef | ast.FunctionDef)
            }
            assert part in members, f"{file}::{path}"
            scope = members[part]


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
    if not (ROOT / "app" / "web" / "templates" / view.template).is_file():
        pytest.fail(f"{view.template} is no template")
    files = _listed_in("Add a plan kind")
    assert len(files) <= 12
    for listed in files:
        named = listed.replace("<kind>", _package_of(kind)).replace("<template>", view.template)
        path = ROOT / named
        assert path.exists() or path.with_suffix(".py").is_file(), f"{kind}: {named} does not exist"


def test_every_plan_kind_is_registered_on_every_floor() -> None:
    assert list(KINDS) == list(PLAN_RESOURCES) == list(VIEWS)
    for kind in KINDS:
        [operation] = [route for route in ROUTERS[f"POST /v1/plans/{kind}"].routes if isinstance(route, APIRoute)]
        assert (operation.methods, operation.path) == ({"POST"}, f"/v1/plans/{kind}")


def test_recipes_are_short_and_name_files_that_exist() -> None:
    for section, most in (("Add a placement algorithm", 4), ("Add a reassignment objective", 6)):
        files = _listed_in(section)
        assert 0 < len(files) <= most
        assert all((ROOT / listed).is_file() for listed in files), section


def test_options_of_placement_algorithms_are_named_in_the_registry_alone() -> None:
    """Otherwise an option would have to be threaded through request models and services by hand."""
    names = "|".join(PLACEMENT_OPTIONS)
    for path in [ROOT / "app/api/replicas/requests.py", *(ROOT / "app/services/replicas").glob("[!a]*.py")]:
        code = ast.unparse(ast.parse(path.read_text(encoding="utf-8")))
        threaded = re.findall(rf"\b(?:request|self|body)\.({names})\b", code)
        assert not threaded, f"{path.name} reads {threaded}"


def test_nothing_below_the_resolved_problem_sees_a_reassignment_request() -> None:
    """Solvers, verifiers and reports read the problem; missing data belongs into it."""
    folder = ROOT / "app" / "services" / "reassignment"
    for path in (
        *folder.glob("reports/*.py"),
        *folder.glob("files/*.py"),
        folder / "differences.py",
        folder / "exports.py",
        folder / "failures.py",
        folder / "solve.py",
    ):
        assert "app.services.reassignment.requests.request" not in imported(path), path.name
