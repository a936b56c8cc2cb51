"""Scenarios of a few brokers and partitions, in JSON, with everything that the model knows turned on somewhere."""

from collections.abc import Mapping
from typing import Any

from app.core.capacity.loads import loads, positions, workload
from app.core.capacity.scenario import Scenario
from app.core.capacity.score import Score, judge, place
from app.core.capacity.sweep import CapacitySweep, read_definition
from app.errors import Json
from tests import draws as st

RACKS = ("a", "b", "c", "d")
PROFILE: Mapping[str, Any] = {
    "disk_bytes": 1e9,
    "disk_bytes_per_s": 1e7,
    "nic_in_bytes_per_s": 1e7,
    "nic_out_bytes_per_s": 1e7,
    "vcpu": 4,
    "bytes_per_s_per_vcpu": 3e6,
    "max_partitions": 40,
    "price_per_month": 100,
}


def base(**changes: Any) -> dict[str, Any]:
    """Three racks of two brokers and one topic of twelve partitions, three replicas each; `changes` in place of it."""
    return {
        "topology": {"racks": ["a", "b", "c"], "brokers_per_rack": 2},
        "broker_profile": dict(PROFILE),
        "topics": [topic()],
        "placement": {"algorithm": "admin_utils", "seed": 7},
        "clients": {"follower_fetching": False},
        "traffic": {"growth_per_month": 0.05, "horizon_months": 240},
        "failures": ["none", "broker", "rack"],
        "targets": {},
        "prices": {"cross_rack_per_gib": 0.02, "storage_per_gib_month": 0.1},
        **changes,
    }


def topic(**changes: Any) -> dict[str, Any]:
    """Twelve partitions of three replicas, 120 kB/s, retained for an hour, read twice."""
    return {
        "name": "orders",
        "partitions": 12,
        "replication_factor": 3,
        "min_insync_replicas": 2,
        "ingress_bytes_per_s": 120_000,
        "retention_s": 3600,
        "consumer_groups": 2,
        **changes,
    }


_rates = st.integers(0, 2_000_000)


@st.composite
def topics(draw: st.DrawFn, name: str, brokers: int) -> dict[str, Any]:
    """A topic that the brokers can carry."""
    factor = draw(st.integers(1, min(brokers, 6)))
    partitions = draw(st.integers(1, 8))
    mean = draw(_rates)
    retention: dict[str, Any] = draw(
        st.sampled_from(
            [
                {"retention_s": 600},
                {"retained_bytes": 3e8},
                {"retention_bytes": 2e7},
                {"retention_s": 600, "retention_bytes": 3e7},
                {"retained_bytes": 1e8, "retention_bytes": 2e7},
                {"retained_bytes_per_partition": [1e7 * (number % 3) for number in range(partitions)]},
            ]
        )
    )
    tiered: dict[str, Any] = {}
    if draw(st.booleans()):
        longest, largest = retention.get("retention_s", 600), retention.get("retention_bytes", 3e7)
        tiered = {"remote_storage": True, "segment_bytes": draw(st.sampled_from([0, 1e6, 2**30]))}
        if draw(st.booleans()):
            tiered["local_retention_s"] = draw(st.integers(0, longest))
        if draw(st.booleans()):
            tiered["local_retention_bytes"] = draw(st.integers(0, int(largest)))
    weights = st.one_of(
        st.just("uniform"),
        st.builds(lambda s: {"zipf": s}, st.sampled_from([0, 0.5, 1.3])),
        st.lists(st.integers(1, 9), min_size=partitions, max_size=partitions),
    )
    return {
        "name": name,
        "partitions": partitions,
        "replication_factor": factor,
        "min_insync_replicas": draw(st.integers(1, factor)),
        "ingress_bytes_per_s": mean,
        "peak_ingress_bytes_per_s": mean + draw(_rates),
        "consumer_groups": draw(st.integers(0, 4)),
        "lagging_share": draw(st.sampled_from([0, 0.25, 1])),
        "disk_headroom": draw(st.sampled_from([0, 0.2])),
        "partition_weights": draw(weights),
        **retention,
        **tiered,
    }


@st.composite
def shares(draw: st.DrawFn, racks: list[str]) -> dict[str, float]:
    """Where clients are: shares of 1, none in some racks."""
    parts = draw(st.lists(st.integers(0, 3), min_size=len(racks), max_size=len(racks)).filter(any))
    return {rack: part / sum(parts) for rack, part in zip(racks, parts, strict=True)}


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """Any scenario that can be."""
    racks = list(RACKS[: draw(st.integers(1, 4))])
    counts = {rack: draw(st.integers(1, 3)) for rack in racks}
    brokers = sum(counts.values())
    clients: dict[str, Any] = {"follower_fetching": draw(st.booleans())}
    for name in ("producer_share_per_rack", "consumer_share_per_rack"):
        if draw(st.booleans()):
            clients[name] = draw(shares(racks))
    return {
        "topology": {"racks": racks, "brokers_per_rack": counts},
        "broker_profile": dict(PROFILE),
        "topics": [draw(topics(f"topic.{index}", brokers)) for index in range(draw(st.integers(1, 3)))],
        "partitions_multiplier": draw(st.integers(1, 3)),
        "placement": {
            "algorithm": draw(st.sampled_from(["admin_utils", "striped", "awareness"])),
            "seed": draw(st.integers(0, 99)),
        },
        "clients": clients,
        "traffic": {"growth_per_month": draw(st.sampled_from([-1, -0.1, 0, 0.03, 0.5])), "horizon_months": 24},
        "failures": draw(st.lists(st.sampled_from(["none", "broker", "rack", "rack_and_broker"]), unique=True)),
        "targets": {"disk": draw(st.sampled_from([0.5, 1.0])), "nic_out": draw(st.sampled_from([0.3, 0.7]))},
        "prices": {
            "cross_rack_per_gib": 0.02,
            "storage_per_gib_month": 0.1,
            "remote_storage_per_gib_month": 0.02,
            "replication_billed": draw(st.booleans()),
        },
        "rereplication": {"throttle_bytes_per_s": draw(st.sampled_from([0, 250_000]))},
    }


def read_scenario(value: Json) -> Scenario:
    """One scenario's JSON by itself; without a seed, with the seed of a sweep's scenario 0."""
    return CapacitySweep(read_definition({"base": value})).scenario(0)


def score(scenario: Scenario) -> Score:
    """The score of one scenario by itself."""
    placements = place(scenario.topology, scenario.topics, scenario.placement, seed=scenario.seed)
    carried = loads(
        positions(placements),
        workload(scenario.topics),
        topology=scenario.topology,
        clients=scenario.clients,
        failures=scenario.failures,
    )
    return judge(scenario, carried)
