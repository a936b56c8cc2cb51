"""The migrations make the tables that the code uses, from nothing, and take them down again."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest
import sqlalchemy as sa

from app.errors.access import DatabaseUnavailable
from app.store import embedded, migrations
from app.store.database import Database
from app.store.tables import TABLES
from app.store.transaction import uuid7
from tests import databases


@pytest.fixture
def empty(postgres: embedded.Server) -> Iterator[Database]:
    """A database with nothing in it."""
    with databases.copied("template0", server=postgres.url) as database:
        yield database


def left(database: Database) -> set[str]:
    """Every table, function and type that is not Postgres' own."""
    query = """
        SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace
    """
    with database.engine.connect() as connection:
        return set(connection.scalars(sa.text(query)))


SCHEMA = """
    WITH tables AS (
        SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
            AND relname NOT LIKE 'procrastinate\\_%' AND relname NOT LIKE '%alembic_version'
    )
    SELECT relname, attname, concat_ws(
        ' ', format_type(atttypid, atttypmod), attnotnull, attstorage, attidentity, pg_get_expr(adbin, adrelid)
    )
    FROM tables JOIN pg_attribute ON attrelid = tables.oid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
    UNION ALL SELECT relname, conname, pg_get_constraintdef(pg_constraint.oid)
    FROM tables JOIN pg_constraint ON conrelid = tables.oid WHERE contype <> 'n'
    UNION ALL SELECT relname, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
    FROM tables JOIN pg_index ON indrelid = tables.oid
"""
"""Columns, constraints and indices of every table but the queue's and Alembic's, without the order of columns."""


def test_the_migrated_schema_is_that_of_the_tables(empty: Database, postgres: embedded.Server) -> None:
    """Types, nulls, defaults, storage, keys, checks and indices: all but the order of columns."""
    migrations.upgrade(empty.engine)
    with databases.copied("template0", server=postgres.url) as stated:
        with stated.engine.begin() as connection:
            connection.exec_driver_sql(files("app.store").joinpath("tables.sql").read_text("utf-8"))
            expected = {(table, name): text for table, name, text in connection.execute(sa.text(SCHEMA))}
        with empty.engine.connect() as connection:
            migrated = {(table, name): text for table, name, text in connection.execute(sa.text(SCHEMA))}
            assert migrations.current(connection) == migrations.newest()
    assert sorted(migrated.items() ^ expected.items()) == []
    assert {table for table, _ in expected} == set(TABLES)


def test_up_down_and_up_again_leaves_nothing_behind(empty: Database) -> None:
    assert left(empty) == set()
    migrations.upgrade(empty.engine)
    assert {"plans", "procrastinate_jobs", "procrastinate_defer_jobs_v1"} <= left(empty)
    migrations.downgrade(empty.engine)
    assert left(empty) == {"alembic_version", "_alembic_version", "alembic_version_pkc"}
    migrations.upgrade(empty.engine)
    with empty.engine.connect() as connection:
        assert migrations.current(connection) == migrations.newest()


def test_upgrading_what_is_up_to_date_changes_nothing(empty: Database) -> None:
    migrations.upgrade(empty.engine)
    before = left(empty)
    migrations.upgrade(empty.engine)
    assert left(empty) == before


def test_arrays_are_stored_out_of_line_and_uncompressed(empty: Database) -> None:
    """It makes a page of partitions a slice, and saves a minute of compression; no table's definition states it."""
    migrations.upgrade(empty.engine)
    storage = (
        "SELECT attrelid::regclass::text, attname::text FROM pg_attribute WHERE attstorage = 'e' "
        "AND attrelid IN ('plan_topics'::regclass, 'snapshots'::regclass) ORDER BY 1"
    )
    with empty.engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(sa.text(storage))]
    assert found == [("plan_topics", "replicas"), ("snapshots", "columns")]


def test_keys_that_could_sweep_still_can(empty: Database) -> None:
    """Sweeps needed the scope `plan` before they had one of their own."""
    migrations.upgrade(empty.engine, "0007")
    with empty.engine.begin() as connection:
        for scope in ("read", "plan", "admin"):
            row = {"scope": scope, "id": uuid7()}
            new = "INSERT INTO api_keys (id, name, key_hash, scopes) VALUES (:id, :scope, :scope, ARRAY[:scope])"
            connection.execute(sa.text(new), row)
    migrations.upgrade(empty.engine)
    assert scopes_of(empty) == {"read": ["read"], "plan": ["plan", "sweep"], "admin": ["admin"]}
    migrations.downgrade(empty.engine, "0007")
    assert scopes_of(empty) == {"read": ["read"], "plan": ["plan"], "admin": ["admin"]}


def scopes_of(database: Database) -> dict[str, list[str]]:
    """The scopes of every key, by name."""
    with database.engine.connect() as connection:
        return {row.name: row.scopes for row in connection.execute(sa.text("SELECT name, scopes FROM api_keys"))}


def test_a_table_in_use_delays_the_migration_and_nothing_else(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements after the migration do not wait for it for longer than it waits for locks."""
    migrations.upgrade(empty.engine, "0009")
    monkeypatch.setattr(migrations, "WAITS_FOR_LOCKS_S", 0.2)
    with ThreadPoolExecutor(1) as thread, empty.engine.connect() as using:
        using.execute(sa.text("SELECT count(*) FROM plans"))
        migrating = thread.submit(migrations.upgrade, empty.engine)
        for _ in range(20):
            with empty.engine.connect() as asking:
                asking.execute(sa.text("SET LOCAL statement_timeout = '20s'"))
                asking.execute(sa.text("SELECT count(*) FROM plans"))
            time.sleep(0.05)
        assert not migrating.done(), "a transaction has read a table that it changes"
        using.rollback()
        assert migrating.result(60)
    with empty.engine.connect() as connection:
        assert migrations.current(connection) == migrations.newest()


def test_a_table_that_stays_in_use_ends_the_migration(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    migrations.upgrade(empty.engine, "0009")
    monkeypatch.setattr(migrations, "WAITS_FOR_LOCKS_S", 0.1)
    monkeypatch.setattr(migrations, "TRIED_FOR_S", 0.0)
    with empty.engine.connect() as using:
        using.execute(sa.text("SELECT count(*) FROM plans"))
        with pytest.raises(DatabaseUnavailable, match="locked"):
            migrations.upgrade(empty.engine)
    with empty.engine.connect() as connection:
        assert migrations.current(connection) == "0009"
