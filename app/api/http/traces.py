"""The span of a request, within the trace of its caller if the request has a `traceparent`."""

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import tracing
from app.api.http.middleware import QUIET_PATHS


class Traces:
    """The outermost middleware, if traces are exported. Health checks and metrics have no spans."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in QUIET_PATHS:
            await self._app(scope, receive, send)
            return
        status = 500

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        method = scope["method"]
        with (
            tracing.continued(Headers(scope=scope).get("traceparent")),
            tracing.span(method, "server", http_request_method=method) as span,
            structlog.contextvars.bound_contextvars(**tracing.log_fields()),
        ):
            try:
                await self._app(scope, receive, send_noting)
            finally:
                # The path of the operation: the path of the request has ids, and could have secrets of share links.
                route = getattr(scope.get("route"), "path", "none")
                tracing.annotate(span, name=f"{method} {route}", http_route=route, http_response_status__code=status)
                if status >= 500:
                    tracing.fail(span)
