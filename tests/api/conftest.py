"""Services of a test's own: over a database that it may break, with other settings, in another process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import httpx
import pytest

from app.store.database import Database
from tests import forked
from tests.conftest import ROOT
from tests.jobs.cluster import quick_java
from tests.service import client_of, served

Serve = Callable[..., httpx.Client]

# A worker that takes others for dead sooner than one in service.
_HEARTBEATS = (0.5, 4.0)
_WORKER = """
from app.jobs import queue
queue.HEARTBEAT_SECONDS, queue.STALLED_SECONDS = {}
from app.worker import main
main()
"""
_COMMAND = "from app.cli import main; main()"
_SERVE = ("serve", "--no-worker")


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve a database with settings of the test's own: `serve(database, **settings)` is a client of the service."""
    with ExitStack() as started:

        def start(database: Database, **changed: object) -> httpx.Client:
            address = started.enter_context(served(database, **changed))
            return started.enter_context(client_of(address))

        yield start


@dataclass(frozen=True, slots=True)
class Running:
    """A service in a process of its own."""

    client: httpx.Client
    log: Path


RunService = Callable[..., AbstractContextManager[Running]]


@pytest.fixture
def run_service(tmp_path: Path) -> RunService:
    """`rackplan serve` as an operator runs it: `run_service(database, **environment)`, until the context ends.

    `files` is how many files its shell lets it open, by the soft and the hard limit.
    """

    @contextmanager
    def run(database: Database, files: tuple[int, int] | None = None, **environment: str) -> Iterator[Running]:
        name = token_hex(4)
        said, log = tmp_path / f"{name}.out", tmp_path / f"{name}.log"
        variables = environment_of(database, RACKPLAN_PORT="0", **environment)
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, {files})\n" if files else ""
        start = _interpreter if "PYTHONHASHSEED" in environment else _fork
        service = start(limit + _COMMAND, variables, said, log)
        try:
            with client_of(_announced(service, said, log)) as client:
                yield Running(client, log)
        finally:
            service.terminate()
            service.wait(20)

    return run


def _fork(code: str, variables: Mapping[str, str], said: Path, log: Path) -> forked.Forked:
    return forked.start(code, arguments=["rackplan", *_SERVE], environment=variables, out=said, err=log)


def _interpreter(code: str, variables: Mapping[str, str], said: Path, log: Path) -> "subprocess.Popen[bytes]":
    with said.open("wb") as out, log.open("wb") as err:
        return subprocess.Popen([sys.executable, "-c", code, *_SERVE], cwd=ROOT, stdout=out, stderr=err, env=variables)


def _announced(service: "forked.Forked | subprocess.Popen[bytes]", said: Path, log: Path) -> str:
    for _ in range(1200):
        if not said.exists():
            assert service.poll() is None, "the service ended before it began"
            time.sleep(0.05)
            continue
        whole, _, _ = said.read_text().rpartition("\n")
        for word in whole.split():
            if word.startswith("http://"):
                return word
        assert service.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(f"the service said no address: {log.read_text()}")


@dataclass(frozen=True, slots=True)
class Worker:
    """A job loop in a process of its own."""

    process: forked.Forked

    def kill(self) -> None:
        """End it as a lost machine does."""
        self.process.kill()
        self.process.wait(20)


StartWorker = Callable[..., Worker]


@pytest.fixture
def start_worker(database: Database, tmp_path: Path) -> Iterator[StartWorker]:
    """Start a worker over the database of the run, or another: `start_worker(over=None, **environment)`.

    `heartbeats` are the seconds between two of them and those after which a worker counts as silent. Those that still
    run are killed after the test.
    """
    started: list[Worker] = []

    def start(
        over: Database | None = None, *, heartbeats: tuple[float, float] = _HEARTBEATS, **environment: str
    ) -> Worker:
        process = forked.start(
            _WORKER.format(heartbeats),
            environment=environment_of(
                over or database,
                # Spark's files are removed with the test's folder, if the worker cannot do so.
                TMPDIR=str(tmp_path),
                RACKPLAN_SPARK_PROPERTIES=str(quick_java(tmp_path)),
                **environment,
            ),
            out=tmp_path / f"worker-{len(started)}.log",
        )
        started.append(Worker(process))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()


def environment_of(database: Database, **changed: str) -> dict[str, str]:
    """The environment of a process that uses a database, with some variables changed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
    url = database.url.render_as_string(hide_password=False)
    # Most of the tests need neither a JVM nor slots, and many name an example.
    own = {"DATABASE_URL": url, "LOG_LEVEL": "info", "SPARK_EARLY": "no", "SOLVER_PROCESSES": "0", "EXAMPLES": "yes"}
    return inherited | {f"RACKPLAN_{name}": value for name, value in own.items()} | changed
