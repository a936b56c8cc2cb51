"""`rackplan serve`: a database, its schema, the API and a worker, started in this order and stopped in the other."""

import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import structlog
import typer
import uvicorn

from app import logs
from app.api.http.bounded_protocol import SPARE_CONNECTIONS, Patience, bounded_protocol
from app.cli import unprivileged, worker_process
from app.errors.machine import AddressInUse, ApiKeyNeeded, TooFewDatabaseConnections
from app.settings import Settings, unknown_variables
from app.store import embedded, migrations
from app.store.database import Database

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_STOPPING_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_GREETING = Path(__file__).with_name("greeting.txt")
_OTHER_FILES = 400
"""Files of the process that listens beside its clients' connections: of slots, the database, libraries, 40 at rest."""


def serve(worker: bool, allow_root: bool, host: str | None, port: str | None, data_dir: str | None) -> None:
    """Serve until stopped: Ctrl-C, SIGTERM and a closed terminal all stop everything that was started.

    After `nohup` a closed terminal stops nothing.

    Parameters
    ----------
    worker : whether to run a worker beside the API.
    allow_root : whether a service that root starts remains root.
    host, port, data_dir : in place of settings.

    Raises
    ------
    AddressInUse : nothing is started then.
    ApiKeyNeeded : other machines can reach the address, and there is no API key.
    MachineRefuses : from `embedded.running`.
    """
    # Settings are read from the environment, by the worker and its processes as well.
    stated = {"RACKPLAN_HOST": host, "RACKPLAN_PORT": port, "RACKPLAN_DATA_DIR": data_dir}
    os.environ.update({name: value for name, value in stated.items() if value is not None})
    settings = Settings()
    logs.configure(settings.log_format, settings.log_level)
    for detail in unknown_variables(os.environ):
        structlog.get_logger().warning("settings.unknown", detail=detail)
    _require_address(settings)
    _allow_files(settings.connections + SPARE_CONNECTIONS + _OTHER_FILES)
    wanted = settings.data_dir
    settings = unprivileged.drop(settings, allow_root=allow_root, with_data=settings.database_url is None)
    _require_address(settings)  # again: root may listen on ports that its account may not
    for number in _STOPPING_SIGNALS:
        signal.signal(number, _stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    # The API, whose import takes longer than anything else here, is imported while other processes start.
    Thread(target=import_module, args=("app.main",), daemon=True).start()
    try:
        _serve(settings, with_worker=worker, wanted=wanted)
    except SystemExit as stopped:
        _leave(stopped)


def _serve(settings: Settings, *, with_worker: bool, wanted: Path) -> None:
    with ExitStack() as started:
        when_started: list[Callable[[], None]] = []
        when_stopping: list[Callable[[], None]] = []
        postgres: embedded.Server | None = None
        url = settings.database_url
        if url is None:
            postgres = started.enter_context(_embedded(settings))
            url = postgres.url
            when_stopping += [postgres.is_stopping.set, postgres.write_checkpoint]  # while the worker ends
            if postgres.data_dir != wanted.resolve():
                typer.echo(f"Postgres cannot reach {wanted.resolve()}; its data is in {postgres.data_dir}", err=True)
        if _prepare(url, settings) and postgres is not None:
            when_started.append(postgres.write_checkpoint)  # of a thousand new files, which a stop would wait for
        # The worker is composed from the environment, wherever it runs.
        os.environ["RACKPLAN_DATABASE_URL"] = url
        api = import_module("app.main").create_app(Settings())
        when_stopping.append(api.state.is_ending.set)

        def start_worker() -> None:
            if with_worker:
                when_stopping.append(started.enter_context(worker_process.running()).set)

        when_started.append(start_worker)
        server = _Server(_config(settings, api), when_started=when_started, when_stopping=when_stopping)
        server.run()
        if not server.started:
            raise SystemExit(1)  # the log says why


def _prepare(url: str, settings: Settings) -> bool:
    """Bring the schema up to date, and check the database; whether the schema was changed."""
    with Database(url) as database:
        is_changed = migrations.upgrade(database.engine)
        _require_key(database, settings)
        _require_connections(database, settings)
    return is_changed


def _config(settings: Settings, api: "ASGIApp") -> uvicorn.Config:
    return uvicorn.Config(
        api,
        http=bounded_protocol(Patience(connections=settings.connections)),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the application has its own setting; uvicorn's trusts every process of this machine
        timeout_graceful_shutdown=settings.grace_seconds,
    )


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


class _Server(uvicorn.Server):
    """Says where it listens and what to try first, once it does.

    Parameters
    ----------
    when_started : called once the server listens.
    when_stopping : called when the stop begins, while requests in progress are finished.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        when_started: Sequence[Callable[[], None]],
        when_stopping: Sequence[Callable[[], None]],
    ) -> None:
        super().__init__(config)
        self._when_started, self._when_stopping = when_started, when_stopping

    async def shutdown(self, sockets: list[object] | None = None) -> None:  # type: ignore[override] # theirs is of socket
        for begin_to_stop in self._when_stopping:
            begin_to_stop()
        await super().shutdown(sockets)  # type: ignore[arg-type] # theirs is of socket

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override] # theirs is of socket
        await super().startup(sockets)  # type: ignore[arg-type] # theirs is of socket
        if not self.started:
            return
        for begin in self._when_started:
            begin()
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        typer.echo(_GREETING.read_text("utf-8").replace("ADDRESS", address), nl=False)


def _embedded(settings: Settings) -> AbstractContextManager[embedded.Server]:
    is_default = "data_dir" not in settings.model_fields_set
    return embedded.running(settings.data_dir, may_relocate=is_default)


def _require_address(settings: Settings) -> None:
    """Raise `AddressInUse` before anything is started: Postgres and the worker take seconds."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            tried.bind(address)
    except OSError as failure:
        detail = f"port {settings.port} of {settings.host}: {failure.strerror}; RACKPLAN_PORT states another one"
        raise AddressInUse(detail, host=settings.host, port=settings.port) from None


def _allow_files(needed: int) -> None:
    """Raise this process's limit of open files as far as the system permits.

    Most systems allow 1,024 unless a process sets more, and a connection beyond the limit is closed without an answer,
    even for a health check.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):  # a system may have a limit of its own beside these
        allowed = soft
    if allowed < needed:
        structlog.get_logger().warning(
            "files.limited",
            detail=f"this process may open {allowed} files, and its connections need up to {needed}; raise the limit "
            "(ulimit -n, LimitNOFILE of systemd), or lower RACKPLAN_CONNECTIONS",
        )


def _require_key(database: Database, settings: Settings) -> None:
    if settings.is_loopback or settings.oidc is not None:
        return
    with database.begin() as uow:
        if not uow.api_keys.any_unrevoked():
            raise ApiKeyNeeded(
                f"RACKPLAN_HOST is {settings.host}, which other machines can reach, and there is no API key; "
                "make one with `rackplan keys create NAME --scope admin`, or listen on 127.0.0.1",
                host=settings.host,
            )


def _require_connections(database: Database, settings: Settings) -> None:
    needed, accepted = settings.all_connections, database.connections_accepted()
    if needed > accepted:
        raise TooFewDatabaseConnections(
            f"the settings need {needed} connections and this Postgres accepts {accepted}: raise its max_connections, "
            "or lower RACKPLAN_CONCURRENT_REQUESTS, RACKPLAN_SOLVER_PROCESSES or RACKPLAN_READER_PROCESSES",
            needed=needed,
            accepted=accepted,
        )


def _stop(number: int, _: FrameType | None) -> None:
    """Leave every context on the way out, as an exception does and a signal's default does not.

    A second signal does not interrupt the stop: it would leave a process behind.
    """
    for ignored in (*_STOPPING_SIGNALS, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    raise SystemExit(0 if number == signal.SIGINT else 128 + number)


def _leave(stopped: SystemExit) -> NoReturn:
    """End the process without waiting for threads whose requests have been answered 503."""
    import_module("app.slots.server").remove_files()  # by now the API has imported it
    logs.flush()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(stopped.code if isinstance(stopped.code, int) else 1)
