"""`/v1/share-links`, `/v1/audit`, `/v1/usage` and `/v1/ledger`: resources of few operations, mostly of administrators.

A share link is a signed address of a plan, sweep or cluster that needs no API key until it expires. The ledger has the
errors of predictions over the plans that were executed.
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Body, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from app.api import examples
from app.api.http import operations
from app.api.http.auth import Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.services import audit, share_links
from app.services.audit import MEDIA_TYPES, AuditFormat
from app.services.bodies import AnswerRecord
from app.services.bodies import Request as RequestModel
from app.services.fields import PRINTABLE, Id, Moment, Name
from app.services.share_links import MOST_DAYS, SharedLinks, Subject, SubjectKind
from app.store import transaction
from app.store.audit import LONGEST, ActorKind, AuditEntry, AuditFilter, Outcome
from app.store.records import ExecutedPlan
from app.store.usage import QUOTAS

share_links_router = operations.Operations("/v1/share-links", "share links")
audit_router = operations.Operations("/v1/audit", "audit", scope="admin")
usage_router = operations.Operations("/v1/usage", "usage", scope="read")
ledger_router = operations.Operations("/v1/ledger", "plans", scope="read")


class ShareLinkRequest(RequestModel):
    """A link to make."""

    kind: SubjectKind
    """The kind of page."""
    name: Name
    """The id of the plan or sweep, or the name of the cluster."""
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 7
    """Days after which the link expires."""


class ListedShareLink(AnswerRecord):
    """A link that was made; its addresses are in no answer but the first."""

    id: UUID
    """Id of the link (UUIDv7)."""
    kind: SubjectKind
    """The kind of page."""
    name: str
    """The id of the plan or sweep, or the name of the cluster."""
    created_by: str | None
    """Name of the API key, or subject of the token, that made it; null if there was none."""
    created_at: datetime
    """When the link was made."""
    expires_at: datetime
    """When the link expires."""


class ShareLinksPage(AnswerRecord):
    """Share links, newest first."""

    items: list[ListedShareLink]
    """The links of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


@share_links_router.operation("POST", answer=SharedLinks, status=201, takes=json_only)
def create_share_link(
    request: Request,
    uow: Uow,
    once: OnceOnly,
    body: Annotated[ShareLinkRequest, Body(openapi_examples=examples.SHARE_LINK_REQUEST)],
) -> Response:
    """Create a share link.

    Sign a link that opens one page, with its pictures and files, without an API key until it expires or is revoked.

    No later answer has its addresses: the same request without an `Idempotency-Key` makes another link, and both are
    valid. A link to a cluster shows its newest snapshot and those before.
    """
    team = transaction.acting() or transaction.DEFAULT
    with request.app.state.database.begin(is_own=True) as own:  # keys of the installation are of no team
        key = share_links.signing_key(own, team)

    def answer() -> Response:
        subject = Subject(body.kind, body.name)
        share_links.require(uow, subject)
        made = share_links.links(uow, key, str(request.base_url), subject, days=body.days, team=team)
        return operations.json_response(made, status=201)

    return once(answer)


@share_links_router.operation("GET", answer=ShareLinksPage, scope="admin")
def list_share_links(
    uow: Uow, page_size: operations.PageSize = 50, page_token: operations.PageToken = None
) -> Response:
    """List share links, newest first.

    Page through the links that are valid, without their addresses.

    Links that versions before 0014 of the schema made are not listed; revoking all revokes them, too.
    """
    page = uow.share_links.valid(before=operations.id_of_token(page_token), size=page_size)
    return operations.page_response(page, map(ListedShareLink.of, page.items))


@share_links_router.operation("DELETE /{share_link_id}", status=204, scope="admin")
def revoke_share_link(uow: Uow, share_link_id: Annotated[Id, examples.SHARE_LINK_ID]) -> Response:
    """Revoke a share link.

    Revoke one link: neither its page nor its picture opens any longer. Other links stay valid.
    """
    share_links.revoke(uow, share_link_id)
    return Response(status_code=204)


@share_links_router.operation("DELETE", status=204, scope="admin")
def revoke_share_links(request: Request) -> Response:
    """Revoke all share links.

    Replace the key that signs links: none that was made until now is valid any longer.
    """
    with request.app.state.database.begin(is_own=True) as own:
        share_links.revoke_all(own, team=transaction.acting() or transaction.DEFAULT)
    return Response(status_code=204)


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
    action: Annotated[
        _Text,
        Query(description="Entries of this action, such as `DELETE /v1/jobs/{job_id}`, or of several between commas."),
    ] = None,
    resource: Annotated[_Text, Query(description="Entries on this resource.")] = None,
    status: Annotated[int | None, Query(ge=100, le=599, description="Entries with this HTTP status.")] = None,
    outcome: Annotated[
        Outcome | None, Query(description="`failed`: entries with a status from 400 on; `done`: the others.")
    ] = None,
) -> AuditFilter:
    return AuditFilter(since, until, actor, name, address, request_id, action, resource, status, outcome)


