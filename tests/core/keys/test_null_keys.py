"""Records without key: each generation's policy by hand, and the laws that they share."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.keys.null_keys import (
    NULL_KEY_POLICIES,
    AdaptiveChoice,
    ProducerView,
    adaptive,
    round_robin,
    sticky_batch,
)
from app.core.model import Int32s


def array(numbers: Sequence[int]) -> Int32s:
    return np.array(numbers, np.int32)


class Scripted(JavaRandom):
    """Draws that are written down, so that a run can be worked out by hand."""

    def __init__(self, *draws: int) -> None:
        super().__init__(0)
        self.left = list(draws)

    def next_int32(self) -> int:
        return self.left.pop(0)

    def next_int(self, bound: int) -> int:
        return self.left.pop(0) % bound


@st.composite
def views(draw: st.DrawFn) -> ProducerView:
    partitions = draw(st.integers(1, 12))
    available = draw(st.none() | st.lists(st.integers(0, partitions - 1), unique=True).map(array))
    sizes = partitions if available is None else len(available)
    queue_sizes = draw(st.none() | st.lists(st.integers(0, 9), min_size=sizes, max_size=sizes).map(array))
    return ProducerView(partitions, available, queue_sizes, draw(st.integers(1, 100)))


@given(
    st.sampled_from(sorted(NULL_KEY_POLICIES)),
    st.lists(st.integers(1, 150), max_size=60),
    views(),
    st.integers(0, 2**40),
)
def test_every_policy_stays_within_the_topic_and_can_be_replayed(
    name: str, record_bytes: list[int], view: ProducerView, seed: int
) -> None:
    """All but librdkafka's, which tries twice only, keep to the partitions that have a leader where there are any."""
    place = NULL_KEY_POLICIES[name].place
    placed = place(array(record_bytes), view, random=JavaRandom(seed))
    assert placed.dtype == np.int32
    assert placed.tolist() == place(array(record_bytes), view, random=JavaRandom(seed)).tolist()
    allowed = range(view.partitions) if name == "random" else view.candidates().tolist()
    assert len(placed) == len(record_bytes)
    assert set(placed.tolist()) <= set(allowed)


@given(st.integers(-(2**31), 2**31 - 1), views(), st.integers(0, 50))
def test_in_turn_is_even(start: int, view: ProducerView, rounds: int) -> None:
    """0.8.2 to 2.3: whatever the start, no partition is ahead of another by more than a record, but where the counter
    passes 2³¹, from which it begins anew."""
    candidates = view.candidates()
    records = rounds * len(candidates)
    wraps = (start & 0x7FFFFFFF) + records >= 2**31
    placed = round_robin(np.ones(records, np.int32), view, random=Scripted(start))
    counts = np.bincount(placed, minlength=view.partitions)[candidates]
    assert np.ptp(counts) <= 1 + wraps


def test_in_turn_by_hand() -> None:
    view = ProducerView(4, array([0, 1, 3]))
    one = np.ones(5, np.int32)
    assert round_robin(one, view, random=Scripted(-1)).tolist() == [1, 0, 1, 3, 0]  # 2³¹ − 1 is 1 modulo 3
    # 0.8 counts over all four and passes the one without leader: its successor gets its share.
    skipping = NULL_KEY_POLICIES["round_robin_skipping"].place
    assert skipping(one, view, random=Scripted(1)).tolist() == [1, 3, 0, 1, 3]
    without_leaders = ProducerView(4, array([]))
    assert skipping(one, without_leaders, random=Scripted(1)).tolist() == [1, 2, 3, 0, 1]


class TestInTurnPassing:
    """0.8: the counter goes over all partitions and passes those that have no leader."""

    @given(st.integers(-(2**31), 2**31 - 1), st.integers(1, 12), st.integers(0, 40), st.data())
    def test_it_is_the_counter_moved_on_one_by_one(
        self, start: int, partitions: int, records: int, data: st.DataObject
    ) -> None:
        available = data.draw(st.lists(st.integers(0, partitions - 1), unique=True, min_size=1))
        expected: list[int] = []
        counter = start & 0x7FFFFFFF
        while len(expected) < records:
            if counter % partitions in available:
                expected.append(counter % partitions)
            counter = (counter + 1) & 0x7FFFFFFF
        view = ProducerView(partitions, array(available))
        placed = NULL_KEY_POLICIES["round_robin_skipping"].place(
            np.ones(records, np.int32), view, random=Scripted(start)
        )
        assert placed.tolist() == expected

    @pytest.mark.parametrize("start", [2**31 - 3, -3])
    def test_by_hand_where_the_counter_wraps(self, start: int) -> None:
        """2³¹ − 3, 2³¹ − 2 and 2³¹ − 1 are 6, 0 and 1 modulo 7; then comes 0, which is 0 modulo 7 too."""
        view = ProducerView(7, array([0, 6]))
        placed = NULL_KEY_POLICIES["round_robin_skipping"].place(np.ones(5, np.int32), view, random=Scripted(start))
        assert placed.tolist() == [6, 0, 0, 6, 0]

    def test_it_does_not_look_at_each_partition_that_has_no_leader(self) -> None:
        """A million partitions and one leader: the counter passes 10¹² of them."""
        view = ProducerView(1_000_000, array([7]))
        placed = NULL_KEY_POLICIES["round_robin_skipping"].place(
            np.ones(1_000_000, np.int32), view, random=JavaRandom(1)
        )
        assert set(placed.tolist()) == {7}


