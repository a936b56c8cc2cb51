"""HTTP/1.1 with bounds on what a request may send besides its body, on its time, on connections, and on slow readers.

uvicorn's parser in C keeps a request line, headers, trailers and chunk extensions of any length: 64 MB of one header
took 17 s of the event loop, in which no other request was answered. The limit of a body (`middleware.py`) applies only
once the headers are complete. Nor does it wait for a head or a body for a limited time, or limit connections; and a
client that takes nothing of a response keeps its connection, and the response, for as long as it likes. It appends
trailers to the headers of a request, and drops a request whose client has closed its side of the connection.
"""

import asyncio
import fcntl
import sys
import termios
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.api.http.turns import QUIET_PATHS

SPARE_CONNECTIONS = 100
"""Connections beyond the limit, for health checks: a busy service must not be taken for one that has failed."""
MAX_HEAD_BYTES = 64 * 1024
"""Bytes that a request may send without a piece of its body; what one read of the socket adds is let through."""
_PROBED_AFTER_S = 0.1
"""Seconds after which a client that has closed its side is probed again; then twice as long, and so on."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long connections are waited for, and how many there are.

    Parameters
    ----------
    head_s : from the first byte of a request, or from the connection, to the end of its head, in seconds.
    body_s : from the end of the head to the end of the body, in seconds.
    stall_s : in which a client takes nothing of a response that is larger than the buffers, in seconds.
    connections : open connections, of all clients; beyond it one without a request gives way to a new one. If all have
        requests, more are for health checks alone.
    """

    head_s: float = 10.0
    body_s: float = 60.0
    stall_s: float = 20.0
    connections: int = 1000


def bounded_protocol(patience: Patience) -> type["BoundedHeadProtocol"]:
    """The protocol with these limits; uvicorn takes a class."""
    return type("BoundedProtocol", (BoundedHeadProtocol,), {"patience": patience, "idle": _Idle()})


class _Idle:
    """The connections of a server that have no request in progress, by address, those that waited longest first."""

    def __init__(self) -> None:
        self._by_address: dict[str, dict[BoundedHeadProtocol, None]] = {}

    def add(self, connection: "BoundedHeadProtocol") -> None:
        self._by_address.setdefault(connection.address, {})[connection] = None

    def discard(self, connection: "BoundedHeadProtocol") -> None:
        same_address = self._by_address.get(connection.address, {})
        same_address.pop(connection, None)
        if not same_address:
            self._by_address.pop(connection.address, None)

    def first_to_end(self) -> "BoundedHeadProtocol | None":
        """The longest-waiting connection of the address with most connections, or None without connections."""
        largest = max(self._by_address.values(), key=len, default={})
        return next(iter(largest), None)


def _problem(status: HTTPStatus, detail: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """The headers and the body of a problem without the application, after which the connection ends."""
    is_busy = status is HTTPStatus.SERVICE_UNAVAILABLE
    code = "service_busy" if is_busy else status.phrase.lower().replace(" ", "_")
    title = "The service is busy" if is_busy else status.phrase
    document = {"type": f"/problems#{code}", "title": title, "status": status, "detail": detail, "code": code}
    body = orjson.dumps(document | {"errors": []})
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", b"%d" % len(body))]
    return [*headers, *([(b"retry-after", b"1")] if is_busy else []), (b"connection", b"close")], body


def _answer(status: HTTPStatus, detail: str) -> bytes:
    """A problem, written by the protocol itself: there may be no request that the application could answer."""
    headers, body = _problem(status, detail)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(b": ".join(header) for header in headers)]
    return b"\r\n".join([*lines, b"", body])


def _quiet_alone(app: ASGIApp, detail: str) -> ASGIApp:
    """The application for health checks and metrics; all else is answered 503."""
    headers, body = _problem(HTTPStatus.SERVICE_UNAVAILABLE, detail)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] in QUIET_PATHS:
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": HTTPStatus.SERVICE_UNAVAILABLE, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return answer


class BoundedHeadProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits.

    A connection that sends `MAX_HEAD_BYTES` without a piece of a body gets a 431 and ends; one that does not complete a
    head or a body in time a 408; one too many a 503. One that takes nothing of a response in time is aborted. Trailers
    are dropped. A client that closes its side of the connection after its request gets the answer.
    """

    patience = Patience()
    idle = _Idle()
    address = ""
    _head_bytes = 0
    _is_in_head = True
    _probe: asyncio.TimerHandle | None = None
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Wait for a request. Beyond the limit an idle connection ends; if all are busy, only health is reported."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        excess = len(self.connections) - self.patience.connections
        if excess > 0 and (oldest := self.idle.first_to_end()) is not None:
            oldest.give_way()
        elif excess > 0:
            detail = f"there are {self.patience.connections} connections, which is the limit; try again"
            if excess > SPARE_CONNECTIONS:
                transport.write(_answer(HTTPStatus.SERVICE_UNAVAILABLE, detail))
                transport.close()
                return
            self.app = _quiet_alone(self.app, detail)
        self.idle.add(self)
        self._await("the head of the request", self.patience.head_s)

    def give_way(self) -> None:
        """End a connection without a request: another one needs its place."""
        self.idle.discard(self)
        self.connections.discard(self)  # at once: more connections may be accepted in this round of the event loop
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self.idle.discard(self)
        self._await_nothing()
        self._end_stall()
        if self._probe is not None:
            self._probe.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override] # uvicorn's own says that it returns None
        """Keep the connection of a client that sends no more but waits for the response to a complete request.

        A client that has left looks the same, so that a stream, which may have no end, ends here. Before other
        responses interim ones are sent: the system of a client that has left answers them with a reset.
        """
        last: RequestResponseCycle | None = self.cycle
        if last is None or last.response_complete or last.more_body:
            return False
        if last.response_started and last.chunked_encoding:
            return False
        last.keep_alive = False
        # HTTP/1.0 has no interim responses, and one may not be in the midst of another response.
        if last.scope["http_version"] == "1.1" and not self.pipeline:
            self._probe_client(last, _PROBED_AFTER_S)
        return True

    def _probe_client(self, cycle: RequestResponseCycle, again_after_s: float) -> None:
        if not cycle.response_started and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._probe = self.loop.call_later(again_after_s, self._probe_client, cycle, 2 * again_after_s)

    def pause_writing(self) -> None:
        """The client takes less than is sent."""
        self._wait_for_reader()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client has taken most of what was sent."""
        self._end_stall()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse what came, and end the connection if it is too much without any part of a body."""
        if self._head_bytes == 0 and self._deadline is None:
            self._await("the head of the request", self.patience.head_s)
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            # An answer that is under way, to the request before or to this one, would be mixed with another.
            cycle: RequestResponseCycle | None = self.cycle  # None before the first request
            if cycle is None or cycle.response_complete:
                detail = f"the request line and the headers have more than the limit of {MAX_HEAD_BYTES} bytes"
                self.transport.write(_answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, detail))
            self.transport.close()

    def on_message_begin(self) -> None:
        """Headers follow."""
        self._is_in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. Trailers are dropped: what reads headers may have read them before (RFC 9110, 6.5)."""
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete: count anew, and wait for the body."""
        self._is_in_head = False
        self.idle.discard(self)
        self._head_bytes = 0
        self._await("the body of the request", self.patience.body_s)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body came: what follows may be framing or trailers."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete; another one may follow on the connection, for which uvicorn waits."""
        self._head_bytes = 0
        self._await_nothing()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The connection is idle, unless another request was sent already."""
        super().on_response_complete()
        if not self.pipeline and not self.transport.is_closing() and self.cycle.response_complete:
            self.idle.add(self)

    def _await(self, what: str, seconds: float) -> None:
        self._await_nothing()
        self._deadline = self.loop.call_later(seconds, self._give_up, what, seconds)

    def _await_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _wait_for_reader(self) -> None:
        self._stall = self.loop.call_later(self.patience.stall_s, self._look_at_reader, self._untaken_bytes())

    def _look_at_reader(self, untaken_before: int) -> None:
        """Abort the connection if the client has taken nothing meanwhile."""
        if self._untaken_bytes() >= untaken_before:
            self.transport.abort()
        else:
            self._wait_for_reader()

    def _untaken_bytes(self) -> int:
        """Bytes of responses that wait here or in the system, whose buffers hold what some clients read in a minute."""
        in_system = 0
        with suppress(OSError):  # not every system says
            connection = self.transport.get_extra_info("socket")
            in_system = int.from_bytes(fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
        return self.transport.get_write_buffer_size() + in_system

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _give_up(self, what: str, seconds: float) -> None:
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            detail = f"{what} is not complete after {seconds:g} s, which is the limit"
            self.transport.write(_answer(HTTPStatus.REQUEST_TIMEOUT, detail))
        self.transport.close()
