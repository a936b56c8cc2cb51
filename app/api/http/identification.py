"""Callers that the OIDC issuer knows: by an access token, or by the cookie of a browser that has signed in."""

from collections.abc import Collection

from fastapi.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.http.audit import READING
from app.errors import Failure
from app.errors.access import Forbidden
from app.services import callers
from app.services.callers import Caller
from app.services.oidc.options import OidcOptions
from app.services.oidc.tokens import Tokens, caller_of
from app.store.api_keys import PREFIX
from app.store.database import Database


class Identification:
    """Note in the state of each request whose token or cookie it has, or why that is rejected.

    Operations that need a caller raise the rejection, others do not look at it. This is the one process that asks the
    issuer: to a slot the caller crosses with the request. API keys are left to `auth`.
    """

    def __init__(
        self, app: ASGIApp, *, database: Database, options: OidcOptions, tokens: Tokens, open_paths: Collection[str]
    ) -> None:
        self._app, self._database, self._options, self._tokens = app, database, options, tokens
        self._open_paths = tuple(open_paths)
        self._cookie = options.session_cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(self._open_paths):
            try:
                found: Caller | Failure | None = await self._caller(Request(scope))
            except Failure as failure:
                found = failure
            if found is not None:
                scope.setdefault("state", {})[callers.STATE] = callers.as_state(found)
        await self._app(scope, receive, send)

    async def _caller(self, request: Request) -> Caller | None:
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and not credentials.strip().startswith(PREFIX):
            return caller_of(await self._tokens.of_access(credentials.strip()), self._options)
        secret = request.cookies.get(self._cookie)
        if scheme or not secret:
            return None
        stored = await run_in_threadpool(self._of_session, secret)
        if stored is not None and request.method not in READING:
            _require_own_origin(request)
        return stored

    def _of_session(self, secret: str) -> Caller | None:
        with self._database.begin(is_own=True) as uow:
            stored = uow.sessions.find(secret, issuer=self._options.issuer)
        return None if stored is None else Caller.of_document(stored)


def _require_own_origin(request: Request) -> None:
    """Raise `Forbidden` unless a page of the service sent the request: browsers add the cookie for pages of others too.

    `SameSite=Lax` keeps it from other sites, not from other ports and subdomains; and CORS may allow some of those.
    """
    origin = request.headers.get("origin", "")
    if origin.partition("://")[2] != request.headers.get("host"):
        raise Forbidden("a change by the cookie of a session needs the `Origin` of the service")
