"""Invalid sweeps and scenarios: each is a failure that names the field, and the limit where there is one."""

from typing import Any

import pytest

from app.core.capacity.scenarios import require_axes
from app.core.capacity.sweep import CapacitySweep, SweepDefinition, read_definition
from app.errors import Failure
from app.errors.requests import ConflictingFields, EmptyAxis, ImpossibleValue, LimitExceeded, UnknownAxis
from tests.core.capacity.small_scenarios import PROFILE, base, read_scenario, topic


def without(mapping: Any, name: str) -> dict[str, Any]:
    """The mapping but for one field."""
    return {field: value for field, value in mapping.items() if field != name}


def _require(definition: SweepDefinition) -> None:
    require_axes(definition.base, definition.grid)


CANNOT_BE: list[tuple[Any, tuple[str | int, ...], str]] = [
    (without(base(), "topology"), ("topology",), "an object"),
    (base(topology={"racks": [], "brokers_per_rack": 1}), ("topology", "racks"), "a list"),
    (base(topology={"racks": "abc", "brokers_per_rack": 1}), ("topology", "racks"), "a list"),
    (base(topology={"racks": ["a", ""], "brokers_per_rack": 1}), ("topology", "racks", 1, "rack"), "a name"),
    (base(topology={"racks": ["a"], "brokers_per_rack": 0}), ("topology", "brokers_per_rack"), "1 to"),
    (base(topology={"racks": ["a"], "brokers_per_rack": 1.5}), ("topology", "brokers_per_rack"), "a whole number"),
    (base(topology={"racks": ["a"], "brokers_per_rack": True}), ("topology", "brokers_per_rack"), "a whole number"),
    (base(broker_profile=without(PROFILE, "disk_bytes")), ("broker_profile", "disk_bytes"), "missing"),
    (base(broker_profile={**PROFILE, "disk_bytes": 0}), ("broker_profile", "disk_bytes"), "above 0"),
    (base(broker_profile={**PROFILE, "ram": 1}), ("broker_profile", "ram"), "disk_bytes"),
    (base(broker_profile={**PROFILE, "vcpu": float("nan")}), ("broker_profile", "vcpu"), "finite"),
    (base(broker_profile={**PROFILE, "vcpu": 10**400}), ("broker_profile", "vcpu"), "finite"),
    (base(topics=[]), ("topics",), "a list"),
    (base(topics=[topic(partitions=0)]), ("topics", 0, "partitions"), "1 to"),
    (base(topics=[topic(partitions="12")]), ("topics", 0, "partitions"), "a whole number"),
    (base(topics=[without(topic(), "ingress_bytes_per_s")]), ("topics", 0, "ingress_bytes_per_s"), "missing"),
    (base(topics=[topic(ingress_bytes_per_s=-1)]), ("topics", 0, "ingress_bytes_per_s"), "0 or more"),
    (base(topics=[topic(remote_storage=1)]), ("topics", 0, "remote_storage"), "true or false"),
    (base(topics=[topic(local_retention_s=-1)]), ("topics", 0, "local_retention_s"), "0 or more"),
    (base(topics=[topic(local_retention_bytes=-1)]), ("topics", 0, "local_retention_bytes"), "0 or more"),
    (base(topics=[topic(lagging_share=1.1)]), ("topics", 0, "lagging_share"), "1 or less"),
    (base(topics=[topic(partition_weights="zipf")]), ("topics", 0, "partition_weights"), "zipf"),
    (base(topics=[topic(partition_weights=[0] * 12)]), ("topics", 0, "partition_weights"), "above 0"),
    (base(topics=[topic(partition_weights={"zipf": -1})]), ("topics", 0, "partition_weights", "zipf"), "0 or more"),
    (base(partitions_multiplier=0), ("partitions_multiplier",), "1 to"),
    (base(placement={"algorithm": "round_robin"}), ("placement", "algorithm"), "admin_utils, striped"),
    (base(placement={"seed": 2**63}), ("placement", "seed"), "whole number"),
    (base(clients={"follower_fetching": 1}), ("clients", "follower_fetching"), "true or false"),
    (base(clients={"consumer_share_per_rack": {"a": 0.9}}), ("clients", "consumer_share_per_rack"), "sum to 1"),
    (base(traffic={"growth_per_month": -1.01}), ("traffic", "growth_per_month"), "-1 or more"),
    (base(traffic={"horizon_months": 1201}), ("traffic", "horizon_months"), "1200"),
    (base(failures=["none", "zone"]), ("failures", 1), "rack_and_broker"),
    (base(targets={"disk": 0}), ("targets", "disk"), "above 0"),
    (base(targets={"disk": 1.2}), ("targets", "disk"), "1 or less"),
    (base(prices={"cross_rack_per_gib": -0.01}), ("prices", "cross_rack_per_gib"), "0 or more"),
    (base(rereplication={}), ("rereplication", "throttle_bytes_per_s"), "missing"),
    (base(restart={"per": "zone"}), ("restart", "per"), "zone"),
    (base(restart={"max_brokers_per_wave": 0}), ("restart", "max_brokers_per_wave"), "1 to"),
]


