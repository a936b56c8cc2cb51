"""Batches one after another: Kafka's samples of a quota decide how soon they are complete."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given

from app.core.model import Float64s
from app.core.reassignment.batches.execution import BatchCopies, throttled
from app.core.reassignment.batches.quota_credit import WINDOW_S, quota_credits
from tests import draws as st
from tests.profiles import examples

THROTTLE = 1_000
SAMPLES, LOOK_S, FETCHED_S = 11, 0.02, 0.05
PAUSES = st.one_of(st.floats(0.5, 9.5), st.floats(11.1, 14))
"""Without those at which a sample more or less decides."""


@dataclass
class Quota:
    """The samples of a quota, in seconds of its throttle: (begin, last event, sent), as `SimpleRate` has them."""

    samples: list[list[float]] = field(default_factory=list)

    def record(self, sent: float, now: float) -> None:
        if not self.samples or now - self.samples[-1][0] >= 1:
            self.samples = [*self.samples[-SAMPLES:], [now, now, 0.0]]
        self.samples[-1][1:] = [now, self.samples[-1][2] + sent]

    def is_exceeded(self, now: float) -> bool:
        self.samples = [each for each in self.samples if now - each[1] < SAMPLES]
        since = min((each[0] for each in self.samples), default=now)
        return sum(each[2] for each in self.samples) > max(now - since, 1.0)


def simulated(needed: list[float], pauses: list[float]) -> tuple[Float64s, Float64s]:
    """Begin and end of batches that need seconds of one throttle, each so long after the one before."""
    quota, now, began, ended = Quota(), 0.0, [], []
    for each, pause in zip(needed, pauses, strict=True):
        now, left = now + pause, each
        began.append(now)
        while left > 0:
            while left > 0 and not quota.is_exceeded(now):
                quota.record(min(FETCHED_S, left), now)
                left -= FETCHED_S
            now += LOOK_S
        ended.append(now)
    return np.array(began), np.array(ended)


def copies_of(*rows: tuple[int, int, int, float]) -> BatchCopies:
    """Copies as (batch, source, target, seconds of the throttle)."""
    batch, source, target, seconds = (np.array(column) for column in zip(*rows, strict=True))
    sizes = np.round(seconds * THROTTLE).astype(np.int64)
    return BatchCopies(batch, source.astype(np.int32), target.astype(np.int32), sizes, np.zeros(len(batch)))


@examples(100)
@given(needed=st.lists(st.floats(2, 10), min_size=2, max_size=2), pause=PAUSES)
def test_a_second_batch_takes_as_long_as_by_kafkas_samples(needed: list[float], pause: float) -> None:
    """The first second of the first batch is not throttled."""
    began, ended = simulated(needed, [0.0, pause])
    copies = copies_of(*((number, 0, 1, each) for number, each in enumerate(needed)))
    taken = np.array(needed) - quota_credits(copies, throttled(THROTTLE, 2), began, ended)
    assert taken == pytest.approx(ended - began, abs=0.5)


def test_rows_of_batches_are_much_nearer_to_kafkas_samples_than_without_credit() -> None:
    """Of single ones a fetch may decide whether the end is in the window or after it."""
    chance, errors, without = np.random.default_rng(7), [], []
    for _ in range(60):
        needed, pauses = chance.uniform(2, 20, 6), chance.uniform(0.5, 14, 6)
        began, ended = simulated(needed.tolist(), pauses.tolist())
        copies = copies_of(*((number, 0, 1, each) for number, each in enumerate(needed)))
        credit = quota_credits(copies, throttled(THROTTLE, 2), began, ended)
        errors += [*np.abs(needed - credit - (ended - began))]
        without += [*np.abs(needed - (ended - began))]
    assert np.median(errors) <= 0.2
    assert np.mean(errors) <= 0.5 * np.mean(without)


@examples(100)
@given(st.floats(1, 60), st.floats(1, 60), st.floats(WINDOW_S + 0.01, 1000))
def test_a_pause_of_a_window_leaves_no_credit(first: float, second: float, pause: float) -> None:
    copies = copies_of((0, 0, 1, first), (1, 0, 1, second))
    began = np.array([0.0, first + pause])
    assert not quota_credits(copies, throttled(THROTTLE, 2), began, began + np.array([first, second])).any()


@examples(100)
@given(st.floats(1, 60), st.floats(1, 60), st.floats(0, 12))
def test_brokers_that_sent_nothing_have_no_credit(first: float, second: float, pause: float) -> None:
    """Also if only one end of the copy is another broker, whose throttle limits it."""
    for source, target in ((2, 3), (0, 3), (2, 1)):
        copies = copies_of((0, 0, 1, first), (1, source, target, second))
        began = np.array([0.0, first + pause])
        credit = quota_credits(copies, throttled(THROTTLE, 4), began, began + np.array([first, second]))
        assert credit == pytest.approx([0, 0], abs=1e-3)  # sizes are whole bytes


def test_batches_that_were_not_executed_count_for_nothing() -> None:
    copies = copies_of((0, 0, 1, 5), (1, 0, 1, 50), (2, 0, 1, 5))
    began, ended = np.array([0, np.nan, 9]), np.array([5, np.nan, 10])
    assert quota_credits(copies, throttled(THROTTLE, 2), began, ended) == pytest.approx([0, 0, 4])


@pytest.mark.parametrize(
    ("needed", "began", "ended", "credit"),
    [
        ([5, 5], [0, 12], [5, 12], 5),  # 7 s unused: all at once
        ([5, 8], [0, 7], [5, 13], 2),
        ([5, 5], [0, 5], [5, 10], 0),
        ([15, 15], [0, 23], [15, 34], 4),  # the rest beyond 11 s
        ([5, 5, 5], [0, 20, 21], [5, 20, 30], -4),  # the one before has sent all at once
    ],
)
def test_by_hand(needed: list[float], began: list[float], ended: list[float], credit: float) -> None:
    copies = copies_of(*((number, 0, 1, each) for number, each in enumerate(needed)))
    found = quota_credits(copies, throttled(THROTTLE, 2), np.array(began, float), np.array(ended, float))
    assert found[-1] == pytest.approx(credit, abs=0.25)
