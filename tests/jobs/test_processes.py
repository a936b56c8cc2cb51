"""The end of processes with all that they started."""

import subprocess
import sys

import pytest

REAPS_NO_ORPHANS = """
import ctypes, subprocess, sys

PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True, timeout=30)  # reaps this one alone
"""
KILLS = """
import subprocess, sys

import psutil

from app.jobs.processes import kill_with_descendants

starts = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'input()']).pid, flush=True); input()"
parent = subprocess.Popen([sys.executable, "-c", starts], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
child = psutil.Process(int(parent.stdout.readline()))
kill_with_descendants(psutil.Process(parent.pid))
print(child.status(), parent.wait())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process be given orphans")
def test_an_orphan_that_its_new_parent_does_not_reap_has_ended() -> None:
    """The first process of a container may reap late or never; the stop of a service does not wait for it."""
    command = [sys.executable, "-c", REAPS_NO_ORPHANS, KILLS]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    assert answer.stdout == "zombie -9\n"
