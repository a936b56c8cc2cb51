"""Webhooks, and the deliveries to them, which are the outbox of events.

A store that ends a job or a sweep, or stores a plan, calls `publish` in its own transaction: there is no event without
its change, and no change without its event. Each delivery is also a task on a queue of its own, for its next attempt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias
from uuid import UUID

import orjson
import sqlalchemy as sa

from app.errors import Json
from app.errors.requests import DeliveryNotFound, WebhookNotFound
from app.store.queue import DELIVERIES, defer
from app.store.tables import webhook_deliveries, webhooks
from app.store.transaction import Page, Rows, columns_of, equal, page_of, uuid7

DELIVER = "deliver_webhook"
"""Name of the queue task of one attempt; its arguments are the id of the delivery and the number of attempts before."""
PING = "webhook.ping"
"""The type of the event that is sent on request, to try a webhook."""


EventType: TypeAlias = Literal["job.ended", "sweep.ended", "plan.created"]
"""The events that a webhook can subscribe to."""
DeliveryState: TypeAlias = Literal["pending", "succeeded", "failed"]
"""Whether an event has reached a webhook."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A subscription of a URL to types of events.

    Parameters
    ----------
    failing_since : when the first of the attempts failed of which none has succeeded since; None if the last succeeded.
    disabled_at, disabled_reason : None unless no events are delivered to it.
    """

    id: UUID
    url: str
    events: Sequence[str]
    secret: str = field(repr=False)
    created_at: datetime
    failing_since: datetime | None
    disabled_at: datetime | None
    disabled_reason: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event on its way to one webhook.

    Parameters
    ----------
    body : the document that every attempt sends.
    state : pending, succeeded or failed.
    attempts, attempts_replayed : attempts so far, and before the last replay.
    status, error, response : of the last attempt: the HTTP status, or the failure; the beginning of the answer.
    next_attempt_at : None unless it is pending.
    """

    id: UUID
    webhook_id: UUID
    body: str
    state: DeliveryState
    attempts: int
    attempts_replayed: int
    status: int | None
    error: str | None
    response: str | None
    created_at: datetime
    attempted_at: datetime | None
    next_attempt_at: datetime | None


_DELIVERY = columns_of(webhook_deliveries, Delivery)


def publish(connection: sa.Connection, event: EventType, data: Mapping[str, Json], *, team: str) -> None:
    """Queue an event for every enabled webhook of a team that subscribes to it, in the transaction of the change.

    Parameters
    ----------
    data : ids, states and links; small, since a receiver reads the resource itself if it needs more.
    """
    subscribed = (
        sa.select(webhooks.c.id)
        .where(webhooks.c.team == team, webhooks.c.disabled_at.is_(None))
        .where(sa.literal(event) == sa.any_(webhooks.c.events))
        # A webhook that is deleted meanwhile would violate the foreign key, and roll the change back.
        .with_for_update(read=True, key_share=True)
    )
    for webhook_id in connection.scalars(subscribed).all():
        _queue(connection, webhook_id, event, data)


def _queue(
    connection: sa.Connection, webhook_id: UUID, event: str, data: Mapping[str, Json], delivery_id: UUID | None = None
) -> Delivery:
    body = orjson.dumps({"type": event, "timestamp": datetime.now(UTC), "data": data}, option=orjson.OPT_UTC_Z)
    new = webhook_deliveries.insert().values(
        id=delivery_id or uuid7(),
        webhook_id=webhook_id,
        body=body.decode(),
        state="pending",
        next_attempt_at=sa.func.now(),
    )
    delivery = Delivery(*connection.execute(new.returning(*_DELIVERY)).one())
    _defer(connection, delivery)
    return delivery


def _defer(connection: sa.Connection, delivery: Delivery, *, after: timedelta | None = None) -> None:
    arguments: dict[str, str | int] = {"delivery_id": str(delivery.id), "attempts": delivery.attempts}
    defer(connection, DELIVER, arguments, after=after, queue=DELIVERIES)


