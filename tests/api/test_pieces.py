"""Bodies of responses are divided, and stay the same."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from app.api.http.compression import PIECE_BYTES, Pieces

SIZES = st.sampled_from([0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 3 * PIECE_BYTES + 7])


@given(st.lists(SIZES, min_size=1, max_size=4), st.booleans())
def test_the_pieces_of_a_response_are_its_body(sizes: list[int], ends_with_nothing: bool) -> None:
    bodies = [bytes([number]) * size for number, size in enumerate(sizes)] + [b""] * ends_with_nothing
    sent: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number, body in enumerate(bodies, start=1):
            await send({"type": "http.response.body", "body": body, "more_body": number < len(bodies)})

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Pieces(app)({"type": "http"}, receive, send))
    start, *pieces = sent
    assert start["type"] == "http.response.start"
    assert b"".join(piece["body"] for piece in pieces) == b"".join(bodies)
    assert max(len(piece["body"]) for piece in pieces) <= PIECE_BYTES
    assert [piece.get("more_body", False) for piece in pieces] == [True] * (len(pieces) - 1) + [False]
