"""`/keys`: API keys are created, listed and revoked, share links too; the usage of teams, with their quotas."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.errors import Failure
from app.errors.quotation import quoted
from app.errors.requests import InvalidField
from app.services import api_keys
from app.services.api_keys import LONGEST_NAME, Scope
from app.store import transaction
from app.store.api_keys import ApiKey
from app.store.database import Database, UnitOfWork
from app.store.usage import QUOTAS
from app.web.access import Access
from app.web.pages import Pages, page, shown_once

MOST_DAYS = 3650
_LINKS = 100
"""Share links on the page, the newest."""


def router(database: Database, access: Access) -> APIRouter:
    """The page of keys; every request needs the right of an administrator."""
    routes = Pages(dependencies=[access.admin])

    @routes.get("/keys")
    def keys(revoked: Annotated[str, Query(max_length=20)] = "") -> Response:
        return _page(database, access, revoked=revoked)

    @routes.post("/keys")
    def create(
        name: Annotated[str, Form(max_length=300)] = "",
        scope: Annotated[str, Form(max_length=20)] = "",
        days: Annotated[str, Form(max_length=20)] = "",
        team: Annotated[str, Form(max_length=100)] = "",
    ) -> Response:
        name = name.strip()
        try:
            expires_at = _expiry(days.strip())
            with database.begin() as uow:
                if access.may_be_open:
                    _require_admin_first(uow, scope)
                made = api_keys.create(uow, name=name, scopes=[scope], team=_team(team.strip()), expires_at=expires_at)
        except Failure as failure:
            return _page(database, access, name=name, scope=scope, days=days, team=team, problem=failure.detail)
        return shown_once(page("key.html", key=made[0], secret=made[1]))

    @routes.post("/keys/revoke")
    def revoke(name: Annotated[str, Form(max_length=300)], team: Annotated[str, Form(max_length=100)] = "") -> Response:
        try:
            with database.begin() as uow:
                uow.api_keys.revoke(name, team=team or None)
        except Failure as failure:
            return _page(database, access, problem=failure.detail)
        return RedirectResponse("/keys?revoked=key", HTTPStatus.SEE_OTHER)

    return routes


def _expiry(days: str) -> datetime | None:
    """The expiry of a key that is valid for `days`; None, without a number, is never. Raises `InvalidField`."""
    if not days:
        return None
    if not (days.isascii() and days.isdigit() and 1 <= int(days) <= MOST_DAYS):
        raise InvalidField(f"{quoted(days)} is no number of days from 1 to {MOST_DAYS}", path=("days",))
    return datetime.now(UTC) + timedelta(days=int(days))


def _team(stated: str) -> str | None:
    """The team of a new key: the administrator's, or any for an administrator of all teams. Raises `InvalidField`."""
    own = transaction.acting()
    if not stated:
        return None
    if own not in (transaction.ALL, stated):
        raise InvalidField(f"an administrator of the team {own} makes keys of this team alone", path=("team",))
    return stated


def _require_admin_first(uow: UnitOfWork, scope: str) -> None:
    """Raise `InvalidField` if there is no key yet and this one could not make another one."""
    if scope in list(Scope) and scope != Scope.ADMIN and not uow.api_keys.any_created():
        detail = (
            "the first key needs the scope admin: from then on every request needs a key, and this page one of an admin"
        )
        raise InvalidField(detail, path=("scope",))


def _page(database: Database, access: Access, *, problem: str = "", revoked: str = "", **typed: str) -> Response:
    with database.begin() as uow:
        keys: list[ApiKey] = uow.api_keys.all()
        links = uow.share_links.valid(before=None, size=_LINKS)
        usage = uow.usage.of_teams()
    return page(
        "keys.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        keys=keys,
        is_open=access.may_be_open and not keys,
        typed={"name": "", "scope": "", "days": "", "team": "", **typed},
        default_team=transaction.DEFAULT,
        all_teams=transaction.ALL,
        is_of_all_teams=transaction.acting() == transaction.ALL,
        longest_name=LONGEST_NAME,
        most_days=MOST_DAYS,
        problem=problem,
        revoked=revoked,
        links=links.items,
        has_more_links=links.has_more,
        usage=usage,
        quotas=dict(zip(QUOTAS, database.quotas or [0] * len(QUOTAS), strict=True)),
    )
