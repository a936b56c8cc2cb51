"""Restart waves of clusters that Kafka's own placer filled: their number beside its lower bound, and the time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from app.core.model import Broker, Cluster, NewTopic, Topic
from app.services import replicas, restarts
from app.services.limits import Limits
from app.services.plans import draft_plan
from benchmarks.measure import Result, interleaved

RUNS = 3
PARTITIONS = 50
"""Partitions of a topic."""
TARGET_MS = 5_000
LIMITS = Limits(max_topics=10_000)


@dataclass(frozen=True, slots=True)
class Case:
    """A cluster with replicas of factor 3, two of which have to be in sync, and what a request states."""

    brokers: int
    topics: int
    racks: int = 3
    request: Mapping[str, Any] = field(default_factory=lambda: {"max_brokers_per_wave": 10})


CASES = (
    Case(60, 400),
    Case(60, 400, request={"per": "rack", "max_brokers_per_wave": 10}),
    Case(300, 2_000),
    Case(300, 2_000, racks=1),
    Case(300, 2_000, request={"max_brokers_per_wave": 10, "limits": {"leaders": {"absolute": 416}}}),
)


def run() -> Iterator[Result]:
    """Measure every case."""
    for case in CASES:
        cluster, request = _cluster(case), restarts.READER.validate_python(case.request)
        plan = partial(draft_plan, restarts.PLANNER, request, cluster, LIMITS)
        certificate: Any = plan().answer["certificate"]
        times = interleaved({"restart": plan}, runs=RUNS)["restart"]
        yield Result(
            "restart_waves",
            {"brokers": case.brokers, "partitions": case.topics * PARTITIONS, "racks": case.racks, **case.request},
            times,
            target_ms=TARGET_MS,
            facts={name: certificate[name] for name in ("waves", "lower_bound_waves")},
        )


def _cluster(case: Case) -> Cluster:
    brokers = tuple(Broker(place, f"rack-{place % case.racks}") for place in range(case.brokers))
    topics = [NewTopic(f"t{number:04}", PARTITIONS, 3) for number in range(case.topics)]
    request = replicas.ReplicasRequest(topics, algorithm="striped", seed=1)
    placed = draft_plan(replicas.PLANNER, request, Cluster("c", brokers), LIMITS).placements
    ids, nothing = np.arange(PARTITIONS, dtype=np.int32), np.empty((PARTITIONS, 0), np.int32)
    sizes = np.full(PARTITIONS, 1 << 20)
    return Cluster(
        "c",
        brokers,
        tuple(
            Topic(
                *(each.topic, ids, each.replicas, each.replicas[:, 0], each.replicas, nothing, nothing, sizes),
                configs={"min.insync.replicas": "2"},
            )
            for each in placed
        ),
    )
