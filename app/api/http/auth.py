"""Authentication of callers, and authorisation by their scopes.

Until the first API key is created, a service on a loopback address without an OIDC issuer is open. From then on every
request needs a key, also after all keys were revoked: as a bearer token, or as the password of HTTP Basic, which
browsers can prompt for; or a token or session of the issuer, which `identification` has verified before.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from anyio import CancelScope, to_thread
from fastapi import Depends, HTTPException, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBasic, HTTPBasicCredentials, HTTPBearer, SecurityScopes
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as ASGIScope

from app.api.http.audit import READING, actor_of, caller_of
from app.api.problems.documents import of_failure, of_http
from app.errors import Failure
from app.errors.access import ApiKeyExpired, DatabaseUnavailable, Forbidden, Unauthenticated, UnsupportedMediaType
from app.errors.quotation import quoted
from app.errors.requests import InvalidField
from app.formats.syntax.lines import decode
from app.services import callers
from app.services.api_keys import Scope
from app.services.callers import Caller
from app.services.limits import Limits
from app.services.outbound import Outbound
from app.slots.admission import Admission
from app.slots.in_place import blocking
from app.store import audit, transaction
from app.store.api_keys import ApiKey, PresentedKey
from app.store.audit import Actor
from app.store.database import Database, UnitOfWork


async def _unit_of_work(request: Request) -> AsyncIterator[UnitOfWork]:
    database: Database = request.app.state.database
    admission: Admission = request.app.state.admission
    async with admission.slot(caller=caller_of(request.scope)):
        uow = database.unit_of_work()
        try:
            yield uow
        except BaseException:
            # A client that disconnects cancels this task: the connection is returned all the same.
            with CancelScope(shield=True):
                await blocking(uow.rollback)
            raise
        if uow.is_open:
            with CancelScope(shield=True):
                await blocking(uow.commit)


async def _limits(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


async def _outbound(request: Request) -> Outbound:
    outbound: Outbound = request.app.state.outbound
    return outbound


async def json_only(request: Request) -> None:
    """Raise `UnsupportedMediaType` unless the body is announced as JSON."""
    media_type_of(request, "application/json")


async def json_or_text(request: Request) -> None:
    """Raise `UnsupportedMediaType` unless the body is announced as JSON, or as the text of a tool."""
    media_type_of(request, "application/json", "text/plain")


def of_text(body: Any) -> Any:
    """The fields of a body: a text is the `output`. Raises `MalformedText` if it cannot be decoded."""
    return {"output": decode(body, "output")} if isinstance(body, bytes) else body


async def merge_patch_only(request: Request) -> None:
    """Raise `UnsupportedMediaType` unless the body is announced as a JSON merge patch, or as JSON."""
    media_type_of(request, "application/json", "application/merge-patch+json")


def media_type_of(request: Request, *offered: str) -> str:
    """The media type of the body, one of those offered; raises `UnsupportedMediaType` of others."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in offered:
        detail = f"the body is {quoted(media_type) or 'of no type'}; it has to be {' or '.join(offered)}"
        raise UnsupportedMediaType(detail, offered=list(offered))
    return media_type


async def _raw_body(request: Request) -> bytes:
    return await request.body()


# The scope makes the commit happen before the response is sent: one that fails is then a 500, never a 201.
Uow = Annotated[UnitOfWork, Depends(_unit_of_work, scope="function")]
RequestLimits = Annotated[Limits, Depends(_limits)]
OutboundCalls = Annotated[Outbound, Depends(_outbound)]
RawBody = Annotated[bytes, Depends(_raw_body)]


_BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="API key",
    description="`rackplan keys create` makes one. An access token of the operator's OIDC issuer takes its place.",
)
_BASIC = HTTPBasic(auto_error=False, scheme_name="API key as password", description="For browsers; any user name.")

ANYONE = "anyone"
"""The principal of a service that is open."""
TEAM_HEADER = "Rackplan-Team"
"""The header with which a key of all teams acts for one."""
CHECKED_WITHIN_S = 2.0
"""Longest wait for a lock that the check of a key needs; then the request is answered 503."""
_REJECTED_WITHIN_S = 2 * CHECKED_WITHIN_S
"""The same before the body, with the wait for a thread and for a database that does not answer at all."""
_ALL_TEAMS = frozenset({Scope.READ, Scope.ADMIN})
"""The scopes of operations that a key of all teams does for all of them."""


