"""Many clients at once: how fast they are answered, what is rejected, and whether the service stays healthy."""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from httpx import URL

from app.errors import Json
from benchmarks import load
from benchmarks.load import MIX, Figures, Served
from benchmarks.request import PLANS

CONNECTIONS = (16, 64, 256, 990)
"""Of clients that send without a pause; the last number is close to the limit of connections."""
SECONDS = 5.0
_MIXES: Mapping[str, tuple[int, int]] = {"reads": (100, 0), "small plans": (0, 100), "mix": MIX, "large plans": (0, 0)}
_ANSWERED_WITHIN_S = 60.0
_HEALTH_ASKED_EVERY_S = 0.02
_CHECKS = ("/healthz", "/readyz")
LARGE = ((60, 10_000), (60, 100_000), (20, 300_000))
"""Plans that are requested at once, each on a connection of its own, and their partitions."""


@dataclass(slots=True)
class Tally:
    """What the clients of one burst saw: seconds of every answer by its status; connections that were lost."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    lost: int = 0

    def add(self, status: int, seconds: float) -> None:
        """Count one answer."""
        self.seconds.setdefault(status, []).append(seconds)


def run() -> Iterator[Figures]:
    """Large plans at once; then clients that send without a pause. Health checks meanwhile."""
    load.require_wrk()
    with load.serving() as served:
        for plans, partitions in LARGE:
            yield Figures(
                {"name": "burst of large plans", "plans": plans, "partitions": partitions}
                | _of_large_plans(served, plans, partitions)
            )
        read = f"/v1/plans/{load.stored_plan(served)}"
        for name, mix in _MIXES.items():
            for connections in CONNECTIONS:
                yield Figures({"name": f"burst of {name}", **_without_pause(served, read, mix, connections)})


def _without_pause(served: Served, read: str, mix: tuple[int, int], connections: int) -> Mapping[str, Json]:
    """What wrk reports, and health checks meanwhile: from another process, whose clients delay no check."""
    address = URL(served.address)

    async def checked() -> tuple[load.Run, dict[str, list[float]]]:
        is_over = asyncio.Event()
        with ThreadPoolExecutor(1) as threads:
            under = partial(served.under, read, mix, connections, seconds=SECONDS)
            loading = asyncio.get_running_loop().run_in_executor(threads, under)
            loading.add_done_callback(lambda _: is_over.set())
            checks = await _checked(address.host, address.port or 80, is_over)
            return await loading, checks

    measured, checks = asyncio.run(checked())
    return {"connections": connections, **measured, **_figures(checks)}


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
        **_figures(checks),
        "mib_before": round(before / 2**20),
        "mib_after": round(served.resident_bytes() / 2**20),
        "load_average": round(os.getloadavg()[0], 1),
    }


def _figures(checks: Mapping[str, Sequence[float]]) -> dict[str, Json]:
    """Times of health checks, by path."""
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1.0}
    return {path: {name: _ms(taken, share) for name, share in shares.items()} for path, taken in checks.items()}


def _ms(seconds: Sequence[float], share: float) -> float:
    return round(1000 * float(np.quantile(seconds, share)), 1)


async def _at_once(host: str, port: int, requests: Sequence[bytes]) -> tuple[Tally, dict[str, list[float]]]:
    """Send each request once, all at the same time; the seconds of health checks until all are answered, by path."""
    tally, is_over = Tally(), asyncio.Event()
    checking = asyncio.create_task(_checked(host, port, is_over))
    async with asyncio.timeout(_ANSWERED_WITHIN_S):
        await asyncio.gather(*(_client(host, port, each, tally) for each in requests))
    is_over.set()
    return tally, await checking


async def _checked(host: str, port: int, is_over: asyncio.Event) -> dict[str, list[float]]:
    """Seconds of every health check until it is over, by path."""
    checks: dict[str, list[float]] = {path: [] for path in _CHECKS}
    await asyncio.gather(*(_probe(host, port, path, taken, is_over) for path, taken in checks.items()))
    return checks


async def _client(host: str, port: int, request: bytes, tally: Tally) -> None:
    """Send a request over a connection of its own."""
    started = time.monotonic()
    try:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(request)
            tally.add(await _status(reader), time.monotonic() - started)
        finally:
            writer.close()
    except (OSError, asyncio.IncompleteReadError):
        tally.lost += 1


async def _probe(host: str, port: int, path: str, seconds: list[float], is_over: asyncio.Event) -> None:
    """Ask for a health check over and over, each time over a new connection as an orchestrator does."""
    while not is_over.is_set():
        tally = Tally()
        await _client(host, port, _request("GET", path), tally)
        seconds += tally.seconds.get(200, [_ANSWERED_WITHIN_S])
        await asyncio.sleep(_HEALTH_ASKED_EVERY_S)


async def _status(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return int(head.split(b" ", 2)[1])


def _request(method: str, path: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
