"""Clocks that are set forward and back, and clocks of machines that differ, while the service and workers run.

The clock of the database is set. That clock then differs from the one of the machine on which the API and the
workers run, whichever of them is wrong.
"""

import time
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import PLACE, SNAPSHOT
from app.jobs import queue
from app.jobs.housekeeping import DeadWorkers
from app.store import transaction as ids
from app.store.database import Database
from app.store.queue import ENDED, JOBS, defer
from tests.api.conftest import Serve, StartWorker
from tests.api.contract import place, problem, topic
from tests.clocks import Clock
from tests.faults.clients import SCENARIOS, sweep_body

DAY, HOUR, NONE = timedelta(days=1), timedelta(hours=1), timedelta()
ENDS_WITHIN_S = 90.0


@pytest.fixture
def clock(scratch: Database) -> Clock:
    """The clock of the test's own database."""
    return Clock(scratch)


def ask(client: httpx.Client, seed: int) -> str:
    """The address of a new job."""
    answer = client.post("/v1/plans/replicas", json=PLACE | {"seed": seed}, headers={"Prefer": "respond-async"})
    assert answer.status_code == 202, answer.text
    return str(answer.headers["location"])


def until(client: httpx.Client, location: str, *states: str) -> dict[str, Any]:
    """The job, once it is in one of these states."""
    ends = time.monotonic() + ENDS_WITHIN_S
    while (job := client.get(location).json())["state"] not in states:
        assert time.monotonic() < ends, job
        time.sleep(0.05)
    return dict(job)


def losses(database: Database) -> set[tuple[int, int]]:
    """The lost workers and the failed attempts of every job."""
    with database.engine.connect() as connection:
        return {(row.losses, row.failures) for row in connection.execute(sa.text("SELECT losses, failures FROM jobs"))}


@pytest.mark.slow
class TestWorkers:
    """A real worker, with a lease of 4 s and a heartbeat each 0.5 s."""

    @pytest.mark.long
    def test_a_jump_starts_no_running_job_again(
        self, scratch: Database, clock: Clock, serve: Serve, start_worker: StartWorker
    ) -> None:
        """Another worker sees heartbeats that are a day old, and each time a new one before it takes the job.

        With the heartbeats of a service: a worker of a busy machine may be late by a second.
        """
        client = serve(scratch)
        for _ in range(2):
            start_worker(scratch, heartbeats=(queue.HEARTBEAT_SECONDS, queue.STALLED_SECONDS))
        until(client, ask(client, 1), "succeeded")
        with scratch.engine.connect() as holding:
            holding.execute(sa.text("LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE"))
            location = ask(client, 2)
            until(client, location, "running")
            for ahead in (DAY, NONE, -DAY, NONE, 2 * DAY, -HOUR):
                clock.set(ahead)
                time.sleep(1.5 * queue.HEARTBEAT_SECONDS)
            holding.rollback()
        job = until(client, location, *ENDED)
        assert job["state"] == "succeeded", job["error"]
        assert losses(scratch) == {(0, 0)}

    @pytest.mark.parametrize("ahead", [-DAY, pytest.param(DAY, marks=pytest.mark.long)])
    def test_the_jobs_of_a_dead_worker_are_run_again(
        self, scratch: Database, clock: Clock, serve: Serve, start_worker: StartWorker, ahead: timedelta
    ) -> None:
        """If the clock is set back, the last heartbeat is in the future for a day: the lease ends all the same."""
        client = serve(scratch)
        with scratch.engine.connect() as holding:
            holding.execute(sa.text("LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE"))
            first = start_worker(scratch)
            location = ask(client, 3)
            until(client, location, "running")
            time.sleep(1.0)  # so that it has had a heartbeat by the clock that is set
            first.kill()
            clock.set(ahead)
            holding.rollback()
        assert client.get("/readyz").is_success
        start_worker(scratch)
        assert until(client, location, *ENDED)["state"] == "succeeded"

    @pytest.mark.parametrize("ahead", [-HOUR, pytest.param(HOUR, marks=pytest.mark.long)])
    def test_what_one_worker_hands_back_the_next_one_runs_at_once(
        self, scratch: Database, clock: Clock, serve: Serve, start_worker: StartWorker, ahead: timedelta
    ) -> None:
        """The machine of the worker is an hour ahead of the database's, or behind."""
        clock.set(ahead)
        client = serve(scratch)
        with scratch.engine.connect() as holding:
            holding.execute(sa.text("LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE"))
            first = start_worker(scratch)
            location = ask(client, 4)
            until(client, location, "running")
            first.process.terminate()
            first.process.wait(30)
            holding.rollback()
        start_worker(scratch)
        assert until(client, location, *ENDED)["state"] == "succeeded"

    @pytest.mark.long
    def test_a_retry_that_was_scheduled_before_the_clock_was_set_back(
        self, scratch: Database, clock: Clock, serve: Serve, start_worker: StartWorker
    ) -> None:
        client = serve(scratch)
        clock.set(DAY)
        location = ask(client, 5)
        with scratch.engine.begin() as connection:
            connection.execute(sa.text("UPDATE procrastinate_jobs SET scheduled_at = now() + interval '3 s'"))
        clock.set(NONE)
        start_worker(scratch)
        assert until(client, location, *ENDED)["state"] == "succeeded"

    @pytest.mark.long
    def test_a_sweep_has_each_row_once(
        self, scratch: Database, clock: Clock, serve: Serve, start_worker: StartWorker
    ) -> None:
        """Two workers score its chunks while the clock is set back and forward by hours."""
        client = serve(scratch)
        for _ in range(2):
            start_worker(scratch)
        scenarios = 4 * SCENARIOS
        body = sweep_body(0) | {"axes": {"placement.seed": {"from": 0, "to": scenarios - 1}}}
        location = client.post("/v1/sweeps", json=body).headers["location"]
        jumps = cycle((-3 * HOUR, NONE, -HOUR, HOUR / 60))  # less than the deadline of a sweep, which they count for
        ends = time.monotonic() + 2 * ENDS_WITHIN_S
        while (sweep := client.get(location).json())["state"] not in ENDED:
            assert time.monotonic() < ends, sweep
            clock.set(next(jumps))
            time.sleep(0.5)
        assert sweep["state"] == "succeeded", sweep["error"]
        with scratch.engine.connect() as connection:
            rows = sa.text("SELECT count(*) FROM sweep_rows WHERE sweep_id = :id")
            assert connection.scalar(rows, {"id": sweep["id"]}) == scenarios
            lost = sa.text("SELECT losses, failures FROM sweeps WHERE id = :id")
            assert connection.execute(lost, {"id": sweep["id"]}).one() == (0, 0)


