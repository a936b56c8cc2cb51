"""Envelopes: bounds of all draws, against actual draws; enumerated ones against every draw there is."""

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import example, given
from numpy.typing import NDArray

from app.core.jvm import JavaRandom, independent_seed
from app.core.model import Broker, Int32s, Int64s, NewTopic
from app.core.replicas import striped
from app.core.replicas.envelope import Envelope, ObservedRange, Share, enumerated
from app.core.replicas.striped_bounds import bound_outcomes
from app.core.replicas.striped_envelope import FEWEST_SEEDS, enumerate_outcomes, envelope
from app.errors.kafka import InvalidPartitions, InvalidReplicationFactor
from tests import draws as st
from tests.profiles import examples


@st.composite
def cases(draw: st.DrawFn, *, most_brokers: int, most_racks: int) -> tuple[list[Broker], NewTopic]:
    """A cluster of uneven racks, some brokers fenced, and a topic of up to four epochs."""
    racks = draw(st.integers(1, most_racks))
    brokers = [
        Broker(i, f"rack{draw(st.integers(1, racks))}", fenced=draw(st.integers(0, 3)) == 0)
        for i in range(1, draw(st.integers(1, most_brokers)))
    ]
    brokers.append(Broker(0, "rack1"))
    unfenced = sum(not broker.fenced for broker in brokers)
    topic = NewTopic("t", draw(st.integers(0, 4 * unfenced)), draw(st.integers(1, min(5, len(brokers)))))
    return brokers, topic


def sampled_counts(brokers: Sequence[Broker], topic: NewTopic, seeds: int) -> Int64s:
    """(seeds, 2, brokers) how many leaders and replicas each broker gets, brokers by id, which are 0, 1, 2, …"""
    counts = np.empty((seeds, 2, len(brokers)), np.int64)
    for index, of_seed in enumerate(counts):
        replicas = striped.place(brokers, topic, random=JavaRandom(independent_seed(12345, index))).replicas
        of_seed[0] = np.bincount(replicas[:, 0], minlength=len(brokers))
        of_seed[1] = np.bincount(replicas.ravel(), minlength=len(brokers))
    return counts


def spreads(counts: Int64s, brokers: Sequence[Broker]) -> Int64s:
    """(seeds, 2): largest count of an unfenced broker minus the smallest."""
    unfenced = sorted(broker.id for broker in brokers if not broker.fenced)
    return np.asarray(np.ptp(counts[:, :, unfenced], axis=2))


def assert_contains(found: Envelope, counts: Int64s, spread: Int64s) -> None:
    for which, share in enumerate((found.leaders, found.replicas)):
        assert (share.lowest <= counts[:, which].min(axis=0)).all()
        assert (counts[:, which].max(axis=0) <= share.highest).all()
        assert share.guaranteed_spread <= spread[:, which].min()
        assert spread[:, which].max() <= share.worst_case_spread


