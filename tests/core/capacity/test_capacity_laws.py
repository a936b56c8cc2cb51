"""The laws that every scenario obeys, and the published formulas for a whole cluster."""

from collections.abc import Mapping
from math import ceil, log
from typing import Any

import pytest
from hypothesis import assume, given

from app.core.capacity.score import Score
from tests import draws as st
from tests.core.capacity.small_scenarios import PROFILE, base, read_scenario, scenarios, score, topic

MIB = 2**20


def scored(mapping: Mapping[str, Any]) -> Score:
    """The score of a scenario's JSON."""
    return score(read_scenario(mapping))


def total(scenario: Score, resource: str) -> float:
    """Over all brokers, before any failure."""
    return scenario.resources[resource].before.mean * scenario.brokers


def peak(entry: Mapping[str, Any]) -> float:
    """A topic's peak ingress."""
    return float(entry.get("peak_ingress_bytes_per_s", entry["ingress_bytes_per_s"]))


@given(scenarios())
def test_every_replica_receives_every_written_byte(mapping: Mapping[str, Any]) -> None:
    expected = sum(peak(entry) * entry["replication_factor"] for entry in mapping["topics"])
    assert total(scored(mapping), "nic_in") == pytest.approx(expected)


@given(scenarios())
def test_leaders_send_to_followers_and_every_consumer_is_served(mapping: Mapping[str, Any]) -> None:
    """Wherever consumers are and whoever serves them: (R − 1 + C) · W, with follower fetching as without."""
    expected = sum(
        peak(entry) * (entry["replication_factor"] - 1 + entry["consumer_groups"]) for entry in mapping["topics"]
    )
    assert total(scored(mapping), "nic_out") == pytest.approx(expected, abs=1e-6)


