"""`/plan` and `/plan/{kind}`: a request for a plan or a sweep as a form; the same as curl, Python and JSON."""

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Protocol

import orjson
from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from app.errors import Failure, Json
from app.services import plans, sweeps
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.web.access import Access
from app.web.forms import constraints, members
from app.web.forms import reassignment as reassignment_form
from app.web.forms.reassignment import FIELDS, Mistaken
from app.web.forms.texts import PastedTexts
from app.web.lists import as_id
from app.web.pages import page

KINDS: Mapping[str, tuple[str, str]] = {
    "reassignment": (
        "Change a cluster",
        "Brokers added, removed or replaced, replication factors, racks, balance.",
    ),
    "replicas": ("Place new topics", "Where Kafka will place the replicas of new topics or partitions."),
    "group": ("Assign a consumer group", "Which member reads which partition, and what an event moves."),
    "streams": ("Assign a Streams application", "Where active, standby and warm-up tasks are placed."),
    "restart": ("Restart a cluster", "The fewest waves of restarts in which every partition stays writable."),
    "consumers": ("Scale consumers", "The fewest consumers of each interval, and when to start them."),
    "sweep": ("Start a sweep", "Thousands of scenarios: capacity, draws, groups, keys, reassignments."),
}
"""The title and the purpose of each kind of request, in the order of the page."""
_PLANNED_AGAIN = ("reassignment", "streams", "restart", "consumers")
"""The kinds of plans whose stored requests a form can begin with."""
_OPERATIONS = {"sweep": "/v1/sweeps"}


class Requests(Protocol):
    """What carries out the requests of forms; `examples` has those of each kind, by name."""

    @property
    def examples(self) -> Mapping[str, Mapping[str, Any]]: ...

    def submit(self, uow: UnitOfWork, kind: str, body: bytes, *, principal: str) -> str | Sequence[Mapping[str, Json]]:
        """Return the address of the result, or the errors of fields. Raises the `Failure`s of planning."""


def router(
    database: Database,
    requests: Requests,
    access: Access,
    limits: Limits,
) -> APIRouter:
    """The forms; `requests` carries them out, under the name that `access` returns."""
    routes = APIRouter(include_in_schema=False)

    async def typed_form(request: Request) -> Mapping[str, str]:
        async with request.form(max_fields=100, max_files=0, max_part_size=limits.max_body_bytes) as form:
            return {name: str(value) for name, value in form.items()}

    @routes.get("/plan")
    def kinds() -> Response:
        return page("plan_kinds.html", kinds=KINDS)

    @routes.get("/plan/{kind}")
    def form(
        kind: str,
        cluster: Annotated[str, Query(max_length=300)] = "",
        example: Annotated[str, Query(max_length=100)] = "",
        group: Annotated[str, Query(max_length=300)] = "",
        again: Annotated[str, Query(max_length=100)] = "",
    ) -> Response:
        known = _examples(requests, kind)
        body = known[example]["value"] if example in known else {}
        if again:
            with database.begin() as uow:
                body = _stored(uow, kind, again)
        if group and kind in members.COMMANDS:
            body = {"group": group}
        if cluster:
            body = {"cluster": cluster, **{name: value for name, value in body.items() if name != "snapshot_id"}}
        has_fields = kind == "reassignment" and not example and not again
        typed = {**dict.fromkeys(FIELDS, ""), "cluster": cluster} if has_fields else {"cluster_of": cluster}
        return _page(database, requests, kind, _pretty(body), typed)

    def refused(kind: str, pasted: PastedTexts, problem: str) -> Response:
        return _page(database, requests, kind, "", {"cluster_of": pasted.cluster, "text": pasted.text}, refused=problem)

    submitted = _submission(database, requests)
    routes.include_router(members.router(database, limits, refused, access))

    @routes.post("/plan/sweep")
    def submit_sweep(
        typed: Annotated[Mapping[str, str], Depends(typed_form)], person: Annotated[str, access.sweep]
    ) -> Response:
        return submitted("sweep", typed, person)

    @routes.post("/plan/{kind}")
    def submit(
        kind: str, typed: Annotated[Mapping[str, str], Depends(typed_form)], person: Annotated[str, access.plan]
    ) -> Response:
        return submitted(kind, typed, person)

    return routes


