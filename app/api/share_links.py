"""`/v1/share-links`: signed links to a plan, sweep or cluster that need no API key until they expire."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Body, Response
from fastapi import Request as HttpRequest
from pydantic import Field

from app.api import examples
from app.api.http.auth import Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.api.http.negotiation import json_response
from app.api.http.operations import Operations
from app.api.http.pagination import PageSize, PageToken, id_of_token, page_response
from app.errors.access import IdempotencyKeyInFlight, InvalidPageToken
from app.errors.requests import PlanNotFound, ShareLinkNotFound, SnapshotNotFound, SweepNotFound
from app.services import share_links
from app.services.bodies import AnswerRecord, Request
from app.services.fields import Id, Name
from app.services.share_links import MOST_DAYS, SharedLinks, Subject, SubjectKind
from app.store import transaction

router = Operations("/v1/share-links", "share links")


class ShareLinkRequest(Request):
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


@router.operation(
    "POST",
    PlanNotFound,
    SweepNotFound,
    SnapshotNotFound,
    IdempotencyKeyInFlight,
    answer=SharedLinks,
    status=201,
    takes=json_only,
)
def create_share_link(
    request: HttpRequest,
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
        return json_response(made, status=201)

    return once(answer)


@router.operation("GET", InvalidPageToken, answer=ShareLinksPage, scope="admin")
def list_share_links(uow: Uow, page_size: PageSize = 50, page_token: PageToken = None) -> Response:
    """List share links, newest first.

    Page through the links that are valid, without their addresses.

    Links that versions before 0014 of the schema made are not listed; revoking all revokes them, too.
    """
    page = uow.share_links.valid(before=id_of_token(page_token), size=page_size)
    return page_response(page, map(ListedShareLink.of, page.items))


@router.operation("DELETE /{share_link_id}", ShareLinkNotFound, status=204, scope="admin")
def revoke_share_link(uow: Uow, share_link_id: Annotated[Id, examples.SHARE_LINK_ID]) -> Response:
    """Revoke a share link.

    Revoke one link: neither its page nor its picture opens any longer. Other links stay valid.
    """
    share_links.revoke(uow, share_link_id)
    return Response(status_code=204)


@router.operation("DELETE", status=204, scope="admin")
def revoke_share_links(request: HttpRequest) -> Response:
    """Revoke all share links.

    Replace the key that signs links: none that was made until now is valid any longer.
    """
    with request.app.state.database.begin(is_own=True) as own:
        share_links.revoke_all(own, team=transaction.acting() or transaction.DEFAULT)
    return Response(status_code=204)
