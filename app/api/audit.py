"""`/v1/audit`: the audit log of the team, for its administrators."""

from typing import Annotated

from fastapi import Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from app.api.http.auth import Uow
from app.api.http.negotiation import json_response
from app.api.http.operations import Operations
from app.api.http.pagination import PageSize, PageToken, offset_of_token, token_of_offset
from app.errors.access import InvalidPageToken
from app.services import audit
from app.services.audit import MEDIA_TYPES, AuditFormat
from app.services.bodies import AnswerRecord
from app.services.fields import PRINTABLE, Moment
from app.store.audit import LONGEST, ActorKind, AuditEntry, AuditFilter

router = Operations("/v1/audit", "audit", scope="admin")

_Text = Annotated[Annotated[str, Field(min_length=1, max_length=LONGEST, pattern=PRINTABLE)] | None, Query()]


class AuditPage(AnswerRecord):
    """Entries of the audit log, newest first."""

    items: list[AuditEntry]
    """The entries of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


def _wanted(
    since: Annotated[Moment | None, Query(description="Entries from this moment on, RFC 3339.")] = None,
    until: Annotated[Moment | None, Query(description="Entries before this moment, RFC 3339.")] = None,
    actor: Annotated[ActorKind | None, Query(description="Entries of this kind of actor.")] = None,
    name: Annotated[_Text, Query(description="Entries of the API key of this name.")] = None,
    address: Annotated[_Text, Query(description="Entries of this IP address.")] = None,
    request_id: Annotated[_Text, Query(description="Entries of this request.")] = None,
    action: Annotated[_Text, Query(description="Entries of this action, such as `DELETE /v1/plans/{plan_id}`.")] = None,
    resource: Annotated[_Text, Query(description="Entries on this resource.")] = None,
    status: Annotated[int | None, Query(ge=100, le=599, description="Entries with this HTTP status.")] = None,
) -> AuditFilter:
    return AuditFilter(since, until, actor, name, address, request_id, action, resource, status)


Wanted = Annotated[AuditFilter, Depends(_wanted)]


@router.operation("GET", InvalidPageToken, answer=AuditPage)
def list_audit_entries(uow: Uow, wanted: Wanted, page_size: PageSize = 50, page_token: PageToken = None) -> Response:
    """List entries of the audit log, newest first.

    Page through changes, denials and exports of the team. A key of all teams sees every entry.

    Each request that changes something has an entry before it is answered, and so has each that exports or is denied
    (401, 403, 429). An entry has neither a secret nor a body. It is deleted after some days (`RACKPLAN_AUDIT_DAYS`).
    """
    before = None if page_token is None else offset_of_token(page_token)
    page = uow.audit.page(wanted, before=before, size=page_size)
    token = token_of_offset(page.items[-1].id) if page.has_more else None
    return json_response({"items": [audit.document(entry) for entry in page.items], "next_page_token": token})


@router.operation(
    "GET /export",
    others={
        200: {
            "description": "The entries",
            "content": {
                media_type.partition(";")[0]: {"schema": {"type": "string"}} for media_type in MEDIA_TYPES.values()
            },
        }
    },
)
def export_audit_log(
    request: Request,
    wanted: Wanted,
    format_: Annotated[
        AuditFormat, Query(alias="format", description="`jsonl`, a JSON object a line, or `csv`.")
    ] = AuditFormat.JSONL,
) -> Response:
    """Export the audit log.

    The entries of the list, newest first, as one file. The export is an entry, too.
    """
    lines = audit.export(request.app.state.database, wanted, format_)
    headers = {"Content-Disposition": f'attachment; filename="audit.{format_}"', "Cache-Control": "no-store"}
    return StreamingResponse(lines, media_type=MEDIA_TYPES[format_], headers=headers)
