"""Hostile requests to a served clone: examples of every operation with changed bodies, paths, queries and headers.

`HOSTILE_REQUESTS` is their number, 100,000 by default, and `HOSTILE_FIRST` the number of the first, 0 by default: a run
can be made in pieces, since each request is generated from its number. It ends after `HOSTILE_SECONDS`, an hour by
default. The result has the statuses, the answers of 500 and more, of which only 503 is allowed, and the memory of each
part of the service each 250 requests. Its slope is that of the second half, with its standard error, of all and of all
but Spark, which the first sweep that is accepted starts.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from random import Random
from typing import Any

import httpx
import orjson

from app.api.examples import (
    EXAMPLE_PLAN_ID,
    EXAMPLE_REASSIGNMENT_PLAN_ID,
    EXAMPLE_SNAPSHOT_ID,
    EXAMPLE_SWEEP_ID,
)
from benchmarks.load import Figures, Served, serving, slope_of
from tests.api.operations import OPERATIONS
from tests.fuzz import mutations

REQUESTS = int(os.environ.get("HOSTILE_REQUESTS", "100000"))
FIRST = int(os.environ.get("HOSTILE_FIRST", "0"))
SECONDS = float(os.environ.get("HOSTILE_SECONDS", "3600"))
CLIENTS = 16
SAMPLE_EVERY = 250
_IDS = (
    *("0191d0e4-0000-7000-8000-000000000000", "x", "..", "%00", "%ff", "a" * 3_000, "'; --", "1e9", "-1", "%2e%2e%2f"),
    *("%0d%0aX-A:%20b", "%e2%80%ae", "%ed%a0%80", "//a.example", "{0}", "%25s", "9" * 400, "", "NaN", "[", "a%26b=c"),
    *(str(each) for each in (EXAMPLE_PLAN_ID, EXAMPLE_REASSIGNMENT_PLAN_ID, EXAMPLE_SNAPSHOT_ID, EXAMPLE_SWEEP_ID)),
)
_HEADERS = (
    *(("Accept", value) for value in ("text/csv", "*/*;q=x", "image/svg+xml", "a" * 5_000, "application/json;q=0")),
    *(("Prefer", value) for value in ("respond-async", "wait=0", "wait=99999999999999999999", ";;;=,,")),
    *(("Idempotency-Key", value) for value in ("a", "b" * 256, " ", "\x7f")),
    *(("If-Match", "*"), ("If-None-Match", '"x", W/"y"'), ("Content-Encoding", "gzip"), ("traceparent", "00-x")),
    *(("Authorization", value) for value in ("Basic x", "Bearer ", "Negotiate")),
    *(("Content-Type", value) for value in ("text/plain", "multipart/form-data; boundary=x", "application/xml", "")),
    *(("Range", value) for value in ("bytes=0-0", "bytes=-1", "bytes=9-1", "bytes=0-1,0-1,0-1", "items=1-2")),
    *(("Host", value) for value in ("a.example", "localhost:99999", "[::1", "127.0.0.1.a.example")),
    *(("Origin", "null"), ("Rackplan-Team", "*"), ("X-Request-ID", '"}\x1b[31m'), ("X-Forwarded-For", "x" * 2_000)),
    *(("Cookie", "__Host-rackplan=x; session=%00"), ("Accept-Encoding", "zstd;q=2"), ("TE", "trailers")),
)
_NOT_ENDING = "/events"


def run() -> Iterator[Figures]:
    """All requests, from several clients at once; each is generated from its number, so that a run can be repeated."""
    with serving() as service:
        began, cpu_s, own_cpu_s = time.monotonic(), service.cpu_s(), time.process_time()
        statuses, faults, memory = asyncio.run(_sent(service))
        count = max(1, statuses.total())
        half = memory[len(memory) // 2 :]
        numbers = [at for at, _ in half]
        whole = slope_of(numbers, [sum(parts.values()) for _, parts in half])
        own = slope_of(numbers, [sum(parts.values()) - parts["spark"] for _, parts in half])
        yield Figures(
            {
                "name": "hostile",
                "first": FIRST,
                "requests": sum(statuses.values()),
                "seconds": round(time.monotonic() - began),
                "cpu_ms": round(1000 * (service.cpu_s() - cpu_s) / count, 2),
                "cpu_ms_of_clients": round(1000 * (time.process_time() - own_cpu_s) / count, 2),
                "statuses": dict(sorted(statuses.items())),
                "faults": faults,
                "resident_mib": {part: [round(parts[part] / 2**20) for _, parts in memory] for part in memory[0][1]},
                "slope_mib_per_10000": [round(each * 10_000 / 2**20, 2) for each in whole],
                "slope_without_spark_mib_per_10000": [round(each * 10_000 / 2**20, 2) for each in own],
            }
        )


async def _sent(service: Served) -> tuple[Counter[str], list[Any], list[tuple[int, dict[str, int]]]]:
    statuses: Counter[str] = Counter()
    faults: list[Any] = []
    memory: list[tuple[int, dict[str, int]]] = []
    ends = time.monotonic() + SECONDS
    numbers = takewhile(lambda _: time.monotonic() < ends, range(FIRST, FIRST + REQUESTS))

    async def client() -> None:
        async with httpx.AsyncClient(base_url=service.address, timeout=120) as http:
            for number in numbers:
                if (number - FIRST) % SAMPLE_EVERY == 0:
                    memory.append((number, service.resident_by_part()))
                request = random_request(Random(number))  # noqa: S311 — so that a run can be repeated
                try:
                    answer = await http.request(**request)
                except (httpx.HTTPError, httpx.InvalidURL) as lost:
                    statuses[type(lost).__name__] += 1
                    continue
                statuses[str(answer.status_code)] += 1
                if answer.status_code >= 500 and answer.status_code != 503:
                    faults.append([number, request["method"], str(request["url"])[:200], answer.text[:300]])

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    memory.append((FIRST + statuses.total(), service.resident_by_part()))
    return statuses, faults, memory


def random_request(draw: Random) -> dict[str, Any]:
    """A request: an operation of the document with what a stranger may send instead."""
    method, path, operation = draw.choice([each for each in OPERATIONS if not each[1].endswith(_NOT_ENDING)])
    for name in [part for part in path.split("/") if part.startswith("{")]:
        path = path.replace(name, draw.choice(_IDS))
    request: dict[str, Any] = {"method": method.upper(), "url": path, "headers": {}}
    parameters = [each["name"] for each in operation.get("parameters", ()) if each.get("in") == "query"]
    if parameters and draw.random() < 0.5:
        chosen = draw.choices(parameters, k=draw.choice((1, 1, 2, 5)))
        request["url"] += "?" + "&".join(f"{name}={draw.choice(_IDS)}" for name in chosen)
    bodies = [
        example["value"]
        for media in operation.get("requestBody", {}).get("content", {}).values()
        for example in media.get("examples", {}).values()
    ]
    if bodies:
        body = orjson.dumps(draw.choice(bodies))
        request["content"] = (mutations.of_json if draw.random() < 0.8 else mutations.of_bytes)(body, [], draw)
        request["headers"]["Content-Type"] = "application/json"
    if draw.random() < 0.3:
        name, value = draw.choice(_HEADERS)
        request["headers"][name] = value.encode("latin-1")
    return request
