"""A receiver of webhooks: a real HTTP server on loopback that gives chosen answers."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread

LOOPBACK = "127.0.0.0/8"


@dataclass(frozen=True, slots=True)
class Received:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: str


Reply = Callable[[BaseHTTPRequestHandler], None]


@dataclass(slots=True)
class Receiver:
    """Received requests, and how the next requests are answered: by `replies` in order, then by 200."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    _arrived: Condition = field(default_factory=Condition)

    @property
    def url(self) -> str:
        """The URL of the receiver."""
        return f"http://127.0.0.1:{self.port}/hook?of=tests"

    def note(self, request: Received) -> Reply:
        """Note a request; return how it is answered."""
        with self._arrived:
            self.received.append(request)
            self._arrived.notify_all()
            return self.replies.pop(0) if self.replies else answers(200)

    def wait_for(self, requests: int, *, within_s: float = 60) -> list[Received]:
        """The received requests, once `requests` have arrived."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.received) >= requests, within_s), self.received
            return list(self.received)


def answers(status: int, body: bytes = b"", **headers: str) -> Reply:
    """Answer with this status."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return reply


@contextmanager
def receiving(*, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver on a free port, with TLS if there is a context."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode(errors="surrogateescape")
            receiver.note(Received(self.path, {k.lower(): v for k, v in self.headers.items()}, body))(self)

        do_GET = do_POST  # noqa: N815 — as the server looks it up

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that goes away is part of a test."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.port = server.server_address[1]
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
