"""Reassignments: three brokers removed from a large cluster, with leaders, batches and the certificate.

A thousand topics over 300 brokers in three racks, placed as AdminUtils does and so uneven by bytes; every partition has
1 to 1,000 bytes. Timed is all that the service does but HTTP and Postgres.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from app.core.jvm import JavaRandom
from app.core.model import Cluster, Int32s, NewTopic, Topic
from app.core.replicas.registry import PLACEMENTS, place_topics
from app.errors import Json
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, ReassignmentRequest
from app.store.records import NewPlan
from benchmarks.clusters import FIRST_ID, brokers
from benchmarks.measure import Floor, Result, interleaved

TOPICS = 1_000
BROKERS = 300
REMOVED = (FIRST_ID, FIRST_ID + 3, FIRST_ID + 6)


@dataclass(frozen=True, slots=True)
class Case:
    """So many partitions, and how even what is left is to be."""

    partitions: int
    balance: Mapping[str, Any]
    target_ms: float | None
    runs: int = 5


CASES = (
    Case(100_000, {"replicas": "keep"}, target_ms=2_000),
    Case(100_000, {"replicas": "tight", "leaders": "tight"}, target_ms=2_000),
    Case(100_000, {"replicas": "tight", "replicas_by": "bytes"}, target_ms=10_000),
    Case(1_000_000, {"replicas": "keep"}, target_ms=30_000, runs=3),
    Case(1_000_000, {"replicas": "tight", "leaders": "tight"}, target_ms=30_000, runs=3),
)


def run() -> Iterator[Result]:
    """Measure every case; what each answer proves is printed beside its time."""
    for case in CASES:
        cluster = cluster_of(case.partitions)
        request = ReassignmentRequest(remove_brokers=REMOVED, balance=BalanceRequest(**case.balance))
        call = partial(draft_plan, PLANNER, request, cluster, Limits())
        with _PeakMemory() as peak:
            found = call()
        result = [placement.replicas for placement in found.placements]
        times = interleaved({"plan": call, "copy": partial(_copied, result)}, runs=case.runs, warm_ups=0)
        yield Result(
            "reassignment",
            {"partitions": case.partitions, "replication_factor": 3, "brokers": BROKERS, "removed": 3, **case.balance},
            times["plan"],
            Floor("copying the result", times["copy"]),
            target_ms=case.target_ms,
            facts=_proof(found) | {"peak_memory_mib": peak.mib},
        )


def _proof(found: NewPlan) -> dict[str, Json]:
    certificate: Any = found.answer["certificate"]
    batches: Any = found.answer["batches"]
    named = ("moved_replicas", "moved_bytes", "lower_bound_bytes", "gap", "optimal")
    return {name: certificate[name] for name in named} | {"batches": len(batches)}


def _copied(result: list[Int32s]) -> list[Int32s]:
    return [replicas.copy() for replicas in result]


@cache
def cluster_of(partitions: int, number: int = TOPICS) -> Cluster:
    """So many topics of `partitions` in all over 300 brokers, as AdminUtils places them."""
    listed = brokers(BROKERS, racks="even")
    topics = [NewTopic(f"topic-{index:04}", partitions // number, 3) for index in range(number)]
    placements = place_topics(PLACEMENTS["admin_utils"], listed, topics, random=JavaRandom(1), fixed_start_index=None)
    random = np.random.default_rng(1)
    nothing = np.empty((partitions // number, 0), np.int32)
    return Cluster(
        "benchmark",
        listed,
        tuple(
            Topic(
                name=placement.topic,
                partition_ids=placement.assignment.partition_ids,
                replicas=placement.replicas,
                leaders=placement.replicas[:, 0],
                isr=placement.replicas,
                adding=nothing,
                removing=nothing,
                size_bytes=random.integers(1, 1_001, len(placement.replicas)),
            )
            for placement in placements
        ),
    )


class _PeakMemory:
    """The most that this process had resident within, in MiB; Linux resets an earlier peak on request."""

    mib = 0

    def __enter__(self) -> "_PeakMemory":
        Path("/proc/self/clear_refs").write_text("5")
        return self

    def __exit__(self, *_: object) -> None:
        lines = Path("/proc/self/status").read_text().splitlines()
        peak = next(line for line in lines if line.startswith("VmHWM:"))
        self.mib = int(peak.split()[1]) // 1024
