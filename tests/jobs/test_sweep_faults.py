"""Sweeps under real faults: whatever dies, the rows are as in an undisturbed run, none lost and none twice.

`test_sweep_chunks.py` has the quick tests of the same promise, in one process.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psutil
import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa

from app.api.examples import SWEEP_BASE
from app.core.capacity.sweep import read_sweep
from app.jobs.kernels.scenarios import KERNEL, payload
from app.services import sweeps
from app.services.limits import Limits
from app.services.sweeps import SweepRequest
from app.store import embedded, migrations
from app.store.database import Database
from tests import databases, forked
from tests.conftest import ROOT
from tests.jobs import cluster as clusters
from tests.profiles import thorough

pytestmark = pytest.mark.slow

# A worker that takes others, and Spark, for dead sooner than one in service.
WORKER = """
from app.jobs import queue
queue.HEARTBEAT_SECONDS, queue.STALLED_SECONDS = 0.5, 2.0
from functools import partial
from app import worker
from app.jobs.spark import Spark
worker.Spark = partial(Spark, executors_within_s=15.0)
worker.main()
"""
ENDS_WITHIN_S = 180.0
PORTS = 5
"""Ports that are tried: one that was free may be taken before the API listens."""


def definition(scenarios: int, *, partitions: int = 3_000) -> dict[str, Any]:
    """A sweep of `scenarios`, each a placement of its own, which take some ten milliseconds each."""
    topics = [SWEEP_BASE["topics"][0] | {"partitions": partitions}]
    base = SWEEP_BASE | {"topics": topics, "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 8}}
    return {"base": base, "axes": {"placement.seed": {"from": 0, "to": scenarios - 1}}}


def submitted(database: Database, scenarios: int, **fields: Any) -> UUID:
    """A sweep on the queue."""
    with database.begin() as uow:
        request = SweepRequest("capacity", definition(scenarios, **fields))
        return sweeps.submit(uow, request, Limits(), principal="tests").id


def rows_of(database: Database, sweep_id: UUID) -> list[tuple[int, str]]:
    """Every row as Postgres has it, by index."""
    query = sa.text('SELECT "index", row::text FROM sweep_rows WHERE sweep_id = :id ORDER BY "index"')
    with database.engine.connect() as connection:
        return [(index, row) for index, row in connection.execute(query, {"id": sweep_id})]


def undisturbed(database: Database, scenarios: int, **fields: Any) -> list[tuple[int, str]]:
    """The rows of the same sweep, scored in one go and stored in the same way."""
    with database.begin() as uow:
        wanted = definition(scenarios, **fields)
        sweep = uow.sweeps.create(kind="capacity", definition=wanted, scenarios=scenarios, labels={}, principal="tests")
        task = pa.record_batch({"start": pa.array([0]), "stop": pa.array([scenarios])})
        rows = [
            (index, row)
            for batch in KERNEL.run(KERNEL.prepare(payload(read_sweep, wanted)), iter([task]))
            for index, row in zip(batch.column("index").to_pylist(), batch.column("row").to_pylist(), strict=True)
        ]
        uow.sweeps.record(sweep.id, 0, rows, stop=scenarios, seconds=1.0)
    return rows_of(database, sweep.id)


def ended(database: Database, sweep_id: UUID) -> str:
    """The state that the sweep ends in."""
    until = time.monotonic() + ENDS_WITHIN_S
    while time.monotonic() < until:
        with database.begin() as uow:
            sweep = uow.sweeps.get(sweep_id)
        if sweep.has_ended:
            return sweep.state
        time.sleep(0.1)
    raise AssertionError(f"the sweep goes on: {sweep}")


def done(database: Database, sweep_id: UUID) -> int:
    """How many scenarios have been stored."""
    with database.begin() as uow:
        return uow.sweeps.progress(sweep_id).done


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker with a Spark of its own."""

    process: forked.Forked

    def kill(self) -> None:
        """End it as a lost machine does."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(20)

    def jvms(self) -> list[psutil.Process]:
        """The JVM that it has started, if it has."""
        found = []
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):
                found += [child] * (child.name() == "java")
        return found

    def task_seconds(self) -> float:
        """The CPU time of the Pythons that the JVM has started for tasks."""
        seconds = 0.0
        for process in self.pythons():
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                seconds += times.user + times.system
        return seconds

    def pythons(self) -> list[psutil.Process]:
        """The Pythons that the JVM has started for tasks."""
        # Spark's launcher is a short-lived java before the JVM of the session; any of them may end meanwhile.
        with suppress(psutil.NoSuchProcess):
            children = [child for jvm in self.jvms() for child in jvm.children(recursive=True)]
            return [child for child in children if child.name().startswith("python")]
        return []


StartWorker = Callable[..., Worker]


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[StartWorker]:
    """Start a worker with a Spark of its own; those that still run are ended after the test."""
    started: list[Worker] = []

    def start(database: Database, **settings: str) -> Worker:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
        environment = inherited | {
            "RACKPLAN_DATABASE_URL": database.url.render_as_string(hide_password=False),
            "RACKPLAN_SPARK_MASTER": "local[2]",
            "RACKPLAN_SPARK_EARLY": "no",
            "RACKPLAN_SPARK_PROPERTIES": str(clusters.quick_java(tmp_path, executor_memory="512m")),
            "PYSPARK_PYTHON": sys.executable,
            "TMPDIR": str(tmp_path),
            **settings,
        }
        log = tmp_path / f"worker-{len(started)}.log"
        started.append(Worker(forked.start(WORKER, environment=environment, out=log)))
        return started[-1]

    yield start
    for worker in started:
        if worker.process.poll() is None:
            worker.process.terminate()
    for worker in started:
        worker.process.wait(30)


@pytest.mark.long
@pytest.mark.parametrize(
    "moments",
    [
        pytest.param(("has_rows",), id="once"),
        pytest.param(("has_a_connection", "has_a_jvm", "has_a_task", "has_rows"), id="again and again"),
    ],
)
def test_a_worker_that_is_killed(database: Database, start_worker: StartWorker, moments: Sequence[str]) -> None:
    """Each time at another moment: when it has a connection, a JVM, a task in progress, and rows."""
    scenarios = 300
    sweep_id = submitted(database, scenarios)
    stored = [0]
    reached: dict[str, Callable[[Worker], bool]] = {
        "has_a_connection": lambda worker: bool(psutil.Process(worker.process.pid).net_connections()),
        "has_a_jvm": lambda worker: bool(worker.jvms()),
        "has_a_task": lambda worker: worker.task_seconds() > 0,
        "has_rows": lambda _: done(database, sweep_id) > stored[-1],
    }
    for moment in moments:
        worker = start_worker(database)
        _wait(partial(reached[moment], worker))
        worker.kill()
        stored.append(done(database, sweep_id))
    assert stored == sorted(stored)
    assert 0 < stored[-1] < scenarios, "some rows were stored, and the last kill left some to do"
    start_worker(database)
    assert ended(database, sweep_id) == "succeeded"
    assert rows_of(database, sweep_id) == undisturbed(database, scenarios)


@pytest.mark.long
def test_pythons_of_tasks_that_are_killed(database: Database, start_worker: StartWorker) -> None:
    """As the system does if memory runs out: a local master tries their tasks again, as a cluster does."""
    scenarios = 2_000
    sweep_id = submitted(database, scenarios)
    worker = start_worker(database)
    for _ in range(3):
        rows, seconds = done(database, sweep_id), worker.task_seconds()
        _wait(lambda rows=rows: done(database, sweep_id) > rows)  # type: ignore[misc] # a default binds it
        _wait(lambda seconds=seconds: worker.task_seconds() != seconds)  # type: ignore[misc] # a default binds it
        pythons = worker.pythons()
        assert pythons
        for python in pythons:
            with suppress(psutil.NoSuchProcess):
                python.kill()
    assert done(database, sweep_id) < scenarios, "the last kill left some to do"
    assert ended(database, sweep_id) == "succeeded"
    assert rows_of(database, sweep_id) == undisturbed(database, scenarios)


@thorough
def test_a_worker_that_is_killed_twenty_times_at_random(database: Database, start_worker: StartWorker) -> None:
    """While it starts, while Spark does, in the middle of a chunk, while rows are stored."""
    scenarios = 1_500
    sweep_id = submitted(database, scenarios)
    moments = random.Random(20)
    stored = []
    for _ in range(20):
        worker = start_worker(database)
        time.sleep(moments.uniform(0.5, 6.5))
        worker.kill()
        stored.append(done(database, sweep_id))
    assert stored == sorted(stored)
    start_worker(database)
    assert ended(database, sweep_id) == "succeeded"
    assert rows_of(database, sweep_id) == undisturbed(database, scenarios)


@pytest.mark.long
def test_a_postgres_that_crashes_and_recovers(start_worker: StartWorker) -> None:
    """One of its processes is killed, so that it drops every connection and recovers from its log."""
    with (
        databases.folder_of_postgres() as folder,
        embedded.running(folder / "data", shelter=folder / "shelter") as server,
        Database(server.url) as database,
    ):
        migrations.upgrade(database.engine)
        scenarios = 400
        sweep_id = submitted(database, scenarios)
        worker = start_worker(database)
        for least in (1, 60, 200):
            _wait(lambda least=least: done(database, sweep_id) >= least)  # type: ignore[misc] # a default binds it
            _crash(server.url)
        assert ended(database, sweep_id) == "succeeded"
        assert rows_of(database, sweep_id) == undisturbed(database, scenarios)
        worker.process.terminate()
        worker.process.wait(30)


def _wait(until: Callable[[], bool]) -> None:
    ends = time.monotonic() + ENDS_WITHIN_S
    while not until():
        assert time.monotonic() < ends
        time.sleep(0.05)


def _crash(url: str) -> None:
    with (
        psycopg.connect(url.replace("+psycopg", "")) as killed,
        psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as bystander,
    ):
        os.kill(killed.info.backend_pid, signal.SIGKILL)
        # The server notices a moment later, and accepts connections until then.
        with pytest.raises(psycopg.OperationalError):
            bystander.execute("SELECT pg_sleep(20)")
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            psycopg.connect(url.replace("+psycopg", "")).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("Postgres did not come back")


@pytest.mark.long
def test_a_cancelled_sweep_ends_within_seconds(database: Database, start_worker: StartWorker) -> None:
    """Also in Spark: the worker is free for another sweep long before the chunk would have been done."""
    first = submitted(database, 40)
    worker = start_worker(database)
    assert ended(database, first) == "succeeded"
    before = worker.task_seconds()
    sweep_id = submitted(database, 50_000, partitions=60_000)
    _wait(lambda: worker.task_seconds() > before + 1)  # by then Spark has begun with it
    assert state_of(database, sweep_id) == "running"
    with database.begin() as uow:
        sweeps.cancel(uow, sweep_id)
    other = submitted(database, 40)
    assert ended(database, other) == "succeeded"
    assert state_of(database, sweep_id) == "cancelled"


def state_of(database: Database, sweep_id: UUID) -> str:
    """The sweep's state."""
    with database.begin() as uow:
        return uow.sweeps.get(sweep_id).state


