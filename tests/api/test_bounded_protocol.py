"""A request line, headers and trailers have a limit, so that one connection cannot hold up all others."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from threading import Thread

import httpx
import orjson
import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.api.http.bounded_protocol import MAX_HEAD_BYTES, SPARE_CONNECTIONS, Patience, bounded_protocol
from app.api.http.middleware import QUIET_PATHS
from app.store.database import Database
from tests.api.conftest import RunService

START = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
MUCH = 64
"""How many times the limit is sent."""


LARGE = 64 * 2**20
"""Bytes of the response of `/large`, more than the buffers of the system."""


CLIENT = b"X-Forwarded-For: 192.0.2.1\r\nAuthorization: Bearer mine\r\nOrigin: http://localhost\r\n"


async def _count(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the length of the body; on `/large` with as many bytes as that is.

    On `/headers` with the headers of the request once its body is complete, on `/slow` after a second.
    """
    assert scope["type"] == "http"
    if scope["path"] == "/headers":
        while (await receive()).get("more_body"):
            pass
        await PlainTextResponse(repr(scope["headers"]))(scope, receive, send)
        return
    if scope["path"].startswith("/slow"):
        await asyncio.sleep(1)
        await PlainTextResponse("done")(scope, receive, send)
        return
    if scope["path"] == "/large":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LARGE)]})
        await send({"type": "http.response.body", "body": bytes(LARGE)})
        return
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
    with listening(Patience()) as port:
        yield port


@pytest.fixture(scope="module")
def impatient_port() -> Iterator[int]:
    with listening(Patience(head_s=0.3, body_s=0.6, stall_s=0.5, connections=3)) as port:
        yield port


@contextmanager
def listening(patience: Patience) -> Iterator[int]:
    config = uvicorn.Config(_count, port=0, http=bounded_protocol(patience), lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.02)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(20)


def sent(port: int, *pieces: bytes, silent_s: float = 2.0) -> bytes:
    """The service's answer to these bytes, until it ends the connection or is silent for the timeout."""
    with closing(socket.create_connection(("127.0.0.1", port))) as connection:
        connection.settimeout(silent_s)
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
def test_a_head_without_end_is_rejected(port: int, pieces: list[bytes]) -> None:
    answer = sent(port, *pieces)
    # Data in flight when a connection ends may take the answer with it.
    assert not answer or answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("tail", [b"0\r\nX-A: ", b"1;x="], ids=["trailer", "chunk extension"])
def test_what_follows_a_body_without_end_is_rejected(port: int, tail: bytes) -> None:
    head = START + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n" + tail
    answer = sent(port, head, *[b"x" * MAX_HEAD_BYTES] * MUCH)
    assert b" 200 " not in answer


def test_a_refusal_says_why(port: int) -> None:
    answer = sent(port, b"GET /" + b"x" * (MAX_HEAD_BYTES + 1))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"application/problem+json" in head
    assert orjson.loads(body)["detail"].endswith(f"{MAX_HEAD_BYTES} bytes")


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"FOO / HTTP/1.1", b"400 Bad Request"),
        (b"GET / HTTP/9", b"400 Bad Request"),
        (b"GET /?" + b"x" * (MAX_HEAD_BYTES + 1) + b" HTTP/1.1", b"431 Request Header Fields Too Large"),
    ],
    ids=["unknown method", "unknown version", "long URL"],
)
def test_a_request_that_cannot_be_parsed_is_a_problem(port: int, request_line: bytes, status: bytes) -> None:
    head, _, body = sent(port, request_line + b"\r\nHost: localhost\r\n\r\n").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status)
    assert b"application/problem+json" in head
    assert orjson.loads(body)["status"] == int(status[:3])


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


