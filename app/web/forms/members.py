"""The members of a group from Kafka's tools: stored with the cluster, then a request of the group's form."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Response
from fastapi.responses import RedirectResponse

from app.errors import Failure
from app.errors.requests import ConflictingFields
from app.formats.snapshots import assembly
from app.services import snapshots
from app.services.limits import Limits
from app.store.database import Database, UnitOfWork
from app.web.access import Access
from app.web.forms.fields import PastedTexts, texts_of
from app.web.pages import Pages

COMMANDS = {
    "group": "kafka-consumer-groups --describe --members --verbose",
    "streams": "kafka-streams-groups --describe --members --verbose",
}
"""Kinds of plans whose members can be pasted, with the command that prints them."""
Refused = Callable[[str, PastedTexts, str], Response]
"""The form of a kind, with the pasted text and why it is no group."""


def router(database: Database, limits: Limits, refused: Refused, access: Access) -> APIRouter:
    """The route to which the form of members posts."""
    routes = Pages(dependencies=[access.plan])
    typed = texts_of(limits.max_body_bytes)

    @routes.post("/plan/{kind}/members")
    def members(kind: str, pasted: Annotated[PastedTexts, Depends(typed)]) -> Response:
        if kind not in COMMANDS:
            raise HTTPException(404)
        try:
            with database.begin() as uow:
                groups = _stored(uow, pasted, limits)
        except Failure as failure:
            return refused(kind, pasted, failure.detail)
        query = urlencode([("cluster", pasted.cluster), ("group", groups[0])])
        return RedirectResponse(f"/plan/{kind}?{query}", HTTPStatus.SEE_OTHER)

    return routes


def _stored(uow: UnitOfWork, pasted: PastedTexts, limits: Limits) -> Sequence[str]:
    """Store the groups with their cluster, and return their names. Raises as reading them does."""
    assembled = assembly.assemble(pasted.cluster, pasted.uploads())
    names = [group.group_id for group in assembled.cluster.groups if group.members]
    if not names:
        detail = "the text has no member of a group; --members --verbose prints them with their partitions"
        raise ConflictingFields(detail, path=("text",), value=pasted.text[:100])
    snapshots.store_later(uow, assembled, limits)
    return names
