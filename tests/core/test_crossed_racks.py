"""The racks between which partitions are read: laws, the evaluation partition by partition, and worked examples."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capacity.loads import CROSS_RACK_PER_GIB, cost_per_month
from app.core.capacity.placed_traffic import PlacedTraffic, cross_rack
from app.core.measures.traffic import ReadTraffic, read_traffic
from app.core.model import NO_RACK, NO_REPLICA, Float64s, Int32s, padded
from app.core.replica_lists import stacked

RACKS = 3
BOTH = pytest.mark.parametrize("follower_fetching", [False, True])


@dataclass(frozen=True, slots=True)
class Reads:
    """Partitions on six brokers in three racks, read from three racks, at whole rates."""

    replicas: Int32s
    rack_of: Int32s
    consumer_rack: Int32s
    bytes_per_s: Float64s

    def traffic(self, *, follower_fetching: bool) -> ReadTraffic:
        arrays = self.replicas, self.rack_of, self.consumer_rack, self.bytes_per_s
        return read_traffic(*arrays, follower_fetching=follower_fetching)


@st.composite
def reads(draw: st.DrawFn, *, unknown: bool = False) -> Reads:
    rack = st.integers(NO_RACK if unknown else 0, RACKS - 1)
    lists = draw(st.lists(st.lists(st.integers(0, 5), min_size=not unknown, max_size=4, unique=True), max_size=8))
    columns = [[draw(strategy) for _ in lists] for strategy in (rack, st.integers(0, 60))]
    return Reads(
        padded(lists) if any(lists) else np.full((len(lists), 1), NO_REPLICA, np.int32),
        np.array([draw(rack) for _ in range(6)], np.int32),
        np.array(columns[0], np.int32),
        np.array(columns[1], np.float64),
    )


def _racks_of_row(known: Reads, row: int, *, follower_fetching: bool) -> tuple[int, int]:
    """The racks of the broker and of the consumer, as Kafka's `RackAwareReplicaSelector` chooses the broker."""
    consumer = int(known.consumer_rack[row])
    racks = [int(known.rack_of[broker]) for broker in known.replicas[row].tolist() if broker != NO_REPLICA]
    if not racks:
        return NO_RACK, consumer
    if not follower_fetching:
        return racks[0], consumer
    if consumer == NO_RACK:
        return (racks[0] if len(set(racks)) == 1 else NO_RACK), consumer
    if consumer in racks:
        return consumer, consumer
    return (NO_RACK if NO_RACK in racks else racks[0]), consumer


class TestLaws:
    """Laws of every placement and every assignment."""

    @given(reads(unknown=True), st.booleans())
    def test_racks_are_those_of_the_evaluation_by_partition(self, known: Reads, follower_fetching: bool) -> None:
        found = known.traffic(follower_fetching=follower_fetching)
        expected = [
            _racks_of_row(known, row, follower_fetching=follower_fetching) for row in range(len(known.replicas))
        ]
        racks = [(int(source), int(reader)) for source, reader in zip(found.from_rack, found.to_rack, strict=True)]
        assert racks == expected

    @given(reads(unknown=True), st.booleans())
    def test_pairs_sum_to_the_rates(self, known: Reads, follower_fetching: bool) -> None:
        found = known.traffic(follower_fetching=follower_fetching)
        pairs = found.per_pair(RACKS)
        assert pairs.sum() == known.bytes_per_s.sum()
        assert found.unknown.sum() == pairs[RACKS].sum() + pairs[:, RACKS].sum() - pairs[RACKS, RACKS]
        assert found.cross_rack.sum() == pairs[:RACKS, :RACKS].sum() - np.trace(pairs[:RACKS, :RACKS])

    @given(reads())
    def test_fetching_from_followers_never_crosses_more(self, known: Reads) -> None:
        """Every rack is known: of an unknown one, the crossing is unknown, too."""
        assert (
            known.traffic(follower_fetching=True).cross_rack <= known.traffic(follower_fetching=False).cross_rack
        ).all()

    @given(reads(), st.permutations(range(RACKS)), st.booleans())
    def test_renaming_racks_permutes_pairs(self, known: Reads, order: list[int], follower_fetching: bool) -> None:
        names = np.array(order, np.int32)
        renamed = replace(known, rack_of=names[known.rack_of], consumer_rack=names[known.consumer_rack])
        pairs = known.traffic(follower_fetching=follower_fetching).per_pair(RACKS)[:RACKS, :RACKS]
        assert (
            renamed.traffic(follower_fetching=follower_fetching).per_pair(RACKS)[np.ix_(order, order)] == pairs
        ).all()

    @given(reads(), st.booleans())
    def test_nothing_crosses_in_one_rack(self, known: Reads, follower_fetching: bool) -> None:
        same = replace(known, rack_of=known.rack_of * 0, consumer_rack=known.consumer_rack * 0)
        found = same.traffic(follower_fetching=follower_fetching)
        assert (found.cross_rack.sum(), found.replication.sum()) == (0, 0)

    @given(reads(), st.integers(0, RACKS - 1), st.booleans())
    def test_one_more_replica_never_raises_crossing(self, known: Reads, rack: int, follower_fetching: bool) -> None:
        """A replica on one more broker, in any rack, is last in every list."""
        added = np.full((len(known.replicas), 1), len(known.rack_of), np.int32)
        lists = [[*(each for each in row if each != NO_REPLICA), *more]
                 for row, more in zip(known.replicas.tolist(), added.tolist(), strict=True)]  # fmt: skip
        more = replace(known, replicas=padded(lists), rack_of=np.append(known.rack_of, np.int32(rack)))
        before, after = (each.traffic(follower_fetching=follower_fetching).cross_rack for each in (known, more))
        assert (after <= before).all()

    @given(reads(), st.booleans())
    def test_consumers_spread_over_all_racks_are_those_of_a_placement(
        self, known: Reads, follower_fetching: bool
    ) -> None:
        """A consumer in each rack, of a third of the bytes each, is the consumer of capacity sweeps."""
        rows = len(known.replicas)
        spread = PlacedTraffic.of_rows(
            *(known.replicas, np.arange(rows), known.bytes_per_s, np.ones(rows)),
            rack_of=known.rack_of,
            racks=RACKS,
            follower_fetching=follower_fetching,
        )
        by_rack = [
            replace(known, consumer_rack=np.full(rows, rack, np.int32)).traffic(follower_fetching=follower_fetching)
            for rack in range(RACKS)
        ]
        crossing = cross_rack(spread)
        assert sum(found.cross_rack.sum() for found in by_rack) / RACKS == pytest.approx(crossing.consumers)
        assert by_rack[0].replication.sum() == pytest.approx(crossing.replication)


