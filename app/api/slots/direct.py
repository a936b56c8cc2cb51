"""The middleware that answers reads of small plans itself: of what clients ask for, most, and the cheapest.

On its way to a slot and back such a read passes ten dependencies and ten round trips to the database. Here it is one
round trip and one rendering of at most some 100 KB, between other requests of the event loop. Whatever is not a plain
read that succeeds goes on to the operation, which says what is wrong with it: the operation alone defines failures,
other representations, and when the use of a key is recorded.
"""

import re
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Final
from uuid import UUID

import psycopg
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.http.auth import TEAM_HEADER, has_scope
from app.api.http.negotiation import with_etag
from app.api.plans.etags import etag_of
from app.api.problems.documents import of_failure
from app.errors.access import ServiceBusy
from app.services.api_keys import Scope as KeyScope
from app.services.plans import Plan, plan_json
from app.slots.admission import Admission
from app.store.api_keys import key_hash
from app.store.direct import NO_KEY, Acting, DirectStore

DIRECT: Final = "direct"
"""The lane of what is answered without a slot, for metrics."""
KNOWN_FOR_S: Final = 1.0
"""Seconds for which a key that was valid is not looked at before the body."""
_MOST_KNOWN: Final = 1000
_PATH = re.compile(r"/v1/plans/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_ROUTE = SimpleNamespace(path="/v1/plans/{plan_id:uuid}")
_JSON = "application/json"
_AS_JSON = frozenset({b"", b"*/*", b"application/*", _JSON.encode()})
_BEARER = b"bearer "
_NOT_PLAIN = frozenset({TEAM_HEADER.lower().encode(), b"transfer-encoding"})
"""Headers with which a read goes on to its operation."""


class KeyCheck:
    """Whose a key is, in one round trip and without a thread: most are valid, and have been used lately.

    A key that was valid within the last second is not looked at again: this check only decides whether a body is read.
    The operation, or the transaction that stores a small plan, looks at the key once more.
    """

    def __init__(self, store: DirectStore, admission: Admission, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._admission, self._clock = store, admission, clock
        self._known: dict[str, tuple[Acting, float]] = {}

    async def __call__(self, secret: str | None) -> Acting | None:
        """The caller; None if it is not valid, or if that cannot be said at once."""
        hashed = NO_KEY if secret is None else key_hash(secret)
        known = self._known.get(hashed)
        if known is not None and self._clock() - known[1] < KNOWN_FOR_S:
            return known[0]
        try:
            async with self._admission.slot():
                acting = await self._store.acting(secret)
        except (ServiceBusy, psycopg.Error, OSError, TimeoutError):
            acting = None
        if acting is None:
            self._known.pop(hashed, None)
        else:
            self._known[hashed] = acting, self._clock()
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return acting


class Direct:
    """Answer `GET /v1/plans/{id}` as JSON, if the key may see the plan and the plan is small."""

    def __init__(self, app: ASGIApp, *, store: DirectStore, admission: Admission) -> None:
        self._app, self._store, self._admission = app, store, admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and not scope["query_string"]:
            path = _PATH.fullmatch(scope["path"])
            if path is not None:
                response = await self._answer(scope, UUID(path[1]))
                if response is not None:
                    scope["route"] = _ROUTE
                    await response(scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, plan_id: UUID) -> Response | None:
        is_plain, secret = _read(scope["headers"])
        if not is_plain:
            return None
        request = Request(scope)
        try:
            async with self._admission.slot():
                found = await self._store.plan(secret, plan_id)
        except ServiceBusy as busy:
            return of_failure(request, busy)
        except (psycopg.Error, OSError, TimeoutError):
            return None  # a slot may wait for longer, and can be stopped
        if found is None or not (found.scopes is None or has_scope(found.scopes, KeyScope.READ)):
            return None
        response = Response(plan_json(Plan(found.head, found.placements)), media_type=_JSON)
        return with_etag(request, etag_of(found.head, _JSON), response)


def _read(headers: list[tuple[bytes, bytes]]) -> tuple[bool, str | None]:
    """Whether the headers are those of a plain read of JSON, and the secret of its key."""
    secret: bytes | None = None
    accept: bytes | None = None
    for name, value in headers:
        if name == b"authorization":
            if secret is not None or value[: len(_BEARER)].lower() != _BEARER:
                return False, None
            secret = value[len(_BEARER) :]
        elif name == b"accept":
            if accept is not None or value not in _AS_JSON:
                return False, None
            accept = value
        elif name in _NOT_PLAIN or (name == b"content-length" and value != b"0"):
            return False, None
    if secret is not None and not (secret.isascii() and secret.strip() == secret != b""):
        return False, None
    return True, None if secret is None else secret.decode("ascii")
