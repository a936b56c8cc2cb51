"""Start the embedded Postgres again whenever its main process ends.

The main process itself recovers from the loss of any other process of the server. Its own end (`kill -9`, the kernel
that runs out of memory) is noticed here. The server returns on the port that it had, so that the URL that clients have
stays valid.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import psutil
import structlog

from app.errors.machine import MachineRefuses
from app.store.postmaster import Postmaster, works_in

_CHECKED_EVERY_S = 0.1
_PAUSES_S = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Before the first, second, … restart of a row; the last one before every further one."""
_STABLE_AFTER_S = 30.0
"""A server that ran for so long begins a new row of restarts."""
_ORPHANS_END_WITHIN_S = 1.0


@contextmanager
def supervised(postmaster: Postmaster, start: Callable[[], Postmaster]) -> Iterator[Event]:
    """Restart a server for as long as the context lasts; then stop the one that runs.

    Setting the event ends the restarts sooner.

    Parameters
    ----------
    start : starts another one over the same cluster, without waiting until it is ready.
    """
    is_over = Event()
    supervision = _Supervision(postmaster, start, is_over)
    thread = Thread(target=supervision.run, name="postgres", daemon=True)
    thread.start()
    try:
        yield is_over
    finally:
        is_over.set()
        thread.join()
        supervision.postmaster.stop()


class _Supervision:
    def __init__(self, postmaster: Postmaster, start: Callable[[], Postmaster], is_over: Event) -> None:
        self.postmaster = postmaster
        self._start, self._is_over = start, is_over

    def run(self) -> None:
        started, restarts = monotonic(), 0
        while not self._is_over.wait(_CHECKED_EVERY_S):
            if not self.postmaster.has_ended():
                continue
            if monotonic() - started >= _STABLE_AFTER_S:
                restarts = 0
            pause_s = _PAUSES_S[min(restarts, len(_PAUSES_S) - 1)]
            structlog.get_logger().error("postgres.ended", pid=self.postmaster.pid, restarted_after_s=pause_s)
            if self._is_over.wait(pause_s):
                return
            started, restarts = monotonic(), restarts + 1
            self._restart()

    def _restart(self) -> None:
        try:
            end_orphans(self.postmaster.cluster)
            self.postmaster = self._start()
        except (MachineRefuses, OSError) as failure:  # such as a full table of processes: the next try may succeed
            structlog.get_logger().error("postgres.not_restarted", detail=str(failure))
        else:
            structlog.get_logger().warning("postgres.restarted", pid=self.postmaster.pid)


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
