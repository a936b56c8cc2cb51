"""`/v1/sweeps`: thousands of what-ifs, scored on Spark, ranked and kept."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

import anyio
import anyio.to_thread
import orjson
from fastapi import APIRouter, Body, Depends, Query, Request, Response, Security
from fastapi.responses import StreamingResponse

from app import errors
from app.api import examples
from app.api.auth import principal
from app.api.dependencies import RequestLimits, Uow, json_only
from app.api.fields import Id
from app.api.idempotency import OnceOnly
from app.api.negotiation import chosen
from app.api.pagination import PageSize, PageToken, id_of_token, place_of_token, token_of_id, token_of_place
from app.api.plan_documents import PlanDocument
from app.api.plans import created
from app.api.problems import responses
from app.api.sweep_documents import (
    BestDocument,
    ComparisonDocument,
    FrontDocument,
    ScenarioDocument,
    ScenariosPage,
    SweepDocument,
    SweepsPage,
    SweepWithDefinition,
)
from app.api.sweep_requests import ChangesRequest, SweepSubmission
from app.formats import scenario_tables
from app.services import sweep_results, sweeps
from app.services.sweeps import KINDS, SweepRequest
from app.store.database import Database, UnitOfWork
from app.store.sweeps import Sweep

router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"])

JSON = "application/json"
TABLES: Mapping[str, Callable[..., bytes]] = {
    "text/csv": scenario_tables.write_csv,
    "application/vnd.apache.parquet": scenario_tables.write_parquet,
    "application/vnd.apache.arrow.stream": scenario_tables.write_arrow,
}
"""What scenarios are written as, besides JSON: all that fit the filter, and not a page of them."""
LOOK_EVERY_S, KEEP_ALIVE_S = 0.5, 15.0
_READ_ROWS = 5_000

May = Annotated[str, Security(principal, scopes=["read"])]
SweepId = Annotated[Id, examples.SWEEP_ID]
State = Literal["queued", "running", "succeeded", "failed", "cancelled"]


@router.post(
    "",
    status_code=202,
    operation_id="create_sweep",
    summary="Sweep over scenarios",
    dependencies=[Depends(json_only)],
    response_model=SweepDocument,
    responses=responses(
        errors.UnknownAxis,
        errors.EmptyAxis,
        errors.ImpossibleValue,
        errors.ConflictingFields,
        errors.LimitExceeded,
        errors.TooManySweeps,
        errors.UnsupportedMediaType,
        errors.IdempotencyKeyInFlight,
    ),
)
def create(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    who: Annotated[str, Security(principal, scopes=["plan"])],
    body: Annotated[SweepSubmission, Body(openapi_examples=examples.SWEEP_REQUEST)],
) -> Response:
    """Place and load every scenario that the axes span, broker by broker and failure by failure.

    It is answered at once and scored by workers; ask the address in `Location` how far it is, or listen to its events.
    """
    return once(lambda: _accepted(uow, sweeps.submit(uow, body.service(), limits, principal=who)))


@router.get(
    "",
    operation_id="list_sweeps",
    summary="List sweeps, newest first",
    response_model=SweepsPage,
    responses=responses(errors.InvalidPageToken),
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
    return _json({"items": [_document(uow, sweep) for sweep in page.items], "next_page_token": token})


@router.get(
    "/{sweep_id}",
    operation_id="get_sweep",
    summary="See how far a sweep is",
    response_model=SweepWithDefinition,
    responses=responses(errors.SweepNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def get(uow: Uow, sweep_id: SweepId) -> Response:
    """Its state, scenarios done, how many a second and the seconds left; and what it sweeps."""
    sweep = uow.sweeps.get(sweep_id)
    headers = {} if sweep.has_ended else {"Retry-After": "1"}
    return _json(_document(uow, sweep) | {"definition": sweep.definition}, headers=headers)


@router.get(
    "/{sweep_id}/scenarios",
    operation_id="list_scenarios",
    summary="Read scored scenarios",
    response_model=ScenariosPage,
    responses=responses(
        errors.SweepNotFound,
        errors.InvalidPageToken,
        errors.NotAcceptable,
        others={200: {"content": {media_type: {} for media_type in TABLES}, "description": "Scenarios"}},
    ),
    dependencies=[Security(principal, scopes=["read"])],
)
def scenarios(
    request: Request,
    uow: Uow,
    sweep_id: SweepId,
    feasible: Annotated[bool | None, Query(description="Only these, or only the others.")] = None,
    sort: Annotated[Literal[tuple(sweep_results.SORTABLE)], Query(description="What they are sorted by.")] = "index",  # type: ignore[valid-type] # the core decides
    descending: Annotated[bool, Query(description="The largest first.")] = False,
    page_size: PageSize = 100,
    page_token: PageToken = None,
) -> Response:
    """Page through the scenarios, or take all that fit the filter as CSV, Parquet or an Arrow stream (`Accept`)."""
    media_type = chosen(request, [JSON, *TABLES])

    def page(after: tuple[float | None, int] | None, size: int) -> tuple[Sequence[Mapping[str, Any]], bool]:
        found = sweep_results.scenarios(
            uow, sweep_id, feasible=feasible, sort=sort, descending=descending, after=after, size=size
        )
        return [row for _, row in found.items], found.has_more

    if media_type != JSON:
        axes = sweep_results.axes(uow, sweep_id)
        return Response(TABLES[media_type](_all(page, sort), axes=axes), media_type=media_type)
    items, has_more = page(place_of_token(page_token), page_size)
    token = token_of_place(_place(items[-1], sort)) if has_more else None
    return _json({"items": items, "next_page_token": token})


@router.get(
    "/{sweep_id}/scenarios/{index}",
    operation_id="get_scenario",
    summary="Read one scored scenario",
    response_model=ScenarioDocument,
    responses=responses(errors.SweepNotFound, errors.ScenarioNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def scenario(uow: Uow, sweep_id: SweepId, index: examples.ScenarioIndex) -> Response:
    """Everything that was found about one scenario."""
    return _json(sweep_results.one(uow, sweep_id, index))


@router.post(
    "/{sweep_id}/scenarios/{index}/plan",
    status_code=201,
    operation_id="open_scenario",
    summary="Open a scenario as a plan of replicas",
    response_model=PlanDocument,
    responses=responses(
        errors.SweepNotFound,
        errors.ScenarioNotFound,
        errors.LimitExceeded,
        errors.ConflictingFields,
        errors.IdempotencyKeyInFlight,
    ),
)
def open_scenario(
    uow: Uow, once: OnceOnly, limits: RequestLimits, sweep_id: SweepId, index: examples.ScenarioIndex
) -> Response:
    """The very placement that was scored, as a plan: with its measures, its picture and its exports."""
    return once(lambda: created(sweep_results.opened(uow, sweep_id, index, limits)))


@router.get(
    "/{sweep_id}/front",
    operation_id="get_front",
    summary="See which scenarios no other beats",
    response_model=FrontDocument,
    responses=responses(errors.SweepNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def front(uow: Uow, sweep_id: SweepId) -> Response:
    """The Pareto front over cost, headroom and cross-rack bytes, of what is feasible and keeps the constraints."""
    return _json({"items": sweep_results.front(uow, sweep_id)})


@router.get(
    "/{sweep_id}/best",
    operation_id="get_best",
    summary="See the best scenario, and why nothing cheaper will do",
    response_model=BestDocument,
    responses=responses(errors.SweepNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def best(uow: Uow, sweep_id: SweepId) -> Response:
    """The best by the sweep's objective; of each cheaper neighbour, which limit it breaks or constraint it misses."""
    return _json(sweep_results.best(uow, sweep_id))


