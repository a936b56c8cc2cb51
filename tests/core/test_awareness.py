"""Aware placement: its constraints and goals as laws against every possible row, then matrices worked by hand."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Policy, Rules
from app.errors import TooFewValues

SEEDS = st.integers(-(2**63), 2**63 - 1)
WEIGHTS = st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.0])


@st.composite
def nested(draw: st.DrawFn, most: int = 9) -> tuple[list[Broker], tuple[str, ...]]:
    """Brokers whose racks lie in zones and zones in regions."""
    brokers = []
    for broker in range(draw(st.integers(1, most))):
        region, zone, rack = draw(st.integers(0, 2)), draw(st.integers(0, 2)), draw(st.integers(0, 1))
        attributes = {"region": f"{region}", "zone": f"{region}-{zone}", "rack": f"{region}-{zone}-{rack}"}
        brokers.append(Broker(broker * 7 % 11, attributes=attributes, weight=draw(WEIGHTS)))
    return brokers, draw(st.sampled_from([("region",), ("zone",), ("region", "zone"), ("region", "zone", "rack")]))


@st.composite
def crossed(draw: st.DrawFn, most: int = 8) -> tuple[list[Broker], tuple[str, ...]]:
    """Brokers whose attributes have nothing to do with each other."""
    names = ("cluster", "zone", "power")[: draw(st.integers(2, 3))]
    return [
        Broker(broker, attributes={name: f"{draw(st.integers(0, 2))}" for name in names}, weight=draw(WEIGHTS))
        for broker in range(draw(st.integers(1, most)))
    ], names


clusters = st.one_of(nested(), crossed())


def values(row: Sequence[int], brokers: Sequence[Broker], attribute: str) -> Counter[str | None]:
    by_id = {broker.id: broker for broker in brokers}
    return Counter(by_id[broker].value(attribute) for broker in row)


def spread_of(row: Sequence[int], brokers: Sequence[Broker], attributes: Sequence[str]) -> tuple[int, ...]:
    """How uneven a row is over each attribute in turn: the sum of squares, which evenness alone makes small."""
    return tuple(sum(count**2 for count in values(row, brokers, name).values()) for name in attributes)


def every_row(brokers: Sequence[Broker], factor: int) -> Iterator[tuple[int, ...]]:
    return combinations([broker.id for broker in brokers], factor)


def place(
    brokers: Sequence[Broker], rules: Rules, *, partitions: int = 12, factor: int = 3, seed: int = 1
) -> Placement:
    return Aware(rules)(brokers, NewTopic("t", partitions, factor), random=JavaRandom(seed))


def fewest_squares(rows: Sequence[Sequence[int]], weight_of: dict[int, float]) -> float:
    """The least Σ leaders² / weight of any choice of leaders, tried one by one."""
    best: dict[tuple[tuple[int, int], ...], None] = {(): None}
    for row in rows:
        best = {
            tuple(sorted((Counter(dict(leads)) + Counter([leader])).items())): None for leads in best for leader in row
        }
    return min(sum(count**2 / weight_of[broker] for broker, count in leads) for leads in best)


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

    @given(cluster=clusters, seed=SEEDS, data=st.data())
    def test_redis_leaders_share_their_zone_with_nobody(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, data: st.DataObject
    ) -> None:
        """Or it is refused, where no row could be; the followers are as even as they can be beside that leader."""
        brokers, attributes = cluster
        factor = data.draw(
            st.integers(2, 4).filter(lambda drawn: drawn <= len(brokers)) if len(brokers) > 1 else st.just(1)
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
            held = values(row, brokers, rack)
            assert max(held.values()) <= most
            if factor == 2:
                assert len(held) == min(2, len(sizes))
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

    @given(cluster=clusters, policy=st.sampled_from(Policy), seed=SEEDS, partitions=st.integers(1, 5))
    def test_no_choice_of_leaders_is_more_even(
        self, cluster: tuple[list[Broker], tuple[str, ...]], policy: Policy, seed: int, partitions: int
    ) -> None:
        """Given where the replicas are, and where any of them may lead."""
        brokers, attributes = cluster
        if policy not in (Policy.SPREAD, Policy.KAFKA):
            return
        rows = place(
            brokers, Rules(policy, attributes), partitions=partitions, factor=min(3, len(brokers)), seed=seed
        ).replicas.tolist()
        weight_of = {broker.id: broker.weight for broker in brokers}
        leads = Counter(row[0] for row in rows)
        reached = sum(count**2 / weight_of[broker] for broker, count in leads.items())
        assert reached == pytest.approx(fewest_squares(rows, weight_of))

    @given(
        zones=st.integers(1, 4), in_zone=st.integers(1, 4), partitions=st.integers(1, 60), seed=SEEDS, data=st.data()
    )
    def test_equal_brokers_share_equally(
        self, zones: int, in_zone: int, partitions: int, seed: int, data: st.DataObject
    ) -> None:
        """Zones of one size: nobody has more than one replica, or leads more than one partition, beyond another."""
        brokers = [Broker(i, attributes={"zone": f"z{i % zones}"}) for i in range(zones * in_zone)]
        factor = data.draw(st.integers(1, len(brokers)))
        rows = place(brokers, Rules(attributes=("zone",)), partitions=partitions, factor=factor, seed=seed).replicas
        for counted in (rows, rows[:, 0]):
            assert np.ptp(np.bincount(counted.ravel(), minlength=len(brokers))) <= 1

    @given(cluster=nested(), seed=SEEDS, partitions=st.integers(1, 300))
    def test_weights_are_kept_to_the_replica_where_nothing_stands_against_them(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, partitions: int
    ) -> None:
        """One replica each: a broker has its share by weight, rounded down or up."""
        brokers, attributes = cluster
        rows = place(brokers, Rules(attributes=attributes), partitions=partitions, factor=1, seed=seed).replicas
        total = sum(broker.weight for broker in brokers)
        counts = Counter(rows.ravel().tolist())
        for broker in brokers:
            assert abs(counts[broker.id] - partitions * broker.weight / total) < 1

    @given(cluster=clusters, policy=st.sampled_from([Policy.SPREAD, Policy.HDFS, Policy.KAFKA]), seed=SEEDS)
    def test_the_same_seed_gives_the_same_rows_whatever_the_order_of_brokers(
        self, cluster: tuple[list[Broker], tuple[str, ...]], policy: Policy, seed: int
    ) -> None:
        brokers, attributes = cluster
        rules = Rules(policy, attributes)
        factor = min(3, len(brokers))
        one, other = (place(listed, rules, factor=factor, seed=seed) for listed in (brokers, brokers[::-1]))
        assert one.replicas.tolist() == other.replicas.tolist()
