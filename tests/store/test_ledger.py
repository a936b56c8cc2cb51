"""The ledger: an entry of each plan that was executed, and the errors over all of them."""

from uuid import UUID

import pytest

from app.errors import Json
from app.errors.requests import PlanNotFound
from app.store import transaction
from app.store.database import Database
from tests import databases
from tests.store.test_usage import plan_of


@pytest.fixture
def database(rows: databases.Rows) -> Database:
    rows.reset(examples=False)
    return rows.database


def stored(database: Database, name: str) -> UUID:
    with database.begin() as uow:
        return uow.plans.store(plan_of(name)).id


def entry(bytes_error: float | None, seconds_error: float | None) -> dict[str, Json]:
    return {"bytes_error": bytes_error, "seconds_error": seconds_error, "ended_at": "2026-11-26T10:00:00Z"}


def record(database: Database, plan_id: UUID, *errors: float | None) -> None:
    with database.begin() as uow:
        uow.plans.record(plan_id, entry(*errors))


def test_an_entry_is_of_one_plan(database: Database) -> None:
    """The same entry again is no change; another one replaces it. Only the plan's version says that there was one."""
    plan_id = stored(database, "a")
    record(database, plan_id, 0.1, 0.2)
    with database.begin() as uow:
        once = uow.plans.get(plan_id)
    record(database, plan_id, 0.1, 0.2)
    with database.begin() as uow:
        assert uow.plans.get(plan_id) == once
        assert (once.ledger, once.revision, once.history) == (entry(0.1, 0.2), 1, [])
    record(database, plan_id, 0.3, None)
    with database.begin() as uow:
        assert uow.plans.get(plan_id).ledger == entry(0.3, None)
        assert uow.plans.ledger(cluster=None, size=9).count == 1


def test_percentiles_are_over_plans_with_an_error(database: Database) -> None:
    """Of 0, 0.1, …, 1 the median is 0.5 and the 90th percentile 0.9; a plan without an error is counted alone."""
    for number in range(11):
        record(database, stored(database, f"p{number}"), number / 10, 0.5 if number == 0 else None)
    stored(database, "not executed")
    with database.begin() as uow:
        found = uow.plans.ledger(cluster=None, size=3)
        assert uow.plans.ledger(cluster="another", size=3).count == 0
    assert (found.count, found.seconds_error) == (11, [0.5, 0.5])
    assert found.bytes_error == pytest.approx([0.5, 0.9])
    assert [plan.bytes_error for plan in found.plans] == [1.0, 0.9, 0.8]


def test_without_plans_there_is_no_error(database: Database) -> None:
    with database.begin() as uow:
        found = uow.plans.ledger(cluster=None, size=3)
    assert (found.count, found.bytes_error, found.seconds_error, found.plans) == (0, None, None, ())


def test_it_is_seen_by_the_team_of_the_plan_and_deleted_with_it(database: Database) -> None:
    plan_id = stored(database, "a")
    record(database, plan_id, 0.1, 0.1)
    with transaction.acting_as("payments"):
        with database.begin() as uow:
            assert uow.plans.ledger(cluster=None, size=3).count == 0
        with pytest.raises(PlanNotFound):
            record(database, plan_id, 0.1, 0.1)
    with database.begin() as uow:
        uow.plans.delete(plan_id)
        assert uow.plans.ledger(cluster=None, size=3).count == 0
    with pytest.raises(PlanNotFound):
        record(database, plan_id, 0.1, 0.1)
