"""Attempts to deliver events, to a real receiver: requests, meanings of answers, and times of further attempts."""

import asyncio
import hmac
import json
import ssl
import subprocess
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import get_args
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from app.errors import Failure
from app.jobs import webhooks as sending
from app.jobs.webhooks import Sender
from app.services import webhooks
from app.services.limits import Limits
from app.services.outbound import Outbound
from app.services.webhooks import JITTER, RETRY_AFTER, Attempt, Registration
from app.store.database import Database
from app.store.transaction import uuid7
from app.store.webhooks import Delivery, EventType, Webhook, publish
from tests.receiver import LOOPBACK, Received, Receiver, Reply, answers, receiving

OUTBOUND = Outbound(is_enabled=True, networks=(ip_network(LOOPBACK),))
SECRET = "whsec_" + b64encode(bytes(range(32))).decode()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver that answers 200 unless a test says otherwise."""
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def sender() -> Sender:
    """Sends to loopback addresses."""
    return Sender(OUTBOUND)


def created(database: Database, url: str, *events: EventType) -> Webhook:
    """A webhook."""
    with database.begin() as uow:
        registration = Registration(url, events or get_args(EventType), SECRET)
        return webhooks.create(uow, registration, OUTBOUND, Limits())


def happened(database: Database, event: EventType = "plan.created") -> None:
    """Publish an event."""
    with database.engine.begin() as connection:
        publish(connection, event, {"plan_id": "none", "links": {}}, team="default")


def due(database: Database) -> list[tuple[UUID, int, float]]:
    """Take every task of an attempt off the queue: the delivery, the attempts before, the seconds until it is due."""
    query = sa.text(
        "WITH taken AS (DELETE FROM procrastinate_jobs WHERE queue_name = 'webhooks' RETURNING *) "
        "SELECT id, task_name, args, coalesce(extract(epoch FROM scheduled_at - now()), 0) FROM taken ORDER BY id"
    )
    with database.engine.begin() as connection:
        rows = connection.execute(query).all()
    assert all(task == "deliver_webhook" for _, task, _, _ in rows)
    return [(UUID(args["delivery_id"]), args["attempts"], float(seconds)) for _, _, args, seconds in rows]


def attempt_all(database: Database, sender: Sender) -> list[float]:
    """Make every attempt that is on the queue as if it were due; the seconds until each was."""
    tasks = due(database)
    for delivery_id, attempts, _ in tasks:
        asyncio.run(sender.deliver(database, delivery_id=delivery_id, attempts_before=attempts))
    return [seconds for _, _, seconds in tasks]


def only(database: Database, webhook: Webhook) -> Delivery:
    """The one delivery of a webhook."""
    with database.begin() as uow:
        [delivery] = uow.webhooks.deliveries(webhook.id, state=None, before=None, size=9).items
        return delivery


def now(database: Database, webhook: Webhook) -> Webhook:
    """The webhook as it is stored now."""
    with database.begin() as uow:
        return uow.webhooks.get(webhook.id)


def verified(request: Received, secret: str) -> dict[str, object]:
    """The body of a request, verified by the rules of Standard Webhooks."""
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.{request.body}".encode()
    expected = b64encode(hmac.new(b64decode(secret[6:]), signed, "sha256").digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"
    assert abs(time.time() - int(request.headers["webhook-timestamp"])) < 300
    body: dict[str, object] = json.loads(request.body)
    return body


def test_the_signature_is_that_of_the_specification() -> None:
    """The example of the specification's libraries, with its id in place of a UUID."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 — the specification's
    attempt = Attempt(UUID(int=1), UUID(int=2), 0, "https://a.example/", '{"test": 2432232314}', secret)
    headers = webhooks.signed_headers(attempt, datetime.fromtimestamp(1614265330, UTC))
    signed = f'{UUID(int=1)}.1614265330.{{"test": 2432232314}}'
    digest = subprocess.run(
        ["openssl", "dgst", "-sha256", "-binary", "-mac", "hmac", "-macopt", f"hexkey:{b64decode(secret[6:]).hex()}"],
        input=signed.encode(),
        capture_output=True,
        check=True,
    ).stdout
    assert headers == {
        "webhook-id": str(UUID(int=1)),
        "webhook-timestamp": "1614265330",
        "webhook-signature": f"v1,{b64encode(digest).decode()}",
    }


