"""Restart a process whenever it ends: the embedded Postgres, and the worker beside the service.

The main process of Postgres itself recovers from the loss of any other process of the server. Its own end (`kill -9`,
the kernel that runs out of memory) is noticed here. The server returns on the port that it had, so that the URL that
clients have stays valid.
"""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TypeVar

import psutil
import structlog

from app.errors.machine import MachineRefuses
from app.store.postmaster import Postmaster, works_in

RunningT = TypeVar("RunningT")
_CHECKED_EVERY_S = 0.1
_PAUSES_S = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_STABLE_AFTER_S = 30.0
_ORPHANS_END_WITHIN_S = 1.0


def restarted(
    name: str,
    running: RunningT,
    end_of: Callable[[RunningT], Mapping[str, int] | None],
    restart: Callable[[RunningT], RunningT],
    is_over: Event,
    *,
    pauses_s: Sequence[float] = _PAUSES_S,
    stable_after_s: float = _STABLE_AFTER_S,
) -> RunningT:
    """Restart something whenever it has ended, until the event is set. Returns the last one.

    Parameters
    ----------
    end_of : facts for the log about one that has ended; None if it runs.
    restart : returns the next one, or the same one if it cannot be started.
    pauses_s : before the first, second, … restart of a row; the last one before every further one.
    stable_after_s : one that ran for so long begins a new row.
    """
    started, restarts = monotonic(), 0
    while not is_over.wait(_CHECKED_EVERY_S):
        if (facts := end_of(running)) is not None:
            restarts = 0 if monotonic() - started >= stable_after_s else restarts
            pause_s = pauses_s[min(restarts, len(pauses_s) - 1)]
            structlog.get_logger().error(f"{name}.ended", restarted_after_s=pause_s, **facts)
            if is_over.wait(pause_s):
                break
            started, restarts = monotonic(), restarts + 1
            running = restart(running)
    return running


@contextmanager
def supervised(postmaster: Postmaster, start: Callable[[], Postmaster]) -> Iterator[Event]:
    """Restart a server for as long as the context lasts; then stop the one that runs.

    Setting the event ends the restarts sooner.

    Parameters
    ----------
    start : starts another one over the same cluster, without waiting until it is ready.
    """
    is_over, latest = Event(), [postmaster]

    def end_of(server: Postmaster) -> Mapping[str, int] | None:
        return {"pid": server.pid} if server.has_ended() else None

    def restart(server: Postmaster) -> Postmaster:
        try:
            end_orphans(server.cluster)
            latest[0] = start()
        except (MachineRefuses, OSError) as failure:  # such as a full table of processes: the next try may succeed
            structlog.get_logger().error("postgres.not_restarted", detail=str(failure))
        else:
            structlog.get_logger().warning("postgres.restarted", pid=latest[0].pid)
        return latest[0]

    thread = Thread(
        target=restarted, args=("postgres", postmaster, end_of, restart, is_over), name="postgres", daemon=True
    )
    thread.start()
    try:
        yield is_over
    finally:
        is_over.set()
        thread.join()
        latest[0].stop()


def end_orphans(cluster: Path) -> None:
    """End the remaining processes of a server whose main process has ended; nothing else may run over the cluster.

    A process that serves a client notices the end of the main process when it next waits, and a long statement does
    not wait. The next server does not start before. SIGQUIT ends each as a crash does: commits are in the log.
    """
    orphans = [process for process in psutil.process_iter() if works_in(process.pid, cluster)]
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for orphan in orphans:
            with suppress(psutil.NoSuchProcess):
                orphan.send_signal(number)
        _, orphans = psutil.wait_procs(orphans, timeout=_ORPHANS_END_WITHIN_S)
        if not orphans:
            return
