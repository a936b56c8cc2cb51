"""The release before the newest migration and this one over one database, while and after it is migrated.

The release before is the commit before the one that added the newest migration, by the history of the repository.
"""

import io
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from app.store import embedded, migrations
from app.store.database import Database
from tests import databases
from tests.api.conftest import environment_of
from tests.conftest import ROOT
from tests.jobs.cluster import free_port
from tests.service import client_of

pytestmark = pytest.mark.long

_BROKERS = [{"id": number, "rack": rack} for number, rack in enumerate("abcabc")]
_PLAN: dict[str, Any] = {
    "brokers": _BROKERS,
    "algorithm": "striped",
    "topics": [{"name": "orders", "partitions": 3, "replication_factor": 2}],
}
_COMMAND = "from app.cli import main; main()"
_STARTS_WITHIN_S = 180.0
_JOB_WITHIN_S = 120.0


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True).stdout


@pytest.fixture(scope="module")
def release_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the code before the newest migration."""
    newest = next((ROOT / "migrations" / "versions").glob(f"{migrations.newest()}_*.py"))
    try:
        added = _git("log", "--diff-filter=A", "--format=%H", "--", str(newest.relative_to(ROOT))).decode().split()
        archive = _git("archive", f"{added[-1]}^", "app", "client", "migrations")
    except (subprocess.CalledProcessError, FileNotFoundError, IndexError) as failure:
        pytest.skip(f"the repository has no history of {newest.name}, as in a shallow clone: {failure}")
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    assert not (folder / newest.relative_to(ROOT)).exists()
    return folder


class Release:
    """A service and a worker of one release over a database."""

    def __init__(self, code: Path, database: Database, folder: Path) -> None:
        self._code, self._folder, self.port = code, folder, free_port()
        own = {"RACKPLAN_PORT": str(self.port), "PYTHONPATH": f"{code}:{code / 'client'}", "PYTHONSAFEPATH": "1"}
        self._environment = environment_of(database, **own)
        found = subprocess.run(
            [sys.executable, "-c", "import app; print(app.__file__)"],
            env=self._environment,
            check=True,
            capture_output=True,
            text=True,
        )
        assert Path(found.stdout.strip()).is_relative_to(code), "it would run other code"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """`rackplan serve` without a worker; `client` is its client meanwhile."""
        with (
            self._running("serve", "--no-worker") as log,
            client_of(f"http://127.0.0.1:{self.port}") as self.client,
        ):
            ends = time.monotonic() + _STARTS_WITHIN_S
            while not _is_ready(self.client):
                assert time.monotonic() < ends, log.read_text()[-3_000:]
                time.sleep(0.2)
            yield

    @contextmanager
    def working(self) -> Iterator[Path]:
        """A worker, with its log."""
        with self._running("worker", "--allow-root") as log:
            yield log

    @contextmanager
    def _running(self, *arguments: str) -> Iterator[Path]:
        log = self._folder / f"{self._code.name}-{arguments[0]}-{time.monotonic_ns()}.log"
        command = [sys.executable, "-c", _COMMAND, *arguments]
        with (
            log.open("wb") as out,
            subprocess.Popen(command, cwd=self._code, env=self._environment, stdout=out, stderr=out) as process,
        ):
            try:
                yield log
            finally:
                process.terminate()
                process.wait(30)


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").is_success
    except httpx.TransportError:
        return False


@pytest.fixture
def older(postgres: embedded.Server) -> Iterator[Database]:
    """A database whose schema is the one before the newest."""
    with databases.copied("template0", server=postgres.url) as database:
        before = max(
            revision
            for file in (migrations.FOLDER / "versions").glob("[0-9]*_*.py")
            if (revision := file.name.partition("_")[0]) < migrations.newest()
        )
        migrations.upgrade(database.engine, before)
        yield database


@contextmanager
def asked(client: httpx.Client, seeds: Iterator[int], secret: str) -> Iterator[list[tuple[str, int, str]]]:
    """Requests that read and store with a key, one after the other in a thread, until the context ends."""
    answers: list[tuple[str, int, str]] = []
    is_over = Event()
    bearer = {"Authorization": f"Bearer {secret}"}

    def note(method: str, path: str, body: Mapping[str, Any] | None = None, **headers: str) -> httpx.Response:
        answer = client.request(method, path, json=body, headers={**bearer, **headers})
        answers.append((f"{method} {path}", answer.status_code, answer.text[:300]))
        return answer

    def ask() -> None:
        while not is_over.wait(0.02):
            seed = next(seeds)
            stored = note("POST", "/v1/plans/replicas", {**_PLAN, "seed": seed})
            if stored.status_code == 201:
                note("GET", f"/v1/plans/{stored.json()['id']}")
            note(
                "POST",
                "/v1/plans/replicas",
                {**_PLAN, "seed": seed, "labels": {"a": "b"}},
                **{"Idempotency-Key": f"{seed}"},
            )
            note("POST", "/v1/plans/replicas", {**_PLAN, "seed": seed}, Prefer="respond-async")
            note("POST", "/v1/snapshots", {"cluster": f"c{seed}", "brokers": _BROKERS, "topics": []})
            note("GET", "/v1/plans")
            note("GET", "/v1/jobs")

    thread = Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        is_over.set()
        thread.join()


def ends_as(client: httpx.Client, location: str, headers: Mapping[str, str]) -> str:
    """The state of a job when it has ended."""
    ends = time.monotonic() + _JOB_WITHIN_S
    while (job := client.get(location, headers=headers).json())["finished_at"] is None:
        assert time.monotonic() < ends, job
        time.sleep(0.1)
    return str(job["state"])


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + _STARTS_WITHIN_S
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_two_releases_over_one_schema(release_before: Path, older: Database, tmp_path: Path) -> None:
    """The one before serves while the schema is migrated, and beside this one after it."""
    before, now = Release(release_before, older, tmp_path), Release(ROOT, older, tmp_path)
    with older.begin() as uow:
        _, secret = uow.api_keys.create("both", ["read", "plan", "sweep", "admin"], team="default")
    bearer = {"Authorization": f"Bearer {secret}"}
    with ExitStack() as stack:
        stack.enter_context(before.serving())
        assert not _has_newest(older)
        with asked(before.client, iter(range(10**9)), secret) as answers:
            until(lambda: len(answers) > 20)
            migrations.upgrade(older.engine)
            during = len(answers)
            until(lambda: len(answers) > during + 20)
        assert [each for each in answers if not (each[1] < 300 or each[1] == 503)] == []
        assert _has_newest(older)
        assert _is_ready(before.client), "a newer schema only adds"

        stack.enter_context(now.serving())
        with (
            asked(before.client, iter(range(10**9, 2 * 10**9)), secret) as of_before,
            asked(now.client, iter(range(2 * 10**9, 3 * 10**9)), secret) as of_now,
        ):
            until(lambda: len(of_before) > 50 and len(of_now) > 50)
        assert [each for each in (*of_before, *of_now) if each[1] >= 300] == []

        for one, other in ((before, now), (now, before)):
            plan = one.client.post("/v1/plans/replicas", json={**_PLAN, "seed": one.port}, headers=bearer)
            assert plan.status_code == 201
            read = other.client.get(plan.headers["location"], headers=bearer)
            assert (read.status_code, read.json()["hash"]) == (200, plan.json()["hash"])
            again = other.client.post("/v1/plans/replicas", json={**_PLAN, "seed": one.port}, headers=bearer)
            is_same, of_one, of_other = again.json()["id"] == plan.json()["id"], plan.json(), again.json()
            assert is_same == (of_one["engine_version"] == of_other["engine_version"]), (
                "the same request, the same plan"
            )
            once = {**bearer, "Idempotency-Key": f"once-{one.port}"}
            stored = [each.client.post("/v1/plans/replicas", json=_PLAN, headers=once) for each in (one, other)]
            assert stored[0].json() == stored[1].json()
            # A job of one release is run by the worker of the other.
            job = one.client.post(
                "/v1/plans/replicas",
                json={**_PLAN, "seed": 7 + one.port},
                headers={**bearer, "Prefer": "respond-async"},
            )
            with other.working():
                assert ends_as(one.client, job.headers["location"], bearer) == "succeeded"
        assert now.client.get("/v1/plans", headers={"Authorization": "Bearer rackplan_none"}).status_code == 401
        assert before.client.get("/v1/plans", headers={"Authorization": "Bearer rackplan_none"}).status_code == 401


def test_jobs_go_on_in_workers_of_both_releases(release_before: Path, older: Database, tmp_path: Path) -> None:
    """Each takes jobs and looks for dead workers; neither fails at the other's tasks."""
    migrations.upgrade(older.engine)
    before, now = Release(release_before, older, tmp_path), Release(ROOT, older, tmp_path)
    with now.serving(), before.working(), now.working() as log:
        locations = [
            now.client.post("/v1/plans/replicas", json={**_PLAN, "seed": seed}, headers={"Prefer": "respond-async"})
            for seed in range(40)
        ]
        states = {ends_as(now.client, answer.headers["location"], {}) for answer in locations}
        assert states == {"succeeded"}
        with older.engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM procrastinate_workers")) == 2
            assert connection.scalar(sa.text("SELECT sum(failures) + sum(losses) FROM jobs")) == 0
        if "app.periodic" not in (release_before / "app" / "jobs" / "queue.py").read_text(encoding="utf-8"):
            return
        # The one before queues periodic tasks, each of which is run by either.
        until(lambda: _last_periodic(older) > 0)
        first = _last_periodic(older)
        until(lambda: _last_periodic(older) >= first + 20)
        assert '"level": "error"' not in log.read_text()


def _last_periodic(database: Database) -> int:
    """When a worker queued a periodic task last."""
    with database.engine.connect() as connection:
        return connection.scalar(sa.text("SELECT max(defer_timestamp) FROM procrastinate_periodic_defers")) or 0


def _has_newest(database: Database) -> bool:
    with database.engine.connect() as connection:
        return migrations.current(connection) == migrations.newest()
