"""A Postgres that goes and comes back at another address, and one of several hosts that stops taking writes."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import psycopg
import pytest
import sqlalchemy as sa

from app.store import addresses, embedded
from app.store.database import Database
from tests import databases
from tests.api.conftest import Running, RunService, Serve, environment_of
from tests.api.contract import problem
from tests.conftest import ROOT
from tests.forwarder import forwarding

BACK_WITHIN_S = 60.0
"""It takes a few seconds, and up to a minute on a machine that is busy with other tests."""
_BROKERS = [{"id": number, "rack": rack} for number, rack in enumerate("abcabc")]
_SMALL: dict[str, Any] = {
    "brokers": _BROKERS,
    "algorithm": "striped",
    "topics": [{"name": "orders", "partitions": 3, "replication_factor": 2}],
}
_OF_A_SLOT = _SMALL | {"topics": [{"name": "orders", "partitions": 5_000, "replication_factor": 2}]}


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + BACK_WITHIN_S
    while not holds():
        assert time.monotonic() < ends, what
        time.sleep(0.1)


class Requests:
    """Requests of every kind, one after the other, from a thread until the context ends."""

    def __init__(self, client: httpx.Client) -> None:
        self._client, self._is_over, self._seed = client, Event(), 0
        self.statuses: list[tuple[str, int]] = []
        self.wrong: list[str] = []
        self.plans: dict[str, str] = {}

    def __enter__(self) -> "Requests":
        self._thread = Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def round(self) -> None:
        """One request of each kind."""
        self._seed += 1
        plan = {"labels": {}, "seed": self._seed}
        for method, path, sent, headers in (
            ("POST", "/v1/plans/replicas", _SMALL | plan, {}),
            ("POST", "/v1/plans/replicas", _OF_A_SLOT | plan, {}),
            ("POST", "/v1/plans/replicas", _SMALL | plan, {"Idempotency-Key": f"once-{self._seed}"}),
            ("POST", "/v1/plans/replicas", _SMALL | plan, {"Prefer": "respond-async"}),
            ("GET", "/v1/plans", None, {}),
            *(("GET", f"/v1/plans/{plan_id}", None, {}) for plan_id in list(self.plans)[-1:]),
            ("GET", "/", None, {}),
        ):
            self._judge(self._client.request(method, path, json=sent, headers=headers), f"{method} {path}")

    def count(self, status: int) -> int:
        """How many answers had a status."""
        return sum(1 for _, found in self.statuses if found == status)

    def _judge(self, answer: httpx.Response, what: str) -> None:
        self.statuses.append((what, answer.status_code))
        if answer.status_code == 503:
            if "retry-after" not in answer.headers:
                self.wrong.append(f"{what}: a 503 without Retry-After")
        elif answer.is_success:
            if answer.status_code in {200, 201} and "hash" in answer.text[:2_000] and what.startswith("POST"):
                self.plans[answer.json()["id"]] = answer.json()["hash"]
        else:
            self.wrong.append(f"{what}: {answer.status_code} {answer.text[:300]}")

    def _run(self) -> None:
        while not self._is_over.wait(0.05):
            try:
                self.round()
            except httpx.HTTPError as failure:
                self.wrong.append(repr(failure))


def at(url: str, port: int) -> str:
    """The URL of the same database at another port."""
    return sa.make_url(url).set(port=port).render_as_string(hide_password=False)


def is_ready(client: httpx.Client) -> bool:
    """Whether the service says that it is ready."""
    return client.get("/readyz").is_success


def works(client: httpx.Client) -> bool:
    """Whether a plan is stored."""
    return client.post("/v1/plans/replicas", json=_SMALL | {"seed": time.time_ns() % 2**31}).status_code == 201


def test_an_address_that_moves_while_the_service_runs(scratch: Database, serve: Serve) -> None:
    """Connections are closed and rejected for a while, and then accepted again."""
    port = scratch.url.port
    with forwarding() as forwarder:
        forwarder.forward_to(port)
        with Database(at(scratch.url.render_as_string(hide_password=False), forwarder.port)) as moving:
            client = serve(moving)
            with Requests(client) as requests:
                until(lambda: len(requests.plans) > 0, "no plan is stored")
                forwarder.forward_to(None)
                until(lambda: requests.count(503) > 5, "requests have no 503")
                until(lambda: not is_ready(client), "the service says that it is ready")
                assert "cannot be reached" in client.get("/readyz").json()["checks"]["database"]
                assert client.get("/healthz").is_success
                forwarder.forward_to(port)
                until(lambda: works(client) and is_ready(client), "the service does not connect again")
            assert requests.wrong == []
            for plan_id, plan_hash in requests.plans.items():
                assert client.get(f"/v1/plans/{plan_id}").json()["hash"] == plan_hash


@contextmanager
def worker_of(environment: Mapping[str, str], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """`rackplan worker` as an operator runs it beside the service."""
    command = [sys.executable, "-c", "from app.cli import main; main()", "worker", "--allow-root"]
    with log.open("wb") as out, subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out) as worker:
        try:
            yield worker
        finally:
            worker.terminate()
            worker.wait(30)


@pytest.mark.long
def test_postgres_is_stopped_and_restarted_elsewhere(
    migrated_data_dir: Path, run_service: RunService, tmp_path: Path
) -> None:
    """`rackplan serve` with slots and `rackplan worker` go on without a restart, and so do their LISTENs."""
    with databases.folder_of_postgres() as folder, forwarding() as forwarder, ExitStack() as stack:
        subprocess.run(["cp", "-a", migrated_data_dir, folder / "data"], check=True)
        first = ExitStack()
        server = first.enter_context(embedded.running(folder / "data"))
        with first:
            forwarder.forward_to(sa.make_url(server.url).port)
            url = at(server.url, forwarder.port)
            database = stack.enter_context(Database(url))
            slots = {"RACKPLAN_SOLVER_PROCESSES": "1", "RACKPLAN_READER_PROCESSES": "1"}
            running = stack.enter_context(run_service(database, **slots))
            stack.enter_context(worker_of(environment_of(database, **slots), tmp_path / "worker.log"))
            requests = stack.enter_context(Requests(running.client))
            until(lambda: _job_ends(running), "no job ends")
            until(lambda: len(requests.plans) > 2, "no plan is stored")
            forwarder.forward_to(None)
        until(lambda: requests.count(503) > 5, "requests have no 503")
        until(lambda: not is_ready(running.client), "the service says that it is ready")
        again = stack.enter_context(embedded.running(folder / "data"))
        forwarder.forward_to(sa.make_url(again.url).port)
        until(lambda: works(running.client) and is_ready(running.client), "the service does not connect again")
        until(lambda: _job_ends(running), "jobs do not go on")
        until(lambda: _job_ends(running, starts_within_s=2.5), "the worker is not notified of jobs, and looks each 5 s")
        requests.__exit__()
        assert requests.wrong == []
        for plan_id, plan_hash in requests.plans.items():
            assert running.client.get(f"/v1/plans/{plan_id}").json()["hash"] == plan_hash


def _job_ends(running: Running, *, starts_within_s: float = BACK_WITHIN_S) -> bool:
    """Whether a new job ends, and has waited for a worker no longer than stated."""
    body = _SMALL | {"seed": time.time_ns() % 2**31}
    answer = running.client.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"})
    if answer.status_code != 202:
        return False
    for _ in range(100):
        job: dict[str, Any] = running.client.get(answer.headers["location"]).json()
        if job.get("finished_at"):
            assert job["state"] == "succeeded", job
            waited = datetime.fromisoformat(job["started_at"]) - datetime.fromisoformat(job["created_at"])
            return waited.total_seconds() <= starts_within_s
        time.sleep(0.1)
    return False


@pytest.mark.long
@pytest.mark.slow
def test_of_two_hosts_the_one_that_takes_writes_is_used(migrated_data_dir: Path, serve: Serve) -> None:
    """Without a restart, also if the connections to the other one are not closed."""
    with databases.folder_of_postgres() as folder, ExitStack() as stack:
        servers = []
        for name in ("a", "b"):
            subprocess.run(["cp", "-a", migrated_data_dir, folder / name], check=True)
            servers.append(stack.enter_context(embedded.running(folder / name)).url)
        a, b = (sa.make_url(url) for url in servers)
        take_writes(servers[1], False)
        hosts = f"127.0.0.1:{a.port},127.0.0.1:{b.port}"
        account = f"{a.username}:{a.password}"
        url = f"postgresql://{account}@{hosts}/{a.database}?target_session_attrs=read-write"
        with Database(url) as database:
            client = serve(database)
            with Requests(client) as requests:
                until(lambda: len(requests.plans) > 0, "no plan is stored")
                take_writes(servers[0], False)
                until(lambda: requests.count(503) > 3, "requests have no 503")
                until(lambda: not is_ready(client), "the service says that it is ready")
                take_writes(servers[1], True)
                until(lambda: works(client) and is_ready(client), "the other host is not used")
            assert [each for each in requests.wrong if " 404 " not in each] == [], "the plans of a are not those of b"
        with Database(servers[1]) as of_b, of_b.engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM plans WHERE seed IS NOT NULL"))


def take_writes(url: str, does: bool) -> None:
    """Make a server take writes or not, also of connections that exist."""
    plain = sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {'off' if does else 'on'}")
        connection.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize(
    ("url", "hosts", "ports"),
    [
        ("postgresql://u:p%40ss@a:1,b:2/db?target_session_attrs=read-write", "a,b", "1,2"),
        ("postgresql://u:p%40ss@a,b:2/db?target_session_attrs=read-write", "a,b", "5432,2"),
        ("postgresql+psycopg://u:p%40ss@/db?host=a:1&host=b:2&target_session_attrs=read-write", "a,b", "1,2"),
    ],
)
def test_lists_of_hosts(url: str, hosts: str, ports: str) -> None:
    """As libpq writes them, and as SQLAlchemy does."""
    parsed = addresses.parsed(url)
    for each in (parsed, addresses.parsed(parsed.render_as_string(hide_password=False))):
        found = addresses.parameters(each)
        assert {"host": hosts, "port": ports, "user": "u", "password": "p@ss", "dbname": "db"}.items() <= found.items()
        assert found["target_session_attrs"] == "read-write"


@pytest.mark.parametrize(
    "url",
    ["postgresql://", "postgresql://a/db", "postgresql://u:p,q@a:5/db?sslmode=disable", "postgresql://u@[::1]:5/db"],
)
def test_one_host_is_as_it_was(url: str) -> None:
    assert addresses.parsed(url) == sa.make_url(url).set(drivername="postgresql+psycopg")


def test_connections_notice_that_the_machine_is_gone(database: Database) -> None:
    """A machine that lost its power closes nothing; without limits a statement waited for a quarter of an hour."""
    with database.engine.connect() as connection, socket.socket(fileno=os.dup(_fileno(connection))) as opened:
        tcp = socket.IPPROTO_TCP
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert opened.getsockopt(tcp, socket.TCP_KEEPIDLE) + 2 * opened.getsockopt(tcp, socket.TCP_KEEPINTVL) <= 15
        assert opened.getsockopt(tcp, socket.TCP_USER_TIMEOUT) == 15_000


def test_what_the_url_states_takes_precedence() -> None:
    found = addresses.parameters(addresses.parsed("postgresql://a/db?connect_timeout=3&keepalives=0"))
    assert (found["connect_timeout"], found["keepalives"]) == ("3", "0")


def test_a_database_that_is_read_only_is_a_503(scratch: Database, serve: Serve) -> None:
    client = serve(scratch)
    assert works(client)
    plain = scratch.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True) as connection:
        name = scratch.url.database
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10_000) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid()"
        )
        answer = client.post("/v1/plans/replicas", json=_SMALL | {"seed": 77})
        assert "read-only" in problem(answer, 503, "unavailable")["detail"]
        assert answer.headers["Retry-After"]
        until(lambda: "read-only" in client.get("/readyz").json()["checks"]["database"], "the service is ready")
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    until(lambda: works(client) and is_ready(client), "the service does not connect again")


def _fileno(connection: sa.Connection) -> int:
    driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment] # psycopg's
    return driver.fileno()
