"""`/healthz`, `/readyz`, `/metrics`: for whoever runs the service."""

import asyncio
import socket
import time
from types import SimpleNamespace

import httpx
import orjson
import pytest
import sqlalchemy as sa
from fastapi import Request

from app.api import health
from app.api.health import Readiness, readyz
from app.slots.pool import NO_PROCESS
from app.store.database import Database
from tests import databases
from tests.api.conftest import Serve
from tests.api.test_admission import locked


class TestHealthz:
    """`GET /healthz`."""

    def test_alive(self, client: httpx.Client) -> None:
        response = client.get("/healthz")
        assert (response.status_code, response.json()) == (200, {"status": "ok"})


class TestReadyz:
    """`GET /readyz`."""

    def test_ready(self, client: httpx.Client) -> None:
        response = client.get("/readyz")
        checks = {"database": "ok", "queue": "ok", "spark": "local", "worker": "none; jobs and sweeps wait for one"}
        checks |= {"slots": "none; requests are served in threads", "loops": "compiled"}
        assert (response.status_code, response.json()) == (200, {"status": "ok", "checks": checks})

    def test_a_worker_is_alive_for_ten_seconds_after_its_heartbeat(
        self, client: httpx.Client, database: Database
    ) -> None:
        """Without one the service is ready: only jobs wait."""
        for age_s, state in ((9, "ok"), (11, "none; jobs and sweeps wait for one")):
            with database.engine.begin() as connection:
                connection.execute(sa.text("DELETE FROM procrastinate_workers"))
                add = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - make_interval(secs => :age))"
                connection.execute(sa.text(add), {"age": age_s})
            response = client.get("/readyz")
            assert (response.status_code, response.json()["checks"]["worker"]) == (200, state)

    @pytest.mark.parametrize(("state", "status"), [("4 of 4 processes", 200), ("starting", 200), (NO_PROCESS, 503)])
    def test_processes_that_cannot_be_started(self, database: Database, state: str, status: int) -> None:
        """Every request would be answered 503: another instance has to serve them."""
        url = database.url.render_as_string(hide_password=False)
        readiness = Readiness(url, "local[*]", compiling=lambda: None, slots=lambda: state)
        request = Request({"type": "http", "app": SimpleNamespace(state=SimpleNamespace(readiness=readiness))})
        try:
            response = asyncio.run(readyz(request))
        finally:
            readiness.close()
        assert (response.status_code, orjson.loads(response.body)["checks"]["slots"]) == (status, state)

    def test_a_check_that_waits_does_not_delay_the_answer(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The last result is used while it is young; then the check has not answered."""

        async def results_in_turn() -> list[str]:
            url = database.url.render_as_string(hide_password=False)
            readiness = Readiness(url, "local[*]", compiling=lambda: None, slots=lambda: "ok")
            try:
                results = [(await readiness.checks())["queue"]]
                with locked(database, "procrastinate_jobs"):
                    monkeypatch.setattr(health, "_TIMEOUT_SECONDS", 60.0)
                    results.append((await readiness.checks())["queue"])  # would take a minute if it waited
                    monkeypatch.setattr(health, "_TIMEOUT_SECONDS", 0.2)
                    monkeypatch.setattr(health, "_USED_FOR_SECONDS", 0.0)
                    results.append((await readiness.checks())["queue"])
                await readiness._running["queue"]
                results.append((await readiness.checks())["queue"])
            finally:
                readiness.close()
            return results

        assert asyncio.run(results_in_turn()) == ["ok", "ok", "does not answer within 0.2 s", "ok"]

    def test_the_database_is_gone(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch)
        assert client.get("/readyz").status_code == 200
        databases.drop(scratch)
        # For 5 s a slow check is answered as it was answered last.
        until = time.monotonic() + 30
        while (response := client.get("/readyz")).status_code == 200 and time.monotonic() < until:
            time.sleep(0.1)
        found = response.json()
        assert (response.status_code, found["status"]) == (503, "unavailable")
        assert found["checks"]["database"].startswith("cannot be reached")
        assert found["checks"]["queue"].startswith("cannot be reached")
        assert client.get("/healthz").status_code == 200, "a restart would mend nothing"

    def test_the_schema_is_another_versions(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch)
        with scratch.engine.begin() as connection:
            connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
        response = client.get("/readyz")
        assert response.status_code == 503
        assert "rackplan migrate" in response.json()["checks"]["database"]
        assert response.json()["checks"]["queue"] == "ok"

    def test_the_queue_is_gone(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch)
        with scratch.engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE procrastinate_jobs RENAME TO elsewhere"))
        checks = client.get("/readyz").json()["checks"]
        assert checks["queue"].startswith("cannot be read")
        assert checks["database"] == "ok"

    def test_a_spark_master_that_answers_and_then_does_not(self, scratch: Database, serve: Serve) -> None:
        with socket.create_server(("127.0.0.1", 0)) as master:
            port = master.getsockname()[1]
            client = serve(scratch, spark_master=f"spark://127.0.0.1:{port}")
            response = client.get("/readyz")
            assert (response.status_code, response.json()["checks"]["spark"]) == (200, "ok")
        response = client.get("/readyz")
        assert response.status_code == 503
        assert f"spark://127.0.0.1:{port} cannot be reached" in response.json()["checks"]["spark"]

    def test_spark_in_the_process_needs_no_master(self, scratch: Database, serve: Serve) -> None:
        response = serve(scratch, spark_master="local[*]").get("/readyz")
        assert (response.status_code, response.json()["checks"]["spark"]) == (200, "local")


class TestMetrics:
    """`GET /metrics`."""

    def test_prometheus_text(self, client: httpx.Client) -> None:
        response = client.get("/metrics")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/plain; version=")
        assert "process_resident_memory_bytes" in response.text
