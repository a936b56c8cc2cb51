"""The answers of a slot to requests, by an application."""

import asyncio
import contextvars
import os
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import structlog
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message

from app import tracing
from app.api.http.memory import FreedMemory
from app.api.problems.documents import of_failure
from app.api.slots import scopes
from app.errors.requests import LimitExceeded
from app.services.plans.pipeline import PlanOutcome, receiving
from app.slots import process
from app.slots.in_place import IS_ALONE


def run(app: ASGIApp, connection: Connection, folder: Path, *, memory_mib: int) -> None:
    """Serve an application over a connection until the other end closes it; `memory_mib` as `process.run` has it.

    Parameters
    ----------
    folder : where long bodies are written, see `body_file`.
    """
    app = FreedMemory(app)
    IS_ALONE.set(True)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()

        def answer(head: bytes, body: bytes) -> tuple[dict[str, object], bytes]:
            # In a context of its own: else the next request would see whose page and team this one has set.
            # Not by `runner.run`, which replaces the handler of Ctrl-C each time: a tenth of a short answer.
            answering = loop.create_task(_answer(app, head, body), context=contextvars.copy_context())
            noted, content = loop.run_until_complete(answering)
            if len(content) <= process.BUFFERED_BYTES:  # a longer one is a file, so that no process has it in memory
                return noted | {"is_file": False}, content
            body_file(folder, os.getpid()).write_bytes(content)
            return noted | {"is_file": True}, b""

        process.run(answer, connection, memory_mib=memory_mib)


def body_file(folder: Path, pid: int) -> Path:
    """The file that has a long body of the process of an id, until its reader opens and unlinks it."""
    return folder / f"body-{pid}"


async def _answer(app: ASGIApp, head: bytes, content: bytes) -> tuple[dict[str, object], bytes]:
    """The head of the answer to a request, with facts for the parent's log and metrics; its body."""
    scope = scopes.read_scope(head)
    outcomes: list[PlanOutcome] = []
    received = iter([{"type": "http.request", "body": content, "more_body": False}])
    body, start = list[bytes](), dict[str, Any]()

    async def receive() -> Message:
        message = next(received, None)
        if message is None:  # the parent ends the process if the client disconnects
            await asyncio.Event().wait()
        return message or {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(scopes.start(message, scope))
        elif message["type"] == "http.response.body":
            body.append(message.get("body", b""))

    request_id = scope["state"]["request_id"]
    with (
        tracing.continued(scope["state"]["traceparent"]),
        tracing.span("slot"),
        structlog.contextvars.bound_contextvars(request_id=request_id, **tracing.log_fields()),
        receiving(outcomes.append),
    ):
        await app(scope, receive, send)
    return start | {"outcomes": [asdict(outcome) for outcome in outcomes]}, b"".join(body)


def answer_memory_errors(app: FastAPI, *, memory_mib: int) -> None:
    """Answer a request that reaches the limit on memory with a problem that names the limit."""

    @app.exception_handler(MemoryError)
    async def _(request: Request, _: MemoryError) -> Response:
        return of_failure(request, too_large(memory_mib))


def too_large(memory_mib: int) -> LimitExceeded:
    """A request needs more memory than a slot has."""
    return LimitExceeded(
        f"the request needs more memory than the limit of {memory_mib} MiB; ask for less at a time",
        limit_name="slot_memory_mib",
        limit=memory_mib,
    )