class TestTrailers:
    """Trailers are no headers: the response is the one without them."""

    HEAD = b"POST /headers HTTP/1.1\r\nHost: localhost\r\n" + CLIENT + b"Transfer-Encoding: chunked\r\n"

    @pytest.mark.parametrize(
        "trailers",
        [
            b"Authorization: Bearer other",
            b"Host: elsewhere",
            b"Origin: http://elsewhere",
            b"X-Forwarded-For: 198.51.100.7",
            b"Forwarded: for=198.51.100.7",
            b"Cookie: session=other",
            b"Expect: 100-continue",
            b"Content-Type: text/plain",
            b"X-Request-ID: other",
            b"X-A: 1\r\nX-A: 2",
            b"Upgrade: websocket\r\nConnection: upgrade",
            b"Host: elsewhere\r\nAuthorization: Bearer other\r\nOrigin: http://elsewhere\r\nX-B: c",
        ],
    )
    def test_no_trailer_is_a_header(self, port: int, trailers: bytes) -> None:
        body = b"\r\n2\r\nab\r\n0\r\n"
        last = request("/headers")
        expected = sent(port, self.HEAD + body + b"\r\n" + last)
        assert expected.count(b"HTTP/1.1 200 ") == 2
        answered = sent(port, self.HEAD + body + trailers + b"\r\n\r\n" + last)
        assert _undated(answered) == _undated(expected)

    @pytest.mark.parametrize("trailer", [b"Content-Length: 7", b"Transfer-Encoding: chunked"])
    def test_a_trailer_that_frames_messages_ends_the_connection(self, port: int, trailer: bytes) -> None:
        answer = sent(port, self.HEAD + b"\r\n0\r\n" + trailer + b"\r\n\r\n" + request("/headers"))
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.count(b"HTTP/1.1 ") == 1


def _undated(answer: bytes) -> list[bytes]:
    return [line for line in answer.split(b"\r\n") if not line.lower().startswith(b"date:")]


@pytest.mark.slow
def test_a_service_behind_a_proxy_logs_no_address_of_a_trailer(scratch: Database, run_service: RunService) -> None:
    settings = {"RACKPLAN_TRUSTED_PROXIES": "127.0.0.1", "RACKPLAN_SOLVER_PROCESSES": "1"}
    with run_service(scratch, **settings) as service:
        port = httpx.URL(service.client.base_url).port
        assert port is not None
        body = b'{"brokers":[{"id":1}],"topics":[{"name":"t","partitions":1,"replication_factor":1}]}'
        head = b"POST /v1/plans/replicas HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        chunk = b"%x\r\n%b\r\n0\r\n" % (len(body), body)
        trailers = b"X-Forwarded-For: 198.51.100.7\r\nAuthorization: Bearer none\r\nHost: elsewhere\r\n\r\n"
        framing = b"Connection: close\r\nX-Forwarded-For: 192.0.2.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert sent(port, head + framing + chunk + trailers, silent_s=20).startswith(b"HTTP/1.1 201 ")
        entries = service.client.get("/v1/audit").json()["items"]
        assert [entry["address"] for entry in entries if entry["action"] == "POST /v1/plans/replicas"] == ["192.0.2.1"]


def test_the_command_serves_with_it(scratch: Database, run_service: RunService) -> None:
    with run_service(scratch) as service:
        assert service.client.get("/healthz").status_code == 200
        address = httpx.URL(service.client.base_url)
        assert address.port is not None
        assert sent(address.port, b"GET /" + b"x" * (MAX_HEAD_BYTES + 1)).startswith(b"HTTP/1.1 431 ")


