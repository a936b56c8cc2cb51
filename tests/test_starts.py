"""Limits that keep the suite fast: a test starts an interpreter or a session only if it needs one of its own.

An interpreter that imports the application takes 0.5 to 2 s of CPU, a session of Spark 5 to 10. Services, workers and
commands are forked (`tests/forked.py`, `tests/shell.py`), or run in the process of the test, and tests of one process
share its session. A test that takes long by its nature is marked `long`, with a quick test of the same promise, and
a law whose examples take seconds is `costly` (`tests/profiles.py`).
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.distribution import ONE_SESSION

INTERPRETERS = {
    "tests/api/conftest.py": "PYTHONHASHSEED is read while Python starts",
    "tests/api/test_database_moves.py": "the command itself, in the long test",
    "tests/api/test_preloaded_modules.py": "what is imported",
    "tests/api/test_slot_server.py": "a folder of temporary files of its own",
    "tests/api/test_slots.py": "signals of a process that imports",
    "tests/api/test_two_versions.py": "the code of another release; long",
    "tests/client/test_client_docs.py": "the client has no application beside it",
    "tests/core/compiled/installation.py": "an installation has sources of its own",
    "tests/core/compiled/test_compiled_loops.py": "what is imported",
    "tests/core/compiled/test_interpreted.py": "settings of numba",
    "tests/core/groups/test_kafka_python.py": "PYTHONHASHSEED",
    "tests/core/keys/test_key_partitioners.py": "a program of the documentation",
    "tests/core/test_integer.py": "a limit of memory",
    "tests/faults/service.py": "the command itself, in the long test and `make faults`",
    "tests/fuzz/__main__.py": "a command of its own, not a test",
    "tests/jobs/test_java.py": "no application",
    "tests/jobs/test_processes.py": "no application",
    "tests/jobs/test_shipping.py": "what executors import",
    "tests/jobs/test_spark_ends.py": "long",
    "tests/jobs/test_spark_protected.py": "long",
    "tests/jobs/test_sweep_faults.py": "long",
    "tests/rerun.py": "a run of tests, not a test",
    "tests/shell.py": "the program that asks for a fork",
    "tests/store/test_embedded.py": "accounts and closed folders",
    "tests/test_cli.py": "the command itself, once",
    "tests/test_deployment.py": "commands of the images",
    "tests/test_garbage.py": "what is imported",
    "tests/test_house.py": "what is imported",
    "tests/test_installing.py": "an environment that is made",
    "tests/test_keys_docs.py": "a program of the documentation",
    "tests/test_live_snapshot.py": "a missing package",
    "tests/test_logs.py": "what Python does at its end",
    "tests/test_recipes.py": "a copy of the source that is changed; long",
    "tests/test_rerun.py": "runs of tests of their own",
    "tests/test_spark_docs.py": "commands of the documentation",
    "tests/test_stopping.py": "signals while Python starts",
    "tests/test_traces.py": "what is imported",
    "tests/test_watching.py": "an environment that is made; long",
    "tests/kafka/test_keys.py": "a client in an environment of its own",
    "tests/release.py": "the builder of distributions",
    "tests/test_wheel.py": "an environment without the source",
    "tests/test_unprivileged.py": "accounts and closed folders",
}
"""Files that start interpreters, and why a fork would not do."""
STARTS = ("sys.executable", "[RACKPLAN", "{RACKPLAN}")


def test_interpreters_are_started_where_a_fork_would_not_do() -> None:
    """A file that is missing here should use `forked.run`, `forked.start` or `within_this_process`."""
    files = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in python_files()}
    starting = {name for name, source in files.items() if any(word in source for word in STARTS)}
    assert starting - {"tests/test_starts.py"} == INTERPRETERS.keys()


def test_the_session_of_spark_is_used_by_one_process() -> None:
    """Other processes of the run would start another: a file that uses `spark` belongs to `ONE_SESSION`."""
    using = {
        path.relative_to(ROOT).as_posix()
        for path in python_files()
        if "spark: Spark" in path.read_text(encoding="utf-8")
        for test in functions_of(path)
        if any(argument.arg == "spark" for argument in test.args.args) and not is_long(test)
    }
    assert using == {*ONE_SESSION}


@pytest.mark.parametrize(
    ("source", "found"), [("@pytest.mark.long\ndef test_x(spark): ...", True), ("def test_x(): ...", False)]
)
def test_long_tests_are_seen(source: str, found: bool) -> None:
    [test] = ast.parse(source).body
    assert isinstance(test, ast.FunctionDef)
    assert is_long(test) == found


def python_files() -> Iterator[Path]:
    """The sources of the tests."""
    return (ROOT / "tests").rglob("*.py")


def functions_of(path: Path) -> Iterator[ast.FunctionDef]:
    """The tests of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def is_long(test: ast.FunctionDef) -> bool:
    """Whether all cases of a test are left to `make test-long`."""
    return any(ast.unparse(mark) == "pytest.mark.long" for mark in test.decorator_list)