class TestStickyBatch:
    """KIP-480."""

    def test_a_batch_each(self) -> None:
        """Random numbers: 2; 0, as the first record finds no batch; 0 again, which is rejected; 1; 2."""
        random = Scripted(2, 0, 3, 1, -1)  # −1 & 0x7fffffff is 1 modulo 3, hence not taken
        random.left.append(2)
        placed = sticky_batch(array([40, 60, 1, 99, 5]), ProducerView(3, batch_bytes=100), random=random)
        assert placed.tolist() == [0, 0, 1, 1, 2]
        assert random.left == []

    def test_a_record_larger_than_a_batch_has_one_to_itself(self) -> None:
        placed = sticky_batch(array([500, 500]), ProducerView(2, batch_bytes=100), random=JavaRandom(1))
        assert sorted(placed.tolist()) == [0, 1]

    def test_one_partition_left(self) -> None:
        """No random number is taken if there is nothing to choose."""
        placed = sticky_batch(array([60, 60]), ProducerView(3, array([2]), batch_bytes=100), random=Scripted())
        assert placed.tolist() == [2, 2]

    def test_no_leader_anywhere(self) -> None:
        placed = sticky_batch(array([60, 60]), ProducerView(3, array([]), batch_bytes=100), random=Scripted(7, 4, 5))
        assert placed.tolist() == [1, 2]

    @given(st.lists(st.integers(1, 100), min_size=1, max_size=60), st.integers(2, 9), st.integers(0, 2**40))
    def test_no_batch_overflows_and_each_ends_for_a_record_that_does_not_fit(
        self, sizes: list[int], partitions: int, seed: int
    ) -> None:
        view = ProducerView(partitions, batch_bytes=100)
        placed = sticky_batch(array(sizes), view, random=JavaRandom(seed)).tolist()
        filled = 0
        for index, size in enumerate(sizes):
            moves = index > 0 and placed[index] != placed[index - 1]
            assert moves == (index > 0 and filled + size > 100)
            filled = size if moves or not index else filled + size


class TestAdaptive:
    """KIP-794."""

    def test_by_queue_sizes(self) -> None:
        """The KIP's example: queues 0, 3, 1 give weights 4, 1, 3; draws 0–3, 4 and 5–7."""
        view = ProducerView(3, queue_sizes=array([0, 3, 1]), batch_bytes=1)
        placed = adaptive(np.ones(8, np.int32), view, random=Scripted(*range(8)))
        assert placed.tolist() == [0, 0, 0, 0, 1, 2, 2, 2]

    def test_queues_that_are_equal_or_unknown_give_equal_shares(self) -> None:
        for queue_sizes in (None, array([2, 2, 2])):
            view = ProducerView(3, queue_sizes=queue_sizes, batch_bytes=1)
            placed = adaptive(np.ones(4, np.int32), view, random=Scripted(0, 1, 2, 3))
            assert placed.tolist() == [0, 1, 2, 0]

    def test_the_record_that_fills_the_batch_still_goes_there(self) -> None:
        view = ProducerView(5, batch_bytes=100)
        placed = adaptive(array([60, 60, 99, 1, 1]), view, random=Scripted(3, 3, 1))
        assert placed.tolist() == [3, 3, 3, 3, 1]

    def test_slow_and_leaderless_partitions_are_left_out(self) -> None:
        """A queue of the same length as all others still has its weight where a partition is missing."""
        view = ProducerView(3, array([0, 2]), array([5, 5]), batch_bytes=1)
        assert adaptive(np.ones(4, np.int32), view, random=Scripted(0, 1, 2, 3)).tolist() == [0, 2, 0, 2]

    def test_in_the_long_run_bytes_are_even(self) -> None:
        """Unlike the sticky batch if records differ in size: KIP-794's motivation."""
        sizes = np.random.default_rng(1).integers(10, 2000, 200_000).astype(np.int32)
        placed = adaptive(sizes, ProducerView(4), random=JavaRandom(1))
        loads = np.bincount(placed, weights=sizes)
        assert loads.max() / loads.mean() < 1.05


def test_at_random_again_where_there_is_no_leader() -> None:
    view = ProducerView(4, array([1]))
    place = NULL_KEY_POLICIES["random"].place
    assert place(np.ones(3, np.int32), view, random=Scripted(0, 1, 1, 2, 3)).tolist() == [1, 1, 3]


@pytest.mark.parametrize("name", sorted(NULL_KEY_POLICIES))
def test_no_records(name: str) -> None:
    assert NULL_KEY_POLICIES[name].place(array([]), ProducerView(3), random=Scripted(5)).tolist() == []


class TestInTheProducersRack:
    """KIP-1123: the adaptive partitioner prefers partitions whose leaders are in the producer's rack."""

    @given(
        view=views(),
        in_rack=st.lists(st.booleans(), min_size=12, max_size=12),
        draws=st.lists(st.integers(0, 2**31 - 1), min_size=1),
    )
    def test_only_they_are_taken_if_there_are_any(
        self, view: ProducerView, in_rack: list[bool], draws: list[int]
    ) -> None:
        candidates = view.candidates()
        local = np.array(in_rack[: view.partitions if view.available is None else len(view.available)], np.bool_)
        choice = AdaptiveChoice.of(replace(view, in_rack=local))
        allowed = candidates[local] if local.any() else candidates
        assert {choice.partition(number) for number in draws} <= set(allowed.tolist())

    def test_their_queues_are_weighed_against_each_other(self) -> None:
        """Partition 2 has the longest queue of all; in the rack are 0 and 1, weighted 1 and 3 by their own longest."""
        in_rack = np.array([True, True, False])
        choice = AdaptiveChoice.of(ProducerView(3, array([0, 1, 2]), array([2, 0, 9]), in_rack=in_rack))
        assert [choice.partition(number) for number in range(5)] == [0, 1, 1, 1, 0]
