"""Bytes that are held for clients have a limit, and responses that wait for slow readers give way to new requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.slots import dispatch
from app.api.slots.dispatch import Bodies
from app.errors.access import ServiceBusy

LIMIT = 10


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "MOST_BYTES", LIMIT)


def test_requests_in_slots_are_never_ended() -> None:
    bodies = Bodies()
    for name in ("one", "other"):
        bodies.hold(name, 5)
    with pytest.raises(ServiceBusy, match="bodies of 10 bytes are being received or sent; the limit is 10"):
        bodies.hold("third", 1)
    bodies.release("one")
    bodies.hold("third", 5)


def test_the_oldest_that_waits_for_its_client_is_ended_first() -> None:
    bodies, ended = Bodies(), list[int]()
    for number in range(3):
        bodies.send(number, lambda number=number: ended.append(number), 3)  # type: ignore[misc] # a default binds it
    bodies.hold("new", 5)
    assert ended == [0, 1]


def test_one_that_was_read_to_the_end_is_not_ended() -> None:
    bodies = Bodies()
    bodies.send("read", lambda: pytest.fail("nothing is left of it"), 5)
    bodies.release("read")
    for name in ("one", "other"):
        bodies.hold(name, 5)


def test_the_bytes_of_a_request_are_free_once_it_is_answered() -> None:
    bodies = Bodies()
    bodies.hold("one", 5)
    bodies.send("one", lambda: None, 1)
    bodies.hold("other", 5)
    bodies.hold("other", 4)


STEPS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["hold", "send", "release"]), st.integers(0, 12)))


@given(STEPS)
def test_what_is_held_is_within_the_limit_and_all_of_it_can_be_used_again(steps: list[tuple[int, str, int]]) -> None:
    """A longer body counts as half of the limit. A rejection ends nothing that is in a slot."""
    bodies, held = Bodies(), dict.fromkeys(range(4), 0)

    def ended(number: int) -> None:
        held[number] = 0

    for number, step, count in steps:
        if step == "release":
            bodies.release(number)
            held[number] = 0
            continue
        if step == "send":
            held[number] = 0
        try:
            if step == "hold":
                bodies.hold(number, count)
            else:
                bodies.send(number, lambda number=number: ended(number), count)  # type: ignore[misc] # a default binds it
            held[number] += min(count, LIMIT // 2)
        except ServiceBusy:
            assert sum(held.values()) + min(count, LIMIT // 2) > LIMIT
        assert sum(held.values()) <= LIMIT
    for number in held:
        bodies.release(number)
    for name in ("one", "other"):
        bodies.hold(name, LIMIT // 2)
