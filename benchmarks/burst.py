"""Many clients at once: how fast they are answered, what is turned away, and whether the service stays healthy."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import orjson
from httpx import URL

from app.errors import Json
from benchmarks import service
from benchmarks.measure import Result, Times
from benchmarks.request import PLANS, TopicRequest
from benchmarks.service import Service

CONNECTIONS = (1, 16, 64, 256, 1_000)
SECONDS = 5.0
_ANSWERED_WITHIN_S = 60.0
_HEALTH_ASKED_EVERY_S = 0.02
_SMALL = TopicRequest("admin_utils", "even", 42, 12)


@dataclass(slots=True)
class Tally:
    """What the clients of one burst saw: seconds of every answer by its status; connections that were lost."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    lost: int = 0

    def add(self, status: int, seconds: float) -> None:
        """Count one answer."""
        self.seconds.setdefault(status, []).append(seconds)


def run() -> Iterator[Result]:
    """Reads, small plans and pages, each from 1 to 1,000 connections, closed-loop, for some seconds."""
    with service.running() as running:
        plan_id = orjson.loads(_SMALL.post(running.client))["id"]
        read, page = (_request("GET", f"{path}/{plan_id}") for path in ("/v1/plans", "/plans"))
        requests: Mapping[str, Callable[[], bytes]] = {
            "read": lambda: read,
            "small plan": lambda: _request("POST", PLANS, _SMALL.body()),
            "page": lambda: page,
        }
        for name, request in requests.items():
            for connections in CONNECTIONS:
                yield _measured(running, name, request, connections)


def _measured(running: Service, name: str, request: Callable[[], bytes], connections: int) -> Result:
    address = URL(str(running.client.base_url))
    tally, health, recovery_s = asyncio.run(_burst(address.host, address.port or 80, request, connections))
    served = [seconds for status, taken in tally.seconds.items() if status < 400 for seconds in taken]
    ms = 1000 * np.sort(served)
    errors: Mapping[str, Json] = {
        str(status): len(taken) for status, taken in sorted(tally.seconds.items()) if status >= 400
    }
    return Result(
        name="burst",
        parameters={"request": name, "connections": connections},
        times=Times(tuple(ms.tolist()), tuple(ms.tolist())),
        is_in_process=False,
        facts={
            "served_per_s": round(len(served) / SECONDS, 1),
            "p99_ms": round(float(np.quantile(ms, 0.99)), 1),
            "errors": errors,
            "connections_lost": tally.lost,
            "healthz_max_ms": round(1000 * max(health), 1),
            "recovered_after_s": round(recovery_s, 3),
        },
    )


async def _burst(
    host: str, port: int, request: Callable[[], bytes], connections: int
) -> tuple[Tally, list[float], float]:
    """The burst; seconds of every `/healthz` during it; and until a request is served once it is over."""
    tally, health, ends = Tally(), list[float](), time.monotonic() + SECONDS
    is_over = asyncio.Event()
    probe = asyncio.create_task(_probe(host, port, health, is_over))
    async with asyncio.timeout(SECONDS + _ANSWERED_WITHIN_S):
        await asyncio.gather(*(_client(host, port, request, tally, ends) for _ in range(connections)))
        is_over.set()
        await probe
        started = time.monotonic()
        while True:
            after = Tally()
            await _client(host, port, request, after, 0.0)
            if set(after.seconds) & {200, 201}:
                return tally, health, time.monotonic() - started


async def _client(host: str, port: int, request: Callable[[], bytes], tally: Tally, ends: float) -> None:
    """Send the request again and again over one connection, once at least, until the time is over."""
    try:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            while True:
                started = time.monotonic()
                writer.write(request())
                tally.add(await _status(reader), time.monotonic() - started)
                if time.monotonic() >= ends:
                    return
        finally:
            writer.close()
    except (OSError, asyncio.IncompleteReadError):
        tally.lost += 1


async def _probe(host: str, port: int, seconds: list[float], is_over: asyncio.Event) -> None:
    """Ask for `/healthz` over and over, each time over a new connection as an orchestrator does."""
    while not is_over.is_set():
        tally = Tally()
        started = time.monotonic()
        await _client(host, port, lambda: _request("GET", "/healthz"), tally, 0.0)
        seconds.append(time.monotonic() - started)
        await asyncio.sleep(_HEALTH_ASKED_EVERY_S)


async def _status(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return int(head.split(b" ", 2)[1])


def _request(method: str, path: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
