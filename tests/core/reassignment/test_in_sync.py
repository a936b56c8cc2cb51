"""Replicas in sync are kept before others at equal movement: laws beside every legal placement."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from app.core.flow import InfeasibleFlow
from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.goals.balancing import reach_goals
from app.core.reassignment.goals.by_load import place_by_load
from app.core.reassignment.model import KEEP, TIGHT, Balance, MovementProblem
from app.core.reassignment.resource_problem import RESOURCES, Goal, Limits, ResourceLoads, ResourceProblem
from app.core.reassignment.solvers.flow.least_movement import least_movement
from app.core.reassignment.solvers.flow.per_topic import TopicBalance, balance_topics
from app.core.reassignment.solvers.flow.places import LAST_IN_SYNC
from app.core.reassignment.solvers.leaders.choosing import choose_leaders
from app.core.reassignment.solvers.leaders.problem import LeaderProblem, leader_violations
from app.core.reassignment.verifier import placement_violations, resource_violations
from tests import draws as st
from tests.core.reassignment.small_problems import current_brokers, is_moved, legal_sets
from tests.core.reassignment.small_problems import problems as load_problems
from tests.core.reassignment.test_least_movement import problem_of
from tests.profiles import costly

Place = tuple[int, ...]
BALANCES = [KEEP, TIGHT, Balance(Fraction(1, 2))]


@st.composite
def problems(draw: st.DrawFn) -> tuple[MovementProblem, Int64s, Int64s]:
    """Small problems in which some current brokers are out of sync."""
    problem, load, base = draw(load_problems())
    flags = st.lists(st.booleans(), min_size=problem.current.size, max_size=problem.current.size)
    in_sync = np.array(draw(flags), np.bool_).reshape(problem.current.shape)
    return replace(problem, in_sync=in_sync & (problem.current != NO_REPLICA) & ~problem.is_copied), load, base


def _in_sync(problem: MovementProblem, row: int) -> set[int]:
    assert problem.in_sync is not None
    return set(problem.current[row, problem.in_sync[row]].tolist())


def _cost(problem: MovementProblem, row: int, place: Place) -> tuple[int, int, int]:
    """The weight moved, twice the replicas with half for successors, and the replicas in sync that are not kept."""
    current, in_sync = current_brokers(problem, row), _in_sync(problem, row)
    moved = sum(is_moved(problem, row, broker) for broker in place) if current else 0
    ties = sum(1 if broker in current else 2 for broker in place if is_moved(problem, row, broker)) if current else 0
    lost = len(in_sync - set(place)) * (LAST_IN_SYNC if len(in_sync) == 1 else 1)
    return moved * int(problem.weight[row]), ties, lost


def _places(problem: MovementProblem) -> list[list[Place]]:
    return [
        list(legal_sets(problem.domains[domain], problem.rack_of, current_brokers(problem, row), int(must)))
        for row, (domain, must) in enumerate(zip(problem.domain_of, problem.must_keep, strict=True))
    ]


def _sum(problem: MovementProblem, placement: tuple[Place, ...]) -> tuple[int, ...]:
    costs = [_cost(problem, row, place) for row, place in enumerate(placement)]
    return tuple(int(total) for total in np.sum(costs, axis=0))


def _chosen(replicas: Int32s) -> tuple[Place, ...]:
    return tuple(tuple(broker for broker in row if broker != NO_REPLICA) for row in replicas.tolist())


@costly(300)
@given(problems(), st.sampled_from(BALANCES))
def test_the_least_movement_keeps_most_replicas_in_sync(
    case: tuple[MovementProblem, Int64s, Int64s], balance: Balance
) -> None:
    """The least weight, then the fewest replicas, then the fewest replicas in sync that are not kept, exactly."""
    problem = case[0]
    try:
        found = least_movement(problem, balance)
    except InfeasibleFlow:
        return
    possible = _places(problem)
    if balance is KEEP:
        # Partitions are independent; the fewest replicas move, whatever they weigh.
        for row, place in enumerate(_chosen(found.replicas)):
            if place == tuple(current_brokers(problem, row)):
                continue
            assert _cost(problem, row, place)[1:] == min(_cost(problem, row, other)[1:] for other in possible[row])
        return
    assert found.band is not None
    within = []
    for placement in product(*possible):
        counts = problem.base + np.bincount([b for place in placement for b in place], minlength=len(problem.base))
        if ((counts >= found.band.low) & (counts <= found.band.high))[problem.target].all():
            within.append(placement)
    assert _sum(problem, _chosen(found.replicas)) == min(_sum(problem, each) for each in within)


@costly(150)
@given(problems())
def test_balanced_topics_keep_most_replicas_in_sync(case: tuple[MovementProblem, Int64s, Int64s]) -> None:
    problem = case[0]
    topics = TopicBalance(np.arange(len(problem.current)) % 2, 2, [Fraction(0), None])
    try:
        found = balance_topics(problem, KEEP, topics)
    except InfeasibleFlow:
        return
    least = min(
        (
            topics.excess(problem, np.array(_padded(placement, found.replicas.shape[1]), np.int32)),
            *_sum(problem, placement),
        )
        for placement in product(*_places(problem))
    )
    assert (found.topic_excess, *_sum(problem, _chosen(found.replicas))) == least


def _padded(placement: tuple[Place, ...], width: int) -> list[list[int]]:
    return [[*place, *[NO_REPLICA] * (width - len(place))] for place in placement]


@costly(150)
@given(problems(), st.sampled_from(BALANCES))
def test_a_balance_of_loads_keeps_replicas_in_sync(
    case: tuple[MovementProblem, Int64s, Int64s], balance: Balance
) -> None:
    """No replica out of sync stays for one in sync that could stay instead, within racks and the band."""
    problem, load, base = case
    try:
        found = place_by_load(problem, load, base, balance, lambda: False)
    except InfeasibleFlow:
        return
    band, chosen, possible = found.placement.band, _chosen(found.placement.replicas), _places(problem)
    loads = base + sum(np.bincount(place, minlength=len(base)) * load[row] for row, place in enumerate(chosen))
    for row, place in enumerate(chosen):
        for other in possible[row]:
            if len(set(other) - set(place)) != 1 or _cost(problem, row, other) >= _cost(problem, row, place):
                continue
            if _cost(problem, row, other)[:2] != _cost(problem, row, place)[:2] or set(other) - set(
                current_brokers(problem, row)
            ) != set(place) - set(current_brokers(problem, row)):
                continue
            after = loads.copy()
            after[list(place)] -= load[row]
            after[list(other)] += load[row]
            assert band is not None
            assert ((after < band.low) | (after > band.high))[problem.target].any()


@pytest.mark.parametrize("place", [0, 1])
def test_a_partition_with_other_replicas_in_sync_moves_instead(place: int) -> None:
    """One of two equal partitions leaves broker 0: not the one whose other replica is dead, in any order."""
    lists, in_sync = [[0, 1], [0, 3]], [[True, True], [True, False]]
    moved = [[2, 1], [0, 3]]
    if place:
        lists, in_sync, moved = lists[::-1], in_sync[::-1], moved[::-1]
    live = np.array([True, True, True, False])
    problem = problem_of(lists, [0] * 4, weight=[5, 5])
    domains = tuple(replace(domain, may_receive=live) for domain in problem.domains)
    problem = replace(problem, target=live, domains=domains, in_sync=np.array(in_sync))
    by_count = least_movement(problem, TIGHT)
    by_load = place_by_load(problem, problem.weight, np.array([0, 3, 0, 0]), TIGHT, lambda: False).placement
    nothing = np.zeros((4, len(RESOURCES)), np.int64)
    load = np.zeros((2, len(RESOURCES)), np.int64)
    load[:, 0] = 5
    base = nothing.copy()
    base[1, 0] = 3
    resources = ResourceProblem(
        movement=problem,
        loads=ResourceLoads(load, load, base, nothing),
        limits=Limits.none(4),
        leader=np.zeros(2, np.int32),
        may_lead=np.ones(4, np.bool_),
        is_ready=np.array(in_sync),
    )
    by_disk = reach_goals(resources, [[Goal("disk")]], lambda: False)
    assert not resource_violations(resources, by_disk)
    for replicas in (by_count.replicas, by_load.replicas, by_disk.replicas):
        assert [sorted(row) for row in replicas.tolist()] == [sorted(row) for row in moved]


@pytest.mark.parametrize("balance", BALANCES)
def test_the_verifier_misses_a_lost_source(balance: Balance) -> None:
    """Of two replicas one has to go: the one out of sync, and the verifier names the opposite."""
    problem = replace(problem_of([[0, 1]], [0, 0], factor=1), in_sync=np.array([[False, True]]))
    found = least_movement(problem, balance)
    assert found.replicas.tolist() == [[1]]
    assert not placement_violations(problem, found)
    topics = TopicBalance(np.zeros(1, np.int64), 1, [None])
    assert balance_topics(problem, balance, topics).replicas.tolist() == [[1]]
    worse = replace(found, replicas=np.array([[0]], np.int32))
    assert placement_violations(problem, worse) == ["partition 0, [0]: no replica in sync stays, and none is added"]


def test_replicas_that_are_ready_lead() -> None:
    """Broker 0 is out of sync, and broker 1 may not lead: it leads where nothing else is in sync."""
    problem = LeaderProblem(
        replicas=np.array([[0, 1], [0, 1], [0, 2]], np.int32),
        leader=np.array([0, 1, 0], np.int32),
        may_change=np.zeros(3, np.bool_),
        may_lead=np.array([True, False, True]),
        is_new=np.zeros((3, 2), np.bool_),
        target=np.array([True, False, True]),
        base=np.zeros(3, np.int64),
        weight=np.ones(3, np.int64),
        is_ready=np.array([[False, True], [False, True], [False, True]]),
    )
    for balance in (KEEP, TIGHT):
        choice = choose_leaders(problem, balance)
        assert choice.leaders.tolist() == [1, 1, 2]
        assert choice.certificate.value == choice.certificate.lower_bound == 2
        assert not leader_violations(problem, choice, balance)
