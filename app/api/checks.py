"""`/v1/checks`: is this assignment, made by anyone, legal, rack-safe and still fresh?"""

from typing import Annotated, Literal, cast
from uuid import UUID

import orjson
from fastapi import APIRouter, Body, Depends, Response
from pydantic import BaseModel, Field, TypeAdapter

from app.api import examples
from app.api.http.dependencies import RequestLimits, Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.api.models.fields import Id, Int32, Rack, RequestedRelease, TopicName
from app.api.models.fields import Request as RequestModel
from app.api.models.snapshot_choice import OnSnapshot
from app.api.models.warnings import WarningDocument
from app.api.plan_documents import AwareMeasures, DiffSummary
from app.api.problems.documents import responses
from app.api.reassignment.load_documents import BrokerLoads, CrossRackDocument
from app.api.reassignment.resource_fields import ResourceFields
from app.core.measures.movement import PartitionChange
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation
from app.errors.access import IdempotencyKeyInFlight, UnsupportedMediaType
from app.errors.lookups import SnapshotNotFound
from app.errors.reassignments import (
    CapacityMissing,
    LogDirsMissing,
    RatesMissing,
    ReassignmentUnderWay,
    SizesMissing,
    UnknownBroker,
    UnknownLogDir,
    UnknownRack,
    UnknownTopic,
)
from app.errors.requests import ConflictingFields, IllegalReassignment, UnsupportedKafkaVersion
from app.errors.texts import MalformedText
from app.formats.kafka_files.reassignment import Reassignment
from app.services import checks
from app.services.limits import Limits
from app.services.reassignment.requests.resources import Limited
from app.store.database import UnitOfWork

router = APIRouter(prefix="/v1/checks", tags=["checks"])


_REASSIGNMENT = TypeAdapter(Reassignment)
_HEALTH = TypeAdapter(checks.HealthRequest)


class ReassignedPartition(RequestModel):
    """One partition of a reassignment, as `kafka-reassign-partitions` writes it."""

    topic: TopicName
    """Name of the topic."""
    partition: Int32
    """Id of the partition in its topic."""
    replicas: list[Int32]
    """Target replicas as broker ids, the preferred leader first."""
    log_dirs: list[str] | None = None
    """Log directory of each replica, in the order of `replicas`, or `any`; null for none."""


class ReassignmentFile(RequestModel):
    """The JSON file that `kafka-reassign-partitions` takes."""

    version: Literal[1] = 1
    """Version of the file's format."""
    partitions: Annotated[list[ReassignedPartition], Field(min_length=1)]
    """Partitions to reassign, each once."""


class LossesFields(RequestModel):
    """Brokers and racks that are lost, each alone."""

    brokers: Annotated[list[Int32], Field(max_length=10_000)] | None = None
    """Ids of brokers."""
    racks: Annotated[list[Rack], Field(max_length=10_000)] | None = None
    """Names of racks."""


class CheckRequest(ResourceFields, OnSnapshot):
    """A reassignment and the cluster that it is for; or the cluster as it is, with what its brokers can take."""

    requires_snapshot = True
    reassignment: ReassignmentFile | None = None
    """The reassignment, as the file that `kafka-reassign-partitions` takes; null if `output` has it. Without both, the
    cluster is checked as it is."""
    output: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="What `kafka-reassign-partitions` printed, unchanged and recognized by its contents: of "
        "`--generate` the proposed lists are checked, of `--execute` the previous ones, which a rollback restores; of "
        "`--verify` the answer has the `progress` of each partition beside what was planned, which is `reassignment` "
        "if it is given too.",
    )
    losses: Literal["all"] | LossesFields | None = Field(
        None,
        description="Of a cluster as it is: the answer has the load of every remaining broker after the loss of each "
        f"broker and each rack, or of those listed; at most {checks.MOST_LOADS_OF_LOSSES} loads.",
    )
    running_reassignment: Literal["refuse", "merge"] = Field(
        "merge",
        description="Partitions that are being reassigned: `merge` checks from their target replicas, with a warning; "
        "`refuse` returns 409.",
    )
    kafka_version: RequestedRelease = None

    def health(self) -> checks.HealthRequest:
        """The request of the service for a cluster as it is."""
        plain = self.model_dump(include={*ResourceFields.model_fields, "losses"})
        return _HEALTH.validate_python(plain | ({"losses": {}} if self.losses == "all" else {}))

    @property
    def is_of_cluster(self) -> bool:
        """Whether the cluster is checked as it is. Raises `ConflictingFields` if a reassignment has resources."""
        if self.reassignment is None and self.output is None:
            return True
        for name in (*ResourceFields.model_fields, "losses"):
            if name in self.model_fields_set:
                detail = f"{name} is about the cluster as it is, and a reassignment is checked; leave one of them out"
                raise ConflictingFields(detail, path=(name,))
        return False


