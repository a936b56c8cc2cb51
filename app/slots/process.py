"""The process of a slot: answers what its socket brings, one at a time, until the socket is closed.

It has a limit on its memory, and ends by itself if an answer has left it much larger than it was: freed memory that the
C library keeps returns to the system with the process.
"""

import asyncio
import faulthandler
import gc
import resource
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import orjson
import psutil

from app import tracing
from app.slots import frames
from app.slots.parent import tie_to_parent

_GROWTH_BYTES = 256 * 2**20
"""Growth of the resident memory after which the process ends, instead of answering again."""

Answer: TypeAlias = Callable[[bytes, bytes, asyncio.StreamWriter], Awaitable[dict[str, object]]]
"""Answers a head and a body with frames on the writer; what it returns is the content of the last frame, as JSON."""


def run(answer: Answer, connection: socket.socket, *, memory_mib: int) -> None:
    """Answer what comes over a socket until the other end closes it.

    Parameters
    ----------
    memory_mib : memory that an answer may allocate, in MiB, beyond what the process has at the start.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    faulthandler.enable()  # a crash leaves the stack of Python on standard error
    gc.freeze()
    gc.enable()  # the process that was forked has collected nothing while it imported
    tie_to_parent()  # a fork does not inherit it
    if sys.platform.startswith("linux"):
        data: int = psutil.Process().memory_info().data
        resource.setrlimit(resource.RLIMIT_DATA, (data + memory_mib * 2**20, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asyncio.run(_serve(answer, connection))


async def _serve(answer: Answer, connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    process = psutil.Process()
    at_start = process.memory_info().rss
    while True:
        try:
            _, head = await frames.read(reader)
            _, body = await frames.read(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        noted = await answer(head, body, writer)
        del body
        is_last = process.memory_info().rss - at_start > _GROWTH_BYTES
        frames.write(writer, frames.END, orjson.dumps(noted | {"is_last": is_last}))
        await writer.drain()
        if is_last:
            tracing.flush()
            return
