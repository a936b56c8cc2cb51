"""`POST /v1/plans/group`: the partitions of each consumer-group member, and what events do to them."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Response

from app.api import examples
from app.api.dependencies import RequestLimits, Uow, json_only
from app.api.groups.documents import GroupPlanDocument
from app.api.groups.requests import PlanGroupRequest
from app.api.idempotency import OnceOnly
from app.api.planned import LATER, IfMatch, Prefer, planned
from app.api.problems import responses
from app.errors.access import IdempotencyKeyInFlight, UnsupportedMediaType
from app.errors.kafka import (
    AssignorLosesCount,
    AssignorNeverEnds,
    CorruptProtocolBytes,
    NoMembers,
    OwnedPartitionMissing,
    PartitionsLeftUnassigned,
)
from app.errors.lookups import SnapshotNotFound
from app.errors.requests import (
    ConflictingFields,
    DuplicateBroker,
    DuplicateMember,
    DuplicateTopic,
    LimitExceeded,
    SnapshotChanged,
)
from app.errors.texts import MalformedText
from app.services.groups import PLANNER

router = APIRouter(prefix="/v1/plans", tags=["plans"])


@router.post(
    "/group",
    status_code=201,
    operation_id="plan_group",
    summary="Predict the assignment of a consumer group",
    dependencies=[Depends(json_only)],
    response_model=GroupPlanDocument,
    responses=responses(
        SnapshotNotFound,
        SnapshotChanged,
        LimitExceeded,
        ConflictingFields,
        DuplicateMember,
        DuplicateBroker,
        DuplicateTopic,
        MalformedText,
        CorruptProtocolBytes,
        NoMembers,
        OwnedPartitionMissing,
        PartitionsLeftUnassigned,
        AssignorLosesCount,
        AssignorNeverEnds,
        UnsupportedMediaType,
        IdempotencyKeyInFlight,
        others=LATER,
    ),
)
def plan_group(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[PlanGroupRequest, Body(openapi_examples=examples.GROUP_REQUEST)],
    prefer: Prefer = None,
    if_match: IfMatch = None,
) -> Response:
    """Predict the assignment after the group has rebalanced, equal to that of Kafka's own assignor: the partitions that
    move, the reads across racks, and the optimum, with its certificate.

    `events` are applied in order, and each returns a step. Several assignors are compared. Silent behaviour of Kafka
    (ignored racks, partitions of topics without subscription) is in `warnings`.
    """

    return planned(
        uow,
        once,
        limits,
        PLANNER,
        body.service,
        prefer=prefer,
        if_match=if_match,
    )
