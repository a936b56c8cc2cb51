"""Freed memory is returned to the system after a request that needed much of it."""

import os
import sys

import numpy as np
import psutil
import pytest
from anyio import run
from starlette.types import Message, Receive, Scope, Send

from app.api.http.memory import FreedMemory

PIECES, PIECE = 100_000, 2_000


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a call of the C library that only glibc has")
def test_what_a_large_request_freed_is_returned() -> None:
    """The C library keeps blocks that are freed between others that stay."""
    retained: list[bytes] = []

    async def large(_scope: Scope, _receive: Receive, _send: Send) -> None:
        pieces = [os.urandom(PIECE + number % 64) for number in range(PIECES)]
        retained.extend(pieces[::1000])
        assert np.all([len(piece) >= PIECE for piece in pieces])

    process = psutil.Process()
    app = FreedMemory(large)
    before = process.memory_info().rss
    run(app, {"type": "http"}, receive, send)
    assert process.memory_info().rss - before < PIECES * PIECE / 2


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="as above")
def test_what_was_in_use_after_the_large_request_is_returned_later() -> None:
    """Such as responses that clients read slowly: the return finds nothing to return, and no request makes it grow."""
    used: list[bytes] = []
    moment = 0.0

    async def large(_scope: Scope, _receive: Receive, _send: Send) -> None:
        used.extend(os.urandom(PIECE + number % 64) for number in range(PIECES))

    async def small(_scope: Scope, _receive: Receive, _send: Send) -> None:
        return

    process = psutil.Process()
    answers = [large, small, small]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await answers.pop(0)(scope, receive, send)

    app = FreedMemory(answer, clock=lambda: moment)
    before = process.memory_info().rss
    run(app, {"type": "http"}, receive, send)
    assert process.memory_info().rss - before > PIECES * PIECE
    retained = used[::1000]
    used.clear()
    moment = 29.0
    run(app, {"type": "http"}, receive, send)
    assert process.memory_info().rss - before > PIECES * PIECE / 2, "it is not tried on every request"
    moment = 31.0
    run(app, {"type": "http"}, receive, send)
    assert process.memory_info().rss - before < PIECES * PIECE / 2
    assert retained


async def receive() -> Message:
    return {"type": "http.request"}


async def send(_: Message) -> None:
    return
