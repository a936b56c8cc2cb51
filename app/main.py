"""The API, put together: its processes, and the middleware around `app.operations`.

`uvicorn app.main:create_app --factory` serves it; `rackplan serve` does, once it has started the API's processes.
"""

# The objects that imports create stay: a quarter of a second of collections would find none to free.
import gc

_COLLECTS = gc.isenabled()  # not in the server process of slots, which imports more after this module
gc.disable()

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app import __version__, logs, tracing
from app.api.health import Readiness
from app.api.http import middleware
from app.api.http.audit import Audit, AuditLog
from app.api.http.auth import CHECKED_WITHIN_S, TEAM_HEADER, KeyBeforeBody
from app.api.http.compression import Compression, Pieces
from app.api.http.following import Followers
from app.api.http.memory import FreedMemory
from app.api.http.rate_limits import Allowance, RateLimits
from app.api.problems.documents import OrProblem
from app.api.problems.documents import install as install_problems
from app.api.resources import ROUTERS
from app.api.slots import serving
from app.api.slots.dispatch import READERS, SOLVERS, SlotDispatch
from app.api.slots.sizes import SMALL_OPERATION
from app.api.start.preparation import Preparation
from app.deferred import IMPORTING
from app.operations import EAGER_PATHS, SIGN_IN_PATHS, application
from app.services.oidc.options import OidcOptions
from app.settings import SLOT_CONNECTIONS, Settings
from app.slots import server
from app.slots.admission import Admission, Capacity
from app.slots.pool import Pool
from app.store.database import Database
from app.web.chart_process import ENGINE

gc.freeze()
if _COLLECTS:
    gc.enable()

_SMALL_AT_ONCE = 2
"""Small plans that threads make at the same time: they share one interpreter lock with the event loop. With 16 the loop
waits for each of them: a sixth fewer are made, and none in 5 s if 990 connections send without a pause.
"""
_FOLLOWERS = 2
"""Database connections of requests that follow a job or sweep, of the spare ones in `Settings`."""
_OWN_PATHS = (*EAGER_PATHS, "/docs", "/redoc", "/openapi.json")
"""Beginnings of the paths that are served by the process that listens: they compute nothing."""
_CORS_ALLOWED = f"Authorization Content-Type Idempotency-Key If-Match If-None-Match Prefer {TEAM_HEADER}"
_CORS_EXPOSED = (
    f"ETag Location Preference-Applied {middleware.COMPILING} RateLimit RateLimit-Policy Retry-After X-Request-ID"
)
"""Headers of requests and of responses of pages of other origins."""
_PATIENCE = 3
"""Longest wait for a slot as a multiple of the longest expected one: a request that waits is soon served."""
_PRELOADED = (
    "app.slots.tied",
    "app.main",
    *(reference.partition(":")[0] for reference in ROUTERS.references.values()),
    "app.web.console",
    # Modules that functions import when a request needs them; the solvers bring pandas, which is most of their 35 MB.
    "app.api.forms",
    "app.api.openapi.document",
    "app.api.problems.codes",
    "app.web.problem_page",
    "app.web.reference",
    "markdown_it",
    "ortools.graph.python.max_flow",
    "ortools.graph.python.min_cost_flow",
    "ortools.linear_solver.pywraplp",
    "ortools.sat.python.cp_model",
    "pyarrow.csv",
    "pyarrow.parquet",
    "app.core.compiled.loaded",
)
"""Modules that slots share: all that they need, so that none of them imports it again.

A slot that imported one would keep it to itself, and the request that was the first to need it would wait.
"""


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
    tracing.start("api", __version__)
    database = Database(
        settings.database_url,
        connections=settings.database_connections,
        own_locks_s=CHECKED_WITHIN_S,
        quotas=settings.quotas,
        statements_s=settings.limits.deadline_seconds if settings.solver_processes else None,
    )
    admission = Admission(_capacity(settings, settings.concurrent_requests))
    small = Admission(_capacity(settings, _SMALL_AT_ONCE))
    is_ending = Event()
    preparation = Preparation(database, is_ending, stores_examples=settings.examples, has_webhooks=settings.webhooks)
    pool = _slots(settings) if settings.solver_processes else None
    readiness = Readiness(
        settings.database_url,
        settings.spark_master,
        compiling=lambda: preparation.compiling,
        slots=lambda: "none; requests are served in threads" if pool is None else pool.state,
    )
    audit = AuditLog(Database(settings.database_url, connections=1))

    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = settings.threads
        preparation.start(api.state.routers, None if pool is None else (SMALL_OPERATION,))
        if pool is not None:
            # New objects after which garbage is collected. With Python's 700, planners and solvers that the first
            # requests import, and that stay, are looked at again and again, which takes up to a fifth of the time.
            gc.set_threshold(20_000)
            pool.start(preparation.is_done)
        yield
        is_ending.set()
        ENGINE.close()
        if pool is not None:
            pool.close()
        preparation.wait_for_end()
        await audit.add_counted()
        audit.close()
        readiness.close()
        database.close()
        tracing.stop()

    app = application(settings, database, admission, lifespan)
    own_paths = (*_OWN_PATHS, *(SIGN_IN_PATHS if app.state.may_sign_in else ()))
    app.state.is_prepared, app.state.is_ending = preparation.is_done, is_ending
    app.state.readiness, app.state.slots, app.state.audit = readiness, pool, audit
    app.state.dropped_log_lines = logs.dropped
    app.state.occupancy = lambda: {
        "threads": admission.occupancy,
        **({} if pool is None else {"small": small.occupancy, **pool.occupancy}),
    }
    app.state.followers = Followers(database, admission, is_ending, connections=_FOLLOWERS)
    app.add_middleware(
        SlotDispatch,
        pool=pool,
        small=small,
        limits=settings.limits,
        own_paths=own_paths,
        is_compiling=lambda: preparation.compiling is not None,
    )
    app.add_middleware(KeyBeforeBody, database=database, open_paths=own_paths, may_be_open=settings.may_be_open)
    if settings.oidc is not None:
        _identify(app, settings.oidc, database, own_paths)
    install_problems(app)
    _surround(app, settings, admission, preparation)
    return app