@pytest.mark.parametrize(("mapping", "path", "excerpt"), CANNOT_BE, ids=lambda value: str(value)[:40])
def test_an_impossible_value_is_named(mapping: Any, path: tuple[str | int, ...], excerpt: str) -> None:
    with pytest.raises(ImpossibleValue) as raised:
        read_scenario(mapping)
    assert raised.value.path == path
    assert excerpt in raised.value.detail


NOT_TOGETHER: list[tuple[Any, tuple[str | int, ...], str]] = [
    (base(topics=[topic(replication_factor=7)]), ("topics", 0, "replication_factor"), "7 of topic orders"),
    (base(topics=[topic(min_insync_replicas=4)]), ("topics", 0, "min_insync_replicas"), "4 replicas in sync"),
    (base(topics=[topic(), topic()]), ("topics", 1, "name"), "twice"),
    (base(topics=[topic(retained_bytes=1)]), ("topics", 0, "retained_bytes"), "both"),
    (base(topics=[without(topic(), "retention_s")]), ("topics", 0, "retained_bytes"), "nothing"),
    (
        base(topics=[topic(retained_bytes_per_partition=[1] * 12)]),
        ("topics", 0, "retained_bytes_per_partition"),
        "both",
    ),
    (
        base(topics=[topic(retention_s=None, retained_bytes_per_partition=[1, 2])]),
        ("topics", 0, "retained_bytes_per_partition"),
        "2 retained_bytes_per_partition",
    ),
    (base(topics=[topic(local_retention_s=60)]), ("topics", 0, "local_retention_s"), "no remote_storage"),
    (
        base(topics=[topic(remote_storage=True, local_retention_s=3601)]),
        ("topics", 0, "local_retention_s"),
        "3601, above its retention of 3600",
    ),
    (
        base(topics=[topic(remote_storage=True, retention_bytes=7, local_retention_bytes=8)]),
        ("topics", 0, "local_retention_bytes"),
        "above its retention of 7",
    ),
    (base(topics=[topic(peak_ingress_bytes_per_s=1)]), ("topics", 0, "peak_ingress_bytes_per_s"), "on average"),
    (base(topics=[topic(partition_weights=[1, 2])]), ("topics", 0, "partition_weights"), "2 weights"),
    (base(topology={"racks": ["a", "a"], "brokers_per_rack": 2}), ("topology", "racks", 1), "twice"),
    (base(topology={"racks": ["a"], "brokers_per_rack": {"b": 1}}), ("topology", "brokers_per_rack"), "racks are a"),
    (
        base(clients={"producer_share_per_rack": {"z": 1}}),
        ("clients", "producer_share_per_rack", "z"),
        "the racks are a, b, c",
    ),
]


@pytest.mark.parametrize(("mapping", "path", "excerpt"), NOT_TOGETHER, ids=lambda value: str(value)[:40])
def test_contradictory_values_are_named(mapping: Any, path: tuple[str | int, ...], excerpt: str) -> None:
    with pytest.raises(ConflictingFields) as raised:
        read_scenario(mapping)
    assert raised.value.path == path
    assert excerpt in raised.value.detail
    with pytest.raises(ConflictingFields) as raised:
        _require(read_definition({"base": mapping, "axes": {"traffic.growth_per_month": [0, 0.1]}}))
    assert raised.value.path == ("base", *path)
    # An axis may resolve the contradiction.
    sections = ("topology", "topics", "clients")
    _require(read_definition({"base": mapping, "axes": {name: [mapping.get(name)] for name in sections}}))


@pytest.mark.parametrize(
    "mapping",
    [
        base(topology={"racks": ["a"], "brokers_per_rack": 10_001}),
        base(partitions_multiplier=2**31 - 1),
        base(topics=[topic(partitions=2**31 - 1)]),
    ],
    ids=["brokers", "multiplier", "partitions"],
)
def test_a_scenario_larger_than_memory_is_rejected_before_it_is_built(mapping: Any) -> None:
    with pytest.raises(LimitExceeded):
        _require(read_definition({"base": mapping}))
    with pytest.raises(LimitExceeded) as raised:
        read_scenario(mapping)
    assert str(raised.value.context["maximum"]) in raised.value.detail


