"""Pagination: `page_size`, and an opaque `page_token` that states where the next page starts."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable
from math import isnan
from struct import Struct
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Response

from app.api.http.negotiation import json_response
from app.errors.access import InvalidPageToken
from app.store.transaction import Page

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
