"""How long batches take: bounds, worked examples, and a simulator that shares nothing with the model."""

import numpy as np
import pytest
from hypothesis import given

from app.core.reassignment.batches.execution import (
    FETCH_BYTES,
    BatchCopies,
    ReplicationRates,
    batch_durations,
    recommended_throttle,
    throttled,
)
from tests import draws as st
from tests.core.reassignment.simulated_replication import simulated_seconds
from tests.profiles import costly, examples

BROKERS = 5
THROTTLE = 1_000
NOTHING_KNOWN = np.full(BROKERS, np.inf)


def copies_of(*rows: tuple[int, int, int, int, float]) -> BatchCopies:
    """Copies as (batch, source, target, bytes, ingress)."""
    batch, source, target, size, ingress = (np.array(column) for column in zip(*rows, strict=True))
    return BatchCopies(batch, source.astype(np.int32), target.astype(np.int32), size, ingress.astype(np.float64))


@st.composite
def batches(draw: st.DrawFn, most_ingress: int = 0) -> BatchCopies:
    """One batch of up to eight copies between other brokers."""
    rows = []
    for _ in range(draw(st.integers(1, 8))):
        source, target = draw(st.permutations(range(BROKERS)))[:2]
        rows.append((0, source, target, draw(st.integers(1, 20)) * 10_000, draw(st.integers(0, most_ingress))))
    return copies_of(*rows)


@costly(60)
@given(batches(most_ingress=150), st.integers(0, 99))
def test_within_15_percent_of_a_simulation(copies: BatchCopies, seed: int) -> None:
    """At most 8 × 150 bytes/s are written, so that some batches never complete at a throttle of 1,000."""
    [seconds] = batch_durations(copies, throttled(THROTTLE, BROKERS), 1)
    if np.isinf(seconds):
        simulated = simulated_seconds(copies, THROTTLE, BROKERS, window_s=20.0, most_windows=200, seed=seed)
        assert simulated > 2_000
        return
    window_s = seconds / 50
    simulated = simulated_seconds(copies, THROTTLE, BROKERS, window_s=window_s, most_windows=70, seed=seed)
    assert simulated == pytest.approx(seconds, rel=0.15)


@examples(200)
@given(batches())
def test_between_the_bounds_of_the_busiest_broker(copies: BatchCopies) -> None:
    """A broker is busy for its bytes at least. The last copy always has a saturated end: both together suffice."""
    [seconds] = batch_durations(copies, throttled(THROTTLE, BROKERS), 1)
    sent, received = (
        np.bincount(ends, copies.size_bytes, BROKERS) / THROTTLE for ends in (copies.source, copies.target)
    )
    assert seconds >= max(sent.max(), received.max()) * (1 - 1e-9)
    assert seconds <= (sent[copies.source] + received[copies.target]).max() * 1.01 + 1e-9


@examples(100)
@given(batches(most_ingress=300))
def test_a_recommended_throttle_lets_every_batch_complete(copies: BatchCopies) -> None:
    recommended = recommended_throttle(copies, throttled(None, BROKERS))
    if recommended is None:
        assert not copies.ingress_bytes_per_s.any()
        return
    assert str(recommended).rstrip("0") in ("1", "2", "5")
    assert np.isfinite(batch_durations(copies, throttled(recommended, BROKERS), 1)).all()


@examples(100)
@given(batches(most_ingress=100), batches(most_ingress=100))
def test_batches_do_not_affect_one_another(one: BatchCopies, other: BatchCopies) -> None:
    both = BatchCopies(
        np.concatenate([one.batch, other.batch + 1]),
        *(
            np.concatenate([getattr(one, name), getattr(other, name)])
            for name in ("source", "target", "size_bytes", "ingress_bytes_per_s")
        ),
    )
    rates = throttled(THROTTLE, BROKERS)
    alone = [batch_durations(each, rates, 1)[0] for each in (one, other)]
    assert batch_durations(both, rates, 2).tolist() == alone


