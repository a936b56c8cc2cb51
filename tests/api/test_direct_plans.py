"""Small plans without a slot: what is taken, and that what is stored is what the operation stores."""

import asyncio
import subprocess
import sys
import time
from typing import Any
from uuid import UUID

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from app.api.slots import direct_plans
from app.api.slots.direct import KNOWN_FOR_S, KeyCheck
from app.api.slots.direct_plans import SmallPlans
from app.core.compiled import interpreted
from app.core.compiled.loops import Loop
from app.core.measures import tally_kernel
from app.services.limits import Limits
from app.services.plans import Plan, load, plan_json
from app.services.replicas import small
from app.slots.admission import Admission, Capacity
from app.store.actors import Actor
from app.store.audit import AuditFilter, NewEntry
from app.store.database import Database
from app.store.direct import Acting, DirectPlan, DirectStore
from app.store.ids import uuid7
from app.store.records import NewPlan, PlanChange
from app.store.tables import plan_topics, plans
from app.store.usage import SQLSTATE
from tests.api.test_admission import locked
from tests.profiles import costly
from tests.store.test_usage import counted, quoted, recounted

BODY = {
    "brokers": [{"id": broker, "rack": f"r{broker % 3}"} for broker in range(6)],
    "algorithm": "striped",
    "seed": 7,
    "labels": {"owner": "é \\ ' %", "b": "2"},
    "topics": [
        {"name": "orders", "partitions": 5, "replication_factor": 3},
        {"name": "more", "partitions": 2, "replication_factor": 1, "start_partition_id": 3},
    ],
}

MANY_PLANS = """
import sys, threading
from app.api.slots.direct_plans import LOADED_AFTER, SmallPlans
from app.services.limits import Limits
from app.services.plans import plan_json

plans = SmallPlans(Limits())
plans.load()
body = {
    "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}],
    "seed": 1,
    "topics": [{"name": "t", "partitions": 3, "replication_factor": 2}],
}
made = [plan_json(plans.draft(body)) for _ in range(LOADED_AFTER - 1)]
print("numba" in sys.modules)
made.append(plan_json(plans.draft(body)))
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
made.append(plan_json(plans.draft(body)))
print("numba" in sys.modules, len(set(made)))
"""


def drafted(body: object, limits: Limits | None = None) -> NewPlan | None:
    plans = SmallPlans(limits or Limits())
    plans.load()
    assert plans.draft is not None
    return plans.draft(body)


def stored(database: Database, plan: NewPlan, secret: str | None = None) -> DirectPlan | None:
    async def once() -> DirectPlan | None:
        store = DirectStore(database, may_be_open=True)
        try:
            acting = await store.acting(secret)
            if acting is None:
                return None
            return await store.store(acting, uuid7(), plan, NewEntry(acting.actor, "POST /x", "/x/é/", 201))
        finally:
            store.close()

    return asyncio.run(once())


def whole(database: Database, plan_id: UUID) -> bytes:
    with database.begin() as uow:
        return plan_json(load(uow, plan_id))