@router.get(
    "/{sweep_id}/comparison",
    operation_id="compare_sweeps",
    summary="Compare two sweeps",
    response_model=ComparisonDocument,
    responses=responses(errors.SweepNotFound),
    dependencies=[Security(principal, scopes=["read"])],
)
def comparison(
    uow: Uow,
    sweep_id: SweepId,
    against: Annotated[Id, Query(description="Another sweep.", examples=[str(examples.EXAMPLE_SWEEP_ID)])],
) -> Response:
    """What each of two sweeps found best, and how many of its scenarios will do."""
    return _json(sweep_results.compared(uow, sweep_id, against))


@router.get(
    "/{sweep_id}/events",
    operation_id="follow_sweep",
    summary="Follow a sweep",
    response_class=StreamingResponse,
    responses=responses(
        errors.SweepNotFound,
        others={200: {"content": {"text/event-stream": {}}, "description": "Its progress, until it has ended"}},
    ),
)
def events(request: Request, uow: Uow, sweep_id: SweepId, _: May) -> Response:
    """Server-sent events: `progress` whenever there is some, and one that is called for the state it ended in."""
    uow.sweeps.get(sweep_id)
    database: Database = request.app.state.database
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_told(database, sweep_id), media_type="text/event-stream", headers=headers)


@router.delete(
    "/{sweep_id}",
    operation_id="cancel_sweep",
    summary="Cancel a sweep",
    response_model=SweepDocument,
    responses=responses(errors.SweepNotFound),
    dependencies=[Security(principal, scopes=["plan"])],
)
def cancel(uow: Uow, sweep_id: SweepId) -> Response:
    """End it within seconds, in Spark too. What it has scored stays; one that has ended is left as it is."""
    return _json(_document(uow, sweeps.cancel(uow, sweep_id)))


