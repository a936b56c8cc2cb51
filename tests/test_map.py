"""The map of the source: docstrings of packages list their modules, and docs/architecture.md names the packages."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.documents import Document

APP = ROOT / "app"
ARCHITECTURE = Document(ROOT / "docs" / "architecture.md")
NAME = re.compile(r"(?<![\w/.`*<>{}-])(\w+(?:\.py\b|/(?=[\s,;]|$)))", re.MULTILINE)
"""The name of a module, or of a package with a slash, in a docstring; not a part of a path or of a pattern."""
DOTTED = re.compile(r"`(app(?:\.\w+)+)`")
PATH = re.compile(r"(?<![\w/])((?:app|docs|tests)/[\w/.-]+\w)")


def packages_of(folder: Path) -> list[Path]:
    """The packages directly in a folder."""
    return sorted(path.parent for path in folder.glob("*/__init__.py"))


def modules_of(package: Path) -> set[str]:
    """The modules and packages in a package, as its docstring names them: `plans.py`, `http/`."""
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    return modules | {f"{path.name}/" for path in packages_of(package)}


def wrong_names(package: Path) -> set[str]:
    """Modules that the docstring of a package does not list, and names in it that do not exist."""
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    root = package.parents[package.parts[::-1].index("app")]
    paths = {*PATH.findall(docstring), *(dotted.replace(".", "/") for dotted in DOTTED.findall(docstring))}
    gone = {path for path in paths if not is_there(root / path)}
    return {*NAME.findall(docstring)} ^ modules_of(package) | gone


def is_there(path: Path) -> bool:
    """Whether there is a file, a folder, a module, or a name that a module defines or imports."""
    if path.exists() or path.with_suffix(".py").is_file():
        return True
    module = path.parent / "__init__.py" if path.parent.is_dir() else path.parent.with_suffix(".py")
    nodes = [*ast.walk(ast.parse(module.read_text(encoding="utf-8")))] if module.is_file() else []
    return any(path.name in (getattr(node, "name", None), getattr(node, "id", None)) for node in nodes)


@pytest.mark.parametrize(
    "package", sorted(path.parent for path in APP.rglob("__init__.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_the_docstring_of_a_package_lists_its_modules_and_nothing_that_is_gone(package: Path) -> None:
    assert wrong_names(package) == set()


@pytest.mark.parametrize(
    ("docstring", "wrong"),
    [
        ("one.py   a module; two/ a package", set()),
        ("one.py   a module", {"two/"}),
        ("one.py, two/, three.py", {"three.py"}),
        ("one.py, two/; `app.three` and docs/none.md", {"app/three", "docs/none.md"}),
        ("`app.one`, two/", {"one.py"}),
    ],
)
def test_names_that_are_missing_or_gone_are_found(tmp_path: Path, docstring: str, wrong: set[str]) -> None:
    (tmp_path / "app" / "two").mkdir(parents=True)
    for name in ("one.py", "two/__init__.py"):
        (tmp_path / "app" / name).touch()
    (tmp_path / "app" / "__init__.py").write_text(f'"""{docstring}"""', encoding="utf-8")
    assert wrong_names(tmp_path / "app") == wrong


def test_the_architecture_names_the_layers_that_imports_are_held_to() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    named = [re.findall(r"`(\w+)`", row[0]) for row in ARCHITECTURE.table("package", "contains")]
    assert named == [layer.split(" | ") for layer in contracts["contracts"][0]["layers"]]


def test_the_architecture_names_the_packages_of_each_package() -> None:
    table = ARCHITECTURE.table("package", "its packages")
    named = {name.strip("`"): sorted(re.findall(r"`(\w+)`", packages)) for name, packages in table}
    found = {package.name: [inner.name for inner in packages_of(package)] for package in packages_of(APP)}
    assert named == {name: inner for name, inner in found.items() if inner}


def test_the_architecture_names_only_what_exists() -> None:
    dotted = {name.replace(".", "/") for name in DOTTED.findall(ARCHITECTURE.text)}
    assert [path for path in sorted({*PATH.findall(ARCHITECTURE.text), *dotted}) if not is_there(ROOT / path)] == []
