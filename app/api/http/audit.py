"""The audit log of requests: changes, denials and exports.

An entry is in the database before the answer is sent. Entries that are added at the same time are one statement.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from ipaddress import ip_address

import structlog
from anyio import CancelScope
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems.documents import of_failure
from app.errors import Failure
from app.errors.access import DatabaseUnavailable, StorageFull
from app.errors.quotation import quoted
from app.slots.admission import Caller
from app.store import audit
from app.store.audit import Actor, NewEntry
from app.store.database import Database

READING = frozenset({"GET", "HEAD", "OPTIONS"})
METHODS = READING | {"POST", "PUT", "PATCH", "DELETE"}
_DENIED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})
_TABLES = ("text/csv", "application/x-ndjson", "application/vnd.apache.")
"""Beginnings of the media types of answers that are exports, whatever the path."""
_MOST_ENTRIES = 1000
"""Entries of one statement, and equal requests that are counted at the same time."""
COUNTED_S = 60.0
"""Seconds for which denied requests of one sender are counted instead of stored one by one."""

_NEEDS_NO_ENTRY = "needs_no_audit_entry"

_Sender = tuple[str | None, str | None, int | None]


class AuditLog:
    """Adds entries to the log. Belongs to one event loop; `close` ends its thread and its connection.

    Parameters
    ----------
    database : a pool of one connection, so that entries wait for no request.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="audit")
        self._pending: list[tuple[NewEntry, asyncio.Future[None]]] = []
        self._adding: asyncio.Task[None] | None = None
        self._counted: dict[_Sender, NewEntry | None] = {}
        self._end_of_count: asyncio.TimerHandle | None = None

    async def add(self, entry: NewEntry) -> None:
        """Add an entry; return once it is stored. Raises `DatabaseUnavailable` or `StorageFull`."""
        is_stored = asyncio.get_running_loop().create_future()
        self._pending.append((entry, is_stored))
        if self._adding is None or self._adding.done():
            self._adding = asyncio.create_task(self._add_pending())
        await is_stored

    async def add_or_count(self, entry: NewEntry) -> None:
        """Add an entry on a denied request; one like another of the last minute is counted, and added with the count.

        A stranger that sends many requests cannot make many entries. Raises as `add`.
        """
        sender: _Sender = (entry.actor.address, entry.actor.key_id or entry.actor.name, entry.status)
        if sender not in self._counted and len(self._counted) >= _MOST_ENTRIES:
            sender, entry = (None, None, None), replace(entry, actor=replace(entry.actor, address="others"))
        if self._end_of_count is None:
            loop = asyncio.get_running_loop()
            self._end_of_count = loop.call_later(COUNTED_S, lambda: loop.create_task(self.add_counted()))
        if sender not in self._counted:
            self._counted[sender] = None
            await self.add(entry)
            return
        earlier = self._counted[sender]
        self._counted[sender] = entry if earlier is None else replace(entry, count=earlier.count + 1)

    async def add_counted(self) -> None:
        """Add the counts so far."""
        counted, self._counted = self._counted, {}
        if self._end_of_count is not None:
            self._end_of_count.cancel()
            self._end_of_count = None
        entries = [entry for entry in counted.values() if entry is not None]
        for result in await asyncio.gather(*map(self.add, entries), return_exceptions=True):
            if isinstance(result, BaseException):
                structlog.get_logger().error("audit.lost", detail=str(result))

    async def _add_pending(self) -> None:
        loop = asyncio.get_running_loop()
        while self._pending:
            batch, self._pending = self._pending[:_MOST_ENTRIES], self._pending[_MOST_ENTRIES:]
            failure: Failure | None = DatabaseUnavailable("the audit log cannot be written; try again")
            try:
                await loop.run_in_executor(
                    self._thread, audit.add, self._database.engine, [entry for entry, _ in batch]
                )
                failure = None
            except (DatabaseUnavailable, StorageFull) as known:
                failure = known
            except Exception as unexpected:  # noqa: BLE001 -- those that wait for the entries get a failure
                structlog.get_logger().error("audit.failed", exc_info=unexpected)
            finally:
                for _, is_stored in batch:
                    if is_stored.done():
                        continue
                    if failure is None:
                        is_stored.set_result(None)
                    else:
                        is_stored.set_exception(failure)

    def close(self) -> None:
        """End the thread once it has stored its entries, and close the connection."""
        self._thread.shutdown(wait=True)
        self._database.close()


