"""Bytes that are held for clients have a limit, and what waits for slow readers gives way to new requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.slots import dispatch
from app.api.slots.dispatch import Buffer, Buffers
from app.errors.access import ServiceBusy

LIMIT = 10


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MOST_BYTES", LIMIT)


def test_requests_in_slots_are_never_ended() -> None:
    every = Buffers()
    one, other = every.of_request(), every.of_request()
    one.hold(6)
    other.hold(4)
    with pytest.raises(ServiceBusy, match="bodies of 10 bytes are being received or sent; the limit is 10"):
        other.hold(1)
    one.release(1)
    other.hold(1)
    assert (one.held, other.held) == (5, 5)


def test_the_oldest_that_waits_for_its_client_is_ended_first() -> None:
    every, ended = Buffers(), list[int]()
    waiting = [every.of_request() for _ in range(3)]
    for number, buffer in enumerate(waiting):
        buffer.hold(3)
        buffer.end_on_demand(lambda number=number: ended.append(number))  # type: ignore[misc] # a default binds it
    every.of_request().hold(5)
    assert ended == [0, 1]
    assert [buffer.held for buffer in waiting] == [0, 0, 3]


def test_one_that_was_read_to_the_end_is_not_ended() -> None:
    every = Buffers()
    read = every.of_request()
    read.hold(3)
    read.end_on_demand(lambda: pytest.fail("nothing is left of it"))
    read.release_all()
    every.of_request().hold(LIMIT)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["hold", "release", "wait", "all"]), st.integers(0, 12))))
def test_what_is_held_is_what_the_requests_hold_and_within_the_limit(steps: list[tuple[int, str, int]]) -> None:
    every = Buffers()
    requests = [every.of_request() for _ in range(4)]
    for number, step, count in steps:
        buffer = requests[number]
        match step:
            case "hold":
                _hold(buffer, count, requests)
            case "release":
                buffer.release(count)
            case "wait":
                buffer.end_on_demand(lambda: None)
            case _:
                buffer.release_all()
        assert 0 <= sum(each.held for each in requests) <= LIMIT
    for each in requests:
        each.release_all()
    every.of_request().hold(LIMIT)


def _hold(buffer: Buffer, count: int, requests: list[Buffer]) -> None:
    """Hold bytes; a rejection changes no request that is in a slot."""
    before = buffer.held
    try:
        buffer.hold(count)
    except ServiceBusy:
        assert buffer.held in {before, 0}
        assert sum(each.held for each in requests) + count > LIMIT
