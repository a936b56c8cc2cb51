"""The process of a worker: its account, its environment, and its restarts.

The worker of an ordinary user runs as that user. Root's worker, its JVM and the processes of Spark run as `nobody`, the
account of root's Postgres: datasets and requests are not trusted, and a defect in the code that reads them must not
get root's rights. The process has no capabilities, cannot gain any, and inherits only the variables that
`worker_account` lists.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import structlog

from app import logs
from app.cli import worker_account
from app.settings import Settings
from app.store import accounts
from app.store.accounts import SHELTER

_ENDS_WITHIN_S = 10.0
_CHECKED_EVERY_S = 0.2
_RESTARTED_AFTER_S = (1.0, 2.0, 5.0, 15.0)
"""The pauses before the first, second, … restart of a row; the last one before every further one."""
_STABLE_AFTER_S = 60.0
"""A worker that ran for so long begins a new row of restarts."""
_MODULE = "app.worker"


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that can be started any number of times.

    Parameters
    ----------
    account : what root's worker needs to run as `nobody`; None if the worker runs as its starter.
    """

    account: worker_account.Preparation | None

    @contextmanager
    def running(self) -> Iterator[Event]:
        """Run a worker for as long as the context lasts; if one dies, another one takes over its jobs.

        Setting the event stops it sooner, without waiting for its end.
        """
        is_over = Event()
        watching = Thread(target=self._restart_until, args=(is_over, self._start()), name="worker")
        watching.start()
        try:
            yield is_over
        finally:
            is_over.set()
            watching.join()

    def command(self, *options: str) -> list[str]:
        """The command that runs a worker, as root executes it if it is root's."""
        if self.account is None:
            return [sys.executable, "-m", _MODULE, *options]
        # -P: the working directory, which others may write to, is no place for modules.
        return self.account.confinement.command([sys.executable, "-P", "-m", _MODULE, *options])

    def environment(self) -> Mapping[str, str]:
        """The environment of a worker that is started now."""
        return os.environ if self.account is None else self.account.environment(os.environ)

    def _restart_until(self, is_over: Event, worker: subprocess.Popen[bytes]) -> None:
        started, restarts = monotonic(), 0
        while True:
            while worker.poll() is None and not is_over.wait(_CHECKED_EVERY_S):
                pass
            if is_over.is_set():
                _end(worker)
                return
            if monotonic() - started >= _STABLE_AFTER_S:
                restarts = 0
            pause_s = _RESTARTED_AFTER_S[min(restarts, len(_RESTARTED_AFTER_S) - 1)]
            structlog.get_logger().warning("worker.died", status=worker.returncode, restarted_after_s=pause_s)
            if is_over.wait(pause_s):
                return
            started, restarts = monotonic(), restarts + 1
            worker = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        # It ends with this process, however this one ends: it holds the other end of a pipe. And it has a session of
        # its own, so that Ctrl-C reaches it only through this process.
        inherited: Sequence[int] = () if self.account is None else (self.account.lock,)
        return subprocess.Popen(  # noqa: S603 — our own module
            self.command("--until-stdin-closes"),
            stdin=subprocess.PIPE,
            env=self.environment(),
            pass_fds=inherited,
            start_new_session=True,
        )


def prepare(settings: Settings, *, allow_root: bool, shelter: Path = SHELTER) -> Worker:
    """Choose the account of the worker, and create what that account needs.

    Parameters
    ----------
    allow_root : whether root's worker may run as root, which is logged as a warning.
    shelter : where root's worker has its folder.

    Raises
    ------
    WorkerNotConfinable : root's worker cannot reach what it needs as `nobody`.
    AccountUnusable : root has no account `nobody`, or cannot become it.
    """
    if os.geteuid() != 0:
        return Worker(account=None)
    if allow_root:
        structlog.get_logger().warning("worker.runs_as_root", reason="--allow-root")
        return Worker(account=None)
    return Worker(account=worker_account.prepare(settings, account=accounts.current(), shelter=shelter))


def become(*, allow_root: bool) -> None:
    """Run a worker in this process until it is stopped; the account of the process may change.

    Raises what `prepare` does.
    """
    # Ctrl-C ends this process at once. Its exception is lost at the moment of `execve`, and the worker would run on.
    if os.getpid() != 1:  # which has no default action: the first process of a container
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    settings = Settings()
    logs.configure(settings.log_format, settings.log_level)
    worker = prepare(settings, allow_root=allow_root)
    if worker.account is None:
        # Not as `__main__`: what is sent to the processes of slots is looked up by the name of its module.
        import_module("app.worker").main()
        return
    os.set_inheritable(worker.account.lock, True)
    command = worker.command()
    logs.flush()
    os.execve(command[0], command, dict(worker.environment()))  # noqa: S606 — our own module, and no shell


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    try:
        worker.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
