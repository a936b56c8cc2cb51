"""`/v1/sweeps`: thousands of scenarios, scored on Spark, ranked and stored."""

import asyncio
from collections.abc import AsyncIterator
from threading import Event
from typing import Annotated, Literal
from uuid import UUID

import orjson
from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Body, Depends, Query, Request, Response, Security
from fastapi.responses import StreamingResponse

from app.api import examples
from app.api.auth import principal
from app.api.dependencies import RequestLimits, Uow, json_only
from app.api.fields import Id
from app.api.idempotency import OnceOnly
from app.api.negotiation import json_response
from app.api.pagination import PageSize, PageToken, id_of_token, token_of_id
from app.api.problems import responses
from app.api.sweeps.documents import (
    SweepDocument,
    SweepsPage,
    SweepWithDefinition,
)
from app.api.sweeps.requests import ChangesRequest, SweepSubmission
from app.errors import access, kafka, lookups, reassignments, requests, texts
from app.services import sweeps
from app.services.sweeps import KINDS, SweepRequest
from app.store.database import Database, UnitOfWork
from app.store.sweeps import Sweep

router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"])

POLL_EVERY_S, KEEP_ALIVE_S = 0.5, 15.0

May = Annotated[str, Security(principal, scopes=["read"])]
SweepId = Annotated[Id, examples.SWEEP_ID]
State = Literal["queued", "running", "succeeded", "failed", "cancelled"]

_REJECTED = (
    requests.UnknownAxis,
    requests.EmptyAxis,
    requests.ImpossibleValue,
    requests.ConflictingFields,
    requests.LimitExceeded,
    requests.UnsupportedKafkaVersion,
    requests.AssignorUnavailable,
    kafka.InvalidPartitions,
    kafka.InvalidReplicationFactor,
    kafka.BrokersWithoutRack,
    kafka.ArithmeticOverflow,
    requests.DuplicateBroker,
    requests.DuplicateTopic,
    texts.MalformedText,
    reassignments.UnknownBroker,
    reassignments.UnknownRack,
    reassignments.UnknownTopic,
    requests.DatasetNotAllowed,
    requests.TooManySweeps,
    access.UnsupportedMediaType,
    access.IdempotencyKeyInFlight,
)
"""Why a sweep of any kind is rejected."""


@router.post(
    "",
    status_code=202,
    operation_id="create_sweep",
    summary="Create a sweep over scenarios",
    dependencies=[Depends(json_only)],
    response_model=SweepDocument,
    responses=responses(*_REJECTED, lookups.SnapshotNotFound),
)
def create(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    who: Annotated[str, Security(principal, scopes=["plan"])],
    body: Annotated[SweepSubmission, Body(openapi_examples=examples.SWEEP_REQUEST)],
) -> Response:
    """Score thousands of scenarios of one `kind`.

    `capacity`: every scenario of the axes, placed, and loaded broker by broker under each failure.
    `placement_draws`: one placement with many seeds, and how balanced the brokers are. `consumer_groups`: every group
    of a snapshot under every assignor, with members lost and added. `key_skew`: a dataset of keys under every
    partitioner and partition count: how balanced the partitions are, what moves, and the heaviest keys.
    `reassignment`: each broker of a snapshot removed in turn, or brokers added: what moves, and how balanced the
    brokers are.

    The answer is immediate and workers score the scenarios. Poll the URL in `Location` for progress, or follow the
    sweep's events.
    """
    return once(lambda: _accepted(uow, sweeps.submit(uow, body.on_newest(uow).service(), limits, principal=who)))


