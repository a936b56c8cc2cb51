"""Which compiled loops there are, and the digest of all sources that a loop is made of.

`@compiled` decorates a loop in a module `*_kernel.py`; `@subroutine` decorates a part of the loops that call it. The
digest of a loop covers its module and the modules that this one imports, directly or not: a change in a callee, a
constant or a record makes it another loop.
"""

import functools
import hashlib
import re
import time
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from app.core.compiled import STARTED

_PACKAGE = "app"
_CORE = f"{_PACKAGE}.core"
_COMPILING = tuple(
    f"{_CORE}.compiled.{name}" for name in ("arrays", "loops", "dispatchers", "records", "sources", "entries")
)
_KERNEL = "_kernel.py"
_DECLARED = re.compile(r"^@compiled\b.*\ndef (\w+)", re.MULTILINE)
_IMPORTED = re.compile(r"^from (app[\w.]*) import (\([^)]*\)|.*)|^import (app[\w.]*)", re.MULTILINE)


@functools.cache
def kernels() -> tuple[str, ...]:
    """The modules that have compiled loops, in alphabetical order."""
    root = files(_PACKAGE).joinpath("core")
    return tuple(sorted(module for module in _modules(root, _CORE) if loops_of(module)))


@functools.cache
def loops_of(module: str) -> tuple[str, ...]:
    """The names of the loops of a module, in the order of its source."""
    return tuple(_DECLARED.findall((_source(module) or b"").decode()))


@functools.cache
def digest_of(module: str) -> str | None:
    """A digest of the sources of a module's loops; None if one has changed since this process may have imported it."""
    digest = hashlib.sha256()
    for name in sorted({*_closure(module), *_COMPILING}):
        if _has_changed(name):
            return None
        digest.update(f"{name}\0".encode() + hashlib.sha256(_source(name) or b"").digest())
    return digest.hexdigest()


def families() -> list[list[str]]:
    """The modules that have compiled loops, in groups that share subroutines; the longest sources first."""
    merged: list[tuple[set[str], set[str]]] = []
    for module in kernels():
        shared = {name for name in _closure(module) if name.endswith("_kernel")}
        touched = [family for family in merged if family[1] & shared]
        merged = [family for family in merged if not family[1] & shared]
        merged.append(({module}.union(*(family[0] for family in touched)), shared.union(*(f[1] for f in touched))))
    merged.sort(key=lambda family: sum(len(_source(name) or b"") for name in family[1]), reverse=True)
    return [sorted(modules) for modules, _ in merged]


@functools.cache
def _closure(module: str) -> frozenset[str]:
    """The module and all modules of the package that it imports, directly or not."""
    reached, ahead = {module}, [module]
    while ahead:
        for name in _imported_by(ahead.pop()) - reached:
            reached.add(name)
            ahead.append(name)
    return frozenset(reached)


@functools.cache
def _imported_by(module: str) -> frozenset[str]:
    names = set()
    for package, members, whole in _IMPORTED.findall((_source(module) or b"").decode()):
        names.add(package or whole)
        names |= {f"{package}.{member}" for member in re.findall(r"\w+", members)}
    return frozenset(name for name in names if _source(name) is not None)


def _modules(folder: Traversable, package: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.name.endswith(_KERNEL):
            yield f"{package}.{entry.name.removesuffix('.py')}"
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            yield from _modules(entry, f"{package}.{entry.name}")


@functools.cache
def _source(module: str) -> bytes | None:
    """The source of a module; None if there is no such module."""
    found = _file(module)
    return None if found is None else found.read_bytes()


@functools.cache
def _file(module: str) -> Traversable | None:
    _, *parts = module.split(".")
    root = files(_PACKAGE)
    for parts_of_file in ((*parts[:-1], f"{parts[-1]}.py"), (*parts, "__init__.py")) if parts else (("__init__.py",),):
        file = root.joinpath(*parts_of_file)
        if file.is_file():
            return file
    return None


def _has_changed(module: str) -> bool:
    """Whether the source is newer than this process, which may run the old one."""
    file = _file(module)
    return isinstance(file, Path) and STARTED < file.stat().st_mtime <= time.time()
