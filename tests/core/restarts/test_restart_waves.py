"""Laws of restart waves: an oracle that tries all schedules of few brokers, and metamorphic laws of larger ones."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.core.model import NO_LEADER, NO_REPLICA, padded
from app.core.restarts import RestartProblem, outcomes_of, restart_waves, wave_violations
from app.core.restarts.model import NO_SLACK_LIMIT
from tests.profiles import costly


def problem_of(
    lists: Sequence[Sequence[int]],
    brokers: int,
    *,
    min_isr: int | Sequence[int] = 2,
    most: int = 10,
    racks: Sequence[int] | None = None,
    voters: Sequence[int] = (),
    slack: int = NO_SLACK_LIMIT,
    down: Sequence[int] = (),
) -> RestartProblem:
    """Partitions that the first of their in-sync replicas leads; `slack` is of each broker, in leaders."""
    in_sync = padded(lists) if any(lists) else np.full((len(lists), 1), NO_REPLICA, np.int32)
    is_up = np.ones(brokers, np.bool_)
    is_up[list(down)] = False
    return RestartProblem(
        is_up=is_up,
        in_sync=in_sync,
        min_isr=np.broadcast_to(np.asarray(min_isr, np.int64), len(lists)),
        leaders=in_sync[:, 0].copy(),
        group_of=np.zeros(brokers, np.int32) if racks is None else np.array(racks, np.int32),
        is_voter=np.isin(np.arange(brokers), voters),
        most_voters=max(1, (len(voters) - 1) // 2),
        most=most,
        gain=np.ones((len(lists), 1), np.int64),
        slack=np.full((brokers, 1), slack, np.int64),
    )


@st.composite
def problems(draw: st.DrawFn, most_brokers: int = 7) -> RestartProblem:
    """Some brokers are down; partitions are above, at and below their minimum; any in-sync replica leads, or none does;
    a new leader gets load of two resources, of which each broker may get some, or any amount.
    """
    brokers = draw(st.integers(1, most_brokers))
    ids = st.integers(0, brokers - 1)
    down = draw(st.sets(ids, max_size=min(2, brokers - 1)))
    up = st.sampled_from([broker for broker in range(brokers) if broker not in down])
    lists = draw(st.lists(st.lists(up, max_size=min(5, brokers - len(down)), unique=True), max_size=8))
    made = problem_of(
        lists,
        brokers,
        min_isr=draw(st.lists(st.integers(1, 4), min_size=len(lists), max_size=len(lists))),
        most=draw(st.integers(1, brokers)),
        racks=draw(st.one_of(st.none(), st.lists(st.integers(0, 2), min_size=brokers, max_size=brokers))),
        voters=draw(st.lists(ids, max_size=5, unique=True)),
        down=[*down],
    )
    leaders = [draw(st.sampled_from([*row, NO_LEADER])) for row in lists]
    slack = st.sampled_from([NO_SLACK_LIMIT, -1, 0, 1, 2, 5])
    of_all = draw(st.one_of(st.none(), slack))
    return replace(
        made,
        leaders=np.array(leaders, np.int32),
        gain=draw(arrays(np.int64, (len(lists), 2), elements=st.integers(0, 2))),
        slack=draw(arrays(np.int64, (brokers, 2), elements=slack if of_all is None else st.just(of_all))),
    )


def schedules(brokers: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every partition of the brokers into waves."""
    if not brokers:
        yield []
        return
    first, *others = brokers
    for schedule in schedules(others):
        yield [[first], *schedule]
        for place, wave in enumerate(schedule):
            yield [*schedule[:place], [first, *wave], *schedule[place + 1 :]]


def is_allowed(problem: RestartProblem, wave: Sequence[int]) -> bool:
    """The constraints of a wave as the docstring of `RestartProblem` states them, partition by partition."""
    if len(wave) > problem.most or len({int(problem.group_of[broker]) for broker in wave}) > 1:
        return False
    if sum(bool(problem.is_voter[broker]) for broker in wave) > problem.most_voters:
        return False
    for row, least in zip(problem.in_sync.tolist(), problem.min_isr.tolist(), strict=True):
        in_sync = [broker for broker in row if broker != NO_REPLICA]
        left = [broker for broker in in_sync if broker not in wave]
        if len(in_sync) - len(left) > 1 and (len(left) < least or not left):
            return False
    parts = (part for size in range(1, len(wave) + 1) for part in combinations(wave, size))
    return len(wave) == 1 or all(is_within_limits(problem, part) for part in parts)


