"""Create webhooks, and send to them on request."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import TYPE_CHECKING
from uuid import UUID

from app.errors import Json
from app.services.limits import Limits
from app.services.outbound import Outbound, resolved
from app.services.webhooks.attempts import SECRET_PREFIX
from app.store.webhooks import Delivery, EventType, Webhook

if TYPE_CHECKING:
    from app.store.database import UnitOfWork

_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Registration:
    """A webhook to create; a secret is made if it has none."""

    url: str
    events: Sequence[EventType]
    secret: str | None = field(default=None, repr=False)


def create(uow: "UnitOfWork", registration: Registration, outbound: Outbound, limits: Limits) -> Webhook:
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


def ping(uow: "UnitOfWork", webhook_id: UUID, outbound: Outbound, *, delivery_id: UUID | None = None) -> Delivery:
    """Send an event that reports nothing, also to a disabled webhook. Raises `WebhooksDisabled`, `WebhookNotFound`."""
    outbound.require_enabled()
    webhook = uow.webhooks.get(webhook_id)
    data: dict[str, Json] = {"webhook_id": str(webhook.id), "links": {"webhook": f"/v1/webhooks/{webhook.id}"}}
    return uow.webhooks.ping(webhook.id, data, delivery_id=delivery_id)


def replay(uow: "UnitOfWork", webhook_id: UUID, delivery_id: UUID, outbound: Outbound) -> Delivery:
    """Send a delivery again. Raises `WebhooksDisabled`, `WebhookNotFound`, `DeliveryNotFound`."""
    outbound.require_enabled()
    return uow.webhooks.replay(uow.webhooks.get(webhook_id).id, delivery_id)
