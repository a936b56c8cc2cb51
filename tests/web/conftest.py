"""The pages as an app of their own, over the run's Postgres."""

import pytest
from fastapi import FastAPI, Request, Response

from app.api.forms import FormRequests
from app.api.problems import documents
from app.errors.access import ShareLinkRejected
from app.services.limits import Limits
from app.store.database import Database
from app.web import assets, console, sharing
from app.web.problem_page import problem_page
from tests.databases import Rows
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
    documents.install(app)
    app.state.problem_page = lambda _, document, status, headers: problem_page(document, status, headers)
    app.add_exception_handler(ShareLinkRejected, rejected)
    return app


@pytest.fixture(scope="session")
def console_app(rows: Rows) -> FastAPI:
    """The pages over the database of the run; an app takes 0.3 s to make and to answer its first request."""
    return app_over(rows.database)


@pytest.fixture
def browser(console_app: FastAPI, database: Database) -> Browser:  # noqa: ARG001 -- its rows are reset
    """A browser in front of an empty service."""
    return Browser(console_app)
