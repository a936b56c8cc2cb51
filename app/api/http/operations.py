"""Operations: their declaration, and their JSON bodies, whose members are not repeated.

Their answers: JSON, the representation that a caller prefers, conditions on ETags, and pages of lists.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from enum import Enum
from hashlib import sha256
from inspect import cleandoc
from math import isnan
from struct import Struct
from typing import Annotated, Any, TypeVar
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response, Security
from fastapi.responses import JSONResponse

from app.api.http.auth import principal
from app.api.problems.responses import responses
from app.errors.access import InvalidPageToken, NotAcceptable
from app.errors.quotation import quoted
from app.formats.syntax import unique_json
from app.slots.in_place import BlockingRoute
from app.store.transaction import Page

EndpointT = TypeVar("EndpointT", bound=Callable[..., Response])


class Operations(APIRouter):
    """The operations of a resource; `scope` is the one that each of them needs.

    An operation is a function: its name is the id, and its docstring the summary and, after an empty line, the
    description.
    """

    def __init__(self, prefix: str = "", tag: str = "", *, scope: str | None = None) -> None:
        tags: list[str | Enum] = [tag] if tag else []
        super().__init__(prefix=prefix, tags=tags, route_class=_JsonRoute, dependencies=_needed(scope))

    def operation(
        self,
        method_and_path: str,
        *,
        answer: Any = None,
        status: int = 200,
        scope: str | None = None,
        takes: Callable[..., Any] | None = None,
        others: Mapping[int, Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> Callable[[EndpointT], EndpointT]:
        """Declare an operation, `GET /{job_id}`; `problems/failures.json` has its failures.

        Parameters
        ----------
        answer : type of JSON answers in the documentation; None if `others` describes them, or without JSON answers.
        scope : the scope that the caller needs; None if a parameter of the function, or the resource, states it.
        takes : the dependency that rejects bodies of other media types.
        others : other answers, by their status.
        """
        method, _, path = method_and_path.partition(" ")

        def declared(function: EndpointT) -> EndpointT:
            summary, _, description = cleandoc(function.__doc__ or "").partition("\n\n")
            self.add_api_route(
                path,
                function,
                methods=[method],
                status_code=status,
                operation_id=function.__name__,
                summary=summary.removesuffix("."),
                description=description,
                response_model=answer,
                response_class=Response if answer is None else JSONResponse,
                responses=responses(function.__name__, others),
                dependencies=[*([Depends(takes)] if takes else []), *_needed(scope)],
                **options,
            )
            return function

        return declared


def _needed(scope: str | None) -> list[Any]:
    return [] if scope is None else [Security(principal, scopes=[scope])]


class _JsonRoute(BlockingRoute):
    """A route that rejects a JSON body with a repeated member (400); the problem names the member."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of FastAPI, which reads the body with `Request.json`."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handled


class _JsonRequest(Request):
    async def json(self) -> Any:
        return unique_json.loads(await self.body())


