"""`/keys`: API keys are created, listed and revoked; all share links are revoked."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.errors import Failure
from app.store.api_keys import ApiKey
from app.store.database import Database
from app.web.access import Access
from app.web.pages import page, shown_once

SCOPES = {
    "read": "look at everything",
    "plan": "and store clusters, plan and start sweeps",
    "admin": "and delete, and manage keys and webhooks",
}
_LONGEST_NAME = 100


def router(database: Database, access: Access) -> APIRouter:
    """The page of keys; every request needs the right of an administrator."""
    routes = APIRouter(include_in_schema=False, dependencies=[access.admin])

    @routes.get("/keys")
    def keys(revoked: Annotated[str, Query(max_length=20)] = "") -> Response:
        return _page(database, are_links_revoked=revoked == "links")

    @routes.post("/keys")
    def create(
        name: Annotated[str, Form(max_length=300)] = "", scope: Annotated[str, Form(max_length=20)] = ""
    ) -> Response:
        name = name.strip()
        try:
            with database.begin() as uow:
                problem = _problem(name, scope, has_keys=uow.api_keys.any_valid())
                made = None if problem else uow.api_keys.create(name, [scope])
        except Failure as failure:
            made, problem = None, failure.detail
        if made is None:
            return _page(database, name=name, scope=scope, problem=problem)
        return shown_once(page("key.html", key=made[0], secret=made[1]))

    @routes.post("/keys/revoke")
    def revoke(name: Annotated[str, Form(max_length=300)]) -> Response:
        try:
            with database.begin() as uow:
                uow.api_keys.revoke(name)
        except Failure as failure:
            return _page(database, problem=failure.detail)
        return RedirectResponse("/keys", HTTPStatus.SEE_OTHER)

    return routes


def _problem(name: str, scope: str, *, has_keys: bool) -> str:
    if not (0 < len(name) <= _LONGEST_NAME and name.isprintable()):
        return f"a name has 1 to {_LONGEST_NAME} printable characters"
    if scope not in SCOPES:
        return f"the scopes are {', '.join(SCOPES)}"
    if not has_keys and scope != "admin":
        return (
            "the first key needs the scope admin: from then on every request needs a key, and this page one of an admin"
        )
    return ""


def _page(
    database: Database, *, name: str = "", scope: str = "", problem: str = "", are_links_revoked: bool = False
) -> Response:
    with database.begin() as uow:
        keys: list[ApiKey] = uow.api_keys.all()
    return page(
        "keys.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        keys=keys,
        is_open=all(key.revoked_at is not None for key in keys),
        scopes=SCOPES,
        name=name,
        scope=scope,
        problem=problem,
        are_links_revoked=are_links_revoked,
    )
