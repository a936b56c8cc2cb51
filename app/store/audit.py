"""The audit log: each change with its actor and time. Entries are only added; settings state when old ones are deleted.

Postgres enforces it: the role of requests may read and insert alone, and triggers reject every change but the deletion
of old entries by the owner of the table, which states the age in `SETTING`.
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, TypeAlias

import orjson
import sqlalchemy as sa

from app.errors.quotation import quoted
from app.store.tables import STATEMENTS, audit_entries
from app.store.transaction import Page, Store, equal, page_of

ActorKind: TypeAlias = Literal["key", "token", "link", "anyone", "unknown", "command"]
"""An API key, a token or session of the OIDC issuer, a share link, any process while the service is open, a request
without valid credentials, a command."""

Outcome: TypeAlias = Literal["done", "failed"]
_HAS_FAILED = sa.func.coalesce(audit_entries.c.status, 0) >= 400


@dataclass(frozen=True, slots=True)
class Actor:
    """The actor of a change.

    Parameters
    ----------
    name : of the key, or of the subject of the token; None without one.
    key_id : the UUID of the key, as a text.
    team : that is acted for, or `teams.ALL`; None if it is not known.
    address : of the client. request_id : of the request. Both are None for a command.
    """

    kind: ActorKind
    name: str | None = None
    key_id: str | None = None
    team: str | None = None
    address: str | None = None
    request_id: str | None = None


COMMAND = Actor("command")
"""The actor of changes outside of requests."""
_ACTING: ContextVar[Actor] = ContextVar("acting", default=COMMAND)


def acting() -> Actor:
    """The actor of this request or command."""
    return _ACTING.get()


def become(actor: Actor) -> None:
    """Set the actor of the context of the middleware, which ends with the request."""
    _ACTING.set(actor)


SETTING = "rackplan.audit_days"
"""The setting of a transaction that may delete entries older than this number of days."""
LONGEST = 200
"""Characters of each text of an entry; the rest of a longer one is not stored."""
_OF_AN_ACTOR = tuple(field.name for field in fields(Actor))


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to add.

    Parameters
    ----------
    action : `METHOD /path/{template}` of a request, or a change by name, such as `key.created`.
    resource : path of the created resource, or of the request; the name of a key.
    status : HTTP status of the answer; None if there was none, and of changes.
    code : of the problem that was the answer.
    count : of equal requests that the entry is for.
    """

    actor: Actor
    action: str
    resource: str | None = None
    status: int | None = None
    code: str | None = None
    count: int = 1

    def row(self) -> dict[str, Any]:
        """The columns, with texts of bounded length."""
        own = {name: getattr(self, name) for name in ("action", "resource", "status", "code", "count")}
        values = {name: getattr(self.actor, name) for name in _OF_AN_ACTOR} | own
        values["actor"] = values.pop("kind")
        return {name: quoted(value, LONGEST) if isinstance(value, str) else value for name, value in values.items()}


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A change: the operation, its actor, the address and the time."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"title": "AuditEntryDocument"}

    id: int
    """Number of the entry, in the order in which entries were added."""
    at: datetime
    """When it was added, by the clock of the database."""
    actor: ActorKind
    """`key`: an API key; `link`: a share link; `anyone`: any process, while the service is open; `unknown`: no valid
    credentials; `command`: a command of the operator."""
    name: str | None
    """Name of the API key; null without one."""
    key_id: str | None
    """Id of the API key, since names are used again; null if none."""
    team: str | None
    """Team that was acted for, `*` for all; null if it is not known."""
    address: str | None
    """IP address of the client; null if unknown."""
    request_id: str | None
    """Id of the request, as in the log; null for a command."""
    action: str
    """Method and route of a request, or a change: `key.created`, `key.revoked`, `service.opened`, `share_link.created`,
    `share_link.revoked`, `share_links.revoked`."""
    resource: str | None
    """Path of the created resource, else of the request; name of a key."""
    status: int | None
    """HTTP status of the answer; null if the client left, or a change."""
    code: str | None
    """Code of the problem that was the answer; null if there was none."""
    count: int
    """Requests that the entry is for: denied ones of a sender within a minute."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries; None is any. `since` is included, `until` is not. `action` may be several, between commas."""

    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    name: str | None = None
    address: str | None = None
    request_id: str | None = None
    action: str | None = None
    resource: str | None = None
    status: int | None = None
    outcome: Outcome | None = None

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        texts = ("actor", "name", "address", "request_id", "resource")
        found = equal(audit_entries, **{name: getattr(self, name) for name in texts})
        found += [] if self.action is None else [audit_entries.c.action.in_(self.action.split(","))]
        found += [] if self.outcome is None else [_HAS_FAILED if self.outcome == "failed" else ~_HAS_FAILED]
        found += [] if self.status is None else [audit_entries.c.status == self.status]
        found += [] if self.since is None else [audit_entries.c.at >= self.since]
        found += [] if self.until is None else [audit_entries.c.at < self.until]
        return found


class Audit(Store):
    """The audit log in one transaction."""

    def record(self, action: str, resource: str, *, team: str | None = None) -> None:
        """Add an entry on a change in the transaction of the change.

        Parameters
        ----------
        team : whose administrators see the entry; if None, that which is acted for.
        """
        record(self._writing, action, resource, team=team)

    def page(self, wanted: AuditFilter, *, before: int | None, size: int) -> Page[AuditEntry]:
        """Entries that the team sees, newest first."""
        conditions = (*self._visible(audit_entries), *wanted.conditions())
        return page_of(self._reading, audit_entries, AuditEntry, *conditions, before=before, size=size)

    def expire(self, *, older_than: timedelta) -> int:
        """Delete the entries that are older, which only the owner of the table may; return their number."""
        stated = {"name": SETTING, "days": str(older_than.days)}
        self._writing.execute(sa.text("SELECT set_config(:name, :days, true)"), stated)
        old = audit_entries.c.at < sa.func.now() - older_than
        return self._writing.execute(audit_entries.delete().where(old)).rowcount


def record(connection: sa.Connection, action: str, resource: str, *, team: str | None = None) -> None:
    """Add an entry on a change in the transaction of the change, on behalf of the current actor."""
    row = NewEntry(acting(), action, resource).row()
    row |= {} if team is None else {"team": team}
    # Inline: the row may be one that the role does not see, so that it cannot be returned.
    connection.execute(audit_entries.insert().inline().values(row))


def add(engine: sa.Engine, entries: Sequence[NewEntry]) -> None:
    """Add entries by one statement, which commits itself. Raises `DatabaseUnavailable` or `StorageFull`."""
    rows = orjson.dumps([entry.row() for entry in entries]).decode()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(STATEMENTS["add_audit_entries"], (rows,))


FIELDS = tuple(field.name for field in fields(AuditEntry))
"""Names of the fields of an entry, in the order of an export."""