class TestExamples:
    """Two partitions of 10 and 1 bytes/s, on brokers 0, 1 and 2 in racks of their own."""

    def _two(self, *consumers: int) -> Reads:
        replicas = np.array([[0, 1, 2], [1, 2, NO_REPLICA]], np.int32)
        return Reads(replicas, np.arange(3, dtype=np.int32), np.array(consumers, np.int32), np.array([10.0, 1.0]))

    def test_leaders_are_read(self) -> None:
        found = self._two(0, 0).traffic(follower_fetching=False)
        assert found.per_pair(3).tolist() == [[10, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
        assert (found.cross_rack.tolist(), found.replication.tolist()) == ([0, 1], [20, 1])

    def test_followers_are_read_in_their_rack(self) -> None:
        found = self._two(2, 2).traffic(follower_fetching=True)
        assert (found.from_rack.tolist(), found.cross_rack.sum()) == ([2, 2], 0)

    @BOTH
    def test_a_consumer_without_a_rack_is_unknown(self, follower_fetching: bool) -> None:
        found = self._two(NO_RACK, 1).traffic(follower_fetching=follower_fetching)
        assert (found.unknown.tolist(), found.cross_rack.tolist()) == ([10, 0], [0, 0])

    @BOTH
    def test_a_partition_without_replicas_is_unknown(self, follower_fetching: bool) -> None:
        one = Reads(*(np.zeros((1, 0), np.int32), np.zeros(0, np.int32), np.zeros(1, np.int32), np.ones(1)))
        found = one.traffic(follower_fetching=follower_fetching)
        assert (found.unknown.tolist(), np.isnan(found.replication).tolist()) == ([1], [True])

    def test_a_follower_of_unknown_rack_may_be_in_the_consumers(self) -> None:
        known = replace(self._two(2, 1), rack_of=np.array([0, 1, NO_RACK], np.int32))
        assert known.traffic(follower_fetching=True).unknown.tolist() == [10, 0]
        assert known.traffic(follower_fetching=False).unknown.tolist() == [0, 0]

    def test_one_rack_with_all_replicas_is_the_source_for_a_consumer_of_unknown_rack(self) -> None:
        known = replace(self._two(NO_RACK, NO_RACK), rack_of=np.array([1, 0, 0], np.int32))
        assert known.traffic(follower_fetching=True).from_rack.tolist() == [NO_RACK, 0]

    def test_one_replica_in_an_unknown_rack_sends_nothing(self) -> None:
        one = Reads(*(np.array([[0]], np.int32), np.array([NO_RACK], np.int32), np.zeros(1, np.int32), np.ones(1)))
        found = one.traffic(follower_fetching=False)
        assert (found.unknown.tolist(), found.replication.tolist()) == ([1], [0])

    def test_no_partition_is_no_traffic(self) -> None:
        none = Reads(stacked([]), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
        assert none.traffic(follower_fetching=True).per_pair(0).tolist() == [[0]]

    def test_a_gib_a_second_is_billed_for_a_month_of_365_over_12_days(self) -> None:
        assert cost_per_month(2**30, CROSS_RACK_PER_GIB) == pytest.approx(0.02 * 2_628_000)
