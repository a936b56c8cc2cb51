"""The operations and pages as an application, which the process that listens and the slots share."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import orjson
from fastapi import APIRouter, Depends, FastAPI, Request, Response, Security
from fastapi.telemetry import TelemetryConfig
from starlette.types import Lifespan

from app import __version__
from app.api import health
from app.api.http.auth import NoTeamYet, named, reader
from app.api.http.deferred_routers import BuildRouters, DeferredRouters, only_known_query
from app.api.resources import ROUTERS
from app.core.model import Cluster
from app.deferred import IMPORTING
from app.errors.access import ShareLinkRejected
from app.services.oidc.options import OidcOptions
from app.services.plans import Plan
from app.settings import Settings
from app.slots.admission import Admission
from app.store.database import Database
from app.web import assets

EAGER_PATHS = ("/healthz", "/readyz", "/metrics", "/static/")
"""Beginnings of the paths whose routers are not deferred."""
SIGN_IN_PATHS = ("/sign-in", "/sign-out")
"""Beginnings of the paths that sign browsers in and out: only the process that listens sends requests to the issuer."""
_OWN_TRACES: Final[TelemetryConfig] = {"tracing": False, "metrics": False, "logs": False}
"""FastAPI reports nothing by itself. `app.tracing` and `app.api.http.metrics` do, and it would look at the
environment for each request whether it has to."""
_BY_KEY = "/use-key"
"""The path at which a browser asks for an API key, where it could sign in instead."""


def application(
    settings: Settings, database: Database, admission: Admission, lifespan: Lifespan[FastAPI] | None = None
) -> FastAPI:
    """The application without its middleware: operations and pages."""
    app = FastAPI(version=__version__, lifespan=lifespan, openapi_url=None, telemetry=_OWN_TRACES)
    app.state.database = database
    app.state.limits = settings.limits
    app.state.outbound = settings.outbound
    app.state.admission = admission
    # An address that other machines can reach is never open, also if the keys are forgotten while the service runs.
    app.state.may_be_open = settings.may_be_open
    options = settings.oidc
    app.state.may_sign_in = options is not None and options.may_sign_in
    app.state.issuer = None if options is None else _issuer(options)
    routers = DeferredRouters(
        {
            **{operation: partial(ROUTERS.__getitem__, operation) for operation in ROUTERS},
            "/": partial(_pages, app, settings, database),
        },
        apart=("/v1/", *EAGER_PATHS),
    )
    app.state.routers = routers
    for operation in ROUTERS:
        app.include_router(routers.places[operation], dependencies=[Depends(only_known_query)])
    app.include_router(health.router, dependencies=[Depends(only_known_query)])
    app.include_router(assets.router())
    app.include_router(routers.places["/"])
    app.add_middleware(BuildRouters, routers=routers)
    app.add_middleware(NoTeamYet)
    app.state.picture = _picture
    app.state.problem_page = partial(_problem_page, may_sign_in=app.state.may_sign_in)

    def openapi() -> dict[str, Any]:
        with IMPORTING:
            from app.api.openapi.document import document_of  # noqa: PLC0415 — see `_pages`

        routers.build_all()
        return document_of(app, settings.limits)

    app.openapi = openapi  # type: ignore[method-assign] # FastAPI's documented way

    @app.exception_handler(ShareLinkRejected)
    async def _rejected(_: Request, failure: ShareLinkRejected) -> Response:
        with IMPORTING:
            from app.web import sharing  # noqa: PLC0415 — see `_pages`

        return sharing.rejected(failure)

    return app


def _issuer(options: OidcOptions) -> Any:
    with IMPORTING:
        from app.services.oidc.issuer import Issuer  # noqa: PLC0415 — few services have an issuer

    return Issuer(options)


def _pages(app: FastAPI, settings: Settings, database: Database) -> APIRouter:
    """The pages and the reference. Imported when one is first requested: a start of the service needs none of them."""
    with IMPORTING:
        from app.api.forms import FormRequests  # noqa: PLC0415 — a start needs none of them
        from app.api.problems import codes  # noqa: PLC0415 — a start needs none of them
        from app.web import console, reference, sharing  # noqa: PLC0415 — a start needs none of them
        from app.web.access import CONSOLE, Access  # noqa: PLC0415 — a start needs none of them

    access = Access(
        Security(reader(sharing.shared_team), scopes=["read"]),
        Security(named(CONSOLE), scopes=["plan"]),
        Security(named(CONSOLE), scopes=["sweep"]),
        Security(named(CONSOLE), scopes=["admin"]),
        may_be_open=settings.may_be_open,
    )
    openapi = reference.OpenApiDocument(lambda: orjson.dumps(app.openapi()))
    routes = APIRouter()
    routes.routes += reference.router(openapi, codes.FAMILIES).routes
    requests = FormRequests(settings.limits, settings.outbound)
    pages = console.router(database, settings.limits, requests, ancestors=settings.frame_ancestors, access=access)
    routes.routes += pages.routes
    if settings.oidc is not None and settings.oidc.may_sign_in:
        with IMPORTING:
            from app.services.oidc.sign_in import SignIn  # noqa: PLC0415 — a start needs none of them
            from app.web import sign_in  # noqa: PLC0415 — a start needs none of them

        routes.routes += sign_in.router(database, SignIn(settings.oidc, app.state.issuer), access).routes
    return routes


def _picture(plan: Plan, cluster: Cluster) -> bytes:
    with IMPORTING:
        from app.web.plans import page  # noqa: PLC0415 — see `_pages`

    return page.plan_picture(plan, cluster)


def _problem_page(
    request: Request, document: Mapping[str, Any], status: int, headers: Mapping[str, str], *, may_sign_in: bool
) -> Response:
    with IMPORTING:
        from app.web.problem_page import problem_page  # noqa: PLC0415 — see `_pages`

    is_keyed = "Authorization" in request.headers
    if not may_sign_in or status not in (401, 403) or request.url.path == _BY_KEY:
        return problem_page(document, status, headers, has_credentials=is_keyed)
    # Without a challenge of HTTP Basic, for which a browser shows a dialog of its own in place of the page.
    headers = {name: value for name, value in headers.items() if name != "WWW-Authenticate"}
    challenge = {"WWW-Authenticate": 'Bearer realm="rackplan"'} if status == 401 else {}
    to = "/" if request.method != "GET" or request.url.path.startswith(SIGN_IN_PATHS) else _path_of(request)
    return problem_page(document, status, headers | challenge, sign_in=to, has_credentials=is_keyed)


def _path_of(request: Request) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
