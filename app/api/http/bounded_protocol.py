"""HTTP/1.1 with bounds on what a request may send besides its body, on its time, on connections, and on slow readers.

uvicorn's parser in C keeps a request line, headers, trailers and chunk extensions of any length: 64 MB of one header
took 17 s of the event loop, in which no other request was answered. The limit of a body (`middleware.py`) applies only
once the headers are complete. Nor does it wait for a head or a body for a limited time, or limit connections; and a
client that takes nothing of a response keeps its connection, and the response, for as long as it likes.
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


@dataclass(frozen=True, slots=True)
class Patience:
    """How long connections are waited for, and how many there are.

    Parameters
    ----------
    head_s : from the first byte of a request, or from the connection, to the end of its head, in seconds.
    body_s : from the end of the head to the end of the body, in seconds.
    stall_s : in which a client takes nothing of a response that is larger than the buffers, in seconds.
    connections : open connections, of all clients; more are for health checks alone.
    """

    head_s: float = 10.0
    body_s: float = 60.0
    stall_s: float = 20.0
    connections: int = 1000


def bounded_protocol(patience: Patience) -> type["BoundedHeadProtocol"]:
    """The protocol with these limits; uvicorn takes a class."""
    return type("BoundedProtocol", (BoundedHeadProtocol,), {"patience": patience})


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
    head or a body in time a 408; one too many a 503. One that takes nothing of a response in time is aborted.
    """

    patience = Patience()
    _head_bytes = 0
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Wait for a request; one for other than the health of the service is rejected if there are too many."""
        super().connection_made(transport)
        excess = len(self.connections) - self.patience.connections
        if excess > 0:
            detail = f"there are {self.patience.connections} connections, which is the limit; try again"
            if excess > SPARE_CONNECTIONS:
                transport.write(_answer(HTTPStatus.SERVICE_UNAVAILABLE, detail))
                transport.close()
                return
            self.app = _quiet_alone(self.app, detail)
        self._await("the head of the request", self.patience.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._await_nothing()
        self._end_stall()
        super().connection_lost(exc)

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

    def on_headers_complete(self) -> None:
        """The head is complete: count anew, and wait for the body."""
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
