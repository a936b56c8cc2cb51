"""Databases of tests: copies of a migrated template, and rows that are reset before a test."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import sqlalchemy as sa

from app.store import tables
from app.store.database import Database

TEMPLATE = "rackplan_template"
"""The database that others are copies of: migrated, without rows."""
TABLES = (
    *tables.TABLES,
    *("procrastinate_workers", "procrastinate_jobs", "procrastinate_periodic_defers", "procrastinate_events"),
)
"""Every table that has rows; the migrations' own is not one."""

_EMPTY = "".join(f"DELETE FROM {table};" for table in reversed(TABLES))  # noqa: S608 -- the names are constants
_FILL = "".join(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE TABLE examples.{table};" for table in TABLES)
_STORE_EXAMPLES = "CREATE SCHEMA examples;" + "".join(
    f"CREATE TABLE examples.{table} (LIKE {table} INCLUDING STORAGE); INSERT INTO examples.{table} TABLE {table};"
    for table in TABLES
)
# A copy of a row may be compressed otherwise than the row, by some bytes that count.
_COUNT_COPIES = ";".join(
    (
        *(_EMPTY, "DELETE FROM team_usage"),
        _FILL.replace("INSERT INTO team_usage OVERRIDING SYSTEM VALUE TABLE examples.team_usage;", ""),
        "DELETE FROM examples.team_usage",
        "INSERT INTO examples.team_usage TABLE team_usage",
    )
)
_PROGRESS = """
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text,
           (SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid())
"""
_SETTLED_WITHIN_S = 60.0


@contextmanager
def folder_of_postgres() -> Iterator[Path]:
    """A temporary folder that every account can pass: in memory if that has a GiB to spare.

    On a busy disk tests of Postgres do little but wait for `fsync`. Killing processes leaves bytes written to files
    in either place; only a power cut would tell them apart.
    """
    with tempfile.TemporaryDirectory(prefix="rackplan-tests-", dir=_memory_with_room()) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def _memory_with_room() -> Path | None:
    memory = Path("/dev/shm")  # noqa: S108 -- files go into a new folder
    if not os.access(memory, os.W_OK | os.X_OK):
        return None
    state = os.statvfs(memory)
    has_room = state.f_bavail * state.f_frsize > 2**30
    return memory if has_room and not state.f_flag & os.ST_NOEXEC else None


def create(name: str, *, server: str, template: str) -> None:
    """Create a database as a copy of another, to which nothing is connected."""
    _execute(server, f"CREATE DATABASE {name} TEMPLATE {template}")


@contextmanager
def copied(template: str, *, server: str) -> Iterator[Database]:
    """A new database, dropped in the end together with its connections."""
    name = f"test_{token_hex(8)}"
    create(name, server=server, template=template)
    try:
        with Database(sa.make_url(server).set(database=name).render_as_string(hide_password=False)) as database:
            yield database
    finally:
        _execute(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def drop(database: Database) -> None:
    """Drop a database and end every connection to it."""
    server = database.url.set(database="postgres").render_as_string(hide_password=False)
    _execute(server, f"DROP DATABASE {database.url.database} WITH (FORCE)")


def _execute(server: str, statement: str) -> None:
    engine = sa.create_engine(sa.make_url(server).set(database="postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()


class Rows:
    """The rows of the run's database, which many tests write and most do not.

    A reset costs a statement if nothing was committed since the last one: Postgres gives a number to every transaction
    that writes. The examples are planned once and copied from then on.
    """

    def __init__(self, database: Database) -> None:
        from app.api.start import seeding  # noqa: PLC0415 -- the planners, which the process that distributes needs not

        self.database = database
        for store in seeding.steps(database, has_webhooks=True):
            store()
        with self.database.engine.begin() as connection:
            connection.exec_driver_sql(_STORE_EXAMPLES + _COUNT_COPIES)
        self._known: tuple[bool, str] | None = None

    def reset(self, *, examples: bool) -> None:
        """Leave the examples of the documentation, or no row at all."""
        if (examples, self._last_written()) == self._known:
            return
        with self.database.engine.begin() as connection:
            # As a replica does: the triggers of the queue, and foreign keys, have nothing to add to whole tables.
            connection.exec_driver_sql(
                "SET LOCAL session_replication_role = replica;" + _EMPTY + (_FILL if examples else "")
            )
        self._known = (examples, self._last_written())

    def _last_written(self) -> str:
        """The number of the next transaction, as soon as no other is in progress in this database."""
        ends = time.monotonic() + _SETTLED_WITHIN_S
        while True:
            with self.database.engine.connect() as connection:
                number, others = connection.exec_driver_sql(_PROGRESS).one()
            if not others:
                return str(number)
            assert time.monotonic() < ends, "an earlier test left a transaction in progress"
            time.sleep(0.01)
