"""`/audit`: changes, denials and exports, newest first."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, cast, get_args
from urllib.parse import urlencode
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response

from app.store.audit import LONGEST, AuditEntry, AuditFilter, Outcome
from app.store.database import Database, UnitOfWork
from app.web.access import Access
from app.web.clusters.view import ClusterView
from app.web.pages import Pages, page

SIZE = 40
"""Entries of a page, which is no longer than others on a phone."""
_MOST = 2**63 - 1
_PAGE = re.compile(r"/((plan|sweep|job|snapshot)s)/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?![^/])")
"""The part of a resource that is the address of a page; of a snapshot the page of its cluster."""
_CONVERTER = re.compile(":[a-z]+}")
"""The end of a parameter of a route that states its type: `{plan_id:uuid}`."""
_STORED = orjson.loads(files("app.web.administration").joinpath("actions.json").read_bytes())
ACTIONS: Mapping[str, Sequence[str]] = {_CONVERTER.sub("}", action): words for action, words in _STORED.items()}
"""By action, without types of its parameters, its words: the verb, its past and the object."""
PHRASES: Mapping[str, str] = {
    f"{past} {of}": ",".join(action for action, words in _STORED.items() if words[1:] == [past, of])
    for _, past, of in sorted(_STORED.values(), key=lambda words: words[::-1])
}
"""The actions of each phrase that the form offers, between commas; by their object."""
FIELDS = ("name", "action", "resource", "address", "request_id", "outcome", "since", "until")


def router(database: Database, access: Access) -> APIRouter:
    """The page of the audit log; it needs the right of an administrator."""
    routes = Pages(dependencies=[access.admin])

    @routes.get("/audit")
    def entries(
        typed: Annotated[Mapping[str, str], Depends(_typed)],
        before: Annotated[int | None, Query(ge=0, le=_MOST)] = None,
    ) -> Response:
        problems: dict[str, str] = {}
        wanted = _filter(typed, problems)
        with database.begin() as uow:
            found = uow.audit.page(wanted, before=before, size=SIZE)
            subjects = _subjects(uow, found.items)
        stated = {field: value for field, value in typed.items() if value and not problems}
        older = {**stated, "before": found.items[-1].id} if found.has_more else {}
        moments = {"since": wanted.since, "until": wanted.until}
        exported = stated | {field: f"{at:%Y-%m-%dT%H:%M:%S}Z" for field, at in moments.items() if at is not None}
        exported |= {"action": wanted.action} if wanted.action else {}
        return page(
            "audit.html",
            status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            entries=[] if problems else _once(found.items),
            actions={each.action: ACTIONS.get(_CONVERTER.sub("}", each.action)) for each in found.items},
            phrases=[("", "anything"), *((phrase, phrase) for phrase in PHRASES)],
            subjects=subjects,
            typed=typed,
            problems=problems,
            next_page=f"/audit?{urlencode(older)}" if older and not problems else None,
            exports=[
                (name, f"/v1/audit/export?{urlencode({**exported, 'format': file_type})}")
                for name, file_type in (("CSV", "csv"), ("JSON lines", "jsonl"))
            ],
        )

    return routes


def _once(entries: Sequence[AuditEntry]) -> Sequence[AuditEntry]:
    """The entries without those of requests whose change has an entry of its own, such as `key.created`."""
    changed = {entry.request_id for entry in entries if "/" not in entry.action and entry.request_id}
    return [entry for entry in entries if "/" not in entry.action or entry.request_id not in changed]


def _subjects(uow: UnitOfWork, entries: Sequence[AuditEntry]) -> Mapping[int, tuple[str, str]]:
    """By entry, the address of the page of its plan, study, job or snapshot, and its title."""
    pages = {entry.id: match for entry in entries if (match := _PAGE.search(entry.resource or ""))}
    ids = {UUID(match[3]) for match in pages.values()}
    clusters = uow.snapshots.column("cluster", ids)
    titles = uow.plans.column("title", ids) | clusters
    titles |= {each: labels.get("study", "") for each, labels in uow.sweeps.column("labels", ids).items()}
    found = {}
    for entry, (address, _, noun, text) in ((entry, (each[0], *each.groups())) for entry, each in pages.items()):
        cluster = clusters.get(UUID(text))
        shown = f"{ClusterView(cluster, snapshot=text).address}" if cluster else address
        found[entry] = (shown, titles.get(UUID(text)) or f"{noun} …{text[-8:]}")
    return found


def _typed(request: Request) -> Mapping[str, str]:
    """The fields of the form; longer texts match no entry, whose texts are cut to as much."""
    return {field: request.query_params.get(field, "").strip()[: LONGEST + 1] for field in FIELDS}


def _filter(typed: Mapping[str, str], problems: dict[str, str]) -> AuditFilter:
    """The entries that the form asks for; an unreadable value becomes a problem of its field."""
    since, until = (_moment(typed[field], field, problems) for field in ("since", "until"))
    return AuditFilter(
        since=since,
        until=until,
        name=typed["name"] or None,
        address=typed["address"] or None,
        request_id=typed["request_id"] or None,
        action=PHRASES.get(typed["action"], typed["action"]) or None,
        resource=typed["resource"] or None,
        outcome=cast("Outcome", typed["outcome"]) if typed["outcome"] in get_args(Outcome) else None,
    )


def _moment(text: str, field: str, problems: dict[str, str]) -> datetime | None:
    """A moment of ISO 8601, of UTC unless it states an offset."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        problems[field] = f"Write a day and a time of UTC as 2026-01-31 13:00; {text[:50]!r} has another form."
        return None
