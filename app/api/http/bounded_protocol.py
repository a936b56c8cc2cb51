"""HTTP/1.1 with bounds on heads and framing, on the time of requests, on connections, and on slow readers.

uvicorn's parser in C keeps a request line, headers, trailers and chunk extensions of any length: 64 MB of one header
took 17 s of the event loop, in which no other request was answered. The limit of a body (`middleware.py`) applies only
once the headers are complete. Nor does it wait for a head or a body for a limited time, or limit connections, and it
appends trailers to the headers of a request. A reverse proxy does more (`docs/proxy.md`).
"""

import asyncio
import socket
import sys
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from app.api.http.middleware import BEYOND_LIMIT

SPARE_CONNECTIONS = 100
"""Connections beyond the limit, for health checks: a busy service must not be taken for one that has failed."""
MAX_HEAD_BYTES = 64 * 1024
"""Bytes that a request may send without a piece of its body; one read of the socket may exceed it."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long connections are waited for, and how many there are.

    Parameters
    ----------
    head_s : from the first byte of a request, or from the connection, to the end of its head, in seconds.
    body_s : from the end of the head to the end of the body, in seconds.
    stall_s : in which a client takes nothing of a response, in seconds; Linux alone ends its connection then.
    connections : open connections, of all clients; beyond it one without a request gives way to a new one. If all have
        requests, more are for health checks alone.
    """

    head_s: float = 10.0
    body_s: float = 60.0
    stall_s: float = 20.0
    connections: int = 1000


def bounded_protocol(patience: Patience) -> type["BoundedHeadProtocol"]:
    """The protocol with these limits; uvicorn takes a class."""
    return type("BoundedProtocol", (BoundedHeadProtocol,), {"patience": patience, "idle": {}})


def _answer(status: HTTPStatus, detail: str) -> bytes:
    """A problem, written by the protocol itself: there may be no request that the application could answer."""
    code = status.phrase.lower().replace(" ", "_")
    document = {"type": f"/problems#{code}", "title": status.phrase, "status": status, "detail": detail, "code": code}
    body = orjson.dumps(document | {"errors": []})
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/problem+json\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


_TOO_LONG = _answer(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    f"the request line and the headers have more than the limit of {MAX_HEAD_BYTES} bytes",
)
_NO_REQUEST = _answer(HTTPStatus.BAD_REQUEST, "this is no request of HTTP/1.1, or one with an unknown method")


class BoundedHeadProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with limits.

    A connection that sends `MAX_HEAD_BYTES` without a piece of a body gets a 431 and ends; one that does not complete a
    head or a body in time a 408. Trailers are dropped.
    """

    patience = Patience()
    idle: ClassVar[dict["BoundedHeadProtocol", None]] = {}
    _head_bytes = 0
    _is_in_head = True
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Wait for a request. Beyond the limit an idle connection ends; if all are busy, only health is reported."""
        super().connection_made(transport)
        if sys.platform == "linux":
            of_system = transport.get_extra_info("socket")
            of_system.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(1000 * self.patience.stall_s))
        excess = len(self.connections) - self.patience.connections
        if excess > 0 and self.idle:
            next(iter(self.idle)).give_way()
        elif excess > SPARE_CONNECTIONS:
            transport.close()
            return
        elif excess > 0:
            self.app_state = {**self.app_state, BEYOND_LIMIT: self.patience.connections}
        self.idle[self] = None
        self._await("the head of the request", self.patience.head_s)

    def give_way(self) -> None:
        """End a connection without a request: another one needs its place."""
        self.idle.pop(self, None)
        self.connections.discard(self)  # at once: more connections may be accepted in this round of the event loop
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self.idle.pop(self, None)
        self._await_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the bytes, and end the connection if too many arrive without any part of a body."""
        if self._head_bytes == 0 and self._deadline is None:
            self._await("the head of the request", self.patience.head_s)
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            # An answer that is under way, to the request before or to this one, would be mixed with another.
            cycle: RequestResponseCycle | None = self.cycle  # None before the first request
            if cycle is None or cycle.response_complete:
                self.transport.write(_TOO_LONG)
            self.transport.close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 — uvicorn's text says no more
        """Answer a request that the parser rejects with a problem; it does so if a URL is longer than 64 KiB, too."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_TOO_LONG if len(self.url or b"") > MAX_HEAD_BYTES else _NO_REQUEST)
        self.transport.close()

    def on_message_begin(self) -> None:
        """Headers follow."""
        self._is_in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. Trailers are dropped: headers may have been read before (RFC 9110, 6.5)."""
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete: count anew, and wait for the body."""
        self._is_in_head = False
        self.idle.pop(self, None)
        self._head_bytes = 0
        self._await("the body of the request", self.patience.body_s)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body came: framing or trailers may follow."""
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
            self.idle[self] = None

    def _await(self, what: str, seconds: float) -> None:
        self._await_nothing()
        self._deadline = self.loop.call_later(seconds, self._give_up, what, seconds)

    def _await_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self, what: str, seconds: float) -> None:
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            detail = f"{what} is not complete after {seconds:g} s, which is the limit"
            self.transport.write(_answer(HTTPStatus.REQUEST_TIMEOUT, detail))
        self.transport.close()
