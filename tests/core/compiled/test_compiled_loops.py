"""A loop has one signature: nothing else is ever compiled, and nothing at all when a module is imported."""

import ast
import pickle
import subprocess
import sys
import weakref
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding
import numpy as np
import pytest
from numba.core import event

from app.core.compiled import entries, sources
from app.core.compiled.arrays import FloatVector, Int64Vector, Offsets
from app.core.compiled.loops import Loop, Subroutine, compiled, subroutine
from tests.conftest import ROOT

CORE = ROOT / "app" / "core"
COMPILING = CORE / "compiled"
KERNELS = [str(path.relative_to(ROOT).with_suffix("")).replace("/", ".") for path in sorted(CORE.rglob("*_kernel.py"))]
LOOPS = [f"{module}.{name}" for module in sources.kernels() for name in sources.loops_of(module)]


@compiled
def total(values: Int64Vector, factor: int, scale: float) -> float:
    result = 0
    for value in values:
        result += value * factor
    return result * scale


@compiled
def last(offsets: Offsets) -> int:
    return int(offsets[-1])


class Weighed(NamedTuple):
    values: Int64Vector
    weights: FloatVector


@subroutine
def sum_of(weighed: Weighed) -> float:
    weights = weighed.weights
    result = 0.0
    for i in range(len(weights)):
        result += weighed.values[i] * weights[i]
    return result


@compiled
def sums(weighed: Weighed, count: int) -> tuple[FloatVector, FloatVector]:
    found = np.zeros(count)
    for i in range(count):
        found[i] = sum_of(weighed) + sum_of(Weighed(np.full(3, i), np.ones(3)))
    return found, weighed.weights


@compiled
def same(weighed: Weighed) -> Weighed:
    return weighed


@compiled
def same_of_two(weighed: Weighed) -> tuple[int, Weighed]:
    return 1, weighed


def test_arguments_that_convert_without_loss_are_accepted_and_compile_nothing() -> None:
    values = np.arange(4)
    assert total(values, 2, 1.5) == 18.0
    with event.install_recorder("numba:compile") as compilations:
        assert total(values, np.int32(2), 1.5) == 18.0  # type: ignore[arg-type] # that is the test
        assert total(values, True, 3) == 18.0
    assert not compilations.buffer


@pytest.mark.parametrize(
    "arguments",
    [
        (np.arange(4.0), 2, 1.0),
        (np.arange(4, dtype=np.int32), 2, 1.0),
        (np.arange(8)[::2], 2, 1.0),
        (np.zeros((2, 2), np.int64), 2, 1.0),
        (np.arange(4), 2.7, 1.0),
        (np.arange(4), "2", 1.0),
        ([1, 2], 2, 1.0),
    ],
    ids=["floats", "int32", "strided", "matrix", "fraction", "text", "list"],
)
def test_other_arguments_are_rejected_and_compile_nothing(arguments: tuple[object, ...]) -> None:
    """Whether or not the loop is loaded: a fraction is not cut off, and no second version is made."""
    total(np.arange(1), 1, 1.0)
    with event.install_recorder("numba:compile") as compilations, pytest.raises(TypeError, match="total: argument"):
        total(*arguments)  # type: ignore[arg-type] # that is the test
    assert not compilations.buffer


def test_only_loops_that_read_take_arrays_that_may_not_be_written() -> None:
    frozen = np.arange(4)
    frozen.setflags(write=False)
    assert last(frozen) == last(np.arange(4)) == 3
    with pytest.raises(TypeError, match="argument 0"):
        total(frozen, 1, 1.0)


def test_a_wrong_number_of_arguments_is_rejected() -> None:
    with pytest.raises(TypeError):
        total(np.arange(4))  # type: ignore[call-arg] # that is the test


def test_the_arrays_of_a_record_live_as_long_as_something_holds_them() -> None:
    """A record's arrays are not counted; a loop's own ones, and those that it returns, are."""
    values, weights = np.arange(4), np.full(4, 0.5)
    for _ in range(100):
        found, returned = sums(Weighed(values, weights), 1_000)
        assert found.tolist() == [3.0 + 3 * i for i in range(1_000)]
    living = [weakref.ref(array) for array in (values, weights, found)]
    del values, weights, found
    assert [each() is None for each in living] == [True, False, True]
    assert returned.tolist() == [0.5] * 4
    del returned
    assert living[1]() is None


@pytest.mark.parametrize("loop", [same, same_of_two])
def test_a_loop_that_returns_a_record_is_rejected(loop: Loop) -> None:
    with pytest.raises(TypeError, match="returns a record"):
        loop(Weighed(np.arange(1), np.zeros(1)))


@pytest.mark.parametrize("module", KERNELS)
def test_every_loop_and_subroutine_declares_its_signature(module: str) -> None:
    declaring = [item for item in vars(import_module(module)).values() if isinstance(item, Loop | Subroutine)]
    assert declaring
    for each in declaring:
        assert len(each.dispatcher.declared) == each.py_func.__code__.co_argcount
        assert not each.py_func.__defaults__