class Audit:
    """Add an entry on each request that changes something, is denied or exports, before it is answered.

    A change whose entry cannot be stored is answered 503: it was made, but is not acknowledged. A request whose client
    leaves before the answer has an entry without a status.
    """

    def __init__(self, app: ASGIApp, *, log: AuditLog, quiet_paths: frozenset[str]) -> None:
        self._app, self._log, self._quiet_paths = app, log, quiet_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._quiet_paths:
            await self._app(scope, receive, send)
            return
        is_answered, is_replaced = False, False

        async def send_audited(message: Message) -> None:
            nonlocal is_answered, is_replaced
            if message["type"] == "http.response.start" and not is_answered:
                is_answered = True
                failure = await self._added(scope, message)
                if failure is not None:
                    is_replaced = True
                    await of_failure(Request(scope), failure)(scope, receive, send)
            if not is_replaced:
                await send(message)

        try:
            await self._app(scope, receive, send_audited)
        finally:
            if not is_answered and _changes(scope) and not scope["state"].get(_NEEDS_NO_ENTRY):
                with CancelScope(shield=True):
                    await _stored(self._log.add(_entry(scope, status=None)))

    async def _added(self, scope: Scope, message: Message) -> Failure | None:
        """Add the entry on an answer, if there is one; why it cannot be sent for want of the entry."""
        if scope.get("state", {}).get(_NEEDS_NO_ENTRY):
            return None
        status: int = message["status"]
        headers = {name.lower(): value for name, value in message.get("headers", ())}
        is_denied = status in _DENIED
        if not is_denied and not _changes(scope) and not _exports(scope, status, headers):
            return None
        entry = _entry(scope, status=status, made="" if is_denied else headers.get(b"location", b"").decode("latin-1"))
        failure = await _stored(self._log.add_or_count(entry) if is_denied else self._log.add(entry))
        return None if status >= HTTPStatus.BAD_REQUEST else failure


async def _stored(adding: Awaitable[None]) -> Failure | None:
    """Why an entry cannot be stored, which is logged; None if it is stored."""
    try:
        await adding
    except (DatabaseUnavailable, StorageFull) as failure:
        structlog.get_logger().error("audit.lost", detail=failure.detail)
        return failure
    return None


def note_untouched(scope: Scope) -> None:
    """Note that a request was rejected before anything was done for it: it has no entry."""
    scope.setdefault("state", {})[_NEEDS_NO_ENTRY] = True


def _entry(scope: Scope, *, status: int | None, made: str = "") -> NewEntry:
    """The entry on a request.

    Parameters
    ----------
    made : the Location of the answer; the entry has the path of the request if it is empty.
    """
    state = scope.setdefault("state", {})
    method = scope["method"] if scope["method"] in METHODS else "other"
    route = getattr(scope.get("route"), "path", None)
    code = state.get("failure_code")
    return NewEntry(
        actor_of(scope),
        method if route is None else f"{method} {route}",
        quoted((made or scope["path"]).partition("?")[0]),
        status,
        code,
    )


def actor_of(scope: Scope) -> Actor:
    """The sender of a request, as far as it is known; the address and the id of the request in any case."""
    state = scope.setdefault("state", {})
    known: Actor = state.get("actor") or Actor("unknown")
    return replace(known, address=address_of(scope), request_id=state.get("request_id") or None)


def caller_of(scope: Scope) -> Caller:
    """The caller in whose turn a request is queued: its sender, or credentials yet to be checked."""
    actor: Actor | None = scope.get("state", {}).get("actor")
    if actor is not None:
        return Caller(actor.team or "", actor.key_id or actor.name or "")
    headers = Headers(scope=scope)
    return Caller("", str(hash(headers.get("authorization") or headers.get("cookie"))))


def address_of(scope: Scope) -> str | None:
    """The IP address of the client; None if it has none, as on a socket of Unix."""
    host = (scope.get("client") or (None,))[0]
    return None if host is None else _address(host)


@lru_cache(maxsize=10_000)
def _address(host: str) -> str | None:
    try:
        return str(ip_address(host.partition("%")[0]))
    except ValueError:
        return None


def _changes(scope: Scope) -> bool:
    """Whether a request may have changed something: it got as far as the check of its key."""
    return scope["method"] not in READING and scope.get("state", {}).get("actor") is not None


def _exports(scope: Scope, status: int, headers: Mapping[bytes, bytes]) -> bool:
    if status != HTTPStatus.OK or scope["method"] == "HEAD":
        return False
    media_type = headers.get(b"content-type", b"").decode("latin-1")
    route = str(getattr(scope.get("route"), "path", scope["path"]))
    return route.endswith(("/export", "/plan.json", "/definition.json")) or media_type.startswith(_TABLES)