class TestStore:
    """One round trip stores what the stores store."""

    def test_a_plan_is_stored_as_the_store_stores_it(self, database: Database) -> None:
        plan = drafted(BODY)
        assert plan is not None
        found = stored(database, plan)
        assert found is not None
        head = found.head
        columns = "hash, team, cluster, engine_version, prediction, seed, title, summary, status, labels, notes,"
        columns += " history, revision, request::text AS request, answer::text AS answer, snapshot_id, part_bytes"

        def rows(plan_id: UUID) -> list[Any]:
            with database.engine.connect() as connection:
                of_plan = sa.select(sa.text(columns)).select_from(plans).where(plans.c.id == plan_id)
                of_topics = (
                    sa.select(plan_topics).where(plan_topics.c.plan_id == plan_id).order_by(plan_topics.c.ordinal)
                )
                return [*connection.execute(of_plan), *[row[1:] for row in connection.execute(of_topics)]]

        assert plan_json(Plan(head, found.placements)) == whole(database, head.id)
        ours = rows(head.id)
        with database.begin() as uow:
            uow.plans.delete(head.id)
            theirs = uow.plans.store(plan)
        assert ours == rows(theirs.id)
        with database.begin() as uow:
            (entry,) = uow.audit.page(AuditFilter(action="POST /x"), before=None, size=10).items
        assert (entry.actor, entry.team, entry.resource, entry.status) == ("anyone", "default", f"/x/é/{head.id}", 201)

    def test_a_plan_that_is_stored_is_found(self, database: Database) -> None:
        """With what was changed beside it; by its hash alone, too; by its own team alone."""
        plan = drafted(BODY)
        assert plan is not None
        with database.begin() as uow:
            head = uow.plans.store(plan)
            uow.plans.change(head.id, PlanChange("proposed", {"owner": "other"}, "x" * 2000, {"at": "t", "by": "x"}))
            _, of_blue = uow.api_keys.create("plans", ["plan"], team="blue")
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_keys SET last_used_at = now()"))

        async def results() -> list[DirectPlan | None]:
            store = DirectStore(database, may_be_open=True)
            anyone = Acting(Actor("anyone", team="default"), None, "")
            blue = await store.acting(of_blue)
            assert blue is not None
            entry = NewEntry(blue.actor, "POST /x", "/x/", 201)
            try:
                with database.engine.begin() as connection:
                    connection.execute(sa.text("UPDATE api_keys SET team = 'default'"))
                assert await store.store(blue, uuid7(), plan, entry) is None
                found = [await store.find(blue, plan.hash, entry) for _ in range(2)]
                with database.engine.begin() as connection:
                    connection.execute(sa.text("UPDATE api_keys SET team = 'blue'"))
                return [*found, await store.find(blue, plan.hash, entry), await store.find(anyone, plan.hash, entry)]
            finally:
                store.close()

        first, again, *others = asyncio.run(results())
        assert others == [None, None], "the plan of another team, and a service that is open no longer"
        for found in (first, again):
            assert found is not None
            assert plan_json(Plan(found.head, found.placements)) == whole(database, head.id)
            assert found.head.labels == {"owner": "other"}
        with database.begin() as uow:
            entries = uow.audit.page(AuditFilter(action="POST /x"), before=None, size=10).items
        assert [each.resource for each in entries] == [f"/x/{head.id}"] * 2

    def test_one_with_webhooks_is_left_to_the_store(self, database: Database) -> None:
        plan = drafted(BODY)
        other = drafted({**BODY, "seed": 8})
        assert plan is not None
        assert other is not None
        assert stored(database, plan) is not None
        with database.begin() as uow:
            uow.webhooks.create(url="https://example.com", events=["plan.created"], secret="s")  # noqa: S106
        assert stored(database, other) is None
        with database.begin() as uow:
            assert uow.plans.find(other.hash) is None
            assert len(uow.audit.page(AuditFilter(action="POST /x"), before=None, size=10).items) == 1

    def test_one_beyond_a_quota_is_left_to_the_store(self, database: Database) -> None:
        """Which says why; nothing is stored, and neither is the entry of the audit log."""
        plan, other = drafted(BODY), drafted({**BODY, "seed": 8})
        assert plan is not None
        assert other is not None
        with quoted(database, plans=1) as limited:
            assert stored(limited, plan) is not None
            with pytest.raises(psycopg.Error) as raised:
                stored(limited, other)
        assert raised.value.sqlstate == SQLSTATE
        assert counted(database) == recounted(database)
        with database.begin() as uow:
            assert uow.plans.find(other.hash) is None
            assert len(uow.audit.page(AuditFilter(action="POST /x"), before=None, size=10).items) == 1

    def test_a_key_that_is_revoked_after_its_check_stores_nothing(self, database: Database) -> None:
        plan = drafted(BODY)
        assert plan is not None
        with database.begin() as uow:
            _, secret = uow.api_keys.create("plans", ["plan"], team="blue")
            _, of_all = uow.api_keys.create("all", ["admin"], team="*")
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_keys SET last_used_at = now()"))
        assert stored(database, plan, of_all) is None, "a plan is one team's"

        async def revoked() -> DirectPlan | None:
            store = DirectStore(database, may_be_open=True)
            try:
                acting = await store.acting(secret)
                assert acting is not None
                assert acting.actor.team == "blue"
                with database.begin() as uow:
                    uow.api_keys.revoke("plans", team="blue")
                return await store.store(acting, uuid7(), plan, NewEntry(acting.actor, "POST /x"))
            finally:
                store.close()

        assert asyncio.run(revoked()) is None
        with database.engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM plans")) == 0

    def test_a_lock_is_waited_for_a_second_at_most(self, database: Database) -> None:
        plan = drafted(BODY)
        assert plan is not None
        started = time.monotonic()
        with locked(database, "plans"), pytest.raises((psycopg.errors.QueryCanceled, TimeoutError)):
            stored(database, plan)
        assert time.monotonic() - started < 5


class TestKeyCheck:
    """What decides whether a body is read."""

    def test_a_key_is_looked_at_once_a_second(self, database: Database) -> None:
        """And one that is not valid each time; none that was revoked is known for longer than that."""
        with database.begin() as uow:
            _, secret = uow.api_keys.create("plans", ["plan"], team="blue")
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_keys SET last_used_at = now()"))
        now = 0.0

        async def found() -> list[bool]:
            nonlocal now
            store = DirectStore(database, may_be_open=True)
            check = KeyCheck(store, Admission(Capacity(1, 1, 1)), lambda: now)
            try:
                results = [await check(secret), await check(None), await check(f"{secret}x")]
                with database.begin() as uow:
                    uow.api_keys.revoke("plans", team="blue")
                now = KNOWN_FOR_S - 0.01
                results += [await check(secret)]
                now = KNOWN_FOR_S
                return [each is not None for each in (*results, await check(secret), await check(secret))]
            finally:
                store.close()

        assert asyncio.run(found()) == [True, False, False, True, False, False]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


