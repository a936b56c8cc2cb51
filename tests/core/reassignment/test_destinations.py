"""Destinations of moved replicas: laws over small random clusters, then worked examples."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.model import KEEP, TIGHT, Balance, MovementProblem, ReplicaPlacement
from app.core.reassignment.solvers.flow import destinations
from app.core.reassignment.solvers.flow.destinations import TieBreaks, spread_destinations
from app.core.reassignment.solvers.flow.least_movement import least_movement
from app.core.reassignment.solvers.flow.places import counts
from app.core.reassignment.verifier import placement_violations
from app.core.replica_lists import not_among, per_broker
from tests import draws as st
from tests.core.reassignment.test_least_movement import problem_of, problems
from tests.profiles import examples

BALANCES = [KEEP, TIGHT, Balance(Fraction(1, 4))]


@st.composite
def tied(draw: st.DrawFn) -> tuple[MovementProblem, TieBreaks]:
    """A problem whose partitions are of up to three topics, with sizes that differ from costs of moves."""
    problem = draw(problems())
    rows, brokers = len(problem.current), len(problem.base)
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 3, 10, 10**12]), min_size=rows, max_size=rows))
    topics = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    base = draw(st.lists(st.sampled_from([0, 0, 5, 10**12]), min_size=brokers, max_size=brokers))
    return problem, TieBreaks(np.array(sizes, np.int64), np.array(base, np.int64), np.array(topics, np.int64))


def unmoved_and_moved(problem: MovementProblem, replicas: Int32s) -> tuple[list[set[int]], Int64s]:
    """The current brokers that keep a replica, by row, and how many replicas of each row are on others."""
    unmoved = [set(row.tolist()) & set(now.tolist()) for row, now in zip(replicas, problem.current, strict=True)]
    return unmoved, not_among(replicas, problem.current).sum(axis=1)


def loads(problem: MovementProblem, ties: TieBreaks, replicas: Int32s) -> Int64s:
    """(targets,) int64 bytes of the target brokers."""
    return (ties.base_bytes + per_broker(replicas, len(problem.base), ties.size_bytes))[problem.target]


@given(tied(), st.sampled_from(BALANCES))
@examples(100)
def test_only_destinations_change_and_every_constraint_holds(
    case: tuple[MovementProblem, TieBreaks], balance: Balance
) -> None:
    """The same replicas move, so that the certificate of the movement stays true."""
    problem, ties = case
    start = least_movement(problem, balance)
    chosen = spread_destinations(problem, start, ties)
    assert placement_violations(problem, chosen) == []
    assert (chosen.moved, chosen.band, chosen.certificate) == (start.moved, start.band, start.certificate)
    unmoved, moved = unmoved_and_moved(problem, start.replicas)
    unmoved_now, moved_now = unmoved_and_moved(problem, chosen.replicas)
    assert unmoved == unmoved_now
    assert moved.tolist() == moved_now.tolist()
    again = spread_destinations(problem, start, ties)
    assert again.replicas.tolist() == chosen.replicas.tolist()


@given(tied(), st.sampled_from(BALANCES))
@examples(70)
def test_the_largest_and_the_smallest_broker_are_hardly_worse_and_counts_stay_near(
    case: tuple[MovementProblem, TieBreaks], balance: Balance
) -> None:
    """Each exchange for bytes is between two brokers and brings them closer; topics may undo it within a tolerance."""
    problem, ties = case
    start = least_movement(problem, balance)
    chosen = spread_destinations(problem, start, ties)
    before, after = loads(problem, ties, start.replicas), loads(problem, ties, chosen.replicas)
    if not len(before):
        return
    if ties.size_bytes.any():
        slack = int(before.mean()) // destinations.EXTREMES_TOLERANCE + 1
        assert after.max() <= before.max() + slack
        assert after.min() >= before.min() - slack
    if balance == KEEP:
        then, now = (counts(problem, each.replicas)[problem.target] for each in (start, chosen))
        assert now.max() <= then.max()
        assert now.min() >= then.min()
        assert abs(now - then).max() <= then.mean() / destinations.COUNT_TOLERANCE


@given(tied())
@examples(70)
def test_no_exchange_of_two_destinations_balances_bytes_further(case: tuple[MovementProblem, TieBreaks]) -> None:
    """With one topic for each partition bytes alone count, and small cases are searched to the end."""
    problem, ties = case
    ties = TieBreaks(ties.size_bytes, ties.base_bytes, np.arange(len(problem.current), dtype=np.int64))
    chosen = spread_destinations(problem, least_movement(problem, TIGHT), ties)
    best = _squares(loads(problem, ties, chosen.replicas))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(destinations, "BYTES_TOLERANCE", 1 << 60)
        patched.setattr(destinations, "EXTREMES_TOLERANCE", 1 << 60)
        exact = spread_destinations(problem, least_movement(problem, TIGHT), ties)
    assert _squares(loads(problem, ties, exact.replicas)) <= best
    for replicas in _exchanged(problem, exact):
        assert _squares(loads(problem, ties, replicas)) >= _squares(loads(problem, ties, exact.replicas))


def _squares(amounts: Int64s) -> int:
    return sum(amount * amount for amount in amounts.tolist())


def _exchanged(problem: MovementProblem, placement: ReplicaPlacement) -> list[Int32s]:
    """Every legal placement in which two moved replicas on targets have exchanged their destinations."""
    replicas = placement.replicas
    moved = not_among(replicas, problem.current) & np.append(problem.target, False)[replicas]
    places: Sequence[tuple[int, int]] = list(zip(*(index.tolist() for index in np.nonzero(moved)), strict=True))
    others = []
    for at, one in enumerate(places):
        for two in places[at + 1 :]:
            other = replicas.copy()
            other[one], other[two] = replicas[two], replicas[one]
            is_legal = not placement_violations(problem, ReplicaPlacement(other, placement.band, placement.certificate))
            unmoved, _ = unmoved_and_moved(problem, other)
            if is_legal and unmoved == unmoved_and_moved(problem, replicas)[0]:
                others.append(other)
    return others


def _removal(racks: list[int], sizes: NDArray[np.int64], current: list[list[int]], removed: int) -> MovementProblem:
    return problem_of(current, racks, removed=(removed,), weight=sizes.tolist())


def test_the_replicas_of_a_removed_broker_balance_bytes() -> None:
    sizes = np.array([7, 1, 6, 2, 5, 3], np.int64)
    problem = _removal([0, 0, 0], sizes, [[2]] * 6, 2)
    ties = TieBreaks(sizes, np.zeros(3, np.int64), np.zeros(6, np.int64))
    chosen = spread_destinations(problem, least_movement(problem, KEEP), ties)
    assert loads(problem, ties, chosen.replicas).tolist() == [12, 12]
    assert counts(problem, chosen.replicas).tolist() == [3, 3, 0]


def test_a_topic_is_spread_at_equal_bytes() -> None:
    """Four partitions of one topic and four of another leave; each broker receives two of each."""
    sizes = np.full(8, 100, np.int64)
    problem = _removal([0, 0, 0], sizes, [[2]] * 8, 2)
    topic = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int64)
    start = least_movement(problem, KEEP)
    crowded = ReplicaPlacement(np.array([[0]] * 4 + [[1]] * 4, np.int32), start.band, start.certificate)
    chosen = spread_destinations(problem, crowded, TieBreaks(sizes, np.zeros(3, np.int64), topic))
    table = np.zeros((2, 3), np.int64)
    np.add.at(table, (topic, chosen.replicas[:, 0]), 1)
    assert table.tolist() == [[2, 2, 0], [2, 2, 0]]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("racks", [1, 3, 5])
def test_bytes_and_topics_of_a_large_removal(racks: int) -> None:
    """Six of thirty brokers leave: bytes are within a few percent, and no broker collects a topic."""
    random = np.random.default_rng(11)
    brokers = np.arange(30)
    current = np.array([random.permutation(30)[:3] for _ in range(2_000)])
    sizes = random.lognormal(10, 1, 2_000).astype(np.int64)
    problem = problem_of(
        current.tolist(), (brokers % racks).tolist(), removed=(0, 1, 2, 3, 4, 5), weight=sizes.tolist()
    )
    ties = TieBreaks(sizes, np.zeros(30, np.int64), np.arange(2_000) // 200)
    start = least_movement(problem, TIGHT)
    chosen = spread_destinations(problem, start, ties)
    assert placement_violations(problem, chosen) == []
    before, after = loads(problem, ties, start.replicas), loads(problem, ties, chosen.replicas)
    assert after.max() / after.mean() < 1.03 < before.max() / before.mean()
    assert _largest_of_a_topic(ties, chosen) <= _largest_of_a_topic(ties, start)


def _largest_of_a_topic(ties: TieBreaks, placement: ReplicaPlacement) -> int:
    row, column = np.nonzero(placement.replicas != NO_REPLICA)
    cells = ties.topic_of[row] * len(ties.base_bytes) + placement.replicas[row, column]
    return int(np.bincount(cells).max())
