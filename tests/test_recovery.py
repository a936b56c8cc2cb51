"""Recovery of `rackplan serve` when its Postgres is killed: real kills of real processes, one service for all of them.

Every wait is for an event; its limit detects a hang.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.test_cli import HANGS_AFTER_S, Serving, command_of, data_dir, serving, used_data_dir
from tests.test_stopping import asynchronous, has_waiter, locked_plans, stops, until

__all__ = ["data_dir", "used_data_dir"]

pytestmark = pytest.mark.slow


def postgres_of(service: Serving) -> psutil.Process:
    """The main process of its Postgres."""
    return next(process for process in service.family if "".join(command_of(process)[:1]).endswith("/postgres"))


def waiting(connection: psycopg.Connection) -> psutil.Process:
    """The process of Postgres that serves the client which waits for a lock."""
    row = connection.execute("SELECT pid FROM pg_locks WHERE NOT granted").fetchone()
    assert row is not None
    return psutil.Process(row[0])


@pytest.mark.long
def test_postgres_is_killed(used_data_dir: Path) -> None:
    """A request in progress gets a problem, others do until Postgres is back, and the worker goes on as well."""
    with serving(used_data_dir) as service, ThreadPoolExecutor(1) as threads:
        for is_main in (True, False):
            with locked_plans(used_data_dir) as lock:
                request = threads.submit(service.client.get, "/v1/plans")
                until(lambda lock=lock: has_waiter(lock))  # type: ignore[misc] # the default is the lock
                (postgres_of(service) if is_main else waiting(lock)).kill()
                answer = request.result(HANGS_AFTER_S)
            assert (answer.status_code, answer.json()["code"]) == (503, "unavailable"), answer.text
            assert answer.headers["Retry-After"] == "2"
            until(lambda: service.client.get("/readyz").status_code == 200)
            assert service.client.get("/v1/plans").status_code == 200
            done = asynchronous(service.client)
            assert done.status_code in (201, 202), done.text
        assert stops(service)