class LeastMovement(BaseModel):
    """What has to be copied at least; `optimal` where that is proven."""

    moved_replicas: int
    """Number of replicas that have to be copied."""
    moved_bytes: int
    """Bytes that have to be copied, of replicas of known size."""
    optimal: bool
    """Whether the movement is proven to be the least."""


class MinimumDocument(LeastMovement):
    """What the same end takes at least: as many replicas of each partition, the same brokers emptied, and, where the
    reassignment leaves every partition so, spread over racks. `as_even` keeps replicas as even over brokers, too.
    """

    as_even: LeastMovement
    """The least movement if replicas stay as balanced over brokers as in the reassignment, too."""
    minimised: Literal["bytes", "replicas"]
    """Whether bytes are minimised, or replicas, as when the size of any partition is unknown."""
    emptied_brokers: list[int]
    """Ids of brokers that the reassignment empties, ascending; the minimum empties them as well."""
    spread_over_racks: bool
    """Whether the minimum spreads every partition over racks, as the reassignment does."""


class ChangedDocument(BaseModel):
    """Reassigned partitions that the newest snapshot has otherwise: the first of them, and how many there are."""

    snapshot_id: Id
    """Id of the newest snapshot of the cluster."""
    count: int
    """Number of reassigned partitions that it has otherwise."""
    partitions: list[PartitionChange]
    """The first of these partitions: their replicas in the checked snapshot and in the newest one."""


