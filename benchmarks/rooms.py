"""Pages of a cluster with a thousand brokers and a million partitions, at their first view and again."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import httpx
import numpy as np
from fastapi import FastAPI

from app.core.model import Broker, Cluster, Topic
from app.services import snapshots
from app.services.limits import Limits
from app.services.snapshots import records
from app.store.database import Database
from app.web.access import OPEN
from app.web.clusters import cluster as pages
from benchmarks import service
from benchmarks.measure import Result, interleaved

BROKERS, TOPICS, PARTITIONS = 1_000, 10_000, 100
RUNS = 5
TARGET_MS = 1_000.0
MOST_BYTES = 1_000_000
ROOMS: Mapping[str, str] = {
    "Overview": "",
    "Brokers": "/brokers",
    "Topics": "/topics",
    "Groups": "/groups",
    "What if": "/what-if?lose=rack:rack-1",
    "Plans": "/plans",
    "History": "/history",
}


def run() -> Iterator[Result]:
    """Each page without what an earlier one has left in memory, and again."""
    with service.database() as database:
        with database.begin() as uow:
            snapshots.store(uow, _cluster(), Limits(max_brokers=BROKERS))
        for room, path in ROOMS.items():
            warm = _app(database)
            views: dict[str, Callable[[], bytes]] = {
                "first": partial(_first_view, database, path),
                "second": partial(_page, warm, path),
            }
            page_bytes = len(views["second"]())
            assert page_bytes <= MOST_BYTES, (room, page_bytes)
            for view, times in interleaved(views, runs=RUNS, warm_ups=1).items():
                yield Result(
                    name=f"{room}, {view} view",
                    parameters={"brokers": BROKERS, "partitions": TOPICS * PARTITIONS},
                    times=times,
                    target_ms=TARGET_MS,
                    facts={"page_bytes": page_bytes},
                )


def _app(database: Database) -> FastAPI:
    """The pages of clusters, with no analysis of a cluster in memory."""
    app = FastAPI()
    app.include_router(pages.router(database, OPEN))
    return app


def _first_view(database: Database, path: str) -> bytes:
    """The page, for which the snapshot is read and analysed; afterwards its cluster is in memory again."""
    other = Cluster("other", (), ())
    records.RECENT.keep("other", other, records.MOST_BYTES)  # drops every cluster before it
    return _page(_app(database), path)


def _page(app: FastAPI, path: str) -> bytes:
    async def send() -> bytes:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://rackplan.test") as client:
            response = await client.get(f"/clusters/million{path}")
            assert response.status_code == httpx.codes.OK, response.text
            return response.content

    return asyncio.run(send())


def _cluster() -> Cluster:
    """Replicas of each partition are on three of sixty neighbours, in six racks."""
    random = np.random.default_rng(7)
    none, ids = np.zeros((PARTITIONS, 0), np.int32), np.arange(PARTITIONS, dtype=np.int32)
    topics = []
    for number in range(TOPICS):
        lists = np.argsort(random.random((PARTITIONS, 60)), axis=1)[:, :3].astype(np.int32)
        lists = (lists + int(random.integers(BROKERS))) % BROKERS
        sizes = random.integers(1, 1 << 30, PARTITIONS)
        topics.append(Topic(f"topic-{number}", ids, lists, lists[:, 0].copy(), lists.copy(), none, none, sizes))
    return Cluster("million", tuple(Broker(each, f"rack-{each % 6}") for each in range(BROKERS)), tuple(topics))
