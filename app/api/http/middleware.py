"""Middleware of every request: request id, span and log, HEAD, host and origin checks, overload, body limit."""

import asyncio
import re
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from http import HTTPStatus
from secrets import token_hex
from typing import Final, TypeAlias

import structlog
from anyio import CancelScope
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import tracing
from app.api.http.audit import METHODS, READING
from app.api.http.metrics import count_plan, count_request
from app.api.problems.documents import of_failure
from app.api.problems.field_errors import first_of, pointer
from app.errors import Failure
from app.errors.access import Forbidden, ServiceBusy, ServiceStopping, UnsupportedMediaType
from app.errors.quotation import quoted
from app.errors.requests import InvalidField, LimitExceeded
from app.services.plans.pipeline import SUCCEEDED, PlanOutcome, receiving
from app.slots.admission import Admission, Pace

QUIET_PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths of requests that are answered at any load: they compute nothing, and report the state of the service."""
BEYOND_LIMIT: Final = "beyond_limit"
"""Key of a request's state for the limit on connections, if its connection is beyond it."""
COMPILING: Final = "Rackplan-Compiling"
"""Header of responses while loops are compiled: `120 of 220`. A plan that needs a missing loop compiles it first."""
_LONGEST_REQUEST_ID = 64
_REJECTIONS = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
"""Statuses of rejections. Many of them are delayed: clients that send again at once would leave no time for others."""
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(:[0-9]*)?")
"""A name or an address, and perhaps a port."""


class RequestLog:
    """Give every request an id and a span, log it once when it has been answered, and measure it.

    The line has the code of the problem, if the response is one, and the kind, hash, solver seconds and optimality gap
    of a plan that the request made. An `X-Request-ID` of the caller is used if it is short and printable. Neither
    bodies nor headers are logged: they may contain keys.

    Parameters
    ----------
    compiling : the progress of the compilation of loops, which responses state; None if nothing is compiled.
    """

    def __init__(self, app: ASGIApp, *, compiling: Callable[[], str | None]) -> None:
        self._app, self._compiling = app, compiling
        self._rejections = Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _given_id(headers) or token_hex(16)
        scope.setdefault("state", {})["request_id"] = request_id
        method, is_quiet = scope["method"], scope["path"] in QUIET_PATHS
        with (
            tracing.continued(None if is_quiet else headers.get("traceparent")),
            nullcontext() if is_quiet else tracing.span(method, "server", http_request_method=method) as span,
            structlog.contextvars.bound_contextvars(request_id=request_id, **tracing.log_fields()),
        ):
            status, route = await self._answered(scope, receive, send)
            tracing.annotate(span, name=f"{method} {route}", http_route=route, http_response_status__code=status)
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                tracing.fail(span)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> tuple[int, str]:
        """The status of the answer, and the path of the operation."""
        # A context variable that is set here would not come back from the thread of the operation; this record does.
        plans: list[PlanOutcome] = []
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status in _REJECTIONS and scope["path"] not in QUIET_PATHS and BEYOND_LIMIT not in scope["state"]:
                    await asyncio.sleep(self._rejections.delay_s())
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = scope["state"]["request_id"]
                headers.setdefault("X-Content-Type-Options", "nosniff")
                if (progress := self._compiling()) is not None:
                    headers[COMPILING] = progress
            await send(message)

        try:
            with receiving(plans.append):
                await self._app(scope, receive, send_with_id)
        finally:
            seconds = time.perf_counter() - started
            # The path of the operation, not of the request: each id would be a time series of its own, and the path of
            # a share link has its secret.
            route = "none" if status == HTTPStatus.METHOD_NOT_ALLOWED else getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"] in METHODS else "other"
            count_request(method, route, status, seconds)
            for plan in plans:
                count_plan(plan)
            log = structlog.get_logger()
            (log.debug if scope["path"] in QUIET_PATHS else log.info)(
                "request.answered",
                method=quoted(scope["method"]),
                path=quoted(scope["path"]),
                status=status,
                seconds=round(seconds, 4),
                **_details(scope["state"].get("failure_code"), plans),
            )
        return status, route


def _details(code: str | None, plans: Sequence[PlanOutcome]) -> dict[str, object]:
    """The fields of a log line that only failures and plans have; of several plans, the last one's."""
    if not plans:
        return {} if code is None else {"code": code}
    plan = plans[-1]
    # A page shows a failure as a form, without a problem document.
    code = code or (None if plan.code == SUCCEEDED else plan.code)
    return plan.log_fields() if code is None else plan.log_fields() | {"code": code}