class TestSuccess:
    """An attempt that is answered 2xx."""

    def test_it_is_signed_and_small(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        webhook = created(database, receiver.url)
        happened(database)
        receiver.replies.append(answers(202, b"thank you"))
        assert attempt_all(database, sender) == [0]
        [request] = receiver.received
        body = verified(request, SECRET)
        assert body["type"] == "plan.created"
        assert body["data"] == {"plan_id": "none", "links": {}}
        assert str(body["timestamp"]).endswith("Z")
        delivery = only(database, webhook)
        assert request.headers["webhook-id"] == str(delivery.id)
        assert request.headers["content-type"] == "application/json"
        assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
        assert request.path == "/hook?of=tests"
        assert (delivery.state, delivery.attempts, delivery.status) == ("succeeded", 1, 202)
        assert (delivery.error, delivery.response, delivery.next_attempt_at) == (None, "thank you", None)
        assert due(database) == []

    def test_only_what_is_subscribed(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        created(database, receiver.url, "sweep.ended")
        happened(database, "plan.created")
        happened(database, "sweep.ended")
        attempt_all(database, sender)
        assert [json.loads(request.body)["type"] for request in receiver.received] == ["sweep.ended"]

    def test_no_event_without_its_change(self, database: Database, receiver: Receiver) -> None:
        """A transaction that is rolled back leaves neither a delivery nor a task."""
        webhook = created(database, receiver.url)
        with database.engine.begin() as connection:
            publish(connection, "plan.created", {}, team="default")
            connection.rollback()
        with database.begin() as uow:
            assert not uow.webhooks.deliveries(webhook.id, state=None, before=None, size=9).items
        assert due(database) == []

    def test_a_task_that_runs_twice_sends_once(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        """As after a worker that was taken for dead and is not."""
        created(database, receiver.url)
        happened(database)
        [(delivery_id, attempts, _)] = due(database)
        for _ in range(2):
            asyncio.run(sender.deliver(database, delivery_id=delivery_id, attempts_before=attempts))
        assert len(receiver.received) == 1


class TestFailure:
    """An attempt that fails is repeated by the schedule."""

    @pytest.mark.parametrize(
        ("reply", "status", "error"),
        [
            (answers(500, b"x" * 5000), 500, "the answer is 500"),
            (answers(404), 404, "the answer is 404"),
            (answers(302, Location="/elsewhere"), 302, "redirects are not followed"),
            (lambda handler: handler.connection.close(), None, "disconnected"),
        ],
    )
    def test_answers(
        self, database: Database, receiver: Receiver, sender: Sender, reply: Reply, status: int | None, error: str
    ) -> None:
        webhook = created(database, receiver.url)
        happened(database)
        receiver.replies.append(reply)
        attempt_all(database, sender)
        delivery = only(database, webhook)
        assert (delivery.state, delivery.attempts, delivery.status) == ("pending", 1, status)
        assert error in str(delivery.error)
        assert len(delivery.response or "") <= 1024
        assert len(receiver.received) == 1
        attempt_all(database, sender)
        first, second = receiver.received
        assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
        verified(second, SECRET)
        assert only(database, webhook).state == "succeeded"
        assert now(database, webhook).failing_since is None

    def test_no_receiver(self, database: Database, sender: Sender) -> None:
        with receiving() as receiver:
            url = receiver.url
        webhook = created(database, url)
        happened(database)
        attempt_all(database, sender)
        delivery = only(database, webhook)
        assert (delivery.state, delivery.status) == ("pending", None)
        assert delivery.error

    @pytest.mark.parametrize("drips", [False, True])
    def test_a_receiver_that_is_slow(
        self, database: Database, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, drips: bool
    ) -> None:
        """It is given up after a time, also if it sends a byte now and then."""
        monkeypatch.setattr(sending, "TIMEOUT_S", 0.3)
        monkeypatch.setattr(sending, "ENDS_WITHIN_S", 0.6)

        def slow(handler: BaseHTTPRequestHandler) -> None:
            for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 80:
                time.sleep(0.1)
                if drips:
                    handler.wfile.write(bytes([byte]))

        receiver.replies.append(slow)
        webhook = created(database, receiver.url)
        happened(database)
        attempt_all(database, Sender(OUTBOUND))
        delivery = only(database, webhook)
        assert (delivery.state, delivery.status) == ("pending", None)
        assert "answer within" in str(delivery.error)

    def test_the_schedule(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        """Nine attempts over about a day; then the delivery has failed."""
        webhook = created(database, receiver.url)
        happened(database)
        receiver.replies += [answers(503)] * 99
        assert attempt_all(database, sender) == [0]
        for pause in RETRY_AFTER:
            assert only(database, webhook).state == "pending"
            [seconds] = attempt_all(database, sender)
            assert pause.total_seconds() - 60 < seconds <= pause.total_seconds() * (1 + JITTER)
        delivery = only(database, webhook)
        assert (delivery.state, delivery.attempts, delivery.next_attempt_at) == ("failed", 9, None)
        assert due(database) == []
        assert timedelta(hours=20) < sum(RETRY_AFTER, timedelta()) < timedelta(hours=28)

    def test_a_replay_begins_the_schedule_anew(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        webhook = created(database, receiver.url)
        happened(database)
        receiver.replies += [answers(503)] * 10
        while only(database, webhook).state == "pending":
            attempt_all(database, sender)
        with database.begin() as uow:
            webhooks.replay(uow, webhook.id, only(database, webhook).id, OUTBOUND)
        assert attempt_all(database, sender) == [0]
        assert only(database, webhook).state == "pending"
        [seconds] = attempt_all(database, sender)
        assert seconds < 60
        delivery = only(database, webhook)
        assert (delivery.state, delivery.attempts) == ("succeeded", 11)
        assert len({request.headers["webhook-id"] for request in receiver.received}) == 1

    def test_a_replay_while_it_waits_is_not_two_schedules(
        self, database: Database, receiver: Receiver, sender: Sender
    ) -> None:
        webhook = created(database, receiver.url)
        happened(database)
        receiver.replies += [answers(503)] * 9
        with database.begin() as uow:
            webhooks.replay(uow, webhook.id, only(database, webhook).id, OUTBOUND)
        assert len(attempt_all(database, sender)) == 2
        assert len(due(database)) == 1
        assert only(database, webhook).attempts == 1


class TestDisabled:
    """A webhook that will not be reached again."""

    def test_410(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        webhook = created(database, receiver.url)
        happened(database)
        happened(database)
        receiver.replies.append(answers(410))
        attempt_all(database, sender)
        assert len(receiver.received) == 1, "what waits is not sent"
        disabled = now(database, webhook)
        assert disabled.disabled_at
        assert "410" in str(disabled.disabled_reason)
        happened(database)
        assert due(database) == []
        with database.begin() as uow:
            page = uow.webhooks.deliveries(webhook.id, state=None, before=None, size=9)
        assert [(delivery.state, delivery.status) for delivery in page.items] == [("failed", None), ("failed", 410)]

    def test_days_without_success_and_a_ping(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        webhook = created(database, receiver.url)
        receiver.replies += [answers(500)] * 3
        happened(database)
        attempt_all(database, sender)
        assert now(database, webhook).disabled_at is None
        with database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE webhooks SET failing_since = failing_since - interval '73 hours'"))
        attempt_all(database, sender)
        assert "3 days" in str(now(database, webhook).disabled_reason)
        for expected in (True, False):
            with database.begin() as uow:
                webhooks.ping(uow, webhook.id, OUTBOUND)
            attempt_all(database, sender)
            assert (now(database, webhook).disabled_at is not None) == expected
        assert now(database, webhook).failing_since is None

    def test_deleted_while_deliveries_wait(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        webhook = created(database, receiver.url)
        happened(database)
        with database.begin() as uow:
            uow.webhooks.delete(webhook.id)
        assert attempt_all(database, sender) == [0]
        assert receiver.received == []

    def test_deleted_during_an_attempt(self, database: Database, receiver: Receiver, sender: Sender) -> None:
        webhook = created(database, receiver.url)
        happened(database)

        def delete(handler: BaseHTTPRequestHandler) -> None:
            with database.begin() as uow:
                uow.webhooks.delete(webhook.id)
            answers(500)(handler)

        receiver.replies.append(delete)
        attempt_all(database, sender)
        assert due(database) == []

    def test_old_deliveries_are_deleted(self, database: Database, receiver: Receiver) -> None:
        created(database, receiver.url)
        happened(database)
        with database.begin() as uow:
            assert uow.webhooks.expire(older_than=timedelta(days=7)) == 0
            assert uow.webhooks.expire(older_than=timedelta()) == 1


class TestConnection:
    """The connection goes to an address that was checked, in the name of the host."""

    def test_a_name_that_is_rebound(self, database: Database, receiver: Receiver) -> None:
        """Public when the webhook is created, loopback when it is called: nothing is connected."""
        webhook = created(database, "https://hooks.example.com/hook")
        happened(database)
        sender = Sender(Outbound(is_enabled=True), resolve=lambda *_: [ip_address("127.0.0.1")])
        attempt_all(database, sender)
        assert "not a public address" in str(only(database, webhook).error)
        assert receiver.received == []

    def test_a_name_is_resolved_once_an_attempt(self, receiver: Receiver) -> None:
        """A resolver that answers otherwise the second time is not queried a second time."""
        resolutions = iter([[ip_address("127.0.0.1")], [ip_address("169.254.169.254")]])
        sender = Sender(OUTBOUND, resolve=lambda *_: next(resolutions))
        asyncio.run(sender.send(_attempt(f"http://hooks.example.com:{receiver.port}/hook")))
        [request] = receiver.received
        assert request.headers["host"] == f"hooks.example.com:{receiver.port}"

    def test_the_next_address_if_one_does_not_answer(self, receiver: Receiver) -> None:
        addresses = [ip_address("127.0.0.9"), ip_address("127.0.0.1")]
        sender = Sender(OUTBOUND, resolve=lambda *_: addresses)
        answer = asyncio.run(sender.send(_attempt(f"http://hooks.example.com:{receiver.port}/hook")))
        assert (answer.status, answer.error) == (200, None)

    def test_a_name_that_cannot_be_resolved(self) -> None:
        answer = asyncio.run(Sender(OUTBOUND).send(_attempt("https://no-such-host.invalid/")))
        assert answer.error == "no-such-host.invalid cannot be resolved"

    def test_no_proxy_of_the_environment(self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        assert asyncio.run(Sender(OUTBOUND).send(_attempt(receiver.url))).status == 200

    def test_tls_by_the_name_of_the_host(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The certificate has to be valid for the host, and the host is named in the handshake (SNI)."""
        certificate, key = _certificate(tmp_path, "hooks.example.com")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        names: list[str | None] = []
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        tls.sni_callback = lambda _, name, __: names.append(name)
        with receiving(tls=tls) as receiver:
            sender = Sender(OUTBOUND, resolve=lambda *_: [ip_address("127.0.0.1")])
            valid = asyncio.run(sender.send(_attempt(f"https://hooks.example.com:{receiver.port}/hook")))
            other = asyncio.run(sender.send(_attempt(f"https://other.example.com:{receiver.port}/hook")))
        assert (valid.status, valid.error) == (200, None)
        assert names == ["hooks.example.com", "other.example.com"]
        assert "certificate" in str(other.error).lower()
        assert len(receiver.received) == 1


def _attempt(url: str) -> Attempt:
    return Attempt(uuid7(), uuid7(), 0, url, "{}", SECRET)


def _certificate(folder: Path, name: str) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
            ),
            *("-keyout", key, "-out", certificate, "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


@pytest.mark.parametrize("call", [webhooks.ping, lambda uow, who, on: webhooks.replay(uow, who, uuid4(), on)])
def test_nothing_is_sent_on_request_while_webhooks_are_off(database: Database, call: Callable[..., Delivery]) -> None:
    with pytest.raises(Failure, match="RACKPLAN_WEBHOOKS"), database.begin() as uow:
        call(uow, uuid4(), Outbound())
