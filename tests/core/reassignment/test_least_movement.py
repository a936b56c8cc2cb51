"""The least movement: laws over small random clusters beside every legal placement there is, then worked examples."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from app.core.certificate import Certificate
from app.core.flow import InfeasibleFlow
from app.core.model import NO_REPLICA, Int32s
from app.core.reassignment.bounds.bands import narrowest_band
from app.core.reassignment.domains import NoLegalPlacement, PartitionKind, RackRule, find_domains
from app.core.reassignment.model import KEEP, TIGHT, Balance, Band, Domain, MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow import network, within_band
from app.core.reassignment.solvers.flow.least_movement import (
    BudgetTooSmall,
    least_movement,
    movement_within,
    trade_off,
    within_budget,
)
from app.core.reassignment.solvers.flow.places import counts
from app.core.reassignment.verifier import placement_violations
from tests import draws as st
from tests.profiles import costly, examples


def problem_of(
    current: list[list[int]],
    racks: list[int],
    *,
    removed: tuple[int, ...] = (),
    factor: int | None = None,
    weight: list[int] | None = None,
    rule: RackRule | None = None,
    repairs: bool = True,
) -> MovementProblem:
    """A problem as most callers have it: one factor, some brokers removed, all others may receive."""
    width = max(map(len, current), default=0)
    rows = np.array([row + [NO_REPLICA] * (width - len(row)) for row in current], np.int32).reshape(len(current), width)
    rack_of = np.array(racks, np.int32)
    stays = np.array([broker not in removed for broker in range(len(racks))])
    kinds = [PartitionKind(width if factor is None else factor, stays, stays, repairs)]
    rule = RackRule(len(set(racks))) if rule is None else rule
    domains, domain_of = find_domains(kinds, np.zeros(len(current), np.int32), rows, rack_of, rule)
    return MovementProblem(
        broker_ids=np.arange(len(racks), dtype=np.int32),
        rack_of=rack_of,
        target=stays,
        base=np.zeros(len(racks), np.int64),
        domains=domains,
        domain_of=domain_of,
        current=rows,
        is_copied=np.zeros(rows.shape, np.bool_),
        must_keep=np.full(len(current), NO_REPLICA, np.int32),
        weight=np.array(weight or [1] * len(current), np.int64),
    )


@st.composite
def problems(draw: st.DrawFn, *, all_targets: bool = False) -> MovementProblem:
    """Small problems of every kind: brokers that only keep, two factors, successors, pinned replicas, a base.

    Each has a legal placement: enough brokers receive for the factors, and the rule asks for no more than their racks
    can give. With `all_targets` every broker receives partitions of one of the two kinds.
    """
    brokers, partitions = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    numbered = np.unique(draw(st.lists(st.integers(0, 2), min_size=brokers, max_size=brokers)), return_inverse=True)
    rack_of = numbered[1].astype(np.int32)
    kinds = [draw(_kinds(brokers))]
    kinds.append(draw(_kinds(brokers, least=~kinds[0].may_receive if all_targets else None)))
    current = np.full((partitions, 3), NO_REPLICA, np.int32)
    copied = np.zeros((partitions, 3), np.bool_)
    for row in range(partitions):
        here = draw(st.permutations(range(brokers)))[: draw(st.integers(0, min(3, brokers)))]
        current[row, : len(here)] = here
        copied[row, : len(here)] = draw(st.lists(st.sampled_from([0, 0, 0, 1]), min_size=len(here), max_size=len(here)))
    rule = draw(_rules(kinds, rack_of))
    kind_of = np.array(draw(st.lists(st.integers(0, 1), min_size=partitions, max_size=partitions)), np.int32)
    domains, domain_of = find_domains(kinds, kind_of, current, rack_of, rule)
    heavy = draw(st.sampled_from([1, 1, 10**12]))  # too heavy for replicas to count in the same number
    weights = draw(st.lists(st.integers(0, 5), min_size=len(current), max_size=len(current)))
    base = draw(st.lists(st.integers(0, 2), min_size=brokers, max_size=brokers))
    lowered = [
        _leader_to_keep(domains[domain_of[row]], current[row], copied[row], rack_of) for row in range(len(current))
    ]
    return MovementProblem(
        broker_ids=np.arange(brokers, dtype=np.int32),
        rack_of=rack_of,
        target=kinds[0].may_receive | kinds[1].may_receive,
        base=np.array(base, np.int64),
        domains=domains,
        domain_of=domain_of,
        current=current,
        is_copied=copied,
        must_keep=np.array(lowered, np.int32),
        weight=np.array(weights, np.int64) * heavy,
    )


@st.composite
def _kinds(draw: st.DrawFn, brokers: int, *, least: NDArray[np.bool_] | None = None) -> PartitionKind:
    """At least `least` receive, and as many as the factor; those and some others may keep."""
    order = draw(st.permutations(range(brokers)))
    factor = draw(st.integers(1, min(3, brokers)))
    receiving = np.isin(np.arange(brokers), order[: draw(st.integers(factor, brokers))])
    if least is not None:
        receiving |= least
    return PartitionKind(factor, receiving | (draw(st.integers(0, 3)) == 0), receiving, repairs=draw(st.booleans()))


@st.composite
def _rules(draw: st.DrawFn, kinds: Sequence[PartitionKind], rack_of: Int32s) -> RackRule:
    """A rule that the receiving brokers of each kind can keep."""
    racks = int(rack_of.max()) + 1
    known = draw(st.sampled_from([None, max(racks - 1, 1)]))
    sizes = [np.bincount(rack_of[kind.may_receive], minlength=racks) for kind in kinds]
    spanned = min(int(np.count_nonzero(size)) for size in sizes)
    most = [
        limit
        for limit in (1, 2)
        if all(np.minimum(size[:known], limit).sum() >= kind.factor for kind, size in zip(kinds, sizes, strict=True))
    ]
    return RackRule(draw(st.integers(1, spanned)), draw(st.sampled_from([None, *most])), known=known)


def _leader_to_keep(domain: Domain, current: np.ndarray, copied: np.ndarray, rack_of: np.ndarray) -> int:
    leader = int(current[0])
    is_lowered = domain.factor < np.count_nonzero(current != NO_REPLICA)
    keeps = is_lowered and domain.may_keep[leader] and not copied[0] and domain.most[rack_of[leader]] > 0
    return leader if keeps else NO_REPLICA


def legal_places(problem: MovementProblem, row: int) -> list[tuple[int, int, tuple[int, ...]]]:
    """Every legal place of a partition: the weight moved, ties (2 a replica that moves, 1 to a successor), brokers."""
    domain = problem.domains[problem.domain_of[row]]
    current = [broker for broker in problem.current[row].tolist() if broker != NO_REPLICA]
    usable = [
        broker
        for broker in range(len(problem.broker_ids))
        if domain.may_receive[broker] or (broker in current and domain.may_keep[broker])
    ]
    found = []
    for place in combinations(usable, domain.factor):
        in_racks = np.bincount(problem.rack_of[list(place)], minlength=problem.racks)
        must = int(problem.must_keep[row])
        if (
            (in_racks < domain.least).any()
            or (in_racks > domain.most).any()
            or (must != NO_REPLICA and must not in place)
        ):
            continue
        new = len([broker for broker in place if broker not in current]) if current else 0
        copied = len([b for b in place if b in current and problem.is_copied[row, current.index(b)]])
        found.append((int(problem.weight[row]) * (new + copied), 2 * new + copied, place))
    return found


Whole = tuple[int, int, tuple[int, ...], tuple[tuple[int, ...], ...]]


def all_placements(problem: MovementProblem) -> Iterator[Whole]:
    """Every legal placement: weight, ties, the counts of target brokers, and the places."""
    for choice in product(*(legal_places(problem, row) for row in range(len(problem.current)))):
        places = tuple(place for _, _, place in choice)
        on_each = problem.base + np.bincount([b for place in places for b in place], minlength=len(problem.base))
        yield sum(c[0] for c in choice), sum(c[1] for c in choice), tuple(on_each[problem.target].tolist()), places


def within(band: Band, placements: list[Whole]) -> list[Whole]:
    return [p for p in placements if not p[2] or (min(p[2]) >= band.low and max(p[2]) <= band.high)]


def the_one(placed: ReplicaPlacement, placements: list[Whole]) -> Whole:
    """The placement among all legal ones."""
    chosen = tuple(tuple(sorted(b for b in row if b != NO_REPLICA)) for row in placed.replicas.tolist())
    return next(placement for placement in placements if placement[3] == chosen)


@given(problems(), st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)]))
@costly(150)
def test_moves_no_more_than_the_best_of_all_placements_within_the_band(
    problem: MovementProblem, tolerance: Fraction
) -> None:
    placements = list(all_placements(problem))
    narrowest = narrowest_band(problem)
    assert _narrowest_of(placements) == narrowest
    allowed = within(_around_the_mean(problem, tolerance, narrowest), placements)
    placed = least_movement(problem, Balance(tolerance))
    assert placement_violations(problem, placed) == []
    assert the_one(placed, allowed)[:2] == min(placement[:2] for placement in allowed)
    assert placed.certificate.lower_bound == placed.moved
    assert (placed.certificate.optimal, placed.certificate.gap) == (True, 0.0)


def _around_the_mean(problem: MovementProblem, tolerance: Fraction, narrowest: Band) -> Band:
    """Within the tolerance of the mean of all replicas over the targets, and no narrower than feasible."""
    if not problem.target.any():
        return narrowest
    total = sum(problem.factors.tolist()) + sum(problem.base[problem.target].tolist())
    mean = sorted([Fraction(total, int(problem.target.sum())), Fraction(narrowest.low), Fraction(narrowest.high)])[1]
    return Band(min(narrowest.low, ceil(mean - mean * tolerance)), max(narrowest.high, floor(mean + mean * tolerance)))


def _narrowest_of(placements: list[Whole]) -> Band:
    if not placements[0][2]:
        return Band(0, 0)
    high = min(max(placement[2]) for placement in placements)
    return Band(max(min(placement[2]) for placement in placements if max(placement[2]) == high), high)


@given(problems())
@examples(60)
def test_few_candidates_are_enough_if_pricing_requests_more(problem: MovementProblem) -> None:
    """If receivers are too many to offer them all, pricing steps add the missing ones."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(network, "ALL_CANDIDATES", 0)
        patched.setattr(network, "CANDIDATES_PER_RACK", 0)
        few = least_movement(problem, TIGHT)
    assert placement_violations(problem, few) == []
    assert few.moved == few.certificate.lower_bound == least_movement(problem, TIGHT).moved


