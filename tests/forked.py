"""Processes of the application that are forked from one that has imported it.

An interpreter that imports the worker or the service takes two seconds of CPU to do so, and a command half a second to
one; the suite starts some eighty of them. A fork is a process like any other: it has an environment, signals and an
end of its own, and can be killed. Code that reads the environment when Python or a library starts, as PYTHONHASHSEED,
PYTHONPATH or a setting of numba, needs a new interpreter instead, and so do tests of imports.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing.context import ForkServerContext
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_COMMAND = "from app.cli import main; main()"
_CONTEXT: ForkServerContext = multiprocessing.get_context("forkserver")
PRELOADED = ("tests.forked", "app.worker", "app.main", "app.cli.serving", "app.cli.checking", "app.cli.service")
"""Imports of the process from which others are forked; there is one for all of a test's process."""
_CONTEXT.set_forkserver_preload(list(PRELOADED))
_STARTS_WITHIN_S = 20.0


class Forked:
    """A running process, with part of the interface of `subprocess.Popen`."""

    def __init__(
        self, code: str, arguments: Sequence[str], environment: Mapping[str, str], files: tuple[Path, ...], cwd: Path
    ) -> None:
        ends = time.monotonic() + _STARTS_WITHIN_S
        while True:
            # No daemon of `multiprocessing`: the service starts processes of its own. Fixtures end their processes.
            self._process = _CONTEXT.Process(target=_run, args=(code, [*arguments], dict(environment), files, cwd))
            try:
                self._process.start()
            except (EOFError, ConnectionError):
                # A service with slots that was served in this process has ended the server with the thread that started
                # it; another one is started as soon as the system has done so.
                assert time.monotonic() < ends, "no process can be started"
                time.sleep(0.05)
            else:
                break
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

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send it SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """Send it SIGKILL."""
        self._process.kill()


def start(
    code: str = _COMMAND,
    *,
    arguments: Sequence[str] = ("rackplan",),
    environment: Mapping[str, str],
    out: Path,
    err: Path | None = None,
    given: Path = Path(os.devnull),
    cwd: Path = _ROOT,
) -> Forked:
    """Start a process that runs code, with a process group of its own.

    Parameters
    ----------
    code : the code to run; `rackplan` by default.
    arguments : the command line that the code finds, as `sys.argv` has it.
    environment : all of its variables.
    out, err : the files that it prints to.
    given : the file that is its standard input.
    """
    return Forked(code, arguments, environment, (given, out, err or out), cwd)


def run(
    *arguments: str, environment: Mapping[str, str] | None = None, given: bytes = b"", timeout: float = 90
) -> "subprocess.CompletedProcess[bytes]":
    """`rackplan` run to its end, as `subprocess.run` does it, with the environment of this process by default."""
    with tempfile.TemporaryDirectory(prefix="rackplan-command-") as folder:
        given_file, out, err = (Path(folder, name) for name in ("given", "out", "err"))
        given_file.write_bytes(given)
        process = start(
            arguments=["rackplan", *arguments],
            environment=os.environ if environment is None else environment,
            out=out,
            err=err,
            given=given_file,
        )
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        return subprocess.CompletedProcess(arguments, code, out.read_bytes(), err.read_bytes())


def _run(code: str, arguments: list[str], environment: dict[str, str], files: tuple[Path, ...], cwd: Path) -> None:
    os.setsid()  # as a shell's foreground job has it: a Ctrl-C goes to all of the group
    for descriptor, path in enumerate(files):
        opened = os.open(path, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 -- multiprocessing has closed its own
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = arguments
    exec(code, {"__name__": "__main__"})  # noqa: S102 -- written in the tests
