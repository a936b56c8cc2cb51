"""Turns of requests: how many begin in a round of the event loop, and which need not wait for one.

A round serves every connection that has sent something. With 500 requests at once it takes a quarter of a second and
more, in which no new connection is accepted and no health check answered; what waits for a round between two steps,
such as for the answer of the database, occupies its connection that long. Here requests begin in the order of their
arrival, some in each round, so that a round takes some milliseconds.
"""

import asyncio
import time
from collections import deque
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

QUIET_PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths of requests that are answered at any load: they compute nothing, and report the state of the service."""
BEGUN_IN_A_ROUND: Final = 8
ARRIVED_AT: Final = "arrived_at"
"""Where the state of a request has the moment of its arrival, a value of `time.perf_counter`."""


class Turns:
    """Begin requests in the order of their arrival, `BEGUN_IN_A_ROUND` in a round. Belongs to one event loop.

    It surrounds the whole application: what precedes the turn is done for all requests of a round.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._begun = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in QUIET_PATHS:
            scope.setdefault("state", {})[ARRIVED_AT] = time.perf_counter()
            await self._turn()
        await self._app(scope, receive, send)

    async def _turn(self) -> None:
        loop = asyncio.get_running_loop()
        if self._begun == 0:
            loop.call_soon(self._next_round)
        if self._begun < BEGUN_IN_A_ROUND:
            self._begun += 1
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next_round(self) -> None:
        self._begun = 0
        while self._waiting and self._begun < BEGUN_IN_A_ROUND:
            turn = self._waiting.popleft()
            if not turn.done():  # of a request that was cancelled
                turn.set_result(None)
                self._begun += 1
        if self._begun:
            asyncio.get_running_loop().call_soon(self._next_round)
