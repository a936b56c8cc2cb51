"""HTTP/1.1 with a bound on what a request may send besides its body.

uvicorn's parser in C keeps a request line, headers, trailers and chunk extensions of any length: 64 MB of one header
took 17 s of the event loop, in which no other request was answered. The limit of a body (`app.api.middleware`) applies
only once the headers are complete.
"""

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MAX_HEAD_BYTES = 64 * 1024
"""Bytes that a request may send without a piece of its body; what one read of the socket adds is let through."""
_TITLE = "Request Header Fields Too Large"
_BODY = orjson.dumps(
    {
        "type": "/problems#request_header_fields_too_large",
        "title": _TITLE,
        "status": 431,
        "detail": f"the request line and the headers have more than the limit of {MAX_HEAD_BYTES} bytes",
        "code": "request_header_fields_too_large",
        "errors": [],
    }
)
_ANSWER = (
    f"HTTP/1.1 431 {_TITLE}\r\ncontent-type: application/problem+json\r\ncontent-length: {len(_BODY)}\r\n"
    "connection: close\r\n\r\n"
).encode() + _BODY


class BoundedHeadProtocol(HttpToolsProtocol):
    """uvicorn's protocol; a connection that sends `MAX_HEAD_BYTES` without a piece of a body gets a 431 and ends."""

    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Parse what came, and end the connection if it is too much without any part of a body."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            # An answer that is under way, to the request before or to this one, would be mixed with another.
            cycle: RequestResponseCycle | None = self.cycle  # None before the first request
            if cycle is None or cycle.response_complete:
                self.transport.write(_ANSWER)
            self.transport.close()

    def on_headers_complete(self) -> None:
        """The head is complete: count anew."""
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body came: what follows may be framing or trailers."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete; another one may follow on the connection."""
        self._head_bytes = 0
        super().on_message_complete()