@given(problems(all_targets=True))  # counts of brokers that are no targets are balanced as well
@examples(150)
def test_keep_moves_only_what_must_and_leaves_the_fairest_counts(problem: MovementProblem) -> None:
    placements = list(all_placements(problem))
    placed = least_movement(problem, KEEP)
    assert placement_violations(problem, placed) == []

    def before_evenness(placement: Whole) -> tuple[int, int, int]:
        others = [set(place) & set(problem.current[row, 1:].tolist()) for row, place in enumerate(placement[3])]
        return (*placement[:2], sum(map(len, others)))

    best = min(map(before_evenness, placements))
    chosen = the_one(placed, placements)
    assert before_evenness(chosen) == best
    assert placed.certificate.lower_bound == placed.moved == best[0]
    fairest = min(sorted(placement[2], reverse=True) for placement in placements if before_evenness(placement) == best)
    assert sorted(chosen[2], reverse=True) == fairest


@given(problems(), st.integers(0, 40))
@examples(80)
def test_a_budget_buys_the_narrowest_band_that_it_pays_for(problem: MovementProblem, budget: int) -> None:
    placements = list(all_placements(problem))
    least = min(placement[0] for placement in placements)
    if budget < least:
        with pytest.raises(BudgetTooSmall) as raised:
            within_budget([problem], budget)
        assert raised.value.minimum == least
        return
    (placed,) = within_budget([problem], budget)
    assert placement_violations(problem, placed) == []
    assert placed.moved <= budget
    band = placed.band
    narrowest = narrowest_band(problem)
    if band is not None and band != narrowest:
        narrower = Band(band.low + (band.low > 0 or narrowest.low >= band.high - narrowest.high), band.high - 1)
        assert all(placement[0] > budget for placement in within(narrower, placements))


