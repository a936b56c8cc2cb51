"""Answer every failure with an RFC 9457 problem document."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems.field_errors import field_errors, first_of, pointer
from app.api.problems.responses import HEADERS, MEDIA_TYPE, status_of
from app.errors import Failure, Json
from app.errors.crossing import FAILURES
from app.errors.kafka import KafkaRefuses
from app.errors.quotation import DETAIL_CHARACTERS, bounded, quoted
from app.errors.requests import InvalidField

ProblemPage = Callable[[Request, Mapping[str, Any], int, Mapping[str, str]], Response]
"""Shows a problem document as a page; the composition root puts the one of the pages on the app."""
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MOST_FIELD_ERRORS = 100
"""Upper limit on the invalid fields that a problem lists: a body of 10 MB can have five million."""


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
    """The response with a problem document. Its code is noted on the request, for the log line of the request."""
    request.scope.setdefault("state", {})["failure_code"] = code
    document = {
        "type": f"{request.scope.get('root_path', '')}/problems#{code}",
        "title": title,
        "status": status,
        "detail": quoted(detail, DETAIL_CHARACTERS),
        "code": code,
        "instance": quoted(request.url.path),
        "request_id": request_id(request),
        "errors": [_bounded(error) for error in islice(field_errors, MOST_FIELD_ERRORS)],
    }
    # A member of the context never replaces a standard member.
    document = document | {name: bounded(value) for name, value in (context or {}).items() if name not in document}
    if _is_for_a_person(request):
        page: ProblemPage | None = getattr(request.app.state, "problem_page", None)
        if page is not None:
            return page(request, document, status, dict(headers or {}))
    return Response(_rendered(document), status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def _is_for_a_person(request: Request) -> bool:
    """Whether a browser opens an address of the pages, or sends a form; never for an operation of the API."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/")


def _bounded(error: Mapping[str, object]) -> Mapping[str, object]:
    """A field error whose texts have a stated length; its detail is escaped as well."""
    shortened = {name: bounded(value) for name, value in error.items()}  # type: ignore[arg-type] # errors are JSON
    return shortened | {"detail": quoted(str(error["detail"]), DETAIL_CHARACTERS)}


def request_id(request: Request) -> str:
    """The id that the log lines of this request carry."""
    value: str = request.scope.get("state", {}).get("request_id", "")
    return value


def of_failure(request: Request, failure: Failure) -> Response:
    """The problem document of a failure; one that only the operator can act on is an internal error."""
    status = status_of(type(failure))
    if status is None:
        return _of_unexpected(request, failure)
    errors: Json = None
    if failure.path:
        extra = {name: value for name, value in failure.context.items() if name not in ("errors", "detail", "pointer")}
        # GET and HEAD have no body: the offending value is in the query.
        where = "#query" if request.method in ("GET", "HEAD") else ""
        errors = [{"pointer": where + pointer(failure.path), "detail": failure.detail, **extra}]
    context = {**failure.context, **_kafkas_own(failure)}
    return _of_kind(request, type(failure), failure.detail, context, status=status, errors=errors)


def of_stored_failure(request: Request, document: Mapping[str, Json]) -> Response:
    """The problem document of a failure that a job stored, as `document_of` wrote it."""
    kind, detail = FAILURES.get(str(document["code"])), str(document["detail"])
    status = None if kind is None else status_of(kind)
    if kind is None or status is None:
        return _internal_error(request, detail)
    return _of_kind(request, kind, detail, document, status=status)


def _of_kind(
    request: Request, kind: type[Failure], detail: str, context: Mapping[str, Json], *, status: int, errors: Json = None
) -> Response:
    """The problem document of a failure of a class; its field errors are stated, or come from the context."""
    named = errors or context.get("errors")
    wait = {"Retry-After": str(context["retry_after_s"])} if "retry_after_s" in context else {}
    return problem(
        request,
        status,
        code=kind.code,
        title=kind.title,
        detail=detail,
        field_errors=named if isinstance(named, Sequence) else (),  # type: ignore[arg-type] # a list of objects
        context=context,
        headers={**HEADERS.get(kind, {}), **wait},
    )


