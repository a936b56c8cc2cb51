"""Many clients at once: how fast they are answered, what is turned away, and whether the service stays healthy."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import orjson
from httpx import URL

from app.errors import Json
from benchmarks import load, service
from benchmarks.load import Figures, Served
from benchmarks.measure import Line, Result, Times
from benchmarks.request import PLANS, TopicRequest
from benchmarks.service import Service

CONNECTIONS = (1, 16, 64, 256, 1_000)
SECONDS = 5.0
_ANSWERED_WITHIN_S = 60.0
_HEALTH_ASKED_EVERY_S = 0.02
LARGE = ((60, 10_000), (60, 100_000), (20, 300_000))
"""Plans that are asked for at once, each on a connection of its own, and their partitions."""
_SMALL = TopicRequest("admin_utils", "even", 42, 12)


@dataclass(slots=True)
class Tally:
    """What the clients of one burst saw: seconds of every answer by its status; connections that were lost."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    lost: int = 0

    def add(self, status: int, seconds: float) -> None:
        """Count one answer."""
        self.seconds.setdefault(status, []).append(seconds)


def run() -> Iterator[Line]:
    """Reads, small plans and pages from 1 to 1,000 connections, closed-loop, for some seconds; large plans at once."""
    with load.serving() as served:
        for plans, partitions in LARGE:
            yield Figures(
                {"name": "burst of large plans", "plans": plans, "partitions": partitions}
                | _of_large_plans(served, plans, partitions)
            )
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


def _of_large_plans(served: Served, plans: int, partitions: int) -> dict[str, Json]:
    """Answers by status, with the median and the longest time; health checks meanwhile; memory before and after."""
    address = URL(served.address)
    before, cpu_before = served.resident_bytes(), served.cpu_s()
    bodies = [load.body(partitions).replace("SEED", str(time.time_ns() % 10**9 + number)) for number in range(plans)]
    requests = [_request("POST", PLANS, body.encode()) for body in bodies]
    started = time.monotonic()
    tally, checks = asyncio.run(_at_once(address.host, address.port or 80, requests))
    return {
        "seconds": round(time.monotonic() - started, 2),
        "cpu_s": round(served.cpu_s() - cpu_before, 2),
        "answers": {
            str(status): {"count": len(taken), "p50_ms": _ms(taken, 0.5), "max_ms": _ms(taken, 1)}
            for status, taken in sorted(tally.seconds.items())
        },
        "connections_lost": tally.lost,
        **{path: {"p99_ms": _ms(taken, 0.99), "max_ms": _ms(taken, 1)} for path, taken in checks.items()},
        "mib_before": round(before / 2**20),
        "mib_after": round(served.resident_bytes() / 2**20),
        "load_average": round(os.getloadavg()[0], 1),
    }


def _ms(seconds: Sequence[float], share: float) -> float:
    return round(1000 * float(np.quantile(seconds, share)), 1)


async def _at_once(host: str, port: int, requests: Sequence[bytes]) -> tuple[Tally, dict[str, list[float]]]:
    """Send each request once, all at the same time; the seconds of health checks until all are answered, by path."""
    tally, is_over = Tally(), asyncio.Event()
    checks: dict[str, list[float]] = {"/healthz": [], "/readyz": []}
    probes = [asyncio.create_task(_probe(host, port, path, taken, is_over)) for path, taken in checks.items()]
    async with asyncio.timeout(_ANSWERED_WITHIN_S):
        await asyncio.gather(*(_client(host, port, partial(bytes, each), tally, 0.0) for each in requests))
    is_over.set()
    await asyncio.gather(*probes)
    return tally, checks


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
    probe = asyncio.create_task(_probe(host, port, "/healthz", health, is_over))
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


async def _probe(host: str, port: int, path: str, seconds: list[float], is_over: asyncio.Event) -> None:
    """Ask for a health check over and over, each time over a new connection as an orchestrator does."""
    while not is_over.is_set():
        tally = Tally()
        started = time.monotonic()
        await _client(host, port, lambda: _request("GET", path), tally, 0.0)
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