def is_within_limits(problem: RestartProblem, down: Sequence[int]) -> bool:
    """Whether no broker that is up gets more than its slack."""
    gets = np.zeros_like(problem.slack)
    for row, leader, gain in zip(problem.in_sync.tolist(), problem.leaders, problem.gain, strict=True):
        left = [broker for broker in row if broker != NO_REPLICA and broker not in down]
        if leader in down and left:
            gets[left[0]] += gain
    return not ((gets > 0) & (gets > problem.slack)).any()


@costly(300)
@given(problems())
def test_waves_are_the_fewest_of_all_schedules_and_proven_so(problem: RestartProblem) -> None:
    """With seven brokers there are 877 schedules, each of which is looked at."""
    schedule = restart_waves(problem)
    brokers = np.flatnonzero(problem.is_up).tolist()
    fewest = min(len(waves) for waves in schedules(brokers) if all(is_allowed(problem, wave) for wave in waves))
    assert (len(schedule.waves), schedule.lower_bound) == (fewest, fewest)
    assert all(is_allowed(problem, wave) for wave in schedule.waves)
    assert not list(wave_violations(problem, schedule.waves))


@settings(deadline=None, max_examples=100)
@given(problems(), st.data())
def test_the_verifier_rejects_exactly_the_schedules_that_are_not_allowed(
    problem: RestartProblem, data: st.DataObject
) -> None:
    waves: dict[int, list[int]] = {}
    for broker in np.flatnonzero(problem.is_up).tolist():
        waves.setdefault(data.draw(st.integers(0, 3)), []).append(broker)
    listed = list(waves.values())
    assert (not list(wave_violations(problem, listed))) == all(is_allowed(problem, wave) for wave in listed)


@settings(deadline=None, max_examples=60)
@given(problems(12))
def test_larger_waves_and_fewer_partitions_never_need_more_waves(problem: RestartProblem) -> None:
    count = len(restart_waves(problem).waves)
    assert len(restart_waves(replace(problem, most=problem.most + 1)).waves) <= count
    if len(problem.in_sync) and (problem.slack == NO_SLACK_LIMIT).all():
        rows = slice(1, None)
        fewer = replace(
            problem,
            in_sync=problem.in_sync[rows],
            min_isr=problem.min_isr[rows],
            leaders=problem.leaders[rows],
            gain=problem.gain[rows],
        )
        assert len(restart_waves(fewer).waves) <= count


@settings(deadline=None, max_examples=60)
@given(problems(12), st.integers(0, 99))
def test_the_number_of_waves_does_not_depend_on_the_order_of_brokers(problem: RestartProblem, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(problem.is_up)).astype(np.int32)
    place = np.argsort(order)
    renumbered = replace(
        problem,
        in_sync=np.where(problem.in_sync == NO_REPLICA, NO_REPLICA, order[problem.in_sync]),
        leaders=np.where(problem.leaders == NO_LEADER, NO_LEADER, order[problem.leaders]).astype(np.int32),
        group_of=problem.group_of[place],
        is_voter=problem.is_voter[place],
        is_up=problem.is_up[place],
        slack=problem.slack[place],
    )
    assert len(restart_waves(renumbered).waves) == len(restart_waves(problem).waves)


def test_three_racks_of_twenty_brokers_are_restarted_in_six_waves_of_ten() -> None:
    """Kafka's placer puts the replicas of a partition into different racks, so that a rack excludes none of its own."""
    generator = np.random.default_rng(7)
    lists = [[int(rack * 20 + generator.integers(20)) for rack in generator.permutation(3)] for _ in range(20_000)]
    schedule = restart_waves(problem_of(lists, 60))
    assert (len(schedule.waves), schedule.lower_bound) == (6, 6)
    assert {bound.reason for bound in schedule.bounds} == {"size"}


