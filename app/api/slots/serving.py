"""The answers of a slot to requests: those of an application."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import structlog
from anyio import to_thread
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message

from app import tracing
from app.api.http.memory import FreedMemory
from app.api.problems.documents import of_failure
from app.api.slots import scopes
from app.errors.requests import LimitExceeded
from app.services.plans.outcomes import PlanOutcome, receiving
from app.slots import frames, process


def run(app: ASGIApp, connection: socket.socket, *, memory_mib: int) -> None:
    """Serve an application over a socket until the other end closes it; `memory_mib` as `process.run` has it."""
    # A thread keeps an event loop free for other requests, of which a process of a slot has none: dependencies and the
    # operation run in the loop, without some six changes of the thread a request.
    to_thread.run_sync = _without_thread  # type: ignore[assignment]
    process.run(partial(_answer, FreedMemory(app)), connection, memory_mib=memory_mib)


async def _completed(application: Awaitable[None]) -> None:
    await application


async def _without_thread(function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
    return function(*arguments)


async def _answer(app: ASGIApp, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> dict[str, object]:
    """Answer a request; return what the log and the metrics of the parent need to know."""
    scope = scopes.read_scope(head)
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
            frames.write(writer, frames.START, scopes.start(message, scope))
        elif message["type"] == "http.response.body":
            frames.write(writer, frames.CHUNK, bytes(message.get("body", b"")))
        await writer.drain()

    request_id = scope["state"]["request_id"]
    with (
        tracing.continued(scope["state"]["traceparent"]),
        tracing.span("slot"),
        structlog.contextvars.bound_contextvars(request_id=request_id, **tracing.log_fields()),
        receiving(outcomes.append),
    ):
        # A task has a context of its own: without one, the next request would see whose page and team this one set.
        await asyncio.create_task(_completed(app(scope, receive, send)))
    return {
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
