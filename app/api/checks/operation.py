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
from app.services.checks.health import FirstToFail, LeastRepair, LogDirOverLimit
from app.services.checks.minimum import Minimum
from app.services.checks.progress import Progress
from app.services.checks.verification import Changed
from app.services.fields import Id
from app.services.reassignment.reports.loads import BrokerLoads, CrossRackReport
from app.services.reassignment.reports.losses import LossReport, OverLimit
from app.services.reassignment.requests.parts import Limited


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
    minimum: Minimum | None
    """The least movement with the same end; null of a cluster as it is."""
    fresh: bool
    """Whether no newer snapshot of the cluster differs from the checked one."""
    kafka_version: str = Field(examples=["4.2.0"])
    """The release of Kafka that the check is for."""
    changed: Changed | None
    """What the newest snapshot has otherwise; null if `fresh`."""
    source: Literal["file", "generate", "execute", "verify"] | None
    """Which output of `kafka-reassign-partitions` was checked; null of a reassignment as JSON."""
    progress: Progress | None
    """What `--verify` reports; null of any other output."""
    loads: dict[str, BrokerLoads] | None = None
    """By broker id, the load of each resource of known load; absent of a reassignment without resources."""
    cross_rack: CrossRackReport | None = None
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
    losses: list[LossReport] | None = None
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