class PartitionProgressDocument(BaseModel):
    """A partition whose reassignment is not complete."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    state: Literal["in_progress", "failed"]
    """`failed`: no reassignment of it is active, and its replicas are not the planned ones."""
    replicas: list[int] | None
    """Ids of the brokers with a replica in the snapshot, preferred leader first; null if it lacks the partition."""
    planned: list[int] | None
    """Ids of the planned brokers, preferred leader first; null if they are unknown."""


class ProgressDocument(BaseModel):
    """The progress of a reassignment, by the output of `--verify`."""

    complete: int
    """Number of partitions with the planned replicas."""
    in_progress: int
    """Number of partitions that are still being reassigned."""
    failed: int
    """Number of partitions without an active reassignment and without the planned replicas."""
    not_reported: int
    """Number of planned partitions that the output does not have."""
    partitions: list[PartitionProgressDocument]
    """The first 100 partitions that are not complete, in the order of the output."""


class OverLimitDocument(BaseModel):
    """A broker above the limit of a resource."""

    broker: int
    """Id of the broker."""
    resource: Limited
    """Resource that is limited."""
    value: float
    """Its load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit of the broker, in the same unit."""


class LogDirOverLimit(BaseModel):
    """A log directory above its limit."""

    broker: int
    """Id of the broker."""
    log_dir: str
    """Path of the directory."""
    value: int
    """Bytes of its replicas."""
    limit: int
    """Bytes that it may have."""


class FirstToFailDocument(BaseModel):
    """The load that is nearest to its limit, or farthest above it, after the worst loss of a kind. A resource without a
    limit has its capacity as limit.
    """

    loss: Literal["none", "broker", "rack"]
    """What is lost: nothing, one broker, or one rack."""
    lost_broker: int | None
    """Id of the lost broker; null if no broker is lost, or no loss adds load."""
    lost_rack: str | None
    """Name of the lost rack; null if no rack is lost, or no loss adds load."""
    broker: int
    """Id of the broker with the load."""
    resource: Limited
    """Resource of the load."""
    value: float
    """The load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit of the broker, in the same unit."""
    share: float
    """Load as a share of the limit; it fails above 1."""


class LeastRepairDocument(BaseModel):
    """The least movement between brokers after which every partition spans as many racks as it can, every hard limit
    holds, and no broker has more bytes than the limits of its log directories together.
    """

    moved_bytes: int
    """Bytes that are copied, of replicas of known size."""
    moved_replicas: int
    """Number of replicas that are copied."""
    lower_bound_bytes: int
    """No repair moves fewer bytes."""


class BrokerLossDocument(BaseModel):
    """The loss of one broker or one rack. The first remaining replica in sync leads, in the order of the list."""

    lost_broker: int | None
    """Id of the lost broker; null if a rack is lost."""
    lost_rack: str | None
    """Name of the lost rack; null if a broker is lost."""
    offline_partitions: int
    """Number of partitions without a replica in sync to lead them."""
    elected_partitions: int
    """Number of partitions that get another leader."""
    reduced_partitions: int
    """Number of partitions that have fewer replicas."""
    loads: dict[str, dict[Limited, float]]
    """By id of each remaining broker, its load of each resource: bytes, bytes/s, vCPU or a count."""
    over_limit: list[OverLimitDocument]
    """Loads above a limit, or above the capacity if there is no limit, by broker id and resource."""


class CheckDocument(BaseModel):
    """What there is to say about the cluster once the reassignment is done, or about the cluster as it is.

    `violations` and `measures` are of the reassigned partitions, by attribute too where the brokers have some;
    `movement` says what has to be copied, `minimum` what the same end takes at least; `fresh` whether the cluster was
    last seen in the state of this snapshot, and `changed` what is otherwise where it was not.
    """

    snapshot_id: Id
    """Id of the snapshot that was checked against."""
    snapshot_content_hash: str
    """Content hash of this snapshot, in hexadecimal."""
    violations: list[Violation]
    """Ways in which the result is illegal or fragile, by topic; empty if there are none."""
    measures: PlacementMeasures | AwareMeasures
    """Balance over brokers, rack safety and the cost of each loss, of the reassigned partitions."""
    movement: DiffSummary | None
    """Counts of what changes, of which Kafka copies `replicas_added`; null of a cluster as it is."""
    minimum: MinimumDocument | None
    """The least movement with the same end; null of a cluster as it is."""
    fresh: bool
    """Whether no newer snapshot of the cluster differs from the checked one."""
    kafka_version: str = Field(description="The release of Kafka that the check is for.", examples=["4.2.0"])
    changed: ChangedDocument | None
    """What the newest snapshot has otherwise; null if `fresh`."""
    source: Literal["file", "generate", "execute", "verify"] | None
    """Which output of `kafka-reassign-partitions` was checked; null of a reassignment as JSON."""
    progress: ProgressDocument | None
    """What `--verify` reports; null of any other output."""
    loads: dict[str, BrokerLoads] | None = Field(
        None,
        description="By broker id, the load of each resource of known load; absent if a reassignment is checked.",
    )
    cross_rack: CrossRackDocument | None = Field(
        None, description="Bytes/s between racks; absent if a reassignment is checked, null if they are unknown."
    )
    skew: dict[Limited, float] | None = Field(
        None,
        description="By resource, the largest load above the mean: 0.1 is 10 %; absent if a reassignment is checked.",
    )
    over_limit: list[OverLimitDocument] | None = Field(
        None,
        description="Brokers above a limit, by broker id and resource; absent if a reassignment is checked.",
    )
    log_dirs_over_limit: list[LogDirOverLimit] | None = Field(
        None,
        description="Log directories above a limit, by broker id and path; null if `limits.log_dirs` has none, absent "
        "if a reassignment is checked.",
    )
    fails_first: list[FirstToFailDocument] | None = Field(
        None,
        description="What is nearest to a limit or capacity: before any loss, after the worst loss of a broker, and of "
        "a rack; absent if a reassignment is checked.",
    )
    least_repair: LeastRepairDocument | None = Field(
        None, description="The least repair; absent if a reassignment is checked, null if there is none (a warning)."
    )
    losses: list[BrokerLossDocument] | None = Field(
        None,
        description="What each loss leaves: brokers by id, then racks by name; null unless requested, absent if a "
        "reassignment is checked.",
    )
    warnings: list[WarningDocument]
    """Conditions that did not prevent the check; empty if there are none."""


@router.post(
    "",
    operation_id="check_reassignment",
    summary="Verify a reassignment from any source, or a cluster as it is",
    dependencies=[Depends(json_only)],
    response_model=CheckDocument,
    responses=responses(
        SnapshotNotFound,
        ConflictingFields,
        MalformedText,
        IllegalReassignment,
        UnknownBroker,
        UnknownRack,
        UnknownTopic,
        CapacityMissing,
        LogDirsMissing,
        UnknownLogDir,
        RatesMissing,
        SizesMissing,
        UnsupportedKafkaVersion,
        ReassignmentUnderWay,
        UnsupportedMediaType,
        IdempotencyKeyInFlight,
    ),
)
def check(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[CheckRequest, Body(openapi_examples=examples.CHECK_REQUEST)],
) -> Response:
    """Check a reassignment: its violations, its balance, the bytes that it copies and the lower bound for the same end,
    and whether the cluster has changed since the snapshot. If Kafka rejects it as a whole (an unknown broker or
    partition, a replica listed twice), the answer is a problem that names each place.

    The reassignment is JSON, or the `output` of `kafka-reassign-partitions`: of `--verify` the answer has the progress.
    Without both, the cluster is checked as it is: violations, loads of brokers, what is above a limit, what fails first
    when a broker or a rack is lost, and the least movement that repairs racks and limits.
    """

    return once(lambda: _written(answered(uow, body, limits)))


def answered(uow: UnitOfWork, body: CheckRequest, limits: Limits) -> checks.Check:
    """What a request for a check has as its answer. Raises the `Failure`s of checking."""
    given, version = body.reassignment, body.kafka_version
    snapshot_id = cast("UUID", body.on_newest(uow).snapshot_id)
    if body.is_of_cluster:
        return checks.check_health(uow, snapshot_id, body.health(), limits, version)
    return checks.check(
        uow,
        snapshot_id,
        None if given is None else _REASSIGNMENT.validate_python(given.model_dump(exclude={"version"})),
        limits,
        running_reassignment=body.running_reassignment,
        output=body.output,
        kafka_version=version,
    )


def _written(check: checks.Check) -> Response:
    document = orjson.dumps(check.as_json(), option=orjson.OPT_NON_STR_KEYS)
    return Response(document, media_type="application/json")