def scaled(mapping: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """The scenario with its traffic and its retained bytes multiplied."""
    grows = ("ingress_bytes_per_s", "peak_ingress_bytes_per_s", "retained_bytes")
    topics = [
        {name: value * factor if name in grows else value for name, value in entry.items()}
        | {name: [own * factor for own in entry[name]] for name in entry if name == "retained_bytes_per_partition"}
        for entry in mapping["topics"]
    ]
    return {**mapping, "topics": topics, "rereplication": {"throttle_bytes_per_s": 0}}


@given(scenarios())
def test_twice_the_traffic_is_twice_every_rate_and_half_the_headroom(mapping: Mapping[str, Any]) -> None:
    once, twice = scored(scaled(mapping, 1)), scored(scaled(mapping, 2))
    for resource in ("disk_bytes_per_s", "nic_in", "nic_out", "vcpu"):
        for before in ("max", "p95", "mean"):
            assert getattr(twice.resources[resource].before, before) == pytest.approx(
                2 * getattr(once.resources[resource].before, before)
            )
            assert getattr(twice.resources[resource].worst, before) == pytest.approx(
                2 * getattr(once.resources[resource].worst, before)
            )
    assert twice.cross_rack_bytes_per_s == pytest.approx(2 * once.cross_rack_bytes_per_s)
    if once.headroom is None:
        assert twice.headroom is None
    else:
        assert twice.headroom == pytest.approx(once.headroom / 2, abs=1e-12)


@given(scenarios(), st.sampled_from([0.01, 0.07, 0.3, 1.0]))
def test_headroom_ends_in_the_month_of_the_formula(mapping: Mapping[str, Any], growth: float) -> None:
    actual = scored({**mapping, "traffic": {"growth_per_month": growth, "horizon_months": 1200}})
    assume(actual.headroom is not None and actual.headroom > 1.000001)
    assert actual.headroom is not None
    month = ceil(log(actual.headroom) / log(1 + growth))
    assert actual.first_breaking_month == (month if month <= 1200 else None)


@given(scenarios(), st.floats(1.01, 5))
def test_grown_traffic_is_the_same_as_more_traffic(mapping: Mapping[str, Any], factor: float) -> None:
    """The limits exceeded in month m are those exceeded now with the traffic of month m."""
    once = scored(mapping)
    assume(once.headroom is not None and abs(once.headroom - factor) > 1e-6 * factor)
    assert once.headroom is not None
    more = scored({**scaled(mapping, factor), "rereplication": mapping["rereplication"]})
    assert more.feasible == (once.headroom > factor)


@given(st.integers(2, 5), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.data())
def test_surviving_brokers_of_one_of_z_racks_take_over_the_leaders_load(
    racks: int, brokers: int, rounds: int, groups: int, data: st.DataObject
) -> None:
    """Leading, and work of leaders alone (serving readers), grows by Z/(Z − 1).

    Over whole periods of AdminUtils leaders are even; where the lead goes next is even in the mean of the survivors.
    """
    count = racks * brokers
    factor = data.draw(st.integers(2, racks))
    actual = scored(
        base(
            topology={"racks": [f"r{index}" for index in range(racks)], "brokers_per_rack": brokers},
            topics=[
                topic(
                    partitions=count * max(1, count - 1) * rounds,
                    replication_factor=factor,
                    min_insync_replicas=1,
                    consumer_groups=groups,
                    ingress_bytes_per_s=count * 1000.0,
                )
            ],
            failures=["rack"],
        )
    )
    reads = groups * 1000.0
    lost, survivors = actual.resources["nic_out"].before, actual.resources["nic_out"].worst
    assert lost.mean == pytest.approx(reads + (factor - 1) * 1000)
    # Of the followers, a share of factor/racks partitions has one less, whichever replica was lost.
    followers = (factor - 1 - factor / racks) * 1000
    assert survivors.mean == pytest.approx((reads + followers) * racks / (racks - 1))


@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 4), st.booleans(), st.data())
def test_cross_rack_bytes_with_clients_in_equal_shares(
    racks: int, brokers: int, groups: int, fetching: bool, data: st.DataObject
) -> None:
    """W(Z − 1)/Z + W(R − 1) + C·W(Z − 1)/Z; the last is 0 with follower fetching where R ≥ Z."""
    factor = data.draw(st.integers(racks if fetching else 1, racks))
    ingress = 90_000.0
    actual = scored(
        base(
            topology={"racks": [f"r{index}" for index in range(racks)], "brokers_per_rack": brokers},
            topics=[
                topic(
                    replication_factor=factor,
                    min_insync_replicas=1,
                    consumer_groups=groups,
                    ingress_bytes_per_s=ingress,
                )
            ],
            clients={"follower_fetching": fetching},
        )
    ).cross_rack_parts
    elsewhere = (racks - 1) / racks
    assert actual.producers == pytest.approx(ingress * elsewhere)
    assert actual.replication == pytest.approx(ingress * (factor - 1))
    assert actual.consumers == pytest.approx(0 if fetching else groups * ingress * elsewhere, abs=1e-6)


def test_a_cluster_of_300_mib_a_second_meets_the_published_formulas() -> None:
    """300 MiB/s written, read by two groups, three replicas in three zones, retained for a day.

    In: W·R. Out: W·(R + C − 1). Disk: W·R·retention. From zone to zone: two thirds of produced and read bytes, and
    both followers. A zone lost: the readers of its leaders go to the two others, whose leaders send to one follower.
    """
    written = 300 * MIB
    actual = scored(
        base(
            topology={"racks": ["az1", "az2", "az3"], "brokers_per_rack": 4},
            broker_profile={**PROFILE, "disk_bytes": 16 * 2**40, "nic_in_bytes_per_s": 1.25e9, "max_partitions": 4000},
            topics=[
                topic(partitions=12 * 11 * 3, ingress_bytes_per_s=written, retention_s=86400, consumer_groups=2),
            ],
            failures=["none", "broker", "rack"],
            prices={"cross_rack_per_gib": 0.02, "storage_per_gib_month": 0.1},
        )
    )
    assert total(actual, "nic_in") == pytest.approx(900 * MIB)
    assert total(actual, "nic_out") == pytest.approx((3 + 2 - 1) * written)
    assert total(actual, "disk") == pytest.approx(written * 3 * 86400)
    crossed = actual.cross_rack_parts
    assert crossed.producers == pytest.approx(200 * MIB)
    assert crossed.replication == pytest.approx(600 * MIB)
    assert crossed.consumers == pytest.approx(400 * MIB)
    assert actual.resources["nic_out"].before.max == pytest.approx(100 * MIB)
    assert actual.failures["rack"].partitions_offline == 0
    assert actual.failures["rack"].partitions_under_min_isr == 0
    assert actual.resources["nic_out"].worst.mean == pytest.approx((2 + 1) * written / 8)
    month_gib = 1200 / 1024 * 730 * 3600
    assert actual.monthly_cost_parts.cross_rack == pytest.approx(month_gib * 0.02)
    assert actual.monthly_cost_parts.storage == pytest.approx(12 * 16 * 1024 * 0.1)
    assert actual.monthly_cost_parts.brokers == 1200


