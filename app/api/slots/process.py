"""The process of a slot: serves requests from its socket, one at a time, until the socket is closed.

It has a limit on its memory, and ends by itself if a request has left it much larger than it was: freed memory that the
C library keeps returns to the system with the process.
"""

import asyncio
import gc
import os
import resource
import signal
import socket
import sys
from dataclasses import asdict

import orjson
import psutil
import structlog
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message

from app.api.http.memory import FreedMemory
from app.api.problems.documents import of_failure
from app.api.slots import frames
from app.api.slots.tied import tie_to_parent
from app.errors.requests import LimitExceeded
from app.services.plans.outcomes import PlanOutcome, receiving

_NICENESS = 5
"""The process that listens comes first."""
_GROWTH_BYTES = 256 * 2**20
"""Growth of the resident memory after which the process ends, instead of serving another request."""


def run(app: ASGIApp, connection: socket.socket, *, memory_mib: int) -> None:
    """Serve an application over a socket until the other end closes it.

    Parameters
    ----------
    memory_mib : memory that a request may allocate, in MiB, beyond what the process has at the start.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(_NICENESS)
    gc.freeze()
    tie_to_parent()  # a fork does not inherit it
    if sys.platform.startswith("linux"):
        data: int = psutil.Process().memory_info().data
        resource.setrlimit(resource.RLIMIT_DATA, (data + memory_mib * 2**20, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asyncio.run(_serve(FreedMemory(app), connection))


async def _serve(app: ASGIApp, connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    process = psutil.Process()
    at_start = process.memory_info().rss
    while True:
        try:
            _, head = await frames.read(reader)
            _, body = await frames.read(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        noted = await _answer(app, head, body, writer)
        del body
        is_last = process.memory_info().rss - at_start > _GROWTH_BYTES
        frames.write(writer, frames.END, orjson.dumps(noted | {"is_last": is_last}))
        await writer.drain()
        if is_last:
            return


async def _answer(app: ASGIApp, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> dict[str, object]:
    """Answer a request; return what the log and the metrics of the parent need to know."""
    scope = frames.read_scope(head)
    outcomes: list[PlanOutcome] = []
    received = iter([{"type": "http.request", "body": body, "more_body": False}])
    never = asyncio.Event()

    async def receive() -> Message:
        message = next(received, None)
        if message is None:  # the parent ends the process if the client disconnects
            await never.wait()
        return message or {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            frames.write(writer, frames.START, frames.start(message))
        elif message["type"] == "http.response.body":
            frames.write(writer, frames.CHUNK, bytes(message.get("body", b"")))
        await writer.drain()

    request_id = scope["state"]["request_id"]
    with structlog.contextvars.bound_contextvars(request_id=request_id), receiving(outcomes.append):
        await app(scope, receive, send)
    return {
        "route": getattr(scope.get("route"), "path", None),
        "failure_code": scope["state"].get("failure_code"),
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }


def answer_memory_errors(app: FastAPI, *, memory_mib: int) -> None:
    """Answer a request that reaches the limit on memory with a problem that names the limit."""

    @app.exception_handler(MemoryError)
    def _(request: Request, _: MemoryError) -> Response:
        return of_failure(request, too_large(memory_mib))


def too_large(memory_mib: int) -> LimitExceeded:
    """A request needs more memory than a slot has."""
    return LimitExceeded(
        f"the request needs more memory than the limit of {memory_mib} MiB; ask for less at a time",
        limit_name="slot_memory_mib",
        limit=memory_mib,
    )
