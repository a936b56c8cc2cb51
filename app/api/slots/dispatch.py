"""The middleware that passes requests to slots: body, queue, process, response, each within the deadline.

Bytes that the process which listens holds for clients: bodies of requests for slots, and responses of slots.

A slot is free once it has answered, however slowly the client reads: what clients have not read is bounded here.
"""

import asyncio
import math
import os
import signal
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, BinaryIO, TypeAlias, TypeVar

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.audit import caller_of, note_untouched
from app.api.http.following import parsed
from app.api.http.metrics import count_stopped_slot
from app.api.http.pieces import PIECE_BYTES
from app.api.problems.documents import of_failure
from app.api.slots import scopes
from app.api.slots.serving import body_file, too_large
from app.api.slots.sizes import GZIP, PLAN_PATHS, SMALL_BYTES, is_small, work_of
from app.errors import Failure
from app.errors.access import ProcessLost, ServiceBusy
from app.errors.requests import LimitExceeded
from app.services.limits import Limits
from app.services.plans.pipeline import PlanOutcome, report
from app.slots import server
from app.slots.pool import UNKNOWN_EXIT_CODE, Lane, Pool, Slot, SlotEnded

MOST_BYTES = 256 * 2**20
"""Bytes of bodies that are received or sent at the same time."""


class Buffers:
    """The buffers of all requests. Belongs to one event loop."""

    def __init__(self) -> None:
        self._held = 0
        # Those that may be ended, by what ends them, the oldest first.
        self._endings: dict[Buffer, Callable[[], object]] = {}

    def of_request(self) -> "Buffer":
        """A buffer without bytes."""
        return Buffer(self)

    def change(self, count: int) -> None:
        """Add bytes, or subtract them if `count` is negative.

        If they are too many, requests of which the clients have yet to read the response are ended, the oldest first.
        Raises `ServiceBusy` if there are none.
        """
        while count > 0 and self._held + count > MOST_BYTES and self._endings:
            self._end(next(iter(self._endings)))
        if count > 0 and self._held + count > MOST_BYTES:
            detail = f"bodies of {self._held} bytes are being received or sent; the limit is {MOST_BYTES}; try again"
            raise ServiceBusy(detail, limit=MOST_BYTES)
        self._held += count

    def may_end(self, buffer: "Buffer", end: Callable[[], object] | None) -> None:
        """Note how the request of a buffer is ended if its bytes are needed; None if it may not be."""
        if end is None:
            self._endings.pop(buffer, None)
        else:
            self._endings[buffer] = end

    def _end(self, buffer: "Buffer") -> None:
        end = self._endings[buffer]
        structlog.get_logger().warning("response.dropped", bytes=buffer.held)
        buffer.release_all()
        end()


class Buffer:
    """The bytes that are held for one request."""

    def __init__(self, all_buffers: Buffers) -> None:
        self._all = all_buffers
        self.held = 0

    def hold(self, count: int) -> None:
        """Hold more bytes. Raises `ServiceBusy` if too many are held for all requests."""
        self._all.change(count)
        self.held += count

    def release(self, count: int) -> None:
        """Release bytes, unless all were released before."""
        count = min(count, self.held)
        self._all.change(-count)
        self.held -= count

    def release_all(self) -> None:
        """Release what is left: nothing needs it."""
        self.release(self.held)
        self._all.may_end(self, None)

    def end_on_demand(self, end: Callable[[], object]) -> None:
        """Let `end` be called, after which nothing needs the bytes, if others need the memory."""
        self._all.may_end(self, end)


SOLVERS, READERS = "solvers", "readers"
"""The lanes: requests that plan, check or store, and requests that read."""
_READING = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_SMALL_BODY = 16 * 1024
"""Bytes of a request that waits for its job, which is served in this process; a larger one is answered at once."""
_DRAINED_WITHIN_S = 0.5
Content: TypeAlias = bytes | BinaryIO
"""The body of a response; a long one is a file that has no name any more."""
ResultT = TypeVar("ResultT")
_MOST_HELD = MOST_BYTES // 2
"""Bytes of the longest response that counts as a whole."""
_FOLLOWED = ("/v1/jobs/", "/v1/sweeps")
"""Beginnings of the paths of what is followed to its end with `Prefer: wait`."""


class SlotCrashed(Exception):
    """The process that was to answer has crashed: a defect, which its standard error may tell more about."""


