"""Policies hide other teams' rows from the role of requests, also from a query that forgets the team."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.store import transaction
from app.store.database import Database
from app.store.records import PlanFilter
from app.store.tables import TABLES
from app.store.transaction import uuid7
from tests import databases

OF_WORKERS = {"job_turns"}
OF_TEAMS = sorted(name for name, table in TABLES.items() if "team" in table.c and name not in OF_WORKERS)
PARTS = ["plan_topics", "sweep_chunks", "sweep_rows", "webhook_deliveries"]
GRANTED = sorted(set(OF_TEAMS) | set(PARTS))


@pytest.fixture
def examples(rows: databases.Rows) -> Database:
    """The documentation's examples, an API key, a share link and a stored answer, all of the team `default`."""
    rows.reset(examples=True)
    with rows.database.begin() as uow:
        uow.api_keys.create("one", ["read"])
        uow.share_links.create("plan", "p", team=transaction.DEFAULT, expires_at=datetime.now(UTC) + timedelta(days=1))
    with rows.database.engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO answers VALUES ('one', 'k', 'f', 200, '{}', '')")
    return rows.database


def counted(database: Database, table: str, team: str | None) -> int:
    """The rows that a query without any condition finds, as the role of requests acting for a team."""
    with database.engine.connect() as connection:
        if team is None:
            connection.exec_driver_sql(f"SET LOCAL ROLE {transaction.ROLE}")
        else:
            transaction.enter(connection, team)
        return int(connection.scalar(sa.text(f"SELECT count(*) FROM {table}")) or 0)  # noqa: S608 -- a constant


def test_every_table_with_a_team_has_policies(examples: Database) -> None:
    """And so have the parts of a team's resources; tables without policies are not granted."""
    secured = "SELECT relname FROM pg_class WHERE relrowsecurity AND relnamespace = 'public'::regnamespace"
    granted = (
        "SELECT DISTINCT table_name FROM information_schema.role_table_grants "
        "WHERE grantee = :role AND table_name NOT LIKE 'procrastinate%'"
    )
    with examples.engine.connect() as connection:
        assert sorted(connection.scalars(sa.text(secured))) == GRANTED
        assert sorted(connection.scalars(sa.text(granted), {"role": transaction.ROLE})) == GRANTED


@pytest.mark.parametrize("table", GRANTED)
def test_a_query_without_the_filter(examples: Database, table: str) -> None:
    own = counted(examples, table, transaction.DEFAULT)
    assert own > 0
    assert counted(examples, table, transaction.ALL) == own
    for other in ("others", transaction.NONE, None, "defaul_", "default' OR true --"):
        assert counted(examples, table, other) == 0, other


@pytest.mark.parametrize("table", sorted(set(OF_TEAMS) - {"answers", "api_keys", "audit_entries", "team_usage"}))
def test_changes_without_the_filter(examples: Database, table: str) -> None:
    """Rows of others are neither changed nor deleted; nor can one be given to another team."""
    with examples.engine.connect() as connection:
        transaction.enter(connection, "others")
        assert connection.exec_driver_sql(f"UPDATE {table} SET team = 'others'").rowcount == 0  # noqa: S608 -- a constant
        assert connection.exec_driver_sql(f"DELETE FROM {table}").rowcount == 0  # noqa: S608 -- a constant
    with examples.engine.connect() as connection:
        transaction.enter(connection, transaction.DEFAULT)
        with pytest.raises(sa.exc.ProgrammingError, match="violates row-level security policy"):
            connection.exec_driver_sql(f"UPDATE {table} SET team = 'others'")  # noqa: S608 -- a constant


def test_a_part_of_what_another_team_has_is_not_added(examples: Database) -> None:
    with examples.begin() as uow:
        plan = uow.plans.selected(PlanFilter(), before=None, size=1).items[0].id
    with examples.engine.connect() as connection:
        transaction.enter(connection, "others")
        with pytest.raises(sa.exc.ProgrammingError, match="violates row-level security policy"):
            connection.execute(sa.text("INSERT INTO plan_topics VALUES (:plan, 99, 't', 0, 1, 1, '')"), {"plan": plan})


