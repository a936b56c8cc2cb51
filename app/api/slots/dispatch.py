"""The middleware that passes requests to slots: body, queue, process, response, each within the deadline.

A slot is free once it has answered, however slowly the client reads: bytes not yet read by clients are bounded here.
"""

import asyncio
import math
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.audit import caller_of, note_untouched
from app.api.http.following import parsed
from app.api.http.metrics import count_stopped_slot
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
from app.slots.admission import UNKNOWN, Admission
from app.slots.pool import UNKNOWN_EXIT_CODE, Lane, Pool, Slot, SlotEnded

MOST_BYTES = 256 * 2**20
"""Bytes of bodies that are received or sent at the same time; a longer one alone counts as half of them."""
SOLVERS, READERS = "solvers", "readers"
"""The lanes: requests that plan, check or store, and requests that read."""
_READING = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_SMALL_BODY = 16 * 1024
"""Bytes of a request that waits for its job, which is served in this process; a larger one is answered at once."""
_DRAINED_WITHIN_S = 0.5
_FOLLOWED = ("/v1/jobs/", "/v1/sweeps")
"""Beginnings of the paths of resources that `Prefer: wait` follows to their end."""


class Bodies:
    """Bytes of the bodies of all requests and responses that this process has. Belongs to one event loop."""

    def __init__(self) -> None:
        self._bytes: Counter[object] = Counter()
        # Functions that end exchanges whose responses are being sent, the oldest first.
        self._sending: dict[object, Callable[[], object]] = {}

    def hold(self, exchange: object, count: int) -> None:
        """Count further bytes of an exchange, up to half of the limit at a time.

        If they are too many, responses that their clients have yet to read are ended, the oldest first. Raises
        `ServiceBusy` if there are none.
        """
        count = min(count, MOST_BYTES // 2)
        while (held := self._bytes.total()) + count > MOST_BYTES:
            if not self._sending:
                detail = f"bodies of {held} bytes are being received or sent; the limit is {MOST_BYTES}; try again"
                raise ServiceBusy(detail, limit=MOST_BYTES)
            oldest = next(iter(self._sending))
            structlog.get_logger().warning("response.dropped", bytes=self._bytes[oldest])
            self._sending[oldest]()
            self.release(oldest)
        self._bytes[exchange] += count

    def send(self, exchange: object, end: Callable[[], object], count: int) -> None:
        """Count the bytes of a response instead of its request's; `end` is called if others need them."""
        self.release(exchange)
        self.hold(exchange, count)
        self._sending[exchange] = end

    def release(self, exchange: object) -> None:
        """Count nothing of an exchange any more."""
        self._bytes.pop(exchange, None)
        self._sending.pop(exchange, None)


class SlotCrashed(Exception):
    """The process that was to answer has crashed: a defect, which its standard error may tell more about."""


class SlotDispatch:
    """Serve requests in slots, except light ones: health checks, files, streams of events, small plans.

    Parameters
    ----------
    pool : if None, and until its processes have been started, every request is served in this process.
    small : admits requests so small that threads of this process serve them.
    own_paths : beginnings of the paths that this process serves itself.
    is_compiling : whether loops are being compiled, which a request may have to wait for: then there is no deadline.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        pool: Pool | None,
        small: Admission,
        limits: Limits,
        own_paths: Collection[str],
        is_compiling: Callable[[], bool],
    ) -> None:
        self.app, self._pool, self.small, self.limits = app, pool, small, limits
        self._own_paths = tuple(own_paths)
        self._is_compiling = is_compiling
        self.bodies = Bodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._pool is None or scope["type"] != "http" or self._is_own(scope):
            await self.app(scope, receive, send)
            return
        if not self._pool.is_ready:
            self._pool.early += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self._pool.early -= 1
            return
        lane = self._pool.lanes[READERS if scope["method"] in _READING else SOLVERS]
        exchange = _Exchange(self, lane, scope, receive, send)
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
        # Other operations ignore the preference. Computing ones would have neither a deadline nor a limit here.
        if not path.startswith(_FOLLOWED) and not (path in PLAN_PATHS and preferences.respond_async):
            return False
        if _length(scope) <= _SMALL_BODY:
            return True
        _without_wait(scope)
        return False

    @property
    def deadline_s(self) -> float | None:
        """The longest time of a request that begins now; None if it has none."""
        return None if self._is_compiling() else self.limits.deadline_seconds


class _Exchange:
    """One request in a slot. The slot is free again once it has answered, however slowly the client reads."""

    def __init__(self, dispatch: SlotDispatch, lane: Lane, scope: Scope, receive: Receive, send: Send) -> None:
        self._dispatch, self._lane = dispatch, lane
        self._scope, self._receive, self._send = scope, receive, send
        self.has_started = False
        self.is_in_slot = False
        self._has_left = False

    async def run(self) -> None:
        """Answer the request. Raises the `Failure` that is the answer, and `ClientDisconnect` if the client leaves."""
        try:
            if _length(self._scope) > SMALL_BYTES:
                self._lane.admission.check(caller_of(self._scope))
            body = await self._body()
            is_short = is_small(self._scope["method"], self._scope["path"], body)
            answering = self._in_thread(body) if is_short else self._answered(body)
            del body
            await (answering if is_short else self._until_left(answering))
        finally:
            self._dispatch.bodies.release(self)

    async def _until_left(self, answering: Awaitable[None]) -> None:
        """Wait for the answer. Raises `ClientDisconnect` if the client leaves before, or others need the memory."""
        try:
            async with asyncio.timeout(None) as self._patience:
                leaving = asyncio.create_task(self._disconnected())
                try:
                    await answering
                finally:
                    leaving.cancel()
        except Exception:
            # Of an answer that no client waits for any more, a failure is not the answer either.
            if not self._patience.expired() and not self._has_left:
                raise
            if self._patience.expired() and self.is_in_slot and not self.has_started:
                count_stopped_slot("client")
            raise ClientDisconnect from None
        if self._has_left:
            raise ClientDisconnect

    def _end(self, after_s: float = 0.0) -> None:
        """Stop waiting for the answer, or sending it."""
        if not self._patience.expired():
            self._patience.reschedule(asyncio.get_running_loop().time() + after_s)

    async def _body(self) -> bytes:
        """The body. Raises `ClientDisconnect` if the client leaves."""
        pieces = []
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            pieces.append(message.get("body", b""))
            self._dispatch.bodies.hold(self, len(pieces[-1]))
            if not message.get("more_body"):
                return b"".join(pieces)

    async def _in_thread(self, body: bytes) -> None:
        received = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> Message:
            return next(received, None) or await self._receive()

        async with self._dispatch.small.slot(UNKNOWN, caller_of(self._scope)):
            await self._dispatch.app(self._scope, receive, self._send)

    async def _disconnected(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._has_left = True
        self._end(_DRAINED_WITHIN_S)  # a nearly finished answer is not killed

    async def _answered(self, body: bytes) -> None:
        """Send the answer of a slot. Each step returns once the client has read nearly all of it (`Pieces`)."""
        head, content = await self._slots_answer(body)
        del body
        if self._has_left:
            return
        for outcome in head["outcomes"]:
            report(PlanOutcome(**outcome))
        scopes.note(head, self._scope)
        self._dispatch.bodies.send(self, self._end, len(content))
        self.has_started = True
        headers = scopes.read_headers(head["headers"])
        await self._send({"type": "http.response.start", "status": head["status"], "headers": headers})
        await self._send({"type": "http.response.body", "body": content})

    async def _slots_answer(self, body: bytes) -> tuple[dict[str, Any], bytes | mmap]:
        """The head and the body of the answer of a slot; a long one is a file that has no name any more."""
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

    async def _in_slot(self, slot: Slot, body: bytes) -> tuple[dict[str, Any], bytes | mmap]:
        may_be_file = True
        try:
            head, content = await slot.call(scopes.written_scope(self._scope), body)
            may_be_file = head["is_file"]
            if not may_be_file:
                return head, content
            with _file_of(slot).open("rb") as opened:
                return head, mmap(opened.fileno(), 0, access=ACCESS_READ)
        except SlotEnded:
            raise await self._unfinished(slot) from None
        finally:
            if may_be_file:
                _file_of(slot).unlink(missing_ok=True)

    async def _unfinished(self, slot: Slot) -> Exception:
        """The failure for the end of a process before its answer."""
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


def _file_of(slot: Slot) -> Path:
    return body_file(server.scratch().path, slot.process.pid or 0)


def _length(scope: Scope) -> float:
    """Bytes of the body of a request; infinity if it does not state them."""
    headers = Headers(scope=scope)
    length = headers.get("content-length", "0" if "transfer-encoding" not in headers else "")
    return int(length) if length.isdigit() else math.inf


def _without_wait(scope: Scope) -> None:
    """Leave the job of a large request to be followed: waiting for it would occupy a slot (RFC 7240 permits it)."""
    headers = MutableHeaders(scope=scope)
    preferences = parsed(", ".join(headers.getlist("prefer")), longest_wait_s=1)
    del headers["prefer"]
    if preferences.respond_async:
        headers["prefer"] = "respond-async"
