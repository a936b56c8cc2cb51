"""The middleware that passes requests to slots: body, queue, process, response, each within the deadline."""

import asyncio
import math
import signal
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import orjson
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.audit import caller_of, note_untouched
from app.api.http.metrics import count_stopped_slot
from app.api.http.preferences import parsed
from app.api.problems.documents import of_failure
from app.api.slots import scopes
from app.api.slots.buffers import Buffer, Buffers
from app.api.slots.serving import too_large
from app.api.slots.sizes import GZIP, PLAN_PATHS, SMALL_BYTES, is_small, work_of
from app.errors import Failure
from app.errors.access import ProcessLost, ServiceBusy
from app.errors.requests import LimitExceeded
from app.services.limits import Limits
from app.services.plans.outcomes import PlanOutcome, report
from app.slots import frames
from app.slots.pool import UNKNOWN_EXIT_CODE, Lane, Pool, Slot

SOLVERS, READERS = "solvers", "readers"
"""The lanes: requests that plan, check or store, and requests that read."""
_READING = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_SMALL_BODY = 16 * 1024
"""Bytes of a request that waits for its job, which is served in this process; a larger one is answered at once."""
_DRAINED_WITHIN_S = 0.5
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
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._is_over = False
        self.has_started = False
        self.is_in_slot = False

    async def run(self) -> None:
        """Answer the request. Raises the `Failure` that is the answer."""
        try:
            self._lane.admission.check(caller_of(self._scope))
            body = await self._body()
        except BaseException:
            self._buffer.release_all()
            raise
        exchange = asyncio.create_task(self._exchanged(body))
        leaving, sending = asyncio.create_task(self._disconnected()), asyncio.create_task(self._sent())
        exchange.add_done_callback(partial(self._ended, len(body), sending))
        try:
            await asyncio.wait({exchange, leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
            if not leaving.done() and (not exchange.done() or exchange.exception() is None):
                await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.cancelled():
                raise ClientDisconnect  # as good as left: it was dropped
            if sending.done() or exchange.done():
                await (exchange if exchange.done() else sending)
        finally:
            leaving.cancel()
            sending.cancel()
            self._is_over = True
            if exchange.done():
                self._buffer.release_all()
            # A response that begins is soon complete, also if only its head was requested; the process can stay then.
            asyncio.get_running_loop().call_later(_DRAINED_WITHIN_S, exchange.cancel)

    def _ended(self, received: int, sending: asyncio.Task[None], exchange: asyncio.Task[None]) -> None:
        """The slot has answered, or will not: it is for the client to read."""
        if self._is_over:
            self._buffer.release_all()
        else:
            self._buffer.release(received)
            self._buffer.end_on_demand(sending.cancel)
        if exchange.cancelled():
            if self.is_in_slot:
                count_stopped_slot("client")
        else:
            exchange.exception()  # it was raised by `run`, unless the client had left

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

    async def _sent(self) -> None:
        while (message := await self._messages.get()) is not None:
            await self._send(message)  # returns once the client has read nearly all of it (`pieces.py`)
            self._buffer.release(len(message.get("body", b"")))

    async def _exchanged(self, body: bytes) -> None:
        deadline_s = self._dispatch.deadline_s
        measuring = partial(work_of, self._scope["method"], self._scope["path"], body)
        work = await asyncio.to_thread(measuring) if GZIP in body else measuring()
        try:
            async with asyncio.timeout(deadline_s), self._lane.slot(work, caller_of(self._scope)) as slot:
                await self._in_slot(slot, body)
        except TimeoutError:
            if not self.is_in_slot:
                raise ServiceBusy(f"no slot became free within {deadline_s} s; try again", limit=deadline_s) from None
            count_stopped_slot("deadline")
            raise self._too_slow() from None

    async def _in_slot(self, slot: Slot, body: bytes) -> None:
        has_ended = False
        self.is_in_slot = True
        try:
            frames.write(slot.writer, frames.REQUEST, scopes.written_scope(self._scope))
            frames.write(slot.writer, frames.BODY, body)
            await slot.writer.drain()
            while not has_ended:
                kind, content = await frames.read(slot.reader)
                has_ended = kind == frames.END
                self._take(kind, content, slot)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise await self._unfinished(slot) from None
        finally:
            if not has_ended:
                slot.stop()

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

    def _take(self, kind: bytes, content: bytes, slot: Slot) -> None:
        if kind == frames.START:
            head = orjson.loads(content)
            scopes.note(head, self._scope)
            self.has_started = True
            self._messages.put_nowait(
                {
                    "type": "http.response.start",
                    "status": head["status"],
                    "headers": scopes.read_headers(head["headers"]),
                }
            )
        elif kind == frames.CHUNK:
            self._buffer.hold(len(content))
            self._messages.put_nowait({"type": "http.response.body", "body": content, "more_body": True})
        else:
            noted: dict[str, Any] = orjson.loads(content)
            self._note(noted)
            self._messages.put_nowait({"type": "http.response.body", "body": b"", "more_body": False})
            self._messages.put_nowait(None)
            if noted["is_last"]:
                slot.stop()

    def _note(self, noted: dict[str, Any]) -> None:
        for outcome in noted["outcomes"]:
            report(PlanOutcome(**outcome))

    def _too_slow(self) -> LimitExceeded:
        limit = self._dispatch.limits.deadline_seconds
        may_be_job = self._scope["path"] in PLAN_PATHS and self._scope["method"] == "POST"
        remedy = "send it with `Prefer: respond-async`" if may_be_job else "ask for less at a time"
        return LimitExceeded(
            f"the request takes longer than the limit of {limit} s; {remedy}",
            limit_name="deadline_seconds",
            limit=limit,
        )


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
