"""Compress responses by gzip or Zstandard, as `Accept-Encoding` prefers, and send them in pieces."""

import gzip
from functools import partial
from typing import Final

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.http.operations import qualities

LEAST_BYTES = 1024
"""A smaller body is one packet either way."""
LARGE_BYTES = 32 * 1024
"""Least size of bodies that a thread compresses, by Zstandard if the client reads both."""
_THREADS = 2
_GZIP = partial(gzip.compress, compresslevel=4, mtime=0)
_ZSTD_LEVEL = 3
_TEXTS: Final = (
    "text/",
    "application/json",
    "application/problem+json",
    "application/javascript",
    "application/vnd.kafka.reassignment+json",
    "image/svg+xml",
)
_EVENTS = "text/event-stream"


class Compression:
    """Compress the bodies of texts: JSON, CSV, Markdown, SVG, HTML, scripts.

    Streams, bodies with a `Content-Encoding`, parts of files and formats that are compressed by themselves (archives,
    Arrow) are sent as they are. The ETag of a compressed body is weak: its bytes differ between encodings.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._limiter = CapacityLimiter(_THREADS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        accepted = Headers(scope=scope).get("accept-encoding", "")
        start: Message = {}

        async def send_compressed(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start:
                headers = MutableHeaders(scope=start)
                if _is_text(start["status"], headers):
                    if "Accept-Encoding" not in headers.get("vary", ""):  # a slot has added it
                        headers.add_vary_header("Accept-Encoding")
                    if not message.get("more_body") and len(message.get("body", b"")) >= LEAST_BYTES:
                        message = await self._compressed(message, headers, accepted)
                await send(start)
                start = {}
            await send(message)

        await self._app(scope, receive, send_compressed)

    async def _compressed(self, message: Message, headers: MutableHeaders, accepted: str) -> Message:
        body = bytes(message["body"])
        encoding = preferred(accepted, is_large=len(body) >= LARGE_BYTES)
        if encoding is None:
            return message
        if encoding == "gzip" and len(body) < LARGE_BYTES:
            body = _GZIP(body)
        else:
            body = await to_thread.run_sync(_zstd if encoding == "zstd" else _GZIP, body, limiter=self._limiter)
        headers["Content-Encoding"] = encoding
        headers["Content-Length"] = str(len(body))
        etag = headers.get("etag")
        if etag is not None and not etag.startswith("W/"):
            headers["ETag"] = f"W/{etag}"
        return {**message, "body": body}


def preferred(accepted: str, *, is_large: bool) -> str | None:
    """The encoding of an `Accept-Encoding` header: `zstd`, `gzip`, or None for none (RFC 9110, section 12.5.3).

    Of equal ones Zstandard for large bodies, and gzip for small ones: it needs no library that is not loaded yet.
    """
    stated = qualities(accepted)
    offered = ("zstd", "gzip") if is_large else ("gzip", "zstd")
    quality = {name: stated.get(name, stated.get("*", 0.0)) for name in offered}
    best = max(offered, key=lambda name: quality[name])
    return best if quality[best] > 0 and quality[best] >= stated.get("identity", 0.0) else None


def _is_text(status: int, headers: Headers) -> bool:
    if status == 304:
        return True  # of a representation that may have been compressed
    media_type = headers.get("content-type", "").partition(";")[0]
    is_whole = status != 206 and "content-encoding" not in headers
    return is_whole and media_type.startswith(_TEXTS) and media_type != _EVENTS


def _zstd(body: bytes) -> bytes:
    # Arrow's copy of the library. It is imported here, in a thread, because it takes 70 ms and 26 MB.
    import pyarrow as pa  # noqa: PLC0415 — it takes long to import, and few answers need it

    compressed: bytes = pa.Codec("zstd", compression_level=_ZSTD_LEVEL).compress(body, asbytes=True)
    return compressed


PIECE_BYTES: Final = 128 * 1024


class Pieces:
    """Divide the bodies of responses into pieces of at most `PIECE_BYTES`.

    The server takes a piece of any size at once, and then waits until the client has read it. Each connection would
    have a copy of a document that all responses share.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_pieces(message: Message) -> None:
            body: bytes = message.get("body", b"")
            if len(body) <= PIECE_BYTES:
                await send(message)
                return
            for start in range(0, len(body), PIECE_BYTES):
                end = start + PIECE_BYTES
                has_more = end < len(body) or message.get("more_body", False)
                await send({**message, "body": body[start:end], "more_body": has_more})

        await self._app(scope, receive, send_pieces)
