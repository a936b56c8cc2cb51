"""The API, put together: settings → database → services → routers.

`uvicorn app.main:create_app --factory` serves it; `rackplan serve` does, once it has started what that needs.
"""

# The objects that imports create stay: a quarter of a second of collections would find none to free.
import gc

gc.disable()

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import socket
from threading import Event

import orjson
from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, FastAPI, Security
from fastapi.middleware.cors import CORSMiddleware
from starlette.types import Lifespan

from app import __version__, logs
from app.api import checks, health, jobs, keys, plans, snapshots, sweeps, webhooks
from app.api.forms import FormRequests
from app.api.health import Readiness
from app.api.http.auth import KeyBeforeBody, named, reader
from app.api.http.compression import Compression
from app.api.http.following import Followers
from app.api.http.known_query import only_known_query
from app.api.http.memory import FreedMemory
from app.api.http.middleware import BodyLimit, Head, Interrupted, Overload, RequestLog, SameOrigin, TrustedHost
from app.api.openapi import document
from app.api.plan_kinds import PLAN_RESOURCES
from app.api.problems import codes
from app.api.problems.documents import install as install_problems
from app.api.reassignment import progress
from app.api.slots import serving
from app.api.slots.dispatch import SlotDispatch
from app.api.start.preparation import CompilingHeader, Preparation
from app.settings import SLOT_CONNECTIONS, Settings
from app.slots.admission import Admission, Capacity
from app.slots.pool import Pool
from app.store.database import Database
from app.web import assets, console, reference, sharing
from app.web.access import CONSOLE, Access
from app.web.chart_process import ENGINE
from app.web.plans import page as pages

gc.freeze()
gc.enable()

_FOLLOWERS = 2
"""Database connections of requests that follow a job or sweep, of the spare ones in `Settings`."""
_OWN_PATHS = ("/healthz", "/readyz", "/metrics", "/static/", "/docs", "/redoc", "/openapi.json")
"""Beginnings of the paths that are served by the process that listens: they compute nothing."""
_PRELOADED = ("app.slots.tied", "app.main", "app.core.compiled.loaded")


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service as an ASGI application, over a database that is migrated already.

    Parameters
    ----------
    settings : if None, read from the environment; `database_url` has to be set.
    """
    settings = settings or Settings()
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is None:
        raise ValueError("RACKPLAN_DATABASE_URL is not set; `rackplan serve` starts a Postgres of its own")
    database = Database(settings.database_url, connections=settings.database_connections)
    admission = Admission(Capacity(settings.concurrent_requests, settings.queued_requests, settings.queue_seconds))
    is_ending = Event()
    preparation = Preparation(database, is_ending, has_webhooks=settings.webhooks)
    readiness = Readiness(settings.database_url, settings.spark_master, compiling=lambda: preparation.compiling)
    pool = _slots(settings) if settings.solver_processes else None

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = settings.threads
        preparation.start()
        if pool is not None:
            pool.start(preparation.is_done)
        yield
        is_ending.set()
        ENGINE.close()
        if pool is not None:
            pool.close()
        preparation.wait_for_end()
        readiness.close()
        database.close()

    app = _operations(settings, database, admission, lifespan)
    app.state.is_prepared, app.state.is_ending = preparation.is_done, is_ending
    app.state.readiness, app.state.slots = readiness, pool
    app.state.followers = Followers(database, admission, is_ending, connections=_FOLLOWERS)
    # The middleware that is added last is the outermost: every response is logged, also of a rejected body or origin.
    app.add_middleware(
        SlotDispatch,
        pool=pool,
        limits=settings.limits,
        own_paths=_OWN_PATHS,
        is_compiling=lambda: preparation.compiling is not None,
    )
    app.add_middleware(KeyBeforeBody, database=database, open_paths=_OWN_PATHS)
    install_problems(app)
    app.add_middleware(Compression)
    app.add_middleware(Overload, admission=admission)
    app.add_middleware(BodyLimit, max_body_bytes=settings.max_body_bytes)
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer"],
            expose_headers=[
                "ETag",
                "Location",
                "Preference-Applied",
                "Rackplan-Compiling",
                "Retry-After",
                "X-Request-ID",
            ],
        )
    app.add_middleware(SameOrigin, allowed_origins=settings.allowed_origins)
    if settings.hosts is not None:
        app.add_middleware(TrustedHost, hosts=settings.hosts)
    app.add_middleware(Interrupted)
    app.add_middleware(Head)
    app.add_middleware(CompilingHeader, preparation=preparation)
    app.add_middleware(RequestLog)
    app.add_middleware(FreedMemory)
    return app


def serve_slot(connection: socket, settings: Settings) -> None:
    """Serve the requests of a slot: what `SlotDispatch` has passed on, without what every request has passed before."""
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is None:
        raise ValueError("the parent states the database")
    database = Database(settings.database_url, connections=SLOT_CONNECTIONS)
    app = _operations(settings, database, Admission(Capacity(1, 0, settings.queue_seconds)))
    serving.answer_memory_errors(app, memory_mib=settings.slot_memory_mib)
    install_problems(app)
    app.add_middleware(Compression)
    serving.run(app, connection, memory_mib=settings.slot_memory_mib)


def _slots(settings: Settings) -> Pool:
    return Pool(
        serve_slot,
        (settings,),
        preloaded=_PRELOADED,
        solvers=settings.solver_processes,
        readers=settings.reader_processes,
        queued=settings.queued_requests,
        queue_s=settings.queue_seconds,
    )


def _operations(
    settings: Settings, database: Database, admission: Admission, lifespan: Lifespan[FastAPI] | None = None
) -> FastAPI:
    """The application without its middleware: operations and pages."""
    app = FastAPI(title=document.TITLE, version=__version__, lifespan=lifespan, openapi_url=None)
    app.state.database = database
    app.state.limits = settings.limits
    app.state.outbound = settings.outbound
    app.state.admission = admission
    for router in (
        snapshots.router,
        *(resource.router for resource in PLAN_RESOURCES.values()),
        *(module.router for module in (plans, progress, checks, keys, sweeps, jobs, webhooks, health)),
    ):
        app.include_router(router, dependencies=[Depends(only_known_query)])
    app.state.picture = pages.plan_picture
    access = Access(
        Security(reader(sharing.is_shared), scopes=["read"]),
        Security(named(CONSOLE), scopes=["plan"]),
        Security(named(CONSOLE), scopes=["sweep"]),
        Security(named(CONSOLE), scopes=["admin"]),
    )
    app.include_router(assets.router())
    openapi = reference.OpenApiDocument(lambda: orjson.dumps(app.openapi()))
    app.include_router(reference.router(openapi, codes.FAMILIES))
    app.include_router(
        console.router(
            database,
            settings.limits,
            FormRequests(settings.limits, settings.outbound),
            ancestors=settings.frame_ancestors,
            access=access,
        )
    )
    document.install(app, settings.limits)
    console.install(app)
    return app
