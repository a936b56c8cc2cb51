"""`/plan` and `/plan/{kind}`: a request for a plan or a study as a form; the same as curl, Python and JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Protocol
from urllib.parse import urlencode
from uuid import UUID

import numpy as np
import orjson
from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from app.core.groups.registry import ASSIGNORS
from app.errors import Failure, Json
from app.errors.requests import PlanNotFound, SweepNotFound
from app.formats.syntax.lines import decode
from app.services import plans, snapshots, sweeps
from app.services.consumers.requests import READER, rates_of
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.web.access import Access
from app.web.clusters.view import ClusterView, place
from app.web.forms import codecs, members, short
from app.web.forms.fields import Mistaken, PastedTexts, errors_of, more
from app.web.forms.suggestions import MOST_PICKED, suggested
from app.web.lists import as_id, id_of
from app.web.pages import Pages, page
from app.web.pictures import intervals
from app.web.words import counted

KINDS: Mapping[str, tuple[str, str]] = short.TABLE["kinds"]
"""The title and the purpose of each kind of request, in the order of the page."""
_SWEEP = "sweep"
"""The form of a study of capacity; other kinds have `sweep-{kind}`."""
FIELDS_OF: Mapping[str, dict[str, str]] = {
    kind: {field.name: field.initial for field in fields} | {"more": ""} for kind, fields in short.SHORT.items()
}
"""The fields of the form of each kind that has fields, with their initial values."""
MOST_FILES = 8
"""Files of a form: a browser sends one for each field that takes a file, also if none is chosen."""
MOST_RATES = 300
"""Topics whose rates the form of a study fills in."""
MOST_CHARTED = 100_000
"""Partitions of snapshots that are read for the picture of a form, each as often as there are snapshots."""
_RETENTION_S = 7 * 86_400


class Requests(Protocol):
    """Carries out the requests of forms; `examples` has each kind's examples, by name."""

    @property
    def examples(self) -> Mapping[str, Mapping[str, Any]]: ...

    def submit(self, uow: UnitOfWork, kind: str, body: bytes, *, principal: str, like: UUID | None = None) -> str:
        """Return the address of the result. Raises the `Failure`s of planning.

        `like` is a sweep whose resolved data is used again.
        """

    def estimate(self, uow: UnitOfWork, kind: str, body: bytes) -> str:
        """Summarise the plan that a request would be, and store nothing. Raises the `Failure`s of planning."""


@dataclass(frozen=True, slots=True)
class Service:
    """The database, requests and limits that forms are about."""

    database: Database
    requests: Requests
    limits: Limits


def router(database: Database, requests: Requests, access: Access, limits: Limits) -> APIRouter:
    """The forms; `requests` carries them out, under the name that `access` returns."""
    routes, service = Pages(), Service(database, requests, limits)

    async def typed_form(request: Request) -> Mapping[str, str]:
        async with request.form(max_fields=1000, max_files=MOST_FILES, max_part_size=limits.max_body_bytes) as form:
            items = [
                (name, each if isinstance(each, str) else decode(await each.read(), name, errors="replace"))
                for name, each in form.multi_items()
            ]
        return _typed(items)

    @routes.get("/plan")
    def kinds() -> Response:
        return page("plan_kinds.html", kinds=KINDS)

    @routes.get("/plan/{kind}")
    def form(request: Request, kind: str) -> Response:
        typed = _opened(service, _examples(service.requests, kind), kind, _typed(request.query_params.multi_items()))
        return submitted(kind, {**typed, "preview": "1"})

    @routes.get("/plan/{kind}/estimate", dependencies=[access.plan])
    def estimate(request: Request, kind: str) -> Response:
        if kind not in KINDS or kind.startswith(_SWEEP):
            raise HTTPException(404)
        try:
            body = _body(kind, _typed(request.query_params.multi_items()))
            with database.begin() as uow:
                is_slow = kind == "consumers" and _is_slow(uow, body)
                return PlainTextResponse("" if is_slow else requests.estimate(uow, kind, body.encode()))
        except Mistaken:
            return PlainTextResponse()
        except Failure as failure:
            return PlainTextResponse(f"Not possible: {failure.detail}.")

    def refused(kind: str, pasted: PastedTexts, problem: str) -> Response:
        return _page(service, kind, "", {"cluster": pasted.cluster, "text": pasted.text}, refused=problem)

    submitted = partial(_submitted, service)
    routes.routes += members.router(database, limits, refused, access).routes

    @routes.post("/plan/sweep{of_kind:path}")
    def submit_sweep(
        of_kind: str, typed: Annotated[Mapping[str, str], Depends(typed_form)], person: Annotated[str, access.sweep]
    ) -> Response:
        return submitted(_SWEEP + of_kind, typed, person)

    @routes.post("/plan/{kind}")
    def submit(
        kind: str, typed: Annotated[Mapping[str, str], Depends(typed_form)], person: Annotated[str, access.plan]
    ) -> Response:
        return submitted(kind, typed, person)

    return routes