class TestLaws:
    @examples(60)
    @given(cases(most_brokers=12, most_racks=8))
    def test_no_draw_passes_the_bounds(self, case: tuple[list[Broker], NewTopic]) -> None:
        brokers, topic = case
        counts = sampled_counts(brokers, topic, 60)
        assert_contains(envelope(brokers, topic, seeds=10), counts, spreads(counts, brokers))

    @examples(60)
    @given(cases(most_brokers=7, most_racks=4))
    # Ten racks of one broker and factor 1: the count taken from a list in an epoch's partition of one number is carried
    # into the same one of the next, so that Kafka skips brokers, and leaders are uneven for good.
    @example(([Broker(i, f"rack{i}") for i in range(10)], NewTopic("t", 40, 1)))
    @example(([Broker(0, "a"), Broker(1, "b"), Broker(2, "b")], NewTopic("t", 9, 1)))
    # All that a later epoch can start from is too much to look at.
    @example(([Broker(i, f"rack{i * i // 16}", fenced=i % 9 == 8) for i in range(24)], NewTopic("t", 60, 2)))
    def test_no_outcome_passes_what_is_proven_without_enumerating(self, case: tuple[list[Broker], NewTopic]) -> None:
        brokers, topic = case
        racks = striped.Racks.of(brokers)
        counts = sampled_counts(brokers, topic, 60)
        spread = spreads(counts, brokers)
        by_id = np.argsort(racks.members)
        for limit in (4_000_000, 0):
            bounds = bound_outcomes(racks, factor=topic.replication_factor, partitions=topic.partitions, limit=limit)
            assert (bounds.lowest[:, by_id] <= counts.min(axis=0)).all()
            assert (counts.max(axis=0) <= bounds.highest[:, by_id]).all()
            assert (bounds.guaranteed_spread <= spread.min(axis=0)).all()
            assert (spread.max(axis=0) <= bounds.worst_case_spread).all()
        enumerated = enumerate_outcomes(racks, factor=topic.replication_factor, partitions=topic.partitions, limit=500)
        if enumerated is not None:
            assert (bounds.lowest <= enumerated.lowest).all()
            assert (enumerated.highest <= bounds.highest).all()
            assert (bounds.guaranteed_spread <= enumerated.least_spread).all()
            assert (enumerated.widest_spread <= bounds.worst_case_spread).all()

    @given(cases(most_brokers=10, most_racks=6))
    def test_what_was_seen_is_within_the_bounds(self, case: tuple[list[Broker], NewTopic]) -> None:
        found = envelope(*case, seeds=5)
        for share in (found.leaders, found.replicas):
            assert (share.lowest <= share.seen_lowest).all()
            assert (share.seen_lowest <= share.seen_highest).all()
            assert (share.seen_highest <= share.highest).all()
            assert share.guaranteed_spread <= share.seen_least_spread <= share.seen_widest_spread
            assert share.seen_widest_spread <= share.worst_case_spread
        if found.method == "enumerated":
            assert found.outcomes > 0
            assert found.seeds == 0
            assert fields_of(found.leaders)[:2] == fields_of(found.leaders)[2:]
            assert fields_of(found.replicas)[:2] == fields_of(found.replicas)[2:]
        else:
            assert (found.outcomes, found.seeds) == (0, 5)

    @given(cases(most_brokers=8, most_racks=4))
    def test_the_order_of_the_brokers_does_not_matter(self, case: tuple[list[Broker], NewTopic]) -> None:
        brokers, topic = case
        found, turned = envelope(brokers, topic, seeds=0), envelope(brokers[::-1], topic, seeds=0)
        assert found.broker_ids.tolist() == turned.broker_ids.tolist() == list(range(len(brokers)))
        assert fields_of(found.replicas)[0] == fields_of(turned.replicas)[0]


def fields_of(share: Share) -> tuple[object, ...]:
    return (
        (share.lowest.tolist(), share.highest.tolist()),
        (share.guaranteed_spread, share.worst_case_spread),
        (share.seen_lowest.tolist(), share.seen_highest.tolist()),
        (share.seen_least_spread, share.seen_widest_spread),
    )


