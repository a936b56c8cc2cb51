"""Webhooks: URLs that the service calls when jobs and sweeps end and plans are created."""

from __future__ import annotations

from typing import Unpack

import rackplan.requests as fields
from rackplan import models
from rackplan.exchange import exchange, pages, path
from rackplan.flows import Bound, Flow, Items, K, Request, iteration, operation


class WebhookOperations(Bound[K]):
    """Operations on webhooks."""

    @operation
    def create_webhook(self, **request: Unpack[fields.WebhookRequest]) -> Flow[models.CreatedWebhook]:
        """Create a webhook. The answer has the secret of its signatures, which no later answer has."""
        response = yield from exchange(self._client, Request("POST", path("webhooks"), json=request))
        return models.CreatedWebhook(response.json())

    @iteration
    def list_webhooks(self, *, page_size: int | None = None) -> Items[models.WebhookDocument]:
        """Iterate over webhooks, newest first.

        Parameters
        ----------
        page_size : how many are read at a time.
        """
        request = Request("GET", path("webhooks"), {"page_size": page_size})
        return pages(self._client, request, models.WebhookDocument)

    @operation
    def get_webhook(self, webhook_id: str) -> Flow[models.WebhookDocument]:
        """Read a webhook, without its secret."""
        response = yield from exchange(self._client, Request("GET", path("webhooks", webhook_id)))
        return models.WebhookDocument(response.json())

    @operation
    def delete_webhook(self, webhook_id: str) -> Flow[None]:
        """Delete a webhook and its deliveries."""
        yield from exchange(self._client, Request("DELETE", path("webhooks", webhook_id)))

    @operation
    def ping_webhook(self, webhook_id: str) -> Flow[models.DeliveryDocument]:
        """Send a test event; a disabled webhook that answers 2xx is enabled."""
        response = yield from exchange(self._client, Request("POST", path("webhooks", webhook_id, "ping")))
        return models.DeliveryDocument(response.json())

    @iteration
    def list_deliveries(
        self, webhook_id: str, *, state: fields.ListDeliveriesState | None = None, page_size: int | None = None
    ) -> Items[models.DeliveryDocument]:
        """Iterate over the deliveries to a webhook, newest first.

        Parameters
        ----------
        page_size : how many are read at a time.
        """
        query = {"state": state, "page_size": page_size}
        request = Request("GET", path("webhooks", webhook_id, "deliveries"), query)
        return pages(self._client, request, models.DeliveryDocument)

    @operation
    def replay_delivery(self, webhook_id: str, delivery_id: str) -> Flow[models.DeliveryDocument]:
        """Send a delivery again now, with the same id and body."""
        place = path("webhooks", webhook_id, "deliveries", delivery_id, "replay")
        response = yield from exchange(self._client, Request("POST", place))
        return models.DeliveryDocument(response.json())
