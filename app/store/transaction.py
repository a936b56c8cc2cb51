"""A transaction that begins with its first statement, and returns its connection while it is not needed.

The role that requests have in Postgres, for which policies hide the rows of other teams.

The stores filter by team in every query; the policies of the migrations hold if one forgets to. Owners of tables are
not subject to them, so that a request's transaction takes the role `ROLE`, and states its team, before anything else.

The team that a transaction acts for: whose rows it sees, and whose its new rows are.

A request acts for the team of its API key, `ALL` teams or, until its key is known, for `NONE`. Whatever runs outside of
requests, such as a worker or a command, acts for None: it sees every row, as the owner of the tables.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from datetime import datetime
from secrets import randbits
from time import time_ns
from typing import Any, ClassVar, Generic, Self, TypeVar
from uuid import UUID

import psycopg
import sqlalchemy as sa
import structlog

from app.errors import FieldPath
from app.errors.access import DatabaseUnavailable, ServiceBusy, StorageFull
from app.errors.failure import NotFound
from app.store.tables import STATEMENTS

ROLE = "rackplan_api"
SETTING = "rackplan.team"

_PATIENT = "set_config('lock_timeout', '0', true)"
"""Requests wait for locks until their deadline; `Database` limits the waits of the service's own transactions."""
_ENTER = f"SELECT set_config('role', '{ROLE}', true), set_config('{SETTING}', %s, true), {_PATIENT}"


def enter(connection: sa.Connection, team: str) -> None:
    """Take the role for a team, until the transaction ends."""
    connection.exec_driver_sql(_ENTER, (team,))


def is_usable(connection: sa.Connection) -> bool:
    """Whether the account of the connection can take the role, and the role the tables."""
    is_known = connection.scalar(sa.text("SELECT to_regclass('team_usage') IS NOT NULL"))
    return bool(is_known and connection.scalar(sa.text(STATEMENTS["role_is_usable"])))


def establish(connection: sa.Connection) -> bool:
    """Make the role and grant it the rights of requests, if the account may. Returns whether it can be used."""
    if not is_usable(connection):
        try:
            with connection.begin_nested():
                _establish(connection)
        except sa.exc.DBAPIError as failure:
            reason, *_ = str(failure.orig).splitlines()
            structlog.get_logger().debug("row_security.not_established", reason=reason)
    return is_usable(connection)


def _establish(connection: sa.Connection) -> None:
    if not connection.scalar(sa.text(f"SELECT count(*) FROM pg_roles WHERE rolname = '{ROLE}'")):  # noqa: S608 -- ours
        connection.exec_driver_sql(f"CREATE ROLE {ROLE} NOLOGIN")
    if not connection.scalar(sa.text(f"SELECT pg_has_role('{ROLE}', 'MEMBER')")):
        connection.exec_driver_sql(f"GRANT {ROLE} TO CURRENT_USER")
    schema = connection.scalar(sa.text("SELECT quote_ident(current_schema())"))
    for grant in (f"GRANT USAGE ON SCHEMA {schema} TO {ROLE}", *STATEMENTS["grant_rights"].split(";\n")):
        connection.exec_driver_sql(grant)


DEFAULT, ALL, NONE = "default", "*", ""
"""The team of rows without another team; every team; no team at all."""
LONGEST = 63
PATTERN = rf"^[a-z0-9][a-z0-9_-]{{0,{LONGEST - 1}}}$"
_NAME = re.compile(PATTERN, re.ASCII)

_ACTING: ContextVar[str | None] = ContextVar("acting_team", default=None)


def is_name(text: str) -> bool:
    """Whether a text can be the name of a team: neither `ALL` nor `NONE` is one."""
    return _NAME.fullmatch(text) is not None


def acting() -> str | None:
    """The team that this request or job acts for."""
    return _ACTING.get()


def become(team: str) -> None:
    """Act for a team from now on in the context of the middleware, which ends with the request."""
    _ACTING.set(team)


@contextmanager
def acting_as(team: str | None) -> Iterator[None]:
    """Act for a team within the context."""
    token = _ACTING.set(team)
    try:
        yield
    finally:
        _ACTING.reset(token)


LOST = "the connection to the database was lost; try again in a moment"
_UNAVAILABLE = {
    psycopg.errors.LockNotAvailable: "a table of the database is locked; try again in a moment",
    psycopg.errors.QueryCanceled: "a statement of the database took longer than its limit; try again in a moment",
    psycopg.errors.ReadOnlySqlTransaction: "the database is read-only at present; try again in a moment",
}


def failure_of(error: BaseException) -> StorageFull | DatabaseUnavailable | None:
    """The failure that an error of Postgres is, whatever the statement; None of others, such as a lost connection."""
    if isinstance(error, psycopg.errors.DiskFull):
        return StorageFull("the disk of the database is full; nothing is stored until its operator makes space")
    return next((DatabaseUnavailable(detail) for kind, detail in _UNAVAILABLE.items() if isinstance(error, kind)), None)