def json_response(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A document as JSON; moments are in UTC."""
    body = orjson.dumps(document, option=orjson.OPT_UTC_Z)
    return Response(body, status, headers=dict(headers or {}), media_type="application/json")


def chosen(request: Request, offered: Sequence[str]) -> str:
    """The media type of `offered` that the Accept header prefers; the first if it has no preference.

    Raises `NotAcceptable`. Source: RFC 9110, section 12.5.1.
    """
    accept = request.headers.get("accept", "").strip() or "*/*"
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    best, best_quality = None, 0.0
    for media_type in offered:
        fitting = [(specificity, q) for name, q in ranges if (specificity := _specificity(name, media_type)) >= 0]
        quality = max(fitting)[1] if fitting else 0.0
        if quality > best_quality:
            best, best_quality = media_type, quality
    if best is None:
        raise NotAcceptable(f"Accept is {quoted(accept)}; there is {', '.join(offered)}", offered=list(offered))
    return best


def with_etag(request: Request, etag: str, response: Response) -> Response:
    """The response with its ETag, or 304 without a body if the caller has this version."""
    quoted = f'"{etag}"'
    response.headers["ETag"] = quoted
    response.headers.setdefault("Cache-Control", "no-cache")
    response.headers.setdefault("Vary", "Accept")
    if {quoted, "*"}.intersection(tags(request.headers.get("if-none-match"))):  # "*" matches any representation
        headers = {name: response.headers[name] for name in ("ETag", "Cache-Control", "Vary")}
        return Response(status_code=304, headers=headers)
    return response


def tags(header: str | None) -> list[str]:
    """The entity tags of an If-Match or If-None-Match header, with their quotes; weak tags count as strong."""
    return [tag.strip().removeprefix("W/") for tag in (header or "").split(",") if tag.strip()]


def matched_hashes(header: str | None) -> list[str]:
    """The content hashes that an If-Match header names; `*` matches any and so names none."""
    return [tag.strip('"') for tag in tags(header) if tag != "*"]


def qualities(header: str) -> dict[str, float]:
    """The values of an Accept header of any kind, in lower case, each with its quality from 0 to 1."""
    return dict(_range(part) for part in header.split(",") if part.strip())


def digest_of(body: bytes) -> str:
    """An ETag for a body without a content hash: its SHA-256."""
    return sha256(body).hexdigest()


def _range(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip() for piece in part.split(";"))
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "q":
            try:
                return name.lower(), min(max(float(value), 0.0), 1.0)
            except ValueError:
                return name.lower(), 1.0
    return name.lower(), 1.0


def _specificity(media_range: str, media_type: str) -> int:
    if media_range == media_type:
        return 2
    if media_range == media_type.split("/", 1)[0] + "/*":
        return 1
    return 0 if media_range == "*/*" else -1


_PLACE = Struct(">?dq")
PageSize = Annotated[int, Query(ge=1, le=1000, description="Largest number of items on a page.")]
PageToken = Annotated[
    str | None, Query(max_length=200, description="`next_page_token` of the previous page; none for the first page.")
]


def page_response(page: Page[Any], documents: Iterable[object]) -> Response:
    """A page of a list whose items have ids, as these documents; the next one has the items older than the last."""
    token = _encoded(page.items[-1].id.bytes) if page.has_more else None
    return json_response({"items": list(documents), "next_page_token": token})


def id_of_token(token: str | None) -> UUID | None:
    """The id in a token; raises `InvalidPageToken`."""
    return None if token is None else UUID(bytes=_decoded(token, length=16))


def token_of_offset(offset: int) -> str:
    """A token for the items from this offset on."""
    return _encoded(offset.to_bytes(8))


def offset_of_token(token: str | None) -> int:
    """The offset in a token, 0 without a token; raises `InvalidPageToken`."""
    offset = 0 if token is None else int.from_bytes(_decoded(token, length=8))
    if offset > 2**62:
        raise _invalid(token)
    return offset


def token_of_place(place: tuple[float | None, int]) -> str:
    """A token for the items after this one in a sorted list: the value that it is sorted by, and an index."""
    value, index = place
    return _encoded(_PLACE.pack(value is not None, 0.0 if value is None else value, index))


def place_of_token(token: str | None) -> tuple[float | None, int] | None:
    """The value and the index in a token; raises `InvalidPageToken`."""
    if token is None:
        return None
    has_value, value, index = _PLACE.unpack(_decoded(token, length=_PLACE.size))
    if isnan(value) or not 0 <= index < 2**31:
        raise _invalid(token)
    return (value if has_value else None), index


def _encoded(place: bytes) -> str:
    return urlsafe_b64encode(place).decode().rstrip("=")


def _decoded(token: str, *, length: int) -> bytes:
    try:
        decoded = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (Base64Error, ValueError):
        raise _invalid(token) from None
    if len(decoded) != length:
        raise _invalid(token)
    return decoded


def _invalid(token: str | None) -> InvalidPageToken:
    return InvalidPageToken(
        "the page token was not issued by a page of this list",
        path=(),
        errors=[{"pointer": "#query/page_token", "detail": "not a page token", "value": token}],
    )
