"""`/v1/plans/reassignment`: brokers that come and go, factors and racks that change, with the least movement."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Response

from app.api.dependencies import RequestLimits, Uow, json_only
from app.api.idempotency import OnceOnly
from app.api.planned import LATER, IfMatch, Prefer, planned
from app.api.problems import responses
from app.api.reassignment.documents import ReassignmentPlanDocument
from app.api.reassignment.examples import REASSIGNMENT_REQUEST
from app.api.reassignment.requests import PlanReassignmentRequest
from app.errors.access import IdempotencyKeyInFlight, UnsupportedMediaType
from app.errors.kafka import BrokersWithoutRack, InvalidPartitions, InvalidReplicationFactor
from app.errors.lookups import SnapshotNotFound
from app.errors.reassignments import (
    BrokerExists,
    BudgetBelowMinimum,
    NotFeasible,
    PinContradicted,
    RatesMissing,
    ReassignmentUnderWay,
    SizesMissing,
    UnknownBroker,
    UnknownRack,
    UnknownTopic,
)
from app.errors.requests import (
    BatchesOutOfDisk,
    ConflictingFields,
    DuplicateBroker,
    DuplicatePartition,
    DuplicateTopic,
    LimitExceeded,
    MoveExceedsBatchLimit,
    SnapshotChanged,
    UnknownPartition,
)
from app.services.reassignment import PLANNER

router = APIRouter(prefix="/v1/plans", tags=["plans"])


@router.post(
    "/reassignment",
    status_code=201,
    operation_id="plan_reassignment",
    summary="Change a cluster with the least movement",
    dependencies=[Depends(json_only)],
    response_model=ReassignmentPlanDocument,
    responses=responses(
        SnapshotNotFound,
        SnapshotChanged,
        LimitExceeded,
        ConflictingFields,
        DuplicateBroker,
        DuplicateTopic,
        DuplicatePartition,
        UnknownBroker,
        UnknownTopic,
        UnknownPartition,
        UnknownRack,
        BrokerExists,
        InvalidPartitions,
        InvalidReplicationFactor,
        BrokersWithoutRack,
        NotFeasible,
        PinContradicted,
        BudgetBelowMinimum,
        RatesMissing,
        SizesMissing,
        MoveExceedsBatchLimit,
        BatchesOutOfDisk,
        ReassignmentUnderWay,
        UnsupportedMediaType,
        IdempotencyKeyInFlight,
        others=LATER,
    ),
)
def plan_reassignment(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[PlanReassignmentRequest, Body(openapi_examples=REASSIGNMENT_REQUEST)],
    prefer: Prefer = None,
    if_match: IfMatch = None,
) -> Response:
    """Add, remove and replace brokers, change replication factors, repair racks, balance replicas and leaders: with the
    least movement, proven by the `certificate`.

    `batches` are the steps that Kafka executes one after another, within the limits of the request. If the request is
    infeasible, the problem has an irreducible infeasible subset of its constraints, and changes that resolve it.
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
