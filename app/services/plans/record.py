"""A stored plan: its record, its summary, pages of its partitions, and its difference from another plan.

Hashes of requests, and the seeds derived from them, give the same request without a seed the same answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import orjson
from pydantic import Field

from app.core.model import Broker, Cluster, Placement
from app.errors.every import ConflictingFields, Failure, Json, KafkaRefuses, PlanNotFound
from app.services import snapshots
from app.services.bodies import ABSENT, AnswerRecord
from app.store.records import PlanHead
from app.store.unit import UnitOfWork

_RESOLVED = ("kind", "engine_version", "snapshot_content_hash", "previous_snapshot_content_hash")
"""Fields of a stored request that its caller did not state."""
JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


@dataclass(frozen=True, slots=True)
class Plan:
    """An immutable answer: its head, and the assignments in the request's order."""

    head: PlanHead
    placements: tuple[Placement, ...] = field(repr=False)


def load(uow: UnitOfWork, plan_id: UUID) -> Plan:
    """The plan with its assignments, or `PlanNotFound`."""
    return Plan(uow.plans.get(plan_id), uow.plans.placements(plan_id))


class KafkaReleases(AnswerRecord):
    """Releases of Kafka, both included; an end without a patch number is all of its line."""

    from_: Annotated[str, Field(examples=["4.0.1"])]
    """The first release of Kafka with this answer."""
    to: Annotated[str, Field(examples=["4.4"])]
    """The last release of Kafka with this answer."""


class KafkaFailure(AnswerRecord, schema="FailureDocument"):
    """Why an assignor or a release has no answer: the behaviour of Kafka's own code."""

    code: str
    """Stable code of the failure, as in a problem document."""
    detail: str
    """The failure in a sentence, with its numbers."""
    kafka_exception: str | None = ABSENT
    """Class name of the exception that Kafka's own code raises; null if it is not known to raise one."""

    @classmethod
    def of_failure(cls, failure: Failure) -> Self:
        """The record of a failure."""
        exception = failure.kafka.exception if isinstance(failure, KafkaRefuses) else ABSENT
        return cls(failure.code, failure.detail, exception)


class DifferingRow(AnswerRecord):
    """A row of a plan, as a page of its partitions lists it, in the plan and in the answer of another release."""

    before: dict[str, Any]
    """The row of the plan, with the fields of the plan's page of partitions."""
    after: dict[str, Any]
    """The same row in the answer of the other release."""


class ComparedRelease(AnswerRecord):
    """The answer of another release, as its difference from the plan; `rows` has the first thousand."""

    kafka_version: str
    """The release that is compared."""
    kafka: KafkaReleases | None
    """The releases that have this other answer; null if none has."""
    differing: int | None
    """Number of rows that differ; null if the release has no answer."""
    rows: list[DifferingRow]
    """The first 1,000 rows that differ, in the order of the plan."""
    error: KafkaFailure | None
    """Why the release has no answer; null if it has one."""


