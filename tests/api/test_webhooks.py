"""`/v1/webhooks`, and a worker that delivers."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.api.examples import EXAMPLE_DELIVERY_ID, EXAMPLE_WEBHOOK_ID, PLACE, SWEEP, WEBHOOK_REQUEST
from app.store.database import Database
from tests.api.conftest import Serve, StartWorker
from tests.api.contract import UNKNOWN_ID, is_utc, is_uuid7, only_error, problem
from tests.receiver import LOOPBACK, Receiver, answers, receiving

CREATE: dict[str, Any] = WEBHOOK_REQUEST["all"]["value"]
EXAMPLE = f"/v1/webhooks/{EXAMPLE_WEBHOOK_ID}"
ON = {"RACKPLAN_WEBHOOKS": "yes", "RACKPLAN_WEBHOOK_NETWORKS": LOOPBACK}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that answers 200 unless a test says otherwise."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def allowed(client: httpx.Client, database: Database, serve: Serve) -> httpx.Client:  # noqa: ARG001 — resets the rows
    """A client of a service whose operator allows webhooks at loopback addresses."""
    return serve(database, webhook_networks=LOOPBACK)


def created(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    """A webhook, with its secret."""
    response = client.post("/v1/webhooks", json=CREATE | fields)
    assert response.status_code == 201, response.text
    webhook: dict[str, Any] = response.json()
    return webhook


def settled(client: httpx.Client, webhook: dict[str, Any], deliveries: int) -> list[dict[str, Any]]:
    """The deliveries of a webhook, once all of them have ended."""
    until = time.monotonic() + 60
    while True:
        items: list[dict[str, Any]] = client.get(f"/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
        if len(items) >= deliveries and all(item["state"] != "pending" for item in items):
            return items
        assert time.monotonic() < until, items
        time.sleep(0.1)


class TestCreate:
    """`POST /v1/webhooks`."""

    def test_the_secret_is_in_this_answer_alone(self, client: httpx.Client) -> None:
        response = client.post("/v1/webhooks", json=CREATE)
        webhook = response.json()
        assert response.status_code == 201
        assert response.headers["location"] == f"/v1/webhooks/{webhook['id']}"
        assert is_uuid7(webhook["id"])
        assert is_utc(webhook["created_at"])
        secret = webhook.pop("secret")
        assert secret.startswith("whsec_")
        assert client.get(response.headers["location"]).json() == webhook
        listed = client.get("/v1/webhooks")
        assert [item["id"] for item in listed.json()["items"]] == [webhook["id"], str(EXAMPLE_WEBHOOK_ID)]
        assert "secret" not in listed.text
        assert created(client)["secret"] != secret

    def test_a_secret_of_the_caller(self, client: httpx.Client) -> None:
        secret = "whsec_" + "QUJD" * 10
        assert created(client, secret=secret)["secret"] == secret

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"url": "ftp://hooks.example.com/"}, "/url"),
            ({"url": "https://10.0.0.1/"}, "/url"),
            ({"url": "https://0x7f.1/"}, "/url"),
            ({"url": "http://hooks.example.com/"}, "/url"),
            ({"url": "https://me:secret@hooks.example.com/"}, "/url"),
            ({"url": "hooks"}, "/url"),
            ({"events": []}, "/events"),
            ({"events": ["job.begun"]}, "/events/0"),
            ({"secret": "whsec_short"}, "/secret"),
            ({"secret": "A" * 40}, "/secret"),
            ({"secret": None, "name": "x"}, "/name"),
        ],
    )
    def test_bad_fields(self, client: httpx.Client, fields: dict[str, Any], pointer: str) -> None:
        response = client.post("/v1/webhooks", json=CREATE | fields)
        only_error(problem(response, 422, response.json()["code"]), pointer)

    def test_off_unless_the_operator_allows_it(self, client: httpx.Client, database: Database, serve: Serve) -> None:  # noqa: ARG002 — resets the rows
        off = serve(database, webhooks=False)
        for path, body in (("", CREATE), (f"/{EXAMPLE_WEBHOOK_ID}/ping", None)):
            rejected = problem(off.post(f"/v1/webhooks{path}", json=body), 409, "webhooks_disabled")
            assert "RACKPLAN_WEBHOOKS" in rejected["detail"]
        assert off.get("/v1/webhooks").status_code == 200, "what there is can be read, and deleted"
        assert off.delete(EXAMPLE).status_code == 204

    def test_no_more_than_the_limit(self, client: httpx.Client, database: Database, serve: Serve) -> None:  # noqa: ARG002 — resets the rows
        limited = serve(database, max_webhooks=2)
        created(limited)
        rejected = problem(limited.post("/v1/webhooks", json=CREATE), 413, "limit_exceeded")
        assert rejected["limit_name"] == "max_webhooks"

    def test_pages(self, client: httpx.Client) -> None:
        ids = [created(client)["id"] for _ in range(3)]
        first = client.get("/v1/webhooks", params={"page_size": 2}).json()
        second = client.get("/v1/webhooks", params={"page_size": 2, "page_token": first["next_page_token"]}).json()
        assert [item["id"] for page in (first, second) for item in page["items"]] == [
            *reversed(ids),
            str(EXAMPLE_WEBHOOK_ID),
        ]

    def test_unknown(self, client: httpx.Client) -> None:
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/deliveries"), ("POST", "/ping")):
            response = client.request(method, f"/v1/webhooks/{UNKNOWN_ID}{path}")
            problem(response, 404, "webhook_not_found")
        problem(client.post(f"{EXAMPLE}/deliveries/{UNKNOWN_ID}/replay"), 404, "delivery_not_found")
        other = created(client)["id"]
        problem(client.post(f"/v1/webhooks/{other}/deliveries/{EXAMPLE_DELIVERY_ID}/replay"), 404, "delivery_not_found")


class TestEvents:
    """Events of a change, in the transaction of the change."""

    def test_a_plan(self, client: httpx.Client) -> None:
        """Once: the same request is the same plan."""
        webhook = created(client)
        plans = [client.post("/v1/plans/replicas", json=PLACE | {"seed": 5}).json() for _ in range(2)]
        [delivery] = client.get(f"/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
        plan_id = plans[0]["id"]
        assert delivery["payload"]["type"] == "plan.created"
        assert delivery["payload"]["data"] == {
            "plan_id": plan_id,
            "kind": "replicas",
            "cluster": plans[0]["cluster"],
            "links": {"plan": f"/v1/plans/{plan_id}"},
        }
        assert is_utc(delivery["payload"]["timestamp"])
        assert (delivery["state"], delivery["attempts"]) == ("pending", 0)

    def test_a_rejected_request_is_no_event(self, client: httpx.Client) -> None:
        webhook = created(client)
        problem(client.post("/v1/plans/replicas", json=PLACE | {"topics": []}), 422, "validation")
        assert client.get(f"/v1/webhooks/{webhook['id']}/deliveries").json()["items"] == []

    def test_a_sweep_that_is_cancelled(self, client: httpx.Client) -> None:
        webhook = created(client)
        sweep = client.post("/v1/sweeps", json=SWEEP).json()
        client.delete(f"/v1/sweeps/{sweep['id']}")
        client.delete(f"/v1/sweeps/{sweep['id']}")
        [delivery] = client.get(f"/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
        assert delivery["payload"]["type"] == "sweep.ended"
        assert delivery["payload"]["data"] == {
            "sweep_id": sweep["id"],
            "kind": "capacity",
            "state": "cancelled",
            "error_code": None,
            "links": {"sweep": f"/v1/sweeps/{sweep['id']}"},
        }


class TestWorker:
    """A real worker in a process of its own."""

    @pytest.mark.slow
    def test_events_of_jobs_a_ping_and_a_replay(
        self, allowed: httpx.Client, receiver: Receiver, start_worker: StartWorker
    ) -> None:
        webhook = created(allowed, url=receiver.url, events=["job.ended"])
        later = {"Prefer": "respond-async"}
        good = allowed.post("/v1/plans/replicas", json=PLACE | {"seed": 8}, headers=later).json()["id"]
        bad = allowed.post(
            "/v1/plans/reassignment",
            json={"snapshot_id": PLACE["snapshot_id"], "remove_brokers": [77_777]},
            headers=later,
        ).json()["id"]
        start_worker(**ON)
        deliveries = settled(allowed, webhook, 3)  # the example of the documentation is a job as well
        assert all((item["state"], item["status"], item["attempts"]) == ("succeeded", 200, 1) for item in deliveries)
        reported = {item["payload"]["data"]["job_id"]: item["payload"]["data"] for item in deliveries}
        assert (reported[good]["state"], reported[good]["error_code"]) == ("succeeded", None)
        assert reported[good]["links"]["plan"] == f"/v1/plans/{reported[good]['plan_id']}"
        assert (reported[bad]["state"], reported[bad]["error_code"]) == ("failed", "unknown_broker")
        ping = allowed.post(f"/v1/webhooks/{webhook['id']}/ping")
        assert ping.status_code == 202
        settled(allowed, webhook, 4)
        last = receiver.wait_for(4)[-1]
        assert json.loads(last.body)["type"] == "webhook.ping"
        replay = allowed.post(f"/v1/webhooks/{webhook['id']}/deliveries/{ping.json()['id']}/replay")
        assert replay.status_code == 202
        again = receiver.wait_for(5)[-1]
        assert (again.headers["webhook-id"], again.body) == (last.headers["webhook-id"], last.body)

    @pytest.mark.long
    @pytest.mark.slow
    @pytest.mark.parametrize("is_killed", [True, False])
    def test_a_worker_that_ends_in_the_middle_of_an_attempt(
        self, allowed: httpx.Client, receiver: Receiver, start_worker: StartWorker, is_killed: bool
    ) -> None:
        """Another one sends the event again: at least once."""
        webhook = created(allowed, url=receiver.url, events=["plan.created"])
        first = start_worker(**ON)

        def end(handler: Any) -> None:
            first.kill() if is_killed else first.process.terminate()
            first.process.wait(20)
            answers(200)(handler)

        receiver.replies.append(end)
        allowed.post("/v1/plans/replicas", json=PLACE | {"seed": 9})
        receiver.wait_for(1)
        first.process.wait(20)
        [delivery] = allowed.get(f"/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
        assert (delivery["state"], delivery["attempts"]) == ("pending", 0)
        start_worker(**ON)
        [delivery] = settled(allowed, webhook, 1)
        assert (delivery["state"], delivery["attempts"]) == ("succeeded", 1)
        one, two = receiver.wait_for(2)
        assert (one.headers["webhook-id"], one.body) == (two.headers["webhook-id"], two.body)

    @pytest.mark.slow
    def test_a_worker_whose_operator_allows_no_calls(
        self, allowed: httpx.Client, receiver: Receiver, start_worker: StartWorker
    ) -> None:
        """Its jobs run, and deliveries wait."""
        webhook = created(allowed, url=receiver.url, events=["job.ended"])
        job = allowed.post("/v1/plans/replicas", json=PLACE, headers={"Prefer": "respond-async"}).json()["id"]
        start_worker()
        until = time.monotonic() + 60
        while allowed.get(f"/v1/jobs/{job}").json()["finished_at"] is None:
            assert time.monotonic() < until
            time.sleep(0.1)
        items = allowed.get(f"/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
        assert {item["state"] for item in items} == {"pending"}
        assert receiver.received == []
