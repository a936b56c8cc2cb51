"""Share links: made on pages, verified in place of an API key, and shown with the snippets that embed them."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, cast, get_args
from uuid import UUID

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from app.errors.access import ShareLinkRejected
from app.errors.quotation import quoted
from app.errors.requests import ShareLinkNotFound
from app.services import share_links
from app.services.share_links import Granted, Subject, SubjectKind
from app.slots.in_place import blocking
from app.store import transaction
from app.store.database import Database
from app.web.access import Access
from app.web.clusters.view import viewed
from app.web.lists import as_id
from app.web.pages import Pages, page


def subject_of(request: Request) -> tuple[Subject, Granted] | None:
    """The subject of an address, if a link can be for it."""
    match request.url.path.split("/")[1:]:
        case ["plans", plan_id, *tab] if len(tab) <= 1 and tab != ["compare"]:  # that lists other plans
            return Subject("plan", plan_id), "page"
        case ["sweeps", sweep_id] | ["sweeps", sweep_id, "scenarios", _]:
            return Subject("sweep", sweep_id), "page"
        case ["sweeps", sweep_id, file] if file == "definition.json" or file.startswith("scenarios."):
            return Subject("sweep", sweep_id), "page"
        case ["clusters", *_] if (view := viewed(request)).room not in ("plans", "capacity"):
            return Subject("cluster", view.cluster), "page"
        case ["pictures", file]:
            kind = file.partition(".")[0].partition("-")[0]
            name = request.query_params.get(kind)
            if kind in get_args(SubjectKind) and name is not None:
                return Subject(cast("SubjectKind", kind), name), "picture"
    return None


def verified(database: Database) -> Callable[[Request], Awaitable[None]]:
    """The dependency that verifies the link of a request, if it has one. Raises `ShareLinkRejected`."""

    async def of_request(request: Request) -> None:
        token = request.query_params.get(share_links.PARAMETER)
        if token is None or request.method not in ("GET", "HEAD"):
            return
        shown = subject_of(request)
        if shown is None:
            raise ShareLinkRejected("share links are for pages of plans, sweeps and clusters and for their pictures")

        def note_expiry() -> None:
            with database.begin(is_own=True) as uow:
                request.state.shared_until = share_links.verify(uow, *shown, token)

        await blocking(note_expiry)
        request.state.shared_team = share_links.team_of(token)

    return of_request


def shared_team(request: Request) -> str | None:
    """The team whose page the verified link of a request shows; None if the request has none."""
    team: str | None = getattr(request.state, "shared_team", None)
    return team


def rejected(failure: ShareLinkRejected) -> Response:
    """The page in place of the target of an invalid link."""
    return page("share_rejected.html", status=HTTPStatus.FORBIDDEN, detail=failure.detail)


def router(database: Database, access: Access, *, ancestors: Sequence[str] = ()) -> APIRouter:
    """Making links needs the right to plan, revoking them an administrator's."""
    routes = Pages()

    @routes.post("/share", dependencies=[access.plan])
    def share(
        request: Request,
        kind: Annotated[str, Form(max_length=20)],
        name: Annotated[str, Form(max_length=300)],
        days: Annotated[int, Form(ge=1, le=share_links.MOST_DAYS)],
    ) -> Response:
        if kind not in get_args(SubjectKind):
            raise HTTPException(422, f"{quoted(kind)} is not one of {', '.join(get_args(SubjectKind))}")
        if kind != "cluster" and as_id(name) is None:  # `/plans/compare` shows any two plans
            raise HTTPException(422, f"{quoted(name)} is not the id of a {kind}")
        subject = Subject(cast("SubjectKind", kind), name)
        with database.begin() as uow:
            share_links.require(uow, subject)
        with database.begin(is_own=True) as uow:
            team = transaction.acting() or transaction.DEFAULT
            key = share_links.signing_key(uow, team)
            links = share_links.links(uow, key, str(request.base_url), subject, days=days, team=team)
        return page("share.html", subject=subject, links=links, can_frame=bool(ancestors))

    @routes.post("/share/revoke", dependencies=[access.admin])
    def revoke() -> Response:
        with database.begin(is_own=True) as uow:
            share_links.revoke_all(uow, team=transaction.acting() or transaction.DEFAULT)
        return RedirectResponse("/keys?revoked=links#links", HTTPStatus.SEE_OTHER)

    @routes.post("/share/{link_id:uuid}/revoke", dependencies=[access.admin])
    def revoke_one(link_id: UUID) -> Response:
        with suppress(ShareLinkNotFound), database.begin() as uow:  # gone: expired, or revoked a moment ago
            share_links.revoke(uow, link_id)
        return RedirectResponse("/keys?revoked=link#links", HTTPStatus.SEE_OTHER)

    return routes
