"""Leaders in preferred racks and minimums of topics, against every choice of small clusters."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from app.core.model import Int64s
from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.problem import LeaderProblem, LeaderTopics, leader_violations
from app.core.reassignment.solvers.leaders.shares import attainable_minimums
from tests import draws as st
from tests.core.reassignment.small_leaders import choices, may_lead, on_new, problem, problems

Choice = tuple[int, ...]


@st.composite
def ranked(draw: st.DrawFn) -> LeaderProblem:
    """Small problems in which replicas have a rank of 0 to 2."""
    instance = draw(problems())
    cells = draw(st.lists(st.integers(0, 2), min_size=instance.replicas.size, max_size=instance.replicas.size))
    return replace(instance, rank=np.array(cells, np.int32).reshape(instance.replicas.shape))


@st.composite
def with_minimums(draw: st.DrawFn) -> tuple[LeaderProblem, LeaderTopics]:
    """Small problems with one or two topics that have minimums, attainable or not."""
    instance = draw(problems())
    rows, brokers, topics = len(instance.leader), len(instance.base), draw(st.integers(1, 2))
    topic = draw(st.lists(st.integers(-1, topics - 1), min_size=rows, max_size=rows))
    least = draw(st.lists(st.sampled_from([0, 0, 0, 1, 1, 2]), min_size=topics * brokers, max_size=topics * brokers))
    return instance, LeaderTopics.minimums(
        np.array(topic, np.int32), np.array(least, np.int64).reshape(topics, brokers)
    )


def led(minimums: LeaderTopics, choice: Choice) -> Int64s:
    """By topic and broker, in a second way."""
    counts = np.zeros_like(minimums.low)
    for topic, broker in zip(minimums.topic.tolist(), choice, strict=True):
        if topic >= 0:
            counts[topic, broker] += 1
    return counts


def allowed(instance: LeaderProblem) -> Iterator[Choice]:
    """Every choice by the best rank among the replicas that may lead."""
    assert instance.rank is not None
    for choice in choices(instance):
        for row, leader in enumerate(choice):
            line = instance.replicas[row].tolist()
            may = may_lead(instance, row)
            ranks = {broker: int(instance.rank[row, line.index(broker)]) for broker in may}
            if ranks[leader] > min(ranks.values()):
                break
        else:
            yield choice


class TestLaws:
    @given(instance=ranked())
    def test_the_best_rank_leads_then_the_band_then_the_fewest_changes(self, instance: LeaderProblem) -> None:
        answer = choose_leaders(instance, TIGHT)
        loads = [(choice, instance.loads(np.array(choice, np.int32))[instance.target]) for choice in allowed(instance)]
        wanted = min(
            (
                max(led, default=0),
                -min(led, default=0),
                instance.changes(np.array(choice, np.int32)),
                on_new(instance, choice),
            )
            for choice, counts in loads
            for led in [counts.tolist()]
        )
        chosen = tuple(answer.leaders.tolist())
        assert chosen in [choice for choice, _ in loads]
        counts = instance.loads(answer.leaders)[instance.target].tolist()
        largest, smallest = max(counts, default=0), min(counts, default=0)
        assert (largest, -smallest, answer.certificate.value, on_new(instance, chosen)) == wanted
        assert answer.certificate.optimal
        assert leader_violations(instance, answer, TIGHT) == []

    @given(case=with_minimums())
    def test_as_much_of_the_minimums_as_any_choice_meets(self, case: tuple[LeaderProblem, LeaderTopics]) -> None:
        instance, minimums = case
        attained = attainable_minimums(instance, minimums)
        most = max(int(np.minimum(led(minimums, choice), minimums.low).sum()) for choice in choices(instance))
        assert (attained <= minimums.low).all()
        assert attained.sum() == most

    @given(case=with_minimums(), tolerance=st.sampled_from([Fraction(0), Fraction(1, 4)]))
    def test_minimums_then_the_band_then_the_fewest_changes(
        self, case: tuple[LeaderProblem, LeaderTopics], tolerance: Fraction
    ) -> None:
        instance, minimums = case
        minimums = replace(minimums, low=attainable_minimums(instance, minimums))
        instance = replace(instance, minimums=minimums)
        answer = choose_leaders(instance, Balance(tolerance))
        meeting = [choice for choice in choices(instance) if (led(minimums, choice) >= minimums.low).all()]
        assert meeting
        loads = [instance.loads(np.array(choice, np.int32))[instance.target].tolist() for choice in meeting]
        band = answer.band
        assert band is not None
        if tolerance == 0:
            ends = min((max(each, default=0), -min(each, default=0)) for each in loads)
            assert (band.high, -band.low) == ends
        within = [
            (instance.changes(np.array(choice, np.int32)), on_new(instance, choice))
            for choice, each in zip(meeting, loads, strict=True)
            if all(band.low <= count <= band.high for count in each)
        ]
        chosen = tuple(answer.leaders.tolist())
        assert (answer.certificate.value, on_new(instance, chosen)) == min(within)
        assert answer.certificate.optimal
        assert leader_violations(instance, answer, Balance(tolerance)) == []

    @given(case=with_minimums())
    def test_keep_changes_the_fewest_leaders_that_minimums_need(self, case: tuple[LeaderProblem, LeaderTopics]) -> None:
        """Leaders of other topics stay if they can."""
        instance, minimums = case
        minimums = replace(minimums, low=attainable_minimums(instance, minimums))
        instance = replace(instance, minimums=minimums, may_change=np.zeros_like(instance.may_change))
        answer = choose_leaders(instance, KEEP)
        opened = replace(instance, may_change=minimums.topic >= 0)
        meeting = [choice for choice in choices(opened, keep=True) if (led(minimums, choice) >= minimums.low).all()]
        assert answer.certificate.value == min(instance.changes(np.array(choice, np.int32)) for choice in meeting)
        assert answer.certificate.optimal
        largest = [
            int(instance.loads(np.array(choice, np.int32))[instance.target].max(initial=0)) for choice in meeting
        ]
        assert answer.largest.lower_bound <= min(largest)
        assert leader_violations(instance, answer, KEEP) == []

    @given(case=with_minimums())
    def test_minimums_leave_leaders_that_may_change_to_the_largest_broker(
        self, case: tuple[LeaderProblem, LeaderTopics]
    ) -> None:
        """No broker leads more than if none of the other topics changed, and the verifier agrees."""
        instance, minimums = case
        instance = replace(instance, minimums=replace(minimums, low=attainable_minimums(instance, minimums)))
        answer = choose_leaders(instance, KEEP)
        fixed = choose_leaders(replace(instance, may_change=np.zeros_like(instance.may_change)), KEEP)
        assert instance.loads(answer.leaders).max() <= instance.loads(fixed.leaders).max()
        assert answer.certificate.lower_bound <= answer.certificate.value
        assert leader_violations(instance, answer, KEEP) == []


class TestExamples:
    def test_a_minimum_that_a_direct_change_cannot_meet(self) -> None:
        """Broker 2 has a replica of the second partition alone, which broker 1 needs, unless it takes the first."""
        minimums = LeaderTopics.minimums(np.array([0, 0], np.int32), np.array([[0, 1, 1]], np.int64))
        instance = replace(problem([[0, 1], [1, 2]], brokers=3), minimums=minimums)
        for balance in (KEEP, TIGHT):
            answer = choose_leaders(instance, balance)
            assert answer.leaders.tolist() == [1, 2]
            assert (answer.certificate.value, answer.certificate.lower_bound) == (2, 2)

    def test_a_leader_that_may_change_stays_if_another_broker_leads_most(self) -> None:
        """Broker 0 could pass the last partition to broker 2, but broker 1 leads three of its own."""
        minimums = LeaderTopics.minimums(np.array([0, -1, -1, -1, -1], np.int32), np.array([[1, 0, 0]], np.int64))
        instance = replace(problem([[0], [1], [1], [1], [0, 2]], brokers=3, changing=[4]), minimums=minimums)
        answer = choose_leaders(instance, KEEP)
        assert answer.leaders.tolist() == [0, 1, 1, 1, 0]
        assert leader_violations(instance, answer, KEEP) == []

    @pytest.mark.parametrize("balance", [KEEP, TIGHT])
    def test_a_verifier_sees_a_minimum_that_is_not_met(self, balance: Balance) -> None:
        instance = problem([[0, 1], [1, 0]], brokers=2)
        answer = choose_leaders(instance, balance)
        minimums = LeaderTopics.minimums(np.array([0, -1], np.int32), np.array([[0, 1]], np.int64))
        violations = leader_violations(replace(instance, minimums=minimums), answer, balance)
        assert violations == ["1 minimums of topics lack 1 leaders"]