class Webhooks(Rows[Webhook]):
    """Webhooks and their deliveries in one transaction. `publish` allows that a webhook is locked."""

    _table, _record, _missing = webhooks, Webhook, WebhookNotFound

    def create(self, *, url: str, events: Sequence[str], secret: str, webhook_id: UUID | None = None) -> Webhook:
        """Store a webhook."""
        return self._inserted(webhook_id, url=url, events=list(events), secret=secret)

    def count(self) -> int:
        """Number of webhooks of the team."""
        query = sa.select(sa.func.count()).select_from(webhooks).where(webhooks.c.team == self._team)
        return self._reading.scalars(query).one()

    def disable(self, webhook_id: UUID, reason: str) -> None:
        """Deliver no more events to the webhook. Waiting events end as failed."""
        changed = webhooks.update().where(webhooks.c.id == webhook_id, webhooks.c.disabled_at.is_(None))
        self._writing.execute(changed.values(disabled_at=sa.func.now(), disabled_reason=reason))
        waiting = webhook_deliveries.update().where(
            webhook_deliveries.c.webhook_id == webhook_id, webhook_deliveries.c.state == "pending"
        )
        self._writing.execute(waiting.values(state="failed", error="the webhook was disabled", next_attempt_at=None))

    def note_success(self, webhook_id: UUID) -> None:
        """An attempt has succeeded: the webhook is enabled, if it was not."""
        noted = webhooks.update().where(
            webhooks.c.id == webhook_id,
            sa.or_(webhooks.c.failing_since.is_not(None), webhooks.c.disabled_at.is_not(None)),
        )
        self._writing.execute(noted.values(failing_since=None, disabled_at=None, disabled_reason=None))

    def note_failure(self, webhook_id: UUID) -> timedelta:
        """An attempt has failed; return for how long no attempt has succeeded."""
        since = sa.func.coalesce(webhooks.c.failing_since, sa.func.now())
        noted = webhooks.update().where(webhooks.c.id == webhook_id).values(failing_since=since)
        failing_for: timedelta | None = self._writing.scalar(noted.returning(sa.func.now() - webhooks.c.failing_since))
        return failing_for or timedelta()

    # -- deliveries --------------------------------------------------------------------------------------------------

    def ping(self, webhook_id: UUID, data: Mapping[str, Json], *, delivery_id: UUID | None = None) -> Delivery:
        """Queue an event of the type `PING` for one webhook, enabled or not."""
        return _queue(self._writing, webhook_id, PING, data, delivery_id)

    def deliveries(self, webhook_id: UUID, *, state: str | None, before: UUID | None, size: int) -> Page[Delivery]:
        """Deliveries of a webhook, newest first; `before` is the last id of the page before."""
        wanted = (webhook_deliveries.c.webhook_id == webhook_id, *equal(webhook_deliveries, state=state))
        return page_of(self._reading, webhook_deliveries, Delivery, *wanted, before=before, size=size)

    def delivery(self, delivery_id: UUID, *, for_update: bool = False) -> Delivery | None:
        """The delivery, or None, as after its webhook was deleted; `for_update` locks its row."""
        query = sa.select(*_DELIVERY).where(webhook_deliveries.c.id == delivery_id)
        row = self._writing.execute(query.with_for_update() if for_update else query).one_or_none()
        return None if row is None else Delivery(*row)

    def replay(self, webhook_id: UUID, delivery_id: UUID) -> Delivery:
        """Send a delivery again, now, and begin its schedule anew. Raises `DeliveryNotFound`."""
        c = webhook_deliveries.c
        changed = webhook_deliveries.update().where(c.id == delivery_id, c.webhook_id == webhook_id)
        values = {"state": "pending", "attempts_replayed": c.attempts, "next_attempt_at": sa.func.now()}
        row = self._writing.execute(changed.values(values).returning(*_DELIVERY)).one_or_none()
        if row is None:
            detail = f"webhook {webhook_id} has no delivery {delivery_id}"
            raise DeliveryNotFound(detail, webhook_id=str(webhook_id), delivery_id=str(delivery_id))
        delivery = Delivery(*row)
        _defer(self._writing, delivery)
        return delivery

    def record(
        self,
        delivery: Delivery,
        *,
        status: int | None,
        error: str | None,
        response: str | None,
        state: DeliveryState,
        again_after: timedelta | None,
    ) -> None:
        """Record an attempt of a delivery whose row is locked; with `again_after` the next one is put on the queue."""
        next_attempt_at = None if again_after is None else sa.func.now() + again_after
        changed = webhook_deliveries.update().where(webhook_deliveries.c.id == delivery.id)
        values = {
            "state": state,
            "attempts": delivery.attempts + 1,
            "status": status,
            "error": error,
            "response": response,
            "attempted_at": sa.func.now(),
            "next_attempt_at": next_attempt_at,
        }
        recorded = Delivery(*self._writing.execute(changed.values(values).returning(*_DELIVERY)).one())
        if again_after is not None:
            _defer(self._writing, recorded, after=again_after)

    def expire(self, *, older_than: timedelta) -> int:
        """Delete the deliveries of events that are older; return their number."""
        old = webhook_deliveries.delete().where(webhook_deliveries.c.created_at < sa.func.now() - older_than)
        return self._writing.execute(old).rowcount
