"""The server process from which slots are forked: that of `multiprocessing`, as a fork of the process that uses it.

`multiprocessing` starts an interpreter of its own, which imports everything anew. A fork shares what has been imported
here, and imports the rest when the first slot is started. If it is killed, the next slot starts one in the ordinary way
(`docs/decisions/0035-slots-fork-from-the-service.md`).
"""

import atexit
import gc
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from multiprocessing import connection, current_process, forkserver
from pathlib import Path
from typing import NoReturn

from app.slots.parent import name_process, tie_to_parent
from app.store.scratch import Scratch

_NAME = "rackplan-slots"
_FOLDER = f"{_NAME}-"
_LONGEST_ADDRESS = 103
"""Bytes that a socket's path may have everywhere; on Linux it may have 107."""


@cache
def scratch() -> Scratch:
    """The folder of this process for the socket of the server process.

    `multiprocessing` makes one that stays if the process is killed, and removes any when the process ends.
    """
    folder = Scratch(_FOLDER, within=_parent())
    current_process()._config["tempdir"] = str(folder.path)  # type: ignore[attr-defined] # noqa: SLF001 -- there is no other way
    atexit.register(folder.remove)
    return folder


def _parent() -> str:
    """The system's folder for temporary files, or `/tmp` if the path of a socket below it would be too long."""
    longest = Path(tempfile.gettempdir(), f"{_FOLDER}12345678", "listener-12345678")
    return "/tmp" if len(os.fsencode(longest)) > _LONGEST_ADDRESS else tempfile.gettempdir()  # noqa: S108 -- as mkdtemp names it


def remove_files() -> None:
    """Remove the files of the slots, before a process ends without what Python does at its end."""
    if scratch.cache_info().currsize:
        scratch().remove()


def end_if_unreachable() -> None:
    """End the server process if its socket was removed, as by a cleaner of temporary files; the next slot starts one.

    The slots that it has forked end with it.
    """
    registered = vars(forkserver._forkserver)  # noqa: SLF001 -- there is no other way
    address, pid = registered["_forkserver_address"], registered["_forkserver_pid"]
    if pid is not None and not Path(address).exists():
        scratch().path.mkdir(mode=0o700, exist_ok=True)
        os.kill(pid, signal.SIGKILL)


def fork(preloaded: Sequence[str]) -> None:
    """Fork the server process from this one, which has no other thread, no connection and no running event loop.

    Parameters
    ----------
    preloaded : modules that it imports when the first slot is started.
    """
    if sys.version_info >= (3, 14):  # whose server has a key that only it can set
        return
    scratch()
    with socket.socket(socket.AF_UNIX) as listener:
        address = connection.arbitrary_address("AF_UNIX")  # type: ignore[attr-defined] # as `multiprocessing` names it
        listener.bind(address)
        Path(address).chmod(0o600)
        listener.listen()
        is_ended, is_alive = os.pipe()
        pid = os.fork()
        if not pid:
            _serve(listener, is_ended, preloaded)
        os.close(is_ended)
    registered = {"_forkserver_address": address, "_forkserver_alive_fd": is_alive, "_forkserver_pid": pid}
    vars(forkserver._forkserver).update(registered)  # noqa: SLF001 -- there is no other way


def _serve(listener: socket.socket, is_ended: int, preloaded: Sequence[str]) -> NoReturn:
    """Be the server process until the one that forked it has ended."""
    try:
        tie_to_parent()
        name_process(_NAME)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as after `nohup`
                signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _close_others(listener.fileno(), is_ended)
        # Until the first slot is started, the processor belongs to the start of the service.
        select.select([listener.fileno(), is_ended], [], [])
        gc.disable()  # what imports create stays
        forkserver.main(listener.detach(), is_ended, list(preloaded))
    except SystemExit:
        os._exit(0)
    except BaseException:  # noqa: BLE001 -- it is printed as an interpreter prints it before it ends
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(1)


def _close_others(*needed_descriptors: int) -> None:
    """Close what belongs to the process that was forked, such as the lock of its data folder."""
    first = 3
    for descriptor in (*sorted(needed_descriptors), os.sysconf("SC_OPEN_MAX")):
        os.closerange(first, descriptor)
        first = descriptor + 1
