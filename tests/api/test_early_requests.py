"""Requests that arrive before the slots have been started."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send

from app.api.slots.dispatch import SlotDispatch
from app.services.limits import Limits
from app.slots.admission import Admission, Capacity
from app.slots.pool import Pool


class Left(Exception):
    pass


@pytest.mark.parametrize("is_answered", [True, False])
def test_requests_are_counted_while_they_are_served_without_a_slot(*, is_answered: bool) -> None:
    """The start of the slots leaves the processor to them; one that stayed counted would delay it for nothing."""
    pool = Pool(lambda *_: None, (), preloaded=(), lanes={"only": Capacity(1, 1, 1.0)})
    counted = []

    async def serve(_: Scope, __: Receive, ___: Send) -> None:
        counted.append(pool.early)
        if not is_answered:
            raise Left

    dispatch = SlotDispatch(
        serve,
        pool=pool,
        small=Admission(Capacity(1, 1, 1.0)),
        limits=Limits(),
        own_paths=("/static",),
        is_compiling=lambda: False,
    )

    async def request(path: str) -> None:
        scope = {"type": "http", "method": "GET", "path": path, "headers": []}
        try:
            await dispatch(scope, None, None)  # type: ignore[arg-type] # `serve` uses neither
        except Left:
            assert not is_answered

    async def requests() -> None:
        for path in ("/v1/plans", "/static/style.css", "/v1/plans"):
            await request(path)

    asyncio.run(requests())
    pool.close()
    assert counted == [1, 0, 1]
    assert pool.early == 0
