"""Replicas that move for leaders: the narrowest band, the fewest bytes, against every placement of small clusters."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import KEEP, TIGHT, Balance, Domain, MovementProblem
from app.core.reassignment.solvers.flow.least_movement import BudgetTooSmall, least_movement
from app.core.reassignment.solvers.leaders.by_moves import MovedForLeaders, move_for_leaders
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.problem import LeaderProblem, leader_violations
from app.core.reassignment.verifier import are_spread, placement_violations
from tests import draws as st

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Case:
    """A problem, legal lists with the present leader first, brokers that may lead, and leaders of other partitions."""

    problem: MovementProblem
    lists: Int32s
    may_lead: Bools
    base: Int64s

    def moved(self, balance: Balance, budget: int | None = None, *, fewest_changes: bool = False) -> MovedForLeaders:
        """The answer."""
        return move_for_leaders(
            self.problem,
            self.lists,
            self.may_lead,
            self.base,
            balance,
            budget=budget,
            fewest_changes=fewest_changes,
        )

    @property
    def target(self) -> Bools:
        """(brokers,) bool, whose leaders have a band."""
        return np.logical_and(self.problem.target, self.may_lead)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to four partitions on up to five brokers in up to three racks."""
    brokers = draw(st.integers(2, 5))
    rack_of = np.array(draw(st.lists(st.integers(0, 2), min_size=brokers, max_size=brokers)), np.int32)
    racks = int(rack_of.max()) + 1
    factor = draw(st.integers(1, min(3, brokers)))
    rows = draw(st.integers(1, 4))
    current = np.array([draw(st.permutations(range(brokers)))[:factor] for _ in range(rows)], np.int32)
    may_receive = np.array(draw(st.lists(st.sampled_from([True, True, False]), min_size=brokers, max_size=brokers)))
    in_racks = np.array([np.bincount(rack_of[row], minlength=racks) for row in current])
    least = np.minimum(in_racks.min(axis=0), draw(st.integers(0, 1)))
    most = np.maximum(in_racks.max(axis=0), draw(st.integers(0, 2)))
    some = st.lists(st.sampled_from([True, True, True, False]), min_size=brokers, max_size=brokers)
    problem = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=rack_of,
        target=np.array(draw(some)),
        base=np.zeros(brokers, np.int64),
        domains=(Domain(factor, np.ones(brokers, np.bool_), may_receive, least, most),),
        domain_of=np.zeros(rows, np.int32),
        current=current,
        is_copied=np.zeros((rows, factor), np.bool_),
        must_keep=np.full(rows, NO_REPLICA, np.int32),
        weight=np.array(draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows)), np.int64),
        share=np.array(draw(st.lists(st.integers(1, 3), min_size=brokers, max_size=brokers)), np.int64)
        if draw(st.integers(0, 3)) == 0
        else None,
    )
    base = np.array(draw(st.lists(st.integers(0, 3), min_size=brokers, max_size=brokers)), np.int64)
    return Case(problem, current, np.array(draw(some)), base)


def ways(case: Case) -> Iterator[tuple[Int64s, int]]:
    """Leaders of each broker, and the weight moved, of every choice."""
    yield from ((led, weight) for led, weight, _ in counted_ways(case))


def counted_ways(case: Case) -> Iterator[tuple[Int64s, int, int]]:
    """Leaders of each broker, the weight moved and the leaders that change, of every choice: a list with one replica
    exchanged at most, and a leader among it.
    """
    problem, options = case.problem, []
    for row, listed in enumerate(case.lists.tolist()):
        of_row: set[tuple[int, int]] = set()
        for leader in listed:
            if case.may_lead[leader] or not case.may_lead[listed].any():
                of_row.add((leader, 0))
        for new in range(len(case.base)):
            if new in listed or not case.may_lead[new] or not problem.domains[0].may_receive[new]:
                continue
            exchanged = [[*listed[:place], new, *listed[place + 1 :]] for place in range(len(listed))]
            if any(_is_spread(problem, each) for each in exchanged):
                of_row.add((new, int(problem.weight[row])))
        options.append(sorted(of_row))
    present = case.lists[:, 0].tolist()
    for chosen in product(*options):
        led = case.base.copy()
        for leader, _ in chosen:
            led[leader] += 1
        changes = sum(leader != before for (leader, _), before in zip(chosen, present, strict=True))
        yield led, sum(weight for _, weight in chosen), changes


def _is_spread(problem: MovementProblem, listed: list[int]) -> bool:
    """As the current row is, or better: a partition stays in its racks, or leaves one that may have fewer."""
    one_row = replace(problem, domain_of=problem.domain_of[:1])
    return bool(are_spread(one_row, np.array([listed], np.int32))[0])


TOLERANCES = [Fraction(0), Fraction(1, 4), Fraction(1)]


@given(case=cases(), tolerance=st.sampled_from(TOLERANCES), below=st.sampled_from([None, *TOLERANCES]))
def test_no_way_within_the_bounds_moves_less(case: Case, tolerance: Fraction, below: Fraction | None) -> None:
    """The least weight of any way within the bounds; the movement is legal, as stated, and proven."""
    found = case.moved(Balance(tolerance, below))
    low, high = found.bounds.low, found.bounds.high
    target = case.target
    within = [weight for led, weight in ways(case) if ((led >= low) & (led <= high) | ~target).all()]
    assert found.placement.moved == found.placement.certificate.lower_bound == min(within)
    assert placement_violations(case.problem, found.placement) == []


