"""Restart waves of scenarios: those of a restart plan of the same placement, and the laws of their number."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from app.core.capacity.sweep import CapacitySweep, read_definition
from tests import draws as st
from tests.core.capacity.small_scenarios import base, scenarios


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
