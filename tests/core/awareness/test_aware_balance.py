"""Aware placement: leaders and replicas by weight, in small topics and in large ones."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given

from app.core.jvm import JavaRandom
from app.core.model import Broker, NewTopic, Placement
from app.core.replicas.awareness.placing import Aware
from app.core.replicas.awareness.rules import Policy, Rules
from app.core.replicas.awareness.verifier import broken
from tests import draws as st
from tests.core.awareness.aware_clusters import SEEDS, clusters, nested, place


def fewest_squares(rows: Sequence[Sequence[int]], weight_of: dict[int, float]) -> float:
    """The least Σ leaders² / weight of any choice of leaders, tried one by one."""
    position = {broker: index for index, broker in enumerate(weight_of)}
    reached = {(0,) * len(position)}
    for row in rows:
        reached = {
            (*leads[:at], leads[at] + 1, *leads[at + 1 :]) for leads in reached for at in map(position.__getitem__, row)
        }
    return min(
        sum(count**2 / weight for count, weight in zip(leads, weight_of.values(), strict=True)) for leads in reached
    )


class TestLaws:
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
        """Zones of one size: replicas and leaders of brokers differ by one at most."""
        brokers = [Broker(i, attributes={"zone": f"z{i % zones}"}) for i in range(zones * in_zone)]
        factor = data.draw(st.integers(1, len(brokers)))
        rows = place(brokers, Rules(attributes=("zone",)), partitions=partitions, factor=factor, seed=seed).replicas
        for counted in (rows, rows[:, 0]):
            assert np.ptp(np.bincount(counted.ravel(), minlength=len(brokers))) <= 1

    @given(cluster=nested(), seed=SEEDS, partitions=st.integers(1, 300))
    def test_weights_are_met_to_the_replica_if_no_rule_conflicts_with_them(
        self, cluster: tuple[list[Broker], tuple[str, ...]], seed: int, partitions: int
    ) -> None:
        """One replica each: a broker has its share by weight, rounded down or up."""
        brokers, attributes = cluster
        rows = place(brokers, Rules(attributes=attributes), partitions=partitions, factor=1, seed=seed).replicas
        total = sum(broker.weight for broker in brokers)
        counts = Counter(rows.ravel().tolist())
        for broker in brokers:
            assert abs(counts[broker.id] - partitions * broker.weight / total) < 1


def off_by(placement: Placement, brokers: Sequence[Broker], column: slice) -> float:
    """How far the broker that is furthest from its share by weight is off, in replicas."""
    column_ids = placement.replicas[:, column]
    counts = Counter(column_ids.ravel().tolist())
    total = sum(broker.weight for broker in brokers)
    return max(abs(counts[broker.id] - column_ids.size * broker.weight / total) for broker in brokers)


LEADERS, REPLICAS = slice(0, 1), slice(None)
REGIONS = {"nested": (3, 9, 45), "crossed": (3, 10, 44)}


def large(kind: str, count: int = 90) -> list[Broker]:
    """Brokers of one weight in three regions, and zones and racks within these or across them."""
    names = list(zip(("region", "zone", "rack"), REGIONS[kind], strict=True))
    return [Broker(i, attributes={name: f"{i % values}" for name, values in names}) for i in range(count)]


class TestLargeTopics:
    """Rows are copied; the last rows compensate for their imbalance."""

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
        """Leaders are dealt in blocks, so that a broker may be off by a little more where attributes cross."""
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
        """Each rack has three times the same brokers, so that no rule conflicts with their weight."""
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


@given(st.lists(st.integers(0, 40), min_size=2, max_size=8), st.integers(1, 60), st.integers(1, 60))
def test_present_replicas_are_balanced_with_those_of_several_topics(has: list[int], first: int, second: int) -> None:
    """A broker with new replicas of a factor of 1 has at most one more in all than any other."""
    listed = [Broker(number, "a") for number in range(len(has))]
    place = Aware(Rules(), {number: (count, count) for number, count in enumerate(has)})
    totals, new = Counter(dict(enumerate(has))), Counter[int]()
    for partitions in (first, second):
        placed = place(listed, NewTopic("t", partitions, 1), random=JavaRandom(1))
        new.update(placed.replicas[:, 0].tolist())
        place = place.after(placed)
    totals.update(new)
    assert all(totals[one] <= totals[other] + 1 for one in new for other in range(len(has)))
