"""Rates of intervals from amounts at irregular times: no byte is lost or counted twice."""

from random import Random
from typing import TypeAlias

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.core.consumers import resampled
from app.core.model import Float64s

Written: TypeAlias = tuple[Float64s, Float64s]
STEPS = st.integers(1, 5_000)


@st.composite
def written(draw: st.DrawFn) -> Written:
    """Distinct times, ascending, and what each of some partitions has received until then."""
    times = draw(st.lists(st.integers(0, 10_000), min_size=2, max_size=12, unique=True).map(sorted))
    row = st.lists(st.integers(0, 10**9), min_size=len(times), max_size=len(times))
    columns = draw(st.lists(row, min_size=1, max_size=3))
    return np.array(times, np.float64), np.array(columns, np.float64).T.cumsum(axis=0)


def lengths(times: Float64s, step: int, count: int) -> Float64s:
    """Seconds of each interval: the last one has what is left."""
    span = float(times[-1] - times[0])
    return np.array([step] * (count - 1) + [span - step * (count - 1)], np.float64)


@given(written(), STEPS)
def test_every_byte_is_in_one_interval(given_: Written, step: int) -> None:
    times, amounts = given_
    rates = resampled(times, amounts, step)
    total = (rates * lengths(times, step, len(rates))[:, None]).sum(axis=0)
    assert np.allclose(total, amounts[-1] - amounts[0])
    assert (rates >= 0).all()


@given(written(), STEPS, st.randoms(use_true_random=False))
def test_neither_the_order_nor_a_repetition_changes_the_rates(given_: Written, step: int, random: Random) -> None:
    times, amounts = given_
    order = [*range(len(times)), 0, len(times) // 2]
    random.shuffle(order)
    assert np.array_equal(resampled(times[order], amounts[order], step), resampled(times, amounts, step))


@given(written(), STEPS, st.integers(0, 10**6))
def test_constant_growth_is_a_constant_rate(given_: Written, step: int, rate: int) -> None:
    times, _ = given_
    assert np.allclose(resampled(times, times[:, None] * rate, step), rate)


@given(written(), st.integers(1, 100))
def test_at_times_of_one_step_the_rates_are_the_differences(given_: Written, step: int) -> None:
    """Then nothing is spread or summed."""
    _, amounts = given_
    times = np.array([at * step for at in range(len(amounts))], np.float64)
    rates = resampled(times, amounts, step)
    assert np.allclose(rates * step, np.diff(amounts, axis=0))


def test_an_interval_has_its_share_of_what_was_written_over_two() -> None:
    rates = resampled(np.array([0.0, 10, 30, 40]), np.array([[0.0], [100], [500], [540]]), 15)
    # 10 s at 10 bytes/s and 5 at 20; 15 at 20; the last interval lasts 10 s, at 4.
    assert np.allclose(rates, [[200 / 15], [20.0], [4.0]])