@contextmanager
def driver_failures() -> Iterator[None]:
    """Raise the failures of statements from calls of the driver itself, such as COPY."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction) as error:
        raise failure_of(error) or DatabaseUnavailable(LOST) from error


class RowSecurity:
    """Whether transactions take the role of requests: decided by the first one that acts for a team."""

    def __init__(self) -> None:
        self._is_usable: bool | None = None

    def enter(self, connection: sa.Connection, team: str) -> None:
        """Take the role for a team, if Postgres has it, and wait for locks as long as the request may."""
        if self._is_usable is None:
            self._is_usable = is_usable(connection)
        if self._is_usable:
            enter(connection, team)
        else:
            connection.exec_driver_sql(f"SELECT {_PATIENT}")


class Transaction:
    """One transaction at a time over a connection of the engine's pool.

    A connection is taken by the first statement, never before: a request that waits for a thread has none.

    Parameters
    ----------
    is_own : it is the service's own, and acts for no team, whichever the request acts for.
    """

    def __init__(self, engine: sa.Engine, security: RowSecurity, *, is_own: bool = False) -> None:
        self._engine, self._security, self._is_own = engine, security, is_own
        self._connection: sa.Connection | None = None
        self._is_pinned = False

    @property
    def is_open(self) -> bool:
        """Whether the transaction has a connection."""
        return self._connection is not None

    @property
    def team(self) -> str | None:
        """The team that it acts for; None if it is no request's."""
        return None if self._is_own else acting()

    @property
    def reading(self) -> sa.Connection:
        """The connection for statements that change nothing and lock nothing.

        Raises
        ------
        ServiceBusy
            Every connection is in use, and none became free in time.
        """
        if self._connection is None:
            try:
                self._connection = self._engine.connect()
            except sa.exc.TimeoutError as busy:
                raise ServiceBusy("every connection to the database is in use; try again in a moment") from busy
            self._connection.begin()
            team = self.team
            if team is not None:
                self._security.enter(self._connection, team)
        return self._connection

    @property
    def writing(self) -> sa.Connection:
        """The connection for every other statement; from then on `release` does nothing. Raises as `reading`."""
        self._is_pinned = True
        return self.reading

    def release(self) -> None:
        """Return the connection to the pool until the next statement, unless something was written or locked."""
        if not self._is_pinned:
            self.commit()

    def commit(self) -> None:
        """Commit the transaction, if there is one, and return the connection to the pool.

        Raises `DatabaseUnavailable` if the connection was lost before, also if that was reported already.
        """
        connection, self._connection, self._is_pinned = self._connection, None, False
        if connection is not None:
            with connection:
                if connection.invalidated:  # lost at a statement whose failure a caller handled
                    raise DatabaseUnavailable(LOST)
                connection.commit()

    def rollback(self) -> None:
        """Roll the transaction back, if there is one, and return the connection to the pool."""
        connection, self._connection, self._is_pinned = self._connection, None, False
        if connection is not None:
            connection.close()


def columns_of(table: sa.Table, record: type) -> tuple[Any, ...]:
    """The columns of a table that a dataclass has as fields, in the order of the fields."""
    return tuple(table.c[field.name] for field in fields(record))


class Store:
    """Base of the stores, each with the queries of one kind of rows."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @property
    def _reading(self) -> sa.Connection:
        return self._transaction.reading

    @property
    def _writing(self) -> sa.Connection:
        return self._transaction.writing

    @property
    def _team(self) -> str:
        """The team of new rows."""
        team = self._transaction.team
        return DEFAULT if team in (None, ALL) else str(team)

    def is_past(self, moment: datetime) -> bool:
        """Whether something that expires at this moment has expired, by the clock that decides so."""
        return bool(self._reading.scalar(sa.select(sa.literal(moment) <= sa.func.now())))

    def _visible(self, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        """The condition that rows of a table belong to the team; empty for every team."""
        team = self._transaction.team
        return [] if team in (None, ALL) else [table.c.team == team]


def uuid7() -> UUID:
    """A new UUIDv7: 48 bits of Unix milliseconds, then 74 random ones. Source: RFC 9562, section 5.7."""
    milliseconds = time_ns() // 1_000_000
    return UUID(int=milliseconds << 80 | 7 << 76 | randbits(12) << 64 | 2 << 62 | randbits(62))


Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of a list, and whether more follow."""

    items: tuple[Item, ...]
    has_more: bool

    @classmethod
    def of(cls, items: Sequence[Item], size: int) -> Self:
        """A page of `size` items from the result of a query for one item more, which is there if a page follows."""
        return cls(tuple(items[:size]), has_more=len(items) > size)


