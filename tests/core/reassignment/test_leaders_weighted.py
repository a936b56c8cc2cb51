"""Leaders by count in proportion to the weights of brokers, beside every choice of small clusters."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given

from app.core.model import NO_LEADER
from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.reassignment.solvers.flow.levels import whole_weights
from app.core.reassignment.solvers.leaders.choosing import choose_leaders, weighted_bounds
from app.core.reassignment.solvers.leaders.per_topic import topic_bands
from app.core.reassignment.solvers.leaders.problem import LeaderProblem, LeaderTopics, leader_violations
from app.core.reassignment.solvers.leaders.shares import attainable_minimums
from tests import draws as st
from tests.core.reassignment.small_leaders import choices, on_new, problem, problems
from tests.profiles import examples

NEARER = Fraction(1, 10**9)


@st.composite
def weighted(draw: st.DrawFn, *, topics: bool = False) -> LeaderProblem:
    """A small problem whose brokers have weights of their own, with minimums of a topic or without, and bands of two
    topics or without.
    """
    instance = draw(problems())
    rows, brokers = len(instance.leader), len(instance.base)
    weights = draw(st.lists(st.sampled_from([1, 1, 2, 3, 5]), min_size=brokers, max_size=brokers))
    instance = replace(instance, share=whole_weights(np.array(weights, np.int64)))
    topic = np.array(draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows)), np.int64)
    if topics:
        totals, tolerance = np.bincount(topic, minlength=2), [Fraction(0), Fraction(1, 2)]
        bands = topic_bands(totals, tolerance, instance.target, np.zeros((2, brokers), np.int64), instance.share)
        instance = replace(instance, topics=LeaderTopics(topic, *bands))
    if draw(st.booleans()):
        return instance
    least = np.array(draw(st.lists(st.sampled_from([0, 0, 1]), min_size=brokers, max_size=brokers)), np.int64)
    minimums = LeaderTopics.minimums(np.where(topic == 0, 0, -1).astype(np.int32), least[None, :])
    return replace(instance, minimums=replace(minimums, low=attainable_minimums(instance, minimums)))


def allowed(instance: LeaderProblem) -> list[tuple[int, ...]]:
    """Every choice that meets the minimums."""
    every = list(choices(instance))
    if instance.minimums is None:
        return every
    least, led = instance.minimums.low, instance.minimums.led
    return [choice for choice in every if (led(np.array(choice, np.int32)) >= least).all()]


def narrowest(instance: LeaderProblem) -> tuple[list[int], list[int]]:
    """The floors and ceilings of targets at the narrowest levels, of all choices one by one."""
    assert instance.share is not None
    weights = instance.share[instance.target].tolist()
    loads = [instance.loads(np.array(choice, np.int32))[instance.target].tolist() for choice in allowed(instance)]
    ceilings = [max(Fraction(load - 1, weight) for load, weight in zip(each, weights, strict=True)) for each in loads]
    high = min(ceilings) + NEARER
    most = [ceil(high * weight) for weight in weights]
    # Just above the level at which all floors are ceilings.
    high = max(Fraction(top, weight) for top, weight in zip(most, weights, strict=True)) + 2 * NEARER
    inside = [each for each in loads if all(load <= top for load, top in zip(each, most, strict=True))]
    # No floor is above its ceiling, so that a load at its ceiling is above every floor.
    floors = [
        min(
            (Fraction(load + 1, w) for load, w, top in zip(each, weights, most, strict=True) if load < top),
            default=high,
        )
        for each in inside
    ]
    low = max(max(floors) - NEARER, Fraction(0))
    return [min(floor(low * weight), top) for weight, top in zip(weights, most, strict=True)], most


@given(weighted())
@examples(40)
def test_tight_bounds_are_the_narrowest_of_all_choices_and_changes_the_fewest_within_them(
    instance: LeaderProblem,
) -> None:
    if not instance.target.any() or (instance.leader == NO_LEADER).all():
        return
    within = weighted_bounds(instance, TIGHT)
    low, high = (each[instance.target].tolist() for each in (within.low, within.high))
    least, most = narrowest(instance)
    assert low == least
    assert high == most
    answer = choose_leaders(instance, TIGHT)
    assert leader_violations(instance, answer, TIGHT) == []
    inside = [choice for choice in allowed(instance) if _is_inside(instance, choice, low, high)]
    fewest = min((instance.changes(np.array(each, np.int32)), on_new(instance, each)) for each in inside)
    led = tuple(answer.leaders.tolist())
    assert (instance.changes(answer.leaders), on_new(instance, led)) == fewest
    assert answer.certificate.lower_bound == fewest[0]


def _is_inside(instance: LeaderProblem, choice: tuple[int, ...], low: list[int], high: list[int]) -> bool:
    loads = instance.loads(np.array(choice, np.int32))[instance.target].tolist()
    return all(least <= load <= most for least, load, most in zip(low, loads, high, strict=True))


@given(weighted(topics=True), st.sampled_from([TIGHT, Balance(Fraction(1, 4))]))
@examples(40)
def test_with_topics_the_least_excess_and_then_the_fewest_changes_within_the_bounds(
    instance: LeaderProblem, balance: Balance
) -> None:
    answer = choose_leaders(instance, balance)
    assert leader_violations(instance, answer, balance) == []
    assert instance.topics is not None
    within = weighted_bounds(instance, balance)
    bounds = within.low[instance.target].tolist(), within.high[instance.target].tolist()
    inside = [np.array(each, np.int32) for each in allowed(instance) if _is_inside(instance, each, *bounds)]
    best = min((instance.topics.excess(each), instance.changes(each)) for each in inside)
    assert (answer.topic_excess, answer.certificate.value, answer.certificate.lower_bound) == (*best, best[1])


@given(problems(), st.sampled_from([KEEP, TIGHT, Balance(Fraction(1, 4)), Balance(Fraction(0), Fraction(1, 2))]))
@examples(30)
def test_equal_weights_are_no_weights(instance: LeaderProblem, balance: Balance) -> None:
    alike = replace(instance, share=np.ones(len(instance.base), np.int64))
    free, bound = choose_leaders(instance, balance), choose_leaders(alike, balance)
    assert (free.band, free.certificate.value) == (bound.band, bound.certificate.value)


@given(weighted())
@examples(20)
def test_keep_has_no_weights(instance: LeaderProblem) -> None:
    assert np.array_equal(
        choose_leaders(instance, KEEP).leaders, choose_leaders(replace(instance, share=None), KEEP).leaders
    )
    with pytest.raises(ValueError, match="keep"):
        weighted_bounds(instance, KEEP)


def test_a_broker_of_twice_the_weight_leads_twice_as_much() -> None:
    instance = replace(problem([[0, 1, 2]] * 8, brokers=3), share=np.array([1, 2, 1], np.int64))
    answer = choose_leaders(instance, TIGHT)
    assert instance.loads(answer.leaders).tolist() == [2, 4, 2]
    assert (answer.certificate.value, answer.certificate.optimal) == (6, True)
    assert answer.bounds is not None
    assert answer.bounds.high.tolist() == [2, 4, 2]


def test_topics_are_led_in_proportion_to_the_weights() -> None:
    low, high = topic_bands(
        np.array([8, 3]), [Fraction(0), None], np.ones(3, np.bool_), np.zeros((2, 3), np.int64), np.array([1, 2, 1])
    )
    assert low.tolist() == [[2, 4, 2], [0, 0, 0]]
    assert high[0].tolist() == [2, 4, 2]