def install(app: FastAPI) -> None:
    """Answer every failure of the app with a problem."""

    @app.exception_handler(Failure)
    async def _failure(request: Request, failure: Failure) -> Response:
        return of_failure(request, failure)

    @app.exception_handler(RequestValidationError)
    async def _validation(request: Request, invalid: RequestValidationError) -> Response:
        return _of_validation(request, invalid)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, raised: HTTPException) -> Response:
        return of_http(request, raised)

    app.exception_handler(Exception)(_of_unexpected)
    # Starlette's own handler is outside of all middleware, so that its responses lack their headers, and it raises the
    # exception again: the server then closes the connection, on which the next request may already have been sent. The
    # middleware that is added first is the innermost: its responses pass through all the others.
    app.add_middleware(OrProblem, raised=Exception, answer=_of_unexpected)


def of_http(request: Request, raised: HTTPException) -> Response:
    """The problem document of the framework's exception."""
    if isinstance(raised.__cause__, Failure):  # FastAPI wraps exceptions while it reads the body
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


class OrProblem:
    """Middleware that answers an exception of one class with a problem, unless the response has begun."""

    def __init__(
        self, app: ASGIApp, *, raised: type[BaseException], answer: Callable[[Request, Any], Response]
    ) -> None:
        self._app = app
        self._raised = raised
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def send_and_note_start(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note_start)
        except self._raised as raised:
            if scope["type"] != "http" or has_started:
                raise
            await self._answer(Request(scope), raised)(scope, receive, send)


def _of_unexpected(request: Request, unexpected: Exception) -> Response:
    structlog.get_logger().error("request.failed", exc_info=unexpected, request_id=request_id(request))
    return _internal_error(request, "This is a fault of the service; its log has the details under this request_id.")


def _internal_error(request: Request, detail: str) -> Response:
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return problem(request, status, code="internal_error", title="The service failed", detail=detail)


def _rendered(document: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS, default=repr)
    except TypeError:
        # A value of the request can be JSON that orjson cannot write: a lone surrogate, an integer beyond 64 bits.
        return json.dumps(document, default=repr).encode()


def _allowed(request: Request) -> list[str]:
    """Every method of the path. Starlette reports the methods of the first matching operation only."""
    # A partial match has changed the scope; each route is matched against the scope as it was received.
    scope = {name: request.scope[name] for name in ("type", "path", "headers", "root_path")}
    return [
        method
        for method in _METHODS
        if any(route.matches(scope | {"method": method})[0] is Match.FULL for route in request.app.routes)
    ]


def _of_validation(request: Request, invalid: RequestValidationError) -> Response:
    faults = list(invalid.errors())
    if faults and faults[0]["type"] == "json_invalid":
        reason, position = faults[0].get("ctx", {}).get("error", ""), faults[0]["loc"][-1]
        # pydantic's parser states the position in the reason, Python's in the location.
        where = f" at character {position}" if isinstance(position, int) and position >= 0 else ""
        detail = f"the body is not JSON: {reason}{where}"
        return problem(
            request, HTTPStatus.BAD_REQUEST, code="malformed_body", title="The body cannot be parsed", detail=detail
        )
    listed = faults[:MOST_FIELD_ERRORS]
    errors = field_errors(listed, invalid.body)
    summary = first_of(errors, total=len(errors) + len(faults) - len(listed))
    return of_failure(request, InvalidField(summary, errors=errors))


def _kafkas_own(failure: Failure) -> dict[str, Json]:
    """The exception that Kafka's own code raises on the same input, if it is one of those."""
    if not isinstance(failure, KafkaRefuses):
        return {}
    return {"kafka_exception": failure.kafka.exception, "kafka_message": failure.kafka.message}
