"""Small problems over resources are answered exactly: aim by aim, no placement is better."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from app.core.model import NO_LEADER, NO_REPLICA, Int64s
from app.core.reassignment.goals.answers import totals_of
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.goals.budget import reach_within, relieve
from app.core.reassignment.goals.by_load import place_by_load
from app.core.reassignment.model import KEEP, Balance
from app.core.reassignment.resource_problem import (
    NO_LIMIT,
    RESOURCES,
    Goal,
    ResourceProblem,
    loads_of,
)
from app.core.reassignment.verifier import resource_violations
from tests import draws as st
from tests.core.reassignment.small_problems import (
    moved_weight,
    placements,
    problems,
    target_loads,
)
from tests.core.reassignment.small_resources import answers, resource_problems
from tests.core.reassignment.test_by_load import BALANCES, Case, cluster, forced_replicas, rows_of, weighted
from tests.core.reassignment.test_resources import excess, never
from tests.profiles import costly, seeds


def without_reads(problem: ResourceProblem) -> ResourceProblem:
    """The same problem if consumers fetch from leaders, as in problems that are answered exactly."""
    return replace(problem, loads=replace(problem.loads, reads=None))


def value_of(problem: ResourceProblem, goal: Goal, loads: Int64s) -> Fraction:
    """The largest load over the ideal load; with a tolerance the largest distance from 1, if that is larger."""
    column = RESOURCES.index(goal.name)
    weights = problem.weights[:, column]
    total = int(totals_of(problem)[column])
    if not total or not weights.any():
        return goal.tolerance
    ideal = {at: Fraction(int(weights[at]) * total, int(weights.sum())) for at in np.flatnonzero(weights).tolist()}
    shares = [int(loads[at, column]) / each for at, each in ideal.items()]
    return max([goal.tolerance, *(abs(share - 1) for share in shares)]) if goal.has_floor else max(shares)


def values(problem: ResourceProblem, goals: list[Goal]) -> Iterator[tuple[Fraction | int, ...]]:
    """Of every placement: excess of hard and soft limits, goals in order, moved weight and replicas, leader changes."""
    for (moved, loads, leaders), (replicas, *_) in zip(answers(problem), answers(counted(problem)), strict=True):
        changes = int(np.count_nonzero((problem.leader != NO_LEADER) & (leaders != problem.leader)))
        yield (*excess(problem, loads), *(value_of(problem, goal, loads) for goal in goals), moved, replicas, changes)


def counted(problem: ResourceProblem) -> ResourceProblem:
    """The problem with 1 as the weight of every replica."""
    weight = np.ones_like(problem.movement.weight)
    return replace(problem, movement=replace(problem.movement, weight=weight))


def reached(problem: ResourceProblem, goals: list[Goal]) -> tuple[Fraction | int, ...]:
    """The same of the answer, whose certificates are checked."""
    answer = reach_goals(problem, [(goal,) for goal in goals], never) if goals else relieve(problem, never)
    assert resource_violations(problem, answer) == []
    assert answer.movement.optimal
    assert answer.excess is None or answer.excess.hard.is_reached
    loads = loads_of(problem.loads, problem.movement.rack_of, answer.replicas, answer.leaders)
    above, changes = excess(problem, loads), answer.movement.then
    assert changes is not None
    lists = tuple(tuple(row[row != NO_REPLICA].tolist()) for row in answer.replicas)
    replicas = moved_weight(counted(problem).movement, lists)
    return (*above, *(value_of(problem, goal, loads) for goal in goals), answer.moved, replicas, changes.value)


@costly(150)
@given(
    resource_problems(),
    st.lists(st.sampled_from(RESOURCES), max_size=2, unique=True),
    st.lists(st.integers(0, 3), min_size=2, max_size=2),
    st.none() | st.lists(st.integers(0, 2 ** len(RESOURCES) - 1), min_size=5, max_size=5),
)
def test_no_placement_is_better(
    problem: ResourceProblem, names: list[str], tenths: list[int], sharing: list[int] | None
) -> None:
    """Also if each resource is shared by brokers of its own."""
    problem = without_reads(problem)
    if sharing is not None:
        of_brokers = np.array(sharing[: len(problem.may_lead)])[:, None] >> np.arange(len(RESOURCES)) & 1
        problem = replace(problem, sharing=of_brokers.astype(np.bool_))
    goals = [Goal(name, Fraction(tenth, 10)) for name, tenth in zip(names, tenths, strict=False)]
    assert reached(problem, goals) == min(values(problem, goals))


@costly(50)
@given(resource_problems(), st.sampled_from(RESOURCES))
def test_a_wider_tolerance_never_moves_more(problem: ResourceProblem, name: str) -> None:
    problem = without_reads(problem)
    moved = [reached(problem, [Goal(name, Fraction(tenths, 10), is_near=True)])[-2] for tenths in (0, 1, 2, 3, 10)]
    assert moved == sorted(moved, reverse=True)


@costly(50)
@given(resource_problems(), st.sampled_from(RESOURCES), st.integers(0, 3))
def test_a_thousandth_of_the_unit_changes_no_answer(problem: ResourceProblem, name: str, tenths: int) -> None:
    limits = replace(problem.limits, upper=np.full_like(problem.limits.upper, NO_LIMIT))
    problem, goal = replace(without_reads(problem), limits=limits), Goal(name, Fraction(tenths, 10))
    loads = {each: 1_000 * getattr(problem.loads, each) for each in ("of_leader", "of_follower", "base")}
    again = replace(problem, loads=replace(problem.loads, **loads))
    assert reached(again, [goal]) == reached(problem, [goal])


@costly(50)
@given(resource_problems(), st.sets(st.sampled_from(RESOURCES), min_size=1, max_size=3), st.integers(0, 3))
def test_the_same_goals_move_nothing_on_what_was_planned(
    problem: ResourceProblem, names: set[str], tenths: int
) -> None:
    """Of goals of one priority as well, of which several placements have the least sum."""
    problem = without_reads(problem)
    goals = [Goal(name, Fraction(tenths, 10)) for name in sorted(names)]
    answer = reach_goals(problem, [goals], never)
    movement = replace(problem.movement, current=answer.replicas, is_copied=np.zeros_like(answer.replicas, np.bool_))
    again = reach_goals(replace(problem, movement=movement, leader=answer.leaders), [goals], never)
    assert again.moved == 0


@costly(50)
@given(resource_problems(), st.integers(0, 30))
def test_soft_limits_are_no_reason_to_exceed_a_budget(problem: ResourceProblem, budget: int) -> None:
    """The excess is no more than if nothing moves for limits, and a budget for all of them reaches the least."""
    problem = replace(without_reads(problem), limits=replace(problem.limits, is_soft=np.ones(len(RESOURCES), np.bool_)))
    unlimited = replace(problem, limits=replace(problem.limits, upper=np.full_like(problem.limits.upper, NO_LIMIT)))
    forced, least = relieve(unlimited, never), relieve(problem, never)
    [found] = reach_within([problem], (), forced.moved + budget, never)
    assert found.moved <= forced.moved + budget
    above = [excess(problem, each.loads) for each in (least, found, forced)]
    assert above == sorted(above)
    assert found.moved < least.moved or above[1] == above[0]
    assert resource_violations(problem, found) == []


def distance(loads: list[int], balance: Balance) -> Fraction:
    """The objective of a balance: the largest load, or the largest distance from the mean beyond the tolerance."""
    mean = Fraction(sum(loads), max(1, len(loads)))
    if not balance.tolerance:
        return Fraction(max(loads, default=0))
    return max([balance.tolerance * mean, *(abs(load - mean) for load in loads)])


@pytest.mark.parametrize("seed", seeds(40))
def test_bytes_of_few_partitions_are_as_near_to_the_mean_as_can_be(seed: int) -> None:
    """Sums of up to 2^37: every placement is tried."""
    rng, factor = np.random.default_rng(seed), 1 + seed % 2
    brokers, rows = int(rng.integers(4, 7)), int(rng.integers(3, 6 - factor))
    current = [rng.permutation(brokers)[:factor].tolist() for _ in range(rows)]
    problem, load, base_load = weighted(
        cluster(current, [0] * brokers, factor=factor), rng.lognormal(21, 1, rows).tolist()
    )
    balance = Balance(Fraction(1, 10))
    least = min(
        (distance(target_loads(problem, load, base_load, placement), balance), moved_weight(problem, placement))
        for placement in placements(problem)
    )
    rows_placed = rows_of(place_by_load(problem, load, base_load, balance, never))
    value = distance(target_loads(problem, load, base_load, rows_placed), balance)
    assert (value, moved_weight(problem, rows_placed)) == least


@pytest.mark.long
@settings(max_examples=150)
@given(problems(), BALANCES)
def test_a_balance_by_one_load_is_the_best_there_is(case: Case, balance: Balance) -> None:
    """First the balance, then the movement; with `keep` the movement first. Every placement is tried."""
    problem, load, base_load = case
    problem = replace(problem, target=np.ones_like(problem.target))  # the search answers if loads may be elsewhere
    found: list[tuple[Fraction | int, ...]] = []
    for placement in placements(problem):
        moved = (moved_weight(problem, placement), forced_replicas(problem, placement))
        value = distance(target_loads(problem, load, base_load, placement), balance)
        found.append((*moved, value) if balance == KEEP else (value, *moved))
    placed = place_by_load(problem, load, base_load, balance, never)
    rows = rows_of(placed)
    moved = (moved_weight(problem, rows), forced_replicas(problem, rows))
    value = distance(target_loads(problem, load, base_load, rows), balance)
    assert ((*moved, value) if balance == KEEP else (value, *moved)) == min(found)
    assert placed.placement.certificate.optimal
    assert balance.tolerance or placed.largest.is_reached