def _submission(database: Database, requests: Requests) -> Callable[[str, Mapping[str, str], str], Response]:
    """What answers a form that was sent: where its result is, or the form with its errors."""

    def submitted(kind: str, typed: Mapping[str, str], person: str) -> Response:
        _examples(requests, kind)
        try:
            body = _body(kind, typed)
        except Mistaken as mistaken:
            return _page(database, requests, kind, typed.get("body", ""), typed, problems=mistaken.problems)
        if "preview" in typed:
            return _page(database, requests, kind, body, typed)
        try:
            with database.begin() as uow:
                answer = requests.submit(uow, kind, body.encode(), principal=person)
        except Failure as failure:
            errors: Sequence[Mapping[str, Json]] = [
                {"pointer": "/" + "/".join(map(str, failure.path)), "detail": failure.detail}
            ]
            return _page(database, requests, kind, body, typed, errors=errors)
        if isinstance(answer, str):
            return RedirectResponse(answer, HTTPStatus.SEE_OTHER)
        return _page(database, requests, kind, body, typed, errors=answer)

    return submitted


def _stored(uow: UnitOfWork, kind: str, name: str) -> Mapping[str, Any]:
    """The request of a stored plan or sweep. Raises `PlanNotFound`, `SweepNotFound`."""
    known = as_id(name)
    if known is None:
        raise HTTPException(404)
    if kind == "sweep":
        return sweeps.request_of(uow.sweeps.get(known))
    head = uow.plans.get(known)
    if head.kind != kind or kind not in _PLANNED_AGAIN:
        raise HTTPException(404)
    return plans.request_of(head)


def _body(kind: str, typed: Mapping[str, str]) -> str:
    """The JSON of a form. Raises `Mistaken`."""
    if kind == "reassignment" and "cluster" in typed:
        return _pretty(reassignment_form.request(typed))
    return typed.get("body", "")


def _page(
    database: Database,
    requests: Requests,
    kind: str,
    body: str,
    typed: Mapping[str, str],
    *,
    problems: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, Json]] = (),
    refused: str = "",
) -> Response:
    if "cluster" in typed:  # a form that a page did not send may have some of the fields
        typed = dict.fromkeys(FIELDS, "") | dict(typed)
    # The first error of a field that the form has is beside it, and so is that of an item of the field.
    beside = {reassignment_form.field_of(str(each["pointer"])): str(each["detail"]) for each in reversed(errors)}
    with database.begin() as uow:
        clusters = sorted(uow.snapshots.clusters())
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problems or errors or refused else HTTPStatus.OK
    return page(
        "plan_form.html",
        status=status,
        kind=kind,
        title=KINDS[kind][0],
        purpose=KINDS[kind][1],
        body=body,
        typed=typed,
        has_fields="cluster" in typed,
        clusters=clusters,
        problems=problems or (beside if "cluster" in typed else {}),
        errors=[{**each, "field": reassignment_form.field_of(str(each["pointer"]))} for each in errors],
        fields=FIELDS if "cluster" in typed else (),
        examples={name: example.get("summary", name) for name, example in _examples(requests, kind).items()},
        has_constraints=any(typed.get(name) for name in constraints.FIELDS),
        members_command=members.COMMANDS.get(kind),
        refused=refused,
        operation=_OPERATIONS.get(kind, f"/v1/plans/{kind}"),
    )


def _examples(requests: Requests, kind: str) -> Mapping[str, Any]:
    if kind not in KINDS:
        raise HTTPException(404)
    return requests.examples[kind]


def _pretty(body: Mapping[str, Any]) -> str:
    return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
