"""The usage of teams is counted in the transaction that stores or deletes, and never exceeds a quota."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random
from threading import Barrier
from typing import Any
from uuid import UUID

import numpy as np
import pytest
import sqlalchemy as sa

from app.core.model import Placement
from app.errors.requests import QuotaExceeded
from app.store import embedded, migrations, transaction
from app.store.answers import Answer
from app.store.database import Database, UnitOfWork
from app.store.records import NewPlan
from app.store.transaction import uuid7
from app.store.usage import QUOTAS, TeamUsage
from tests import databases

TEAMS = (transaction.DEFAULT, "payments")
NONE = dict.fromkeys(QUOTAS, 0)
_ROW = 128
_PARTS_OF_PLAN = (
    "coalesce(octet_length(ledger::text), 0) + "
    "(SELECT coalesce(sum(octet_length(replicas) + 128), 0) FROM plan_topics WHERE plan_id = whole.id)"
)
_SIZES = {
    "snapshots": (("document", "columns", "summary"), "0"),
    "plans": (
        ("request", "answer", "labels", "notes", "history"),
        _PARTS_OF_PLAN,
    ),
    "sweeps": (("definition", "labels"), "part_bytes"),
    "share_links": (("name",), "0"),
    "answers": (("headers", "body"), "0"),
}
_COUNTS = {
    "plans": "SELECT team, count(*) FROM plans GROUP BY team",
    "snapshots": "SELECT team, count(*) FROM snapshots GROUP BY team",
    "share_links": "SELECT team, count(*) FROM share_links GROUP BY team",
    "unfinished_jobs": "SELECT team, count(*) FROM "
    "(SELECT team, state FROM jobs UNION ALL SELECT team, state FROM sweeps) AS both_kinds "
    "WHERE state IN ('queued', 'running') GROUP BY team",
}


def recounted(database: Database) -> dict[str, TeamUsage]:
    """The usage of each team by its rows, without the counters."""
    found: dict[str, dict[str, int]] = {}
    with database.engine.connect() as connection:
        for table, (columns, parts) in _SIZES.items():
            size = " + ".join(f"coalesce(pg_column_size({column}), 0)" for column in columns)
            query = f"SELECT team, sum({_ROW} + {size} + {parts}) FROM {table} whole GROUP BY team"  # noqa: S608 -- constants
            for team, size in connection.exec_driver_sql(query):
                found.setdefault(team, dict(NONE))["stored_bytes"] += int(size)
        for name, query in _COUNTS.items():
            for team, count in connection.exec_driver_sql(query):
                found.setdefault(team, dict(NONE))[name] = count
    return {team: TeamUsage(team, **counts) for team, counts in found.items()}


def counted(database: Database) -> dict[str, TeamUsage]:
    """The usage of each team by the counters; without teams whose rows were all deleted."""
    with database.begin() as uow:
        return {of.team: of for of in uow.usage.of_teams() if of != TeamUsage(of.team, **NONE)}


def quoted(database: Database, **quotas: int) -> Database:
    """Connections with quotas to the same rows."""
    url = database.url.render_as_string(hide_password=False)
    return Database(url, quotas=tuple(quotas.get(name, 0) for name in QUOTAS))


def plan_of(name: str, *, partitions: int = 3, text: str = "") -> NewPlan:
    """A plan whose hash is its name."""
    return NewPlan(
        kind="replicas",
        hash=name,
        cluster=None,
        snapshot_id=None,
        title="t",
        summary="s",
        request={"text": text},
        answer={"prediction": "replay", "seed": 1, "text": text},
        placements=(Placement("orders", 0, np.ones((partitions, 3), np.int32)),),
        labels={},
    )


def store_snapshot(uow: UnitOfWork, name: str, size: int, *, has_columns: bool = False) -> UUID:
    """Store a snapshot whose content hash is its name."""
    columns = b"c" * size if has_columns else None
    return uow.snapshots.store(
        cluster="prod", content_hash=name, document=b"d" * size, summary={"name": name}, columns=columns
    ).id


class History:
    """Random operations of two teams, each in a transaction that may be rolled back."""

    def __init__(self, database: Database, random: Random) -> None:
        self._database, self._random = database, random
        self._names = [f"n{number}" for number in range(6)]

    def step(self) -> None:
        """One operation."""
        with transaction.acting_as(self._random.choice(TEAMS)):
            uow = self._database.unit_of_work()
            self._random.choice(self._operations())(uow)
            if self._random.random() < 0.15:
                uow.rollback()
            else:
                uow.commit()

    def _operations(self) -> list[Callable[[UnitOfWork], object]]:
        return [
            self._plan,
            self._plan,
            self._change,
            self._record,
            self._snapshot,
            self._snapshot,
            self._job,
            self._end_job,
            self._sweep,
            self._score,
            self._link,
            self._answer,
            self._delete,
            self._delete,
        ]

    def _text(self) -> str:
        return self._random.randbytes(self._random.choice((0, 10, 1_500, 20_000))).hex()

    def _any(self, table: str) -> UUID | None:
        """A row of the team."""
        query = sa.text(f"SELECT id FROM {table} WHERE team = :team ORDER BY id")  # noqa: S608 -- a constant
        with self._database.engine.connect() as connection:
            found = list(connection.scalars(query, {"team": transaction.acting()}))
        return self._random.choice(found) if found else None

    def _plan(self, uow: UnitOfWork) -> None:
        partitions = self._random.choice((1, 50, 5_000))
        uow.plans.store(plan_of(self._random.choice(self._names), partitions=partitions, text=self._text()))

    def _change(self, uow: UnitOfWork) -> None:
        plan_id = self._any("plans")
        if plan_id is not None:
            entry = {"note": self._text()}
            labels = {"a": self._text()[:60]}
            uow.plans.change(plan_id, entry, status="approved", labels=labels, notes=self._text())

    def _record(self, uow: UnitOfWork) -> None:
        plan_id = self._any("plans")
        if plan_id is not None:
            uow.plans.record(plan_id, {"text": self._text()})

    def _snapshot(self, uow: UnitOfWork) -> None:
        size = self._random.choice((10, 3_000, 50_000))
        store_snapshot(uow, self._random.choice(self._names), size, has_columns=self._random.random() < 0.5)

    def _job(self, uow: UnitOfWork) -> None:
        uow.jobs.enqueue("replicas", {"text": self._text()})

    def _end_job(self, uow: UnitOfWork) -> None:
        job_id = self._any("jobs")
        if job_id is not None:
            uow.jobs.start(job_id)
            uow.jobs.advance(job_id, "solve")
            if self._random.random() < 0.7:
                uow.jobs.fail(job_id, {"code": "x", "detail": self._text()})

    def _sweep(self, uow: UnitOfWork) -> None:
        uow.sweeps.create(kind="capacity", definition={"t": self._text()}, scenarios=9, labels={}, principal="p")

    def _score(self, uow: UnitOfWork) -> None:
        sweep_id = self._any("sweeps")
        if sweep_id is None or uow.sweeps.get(sweep_id).has_ended:
            return
        uow.commit()
        with self._database.begin(is_own=True) as own:  # as workers do, for COPY
            done = own.sweeps.progress(sweep_id).done
            rows = [(done + number, b'{"text":"%s"}' % self._text()[:900].encode()) for number in range(3)]
            own.sweeps.start(sweep_id)
            own.sweeps.record(sweep_id, done, rows, stop=done + 3, seconds=1.0)
            if self._random.random() < 0.5:
                own.sweeps.end(sweep_id, "succeeded")

    def _link(self, uow: UnitOfWork) -> None:
        expires_at = datetime.now(UTC) + timedelta(days=self._random.choice((-1, 1)))
        uow.share_links.create("plan", "p", team=transaction.acting() or "", expires_at=expires_at)

    def _answer(self, uow: UnitOfWork) -> None:
        uow.answers.store("p", uuid7().hex, Answer("f", 200, {"a": "b"}, self._text().encode()))

    def _delete(self, uow: UnitOfWork) -> None:
        table = self._random.choice(("plans", "snapshots", "sweeps", "share_links", "answers", "ended"))
        if table == "answers":
            with self._database.begin(is_own=True) as own:
                own.answers.expire(older_than=timedelta(seconds=self._random.choice((0, 1))))
        elif table == "ended":
            with self._database.begin(is_own=True) as own:
                own.sweeps.expire(older_than=timedelta(0))
        elif (row_id := self._any(table)) is not None:
            store: Any = getattr(uow, table)
            store.delete(row_id)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_counters_equal_a_recount(database: Database, seed: int) -> None:
    """After any operations: new rows and repeated ones, changes, deletions one by one and by age, rollbacks."""
    history = History(database, Random(seed))
    for number in range(120):
        history.step()
        if number % 10 == 9:
            assert counted(database) == recounted(database), number
    assert set(counted(database)) == set(TEAMS)


def test_no_quota_is_exceeded_by_concurrent_writers(database: Database) -> None:
    """Exactly as many rows are stored as the quota allows, whichever writers are rejected."""
    start = Barrier(8)

    def store(writer: int) -> int:
        rejected = 0
        start.wait(30)
        for number in range(10):
            try:
                with transaction.acting_as("payments"), limited.begin() as uow:
                    uow.plans.store(plan_of(f"{writer} {number}"))
            except QuotaExceeded:
                rejected += 1
        return rejected

    with quoted(database, plans=37) as limited, ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(store, range(8))) == 80 - 37
    assert counted(database) == recounted(database)
    assert counted(database)["payments"].plans == 37


def test_stored_bytes_are_never_above_the_quota(database: Database) -> None:
    limit = 300_000
    start = Barrier(6)

    def store(writer: int) -> None:
        random = Random(writer)
        start.wait(30)
        for number in range(20):
            with transaction.acting_as("payments"), limited.begin(is_own=True) as own:
                assert all(of.stored_bytes <= limit for of in own.usage.of_teams())
            with suppress(QuotaExceeded), transaction.acting_as("payments"), limited.begin() as uow:
                uow.plans.store(plan_of(f"{writer} {number}", text=random.randbytes(3_000).hex()))

    with quoted(database, stored_bytes=limit) as limited, ThreadPoolExecutor(6) as threads:
        list(threads.map(store, range(6)))
    assert counted(database) == recounted(database)
    assert limit - 20_000 < counted(database)["payments"].stored_bytes <= limit


def _plan(uow: UnitOfWork, name: str) -> None:
    uow.plans.store(plan_of(name))


def _snapshot(uow: UnitOfWork, name: str) -> None:
    store_snapshot(uow, name, 100)


def _link(uow: UnitOfWork, name: str) -> None:
    expires_at = datetime.now(UTC) + timedelta(days=1)
    uow.share_links.create("plan", name, team=transaction.acting() or "", expires_at=expires_at)


def _job(uow: UnitOfWork, name: str) -> None:
    uow.jobs.enqueue("replicas", {"name": name})


def _sweep(uow: UnitOfWork, name: str) -> None:
    uow.sweeps.create(kind="capacity", definition={"n": name}, scenarios=1, labels={}, principal="p")


@pytest.mark.parametrize(
    ("quota", "store"),
    [
        ("plans", _plan),
        ("snapshots", _snapshot),
        ("share_links", _link),
        ("unfinished_jobs", _job),
        ("unfinished_jobs", _sweep),
    ],
)
def test_beyond_a_quota_nothing_is_stored(
    database: Database, quota: str, store: Callable[[UnitOfWork, str], None]
) -> None:
    """The failure names the quota, the numbers and the remedy; other teams are not concerned."""
    with quoted(database, **{quota: 2}) as limited:
        with transaction.acting_as("payments"):
            for name in "ab":
                with limited.begin() as uow:
                    store(uow, name)
            before = counted(database)
            with pytest.raises(QuotaExceeded) as raised, limited.begin() as uow:  # noqa: PT012 -- one transaction
                store_snapshot(uow, "in the same transaction", 10) if quota == "plans" else _plan(uow, "as well")
                store(uow, "c")
            assert counted(database) == before == recounted(database)
        assert raised.value.context | {"team": "payments"} == {
            "team": "payments", "limit_name": f"quota_{quota}", "limit": 2, "value": 3,
        }  # fmt: skip
        assert f"the team payments has 2 of at most 2 {quota.replace('_', ' ')}" in raised.value.detail
        assert QUOTAS[quota] in raised.value.detail
        assert f"RACKPLAN_QUOTA_{quota.upper()}" in raised.value.detail
        with transaction.acting_as("others"), limited.begin() as uow:
            store(uow, "c")


def test_what_is_stored_already_is_not_counted_again(database: Database) -> None:
    """At a quota, requests that return a plan or a snapshot that is stored succeed."""
    with quoted(database, plans=1, snapshots=1) as limited, transaction.acting_as("payments"):
        for _ in range(3):
            with limited.begin() as uow:
                uow.plans.store(plan_of("one"))
                store_snapshot(uow, "one", 1_000)
        assert (counted(database)["payments"].plans, counted(database)["payments"].snapshots) == (1, 1)


def test_rows_of_a_sweep_count(database: Database) -> None:
    """A chunk beyond the quota is not stored; the scenarios before it stay, and are freed with their sweep."""
    rows = [(number, b'{"a":1}') for number in range(20)]
    with quoted(database, stored_bytes=5_000) as limited:
        with limited.begin() as uow:
            sweep = uow.sweeps.create(kind="capacity", definition={}, scenarios=60, labels={}, principal="p")
            uow.sweeps.record(sweep.id, 0, rows, stop=20, seconds=1.0)
        more = [(20 + index, row) for index, row in rows]
        with pytest.raises(QuotaExceeded), limited.begin() as uow:
            uow.sweeps.record(sweep.id, 20, more, stop=40, seconds=1.0)
        with limited.begin() as uow:
            assert uow.sweeps.progress(sweep.id).done == 20
            uow.sweeps.end(sweep.id, "failed", error={"code": "quota_exceeded", "detail": "d" * 9_000})
            uow.sweeps.delete(sweep.id)
    assert counted(database) == {}


def test_a_team_beyond_a_lowered_quota_can_free_and_end(database: Database) -> None:
    """Deleting and ending requests are never rejected."""
    with database.begin() as uow:
        plan = uow.plans.store(plan_of("one", text="x" * 500))
        job = uow.jobs.enqueue("replicas", {"a": "b"})
    with quoted(database, stored_bytes=1, plans=1, unfinished_jobs=1) as limited:
        with limited.begin() as uow:
            uow.jobs.fail(job.id, {"code": "internal_error", "detail": "d" * 10_000})
        with limited.begin() as uow:
            uow.plans.delete(plan.id)
    assert counted(database) == recounted(database) == {}


def test_requests_cannot_change_counters(database: Database) -> None:
    with transaction.acting_as("payments"), database.begin() as uow:
        uow.plans.store(plan_of("one"))
    for statement in (
        "UPDATE team_usage SET plans = 0",
        "DELETE FROM team_usage",
        "SELECT charge_team('payments', '{1}')",
    ):
        with database.engine.connect() as connection:
            transaction.enter(connection, "payments")
            with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
                connection.exec_driver_sql(statement)
    with transaction.acting_as("others"), database.begin() as uow:
        assert uow.usage.of_teams() == [TeamUsage("others", **NONE)]
    with transaction.acting_as(transaction.ALL), database.begin() as uow:
        assert [of.team for of in uow.usage.of_teams()] == ["payments"]


@pytest.fixture
def before_quotas(postgres: embedded.Server) -> Iterator[Database]:
    """A database of the revision before quotas."""
    with databases.copied("template0", server=postgres.url) as database:
        migrations.upgrade(database.engine, "0015")
        yield database


def test_the_migration_counts_what_is_stored(before_quotas: Database) -> None:
    """Plans with their topics, sweeps with their rows, and the rest; also down and up again."""
    statements = """
        INSERT INTO snapshots (id, team, cluster, content_hash, document, summary)
            SELECT uuidv7(), team, 'c', n::text, convert_to(repeat('d', n * 100), 'utf8'), '{}'
            FROM generate_series(1, 40) n, unnest(ARRAY['default', 'payments']) team;
        INSERT INTO plans (id, team, kind, hash, engine_version, prediction, title, summary, labels, request, answer)
            SELECT uuidv7(), 'payments', 'replicas', n::text, 1, 'replay', '', '', '{}', '{}',
                   json_build_object('a', repeat('x', n * 200)) FROM generate_series(1, 30) n;
        INSERT INTO plan_topics SELECT id, n, 't', 0, 1, 1, convert_to(repeat('r', 4000), 'utf8')
            FROM plans, generate_series(1, 3) n;
        INSERT INTO jobs (id, team, kind, state, request)
            SELECT uuidv7(), 'payments', 'replicas', state, '{"a": 1}' FROM unnest(ARRAY['queued', 'failed']) state;
        INSERT INTO sweeps (id, team, kind, state, definition, scenarios, labels, principal)
            SELECT uuidv7(), 'default', 'capacity', 'running', '{}', 9, '{}', 'p';
        INSERT INTO sweep_rows SELECT id, n, '{"a": 1}' FROM sweeps, generate_series(1, 9) n;
        INSERT INTO answers (team, principal, idempotency_key, fingerprint, status, headers, body)
            VALUES ('payments', 'p', 'k', 'f', 200, '{}', 'body');
        INSERT INTO share_links (id, team, kind, name, expires_at) SELECT uuidv7(), 'default', 'plan', 'p', now();
    """
    with before_quotas.engine.begin() as connection:
        for statement in statements.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    for _ in range(2):
        migrations.upgrade(before_quotas.engine)
        found = counted(before_quotas)
        assert found == recounted(before_quotas)
        assert (found["payments"].plans, found["payments"].unfinished_jobs) == (30, 1)
        assert found["payments"].stored_bytes > 30 * 3 * 4_000
        assert (found["default"].snapshots, found["default"].share_links, found["default"].unfinished_jobs) == (
            40,
            1,
            1,
        )
        with before_quotas.engine.begin() as connection:
            assert connection.scalar(sa.text("SELECT sum(part_bytes) FROM sweeps")) > 9 * _ROW
            connection.exec_driver_sql("DELETE FROM plans WHERE hash = '30'")
        assert counted(before_quotas) == recounted(before_quotas)
        with before_quotas.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE plans SET hash = '30' WHERE hash = '29'")
            columns = "team, kind, engine_version, prediction, title, summary, labels, request, answer"
            connection.exec_driver_sql(
                f"INSERT INTO plans (id, hash, {columns}) SELECT uuidv7(), '29', {columns} FROM plans WHERE hash = '30'"  # noqa: S608 -- a constant
            )
        migrations.downgrade(before_quotas.engine, "0015")
