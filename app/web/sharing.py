"""Share links: made on pages, verified in place of an API key, and shown with the snippets that embed them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, cast, get_args
from urllib.parse import quote, urlencode
from uuid import UUID

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from app.errors.access import ShareLinkRejected
from app.errors.quotation import quoted
from app.services import share_links
from app.services.share_links import Granted, Subject, SubjectKind
from app.store import teams
from app.store.database import Database
from app.web.access import Access
from app.web.pages import page

PARAMETER = "share"
_DAYS = (1, 7, 30, 90, share_links.MOST_DAYS)
_PICTURES: dict[SubjectKind, str] = {
    "plan": "/pictures/plan",
    "cluster": "/pictures/cluster-map",
    "sweep": "/pictures/sweep-compared",
}


def subject_of(request: Request) -> tuple[Subject, Granted] | None:
    """What an address shows, if a link can be for it."""
    match request.url.path.split("/")[1:]:
        case ["plans", plan_id]:
            return Subject("plan", plan_id), "page"
        case ["sweeps", sweep_id] | ["sweeps", sweep_id, "scenarios", _]:
            return Subject("sweep", sweep_id), "page"
        case ["clusters", *_] if "name" in request.path_params:
            return Subject("cluster", str(request.path_params["name"])), "page"
        case ["pictures", file]:
            kind = file.partition(".")[0].partition("-")[0]
            name = request.query_params.get(kind)
            if kind in get_args(SubjectKind) and name is not None:
                return Subject(cast("SubjectKind", kind), name), "picture"
    return None


def verified(database: Database) -> Callable[[Request], None]:
    """The dependency that verifies the link of a request, if it has one. Raises `ShareLinkRejected`."""

    def of_request(request: Request) -> None:
        token = request.query_params.get(PARAMETER)
        if token is None or request.method not in ("GET", "HEAD"):
            return
        shown = subject_of(request)
        if shown is None:
            raise ShareLinkRejected("share links are for pages of plans, sweeps and clusters and for their pictures")
        with database.begin(is_own=True) as uow:
            request.state.shared_until = share_links.verify(uow, *shown, token)
        request.state.shared_team = share_links.team_of(token)

    return of_request


def shared_team(request: Request) -> str | None:
    """The team whose page the verified link of a request shows; None if the request has none."""
    team: str | None = getattr(request.state, "shared_team", None)
    return team


def rejected(failure: ShareLinkRejected) -> Response:
    """The page in place of what a link that is not valid leads to."""
    return page("share_rejected.html", status=HTTPStatus.FORBIDDEN, detail=failure.detail)


@dataclass(frozen=True, slots=True)
class SharedLinks:
    """A link to a page, and one to its picture alone, with the host's name."""

    page: str
    picture: str
    expires: datetime


def router(database: Database, access: Access, *, ancestors: Sequence[str] = ()) -> APIRouter:
    """Making links needs the right to plan, revoking all of them that of an administrator."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/share", dependencies=[access.plan])
    def share(
        request: Request,
        kind: Annotated[str, Form(max_length=20)],
        name: Annotated[str, Form(max_length=300)],
        days: Annotated[int, Form(ge=1, le=share_links.MOST_DAYS)],
    ) -> Response:
        if kind not in get_args(SubjectKind):
            raise HTTPException(422, f"{quoted(kind)} is none of {', '.join(get_args(SubjectKind))}")
        if kind != "cluster" and not _is_id(name):  # `/plans/compare` shows any two plans
            raise HTTPException(422, f"{quoted(name)} is not the id of a {kind}")
        subject = Subject(cast("SubjectKind", kind), name)
        team = teams.acting() or teams.DEFAULT
        with database.begin(is_own=True) as uow:
            tokens = {
                granted: share_links.make(uow, subject, granted, days=days, team=team) for granted in get_args(Granted)
            }
        links = _links(str(request.base_url), subject, tokens, datetime.now(UTC) + timedelta(days=days))
        return page("share.html", subject=subject, links=links, can_frame=bool(ancestors))

    @routes.post("/share/revoke", dependencies=[access.admin])
    def revoke() -> Response:
        with database.begin(is_own=True) as uow:
            share_links.revoke_all(uow, team=teams.acting() or teams.DEFAULT)
        return RedirectResponse("/keys?revoked=links#links", HTTPStatus.SEE_OTHER)

    return routes


def _is_id(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def _links(base: str, subject: Subject, tokens: dict[Granted, str], expires: datetime) -> SharedLinks:
    path = f"{subject.kind}s/{quote(subject.name, safe='')}"
    picture = urlencode([(subject.kind, subject.name), (PARAMETER, tokens["picture"])])
    return SharedLinks(
        f"{base}{path}?{urlencode([(PARAMETER, tokens['page'])])}",
        f"{base.rstrip('/')}{_PICTURES[subject.kind]}.svg?{picture}",
        expires,
    )