@given(problems())
@examples(60)
def test_wider_bands_never_move_more(problem: MovementProblem) -> None:
    placements = list(all_placements(problem))
    curve = [point for (point,) in trade_off([problem], points=5)]
    assert curve[0].band == narrowest_band(problem)
    assert [point.moved for point in curve] == sorted((point.moved for point in curve), reverse=True)
    assert curve[-1].moved == min(placement[0] for placement in placements)
    assert all(point.moved == point.certificate.lower_bound for point in curve)


@given(problems())
@examples(60)
def test_a_deadline_that_has_passed_still_gets_a_legal_plan_and_an_honest_bound(problem: MovementProblem) -> None:
    placements = list(all_placements(problem))
    placed = least_movement(problem, TIGHT, is_over=lambda: True)
    assert placement_violations(problem, placed) == []
    best = min(placement[0] for placement in within(narrowest_band(problem), placements))
    assert placed.certificate.lower_bound <= best <= placed.moved


def test_a_cluster_without_partitions() -> None:
    problem = problem_of([], [0, 1, 1])
    for balance in (KEEP, TIGHT):
        placed = least_movement(problem, balance)
        assert placement_violations(problem, placed) == []
        assert (len(placed.replicas), placed.moved, placed.certificate.lower_bound) == (0, 0, 0)