def _submitted(service: Service, kind: str, typed: Mapping[str, str], person: str = "") -> Response:
    """The answer to a form: where its result is, or the form with its errors."""
    _examples(service.requests, kind)
    try:
        body = _body(kind, typed)
    except Mistaken as mistaken:
        return _page(service, kind, typed.get("body", ""), typed, problems=mistaken.problems)
    if typed.keys() & {"preview", "fields", "json"}:
        if "json" in typed:
            typed = {"body": body, **{name: typed.get(name, "") for name in ("cluster", "again", "like")}}
        return _page(service, kind, body, typed)
    try:
        with service.database.begin() as uow:
            like = as_id(typed.get("like", ""))
            answer = service.requests.submit(uow, kind.partition("-")[0], body.encode(), principal=person, like=like)
    except Failure as failure:
        return _page(service, kind, body, typed, errors=errors_of(failure))
    before, made = typed.get("again", ""), answer.removeprefix("/plans/")
    if "compare" in typed and made not in (answer, before):
        answer = f"/plans/compare?{urlencode({'a': before, 'b': made})}"
    return RedirectResponse(answer, HTTPStatus.SEE_OTHER)


def _opened(service: Service, known: Mapping[str, Any], kind: str, typed: Mapping[str, str]) -> Mapping[str, str]:
    """The fields that the form of an address begins with: those in it, an example, a stored request, or a cluster."""
    if typed.get("example") in known:
        return _filled_in(kind, known[typed["example"]]["value"])
    with service.database.begin() as uow:
        if again := typed.get("again"):
            fill_in = short.typed_of if len(typed) > 1 else _filled_in
            return {**fill_in(kind, _stored(uow, kind, again)), **typed}
        filled = {_SWEEP: _study_of, "consumers": _range_of}.get(kind)
        return {**typed, **filled(uow, typed["cluster"])} if filled and [*typed] == ["cluster"] else typed


def _filled_in(kind: str, body: Mapping[str, Any]) -> Mapping[str, str]:
    """A request in a form: as fields if it has those that are required, else as JSON."""
    typed = short.typed_of(kind, body)
    has_required = all(field.is_optional or typed[field.name] for field in short.SHORT[kind])
    return {"body": _pretty(body), **({"fields": "1"} if has_required else {})}


def _stored(uow: UnitOfWork, kind: str, name: str) -> Mapping[str, Any]:
    """The request of a stored plan or sweep, on the newest snapshot of its cluster.

    Raises `PlanNotFound`, `SweepNotFound`.
    """
    known = id_of(name, SweepNotFound if kind.startswith(_SWEEP) else PlanNotFound)
    if kind.startswith(_SWEEP):
        body = {name: value for name, value in sweeps.request_of(uow.sweeps.get(known)).items() if value is not None}
        if snapshot := body.pop("snapshot_id", None):
            body["cluster"] = uow.snapshots.get(UUID(str(snapshot))).cluster
        return body
    head = uow.plans.get(known)
    if head.kind != kind:
        raise HTTPException(404)
    previous = uow.snapshots.page(
        content_hash=str(head.request.get("previous_snapshot_content_hash")), before=None, size=1
    ).items
    return {**plans.request_of(head), **({"previous_snapshot_id": str(previous[0].id)} if previous else {})}


def _typed(items: Sequence[tuple[str, Any]]) -> dict[str, str]:
    """The fields of a form; the values of a field that is sent more than once are lines of it."""
    typed: dict[str, list[str]] = {}
    for name, value in items:
        typed.setdefault(name, []).append(str(value))
    return {name: "\n".join(dict.fromkeys(value for value in values if value)) for name, values in typed.items()}


def _has_fields(kind: str, typed: Mapping[str, str]) -> bool:
    """Whether a form is shown as fields, not as JSON."""
    return kind in FIELDS_OF and "json" not in typed and ("body" not in typed or "fields" in typed)


def _fields_of(kind: str, typed: Mapping[str, str]) -> dict[str, str]:
    """The fields of a form that has some of them, or the request as JSON. Raises `Mistaken`."""
    if "body" in typed:
        problems: dict[str, str] = {}
        read = more({"more": typed["body"]}, problems)
        if problems:
            raise Mistaken({"body": problems["more"]})
        stated = FIELDS_OF[kind].get("kind", "capacity")
        if kind.startswith(_SWEEP) and read.get("kind", "capacity") != stated:
            raise Mistaken({"body": f"The kind of this form is {stated}, and that of the request {read['kind']}."})
        typed = {**typed, **short.typed_of(kind, read)}
    shown = (*FIELDS_OF[kind], "text", "again", "like")
    return FIELDS_OF[kind] | {name: value for name, value in typed.items() if name in shown}


def _body(kind: str, typed: Mapping[str, str]) -> str:
    """The JSON of a form. Raises `Mistaken`."""
    if kind not in FIELDS_OF or ("body" in typed and "fields" not in typed):
        return typed.get("body", "{}")
    fields = _fields_of(kind, typed)
    problems: dict[str, str] = {}
    body = short.request(kind, fields, problems)
    if problems:
        raise Mistaken(problems)
    return _pretty(body)