@pytest.mark.long
def test_a_master_that_is_not_there_is_said_and_waited_for(database: Database, start_worker: StartWorker) -> None:
    sweep_id = submitted(database, 10)
    start_worker(database, RACKPLAN_SPARK_MASTER="spark://127.0.0.1:9")
    until = time.monotonic() + 60
    waiting = None
    while waiting is None and time.monotonic() < until:
        with database.begin() as uow:
            sweep = uow.sweeps.get(sweep_id)
        waiting = sweep.waiting
        time.sleep(0.1)
    assert waiting is not None
    assert waiting["code"] == "spark_unavailable"
    assert "spark://127.0.0.1:9" in str(waiting["detail"])
    assert sweep.state == "running"


@pytest.mark.long
def test_a_cluster_that_loses_an_executor_and_then_its_master(
    database: Database, start_worker: StartWorker, tmp_path: Path
) -> None:
    """An executor's work is repeated elsewhere; without a master the sweep says that it waits, and then goes on."""
    scenarios = 600
    with clusters.running(tmp_path) as cluster:
        sweep_id = submitted(database, scenarios)
        start_worker(database, RACKPLAN_SPARK_MASTER=cluster.url)
        _wait(lambda: done(database, sweep_id) >= 1)
        cluster.kill(cluster.workers[0])
        _wait(lambda: done(database, sweep_id) >= 100)
        cluster.stop()
        _wait(lambda: _waiting(database, sweep_id) is not None)
        assert cluster.url in str(_waiting(database, sweep_id))
        cluster.workers.clear()
        cluster.start_master()
        cluster.start_worker()
        assert ended(database, sweep_id) == "succeeded"
        assert rows_of(database, sweep_id) == undisturbed(database, scenarios)


