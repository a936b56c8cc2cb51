"""Sign-in of browsers at the OIDC issuer, and sign-out."""

from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from app.services.callers import Caller
from app.services.oidc.sign_in import CALLBACK, PENDING_S, SIGNED_OUT, SignedIn, SignIn, local_path
from app.store import audit, transaction
from app.store.audit import Actor
from app.store.database import Database
from app.web.access import Access
from app.web.pages import Pages, page, shown_once

START, BY_KEY = "/sign-in", "/use-key"
_PENDING, _ID_TOKEN = "rackplan-sign-in", "rackplan-id-token"
_LONGEST_COOKIE = 3_800
"""Browsers drop longer ones; a sign-out without the ID token asks the person at the issuer."""
_LONGEST_TO = 2_000


def router(database: Database, sign_in: SignIn, access: Access) -> APIRouter:
    """The routes of signing in and out, which need no key."""
    routes = Pages()

    @routes.get(START)
    async def start(
        to: Annotated[str, Query(max_length=_LONGEST_TO)] = "/",
        team: Annotated[str, Query(max_length=transaction.LONGEST)] = "",
    ) -> Response:
        address, pending = await sign_in.begin(to=to, team=team)
        answer = RedirectResponse(address, HTTPStatus.SEE_OTHER)
        _keep(sign_in, answer, _PENDING, pending.written(), CALLBACK, PENDING_S)
        return shown_once(answer)

    @routes.get(CALLBACK)
    async def end(request: Request) -> Response:
        return shown_once(await _ended(request, database, sign_in))

    @routes.get(BY_KEY, dependencies=[access.read])
    def by_key(to: Annotated[str, Query(max_length=_LONGEST_TO)] = "/") -> Response:
        return RedirectResponse(local_path(to), HTTPStatus.SEE_OTHER)

    @routes.post(SIGNED_OUT)
    async def sign_out(request: Request) -> Response:
        return shown_once(await _signed_out(request, database, sign_in))

    @routes.get(SIGNED_OUT)
    async def signed_out() -> Response:
        return page("signed_out.html", at_issuer="")

    return routes


async def _ended(request: Request, database: Database, sign_in: SignIn) -> Response:
    """End the sign-in that the issuer leads back to: the page that was asked for, or the choice of a team."""
    options, signed_in = sign_in.options, await sign_in.end(request.cookies.get(_PENDING, ""), request.query_params)
    if (caller := _of_one_team(signed_in)) is None:
        return page("sign_in_team.html", teams=signed_in.caller.teams, to=signed_in.to)
    _act_for(request, caller)
    secret = await run_in_threadpool(_begin_session, database, sign_in, caller)
    answer = RedirectResponse(signed_in.to, HTTPStatus.SEE_OTHER)
    _drop(sign_in, answer, _PENDING, CALLBACK)
    _keep(sign_in, answer, options.session_cookie, secret, "/", options.oidc_session_hours * 3600)
    if len(signed_in.id_token) <= _LONGEST_COOKIE:
        _keep(sign_in, answer, _ID_TOKEN, signed_in.id_token, SIGNED_OUT, options.oidc_session_hours * 3600)
    return answer


async def _signed_out(request: Request, database: Database, sign_in: SignIn) -> Response:
    """End the session of a browser, and offer to sign out at the issuer."""
    secret = request.cookies.get(sign_in.options.session_cookie, "")
    if secret and (ended := await run_in_threadpool(_end_session, database, secret)):
        _act_for(request, ended)  # the audit log has an entry on the request
    at_issuer = await sign_in.end_address(request.cookies.get(_ID_TOKEN, ""))
    answer = page("signed_out.html", at_issuer=at_issuer)
    _drop(sign_in, answer, sign_in.options.session_cookie, "/")
    _drop(sign_in, answer, _ID_TOKEN, SIGNED_OUT)
    return answer


def _keep(sign_in: SignIn, answer: Response, name: str, value: str, path: str, seconds: int) -> None:
    secure = sign_in.options.is_secure
    answer.set_cookie(name, value, max_age=seconds, path=path, secure=secure, httponly=True, samesite="lax")


def _drop(sign_in: SignIn, answer: Response, name: str, path: str) -> None:
    answer.delete_cookie(name, path=path, secure=sign_in.options.is_secure, httponly=True, samesite="lax")


def _of_one_team(signed_in: SignedIn) -> Caller | None:
    """The caller for the team that it chose, or its only one; None if it has to choose one."""
    caller = signed_in.caller
    chosen = (signed_in.team,) if signed_in.team in caller.teams else caller.teams
    if len(chosen) > 1:
        return None
    return Caller(caller.name, caller.described, chosen, caller.scopes, caller.shown)


def _begin_session(database: Database, sign_in: SignIn, caller: Caller) -> str:
    options = sign_in.options
    valid_for = timedelta(hours=options.oidc_session_hours)
    with database.begin(is_own=True) as uow:
        uow.audit.record("session.began", caller.name, team=caller.teams[0])
        return uow.sessions.create(caller.document(), issuer=options.issuer, valid_for=valid_for)


def _end_session(database: Database, secret: str) -> Caller | None:
    with database.begin(is_own=True) as uow:
        ended = uow.sessions.end(secret)
    return None if ended is None else Caller.of_document(ended)


def _act_for(request: Request, caller: Caller) -> None:
    """Note the sender of a request that needs no caller, for the audit log."""
    actor = Actor("token", caller.name, team=caller.teams[0])
    request.state.actor = actor
    address = None if request.client is None else request.client.host
    audit.become(replace(actor, address=address, request_id=getattr(request.state, "request_id", None)))
