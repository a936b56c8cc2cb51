"""Attempts to deliver an event: the request, the meaning of an answer, and the time of the next attempt.

Headers and signature follow Standard Webhooks (https://www.standardwebhooks.com).
"""

import hmac
import random
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from secrets import token_bytes
from uuid import UUID

from app.errors.every import Json, WebhookNotFound
from app.services.limits import Limits
from app.services.outbound import Outbound, resolved
from app.store.unit import UnitOfWork
from app.store.webhooks import Delivery, DeliveryState, EventType, Webhook

SECRET_PREFIX = "whsec_"  # noqa: S105 — of secrets, and none itself
RETRY_AFTER = (
    *(timedelta(seconds=10), timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30)),
    *(timedelta(hours=2), timedelta(hours=5), timedelta(hours=8), timedelta(hours=8)),
)
"""The pause after each failed attempt. The delivery has failed with its last attempt, about a day after the event."""
JITTER = 0.1
"""Each pause is longer by a random part of it, up to this: receivers that were down are not called all at once."""
LONGEST_PAUSE = max(RETRY_AFTER) * (1 + JITTER)
DISABLED_AFTER = timedelta(days=3)
"""A webhook none of whose attempts has succeeded for so long is disabled."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt that is due: the `body` to send to `url`, signed with `secret`."""

    delivery_id: UUID
    webhook_id: UUID
    attempts_before: int
    url: str
    body: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome of an attempt.

    Parameters
    ----------
    status : the HTTP status; None if there was no answer.
    error : why there was none, or why the answer is no success; None if it is one.
    response : the beginning of the answer's body.
    """

    status: int | None = None
    error: str | None = None
    response: str | None = None


def begin(uow: UnitOfWork, delivery_id: UUID, attempts_before: int) -> Attempt | None:
    """The attempt that a task is for; None if it was made already, or the delivery was deleted or has ended."""
    delivery = uow.webhooks.delivery(delivery_id)
    if delivery is None or delivery.state != "pending" or delivery.attempts != attempts_before:
        return None
    webhook = uow.webhooks.get(delivery.webhook_id)
    return Attempt(delivery_id, webhook.id, attempts_before, webhook.url, delivery.body, webhook.secret)


def signed_headers(attempt: Attempt, moment: datetime) -> Mapping[str, str]:
    """The headers of a request whose body is `attempt.body`. The id is the delivery's in every attempt."""
    identity, timestamp = str(attempt.delivery_id), str(int(moment.timestamp()))
    key = b64decode(attempt.secret.removeprefix(SECRET_PREFIX))
    signature = hmac.digest(key, f"{identity}.{timestamp}.{attempt.body}".encode(), "sha256")
    return {
        "webhook-id": identity,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{b64encode(signature).decode()}",
    }


def record(uow: UnitOfWork, attempt: Attempt, answer: Answer) -> None:
    """Record an attempt, and queue the next one if it failed. An attempt that another worker recorded is dropped."""
    try:
        # Locked before the delivery, as everything that changes both does.
        uow.webhooks.get(attempt.webhook_id, for_update=True)
    except WebhookNotFound:
        return
    delivery = uow.webhooks.delivery(attempt.delivery_id, for_update=True)
    if delivery is None or delivery.state != "pending" or delivery.attempts != attempt.attempts_before:
        return
    failed_before = delivery.attempts - delivery.attempts_replayed
    state: DeliveryState = "failed"
    again_after = None
    if answer.error is None:
        uow.webhooks.note_success(attempt.webhook_id)
        state = "succeeded"
    else:
        failing_for = uow.webhooks.note_failure(attempt.webhook_id)
        if answer.status == HTTPStatus.GONE:
            uow.webhooks.disable(attempt.webhook_id, "the receiver answered 410 Gone")
        elif failing_for > DISABLED_AFTER:
            uow.webhooks.disable(attempt.webhook_id, f"no attempt has succeeded for {DISABLED_AFTER.days} days")
        elif failed_before < len(RETRY_AFTER):
            state = "pending"
            again_after = RETRY_AFTER[failed_before] * random.uniform(1, 1 + JITTER)  # noqa: S311 — no secret
    uow.webhooks.record(
        delivery,
        status=answer.status,
        error=answer.error,
        response=answer.response,
        state=state,
        again_after=again_after,
    )


_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Registration:
    """A webhook to create; a secret is made if it has none."""

    url: str
    events: Sequence[EventType]
    secret: str | None = field(default=None, repr=False)


def create(uow: UnitOfWork, registration: Registration, outbound: Outbound, limits: Limits) -> Webhook:
    """Store a webhook. A name that cannot be resolved now may be resolved when there is something to deliver.

    Raises
    ------
    WebhooksDisabled : the operator allows no calls.
    TargetNotAllowed : the URL may not be called.
    LimitExceeded : there are as many webhooks as there may be.
    """
    outbound.require_enabled()
    outbound.target(registration.url, resolved)
    limits.check_number("webhooks", uow.webhooks.count() + 1, path=())
    secret = registration.secret or SECRET_PREFIX + b64encode(token_bytes(_SECRET_BYTES)).decode()
    return uow.webhooks.create(url=registration.url, events=list(dict.fromkeys(registration.events)), secret=secret)


def ping(uow: UnitOfWork, webhook_id: UUID, outbound: Outbound, *, delivery_id: UUID | None = None) -> Delivery:
    """Send an event that reports nothing, also to a disabled webhook. Raises `WebhooksDisabled`, `WebhookNotFound`."""
    outbound.require_enabled()
    webhook = uow.webhooks.get(webhook_id)
    data: dict[str, Json] = {"webhook_id": str(webhook.id), "links": {"webhook": f"/v1/webhooks/{webhook.id}"}}
    return uow.webhooks.ping(webhook.id, data, delivery_id=delivery_id)


def replay(uow: UnitOfWork, webhook_id: UUID, delivery_id: UUID, outbound: Outbound) -> Delivery:
    """Send a delivery again. Raises `WebhooksDisabled`, `WebhookNotFound`, `DeliveryNotFound`."""
    outbound.require_enabled()
    return uow.webhooks.replay(uow.webhooks.get(webhook_id).id, delivery_id)
