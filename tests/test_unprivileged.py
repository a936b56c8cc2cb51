"""A service that root starts: it drops to the account of its Postgres, or runs as root and says so."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from app.store import accounts, embedded
from tests.conftest import ROOT
from tests.store.test_embedded import stop_what_is_left
from tests.test_cli import START_WITHIN_S, environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's service runs as that user"),
]

COMMAND = "import sys; sys.argv[0] = 'rackplan'; from app.cli import main; main()"
# The interpreter may be below a closed folder, as a Python in root's home is: it is shown at its path in an open one.
OPENED = """
set -e
mount --bind "$2" "$3"
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir -p "$2"
mount --bind "$3" "$2"
shift 3
exec "$@"
"""
PLAN = {
    "brokers": [{"id": each, "rack": "abc"[each - 1]} for each in (1, 2, 3)],
    "algorithm": "striped",
    "seed": 42,
    "topics": [{"name": "orders", "partitions": 3, "replication_factor": 2}],
}
SWEEP = {
    "base": {
        "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 2},
        "broker_profile": {"disk_bytes": 4e12},
        "topics": [
            {
                "name": "orders",
                "partitions": 12,
                "replication_factor": 2,
                "ingress_bytes_per_s": 1e6,
                "retention_s": 3600,
            }
        ],
        "placement": {"algorithm": "admin_utils", "seed": 7},
    },
    "axes": {"topology.brokers_per_rack": {"from": 2, "to": 3}},
}


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder that every account can pass, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="rackplan-root-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()
        stop_what_is_left(Path(folder))  # the Postgres of a service that a test killed


@pytest.fixture
def data(place: Path, migrated_data_dir: Path) -> Path:
    """A data folder as the version before has left it: of root, but for `postgres`."""
    subprocess.run(["cp", "-a", migrated_data_dir, place / "data"], check=True)
    assert {path.name: path.stat().st_uid for path in (place / "data").glob("lock")} == {"lock": 0}
    return place / "data"


@pytest.fixture
def readable(place: Path) -> tuple[str, ...]:
    """The beginning of a command whose interpreter the account can execute."""
    closed = accounts.current().first_closed(Path(sys.base_prefix).resolve())
    if closed is None:
        return ()
    (place / "python").mkdir()
    command = ("unshare", "--mount", "sh", "-c", OPENED, "sh", str(closed), sys.base_prefix, str(place / "python"))
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the account cannot execute this Python, and the system permits no mounts")
    return command


@contextmanager
def served(
    data: Path, *options: str, first: tuple[str, ...] = (), clone: Path = ROOT, cwd: Path | None = None, **settings: str
) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """A service from a clone, run by this interpreter; it is killed if it does not stop by itself."""
    variables: Mapping[str, str] = {**environment(data, **settings), "PYTHONPATH": f"{clone}:{clone / 'client'}"}
    with subprocess.Popen(
        [*first, sys.executable, "-c", COMMAND, "serve", *options], cwd=cwd or clone, env=variables,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as service:  # fmt: skip
        try:
            assert service.stdout is not None
            line = service.stdout.readline()
            assert line.startswith("Rackplan listens on "), service.communicate()[1]
            with httpx.Client(base_url=line.rpartition(" ")[2].strip(), timeout=START_WITHIN_S) as client:
                yield service, client
        finally:
            service.kill()


def stopped(service: subprocess.Popen[str]) -> str:
    """Stop a service by SIGTERM; its log."""
    service.send_signal(signal.SIGTERM)
    log = service.communicate(timeout=START_WITHIN_S)[1]
    assert service.returncode in (0, 128 + signal.SIGTERM), log
    return log


def identities(service: subprocess.Popen[str]) -> dict[str, set[str]]:
    """The user ids of a service and of all that it has started, by the kind of process."""
    found: dict[str, set[str]] = {}
    started = psutil.Process(service.pid)
    for process in (started, *started.children(recursive=True)):
        try:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            name = "postgres" if process.name() == "postgres" else process.name().partition("3.")[0]
        except (psutil.NoSuchProcess, OSError):
            continue  # it ended meanwhile
        fields = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
        found.setdefault(name, set()).update(fields["Uid"])
        if fields["Uid"][0] != "0" and name != "postgres":
            assert fields["Groups"] == []
            assert (fields["CapEff"], fields["NoNewPrivs"]) == (["0" * 16], ["1"])
    return found


def planned(client: httpx.Client) -> str:
    """The id of a plan that the service has stored."""
    answer = client.post("/v1/plans/replicas", json=PLAN)
    assert answer.status_code == 201, answer.text
    identifier: str = answer.json()["id"]
    return identifier


@pytest.mark.long
def test_it_drops_over_roots_data_and_root_can_use_the_data_again(readable: tuple[str, ...], data: Path) -> None:
    """Both directions: a folder of root, then of the account, then used by root, then by the account."""
    account = str(accounts.current().uid)
    closed = data.parent / "closed"
    closed.mkdir(mode=0o700)
    plans: list[str] = []
    # A worker, which takes seconds to start, is of the account if the service is; root's is in a test below.
    for options, uid in (((), account), (("--no-worker", "--allow-root"), "0"), (("--no-worker",), account)):
        with served(data, *options, first=readable, cwd=closed) as (service, client):
            plans.append(planned(client))
            assert {path.stat().st_uid for path in (data, data / "lock")} == {int(uid)}
            for plan in plans:
                assert client.get(f"/v1/plans/{plan}").status_code == 200
            found = identities(service)
            log = stopped(service)
        assert log.count("service.runs_as_root") == (uid == "0"), log
        assert found == {"python": {uid}, "postgres": {account}}
    owners = {path.name: path.stat().st_uid for path in (data, *data.iterdir())}
    assert owners == dict.fromkeys(("data", "lock", "postgres", "postgres.log"), int(account))


@pytest.mark.long
def test_a_new_data_folder_is_the_accounts(readable: tuple[str, ...], place: Path) -> None:
    with served(place / "new", "--no-worker", first=readable) as (service, client):
        planned(client)
        stopped(service)
    assert place.stat().st_uid == 0
    assert (place / "new").stat().st_uid == accounts.current().uid


@pytest.mark.long
def test_a_clone_that_the_account_cannot_read_is_run_as_root(
    place: Path, readable: tuple[str, ...], data: Path
) -> None:
    clone = place / "closed" / "clone"
    for part in ("app", "migrations", "client"):
        shutil.copytree(ROOT / part, clone / part)
    clone.parent.chmod(0o700)
    with served(data, first=readable, clone=clone) as (service, client):
        planned(client)
        assert identities(service)["python"] == {"0"}
        log = stopped(service)
    lines = [line for line in log.splitlines() if "service.runs_as_root" in line]
    assert len(lines) == 1
    assert str(clone) in lines[0]


@pytest.mark.long
def test_a_folder_with_files_of_others_keeps_its_owner(readable: tuple[str, ...], data: Path) -> None:
    (data / "notes.txt").touch()
    with served(data, "--no-worker", first=readable) as (service, client):
        planned(client)
        assert "notes.txt" in stopped(service)
    assert data.stat().st_uid == 0


@pytest.mark.long
def test_a_secret_that_the_account_cannot_read_is_read_as_root(
    readable: tuple[str, ...], data: Path, place: Path
) -> None:
    secret = place / "secret"
    secret.touch(mode=0o600)
    with served(
        data, "--no-worker", first=readable, RACKPLAN_OIDC_ISSUER="http://127.0.0.1:1", RACKPLAN_OIDC_CLIENT_ID="pages",
        RACKPLAN_OIDC_CLIENT_SECRET_FILE=str(secret), RACKPLAN_PUBLIC_URL="http://127.0.0.1:8080",
    ) as (service, _):  # fmt: skip
        assert f"cannot read {secret}" in stopped(service)


@pytest.mark.long
def test_a_worker_drops(readable: tuple[str, ...], postgres: embedded.Server) -> None:
    variables = {**os.environ, "RACKPLAN_DATABASE_URL": postgres.url, "RACKPLAN_SPARK_EARLY": "no"}
    with subprocess.Popen(
        [*readable, sys.executable, "-c", COMMAND, "worker"], cwd=ROOT, env=variables, stderr=subprocess.PIPE, text=True
    ) as worker:
        try:
            deadline = time.monotonic() + START_WITHIN_S
            while not psutil.Process(worker.pid).net_connections():
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert identities(worker)["python"] == {str(accounts.current().uid)}
            stopped(worker)
        finally:
            worker.kill()


@pytest.mark.long
def test_no_process_of_a_sweep_on_spark_is_root(readable: tuple[str, ...], data: Path) -> None:
    account = str(accounts.current().uid)
    closed = data.parent / "closed"
    closed.mkdir(mode=0o700)
    with served(data, first=readable, cwd=closed) as (service, client):
        sweep = client.post("/v1/sweeps", json=SWEEP)
        assert sweep.status_code == 202, sweep.text
        seen: set[str] = set()
        deadline, state = time.monotonic() + 400, ""
        while state not in {"succeeded", "failed"} and time.monotonic() < deadline:
            found = identities(service)
            assert set().union(*found.values()) == {account}, found
            seen |= found.keys()
            state = client.get(sweep.headers["Location"]).json()["state"]
            time.sleep(0.5)
        assert state == "succeeded"
        assert {"python", "java", "postgres"} <= seen
        stopped(service)
