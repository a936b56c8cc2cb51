"""`/v1/plans/reassignment`: brokers that come and go, factors and racks that change, with the least movement."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Response

from app import errors
from app.api.dependencies import RequestLimits, Uow, json_only
from app.api.idempotency import OnceOnly
from app.api.planned import LATER, IfMatch, Prefer, planned
from app.api.problems import responses
from app.api.reassignment.documents import ReassignmentPlanDocument
from app.api.reassignment.examples import REASSIGNMENT_REQUEST
from app.api.reassignment.requests import PlanReassignmentRequest
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
        errors.SnapshotNotFound,
        errors.SnapshotChanged,
        errors.LimitExceeded,
        errors.ConflictingFields,
        errors.DuplicateBroker,
        errors.DuplicateTopic,
        errors.DuplicatePartition,
        errors.UnknownBroker,
        errors.UnknownTopic,
        errors.UnknownPartition,
        errors.UnknownRack,
        errors.BrokerExists,
        errors.InvalidPartitions,
        errors.InvalidReplicationFactor,
        errors.BrokersWithoutRack,
        errors.NotFeasible,
        errors.PinContradicted,
        errors.BudgetBelowMinimum,
        errors.RatesMissing,
        errors.SizesMissing,
        errors.MoveExceedsBatchLimit,
        errors.BatchesOutOfDisk,
        errors.ReassignmentUnderWay,
        errors.UnsupportedMediaType,
        errors.IdempotencyKeyInFlight,
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
