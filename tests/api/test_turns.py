"""Requests begin in the order of their arrival, a few in each round of the event loop; health checks at once."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY
from starlette.types import Message, Receive, Scope, Send

from app.api.http.middleware import RequestLog
from app.api.http.turns import ARRIVED_AT, BEGUN_IN_A_ROUND, QUIET_PATHS, Turns


class Rounds:
    """An application that notes the round of the event loop in which each request begins, and takes some rounds."""

    def __init__(self, steps: int = 0) -> None:
        self.round = 0
        self.begun: list[tuple[str, int]] = []
        self._steps = steps

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        self.begun.append((scope["path"], self.round))
        for _ in range(self._steps):
            await asyncio.sleep(0)

    async def count(self) -> None:
        while True:
            self.round += 1
            await asyncio.sleep(0)

    def round_of(self, path: str) -> int:
        return next(number for begun, number in self.begun if begun == path)


async def _receive() -> Message:
    raise AssertionError


async def _send(_: Message) -> None:
    """No client receives it."""


async def _answer(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


def _scope(path: str) -> dict[str, object]:
    return {"type": "http", "method": "GET", "path": path, "headers": []}


def sent(turns: Turns, path: str) -> asyncio.Task[None]:
    async def call() -> None:
        await turns(_scope(path), _receive, _send)

    return asyncio.create_task(call())


def begun(paths: list[str], *, steps: int = 0) -> Rounds:
    """What has begun when all of these have been answered, which were sent at the same time."""

    async def run() -> Rounds:
        rounds = Rounds(steps)
        counting = asyncio.create_task(rounds.count())
        turns = Turns(rounds)
        async with asyncio.timeout(20):
            await asyncio.gather(*(sent(turns, path) for path in paths))
        counting.cancel()
        return rounds

    return asyncio.run(run())


@given(st.integers(0, 200), st.integers(0, 5))
def test_a_few_begin_in_each_round_in_their_order(count: int, steps: int) -> None:
    paths = [f"/{number}" for number in range(count)]
    rounds = begun(paths, steps=steps)
    assert [path for path, _ in rounds.begun] == paths
    of_each = [number for _, number in rounds.begun]
    assert all(of_each.count(number) <= BEGUN_IN_A_ROUND for number in of_each)
    # A round that begins fewer than it may is the last one.
    assert max(of_each, default=0) - min(of_each, default=0) <= -(-count // BEGUN_IN_A_ROUND)


@pytest.mark.parametrize("path", sorted(QUIET_PATHS))
def test_a_health_check_waits_for_no_other_request(path: str) -> None:
    others = [f"/{number}" for number in range(100 * BEGUN_IN_A_ROUND)]
    rounds = begun([*others, path])
    assert rounds.round_of(path) == rounds.round_of("/0")
    assert rounds.round_of(others[-1]) >= 99


def test_a_request_that_is_cancelled_takes_no_turn() -> None:
    async def run() -> Rounds:
        rounds = Rounds()
        turns = Turns(rounds)
        tasks = [sent(turns, f"/{number}") for number in range(3 * BEGUN_IN_A_ROUND)]
        await asyncio.sleep(0)
        cancelled = tasks[BEGUN_IN_A_ROUND : 2 * BEGUN_IN_A_ROUND]
        for task in cancelled:
            task.cancel()
        async with asyncio.timeout(20):
            await asyncio.gather(*tasks, return_exceptions=True)
        assert all(task.cancelled() for task in cancelled)
        return rounds

    kept = [*range(BEGUN_IN_A_ROUND), *range(2 * BEGUN_IN_A_ROUND, 3 * BEGUN_IN_A_ROUND)]
    assert [path for path, _ in asyncio.run(run()).begun] == [f"/{number}" for number in kept]


def test_the_time_of_a_request_has_the_wait_for_its_turn() -> None:
    def measured_s() -> float:
        return REGISTRY.get_sample_value("rackplan_request_seconds_sum", {"method": "GET", "route": "none"}) or 0.0

    before = measured_s()
    state = {ARRIVED_AT: time.perf_counter() - 60}
    asyncio.run(RequestLog(_answer)(_scope("/") | {"state": state}, _receive, _send))
    assert measured_s() - before >= 60


def test_what_is_no_request_passes() -> None:
    rounds = Rounds()
    asyncio.run(Turns(rounds)({"type": "lifespan", "path": "lifespan"}, _receive, _send))
    assert rounds.begun == [("lifespan", 0)]
