"""A sweep's scenarios by index: which there are, their order, their sampling, and that nothing else decides them."""

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capacity.scenarios import require_axes
from app.core.capacity.sweep import CapacitySweep, SweepDefinition, read_definition
from app.core.sweeps.axes import sampled_index
from app.errors.requests import ConflictingFields
from tests.core.capacity.small_scenarios import base, topic


def sweep(axes: Any, **more: Any) -> SweepDefinition:
    """A sweep over the small base."""
    return read_definition({"base": base(), "axes": axes, **more})


AXES = {
    "topology.brokers_per_rack": [2, 3, 4],
    "topics.*.replication_factor": [2, 3],
    "traffic.growth_per_month": [0, 0.05],
}


def test_the_last_axis_varies_fastest() -> None:
    definition = sweep(AXES)
    assert definition.count == 12
    actual = [tuple(definition.grid.values(index).values()) for index in range(5)]
    assert actual == [(2, 2, 0), (2, 2, 0.05), (2, 3, 0), (2, 3, 0.05), (3, 2, 0)]


@given(st.lists(st.integers(1, 5), max_size=5))
def test_every_combination_occurs_once(lengths: list[int]) -> None:
    names = ["brokers", "price_per_month", "vcpu", "disk_bytes", "nic_in_bytes_per_s"]
    axes = {f"broker_profile.{name}": list(range(1, length + 1)) for name, length in zip(names, lengths, strict=False)}
    definition = sweep(axes)
    assert definition.count == prod(lengths)
    digits = [definition.grid.digits(index) for index in range(definition.count)]
    assert len(set(digits)) == len(digits)
    assert digits == sorted(digits)
    assert [definition.grid.index(place) for place in digits] == list(range(len(digits)))


@given(st.integers(1, 300), st.integers())
def test_a_sample_of_all_is_a_permutation_of_the_grid(size: int, seed: int) -> None:
    assert sorted(sampled_index(size, seed=seed, k=k) for k in range(size)) == list(range(size))


@given(st.integers(10**9, 10**30), st.integers(0, 10**6), st.integers())
def test_no_index_is_sampled_twice_from_a_grid_larger_than_memory(size: int, first: int, seed: int) -> None:
    sampled = [sampled_index(size, seed=seed, k=k) for k in range(first, first + 50)]
    assert len(set(sampled)) == 50
    assert all(0 <= index < size for index in sampled)


def test_indices_are_sampled_uniformly() -> None:
    """3,000 seeds, the first of ten: 300 each, give or take four standard deviations."""
    first = [sampled_index(10, seed=seed, k=0) for seed in range(3000)]
    assert all(abs(first.count(index) - 300) < 4 * (3000 * 0.1 * 0.9) ** 0.5 for index in range(10))


def test_a_sample_of_a_thousand_million_scenarios_needs_no_list() -> None:
    axes = {f"broker_profile.{name}": {"from": 1, "to": 1000} for name in ("disk_bytes", "vcpu", "nic_in_bytes_per_s")}
    definition = sweep(axes, sample={"count": 100, "seed": 1})
    require_axes(definition.base, definition.grid)
    assert definition.grid.size == 10**9
    sampled = [definition.grid_index(k) for k in range(100)]
    assert len(set(sampled)) == 100
    assert sampled == [definition.grid_index(k) for k in range(100)]
    with pytest.raises(IndexError):
        definition.grid_index(100)


@pytest.mark.parametrize(
    ("span", "values"),
    [
        ({"from": 2, "to": 6, "step": 2}, [2, 4, 6]),
        ({"from": 2, "to": 7, "step": 2}, [2, 4, 6]),
        ({"from": 0, "to": 0.3, "step": 0.1}, [0, 0.1, 0.2, 0.3]),
        ({"from": -1, "to": 0, "step": 0.5}, [-1, -0.5, 0]),
        ({"from": 5, "to": 5}, [5]),
    ],
)
def test_a_range_has_both_ends_and_exact_decimals(span: Any, values: list[float]) -> None:
    assert list(sweep({"traffic.growth_per_month": span}).axes[0].values) == values


