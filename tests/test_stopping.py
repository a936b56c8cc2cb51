"""How `rackplan serve` stops: real signals to real processes, and nothing of them is left.

Every wait is for an event; its limit detects a hang. `python -m benchmarks first_answers` measures the times.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from app.store import embedded
from tests.conftest import ROOT
from tests.test_cli import (
    HANGS_AFTER_S,
    RACKPLAN,
    Serving,
    command_of,
    data_dir,
    ended,
    environment,
    name_of,
    serving,
    used_data_dir,
)

__all__ = ["data_dir", "used_data_dir"]

pytestmark = pytest.mark.slow

PLAN = {
    "brokers": [{"id": broker, "rack": "abc"[broker % 3]} for broker in range(6)],
    "topics": [{"name": "orders", "partitions": 12, "replication_factor": 3}],
    "seed": 7,
}
ATTRIBUTES_THAT_CROSS = {
    "brokers": [
        {"id": 1, "attributes": {"zone": "a", "row": "x"}},
        {"id": 2, "attributes": {"zone": "b", "row": "x"}},
        {"id": 3, "attributes": {"zone": "a", "row": "y"}},
    ],
    "algorithm": "awareness",
    "attributes": ["zone", "row"],
    "topics": [{"name": "orders", "partitions": 12, "replication_factor": 2}],
    "seed": 7,
}
"""The integer solver finds the placement: no broker is in another zone and another row than broker 1."""
BASE = {
    "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 2},
    "broker_profile": {"disk_bytes": 4e12},
    "topics": [
        {"name": "orders", "partitions": 12, "replication_factor": 2, "ingress_bytes_per_s": 1e6, "retention_s": 3600}
    ],
    "placement": {"algorithm": "admin_utils", "seed": 7},
}
SMALL_SWEEP = {"base": BASE, "axes": {"topology.brokers_per_rack": {"from": 2, "to": 3}}}
LARGE_SWEEP = {
    "base": {**BASE, "topics": [{**BASE["topics"][0], "partitions": 2000}]},  # type: ignore[index]
    "axes": {"topology.brokers_per_rack": {"from": 2, "to": 40}, "placement.seed": {"from": 1, "to": 4000}},
}


def to_main(service: Serving, number: signal.Signals) -> None:
    """Signal the main process alone, as systemd and containers do."""
    service.process.send_signal(number)


def to_group(service: Serving, number: signal.Signals) -> None:
    """Signal the process group, as a terminal does."""
    os.killpg(service.process.pid, number)


def until(is_so: Callable[[], bool]) -> None:
    """Wait for an event that only polling shows."""
    deadline = time.monotonic() + HANGS_AFTER_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def stops(service: Serving, number: signal.Signals = signal.SIGTERM, send: Callable[..., None] = to_main) -> bool:
    """Whether a signal ends the service, with the status of the signal, and every process that it started."""
    family = service.family
    send(service, number)
    status = service.process.wait(HANGS_AFTER_S)
    return status == {signal.SIGINT: 0, signal.SIGTERM: 143}[number] and ended(family)


def commands(service: Serving) -> Iterator[list[str]]:
    """The command lines of the processes of a service that run."""
    return map(command_of, service.family)


def state_of(service: Serving, sweep: str) -> str:
    """The state of a sweep."""
    state: str = service.client.get(f"/v1/sweeps/{sweep}").json()["state"]
    return state


def submit(service: Serving, sweep: object) -> str:
    """Submit a sweep; its id."""
    accepted = service.client.post("/v1/sweeps", json=sweep)
    assert accepted.status_code == 202, accepted.text
    sweep_id: str = accepted.json()["id"]
    return sweep_id


@contextmanager
def locked_plans(data_dir: Path) -> Iterator[psycopg.Connection]:
    """The table of plans, locked: a request that reads it is in progress for as long as the context lasts."""
    url = embedded.url_of_running(data_dir)
    assert url is not None
    # The stop of Postgres may end the connection before this context does.
    with closing(psycopg.connect(url.replace("+psycopg", ""))) as connection:
        connection.execute("LOCK TABLE plans IN ACCESS EXCLUSIVE MODE")
        yield connection


def has_waiter(connection: psycopg.Connection) -> bool:
    """Whether another connection waits for a lock."""
    row = connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return row is not None and row[0] > 0


def refuses(service: Serving) -> bool:
    """Whether the service has closed its listening socket: its stop has begun."""
    try:
        httpx.get(service.client.base_url.join("/healthz"), timeout=5)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.parametrize(
    ("number", "send"),
    [
        (signal.SIGINT, to_group),
        (signal.SIGTERM, to_main),
        pytest.param(signal.SIGINT, to_main, marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, to_group, marks=pytest.mark.long),
    ],
)
def test_an_idle_service(used_data_dir: Path, number: signal.Signals, send: Callable[..., None]) -> None:
    """The command itself, with all that it starts."""
    with serving(used_data_dir, is_forked=False, RACKPLAN_SOLVER_PROCESSES="1") as service:
        assert stops(service, number, send)


@pytest.mark.long
@pytest.mark.parametrize(
    "awaited",
    [
        pytest.param("pyspark-shell", id="while it starts"),
        pytest.param("pyspark.daemon", id="when it is started"),
    ],
)
def test_with_spark_started_before_the_first_job(used_data_dir: Path, awaited: str) -> None:
    """An idle worker starts it: the JVM, and then Python for the tasks."""
    with serving(used_data_dir, RACKPLAN_SPARK_EARLY="true") as service:
        until(lambda: any(awaited in command for command in commands(service)))
        assert stops(service)


@pytest.mark.long
def test_while_it_starts(data_dir: Path) -> None:
    """As soon as Postgres runs, and before the service listens."""
    with subprocess.Popen([RACKPLAN, "serve"], env=environment(data_dir), stdout=subprocess.PIPE) as process:
        until(lambda: embedded.url_of_running(data_dir) is not None)
        family = [*psutil.Process(process.pid).children(recursive=True)]
        process.terminate()
        assert process.wait(HANGS_AFTER_S) == 143
        assert ended(family)


@pytest.mark.long
def test_while_it_compiles(used_data_dir: Path) -> None:
    """A service whose loops are missing says how far their compilation is, and its stop ends the processes."""
    clone = used_data_dir.parent / "clone"
    for part in ("app", "migrations"):
        shutil.copytree(ROOT / part, clone / part, ignore=shutil.ignore_patterns("__pycache__"))
    with serving(used_data_dir, "--no-worker", is_forked=False, PYTHONPATH=str(clone), HOME=str(clone)) as service:
        until(lambda: "Rackplan-Compiling" in service.client.get("/healthz").headers)
        ready = service.client.get("/readyz")
        assert ready.status_code == 200
        assert re.fullmatch(r"compiling, \d+ of \d+", ready.json()["checks"]["loops"])
        until(lambda: any("building import serve" in " ".join(command) for command in commands(service)))
        assert stops(service, signal.SIGINT, to_group)


@pytest.mark.long
def test_after_plans_and_sweeps(used_data_dir: Path) -> None:
    with serving(used_data_dir) as service:
        assert service.client.post("/v1/plans/replicas", json=PLAN).status_code == 201
        sweep = submit(service, SMALL_SWEEP)
        until(lambda: state_of(service, sweep) == "succeeded")
        assert "java" in map(name_of, service.family)
        assert stops(service)


@pytest.mark.long
def test_after_the_integer_solver(used_data_dir: Path) -> None:
    """Which by default lets the next SIGINT end the process at once, and Postgres and the worker run on."""
    with serving(used_data_dir, is_forked=False, RACKPLAN_SOLVER_PROCESSES="1") as service:
        assert service.client.post("/v1/plans/replicas", json=ATTRIBUTES_THAT_CROSS).status_code == 201
        assert stops(service, signal.SIGINT)


@pytest.mark.parametrize(
    ("has_java", "has_session"),
    [
        pytest.param(False, False, id="as it begins"),
        pytest.param(True, False, id="while Spark starts", marks=pytest.mark.long),
        pytest.param(True, True, id="on Spark", marks=pytest.mark.long),
    ],
)
def test_a_running_sweep_is_handed_back(used_data_dir: Path, has_java: bool, has_session: bool) -> None:
    """Its entry is on the queue again, due, and no worker has it; there are two if its chunk was stored meanwhile."""
    with serving(used_data_dir) as service:
        sweep = submit(service, LARGE_SWEEP)
        until(lambda: state_of(service, sweep) == "running")
        if has_java:
            until(lambda: "java" in map(name_of, service.family))
        if has_session:
            until(lambda: service.client.get(f"/v1/sweeps/{sweep}").json()["done"] > 0)
        assert stops(service, signal.SIGINT, to_group)
    with (
        embedded.running(used_data_dir) as postgres,
        psycopg.connect(postgres.url.replace("+psycopg", "")) as connection,
    ):
        rows = connection.execute(
            "SELECT status::text, args->>'sweep_id', coalesce(scheduled_at, now()) <= now() FROM procrastinate_jobs "
            "WHERE task_name LIKE '%sweep%' AND args ? 'sweep_id'"
        ).fetchall()
        assert set(rows) == {("todo", sweep, True)}
        assert len(rows) <= (2 if has_session else 1)
        assert connection.execute("SELECT count(*) FROM procrastinate_workers").fetchone() == (0,)


def test_a_request_in_progress_is_finished_first(used_data_dir: Path) -> None:
    with (
        serving(used_data_dir, "--no-worker", RACKPLAN_GRACE_SECONDS="60") as service,
        ThreadPoolExecutor(1) as threads,
    ):
        family = service.family
        with locked_plans(used_data_dir) as lock:
            request = threads.submit(service.client.get, "/v1/plans")
            until(lambda: has_waiter(lock))
            service.process.terminate()
            until(lambda: refuses(service))
            assert service.process.poll() is None
        assert request.result(HANGS_AFTER_S).status_code == 200
        assert service.process.wait(HANGS_AFTER_S) == 143
        assert ended(family)


@pytest.mark.long
def test_a_request_that_outlasts_the_grace_period_gets_a_problem(used_data_dir: Path) -> None:
    with serving(used_data_dir, "--no-worker", RACKPLAN_GRACE_SECONDS="1") as service, ThreadPoolExecutor(1) as threads:
        family = service.family
        with locked_plans(used_data_dir) as lock:
            request = threads.submit(service.client.get, "/v1/plans")
            until(lambda: has_waiter(lock))
            service.process.terminate()
            answer = request.result(HANGS_AFTER_S)
            assert service.process.wait(HANGS_AFTER_S) == 143
            assert ended(family)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "service_stopping"


def asynchronous(client: httpx.Client) -> httpx.Response:
    """A request that becomes a job and waits for it."""
    return client.post("/v1/plans/replicas", json=PLAN, headers={"Prefer": "respond-async, wait=60"})


def test_a_request_that_waits_for_a_job_is_answered(used_data_dir: Path) -> None:
    """With the job, which another start of the service runs."""
    with (
        serving(used_data_dir, "--no-worker", RACKPLAN_GRACE_SECONDS="60") as service,
        ThreadPoolExecutor(1) as threads,
    ):
        family = service.family
        request = threads.submit(asynchronous, service.client)
        until(lambda: len(service.client.get("/v1/jobs?state=queued").json()["items"]) == 1)
        service.process.terminate()
        answer = request.result(HANGS_AFTER_S)
        assert service.process.wait(HANGS_AFTER_S) == 143
        assert ended(family)
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")


@pytest.mark.long
def test_a_plan_that_outlasts_the_grace_period_gets_a_problem(used_data_dir: Path) -> None:
    """It waits to be stored when the stop begins."""
    with serving(used_data_dir, "--no-worker", RACKPLAN_GRACE_SECONDS="1") as service, ThreadPoolExecutor(1) as threads:
        family = service.family
        with locked_plans(used_data_dir) as lock:
            request = threads.submit(service.client.post, "/v1/plans/replicas", json=PLAN)
            until(lambda: has_waiter(lock))
            service.process.terminate()
            answer = request.result(HANGS_AFTER_S)
            assert service.process.wait(HANGS_AFTER_S) == 143
            assert ended(family)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json()["code"] == "service_stopping"


def test_an_upload_in_progress_gets_a_problem(used_data_dir: Path) -> None:
    """Half of its body has been sent when the stop begins, and the rest never is."""
    with serving(used_data_dir, "--no-worker", RACKPLAN_GRACE_SECONDS="1") as service:
        family = service.family
        url = service.client.base_url
        with socket.create_connection((url.host, url.port), timeout=HANGS_AFTER_S) as upload:
            upload.sendall(
                b"POST /v1/snapshots HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b'Content-Length: 1000\r\n\r\n{"cluster": '
            )
            # The answer to a later request shows that the service has read the earlier bytes.
            assert service.client.get("/healthz").status_code == 200
            service.process.terminate()
            answer = b"".join(iter(lambda: upload.recv(65536), b""))
        assert service.process.wait(HANGS_AFTER_S) == 143
        assert ended(family)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 "), answer
    assert b"retry-after: 5" in head.lower()
    assert json.loads(body)["code"] == "service_stopping"


def test_an_open_progress_stream_ends(used_data_dir: Path) -> None:
    with serving(used_data_dir, "--no-worker", RACKPLAN_GRACE_SECONDS="60") as service:
        family = service.family
        sweep = submit(service, SMALL_SWEEP)
        first = threading.Event()

        def follow() -> list[str]:
            events = []
            with service.client.stream("GET", f"/v1/sweeps/{sweep}/events") as stream:
                for line in stream.iter_lines():
                    events.append(line)
                    first.set()
            return events

        with ThreadPoolExecutor(1) as threads:
            stream = threads.submit(follow)
            assert first.wait(HANGS_AFTER_S)
            service.process.terminate()
            assert stream.result(HANGS_AFTER_S)[0] == "event: progress"
        assert service.process.wait(HANGS_AFTER_S) == 143
        assert ended(family)
