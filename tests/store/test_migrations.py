"""The migrations make the tables that the code uses, from nothing, and take them down again."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from app.errors.access import DatabaseUnavailable
from app.store import embedded, migrations
from app.store.database import Database
from app.store.tables import metadata
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


def test_the_migrated_schema_is_that_of_the_tables(empty: Database) -> None:
    migrations.upgrade(empty.engine)
    with empty.engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "include_name": lambda name, kind, _: kind != "table" or not name.startswith("procrastinate_"),
            },
        )
        assert compare_metadata(context, metadata) == []
        assert migrations.current(connection) == migrations.newest()


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
