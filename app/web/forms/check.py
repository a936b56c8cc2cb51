"""`/plan/check`: a reassignment of any origin, or a cluster as it is, is checked; the answer is on the same page."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Protocol

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response

from app.errors import Failure, Json
from app.formats.tables import load_tables
from app.services import checks
from app.services.checks import MEASURES, Check, Outcome, Subject
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.web.access import Access
from app.web.clusters.view import ClusterView, place
from app.web.forms import short
from app.web.forms.fields import errors_of, joined
from app.web.forms.values import words
from app.web.pages import Pages, page

ADDRESS = "/plan/check"
MOST_ROWS = 100
_LIMITS = tuple(field.name for field in short.SHORT["check"])
FIELDS = ("cluster", "output", "fail_on", "more", *_LIMITS)
_FORM_BODY = ("cluster", "output", "limits")
"""Parts of the request that have fields of their own."""


class Requests(Protocol):
    """Checks, by the rules of the API."""

    def check(self, uow: UnitOfWork, body: bytes) -> Check:
        """The answer. Raises the `Failure`s of checking."""


def router(database: Database, requests: Requests, access: Access, limits: Limits) -> APIRouter:
    """The form."""
    routes = Pages()

    async def typed_form(request: Request) -> Mapping[str, str]:
        async with request.form(max_fields=100, max_files=0, max_part_size=limits.max_body_bytes) as form:
            return {name: str(form.get(name, "")) for name in FIELDS}

    @routes.get(ADDRESS)
    def form(cluster: Annotated[str, Query(max_length=300)] = "") -> Response:
        return _page(database, {**dict.fromkeys(FIELDS, ""), "cluster": cluster})

    @routes.post(ADDRESS, dependencies=[access.plan])
    def check(typed: Annotated[Mapping[str, str], Depends(typed_form)]) -> Response:
        problems: dict[str, str] = {}
        body = _body(typed, problems)
        if problems:
            return _page(database, typed, problems=problems)
        try:
            conditions = checks.conditions(words(typed["fail_on"]))
            with database.begin() as uow:
                answer = requests.check(uow, orjson.dumps(body))
            outcomes = [condition.outcome(Subject(answer)) for condition in conditions]
            return _page(database, typed, answer=answer, outcomes=outcomes)
        except Failure as failure:
            return _rejected(database, typed, errors_of(failure))

    return routes


def _body(typed: Mapping[str, str], problems: dict[str, str]) -> dict[str, Any]:
    """The body of the same request of the API; a malformed number becomes a problem of its field."""
    stated = {"cluster": typed["cluster"].strip(), "output": typed["output"]}
    body: dict[str, Any] = {name: text for name, text in stated.items() if text.strip()}
    return joined(body, short.request("check", typed, problems))


def _rejected(database: Database, typed: Mapping[str, str], errors: Sequence[Mapping[str, Json]]) -> Response:
    """The form with each error beside its field; errors without a field are of the pasted text."""
    problems: dict[str, str] = {}
    for error in errors:
        first, _, rest = str(error.get("pointer") or "").strip("/").partition("/")
        problems.setdefault(_field(typed, first, rest), str(error["detail"]))
    further = [str(error["detail"]) for error in errors[1:MOST_ROWS]]
    return _page(database, typed, problems=problems, further=further)


def _field(typed: Mapping[str, str], first: str, rest: str) -> str:
    """The field of an error in a part of the request; `output` if it is of none."""
    if typed["more"].strip() and first not in _FORM_BODY and first != "fail_on":
        return "more"
    field = short.field_at("check", f"{first}/{rest}")
    return field if field in FIELDS else {"limits": "disk", "snapshot_id": "cluster"}.get(first, "output")


def _page(
    database: Database,
    typed: Mapping[str, str],
    *,
    problems: Mapping[str, str] | None = None,
    further: Sequence[str] = (),
    answer: Check | None = None,
    outcomes: Sequence[Outcome] = (),
) -> Response:
    document: Any = None if answer is None else answer.as_json()
    with database.begin() as uow:
        clusters = sorted(uow.snapshots.clusters())
        at = place(uow, ClusterView(typed["cluster"], "check")) if typed["cluster"] else None
    return page(
        "check_form.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        clusters=clusters,
        typed=typed,
        problems=problems or {},
        further=further,
        outcomes=outcomes,
        measures={name: meaning for name, meaning in MEASURES.items() if name != "differences"},
        check=document,
        loads=[] if document is None else load_tables.cells(document.get("loads") or {})[:MOST_ROWS],
        resources=load_tables.NAMES,
        most_rows=MOST_ROWS,
        place=at,
        short=short.SHORT["check"],
    )
