"""Counts balanced in proportion to the weights of brokers, beside every legal placement of small problems."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given

from app.core.reassignment.model import KEEP, TIGHT, Balance, BrokerBounds, Domain, MovementProblem
from app.core.reassignment.solvers.flow import levels as of_levels
from app.core.reassignment.solvers.flow.least_movement import least_movement, within_budget
from app.core.reassignment.solvers.flow.levels import LARGEST_WEIGHT, find_levels, narrowest_levels, whole_weights
from app.core.reassignment.solvers.flow.places import counts
from app.core.reassignment.verifier import placement_violations
from tests import draws as st
from tests.core.reassignment.test_least_movement import all_placements, problem_of, problems
from tests.profiles import examples


@st.composite
def weighted(draw: st.DrawFn) -> MovementProblem:
    """A small problem whose brokers have weights of their own."""
    problem = draw(problems())
    brokers = len(problem.broker_ids)
    weights = draw(st.lists(st.sampled_from([1, 1, 2, 3, 5]), min_size=brokers, max_size=brokers))
    return replace(problem, share=whole_weights(np.array(weights, np.int64)))


NEARER = Fraction(1, 10**9)


def level_of(counted: tuple[int, ...], weights: list[int]) -> Fraction:
    """The level just above which no count is above its ceiling."""
    return max(
        (Fraction(count - 1, weight) for count, weight in zip(counted, weights, strict=True)), default=Fraction(0)
    )


@given(weighted())
@examples(30)
def test_the_levels_are_the_narrowest_and_the_movement_the_least_of_all_placements(problem: MovementProblem) -> None:
    assert problem.share is not None
    levels, weights = narrowest_levels(problem), problem.share[problem.target].tolist()
    placements = [(moved, counted) for moved, _, counted, _ in all_placements(problem)]
    is_whole = all(sum(counted) == sum(placements[0][1]) for _, counted in placements) and problem.target.all()
    high = min(level_of(counted, weights) for _, counted in placements) + NEARER
    most = [ceil(high * weight) for weight in weights]
    if weights and is_whole:
        assert [ceil(levels.high * weight) for weight in weights] == most
    most = [ceil(levels.high * weight) for weight in weights]
    below = [(moved, counted) for moved, counted in placements if (np.array(counted) <= most).all()]
    # No floor is above its ceiling, so that a count at its ceiling is above every floor.
    highest = max((Fraction(top, w) for top, w in zip(most, weights, strict=True)), default=Fraction(0)) + 2 * NEARER
    lowest = [
        min((Fraction(n + 1, w) for n, w, top in zip(counted, weights, most, strict=True) if n < top), default=highest)
        for _, counted in below
    ]
    low = max(max(lowest) - NEARER, Fraction(0))
    least = levels.bounds().low[problem.target].tolist()
    assert least == [min(floor(low * weight), top) for weight, top in zip(weights, most, strict=True)]
    inside = [moved for moved, counted in below if (np.array(counted) >= least).all()]
    placed = least_movement(problem, TIGHT)
    assert placement_violations(problem, placed) == []
    assert placed.moved == placed.certificate.lower_bound == min(inside)


@given(weighted(), st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2)]), st.integers(2, 9))
@examples(20)
def test_scaling_all_weights_changes_nothing(problem: MovementProblem, tolerance: Fraction, factor: int) -> None:
    assert problem.share is not None
    scaled = replace(problem, share=whole_weights(problem.share * factor))
    for balance in (KEEP, Balance(tolerance)):
        first, second = least_movement(problem, balance), least_movement(scaled, balance)
        assert np.array_equal(first.replicas, second.replicas)
        assert first.certificate == second.certificate


@given(problems(), st.sampled_from([Fraction(0), Fraction(1, 4)]))
@examples(30)
def test_equal_weights_are_no_weights(problem: MovementProblem, tolerance: Fraction) -> None:
    equal = replace(problem, share=np.ones(len(problem.broker_ids), np.int64))
    for balance in (KEEP, Balance(tolerance)):
        free, bound = least_movement(problem, balance), least_movement(equal, balance)
        assert (free.moved, free.certificate.lower_bound) == (bound.moved, bound.certificate.lower_bound)
        assert (free.band is None) == (bound.band is None)
        if problem.target.any():
            assert free.band == bound.band


@given(weighted(), st.sampled_from([Fraction(0), Fraction(1, 4)]))
@examples(20)
def test_targets_add_up_to_the_total_and_are_within_the_bounds(problem: MovementProblem, tolerance: Fraction) -> None:
    levels = narrowest_levels(problem)
    ideal = [levels.mean * int(weight) for weight in levels.weight[problem.target]]
    total = int(problem.factors.sum()) + int(problem.base[problem.target].sum())
    assert sum(ideal, Fraction(0)) == (total if ideal else 0)
    bounds = levels.bounds(Balance(tolerance))
    if levels.low <= levels.mean <= levels.high:
        for share, low, high in zip(ideal, bounds.low[problem.target], bounds.high[problem.target], strict=True):
            assert low <= share <= high
            assert low <= ceil(share * (1 - tolerance))
            assert high >= floor(share * (1 + tolerance))


@given(weighted(), st.integers(0, 30))
@examples(20)
def test_a_budget_is_met_and_buys_no_less_than_forced_moves(problem: MovementProblem, more: int) -> None:
    least = least_movement(problem, KEEP).moved
    (placed,) = within_budget([problem], least + more)
    assert placement_violations(problem, placed) == []
    assert least <= placed.moved <= least + more


def test_a_broker_of_twice_the_weight_has_twice_the_replicas() -> None:
    problem = problem_of([[row % 4] for row in range(40)], [0, 0, 0, 0])
    placed = least_movement(replace(problem, share=np.array([2, 1, 1, 1])), TIGHT)
    assert counts(problem, placed.replicas).tolist() == [16, 8, 8, 8]
    assert placed.moved == placed.certificate.lower_bound == 6


def test_what_a_removed_broker_had_goes_to_others_by_their_weight() -> None:
    problem = problem_of([[0]] * 12 + [[1]] * 2 + [[2]] * 1, [0, 0, 0], removed=(0,))
    placed = least_movement(replace(problem, share=np.array([1, 2, 1])), KEEP)
    assert counts(problem, placed.replicas).tolist() == [0, 10, 5]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([4, 6], [2, 3]),
        ([10**15, 2 * 10**15], [1, 2]),
        ([10**12 + 1, 10**12], [1, 1]),
        ([1, 10**18], [1, LARGEST_WEIGHT]),
    ],
)
def test_weights_are_whole_numbers_without_a_common_factor(weights: list[int], expected: list[int]) -> None:
    assert whole_weights(np.array(weights)).tolist() == expected


@pytest.mark.parametrize(
    ("weights", "counts", "low", "high"),
    [((3, 2), (5, 2), (4, 3), (4, 3)), ((2, 2, 1), (10, 8, 4), (9, 9, 4), (9, 9, 5))],
)
def test_ceilings_are_at_the_lowest_level_and_floors_at_the_highest(
    weights: tuple[int, ...], counts: tuple[int, ...], low: tuple[int, ...], high: tuple[int, ...]
) -> None:
    """Both may be on the other side of the mean, since ceilings are rounded up and floors down."""
    brokers, rows = len(weights), sum(counts)
    every, one = np.ones(brokers, np.bool_), np.ones(1, np.int64)
    problem = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=np.zeros(brokers, np.int32),
        target=every,
        base=np.zeros(brokers, np.int64),
        domains=(Domain(1, every, every, one, one),),
        domain_of=np.zeros(rows, np.int32),
        current=np.repeat(np.arange(brokers, dtype=np.int32), counts)[:, None],
        is_copied=np.zeros((rows, 1), np.bool_),
        must_keep=np.full(rows, -1, np.int32),
        weight=np.ones(rows, np.int64),
        share=np.array(weights, np.int64),
    )
    bounds = narrowest_levels(problem).bounds()
    assert (tuple(bounds.low.tolist()), tuple(bounds.high.tolist())) == (low, high)


def levels_of(weights: list[int], most: list[int], total: int) -> tuple[Fraction, Fraction]:
    """The levels of brokers of which each may have so many of a total."""

    def is_feasible(bounds: BrokerBounds) -> bool:
        high = np.minimum(bounds.high, most)
        return bool((bounds.low <= high).all()) and int(bounds.low.sum()) <= total <= int(high.sum())

    every = np.ones(len(weights), np.bool_)
    found = find_levels(is_feasible, every, np.array(weights, np.int64), total, is_within=True)
    return found.low, found.high


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 40)), min_size=1, max_size=5), st.floats(0, 1))
@examples(100)
def test_levels_are_the_same_however_many_are_listed(brokers: list[tuple[int, int]], share: float) -> None:
    """Bisection leaves at most `MOST_LEVELS` of those that would be listed."""
    weights, most = ([each[part] for each in brokers] for part in (0, 1))
    found = []
    for limit in (60, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(of_levels, "MOST_LEVELS", limit)
            found.append(levels_of(weights, most, int(share * sum(most))))
    assert found[0] == found[1]


def test_a_broker_of_hardly_any_weight_is_planned() -> None:
    """A weight of 10⁻⁹ beside others of 1: four brokers that have all partitions have no other placement."""
    assert levels_of([1, *[10**9] * 3], [7] * 4, 28)[1] > 6


def test_a_weight_that_hardly_differs_leaves_the_band() -> None:
    """298 replicas on four brokers: within 2 % of 74.5 are 74 to 75."""
    for weights in ([1, 1, 1, 1], [10_000, 10_000, 10_000, 10_001]):
        levels = find_levels(
            lambda bounds: bounds.low.sum() <= 298 <= bounds.high.sum(),
            *(np.full(4, True), np.array(weights, np.int64), 298),
            is_within=True,
        )
        bounds = levels.bounds(Balance(Fraction(1, 50)))
        assert (bounds.low.tolist(), bounds.high.tolist()) == ([74] * 4, [75] * 4)