def test_what_python_calls_is_a_loop_and_all_else_is_a_subroutine() -> None:
    """A loop that only loops call would be stored for nothing, and a subroutine that Python calls is not compiled."""
    used = set()
    for path, text in sources_that_name("_kernel"):
        if path not in map(path_of, KERNELS):
            used |= names_of_kernels(ast.parse(text))
    declared = {module: vars(import_module(module)) for module in KERNELS}
    for kind, expected in ((Loop, True), (Subroutine, False)):
        for module, items in declared.items():
            for name, item in items.items():
                if isinstance(item, kind) and item.py_func.__module__ == module:
                    assert ((module, name) in used) == expected, f"{module}.{name}"


def test_numba_is_used_through_compiled_loops_alone() -> None:
    for path, text in sources_that_name("numba"):
        assert path.parent == COMPILING or "numba" not in imported(text), path
    for path, text in sources_that_name("loops"):
        if path.parent != COMPILING and not path.name.endswith("_kernel.py"):
            assert "app.core.compiled.loops" not in imported(text), f"{path}: the name of its file ends with _kernel.py"


def test_the_search_for_loops_finds_every_one() -> None:
    """Whatever is decorated; a decorator in another form would be compiled when somebody waits."""
    decorated = {
        f"{module}.{node.name}"
        for module in KERNELS
        for node in ast.parse(path_of(module).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and "compiled" in map(ast.unparse, node.decorator_list)
    }
    assert decorated == set(LOOPS)
    assert len(LOOPS) > 50


@pytest.mark.parametrize("module", KERNELS)
def test_loops_have_no_text_and_no_messages(module: str) -> None:
    """Each of them costs a second of compiling."""
    for function in ast.parse(path_of(module).read_text(encoding="utf-8")).body:
        if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
            continue
        for node in function.body[1:] if ast.get_docstring(function) else function.body:
            for inner in ast.walk(node):
                assert not isinstance(inner, ast.JoinedStr | ast.Try | ast.Lambda | ast.GeneratorExp), function.name
                assert not (isinstance(inner, ast.Constant) and isinstance(inner.value, str)), function.name
                assert not (isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call)), function.name


def test_stored_loops_have_machine_code_alone() -> None:
    """Intermediate code is needed to link a loop, which none does; reading it is most of the time to load a loop."""
    stored = {name: entry for name in LOOPS if (entry := entries.read(name)) is not None}
    assert len(stored) > 50
    for name, entry in stored.items():
        _, ((_, kind, (machine_code, symbols)), described, *_) = pickle.loads(entry)  # noqa: S301 — our own
        module = llvmlite.binding.parse_bitcode(symbols)
        assert kind == "object", name
        assert machine_code.startswith(b"\x7fELF") or sys.platform != "linux", name
        assert [symbol.name for symbol in module.global_variables] == [described.llvm_cpython_wrapper_name], name
        assert not [*module.functions], name


@pytest.mark.slow
def test_nothing_is_compiled_or_loaded_when_modules_are_imported() -> None:
    code = """
from importlib import import_module
from app.core.compiled import sources
from app.core.compiled.loops import Loop
loops = [getattr(import_module(m), n) for m in sources.kernels() for n in sources.loops_of(m)]
print(sum("dispatcher" in vars(loop) for loop in loops), len(loops), {"numba", "llvmlite"} & {*sys.modules})
"""
    assert run("import sys" + code) == f"0 {len(LOOPS)} set()\n"


@pytest.mark.long
def test_all_loops_load_without_what_only_compiling_needs() -> None:
    """A loop whose machine code had a symbol that only numba's compiler defines would end the process."""
    code = """
import sys
from threading import Event
from numba.core import event
from app.core.compiled.building import load_all, uncompiled
missing = len(uncompiled())
with event.install_recorder("numba:compile") as compilations:
    load_all(Event())
print(missing > 0 or (len(compilations.buffer), "numba.typed.dictimpl" in sys.modules))
"""
    assert run(code) in ("(0, False)\n", "True\n")


def run(code: str) -> str:
    """The output of a new process that runs the code."""
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def path_of(module: str) -> Path:
    return ROOT / f"{module.replace('.', '/')}.py"


def sources_that_name(word: str) -> Iterator[tuple[Path, str]]:
    """The files of the application that have a word, with their texts; parsing all of them takes seconds."""
    for path in (ROOT / "app").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if word in text:
            yield path, text


def names_of_kernels(tree: ast.AST) -> set[tuple[str, str]]:
    """The names of modules of loops that a source uses: imported, or as attributes of a module."""
    used: set[tuple[str, str]] = set()
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            used |= {(node.module or "", alias.name) for alias in node.names}
            modules |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.add((modules.get(node.value.id, ""), node.attr))
    return used


def imported(text: str) -> set[str]:
    """The modules that a source imports."""
    nodes = list(ast.walk(ast.parse(text)))
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return whole | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