class TestSmall:
    """What is planned between other requests is known to be little before it is begun."""

    @given(anything, st.sampled_from(sorted(BODY)))
    def test_any_document_is_looked_at(self, value: object, field: str) -> None:
        assert small.is_short(value) is False
        small.is_short({**BODY, field: value})

    @costly()
    @given(
        brokers=st.lists(st.tuples(st.integers(0, 99), st.sampled_from("abc")), min_size=3, max_size=9, unique=True),
        shapes=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 3)), min_size=1, max_size=3),
        seed=st.integers(0, 2**31 - 1),
    )
    def test_a_small_plan_is_the_plan_of_the_planner(
        self, brokers: list[tuple[int, str]], shapes: list[tuple[int, int]], seed: int
    ) -> None:
        """Sources of loops in Python place and count as their machine code does, which is used once it is loaded."""
        listed = {broker: {"id": broker, "rack": rack} for broker, rack in brokers}
        if len(listed) < 3:
            return
        topics = [{"name": f"t{n}", "partitions": p, "replication_factor": f} for n, (p, f) in enumerate(shapes)]
        body = {"brokers": list(listed.values()), "seed": seed, "topics": topics}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Loop, "is_loaded", lambda _: False)
            ours = drafted(body)
            patched.setattr(interpreted, "source_of", lambda loop: loop)
            theirs = drafted(body)
        assert ours is not None
        assert theirs is not None
        assert plan_json(ours) == plan_json(theirs)

    @pytest.mark.slow
    def test_loops_are_loaded_after_many_plans(self) -> None:
        """Loading takes half a second and 30 MB: a service that makes few plans does without."""
        done = subprocess.run([sys.executable, "-c", MANY_PLANS], check=True, capture_output=True, text=True)
        assert done.stdout.splitlines() == ["False", "True 1"]

    @pytest.mark.parametrize(
        "changed",
        [
            {"seed": None},
            {"algorithm": "admin_utils"},
            {"snapshot_id": "0191d0e4-0000-7000-8000-000000000000"},
            {"kafka_version": "4.0"},
            {"brokers": [{"id": broker} for broker in range(small.MOST_BROKERS + 1)]},
            {"brokers": [{"id": 1, "attributes": {"zone": "a"}}]},
            {"topics": [{"name": "t", "partitions": small.MOST_REPLICAS + 1, "replication_factor": 1}]},
            {"topics": [{"name": f"t{n}", "partitions": 1, "replication_factor": 1} for n in range(11)]},
            {"topics": []},
        ],
    )
    def test_what_is_not_small_is_left_to_the_operation(self, changed: dict[str, object]) -> None:
        assert drafted({**BODY, **changed}) is None

    def test_a_limit_of_the_operator_holds(self) -> None:
        assert drafted(BODY, Limits(max_sync_partitions=6)) is None
        assert drafted(BODY, Limits(max_sync_partitions=7)) is not None

    def test_no_loop_is_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """By a plan itself: importing numba would stop every other request for a second."""
        monkeypatch.setattr(Loop, "is_loaded", lambda _: False)
        monkeypatch.setattr(type(tally_kernel.count), "__call__", lambda *_: pytest.fail("a loop was called"))
        assert drafted(BODY) is not None


class TestHeaders:
    """Which requests are plain."""

    JSON = (b"content-type", b"application/json")

    @pytest.mark.parametrize(
        ("headers", "expected"),
        [
            ([JSON, (b"content-length", b"9")], True),
            ([JSON, (b"content-length", b"9"), (b"accept", b"*/*")], True),
            ([JSON, (b"content-length", b"8193")], False),
            ([JSON, (b"content-length", b"-1")], False),
            ([JSON], False),
            ([(b"content-length", b"9")], False),
            ([JSON, JSON, (b"content-length", b"9")], False),
            ([(b"content-type", b"text/plain"), (b"content-length", b"9")], False),
            ([JSON, (b"content-length", b"9"), (b"idempotency-key", b"k")], False),
            ([JSON, (b"content-length", b"9"), (b"prefer", b"respond-async")], False),
            ([JSON, (b"content-length", b"9"), (b"rackplan-team", b"blue")], False),
            ([JSON, (b"content-length", b"9"), (b"accept", b"text/csv")], False),
            ([JSON, (b"transfer-encoding", b"chunked")], False),
        ],
    )
    def test_headers(self, headers: list[tuple[bytes, bytes]], expected: bool) -> None:
        assert direct_plans._is_plain({"method": "POST", "query_string": b"", "headers": headers}) is expected
        assert not direct_plans._is_plain({"method": "PUT", "query_string": b"", "headers": headers})
        assert not direct_plans._is_plain({"method": "POST", "query_string": b"a=b", "headers": headers})

    def test_a_key_without_the_scope_is_left_to_the_operation(self) -> None:
        def may(scopes: tuple[str, ...] | None) -> bool:
            return direct_plans._may_plan(Acting(Actor("key"), scopes, "hash"))

        assert [may(scopes) for scopes in (None, ("plan",), ("admin",), ("read",), ())] == [
            True,
            True,
            True,
            False,
            False,
        ]
