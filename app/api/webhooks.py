"""`/v1/webhooks`: URLs that are called when a job or sweep ends or a plan is created."""

from base64 import b64decode
from datetime import datetime
from typing import Annotated, Any, get_args
from uuid import UUID

import orjson
from fastapi import Body, Query, Response
from pydantic import AfterValidator, Field, HttpUrl
from pydantic_core import PydanticCustomError

from app.api import examples
from app.api.http.auth import OutboundCalls, RequestLimits, Uow, json_only
from app.api.http.idempotency import OnceOnly
from app.api.http.operations import Operations, PageSize, PageToken, id_of_token, json_response, page_response
from app.services import webhooks
from app.services.bodies import AnswerRecord, Request
from app.services.fields import Id
from app.services.webhooks import SECRET_PREFIX
from app.store.webhooks import Delivery, DeliveryState, EventType

router = Operations("/v1/webhooks", "webhooks", scope="admin")

WebhookId = Annotated[Id, examples.WEBHOOK_ID]
DeliveryId = Annotated[Id, examples.DELIVERY_ID]

_FEWEST_SECRET_BYTES, _MOST_SECRET_BYTES = 24, 64


def _secret(text: str) -> str:
    try:
        size = len(b64decode(text.removeprefix(SECRET_PREFIX), validate=True))
    except ValueError:
        size = 0
    if not text.startswith(SECRET_PREFIX) or not _FEWEST_SECRET_BYTES <= size <= _MOST_SECRET_BYTES:
        message = "A secret is whsec_ and the base64 of {fewest} to {most} bytes"
        raise PydanticCustomError("secret", message, {"fewest": _FEWEST_SECRET_BYTES, "most": _MOST_SECRET_BYTES})
    return text


class WebhookRequest(Request):
    """A webhook to create."""

    url: HttpUrl
    """The URL that events are sent to by POST: https, and at a public address unless the operator lists its network in
    `RACKPLAN_WEBHOOK_NETWORKS`; no user name, password or fragment."""
    events: Annotated[list[EventType], Field(min_length=1, max_length=len(get_args(EventType)))]
    """Types of events to send."""
    secret: Annotated[str, Field(max_length=100), AfterValidator(_secret)] | None = None
    """The key of the signatures: `whsec_` and the base64 of 24 to 64 bytes; made if missing."""

    def service(self) -> webhooks.Registration:
        """The request of the service."""
        return webhooks.Registration(str(self.url), self.events, self.secret)


class WebhookDocument(AnswerRecord):
    """A webhook, without its secret."""

    id: UUID
    """Id of the webhook (UUIDv7)."""
    url: str
    """The URL that events are sent to."""
    events: list[EventType]
    """Types of events that are sent."""
    created_at: datetime
    """When the webhook was created."""
    failing_since: datetime | None
    """When the first attempt failed since the last that succeeded; null if the last succeeded."""
    disabled_at: datetime | None
    """When the webhook was disabled; null if events are delivered to it."""
    disabled_reason: str | None
    """Why the webhook was disabled; null if it was not."""


class CreatedWebhook(WebhookDocument):
    """A new webhook, with its secret."""

    secret: str
    """The key of the signatures. No other answer has it."""


