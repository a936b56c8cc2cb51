"""Balance per topic: laws over small random clusters beside every legal placement, then worked examples."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from app.core.model import NO_REPLICA
from app.core.reassignment.bounds.bands import narrowest_band
from app.core.reassignment.domains import PartitionKind, RackRule, find_domains
from app.core.reassignment.model import KEEP, TIGHT, Balance, MovementProblem
from app.core.reassignment.solvers.flow import per_topic, topic_network
from app.core.reassignment.solvers.flow.least_movement import least_movement
from app.core.reassignment.solvers.flow.levels import narrowest_levels
from app.core.reassignment.solvers.flow.per_topic import TooManyPairs, TopicBalance, balance_topics
from app.core.reassignment.solvers.flow.places import Slots
from app.core.reassignment.verifier import placement_violations
from tests import draws as st
from tests.core.reassignment.test_least_movement import (
    Whole,
    all_placements,
    problem_of,
    problems,
    within,
)
from tests.profiles import costly, examples


@st.composite
def balances(draw: st.DrawFn) -> tuple[MovementProblem, TopicBalance]:
    """A problem whose partitions are of up to three topics, each tight, with a tolerance or free."""
    problem = draw(problems())
    rows = len(problem.current)
    topics = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    share = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 2), None])
    return problem, TopicBalance(np.array(topics, np.int64), 3, draw(st.lists(share, min_size=3, max_size=3)))


@st.composite
def slotted(draw: st.DrawFn) -> tuple[MovementProblem, TopicBalance]:
    """As `balances`, where most partitions have to have one replica in each rack; brokers that only keep, are removed
    or are off limits to some partitions, successors, new partitions.
    """
    racks = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, 3), min_size=racks, max_size=racks).filter(lambda sizes: sum(sizes) <= 6))
    rack_of = np.repeat(np.arange(racks), sizes).astype(np.int32)
    every, rows = np.ones(len(rack_of), bool), draw(st.integers(1, 4))
    kinds = []
    for _ in range(draw(st.integers(1, 2))):
        first_of_each = [int(np.flatnonzero(rack_of == rack)[0]) for rack in range(racks)]
        receives = np.isin(np.arange(len(rack_of)), first_of_each) | np.array(draw(_flags(len(rack_of))))
        keeps = receives | np.array(draw(_flags(len(rack_of))))
        kinds.append(PartitionKind(racks, keeps, receives, repairs=True))
    current, copied = np.full((rows, racks), NO_REPLICA, np.int32), np.zeros((rows, racks), np.bool_)
    for row in range(rows):
        if draw(st.integers(0, 4)):
            in_racks = [draw(st.sampled_from(np.flatnonzero(rack_of == rack).tolist())) for rack in range(racks)]
            width = racks if draw(st.integers(0, 4)) else racks - 1
            current[row, :width] = draw(st.permutations(in_racks))[:width]
            copied[row, :width] = draw(st.lists(st.sampled_from([0, 0, 1]), min_size=width, max_size=width))
    kind_of = np.array(draw(st.lists(st.integers(0, len(kinds) - 1), min_size=rows, max_size=rows)), np.int32)
    domains, domain_of = find_domains(kinds, kind_of, current, rack_of, RackRule(racks))
    heavy = draw(st.sampled_from([1, 10**12]))
    problem = MovementProblem(
        broker_ids=np.arange(len(rack_of), dtype=np.int32),
        rack_of=rack_of,
        target=every,
        base=np.array(draw(st.lists(st.integers(0, 2), min_size=len(rack_of), max_size=len(rack_of))), np.int64),
        domains=domains,
        domain_of=domain_of,
        current=current,
        is_copied=copied,
        must_keep=np.full(rows, NO_REPLICA, np.int32),
        weight=np.array(draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows)), np.int64) * heavy,
    )
    topics = draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows))
    share = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 2), None])
    return problem, TopicBalance(np.array(topics, np.int64), 2, draw(st.lists(share, min_size=2, max_size=2)))


def _flags(count: int) -> st.SearchStrategy[list[bool]]:
    return st.lists(st.sampled_from([True, True, False]), min_size=count, max_size=count)


def excess(problem: MovementProblem, topics: TopicBalance, placement: Whole) -> int:
    """By how many replicas topics are outside their bands, counted one by one."""
    low, high = topics.bands(problem)
    total = 0
    for topic in range(topics.topics):
        for broker in np.flatnonzero(problem.is_bounded).tolist():
            here = sum(broker in place for row, place in enumerate(placement[3]) if topics.topic_of[row] == topic)
            total += max(int(low[topic, broker]) - here, here - int(high[topic, broker]), 0)
    return total


@given(st.one_of(balances(), slotted(), slotted()), st.sampled_from([KEEP, TIGHT]))
@costly(200)
def test_the_least_excess_and_then_the_least_movement_of_all_placements(
    case: tuple[MovementProblem, TopicBalance], balance: Balance
) -> None:
    problem, topics = case
    every = list(all_placements(problem))
    allowed = every if balance == KEEP else within(narrowest_band(problem), every)
    chosen = balance_topics(problem, balance, topics)
    assert placement_violations(problem, chosen) == []
    best = min((excess(problem, topics, placement), *placement[:2]) for placement in allowed)
    assert (chosen.topic_excess, chosen.moved) == best[:2]
    assert topics.excess(problem, chosen.replicas) == chosen.topic_excess
    assert (chosen.certificate.optimal, chosen.certificate.gap) == (True, 0.0)


@given(slotted(), st.sampled_from([KEEP, TIGHT]))
@costly(80)
def test_after_a_deadline_the_placement_is_legal_with_the_least_excess_and_a_bound(
    case: tuple[MovementProblem, TopicBalance], balance: Balance
) -> None:
    """The bound counts each topic in each rack on its own, without a flow."""
    problem, topics = case
    proven = balance_topics(problem, balance, topics)
    late = balance_topics(problem, balance, topics, is_over=lambda: True)
    assert placement_violations(problem, late) == []
    assert late.topic_excess == proven.topic_excess
    assert late.certificate.lower_bound <= proven.moved <= late.moved


@given(slotted(), st.sampled_from([KEEP, TIGHT]))
@costly(80)
def test_slots_or_partitions_as_nodes_come_to_the_same(
    case: tuple[MovementProblem, TopicBalance], balance: Balance
) -> None:
    problem, topics = case
    as_slots = balance_topics(problem, balance, topics)
    nothing = Slots(problem)
    nothing.consists = np.zeros(len(problem.current), np.bool_)
    for name in ("row", "rack", "current_broker", "column", "is_pinned", "receivers"):
        setattr(nothing, name, getattr(nothing, name)[:0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_network, "Slots", lambda _: nothing)
        as_nodes = balance_topics(problem, balance, topics)
    assert (as_slots.topic_excess, as_slots.moved) == (as_nodes.topic_excess, as_nodes.moved)


@given(problems())
@examples(40)
def test_topics_without_a_band_change_nothing(problem: MovementProblem) -> None:
    free = TopicBalance(np.zeros(len(problem.current), np.int64), 1, [None])
    chosen = balance_topics(problem, TIGHT, free)
    assert (chosen.topic_excess, chosen.moved) == (0, least_movement(problem, TIGHT).moved)


def test_each_topic_is_spread_where_the_cluster_is_balanced_already() -> None:
    """Two topics, each on one of two brokers: two partitions change places, the lightest of each topic."""
    problem = problem_of([[0], [0], [1], [1]], [0, 0], weight=[5, 3, 4, 7])
    topics = TopicBalance(np.array([0, 0, 1, 1], np.int64), 2, [Fraction(0), Fraction(0)])
    assert least_movement(problem, TIGHT).moved == 0
    chosen = balance_topics(problem, TIGHT, topics)
    assert chosen.replicas.tolist() == [[0], [1], [0], [1]]
    assert (chosen.topic_excess, chosen.moved, chosen.certificate.lower_bound) == (0, 7, 7)


def test_the_mean_is_that_of_the_brokers_of_a_rack() -> None:
    """Racks of one and two brokers, a replica in each: one broker has all partitions, the others half of them."""
    problem = problem_of([[0, 1], [0, 1], [0, 2], [0, 1]], [0, 1, 1])
    topics = TopicBalance(np.zeros(4, np.int64), 1, [Fraction(0)])
    low, high = topics.bands(problem)
    assert low.tolist() == high.tolist() == [[4, 2, 2]]
    chosen = balance_topics(problem, KEEP, topics)
    assert topics.table(chosen.replicas, 3).tolist() == [[4, 2, 2]]
    assert (chosen.topic_excess, chosen.moved) == (0, 1)


def test_one_level_where_racks_do_not_bind() -> None:
    """Three racks of one, two and three brokers and one replica each: six partitions, one a broker."""
    problem = problem_of([[5]] * 6, [0, 1, 1, 2, 2, 2])
    topics = TopicBalance(np.zeros(6, np.int64), 1, [Fraction(0)])
    assert [bounds.tolist() for bounds in topics.bands(problem)] == [[[1] * 6], [[1] * 6]]
    assert balance_topics(problem, KEEP, topics).moved == 5


def test_a_band_that_the_cluster_prevents_is_missed_by_as_little_as_possible() -> None:
    """Other partitions are on the first broker, so that it has room for one: a topic has both on the second."""
    problem = problem_of([[0], [0], [1], [1]], [0, 0], weight=[5, 3, 4, 7])
    problem = replace(problem, base=np.array([2, 0], np.int64))
    topics = TopicBalance(np.array([0, 0, 1, 1], np.int64), 2, [Fraction(0), Fraction(0)])
    chosen = balance_topics(problem, TIGHT, topics)
    assert topics.table(chosen.replicas, 2).sum(axis=0).tolist() == [1, 3]
    assert chosen.topic_excess == 2


def test_too_many_pairs_are_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(per_topic, "LARGEST_PAIRS", 3)
    problem = problem_of([[0, 1]], [0, 0, 0, 0])
    with pytest.raises(TooManyPairs):
        balance_topics(problem, TIGHT, TopicBalance(np.zeros(1, np.int64), 1, [Fraction(0)]))


@given(balances(), st.lists(st.sampled_from([1, 1, 2, 3]), min_size=6, max_size=6))
@examples(30)
def test_with_weights_topics_and_brokers_have_bands_in_proportion_to_them(
    case: tuple[MovementProblem, TopicBalance], weights: list[int]
) -> None:
    """The bands of the cluster come from `narrowest_levels`; then the least excess and the least movement."""
    problem, topics = case
    problem = replace(problem, share=np.resize(np.array(weights, np.int64), len(problem.base)))
    bounds = narrowest_levels(problem).bounds()
    low, high = (each[problem.target].tolist() for each in (bounds.low, bounds.high))
    every = [
        placement
        for placement in all_placements(problem)
        if all(least <= count <= most for least, count, most in zip(low, placement[2], high, strict=True))
    ]
    chosen = balance_topics(problem, TIGHT, topics)
    assert placement_violations(problem, chosen) == []
    best = min((excess(problem, topics, placement), *placement[:2]) for placement in every)
    assert (chosen.topic_excess, chosen.moved, chosen.certificate.optimal) == (*best[:2], True)


def test_a_topic_has_twice_the_replicas_on_a_broker_of_twice_the_weight() -> None:
    problem = replace(problem_of([[0], [0], [0], [0]], [0, 0, 0]), share=np.array([1, 2, 1]))
    topics = TopicBalance(np.zeros(4, np.int64), 1, [Fraction(0)])
    low, high = topics.bands(problem)
    assert low.tolist() == high.tolist() == [[1, 2, 1]]
    assert balance_topics(problem, KEEP, topics).moved == 3
