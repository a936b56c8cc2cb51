"""The vectorised model against the slow one, on random scenarios: every figure that a score reports."""

from collections.abc import Mapping
from math import ceil, inf
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from app.core.capacity.loads import loads, positions, workload
from app.core.capacity.score import Score, place
from app.core.model import Placement, unpadded
from tests import draws as st
from tests.core.capacity.scored_by_hand import RESOURCES, ByHand
from tests.core.capacity.small_scenarios import read_scenario, scenarios, score
from tests.profiles import costly


def about(expected: Any) -> Any:
    """Equal but for rounding."""
    return pytest.approx(expected, rel=1e-7, abs=1e-6)


def both(mapping: Mapping[str, Any]) -> tuple[Score, ByHand]:
    """A scenario's score, and the one by hand of the same placement."""
    scenario = read_scenario(mapping)
    return score(scenario), ByHand(
        mapping,
        [
            unpadded(placed.replicas)
            for placed in place(scenario.topology, scenario.topics, scenario.placement, seed=scenario.seed)
        ],
    )


@costly(200)
@given(scenarios())
def test_every_resource_before_and_under_the_worst_failure(mapping: Mapping[str, Any]) -> None:
    scored, by_hand = both(mapping)
    sets = [(name, by_hand.loads(name, lost)) for _, name, lost in by_hand.failure_sets()]
    for resource in RESOURCES:
        figures = scored.resources[resource]
        loads = {name: load[resource] for name, load in sets}
        before = sorted(loads["none"].values())
        assert figures.before.max == about(before[-1])
        assert figures.before.p95 == about(before[ceil(0.95 * len(before)) - 1])
        assert figures.before.mean == about(sum(before) / len(before))
        assert loads["none"][figures.before.broker] == about(before[-1])
        failed = [max(load.values()) for name, load in loads.items() if name != "none" and load]
        assert figures.worst.max == about(max(failed, default=before[-1]))
        worst = sorted(loads[figures.worst_failure].values())
        assert figures.worst.max == about(worst[-1])
        assert figures.worst.p95 == about(worst[ceil(0.95 * len(worst)) - 1])
        assert figures.worst.mean == about(sum(worst) / len(worst))
        assert loads[figures.worst_failure][figures.worst.broker] == about(worst[-1])


@costly(200)
@given(scenarios())
def test_partitions_offline_under_min_isr_or_not_rack_safe(mapping: Mapping[str, Any]) -> None:
    scored, by_hand = both(mapping)
    actual = {
        name: (
            counts.failure_sets,
            counts.partitions_offline,
            counts.partitions_under_min_isr,
            counts.partitions_not_rack_safe,
        )
        for name, counts in scored.failures.items()
    }
    assert actual == by_hand.counts()
    assert scored.partitions_offline == max(counts[1] for counts in actual.values())


@costly(300)
@given(scenarios(), st.randoms())
def test_replicas_on_arbitrary_brokers(mapping: Mapping[str, Any], random: Random) -> None:
    """No algorithm crowds a rack while another is free, but the racks that a failure leaves can be crowded."""
    scenario = read_scenario({**mapping, "failures": ["none", "broker", "rack", "rack_and_broker"]})
    brokers = [broker.id for broker in scenario.topology.brokers]
    rows = [
        [random.sample(brokers, topic.replication_factor) for _ in range(topic.partitions)] for topic in scenario.topics
    ]
    placements = [
        Placement(topic.name, 0, np.array(row, np.int32)) for topic, row in zip(scenario.topics, rows, strict=True)
    ]
    actual = loads(
        positions(placements),
        workload(scenario.topics),
        topology=scenario.topology,
        clients=scenario.clients,
        failures=scenario.failures,
    )
    by_hand = ByHand({**mapping, "failures": list(scenario.failures), "rereplication": {}}, rows)
    counted = {
        name: (
            counts.failure_sets,
            counts.partitions_offline,
            counts.partitions_under_min_isr,
            counts.partitions_not_rack_safe,
        )
        for name, counts in actual.failures.items()
    }
    assert counted == by_hand.counts()
    failed = [by_hand.loads(name, lost)["nic_out"] for kind, name, lost in by_hand.failure_sets() if kind != "none"]
    if any(failed):
        most = max(max(load.values()) for load in failed if load)
        assert actual.resources["nic_out"].worst.max == about(most)
    assert (actual.cross_rack.producers, actual.cross_rack.replication, actual.cross_rack.consumers) == about(
        by_hand.cross_rack()
    )


@costly(100)
@given(scenarios())
def test_headroom_its_month_and_the_limit_that_breaks(mapping: Mapping[str, Any]) -> None:
    scored, by_hand = both(mapping)
    headroom = by_hand.headroom()
    actual = inf if scored.headroom is None else scored.headroom
    assert actual == pytest.approx(headroom, rel=1e-6, abs=1e-9)
    assert scored.feasible == by_hand.holds(1)
    if abs(actual - 1) > 1e-6:
        assert scored.first_breaking_month == by_hand.first_breaking_month(actual)
    assert scored.binding == (None if scored.feasible else scored.first_limit)
    first = scored.first_limit
    if first is None:
        assert actual == inf
        return
    lost = {name: brokers for _, name, brokers in by_hand.failure_sets()}
    assert first.limit == by_hand.limits()[first.resource]
    assert first.value == about(by_hand.loads(first.failure, lost[first.failure])[first.resource][first.broker])
    at_the_limit = by_hand.loads(first.failure, lost[first.failure], actual)[first.resource][first.broker]
    if actual > 0:
        assert at_the_limit == pytest.approx(first.limit, rel=1e-6)
    else:
        assert at_the_limit > first.limit


@costly(200)
@given(scenarios())
def test_cross_rack_bytes_and_cost(mapping: Mapping[str, Any]) -> None:
    scored, by_hand = both(mapping)
    crossed, cost = scored.cross_rack_parts, scored.monthly_cost_parts
    assert (crossed.producers, crossed.replication, crossed.consumers) == about(by_hand.cross_rack())
    assert (cost.brokers, cost.storage, cost.cross_rack, cost.remote_storage) == about(by_hand.monthly_cost())
    assert scored.remote_bytes == about(by_hand.remote_bytes())
    assert scored.monthly_cost == about(sum(by_hand.monthly_cost()))