class TestDeadWorkers:
    """Which worker is dead, by rows of a real queue and a monotonic clock of the test's."""

    def test_a_jump_makes_no_worker_dead_and_silence_does(self, database: Database) -> None:
        with database.engine.begin() as connection:
            worker = connection.scalar(sa.text("SELECT worker_id FROM procrastinate_register_worker_v1()"))
            defer(connection, "another", {})
            taken = sa.text("UPDATE procrastinate_jobs SET status = 'doing', worker_id = :worker")
            connection.execute(taken, {"worker": worker})
        now = [0.0]
        dead = DeadWorkers(database, silent_s=10.0, confirmed_s=4.0, clock=lambda: now[0])

        def state_after(seconds: float, heartbeat: timedelta | None) -> Any:
            """Of the task, after so long, and after a heartbeat that is so old by the clock."""
            now[0] += seconds
            with database.engine.begin() as connection:
                if heartbeat is not None:
                    beat = (
                        "UPDATE procrastinate_workers SET last_heartbeat = clock_timestamp() - CAST(:old AS interval)"
                    )
                    connection.execute(sa.text(beat), {"old": heartbeat})
            dead.repeat_their_tasks()
            with database.engine.connect() as connection:
                return connection.scalar(sa.text("SELECT status FROM procrastinate_jobs"))

        for old, jump in zip((NONE, DAY, -DAY, NONE), cycle((100.0, 2.0)), strict=False):
            assert state_after(jump, old) == "doing", "each look finds another heartbeat"
        assert state_after(0.0, -DAY) == "doing"
        assert state_after(3.9, None) == "doing"
        assert state_after(0.2, None) == "todo", "no heartbeat for 4 s, and the last one is not of today"

    def test_two_workers_that_look_take_a_task_once(self, database: Database) -> None:
        with database.engine.begin() as connection:
            defer(connection, "another", {})
            connection.execute(sa.text("UPDATE procrastinate_jobs SET status = 'doing'"))
        with database.begin() as first, database.begin() as second:
            assert len(first.queue.repeat_tasks({})) == 1
            assert second.queue.repeat_tasks({}) == []
        with database.engine.connect() as connection:
            events = connection.scalars(sa.text("SELECT type FROM procrastinate_events ORDER BY id")).all()
            assert connection.scalar(sa.text("SELECT attempts FROM procrastinate_jobs")) == 1
        assert "deferred_for_retry" in events

    def test_tasks_that_are_due_within_the_longest_pause_stay(self, database: Database) -> None:
        with database.engine.begin() as connection:
            for seconds in (0, 50, 70, 86_400):
                defer(connection, "another", {}, after=timedelta(seconds=seconds))
        with database.begin() as uow:
            assert uow.queue.bring_forward(JOBS, later_than=timedelta(minutes=1)) == 2
            assert uow.queue.bring_forward(JOBS, later_than=timedelta(minutes=1)) == 0


