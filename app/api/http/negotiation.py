"""Content negotiation and conditional requests: `Accept`, `ETag`, `If-Match`, `If-None-Match`."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

import orjson
from fastapi import Request, Response

from app.errors.access import NotAcceptable
from app.errors.quotation import quoted


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
