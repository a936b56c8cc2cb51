"""`/webhooks`: webhooks are created, tried and deleted; the newest deliveries of each, and all on a page of its own."""

from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import Annotated, Literal, Protocol, get_args
from uuid import UUID

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.errors import Failure
from app.store.database import Database, UnitOfWork
from app.store.webhooks import DeliveryState, EventType, Webhook
from app.web.access import Access
from app.web.forms.fields import errors_of
from app.web.lists import SIZE, next_page
from app.web.pages import Pages, page, shown_once

MOST_WEBHOOKS = 100
_DELIVERIES = 5


class Subscriptions(Protocol):
    """Creates webhooks and sends to them."""

    @property
    def are_enabled(self) -> bool: ...

    def subscribe(self, uow: UnitOfWork, url: str, events: Sequence[str]) -> Webhook:
        """Return the webhook. Raises the `Failure`s of creating it."""

    def ping(self, uow: UnitOfWork, webhook_id: UUID) -> None:
        """Send an event that reports nothing. Raises `WebhooksDisabled`, `WebhookNotFound`."""

    def replay(self, uow: UnitOfWork, webhook_id: UUID, delivery_id: UUID) -> None:
        """Send a delivery again. Raises `WebhooksDisabled`, `WebhookNotFound`, `DeliveryNotFound`."""


def router(database: Database, subscriptions: Subscriptions, access: Access) -> APIRouter:
    """The page of webhooks; every request needs the right of an administrator."""
    routes = Pages(dependencies=[access.admin])

    shown = partial(_page, database, subscriptions)

    @routes.get("/webhooks")
    def listed() -> Response:
        return shown()

    routes.include_router(_deliveries(database, subscriptions))

    @routes.post("/webhooks")
    def create(
        url: Annotated[str, Form(max_length=2000)] = "", events: Annotated[Sequence[str], Form(max_length=10)] = ()
    ) -> Response:
        return _created(database, subscriptions, url, events)

    def done(change: Callable[[UnitOfWork], None]) -> Response:
        try:
            with database.begin() as uow:
                change(uow)
        except Failure as failure:
            return shown(problems=[failure.detail])
        return RedirectResponse("/webhooks", HTTPStatus.SEE_OTHER)

    @routes.post("/webhooks/{webhook_id}/{action}")
    def act(webhook_id: UUID, action: Literal["delete", "test"]) -> Response:
        if action == "delete":
            return done(lambda uow: uow.webhooks.delete(webhook_id))
        return done(lambda uow: subscriptions.ping(uow, webhook_id))

    @routes.post("/webhooks/{webhook_id}/deliveries/{delivery_id}/replay")
    def replay(webhook_id: UUID, delivery_id: UUID) -> Response:
        return done(lambda uow: subscriptions.replay(uow, webhook_id, delivery_id))

    return routes


def _page(
    database: Database,
    subscriptions: Subscriptions,
    *,
    url: str = "",
    events: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> Response:
    """The page of webhooks, with the typed values and their problems."""
    with database.begin() as uow:
        listed = uow.webhooks.page(before=None, size=MOST_WEBHOOKS).items
        deliveries = {
            each.id: uow.webhooks.deliveries(each.id, state=None, before=None, size=_DELIVERIES).items
            for each in listed
        }
    return page(
        "webhooks.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        webhooks=listed,
        deliveries=deliveries,
        are_enabled=subscriptions.are_enabled,
        types=get_args(EventType),
        url=url,
        events=events,
        problems=problems,
    )


def _created(database: Database, subscriptions: Subscriptions, url: str, events: Sequence[str]) -> Response:
    """The new webhook with its secret, or why it was not created."""
    try:
        with database.begin() as uow:
            made = subscriptions.subscribe(uow, url.strip(), events)
    except Failure as failure:
        problems = [str(each["detail"]) for each in errors_of(failure)]
        return _page(database, subscriptions, url=url, events=events, problems=problems)
    return shown_once(page("webhook.html", webhook=made))


def _deliveries(database: Database, subscriptions: Subscriptions) -> APIRouter:
    """All deliveries of a webhook, with their bodies."""
    routes = APIRouter()

    @routes.get("/webhooks/{webhook_id}")
    def all_deliveries(
        webhook_id: UUID,
        state: Annotated[DeliveryState | Literal[""], Query()] = "",
        before: Annotated[UUID | None, Query()] = None,
    ) -> Response:
        with database.begin() as uow:
            webhook = uow.webhooks.get(webhook_id)
            found = uow.webhooks.deliveries(webhook_id, state=state or None, before=before, size=SIZE)
        return page(
            "deliveries.html",
            webhook=webhook,
            deliveries=found.items,
            state=state,
            states=get_args(DeliveryState),
            next_page=next_page(f"/webhooks/{webhook_id}", {"state": state}, found),
            are_enabled=subscriptions.are_enabled,
        )

    return routes
