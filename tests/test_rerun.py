"""CI runs a failed test once more, alone: twice failed is failed, once failed is listed as flaky."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rerun
from tests.conftest import ROOT

TESTS = """
from pathlib import Path
import pytest

ONCE = Path({folder!r}, "once")


def test_passes():
    with Path({folder!r}, "passes").open("a") as file:
        file.write("x")


def test_fails():
    assert not {fails}


def test_fails_once():
    if {flaky} and not ONCE.exists():
        ONCE.touch()
        pytest.fail("for the first time")


@pytest.mark.parametrize("at", range({many}))
def test_fails_in_numbers(at):
    assert at < 0
"""


def run(folder: Path, *, fails: bool = False, flaky: bool = False, many: int = 0) -> tuple[int, str]:
    """The exit code and the output of such a file of tests."""
    path = folder / "test_some.py"
    path.write_text(TESTS.format(folder=str(folder), fails=fails, flaky=flaky, many=many))
    # Other plugins take a second to import, in each of the processes.
    options = ["-p", "xdist", "--numprocesses", "2", "--dist", "loadfile"]
    command = [sys.executable, "-m", "tests.rerun", *options, path.name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_test_that_fails_once_is_listed_and_the_run_passes(tmp_path: Path) -> None:
    code, printed = run(tmp_path, flaky=True)
    assert code == 0
    assert "for the first time" in printed
    assert "failed, passed: flaky: test_some.py::test_fails_once" in printed
    assert (tmp_path / "passes").read_text() == "x", "tests that passed are not run again"


@pytest.mark.long
def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    code, printed = run(tmp_path, fails=True, flaky=True)
    assert code == 1
    assert "failed, failed: test_some.py::test_fails\n" in printed
    assert "flaky: test_some.py::test_fails_once" in printed


@pytest.mark.long
@pytest.mark.parametrize(("many", "code"), [(0, 0), (rerun.MOST + 1, 1)])
def test_nothing_is_run_again_if_all_pass_or_too_many_fail(tmp_path: Path, many: int, code: int) -> None:
    found, printed = run(tmp_path, many=many)
    assert found == code
    assert "once more" not in printed


def test_a_run_that_cannot_start_is_not_repeated() -> None:
    command = [sys.executable, "-m", "tests.rerun", "tests/there_is_no_such_test.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "once more" not in done.stdout
