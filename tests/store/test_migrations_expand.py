"""Each migration only expands, so that the release before it goes on over the schema after it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from app.store import embedded, migrations
from app.store.database import Database
from tests import databases

_NO_RELEASE = "no release has the schema before it"
CONTRACTIONS: Mapping[str, Mapping[str, str]] = {
    "0006": {
        f"plans.{column} is not null and has no default": _NO_RELEASE
        for column in ("engine_version", "prediction", "title", "summary")
    }
    | {"changes rows": _NO_RELEASE},
    "0008": {"changes rows": "keys that could sweep still can; the release before it does not look for the scope"},
    "0010": {
        "answers has no pk_answers of before": _NO_RELEASE,
        "api_keys has no uq_api_keys_name of before": _NO_RELEASE,
        "plans has no uq_plans_hash of before": _NO_RELEASE,
        "snapshots has no uq_snapshots_cluster_content_hash of before": _NO_RELEASE,
    },
    "0016": {
        f"trigger {name} of {table} is new": "it counts, and rejects nothing that connections without quotas do"
        for name in ("counted", "uncounted")
        for table in ("snapshots", "plans", "sweeps", "share_links", "answers")
    }
    | {f"trigger begun of {table} is new": "as the others" for table in ("jobs", "sweeps")}
    | {"changes rows": "the release before it does not read requests of jobs that have ended"},
}
"""Parts that a migration takes from earlier code, and why it may. After the first release a reason is another one: the
release before the migration no longer uses them.
"""
_COLUMNS = """
    SELECT c.relname || '.' || a.attname, c.relname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
           a.atthasdef OR a.attidentity <> ''
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
"""
_CONSTRAINTS = """
    SELECT c.relname, k.conname, k.contype, pg_get_constraintdef(k.oid),
           ARRAY(SELECT c.relname || '.' || a.attname FROM pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attnum = ANY (k.conkey))
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE c.relnamespace = 'public'::regnamespace AND k.contype <> 'n'
    UNION ALL
    SELECT c.relname, i.relname, 'u', pg_get_indexdef(i.oid), ARRAY[]::text[]
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
    WHERE c.relnamespace = 'public'::regnamespace AND x.indisunique
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid)
"""
_NAMED = """
    SELECT 'trigger ' || t.tgname || ' of ' || c.relname, c.relname
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal
    UNION ALL
    SELECT 'function ' || p.oid::regprocedure, NULL FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'value ' || e.enumlabel || ' of ' || e.enumtypid::regtype, NULL FROM pg_enum e
