"""`/v1/jobs`, and the worker that runs them."""

import json
import time
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from app.api.examples import EXAMPLE_JOB_ID, EXAMPLE_PLAN_ID, PLACE, SNAPSHOT, STORED_PLAN
from app.store.database import Database
from tests.api.conftest import StartWorker
from tests.api.contract import UNKNOWN_ID, is_utc, only_error, place, problem, topic

EXAMPLE = f"/v1/jobs/{EXAMPLE_JOB_ID}"
SECONDS = 60


def _ask(client: httpx.Client, body: dict[str, Any]) -> str:
    response = client.post("/v1/plans/replicas", json=body, headers={"Prefer": "respond-async"})
    assert response.status_code == 202, response.text
    location: str = response.headers["location"]
    return location


def _until(client: httpx.Client, location: str, *states: str) -> dict[str, Any]:
    """The job once it is in one of these states; answers meanwhile say when to poll again."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        response = client.get(location)
        job: dict[str, Any] = response.json()
        assert ("retry-after" in response.headers) == (job["finished_at"] is None)
        if job["state"] in states:
            return job
        time.sleep(0.1)
    raise AssertionError(f"{job} after {SECONDS} s")


class TestGet:
    """`GET /v1/jobs/{id}`."""

    def test_queued(self, client: httpx.Client) -> None:
        response = client.get(EXAMPLE)
        job = response.json()
        assert int(response.headers["retry-after"]) >= 1
        assert is_utc(job.pop("created_at"))
        assert job == {
            "id": str(EXAMPLE_JOB_ID),
            "kind": "replicas",
            "state": "queued",
            "progress": None,
            "plan": None,
            "error": None,
            "started_at": None,
            "finished_at": None,
        }

    def test_unknown(self, client: httpx.Client) -> None:
        problem(client.get(f"/v1/jobs/{UNKNOWN_ID}"), 404, "job_not_found")
        only_error(problem(client.get("/v1/jobs/it"), 422, "validation"), "#path/job_id")


class TestList:
    """`GET /v1/jobs`."""

    def test_pages_newest_first(self, client: httpx.Client) -> None:
        locations = [_ask(client, PLACE | {"seed": seed}) for seed in range(3)]
        first = client.get("/v1/jobs", params={"page_size": 2}).json()
        second = client.get("/v1/jobs", params={"page_size": 2, "page_token": first["next_page_token"]}).json()
        assert second["next_page_token"] is None
        listed = first["items"] + second["items"]
        assert [f"/v1/jobs/{job['id']}" for job in listed] == [*reversed(locations), EXAMPLE]
        assert listed[0] == client.get(locations[-1]).json(), "a list has the same of a job as the job itself"

    def test_filters(self, client: httpx.Client) -> None:
        cancelled = client.delete(_ask(client, PLACE)).json()
        assert client.get("/v1/jobs", params={"state": "cancelled"}).json()["items"] == [cancelled]
        assert [job["id"] for job in client.get("/v1/jobs", params={"state": "queued"}).json()["items"]] == [
            str(EXAMPLE_JOB_ID)
        ]
        assert len(client.get("/v1/jobs", params={"kind": "replicas"}).json()["items"]) == 2
        assert client.get("/v1/jobs", params={"kind": "group"}).json()["items"] == []

    @pytest.mark.parametrize(
        ("query", "pointer"),
        [({"state": "lost"}, "#query/state"), ({"kind": "x"}, "#query/kind"), ({"page_size": 0}, "#query/page_size")],
    )
    def test_bad_queries(self, client: httpx.Client, query: dict[str, str], pointer: str) -> None:
        only_error(problem(client.get("/v1/jobs", params=query), 422, "validation"), pointer)


class TestCancel:
    """`DELETE /v1/jobs/{id}`."""

    def test_a_queued_job_never_starts(self, client: httpx.Client, start_worker: StartWorker) -> None:
        location, other = _ask(client, PLACE | {"seed": 5}), _ask(client, PLACE | {"seed": 6})
        job = client.delete(location).json()
        assert (job["state"], job["started_at"], job["plan"]) == ("cancelled", None, None)
        assert is_utc(job["finished_at"])
        start_worker()
        _until(client, other, "succeeded")
        assert client.get(location).json() == job
        assert 5 not in [plan["seed"] for plan in client.get("/v1/plans").json()["items"]]

    def test_nothing_of_a_running_job_is_stored(
        self, client: httpx.Client, database: Database, start_worker: StartWorker
    ) -> None:
        """It is cancelled while it waits for a lock of the test, in its last step."""
        start_worker()
        _until(client, EXAMPLE, "succeeded")
        with database.engine.connect() as connection:
            connection.execute(sa.text("LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE"))
            location = _ask(client, PLACE | {"seed": 77})
            job = _until(client, location, "running")
            while job["progress"] is None or job["progress"]["step"] != "store":
                time.sleep(0.02)
                job = client.get(location).json()
            assert job["progress"] == {"step": "store", "steps_done": 4, "steps": 5}
            assert client.delete(location).json()["state"] == "cancelled", "at once"
            connection.rollback()
        with database.engine.connect() as connection:
            entries = sa.text("SELECT count(*) FROM procrastinate_jobs WHERE args ? 'job_id'")
            while connection.scalar(entries):
                connection.rollback()
                time.sleep(0.05)
        assert client.get(location).json()["state"] == "cancelled"
        assert 77 not in [plan["seed"] for plan in client.get("/v1/plans").json()["items"]]

    def test_ended(self, client: httpx.Client) -> None:
        location = _ask(client, PLACE)
        client.delete(location)
        found = problem(client.delete(location), 409, "job_ended")
        assert found["state"] == "cancelled"

    def test_unknown(self, client: httpx.Client) -> None:
        problem(client.delete(f"/v1/jobs/{UNKNOWN_ID}"), 404, "job_not_found")


class TestEvents:
    """`GET /v1/jobs/{id}/events`."""

    def test_until_the_end(self, client: httpx.Client, start_worker: StartWorker) -> None:
        location = _ask(client, PLACE | {"seed": 3})
        with client.stream("GET", f"{location}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = stream.iter_lines()
            assert next(lines) == "event: progress"
            start_worker()
            events = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
        assert events[-1] == "succeeded"
        assert set(events[:-1]) <= {"progress"}

    def test_of_a_job_that_has_ended(self, client: httpx.Client) -> None:
        location = _ask(client, PLACE)
        job = client.delete(location).json()
        lines = client.get(f"{location}/events").text.splitlines()
        assert lines[:2] == ["event: cancelled", "id: 0"]
        assert json.loads(lines[2].removeprefix("data: ")) == job

    def test_unknown(self, client: httpx.Client) -> None:
        problem(client.get(f"/v1/jobs/{UNKNOWN_ID}/events"), 404, "job_not_found")


class TestWorker:
    """A real worker in a process of its own."""

    def test_it_runs_the_request(self, client: httpx.Client, start_worker: StartWorker) -> None:
        locations = [
            _ask(client, STORED_PLAN),
            _ask(client, PLACE | {"seed": 9, "labels": {"via": "job"}}),
            _ask(client, PLACE | {"topics": [topic(replication_factor=99)]}),
        ]
        start_worker()
        again, new, failed = (_until(client, location, "succeeded", "failed") for location in locations)

        assert (again["state"], again["plan"]) == ("succeeded", f"/v1/plans/{EXAMPLE_PLAN_ID}"), "one plan a request"

        assert (new["state"], new["error"]) == ("succeeded", None)
        assert is_utc(new["started_at"])
        assert new["created_at"] <= new["started_at"] <= new["finished_at"]
        plan = client.get(new["plan"])
        at_once = client.post("/v1/plans/replicas", json=PLACE | {"seed": 9, "labels": {"via": "job"}})
        assert at_once.content == plan.content, "the same request gets the same plan, however it is answered"

        assert (failed["state"], failed["plan"]) == ("failed", None)
        assert failed["error"]["code"] == "invalid_replication_factor"
        assert "99" in failed["error"]["detail"]

        assert _until(client, EXAMPLE, "succeeded")["plan"] == f"/v1/plans/{EXAMPLE_PLAN_ID}"

        client.delete(new["plan"])
        forgotten = client.get(locations[1]).json()
        assert (forgotten["state"], forgotten["plan"]) == ("succeeded", None), "its plan was deleted since"

    def test_a_plan_too_large_to_answer_at_once(self, client: httpx.Client, start_worker: StartWorker) -> None:
        body = PLACE | {"topics": [topic("large", 1_000_001)]}
        problem(client.post("/v1/plans/replicas", json=body), 413, "limit_exceeded")
        location = _ask(client, body)
        start_worker()
        plan = _until(client, location, "succeeded", "failed")["plan"]
        last = client.get(f"{plan}/partitions", params={"page_token": "AAAAAAAPQkA", "page_size": 5}).json()
        assert (last["total"], len(last["items"]), last["items"][0]["partition"]) == (1_000_001, 1, 1_000_000)

    @pytest.mark.long
    @pytest.mark.slow
    def test_another_finishes_what_a_killed_one_began(
        self, client: httpx.Client, database: Database, start_worker: StartWorker
    ) -> None:
        """The test holds a lock for which the first worker has to wait, so that it is killed in the middle of a job."""
        first = start_worker()
        _until(client, EXAMPLE, "succeeded")
        with database.engine.connect() as connection:
            connection.execute(sa.text("LOCK TABLE plans IN SHARE ROW EXCLUSIVE MODE"))
            location = _ask(client, PLACE | {"seed": 77})
            _until(client, location, "running")
            first.kill()
            connection.rollback()
        assert client.get(location).json()["state"] == "running", "its end is not known yet"
        start_worker()
        job = _until(client, location, "succeeded", "failed")
        assert job["state"] == "succeeded"
        assert client.get(job["plan"]).json()["seed"] == 77
        plans = client.get("/v1/plans", params={"kind": "replicas"}).json()["items"]
        assert len(plans) == 2, "the example's and this one, once"

    def test_an_unknown_snapshot_fails_the_job(self, client: httpx.Client, start_worker: StartWorker) -> None:
        location = _ask(client, PLACE | {"snapshot_id": UNKNOWN_ID})
        start_worker()
        job = _until(client, location, "succeeded", "failed")
        assert (job["state"], job["error"]["code"]) == ("failed", "snapshot_not_found")
        assert job["error"]["snapshot_id"] == UNKNOWN_ID


def test_a_job_does_not_hold_the_service_up(client: httpx.Client) -> None:
    """It is stored and no more: plans are answered while jobs wait."""
    for seed in range(5):
        _ask(client, PLACE | {"seed": seed})
    assert place(client, seed=1).status_code == 201
    assert client.post("/v1/snapshots", json=SNAPSHOT).status_code == 201
