"""`Prefer: wait=…`: answers that wait for the end of a job or sweep, and resources in use meanwhile."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.examples import EXAMPLE_JOB_ID, EXAMPLE_SWEEP_ID, PLACE, SWEEP
from app.api.http.following import Preferences, parsed
from app.store.database import Database
from tests.api.conftest import Serve, StartWorker
from tests.api.contract import UNKNOWN_ID, problem, topic

EXAMPLE = f"/v1/jobs/{EXAMPLE_JOB_ID}"
LONG = "respond-async, wait=60"


class TestHeader:
    """RFC 7240."""

    @pytest.mark.parametrize(
        ("header", "preferences"),
        [
            ("", Preferences()),
            ("respond-async", Preferences(respond_async=True)),
            ("respond-async, wait=20", Preferences(respond_async=True, wait_s=20)),
            ('Wait="7" ; x=1 , RESPOND-ASYNC', Preferences(respond_async=True, wait_s=7)),
            ("wait=100", Preferences(wait_s=60)),
            ("wait=5, wait=9", Preferences(wait_s=5)),
            ("wait=-1", Preferences()),
            ("wait=1.5, return=minimal", Preferences()),
            ("wait=٣", Preferences()),
            ("wait", Preferences()),
        ],
    )
    def test_examples(self, header: str, preferences: Preferences) -> None:
        assert parsed(header, longest_wait_s=60) == preferences

    @given(st.text())
    def test_no_text_fails(self, header: str) -> None:
        read = parsed(header, longest_wait_s=60)
        assert read.wait_s is None or 0 <= read.wait_s <= 60

    @given(st.booleans(), st.none() | st.integers(0, 60))
    def test_what_is_applied_reads_back(self, respond_async: bool, wait_s: int | None) -> None:
        preferences = Preferences(respond_async, wait_s)
        assert parsed(preferences.applied, longest_wait_s=60) == preferences


class TestPlans:
    """`Prefer: respond-async, wait=…` on requests for plans."""

    def test_answered_as_without_a_job(self, client: httpx.Client, start_worker: StartWorker) -> None:
        start_worker()
        body = PLACE | {"seed": 31}
        waited = client.post("/v1/plans/replicas", json=body, headers={"Prefer": LONG})
        assert waited.status_code == 201, waited.text
        assert waited.headers["preference-applied"] == LONG
        at_once = client.post("/v1/plans/replicas", json=body)
        assert (waited.content, waited.headers["location"]) == (at_once.content, at_once.headers["location"])

    def test_a_job_that_fails_is_the_problem_of_the_request(
        self, client: httpx.Client, start_worker: StartWorker
    ) -> None:
        start_worker()
        body = PLACE | {"topics": [topic(replication_factor=99)]}
        waited = client.post("/v1/plans/replicas", json=body, headers={"Prefer": LONG})
        found = problem(waited, 422, "invalid_replication_factor")
        at_once = client.post("/v1/plans/replicas", json=body).json()
        assert found["detail"] == at_once["detail"]

    def test_time_is_up(self, client: httpx.Client) -> None:
        """There is no worker."""
        waited = client.post("/v1/plans/replicas", json=PLACE, headers={"Prefer": "respond-async, wait=1"})
        assert (waited.status_code, waited.json()["state"]) == (202, "queued")
        assert waited.headers["preference-applied"] == "respond-async, wait=1"
        assert client.get(waited.headers["location"]).json()["id"] == waited.json()["id"]

    def test_cancelled_meanwhile(self, client: httpx.Client) -> None:
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(client.post, "/v1/plans/replicas", json=PLACE, headers={"Prefer": LONG})
            while len(jobs := client.get("/v1/jobs").json()["items"]) < 2:
                time.sleep(0.02)
            client.delete(f"/v1/jobs/{jobs[0]['id']}")
        answer = waiting.result()
        assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")

    def test_a_repetition_waits_for_the_same_job(self, client: httpx.Client, start_worker: StartWorker) -> None:
        headers = {"Prefer": "respond-async, wait=1", "Idempotency-Key": "once"}
        first = client.post("/v1/plans/replicas", json=PLACE | {"seed": 8}, headers=headers)
        assert first.status_code == 202
        start_worker()
        client.get(first.headers["location"], headers={"Prefer": "wait=60"})
        again = client.post("/v1/plans/replicas", json=PLACE | {"seed": 8}, headers=headers)
        assert (again.status_code, again.json()["seed"]) == (201, 8)
        assert len(client.get("/v1/jobs").json()["items"]) == 2, "the example and this one"


class TestJobsAndSweeps:
    """`Prefer: wait=…` on reads."""

    def test_a_job(self, client: httpx.Client, start_worker: StartWorker) -> None:
        start_worker()
        response = client.get(EXAMPLE, headers={"Prefer": "wait=60"})
        assert response.json()["state"] == "succeeded"
        assert response.headers["preference-applied"] == "wait=60"
        assert "retry-after" not in response.headers

    def test_what_has_ended_is_answered_at_once(self, client: httpx.Client) -> None:
        response = client.get(f"/v1/sweeps/{EXAMPLE_SWEEP_ID}", headers={"Prefer": "wait=60"})
        assert response.json() == client.get(f"/v1/sweeps/{EXAMPLE_SWEEP_ID}").json()
        assert response.headers["preference-applied"] == "wait=60"

    def test_a_sweep_that_is_cancelled_meanwhile(self, client: httpx.Client) -> None:
        with ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(client.post, "/v1/sweeps", json=SWEEP, headers={"Prefer": "wait=60"})
            while len(sweeps := client.get("/v1/sweeps").json()["items"]) < 2:
                time.sleep(0.02)
            client.delete(f"/v1/sweeps/{sweeps[0]['id']}")
        answer = waiting.result()
        assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
        assert answer.headers["location"] == f"/v1/sweeps/{sweeps[0]['id']}"

    def test_without_the_preference(self, client: httpx.Client) -> None:
        assert "preference-applied" not in client.get(EXAMPLE).headers

    def test_unknown(self, client: httpx.Client) -> None:
        problem(client.get(f"/v1/jobs/{UNKNOWN_ID}", headers={"Prefer": "wait=60"}), 404, "job_not_found")


def test_waits_occupy_neither_slots_nor_connections(scratch: Database, serve: Serve) -> None:
    """Many more requests wait than the service has slots, threads and connections, and others are answered."""
    client = serve(scratch, concurrent_requests=1, queue_seconds=60)
    waiters = 12
    location = client.post("/v1/plans/replicas", json=PLACE, headers={"Prefer": "respond-async"}).headers["location"]
    with ThreadPoolExecutor(waiters) as threads:
        waiting = [threads.submit(client.get, location, headers={"Prefer": "wait=60"}) for _ in range(waiters)]
        for _ in range(20):
            assert client.get("/v1/plans").status_code == 200
        assert not any(wait.done() for wait in waiting)
        client.delete(location)
        assert [wait.result().json()["state"] for wait in waiting] == ["cancelled"] * waiters