def test_replication_can_be_excluded_from_the_cost() -> None:
    prices = {"cross_rack_per_gib": 1.0, "storage_per_gib_month": 0.0}
    whole = scored(base(prices=prices))
    unbilled = scored(base(prices={**prices, "replication_billed": False}))
    share = whole.cross_rack_parts.replication / whole.cross_rack_bytes_per_s
    assert unbilled.monthly_cost_parts.cross_rack == pytest.approx(whole.monthly_cost_parts.cross_rack * (1 - share))
    assert unbilled.cross_rack_bytes_per_s == whole.cross_rack_bytes_per_s


def test_a_load_that_is_exactly_the_limit_is_within_it() -> None:
    """Twelve partitions of 10 kB/s on six brokers: six replicas, 60 kB/s, a broker."""
    room = scored(base(broker_profile={**PROFILE, "nic_in_bytes_per_s": 60_000, "max_partitions": 6}))
    assert room.resources["nic_in"].before.max == pytest.approx(60_000)
    assert room.feasible
    assert room.headroom == pytest.approx(1)
    assert room.first_breaking_month == 1
    tight = scored(base(broker_profile={**PROFILE, "nic_in_bytes_per_s": 59_999}))
    assert not tight.feasible
    assert tight.first_breaking_month == 0
    assert tight.binding is not None
    assert (tight.binding.resource, tight.binding.failure) == ("nic_in", "none")
    assert tight.binding.value == pytest.approx(60_000)
    assert tight.binding.limit == 59_999


def test_headroom_is_zero_if_there_are_too_many_partitions() -> None:
    actual = scored(base(broker_profile={**PROFILE, "max_partitions": 5}))
    assert (actual.feasible, actual.headroom, actual.first_breaking_month) == (False, 0, 0)
    assert actual.binding is not None
    assert (actual.binding.resource, actual.binding.value, actual.binding.limit) == ("partitions", 6, 5)


def test_a_size_cap_does_not_grow_with_traffic() -> None:
    """Retention by size alone fills the disk at once and never more; nothing else has a limit here."""
    capped = topic(retention_s=None, retention_bytes=1e6)
    profile = {"disk_bytes": 6e6}
    assert scored(base(broker_profile=profile, topics=[capped])).headroom is None
    growing = scored(base(broker_profile=profile, topics=[topic(retention_s=None, retained_bytes=6e6)]))
    assert growing.headroom == pytest.approx(2)


def test_headroom_is_unlimited_without_traffic() -> None:
    actual = scored(base(topics=[topic(ingress_bytes_per_s=0)]))
    assert (actual.feasible, actual.headroom, actual.first_breaking_month, actual.first_limit) == (
        True,
        None,
        None,
        None,
    )


@pytest.mark.parametrize("growth", [-1, -0.2, 0])
def test_without_growth_no_limit_breaks_later(growth: float) -> None:
    actual = scored(base(traffic={"growth_per_month": growth, "horizon_months": 36}))
    assert (actual.feasible, actual.first_breaking_month) == (True, None)