def page_of(
    connection: sa.Connection,
    table: sa.Table,
    record: type[Item],
    *conditions: sa.ColumnElement[bool],
    before: UUID | int | None,
    size: int,
) -> Page[Item]:
    """Rows of a table as records, which have some of its columns as fields; newest first, by id.

    Parameters
    ----------
    before : the last id of the page before.
    """
    c = table.c
    query = sa.select(*columns_of(table, record)).where(*conditions, *([] if before is None else [c.id < before]))
    rows = connection.execute(query.order_by(c.id.desc()).limit(size + 1))
    return Page.of([record(*row) for row in rows], size)


def equal(table: sa.Table, **values: str | None) -> list[sa.ColumnElement[bool]]:
    """The conditions that columns have these values; None is any."""
    return [table.c[name] == value for name, value in values.items() if value is not None]


Record = TypeVar("Record")


class Rows(Store, Generic[Record]):
    """Rows of one table in one transaction.

    Class attributes
    ----------------
    _table : has the columns `id` and `team`.
    _record : the dataclass that has the columns of a row as fields.
    _missing : the failure of an id that the team does not have.
    _path : where such an id is in a request, if it is not in its address.
    """

    _table: ClassVar[sa.Table]
    _record: ClassVar[type[Any]]
    _missing: ClassVar[type[NotFound]]
    _path: ClassVar[FieldPath] = ()
    _columns: ClassVar[tuple[sa.Column[Any], ...]]
    _selected: ClassVar[sa.Select[Any]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_table" in vars(cls):
            cls._columns = columns_of(cls._table, cls._record)
            cls._selected = sa.select(*cls._columns)

    def get(self, row_id: UUID, *, for_update: bool = False) -> Record:
        """The row of this id, or the failure `_missing`; `for_update` locks it, but for rows that refer to it."""
        query = self._selected.where(*self._is(row_id))
        connection = self._writing if for_update else self._reading
        found = self._one(connection.execute(query.with_for_update(key_share=True) if for_update else query))
        if found is None:
            raise self._not_found(row_id)
        return found

    def column(self, name: str, row_ids: Collection[UUID | None]) -> dict[UUID, Any]:
        """One column of the rows that there are of these ids, without reading the others."""
        query = sa.select(self._table.c.id, self._table.c[name]).where(
            self._table.c.id.in_(row_ids), *self._visible(self._table)
        )
        return {row[0]: row[1] for row in self._reading.execute(query)} if row_ids else {}

    def delete(self, row_id: UUID) -> None:
        """Delete the row, and its dependent rows, or raise the failure `_missing`."""
        if self._writing.execute(self._table.delete().where(*self._is(row_id))).rowcount == 0:
            raise self._not_found(row_id)

    def page(
        self, *conditions: sa.ColumnElement[bool], before: UUID | None, size: int, **values: str | None
    ) -> Page[Record]:
        """Rows that fulfil conditions and have values of columns, newest first.

        Parameters
        ----------
        before : the last id of the page before. values : by the name of the column; None is any.
        """
        wanted = (*conditions, *equal(self._table, **values), *self._visible(self._table))
        return page_of(self._reading, self._table, self._record, *wanted, before=before, size=size)

    def _inserted(self, row_id: UUID | None, **values: object) -> Record:
        """A new row with these values; by default the id is a new one, and the team as for new rows."""
        return self._stored(self._table.insert().values({"id": row_id or uuid7(), "team": self._team} | values))

    def _written(self, statement: sa.Insert | sa.Update) -> Record | None:
        """The row that a statement has written; None if it has written none."""
        return self._one(self._writing.execute(statement.returning(*self._columns)))

    def _stored(self, statement: sa.Insert | sa.Update) -> Record:
        """The row that a statement has inserted or changed."""
        return self._of(self._writing.execute(statement.returning(*self._columns)).one())

    def _first(self, query: sa.Select[Any]) -> Record | None:
        """The only row of a query over the columns, or None."""
        return self._one(self._reading.execute(query))

    def _one(self, result: sa.Result[Any]) -> Record | None:
        row = result.one_or_none()
        return None if row is None else self._of(row)

    def _of(self, row: Iterable[Any]) -> Record:
        record: Record = self._record(*row)
        return record

    def _is(self, row_id: UUID) -> list[sa.ColumnElement[bool]]:
        return [self._table.c.id == row_id, *self._visible(self._table)]

    def _not_found(self, row_id: UUID) -> NotFound:
        noun = self._missing.code.removesuffix("_not_found")
        context = {f"{noun}_id": str(row_id)}
        return self._missing(f"there is no {noun.replace('_', ' ')} {row_id}", path=self._path, **context)
