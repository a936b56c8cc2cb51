"""Laws of consumers over time: an oracle that tries all assignments of few partitions, and metamorphic laws."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.consumers import (
    ConsumersProblem,
    Interval,
    consumer_violations,
    delayed,
    front,
    largest_loads,
    partitions_needed,
    scale,
)
from app.core.consumers.exact import Effort
from app.core.consumers.scaling import lower_bound, packed
from app.core.groups.registry import ASSIGNORS
from app.core.model import Int64s

CAPACITY = 20


def problem_of(rates: Sequence[Sequence[int]], **fields: int) -> ConsumersProblem:
    return ConsumersProblem(np.array(rates, np.int64), **{"capacity": CAPACITY} | fields)


@st.composite
def series(draw: st.DrawFn, partitions: int = 6, intervals: int = 3, largest: int = CAPACITY) -> Int64s:
    width = draw(st.integers(1, partitions))
    row = st.lists(st.integers(0, largest), min_size=width, max_size=width)
    return np.array(draw(st.lists(row, min_size=1, max_size=intervals)), np.int64)


def solved(problem: ConsumersProblem) -> list[Interval]:
    intervals = scale(problem)
    assert [*consumer_violations(problem, intervals)] == []
    return intervals


def random_walk(seed: int, intervals: int, partitions: int = 32) -> Int64s:
    generator = np.random.default_rng(seed)
    rows = [generator.integers(0, 101, partitions)]
    for _ in range(intervals - 1):
        rows.append(np.clip(rows[-1] + generator.integers(-5, 6, partitions), 0, 100))
    return np.array(rows, np.int64)


def best_fit_decreasing(weights: Sequence[int], capacity: int) -> int:
    """Another best fit, over lists: the number of consumers."""
    loads: list[int] = []
    for weight in sorted(filter(None, weights), reverse=True):
        fitting = [load for load in loads if load + weight <= capacity]
        if fitting:
            loads.remove(max(fitting))
        loads.append(weight + max(fitting, default=0))
    return len(loads)


class TestOracle:
    @given(series(intervals=1))
    def test_no_assignment_has_fewer_consumers(self, rates: Int64s) -> None:
        [interval] = solved(ConsumersProblem(rates, CAPACITY))
        fewest = min(
            len({*owners})
            for owners in product(range(min(interval.consumers, 3)), repeat=rates.shape[1])
            if interval.consumers > 3 or np.bincount(owners, rates[0]).max() <= CAPACITY
        )
        assert interval.lower_bound == interval.consumers
        assert interval.consumers > 3 or interval.consumers == fewest

    @pytest.mark.long
    @settings(max_examples=40, deadline=None)
    @given(series(partitions=5))
    def test_no_assignment_to_as_many_consumers_moves_less(self, rates: Int64s) -> None:
        intervals = solved(ConsumersProblem(rates, CAPACITY))
        for before, interval, row in zip(intervals[:-1], intervals[1:], rates[1:], strict=True):
            names = {*before.owners.tolist(), *range(100, 100 + interval.consumers)}
            least = min(
                int(row[np.array(owners) != before.owners].sum())
                for owners in product(sorted(names)[: before.consumers + interval.consumers], repeat=len(row))
                if len({owner for owner, rate in zip(owners, row.tolist(), strict=True) if rate}) <= interval.consumers
                and all(row[np.array(owners) == owner].sum() <= CAPACITY for owner in {*owners})
            )
            assert interval.moved_lower_bound == interval.moved == least

    @given(st.lists(st.integers(0, CAPACITY), min_size=1, max_size=6))
    def test_bounds_without_a_model_hold(self, weights: list[int]) -> None:
        found = packed(np.array(weights, np.int64), CAPACITY, Effort(1, 1))
        assert lower_bound(np.array(weights, np.int64), CAPACITY) <= found.lower_bound == found.consumers


class TestLaws:
    @settings(max_examples=10, deadline=None)
    @given(st.integers(0, 1_000), st.integers(1, 4))
    def test_no_interval_has_more_consumers_than_best_fit_decreasing(self, seed: int, intervals: int) -> None:
        rates = random_walk(seed, intervals, 24)
        for interval, row in zip(solved(ConsumersProblem(rates, 100)), rates.tolist(), strict=True):
            assert interval.consumers <= best_fit_decreasing(row, 100)

    @settings(deadline=None)
    @given(series(partitions=8), st.integers(2, 1_000_000))
    def test_units_do_not_matter(self, rates: Int64s, unit: int) -> None:
        one, other = solved(ConsumersProblem(rates, CAPACITY)), solved(ConsumersProblem(rates * unit, CAPACITY * unit))
        for before, after in zip(one, other, strict=True):
            assert (before.consumers, before.moved * unit) == (after.consumers, after.moved)
            assert before.owners.tolist() == after.owners.tolist()

    @settings(deadline=None)
    @given(series(), st.integers(1, 10))
    def test_more_capacity_never_needs_more_consumers(self, rates: Int64s, more: int) -> None:
        less, larger = solved(ConsumersProblem(rates, CAPACITY)), solved(ConsumersProblem(rates, CAPACITY + more))
        assert all(other.consumers <= each.consumers for each, other in zip(less, larger, strict=True))

    @settings(deadline=None)
    @given(series(partitions=8), st.integers(0, 1_000))
    def test_the_order_of_partitions_does_not_change_counts(self, rates: Int64s, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(rates.shape[1])
        one, other = solved(ConsumersProblem(rates, CAPACITY)), solved(ConsumersProblem(rates[:, order], CAPACITY))
        assert [each.consumers for each in one] == [each.consumers for each in other]

    @settings(deadline=None)
    @given(series(partitions=12, intervals=1, largest=3 * CAPACITY), st.integers(2, 4), st.integers(0, 2))
    def test_equal_intervals_move_nothing(self, rates: Int64s, times: int, spare: int) -> None:
        intervals = solved(ConsumersProblem(np.repeat(rates, times, axis=0), CAPACITY, spare=spare))
        assert {each.moved for each in intervals} == {0}

    @settings(deadline=None)
    @given(series(partitions=8, largest=2 * CAPACITY), st.integers(1, 3), st.integers(0, 3))
    def test_limits_hold_and_what_is_lost_is_said(self, rates: Int64s, most: int, least: int) -> None:
        problem = ConsumersProblem(rates, CAPACITY, least=min(max(1, least), most), most=most)
        for interval, row in zip(solved(problem), rates, strict=True):
            assert interval.lost >= row.sum() - most * CAPACITY
            assert interval.lost > 0 or not (row > CAPACITY).any()

    @settings(max_examples=20, deadline=None)
    @given(series(partitions=8, intervals=8))
    def test_no_point_of_the_front_is_worse_than_another(self, rates: Int64s) -> None:
        problem = ConsumersProblem(rates, CAPACITY)
        points = front(problem, solved(problem))
        assert [point.consumers for point in points] == sorted({point.consumers for point in points})
        assert [point.moved for point in points] == sorted({point.moved for point in points}, reverse=True)
        assert points[0].consumers == sum(each.consumers for each in scale(problem))

    @settings(max_examples=20, deadline=None)
    @given(series(partitions=8, intervals=4, largest=CAPACITY // 2))
    def test_a_choice_of_the_front_has_the_consumers_of_its_own_problem(self, rates: Int64s) -> None:
        problem = ConsumersProblem(rates, CAPACITY)
        for point in front(problem, solved(problem)):
            own = scale(replace(problem, hold=point.hold, spare=point.spare))
            assert point.consumers == sum(each.consumers for each in own)

    def test_the_front_counts_packings_that_only_the_model_finds(self) -> None:
        """Best fit decreasing needs three consumers of 100 for 50, 44, 41, 40, 16 and 7: 50 + 44, 41 + 40 + 16, 7."""
        problem = problem_of([[41, 7, 16, 40, 44, 50]], capacity=100, spare=1)
        assert best_fit_decreasing([41, 7, 16, 40, 44, 50], 100) == 3
        assert [(point.spare, point.consumers) for point in front(problem, solved(problem))] == [(0, 2)]


class TestDelay:
    @settings(deadline=None)
    @given(series(partitions=4, intervals=10, largest=1_000), st.integers(0, 10))
    def test_every_record_is_consumed_within_the_delay(self, rates: Int64s, delay: int) -> None:
        consumed = np.cumsum(delayed(rates, delay), axis=0)
        arrived = np.cumsum(rates, axis=0)
        due = np.vstack([np.zeros((delay, rates.shape[1]), np.int64), arrived])[: len(rates)]
        assert (consumed <= arrived).all()
        assert (consumed >= due).all()
        assert consumed[-1].tolist() == arrived[-1].tolist()
        assert (np.diff(consumed, axis=0) >= 0).all()

    @settings(deadline=None)
    @given(series(partitions=3, intervals=8, largest=1_000), st.integers(1, 8))
    def test_the_peak_is_least(self, rates: Int64s, delay: int) -> None:
        """No schedule consumes the records that arrive and are due between two moments at a lower rate."""
        total = rates.sum(axis=1)
        arrived = np.append(0, np.cumsum(total))
        due = np.append(0, arrived[np.maximum(np.arange(1, len(arrived)) - delay, 0)])
        due[-1] = arrived[-1]
        least = max(
            (due[end] - arrived[start]) / (end - start)
            for start in range(len(total))
            for end in range(start + 1, len(arrived))
        )
        assert delayed(rates, delay).sum(axis=1).max() <= least + rates.shape[1] + 1

    def test_a_peak_is_spread_over_the_intervals_in_which_it_may_wait(self) -> None:
        assert delayed(np.array([[10], [40], [10]]), 1).tolist() == [[10], [25], [25]]
        assert delayed(np.array([[10], [40], [10]]), 0).tolist() == [[10], [40], [10]]


def test_a_short_dip_is_held() -> None:
    rates = [[15, 15, 15], [15, 2, 2], [15, 15, 15], [2, 2, 2]]
    assert [each.consumers for each in solved(problem_of(rates))] == [3, 1, 3, 1]
    assert [each.consumers for each in solved(problem_of(rates, hold=1))] == [3, 3, 3, 1]
    assert [each.consumers for each in solved(problem_of(rates, spare=1, most=3))] == [3, 2, 3, 2]


def test_an_oversized_partition_has_a_consumer_of_its_own() -> None:
    [interval] = solved(problem_of([[50, 10, 10]]))
    assert (interval.consumers, interval.lost) == (2, 30)
    assert (interval.owners[1:] != interval.owners[0]).all()


def test_the_verifier_finds_every_defect() -> None:
    problem = problem_of([[15, 15, 2], [15, 15, 8]])
    intervals = solved(problem)
    together = replace(intervals[1], owners=np.zeros(3, np.int32))
    for broken in (
        together,
        replace(intervals[1], moved=intervals[1].moved + 1),
        replace(intervals[1], moved_lower_bound=intervals[1].moved + 1),
        replace(intervals[1], lost=1),
        replace(intervals[1], lower_bound=9),
        replace(intervals[1], consumers=1),
    ):
        assert [*consumer_violations(problem, [intervals[0], broken])]
    assert [*consumer_violations(problem, intervals[:1])]
    assert [*consumer_violations(replace(problem, least=9), intervals)]


@pytest.mark.parametrize(("assignor", "largest"), [("range", [20, 12]), ("uniform", [20, 12])])
def test_kafkas_assignors_ignore_rates(assignor: str, largest: list[int]) -> None:
    rates = np.array([[10, 10, 1, 1], [6, 6, 6, 6]])
    [found] = [each for each in ASSIGNORS.values() if each.name == assignor][:1]
    loads = largest_loads(rates, {"a": 4}, 2, found.assign)
    assert loads[1] == largest[1]
    assert largest_loads(rates, {"a": 2, "b": 2}, 4, found.assign).max() >= 10


@pytest.mark.long
@pytest.mark.parametrize("assignor", ["uniform", "server-range", "range", "roundrobin"])
@given(rates=series(partitions=8), cut=st.integers(1, 7), more=st.integers(1, 40))
def test_consumers_beyond_the_number_of_partitions_are_idle(assignor: str, rates: Int64s, cut: int, more: int) -> None:
    """The service relies on it: Kafka's assignors are replayed for as many consumers as partitions at most."""
    partitions = rates.shape[1]
    first = min(cut, partitions - 1)
    topics = {"a": partitions - first} | ({"b": first} if first else {})
    loads = [
        largest_loads(rates, topics, consumers, ASSIGNORS[assignor].assign).tolist()
        for consumers in (partitions, partitions + more)
    ]
    assert loads[0] == loads[1]


def test_partitions_last_until_the_largest_exceeds_a_consumer() -> None:
    assert partitions_needed(50, 4, 100, growth=0, months=12, multiple=1) == (4, None)
    assert partitions_needed(150, 4, 100, growth=0, months=0, multiple=1) == (6, None)
    count, months = partitions_needed(50, 4, 100, growth=0.1, months=12, multiple=3)
    assert (count, months) == (9, 15)
    assert 50 * 4 * 1.1**15 / 9 <= 100 < 50 * 4 * 1.1**16 / 9
