"""`rackplan serve`: a database, its schema, a worker and the API, started in this order and stopped in the other."""

import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import FrameType

import typer
import uvicorn

from app import logs
from app.api.request_head import BoundedHeadProtocol
from app.cli import worker_process
from app.errors.machine import ApiKeyNeeded, TooFewDatabaseConnections
from app.settings import OTHER_CONNECTIONS, Settings
from app.store import embedded, migrations
from app.store.database import Database

_STOPPING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve(*, with_worker: bool, allow_root: bool = False) -> None:
    """Serve until stopped: Ctrl-C, SIGTERM and a closed terminal all stop everything that was started.

    Parameters
    ----------
    with_worker : whether to run a worker beside the API.
    allow_root : whether root's worker may run as root; it runs as `nobody` otherwise.

    Raises
    ------
    WorkerNotConfinable, AccountUnusable : root's worker cannot run as `nobody`; nothing is started then.
    ApiKeyNeeded : other machines can reach the address, and there is no API key.
    MachineRefuses : what `embedded.running` raises.
    """
    settings = Settings()
    logs.configure(settings.log_format, settings.log_level)
    worker = worker_process.prepare(settings, allow_root=allow_root) if with_worker else None
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
            _require_connections(database, settings)
        # The API and the worker are composed from the environment, wherever they run.
        os.environ["RACKPLAN_DATABASE_URL"] = url
        if worker is not None:
            started.enter_context(worker.running())
        config = uvicorn.Config(
            "app.main:create_app",
            factory=True,
            http=BoundedHeadProtocol,
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


def _require_connections(database: Database, settings: Settings) -> None:
    needed, accepted = settings.database_connections + OTHER_CONNECTIONS, database.connections_accepted()
    if needed > accepted:
        raise TooFewDatabaseConnections(
            f"RACKPLAN_DATABASE_CONNECTIONS is {settings.database_connections} and {OTHER_CONNECTIONS} are needed "
            f"besides; this Postgres accepts {accepted}: raise its max_connections, or lower the setting",
            needed=needed,
            accepted=accepted,
        )


def _stop(number: int, _: FrameType | None) -> None:
    """Leave every context on the way out, as an exception does and a signal's default does not."""
    raise SystemExit(0 if number == signal.SIGINT else 128 + number)
