"""The pages as an app of their own, over the run's Postgres."""

import pytest
from fastapi import FastAPI

from app.api.forms import FormRequests
from app.services.limits import Limits
from app.store.database import Database
from app.web import assets, console
from tests.web.browser import Browser


def app_over(database: Database) -> FastAPI:
    """The pages, and nothing that the rest of the service puts around them."""
    app = FastAPI()
    for router in (assets.router(), console.router(database, Limits(), FormRequests(Limits()))):
        app.include_router(router)
    console.install(app)
    return app


@pytest.fixture
def browser(database: Database) -> Browser:
    """A browser in front of an empty service."""
    return Browser(app_over(database))