def test_negative_growth_down_to_no_traffic_is_possible() -> None:
    assert read_scenario(base(traffic={"growth_per_month": -1})).traffic.growth_per_month == -1


def sweep(**fields: Any) -> Any:
    """A sweep over the small base."""
    return {"base": base(), **fields}


@pytest.mark.parametrize(
    ("definition", "failure", "path"),
    [
        (sweep(axes={"placement.seed": []}), EmptyAxis, ("axes", "placement.seed")),
        (sweep(axes={"placement.seed": {"from": 2, "to": 1}}), EmptyAxis, ("axes", "placement.seed")),
        (sweep(axes={"placement.seed": 3}), ImpossibleValue, ("axes", "placement.seed")),
        (sweep(axes={"placement.seed": {"from": 1, "to": 2, "step": 0}}), ImpossibleValue, None),
        (sweep(axes={"placement.seed": {"from": 1}}), ImpossibleValue, ("axes", "placement.seed", "to")),
        (sweep(axes=[{"path": "placement.seed", "values": [1]}] * 2), ConflictingFields, ("axes", 1, "path")),
        (sweep(axes=3), ImpossibleValue, ("axes",)),
        (sweep(sample={"count": 2}), ConflictingFields, ("sample", "count")),
        (sweep(constraints={"max_restart_waves": 3}), ConflictingFields, ("constraints", "max_restart_waves")),
        (sweep(sample={"count": 0}), ImpossibleValue, ("sample", "count")),
        (sweep(objective="beauty"), ImpossibleValue, ("objective",)),
        (sweep(constraints={"min_beauty": 1}), ImpossibleValue, ("constraints", "min_beauty")),
        (sweep(constraints={"min_headroom": "1"}), ImpossibleValue, ("constraints", "min_headroom")),
        ({"base": base(zones=3)}, ImpossibleValue, ("base", "zones")),
        ({"base": [1]}, ImpossibleValue, ("base",)),
        ({}, ImpossibleValue, ("base",)),
    ],
)
def test_an_impossible_sweep_is_named(definition: Any, failure: type[Failure], path: Any) -> None:
    with pytest.raises(failure) as raised:
        read_definition(definition)
    assert path is None or raised.value.path == path


@pytest.mark.parametrize(
    "path",
    [
        "topolgy.racks",
        "topology.zones",
        "topology.brokers_per_rack.a",
        "topics.payments.partitions",
        "topics.*.name",
        "topics.partitions",
        "traffic.growth_per_month.x",
        "",
    ],
)
def test_an_unknown_axis_lists_the_known_ones(path: str) -> None:
    with pytest.raises(UnknownAxis) as raised:
        _require(read_definition(sweep(axes={path: [1]})))
    assert raised.value.path == ("axes", path)
    assert "topology.brokers_per_rack" in raised.value.detail
    assert "topics: orders" in raised.value.detail


def test_an_impossible_value_of_an_axis_is_rejected_before_the_sweep_starts() -> None:
    with pytest.raises(ImpossibleValue) as raised:
        _require(read_definition(sweep(axes={"topology.brokers_per_rack": [2, "many"]})))
    assert raised.value.path == ("axes", "topology.brokers_per_rack")
    with pytest.raises(ImpossibleValue):
        _require(read_definition(sweep(axes={"traffic.growth_per_month": {"from": -2, "to": 1}})))


def test_an_impossible_base_is_rejected_before_the_sweep_starts() -> None:
    broken = {"base": base(broker_profile={}), "axes": {"placement.seed": [1]}}
    with pytest.raises(ImpossibleValue) as raised:
        _require(read_definition(broken))
    assert raised.value.path == ("base", "broker_profile", "disk_bytes")
    # An axis may state fields that the base leaves out.
    _require(read_definition({**broken, "axes": {"broker_profile.disk_bytes": [1]}}))


def test_contradictory_values_fail_only_the_scenarios_that_combine_them() -> None:
    definition = read_definition(sweep(axes={"topics.*.replication_factor": [1, 2, 7]}))
    _require(definition)
    with pytest.raises(ConflictingFields):
        CapacitySweep(definition).scenario(0)
    assert CapacitySweep(definition).scenario(1).topics[0].replication_factor == 2
    with pytest.raises(ConflictingFields):
        CapacitySweep(definition).scenario(2)
    with pytest.raises(IndexError):
        CapacitySweep(definition).scenario(3)
