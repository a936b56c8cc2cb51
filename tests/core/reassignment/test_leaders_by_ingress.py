"""Leaders by ingress: bounds that no choice beats, few changes; against every choice of small clusters."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.prices import priced_choices
from app.core.reassignment.solvers.leaders.problem import (
    LeaderChoice,
    LeaderProblem,
    change_costs,
    change_unit,
    forced_changes,
    leader_violations,
)
from app.errors.requests import LimitExceeded
from tests import draws as st
from tests.core.reassignment.small_leaders import choices, problem, problems

balances = st.sampled_from([KEEP, TIGHT, Balance(Fraction(1, 20)), Balance(Fraction(1, 2))])


class TestLaws:
    @given(instance=problems(weights=True), balance=balances)
    def test_no_choice_beats_the_bounds(self, instance: LeaderProblem, balance: Balance) -> None:
        """None has a smaller largest load than its bound; none within the band changes fewer than theirs."""
        answer = choose_leaders(instance, balance)
        every = [np.array(choice, np.int32) for choice in choices(instance, keep=balance == KEEP)]
        largest = [int(instance.loads(choice)[instance.target].max(initial=0)) for choice in every]
        most = answer.band.high if answer.band is not None else answer.largest.value
        assert answer.largest.lower_bound <= min(largest) <= answer.largest.value
        assert answer.certificate.lower_bound <= min(
            instance.changes(choice) for choice, load in zip(every, largest, strict=True) if load <= most
        )
        assert leader_violations(instance, answer, balance) == []

    @given(instance=problems(weights=True), most=st.integers(0, 40))
    def test_no_choice_below_a_maximum_beats_the_bound_of_prices(self, instance: LeaderProblem, most: int) -> None:
        """Whatever the maximum is; the choices at prices are of candidates."""
        order = np.argsort(-instance.weight, kind="stable")
        part = instance.part(order, instance.leader)
        changes = change_costs(part) // change_unit(part)
        bound, starts = priced_choices(part, changes, most)
        for columns in starts:
            assert (changes[np.arange(len(changes)), columns] >= 0).all()
        every = [np.array(choice, np.int32) for choice in choices(part)]
        fewest = [part.changes(choice) for choice in every if part.loads(choice)[part.target].max(initial=0) <= most]
        assert forced_changes(part) + bound <= min(fewest, default=bound + len(order))

    @given(instance=problems(weights=True), balance=balances)
    def test_planned_leaders_stay(self, instance: LeaderProblem, balance: Balance) -> None:
        """From them no smaller largest load is found; replicas are in sync by then, and no leader was there before."""
        chosen = choose_leaders(instance, balance)
        none_new, none_may = np.zeros_like(instance.is_new), np.zeros_like(instance.may_change)
        planned = replace(instance, leader=chosen.leaders, is_new=none_new, may_change=none_may)
        assert choose_leaders(planned, balance).certificate.value == 0

    @given(instance=problems(weights=True))
    def test_keep_changes_what_is_forced(self, instance: LeaderProblem) -> None:
        """And that is proven to be the least."""
        assert choose_leaders(
            replace(instance, may_change=np.zeros_like(instance.may_change)), KEEP
        ).certificate.optimal

    @pytest.mark.parametrize("seed", range(4))
    def test_many_light_partitions_come_within_a_thousandth(self, seed: int) -> None:
        """2000 partitions on 20 brokers, three of them evacuated: weights small enough to meet the bound."""
        random = np.random.default_rng(seed)
        replicas = np.argsort(random.random((2000, 20)), axis=1)[:, :3]
        instance = problem(
            replicas.tolist(), brokers=20, barred=[0, 1, 2], weight=random.integers(1, 10**6, 2000).tolist()
        )
        answer = choose_leaders(replace(instance, target=instance.may_lead), TIGHT)
        assert answer.largest.value - answer.largest.lower_bound <= 0.001 * max(answer.largest.lower_bound, 1)
        assert answer.certificate.gap <= 0.03


class TestExamples:
    def test_a_broker_that_is_not_balanced_could_lead_all(self) -> None:
        """Broker 0 is no target: the fairest choice leaves it as many as broker 1, which could lead none."""
        answer = choose_leaders(problem([[1, 0]] * 2, brokers=2, leader=[-1] * 2, untargeted=[0]), KEEP)
        assert sorted(answer.leaders.tolist()) == [0, 1]
        assert (answer.largest.value, answer.largest.lower_bound) == (1, 0)

    def test_the_heavy_one_stays_and_the_light_ones_go(self) -> None:
        """Broker 0 leads 6, 3 and 3; the best is half of that each, by two changes or by one: the 6."""
        answer = choose_leaders(problem([[0, 1]] * 3, brokers=2, weight=[6, 3, 3]), TIGHT)
        assert (
            answer.largest.value,
            answer.largest.lower_bound,
            answer.certificate.value,
            answer.certificate.lower_bound,
        ) == (6, 6, 1, 1)

    @pytest.mark.parametrize(("beside", "fewest"), [(30, 20), (10, 11)])
    def test_what_is_beside_a_heavy_partition_leaves(self, beside: int, fewest: int) -> None:
        """One of 100 fills its broker: 20 light ones leave it, or it changes and those of the other broker leave."""
        replicas = [[0, 1]] * 21 + [[1, 0]] * beside
        answer = choose_leaders(problem(replicas, brokers=2, weight=[100] + [1] * (20 + beside)), TIGHT)
        assert answer.largest.value == 100
        assert (answer.certificate.value, answer.certificate.lower_bound) == (fewest, fewest)

    def test_a_heavy_partition_stays_where_it_fits(self) -> None:
        """Beside the 1 that broker 1 leads in any case it would be 101."""
        instance = problem([[0, 1]] * 21, brokers=2, base=[0, 1], weight=[100] + [1] * 20)
        certificate = choose_leaders(instance, TIGHT).certificate
        assert (certificate.value, certificate.lower_bound) == (20, 20)

    def test_a_swap_where_no_move_helps(self) -> None:
        """7 + 2 against 5: any move makes one of them worse or as bad; 7 for 5 makes it 7 and 7."""
        answer = choose_leaders(problem([[0, 1], [0], [1, 0]], brokers=2, weight=[7, 2, 5]), TIGHT)
        assert (answer.largest.value, answer.largest.lower_bound) == (7, 7)
        assert answer.leaders.tolist() == [1, 0, 0]

    @pytest.mark.parametrize("seed", [84, 147, 176, 179, 281])
    def test_leaders_are_spread_further_from_those_that_are_chosen(self, seed: int) -> None:
        """Once each of these clusters had other leaders when it was planned again, and a smaller largest load."""
        random = np.random.default_rng(9000 + seed)
        brokers, rows, width = (int(random.integers(*limits)) for limits in ((3, 9), (4, 40), (2, 4)))
        replicas = np.argsort(random.random((rows, brokers)), axis=1)[:, :width]
        weight = (100 * (1 + random.pareto(1.2, rows))).astype(np.int64)
        instance = problem(replicas.tolist(), brokers=brokers, weight=weight.tolist())
        chosen = choose_leaders(instance, TIGHT)
        assert choose_leaders(replace(instance, leader=chosen.leaders), TIGHT).certificate.value == 0

    def test_one_heavy_partition_is_a_bound(self) -> None:
        """Split in two it would be 50 each; whole it is 100 somewhere."""
        answer = choose_leaders(problem([[0, 1], [0, 1]], brokers=2, weight=[100, 1]), TIGHT)
        assert (answer.largest.value, answer.largest.lower_bound) == (100, 100)

    def test_partitions_without_ingress_are_spread_by_number(self) -> None:
        """New ones of unknown rates: one each, the loaded broker none."""
        answer = choose_leaders(
            problem([[0], [0, 1, 2], [0, 1, 2]], brokers=3, leader=[0, -1, -1], weight=[5, 0, 0]), TIGHT
        )
        assert answer.leaders[0] == 0
        assert sorted(answer.leaders[1:].tolist()) == [1, 2]

    def test_weights_that_cannot_be_added(self) -> None:
        """Sums are exact in 64 bits, or rejected."""
        with pytest.raises(LimitExceeded):
            choose_leaders(problem([[0], [1]], brokers=2, weight=[1 << 61, 1 << 61]), TIGHT)


class TestVerifier:
    def test_what_it_says(self) -> None:
        """One answer made wrong in every way, one by one."""
        instance = problem([[0, 1], [1, 0], [2]], brokers=3, barred=[2], weight=[2, 3, 4])
        answer = choose_leaders(instance, KEEP)

        def said(leaders: list[int], *, band: bool = False) -> list[str]:
            tight = choose_leaders(instance, TIGHT).band if band else None
            other: LeaderChoice = replace(answer, leaders=np.array(leaders, np.int32), band=tight)
            return leader_violations(instance, other, KEEP)

        assert leader_violations(instance, answer, KEEP) == []
        assert said([0, 1]) == ["2 leaders were chosen for 3 partitions"]
        assert said([0, 1, 0]) == ["1 partitions are led by a broker without a replica of them"]
        assert said([1, 1, 2])[0] == "1 leaders changed that could stay"
        assert said([1, 1, 2])[1:] == ["leader changes: 0 said, 1 counted", "led by the largest: 4 said, 5 counted"]
        assert said([1, 1, 2], band=True)[1] == "2 brokers lead fewer than 2 or more than 4"

    def test_keep_that_is_not_fair(self) -> None:
        """All four may change; broker 0 leads three, and one of them could pass over broker 1 to broker 2."""
        instance = problem([[0, 1], [0, 1], [0, 1], [1, 2]], brokers=3, changing=range(4))
        chosen = choose_leaders(instance, KEEP)
        assert leader_violations(instance, chosen, KEEP) == []
        stays = replace(chosen.certificate, value=0, lower_bound=0)
        unfair = replace(
            chosen, leaders=instance.leader, certificate=stays, largest=replace(chosen.largest, value=3, lower_bound=2)
        )
        assert leader_violations(instance, unfair, KEEP) == ["a broker leads 3, and leaders that may change leave less"]

    def test_leaders_that_may_not_lead(self) -> None:
        """Broker 0 may not, and the partition has another replica."""
        instance = problem([[0, 1]], brokers=2, barred=[0])
        chosen = choose_leaders(instance, KEEP)
        claim = replace(chosen.certificate, value=0, lower_bound=0)
        wrong = replace(chosen, leaders=np.array([0], np.int32), certificate=claim)
        assert leader_violations(instance, wrong, KEEP) == [
            "1 partitions are led by a broker that may not lead, although another replica's may"
        ]
        above = replace(wrong, certificate=replace(claim, lower_bound=1))
        assert leader_violations(instance, above, KEEP)[1:] == ["a bound is above what was reached"]
