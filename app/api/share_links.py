"""`/v1/share-links`: signed links to a plan, sweep or cluster that need no API key until they expire."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Depends, Response, Security
from fastapi import Request as HttpRequest
from pydantic import BaseModel, Field

from app.api import examples
from app.api.http.auth import Uow, json_only, principal
from app.api.http.idempotency import OnceOnly
from app.api.http.json_bodies import JsonRoute
from app.api.http.negotiation import json_response
from app.api.http.pagination import PageSize, PageToken, id_of_token, page_response
from app.api.problems.responses import responses
from app.errors.access import IdempotencyKeyInFlight, InvalidPageToken, UnsupportedMediaType
from app.errors.requests import PlanNotFound, ShareLinkNotFound, SnapshotNotFound, SweepNotFound
from app.services import share_links
from app.services.bodies import Request
from app.services.fields import Id, Name
from app.services.share_links import MOST_DAYS, SharedLinks, Subject, SubjectKind
from app.store import transaction

router = APIRouter(route_class=JsonRoute, prefix="/v1/share-links", tags=["share links"])


class ShareLinkRequest(Request):
    """A link to make."""

    kind: SubjectKind
    """The kind of page."""
    name: Name
    """The id of the plan or sweep, or the name of the cluster."""
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 7
    """Days after which the link expires."""


class ListedShareLink(BaseModel):
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


class ShareLinksPage(BaseModel):
    """Share links, newest first."""

    items: list[ListedShareLink]
    """The links of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


@router.post(
    "",
    status_code=201,
    operation_id="create_share_link",
    summary="Create a share link",
    dependencies=[Depends(json_only)],
    response_model=SharedLinks,
    responses=responses(PlanNotFound, SweepNotFound, SnapshotNotFound, UnsupportedMediaType, IdempotencyKeyInFlight),
)
def create(
    request: HttpRequest,
    uow: Uow,
    once: OnceOnly,
    body: Annotated[ShareLinkRequest, Body(openapi_examples=examples.SHARE_LINK_REQUEST)],
) -> Response:
    """Sign a link that opens one page, with its pictures and files, without an API key until it expires or is revoked.

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
        return json_response(asdict(made), status=201)

    return once(answer)


@router.get(
    "",
    operation_id="list_share_links",
    summary="List share links, newest first",
    response_model=ShareLinksPage,
    responses=responses(InvalidPageToken),
    dependencies=[Security(principal, scopes=["admin"])],
)
def list_share_links(uow: Uow, page_size: PageSize = 50, page_token: PageToken = None) -> Response:
    """Page through the links that are valid, without their addresses.

    Links that versions before 0014 of the schema made are not listed; revoking all revokes them, too.
    """
    page = uow.share_links.valid(before=id_of_token(page_token), size=page_size)
    items = [{name: getattr(link, name) for name in ListedShareLink.model_fields} for link in page.items]
    return page_response(page, items)


@router.delete(
    "/{share_link_id}",
    status_code=204,
    operation_id="revoke_share_link",
    summary="Revoke a share link",
    responses=responses(ShareLinkNotFound),
    dependencies=[Security(principal, scopes=["admin"])],
)
def revoke_one(uow: Uow, share_link_id: Annotated[Id, examples.SHARE_LINK_ID]) -> Response:
    """Revoke one link: neither its page nor its picture opens any longer. Other links stay valid."""
    share_links.revoke(uow, share_link_id)
    return Response(status_code=204)


@router.delete(
    "",
    status_code=204,
    operation_id="revoke_share_links",
    summary="Revoke all share links",
    responses=responses(),
    dependencies=[Security(principal, scopes=["admin"])],
)
def revoke(request: HttpRequest) -> Response:
    """Replace the key that signs links: none that was made until now is valid any longer."""
    with request.app.state.database.begin(is_own=True) as own:
        share_links.revoke_all(own, team=transaction.acting() or transaction.DEFAULT)
    return Response(status_code=204)
