"""Every failure as an RFC 9457 problem. The one place where a failure gets its HTTP status."""

import json
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import errors
from app.api.field_errors import field_error, first_of, pointer
from app.api.statuses import HEADERS, STATUS
from app.errors import Failure, Json
from app.errors.quotation import DETAIL_CHARACTERS, bounded, quoted

MEDIA_TYPE = "application/problem+json"
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MOST_FIELD_ERRORS = 100
"""At most so many faulty fields are listed: a body of 10 MB can have five million."""


class FieldError(BaseModel):
    """The error of one field of the request."""

    model_config = ConfigDict(extra="allow")

    pointer: str
    """JSON pointer into the body; for a query parameter or header `#query/…`, `#header/…`."""
    detail: str


class Problem(BaseModel):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str
    request_id: str
    errors: list[FieldError]


def responses(
    *failures: type[Failure], others: Mapping[int, Mapping[str, Any]] | None = None
) -> dict[int | str, dict[str, Any]]:
    """The problems that an operation can answer, as its documentation says them; the general ones are added.

    `others` are the operation's answers that are no problems.
    """
    general: tuple[type[Failure], ...] = (errors.Unauthenticated, errors.Forbidden, errors.ServiceBusy)
    by_status: dict[int, list[str]] = {
        HTTPStatus.BAD_REQUEST.value: ["The request cannot be parsed"],
        HTTPStatus.INTERNAL_SERVER_ERROR.value: ["The service failed"],
        HTTPStatus.UNPROCESSABLE_ENTITY.value: ["A field is invalid"],
    }
    for failure in (*general, *failures):
        by_status.setdefault(STATUS[failure].value, []).append(failure.title)
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    documented: dict[int | str, dict[str, Any]] = {status: dict(said) for status, said in (others or {}).items()}
    for status, titles in sorted(by_status.items()):
        documented[status] = {"description": "; ".join(dict.fromkeys(titles)), "content": {MEDIA_TYPE: schema}}
    return documented