class SlotDispatch:
    """Serve requests in slots, besides those of little work: health checks, files, streams of events, small plans.

    Parameters
    ----------
    pool : if None, and until its processes have been started, every request is served in this process.
    own_paths : beginnings of the paths that this process serves itself.
    is_compiling : whether loops are being compiled, which a request may have to wait for: then there is no deadline.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        pool: Pool | None,
        limits: Limits,
        own_paths: Collection[str],
        is_compiling: Callable[[], bool],
    ) -> None:
        self._app, self._pool, self._limits = app, pool, limits
        self._own_paths = tuple(own_paths)
        self._is_compiling = is_compiling
        self._buffers = Buffers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._pool is None or not self._pool.is_ready or scope["type"] != "http" or self._is_own(scope):
            await self._app(scope, receive, send)
            return
        if scope["method"] == "POST" and _length(scope) <= SMALL_BYTES:
            messages = await _received(receive)
            receive = _replayed(messages, receive)
            if is_small("POST", scope["path"], b"".join(message.get("body", b"") for message in messages)):
                await self._app(scope, receive, send)
                return
        lane = self._pool.lanes[READERS if scope["method"] in _READING else SOLVERS]
        exchange = _Exchange(self, lane, self._buffers.of_request(), scope, receive, send)
        try:
            await exchange.run()
        except ClientDisconnect:
            return
        except Failure as failure:
            if exchange.has_started:
                raise
            if not exchange.is_in_slot:
                note_untouched(scope)
            await of_failure(Request(scope), failure)(scope, receive, send)

    def _is_own(self, scope: Scope) -> bool:
        path: str = scope["path"]
        if path.startswith(self._own_paths) or path.endswith("/events"):
            return True
        headers = Headers(scope=scope)
        preferences = parsed(", ".join(headers.getlist("prefer")), longest_wait_s=1)
        if preferences.wait_s is None:
            return False
        # Other operations ignore the preference. What computes would have neither a deadline nor a limit here.
        if not path.startswith(_FOLLOWED) and not (path in PLAN_PATHS and preferences.respond_async):
            return False
        if _length(scope) <= _SMALL_BODY:
            return True
        _without_wait(scope)
        return False

    @property
    def limits(self) -> Limits:
        """The limits of the service."""
        return self._limits

    @property
    def deadline_s(self) -> float | None:
        """The longest time of a request that begins now; None if it has none."""
        return None if self._is_compiling() else self._limits.deadline_seconds


class _Exchange:
    """One request in a slot. The slot is free again once it has answered, however slowly the client reads."""

    def __init__(
        self, dispatch: SlotDispatch, lane: Lane, buffer: Buffer, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._dispatch, self._lane, self._buffer = dispatch, lane, buffer
        self._scope, self._receive, self._send = scope, receive, send
        self.has_started = False
        self.is_in_slot = False

    async def run(self) -> None:
        """Answer the request. Raises the `Failure` that is the answer, and `ClientDisconnect` if the client leaves."""
        try:
            self._lane.admission.check(caller_of(self._scope))
            body = await self._body()
            leaving = asyncio.create_task(self._disconnected())
            try:
                head, content = await self._slots_answer(body, leaving)
                del body
                sending = asyncio.create_task(self._sent(head, content))
                self._buffer.end_on_demand(sending.cancel)
                await _until_left(sending, leaving)
            finally:
                leaving.cancel()
        finally:
            self._buffer.release_all()

    async def _slots_answer(self, body: bytes, leaving: "asyncio.Task[None]") -> tuple[dict[str, Any], Content]:
        answering = asyncio.create_task(self._answered(body))
        try:
            return await _until_left(answering, leaving)
        except ClientDisconnect:
            if self.is_in_slot and not answering.done():
                count_stopped_slot("client")
            raise

    async def _body(self) -> bytes:
        """The body. Raises `ClientDisconnect` if the client leaves."""
        pieces = []
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            pieces.append(message.get("body", b""))
            self._buffer.hold(len(pieces[-1]))
            if not message.get("more_body"):
                return b"".join(pieces)

    async def _disconnected(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _answered(self, body: bytes) -> "tuple[dict[str, Any], Content]":
        """The answer of a slot: its head, and its body or the file of it."""
        deadline_s = self._dispatch.deadline_s
        measuring = partial(work_of, self._scope["method"], self._scope["path"], body)
        work = await asyncio.to_thread(measuring) if GZIP in body else measuring()
        try:
            async with asyncio.timeout(deadline_s), self._lane.slot(work, caller_of(self._scope)) as slot:
                self.is_in_slot = True
                return await self._in_slot(slot, body)
        except TimeoutError:
            if not self.is_in_slot:
                raise ServiceBusy(f"no slot became free within {deadline_s} s; try again", limit=deadline_s) from None
            count_stopped_slot("deadline")
            raise self._too_slow() from None

    async def _in_slot(self, slot: Slot, body: bytes) -> "tuple[dict[str, Any], Content]":
        file = body_file(server.scratch().path, slot.process.pid or 0)
        try:
            head, content = await slot.call(scopes.written_scope(self._scope), body)
            return head, file.open("rb") if head["is_file"] else content
        except SlotEnded:
            raise await self._unfinished(slot) from None
        finally:
            file.unlink(missing_ok=True)

    async def _sent(self, head: dict[str, Any], content: Content) -> None:
        """Send the answer. Each step returns once the client has read nearly all of it (`pieces.py`)."""
        for outcome in head["outcomes"]:
            report(PlanOutcome(**outcome))
        scopes.note(head, self._scope)
        length = len(content) if isinstance(content, bytes) else os.fstat(content.fileno()).st_size
        self._buffer.release(self._buffer.held)  # of the request
        self._buffer.hold(min(length, _MOST_HELD))
        self.has_started = True
        headers = scopes.read_headers(head["headers"])
        await self._send({"type": "http.response.start", "status": head["status"], "headers": headers})
        if isinstance(content, bytes):
            await self._send({"type": "http.response.body", "body": content})
            return
        with content:
            while piece := content.read(PIECE_BYTES):
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
                self._buffer.release(len(piece))
        await self._send({"type": "http.response.body", "body": b""})

    async def _unfinished(self, slot: Slot) -> Exception:
        """What the end of a process means that was to answer."""
        ending = await slot.end()
        structlog.get_logger().error("slot.ended", path=self._scope["path"], detail=f"the process {ending}")
        # A C++ library that cannot allocate within the limit of the process ends it by SIGABRT.
        if slot.process.exitcode == -signal.SIGABRT:
            count_stopped_slot("memory")
            return too_large(self._dispatch.limits.slot_memory_mib)
        count_stopped_slot("crash")
        # SIGKILL is sent from outside, also by a system without memory, of which other requests may have taken most.
        # None if the server that forked it has not reported its end in time, as on a machine that is busy.
        if slot.process.exitcode in {-signal.SIGKILL, None, UNKNOWN_EXIT_CODE}:
            return ProcessLost(f"the process that served the request was lost: it {ending}")
        return SlotCrashed(ending)

    def _too_slow(self) -> LimitExceeded:
        limit = self._dispatch.limits.deadline_seconds
        may_be_job = self._scope["path"] in PLAN_PATHS and self._scope["method"] == "POST"
        remedy = "send it with `Prefer: respond-async`" if may_be_job else "ask for less at a time"
        return LimitExceeded(
            f"the request takes longer than the limit of {limit} s; {remedy}",
            limit_name="deadline_seconds",
            limit=limit,
        )


async def _until_left(task: "asyncio.Task[ResultT]", leaving: "asyncio.Task[None]") -> ResultT:
    """The result of a task. Raises `ClientDisconnect` if the client leaves, or if the task is cancelled."""
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if task.done() and not task.cancelled():
            return task.result()
        await asyncio.wait({task}, timeout=_DRAINED_WITHIN_S)  # what is nearly answered is not killed
        if task.done() and not task.cancelled():
            task.exception()  # nothing waits for it
    finally:
        task.cancel()
    raise ClientDisconnect


def _length(scope: Scope) -> float:
    """Bytes of the body of a request; infinity if it does not state them."""
    headers = Headers(scope=scope)
    length = headers.get("content-length", "0" if "transfer-encoding" not in headers else "")
    return int(length) if length.isdigit() else math.inf


async def _received(receive: Receive) -> list[Message]:
    """The messages of a body; the last one says that the client has left, if it has."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    return messages


def _replayed(messages: Sequence[Message], receive: Receive) -> Receive:
    """Receive these messages, and then what follows."""
    again = iter(messages)

    async def received() -> Message:
        message = next(again, None)
        return await receive() if message is None else message

    return received


def _without_wait(scope: Scope) -> None:
    """Leave the job of a large request to be followed: waiting for it would occupy a slot (RFC 7240 permits it)."""
    headers = MutableHeaders(scope=scope)
    preferences = parsed(", ".join(headers.getlist("prefer")), longest_wait_s=1)
    del headers["prefer"]
    if preferences.respond_async:
        headers["prefer"] = "respond-async"
