"""Responses are sent in pieces, so that no more of one is buffered than its client reads.

The server takes a piece of any size at once, and then waits until the client has read it. Each connection would have a
copy of a document that all responses share.
"""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

PIECE_BYTES: Final = 128 * 1024


class Pieces:
    """Divide the bodies of responses into pieces of at most `PIECE_BYTES`."""

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