@router.post(
    "/{sweep_id}/clones",
    status_code=202,
    operation_id="clone_sweep",
    summary="Sweep again, perhaps over other axes",
    dependencies=[Depends(json_only)],
    response_model=SweepDocument,
    responses=responses(
        errors.SweepNotFound,
        errors.UnknownAxis,
        errors.EmptyAxis,
        errors.ImpossibleValue,
        errors.ConflictingFields,
        errors.LimitExceeded,
        errors.TooManySweeps,
        errors.UnsupportedMediaType,
        errors.IdempotencyKeyInFlight,
    ),
)
def clone(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    who: Annotated[str, Security(principal, scopes=["plan"])],
    sweep_id: SweepId,
    body: Annotated[ChangesRequest, Body(openapi_examples=examples.CLONE_REQUEST)],
) -> Response:
    """The same base, with other axes, sample, objective or constraints where they are given; `{}` runs it once more."""

    def answer() -> Response:
        wanted: SweepRequest = sweeps.again(uow.sweeps.get(sweep_id), body.changes())
        return _accepted(uow, sweeps.submit(uow, wanted, limits, principal=who))

    return once(answer)


async def _told(database: Database, sweep_id: UUID) -> AsyncIterator[bytes]:
    """What happens to a sweep, as events; a comment now and then keeps idle connections open."""

    def look() -> dict[str, object]:
        with database.begin() as uow:
            return _document(uow, uow.sweeps.get(sweep_id))

    last: tuple[object, ...] | None = None
    silent_s = 0.0
    while True:
        try:
            document = await anyio.to_thread.run_sync(look)
        except errors.SweepNotFound:
            return
        seen = (document["state"], document["done"], document["waiting"])
        has_ended = document["finished_at"] is not None
        if seen != last:
            last, silent_s = seen, 0.0
            name = document["state"] if has_ended else "progress"
            yield f"event: {name}\nid: {document['done']}\ndata: ".encode() + _dumped(document) + b"\n\n"
        if has_ended:
            return
        await anyio.sleep(LOOK_EVERY_S)
        silent_s += LOOK_EVERY_S
        if silent_s >= KEEP_ALIVE_S:
            silent_s = 0.0
            yield b": still here\n\n"


def _all(
    page: Callable[[tuple[float | None, int] | None, int], tuple[Sequence[Mapping[str, Any]], bool]], sort: str
) -> Iterable[Mapping[str, Any]]:
    after: tuple[float | None, int] | None = None
    has_more = True
    while has_more:
        items, has_more = page(after, _READ_ROWS)
        yield from items
        after = _place(items[-1], sort) if items else None


def _place(row: Mapping[str, Any], sort: str) -> tuple[float | None, int]:
    value = None if sort == "index" else row.get(sort)
    return (None if value is None else float(value)), int(row["index"])


def _document(uow: UnitOfWork, sweep: Sweep) -> dict[str, object]:
    return sweeps.document(sweep, uow.sweeps.progress(sweep.id))


def _accepted(uow: UnitOfWork, sweep: Sweep) -> Response:
    headers = {"Location": f"/v1/sweeps/{sweep.id}", "Retry-After": "1"}
    return _json(_document(uow, sweep), status=202, headers=headers)


def _dumped(document: object) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_UTC_Z)


def _json(document: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(_dumped(document), status, headers=dict(headers or {}), media_type=JSON)
