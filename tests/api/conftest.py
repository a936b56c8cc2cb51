"""Services of a test's own: over a database that it may break, with other settings, in another process."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Thread

import httpx
import psutil
import pytest
import sqlalchemy as sa
import uvicorn

from app.main import create_app
from app.settings import Settings
from app.store import embedded, migrations
from app.store.database import Database
from tests.conftest import ROOT

Serve = Callable[..., httpx.Client]


@pytest.fixture
def scratch(postgres: embedded.Server) -> Iterator[Database]:
    """A migrated database of the test's own, which it may break."""
    name = f"scratch_{token_hex(8)}"
    url = sa.make_url(postgres.url)
    server = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    try:
        with Database(url.set(database=name).render_as_string(hide_password=False)) as database:
            migrations.upgrade(database.engine)
            yield database
    finally:
        with server.connect() as connection:
            connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        server.dispose()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve a database with settings of the test's own: `serve(database, **settings)` is a client of the service."""
    with ExitStack() as started:

        def start(database: Database, **changed: object) -> httpx.Client:
            url = database.url.render_as_string(hide_password=False)
            configured = Settings(database_url=url, log_level="warning", **changed)  # type: ignore[arg-type] # by name
            address = started.enter_context(_in_thread(configured))
            return started.enter_context(httpx.Client(base_url=address, timeout=60))

        yield start


@contextmanager
def _in_thread(configured: Settings) -> Iterator[str]:
    app = create_app(configured)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        thread.join(0.02)
    assert app.state.is_prepared.wait(300), "the examples were not kept"
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


@dataclass(frozen=True, slots=True)
class Running:
    """A service in a process of its own."""

    client: httpx.Client
    log: Path


RunService = Callable[..., AbstractContextManager[Running]]


@pytest.fixture
def run_service(tmp_path: Path) -> RunService:
    """`rackplan serve` as an operator runs it: `run_service(database, **environment)`, until the context ends."""

    @contextmanager
    def run(database: Database, **environment: str) -> Iterator[Running]:
        name = token_hex(4)
        said, log = tmp_path / f"{name}.out", tmp_path / f"{name}.log"
        command = [sys.executable, "-c", "from app.cli import main; main()", "serve", "--no-worker"]
        with said.open("wb") as out, log.open("wb") as err:
            service = subprocess.Popen(
                command, cwd=ROOT, stdout=out, stderr=err, env=_environment(database, RACKPLAN_PORT="0", **environment)
            )
        try:
            with httpx.Client(base_url=_announced(service, said, log), timeout=60) as client:
                yield Running(client, log)
        finally:
            service.terminate()
            service.wait(20)

    return run


def _announced(service: subprocess.Popen[bytes], said: Path, log: Path) -> str:
    for _ in range(1200):
        for word in said.read_text().split():
            if word.startswith("http://"):
                return word
        assert service.poll() is None, log.read_text()
        psutil.wait_procs([psutil.Process(service.pid)], timeout=0.05)
    raise AssertionError(f"the service said no address: {log.read_text()}")


@dataclass(frozen=True, slots=True)
class Worker:
    """A job loop in a process of its own."""

    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End it as a lost machine does."""
        self.process.kill()
        self.process.wait(20)


StartWorker = Callable[[], Worker]


@pytest.fixture
def start_worker(database: Database, tmp_path: Path) -> Iterator[StartWorker]:
    """Start `python -m app.worker` over the database of the run; those that still run are ended after the test."""
    started: list[Worker] = []

    def start() -> Worker:
        with (tmp_path / f"worker-{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "app.worker"], cwd=ROOT, stdout=log, stderr=log, env=_environment(database)
            )
        started.append(Worker(process))
        return started[-1]

    yield start
    for worker in started:
        if worker.process.poll() is None:
            worker.process.terminate()
            worker.process.wait(30)


def _environment(database: Database, **changed: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RACKPLAN_")}
    url = database.url.render_as_string(hide_password=False)
    return inherited | {"RACKPLAN_DATABASE_URL": url, "RACKPLAN_LOG_LEVEL": "info"} | changed
