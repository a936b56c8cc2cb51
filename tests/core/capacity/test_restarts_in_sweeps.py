"""Restart waves of scenarios: those of a restart plan of the same placement, and the laws of their number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from app.core.capacity.loads import Workload, positions, workload
from app.core.capacity.scenario import Float64s, Scenario
from app.core.capacity.score import place, restart
from app.core.capacity.sweep import CapacitySweep, read_definition
from app.core.model import Int32s
from app.errors.requests import ConflictingFields
from tests import draws as st
from tests.core.capacity.small_scenarios import base, read_scenario, scenarios, score


def figures(mapping: Mapping[str, Any], axes: Mapping[str, Any], index: int = 0) -> Mapping[str, Any]:
    """The figures of a scenario of a sweep."""
    return CapacitySweep(read_definition({"base": mapping, "axes": axes})).figures(index)


@given(scenarios(), st.sampled_from(["broker", "rack"]), st.integers(1, 4))
def test_waves_are_between_their_lower_bound_and_the_number_of_brokers(
    mapping: Mapping[str, Any], per: str, most: int
) -> None:
    actual = figures({**mapping, "restart": {"per": per, "max_brokers_per_wave": most}}, {})
    waves, bound = actual["restart_waves"], actual["restart_waves_lower_bound"]
    assert -(-actual["brokers"] // most) <= bound <= waves <= actual["brokers"]
    if per == "rack":
        assert bound >= len(mapping["topology"]["racks"])


@given(scenarios())
def test_one_broker_a_wave_takes_a_wave_for_each_broker(mapping: Mapping[str, Any]) -> None:
    actual = figures(mapping, {"restart.max_brokers_per_wave": [1]})
    assert actual["restart_waves"] == actual["restart_waves_lower_bound"] == actual["brokers"]


def test_waves_are_counted_only_if_they_are_requested() -> None:
    assert figures(base(), {})["restart_waves"] is None


@pytest.mark.parametrize(("most", "waves"), [(1, 9), (2, 6), (3, 3), (None, 3)])
def test_a_rack_at_a_time(most: int | None, waves: int) -> None:
    """Three racks of three brokers, each partition in all of them, two in sync: a rack may be down as a whole."""
    mapping = base(topology={"racks": ["a", "b", "c"], "brokers_per_rack": 3}, restart={"per": "rack"})
    actual = figures(mapping, {"restart.max_brokers_per_wave": [most]})
    assert (actual["restart_waves"], actual["restart_waves_lower_bound"]) == (waves, waves)


@pytest.mark.parametrize(("min_insync", "waves"), [(1, 2), (2, 3), (3, 3)])
def test_waves_keep_min_insync_replicas(min_insync: int, waves: int) -> None:
    """Three brokers with every partition: two may be down if one replica is enough; of 3 of 3, one at a time."""
    topics = [{**base()["topics"][0], "min_insync_replicas": min_insync}]
    mapping = base(topology={"racks": ["a", "b", "c"], "brokers_per_rack": 1}, topics=topics, restart={})
    assert figures(mapping, {})["restart_waves"] == waves


@pytest.mark.parametrize(("controllers", "waves"), [(None, 1), (1, 1), (3, 3), (5, 3), (9, 3)])
def test_controllers_keep_their_quorum(controllers: int | None, waves: int) -> None:
    """Of nine brokers with a replica each in every wave, as many are restarted at once as controllers may be down."""
    topics = [{**base()["topics"][0], "min_insync_replicas": 1, "replication_factor": 1}]
    mapping = base(topology={"racks": ["a", "b", "c"], "brokers_per_rack": 3}, topics=topics)
    actual = figures(mapping, {"restart.controllers": [controllers]})
    assert (actual["restart_waves"], actual["restart_waves_lower_bound"]) == (waves, waves)


def test_more_controllers_than_brokers_are_named_with_both_numbers() -> None:
    with pytest.raises(ConflictingFields, match="7 brokers are controllers; 6 given") as raised:
        figures(base(restart={"controllers": 7}), {})
    assert (raised.value.path, raised.value.context["maximum"]) == (("restart", "controllers"), 6)


@given(scenarios(), st.sampled_from(["disk_bytes_per_s", "nic_out_bytes_per_s", "vcpu"]), st.floats(0.1, 1.2))
def test_no_broker_exceeds_a_limit_that_it_is_within_before(
    mapping: Mapping[str, Any], resource: str, share: float
) -> None:
    """Each wave is evaluated as the failure of its brokers: the first live replica of a list leads.

    A broker may be restarted alone although it breaks a limit: no schedule avoids it.
    """
    mapping = {**mapping, "clients": {}, "targets": {}, "restart": {}}
    free = {**mapping["broker_profile"], **dict.fromkeys(("disk_bytes_per_s", "nic_out_bytes_per_s", "vcpu"))}
    scenario = read_scenario({**mapping, "broker_profile": free})
    rows = positions(place(scenario.topology, scenario.topics, scenario.placement, seed=scenario.seed))
    name = resource.removesuffix("_bytes_per_s") if resource.startswith("nic") else resource
    largest = score(scenario).resources[name].before.max
    limit = max(1e-3, 2 * share * largest)
    limited = read_scenario({**mapping, "broker_profile": {**free, resource: limit}})
    work = workload(limited.topics)
    schedule = restart(rows, work, limited)
    assert sum(map(len, schedule.waves)) == len(limited.topology.brokers)
    before = sent_by(rows, work, limited, name, ())
    for wave in schedule.waves:
        after = sent_by(rows, work, limited, name, wave)
        gets = after > before * (1 + 1e-9)
        gets[list(wave)] = False
        assert len(wave) == 1 or (after[gets] <= limit * (1 + 1e-8)).all()


def sent_by(rows: Int32s, work: Workload, scenario: Scenario, name: str, down: Sequence[int]) -> Float64s:
    """(brokers,) load of a resource while some brokers are down, partition by partition; what followers write stays."""
    load = np.zeros(len(scenario.topology.brokers))
    topic_of = np.repeat(np.arange(len(work.fan_out)), np.diff(work.bounds))
    for row, ingress, topic in zip(rows.tolist(), work.peak_ingress.tolist(), topic_of.tolist(), strict=True):
        replicas = [broker for broker in row if broker >= 0]
        live = [broker for broker in replicas if broker not in down]
        sent, read = (len(replicas) - 1) * ingress, work.fan_out[topic] * ingress
        lagging = work.lagging_share[topic] * read
        for broker in replicas:
            load[broker] += {"nic_out": 0.0}.get(name, ingress)
        if live:
            load[live[0]] += {"nic_out": sent + read, "vcpu": sent + 0.25 * read, "disk_bytes_per_s": lagging}[name]
    return load / (scenario.broker_profile.bytes_per_s_per_vcpu if name == "vcpu" else 1.0)


@pytest.mark.parametrize(
    ("nic_out", "fetching", "waves"), [(None, False, 2), (40, False, 2), (30, False, 6), (30, True, 2)]
)
def test_a_limit_needs_more_waves(nic_out: float | None, fetching: bool, waves: int) -> None:
    """Six brokers lead 10 partitions each and send 2 bytes/s of each, 4 while the other rack is down as a whole.

    A limit does not count if followers serve consumers.
    """
    one = {**base()["topics"][0], "partitions": 60, "replication_factor": 2, "min_insync_replicas": 1}
    mapping = base(
        topology={"racks": ["a", "b"], "brokers_per_rack": 3},
        topics=[{**one, "ingress_bytes_per_s": 60, "consumer_groups": 1}],
        placement={"algorithm": "striped", "seed": 1},
        clients={"follower_fetching": fetching},
        restart={},
    )
    actual = figures(mapping, {"broker_profile.nic_out_bytes_per_s": [nic_out]})
    assert (actual["restart_waves"], actual["restart_waves_lower_bound"]) == (waves, waves)
