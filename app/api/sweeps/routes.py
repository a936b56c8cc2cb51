"""`/v1/sweeps`: thousands of scenarios, scored on Spark, ranked and stored."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from fastapi import Body, Query, Request, Response, Security

from app.api import examples
from app.api.http.auth import RequestLimits, Uow, json_only, principal
from app.api.http.following import EVENT_STREAM, Observation, Preferences, WaitPreference, awaited, events
from app.api.http.idempotency import OnceOnly
from app.api.http.operations import Operations, PageSize, PageToken, id_of_token, json_response, page_response
from app.api.jobs import State
from app.api.sweeps.documents import SweepDocument, SweepsPage, SweepWithDefinition
from app.api.sweeps.requests import ChangesRequest, SweepSubmission
from app.services import sweeps
from app.services.fields import Id
from app.services.sweeps import KINDS, SweepRequest
from app.store.database import UnitOfWork
from app.store.sweeps import Sweep

router = Operations("/v1/sweeps", "sweeps")

May = Annotated[str, Security(principal, scopes=["read"])]
SweepId = Annotated[Id, examples.SWEEP_ID]

_ENDED: Mapping[int, Mapping[str, Any]] = {
    200: {"model": SweepDocument, "description": "The sweep has ended while the request waited (`Prefer: wait=…`)"}
}


@router.operation("POST", answer=SweepDocument, status=202, takes=json_only, others=_ENDED)
def create_sweep(
    request: Request,
    uow: Uow,
    caller: Annotated[str, Security(principal, scopes=["sweep"])],
    once: OnceOnly,
    limits: RequestLimits,
    prefer: WaitPreference,
    body: Annotated[SweepSubmission, Body(openapi_examples=examples.SWEEP_REQUEST)],
) -> Response:
    """Create a sweep over scenarios.

    Score thousands of scenarios of one `kind`.

    `capacity`: every scenario of the axes, placed, and loaded broker by broker under each failure.
    `placement_draws`: one placement with many seeds, and how balanced the brokers are. `consumer_groups`: every group
    of a snapshot under every assignor, with members lost and added. `key_skew`: a dataset of keys under every
    partitioner and partition count: how balanced the partitions are, the movement, and the heaviest keys.
    `reassignment`: each broker of a snapshot removed in turn, or brokers added: the movement, and how balanced the
    brokers are. `consumers`: groups with rates over time, at every capacity of a consumer: the fewest consumers, and
    the movement.

    The answer is immediate and workers score the scenarios. Poll the URL in `Location` for progress, or follow the
    sweep's events. With `Prefer: wait=20` a sweep that ends within 20 s is the answer, with status 200.
    """
    submitted = partial(sweeps.submit, uow, limits=limits, principal=caller, deadline_s=prefer.deadline_s)
    return _awaited(request, prefer, once(lambda: _accepted(uow, submitted(body.on_newest(uow).service()))))


@router.operation("GET", answer=SweepsPage, scope="read")
def list_sweeps(
    uow: Uow,
    kind: Annotated[Literal[tuple(KINDS)] | None, Query(description="Sweeps of this kind.")] = None,  # type: ignore[valid-type] # the registry decides
    state: Annotated[State | None, Query(description="Sweeps in this state.")] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """List sweeps, newest first.

    Page through the sweeps.
    """
    page = uow.sweeps.page(kind=kind, state=state, before=id_of_token(page_token), size=page_size)
    return page_response(page, (_document(uow, sweep) for sweep in page.items))


@router.operation("GET /{sweep_id}", answer=SweepWithDefinition, scope="read")
def get_sweep(request: Request, uow: Uow, sweep_id: SweepId, prefer: WaitPreference) -> Response:
    """Get a sweep and its progress.

    The sweep's state, scored scenarios, rate per second, seconds left, and definition.

    With `Prefer: wait=20` the answer comes once the sweep has ended, after 20 s at the latest.
    """

    def whole(uow: UnitOfWork, _: Observation | None = None) -> Response:
        sweep = uow.sweeps.get(sweep_id)
        headers = {} if sweep.has_ended else {"Retry-After": "1"}
        return json_response(_document(uow, sweep) | {"definition": sweeps.definition(sweep)}, headers=headers)

    return awaited(request, prefer, whole(uow), observe=partial(_observed, sweep_id=sweep_id), render=whole)


@router.operation(
    "GET /{sweep_id}/events",
    others={200: {"content": {EVENT_STREAM: {}}, "description": "Progress until the sweep has ended"}},
)
def follow_sweep(request: Request, uow: Uow, sweep_id: SweepId, _: May) -> Response:
    """Follow a sweep's progress as events.

    Server-sent events: `progress` when scenarios have been scored, and a last one named after the final state.
    """
    uow.sweeps.get(sweep_id)
    return events(request, partial(_observed, sweep_id=sweep_id))


@router.operation("DELETE /{sweep_id}", answer=SweepDocument, scope="sweep")
def cancel_sweep(uow: Uow, sweep_id: SweepId) -> Response:
    """Cancel a sweep.

    End the sweep within seconds, in Spark as well. Scored scenarios stay; a sweep that has ended is not changed.
    """
    return json_response(_document(uow, sweeps.cancel(uow, sweep_id)))


@router.operation("POST /{sweep_id}/clones", answer=SweepDocument, status=202, takes=json_only, others=_ENDED)
def clone_sweep(
    request: Request,
    uow: Uow,
    caller: Annotated[str, Security(principal, scopes=["sweep"])],
    once: OnceOnly,
    limits: RequestLimits,
    prefer: WaitPreference,
    sweep_id: SweepId,
    body: Annotated[ChangesRequest, Body(openapi_examples=examples.CLONE_REQUEST)],
) -> Response:
    """Clone a sweep, with changes.

    Run the same sweep with the given fields changed; `{}` changes none.

    The fields that can be changed: of a capacity sweep axes, sample, objective and constraints; of draws the seeds; of
    groups the assignors and the numbers of members lost and added; of a key skew the partitioners and partition counts;
    of a reassignment axes, balance, minimise and racks_of_added. Data from a snapshot is not read again; a dataset is.
    """

    def answer() -> Response:
        again: SweepRequest = sweeps.again(uow.sweeps.get(sweep_id), body.changes())
        return _accepted(uow, sweeps.submit(uow, again, limits, principal=caller, deadline_s=prefer.deadline_s))

    return _awaited(request, prefer, once(answer))


def _observed(uow: UnitOfWork, sweep_id: UUID) -> Observation:
    document = _document(uow, uow.sweeps.get(sweep_id))
    done = cast("int", document["done"])
    return Observation(document, done, (document["state"], done, document["waiting"]))


def _document(uow: UnitOfWork, sweep: Sweep) -> dict[str, object]:
    progress = uow.sweeps.progress(sweep.id)
    left = sweeps.seconds_left(sweep, progress)
    return vars(SweepDocument.of(sweep, done=progress.done, rate_per_s=progress.rate_per_s, seconds_left=left))


def _accepted(uow: UnitOfWork, sweep: Sweep) -> Response:
    headers = {"Location": f"/v1/sweeps/{sweep.id}", "Retry-After": "1"}
    return json_response(_document(uow, sweep), status=202, headers=headers)


def _awaited(request: Request, prefer: Preferences, accepted: Response) -> Response:
    """The accepted sweep, or the sweep as it ended if the request waits for that."""
    sweep_id = UUID(accepted.headers["Location"].rpartition("/")[2])

    def ended(_: UnitOfWork, observation: Observation) -> Response:
        return json_response(observation.document, headers={"Location": f"/v1/sweeps/{sweep_id}"})

    return awaited(request, prefer, accepted, observe=partial(_observed, sweep_id=sweep_id), render=ended)
