"""Bands of topics for leaders: laws over small random clusters beside every choice, then worked examples."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from app.core.reassignment.model import KEEP, TIGHT, Balance, Band
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.per_topic import topic_bands
from app.core.reassignment.solvers.leaders.problem import LeaderProblem, LeaderTopics, leader_violations
from app.core.reassignment.solvers.leaders.shares import attainable_minimums
from tests import draws as st
from tests.core.reassignment.small_leaders import choices, on_new, problem, problems
from tests.profiles import examples


@st.composite
def of_topics(draw: st.DrawFn) -> LeaderProblem:
    """Partitions of two topics, each with a band or without, and minimums of the one or the other, or of none."""
    instance = draw(problems())
    rows, brokers = len(instance.leader), len(instance.base)
    topic = np.array(draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows)), np.int64)
    shares = draw(st.lists(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 2), None]), min_size=2, max_size=2))
    pinned = np.array(draw(st.lists(st.integers(0, 1), min_size=2 * brokers, max_size=2 * brokers)), np.int64)
    pinned = pinned.reshape(2, brokers)
    totals = np.bincount(topic, minlength=2) + pinned.sum(axis=1)
    low, high = topic_bands(totals, shares, instance.target, pinned)
    with_bands = replace(
        instance, topics=LeaderTopics(np.where(topic < 1 + draw(st.integers(0, 1)), topic, -1), low, high)
    )
    least = np.array(draw(st.lists(st.sampled_from([0, 0, 1]), min_size=brokers, max_size=brokers)), np.int64)
    minimums = LeaderTopics.minimums(np.where(topic == draw(st.integers(0, 2)), 0, -1).astype(np.int32), least[None, :])
    if not draw(st.booleans()):
        return with_bands
    attainable = attainable_minimums(instance, minimums)
    return replace(with_bands, minimums=replace(minimums, low=attainable))


@given(of_topics(), st.sampled_from([TIGHT, Balance(Fraction(1, 4))]))
@examples(200)
def test_the_band_then_the_least_excess_of_topics_then_the_fewest_changes(
    instance: LeaderProblem, balance: Balance
) -> None:
    """Of every choice that meets the minimums: the narrowest band first, then each goal in its order."""
    answer = choose_leaders(instance, balance)
    assert leader_violations(instance, answer, balance) == []
    loads = {every: instance.loads(np.array(every, np.int32))[instance.target] for every in _allowed(instance)}
    high = min(int(load.max(initial=0)) for load in loads.values())
    low = max(int(load.min(initial=high)) for load in loads.values() if load.max(initial=0) <= high)
    tight = Band(low, high) if instance.target.any() else Band(0, 0)
    band = instance.band(balance, tight)
    assert answer.band == band
    within = [every for every, load in loads.items() if ((load >= band.low) & (load <= band.high)).all()]
    best = min(_goals(instance, every) for every in within)
    assert _goals(instance, tuple(answer.leaders.tolist())) == best
    assert answer.topic_excess == best[0]
    assert (answer.certificate.value, answer.certificate.lower_bound) == (best[1], best[1])


def _allowed(instance: LeaderProblem) -> list[tuple[int, ...]]:
    every = list(choices(instance))
    if instance.minimums is None:
        return every
    least, led = instance.minimums.low, instance.minimums.led
    return [choice for choice in every if (led(np.array(choice, np.int32)) >= least).all()]


def _goals(instance: LeaderProblem, choice: tuple[int, ...]) -> tuple[int, int, int]:
    """By how many leaders topics are outside their bands, counted one by one; changes; leaders on new replicas."""
    topics, outside = instance.topics, 0
    assert topics is not None
    for topic, (low, high) in enumerate(zip(topics.low.tolist(), topics.high.tolist(), strict=True)):
        for broker in range(len(instance.base)):
            led = sum(leader == broker and topics.topic[row] == topic for row, leader in enumerate(choice))
            outside += max(low[broker] - led, led - high[broker], 0)
    return outside, instance.changes(np.array(choice, np.int32)), on_new(instance, choice)


def test_each_topic_is_led_by_all_brokers_where_the_cluster_is_balanced_already() -> None:
    """Broker 0 leads one topic and broker 1 the other: one leader of each topic changes."""
    instance = problem([[0, 1], [0, 1], [1, 0], [1, 0]], brokers=2)
    assert choose_leaders(instance, TIGHT).certificate.value == 0
    answer = choose_leaders(replace(instance, topics=_tight([0, 0, 1, 1], 2)), TIGHT)
    assert answer.leaders.tolist() in ([0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0])
    assert (answer.certificate.value, answer.topic_excess, answer.band) == (2, 0, Band(2, 2))


def test_a_band_that_no_replica_allows_is_missed_by_as_little_as_possible() -> None:
    """Broker 2 has no replica of the topic, whose three partitions the others lead."""
    instance = replace(problem([[0, 1]] * 3, brokers=3), topics=_tight([0, 0, 0], 3))
    answer = choose_leaders(instance, TIGHT)
    assert (answer.topic_excess, answer.certificate.value) == (2, 1)


def test_bands_of_topics_need_a_band_of_the_cluster() -> None:
    instance = replace(problem([[0, 1]], brokers=2), topics=_tight([0], 2))
    with pytest.raises(ValueError, match="keep has no band"):
        choose_leaders(instance, KEEP)


def _tight(topic: list[int], brokers: int) -> LeaderTopics:
    totals = np.bincount(topic)
    nothing = np.zeros((len(totals), brokers), np.int64)
    bands = topic_bands(totals, [Fraction(0)] * len(totals), np.ones(brokers, np.bool_), nothing)
    return LeaderTopics(np.array(topic, np.int64), *bands)