@router.get(
    "",
    operation_id="list_sweeps",
    summary="List sweeps, newest first",
    response_model=SweepsPage,
    responses=responses(access.InvalidPageToken),
    dependencies=[Security(principal, scopes=["read"])],
)
def list_sweeps(
    uow: Uow,
    kind: Annotated[Literal[tuple(KINDS)] | None, Query(description="Sweeps of this kind.")] = None,  # type: ignore[valid-type] # the registry decides
    state: Annotated[State | None, Query(description="Sweeps in this state.")] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """Page through the sweeps."""
    page = uow.sweeps.page(kind=kind, state=state, before=id_of_token(page_token), size=page_size)
    token = token_of_id(page.items[-1].id) if page.has_more else None
    return json_response({"items": [_document(uow, sweep) for sweep in page.items], "next_page_token": token})


@router.get(
    "/{sweep_id}",
    operation_id="get_sweep",
    summary="Get a sweep and its progress",
    response_model=SweepWithDefinition,
    responses=responses(lookups.SweepNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def get(uow: Uow, sweep_id: SweepId) -> Response:
    """The sweep's state, scored scenarios, rate per second, seconds left, and definition."""
    sweep = uow.sweeps.get(sweep_id)
    headers = {} if sweep.has_ended else {"Retry-After": "1"}
    return json_response(_document(uow, sweep) | {"definition": sweeps.definition(sweep)}, headers=headers)


@router.get(
    "/{sweep_id}/events",
    operation_id="follow_sweep",
    summary="Follow a sweep's progress as events",
    response_class=StreamingResponse,
    responses=responses(
        lookups.SweepNotFound,
        others={200: {"content": {"text/event-stream": {}}, "description": "Progress until the sweep has ended"}},
    ),
)
def events(request: Request, uow: Uow, sweep_id: SweepId, _: May) -> Response:
    """Server-sent events: `progress` when scenarios have been scored, and a last one named after the final state."""
    uow.sweeps.get(sweep_id)
    database: Database = request.app.state.database
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    followers: CapacityLimiter = request.app.state.followers
    is_ending: Event = request.app.state.is_ending
    events = _progress_events(database, sweep_id, followers, is_ending)
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


@router.delete(
    "/{sweep_id}",
    operation_id="cancel_sweep",
    summary="Cancel a sweep",
    response_model=SweepDocument,
    responses=responses(lookups.SweepNotFound),
    dependencies=[Security(principal, scopes=["plan"])],
)
def cancel(uow: Uow, sweep_id: SweepId) -> Response:
    """End the sweep within seconds, in Spark as well. Scored scenarios stay; a sweep that has ended is not changed."""
    return json_response(_document(uow, sweeps.cancel(uow, sweep_id)))


@router.post(
    "/{sweep_id}/clones",
    status_code=202,
    operation_id="clone_sweep",
    summary="Clone a sweep, with changes",
    dependencies=[Depends(json_only)],
    response_model=SweepDocument,
    responses=responses(*_REJECTED, lookups.SweepNotFound),
)
def clone(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    who: Annotated[str, Security(principal, scopes=["plan"])],
    sweep_id: SweepId,
    body: Annotated[ChangesRequest, Body(openapi_examples=examples.CLONE_REQUEST)],
) -> Response:
    """Run the same sweep with the given fields changed; `{}` changes none.

    The fields that can be changed: of a capacity sweep axes, sample, objective and constraints; of draws the seeds; of
    groups the assignors and the numbers of members lost and added; of a key skew the partitioners and partition counts;
    of a reassignment axes, balance, minimise and racks_of_added. Data from a snapshot is not read again; a dataset is.
    """

    def answer() -> Response:
        request: SweepRequest = sweeps.again(uow.sweeps.get(sweep_id), body.changes())
        return _accepted(uow, sweeps.submit(uow, request, limits, principal=who))

    return once(answer)


async def _progress_events(
    database: Database, sweep_id: UUID, limiter: CapacityLimiter, is_ending: Event
) -> AsyncIterator[bytes]:
    """A sweep's progress as server-sent events, until the sweep or the service ends.

    A comment every 15 s keeps idle connections open.

    `limiter` bounds how many poll at once, however many follow: so many connections are spared for them.
    """

    def poll() -> dict[str, object]:
        with database.begin() as uow:
            return _document(uow, uow.sweeps.get(sweep_id))

    last: tuple[object, ...] | None = None
    silent_s = 0.0
    while not is_ending.is_set():
        try:
            document = await to_thread.run_sync(poll, limiter=limiter)
        except lookups.SweepNotFound:
            return
        seen = (document["state"], document["done"], document["waiting"])
        has_ended = document["finished_at"] is not None
        if seen != last:
            last, silent_s = seen, 0.0
            name = document["state"] if has_ended else "progress"
            yield (
                f"event: {name}\nid: {document['done']}\ndata: ".encode()
                + orjson.dumps(document, option=orjson.OPT_UTC_Z)
                + b"\n\n"
            )
        if has_ended:
            return
        await asyncio.sleep(POLL_EVERY_S)
        silent_s += POLL_EVERY_S
        if silent_s >= KEEP_ALIVE_S:
            silent_s = 0.0
            yield b": still here\n\n"


def _document(uow: UnitOfWork, sweep: Sweep) -> dict[str, object]:
    progress = uow.sweeps.progress(sweep.id)
    document: dict[str, object] = {name: getattr(sweep, name, None) for name in SweepDocument.model_fields}
    left = sweeps.seconds_left(sweep, progress)
    return document | {"done": progress.done, "rate_per_s": progress.rate_per_s, "seconds_left": left}


def _accepted(uow: UnitOfWork, sweep: Sweep) -> Response:
    headers = {"Location": f"/v1/sweeps/{sweep.id}", "Retry-After": "1"}
    return json_response(_document(uow, sweep), status=202, headers=headers)
