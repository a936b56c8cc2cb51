"""Run tests as `python -m pytest` does, and each test that failed once more, alone.

A test that fails twice has failed. A test that fails once is flaky: it is listed, and has to be mended before the
change that showed it is complete. Both outputs are printed. If more than `MOST` tests fail, chance is not the reason
and none is run again; the same holds for a run that was interrupted or could not start.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

MOST = 20
"""Failed tests that are run again: each starts a process, which takes some 10 s."""


def main(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments; the exit code is 0 if each test passed at its first or second run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", *arguments, "-o", f"cache_dir={folder}"]
        code = subprocess.run(command, check=False).returncode
        record = Path(folder, "v", "cache", "lastfailed")
        failed = [*json.loads(record.read_text(encoding="utf-8"))] if record.exists() else []
        if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= MOST:
            return code
        _say(f"{len(failed)} tests failed; each is run once more, alone")
        alone = [*command, "--last-failed", "--numprocesses", "0", "--dist", "no"]
        again = {}
        for test in failed:
            record.write_text(json.dumps({test: True}), encoding="utf-8")
            again[test] = subprocess.run(alone, check=False).returncode
    _say("first and second run of each test that failed:")
    for test, second in again.items():
        _say(f"  failed, passed: flaky: {test}" if second == 0 else f"  failed, failed: {test}")
    return max(again.values())


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # before the next process writes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
