"""Stored reassignments to hand over: a small one that the eye can check, and Kafka's own from the captures."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID
from zlib import compress

import numpy as np

from app.core.model import UNKNOWN_SIZE, Assignment, Broker, Cluster, Int32s, Placement, Topic, padded
from app.errors import Json
from app.formats.kafka_files import reassignment
from app.services.plans import Plan
from app.store.records import NewPlan, PlanHead
from tests.formats.strategies import assembled, sample

MIB = 1 << 20
Step = tuple[str, int, Sequence[int], Sequence[int]]
"""A topic, a partition, its replicas before and after."""


def topic(name: str, replicas: Sequence[Sequence[int]], size_bytes: Sequence[int]) -> Topic:
    """A topic whose partitions are in sync."""
    rows = padded(replicas)
    no_ids = np.empty((len(rows), 0), np.int32)
    ids = np.arange(len(rows), dtype=np.int32)
    return Topic(name, ids, rows, rows[:, 0], rows, no_ids, no_ids, np.array(size_bytes, np.int64))


CLUSTER = Cluster(
    "prod-eu",
    (Broker(101, "az-a"), Broker(105, "az-b"), Broker(106, "az-b")),
    (
        topic("clicks", [[105, 101], [101, 106]], [UNKNOWN_SIZE, 2048]),
        topic("orders", [[101, 105], [105, 101]], [12 * MIB, MIB]),
    ),
)
PLACEMENTS = (
    Placement("clicks", 0, padded([[106, 101], [106, 101]])),
    Placement("orders", 0, padded([[101, 106], [107, 101], [106, 107]])),
)
"""105 is emptied, 107 comes, clicks-1 changes its leader, orders gets a partition."""
BATCHES: Sequence[Sequence[Step]] = (
    [("clicks", 0, [105, 101], [106, 101]), ("orders", 0, [101, 105], [101, 106])],
    [("orders", 1, [105, 101], [107, 101])],
    [("clicks", 1, [101, 106], [106, 101])],
)


CERTIFICATE: Mapping[str, Json] = {
    "moved_replicas": 3,
    "moved_bytes": 13 * MIB,
    "lower_bound_bytes": 13 * MIB,
    "lower_bound_replicas": None,
    "unknown_size_replicas": 1,
    "minimised": "bytes",
    "optimal": True,
    "gap": 0.0,
    "constraints": ["nothing stays on brokers 105"],
    "solver": "flow",
    "seconds": 0.012,
}


def plan(
    placements: Sequence[Placement] = PLACEMENTS,
    batches: Sequence[Sequence[Step]] = BATCHES,
    *,
    throttle: int | None = 50_000_000,
    removed: Sequence[int] = (),
    execution: Mapping[str, Json] | None = None,
) -> NewPlan:
    """A plan as the service keeps it; the last batch only reorders."""
    numbers = ((2, 12 * MIB, 1, throttle and 0.25), (1, MIB, 0, None), (0, 0, 0, None))
    batch_documents: list[Json] = [
        {
            "count": len(batch),
            "moves_data": replicas > 0,
            "moved_replicas": replicas,
            "moved_bytes": size,
            "unknown_size_replicas": unknown,
            "seconds": seconds,
        }
        for batch, (replicas, size, unknown, seconds) in zip(batches, numbers, strict=False)
    ]
    return NewPlan(
        kind="reassignment",
        hash="5eed",
        cluster="prod-eu",
        snapshot_id=None,
        labels={},
        request={
            "add_brokers": [{"id": 107, "rack": "az-b"}],
            "remove_brokers": list(removed),
            "topics": None,
            "balance": {"leaders": "keep"},
            "batches": {"throttle_bytes_per_s": throttle},
        },
        answer={
            "prediction": "pinned",
            "seed": None,
            "certificate": CERTIFICATE,
            "leader_changes": 3,
            "measures": {"rack_safe_share": 1.0},
            "violations": [],
            "warnings": [],
            "batches": batch_documents,
            "execution": execution,
            "kept_steps": kept_steps(batches),
        },
        placements=placements,
    )


def as_stored(new: NewPlan) -> Plan:
    """The plan as it is read again."""
    head = PlanHead(
        UUID(int=7),
        new.kind,
        new.hash,
        new.cluster,
        new.snapshot_id,
        new.labels,
        new.request,
        new.answer,
        datetime(2026, 1, 1, tzinfo=UTC),
    )
    return Plan(head, tuple(new.placements))


def kept_steps(batches: Sequence[Sequence[Step]]) -> Mapping[str, Json]:
    """Batches as an answer keeps them."""
    steps = [step for batch in batches for step in batch]
    names = sorted({name for name, *_ in steps})
    before, after = padded([step[2] for step in steps]), padded([step[3] for step in steps])
    width = max(before.shape[1], after.shape[1], 1)
    return {
        "topics": names,
        "width": width,
        "offsets": np.cumsum([0, *map(len, batches)]).tolist(),
        "topic_of": _packed(np.array([names.index(step[0]) for step in steps], np.int32)),
        "partition_ids": _packed(np.array([step[1] for step in steps], np.int32)),
        "before": _packed(before),
        "after": _packed(after),
    }


def captured() -> Cluster:
    """The captured cluster."""
    return assembled(
        "captured",
        brokers=sample("kafka-broker-api-versions.txt"),
        topics=sample("kafka-topics-describe.txt"),
        log_dirs=sample("kafka-log-dirs-describe.txt"),
    ).cluster


def kafkas_own() -> NewPlan:
    """The proposal of `--generate` for it, in one batch."""
    documents = (reassignment.read(sample(f"reassignment-{name}.json")).partitions for name in ("current", "proposed"))
    current, proposed = ({(its.topic, its.partition): its.replicas for its in listed} for listed in documents)
    steps = [(name, partition, current[name, partition], ids) for (name, partition), ids in proposed.items()]
    names = sorted({name for name, _ in proposed})
    rows = {name: [ids for (its, _), ids in sorted(proposed.items()) if its == name] for name in names}
    placements = [Placement(name, 0, padded(rows[name])) for name in names]
    return plan(placements, [[step for step in steps if step[2] != step[3]], []], throttle=None)


def assignments(placements: Sequence[Placement]) -> dict[str, Assignment]:
    """By topic."""
    return {placement.topic: placement.assignment for placement in placements}


def _packed(numbers: Int32s) -> str:
    return b64encode(compress(np.ascontiguousarray(numbers, "<i4").tobytes(), 1)).decode()
