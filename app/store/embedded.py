"""A Postgres server over a data folder: initialised if new, restarted if it is killed, stopped at the end.

The data folder holds `postgres/` (the cluster and its password, closed to everyone but the account that runs Postgres),
`postgres.log` and `lock`. The server listens on a free port of 127.0.0.1 only, and every client, including
other users of the machine, needs the password. A socket in a closed folder would need none, but its path is limited to
107 bytes, which the path of a data folder can exceed.
"""

import os
import re
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path

import psycopg
from sqlalchemy.engine import URL, make_url

from app.errors.machine import DataFolderOtherVersion, EmbeddedPostgresFailed
from app.store import accounts, data_folder, server_programs, supervision
from app.store import postmaster as postmasters
from app.store.accounts import SHELTER, Account
from app.store.postmaster import Postmaster
from app.store.server_programs import Programs

DATABASE = "rackplan"
"""The name of the database, and of the role that owns it."""

LOG_BYTES = 8 * 2**20
_LOG_KEPT_BYTES = 2**20
_START_ATTEMPTS = 6
_INITDB = (
    "--auth=scram-sha-256 --encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 "
    "--no-instructions"
)
_ANSWER_WITHIN_S = 15.0

_LINES = re.findall(r"^(\w+) =(.*)$", files("app.store").joinpath("postgres.conf").read_text("utf-8"), re.MULTILINE)
_SETTINGS: dict[str, str] = {name: value.strip() for name, value in _LINES}
if sys.platform == "linux":
    # Before it recovers, a server that was killed syncs its files: a thousand by name, or their file system at once,
    # which takes 0.1 s instead of up to 4 s on a busy disk.
    _SETTINGS["recovery_init_sync_method"] = "syncfs"
    # A statement of a process that was killed, such as a slot at its deadline, ends soon after it.
    _SETTINGS["client_connection_check_interval"] = "5s"


@dataclass(frozen=True, slots=True)
class Server:
    """A Postgres that accepts connections."""

    url: str = field(repr=False)
    """For SQLAlchemy; contains the password, so it is not part of the repr."""
    data_dir: Path
    """The actual folder of the data, which differs from the configured one if it was relocated."""
    log: Path
    pid: int
    """Process id at first; a server that is restarted has another one, and the same URL."""
    was_running: bool
    """Whether this server outlived the process that started it, and was taken over."""
    is_stopping: threading.Event = field(repr=False, compare=False)
    """If it is set, the server is not restarted any more."""

    def write_checkpoint(self) -> None:
        """Begin a checkpoint, without waiting for its end: a stop that follows then has little left to write."""
        threading.Thread(target=_checkpoint, args=(self.url,), name="checkpoint", daemon=True).start()


@contextmanager
def running(data_dir: Path, *, may_relocate: bool = False, shelter: Path = SHELTER) -> Iterator[Server]:
    """Run Postgres over a data folder for as long as the context lasts, and restart it if it ends before.

    A new folder is initialised (UTF-8, the C.UTF-8 locale that Postgres brings itself) and gets the database
    `rackplan`. A server that outlived a killed process is taken over, one that was killed recovers: no committed row
    is lost either way. A KeyboardInterrupt in the context stops the server, which does not get the terminal's own.

    Parameters
    ----------
    data_dir : created if it is missing. Only new files get an owner and a mode; parents are not changed.
    may_relocate : whether the folder is a default. Root's Postgres runs as `nobody`; if that account cannot access the
        folder, a default is replaced by a folder in the shelter, and a configured folder is rejected.
    shelter : root's folder for files that `nobody` has to access.

    Raises
    ------
    DataFolderUnreachable : the folder cannot be created, or not be accessed by the account that runs Postgres.
    DataFolderInUse : another process runs this folder's server.
    DataFolderOwnedByAnother : the folder was first used by another account.
    DataFolderOtherVersion : the folder was written by another major version of Postgres.
    EmbeddedPostgresFailed : Postgres is not installed, does not start or does not answer.
    AccountUnusable : the caller is root and cannot run anything as `nobody`.
    """
    account = accounts.current()
    folder = data_folder.settled(data_dir, account=account, may_relocate=may_relocate, shelter=shelter)
    with data_folder.sole_use(folder, account=account):
        programs = server_programs.programs(account=account, shelter=shelter)
        if not (folder / "postgres").exists():
            _initialise(folder, account=account, programs=programs)
        _check_version(folder, programs=programs)
        log = folder / "postgres.log"
        _bound(log)
        start = partial(_found_or_started, folder / "postgres" / "cluster", account=account, programs=programs, log=log)
        with _served(folder, start, log=log) as server, _bounded(log):
            yield server