class TestEnumerated:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("brokers", "partitions", "factor"),
        [
            ([Broker(0), Broker(1), Broker(2)], 2, 1),
            ([Broker(0), Broker(1), Broker(2)], 7, 2),
            ([Broker(0, "a"), Broker(1, "b"), Broker(2, "b")], 5, 2),
            ([Broker(0, "a"), Broker(1, "b"), Broker(2, "b")], 7, 1),
            ([Broker(0, "a"), Broker(1, "b"), Broker(2, "c")], 7, 1),
            ([Broker(0, "a"), Broker(1, "b", fenced=True), Broker(2, "b"), Broker(3, "c", fenced=True)], 5, 3),
            ([Broker(0, "a"), Broker(1, "b", fenced=True), Broker(2, "b", fenced=True)], 3, 2),
        ],
    )
    def test_is_what_thousands_of_draws_come_to(self, brokers: list[Broker], partitions: int, factor: int) -> None:
        """So many draws leave out nothing in clusters so small: seen and enumerated are the same."""
        topic = NewTopic("t", partitions, factor)
        found = envelope(brokers, topic)
        counts = sampled_counts(brokers, topic, 4000)
        spread = spreads(counts, brokers)
        assert found.method == "enumerated"
        for which, share in enumerate((found.leaders, found.replicas)):
            assert share.lowest.tolist() == counts[:, which].min(axis=0).tolist()
            assert share.highest.tolist() == counts[:, which].max(axis=0).tolist()
            assert share.guaranteed_spread == spread[:, which].min()
            assert share.worst_case_spread == spread[:, which].max()

    def test_three_brokers_and_one_partition(self) -> None:
        found = envelope([Broker(0), Broker(1), Broker(2)], NewTopic("t", 1, 2))
        assert found.leaders.lowest.tolist() == found.replicas.lowest.tolist() == [0, 0, 0]
        assert found.leaders.highest.tolist() == found.replicas.highest.tolist() == [1, 1, 1]
        assert found.replicas.guaranteed_spread == found.replicas.worst_case_spread == 1
        assert found.outcomes == 1  # the three draws are permutations of each other

    def test_a_rack_of_its_own_gets_a_replica_of_everything(self) -> None:
        found = envelope([Broker(0, "a"), *(Broker(i, "b") for i in range(1, 9))], NewTopic("t", 8, 2))
        assert (found.replicas.lowest[0], found.replicas.highest[0]) == (8, 8)
        assert found.replicas.highest[1:].tolist() == [1] * 8
        assert (found.leaders.lowest[0], found.leaders.highest[0]) == (4, 4)
        assert (found.replicas.guaranteed_spread, found.replicas.worst_case_spread) == (7, 7)

    def test_a_fenced_broker_leads_nothing_and_is_in_no_spread(self) -> None:
        brokers = [Broker(0, "a"), Broker(1, "a"), Broker(2, "b", fenced=True)]
        found = envelope(brokers, NewTopic("t", 6, 2))
        assert (found.leaders.highest[2], found.replicas.lowest[2]) == (0, 6)
        assert found.replicas.worst_case_spread == 0

    def test_no_partitions(self) -> None:
        found = envelope([Broker(0), Broker(1)], NewTopic("t", 0, 1))
        assert found.method == "enumerated"
        assert found.replicas.highest.tolist() == [0, 0]


class TestBoundedAndSampled:
    BROKERS = tuple(Broker(i, f"rack{min(2, i // 5)}") for i in range(30))

    def test_says_how_many_seeds_and_can_be_replayed(self) -> None:
        topic = NewTopic("t", 1000, 3)
        found = envelope(self.BROKERS, topic, seeds=20, first_seed=12345)
        assert (found.method, found.seeds, found.outcomes) == ("bounded_and_sampled", 20, 0)
        counts = sampled_counts(self.BROKERS, topic, 20)
        assert found.leaders.seen_lowest.tolist() == counts[:, 0].min(axis=0).tolist()
        assert found.replicas.seen_highest.tolist() == counts[:, 1].max(axis=0).tolist()
        assert found.replicas.seen_widest_spread == spreads(counts, self.BROKERS)[:, 1].max()

    def test_looks_at_fewer_seeds_where_the_topic_is_large(self) -> None:
        assert FEWEST_SEEDS <= envelope(self.BROKERS, NewTopic("t", 100_000, 3)).seeds < 100

    def test_uneven_racks_are_uneven_for_every_draw(self) -> None:
        """Racks of 5, 5 and 20, a replica in each: a broker of the first has four times as many as one of the last."""
        found = envelope(self.BROKERS, NewTopic("t", 6000, 3))
        assert found.replicas.guaranteed_spread == 6000 // 5 - 6000 // 20
        assert found.replicas.lowest[:10].tolist() == found.replicas.highest[:10].tolist() == [1200] * 10

    def test_sixty_uneven_racks(self) -> None:
        """Their orders are too many, and need not be looked at: no rack's share hangs on where the others stand."""
        brokers = [Broker(i, f"rack{min(i % 60, i % 61):02}") for i in range(300)]
        found = envelope(brokers, NewTopic("t", 3000, 3))
        counts = sampled_counts(brokers, NewTopic("t", 3000, 3), 20)
        assert_contains(found, counts, spreads(counts, brokers))
        assert found.replicas.highest.max() < 200
        assert found.replicas.guaranteed_spread > 0

    def test_a_million_partitions(self) -> None:
        found = envelope([Broker(i, f"rack{i % 3}") for i in range(12)], NewTopic("t", 1_000_000, 3))
        assert (found.replicas.guaranteed_spread, found.replicas.worst_case_spread) == (0, 0)
        assert (found.leaders.guaranteed_spread, found.leaders.worst_case_spread) == (1, 1)
        assert found.seeds == FEWEST_SEEDS