@pytest.mark.parametrize(
    ("rows", "seconds"),
    [
        ([(0, 0, 1, 5_000, 0)], 5),
        ([(0, 0, 1, 5_000, 500)], 10),  # half of the throttle is for new records
        ([(0, 0, 1, 5_000, 1_000)], np.inf),
        ([(0, 0, 1, 5_000, 0), (0, 0, 2, 5_000, 0)], 10),  # from one source
        ([(0, 0, 1, 5_000, 0), (0, 2, 3, 2_000, 0)], 5),  # side by side
        ([(0, 0, 1, 4_000, 0), (0, 0, 2, 2_000, 0), (0, 3, 2, 6_000, 0)], 8),
        ([(0, 0, 1, 1_000, 600), (0, 0, 2, 1_000, 0)], 5),  # the second one has ended after 2 s
        ([(0, 0, 1, 0, 5_000)], 0),  # nothing to copy
    ],
)
def test_by_hand(rows: list[tuple[int, int, int, int, float]], seconds: float) -> None:
    [found] = batch_durations(copies_of(*rows), throttled(THROTTLE, BROKERS), 1)
    assert found == pytest.approx(seconds, rel=0.01)


def test_networks_limit_what_the_throttle_does_not() -> None:
    copies = copies_of((0, 0, 1, 5_000, 0), (1, 2, 3, 5_000, 0))
    nic = NOTHING_KNOWN.copy()
    nic[1] = 100
    known = ReplicationRates(THROTTLE, nic_in=nic, nic_out=NOTHING_KNOWN)
    assert batch_durations(copies, known, 2).tolist() == [50, 5]
    unknown = ReplicationRates(None, nic_in=nic, nic_out=NOTHING_KNOWN)
    seconds = batch_durations(copies, unknown, 2)
    assert seconds[0] == 50
    assert np.isnan(seconds[1])
    nic[1] = 0
    assert np.isinf(batch_durations(copies, known, 2)[0])


def test_no_throttle_is_recommended_that_a_network_does_not_have() -> None:
    copies = copies_of((0, 0, 1, 5_000, 30), (0, 0, 2, 5_000, 40))
    assert recommended_throttle(copies, throttled(None, BROKERS)) == 200  # at least 2 × 70
    nic = np.full(BROKERS, 199.0)
    assert recommended_throttle(copies, ReplicationRates(None, nic_in=nic, nic_out=nic)) is None


def sent_bytes(size: int, batch: int) -> int:
    """Bytes that a leader sends of equal record batches: a follower asks again for a batch that was cut off."""
    sent = copied = 0
    while copied < size:
        fetched = min(max(FETCH_BYTES, batch), size - copied)
        sent += fetched
        copied += fetched // batch * batch
    return sent


@examples(200)
@given(st.integers(5_000, 3 * FETCH_BYTES // 2), st.integers(400, 600))
def test_batches_that_are_cut_off_are_sent_again(batch: int, fetches: int) -> None:
    """The last fetch is not cut off: it is one of at least 400."""
    size = max(fetches * (FETCH_BYTES // batch), fetches) * batch
    rates = throttled(FETCH_BYTES, BROKERS, batch)
    [seconds] = batch_durations(copies_of((0, 0, 1, size, 0)), rates, 1)
    assert seconds == pytest.approx(sent_bytes(size, batch) / FETCH_BYTES, rel=0.005)


@examples(100)
@given(batches(most_ingress=100), st.integers(1, 2 * FETCH_BYTES))
def test_record_batches_never_shorten_a_batch(copies: BatchCopies, record_batch: int) -> None:
    """Up to twice as much is sent. A recommended throttle still lets every batch complete."""
    [known], [unknown] = (
        batch_durations(copies, throttled(THROTTLE, BROKERS, size), 1) for size in (record_batch, None)
    )
    assert known >= unknown * 0.98
    assert 1 <= throttled(THROTTLE, BROKERS, record_batch).sent_per_copied <= 2
    recommended = recommended_throttle(copies, throttled(None, BROKERS, record_batch))
    if recommended is not None:
        assert np.isfinite(batch_durations(copies, throttled(recommended, BROKERS, record_batch), 1)).all()


@pytest.mark.parametrize(
    ("record_batch", "sent"),
    [
        (None, 1),
        (16_384, 1),  # 64 in a fetch
        (800_000, 1.31072),  # as measured: 1.3
        (FETCH_BYTES // 2 + 1, 2),
        (FETCH_BYTES, 1),
        (FETCH_BYTES + 1, 1),  # it is sent as a whole
    ],
)
def test_bytes_sent_for_each_byte_copied(record_batch: int | None, sent: float) -> None:
    assert throttled(THROTTLE, BROKERS, record_batch).sent_per_copied == pytest.approx(sent, rel=1e-5)