def _identify(app: FastAPI, options: OidcOptions, database: Database, open_paths: Sequence[str]) -> None:
    with IMPORTING:
        from app.api.http.identification import Identification  # noqa: PLC0415 — few services have an issuer
        from app.services.oidc.tokens import Tokens  # noqa: PLC0415 — few services have an issuer

    tokens = Tokens(options, app.state.issuer)
    app.add_middleware(Identification, database=database, options=options, tokens=tokens, open_paths=open_paths)


def _surround(app: FastAPI, settings: Settings, admission: Admission, preparation: Preparation) -> None:
    """Add the middleware that precedes the choice of a slot; the last added is outermost."""
    app.add_middleware(Compression)
    checks = (middleware.no_overload(admission), middleware.no_nul, middleware.no_encoding)
    app.add_middleware(middleware.Checks, checks=checks)
    app.add_middleware(middleware.BodyLimit, max_body_bytes=settings.max_body_bytes)
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=_CORS_ALLOWED.split(),
            expose_headers=_CORS_EXPOSED.split(),
        )
    named = () if settings.hosts is None else (middleware.named_as(settings.hosts),)
    app.add_middleware(middleware.Checks, checks=(*named, middleware.same_origin(settings.allowed_origins)))
    app.add_middleware(
        RateLimits,
        per_key=Allowance("key", settings.rate_per_key, settings.concurrent_per_key),
        per_address=Allowance("address", settings.rate_per_address, settings.concurrent_per_address),
        quiet_paths=middleware.QUIET_PATHS,
    )
    app.add_middleware(Audit, log=app.state.audit, quiet_paths=middleware.QUIET_PATHS)
    app.add_middleware(OrProblem, raised=asyncio.CancelledError, answer=middleware.of_stop)
    app.add_middleware(middleware.Head)
    app.add_middleware(middleware.RequestLog, compiling=lambda: preparation.compiling)
    app.add_middleware(FreedMemory)
    app.add_middleware(Pieces)
    if settings.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=[*map(str, settings.trusted_proxies)])


def serve_slot(connection: Connection, folder: Path, settings: Settings) -> None:
    """Serve the requests of a slot, passed on by `SlotDispatch`, without the middleware before it."""
    logs.configure(settings.log_format, settings.log_level)
    if settings.database_url is None:
        raise ValueError("the parent states the database")
    tracing.start("slot", __version__)
    database = Database(
        settings.database_url, connections=SLOT_CONNECTIONS, own_locks_s=CHECKED_WITHIN_S, quotas=settings.quotas
    )
    app = application(settings, database, Admission(Capacity(1, 0, settings.queue_seconds)))
    serving.answer_memory_errors(app, memory_mib=settings.slot_memory_mib)
    install_problems(app)
    app.add_middleware(Compression)
    serving.run(app, connection, folder, memory_mib=settings.slot_memory_mib)
    logs.flush()


def _capacity(settings: Settings, concurrent: int) -> Capacity:
    expected_s = settings.queue_seconds
    return Capacity(concurrent, settings.queued_requests, _PATIENCE * expected_s, expected_s)


def _slots(settings: Settings) -> Pool:
    return Pool(
        serve_slot,
        (server.scratch().path, settings),
        preloaded=_PRELOADED,
        lanes={
            # Readers first: they are started in this order.
            READERS: _capacity(settings, settings.reader_processes),
            SOLVERS: _capacity(settings, settings.solver_processes),
        },
    )
