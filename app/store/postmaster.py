"""One Postgres server process over one cluster folder: find or start it, wait until it is ready, stop it."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.errors.machine import EmbeddedPostgresFailed
from app.store.accounts import Account
from app.store.server_programs import Programs

READY_WITHIN_S = 600.0
"""Recovery of a large write-ahead log takes minutes; giving up sooner would only interrupt it."""

# Fast shutdown writes a checkpoint, so it gets the time that a slow disk needs. The next two lose no committed row
# either, but the next start has to recover.
_STOP_SIGNALS = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class PidFile:
    """The contents of `postmaster.pid` of a running server."""

    pid: int
    port: int | None
    """None while the server is still writing the file."""
    ready: bool


class Postmaster:
    """A server process of one cluster.

    Parameters
    ----------
    cluster : the cluster folder, absolute.
    pid : the server process.
    child : the same process if this process started it; None if it was found running.
    """

    def __init__(self, cluster: Path, pid: int, child: subprocess.Popen[bytes] | None) -> None:
        self.cluster = cluster
        self.pid = pid
        self._child = child

    @property
    def was_running(self) -> bool:
        """Whether the server outlived the process that had started it."""
        return self._child is None

    def port_when_ready(self) -> int | None:
        """Wait until the server accepts connections and say on which port; None if it ended instead.

        Raises
        ------
        EmbeddedPostgresFailed : neither happened within `READY_WITHIN_S` seconds.
        """
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            # In this order: a server that ends between the two has removed its file.
            file = read_pid_file(self.cluster)
            if self.has_ended():
                return None
            if file is not None and file.pid == self.pid and file.ready:
                return file.port
            time.sleep(_POLL_S)
        detail = f"the server of {self.cluster} (pid {self.pid}) was not ready after {READY_WITHIN_S:g} s"
        raise EmbeddedPostgresFailed(detail, folder=str(self.cluster), pid=self.pid)

    def has_ended(self) -> bool:
        if self._child is not None:
            return self._child.poll() is not None
        return not works_in(self.pid, self.cluster)

    def stop(self) -> None:
        """Stop the server and wait: by a fast shutdown, by force only if that takes longer than a minute."""
        for number, patience_s in _STOP_SIGNALS:
            # The process is identified again each time: its number could have been reused meanwhile.
            if self.has_ended():
                return
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                continue
            deadline = time.monotonic() + patience_s
            while not self.has_ended() and time.monotonic() < deadline:
                time.sleep(_POLL_S)


def find(cluster: Path) -> Postmaster | None:
    """Find the server that runs over a cluster; the caller must hold the data folder's lock.

    A dead server's `postmaster.pid` is removed. Postgres copes with most of it, but not with an empty file
    after a power cut, nor with a number that now belongs to another process of the same user. Removing the file risks
    nothing: a server that is alive after all still owns the shared memory that is keyed by the folder, and a second
    one refuses to start over that.
    """
    file = serving(cluster)
    if file is not None:
        return Postmaster(cluster, file.pid, None)
    (cluster / "postmaster.pid").unlink(missing_ok=True)
    return None


def serving(cluster: Path) -> PidFile | None:
    """The pid file of the server that runs over a cluster; None if none runs. Changes nothing."""
    file = read_pid_file(cluster)
    return file if file is not None and works_in(file.pid, cluster) else None


def start(
    cluster: Path,
    *,
    account: Account,
    programs: Programs,
    settings: Mapping[str, str],
    log: Path,
    port: int | None = None,
) -> Postmaster:
    """Start a server over a cluster on a port of 127.0.0.1, or on a free one, without waiting until it is ready.

    Its output is appended to `log`. Another process may take the port first; the server then ends, and the caller
    tries again.

    Raises
    ------
    EmbeddedPostgresFailed : the program cannot be executed.
    """
    command: list[str | Path] = [programs.postgres, "-D", cluster]
    for name, value in {**settings, "listen_addresses": "127.0.0.1", "port": str(port or _free_port())}.items():
        command += ["-c", f"{name}={value}"]
    # Opened here and inherited, so that the log can be in the caller's folder, where the account may not write.
    with log.open("ab") as output:
        child = account.start(command, output=output)
    return Postmaster(cluster, child.pid, child)


def read_pid_file(cluster: Path) -> PidFile | None:
    """Read a cluster's `postmaster.pid`; None if it does not exist or names no process.

    Source: Postgres' `miscadmin.h`, LOCK_FILE_LINE_*: line 1 the process, line 4 the port, line 8 the state.
    """
    try:
        lines = (cluster / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return None
    if not lines or not lines[0].isdecimal():
        return None
    port = int(lines[3]) if len(lines) > 3 and lines[3].isdecimal() else None
    return PidFile(int(lines[0]), port, ready=port is not None and len(lines) > 7 and lines[7].strip() == "ready")


def works_in(pid: int, cluster: Path) -> bool:
    """Whether a process works in a cluster folder, as every process of a server does.

    A process that ended but was not reaped has no working directory any more, and a process of another user, which
    would not be this folder's server, does not show its folder.
    """
    try:
        return Path(psutil.Process(pid).cwd()).samefile(cluster)
    except (psutil.Error, OSError):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
