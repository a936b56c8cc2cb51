"""Aware placement: its constraints and goals as laws against every possible row, then matrices worked by hand."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import event, given, reject

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Policy, Rules
from app.core.replicas.awareness.verifier import broken
from app.errors.requests import ConflictingFields, TooFewValues
from tests import draws as st
from tests.core.awareness.aware_clusters import SEEDS, clusters, every_row, place, spread_of, values
from tests.premises import reaches


class TestLaws:
    @given(cluster=clusters, seed=SEEDS, data=st.data())
    def test_spread_is_the_best_there_is(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, data: st.DataObject
    ) -> None:
        """Of every row that could be, none is more even, attribute after attribute."""
        brokers, attributes = cluster
        factor = data.draw(st.integers(1, min(4, len(brokers))))
        best = min(spread_of(row, brokers, attributes) for row in every_row(brokers, factor))
        rows = place(brokers, Rules(attributes=attributes), factor=factor, seed=seed).replicas.tolist()
        assert {len(set(row)) for row in rows} == {factor}
        assert {spread_of(row, brokers, attributes) for row in rows} == {best}

    @given(cluster=clusters, seed=SEEDS, data=st.data())
    def test_forced_leaves_out_what_has_no_place(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, data: st.DataObject
    ) -> None:
        """No value holds more than its share; as many are placed as can be, then as evenly as `spread` does."""
        brokers, attributes = cluster
        factor = data.draw(st.integers(1, min(4, len(brokers))))
        listed = data.draw(st.lists(st.sampled_from(["0", "1", "lost", "gone"]), min_size=1, unique=True))
        forced = {data.draw(st.sampled_from(attributes)): tuple(listed)}
        (name,) = forced
        most = -(-factor // len({*listed, *(broker.value(name) for broker in brokers)}))
        fitting = [
            (-count, spread_of(row, brokers, attributes))
            for count in range(factor + 1)
            for row in every_row(brokers, count)
            if max(values(row, brokers, name).values(), default=0) <= most
        ]
        rows = place(brokers, Rules(Policy.FORCED, attributes, forced), factor=factor, seed=seed).replicas.tolist()
        assert {(-len(set(row)), spread_of(row, brokers, attributes)) for row in rows} == {min(fitting)}
        assert all(max(values(row, brokers, name).values()) <= most for row in rows)

    @reaches("placed", 0.3)
    @given(cluster=clusters, seed=SEEDS, data=st.data())
    def test_redis_leaders_are_alone_in_their_zone(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, data: st.DataObject
    ) -> None:
        """If no row is legal, it is rejected; followers are as balanced as that leader allows."""
        brokers, attributes = cluster
        factor = data.draw(
            st.integers(2, 4).filter(lambda count: count <= len(brokers)) if len(brokers) > 1 else st.just(1)
        )

        def is_alone(row: Sequence[int], leader: int) -> bool:
            zone = {broker.id: broker.value(attributes[0]) for broker in brokers}
            return factor == 1 or [zone[broker] for broker in row].count(zone[leader]) == 1

        legal = [(row, leader) for row in every_row(brokers, factor) for leader in row if is_alone(row, leader)]
        rules = Rules(Policy.REDIS, attributes)
        if not legal:
            with pytest.raises(TooFewValues):
                place(brokers, rules, factor=factor)
            return
        event("placed")
        for row in place(brokers, rules, factor=factor, seed=seed).replicas.tolist():
            assert len(set(row)) == factor
            assert is_alone(row, row[0])
            zone = {broker.id: broker.value(attributes[0]) for broker in brokers}
            beside = [spread_of(other, brokers, attributes) for other, leader in legal if zone[leader] == zone[row[0]]]
            assert spread_of(row, brokers, attributes) == min(beside)

    @given(cluster=clusters, seed=SEEDS, data=st.data())
    def test_hdfs_pairs_the_first_two(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, data: st.DataObject
    ) -> None:
        """In one rack, the others outside; no rack has more than two, or than it must have."""
        brokers, attributes = cluster
        factor = data.draw(st.integers(1, min(5, len(brokers))))
        rack = attributes[0]
        sizes = Counter(broker.value(rack) for broker in brokers)
        room = [sum(min(size, most) for size in sizes.values()) for most in range(factor + 1)]
        most = max(2, next(at for at, fits in enumerate(room) if fits >= factor))
        for row in place(brokers, Rules(Policy.HDFS, attributes), factor=factor, seed=seed).replicas.tolist():
            assert len(set(row)) == factor
            counts = values(row, brokers, rack)
            assert max(counts.values()) <= most
            if factor == 2:
                assert len(counts) == min(2, len(sizes))
            if factor > 2 and max(sizes.values()) > 1:
                assert len(values(row[:2], brokers, rack)) == 1
                if sum(sizes.values()) - sizes[next(iter(values(row[:1], brokers, rack)))] >= factor - 2:
                    is_tight = most > 2
                    assert is_tight or next(iter(values(row[:1], brokers, rack))) not in values(row[2:], brokers, rack)

    @given(cluster=clusters, seed=SEEDS, data=st.data())
    def test_kafka_spans_as_many_values_as_it_can(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, data: st.DataObject
    ) -> None:
        brokers, attributes = cluster
        factor = data.draw(st.integers(1, min(4, len(brokers))))
        racks = {broker.value(attributes[0]) for broker in brokers}
        for row in place(brokers, Rules(Policy.KAFKA, attributes), factor=factor, seed=seed).replicas.tolist():
            assert len(set(row)) == factor
            assert len(values(row, brokers, attributes[0])) == min(factor, len(racks))

    @given(cluster=clusters, policy=st.sampled_from([Policy.SPREAD, Policy.HDFS, Policy.KAFKA]), seed=SEEDS)
    def test_the_same_seed_gives_the_same_rows_whatever_the_order_of_brokers(
        self, cluster: tuple[list[Broker], tuple[str, ...]], policy: Policy, seed: int
    ) -> None:
        brokers, attributes = cluster
        rules = Rules(policy, attributes)
        factor = min(3, len(brokers))
        one, other = (place(listed, rules, factor=factor, seed=seed) for listed in (brokers, brokers[::-1]))
        assert one.replicas.tolist() == other.replicas.tolist()


class TestVerifier:
    """Beside the planner: any placement."""

    @given(cluster=clusters, policy=st.sampled_from(Policy), seed=SEEDS, data=st.data())
    def test_a_placement_of_ours_is_never_broken(
        self, cluster: tuple[list[Broker], tuple[str, ...]], policy: Policy, seed: int, data: st.DataObject
    ) -> None:
        brokers, attributes = cluster
        rules = Rules(policy, attributes, {attributes[0]: ("0", "lost")} if policy is Policy.FORCED else {})
        factor = data.draw(st.integers(1, min(4, len(brokers))))
        try:
            placed = place(brokers, rules, factor=factor, seed=seed)
        except TooFewValues:
            reject()
        assert broken(placed, brokers, rules, factor) == []

    @given(cluster=clusters, data=st.data())
    def test_any_other_row_is_named_exactly_where_it_is_less_even(
        self, cluster: tuple[list[Broker], tuple[str, ...]], data: st.DataObject
    ) -> None:
        brokers, attributes = cluster
        factor = data.draw(st.integers(1, min(3, len(brokers))))
        possible = list(every_row(brokers, factor))
        rows = data.draw(st.lists(st.sampled_from(possible), min_size=1, max_size=20))
        best = min(spread_of(row, brokers, attributes) for row in possible)
        expected = [at for at, row in enumerate(rows) if spread_of(row, brokers, attributes) != best]
        found = broken(Placement("t", 0, np.array(rows, np.int32)), brokers, Rules(attributes=attributes), factor)
        assert [at for violation in found for at in violation.partitions] == expected

    @pytest.mark.parametrize("row", [[1, 1], [1, 9], [1, -1]])
    def test_a_broker_twice_an_unknown_one_and_one_too_few(self, row: list[int]) -> None:
        brokers = [Broker(1, "a"), Broker(2, "b")]
        (violation,) = broken(Placement("t", 5, np.array([[1, 2], row], np.int32)), brokers, Rules(), 2)
        assert (violation.code, violation.count, violation.partitions) == ("policy_broken", 1, (6,))


class TestExamples:
    """Worked by hand; if a random row is one of several, their common properties."""

    SIX = tuple(
        Broker(i, attributes={"region": region, "zone": zone})
        for i, (region, zone) in enumerate(
            [("eu", "eu-1"), ("eu", "eu-1"), ("eu", "eu-2"), ("eu", "eu-2"), ("us", "us-1"), ("us", "us-1")], start=1
        )
    )

    def test_the_second_attribute_decides_among_what_is_as_even_over_the_first(self) -> None:
        """Three replicas over two regions are two and one. In eu two zones can share two, in us one zone cannot."""
        for row in place(self.SIX, Rules(attributes=("region", "zone"))).replicas.tolist():
            assert sorted((broker + 1) // 2 for broker in row) == [1, 2, 3]

    def test_kip_708s_three_clusters_of_three_zones(self) -> None:
        """Each row is in three clusters and three zones: a permutation, of which there are six."""
        brokers = [Broker(i, attributes={"cluster": f"{i // 3}", "zone": f"{i % 3}"}) for i in range(9)]
        rows = place(brokers, Rules(attributes=("cluster", "zone")), partitions=60).replicas
        assert (np.sort(rows // 3, axis=1) == [0, 1, 2]).all()
        assert (np.sort(rows % 3, axis=1) == [0, 1, 2]).all()

    def test_two_zones_of_which_one_is_down(self) -> None:
        """Elasticsearch's own example: with both values forced, a copy waits for the other zone."""
        brokers = [Broker(1, attributes={"zone": "z1"}), Broker(2, attributes={"zone": "z1"})]
        rules = Rules(Policy.FORCED, ("zone",), {"zone": ("z1", "z2")})
        assert place(brokers, rules, partitions=4, factor=2).replicas.shape == (4, 1)

    def test_a_start_index_is_rejected(self) -> None:
        with pytest.raises(ConflictingFields):
            Aware(Rules())([Broker(1, "a")], NewTopic("t", 1, 1), random=JavaRandom(1), fixed_start_index=0)