class WebhooksPage(AnswerRecord):
    """Webhooks, newest first."""

    items: list[WebhookDocument]
    """The webhooks of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


class DeliveryDocument(AnswerRecord):
    """An event and its delivery to a webhook."""

    id: UUID
    """Id of the delivery; the header `webhook-id` of each attempt."""
    webhook_id: UUID
    """Id of the webhook."""
    state: DeliveryState
    """`pending` until an attempt is answered 2xx (`succeeded`) or the last has failed (`failed`)."""
    attempts: int
    """Attempts so far, those before a replay included."""
    status: int | None
    """HTTP status of the last answer; null if there was none."""
    error: str | None
    """Why the last attempt failed; null if it did not."""
    response: str | None
    """Beginning of the last answer, at most 1 KiB."""
    created_at: datetime
    """When the event happened."""
    attempted_at: datetime | None
    """When the last attempt ended; null before the first."""
    next_attempt_at: datetime | None
    """When the next attempt is due; null if none is."""
    payload: dict[str, Any]
    """The body of each attempt: `type`, `timestamp` and `data` of the event."""


class DeliveriesPage(AnswerRecord):
    """Deliveries, newest first."""

    items: list[DeliveryDocument]
    """The deliveries of this page."""
    next_page_token: str | None
    """`page_token` of the next page; null on the last."""


@router.operation("POST", answer=CreatedWebhook, status=201, takes=json_only)
def create_webhook(
    uow: Uow,
    once: OnceOnly,
    limits: RequestLimits,
    outbound: OutboundCalls,
    body: Annotated[WebhookRequest, Body(openapi_examples=examples.WEBHOOK_REQUEST)],
) -> Response:
    """Create a webhook.

    Send events to a URL, signed as [Standard Webhooks](https://www.standardwebhooks.com) says.

    An event is delivered at least once, in no certain order: if an attempt is not answered 2xx within 10 s, it is
    repeated for some 24 hours. The answer has the secret of the signatures, which no later answer has. The operator has
    to allow webhooks (`RACKPLAN_WEBHOOKS`).
    """

    def answer() -> Response:
        webhook = webhooks.create(uow, body.service(), outbound, limits)
        return json_response(CreatedWebhook.of(webhook), status=201, headers={"Location": f"/v1/webhooks/{webhook.id}"})

    return once(answer)


@router.operation("GET", answer=WebhooksPage)
def list_webhooks(uow: Uow, page_size: PageSize = 50, page_token: PageToken = None) -> Response:
    """List webhooks, newest first.

    Page through the webhooks, without their secrets.
    """
    page = uow.webhooks.page(before=id_of_token(page_token), size=page_size)
    return page_response(page, map(WebhookDocument.of, page.items))


@router.operation("GET /{webhook_id}", answer=WebhookDocument)
def get_webhook(uow: Uow, webhook_id: WebhookId) -> Response:
    """Get a webhook.

    The webhook, whether it fails or was disabled, without its secret.
    """
    return json_response(WebhookDocument.of(uow.webhooks.get(webhook_id)))


@router.operation("DELETE /{webhook_id}", status=204)
def delete_webhook(uow: Uow, webhook_id: WebhookId) -> Response:
    """Delete a webhook.

    Delete a webhook and its deliveries, also those that are pending. An attempt in progress is not interrupted.
    """
    uow.webhooks.delete(webhook_id)
    return Response(status_code=204)


@router.operation("POST /{webhook_id}/ping", answer=DeliveryDocument, status=202)
def ping_webhook(uow: Uow, once: OnceOnly, outbound: OutboundCalls, webhook_id: WebhookId) -> Response:
    """Send a test event.

    Send an event of the type `webhook.ping`, also to a webhook that was disabled, which a 2xx answer enables.
    """
    return once(lambda: _accepted(webhooks.ping(uow, webhook_id, outbound)))


@router.operation("GET /{webhook_id}/deliveries", answer=DeliveriesPage)
def list_deliveries(
    uow: Uow,
    webhook_id: WebhookId,
    state: Annotated[DeliveryState | None, Query(description="Deliveries in this state.")] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """List deliveries to a webhook, newest first.

    Page through the deliveries: their states, attempts and last answers. They are deleted after some days
    (`RACKPLAN_WEBHOOK_DAYS`).
    """
    webhook = uow.webhooks.get(webhook_id)
    page = uow.webhooks.deliveries(webhook.id, state=state, before=id_of_token(page_token), size=page_size)
    return page_response(page, map(_delivery, page.items))


@router.operation("POST /{webhook_id}/deliveries/{delivery_id}/replay", answer=DeliveryDocument, status=202)
def replay_delivery(
    uow: Uow, once: OnceOnly, outbound: OutboundCalls, webhook_id: WebhookId, delivery_id: DeliveryId
) -> Response:
    """Send a delivery again.

    Send a delivery again now, whatever its state, with the same `webhook-id` and body; its schedule begins anew.
    """
    return once(lambda: _accepted(webhooks.replay(uow, webhook_id, delivery_id, outbound)))


def _delivery(delivery: Delivery) -> DeliveryDocument:
    return DeliveryDocument.of(delivery, payload=orjson.loads(delivery.body))


def _accepted(delivery: Delivery) -> Response:
    return json_response(
        _delivery(delivery), status=202, headers={"Location": f"/v1/webhooks/{delivery.webhook_id}/deliveries"}
    )
