"""The service in this process: the real application in a real server, on a free loopback port."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import httpx
import uvicorn

from app.api.http.deferred_routers import DeferredRouters
from app.main import create_app
from app.settings import Settings
from app.store.database import Database

_PREPARED_WITHIN_S = 300.0
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients of loopback, where there is no TLS: reading every authority's certificate takes 30 ms."""


@contextmanager
def served(database: Database, **changed: object) -> Iterator[str]:
    """Serve a database, with some settings changed; the context's value is the address of the service."""
    url = database.url.render_as_string(hide_password=False)
    # In threads: processes of each service's own would take seconds to start; `tests/api/test_slots.py` has them.
    usual = {"database_url": url, "log_level": "warning", "webhooks": True, "examples": True, "solver_processes": 0}
    settings = Settings(**(usual | changed))  # type: ignore[arg-type] # by name
    app = create_app(settings)
    app.state.routers = DeferredRouters({}, apart=())  # to build ahead: requests build theirs; all of them take 0.2 s
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False, proxy_headers=False)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        thread.join(0.02)
    assert app.state.is_prepared.wait(_PREPARED_WITHIN_S), "the examples were not stored"
    while app.state.slots is not None and not app.state.slots.is_ready:
        assert thread.is_alive(), "the service ended"
        thread.join(0.05)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


def client_of(address: str) -> httpx.Client:
    """A client of a service. It accepts no encoding unless a test states one: most look at headers of a plain body."""
    headers = {"Accept-Encoding": "identity"}
    return httpx.Client(base_url=address, timeout=60, verify=NO_AUTHORITIES, headers=headers)
