"""A stored plan: its record, its summary, pages of its partitions, and its difference from another plan.

Hashes of requests, and the seeds derived from them, give the same request without a seed the same answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson

from app.core import ENGINE_VERSION
from app.core.model import Broker, Cluster, Placement
from app.errors import Json
from app.errors.requests import ConflictingFields, PlanNotFound
from app.services import snapshots
from app.services.plans.status import PROPOSED
from app.store.records import NewPlan, PlanHead

if TYPE_CHECKING:
    from app.store.database import UnitOfWork
from hashlib import sha256

_RESOLVED = ("kind", "engine_version", "snapshot_content_hash")
"""Fields of a stored request that its caller did not state."""
JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


@dataclass(frozen=True, slots=True)
class Plan:
    """An immutable answer: its head, and the assignments in the request's order."""

    head: PlanHead
    placements: tuple[Placement, ...] = field(repr=False)


def load(uow: "UnitOfWork", plan_id: UUID) -> Plan:
    """The plan with its assignments, or `PlanNotFound`."""
    return Plan(uow.plans.get(plan_id), uow.plans.placements(plan_id))


def as_json(record: object) -> Any:
    """A record of the core as plain JSON values: dataclasses become objects, and every key a string."""
    return orjson.loads(orjson.dumps(record, option=JSON_OPTIONS))


def summary(head: PlanHead | NewPlan) -> dict[str, object]:
    """The fields of `ListedPlan`, of a whole plan; one that is not stored has neither id nor time."""
    return {
        "id": head.id if isinstance(head, PlanHead) else None,
        "kind": head.kind,
        "title": head.title,
        "summary": head.summary,
        "status": head.status if isinstance(head, PlanHead) else PROPOSED,
        "hash": head.hash,
        "engine_version": head.request.get("engine_version", ENGINE_VERSION),
        "created_at": head.created_at if isinstance(head, PlanHead) else None,
        "cluster": head.cluster,
        "snapshot_id": head.snapshot_id,
        "labels": head.labels,
        "prediction": head.answer["prediction"],
        "seed": head.answer["seed"],
    }


def request_of(head: PlanHead) -> dict[str, Json]:
    """The body of a request that makes a plan of one of these kinds again, on the newest snapshot of its cluster:
    a reassignment, a Streams plan, a restart, consumers over time.

    Stored requests of the other kinds have another form than those of the API.
    """
    body: dict[str, Json] = {
        name: value for name, value in head.request.items() if name not in _RESOLVED and value is not None
    }
    if head.cluster is not None and "brokers" not in body:
        body["cluster"] = head.cluster
    return body


def beside(head: PlanHead | NewPlan) -> dict[str, object]:
    """Further fields of a whole plan that were stored after it: notes, the history of changes, the entry of the ledger.

    Only a plan with an entry has the field `ledger`.
    """
    if isinstance(head, PlanHead):
        ledger = {} if head.ledger is None else {"ledger": head.ledger}
        return {"notes": head.notes, "history": head.history, **ledger}
    return {"notes": None, "history": []}


def made_on(uow: "UnitOfWork", head: PlanHead) -> Cluster:
    """The cluster that the plan was made on: its snapshot's, or the brokers of its request, if it has any."""
    if head.snapshot_id is not None:
        return snapshots.load(uow, head.snapshot_id)[1]
    listed: Any = head.request.get("brokers") or ()
    brokers = [
        Broker(broker["id"], broker["rack"], broker["fenced"], attributes=broker.get("attributes") or {})
        for broker in listed
    ]
    return Cluster(head.cluster or "", tuple(brokers))


@dataclass(frozen=True, slots=True)
class PlannedPartition:
    """One row of a plan: the brokers of a partition, or positions of its readers; the kind defines which."""

    topic: str
    partition: int
    row: Sequence[int]


@dataclass(frozen=True, slots=True)
class PartitionsPage:
    """Some partitions of a plan, their total number, and the offset of the next page; None on the last one."""

    items: Sequence[PlannedPartition]
    total: int
    next_offset: int | None


def partitions(uow: "UnitOfWork", plan_id: UUID, *, topic: str | None, offset: int, size: int) -> PartitionsPage:
    """A page of a plan's partitions, by topic in the plan's order and partition id; only the page's rows are read."""
    topics = [shape for shape in uow.plans.topics(plan_id) if topic is None or shape.name == topic]
    items: list[PlannedPartition] = []
    skipped = 0
    for shape in topics:
        start = max(offset - skipped, 0)
        stop = min(offset + size - skipped, shape.partitions)
        if start < stop:
            rows = uow.plans.rows(plan_id, shape, start=start, stop=stop).tolist()
            first = shape.first_partition_id + start
            items += [PlannedPartition(shape.name, first + i, row) for i, row in enumerate(rows)]
        skipped += shape.partitions
    return PartitionsPage(items, skipped, offset + size if offset + size < skipped else None)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two plans, or between a plan and the state before it.

    Parameters
    ----------
    summary : counts. total : the number of partitions that differ.
    items : differences start … stop − 1 of them, by topic and partition id, as JSON or records of the core.
    """

    summary: Mapping[str, Json]
    total: int
    items: Callable[[int, int], Sequence[object]]


def named_plan(uow: "UnitOfWork", plan: Plan, against: UUID) -> Plan | None:
    """The plan of the id `against`, or None if the id is not of a plan.

    Raises `ConflictingFields` where it is of another kind: the two have nothing in common.
    """
    try:
        named = load(uow, against)
    except PlanNotFound:
        return None
    if named.head.kind != plan.head.kind:
        detail = f"{against} is a {named.head.kind} plan, and a {plan.head.kind} plan is compared with one of its kind"
        raise ConflictingFields(detail, path=("against",), value=str(against))
    return named


LONGEST = 200
"""Characters of a title or summary at most: names of topics may have 249 each."""


def shortened(text: str) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def some(names: Sequence[str], *, noun: str, shown: int = 3) -> str:
    """All names if there are few, else the first ones and how many more: `a, b and 7 more topics`."""
    if len(names) <= shown:
        return ", ".join(names) or f"no {noun}"
    return f"{', '.join(names[: shown - 1])} and {len(names) - shown + 1} more {noun}s"


def at(cluster: str | None, preposition: str) -> str:
    """` on prod-eu`; empty if the plan is of no named cluster."""
    return f" {preposition} {cluster}" if cluster else ""


SEED_BITS = 48
"""A derived seed has as many bits as java.util.Random uses of one; JSON readers represent it exactly."""


def digest(canonical: Mapping[str, Json]) -> bytes:
    """The SHA-256 of a canonical request; the order of its fields does not count."""
    return sha256(orjson.dumps(canonical, option=orjson.OPT_SORT_KEYS)).digest()


def seed_of(request_digest: bytes) -> int:
    """The first `SEED_BITS` bits of a request's digest."""
    return int.from_bytes(request_digest[: SEED_BITS // 8])