async def _secret(
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
    basic: Annotated[HTTPBasicCredentials | None, Depends(_BASIC)],
) -> str | None:
    """The secret of a request, in either of its forms; None without one."""
    return bearer.credentials if bearer else basic.password if basic else None


async def _secret_of(request: Request) -> str | None:
    """The same without the framework's dependencies, which document the operations of the API."""
    return await _secret(await _BEARER(request), await _BASIC(request))


Secret = Annotated[str | None, Depends(_secret)]


async def principal(request: Request, _admitted: Uow, needed: SecurityScopes, secret: Secret) -> str:
    """The name of the caller of the request, which acts for the team of the caller from now on.

    Raises `Unauthenticated`, `ApiKeyExpired`, `TokenRejected`, `IssuerUnavailable` or `Forbidden`.
    """
    state = request.app.state
    caller = callers.of_state(request.scope.get("state", {}))
    if caller is not None:
        actor = _actor_of_token(caller)
        _note(request.scope, actor)
    else:
        presented = await blocking(_used, state.database, secret, may_be_open=state.may_be_open)
        actor = _actor_of_key(presented)
        _note(request.scope, actor)
        caller = None if presented is None else _holder(_unexpired(presented))
    if caller is not None:
        _require(needed, caller)
    stated = request.headers.get(TEAM_HEADER)
    if stated is not None and not transaction.is_name(stated):
        raise InvalidField(f"{TEAM_HEADER} is {quoted(stated)}, which is no name of a team", path=("header",))
    if caller is None:
        transaction.become(transaction.DEFAULT)
        return ANYONE
    team = _team(stated, caller, needed)
    _note(request.scope, replace(actor, team=team))
    transaction.become(team)
    return caller.name


def _holder(key: ApiKey) -> Caller:
    return Caller(key.name, f"key {key.name}", (key.team,), tuple(key.scopes))


def _actor_of_key(presented: PresentedKey | None) -> Actor:
    if presented is None:
        return Actor("anyone", team=transaction.DEFAULT)
    return Actor("key", presented.key.name, str(presented.key.id), presented.key.team)


def _actor_of_token(caller: Caller) -> Actor:
    return Actor("token", caller.name, team=caller.teams[0] if len(caller.teams) == 1 else None)


def _note(scope: ASGIScope, actor: Actor) -> None:
    """Note the sender of a request, for the audit log."""
    scope.setdefault("state", {})["actor"] = actor
    audit.become(actor_of(scope))


def _used(database: Database, secret: str | None, *, may_be_open: bool) -> PresentedKey | None:
    """The key of a request, whose use is recorded unless it has expired; None if the service is open."""
    presented = _presented(database, secret, may_be_open=may_be_open)
    if presented is not None and presented.is_use_due and not presented.has_expired:
        # A transaction of its own, which has ended before the operation begins: it delays no other request.
        with database.begin(is_own=True) as uow:
            uow.api_keys.note_use(presented.key.id)
    return presented


def _team(stated: str | None, caller: Caller, needed: SecurityScopes) -> str:
    """The team that a request acts for. A key of all teams reads and administrates all, and plans for one at a time."""
    if transaction.ALL not in caller.teams:
        if stated is not None and stated not in caller.teams:
            raise Forbidden(f"{caller.described} is not of the team {stated}", team=stated)
        if stated is None and len(caller.teams) > 1:
            own = ", ".join(caller.teams)
            raise Forbidden(f"{caller.described} is of the teams {own}: {TEAM_HEADER} states one", teams=caller.teams)
        return stated or caller.teams[0]
    is_one = transaction.acting() not in (None, transaction.ALL, transaction.NONE) or not _ALL_TEAMS.issuperset(
        needed.scopes
    )
    return stated or (transaction.DEFAULT if is_one else transaction.ALL)