@pytest.mark.parametrize("ahead", [-DAY, DAY])
def test_links_and_keys_end_by_one_clock(scratch: Database, clock: Clock, serve: Serve, ahead: timedelta) -> None:
    """A link for a day is one for a day of that clock, whatever the machine of the API says."""
    clock.set(ahead)
    client = serve(scratch)
    plan = place(client, topic("orders")).json()["id"]
    link = client.post("/v1/share-links", json={"kind": "plan", "name": plan, "days": 1}).json()
    assert [each["id"] for each in client.get("/v1/share-links").json()["items"]] == [link["id"]]
    now = datetime.now(UTC) + ahead
    with scratch.begin() as uow:
        _, secret = uow.api_keys.create("short", ["admin"], team="*", expires_at=now + HOUR)
    headers = {"Authorization": f"Bearer {secret}"}
    page = link["page"].partition("://")[2].partition("/")[2]
    assert (client.get(f"/{page}").status_code, client.get("/v1/plans", headers=headers).status_code) == (200, 200)
    clock.set(ahead + 2 * DAY)
    assert client.get(f"/{page}").status_code == 403
    problem(client.get("/v1/plans", headers=headers), 401, "api_key_expired")
    clock.set(ahead)
    assert (client.get(f"/{page}").status_code, client.get("/v1/plans", headers=headers).status_code) == (200, 200)


def test_the_newest_snapshot_is_the_one_that_was_stored_last(scratch: Database, clock: Clock, serve: Serve) -> None:
    """Plans are made from it: with a clock that was set back they were made from an older one for a day."""
    client = serve(scratch)
    stored = []
    for number, ahead in enumerate((NONE, -DAY, DAY, -HOUR, NONE)):
        clock.set(ahead)
        body = SNAPSHOT | {"brokers": [*SNAPSHOT["brokers"], {"id": 900 + number, "rack": "a"}]}
        stored.append(client.post("/v1/snapshots", json=body).json()["id"])
        assert _newest(scratch) == stored[-1]
    clock.set(-DAY)
    again = SNAPSHOT | {"brokers": [*SNAPSHOT["brokers"], {"id": 900, "rack": "a"}]}
    assert client.post("/v1/snapshots", json=again).json()["id"] == stored[0] == _newest(scratch)


def _newest(database: Database) -> str:
    with database.begin() as uow:
        newest = uow.snapshots.newest(SNAPSHOT["cluster"])
    assert newest is not None
    return str(newest.id)


def test_deadlines_are_no_longer_than_stated(scratch: Database, clock: Clock) -> None:
    """A job that started before the clock was set back by a day had a day more."""
    with scratch.begin() as uow:
        job = uow.jobs.enqueue("replicas", PLACE, deadline_s=60)
        uow.jobs.start(job.id)
    for ahead, least, most in ((-DAY, 60.0, 60.0), (NONE, 0.0, 60.0), (DAY, -DAY.total_seconds(), 0.0)):
        clock.set(ahead)
        with scratch.begin() as uow:
            left = uow.jobs.seconds_left(job.id, limit_s=600)
        assert left is not None
        assert least <= left <= most


def test_uses_of_keys_are_recorded_after_the_clock_is_set_back(scratch: Database, clock: Clock) -> None:
    clock.set(DAY)
    with scratch.begin() as uow:
        key, secret = uow.api_keys.create("any", ["read"])
        uow.api_keys.note_use(key.id)
    clock.set(NONE)
    with scratch.begin() as uow:
        presented = uow.api_keys.authenticate(secret)
        assert presented is not None
        assert presented.is_use_due
        uow.api_keys.note_use(key.id)
    with scratch.begin() as uow:
        presented = uow.api_keys.authenticate(secret)
        assert presented is not None
        assert not presented.is_use_due


@pytest.mark.parametrize("size", [1, 2, 5])
def test_pages_skip_and_repeat_nothing(
    scratch: Database, serve: Serve, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Ids follow the clock of the API, which jumps while a client reads. Earlier entries are listed once, and what
    is stored meanwhile at most once.
    """
    client, jumps = serve(scratch), cycle((NONE, -DAY, DAY, -HOUR, HOUR))
    ahead = [NONE]
    monkeypatch.setattr(ids, "time_ns", lambda: time.time_ns() + int(ahead[0].total_seconds() * 1e9))

    def store(number: int) -> str:
        ahead[0] = next(jumps)
        return str(place(client, topic(f"t{number}"), seed=number).json()["id"])

    there = [store(number) for number in range(9)]
    seen: list[str] = []
    params: dict[str, str] = {"page_size": str(size)}
    for number in range(100, 200):
        page = client.get("/v1/plans", params=params).json()
        seen += [plan["id"] for plan in page["items"]]
        if page["next_page_token"] is None:
            break
        params["page_token"] = page["next_page_token"]
        store(number)
    assert len(seen) == len(set(seen))
    assert set(there) <= set(seen)
