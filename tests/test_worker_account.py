"""Root's worker, as its operators see it: real processes of an unprivileged account, real mounts, real refusals."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
import structlog.testing

from app.cli import worker_account, worker_process
from app.core.compiled.building import uncompiled
from app.errors.machine import WorkerNotConfinable
from app.settings import Settings
from app.store import accounts, embedded
from app.store.accounts import SHELTER
from tests.conftest import ROOT
from tests.store.test_confinement import WITHOUT_MOUNTS
from tests.store.test_embedded import stop_what_is_left
from tests.test_cli import RACKPLAN, START_WITHIN_S, command_of, environment, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's worker runs as that user"),
]

COMMAND = "import sys; sys.argv[0] = 'rackplan'; from app.cli import main; main()"
SWEEP = {
    "base": {
        "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 2},
        "broker_profile": {"disk_bytes": 4e12},
        "topics": [{"name": "orders", "partitions": 12, "replication_factor": 2, "ingress_bytes_per_s": 1e6}],
        "placement": {"algorithm": "admin_utils", "seed": 7},
    },
    "axes": {"topology.brokers_per_rack": {"from": 2, "to": 3}},
}


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder that every account can pass, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="rackplan-worker-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()
        stop_what_is_left(Path(folder))  # the Postgres of a service that a test killed


@pytest.fixture
def used_data_dir(place: Path, migrated_data_dir: Path) -> Path:
    """A data folder whose Postgres has the newest schema, which takes a second less to start."""
    subprocess.run(["cp", "-a", migrated_data_dir, place / "data"], check=True)
    return place / "data"


@pytest.fixture
def closed_clone(place: Path) -> Path:
    """A clone, without an environment of its own, in a folder that only root may pass."""
    clone = place / "closed" / "clone"
    for part in ("app", "migrations"):
        shutil.copytree(ROOT / part, clone / part)
    clone.parent.chmod(0o700)
    return clone


def prepare(place: Path, **configured: object) -> worker_account.Preparation:
    """The preparation of a worker with a folder of its own."""
    settings = Settings.model_validate(configured)
    return worker_account.prepare(settings, account=accounts.current(), shelter=place / "shelter")


def run(clone: Path, *command: str, env: Mapping[str, str], first: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """A `rackplan` command of a clone, executed by this environment's interpreter."""
    return subprocess.Popen(
        [*first, sys.executable, "-c", COMMAND, *command], cwd=clone, env={**env, "PYTHONPATH": str(clone)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@contextmanager
def worker_of(postgres: embedded.Server, *options: str, **variables: str) -> Iterator[psutil.Process]:
    """A `rackplan worker` that has become what it stays; killed afterwards, whatever a test did to it."""
    env = {**os.environ, "RACKPLAN_DATABASE_URL": postgres.url, "RACKPLAN_SPARK_EARLY": "no", **variables}
    command = [str(RACKPLAN), "worker", *options]
    with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        try:
            worker = psutil.Process(started.pid)
            until(lambda: connected(worker))
            yield worker
        finally:
            started.kill()


def connected(worker: psutil.Process) -> bool:
    """Whether it talks to its database: it has started then, whichever account that took."""
    assert worker.status() != psutil.STATUS_ZOMBIE, "the worker ended"
    return bool(worker.net_connections())


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that a start takes."""
    deadline = time.monotonic() + START_WITHIN_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def status(process: psutil.Process) -> dict[str, str]:
    """What the kernel says about a process."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def is_unprivileged(process: psutil.Process) -> bool:
    """Whether a process is the account's, in all its ids, without capabilities and a way to gain them."""
    nobody, state = accounts.current(), status(process)
    has_none = all(int(state[name], 16) == 0 for name in ("CapPrm", "CapEff", "CapAmb"))
    ids = set(state["Uid"].split()) == {str(nobody.uid)} and set(state["Gid"].split()) == {str(nobody.gid)}
    return ids and has_none and state["Groups"] == "" and state["NoNewPrivs"] == "1"


class TestPreparation:
    """The account's folder, environment and paths."""

    def test_the_folder_is_the_accounts_alone_and_used_again(self, place: Path) -> None:
        nobody = accounts.current()
        folder = prepare(place).folder
        assert (folder.stat().st_mode & 0o777, folder.stat().st_uid) == (0o700, nobody.uid)
        assert {path.name for path in folder.iterdir()} == {"numba", "tmp"}
        nobody.run(["/bin/sh", "-c", 'echo loops > "$1/numba/loop"', "sh", folder])
        assert prepare(place).folder == folder
        assert (folder / "numba" / "loop").read_text() == "loops\n"

    def test_what_killed_workers_left_is_removed_unless_another_one_runs(self, place: Path) -> None:
        first = prepare(place)
        names = ("rackplan-spark-x", "blockmgr-x", "spark-x", "rackplan-65534")
        for name in names:
            (first.folder / "tmp" / name).mkdir()
        second = prepare(place)
        assert {path.name for path in (first.folder / "tmp").iterdir()} == set(names)
        os.close(first.lock)
        os.close(second.lock)
        prepare(place)
        assert [path.name for path in (first.folder / "tmp").iterdir()] == ["rackplan-65534"]

    def test_links_in_the_folder_lead_root_nowhere(self, place: Path) -> None:
        """The account may have put anything there; it is removed as the account."""
        first = prepare(place)
        os.close(first.lock)
        treasure = place / "treasure"
        (treasure / "rackplan-spark-x").mkdir(parents=True)
        (first.folder / "tmp").rmdir()
        (first.folder / "tmp").symlink_to(treasure)
        with pytest.raises(WorkerNotConfinable, match="cannot be used by root's worker"):
            prepare(place)
        assert (treasure / "rackplan-spark-x").is_dir()

    def test_a_folder_of_somebody_else_is_not_used(self, place: Path) -> None:
        (place / "shelter" / "worker").mkdir(parents=True)
        with pytest.raises(WorkerNotConfinable, match="cannot be used by root's worker"):
            prepare(place)

    def test_the_environment_is_an_allow_list(self, place: Path) -> None:
        inherited = {
            "RACKPLAN_DATABASE_URL": "postgresql://there",
            "PGPASSFILE": "/etc/pgpass",
            "LC_ALL": "C.UTF-8",
            "SPARK_CONF_DIR": "/etc/spark",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "HTTPS_PROXY": "http://user:password@proxy",
            "SSH_AUTH_SOCK": "/root/agent",
            "PYTHONSTARTUP": "/root/startup.py",
            "HOME": "/root",
            "NUMBA_CACHE_DIR": "/root/cache",
        }
        preparation = prepare(place)
        given = preparation.environment(inherited)
        assert {name: given[name] for name in list(inherited)[:4]} == dict(list(inherited.items())[:4])
        assert not {"AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "SSH_AUTH_SOCK", "PYTHONSTARTUP"} & given.keys()
        assert given["HOME"] == str(preparation.folder)
        assert given["NUMBA_CACHE_DIR"] == str(preparation.folder / "numba")
        assert given["TMPDIR"] == given["SPARK_LOCAL_DIRS"] == str(preparation.folder / "tmp")

    def test_relative_settings_hold_in_another_working_directory(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (place / "spark.conf").write_text("")
        (place / "data").mkdir()
        monkeypatch.chdir(place)
        given = prepare(place, spark_properties="spark.conf", dataset_roots="data,s3a://bucket/keys").environment({})
        assert given["RACKPLAN_SPARK_PROPERTIES"] == str(place / "spark.conf")
        assert given["RACKPLAN_DATASET_ROOTS"] == f"{place / 'data'},s3a://bucket/keys"

    def test_dataset_roots_in_closed_folders_are_mounted(self, place: Path) -> None:
        root = place / "closed" / "keys"
        root.mkdir(parents=True)
        root.parent.chmod(0o700)
        with structlog.testing.capture_logs() as lines:
            preparation = prepare(place, dataset_roots=str(root))
        assert str(root) in preparation.confinement.mounts.mounted
        assert lines == []

    def test_dataset_roots_that_the_account_cannot_read_are_a_warning(self, place: Path) -> None:
        root = place / "keys"
        root.mkdir(mode=0o700)
        with structlog.testing.capture_logs() as lines:
            prepare(place, dataset_roots=str(root))
        assert [(line["event"], line["root"]) for line in lines] == [("worker.dataset_root_unreadable", str(root))]

    def test_a_properties_file_of_roots_alone_is_shown_to_the_worker(self, place: Path) -> None:
        """The place for credentials: the operator names it, and only root may read it."""
        file = place / "spark.conf"
        file.touch(mode=0o600)
        assert str(file) in prepare(place, spark_properties=str(file)).confinement.mounts.owned

    def test_a_properties_file_of_somebody_else_is_a_refusal(self, place: Path) -> None:
        file = place / "spark.conf"
        file.touch(mode=0o600)
        os.chown(file, 1, 1)
        with pytest.raises(WorkerNotConfinable, match=f"cannot read {file}; start as an ordinary user"):
            prepare(place, spark_properties=str(file))

    def test_allow_root_prepares_nothing_and_warns(self, place: Path) -> None:
        with structlog.testing.capture_logs() as lines:
            worker = worker_process.prepare(Settings(), allow_root=True, shelter=place / "shelter")
        assert worker.account is None
        assert [(line["event"], line["log_level"]) for line in lines] == [("worker.runs_as_root", "warning")]
        assert list(place.iterdir()) == []


@pytest.mark.slow
class TestWorker:
    """`rackplan worker`, started by root."""

    def test_it_becomes_the_account_and_sigterm_ends_it(self, postgres: embedded.Server) -> None:
        with worker_of(postgres, SECRET_OF_ROOT="x") as worker:  # noqa: S106 — no password
            assert is_unprivileged(worker)
            variables = worker.environ()
            assert "SECRET_OF_ROOT" not in variables
            assert variables["NUMBA_CACHE_DIR"] == str(SHELTER / "worker" / "numba")
            assert variables["RACKPLAN_DATABASE_URL"] == postgres.url
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0

    def test_allow_root_leaves_it_as_it_is(self, postgres: embedded.Server) -> None:
        with worker_of(postgres, "--allow-root") as worker:
            assert worker.uids().effective == 0


@pytest.mark.slow
class TestServe:
    """`rackplan serve`, started by root."""

    @pytest.mark.long
    def test_a_sweep_succeeds_and_nothing_that_runs_it_is_root(self, used_data_dir: Path) -> None:
        before = {path for path in ROOT.glob("app/**/*.loop") if path.stat().st_uid != 0}
        with serving(used_data_dir) as service:
            sweep = service.client.post("/v1/sweeps", json=SWEEP)
            assert sweep.status_code == 202, sweep.text
            seen: set[str] = set()
            deadline = time.monotonic() + 400
            state = ""
            while state not in {"succeeded", "failed"} and time.monotonic() < deadline:
                worker = next(child for child in service.family if "app.worker" in command_of(child))
                for process in [worker, *worker.children(recursive=True)]:
                    try:
                        assert is_unprivileged(process), process.cmdline()
                        seen.add(process.name().partition("3.")[0])
                    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
                        continue  # it ended meanwhile
                state = service.client.get(sweep.headers["Location"]).json()["state"]
                time.sleep(0.5)
            assert state == "succeeded"
            assert {"python", "java"} <= seen
            assert {path for path in ROOT.glob("app/**/*.loop") if path.stat().st_uid != 0} == before
            own = list((SHELTER / "worker" / "numba").rglob("*.loop"))
            assert own or not uncompiled(), "what the installation lacks is compiled into the worker's own folder"
            assert service.ctrl_c() == 0

    @pytest.mark.parametrize(
        "mask",
        [pytest.param(0o777, id="closed folder"), pytest.param(0o700, id="closed files", marks=pytest.mark.long)],
    )
    def test_a_closed_clone_runs_its_own_code_as_the_account(
        self, used_data_dir: Path, closed_clone: Path, mask: int
    ) -> None:
        """A clone in root's home folder, and one that was made with umask 077 as well."""
        for path in closed_clone.rglob("*"):
            path.chmod(path.stat().st_mode & mask)
        states = {path: path.stat().st_mode for path in (closed_clone.parent, *closed_clone.rglob("*"))}
        with run(closed_clone, "serve", env=environment(used_data_dir)) as service:
            try:
                assert service.stdout is not None
                assert service.stdout.readline().startswith("Rackplan listens on ")
                started = psutil.Process(service.pid)
                worker = next(child for child in started.children() if "app.worker" in command_of(child))
                until(lambda: connected(worker))
                assert is_unprivileged(worker)
                assert worker.environ()["PYTHONPATH"] == str(closed_clone)
                within = Path(f"/proc/{worker.pid}/root{closed_clone.parent}")
                assert [path.name for path in within.iterdir()] == ["clone"]
                assert [path.name for path in (within / "clone").iterdir()] == ["app"]
                service.kill()
                assert worker.wait(30) is not None or not worker.is_running()
            finally:
                service.kill()
        for path, mode in states.items():
            assert path.stat().st_mode == mode

    def test_without_the_right_to_mount_it_ends_before_it_starts_anything(
        self, place: Path, closed_clone: Path
    ) -> None:
        first = (sys.executable, "-c", WITHOUT_MOUNTS)
        with run(closed_clone, "serve", env=environment(place / "data"), first=first) as service:
            output, errors = service.communicate(timeout=START_WITHIN_S)
        assert (service.returncode, output) == (1, "")
        line = errors.splitlines()[-1]
        assert line.startswith("rackplan: The worker does not run as root: ")
        for part in ("may not pass", "ordinary user", "other accounts may read", "--allow-root"):
            assert part in line
        assert not (place / "data").exists()

    @pytest.mark.long
    def test_without_the_right_to_mount_allow_root_serves(self, used_data_dir: Path, closed_clone: Path) -> None:
        first = (sys.executable, "-c", WITHOUT_MOUNTS)
        with run(closed_clone, "serve", "--allow-root", env=environment(used_data_dir), first=first) as service:
            assert service.stdout is not None
            line = service.stdout.readline()
            address = line.rpartition(" ")[2].strip()
            assert httpx.get(f"{address}/healthz", timeout=START_WITHIN_S).status_code == 200, line
            children = psutil.Process(service.pid).children()
            assert next(child for child in children if "app.worker" in command_of(child)).uids().effective == 0
            service.terminate()
            errors = service.communicate(timeout=START_WITHIN_S)[1]
        assert "worker.runs_as_root" in errors
