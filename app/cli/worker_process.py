"""The process of a worker, and its restarts for as long as the service runs."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from threading import Event, Thread

from app import logs
from app.cli import unprivileged
from app.settings import Settings
from app.store.supervision import restarted

_ENDS_WITHIN_S = 10.0
_RESTARTED_AFTER_S = (1.0, 2.0, 5.0, 15.0)
_STABLE_AFTER_S = 60.0
_MODULE = "app.worker"


@contextmanager
def running() -> Iterator[Event]:
    """Run a worker for as long as the context lasts; if one dies, another one takes over its jobs.

    Setting the event stops it sooner, without waiting for its end.
    """
    is_over = Event()
    watching = Thread(target=_restart_until, args=(is_over, _start()), name="worker")
    watching.start()
    try:
        yield is_over
    finally:
        is_over.set()
        watching.join()


def become(*, allow_root: bool) -> None:
    """Run a worker in this process until it is stopped, without root's rights.

    Parameters
    ----------
    allow_root : whether a worker that root starts remains root.
    """
    if os.getpid() != 1:  # which has no default action: the first process of a container
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    settings = Settings()
    logs.configure(settings.log_format, settings.log_level)
    unprivileged.drop(settings, allow_root=allow_root, with_data=False)
    # Not as `__main__`: slots look up functions that are sent to them by module name.
    import_module("app.worker").main()


def _restart_until(is_over: Event, worker: subprocess.Popen[bytes]) -> None:
    def end_of(worker: subprocess.Popen[bytes]) -> Mapping[str, int] | None:
        return None if (status := worker.poll()) is None else {"status": status}

    _end(
        restarted(
            "worker",
            worker,
            end_of,
            lambda _: _start(),
            is_over,
            pauses_s=_RESTARTED_AFTER_S,
            stable_after_s=_STABLE_AFTER_S,
        )
    )


def _start() -> subprocess.Popen[bytes]:
    # It ends with this process, however this one ends: it holds the other end of a pipe. And it has a session of its
    # own, so that Ctrl-C reaches it only through this process.
    return subprocess.Popen(  # noqa: S603 — our own module
        [sys.executable, "-m", _MODULE, "--until-stdin-closes"], stdin=subprocess.PIPE, start_new_session=True
    )


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    try:
        worker.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
