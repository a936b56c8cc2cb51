"""Leaders by count: the narrowest band, the fewest changes, proven; against every choice of small clusters."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import example, given

from app.core.model import NO_LEADER, Int32s
from app.core.reassignment.model import KEEP, TIGHT, Balance, Band
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.problem import (
    LeaderProblem,
    bounds,
    change_costs,
    changes_of_costs,
    leader_violations,
    priced_bound,
)
from tests import draws as st
from tests.core.reassignment.small_leaders import choices, on_new, problem, problems

tolerances = st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 4), Fraction(1)])


def counts(instance: LeaderProblem, choice: tuple[int, ...]) -> list[int]:
    """Partitions that the target brokers lead."""
    led: list[int] = instance.loads(np.array(choice, np.int32))[instance.target].tolist()
    return led


def narrowest(instance: LeaderProblem) -> Band:
    """The smallest high of any choice, and the largest low with that."""
    ends = [(max(led), -min(led)) for led in (counts(instance, choice) for choice in choices(instance))]
    high, low = min(ends)
    return Band(-low, high)


def around_the_mean(instance: LeaderProblem, above: Fraction, below: Fraction) -> Band:
    """Within these shares of the mean, and no narrower than feasible."""
    tight = narrowest(instance)
    total = sum(instance.weight.tolist()) + sum(instance.base[instance.target].tolist())
    mean = sorted([Fraction(total, int(instance.target.sum())), Fraction(tight.low), Fraction(tight.high)])[1]
    return Band(min(tight.low, ceil(mean - mean * below)), max(tight.high, floor(mean + mean * above)))


class TestLaws:
    @given(instance=problems(), tolerance=tolerances, below=st.none() | tolerances)
    def test_no_choice_within_the_band_changes_fewer(
        self, instance: LeaderProblem, tolerance: Fraction, below: Fraction | None
    ) -> None:
        """The band is the narrowest, or around the mean; then changes count, then leaders on new replicas."""
        answer = choose_leaders(instance, Balance(tolerance, below))
        band = (
            around_the_mean(instance, tolerance, tolerance if below is None else below)
            if instance.target.any()
            else Band(0, 0)
        )
        within = [
            (instance.changes(np.array(choice, np.int32)), on_new(instance, choice))
            for choice in choices(instance)
            if all(band.low <= led <= band.high for led in counts(instance, choice))
        ]
        chosen = tuple(answer.leaders.tolist())
        assert answer.band == band
        assert (answer.certificate.value, on_new(instance, chosen)) == min(within)
        assert all(band.low <= led <= band.high for led in counts(instance, chosen))
        assert answer.certificate.optimal
        assert leader_violations(instance, answer, Balance(tolerance, below)) == []

    @example(
        instance=LeaderProblem(
            replicas=np.array([[1, -1, -1], [0, 2, 1]], np.int32),
            leader=np.array([-1, 2], np.int32),
            may_change=np.array([False, True]),
            may_lead=np.array([False, True, True, True, True, True]),
            is_new=np.array([[True, False, False], [True, True, True]]),
            target=np.array([False, True, True, False, True, True]),
            base=np.array([0, 0, 2, 3, 0, 0]),
            weight=np.array([1, 1]),
        )
    ).via("broker 3, which is no target, leads most, in partitions of other topics")
    @given(instance=problems())
    def test_leaders_that_may_change_do_so_for_the_largest_broker_alone(self, instance: LeaderProblem) -> None:
        """The largest count of all brokers is minimal, then the changes, then the smallest count is maximal."""
        answer = choose_leaders(instance, KEEP)

        def goals(leaders: Int32s) -> tuple[int, int, int]:
            smallest = min(counts(instance, tuple(leaders.tolist())), default=0)
            return int(instance.loads(leaders).max()), instance.changes(leaders), -smallest

        least = min(goals(np.array(choice, np.int32)) for choice in choices(instance, keep=True))
        if instance.may_change.any():
            assert goals(answer.leaders)[:2] == least[:2]
            assert answer.certificate.value == least[1]
        if instance.may_change.any() and instance.target.all():
            assert goals(answer.leaders) == least
        assert answer.certificate.optimal
        assert leader_violations(instance, answer, KEEP) == []

    @given(instance=problems())
    def test_keep_changes_what_is_forced_and_is_most_even(self, instance: LeaderProblem) -> None:
        """The largest count is the least there is, then the second largest; of all brokers, since keep has no band.
        Then changes count, then leaders on new replicas.
        """
        instance = replace(instance, may_change=np.zeros_like(instance.may_change))
        answer = choose_leaders(instance, KEEP)
        every = [np.array(choice, np.int32) for choice in choices(instance, keep=True)]
        best = min(sorted(instance.loads(choice).tolist(), reverse=True) for choice in every)
        fairest = [choice for choice in every if sorted(instance.loads(choice).tolist(), reverse=True) == best]
        chosen = (answer.certificate.value, on_new(instance, answer.leaders.tolist()))
        assert sorted(instance.loads(answer.leaders).tolist(), reverse=True) == best
        assert chosen == min((instance.changes(choice), on_new(instance, choice.tolist())) for choice in fairest)
        assert answer.certificate.optimal
        assert leader_violations(instance, answer, KEEP) == []
        assert answer.band is None
        assert answer.largest.value == max(counts(instance, tuple(answer.leaders.tolist())), default=0)

    @given(instance=problems(), data=st.data())
    def test_any_prices_give_a_bound(self, instance: LeaderProblem, data: st.DataObject) -> None:
        """Weak duality: a wrong price makes the bound weak, never wrong."""
        answer = choose_leaders(instance, TIGHT)
        assert answer.band is not None
        prices = data.draw(st.lists(st.integers(-9, 9), min_size=len(instance.base), max_size=len(instance.base)))
        low, high = bounds(instance, answer.band)
        costs, guess = change_costs(instance), np.array(prices, np.int64)
        least = priced_bound(instance.replicas, costs, instance.weight, np.maximum(low, 0), high, guess)
        assert changes_of_costs(instance, least) <= answer.certificate.lower_bound

    @pytest.mark.parametrize("evacuated", [0, 3])
    @pytest.mark.parametrize("is_crowded", [False, True])
    def test_larger_clusters_are_proven_as_well(self, evacuated: int, is_crowded: bool) -> None:
        """3000 partitions on 30 brokers, led at random or by the first of their brokers: bound and band are reached."""
        random = np.random.default_rng(7)
        replicas = np.argsort(random.random((3000, 30)), axis=1)[:, :3]
        rows = (np.sort(replicas, axis=1) if is_crowded else replicas).tolist()
        instance = problem(rows, brokers=30, barred=range(evacuated), untargeted=range(evacuated))
        answer = choose_leaders(instance, TIGHT)
        stuck = answer.without_choice
        assert answer.band == Band((3000 - stuck) // (30 - evacuated), -(-(3000 - stuck) // (30 - evacuated)))
        assert answer.certificate.optimal
        assert answer.certificate.value >= 3000 * evacuated // 30 // 2
        assert leader_violations(instance, answer, TIGHT) == []


class TestExamples:
    def test_nothing_changes_where_it_is_balanced(self) -> None:
        """Three brokers lead one each already."""
        answer = choose_leaders(problem([[0, 1], [1, 2], [2, 0]], brokers=3), TIGHT)
        assert answer.leaders.tolist() == [0, 1, 2]
        assert (answer.band, answer.certificate.value, answer.certificate.lower_bound) == (Band(1, 1), 0, 0)

    def test_a_chain_where_no_direct_change_helps(self) -> None:
        """Broker 0 leads two and shares none with broker 2, which leads nothing: one passes by broker 1."""
        answer = choose_leaders(problem([[0, 1], [0, 1], [1, 2]], brokers=3), TIGHT)
        assert sorted(answer.leaders.tolist()) == [0, 1, 2]
        assert (answer.band, answer.certificate.value) == (Band(1, 1), 2)

    def test_leaders_already_elsewhere_count(self) -> None:
        """Broker 0 leads two partitions of other topics, so that broker 1 leads both of these."""
        answer = choose_leaders(problem([[0, 1], [0, 1]], brokers=2, base=[2, 0]), TIGHT)
        assert answer.leaders.tolist() == [1, 1]

    def test_evacuation_with_keep_spreads_what_it_must(self) -> None:
        """Broker 0 may lead no more; its two go to different brokers, and the third stays where it is."""
        answer = choose_leaders(problem([[0, 1, 2], [0, 1, 2], [3, 1, 2]], brokers=4, barred=[0]), KEEP)
        assert sorted(answer.leaders[:2].tolist()) == [1, 2]
        assert answer.leaders[2] == 3
        assert (answer.certificate.value, answer.certificate.lower_bound, answer.largest.value) == (2, 2, 1)

    def test_a_partition_without_choice_is_led_and_counted(self) -> None:
        """Its only replica is on a broker that may not lead."""
        answer = choose_leaders(problem([[0], [0, 1]], brokers=2, barred=[0]), KEEP)
        assert answer.leaders.tolist() == [0, 1]
        assert (answer.without_choice, answer.certificate.value) == (1, 1)

    def test_a_replica_that_is_there_leads_before_one_to_be_copied(self) -> None:
        """Both are equally good otherwise."""
        for new in (1, 2):
            answer = choose_leaders(problem([[0, 1, 2]], brokers=3, barred=[0], new=[(0, new)]), TIGHT)
            assert answer.leaders.tolist() == [3 - new]

    @pytest.mark.parametrize("may_lead", [[False, False], [False, True]])
    def test_a_broker_that_may_not_lead_is_counted_if_it_has_to(self, may_lead: list[bool]) -> None:
        """Broker 0 is no target, and leads partitions that no other may: the target may lead as many as it."""
        instance = LeaderProblem(
            replicas=np.array([[0, -1], [0, -1], [0, 1]] if may_lead[1] else [[0, 1]] * 3, np.int32),
            leader=np.full(3, NO_LEADER, np.int32),
            may_change=np.array([True, False, False]),
            may_lead=np.array(may_lead),
            is_new=np.ones((3, 2), np.bool_),
            target=np.array([False, True]),
            base=np.zeros(2, np.int64),
            weight=np.ones(3, np.int64),
        )
        answer = choose_leaders(instance, KEEP)
        assert leader_violations(instance, answer, KEEP) == []
        assert instance.loads(answer.leaders).max() == 2

    def test_a_lower_end_of_its_own_saves_changes(self) -> None:
        """Two brokers lead six each; the third has joined late, and leads none: up to 6, or at least 2 as well."""
        instance = LeaderProblem(
            replicas=np.array([[0, 2]] * 6 + [[1, 2]] * 6, np.int32),
            leader=np.repeat(np.array([0, 1], np.int32), 6),
            may_change=np.zeros(12, np.bool_),
            may_lead=np.ones(3, np.bool_),
            is_new=np.zeros((12, 2), np.bool_),
            target=np.ones(3, np.bool_),
            base=np.zeros(3, np.int64),
            weight=np.ones(12, np.int64),
        )
        half, one = Fraction(1, 2), Fraction(1)
        assert choose_leaders(instance, Balance(half)).certificate.value == 2
        assert choose_leaders(instance, Balance(half, one)).certificate.value == 0
        assert choose_leaders(instance, Balance(half, one)).band == Band(0, 6)

    def test_tolerance_saves_changes(self) -> None:
        """Six of eight are led by broker 0: tight changes two, a quarter more room saves one of them."""
        instance = problem([[0, 1]] * 6 + [[1, 0]] * 2, brokers=2)
        assert choose_leaders(instance, TIGHT).certificate.value == 2
        widened = choose_leaders(instance, Balance(Fraction(1, 4)))
        assert (widened.band, widened.certificate.value) == (Band(3, 5), 1)

    def test_without_partitions(self) -> None:
        """No partitions: nothing to lead, within a band of nothing."""
        answer = choose_leaders(problem([], brokers=3), TIGHT)
        assert (answer.leaders.tolist(), answer.band, answer.certificate.gap) == ([], Band(0, 0), 0.0)

    @pytest.mark.parametrize("balance", [KEEP, TIGHT])
    def test_partitions_without_replicas_have_no_leader(self, balance: Balance) -> None:
        """A row of padding alone is left as it is."""
        answer = choose_leaders(problem([[1], []], brokers=2, leader=[-1, -1]), balance)
        assert answer.leaders.tolist() == [1, -1]
        assert answer.without_choice == 0
