"""`/metrics` of a real service: plans, solver time, jobs, sweeps and the queue, with bounded labels."""

import json
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from prometheus_client.parser import text_string_to_metric_families

from app.api.examples import PLACE
from app.errors.crossing import FAILURES
from app.services import jobs
from app.services.limits import Limits
from app.services.plans.kinds import KINDS
from app.services.sweeps import KINDS as SWEEP_KINDS
from app.store.database import Database
from tests.api.conftest import RunService, Serve, StartWorker
from tests.api.contract import SNAPSHOT_ID
from tests.api.test_access_matrix import ROUTES, address
from tests.conftest import ROOT
from tests.documents import Document

Samples = Mapping[tuple[str, frozenset[tuple[str, str]]], float]
REMOVE_UNKNOWN = {"snapshot_id": SNAPSHOT_ID, "remove_brokers": [77_777]}


def scrape(client: httpx.Client) -> Samples:
    """Every sample of one scrape, by name and labels."""
    return samples_of(client.get("/metrics").text)


def samples_of(text: str) -> Samples:
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    by_name = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}
    assert len(by_name) == len(samples), "a sample is written once"
    return by_name


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, frozenset(labels.items())), 0.0)


class TestPlans:
    """`rackplan_plans_total` and `rackplan_solver_seconds`."""

    def test_each_attempt_is_counted_by_kind_and_outcome(self, client: httpx.Client) -> None:
        before = scrape(client)
        for _ in range(2):
            assert client.post("/v1/plans/replicas", json=PLACE).status_code == 201
        assert client.post("/v1/plans/reassignment", json=REMOVE_UNKNOWN).json()["code"] == "unknown_broker"
        after = scrape(client)

        def grown(name: str, **labels: str) -> float:
            return value(after, name, **labels) - value(before, name, **labels)

        assert grown("rackplan_plans_total", kind="replicas", outcome="ok") == 2
        assert grown("rackplan_plans_total", kind="reassignment", outcome="unknown_broker") == 1
        assert grown("rackplan_plans_total", kind="reassignment", outcome="ok") == 0
        assert grown("rackplan_solver_seconds_count", kind="replicas") == 2
        assert grown("rackplan_solver_seconds_count", kind="reassignment") == 0
        assert 0 < grown("rackplan_solver_seconds_sum", kind="replicas") < 60

    def test_an_idempotent_repetition_makes_no_plan(self, client: httpx.Client) -> None:
        headers = {"Idempotency-Key": "one-plan"}
        before = scrape(client)
        for _ in range(3):
            assert client.post("/v1/plans/replicas", json=PLACE, headers=headers).status_code == 201
        count = ("rackplan_plans_total", frozenset({("kind", "replicas"), ("outcome", "ok")}))
        assert scrape(client)[count] - before.get(count, 0) == 1


class TestJobs:
    """`rackplan_jobs` and the queue."""

    def test_queued_then_succeeded_or_failed_with_a_code(self, database: Database, client: httpx.Client) -> None:
        later = {"Prefer": "respond-async"}
        with database.engine.begin() as connection:  # the example of the documentation was queued before
            connection.execute(sa.text("DELETE FROM procrastinate_jobs"))
        before = scrape(client)
        good = client.post("/v1/plans/replicas", json=PLACE, headers=later).json()["id"]
        bad = client.post("/v1/plans/reassignment", json=REMOVE_UNKNOWN, headers=later).json()["id"]
        queued = scrape(client)
        waiting = {"kind": "replicas", "state": "queued", "code": ""}
        assert value(queued, "rackplan_jobs", **waiting) - value(before, "rackplan_jobs", **waiting) == 1
        assert value(queued, "rackplan_jobs", kind="reassignment", state="queued", code="") == 1
        length = ("rackplan_queue_length", frozenset({("task", "run_job")}))
        assert queued[length] - before[length] == 2
        assert 0 <= value(queued, "rackplan_queue_oldest_seconds", task="run_job") < 60
        for job in (good, bad):
            jobs.run(database, UUID(job), Limits())
        ended = scrape(client)
        assert value(ended, "rackplan_jobs", kind="replicas", state="succeeded", code="") == 1
        assert value(ended, "rackplan_jobs", kind="reassignment", state="failed", code="unknown_broker") == 1
        assert value(ended, "rackplan_jobs", **waiting) == value(before, "rackplan_jobs", **waiting)
        assert ("rackplan_jobs", frozenset(waiting.items() | {("kind", "reassignment")})) not in ended

    def test_a_task_that_is_scheduled_for_later_is_not_due(self, database: Database, client: httpx.Client) -> None:
        with database.begin() as uow:
            sweep = uow.sweeps.create(kind="capacity", definition={}, scenarios=9, labels={}, principal="p")
            uow.sweeps.enqueue(sweep.id, after=timedelta(hours=1))
        assert value(scrape(client), "rackplan_queue_length", task="run_sweep") == 0
        with database.begin() as uow:
            uow.sweeps.enqueue(sweep.id)
        assert value(scrape(client), "rackplan_queue_length", task="run_sweep") == 1


