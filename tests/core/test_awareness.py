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
from app.core.replicas.awareness.verifier import broken
from app.errors import ConflictingFields, TooFewValues

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

    @given(
        cluster=clusters,
        policy=st.sampled_from([Policy.SPREAD, Policy.KAFKA]),
        seed=SEEDS,
        partitions=st.integers(1, 5),
    )
    def test_no_choice_of_leaders_is_more_even(
        self, cluster: tuple[list[Broker], tuple[str, ...]], policy: Policy, seed: int, partitions: int
    ) -> None:
        """Given where the replicas are, and where any of them may lead."""
        brokers, attributes = cluster
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


def off_by(placement: Placement, brokers: Sequence[Broker], column: slice) -> float:
    """How far the broker that is furthest from its share by weight is off, in replicas."""
    held = placement.replicas[:, column]
    counts = Counter(held.ravel().tolist())
    total = sum(broker.weight for broker in brokers)
    return max(abs(counts[broker.id] - held.size * broker.weight / total) for broker in brokers)


LEADERS, REPLICAS = slice(0, 1), slice(None)
REGIONS = {"nested": (3, 9, 45), "crossed": (3, 10, 44)}


def large(kind: str, count: int = 90) -> list[Broker]:
    """Brokers of one weight in three regions, and zones and racks within these or across them."""
    names = list(zip(("region", "zone", "rack"), REGIONS[kind], strict=True))
    return [Broker(i, attributes={name: f"{i % values}" for name, values in names}) for i in range(count)]


class TestLargeTopics:
    """Rows are copied; what the copies leave uneven is made good."""

    @pytest.mark.parametrize("partitions", [1, 90, 4095, 20_000, 123_457])
    @pytest.mark.parametrize("policy", [Policy.SPREAD, Policy.KAFKA])
    @pytest.mark.parametrize("kind", REGIONS)
    def test_equal_brokers(self, kind: str, policy: Policy, partitions: int) -> None:
        brokers = large(kind)
        placed = place(brokers, Rules(policy, ("region", "zone", "rack")), partitions=partitions)
        assert off_by(placed, brokers, REPLICAS) < 1.5
        assert off_by(placed, brokers, LEADERS) < 1

    @pytest.mark.parametrize("policy", [Policy.HDFS, Policy.REDIS])
    @pytest.mark.parametrize("kind", REGIONS)
    def test_equal_brokers_where_a_region_leads(self, kind: str, policy: Policy) -> None:
        """What leads is dealt in blocks, so that a broker may be off by a little more where attributes cross."""
        brokers = large(kind)
        placed = place(brokers, Rules(policy, ("region", "zone", "rack")), partitions=123_457)
        allowed = 2 if kind == "nested" else 0.01 * placed.replicas.size / len(brokers)
        assert off_by(placed, brokers, REPLICAS) < allowed
        assert off_by(placed, brokers, LEADERS) < allowed

    @given(
        heavy=st.lists(st.sampled_from([1.0, 1.5, 2.0, 3.7]), min_size=18, max_size=18),
        partitions=st.sampled_from([100, 5_000, 50_000]),
        seed=SEEDS,
    )
    def test_weights(self, heavy: list[float], partitions: int, seed: int) -> None:
        """Each rack has three times the same brokers, so that no rule stands against their weight."""
        brokers = [
            Broker(i, attributes={"zone": f"{i % 3}", "rack": f"{i % 6}"}, weight=heavy[i // 3 - i // 3 % 2])
            for i in range(18)
        ]
        by_zone = {zone: sum(b.weight for b in brokers if b.value("zone") == zone) for zone in "012"}
        assert max(by_zone.values()) == pytest.approx(min(by_zone.values()))
        placed = place(brokers, Rules(attributes=("zone", "rack")), partitions=partitions, seed=seed)
        assert off_by(placed, brokers, REPLICAS) < 1.5
        assert off_by(placed, brokers, LEADERS) < 1.5

    @pytest.mark.parametrize("kind", REGIONS)
    def test_every_row_keeps_the_policy(self, kind: str) -> None:
        brokers = large(kind)
        for policy in (Policy.SPREAD, Policy.HDFS, Policy.REDIS, Policy.KAFKA):
            rules = Rules(policy, ("region", "zone", "rack"))
            assert broken(place(brokers, rules, partitions=40_000), brokers, rules, 3) == []


class TestVerifier:
    """Beside the planner: what anyone placed."""

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
            return
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
    """Worked by hand; where a drawn row is one of several, what all of them have in common."""

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

    def test_a_start_index_is_refused(self) -> None:
        with pytest.raises(ConflictingFields):
            Aware(Rules())([Broker(1, "a")], NewTopic("t", 1, 1), random=JavaRandom(1), fixed_start_index=0)
