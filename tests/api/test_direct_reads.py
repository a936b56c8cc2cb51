"""Reads of small plans without a slot; `test_slots.py` compares their answers with those of the operation."""

import asyncio
import time
from uuid import UUID

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_PLAN_ID, PLACE
from app.api.slots import direct
from app.store.database import Database
from app.store.direct import MOST_BYTES, DirectPlan, DirectStore
from app.store.records import PlanFilter
from tests.api.test_admission import locked


def read(database: Database, secret: str | None, plan_id: UUID, *, may_be_open: bool = True) -> DirectPlan | None:
    async def once() -> DirectPlan | None:
        reads = DirectStore(database, may_be_open=may_be_open)
        try:
            return await reads.plan(secret, plan_id)
        finally:
            reads.close()

    return asyncio.run(once())


class TestStore:
    """What is read, and what is left to the stores."""

    def test_every_kind_of_plan_is_read_as_the_store_reads_it(
        self,
        client: httpx.Client,  # noqa: ARG002 -- the rows are the examples
        database: Database,
    ) -> None:
        with database.begin() as uow:
            listed = uow.plans.page(PlanFilter(), before=None, size=10).items
            assert {plan.kind for plan in listed} >= {"replicas", "group", "streams"}
            for plan in listed:
                found = read(database, None, plan.id)
                assert found is not None
                assert found.scopes is None
                assert found.head == uow.plans.get(plan.id)
                ours, theirs = found.placements, uow.plans.placements(plan.id)
                assert [(each.topic, each.replicas.tolist()) for each in ours] == [
                    (each.topic, each.replicas.tolist()) for each in theirs
                ]

    def test_a_plan_is_read_with_a_valid_key_alone(
        self,
        client: httpx.Client,  # noqa: ARG002 -- as above
        database: Database,
    ) -> None:
        plan_id = EXAMPLE_PLAN_ID
        assert read(database, None, plan_id) is not None
        assert read(database, None, plan_id, may_be_open=False) is None, "on an address that others reach"
        with database.begin() as uow:
            _, secret = uow.api_keys.create("reads", ["read"], team="default")
            _, foreign = uow.api_keys.create("foreign", ["read"], team="others")
            _, of_all = uow.api_keys.create("all", ["admin"], team="*")
        assert read(database, secret, plan_id) is None, "its use has to be recorded first"
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_keys SET last_used_at = now()"))
        found = read(database, secret, plan_id)
        assert found is not None
        assert found.scopes == ("read",)
        assert read(database, of_all, plan_id) is not None
        assert read(database, foreign, plan_id) is None
        assert read(database, None, plan_id) is None, "once there is a key, each request needs one"
        assert read(database, "rackplan_garbage", plan_id) is None
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_keys SET expires_at = now() WHERE team = 'default'"))
        assert read(database, secret, plan_id) is None
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE api_keys SET expires_at = NULL, revoked_at = now()"))
        assert read(database, secret, plan_id) is None
        assert read(database, of_all, plan_id) is None
        assert read(database, None, plan_id) is None, "a service that had a key stays closed"

    def test_large_and_missing_plans_are_left_to_the_store(self, client: httpx.Client, database: Database) -> None:
        topics = [{"name": "large", "partitions": MOST_BYTES // 4 + 1, "replication_factor": 1}]
        large = client.post("/v1/plans/replicas", json={**PLACE, "topics": topics}).json()["id"]
        assert read(database, None, UUID(large)) is None
        assert read(database, None, UUID(int=1)) is None

    def test_a_lock_is_waited_for_a_second_at_most(self, database: Database) -> None:
        started = time.monotonic()
        with locked(database, "plans"), pytest.raises((psycopg.errors.QueryCanceled, TimeoutError)):
            read(database, None, EXAMPLE_PLAN_ID)
        assert time.monotonic() - started < 5


class TestHeaders:
    """Which requests are plain reads of JSON."""

    @given(st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=20))))
    def test_any_bytes_are_headers(self, headers: list[tuple[bytes, bytes]]) -> None:
        is_plain, secret = direct._read(headers)
        assert is_plain or secret is None

    @pytest.mark.parametrize(
        ("headers", "expected"),
        [
            ([], (True, None)),
            ([(b"accept", b"*/*"), (b"content-length", b"0")], (True, None)),
            ([(b"authorization", b"Bearer rackplan_x")], (True, "rackplan_x")),
            ([(b"authorization", b"bearer rackplan_x"), (b"accept", b"application/json")], (True, "rackplan_x")),
            ([(b"authorization", b"Basic eDp5")], (False, None)),
            ([(b"authorization", b"Bearer ")], (False, None)),
            ([(b"authorization", b"Bearer \xff")], (False, None)),
            ([(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")], (False, None)),
            ([(b"accept", b"text/csv")], (False, None)),
            ([(b"accept", b"*/*"), (b"accept", b"text/csv")], (False, None)),
            ([(b"rackplan-team", b"default")], (False, None)),
            ([(b"content-length", b"5")], (False, None)),
            ([(b"transfer-encoding", b"chunked")], (False, None)),
        ],
    )
    def test_headers(self, headers: list[tuple[bytes, bytes]], expected: tuple[bool, str | None]) -> None:
        assert direct._read(headers) == expected
