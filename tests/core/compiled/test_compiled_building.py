"""All loops are compiled once, in processes that end with the one that started them."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.core.compiled.installation import LOOPS, TOTAL, Installation

WITHIN_S = 30


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """An installation that has compiled nothing."""
    return Installation(tmp_path / "installation")


def test_what_is_missing_is_listed_without_numba(installation: Installation) -> None:
    code = """
import sys
from app.core.compiled.building import uncompiled
print(*uncompiled(), {"numba", "numpy", "llvmlite"} & {*sys.modules})
"""
    assert installation.run(code) == f"{' '.join(LOOPS)} set()"
    installation.compile_all()
    assert installation.run(code) == "set()"


def test_progress_counts_each_missing_loop_once(installation: Installation) -> None:
    code = """
from app.core.compiled.building import compile_all
compile_all(2, lambda done, total, name, seconds: print(done, total, name, seconds >= 0))
"""
    lines = [line.split() for line in installation.run(code).splitlines()]
    assert [line[:2] for line in lines] == [["1", "2"], ["2", "2"]]
    assert sorted(line[2] for line in lines) == LOOPS
    assert installation.run(code) == ""


def test_loops_that_share_subroutines_are_compiled_one_after_another(installation: Installation) -> None:
    """In one process, which compiles the subroutines once."""
    code = "from app.core.compiled.sources import families; print(families())"
    assert installation.run(code) == "[['app.core.called_kernel', 'app.core.calling_kernel']]"


def test_it_stops_early_on_request(installation: Installation) -> None:
    code = """
import threading
from app.core.compiled.building import compile_all, uncompiled
stop = threading.Event()
compile_all(1, lambda *_: stop.set(), stop=stop)
print(len(uncompiled()))
"""
    assert int(installation.run(code)) == 1


@pytest.mark.long
def test_a_loop_that_cannot_be_compiled_is_an_error(installation: Installation) -> None:
    installation.replace("calling_kernel.py", "+ 1", "+ None")
    code = """
from app.core.compiled.building import CompilationFailed, compile_all
try:
    compile_all(2)
except CompilationFailed as failure:
    print(failure)
"""
    assert "app.core.calling_kernel" in installation.run(code)
    assert installation.stored().keys() == {TOTAL}


def test_processes_end_when_the_one_that_started_them_is_killed(installation: Installation) -> None:
    code = """
import os
from app.core.compiled import building
pool = building._Pool(2, 0)
print(*(process._popen.pid for process in pool._processes), flush=True)
import time; time.sleep(60)
"""
    process = installation.start(code)
    assert process.stdout is not None
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + WITHIN_S
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")  # noqa: PTH110