"""


@dataclass(frozen=True)
class Schema:
    """The dependencies of a release's statements.

    Parameters
    ----------
    columns : by table and name: table, type, whether it rejects null, whether it has a default.
    constraints : by table, name and definition: kind and columns; unique indexes too.
    named : triggers, functions and values of enumerations, with the table of a trigger.
    """

    columns: Mapping[str, tuple[str, str, bool, bool]]
    constraints: Mapping[tuple[str, str, str], tuple[str, frozenset[str]]]
    named: Mapping[str, str | None]

    @classmethod
    def of(cls, connection: sa.Connection) -> "Schema":
        """The schema of a database."""
        return cls(
            {row[0]: (row[1], row[2], row[3], row[4]) for row in connection.execute(sa.text(_COLUMNS))},
            {
                (row[0], row[1], row[3]): (row[2], frozenset(row[4]))
                for row in connection.execute(sa.text(_CONSTRAINTS))
            },
            {row[0]: row[1] for row in connection.execute(sa.text(_NAMED))},
        )

    @property
    def tables(self) -> set[str]:
        """Names of the tables that have a column."""
        return {table for table, *_ in self.columns.values()}


def contractions(before: Schema, after: Schema) -> Iterator[str]:
    """Parts that a statement of one schema may miss in the other, or constraints that reject it there."""
    yield from (f"{table} is dropped" for table in before.tables - after.tables)
    yield from _of_columns(before, after)
    yield from _of_constraints(before, after)
    dropped = before.named.keys() - after.named.keys()
    yield from (f"{name} is dropped" for name in dropped if before.named[name] in {None, *after.tables})
    added = after.named.keys() - before.named.keys()
    yield from (f"{name} is new" for name in added if after.named[name] in before.tables)


def _of_columns(before: Schema, after: Schema) -> Iterator[str]:
    for name, (table, kind, rejects_null, _) in before.columns.items():
        if name in after.columns:
            _, new_kind, now_rejects_null, _ = after.columns[name]
            if new_kind != kind:
                yield f"{name} is {new_kind} and was {kind}"
            if now_rejects_null and not rejects_null:
                yield f"{name} is not null and was nullable"
        elif table in after.tables:
            yield f"{name} is dropped"
    for name in after.columns.keys() - before.columns.keys():
        table, _, rejects_null, has_default = after.columns[name]
        if table in before.tables and rejects_null and not has_default:
            yield f"{name} is not null and has no default"


def _of_constraints(before: Schema, after: Schema) -> Iterator[str]:
    for (table, name, _), (kind, _) in before.constraints.items() - after.constraints.items():
        if table in after.tables and kind in {"p", "u", "x"}:  # ON CONFLICT names its columns
            yield f"{table} has no {name} of before"
    new_columns = after.columns.keys() - before.columns.keys()
    for (table, name, _), (_, columns) in after.constraints.items() - before.constraints.items():
        is_of_new_columns = bool(columns) and columns <= new_columns
        is_weaker = any(table == other and columns > of for (other, *_), (_, of) in before.constraints.items())
        if table in before.tables and not is_of_new_columns and not is_weaker:
            yield f"{table} has {name}"


@pytest.fixture
def empty(postgres: embedded.Server) -> Iterator[Database]:
    """A database with nothing in it."""
    with databases.copied("template0", server=postgres.url) as database:
        yield database


def revisions() -> list[str]:
    """Every revision, in the order of the chain."""
    return sorted(file.name.partition("_")[0] for file in (migrations.FOLDER / "versions").glob("[0-9]*_*.py"))


def changes_rows(revision: str) -> bool:
    """Whether a migration changes rows that are there."""
    (file,) = (migrations.FOLDER / "versions").glob(f"{revision}_*.py")
    upgrade = file.read_text(encoding="utf-8").partition("def upgrade")[2].partition("def downgrade")[0]
    return re.search(r"\bUPDATE \w+ SET\b|\bDELETE FROM\b|\bINSERT INTO\b", upgrade) is not None


@pytest.mark.slow
def test_each_migration_only_expands(empty: Database) -> None:
    """It adds tables, columns that may be null or have a default, indexes and policies, unless a reason is listed."""
    before = Schema({}, {}, {})
    for revision in revisions():
        migrations.upgrade(empty.engine, revision)
        with empty.engine.connect() as connection:
            after = Schema.of(connection)
        found = set(contractions(before, after)) | ({"changes rows"} if changes_rows(revision) else set())
        assert found == set(CONTRACTIONS.get(revision, {})), revision
        before = after


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("DROP TABLE jobs", "jobs is dropped"),
        ("ALTER TABLE jobs DROP COLUMN step", "jobs.step is dropped"),
        ("ALTER TABLE jobs RENAME COLUMN step TO phase", "jobs.step is dropped"),
        ("ALTER TABLE jobs ALTER COLUMN deadline_s TYPE bigint", "jobs.deadline_s is bigint and was integer"),
        ("ALTER TABLE jobs ALTER COLUMN step SET NOT NULL", "jobs.step is not null and was nullable"),
        ("ALTER TABLE jobs ADD COLUMN x int NOT NULL", "jobs.x is not null and has no default"),
        ("ALTER TABLE plans DROP CONSTRAINT uq_plans_team_hash", "plans has no uq_plans_team_hash of before"),
        ("ALTER TABLE jobs ADD CONSTRAINT short CHECK (length(step) < 9)", "jobs has short"),
        ("ALTER TABLE jobs ADD CONSTRAINT one UNIQUE (kind)", "jobs has one"),
        ("CREATE UNIQUE INDEX one ON jobs (kind)", "jobs has one"),
        ("ALTER TABLE jobs ADD CONSTRAINT f FOREIGN KEY (id) REFERENCES plans (id)", "jobs has f"),
        (
            "ALTER TABLE jobs DROP CONSTRAINT ck_jobs_state, ADD CONSTRAINT ck_jobs_state CHECK (state <> '')",
            "jobs has ck_jobs_state",
        ),
        ("CREATE TRIGGER t BEFORE INSERT ON jobs EXECUTE FUNCTION audit_entries_reject()", "trigger t of jobs is new"),
        (
            "DROP FUNCTION procrastinate_update_heartbeat_v1(bigint)",
            "function procrastinate_update_heartbeat_v1(bigint) is dropped",
        ),
        ("ALTER TABLE jobs ADD COLUMN x int", None),
        ("ALTER TABLE jobs ADD COLUMN x int NOT NULL DEFAULT 0 CHECK (x < 9) UNIQUE", None),
        ("CREATE TABLE t (x int NOT NULL UNIQUE); CREATE INDEX i ON t (x)", None),
        ("CREATE INDEX i ON jobs (kind); DROP INDEX ix_jobs_team_id", None),
        ("ALTER TABLE jobs ALTER COLUMN kind DROP NOT NULL; ALTER TABLE jobs DROP CONSTRAINT ck_jobs_state", None),
    ],
)
def test_what_the_law_finds(database: Database, statement: str, found: str | None) -> None:
    with database.engine.connect() as connection:
        before = Schema.of(connection)
        connection.exec_driver_sql(statement)
        after = Schema.of(connection)
        connection.rollback()
    assert list(contractions(before, after)) == ([] if found is None else [found])
