"""Balance of a key set, and the effect of a resize."""

from collections import Counter
from math import lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.keys import skew as module
from app.core.keys.hashes import murmur2
from app.core.keys.model import Keys, keys_of
from app.core.keys.partitioners import PARTITIONERS, WITHOUT_KEY, partition
from app.core.keys.resize import expected_moved_share, resize
from app.core.keys.skew import heaviest, skew, skew_of
from app.core.model import Int32s, Int64s

loads = st.lists(st.integers(0, 10**9), min_size=1, max_size=50).map(lambda values: np.array(values, np.int64))


class TestSkew:
    """Loads per partition."""

    def test_by_hand(self) -> None:
        placed = np.array([0, 0, 0, 2, WITHOUT_KEY, -3], np.int32)
        found = skew(placed, 4)
        assert found.per_partition.tolist() == [3, 0, 1, 0]
        assert found.max_over_mean == 3.0
        # Every two partitions' differences, over twice the mean: (3+2+3+1+0+1) · 2 / 16 / (2 · 1) = 20 / 32.
        assert found.gini == pytest.approx(0.625)

    @given(loads)
    def test_gini_is_the_mean_difference(self, values: Int64s) -> None:
        """Of every two partitions, relative to twice the mean; from 0 to 1 − 1/partitions."""
        found = skew_of(values)
        if not values.sum():
            assert (found.gini, found.max_over_mean) == (0.0, 0.0)
            return
        differences = np.abs(values[:, None] - values[None, :]).mean()
        assert found.gini == pytest.approx(differences / (2 * values.mean()), abs=1e-9)
        assert 0.0 <= found.gini <= 1 - 1 / len(values) + 1e-9
        assert 1.0 - 1e-12 <= found.max_over_mean <= len(values) + 1e-9

    @given(loads, st.integers(1, 5))
    def test_neither_measure_depends_on_the_unit(self, values: Int64s, factor: int) -> None:
        one, more = skew_of(values), skew_of(values * factor)
        assert one.gini == pytest.approx(more.gini, abs=1e-9)
        assert one.max_over_mean == pytest.approx(more.max_over_mean)

    def test_alike(self) -> None:
        assert skew_of(np.full(7, 5, np.int64)).gini == 0.0
        assert skew_of(np.full(7, 5, np.int64)).max_over_mean == 1.0


class TestHeaviest:
    """The keys that weigh most."""

    records = st.lists(st.none() | st.binary(max_size=2), max_size=40)

    @given(records, st.integers(0, 6))
    def test_they_are_those_of_a_count(self, records: list[bytes | None], most: int) -> None:
        counted: Counter[bytes] = Counter()
        first: dict[bytes, int] = {}
        for index, key in enumerate(records):
            if key is not None:
                counted[key] += 1
                first.setdefault(key, index)
        expected = sorted(counted, key=lambda key: (-counted[key], first[key]))[:most]
        found = heaviest(keys_of(records), most=most)
        assert [heavy.key for heavy in found] == expected
        assert [heavy.weight for heavy in found] == [counted[key] for key in expected]
        assert [heavy.first_index for heavy in found] == [first[key] for key in expected]
        total = sum(counted.values())
        assert [heavy.share for heavy in found] == [counted[key] / total for key in expected]

    @given(records, st.integers(1, 6))
    def test_colliding_hashes_change_nothing(self, records: list[bytes | None], most: int) -> None:
        """Equal hashes bring keys together; only their bytes make them one."""

        def by_length(keys: Keys) -> Int32s:
            return np.asarray(keys.lengths % 2, np.int32)

        keys = keys_of(records)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "murmur2", by_length)
            patch.setattr(module, "fnv1a", by_length)
            collided = heaviest(keys, most=most)
        assert collided == heaviest(keys, most=most)

    def test_more_occurrences_than_are_compared_at_once(self) -> None:
        values = [b"hot"] * 70_000 + [b"k%d" % number for number in range(1000)]
        (found,) = heaviest(keys_of(values), most=1)
        assert (found.key, found.weight, found.first_index) == (b"hot", 70_000, 0)


class TestResize:
    """From one partition count to another."""

    @given(st.integers(1, 60), st.integers(1, 60))
    def test_the_expected_share_is_counted_over_a_period(self, before: int, after: int) -> None:
        """Both remainders repeat after lcm(a, b) hashes, so one period of them is the uniform hash."""
        period = np.arange(lcm(before, after))
        moved = np.count_nonzero(period % before != period % after) / len(period)
        assert expected_moved_share(before, after) == pytest.approx(moved)
        assert expected_moved_share(before, after) == expected_moved_share(after, before)

    @given(st.integers(1, 30), st.integers(1, 30))
    def test_measured_is_near_expected(self, before: int, after: int) -> None:
        keys = keys_of([b"customer-%d" % number for number in range(5000)])
        placed = [partition(PARTITIONERS["murmur2_adaptive"], keys, count) for count in (before, after)]
        found = resize(*placed, partitions_before=before, partitions_after=after)
        assert found.keys == 5000
        assert found.moved_share == pytest.approx(found.expected_moved_share, abs=0.04)
        assert found.moved_weight_share == found.moved_share

    def test_by_hand(self) -> None:
        before = np.array([0, 1, 2, WITHOUT_KEY, -2], np.int32)
        after = np.array([0, 4, 2, WITHOUT_KEY, 1], np.int32)
        found = resize(before, after, partitions_before=3, partitions_after=6)
        assert (found.keys, found.moved_keys) == (3, 1)
        assert found.moved_share == pytest.approx(1 / 3)
        assert found.expected_moved_share == 0.5

    def test_no_keys(self) -> None:
        nothing = np.empty(0, np.int32)
        found = resize(nothing, nothing, partitions_before=3, partitions_after=6)
        assert (found.moved_share, found.moved_weight_share) == (0.0, 0.0)


def test_a_doubled_topic_keeps_half_or_moves_by_the_old_count() -> None:
    """h mod 2n is h mod n or that plus n: a doubling splits each partition into itself and one new one."""
    keys = keys_of([b"customer-%d" % number for number in range(3000)])
    before, after = (partition(PARTITIONERS["murmur2_sticky"], keys, count) for count in (12, 24))
    assert set((after - before).tolist()) == {0, 12}
    assert murmur2(keys).dtype == np.int32
