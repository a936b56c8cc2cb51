"""The pages as an app of their own, over the run's Postgres."""

import pytest
from fastapi import FastAPI, Request, Response

from app.api.forms import FormRequests
from app.errors.access import ShareLinkRejected
from app.services.limits import Limits
from app.store.database import Database
from app.web import assets, console, sharing
from tests.web.browser import Browser


def rejected(_: Request, failure: Exception) -> Response:
    """The answer to a share link that is not valid, as the service has it."""
    assert isinstance(failure, ShareLinkRejected)
    return sharing.rejected(failure)


def app_over(database: Database) -> FastAPI:
    """The pages, and nothing that the rest of the service puts around them."""
    app = FastAPI()
    for router in (assets.router(), console.router(database, Limits(), FormRequests(Limits()))):
        app.include_router(router)
    app.add_exception_handler(ShareLinkRejected, rejected)
    return app


@pytest.fixture
def browser(database: Database) -> Browser:
    """A browser in front of an empty service."""
    return Browser(app_over(database))
