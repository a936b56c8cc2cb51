"""A transaction that begins with its first statement, and returns its connection while it is not needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import psycopg
import sqlalchemy as sa

from app.errors.access import DatabaseUnavailable, ServiceBusy, StorageFull
from app.store import row_security, teams

LOST = "the connection to the database was lost; try again in a moment"
SLOW = "a statement of the database took longer than its limit; try again in a moment"
LOCKED = "a table of the database is locked; try again in a moment"
READ_ONLY = "the database is read-only at present; try again in a moment"
FULL = "the disk of the database is full; nothing is stored until its operator makes space"


@contextmanager
def driver_failures() -> Iterator[None]:
    """Raise what statements raise from those that go to the driver itself, such as COPY."""
    try:
        yield
    except psycopg.errors.DiskFull as full:
        raise StorageFull(FULL) from full
    except psycopg.errors.ReadOnlySqlTransaction as read_only:
        raise DatabaseUnavailable(READ_ONLY) from read_only
    except psycopg.OperationalError as lost:
        raise DatabaseUnavailable(LOST) from lost


class RowSecurity:
    """Whether transactions take the role of requests: decided by the first one that acts for a team."""

    def __init__(self) -> None:
        self._is_usable: bool | None = None

    def enter(self, connection: sa.Connection, team: str) -> None:
        """Take the role for a team, if Postgres has it, and wait for locks as long as the request may."""
        if self._is_usable is None:
            self._is_usable = row_security.is_usable(connection)
        if self._is_usable:
            row_security.enter(connection, team)
        else:
            row_security.enter_without_role(connection)


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
        return None if self._is_own else teams.acting()

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
        return teams.DEFAULT if team in (None, teams.ALL) else str(team)

    def _visible(self, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        """The condition that rows of a table are those of the team; none if every team's are."""
        team = self._transaction.team
        return [] if team in (None, teams.ALL) else [table.c.team == team]