def test_the_topics_of_a_plan_are_read_without_the_plans_of_others(scratch: Database) -> None:
    """Also while Postgres has no statistics, for a minute after the first plans: a hash of all plans took 3 ms."""
    insert = (
        "INSERT INTO plans (id, kind, hash, engine_version, prediction, title, summary, labels, request, answer) "
        "SELECT uuidv7(), 'replicas', n::text, 1, 'replay', '', '', '{}', '{}', '{}' FROM generate_series(1, 3000) n"
    )
    with scratch.engine.begin() as connection:
        connection.exec_driver_sql(insert)
        connection.exec_driver_sql("INSERT INTO plan_topics SELECT id, 0, 't', 0, 1, 1, '' FROM plans")
        plan = connection.scalar(sa.text("SELECT plan_id FROM plan_topics LIMIT 1"))
    with scratch.engine.connect() as connection:
        transaction.enter(connection, transaction.DEFAULT)
        explained = sa.text("EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM plan_topics WHERE plan_id = :plan")
        of_query = connection.execute(explained, {"plan": plan}).scalar_one()[0]
    scans = list(_scans(of_query["Plan"]))
    assert {scan["Relation Name"] for scan in scans} == {"plan_topics", "plans"}
    assert [scan["Actual Rows"] for scan in scans] == [1, 1]


def _scans(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Relation Name" in node:
        yield node
    for child in node.get("Plans", ()):
        yield from _scans(child)


@pytest.mark.parametrize("table", ["installation_keys", "alembic_version", "procrastinate_workers", *OF_WORKERS])
def test_what_requests_have_no_business_with(examples: Database, table: str) -> None:
    with examples.engine.connect() as connection:
        transaction.enter(connection, transaction.ALL)
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
            connection.exec_driver_sql(f"SELECT * FROM {table}")  # noqa: S608 -- a constant


@pytest.mark.parametrize("team", [transaction.DEFAULT, transaction.ALL, "others"])
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT key_hash FROM api_keys",
        "SELECT * FROM api_keys",
        "SELECT 1 FROM api_keys WHERE key_hash = 'x'",
        "UPDATE api_keys SET key_hash = 'x'",
        "UPDATE api_keys SET scopes = '{admin}'",
        "SELECT args FROM procrastinate_jobs",
        "SELECT id FROM procrastinate_jobs WHERE task_name = 'run_job'",
    ],
)
def test_requests_read_no_hash_of_a_key_and_no_task(examples: Database, team: str, statement: str) -> None:
    with examples.engine.connect() as connection:
        transaction.enter(connection, team)
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
            connection.exec_driver_sql(statement)


def test_the_stores_take_the_role(examples: Database) -> None:
    """A request's transaction is the role's from its first statement to its last, and no later one of the pool."""
    with transaction.acting_as("others"), examples.begin() as uow:
        assert uow.api_keys.all() == []
        assert _role(uow) == (transaction.ROLE, "others")
    with transaction.acting_as("others"), examples.begin(is_own=True) as uow:
        assert _role(uow)[0] != transaction.ROLE
    with examples.begin() as uow:
        role, team = _role(uow)
        assert (role == transaction.ROLE, team or "") == (False, "")


def test_without_the_role_the_filter_is_left(examples: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a Postgres where the account may make no role, requests work, and see their team's rows."""
    monkeypatch.setattr(transaction, "is_usable", lambda _: False)
    with Database(examples.url.render_as_string(hide_password=False)) as database:
        for team, keys in ((transaction.DEFAULT, 1), ("others", 0), (transaction.NONE, 0), (transaction.ALL, 1)):
            with transaction.acting_as(team), database.begin() as uow:
                assert len(uow.api_keys.all()) == keys
                assert _role(uow)[0] != transaction.ROLE


def test_an_account_that_may_make_no_role(examples: Database) -> None:
    """Establishing the role fails without an error, and leaves the transaction usable."""
    name = f"user_{uuid7().hex}"
    with examples.engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {name} NOLOGIN")
        connection.exec_driver_sql(f"SET LOCAL ROLE {name}")
        assert transaction.establish(connection) is False
        assert connection.scalar(sa.text("SELECT 1")) == 1
        connection.rollback()


def _role(uow: object) -> tuple[str, str]:
    connection: sa.Connection = uow.api_keys._reading  # type: ignore[attr-defined]
    row = connection.exec_driver_sql("SELECT current_user, current_setting('rackplan.team', true)").one()
    return str(row[0]), str(row[1] or "")
