"""Placement on few replica sets: laws of the sets, the balance of the placement, and the load after a loss."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import assume, given

from app.core.jvm import JavaRandom
from app.core.measures.copysets import copysets
from app.core.model import Broker, Int32s, NewTopic
from app.core.replicas.copyset_rounds import (
    MOST_LOAD_AFTER_LOSS,
    SetRounds,
    all_rounds,
    front_of,
    rounds_of_width,
)
from app.core.replicas.copysets import OnSets, SetChoice
from app.core.replicas.registry import PLACEMENTS, place_topics
from app.errors.requests import CopysetsImpossible
from tests import draws as st

SEEDS = st.integers(-(2**63), 2**63 - 1)


def racked(*sizes: int) -> list[Broker]:
    racks = [rack for rack, size in enumerate(sizes) for _ in range(size)]
    return [Broker(broker * 3, f"r{rack}") for broker, rack in enumerate(racks)]


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Broker], int]:
    """Racks of one size, of several, or none; and a replication factor."""
    sizes = draw(
        st.one_of(
            st.tuples(st.integers(1, 5), st.integers(1, 5)).map(lambda drawn: [drawn[0]] * drawn[1]),
            st.lists(st.integers(1, 5), min_size=1, max_size=5),
        )
    )
    brokers = racked(*sizes) if draw(st.booleans()) else [Broker(broker) for broker in range(sum(sizes))]
    return brokers, draw(st.integers(1, min(5, len(brokers))))


def place(brokers: Sequence[Broker], topics: Sequence[NewTopic], choice: SetChoice, seed: int = 1) -> list[Int32s]:
    algorithm = PLACEMENTS["copysets"].with_options(choice)
    return [each.replicas for each in place_topics(algorithm, brokers, topics, random=JavaRandom(seed))]


def spread(rows: Int32s, brokers: Sequence[Broker]) -> int:
    counts = Counter(rows.ravel().tolist())
    return max(counts.values()) - min(counts[broker.id] for broker in brokers)


@given(clusters())
def test_each_round_has_legal_sets_and_every_broker_equally_often(drawn: tuple[list[Broker], int]) -> None:
    brokers, factor = drawn
    try:
        rounds = list(islice(all_rounds(brokers, factor), 6))
    except CopysetsImpossible:
        sizes = Counter(broker.rack for broker in brokers).values()
        low, high = factor // len(sizes), -(-factor // len(sizes))
        assert any(not low * len(brokers) <= size * factor <= high * len(brokers) for size in sizes)
        return
    racks = len({broker.rack or broker.id for broker in brokers})
    for sets in rounds[-1].rounds:
        assert len(set(np.bincount(sets.ravel(), minlength=len(brokers)).tolist())) == 1
        for row in sets.tolist():
            assert len(set(row)) == factor
            counts = Counter(brokers[broker].rack or broker for broker in row)
            assert (len(counts), max(counts.values())) == (min(factor, racks), -(-factor // racks))
    widths = [each.measured.scatter_width.min for each in rounds]
    assert widths == sorted(widths)
    for narrower, wider in pairwise(rounds):
        assert all((one == other).all() for one, other in zip(narrower.rounds, wider.rounds, strict=False))
        assert narrower.measured.pairs < wider.measured.pairs


@pytest.mark.long
@given(clusters(), st.integers(0, 12))
def test_the_sets_are_as_wide_as_requested(drawn: tuple[list[Broker], int], width: int) -> None:
    """Or the request is rejected: no number of rounds has the width, or the racks have no rounds."""
    brokers, factor = drawn
    try:
        widest = list(all_rounds(brokers, factor))[-1].measured.scatter_width.min
    except CopysetsImpossible:
        widest = -1
    if width < factor - 1 or widest < (0 if factor == 1 else width):
        with pytest.raises(CopysetsImpossible):
            rounds_of_width(brokers, factor, width)
        return
    rounds = rounds_of_width(brokers, factor, width)
    assert factor == 1 or rounds.measured.scatter_width.min >= width
    assert rounds.measured.sets <= len(rounds.rounds) * len(rounds.rounds[0])


@given(clusters(), SEEDS, st.data())
def test_replicas_and_leaders_are_balanced(drawn: tuple[list[Broker], int], seed: int, data: st.DataObject) -> None:
    """To one replica if the factor divides the number of brokers, for each topic and for all topics of a request.

    Leaders of the first topic likewise; leaders of a later one are chosen when the ones before it are placed.
    """
    brokers, factor = drawn
    topics = [NewTopic(f"t{i}", n, factor) for i, n in enumerate(data.draw(st.lists(st.integers(1, 90), min_size=1)))]
    try:
        placed = place(brokers, topics, SetChoice(data.draw(st.one_of(st.none(), st.just(factor + 1)))), seed)
    except CopysetsImpossible:
        return
    rows = np.concatenate(placed)
    assert [len(each) for each in placed] == [topic.partitions for topic in topics]
    exact = 1 if len(brokers) % factor == 0 else 2
    assert spread(placed[0][:, :1], brokers) <= exact
    assert spread(rows[:, :1], brokers) <= 2
    assert spread(rows, brokers) <= exact
    assert max(spread(each, brokers) for each in placed) <= exact


@given(clusters(), SEEDS, SEEDS)
def test_the_sets_are_those_of_the_brokers(drawn: tuple[list[Broker], int], seed: int, other: int) -> None:
    """Whatever the seed, the topics and the order of the brokers; the same seed places the same."""
    brokers, factor = drawn
    try:
        rounds = rounds_of_width(brokers, factor, None)
    except CopysetsImpossible:
        return
    sets = {frozenset(brokers[at].id for at in row) for each in rounds.rounds for row in each.tolist()}
    topics = [NewTopic("a", 2 * len(sets), factor), NewTopic("b", 5, factor)]
    first, again = place(brokers, topics, SetChoice(), seed), place(brokers[::-1], topics, SetChoice(), seed)
    assert all((one == two).all() for one, two in zip(first, again, strict=True))
    placed = np.concatenate([*first, *place(brokers, [NewTopic("later", 9, factor)], SetChoice(), other)])
    assert {frozenset(row) for row in placed.tolist()} == sets


@given(clusters())
def test_the_load_after_a_loss_is_that_of_full_blocks(drawn: tuple[list[Broker], int]) -> None:
    """Every leader that is lost is followed by the next broker of its list."""
    brokers, factor = drawn
    assume(factor > 1)
    try:
        rounds = rounds_of_width(brokers, factor, None)
    except CopysetsImpossible:
        return
    number = sum(map(len, rounds.rounds)) * factor * (factor - 1)
    [rows] = place(brokers, [NewTopic("t", number, factor)], SetChoice())
    before = Counter(rows[:, 0].tolist())
    assert len(set(before.values())) == 1
    largest = 0.0
    for lost in before:
        after = before + Counter(rows[rows[:, 0] == lost, 1].tolist())
        largest = max(largest, *(after[broker] / before[broker] for broker in before if broker != lost))
    assert rounds.largest_load_after_loss == pytest.approx(largest)


def test_the_default_is_the_first_choice_within_the_load() -> None:
    assert rounds_of_width(racked(20, 20, 20), 3, None).measured.scatter_width.min == 4
    # Three brokers have one set, and each of the other two leads half as much again, whatever is requested.
    assert rounds_of_width(racked(1, 1, 1), 3, None).largest_load_after_loss == 1.5 > MOST_LOAD_AFTER_LOSS


def test_the_front_trades_odds_for_load() -> None:
    front = front_of(racked(20, 20, 20), 3, min_isr=2)
    assert [(each.scatter_width, each.sets, each.unwritable_pairs) for each in front[:3]] == [
        (2, 20, 60),
        (4, 40, 120),
        (6, 60, 180),
    ]
    assert [each.largest_load_after_loss for each in front[:2]] == [1.5, 1.25]
    assert all(one.sets < two.sets for one, two in pairwise(front))
    assert all(one.largest_load_after_loss > two.largest_load_after_loss for one, two in pairwise(front))
    unknown, single = front_of(racked(2, 2, 2), 3, None), front_of(racked(2, 2, 2), 3, 1)
    assert (unknown[0].unwritable_pairs, single[0].unwritable_pairs) == (None, 0)


@pytest.mark.parametrize(
    ("brokers", "factor", "width", "detail"),
    [
        (racked(2, 2, 2), 3, 1, "of 1 is below that"),
        (racked(2, 2, 2), 3, 5, "a scatter width of 4 at most, within their racks; 5 is requested"),
        (racked(3, 2, 2), 3, 4, "rack r0 has 3 of 7 brokers"),
        (racked(4, 1), 3, 2, "need 2 to 3"),
    ],
)
def test_what_no_sets_have(brokers: list[Broker], factor: int, width: int, detail: str) -> None:
    with pytest.raises(CopysetsImpossible, match=detail):
        rounds_of_width(brokers, factor, width)


def test_topics_of_several_factors_share_the_balance_of_leaders() -> None:
    brokers = racked(2, 2, 2)
    placed = place(brokers, [NewTopic(f"t{factor}", 6 + factor, factor) for factor in (1, 2, 3)], SetChoice(4))
    leaders = np.concatenate([rows[:, 0] for rows in placed])
    assert spread(leaders, brokers) <= 1


def test_far_fewer_triples_lose_data_than_with_the_placer_of_kraft() -> None:
    """At the counts of 400 topics of 50 partitions; the figures of `docs/copysets.md`."""
    brokers, topics = racked(20, 20, 20), [NewTopic(f"t{topic}", 50, 3) for topic in range(400)]
    found = {}
    for name, choice in (("striped", None), ("copysets", SetChoice(4)), ("copysets", SetChoice(16))):
        placed = place_topics(PLACEMENTS[name].with_options(choice), brokers, topics, random=JavaRandom(1))
        rows = np.concatenate([each.replicas for each in placed])
        found[choice] = copysets(rows // 3, 60), spread(rows, brokers)
    striped = found.pop(None)[0].loss_probability[3]
    assert striped is not None
    for (few, difference), (sets, times) in zip(found.values(), ((40, 100), (160, 30)), strict=True):
        assert (few.sets, difference) == (sets, 0)
        assert few.loss_probability[3] is not None
        assert striped / few.loss_probability[3] >= times


@pytest.mark.parametrize(
    ("brokers", "factor", "rounds"),
    [
        (racked(20, 20, 20), 3, 12),
        (racked(10, 10, 10), 3, 5),
        (racked(*[10] * 6), 3, 12),
        ([Broker(broker) for broker in range(60)], 3, 12),
        (racked(*[40] * 3), 3, 12),
    ],
)
def test_early_rounds_repeat_no_pair(brokers: list[Broker], factor: int, rounds: int) -> None:
    """So that the sets are the fewest of their scatter width.

    Each of N brokers shares sets with S others: there are at least S · N / 2 pairs, and a set has R · (R - 1) / 2.
    """
    for each in islice(all_rounds(brokers, factor), rounds):
        width = each.measured.scatter_width.min
        assert each.measured.sets == width * len(brokers) // (factor * (factor - 1))


def test_rounds_state_their_brokers() -> None:
    assert SetRounds((np.array([[0], [1]], np.int32),), 2).largest_load_after_loss == 1
    assert OnSets(SetChoice())([Broker(1), Broker(2)], NewTopic("t", 2, 1), random=JavaRandom(0)).replicas.shape == (
        2,
        1,
    )