def test_nothing_moves_where_everything_is_as_it_should_be() -> None:
    problem = problem_of([[0, 1], [1, 2], [2, 0]], [0, 1, 2])
    for balance in (KEEP, TIGHT):
        placed = least_movement(problem, balance)
        assert placed.replicas.tolist() == [[0, 1], [1, 2], [2, 0]]
        assert (placed.moved, placed.certificate.lower_bound) == (0, 0)


def test_only_what_the_removed_broker_had_moves_and_takes_its_place_in_the_list() -> None:
    problem = problem_of([[0, 2], [1, 3], [2, 1], [3, 0]], [0, 0, 1, 1], removed=(3,), weight=[5, 7, 1, 2])
    placed = least_movement(problem, KEEP)
    assert placed.replicas.tolist() == [[0, 2], [1, 2], [2, 1], [2, 0]]
    assert (placed.moved, placed.certificate.lower_bound) == (9, 9)


def test_balance_moves_the_lightest() -> None:
    problem = problem_of([[0], [0], [0], [0]], [0, 0], weight=[9, 3, 8, 2])
    placed = least_movement(problem, TIGHT)
    assert placed.replicas.tolist() == [[0], [1], [0], [1]]
    assert (placed.band, placed.moved, placed.certificate.lower_bound) == (Band(2, 2), 5, 5)


def test_racks_of_unequal_size_are_filled_as_evenly_as_they_can_be() -> None:
    """Factor 4 over racks of 1, 2 and 3 brokers: all of the first, and one or two of the others."""
    racks = [0, 1, 1, 2, 2, 2]
    domains, _ = find_domains(
        [PartitionKind(4, np.ones(6, np.bool_), np.ones(6, np.bool_))],
        np.zeros(1, np.int32),
        np.array([[3, 4, 5, 1]], np.int32),
        np.array(racks, np.int32),
        RackRule(3),
    )
    assert (domains[0].least.tolist(), domains[0].most.tolist()) == ([1, 1, 1], [1, 2, 2])
    placed = least_movement(problem_of([[3, 4, 5, 1]], racks), KEEP)
    assert placed.moved == 1
    assert 0 in placed.replicas[0]


def test_two_replicas_in_one_rack_are_parted_and_nothing_else() -> None:
    placed = least_movement(problem_of([[0, 1], [2, 3], [0, 4]], [0, 0, 1, 1, 2]), KEEP)
    assert placed.moved == 2
    assert placed.replicas[2].tolist() == [0, 4]


def test_if_one_of_two_replicas_has_to_move_the_leader_stays() -> None:
    problem = problem_of([[0, 1], [3, 0], [3, 2]], [0, 0, 1, 1])
    placed = least_movement(problem, KEEP)
    assert placed.moved == 2
    assert placed.replicas[:, 0].tolist() == [0, 3, 3]


