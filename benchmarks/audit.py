"""An entry of the audit log for each request: one at a time, and 64 at a time, which share statements."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import uvloop

from app.api.http.audit import AuditLog
from app.store import embedded, migrations
from app.store.audit import Actor, NewEntry
from app.store.database import Database
from benchmarks.measure import Result, Times

ENTRIES, RUNS = 256, 15
TARGET_MS = 0.3
ENTRY = NewEntry(
    Actor("key", "automation", "01890a5d-0000-7000-8000-000000000000", "payments", "192.0.2.7", "0" * 32),
    "POST /v1/plans/replicas",
    "/v1/plans/01890a5d-0000-7000-8000-000000000000",
    201,
)


def run() -> Iterator[Result]:
    """Processor time of the service for an entry, and of Postgres."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with embedded.running(Path(folder) / "data") as server, Database(server.url) as database:
            migrations.upgrade(database.engine)
            log = AuditLog(Database(server.url, connections=1))
            try:
                yield from uvloop.run(_measured(log))  # as the service does
            finally:
                log.close()


async def _measured(log: AuditLog) -> list[Result]:
    results = []
    for concurrent in (1, 64):
        times, of_postgres = [], 0.0
        for number in range(RUNS + 1):
            before, started, cpu_started = _postgres_s(), time.perf_counter(), time.process_time()
            for _ in range(ENTRIES // concurrent):
                await asyncio.gather(*(log.add(ENTRY) for _ in range(concurrent)))
            taken = (time.perf_counter() - started, time.process_time() - cpu_started)
            if number:  # the first one connects
                times.append(tuple(seconds * 1000 / ENTRIES for seconds in taken))
                of_postgres += (_postgres_s() - before) * 1000
        both = Times(*zip(*times, strict=True))
        facts = {
            "postgres_cpu_ms": round(of_postgres / RUNS / ENTRIES, 3),
            "target_cpu_ms": TARGET_MS,
            "target_cpu_met": both.cpu_median_ms <= TARGET_MS,
        }
        results.append(Result("audit entry", {"concurrent": concurrent}, both, facts=facts))
    return results


def _postgres_s() -> float:
    """Processor time of every process of Postgres that this one has started."""
    found = [each for each in psutil.Process().children(recursive=True) if each.name() == "postgres"]
    return sum(sum(each.cpu_times()[:2]) for each in found)