def _waiting(database: Database, sweep_id: UUID) -> object:
    with database.begin() as uow:
        return uow.sweeps.get(sweep_id).waiting


@pytest.mark.long
def test_an_api_that_is_killed_while_it_is_listened_to(database: Database, start_worker: StartWorker) -> None:
    """The sweep does not notice; a listener reconnects and receives the remaining events."""
    with _served(database) as (address, service):
        sweep_id = UUID(httpx.post(f"{address}/v1/sweeps", json=definition(200), timeout=30).json()["id"])
        start_worker(database)
        with pytest.raises(httpx.HTTPError):
            _listen(f"{address}/v1/sweeps/{sweep_id}/events", at_first=service.kill)
    with _served(database) as (address, _):
        said = _listen(f"{address}/v1/sweeps/{sweep_id}/events")
    assert said[-2:] == ["event: succeeded", "id: 200"]
    assert rows_of(database, sweep_id) == undisturbed(database, 200)


def _listen(url: str, *, at_first: Callable[[], None] | None = None) -> list[str]:
    """The names and ids of the events of a sweep, until it has ended; `at_first` is done at the first."""
    said = []
    with httpx.stream("GET", url, timeout=ENDS_WITHIN_S) as stream:
        for line in stream.iter_lines():
            if line.startswith(("event: ", "id: ")):
                said.append(line)
                if at_first is not None:
                    at_first()
    return said


@contextmanager
def _served(database: Database) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """The API alone, in a process of its own."""
    url = database.url.render_as_string(hide_password=False)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
    command = [sys.executable, "-c", "from app.cli import main; main()", "serve", "--no-worker"]
    for _ in range(PORTS):
        port = clusters.free_port()
        environment = inherited | {"RACKPLAN_DATABASE_URL": url, "RACKPLAN_PORT": str(port)}
        service = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait(partial(_ended_or_answers, service, address))
            if service.poll() is None:
                yield address, service
                return
        finally:
            service.terminate()
            service.wait(30)
    raise AssertionError(f"the API ended by itself on {PORTS} ports")


def _ended_or_answers(service: "subprocess.Popen[bytes]", address: str) -> bool:
    return service.poll() is not None or _answers(address)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", verify=False).status_code == 200  # noqa: S501 -- no TLS
    except httpx.HTTPError:
        return False