def url_of_running(data_dir: Path, *, shelter: Path = SHELTER) -> str | None:
    """The URL of the server that already runs over a data folder; this process neither monitors nor stops it.

    None if no server runs or accepts connections, or the caller lacks permission; `running` then raises the reason.
    """
    for folder in data_folder.candidates(data_dir, shelter=shelter):
        try:
            file = postmasters.serving(folder / "postgres" / "cluster")
            if file is not None and file.ready and file.port is not None:
                password = (folder / "postgres" / "password").read_text(encoding="ascii")
                return _url(file.port, password=password).render_as_string(hide_password=False)
        except OSError:
            continue
    return None


@contextmanager
def _served(folder: Path, start: Callable[..., Postmaster], *, log: Path) -> Iterator[Server]:
    offset = log.stat().st_size
    for attempt in range(_START_ATTEMPTS):
        # A start can lose a race: for the port, or against the last processes of a server that was just killed.
        time.sleep(0.2 * attempt)
        postmaster = start()
        try:
            url = _answering_url(folder, postmaster=postmaster)
            if url is not None:
                rendered = url.render_as_string(hide_password=False)
                with supervision.supervised(postmaster, partial(start, port=url.port)) as is_over:
                    yield Server(rendered, folder, log, postmaster.pid, postmaster.was_running, is_over)
                return
        finally:
            postmaster.stop()
    words = log.read_bytes()[offset:][-2000:].decode(errors="replace").strip()
    cluster = folder / "postgres" / "cluster"
    detail = f"Postgres did not start over {cluster}; its last words are in {log}: {words}"
    raise EmbeddedPostgresFailed(detail, folder=str(folder), log=str(log))


def _found_or_started(
    cluster: Path, *, account: Account, programs: Programs, log: Path, port: int | None = None
) -> Postmaster:
    return postmasters.find(cluster) or postmasters.start(
        cluster, account=account, programs=programs, settings=_SETTINGS, log=log, port=port
    )


def _checkpoint(url: str) -> None:
    with suppress(psycopg.Error):  # the stop of the server may end the connection
        plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(plain, autocommit=True, connect_timeout=5) as connection:
            connection.execute("CHECKPOINT")


def _answering_url(folder: Path, *, postmaster: Postmaster) -> URL | None:
    """Wait for the server and make sure of its database; None where another start is worth trying."""
    port = postmaster.port_when_ready()
    if port is None:
        return None
    url = _url(port, password=_read(folder / "postgres" / "password"))
    try:
        _open_database(url, postmaster=postmaster)
    except EmbeddedPostgresFailed:
        if postmaster.was_running:
            return None  # it outlived its starter, but not in a state to be taken over
        raise
    return url


def _url(port: int, *, password: str) -> URL:
    # `require_auth` keeps the password from any other program that may answer on the port: client and server each prove
    # that they know it. With TLS and GSS the client would first try both in vain, two round trips for every connection.
    query = {"require_auth": "scram-sha-256", "sslmode": "disable", "gssencmode": "disable"}
    return URL.create(
        "postgresql+psycopg",
        username=DATABASE,
        password=password,
        host="127.0.0.1",
        port=port,
        database=DATABASE,
        query=query,
    )