def test_rereplication_loads_surviving_brokers_up_to_the_throttle() -> None:
    without, throttled = (
        scored(base(failures=["rack"], rereplication={"throttle_bytes_per_s": rate})) for rate in (0, 5_000)
    )
    for resource, more in {"nic_in": 5_000, "nic_out": 5_000, "disk_bytes_per_s": 10_000, "disk": 0}.items():
        assert throttled.resources[resource].worst.max == pytest.approx(without.resources[resource].worst.max + more)
        assert throttled.resources[resource].before == without.resources[resource].before


TIERED: Mapping[str, Any] = {"remote_storage": True, "retention_s": 3600, "segment_bytes": 1e6}


@given(scenarios(), st.sampled_from(["local_retention_s", "local_retention_bytes"]))
def test_local_retention_as_long_as_retention_needs_the_disks_of_a_topic_that_is_not_tiered(
    mapping: Mapping[str, Any], field: str
) -> None:
    """The remote copy is in addition to the local ones."""
    tiered, plain = (
        scored({**mapping, "topics": [_of_retention(entry, field, is_tiered) for entry in mapping["topics"]]})
        for is_tiered in (True, False)
    )
    assert tiered.resources["disk"] == plain.resources["disk"]
    assert (tiered.headroom, tiered.first_breaking_month) == (plain.headroom, plain.first_breaking_month)
    assert (tiered.remote_bytes >= 0, plain.remote_bytes) == (True, 0)
    assert tiered.monthly_cost - tiered.monthly_cost_parts.remote_storage == pytest.approx(plain.monthly_cost)


def _of_retention(entry: Mapping[str, Any], field: str, is_tiered: bool) -> dict[str, Any]:
    """The topic with retention by time or by size alone, and as much of it local."""
    plain = {name: value for name, value in entry.items() if "retention" not in name and "retained" not in name}
    plain |= {field.removeprefix("local_"): 600.0, "remote_storage": is_tiered}
    return plain | ({field: 600.0} if is_tiered else {})


@given(st.lists(st.integers(0, 3600), min_size=2, max_size=2), st.sampled_from([0, 1e5, 2**30]))
def test_shorter_local_retention_needs_no_more_disk_and_costs_no_more(local: list[int], segment: float) -> None:
    shorter, longer = (
        scored(base(topics=[topic(**{**TIERED, "local_retention_s": each, "segment_bytes": segment})]))
        for each in sorted(local)
    )
    assert shorter.resources["disk"].before.max <= longer.resources["disk"].before.max
    assert (shorter.headroom or 0) >= (longer.headroom or 0) * (1 - 1e-9)
    assert shorter.remote_bytes == longer.remote_bytes
    assert shorter.monthly_cost <= longer.monthly_cost


def test_ten_minutes_of_an_hour_are_local() -> None:
    """120 kB/s over 12 partitions, three replicas on six brokers: 6 replicas of 10 kB/s · 600 s and a segment of 1 MB.

    An hour has one copy remotely: 120 kB/s · 3600 s, whose price is 0.02 a GiB. The disk of 50 MB fills at a factor of
    (50 − 6 · 1) / (6 · 6), where a topic that is not tiered needs 216 MB.
    """
    prices = {"remote_storage_per_gib_month": 0.02}
    profile = {"disk_bytes": 5e7, "price_per_month": 100}
    entry = topic(**TIERED, local_retention_s=600)
    placed = {"placement": {"algorithm": "striped", "seed": 7}}
    actual = scored(base(topics=[entry], prices=prices, broker_profile=profile, **placed))
    assert actual.resources["disk"].before.max == 6 * (10_000 * 600 + 1e6)
    assert actual.headroom == pytest.approx((50 - 6) / 36)
    assert actual.remote_bytes == 120_000 * 3600
    assert actual.monthly_cost == pytest.approx(600 + 0.432e9 / 2**30 * 0.02)
    plain = scored(base(topics=[topic()], broker_profile=profile, **placed))
    assert (plain.resources["disk"].before.max, plain.feasible) == (6 * 10_000 * 3600, False)
