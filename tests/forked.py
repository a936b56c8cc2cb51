"""Processes of the application that are forked from one that has imported it.

An interpreter that imports the worker or the service takes two seconds of CPU to do so; the suite starts some thirty of
them. A fork is a process like any other: it has an environment, signals and an end of its own, and can be killed.
What reads the environment while Python or a library starts, such as PYTHONHASHSEED, needs a new interpreter instead.
"""

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.context import ForkServerContext
from pathlib import Path

from tests.conftest import ROOT

_CONTEXT: ForkServerContext = multiprocessing.get_context("forkserver")
PRELOADED = ("app.worker", "app.main", "app.cli.serving")
"""What the process imports from which others are forked; there is one for all of a test's process."""
_CONTEXT.set_forkserver_preload(list(PRELOADED))


class Forked:
    """A process that runs; what `subprocess.Popen` offers of it."""

    def __init__(self, code: str, arguments: Sequence[str], environment: Mapping[str, str], out: Path, err: Path):
        # No daemon of `multiprocessing`: the service starts processes of its own. Fixtures end what they start.
        self._process = _CONTEXT.Process(target=_run, args=(code, [*arguments], dict(environment), out, err))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """The exit code, if it has ended: -9 if it was killed."""
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        """The exit code, once it has ended."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutError(f"process {self.pid} has not ended within {timeout:g} s")
        return self._process.exitcode

    def terminate(self) -> None:
        """Send it SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """Send it SIGKILL."""
        self._process.kill()


def start(
    code: str, *, arguments: Sequence[str] = (), environment: Mapping[str, str], out: Path, err: Path | None = None
) -> Forked:
    """Start a process that runs code, in the repository.

    Parameters
    ----------
    arguments : the command line that the code finds, as `sys.argv` has it.
    environment : all of its variables.
    out, err : the files that it prints to.
    """
    return Forked(code, arguments, environment, out, err or out)


def _run(code: str, arguments: list[str], environment: dict[str, str], out: Path, err: Path) -> None:
    for path, descriptor in ((out, 1), (err, 2)):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    sys.argv = arguments
    exec(code, {"__name__": "__main__"})  # noqa: S102 -- written in the tests