class TestRejections:
    def test_as_the_placer_does(self) -> None:
        with pytest.raises(InvalidReplicationFactor, match="4 needs 4 brokers; 3 given"):
            envelope([Broker(0), Broker(1), Broker(2)], NewTopic("t", 1, 4))
        with pytest.raises(InvalidReplicationFactor, match="0 of them unfenced"):
            envelope([Broker(0, fenced=True)], NewTopic("t", 1, 1))
        with pytest.raises(InvalidPartitions, match="-1 given"):
            envelope([Broker(0)], NewTopic("t", -1, 1))


def from_outcomes(
    ids: Int32s, outcomes: Iterable[tuple[Int64s, Int64s]], *, is_unfenced: NDArray[np.bool_] | None = None
) -> Envelope:
    """The enumerated envelope of counts of leaders and of replicas, some outcomes at a time."""
    observed = ObservedRange(np.ones(len(ids), np.bool_) if is_unfenced is None else is_unfenced)
    for leaders, replicas in outcomes:
        observed.add(np.stack([leaders, replicas], axis=1).astype(np.int64))
    return enumerated(ids, observed)


class TestFromOutcomes:
    @given(
        counts=st.integers(1, 5).flatmap(
            lambda brokers: st.lists(
                st.lists(st.integers(0, 9), min_size=brokers, max_size=brokers), min_size=1, max_size=9
            )
        ),
        split=st.integers(0, 9),
    )
    def test_it_does_not_matter_how_many_come_at_a_time(self, counts: list[list[int]], split: int) -> None:
        leaders = np.array(counts, np.int64)
        replicas = leaders + 1
        ids = np.arange(leaders.shape[1], dtype=np.int32)
        at_once = from_outcomes(ids, [(leaders, replicas)])
        in_parts = from_outcomes(ids, [(leaders[:split], replicas[:split]), (leaders[split:], replicas[split:])])
        assert fields_of(at_once.leaders) == fields_of(in_parts.leaders)
        assert fields_of(at_once.replicas) == fields_of(in_parts.replicas)
        assert at_once.outcomes == in_parts.outcomes == len(counts)

    def test_brokers_come_back_by_ascending_id(self) -> None:
        found = from_outcomes(
            np.array([7, 3], np.int32),
            [(np.array([[1, 0], [2, 4]]), np.array([[5, 6], [7, 9]]))],
            is_unfenced=np.array([True, False]),
        )
        assert found.broker_ids.tolist() == [3, 7]
        assert found.leaders.lowest.tolist() == [0, 1]
        assert found.leaders.highest.tolist() == [4, 2]
        assert found.replicas.highest.tolist() == [9, 7]
        assert found.leaders.worst_case_spread == 0  # of the one broker that is not fenced
        assert (found.method, found.outcomes, found.seeds) == ("enumerated", 2, 0)

    def test_rejects_no_outcome(self) -> None:
        with pytest.raises(ValueError, match="at least one"):
            from_outcomes(np.array([0], np.int32), [])
