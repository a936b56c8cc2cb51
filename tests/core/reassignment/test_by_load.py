"""Replicas balanced by load: legal, within the bounds that a search through all placements confirms."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given

from app.core.flow import InfeasibleFlow
from app.core.model import NO_REPLICA, Int64s
from app.core.reassignment.bounds.heavy_bound import heavy_movement_bound
from app.core.reassignment.goals import balancing, by_load
from app.core.reassignment.goals.by_load import LoadPlacement, place_by_load
from app.core.reassignment.model import KEEP, NO_LIMIT, TIGHT, Balance, Band, Domain, MovementProblem
from app.core.reassignment.rules import load_rules
from app.core.reassignment.verifier import placement_violations
from app.errors.requests import LimitExceeded
from tests import draws as st
from tests.core.reassignment.small_problems import (
    current_brokers,
    is_moved,
    large_problems,
    legal_sets,
    moved_weight,
    placements,
    problems,
    target_loads,
)
from tests.profiles import costly, examples

BALANCES = st.sampled_from([KEEP, TIGHT, Balance(Fraction(1, 20)), Balance(Fraction(1, 2))])
Case = tuple[MovementProblem, Int64s, Int64s]


def _without_a_rack() -> Case:
    """A heavy partition with a current replica in a rack that no longer may have one; one of the brokers leaves."""
    domain, other = (
        Domain(1, np.array(may_keep), np.array(may_receive), least=np.zeros(3, np.int64), most=np.array(most))
        for may_keep, may_receive, most in [
            ([True, True, True, False], [True, True, False, False], [1, 0, 0]),
            ([True, False, False, True], [True, False, False, True], [1, 0, 1]),
        ]
    )
    problem = MovementProblem(
        broker_ids=np.arange(4, dtype=np.int32),
        rack_of=np.array([0, 0, 1, 2], np.int32),
        target=np.array([True, False, True, True]),
        base=np.zeros(4, np.int64),
        domains=(domain, other),
        domain_of=np.zeros(4, np.int32),
        current=np.array([[0, -1, -1], [0, 2, 3], [0, 2, 1], [2, 0, -1]], np.int32),
        is_copied=np.zeros((4, 3), np.bool_),
        must_keep=np.full(4, NO_REPLICA, np.int32),
        weight=np.array([0, 2, 0, 2]),
        share=None,
    )
    return problem, np.array([0, 5, 0, 1]), np.array([5, 0, 0, 0])


def place(case: Case, balance: Balance, *, is_over: bool = False) -> LoadPlacement:
    """The placement of the search, also of problems that are small."""
    problem, load, base_load = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(balancing, "exact_answer", lambda _, __, start, *___: (None, start))
        patch.setattr(by_load, "is_small_band", lambda _: False)
        return place_by_load(problem, load, base_load, balance, lambda: is_over)


def rows_of(placed: LoadPlacement) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(broker for broker in row if broker != NO_REPLICA) for row in placed.placement.replicas.tolist())


@costly(150)
@given(problems(), BALANCES)
def test_every_placement_is_legal_and_its_figures_are_its_own(case: Case, balance: Balance) -> None:
    """Figures beside the placement equal counts in it."""
    problem, load, base_load = case
    placed = place(case, balance)
    rows = rows_of(placed)
    # The verifier counts replicas; the band here is one of loads.
    assert placement_violations(problem, replace(placed.placement, band=None)) == []
    loads = target_loads(problem, load, base_load, rows)
    assert placed.placement.moved == moved_weight(problem, rows)
    assert placed.largest.value == max(loads, default=0)
    band = placed.placement.band
    assert band is None or not loads or band.low <= min(loads) <= max(loads) <= band.high


@pytest.mark.long
@examples(150)
@given(problems(), BALANCES)
@example(_without_a_rack(), TIGHT)
def test_bounds_are_below_the_best_and_the_best_below_what_was_found(case: Case, balance: Balance) -> None:
    """A bound that some placement beats would be a false proof: every placement is tried."""
    problem, load, base_load = case
    placed = place(case, balance)
    band, fewest, least, lowest = placed.placement.band, None, None, None
    for placement in placements(problem):
        loads = target_loads(problem, load, base_load, placement)
        moved = moved_weight(problem, placement)
        replicas = forced_replicas(problem, placement)
        fewest = min(replicas, replicas if fewest is None else fewest)
        largest = max(loads, default=0)
        if band is None:
            lowest = min((replicas, largest), lowest or (replicas, largest))
        else:
            lowest = min((0, largest), lowest or (0, largest))
        if band is None or all(band.low <= amount <= band.high for amount in loads):
            least = moved if least is None else min(least, moved)
    assert least is not None
    assert lowest is not None
    assert placed.placement.certificate.lower_bound <= least <= placed.placement.moved
    assert placed.largest.lower_bound <= lowest[1] <= placed.largest.value


@examples(150)
@given(st.one_of(problems(), large_problems()), st.data())
def test_the_bound_of_heavy_replicas_holds_for_every_placement(case: Case, data: st.DataObject) -> None:
    """Of those with all target brokers below the ceiling, whether or not a search finds one."""
    problem, load, base_load = case
    largest = [max(target_loads(problem, load, base_load, each), default=0) for each in placements(problem)]
    ceiling = data.draw(st.sampled_from(largest)) + data.draw(st.integers(0, 3))
    bound = heavy_movement_bound(load_rules(problem, load), base_load, np.where(problem.target, ceiling, NO_LIMIT))
    for placement in placements(problem):
        if max(target_loads(problem, load, base_load, placement), default=0) <= ceiling:
            assert bound <= moved_weight(problem, placement)


@pytest.mark.parametrize("seed", [11, pytest.param(17, marks=pytest.mark.long)])
def test_what_was_placed_stays(seed: int) -> None:
    """Of a few heavy partitions, whose floor is out of reach: what raises it by a trifle is no reason to move again."""
    rng, every, two = np.random.default_rng(seed), np.ones(12, bool), np.full(1, 2, np.int64)
    problem = MovementProblem(
        broker_ids=np.arange(12, dtype=np.int32),
        rack_of=np.zeros(12, np.int32),
        target=every,
        base=np.zeros(12, np.int64),
        domains=(Domain(2, every, every, two, two),),
        domain_of=np.zeros(60, np.int32),
        weight=(1_000 * rng.pareto(1, 60)).astype(np.int64) + 1,
        current=np.array([rng.permutation(12)[:2] for _ in range(60)], np.int32),
        is_copied=np.zeros((60, 2), bool),
        must_keep=np.full(60, -1, np.int32),
    )
    balance = Balance(Fraction(1, 20))
    placed = place((problem, problem.weight, problem.base), balance).placement
    again = place((replace(problem, current=placed.replicas), problem.weight, problem.base), balance).placement
    assert placed.moved > 0
    assert again.moved == 0


def test_a_replica_as_large_as_the_ceiling_is_alone() -> None:
    """Its broker sheds the load above the ceiling with it; the other one would have to shed as much, and receive it."""
    both, one, size_bytes = np.ones(2, bool), np.ones(1, np.int64), np.array([9, 3, 2, 4, 2])
    problem = MovementProblem(
        broker_ids=np.arange(2, dtype=np.int32),
        rack_of=np.zeros(2, np.int32),
        target=both,
        base=np.zeros(2, np.int64),
        domains=(Domain(1, both, both, one, one),),
        domain_of=np.zeros(5, np.int32),
        current=np.array([[0], [0], [0], [1], [1]], np.int32),
        is_copied=np.zeros((5, 1), bool),
        must_keep=np.full(5, -1, np.int32),
        weight=size_bytes,
    )
    for ceiling, least in ((11, 3), (9, 5)):
        assert (
            heavy_movement_bound(load_rules(problem, size_bytes), np.zeros(2, np.int64), np.full(2, ceiling)) == least
        )


def forced_replicas(problem: MovementProblem, placement: tuple[tuple[int, ...], ...]) -> int:
    """How many replicas are copied of partitions that are on a broker now."""
    return sum(
        is_moved(problem, row, broker)
        for row, chosen in enumerate(placement)
        for broker in chosen
        if current_brokers(problem, row)
    )


@examples(100)
@given(problems())
def test_keep_moves_exactly_what_is_forced(case: Case) -> None:
    """Partition by partition: no legal set of it copies fewer replicas, however light they are."""
    problem, _, _ = case
    placed = place(case, KEEP)
    for row, chosen in enumerate(rows_of(placed)):
        domain = problem.domains[problem.domain_of[row]]
        sets = legal_sets(domain, problem.rack_of, current_brokers(problem, row), int(problem.must_keep[row]))
        fewest = min(sum(is_moved(problem, row, broker) for broker in legal) for legal in sets)
        assert sum(is_moved(problem, row, broker) for broker in chosen) == fewest
    assert placed.placement.certificate.optimal


@examples(50)
@given(problems(), BALANCES)
def test_replicas_kept_in_place_retain_their_position(case: Case, balance: Balance) -> None:
    """A replica kept in place changes its column only if the factor has become smaller; new ones ascend."""
    problem, _, _ = case
    for row, chosen in enumerate(rows_of(place(case, balance))):
        current = current_brokers(problem, row)
        unmoved = [broker for broker in chosen if broker in current]
        assert unmoved == [broker for broker in current if broker in chosen]
        newcomers = [broker for broker in chosen if broker not in current]
        assert newcomers == sorted(newcomers)
        if len(current) <= len(chosen):
            assert all(chosen.index(broker) == current.index(broker) for broker in unmoved)


@examples(50)
@given(problems(), BALANCES)
def test_the_same_problem_has_the_same_answer(case: Case, balance: Balance) -> None:
    """Nothing is random and every order is defined."""
    first, second = place(case, balance), place(case, balance)
    np.testing.assert_array_equal(first.placement.replicas, second.placement.replicas)
    assert (first.placement.certificate.lower_bound, first.largest.lower_bound) == (
        second.placement.certificate.lower_bound,
        second.largest.lower_bound,
    )


@examples(50)
@given(problems(), BALANCES)
def test_an_answer_in_no_time_is_legal_and_bounded(case: Case, balance: Balance) -> None:
    """At the deadline there is a placement, and its bounds hold, however far it is from good."""
    problem, _, _ = case
    placed = place(case, balance, is_over=True)
    assert placed.placement.moved == moved_weight(problem, rows_of(placed))
    assert placed.placement.certificate.lower_bound <= placed.placement.moved
    assert placed.largest.lower_bound <= placed.largest.value


def cluster(current: list[list[int]], racks: list[int], gone: tuple[int, ...] = (), factor: int = 1) -> MovementProblem:
    """Partitions of weight 1 on brokers in racks, from which some brokers are removed; one replica a rack at most."""
    stays = np.array([broker not in gone for broker in range(len(racks))])
    count = max(racks) + 1
    domain = Domain(factor, stays, stays, np.zeros(count, np.int64), np.full(count, factor, np.int64))
    return MovementProblem(
        np.arange(len(racks), dtype=np.int32),
        np.array(racks, np.int32),
        stays,
        np.zeros(len(racks), np.int64),
        (domain,),
        np.zeros(len(current), np.int32),
        np.array(current, np.int32),
        np.zeros((len(current), len(current[0])), np.bool_),
        np.full(len(current), NO_REPLICA, np.int32),
        np.ones(len(current), np.int64),
    )


def weighted(problem: MovementProblem, load: Sequence[float]) -> Case:
    """The problem with bytes that are both the cost of a move and the load of a replica."""
    heavy = np.array(load, np.int64)
    return replace(problem, weight=heavy), heavy, np.zeros(len(problem.broker_ids), np.int64)


def test_the_heaviest_homeless_replica_goes_to_the_emptiest_broker() -> None:
    """Broker 2 leaves 5, 4 and 3 behind; 0 has 6 and 1 has 2: 5 → 1 (7), 4 → 0 (10), 3 → 1 (10)."""
    placed = place(weighted(cluster([[0], [1], [2], [2], [2]], [0, 0, 0], gone=(2,)), [6, 2, 3, 4, 5]), KEEP)
    assert placed.placement.replicas.tolist() == [[0], [1], [1], [0], [1]]
    assert (placed.placement.moved, placed.largest.value, placed.largest.lower_bound) == (12, 10, 10)


def test_tight_gives_exactly_the_surplus_where_a_replica_fits_it() -> None:
    """Twelve bytes on broker 0 and none on the new broker 1: of 1 + 2 + 3 + 6 the six alone even it out."""
    placed = place(weighted(cluster([[0], [0], [0], [0]], [0, 0]), [1, 2, 3, 6]), TIGHT)
    assert (
        placed.largest.value,
        placed.largest.lower_bound,
        placed.placement.moved,
        placed.placement.certificate.lower_bound,
    ) == (6, 6, 6, 6)
    assert placed.placement.certificate.optimal


def test_two_of_the_heaviest_have_to_be_together() -> None:
    """Three replicas of seven on two brokers: cut to pieces they come to 11, whole to 14, which is said to be best."""
    placed = place(weighted(cluster([[0], [0], [0]], [0, 0]), [7, 7, 7]), TIGHT)
    assert (placed.largest.value, placed.largest.lower_bound, placed.largest.gap) == (14, 14, 0.0)
    assert placed.placement.moved == 7


def test_a_tolerance_lets_more_stay() -> None:
    """Ten replicas of one byte on broker 0, none on 1: the mean is 5; half of it less is 2.5, half more 7.5."""
    placed = place(weighted(cluster([[0]] * 10, [0, 0]), [1] * 10), Balance(Fraction(1, 2)))
    assert placed.placement.band == Band(3, 7)
    assert (placed.placement.moved, placed.placement.certificate.lower_bound, placed.largest.value) == (3, 3, 7)


def test_what_is_light_to_move_moves_and_not_what_is_heavy() -> None:
    """Throughput 4 leaves broker 0: two replicas of 2 that weigh 1 each, and not the one of 4 that weighs 9."""
    problem, _, base_load = weighted(cluster([[0], [0], [0]], [0, 0]), [9, 1, 1])
    placed = place((problem, np.array([4, 2, 2], np.int64), base_load), TIGHT)
    assert placed.placement.replicas.tolist() == [[0], [1], [1]]
    assert (placed.placement.moved, placed.placement.certificate.lower_bound, placed.largest.value) == (2, 2, 4)


def test_a_partition_that_fits_nowhere_is_said() -> None:
    """Two replicas on one broker that may take any."""
    with pytest.raises(InfeasibleFlow):
        place(weighted(cluster([[0, 1]], [0, 0], gone=(1,), factor=2), [1]), TIGHT)


@pytest.mark.parametrize("balance", [KEEP, TIGHT, Balance(Fraction(1, 20))])
def test_no_partitions_are_placed_at_once(balance: Balance) -> None:
    """Other partitions' loads are then all that there is."""
    problem = replace(
        cluster([[0]], [0, 0]), domains=(), domain_of=np.zeros(0, np.int32), must_keep=np.zeros(0, np.int32)
    )
    problem = replace(
        problem, current=problem.current[:0], is_copied=problem.is_copied[:0], weight=np.zeros(0, np.int64)
    )
    placed = place((problem, np.zeros(0, np.int64), np.array([3, 5], np.int64)), balance)
    assert (placed.largest.value, placed.largest.lower_bound, placed.placement.moved) == (5, 5, 0)


def test_loads_beyond_64_bits_are_rejected() -> None:
    """Their sums could not be exact."""
    with pytest.raises(LimitExceeded, match="loads of all replicas"):
        place(weighted(cluster([[0], [0]], [0, 0]), [1 << 60, 1 << 60]), TIGHT)


@costly(20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([TIGHT, Balance(Fraction(1, 20))]))
@example(0, TIGHT)
def test_many_partitions_come_near_their_bounds(seed: int, balance: Balance) -> None:
    """With 100 replicas a broker, rounding loses little: two brokers of twelve leave, bytes are uniform 1 … 1000."""
    random = np.random.default_rng(seed)
    current = np.stack([random.integers(0, 4, 400) * 3 + rack for rack in range(3)], axis=1)
    problem = cluster(current.tolist(), [0, 1, 2] * 4, gone=(0, 4), factor=3)
    problem.domains[0].most[:] = 1
    placed = place(weighted(problem, random.integers(1, 1001, 400).tolist()), balance)
    assert placed.placement.certificate.gap < (0.01 if balance is TIGHT else 0.03)
    above = placed.largest.value - placed.largest.lower_bound
    assert above / placed.largest.lower_bound < (0.01 if balance is TIGHT else 0.06)
