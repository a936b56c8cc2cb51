"""The audit log takes entries and gives up none but old ones, whoever asks."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from app.errors.access import DatabaseUnavailable
from app.store import audit, transaction
from app.store.audit import LONGEST, Actor, AuditEntry, AuditFilter, NewEntry
from app.store.database import Database

ENTRY = NewEntry(Actor("key", "ci", None, "blue", "192.0.2.7", "r-1"), "DELETE /v1/plans/{plan_id}", "/v1/plans/1", 204)
CHANGES = ("UPDATE audit_entries SET count = 2", "DELETE FROM audit_entries", "TRUNCATE audit_entries")


@pytest.fixture
def filled(database: Database) -> Database:
    """A log with one entry."""
    add(database, ENTRY)
    return database


def add(database: Database, *entries: NewEntry) -> None:
    audit.add(database.engine, entries)


def entries(database: Database, team: str | None = None) -> list[AuditEntry]:
    with transaction.acting_as(team), database.begin() as uow:
        return list(uow.audit.page(AuditFilter(), before=None, size=1000).items)


def test_what_is_added_is_read(filled: Database) -> None:
    (entry,) = entries(filled)
    with filled.engine.connect() as connection:
        now = connection.scalar(sa.text("SELECT now()"))
    assert now is not None
    assert timedelta(0) <= now - entry.at < timedelta(minutes=1)
    assert (entry.actor, entry.name, entry.team, entry.address, entry.request_id) == (
        *("key", "ci", "blue", "192.0.2.7", "r-1"),
    )
    assert (entry.action, entry.resource, entry.status, entry.count) == (ENTRY.action, ENTRY.resource, 204, 1)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("team", [None, "blue", transaction.ALL])
def test_nothing_is_changed(filled: Database, change: str, team: str | None) -> None:
    """By the owner of the table, a trigger; by the role of requests, which has not the right either."""
    with filled.engine.connect() as connection:
        if team is not None:
            transaction.enter(connection, team)
            connection.exec_driver_sql("SELECT set_config('rackplan.audit_days', '1', true)")
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied" if team else "audit log are not changed"):
            connection.exec_driver_sql(change)
    assert len(entries(filled)) == 1


def test_only_what_is_old_is_deleted(filled: Database) -> None:
    """Not even a transaction that states an age deletes younger entries."""
    old = "INSERT INTO audit_entries (at, actor, action) VALUES (now() - interval '31 days', 'command', 'old')"
    with filled.engine.begin() as connection:
        connection.exec_driver_sql(old)
    with filled.engine.connect() as connection:
        connection.exec_driver_sql("SELECT set_config('rackplan.audit_days', '30', true)")
        with pytest.raises(sa.exc.ProgrammingError, match="deleted once they are old"):
            connection.exec_driver_sql("DELETE FROM audit_entries")
    for days in ("0", "-1", "x", ""):
        with filled.engine.connect() as connection:
            connection.exec_driver_sql("SELECT set_config('rackplan.audit_days', %s, true)", (days,))
            with pytest.raises(sa.exc.ProgrammingError):
                connection.exec_driver_sql("DELETE FROM audit_entries WHERE action = 'old'")
    with filled.begin() as uow:
        assert uow.audit.expire(older_than=timedelta(days=32)) == 0
        assert uow.audit.expire(older_than=timedelta(days=30)) == 1
    assert [entry.action for entry in entries(filled)] == [ENTRY.action]
    with transaction.acting_as(transaction.ALL), pytest.raises(sa.exc.ProgrammingError), filled.begin() as uow:
        uow.audit.expire(older_than=timedelta(days=30))


def test_a_team_sees_its_own_entries(filled: Database) -> None:
    """And entries of no team are for keys of all teams."""
    add(
        filled,
        NewEntry(Actor("unknown"), "POST", "/v1/plans", 401),
        NewEntry(Actor("key", team=transaction.ALL), "GET"),
    )
    assert len(entries(filled, "blue")) == 1
    assert entries(filled, "green") == entries(filled, transaction.NONE) == []
    assert len(entries(filled, transaction.ALL)) == 3
    with filled.engine.connect() as connection:
        transaction.enter(connection, "blue")
        assert connection.scalar(sa.text("SELECT count(*) FROM audit_entries")) == 1


def test_an_entry_is_that_of_its_transaction(database: Database) -> None:
    """A change that is rolled back leaves none."""
    uow = database.unit_of_work()
    uow.api_keys.create("one", ["read"], team="blue")
    uow.rollback()
    assert entries(database) == []
    with database.begin() as uow:
        _, secret = uow.api_keys.create("one", ["read"], team="blue")
        uow.api_keys.revoke("one", team="blue")
    found = entries(database, "blue")
    assert [(entry.actor, entry.action, entry.resource) for entry in found] == [
        ("command", "key.revoked", "one"),
        ("command", "key.created", "one"),
    ]
    assert secret not in repr(found)


@given(text=st.text(st.characters(codec=None), max_size=1000))
def test_any_text_is_bounded_and_printable(text: str) -> None:
    row = NewEntry(Actor("unknown", text, address=text), text, text).row()
    for name in ("name", "address", "action", "resource"):
        assert len(row[name]) <= LONGEST
        assert row[name].isprintable()
    row["resource"].encode()


def test_pages_and_filters(database: Database) -> None:
    add(database, *(NewEntry(Actor("key", f"k{n % 2}", team="blue"), "POST", f"/{n}", 200 + n) for n in range(7)))
    with database.begin() as uow:
        first = uow.audit.page(AuditFilter(name="k0"), before=None, size=3)
        assert ([entry.resource for entry in first.items], first.has_more) == (["/6", "/4", "/2"], True)
        rest = uow.audit.page(AuditFilter(name="k0"), before=first.items[-1].id, size=3)
        assert ([entry.resource for entry in rest.items], rest.has_more) == (["/0"], False)
        last = first.items[0]
        for wanted, count in (
            (AuditFilter(status=203), 1),
            (AuditFilter(since=last.at), 1),
            (AuditFilter(until=last.at), 6),
            (AuditFilter(actor="command"), 0),
            (AuditFilter(action="POST"), 7),
            (AuditFilter(action="GET,POST"), 7),
            (AuditFilter(action="POS"), 0),
            (AuditFilter(outcome="done"), 7),
            (AuditFilter(outcome="failed"), 0),
            (AuditFilter(resource="/%"), 0),
        ):
            # A batch is one statement, each of whose rows has a moment of its own.
            assert len(uow.audit.page(wanted, before=None, size=9).items) == count, wanted


def test_a_lost_connection_is_made_anew(database: Database) -> None:
    own = Database(database.url.render_as_string(hide_password=False), connections=1)
    add(own, ENTRY)
    end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO audit_entries%%'"
    with database.engine.begin() as other:
        assert (True,) in other.exec_driver_sql(end).all()
    add(own, ENTRY)
    own.close()
    assert len(entries(database)) == 2
    nowhere = Database(database.url.set(port=1).render_as_string(hide_password=False))
    with pytest.raises(DatabaseUnavailable):
        add(nowhere, ENTRY)