class TestSweeps:
    """`rackplan_sweeps` and `rackplan_scenarios_per_second`."""

    def test_states_and_the_rate_of_the_last_minute(self, database: Database, client: httpx.Client) -> None:
        with database.begin() as uow:
            sweep = uow.sweeps.create(kind="capacity", definition={}, scenarios=600, labels={}, principal="p")
            uow.sweeps.start(sweep.id)
            uow.sweeps.record(sweep.id, 0, [], stop=60, seconds=1.0)
            uow.sweeps.record(sweep.id, 60, [], stop=180, seconds=1.0)
            failed = uow.sweeps.create(kind="draws", definition={}, scenarios=9, labels={}, principal="p")
            uow.sweeps.end(failed.id, "failed", error={"code": "unknown_axis", "detail": "d"})
        with database.engine.begin() as connection:  # all chunks but one are older than a minute
            connection.execute(
                sa.text(
                    "UPDATE sweep_chunks SET finished_at = now() - interval '2 min' "
                    "WHERE NOT (sweep_id = :s AND start = 60)"
                ),
                {"s": sweep.id},
            )
        samples = scrape(client)
        assert value(samples, "rackplan_sweeps", kind="capacity", state="running", code="") == 1
        assert value(samples, "rackplan_sweeps", kind="draws", state="failed", code="unknown_axis") == 1
        assert value(samples, "rackplan_scenarios_per_second", kind="capacity") == pytest.approx(120 / 60)


class TestLabels:
    """Cardinality is bounded: no id, path, name or text of a caller is a label."""

    def test_values_are_kinds_states_codes_and_tasks(self, client: httpx.Client) -> None:
        client.post("/v1/plans/reassignment", json=REMOVE_UNKNOWN)
        client.get("/v1/plans/a-path-of-a-caller")
        allowed = {
            "kind": {*KINDS, *SWEEP_KINDS},
            "outcome": {"ok", "internal_error", *FAILURES},
            "code": {"", "internal_error", *FAILURES},
            "state": {"queued", "running", "succeeded", "failed", "cancelled", "pending"},
            "task": {"run_job", "run_sweep", "deliver_webhook"},
        }
        for name, labels in scrape(client):
            for label, text in labels:
                if name.startswith("rackplan_") and label in allowed:
                    assert text in allowed[label], name
                assert "a-path-of-a-caller" not in text

    def test_the_documentation_lists_every_metric(self, client: httpx.Client) -> None:
        document = Document(ROOT / "docs" / "monitoring.md")
        rows = document.table("metric", "type", "labels", "meaning")
        assert client.post("/v1/plans/replicas", json=PLACE).status_code == 201
        families = text_string_to_metric_families(client.get("/metrics").text)
        served = {
            (f"`{family.name}_total`" if family.type == "counter" else f"`{family.name}`", family.type)
            for family in families
            if family.name.startswith("rackplan_") and not family.name.endswith("_created")
        }
        assert served == {(name, kind) for name, kind, *_ in rows}


@pytest.mark.long
def test_a_scrape_is_small_after_every_operation_was_called(scratch: Database, run_service: RunService) -> None:
    """In a process of its own, as the counters are the process's; 649 KB as a histogram by status in 15 buckets."""
    with run_service(scratch) as service:
        for (method, path), route in ROUTES.items():
            if path.endswith("/events"):
                continue  # a stream is counted once it ends
            url, body = address(path), {"data": route.body} if route.is_form else {"json": route.body}
            service.client.request(method, url, params=route.query, **(body if route.body else {}))
            service.client.request(method, url, params={"no_such": "1"}, json=[])
            service.client.request("PUT", url)
            service.client.request(method, url, params=route.query, headers={"Authorization": "Bearer none"})
        text = service.client.get("/metrics").text
    assert len({labels for name, labels in samples_of(text) if name == "rackplan_request_seconds_count"}) > 100
    assert len(text) < 150_000


class TestDatabaseIsGone:
    """Metrics of the process are answered without a database."""

    def test_the_shared_ones_are_absent(self, scratch: Database, serve: Serve) -> None:
        client = serve(scratch)
        assert value(scrape(client), "rackplan_database_up") == 1
        with scratch.engine.begin() as connection:
            connection.execute(sa.text("ALTER TABLE sweep_chunks RENAME TO elsewhere"))
        samples = scrape(client)
        assert value(samples, "rackplan_database_up") == 0
        assert not [name for name, _ in samples if name.startswith(("rackplan_jobs", "rackplan_queue"))]
        assert any(name == "process_resident_memory_bytes" for name, _ in samples)


def planned_jobs(log: Path) -> dict[str, dict[str, Any]]:
    """The lines of a worker's log about its plans, by job; the last line may be incomplete."""
    whole, _, _ = log.read_text().rpartition("\n")
    lines = [json.loads(line) for line in whole.splitlines() if line.startswith("{")]
    return {line["job"]: line for line in lines if line["event"] == "job.planned"}


def test_a_worker_logs_the_plan_of_a_job(client: httpx.Client, start_worker: StartWorker, tmp_path: Path) -> None:
    """A worker has no `/metrics`; its log has the kind, the code, the hash and the solver time of each plan."""
    later = {"Prefer": "respond-async"}
    good = client.post("/v1/plans/replicas", json=PLACE, headers=later).json()["id"]
    bad = client.post("/v1/plans/reassignment", json=REMOVE_UNKNOWN, headers=later).json()["id"]
    start_worker()
    deadline = time.monotonic() + 120
    while not (ended := [client.get(f"/v1/jobs/{job}").json() for job in (good, bad)])[-1]["finished_at"]:
        assert time.monotonic() < deadline, ended
        time.sleep(0.2)
    while not (plan := client.get(f"/v1/jobs/{good}").json()["plan"]):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    # A line may be written after its job is seen to have ended.
    while not {good, bad} <= (by_job := planned_jobs(tmp_path / "worker-0.log")).keys():
        assert time.monotonic() < deadline, by_job
        time.sleep(0.1)
    assert by_job[good]["code"] == "ok"
    assert by_job[good]["plan_hash"] == client.get(plan).json()["hash"]
    assert by_job[good]["solver_seconds"] >= 0
    assert (by_job[bad]["plan_kind"], by_job[bad]["code"]) == ("reassignment", "unknown_broker")
