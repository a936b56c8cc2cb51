"""Programs that import parts of the tests run for hours, and have Python collect its garbage all the while."""

import subprocess
import sys

import pytest


@pytest.mark.long
@pytest.mark.slow
def test_benchmarks_and_fuzzing_collect_garbage() -> None:
    """A client that did not grew by 45 KB with each request: garbage of httpx refers to itself."""
    code = "import gc, benchmarks.hostile, tests.fuzz.targets; print(gc.isenabled())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