def _open_database(url: URL, *, postmaster: Postmaster) -> None:
    maintenance = url.set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    deadline = time.monotonic() + _ANSWER_WITHIN_S
    while True:
        try:
            with psycopg.connect(maintenance, autocommit=True, connect_timeout=5) as connection:
                _check_served_folder(connection, postmaster=postmaster)
                known = connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
                if known is None:
                    connection.execute(f'CREATE DATABASE "{DATABASE}"')
                return
        except psycopg.OperationalError as error:
            # A server that lost a backend to a kill recovers for a moment without saying so in its file.
            if time.monotonic() > deadline:
                detail = f"the server of {postmaster.cluster} (pid {postmaster.pid}) does not answer: {error}"
                raise EmbeddedPostgresFailed(detail, pid=postmaster.pid) from error
            time.sleep(0.1)


def _check_served_folder(connection: psycopg.Connection, *, postmaster: Postmaster) -> None:
    row = connection.execute("SHOW data_directory").fetchone()
    if row is None or not postmaster.cluster.samefile(row[0]):
        detail = f"the server that answers for {postmaster.cluster} serves {row and row[0]}"
        raise EmbeddedPostgresFailed(detail, folder=str(postmaster.cluster))


def _initialise(folder: Path, *, account: Account, programs: Programs) -> None:
    # Everything is made under another name, so that a cluster that has its name is whole.
    new = folder / "postgres.new"
    if new.exists():
        shutil.rmtree(new)
    new.mkdir(mode=0o700)
    password = new / "password"
    password.touch(mode=0o600)
    with password.open("w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(32))
        file.flush()
        os.fsync(file.fileno())
    if account.borrowed:
        for path in (password, new):  # the folder last: from then on the account can change its content
            os.chown(path, account.uid, account.gid)
    answer = account.run(
        [
            programs.initdb,
            f"--pgdata={new / 'cluster'}",
            f"--username={DATABASE}",
            f"--pwfile={password}",
            *_INITDB.split(),
        ]
    )
    if answer.returncode != 0:
        words = answer.stdout.decode(errors="replace").strip()[-2000:]
        raise EmbeddedPostgresFailed(f"initdb could not make a cluster in {folder}: {words}", folder=str(folder))
    _sync_folder(new)
    new.rename(folder / "postgres")
    _sync_folder(folder)


def _check_version(folder: Path, *, programs: Programs) -> None:
    written = _read(folder / "postgres" / "cluster" / "PG_VERSION")
    if written != str(programs.major_version):
        detail = (
            f"{folder} was written by Postgres {written} and Postgres {programs.major_version} is installed, which "
            f"cannot read it; move the data over with pg_dump of version {written}, or name another data folder"
        )
        raise DataFolderOtherVersion(
            detail, folder=str(folder), written_by=written, installed=str(programs.major_version)
        )


@contextmanager
def _bounded(log: Path) -> Iterator[None]:
    # Postgres' own collector starts new files by size but truncates old ones by time only, so it bounds nothing.
    left = threading.Event()

    def watch() -> None:
        while not left.wait(60):
            with suppress(OSError):  # a full disk, say: the next minute is another try
                _bound(log)

    watcher = threading.Thread(target=watch, name="postgres-log", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        watcher.join()


def _bound(log: Path) -> None:
    """Cut a log that is longer than `LOG_BYTES` down to its last part; servers append, so they go on behind it."""
    log.touch(mode=0o600)
    with log.open("ab+") as file:
        if file.seek(0, os.SEEK_END) > LOG_BYTES:
            file.seek(-_LOG_KEPT_BYTES, os.SEEK_END)
            last = file.read()
            file.truncate(0)
            file.write(last)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeError) as error:
        detail = f"the data folder is damaged: {path} cannot be read ({error}); restore it from a backup"
        raise EmbeddedPostgresFailed(detail, file=str(path)) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