def _study_of(uow: UnitOfWork, name: str) -> Mapping[str, str]:
    """The fields of a study of the newest snapshot of a cluster: racks, brokers, and rates from the bytes on disk."""
    if (newest := uow.snapshots.newest(name)) is None:
        return {}
    _, cluster = snapshots.load(uow, newest.id)
    racks = Counter(broker.rack or "all" for broker in cluster.brokers)
    most = max(racks.values(), default=1)
    known = [topic for topic in cluster.topics[:MOST_RATES] if (topic.size_bytes >= 0).all()]
    rates = {topic.name: int(topic.size_bytes.sum()) / _RETENTION_S / codecs.MB for topic in known}
    return {
        "racks": ", ".join(sorted(racks)),
        "brokers_per_rack": str(most),
        "compared": f"{max(1, most // 2)} to {2 * most}",
        "consumer_groups": str(max(1, len(cluster.groups))),
        "rates": "\n".join(f"{topic}={rate:.3g}" for topic, rate in rates.items()),
    }


def _range_of(uow: UnitOfWork, name: str) -> Mapping[str, str]:
    """The fields of consumers over time at the rates of the newest snapshots of a cluster."""
    found = suggested(uow, name, "")
    begins, ends = found.get("begins", ()), found.get("ends", ())
    return {"snapshots_from": begins[-1], "snapshots_to": ends[0]} if len(begins) > 1 else {}


def _around(uow: UnitOfWork, kind: str, cluster: str, group: str) -> Mapping[str, Any]:
    """The place of the cluster that the form names, and the choices of fields."""
    view = ClusterView(cluster, "capacity" if kind.startswith(_SWEEP) else "plans")
    return {
        "place": place(uow, view) if cluster else None,
        "suggested": {
            "clusters": sorted(uow.snapshots.clusters()),
            "assignors": [*ASSIGNORS],
            **suggested(uow, cluster, group),
        },
        "operation": "/v1/sweeps" if kind.startswith(_SWEEP) else f"/v1/plans/{kind}",
    }


def _page(
    service: Service,
    kind: str,
    body: str,
    typed: Mapping[str, str],
    *,
    problems: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, Json]] = (),
    refused: str = "",
) -> Response:
    has_fields = _has_fields(kind, typed)
    if has_fields and not problems:
        typed = _fields_of(kind, typed)
    with service.database.begin() as uow:
        around = _around(uow, kind, typed.get("cluster") or "", typed.get("group") or "")
        chart = _chart(uow, body, service.limits) if kind == "consumers" else ""
    return page(
        "plan_form.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems or errors or refused else HTTPStatus.OK,
        kind=kind,
        title=KINDS[kind][0],
        purpose=KINDS[kind][1],
        body=body,
        typed=FIELDS_OF.get(kind, {}) | dict(typed),
        has_fields=has_fields,
        can_toggle=kind in FIELDS_OF,
        short=short.SHORT[kind],
        **around,
        problems=problems or (short.beside(kind, errors) if has_fields else {}),
        errors=[{**each, "field": short.field_at(kind, str(each["pointer"]))} for each in errors],
        fields=tuple(FIELDS_OF[kind]) if has_fields else (),
        examples={name: example.get("summary", name) for name, example in _examples(service.requests, kind).items()},
        members_command=members.COMMANDS.get(kind),
        refused=refused,
        chart=chart,
    )


def _chart(uow: UnitOfWork, body: str, limits: Limits) -> str:
    """The rates of a request for consumers as a picture, with the fewest that could read them; empty if it has none."""
    if _is_slow(uow, body):
        return ""
    request = READER.validate_json(body)
    try:
        rates = rates_of(request.on_newest(uow), limits)
    except Failure:
        return ""
    written = rates.bytes_per_s.sum(axis=1)
    fewest = np.ceil(written / request.capacity_bytes_per_s)
    parts = [intervals.Part("rate", "follows", written.tolist()), intervals.Part("consumers", "span", fewest.tolist())]
    facts = [f"{counted(len(written), 'interval')} of {rates.step_s:,} s.", "The fewest consumers that could read it."]
    moments = rates.moment(0), rates.moment(len(written) - 1)
    return intervals.draw("Rates", facts, parts, moments, style="", width=390)


def _is_slow(uow: UnitOfWork, body: str) -> bool:
    """Whether it is no request for consumers, or one with more snapshots than a form reads while it is filled in."""
    try:
        request = READER.validate_json(body)
    except ValueError:
        return True
    if (wanted := request.series.snapshots) is None:
        return False
    seen = uow.snapshots.seen(wanted.cluster or request.cluster or "", wanted.begin, wanted.to, most=MOST_PICKED)
    return seen.has_more or sum(int(str(each.summary["partitions"])) for each in seen.items) > MOST_CHARTED


def _examples(requests: Requests, kind: str) -> Mapping[str, Any]:
    if kind not in KINDS:
        raise HTTPException(404)
    base, _, study = kind.partition("-")
    known = requests.examples[base]
    of_kind = study or "capacity"
    return {n: each for n, each in known.items() if base != _SWEEP or each["value"].get("kind", "capacity") == of_kind}


def _pretty(body: Mapping[str, Any]) -> str:
    return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