class TestPatience:
    """Connections that send too slowly, or too many of them."""

    @pytest.mark.parametrize(
        "piece", [b"", b"GET / HT", START, START + b"X-A: "], ids=["none", "line", "head", "header"]
    )
    def test_a_head_that_is_not_completed_ends_the_connection(self, impatient_port: int, piece: bytes) -> None:
        answer = sent(impatient_port, piece)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"the head of the request is not complete after 0.3 s" in answer

    @pytest.mark.parametrize(
        "piece", [START + b"Content-Length: 9\r\n\r\n{", START + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"]
    )
    def test_a_body_that_is_not_completed_ends_the_connection(self, impatient_port: int, piece: bytes) -> None:
        answer = sent(impatient_port, piece)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"the body of the request is not complete after 0.6 s" in answer

    def test_a_byte_at_a_time_extends_nothing(self, impatient_port: int) -> None:
        with closing(socket.create_connection(("127.0.0.1", impatient_port))) as connection:
            connection.settimeout(0.1)
            connection.sendall(START)
            answer = b""
            for _ in range(30):
                try:
                    connection.sendall(b"G")
                    answer = connection.recv(65_536)
                except TimeoutError:
                    continue
                except OSError:
                    break
                if answer:
                    break
            assert answer.startswith(b"HTTP/1.1 408 ")

    def test_each_request_of_a_connection_has_the_time_of_its_own(self, impatient_port: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{impatient_port}") as client:
            for _ in range(4):
                time.sleep(0.2)
                assert client.post("/", content=b"abc").text == "3"

    def test_a_client_that_takes_nothing_of_a_response_loses_its_connection(self, impatient_port: int) -> None:
        with closing(reading_slowly(impatient_port)) as connection:
            time.sleep(1.5)
            taken = 0
            with suppress(ConnectionResetError):
                while received := connection.recv(2**20):
                    taken += len(received)
        assert taken < LARGE

    @pytest.mark.long
    def test_a_client_that_takes_a_response_slowly_gets_all_of_it(self, impatient_port: int) -> None:
        """It takes longer in all than the longest time in which it takes nothing."""
        began, taken = time.monotonic(), 0
        with closing(reading_slowly(impatient_port)) as connection:
            while received := connection.recv(2**20):
                taken += len(received)
                if time.monotonic() - began < 2.0:
                    time.sleep(0.02)
        assert taken > LARGE

    @pytest.mark.long
    def test_connections_beyond_the_limit_are_for_health_checks(
        self, scratch: Database, run_service: RunService
    ) -> None:
        with run_service(scratch, RACKPLAN_CONNECTIONS="3") as service, ExitStack() as opened:
            port = httpx.URL(service.client.base_url).port
            assert port is not None
            requesting(opened, port, 3)
            for path in QUIET_PATHS:
                assert sent(port, request(path)).startswith(b"HTTP/1.1 200 ")
            answer = sent(port, request("/v1/plans"))
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 1" in answer
            assert b"there are 3 connections, which is the limit" in answer

    def test_connections_beyond_those_of_health_checks_end(self) -> None:
        with listening(Patience(connections=3)) as port:
            with ExitStack() as opened:
                requesting(opened, port, 3 + SPARE_CONNECTIONS, path="/healthz")
                assert sent(port, request("/healthz")) == b""
            time.sleep(0.1)
            assert sent(port, request("/")).startswith(b"HTTP/1.1 200 ")

    @pytest.mark.long
    def test_idle_connections_give_way(self) -> None:
        """One client held all connections without a byte: health checks were answered 503."""
        with listening(Patience(head_s=60, connections=100)) as port, ExitStack() as opened:
            idle = [opened.enter_context(connected(port)) for _ in range(250)]
            for path in (*QUIET_PATHS, "/", "/v1/plans"):
                assert sent(port, request(path)).startswith(b"HTTP/1.1 200 ")
            ended = [has_ended(connection) for connection in idle]
            assert not any(ended[-90:])
            assert all(ended[:150])

    def test_connections_with_a_request_do_not_give_way(self) -> None:
        with listening(Patience(head_s=60, connections=3)) as port, ExitStack() as opened:
            slow = [opened.enter_context(connected(port)) for _ in range(3)]
            for connection in slow[:2]:
                connection.sendall(request("/slow"))
            for _ in range(3):
                assert sent(port, request("/")).startswith(b"HTTP/1.1 200 ")
            for connection in slow[:2]:
                assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
            assert has_ended(slow[2])

    @pytest.mark.slow
    @pytest.mark.parametrize("hard", [4_000, 300])
    def test_the_limit_of_open_files_is_raised_to_the_connections(
        self, scratch: Database, run_service: RunService, hard: int
    ) -> None:
        """With 1,024, as most shells have it, a service at its limit of connections answered no health check."""
        with run_service(scratch, files=(200, hard), RACKPLAN_CONNECTIONS="250") as service, ExitStack() as opened:
            address = httpx.URL(service.client.base_url)
            assert address.port is not None
            is_limited = "may open 300 files, and its connections need up to 750" in service.log.read_text()
            assert is_limited == (hard == 300)
            for _ in range(200 if is_limited else 260):
                opened.enter_context(closing(socket.create_connection(("127.0.0.1", address.port))))
            assert service.client.get("/healthz").status_code == 200


def connected(port: int) -> "closing[socket.socket]":
    return closing(socket.create_connection(("127.0.0.1", port), timeout=10))


def has_ended(connection: socket.socket) -> bool:
    """Whether the service has closed a connection on which it has nothing to say."""
    connection.settimeout(0.05)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def requesting(opened: ExitStack, port: int, count: int, path: str = "/") -> None:
    """Open connections, each with a request in progress."""
    for _ in range(count):
        connection = opened.enter_context(connected(port))
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n".encode())
    time.sleep(0.1)


def reading_slowly(port: int) -> socket.socket:
    """A connection that has requested `/large`, with the smallest buffer."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    connection.settimeout(20)
    connection.sendall(request("/large"))
    return connection


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
