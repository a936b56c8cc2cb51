"""`POST /v1/checks`: verify a reassignment of any origin, or report the health of a cluster."""

from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Body, Depends, Response
from pydantic import BaseModel, Field

from app.api import examples
from app.api.checks.requests import CheckRequest, run_check
from app.api.http.auth import RequestLimits, Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.api.http.json_bodies import JsonRoute
from app.api.models.clusters import WarningDocument
from app.api.plan_documents import AwareMeasures, DiffSummary
from app.api.problems.responses import responses
from app.api.reassignment.documents import BrokerLoads, CrossRackDocument
from app.core.measures.placement import PlacementMeasures
from app.core.measures.violations import Violation
from app.errors.access import IdempotencyKeyInFlight, UnsupportedMediaType
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
from app.errors.requests import (
    ConflictingFields,
    IllegalReassignment,
    MalformedText,
    SnapshotNotFound,
    UnsupportedKafkaVersion,
)
from app.services.checks import Check
from app.services.checks.health import FirstToFail, LeastRepair, OverLimit
from app.services.checks.verification import Changed
from app.services.fields import Id
from app.services.reassignment.requests.parts import Limited


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


class LogDirProgressDocument(BaseModel):
    """A replica that has not moved to its planned log directory."""

    broker: int
    """Id of its broker."""
    state: Literal["in_progress", "failed"]
    """`failed`: it is neither in the planned directory nor moving there."""
    planned: str | None
    """Path of the planned directory; null if the output does not have it."""


class PartitionProgressDocument(BaseModel):
    """A partition whose reassignment is not complete."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    state: Literal["in_progress", "failed"]
    """`failed`: no reassignment of it is active, and its replicas or their log directories are not the planned ones."""
    replicas: list[int] | None
    """Ids of the brokers with a replica in the snapshot, preferred leader first; null if it lacks the partition."""
    planned: list[int] | None
    """Ids of the planned brokers, preferred leader first; null if they are unknown."""
    log_dirs: list[LogDirProgressDocument]
    """Its replicas that have not moved to their planned log directories."""


class ProgressDocument(BaseModel):
    """The progress of a reassignment, by the output of `--verify`."""

    complete: int
    """Number of partitions with the planned replicas, in the planned log directories."""
    in_progress: int
    """Number of partitions that are still being reassigned, or of which replicas move between log directories."""
    failed: int
    """Number of partitions without an active reassignment and without the planned replicas, or of which a replica is
    neither in its planned log directory nor moving there."""
    not_reported: int
    """Number of planned partitions that the output does not have."""
    partitions: list[PartitionProgressDocument]
    """The first 100 partitions that are not complete, in the order of the output."""


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
    over_limit: list[OverLimit]
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
    kafka_version: str = Field(examples=["4.2.0"])
    """The release of Kafka that the check is for."""
    changed: Changed | None
    """What the newest snapshot has otherwise; null if `fresh`."""
    source: Literal["file", "generate", "execute", "verify"] | None
    """Which output of `kafka-reassign-partitions` was checked; null of a reassignment as JSON."""
    progress: ProgressDocument | None
    """What `--verify` reports; null of any other output."""
    loads: dict[str, BrokerLoads] | None = None
    """By broker id, the load of each resource of known load; absent of a reassignment without resources."""
    cross_rack: CrossRackDocument | None = None
    """Bytes/s between racks; absent of a reassignment without resources, null if they are unknown."""
    skew: dict[Limited, float] | None = None
    """By resource, the largest load above the mean: 0.1 is 10 %; absent of a reassignment without resources."""
    over_limit: list[OverLimit] | None = None
    """Brokers above a limit, by broker id and resource; absent of a reassignment without resources."""
    log_dirs_over_limit: list[LogDirOverLimit] | None = None
    """Log directories above a limit, by broker id and path; null if `limits.log_dirs` has none, and of a
    reassignment; absent of one without resources."""
    fails_first: list[FirstToFail] | None = None
    """What is nearest to a limit or capacity: before any loss, after the worst loss of a broker, and of a rack; absent
    of a reassignment without resources."""
    least_repair: LeastRepair | None = None
    """The least repair of a cluster as it is; null if the cluster cannot be repaired, which a warning explains. Of a
    reassignment it is null, and absent if the check has no resources."""
    losses: list[BrokerLossDocument] | None = None
    """What each loss leaves: brokers by id, then racks by name; null unless requested, absent if a reassignment is
    checked."""
    warnings: list[WarningDocument]
    """Conditions that did not prevent the check; empty if there are none."""


router = APIRouter(route_class=JsonRoute, prefix="/v1/checks", tags=["checks"])


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

    return once(lambda: _written(run_check(uow, body, limits)))


def _written(check: Check) -> Response:
    document = orjson.dumps(check.as_json(), option=orjson.OPT_NON_STR_KEYS)
    return Response(document, media_type="application/json")