@given(case=cases(), tolerance=st.sampled_from(TOLERANCES))
def test_no_way_within_the_bounds_changes_fewer_leaders_nor_then_moves_less(case: Case, tolerance: Fraction) -> None:
    """The bound is of the movement with no more changes."""
    found = case.moved(Balance(tolerance), fewest_changes=True)
    low, high, target = found.bounds.low, found.bounds.high, case.target
    within = [
        (changes, weight)
        for led, weight, changes in counted_ways(case)
        if ((led >= low) & (led <= high) | ~target).all()
    ]
    problem = leader_problem(case, found.placement.replicas)
    choice = choose_leaders(problem, Balance(tolerance), within=found.bounds)
    assert (choice.certificate.value, found.placement.moved) == min(within)
    assert found.placement.certificate.lower_bound == found.placement.moved
    assert placement_violations(case.problem, found.placement) == []


@given(case=cases(), tolerance=st.sampled_from(TOLERANCES), bits=st.sampled_from([46, 54, 57]))
def test_weights_of_many_units_are_bounded_with_the_fewest_changes(case: Case, tolerance: Fraction, bits: int) -> None:
    """Sums that are too large are of units; what remains of a weight costs nothing."""
    case = replace(case, problem=replace(case.problem, weight=case.problem.weight * ((1 << bits) + 1)))
    found = case.moved(Balance(tolerance), fewest_changes=True)
    low, high, target = found.bounds.low, found.bounds.high, case.target
    _, least = min(
        (changes, weight)
        for led, weight, changes in counted_ways(case)
        if ((led >= low) & (led <= high) | ~target).all()
    )
    rows = len(case.problem.weight)
    unit = (len(case.base) + 2) * sum(case.problem.weight.tolist()) // 2**58 + 1
    assert found.placement.certificate.lower_bound <= least <= found.placement.moved
    assert found.placement.moved - found.placement.certificate.lower_bound <= (unit - 1) * rows


@given(case=cases())
def test_tight_is_the_narrowest_band_of_any_way(case: Case) -> None:
    """The smallest maximum, then the largest minimum."""
    case = replace(case, problem=replace(case.problem, share=None))
    target = case.target
    if not target.any():
        return
    found = case.moved(TIGHT)
    ends = [(int(led[target].max()), -int(led[target].min())) for led, _ in ways(case)]
    assert (int(found.bounds.high.max()), -int(found.bounds.low[target].min())) == min(ends)


@given(case=cases())
def test_leaders_are_chosen_within_the_bounds(case: Case) -> None:
    """The lists have leaders within the bounds, whatever the order of the others."""
    found = case.moved(TIGHT)
    problem = leader_problem(case, found.placement.replicas)
    choice = choose_leaders(problem, TIGHT, within=found.bounds)
    assert leader_violations(problem, choice, TIGHT) == []
    led = problem.loads(choice.leaders)[case.target]
    assert (led >= found.bounds.low[case.target]).all()
    assert (led <= found.bounds.high[case.target]).all()


@pytest.mark.long
@given(case=cases(), budget=st.integers(0, 20))
def test_a_budget_holds_and_is_never_worse_than_no_movement(case: Case, budget: int) -> None:
    """The smallest maximum that the budget pays for, then the largest minimum: with 0, by the order alone."""
    case = replace(case, problem=replace(case.problem, share=None))
    target = case.target
    if not target.any():
        return
    found = case.moved(TIGHT, budget)
    assert found.placement.moved <= budget
    assert placement_violations(case.problem, found.placement) == []
    ends = [(int(led[target].max()), -int(led[target].min())) for led, weight in ways(case) if weight <= budget]
    narrowest = (int(found.bounds.high.max()), -int(found.bounds.low[target].min()))
    # The lower end is not raised above the narrowest band's.
    assert narrowest == (min(ends)[0], max(min(ends)[1], -int(case.moved(TIGHT).bounds.low[target].min())))


def test_a_budget_below_forced_moves_is_rejected() -> None:
    """Broker 0 of two has to be left."""
    stays, one = np.array([False, True]), np.ones(1, np.int64)
    problem = MovementProblem(
        broker_ids=np.arange(2, dtype=np.int32),
        rack_of=np.zeros(2, np.int32),
        target=stays,
        base=np.zeros(2, np.int64),
        domains=(Domain(1, stays, stays, one, one),),
        domain_of=np.zeros(1, np.int32),
        current=np.zeros((1, 1), np.int32),
        is_copied=np.zeros((1, 1), np.bool_),
        must_keep=np.full(1, NO_REPLICA, np.int32),
        weight=np.array([7], np.int64),
    )
    lists = least_movement(problem, KEEP).replicas
    with pytest.raises(BudgetTooSmall):
        move_for_leaders(problem, lists, stays, np.zeros(2, np.int64), TIGHT, budget=6)
    moved = move_for_leaders(problem, lists, stays, np.zeros(2, np.int64), TIGHT, budget=7).placement
    assert (moved.moved, moved.certificate.lower_bound, moved.replicas.tolist()) == (7, 7, [[1]])


def leader_problem(case: Case, lists: Int32s) -> LeaderProblem:
    """The leaders of lists, where `case.lists` have their leaders first."""
    return LeaderProblem(
        replicas=lists,
        leader=case.lists[:, 0],
        may_change=np.zeros(len(lists), np.bool_),
        may_lead=case.may_lead,
        is_new=~(lists[:, :, None] == case.lists[:, None, :]).any(axis=2),
        target=case.target,
        base=case.base,
        weight=np.ones(len(lists), np.int64),
    )
