"""Several resources at once: laws of every answer, against every placement of small problems."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from app.core.model import NO_LEADER
from app.core.reassignment.goals.balancing import _Aims, reach_goals
from app.core.reassignment.goals.budget import relieve
from app.core.reassignment.model import Domain, MovementProblem
from app.core.reassignment.resource_problem import (
    GOALS,
    NO_LIMIT,
    RESOURCES,
    TOPIC_REPLICAS,
    Bounds,
    Goal,
    Limits,
    ResourceLoads,
    ResourceProblem,
    kafka_loads,
    loads_of,
)
from app.core.reassignment.solvers.exact.limit_model import least_excess
from app.core.reassignment.solvers.search.receivers_kernel import RECEIVERS, receivers_for
from app.core.reassignment.solvers.search.search import begun, rules_of, search, start_of
from app.core.reassignment.verifier import resource_violations
from app.core.replica_lists import not_among
from benchmarks.resource_clusters import Shape
from benchmarks.resource_clusters import problem_of as cluster_of
from tests import draws as st
from tests.core.reassignment.small_resources import answers, resource_problems
from tests.profiles import costly


def never() -> bool:
    """No deadline."""
    return False


def excess(
    problem: ResourceProblem, loads: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> tuple[Fraction, Fraction]:
    """Load above hard and above soft limits, in shares of the limits."""
    totals = [Fraction(0), Fraction(0)]
    upper = problem.limits.upper
    for broker, column in zip(*np.nonzero(np.where(upper < NO_LIMIT, loads > upper, False)), strict=True):
        over = Fraction(int(loads[broker, column] - upper[broker, column]), max(1, int(upper[broker, column])))
        totals[int(problem.limits.is_soft[column])] += over
    return totals[0], totals[1]


@costly(30)
@given(resource_problems(), st.lists(st.sampled_from(GOALS), min_size=1, max_size=3), st.integers(0, 2))
def test_every_answer_is_legal_and_says_what_it_is(problem: ResourceProblem, names: list[str], tenths: int) -> None:
    goals = [Goal(name, Fraction(tenths, 10)) for name in dict.fromkeys(names)]
    for answer in (
        relieve(problem, never),
        reach_goals(problem, [goals], never),
        reach_goals(problem, [(goal,) for goal in goals], never),
        reach_goals(problem, [(goal,) for goal in goals], lambda: True),
        reach_goals(problem, [goals], never, lambda: True),
    ):
        assert resource_violations(problem, answer) == []
        assert (answer.leaders != NO_LEADER).all()


@settings(max_examples=20)
@given(resource_problems())
def test_the_bounds_of_relief_hold_for_every_placement(problem: ResourceProblem) -> None:
    """The least excess, and the least movement of the placements that are within the limits (or reached ones)."""
    answer = relieve(problem, never)
    hard = Fraction(0) if answer.excess is None else answer.excess.hard.lower_bound
    soft = Fraction(0) if answer.excess is None else answer.excess.soft.lower_bound
    allowed = np.maximum(problem.limits.upper, answer.loads)
    for moved, loads, _ in answers(problem):
        above = excess(problem, loads)
        assert above[0] >= hard
        if above[0] <= hard:
            assert above[1] >= soft
        if (loads <= allowed).all():
            assert moved >= answer.movement.lower_bound
        if answer.excess is not None and answer.excess.conflicts:
            assert above[0] > 0


@settings(max_examples=20)
@given(resource_problems(), st.sampled_from(RESOURCES), st.integers(0, 2))
def test_the_bounds_of_balance_hold_for_every_placement(problem: ResourceProblem, name: str, tenths: int) -> None:
    answer = reach_goals(problem, [[Goal(name, Fraction(tenths, 10))]], never)
    reached, column = answer.goal[name], RESOURCES.index(name)
    target = problem.movement.target
    allowed = np.maximum(problem.limits.upper, answer.loads)
    share = reached.largest
    load_of_largest = answer.loads[target, column].max(initial=0)
    for moved, loads, _ in answers(problem):
        inside = (loads <= allowed).all()
        inside &= bool(((loads[:, column] <= reached.ceiling) & (loads[:, column] >= reached.floor))[target].all())
        if inside:
            assert moved >= answer.movement.lower_bound
        is_equal = bool((problem.loads.capacity[target, column] <= 0).any())
        if is_equal and load_of_largest and excess(problem, loads) <= excess(problem, answer.loads):
            of_all = loads[target, column].max()
            assert share.value * int(of_all) >= share.lower_bound * int(load_of_largest)


@settings(max_examples=20)
@given(resource_problems(), st.permutations(RESOURCES), st.integers(0, 2))
def test_a_later_goal_does_not_worsen_an_earlier_one(problem: ResourceProblem, names: list[str], tenths: int) -> None:
    """Beyond its tolerance, or the value reached alone."""
    first, second = (Goal(name, Fraction(tenths, 10)) for name in names[:2])
    problem = replace(problem, limits=Limits.none(len(problem.may_lead)))
    alone = reach_goals(problem, [[first]], never).goal[first.name].ceiling
    both = reach_goals(problem, [(first,), (second,)], never)
    loads = both.loads[:, RESOURCES.index(first.name)]
    assert (loads <= np.maximum(alone, both.goal[first.name].ceiling))[problem.movement.target].all()
    assert (both.goal[first.name].ceiling <= alone)[problem.movement.target].all()


@settings(max_examples=20)
@given(resource_problems(), st.permutations(RESOURCES), st.integers(1, 10))
def test_goals_that_are_all_reached_need_no_order(problem: ResourceProblem, names: list[str], tenths: int) -> None:
    """If a search reaches all of them at once, the answer is the same in every order."""
    problem = replace(problem, limits=Limits.none(len(problem.may_lead)))
    goals = [Goal(name, Fraction(tenths, 10)) for name in names[:3]]
    jointly = reach_goals(problem, [goals], never)
    rules = rules_of(problem)
    aims = _Aims(problem, rules, start_of(problem, rules), [goals])
    wanted = {goal.name: aims.range_of(goal) for goal in goals}
    if not all(
        (each.ceiling == wanted[each.goal.name].ceiling).all() and (each.floor == wanted[each.goal.name].floor).all()
        for each in jointly.goals
    ):
        return
    for order in (goals, goals[::-1]):
        answer = reach_goals(problem, [(goal,) for goal in order], never)
        assert resource_violations(problem, answer) == []
        assert (answer.replicas == jointly.replicas).all()
        assert (answer.leaders == jointly.leaders).all()
        assert answer.movement == jointly.movement


@settings(max_examples=30)
@given(resource_problems(), st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=3, unique=True))
def test_the_penalty_of_a_search_is_that_of_the_loads(problem: ResourceProblem, names: list[str]) -> None:
    """Loads are computed anew from the placement; the penalty is 0 if and only if they are within all bounds."""
    rules = rules_of(problem)
    columns = [RESOURCES.index(name) for name in names]
    bounds = Bounds.none(problem)
    bounds.ceiling[:, columns], bounds.unit[:, columns] = 7, 0.125
    found = search(problem, rules, start_of(problem, rules), bounds, never)
    loads = loads_of(problem.loads, problem.movement.rack_of, found.at, found.at[:, 0])
    assert (found.loads == loads).all()
    is_within = (loads <= np.minimum(bounds.ceiling, problem.limits.upper)).all()
    assert (found.penalty == 0) == is_within


@settings(max_examples=30)
@given(resource_problems())
def test_relief_moves_nothing_if_all_is_below_the_limits(problem: ResourceProblem) -> None:
    """Only forced moves: the moves of `start`, which no limit needs more of."""
    free = replace(problem, limits=Limits.none(len(problem.may_lead)))
    answer = relieve(free, never)
    assert answer.excess is None
    assert answer.moved == answer.movement.lower_bound == min(moved for moved, _, _ in answers(free))


def _least_and_reached(problem: ResourceProblem) -> tuple[Fraction, Fraction]:
    """The least load above hard limits of all placements, and that of the answer."""
    answer = relieve(problem, never)
    least = min(excess(problem, loads)[0] for _, loads, _ in answers(problem))
    return least, Fraction(0) if answer.excess is None else answer.excess.hard.value


@settings(max_examples=20)
@given(resource_problems())
def test_relief_of_small_problems_is_the_best_of_all_placements(problem: ResourceProblem) -> None:
    loads = replace(problem.loads, reads=None)
    least, reached = _least_and_reached(replace(problem, loads=loads, may_lead=np.ones_like(problem.may_lead)))
    assert reached == least


@settings(max_examples=60, derandomize=True)
@given(resource_problems())
def test_relief_is_near_the_best_of_all_placements(problem: ResourceProblem) -> None:
    """If consumers fetch from followers, a search answers, which does not cover all placements: of 202 drawn
    problems 191 are at the least, and the others up to 55 % above it. The problems are always the same, since one in
    some thousand is much worse.
    """
    least, reached = _least_and_reached(replace(problem, may_lead=np.ones_like(problem.may_lead)))
    assert reached <= 3 * least + 3


@pytest.mark.long
@pytest.mark.parametrize("rows", [16, 40, 100])
def test_no_other_objective_moves_fewer_bytes(rows: int) -> None:
    """Within the same limits: bytes with a cost of each move, as by default, or replicas. Bytes are heavy-tailed.

    Problems of 16 rows are solved exactly. Of the others, a search by bytes alone moved up to 1.6 % more. By 0.01 %,
    near which searches end, another objective may move less.
    """
    of_seeds = [skewed(np.random.default_rng(seed), rows) for seed in range(8)]
    for problem in of_seeds:
        bytes_of = problem.movement.weight
        moved = []
        for weight in (bytes_of, bytes_of + int(bytes_of.mean()), np.ones_like(bytes_of)):
            weighed = replace(problem, movement=replace(problem.movement, weight=weight))
            answer = relieve(weighed, never)
            assert resource_violations(weighed, answer) == []
            if answer.excess is None:
                moved.append(int((not_among(answer.replicas, problem.movement.current) * bytes_of[:, None]).sum()))
        assert not moved or 10_000 * moved[0] <= 10_001 * min(moved)


def skewed(random: np.random.Generator, rows: int) -> ResourceProblem:
    """Nine brokers in three racks, the first of each with most replicas, and limits of 1.1 times the means."""
    brokers, place = 9, random.integers(0, 3, (rows, 3)) * (random.random((rows, 3)) < 0.7)
    every, one = np.ones(brokers, np.bool_), np.ones(3, np.int64)
    of_replica = np.zeros((rows, len(RESOURCES)), np.int64)
    of_replica[:, 0] = np.rint(1000 * np.exp(2 * random.standard_normal(rows)))
    of_replica[:, 4] = 1
    limits, base = Limits.none(brokers), np.zeros((brokers, len(RESOURCES)), np.int64)
    for column in (0, 4):
        limits.upper[:, column] = np.ceil(1.1 * 3 * of_replica[:, column].sum() / brokers)
    current = (np.array([random.permutation(3) for _ in range(rows)]) + 3 * place).astype(np.int32)
    movement = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=np.arange(brokers, dtype=np.int32) % 3,
        target=every,
        base=np.zeros(brokers, np.int64),
        domains=(Domain(3, every, every, one, one),),
        domain_of=np.zeros(rows, np.int32),
        current=current,
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(rows, -1, np.int32),
        weight=of_replica[:, 0],
    )
    return ResourceProblem(movement, ResourceLoads(of_replica, of_replica, base, base), limits, current[:, 0], every)


def test_a_leader_gives_up_the_lead_before_a_replica_moves() -> None:
    """NIC out is above the limit because of leaders: a transfer costs no copy."""
    problem = two_brokers(limit=120)
    answer = relieve(problem, never)
    assert answer.excess is None
    assert answer.moved == 0
    assert answer.movement.then is not None
    assert answer.movement.then.value == 1
    assert np.bincount(answer.leaders).tolist() == [1, 1]


def test_limits_that_cannot_hold_are_proven_to_conflict() -> None:
    answer = relieve(two_brokers(limit=90), never)
    assert answer.excess is not None
    conflict = answer.excess.conflicts[0]
    assert (conflict.resource, conflict.brokers, conflict.required, conflict.available) == ("nic_out", (0, 1), 200, 180)
    assert answer.excess.hard.value == answer.excess.hard.lower_bound == Fraction(20, 90)


def test_limits_of_several_resources_conflict_only_together() -> None:
    """For the disks the first partition is on broker 0 and the second on broker 1, for NIC in the other way round."""
    problem = two_partitions()
    for column in (0, 1):
        alone = np.full_like(problem.limits.upper, NO_LIMIT)
        alone[:, column] = problem.limits.upper[:, column]
        answer = relieve(replace(problem, limits=replace(problem.limits, upper=alone)), never)
        assert answer.excess is None
    answer = relieve(problem, never)
    assert resource_violations(problem, answer) == []
    assert answer.excess is not None
    assert {each.resource for each in answer.excess.conflicts} == {"disk+nic_in", "nic_in+disk"}
    assert all(each.brokers == (0, 1) and not each.is_of_sums for each in answer.excess.conflicts)
    missing = {each.resource.split("+")[0]: each.required - each.available for each in answer.excess.conflicts}
    assert missing == {"disk": 5, "nic_in": 5}
    assert answer.excess.hard.value == 1
    assert 0 < answer.excess.hard.lower_bound <= answer.excess.hard.value


@settings(max_examples=15)
@given(resource_problems())
def test_what_the_model_proves_of_the_excess_is_that_of_the_best_placement(problem: ResourceProblem) -> None:
    """No placement has less excess than its bound; its placement has the least, up to the rounding of shares."""
    rules = rules_of(problem)
    model = least_excess(problem, rules, never)
    least = min(excess(problem, loads)[0] for _, loads, _ in answers(problem))
    if model is None:
        assert least == 0 or problem.loads.reads is not None
        return
    assert model.bound <= least
    assert (model.bound > 0, bool(model.conflicts)) == (least > 0, least > 0)
    assert model.at is not None
    loads = loads_of(problem.loads, problem.movement.rack_of, model.at, model.at[:, 0])
    assert abs(excess(problem, loads)[0] - least) < Fraction(1, 1_000)
    for conflict in model.conflicts:
        columns = [RESOURCES.index(name) for name in conflict.resource.split("+")]
        upper = np.full_like(problem.limits.upper, NO_LIMIT)
        cells = np.ix_(conflict.brokers, columns)
        upper[cells] = problem.limits.upper[cells]
        assert not any((loads <= upper).all() for _, loads, _ in answers(problem))


def two_partitions() -> ResourceProblem:
    """10 of disk and 5 of NIC in, and the other way round; broker 0 may have 10 of both, and broker 1 five."""
    nothing = np.zeros((2, len(RESOURCES)), np.int64)
    of = nothing.copy()
    of[:, 0], of[:, 1] = (10, 5), (5, 10)
    upper = np.full_like(of, NO_LIMIT)
    upper[:, 0], upper[:, 1] = (10, 5), (10, 5)
    return ResourceProblem(
        movement_of(np.array([[1], [0]], np.int32), factor=1),
        ResourceLoads(of, of.copy(), nothing, nothing),
        Limits(upper, np.zeros(len(RESOURCES), np.bool_)),
        np.array([1, 0], np.int32),
        np.ones(2, np.bool_),
    )


def test_unequal_capacities_get_unequal_shares() -> None:
    """Of nine equal replicas, the broker with twice the disk of the other gets six."""
    rows = 9
    movement = movement_of(np.zeros((rows, 1), np.int32), factor=1)
    capacity = np.zeros((2, len(RESOURCES)), np.int64)
    capacity[:, 0] = (100, 200)
    loads = kafka_loads(
        ingress=np.full(rows, 1),
        reads=np.zeros(rows, np.int64),
        retained=np.full(rows, 10),
        factors=np.full(rows, 1),
        base=np.zeros((2, len(RESOURCES)), np.int64),
        capacity=capacity,
    )
    problem = ResourceProblem(movement, loads, Limits.none(2), np.zeros(rows, np.int32), np.ones(2, np.bool_))
    answer = reach_goals(problem, [[Goal("disk")]], never)
    assert answer.loads[:, 0].tolist() == [30, 60]
    assert answer.moved == 60
    assert answer.goal["disk"].largest.optimal


def test_consumers_of_a_rack_fetch_from_its_follower() -> None:
    """Half of the consumers are in each rack; the leader sends the ingress once, and serves its half."""
    loads = kafka_loads(
        ingress=np.array([100]),
        reads=np.array([300]),
        retained=np.array([1]),
        factors=np.array([2]),
        base=np.zeros((2, len(RESOURCES)), np.int64),
        capacity=np.zeros((2, len(RESOURCES)), np.int64),
        client_share=np.array([500_000, 500_000]),
    )
    of = loads_of(loads, np.array([0, 1], np.int32), np.array([[0, 1]], np.int32), np.array([0], np.int32))
    assert of[:, RESOURCES.index("nic_out")].tolist() == [250, 150]


def two_brokers(limit: int) -> ResourceProblem:
    """Two partitions on both of two brokers, led by the first: 100 bytes/s out each, and a limit of NIC out."""
    loads: ResourceLoads = kafka_loads(
        ingress=np.array([50, 50]),
        reads=np.array([50, 50]),
        retained=np.array([10, 10]),
        factors=np.array([2, 2]),
        base=np.zeros((2, len(RESOURCES)), np.int64),
        capacity=np.zeros((2, len(RESOURCES)), np.int64),
    )
    upper = np.full((2, len(RESOURCES)), NO_LIMIT, np.int64)
    upper[:, 2] = limit
    return ResourceProblem(
        movement_of(np.array([[0, 1], [0, 1]], np.int32), factor=2),
        loads,
        Limits(upper, np.zeros(len(RESOURCES), np.bool_)),
        np.zeros(2, np.int32),
        np.ones(2, np.bool_),
    )


def movement_of(current: np.ndarray[tuple[int, int], np.dtype[np.int32]], factor: int) -> MovementProblem:
    """Partitions of weight 10 on two brokers of one rack."""
    everywhere = np.ones(2, np.bool_)
    return MovementProblem(
        broker_ids=np.arange(2, dtype=np.int32),
        rack_of=np.zeros(2, np.int32),
        target=everywhere,
        base=np.zeros(2, np.int64),
        domains=(Domain(factor, everywhere, everywhere, np.zeros(1, np.int64), np.full(1, factor)),),
        domain_of=np.zeros(len(current), np.int32),
        current=current,
        is_copied=np.zeros(current.shape, np.bool_),
        must_keep=np.full(len(current), -1, np.int32),
        weight=np.full(len(current), 10, np.int64),
    )


def test_topics_alone_are_balanced() -> None:
    """No load is bounded, so that no price bounds the movement."""
    problem = cluster_of(Shape(brokers=8, racks=4, topics=6, replicas=300), limited=False)
    answer = reach_goals(problem, [[Goal(TOPIC_REPLICAS, Fraction(1, 10))]], lambda: False)
    assert resource_violations(problem, answer) == []
    assert answer.movement.lower_bound <= answer.moved


def test_many_brokers_of_one_rack_are_receivers_without_overflow() -> None:
    """The source runs as Python, which checks indices."""
    brokers, rows = 60, 120
    everywhere = np.ones(brokers, np.bool_)
    movement = MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=np.zeros(brokers, np.int32),
        target=everywhere,
        base=np.zeros(brokers, np.int64),
        domains=(Domain(1, everywhere, everywhere, np.zeros(1, np.int64), np.ones(1, np.int64)),),
        domain_of=np.zeros(rows, np.int32),
        current=np.zeros((rows, 1), np.int32),
        is_copied=np.zeros((rows, 1), np.bool_),
        must_keep=np.full(rows, -1, np.int32),
        weight=np.ones(rows, np.int64),
    )
    one = np.ones((rows, len(RESOURCES)), np.int64)
    nothing = np.zeros((brokers, len(RESOURCES)), np.int64)
    problem = ResourceProblem(
        movement, ResourceLoads(one, one, nothing, nothing), Limits.none(brokers), np.zeros(rows, np.int32), everywhere
    )
    rules = rules_of(problem)
    state = begun(problem, rules, movement.current, Bounds.none(problem), 1)
    with np.errstate(over="ignore"):  # a generator's product wraps around
        receivers = receivers_for(rules, state, 0)
    assert len(receivers) <= 2 * RECEIVERS + 4
    assert 0 <= receivers.min() <= receivers.max() < brokers
    answer = reach_goals(problem, [[Goal("replicas")]], never)
    assert answer.loads[:, 4].tolist() == [2] * brokers
    assert answer.moved == rows - 2
