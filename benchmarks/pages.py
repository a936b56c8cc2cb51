"""Pages of a snapshot of 1,000 partitions and of a plan over it, beside the same things as JSON."""

from collections.abc import Callable, Iterator
from functools import partial

import httpx
import numpy as np

from benchmarks import service
from benchmarks.measure import Floor, Result, interleaved
from benchmarks.service import Service

BROKERS, TOPICS, PARTITIONS = 30, 10, 100
RUNS = 50
WARM_UPS = 5
TARGET_RATIO = 5


def run() -> Iterator[Result]:
    """The page of the cluster, with a lost rack, and the page of the plan."""
    with service.running() as running:
        snapshot = _created(running, "/v1/snapshots", _snapshot())
        plan = _created(running, "/v1/plans/reassignment", {"cluster": "thousand", "remove_brokers": [3]})
        for page, document in (
            ("/clusters/thousand", f"/v1/snapshots/{snapshot}"),
            ("/clusters/thousand?lose=rack:az-1&measure=leaders", f"/v1/snapshots/{snapshot}"),
            (f"/plans/{plan}", f"/v1/plans/{plan}"),
        ):
            calls: dict[str, Callable[[], object]] = {
                path: partial(_content, running.client, path) for path in (page, document)
            }
            times = interleaved(calls, runs=RUNS, warm_ups=WARM_UPS)
            yield Result(
                name=f"GET {page.replace(plan, '{id}')}",
                parameters={"brokers": BROKERS, "partitions": TOPICS * PARTITIONS},
                times=times[page],
                floor=Floor("the same as JSON", times[document]),
                is_in_process=False,
                target_ratio=TARGET_RATIO,
                facts={"answer_bytes": len(_content(running.client, page))},
            )


def _snapshot() -> object:
    random = np.random.default_rng(7)
    topics = []
    for number in range(TOPICS):
        lists = np.argsort(random.random((PARTITIONS, BROKERS)), axis=1)[:, :3].tolist()
        rows = [
            {
                "partition": at,
                "replicas": each,
                "leader": each[0],
                "isr": each,
                "size_bytes": int(random.integers(1 << 30)),
            }
            for at, each in enumerate(lists)
        ]
        topics.append({"name": f"payments-{number}", "partitions": rows})
    brokers = [{"id": broker, "rack": f"az-{broker % 3}"} for broker in range(BROKERS)]
    return {"cluster": "thousand", "brokers": brokers, "topics": topics}


def _created(running: Service, path: str, body: object) -> str:
    response = running.client.post(path, json=body)
    assert response.status_code == httpx.codes.CREATED, response.text
    identity: str = response.json()["id"]
    return identity


def _content(client: httpx.Client, path: str) -> bytes:
    response = client.get(path)
    assert response.status_code == httpx.codes.OK, response.text
    return response.content
