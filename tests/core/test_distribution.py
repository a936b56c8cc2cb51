"""How figures are distributed: laws over any numbers, and a distribution that the eye can check."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sweeps.scoring import MOST_BINS, distribution

WHOLE = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=60)
NUMBERS = WHOLE | st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60)


@given(NUMBERS)
def test_every_value_is_in_one_bin(values: list[float]) -> None:
    actual = distribution(np.array(values))
    assert actual is not None
    edges, counts = actual.histogram.edges.tolist(), actual.histogram.counts.tolist()
    assert (actual.count, sum(counts)) == (len(values), len(values))
    assert len(edges) == len(counts) + 1 <= MOST_BINS + 1
    for place, count in enumerate(counts):
        is_last = place == len(counts) - 1
        low, high = edges[place], edges[place + 1]
        assert count == sum(low <= value < high or (is_last and value == high) for value in values)


@given(NUMBERS)
def test_quantiles_occur_and_split_the_values(values: list[float]) -> None:
    """Nearest rank: that share of the values is no larger, and no smaller value will do."""
    actual = distribution(np.array(values))
    assert actual is not None
    assert (actual.min, actual.max) == (min(values), max(values))
    assert actual.min <= actual.mean <= actual.max
    for percent, quantile in ((50, actual.p50), (95, actual.p95)):
        assert quantile in values
        assert 100 * sum(value <= quantile for value in values) >= percent * len(values)
        assert 100 * sum(value < quantile for value in values) < percent * len(values)


@given(WHOLE)
def test_bins_of_whole_numbers_are_of_one_whole_width(values: list[float]) -> None:
    actual = distribution(np.array(values))
    assert actual is not None
    widths = set(np.diff(actual.histogram.edges).tolist())
    assert len(widths) == 1
    assert widths.pop() % 1 == 0


def test_few_whole_numbers_have_a_bin_each() -> None:
    actual = distribution(np.array([1.0, 1, 1, 2, 4]))
    assert actual is not None
    assert actual.histogram.edges.tolist() == [1, 2, 3, 4, 5]
    assert actual.histogram.counts.tolist() == [3, 1, 0, 1]
    assert actual.mean == pytest.approx(1.8)
    assert (actual.p50, actual.p95) == (1, 4)


def test_one_share_alone_is_one_bin() -> None:
    actual = distribution(np.array([0.75, 0.75]))
    assert actual is not None
    assert (actual.histogram.edges.tolist(), actual.histogram.counts.tolist()) == ([0.75, 0.75], [2])


def test_nothing_has_no_distribution() -> None:
    assert distribution(np.array([], np.float64)) is None