def test_axes_are_written_where_they_point() -> None:
    definition = read_definition(
        {
            "base": base(
                topics=[topic(name="a.b"), topic(name="c", partition_weights=list(range(1, 13)))],
                topology={"racks": ["x", "y"], "brokers_per_rack": {"x": 3, "y": 4}},
            ),
            "axes": {
                "topics.*.consumer_groups": [5],
                "topics.a.b.partitions": [24],
                "topology.brokers_per_rack.y": [6],
                "broker_profile": [{"disk_bytes": 5e9}],
                "clients.producer_share_per_rack": [{"x": 1.0}],
                "partitions_multiplier": [3],
                "placement.seed": [9],
            },
        }
    )
    require_axes(definition.base, definition.grid)
    actual = CapacitySweep(definition).scenario(0)
    assert [entry.partitions for entry in actual.topics] == [72, 36]
    assert [entry.consumer_groups for entry in actual.topics] == [5, 5]
    weights = actual.topics[1].partition_weights
    assert isinstance(weights, np.ndarray)
    assert weights.tolist() == list(range(1, 13)) * 3
    assert actual.topology.brokers_per_rack == {"x": 3, "y": 6}
    assert (actual.broker_profile.disk_bytes, actual.broker_profile.vcpu) == (5e9, None)
    assert actual.clients.producer_share_per_rack == {"x": 1.0}
    assert actual.seed == 9
    # The base is as it was: the next scenario starts from it.
    assert definition.base["topology"] == {"racks": ["x", "y"], "brokers_per_rack": {"x": 3, "y": 4}}


def test_axes_may_be_a_list() -> None:
    pairs = [{"path": path, "values": values} for path, values in AXES.items()]
    assert sweep(pairs).axes == sweep(AXES).axes


def test_brokers_count_up_from_one_rack_by_rack() -> None:
    definition = read_definition({"base": base(topology={"racks": ["b", "a"], "brokers_per_rack": {"a": 1, "b": 2}})})
    brokers = [(broker.id, broker.rack) for broker in CapacitySweep(definition).scenario(0).topology.brokers]
    assert brokers == [(1, "b"), (2, "b"), (3, "a")]


def test_without_a_seed_every_scenario_has_its_own_sampled_or_not() -> None:
    axes = {"partitions_multiplier": [1, 2, 3, 4]}
    unseeded = base(placement={"algorithm": "striped"})
    whole = read_definition({"base": unseeded, "axes": axes, "seed": 5})
    seeds = [CapacitySweep(whole).scenario(index).seed for index in range(4)]
    assert len(set(seeds)) == 4
    assert seeds == [CapacitySweep(whole).scenario(index).seed for index in range(4)]
    sampled = read_definition({"base": unseeded, "axes": axes, "seed": 5, "sample": {"count": 3, "seed": 1}})
    assert [CapacitySweep(sampled).scenario(k).seed for k in range(3)] == [
        seeds[sampled.grid_index(k)] for k in range(3)
    ]
    other = read_definition({"base": unseeded, "axes": axes, "seed": 6})
    assert CapacitySweep(other).scenario(0).seed != seeds[0]
    fixed = read_definition({"base": base(), "axes": axes, "seed": 5})
    assert {CapacitySweep(fixed).scenario(index).seed for index in range(4)} == {7}


def test_an_axis_over_local_retention_of_all_topics_is_about_those_with_remote_storage() -> None:
    """A cluster has topics that are not tiered, such as compacted ones; if none is, the axis is a mistake."""
    tiered = topic(name="tiered", remote_storage=True)
    axes = {"topics.*.local_retention_s": [60, 600]}
    mixed = CapacitySweep(read_definition({"base": base(topics=[topic(), tiered]), "axes": axes}))
    assert [[each.local_retention_s for each in mixed.scenario(index).topics] for index in (0, 1)] == [
        [None, 60],
        [None, 600],
    ]
    none = CapacitySweep(read_definition({"base": base(), "axes": axes}))
    with pytest.raises(ConflictingFields, match="no remote_storage"):
        none.scenario(0)
