"""`POST /v1/plans/streams`: where the tasks of a Kafka Streams application run."""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Response

from app.api import examples
from app.api.dependencies import RequestLimits, Uow, json_only
from app.api.idempotency import OnceOnly
from app.api.planned import LATER, IfMatch, Prefer, planned
from app.api.problems import responses
from app.api.streams.documents import StreamsPlanDocument
from app.api.streams.requests import PlanStreamsRequest
from app.errors.access import IdempotencyKeyInFlight, UnsupportedMediaType
from app.errors.kafka import (
    ClientWithoutThreads,
    CorruptProtocolBytes,
    InconsistentTasks,
    NoClients,
    RackCostsOverflow,
    TagsBeyondLimits,
    TaskPartitionsUnknown,
    TooManyTasks,
    UnknownTaskLag,
)
from app.errors.lookups import SnapshotNotFound
from app.errors.requests import (
    ConflictingFields,
    DuplicateBroker,
    DuplicateClient,
    ImpossibleValue,
    LimitExceeded,
    SnapshotChanged,
)
from app.errors.texts import MalformedText
from app.services.streams import PLANNER

router = APIRouter(prefix="/v1/plans", tags=["plans"])


@router.post(
    "/streams",
    status_code=201,
    operation_id="plan_streams",
    summary="Predict the assignment of Streams tasks",
    dependencies=[Depends(json_only)],
    response_model=StreamsPlanDocument,
    responses=responses(
        SnapshotNotFound,
        SnapshotChanged,
        LimitExceeded,
        ConflictingFields,
        ImpossibleValue,
        MalformedText,
        CorruptProtocolBytes,
        DuplicateClient,
        DuplicateBroker,
        NoClients,
        ClientWithoutThreads,
        UnknownTaskLag,
        TagsBeyondLimits,
        TaskPartitionsUnknown,
        InconsistentTasks,
        TooManyTasks,
        RackCostsOverflow,
        UnsupportedMediaType,
        IdempotencyKeyInFlight,
        others=LATER,
    ),
)
def plan_streams(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    body: Annotated[PlanStreamsRequest, Body(openapi_examples=examples.STREAMS_REQUEST)],
    prefer: Prefer = None,
    if_match: IfMatch = None,
) -> Response:
    """Predict the clients of active, standby and warm-up tasks, equal to those of Kafka Streams' own assignor
    (KIP-441), with standbys by client tags (KIP-708) and racks (KIP-925).

    `ideal` is true if every stateful task has its standbys, all of them apart by every listed tag; `tasks` has the
    reason for each task. `if_lost` has for each tag value, and `if_client_lost` for each client, the tasks that lose
    their state and the lag of the other tasks' survivors. Features that Kafka disables silently are in `warnings`.
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