Wanted = Annotated[AuditFilter, Depends(_wanted)]


@audit_router.operation("GET", answer=AuditPage)
def list_audit_entries(
    uow: Uow, wanted: Wanted, page_size: operations.PageSize = 50, page_token: operations.PageToken = None
) -> Response:
    """List entries of the audit log, newest first.

    Page through changes, denials and exports of the team. A key of all teams sees every entry.

    Each request that changes something has an entry before it is answered, and so has each that exports or is denied
    (401, 403, 429). An entry has neither a secret nor a body. It is deleted after some days (`RACKPLAN_AUDIT_DAYS`).
    """
    before = None if page_token is None else operations.offset_of_token(page_token)
    page = uow.audit.page(wanted, before=before, size=page_size)
    token = operations.token_of_offset(page.items[-1].id) if page.has_more else None
    return operations.json_response(
        {"items": [audit.document(entry) for entry in page.items], "next_page_token": token}
    )


@audit_router.operation(
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


class QuotaDocument(AnswerRecord):
    """A quota and its use."""

    used: int
    """Present number."""
    limit: int | None
    """Largest number that is allowed; null if there is no limit."""


class TeamUsageDocument(AnswerRecord):
    """Usage of a team, with its quotas."""

    team: str
    """Name of the team."""
    stored_bytes: QuotaDocument
    """Bytes of snapshots, plans, sweeps with their rows, and stored responses to an `Idempotency-Key`, as the database
    has compressed them, with 128 for each row."""
    plans: QuotaDocument
    """Plans that the team stores."""
    snapshots: QuotaDocument
    """Snapshots that the team stores."""
    share_links: QuotaDocument
    """Share links. Those that have expired count until the next one is made."""
    unfinished_jobs: QuotaDocument
    """Queued and running jobs and sweeps."""


class UsageDocument(AnswerRecord):
    """Usage of teams, with their quotas."""

    teams: list[TeamUsageDocument]
    """The team; every team for a key of all teams."""


@usage_router.operation("GET", answer=UsageDocument)
def get_usage(request: Request, uow: Uow) -> Response:
    """Usage and quotas.

    The usage of the team and its quotas. A request that would exceed a quota is the problem `quota_exceeded`.

    A request that returns a stored plan or snapshot adds nothing. Deleting plans, snapshots, sweeps and share links
    frees their share at once.
    """
    limits = dict(zip(QUOTAS, request.app.state.database.quotas, strict=True))
    teams = uow.usage.of_teams()
    quotas = [{name: QuotaDocument(getattr(of, name), limits[name] or None) for name in QUOTAS} for of in teams]
    listed = [TeamUsageDocument.of(of, **used) for of, used in zip(teams, quotas, strict=True)]
    return operations.json_response(UsageDocument(listed))


MOST_PLANS = 100


class ErrorDocument(AnswerRecord):
    """|actual − predicted| / predicted, over plans."""

    median: float
    """Error that half of the plans do not exceed."""
    p90: float
    """Error that nine of ten plans do not exceed."""


class LedgerSummaryDocument(AnswerRecord):
    """Relative errors of the predictions of plans that were executed; null if nothing can be compared."""

    count: int
    """Number of plans whose execution was recorded."""
    bytes_error: ErrorDocument | None
    """Error of the copied bytes, over these plans."""
    seconds_error: ErrorDocument | None
    """Error of the duration, over these plans."""
    plans: list[ExecutedPlan]
    """The newest 100 of them, newest first."""


@ledger_router.operation("GET", answer=LedgerSummaryDocument)
def get_ledger(
    uow: Uow, cluster: Annotated[Name | None, Query(description="Only plans of this cluster.")] = None
) -> Response:
    """Errors of predictions.

    The errors of predicted bytes and seconds, over the plans whose execution was recorded by their progress with a
    `log`.
    """
    found = uow.plans.ledger(cluster=cluster, size=MOST_PLANS)
    of_bytes, of_seconds = (ErrorDocument(*of) if of else None for of in (found.bytes_error, found.seconds_error))
    return operations.json_response(LedgerSummaryDocument(found.count, of_bytes, of_seconds, [*found.plans]))
