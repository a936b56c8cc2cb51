"""Servers that misbehave: real sockets that answer each connection by a script."""

import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

Answer = bytes | None
"""The bytes of a response; None closes the connection without one."""


@dataclass
class Wire:
    """A server and its received requests."""

    url: str
    requests: list[bytes] = field(default_factory=list)

    def header(self, name: str) -> list[str]:
        """The values of a header, a request each; empty where it is missing."""
        return [_header(request, name) for request in self.requests]


def response(status: int, document: Any, **headers: str) -> bytes:
    """A response with a JSON document. Underscores of the headers' names are dashes."""
    return binary(json.dumps(document).encode(), status, **({"Content_Type": "application/json"} | headers))


def binary(body: bytes, status: int = 200, **headers: str) -> bytes:
    """A response with any body."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} ?", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in named.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def problem(status: int, code: str, detail: str = "as scripted", **headers: str) -> bytes:
    """A response with a problem."""
    return response(status, {"code": code, "title": code, "detail": detail, "status": status}, **headers)


@contextmanager
def wire(answers: Sequence[Answer]) -> Iterator[Wire]:
    """A server on loopback that gives these answers, a connection each, and refuses connections from then on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(30)
        server = Wire(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread = Thread(target=_serve, args=(listening, answers, server.requests), daemon=True)
        thread.start()
        yield server
        listening.close()
        thread.join(30)


def _serve(listening: socket.socket, answers: Sequence[Answer], requests: list[bytes]) -> None:
    for answer in answers:
        try:
            connection, _ = listening.accept()
        except OSError:  # the test has ended before
            return
        with connection:
            requests.append(_received(connection))
            if answer is not None:
                connection.sendall(answer)
    listening.close()


def _received(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    while len(body) < int(_header(head, "content-length") or 0):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def _header(request: bytes, name: str) -> str:
    for line in request.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]:
        key, _, value = line.partition(":")
        if key.lower() == name:
            return value.strip()
    return ""
