"""What happens to every request before it reaches its operation, and to every response after."""

import time
from secrets import token_hex

import structlog
from prometheus_client import Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.admission import Admission
from app.api.problems import of_failure
from app.errors import Forbidden, LimitExceeded, ServiceBusy
from app.errors.quotation import quoted

_LONGEST_REQUEST_ID = 64
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS = _SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
REQUESTS = Histogram(
    "rackplan_request_seconds", "Seconds that requests took, by operation and status.", ("method", "route", "status")
)
_QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


class RequestLog:
    """Give every request an id; log it once when it has been answered, and measure it.

    An `X-Request-ID` that the caller sent is kept where it is short and printable. Neither bodies nor headers are
    logged: they may hold keys.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _given_id(Headers(scope=scope)) or token_hex(16)
        scope.setdefault("state", {})["request_id"] = request_id
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                headers.setdefault("X-Content-Type-Options", "nosniff")
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            seconds = time.perf_counter() - started
            # The operation's path, not the request's: ids would make every request a series of its own.
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            REQUESTS.labels(method, route, status).observe(seconds)
            log = structlog.get_logger()
            (log.debug if scope["path"] in _QUIET_PATHS else log.info)(
                "request.answered",
                method=quoted(scope["method"]),
                path=quoted(scope["path"]),
                status=status,
                seconds=round(seconds, 4),
            )
            structlog.contextvars.unbind_contextvars("request_id")


class Overload:
    """Turn a request away before anything else is done for it, while no more can wait.

    Routing, reading and validating what is not served would cost more than serving what is. What tells whether the
    service is alive is always answered.
    """

    def __init__(self, app: ASGIApp, *, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in _QUIET_PATHS:
            try:
                self._admission.check()
            except ServiceBusy as busy:
                await of_failure(Request(scope), busy)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class BodyLimit:
    """Refuse a body that is longer than the limit: at once where its length is announced, else as soon as it is."""

    def __init__(self, app: ASGIApp, *, max_body_bytes: int) -> None:
        self._app = app
        self._limit = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > self._limit:
            await of_failure(Request(scope), self._failure(f"{announced} bytes"))(scope, receive, send)
            return
        received = 0

        async def receive_within_limit() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                raise self._failure(f"{received} bytes or more")
            return message

        await self._app(scope, receive_within_limit, send)

    def _failure(self, length: str) -> LimitExceeded:
        return LimitExceeded(
            f"the body has {length}; the limit is {self._limit} bytes", limit_name="max_body_bytes", limit=self._limit
        )


class SameOrigin:
    """Refuse what a page of another origin sends to change something.

    A browser adds a stored password, and reaches a loopback address, on behalf of any page; it also says which page.
    Origins that the operator allowed are let through; CORS decides what they may read.

    A service that only this machine can reach is asked for by a name of this machine. Any other name is that of a page
    whose owner made it point here, so as to be of the same origin; `hosts` None lets all of them through.
    """

    def __init__(self, app: ASGIApp, *, allowed_origins: tuple[str, ...], hosts: frozenset[str] | None) -> None:
        self._app = app
        self._allowed = frozenset(allowed_origins)
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._hosts is not None:
            host = Headers(scope=scope).get("host", "")
            if host.rsplit(":", 1)[0].lower() not in self._hosts and host.lower() not in self._hosts:
                detail = f"this service does not go by the name {quoted(host)}; RACKPLAN_ALLOWED_HOSTS lets it"
                await of_failure(Request(scope), Forbidden(detail, host=quoted(host)))(scope, receive, send)
                return
        if scope["type"] == "http" and scope["method"] not in _SAFE_METHODS:
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            # An origin is a scheme, a host and a port, as `Host` has them; what is none names nobody's host.
            if origin is not None and origin not in self._allowed and origin.partition("://")[2] != headers.get("host"):
                failure = Forbidden(f"origin {quoted(origin)} may not change anything here", origin=quoted(origin))
                await of_failure(Request(scope), failure)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _given_id(headers: Headers) -> str | None:
    given = headers.get("x-request-id", "")
    return given if 0 < len(given) <= _LONGEST_REQUEST_ID and given.isascii() and given.isprintable() else None