class Head:
    """Answer HEAD as GET is answered, without the body.

    The work is the same, so that the headers are; a stream after the head, as of events, is cancelled.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        as_get = {**scope, "method": "GET"}
        with CancelScope() as after_head:

            async def send_head(message: Message) -> None:
                if message["type"] == "http.response.start":
                    await send(message)
                    await send({"type": "http.response.body", "body": b""})
                    after_head.cancel()

            await self._app(as_get, receive, send_head)
        scope["route"] = as_get.get("route")  # for the log and the metrics


def of_stop(request: Request, _: BaseException) -> Response:
    """The answer to a request that is cancelled, because it outlasts the grace period of a stop."""
    return of_failure(request, ServiceStopping("the service stops before the request ends; send it again"))


Check: TypeAlias = Callable[[Scope], None]
"""Raises the failure of a request that is rejected by its head."""


class Checks:
    """Reject requests by their heads, before anything else is done for them: the first failure is the answer."""

    def __init__(self, app: ASGIApp, *, checks: Sequence[Check]) -> None:
        self._app, self._checks = app, checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                for check in self._checks:
                    check(scope)
            except Failure as failure:
                await of_failure(Request(scope), failure)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def no_overload(admission: Admission) -> Check:
    """Reject requests while the queue is full, or on connections beyond the limit.

    Routing, reading and validating a request that is then rejected would cost more than serving another one. Health
    checks and metrics are always served.
    """

    def check(scope: Scope) -> None:
        if scope["path"] in QUIET_PATHS:
            return
        limit = scope.get("state", {}).get(BEYOND_LIMIT)
        if limit is not None:
            raise ServiceBusy(f"there are {limit} connections, which is the limit; try again", limit=limit)
        admission.check()

    return check


def no_nul(scope: Scope) -> None:
    """Reject a NUL in a path or a query: nothing that is stored has one in its name."""
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:
        places = ["#path"] if "\0" in scope["path"] else []
        given = Request(scope).query_params.multi_items()
        places += [f"#query{pointer((name,))}" for name, value in given if "\0" in name + value]
        errors = [{"pointer": quoted(place), "detail": "no text here can have U+0000"} for place in places]
        raise InvalidField(first_of(errors, total=len(errors)), errors=errors)


def no_encoding(scope: Scope) -> None:
    """Reject compressed bodies: their length says nothing about the memory that they take."""
    encoding = Headers(scope=scope).get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise UnsupportedMediaType(f"the body has the Content-Encoding {quoted(encoding)}; send it without")


def same_origin(allowed_origins: Collection[str]) -> Check:
    """Reject requests of pages of another origin that would change something.

    A browser adds a stored password, and reaches a loopback address, on behalf of any page; it also sends the origin of
    the page. Origins that the operator allowed are accepted; CORS decides which responses they may read.
    """

    def check(scope: Scope) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is None or origin in allowed_origins or scope["method"] in READING:
            return
        # An origin is a scheme and then host and port as in `Host`; any other text equals no host.
        if origin.partition("://")[2] != headers.get("host"):
            raise Forbidden(f"origin {quoted(origin)} may not change anything here", origin=quoted(origin))

    return check


def named_as(hosts: Collection[str]) -> Check:
    """Reject requests for another host name, which DNS rebinding makes pages of a foreign origin send.

    A service that only this machine can reach is requested by a name of this machine.
    """

    def check(scope: Scope) -> None:
        # Of two names this reads the first, and a proxy in front of it may have read the last (RFC 9112, 3.2).
        names = Headers(scope=scope).getlist("host")
        found = _HOST.fullmatch(names[0]) if len(names) == 1 else None
        if found is None or found[1].lower() not in hosts:
            host = quoted(", ".join(names))
            raise Forbidden(f"{host} is not a name of this service; add it to RACKPLAN_ALLOWED_HOSTS", host=host)

    return check


class BodyLimit:
    """Reject a body that is longer than the limit: by its `Content-Length`, otherwise when the limit is reached."""

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


def _given_id(headers: Headers) -> str | None:
    value = headers.get("x-request-id", "")
    return value if 0 < len(value) <= _LONGEST_REQUEST_ID and value.isascii() and value.isprintable() else None
