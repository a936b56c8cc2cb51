"""`rackplan serve`: a database, its schema, a worker and the API, started in this order and stopped in the other."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Event, Thread
from types import FrameType

import structlog
import typer
import uvicorn

from app.errors import ApiKeyNeeded
from app.settings import Settings
from app.store import embedded, migrations
from app.store.database import Database

_WORKER_ENDS_WITHIN_S = 10.0
_WORKER_LOOKED_AT_EVERY_S = 0.2
_WORKER_FOLLOWED_AFTER_S = 1.0
_STOPPING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve(*, with_worker: bool) -> None:
    """Serve until told to stop: Ctrl-C, SIGTERM and a closed terminal all stop everything that was started.

    Raises `ApiKeyNeeded`, and what `embedded.running` does.
    """
    settings = Settings()
    for number in _STOPPING_SIGNALS:
        signal.signal(number, _stop)
    with ExitStack() as started:
        url = settings.database_url
        if url is None:
            postgres = started.enter_context(_embedded(settings))
            url = postgres.url
            if postgres.data_dir != settings.data_dir.resolve():
                typer.echo(
                    f"Postgres cannot reach {settings.data_dir.resolve()}; its data is in {postgres.data_dir}", err=True
                )
        with Database(url) as database:
            migrations.upgrade(database.engine)
            _require_key(database, settings)
        # The API and the worker are composed from the environment, wherever they run.
        os.environ["RACKPLAN_DATABASE_URL"] = url
        if with_worker:
            started.enter_context(_worker())
        config = uvicorn.Config(
            "app.main:create_app",
            factory=True,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=10,
        )
        server = _Announcing(config)
        server.run()
        if not server.started:
            raise SystemExit(1)  # the log says why


@contextmanager
def database(*, migrated: bool = False) -> Iterator[Database]:
    """The database of the settings, for a command: the embedded one is started for it, unless it runs already.

    Parameters
    ----------
    migrated : whether the command needs the schema; it is brought up to date then.
    """
    settings = Settings()
    with ExitStack() as started:
        url = settings.database_url or embedded.url_of_running(settings.data_dir)
        if url is None:
            url = started.enter_context(_embedded(settings)).url
        connected = started.enter_context(Database(url))
        if migrated:
            migrations.upgrade(connected.engine)
        yield connected


class _Announcing(uvicorn.Server):
    """Says where it listens and what to try first, once it does."""

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override] # theirs is of socket
        await super().startup(sockets)  # type: ignore[arg-type] # as above
        if not self.started:
            return
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        typer.echo(
            f"Rackplan listens on {address}\n"
            f"  the pages       {address}/\n"
            f"  the docs        {address}/docs\n"
            f"  a first try     curl -s {address}/v1/plans/replicas -H 'Content-Type: application/json' -d "
            """'{"brokers":[{"id":1,"rack":"a"},{"id":2,"rack":"b"},{"id":3,"rack":"c"}],"seed":42,"""
            """"topics":[{"name":"orders","partitions":3,"replication_factor":2}]}'\n"""
            "Ctrl-C stops it."
        )


def _embedded(settings: Settings) -> AbstractContextManager[embedded.Server]:
    is_default = "data_dir" not in settings.model_fields_set
    return embedded.running(settings.data_dir, may_relocate=is_default)


def _require_key(database: Database, settings: Settings) -> None:
    if settings.is_loopback:
        return
    with database.begin() as uow:
        if not uow.api_keys.any_valid():
            raise ApiKeyNeeded(
                f"RACKPLAN_HOST is {settings.host}, which other machines can reach, and there is no API key; "
                "make one with `rackplan keys create NAME --scope admin`, or listen on 127.0.0.1",
                host=settings.host,
            )


@contextmanager
def _worker() -> Iterator[None]:
    """A worker for as long as the context lasts: one that dies is followed by another, which takes over its jobs."""
    is_over = Event()
    watching = Thread(target=_keep_a_worker, args=(is_over,), name="worker")
    watching.start()
    try:
        yield
    finally:
        is_over.set()
        watching.join()


def _keep_a_worker(is_over: Event) -> None:
    command = [sys.executable, "-m", "app.worker", "--until-stdin-closes"]
    while not is_over.is_set():
        # It ends with this process, however this one ends: it holds the other end of a pipe. And it has a session of
        # its own, so that Ctrl-C reaches it only after the API has answered what it had begun.
        worker = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603 — our own module
        while worker.poll() is None and not is_over.wait(_WORKER_LOOKED_AT_EVERY_S):
            pass
        if is_over.is_set():
            _end(worker)
        else:
            structlog.get_logger().warning("worker.died", status=worker.returncode)
            is_over.wait(_WORKER_FOLLOWED_AFTER_S)


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    try:
        worker.wait(_WORKER_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def _stop(number: int, _: FrameType | None) -> None:
    """Leave every context on the way out, as an exception does and a signal's default does not."""
    raise SystemExit(0 if number == signal.SIGINT else 128 + number)
