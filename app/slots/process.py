"""The process of a slot: answers the calls of its connection, one at a time, until the connection is closed.

It has a limit on its memory, and ends by itself if an answer has left it much larger than it was: freed memory that the
C library keeps returns to the system with the process. On Linux the system kills it when its parent ends, however that
ends; elsewhere it ends when it reads that its connection is closed.
"""

import ctypes
import faulthandler
import gc
import resource
import signal
import struct
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TypeAlias

import orjson
import psutil

from app import tracing

SERVER_NAME = "rackplan-slots"
"""The name of the process from which slots are forked, and of the slots."""
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_NAME = 15  # PR_SET_NAME
_GROWTH_BYTES = 256 * 2**20
"""Growth of the resident memory after which the process ends, instead of answering again."""

BUFFERED_BYTES = 64 * 1024
"""Largest body that crosses with its head in one message, which the buffer of a connection holds as a whole."""
_BEGINNING = struct.Struct(">?I")
"""Of a message: whether it has the body as well, and the bytes of the head."""

Answer: TypeAlias = Callable[[bytes, bytes], tuple[dict[str, object], bytes]]
"""Answers a head and a body with a head, which crosses as JSON, and a body."""


def tie_to_parent() -> None:
    """Let the system kill this process when the thread that started it ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


def name_process(name: str) -> None:
    """Name this process as `ps -o comm` and `top` show it: at most 15 characters."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_NAME, name.encode())


def send(connection: Connection, head: bytes, body: bytes) -> None:
    """Send a call or an answer: a head and a body."""
    is_whole = len(body) <= BUFFERED_BYTES
    connection.send_bytes(_BEGINNING.pack(is_whole, len(head)) + head + (body if is_whole else b""))
    if not is_whole:
        connection.send_bytes(body)


def receive(connection: Connection) -> tuple[bytes, bytes]:
    """The head and the body that `send` has sent."""
    message = connection.recv_bytes()
    is_whole, length = _BEGINNING.unpack_from(message)
    end = _BEGINNING.size + length
    return message[_BEGINNING.size : end], message[end:] if is_whole else connection.recv_bytes()


def run(answer: Answer, connection: Connection, *, memory_mib: int) -> None:
    """Answer the calls over a connection until the other end closes it.

    Parameters
    ----------
    memory_mib : memory that an answer may allocate, in MiB, beyond the process's own at the start.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.enable()  # a crash leaves the stack of Python on standard error
    gc.freeze()
    gc.enable()  # the process that was forked has collected nothing while it imported
    tie_to_parent()  # a fork does not inherit it
    process = psutil.Process()
    if sys.platform.startswith("linux"):
        data: int = process.memory_info().data
        resource.setrlimit(resource.RLIMIT_DATA, (data + memory_mib * 2**20, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    at_start, is_last = process.memory_info().rss, False
    while not is_last:
        try:
            head, body = receive(connection)
        except (EOFError, OSError):
            return
        noted, content = answer(head, body)
        del body
        # To read the largest size takes 1 µs, the present one 20. It is in KiB, but in bytes on macOS.
        may_have_grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - at_start > _GROWTH_BYTES
        is_last = may_have_grown and process.memory_info().rss - at_start > _GROWTH_BYTES
        send(connection, orjson.dumps(noted | {"is_last": is_last}), content)
    tracing.flush()
