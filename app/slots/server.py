"""The server process of `multiprocessing` from which slots are forked, and the folder of its socket.

It is an interpreter of its own, which imports the slots' shared modules once.
"""

import os
import tempfile
from contextlib import suppress
from functools import cache
from multiprocessing.util import Finalize, get_temp_dir
from pathlib import Path

import psutil

from app.slots.process import SERVER_NAME
from app.store.scratch import Scratch

_FOLDER = f"{SERVER_NAME}-"
_LAST = -200
_LONGEST_ADDRESS = 103
"""Bytes that a socket's path may have everywhere; on Linux it may have 107."""


@cache
def scratch() -> Scratch:
    """The folder of this process for the socket of the server process, and for long answers of slots.

    `multiprocessing` makes its folder where temporary files are, and the folder stays if the process is killed: below
    this one, the next start removes it.
    """
    folder = Scratch(_FOLDER, within=_parent())
    earlier, tempfile.tempdir = tempfile.tempdir, str(folder.path)
    try:
        get_temp_dir()
    finally:
        tempfile.tempdir = earlier
    Finalize(None, folder.remove, exitpriority=_LAST)  # after `multiprocessing` has removed its folder
    return folder


def _parent() -> str:
    """The system's folder for temporary files, or `/tmp` if the path of a socket below it would be too long."""
    longest = Path(tempfile.gettempdir(), f"{_FOLDER}12345678", "pymp-12345678", "listener-12345678")
    return "/tmp" if len(os.fsencode(longest)) > _LONGEST_ADDRESS else tempfile.gettempdir()  # noqa: S108 -- as mkdtemp names it


def remove_files() -> None:
    """Remove the files of the slots, before a process ends without Python's exit handlers."""
    if scratch.cache_info().currsize:
        scratch().remove()


def end_if_unreachable() -> None:
    """End the server process if its socket was removed, as by a cleaner of temporary files; the next slot starts one.

    The slots that it has forked end with it.
    """
    folder = Path(get_temp_dir())
    if any(folder.glob("listener-*")):
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if "multiprocessing.forkserver" in " ".join(child.cmdline()):
                child.kill()