class Certificate(AnswerRecord, schema="CertificateDocument", kw_only=True):
    """The quality of an answer and its proof: its value, and a lower bound that no answer can be below.

    `optimal`, `gap` and `solver` are in every certificate. For a reassignment it also has movement and its bounds;
    for a group the bound of each goal, in lexicographic order.
    """

    in_rack_bound: int | None = ABSENT
    """Upper bound on partitions that a balanced assignment of the group reads in rack."""
    moved_bound: int | None = ABSENT
    """Lower bound on moved partitions of such an assignment."""
    largest_load_bound: int | None = ABSENT
    """Lower bound on the largest load, if one is balanced."""
    moved_replicas: int | None = ABSENT
    """Replicas that Kafka has to copy; new partitions need no copies."""
    moved_bytes: int | None = ABSENT
    """Bytes of moved replicas whose size is known."""
    lower_bound_bytes: int | None = ABSENT
    """No plan within the constraints moves fewer bytes."""
    lower_bound_replicas: int | None = ABSENT
    """The same in replicas, if those are minimised."""
    unknown_size_replicas: int | None = ABSENT
    """Moved replicas of partitions of unknown size."""
    minimised: Literal["bytes", "replicas", "cost"] | None = ABSENT
    """Of a reassignment; `cost`: moved_bytes + bytes_per_replica × moved_replicas."""
    optimal: bool
    """Whether every goal reaches its lower bound."""
    gap: float
    """Relative optimality gap: (value − lower bound) / value; 0 if optimal."""
    constraints: list[str] | None = ABSENT
    """The constraints that the lower bound holds under."""
    solver: str
    """The solver that computed the answer and its bound."""
    bytes_per_replica: int | None = ABSENT
    """Cost of each moved replica beside its bytes, if the cost is minimised."""
    moved_cost: int | None = ABSENT
    """Moved bytes, and `bytes_per_replica` for each moved replica, if the cost is minimised."""
    lower_bound_cost: int | None = ABSENT
    """Lower bound of `moved_cost`."""
    seconds: float | None = ABSENT
    """Solver time, including leaders and batches."""


def as_json(record: object) -> Any:
    """A record of the core as plain JSON values: dataclasses become objects, and every key a string."""
    return orjson.loads(orjson.dumps(record, option=JSON_OPTIONS))


def own_fields(request: object, *left_out: str) -> dict[str, Any]:
    """The fields of a request as JSON, without its snapshot and release, which the pipeline has, and those left out."""
    left_out = (*left_out, "snapshot_id", "cluster", "kafka_version")
    return {name: value for name, value in as_json(request).items() if name not in left_out}


def request_of(head: PlanHead) -> dict[str, Json]:
    """The body of a request that makes a plan again, on the newest snapshot of its cluster."""
    body: dict[str, Any] = {
        name: value for name, value in head.request.items() if name not in _RESOLVED and value not in (None, {}, [])
    }
    if head.cluster is not None and "brokers" not in body:
        body["cluster"] = head.cluster
    if head.kind == "replicas" and head.answer["prediction"] != "replay":
        body.pop("seed", None)  # derived from the hash of the request
    if "assignors" in body:
        body["assignor"] = body.pop("assignors")
    configs = body.pop("configs", {})
    for name in body.keys() & {"topics", "events"}:
        body[name] = [_requested(each, configs) if isinstance(each, Mapping) else each for each in body[name]]
    return body


def _requested(item: Mapping[str, Any], configs: Mapping[str, Any]) -> dict[str, Any]:
    """A topic or an event of a stored request as the API has it."""
    replicas = [{"partition": at, "replicas": row} for at, row in enumerate(item.get("replicas") or ())]
    stated = {"partitions": replicas or item.get("partitions"), "configs": configs.get(item.get("name", ""))}
    return {name: value for name, value in {**item, **stated, "replicas": None}.items() if value not in (None, 0)}


def made_on(uow: UnitOfWork, head: PlanHead) -> Cluster:
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


def partitions(
    uow: UnitOfWork, plan_id: UUID, *, topic: str | None, offset: int, size: int
) -> tuple[Sequence[PlannedPartition], int]:
    """A page of a plan's partitions, by topic in the plan's order and partition id, and the number of all of them.

    Only the rows of the page are read.
    """
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
    return items, skipped


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


def named_plan(uow: UnitOfWork, plan: Plan, against: UUID) -> Plan | None:
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


def other_plan(uow: UnitOfWork, plan: Plan, against: UUID | None) -> Plan | None:
    """As `named_plan`, of an id that must be of a plan, or is None. Raises `PlanNotFound`, too."""
    other = None if against is None else named_plan(uow, plan, against)
    if against is not None and other is None:
        raise PlanNotFound(f"there is no plan {against}", path=("against",), value=str(against))
    return other


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
