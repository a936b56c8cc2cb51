"""Temporary folders that the next process removes if this one is killed.

Each folder has a lock that its process holds for as long as it runs, however it ends. The process that makes the next
folder of the same name removes those without one. A process id would prove less: containers share folders, not ids.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_LOCK = "lock"


class Scratch:
    """A new folder, `<prefix>…`, after those that others have left.

    Parameters
    ----------
    within : the parent of the folder; None for the system's temporary folder.
    """

    def __init__(self, prefix: str, *, within: str | None = None) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
            # Not inherited by child processes: the lock ends with this process alone.
            self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            if self.path.exists():
                break
            os.close(self._lock)  # another start removed it, which had the lock first
        for other in self.path.parent.glob(f"{prefix}*"):
            _remove_if_left(other)

    def remove(self) -> None:
        """Remove the folder and its content."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _remove_if_left(folder: Path) -> None:
    """Remove a folder of this account whose process has ended."""
    with suppress(OSError):  # of another account; or its own process, or another start, removes it now
        if folder.stat().st_uid != os.geteuid():
            return
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