class NoTeamYet:
    """Let a request act for no team until its key is known: code that forgets to check it sees no row."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        with transaction.acting_as(transaction.NONE):
            await self._app(scope, receive, send)


def named(if_anyone: str) -> Callable[..., Awaitable[str]]:
    """The dependency that returns the principal, or this name if the service is open."""

    async def of_request(name: Annotated[str, Depends(principal)]) -> str:
        return if_anyone if name == ANYONE else name

    return of_request


def reader(shared_team: Callable[[Request], str | None]) -> Callable[..., Awaitable[str]]:
    """The dependency of pages: the principal, or anyone if the request has a share link that was verified.

    Parameters
    ----------
    shared_team : the team whose page the link of a request shows; None if it has none.
    """

    async def of_request(request: Request, admitted: Uow, needed: SecurityScopes) -> str:
        team = shared_team(request)
        if team is None:
            return await principal(request, admitted, needed, await _secret_of(request))
        request.scope.setdefault("state", {})["actor"] = Actor("link", team=team)
        transaction.become(team)
        return ANYONE

    return of_request


class KeyBeforeBody:
    """Reject a request that changes something or has a body, and has no valid key, before the body is read and parsed.

    The sender is noted, for the audit log: a client that leaves before the answer is known all the same.

    Parameters
    ----------
    open_paths : beginnings of the paths that need no key.
    may_be_open : whether the service is open until the first key is created.
    """

    def __init__(self, app: ASGIApp, *, database: Database, open_paths: Collection[str], may_be_open: bool) -> None:
        self._app, self._database, self._open_paths = app, database, tuple(open_paths)
        self._may_be_open = may_be_open

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(self._open_paths):
            request = Request(scope)
            has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
            if has_body or scope["method"] not in READING:
                rejected = await self._rejection(request)
                if rejected is not None:
                    await rejected(scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _rejection(self, request: Request) -> Response | None:
        try:
            async with asyncio.timeout(_REJECTED_WITHIN_S):
                await self._check(request)
        except TimeoutError:
            return of_failure(request, DatabaseUnavailable("the API key cannot be checked now; try again in a moment"))
        except Failure as failure:
            return of_failure(request, failure)
        except HTTPException as unreadable:
            return of_http(request, unreadable)
        return None

    async def _check(self, request: Request) -> None:
        """Note the sender. Raises as `principal`, and the framework's exception for credentials that cannot be read."""
        caller = callers.of_state(request.scope.get("state", {}))
        if caller is not None:
            _note(request.scope, _actor_of_token(caller))
            return
        secret = await _secret_of(request)
        check = partial(_presented, self._database, secret, may_be_open=self._may_be_open)
        # A thread that waits for a silent database continues without the request.
        presented = await to_thread.run_sync(check, abandon_on_cancel=True)
        _note(request.scope, _actor_of_key(presented))
        if presented is not None:
            _unexpired(presented)


def _presented(database: Database, secret: str | None, *, may_be_open: bool) -> PresentedKey | None:
    """The key of a request, expired or not; None if the service is open. Raises `Unauthenticated`."""
    with database.begin(is_own=True) as uow:
        presented = None if secret is None else uow.api_keys.authenticate(secret)
        if presented is None and may_be_open and not uow.api_keys.any_created():
            return None
    if secret is None:
        raise Unauthenticated("send an API key as `Authorization: Bearer …`, or as the password of HTTP Basic")
    if presented is None:
        raise Unauthenticated("the API key is not valid; it may have been revoked")
    return presented


def _unexpired(presented: PresentedKey) -> ApiKey:
    """The key. Raises `ApiKeyExpired`."""
    if presented.has_expired:
        raise ApiKeyExpired(f"the API key expired at {presented.key.expires_at:%Y-%m-%d %H:%M} UTC")
    return presented.key


def has_scope(scopes: Iterable[str], needed: Scope) -> bool:
    """Whether these scopes include the needed one: each scope includes the ones before it."""
    order = list(Scope)
    return order.index(needed) <= max((order.index(Scope(scope)) for scope in scopes), default=-1)


def _require(needed: SecurityScopes, caller: Caller) -> None:
    """Raise `Forbidden` unless the caller has the scopes."""
    for scope in needed.scopes:
        if not has_scope(caller.scopes, Scope(scope)):
            raise Forbidden(f"{caller.described} lacks the scope {scope}", scope=scope, scopes=list(caller.scopes))