def test_a_proof_names_brokers_that_exclude_each_other() -> None:
    schedule = restart_waves(problem_of([[0, 1, 2], [2, 3, 4], [0, 3, 1]], 6))
    (bound,) = schedule.bounds
    assert (bound.reason, bound.waves, len(schedule.waves)) == ("pairs", 4, 4)
    assert bound.brokers == (0, 1, 2, 3)


def test_an_odd_cycle_needs_a_search_for_its_proof() -> None:
    """Of five brokers in a ring no three exclude each other pairwise, and two waves are not enough."""
    schedule = restart_waves(problem_of([[place, (place + 1) % 5] for place in range(5)], 5, min_isr=1))
    assert [(bound.reason, bound.waves) for bound in schedule.bounds] == [("search", 3)]
    assert len(schedule.waves) == 3


def test_a_partition_with_slack_bounds_the_waves_by_its_brokers() -> None:
    schedule = restart_waves(problem_of([[0, 1, 2, 3, 4]], 5, min_isr=3))
    assert [(bound.reason, bound.waves, bound.row) for bound in schedule.bounds] == [("partition", 3, 0)]


def test_controllers_keep_their_quorum() -> None:
    """Of three controllers one at a time may be down, of five two."""
    three = restart_waves(problem_of([], 6, voters=[0, 1, 2]))
    five = restart_waves(problem_of([], 6, voters=[0, 1, 2, 3, 4]))
    assert (len(three.waves), len(five.waves)) == (3, 3)
    assert [bound.reason for bound in five.bounds] == ["controllers"]


def test_brokers_that_are_down_are_in_no_wave() -> None:
    assert restart_waves(problem_of([[0, 1]], 3, min_isr=1, down=[2])).waves == ((0,), (1,))


def test_a_broker_that_breaks_a_limit_by_itself_is_restarted_alone() -> None:
    """The two leaders of broker 0 are one too many for broker 1."""
    schedule = restart_waves(problem_of([[0, 1], [0, 1], [2, 3]], 4, min_isr=1, slack=1))
    assert schedule.alone == (0,)
    assert (0,) in schedule.waves
    assert not list(wave_violations(problem_of([[0, 1], [0, 1], [2, 3]], 4, min_isr=1, slack=1), schedule.waves))


def test_a_broker_that_is_still_up_is_within_its_limit_until_it_restarts_itself() -> None:
    """The leader of broker 0 would be one too many for broker 1. In one wave with it, broker 2 leads in the end."""
    problem = problem_of([[0, 1, 2], [1, 2, 0]], 3, min_isr=1)
    limited = replace(problem, slack=np.array([[9], [0], [9]]))
    assert len(restart_waves(problem).waves) == 2
    schedule = restart_waves(limited)
    assert (schedule.alone, len(schedule.waves), schedule.lower_bound) == ((0,), 2, 2)
    assert (0,) in schedule.waves
    assert list(wave_violations(limited, [(0, 1), (2,)])) == ["a broker is above a limit in wave 0"]


def test_limits_keep_brokers_apart_whose_leaders_meet_on_one_broker() -> None:
    lists = [[0, 2], [1, 2]]
    assert len(restart_waves(problem_of(lists, 3, min_isr=1)).waves) == 2
    limited = restart_waves(problem_of(lists, 3, min_isr=1, slack=1))
    assert (len(limited.waves), limited.lower_bound) == (3, 3)


def test_outcomes_count_each_wave() -> None:
    problem = problem_of([[0, 1, 2], [1, 2], [0]], 3)
    outcomes = outcomes_of(problem, [(0,), (1,), (2,)])
    # The second partition is at its minimum of two; the third is below it already.
    assert outcomes.unwritable.tolist() == [0, 1, 1]
    assert outcomes.leaders_moved.tolist() == [1, 1, 0]
    assert outcomes.added[:, :, 0].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("racks", [3, 0])
def test_schedules_are_deterministic(racks: int) -> None:
    generator = np.random.default_rng(3)
    lists = [generator.choice(40, 3, replace=False).tolist() for _ in range(300)]
    problem = problem_of(lists, 40, racks=[place % racks for place in range(40)] if racks else None)
    assert restart_waves(problem) == restart_waves(problem)
