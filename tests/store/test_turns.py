"""Teams take turns at the queue of jobs: a backlog of one team delays no other."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from uuid import UUID

import pytest
import sqlalchemy as sa

from app.store import transaction
from app.store.database import Database
from app.store.queue import JOBS, TAKE, defer
from app.store.sweeps import RUN_SWEEP

_TAKE = sa.text(TAKE.replace("%(queues)s", "CAST(:queues AS varchar[])").replace("%(worker_id)s", ":worker"))
_TEAM = sa.text("SELECT team FROM jobs WHERE id = :id UNION ALL SELECT team FROM sweeps WHERE id = :id")


class Worker:
    """A worker's use of the queue."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.engine.begin() as connection:
            self._id = connection.scalar(sa.text("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id"))
        self._running: list[int] = []

    def take(self) -> tuple[str, UUID] | None:
        """The team of the next task and the id of its job or sweep, or None."""
        with self._database.engine.begin() as connection:
            task = connection.execute(_TAKE, {"queues": [JOBS], "worker": self._id}).one()
            if task.id is None:
                return None
            assert (task.status, task.worker_id) == ("doing", self._id)
            self._running.append(task.id)
            named = UUID(task.args.get("job_id") or task.args["sweep_id"])
            return str(connection.scalar(_TEAM, {"id": named})), named

    def finish(self, index: int = 0) -> None:
        """End one of the tasks."""
        with self._database.engine.begin() as connection:
            ended = sa.text("SELECT procrastinate_finish_job_v1(:id, 'succeeded', true)")
            connection.execute(ended, {"id": self._running.pop(index)})

    def teams(self, *, at_most: int) -> list[str]:
        """The teams of the tasks that run one after the other."""
        found: list[str] = []
        while len(found) < at_most and (taken := self.take()) is not None:
            found.append(taken[0])
            self.finish()
        return found


def enqueue(database: Database, team: str, count: int = 1) -> list[UUID]:
    """Queue jobs of a team."""
    with transaction.acting_as(team), database.begin() as uow:
        return [uow.jobs.enqueue("replicas", {}).id for _ in range(count)]


def test_a_backlog_delays_no_other_team(database: Database) -> None:
    """A job that is submitted behind 200 of another team is the next one to start, or the one after it."""
    enqueue(database, "blue", 200)
    worker = Worker(database)
    assert worker.teams(at_most=3) == ["blue"] * 3
    for _ in range(3):
        enqueue(database, "green")
        assert "green" in worker.teams(at_most=2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_a_team_waits_for_one_task_of_each_other_team(database: Database, seed: int) -> None:
    """Once a place is free, at most one task of each other team starts before the next of a waiting team."""
    random = Random(seed)
    worker, names, queued = Worker(database), ("a", "b", "c", "d"), Counter[str]()
    waiting: dict[str, Counter[str]] = {}
    for _ in range(120):
        if random.random() < 0.4:
            team, count = random.choice(names), random.choice((1, 1, 5))
            enqueue(database, team, count)
            waiting.setdefault(team, Counter())
            queued[team] += count
        elif (taken := worker.take()) is not None:
            team = taken[0]
            worker.finish()
            queued[team] -= 1
            waiting.pop(team)
            for others in waiting.values():
                others[team] += 1
            assert all(count <= 1 for others in waiting.values() for count in others.values())
            if queued[team]:
                waiting[team] = Counter()


def test_tasks_of_a_team_begin_in_their_order(database: Database) -> None:
    jobs = {team: enqueue(database, team, 12) for team in ("blue", "green")}
    worker = Worker(database)
    begun: dict[str, list[UUID]] = {"blue": [], "green": []}
    while (taken := worker.take()) is not None:
        begun[taken[0]].append(taken[1])
        worker.finish()
    assert begun == jobs


def test_a_team_with_fewer_running_tasks_is_first(database: Database) -> None:
    """Long jobs of one team do not fill the places that short ones of another leave for a moment."""
    enqueue(database, "long", 9)
    enqueue(database, "short", 9)
    worker = Worker(database)
    assert {worker.take()[0], worker.take()[0]} == {"long", "short"}  # type: ignore[index]
    for _ in range(8):
        worker.finish(1)
        assert worker.take()[0] == "short"  # type: ignore[index]


def test_chunks_of_a_sweep_take_turns(database: Database) -> None:
    """A sweep queues its next chunk when one is scored, and takes no turn of another team's job."""
    with transaction.acting_as("blue"), database.begin() as uow:
        sweep = uow.sweeps.create(kind="capacity", definition={}, scenarios=9, labels={}, principal="p")
        uow.sweeps.enqueue(sweep.id)
    enqueue(database, "blue", 3)
    enqueue(database, "green", 3)
    worker = Worker(database)
    begun: list[str] = []
    while len(begun) < 8 and (taken := worker.take()) is not None:
        begun.append(taken[0])
        worker.finish()
        if taken[1] == sweep.id:
            with transaction.acting_as("blue"), database.begin() as uow:
                uow.sweeps.enqueue(sweep.id)
    assert begun == ["blue", "green"] * 3 + ["blue", "blue"]


def test_priorities_come_before_turns_and_pauses_are_kept(database: Database) -> None:
    enqueue(database, "blue")
    (preferred,) = enqueue(database, "green")
    with database.engine.begin() as connection:
        raised = sa.text("UPDATE procrastinate_jobs SET priority = 1 WHERE args->>'job_id' = :id")
        connection.execute(raised, {"id": str(preferred)})
        defer(connection, RUN_SWEEP, {"sweep_id": str(preferred)}, after=timedelta(hours=1))
    assert Worker(database).teams(at_most=9) == ["green", "blue"]


def test_workers_take_each_task_once(database: Database) -> None:
    """Several at once, in turns of the teams: none is skipped, and none is taken twice."""
    jobs = {job for team in ("a", "b", "c") for job in enqueue(database, team, 20)}
    workers = [Worker(database) for _ in range(6)]

    def drain(worker: Worker) -> list[UUID]:
        found = []
        while (taken := worker.take()) is not None:
            found.append(taken[1])
            worker.finish()
        return found

    with ThreadPoolExecutor(len(workers)) as threads:
        taken = [job for found in threads.map(drain, workers) for job in found]
    assert len(taken) == len(jobs)
    assert set(taken) == jobs