def problem(
    request: Request,
    status: int,
    *,
    code: str,
    title: str,
    detail: str,
    field_errors: Iterable[Mapping[str, object]] = (),
    context: Mapping[str, Json] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The response that states a problem."""
    document = {
        "type": f"urn:rackplan:problem:{code}",
        "title": title,
        "status": status,
        "detail": quoted(detail, DETAIL_CHARACTERS),
        "code": code,
        "instance": quoted(request.url.path),
        "request_id": request_id(request),
        "errors": [_bounded(error) for error in islice(field_errors, MOST_FIELD_ERRORS)],
    }
    # What the problem carries besides never hides what every problem says.
    document = document | {name: bounded(value) for name, value in (context or {}).items() if name not in document}
    return Response(_rendered(document), status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def _bounded(error: Mapping[str, object]) -> Mapping[str, object]:
    """A field error whose texts have a stated length; its detail is escaped as well."""
    shortened = {name: bounded(value) for name, value in error.items()}  # type: ignore[arg-type] # errors are JSON
    return shortened | {"detail": quoted(str(error["detail"]), DETAIL_CHARACTERS)}


def request_id(request: Request) -> str:
    """The id that the log lines of this request carry."""
    found: str = request.scope.get("state", {}).get("request_id", "")
    return found


def of_failure(request: Request, failure: Failure) -> Response:
    """A failure of the domain as its problem."""
    named = failure.context.get("errors")
    field_errors = named if isinstance(named, Sequence) else ()
    if failure.path:
        extra = {name: value for name, value in failure.context.items() if name not in ("errors", "detail", "pointer")}
        # What is read has no body: what was wrong stands in the query.
        where = "#query" if request.method in ("GET", "HEAD") else ""
        field_errors = ({"pointer": where + pointer(failure.path), "detail": failure.detail, **extra},)
    return problem(
        request,
        STATUS[type(failure)],
        code=failure.code,
        title=failure.title,
        detail=failure.detail,
        field_errors=field_errors,  # type: ignore[arg-type] # the context is JSON; `errors` in it a list of objects
        context=failure.context,
        headers=HEADERS.get(type(failure)),
    )


def install(app: FastAPI) -> None:
    """Answer every failure of the app with a problem."""

    @app.exception_handler(Failure)
    def _failure(request: Request, failure: Failure) -> Response:
        return of_failure(request, failure)

    @app.exception_handler(RequestValidationError)
    def _validation(request: Request, invalid: RequestValidationError) -> Response:
        return _of_validation(request, invalid)

    @app.exception_handler(HTTPException)
    def _http(request: Request, raised: HTTPException) -> Response:
        if isinstance(raised.__cause__, Failure):  # what stopped the body from being read
            return of_failure(request, raised.__cause__)
        status = HTTPStatus(raised.status_code)
        detail = str(raised.detail)
        if isinstance(raised.__cause__, UnicodeDecodeError):
            detail = f"the body is not valid UTF-8 at byte {raised.__cause__.start}"
        elif status is HTTPStatus.NOT_FOUND:
            detail = f"there is nothing at {quoted(request.url.path)}"
        elif status is HTTPStatus.METHOD_NOT_ALLOWED:
            detail = f"{quoted(request.url.path)} does not take {quoted(request.method)}"
        headers = dict(raised.headers or {})
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_allowed(request))
        code = "malformed_body" if status is HTTPStatus.BAD_REQUEST else status.phrase.lower().replace(" ", "_")
        return problem(request, status, code=code, title=status.phrase, detail=detail, headers=headers)

    app.exception_handler(Exception)(_of_unexpected)
    # The first one added is the innermost: what it answers passes through all the others, as any answer does.
    app.add_middleware(_LastResort)


class _LastResort:
    """Answer what nobody foresaw.

    Starlette's own last resort stands outside of every middleware, so that its answers lack their headers, and it
    raises on: the server then drops the connection, unannounced, on which the caller's next request may be under way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def send_noting(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, send_noting)
        except Exception as unexpected:
            if scope["type"] != "http" or has_started:
                raise
            await _of_unexpected(Request(scope), unexpected)(scope, receive, send)


def _of_unexpected(request: Request, unexpected: Exception) -> Response:
    structlog.get_logger().error("request.failed", exc_info=unexpected, request_id=request_id(request))
    return problem(
        request,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        code="internal_error",
        title="The service failed",
        detail="This is a fault of the service; its log has the details under this request_id.",
    )


def _rendered(document: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS, default=repr)
    except TypeError:
        # A request's own value can be JSON that orjson does not write: a lone surrogate, an integer past 64 bits.
        return json.dumps(document, default=repr).encode()


def _allowed(request: Request) -> list[str]:
    """Every method that the path takes. Starlette names those of the first operation that it finds there."""
    # What matched in part has left its mark on the scope; a route is to see what came in.
    scope = {name: request.scope[name] for name in ("type", "path", "headers", "root_path")}
    return [
        method
        for method in _METHODS
        if any(route.matches(scope | {"method": method})[0] is Match.FULL for route in request.app.routes)
    ]


def _of_validation(request: Request, invalid: RequestValidationError) -> Response:
    found = list(invalid.errors())
    if found and found[0]["type"] == "json_invalid":
        reason, position = found[0].get("ctx", {}).get("error", ""), found[0]["loc"][-1]
        # pydantic's own parser puts the place into the reason, Python's into the location.
        where = f" at character {position}" if isinstance(position, int) else ""
        detail = f"the body is not JSON: {reason}{where}"
        return problem(
            request, HTTPStatus.BAD_REQUEST, code="malformed_body", title="The body cannot be parsed", detail=detail
        )
    field_errors = [field_error(error, invalid.body) for error in found[:MOST_FIELD_ERRORS]]
    summary = first_of(field_errors, total=len(found))
    return of_failure(request, errors.InvalidField(summary, errors=field_errors))