def test_partitions_that_are_not_to_be_repaired_stay_crowded() -> None:
    problem = problem_of([[0, 1], [2, 3]], [0, 0, 1, 1, 2], removed=(3,), repairs=False)
    placed = least_movement(problem, KEEP)
    assert placed.replicas[0].tolist() == [0, 1]
    assert placed.moved == 1


def test_a_broker_that_is_down_may_be_in_any_rack() -> None:
    """Two replicas in the second rack are no more than its share, if the one that is down was in the first."""
    rule = RackRule(3, known=3)
    racks = [0, 1, 1, 2, 0, 3]  # broker 5 is down, and its rack is unknown
    problem = problem_of([[5, 1, 2, 3]], racks, rule=rule)
    assert least_movement(problem, KEEP).replicas.tolist() == [[5, 1, 2, 3]]
    assert problem.domains[0].least.tolist() == [0, 0, 0, 0]
    assert problem.domains[0].most.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize(
    ("factor", "rule", "what", "needed", "there"),
    [
        (4, RackRule(3), "brokers", 4, 3),
        (3, RackRule(3), "racks", 3, 2),
        (3, RackRule(1, most=1), "rack_places", 3, 2),
    ],
)
def test_what_cannot_be_says_what_is_short(factor: int, rule: RackRule, what: str, needed: int, there: int) -> None:
    with pytest.raises(NoLegalPlacement) as raised:
        problem_of([[0, 1, 3]], [0, 0, 1, 2], removed=(3,), factor=factor, rule=rule)
    assert (raised.value.what, raised.value.needed, raised.value.there) == (what, needed, there)


def test_a_band_that_nothing_fits_into_is_rejected() -> None:
    problem = problem_of([[0], [1], [2]], [0, 0, 0])
    with pytest.raises(InfeasibleFlow):
        movement_within(problem, problem.bounds(Band(2, 2)))


def test_the_verifier_says_what_is_wrong() -> None:
    problem = problem_of([[0, 2], [1, 3]], [0, 0, 1, 1], removed=(3,))
    placed = ReplicaPlacement(
        np.array([[0, 1], [1, 3]], np.int32), Band(1, 1), Certificate("moved weight", 0, 5, "none")
    )
    faults = placement_violations(problem, placed)
    assert "partition 0, [0, 1]: a rack has too few of its replicas, or too many" in faults
    assert "partition 1, [1, 3]: a broker may not have it" in faults
    assert "broker 1 has 2, not 1 to 1" in faults
    assert "1 is moved, not 0" in faults
    assert "the bound 5 is above what is moved, 0" in faults
    twice = ReplicaPlacement(np.array([[0, 0], [2, -1]], np.int32), None, Certificate("moved weight", 2, 0, "none"))
    assert [fault.split(":")[0] for fault in placement_violations(problem, twice)][:2] == [
        "partition 0, [0, 0]",
        "partition 1, [2]",
    ]


@pytest.mark.parametrize("racks", [1, 3, 5])
def test_thousands_of_partitions_are_solved_by_activating_some(racks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few take part from the start, those that would rather move are found: nothing else proves the optimum."""
    random = np.random.default_rng(7)
    brokers = np.arange(30)
    current = np.array([random.permutation(30)[:3] for _ in range(2_000)])
    problem = problem_of(
        current.tolist(), (brokers % racks).tolist(), removed=(4, 7), weight=random.integers(1, 1000, 2_000).tolist()
    )
    usual = least_movement(problem, TIGHT)
    monkeypatch.setattr(within_band, "SPARE_PARTITIONS", 1)
    monkeypatch.setattr(within_band, "_lightest", lambda state: np.zeros(len(state.is_active), np.bool_))
    sparse = least_movement(problem, TIGHT)
    assert usual.moved == usual.certificate.lower_bound == sparse.moved == sparse.certificate.lower_bound
    assert placement_violations(problem, usual) == placement_violations(problem, sparse) == []
    on_each = counts(problem, usual.replicas)
    assert (on_each[[4, 7]] == 0).all()
