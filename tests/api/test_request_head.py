"""A request line, headers and trailers have a limit, so that one connection cannot hold up all others."""

import socket
from collections.abc import Iterator
from contextlib import closing
from threading import Thread

import httpx
import orjson
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from app.api.request_head import MAX_HEAD_BYTES, BoundedHeadProtocol
from app.store.database import Database
from tests.api.conftest import RunService

START = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
MUCH = 64
"""How many times the limit is sent."""


async def _count(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the length of the body."""
    assert scope["type"] == "http"
    length, has_more = 0, True
    while has_more:
        message = await receive()
        length += len(message.get("body", b""))
        has_more = message.get("more_body", False)
    body = b"%d" % length
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    config = uvicorn.Config(_count, port=0, http=BoundedHeadProtocol, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.02)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(20)


def sent(port: int, *pieces: bytes) -> bytes:
    """What the service answers to these bytes, until it ends the connection or is silent for a second."""
    with closing(socket.create_connection(("127.0.0.1", port))) as connection:
        connection.settimeout(2)
        answer = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while received := connection.recv(65_536):
                answer += received
        except OSError:  # it has ended the connection, or has nothing more to say
            pass
        return answer


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET /"] + [b"x" * MAX_HEAD_BYTES] * MUCH,
        [START + b"X-A: "] + [b"x" * MAX_HEAD_BYTES] * MUCH,
        [START] + [b"X-A: b\r\n" * (MAX_HEAD_BYTES // 8)] * MUCH,
    ],
    ids=["request line", "one header", "many headers"],
)
def test_a_head_without_end_is_refused(port: int, pieces: list[bytes]) -> None:
    answer = sent(port, *pieces)
    # What is still on its way when a connection ends may take the answer with it.
    assert not answer or answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("tail", [b"0\r\nX-A: ", b"1;x="], ids=["trailer", "chunk extension"])
def test_what_follows_a_body_without_end_is_refused(port: int, tail: bytes) -> None:
    head = START + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n" + tail
    answer = sent(port, head, *[b"x" * MAX_HEAD_BYTES] * MUCH)
    assert b" 200 " not in answer


def test_a_refusal_says_why(port: int) -> None:
    answer = sent(port, b"GET /" + b"x" * (MAX_HEAD_BYTES + 1))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"application/problem+json" in head
    assert orjson.loads(body)["detail"].endswith(f"{MAX_HEAD_BYTES} bytes")


@pytest.mark.parametrize("size", [0, 1, 100, MAX_HEAD_BYTES - 1_000])
def test_a_head_within_the_limit_is_read(port: int, size: int) -> None:
    head = START + b"X-A: " + b"x" * size + b"\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
    assert sent(port, head + b"abc").endswith(b"\r\n\r\n3")


def test_a_body_of_many_small_chunks_and_requests_one_after_another_are_read(port: int) -> None:
    chunks = b"1\r\nx\r\n" * MAX_HEAD_BYTES + b"0\r\n\r\n"
    one = START + b"Transfer-Encoding: chunked\r\n\r\n" + chunks
    last = START + b"Connection: close\r\nContent-Length: 2\r\n\r\nab"
    answer = sent(port, one, one, last)
    assert answer.count(b"HTTP/1.1 200 ") == 3
    assert answer.count(b"\r\n\r\n%d" % MAX_HEAD_BYTES) == 2


def test_the_command_serves_with_it(scratch: Database, run_service: RunService) -> None:
    with run_service(scratch) as service:
        assert service.client.get("/healthz").status_code == 200
        address = httpx.URL(service.client.base_url)
        assert address.port is not None
        assert sent(address.port, b"GET /" + b"x" * (MAX_HEAD_BYTES + 1)).startswith(b"HTTP/1.1 431 ")
