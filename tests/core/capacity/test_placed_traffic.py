"""The traffic of a placement: bytes across racks and additions by losses, against an evaluation by partition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capacity.placed_traffic import PlacedTraffic, broker_losses, changes_by_loss, cross_rack, rack_losses
from app.core.model import Float64s, Int32s, padded


@st.composite
def placed(draw: st.DrawFn) -> PlacedTraffic:
    """Up to six partitions of two topics on up to six brokers in up to three racks; whole rates, so that sums are."""
    brokers = draw(st.integers(2, 6))
    racks = draw(st.integers(1, 3))
    rack_of = np.array([draw(st.integers(0, racks - 1)) for _ in range(brokers)], np.int32)
    lists = draw(st.lists(st.lists(st.integers(0, brokers - 1), min_size=1, max_size=3, unique=True), max_size=6))
    width = max(map(len, lists), default=1)
    return PlacedTraffic.of_rows(
        padded(lists) if lists else np.empty((0, 1), np.int32),
        np.sort(np.array([draw(st.integers(0, 1)) for _ in lists], np.int64)),
        np.array([draw(st.integers(0, 60)) for _ in lists], np.float64),
        np.array([draw(st.integers(0, 3)) for _ in range(2)], np.float64),
        rack_of=rack_of,
        racks=racks,
        follower_fetching=draw(st.booleans()),
        in_sync=np.array([[draw(st.booleans()) for _ in range(width)] for _ in lists], np.bool_).reshape(-1, width),
    )


def _loads(traffic: PlacedTraffic, lost: set[int]) -> tuple[Float64s, Float64s, Float64s, list[str]]:
    """Traffic and leaders of each broker if brokers are lost, and the state of each partition: Kafka elects
    the first replica of the list that is left and in sync. Clients stay where they are.
    """
    sent, leads, received = np.zeros((3, len(traffic.rack_of)))
    fates = []
    for row, replicas in enumerate(traffic.replicas.tolist()):
        listed = [broker for broker in replicas if broker >= 0]
        alive = [broker for broker in listed if broker not in lost]
        may_lead = [
            broker
            for place, broker in enumerate(listed)
            if broker in alive and (place == 0 or traffic.in_sync[row, place])
        ]
        fates.append("kept" if len(alive) == len(listed) else "reduced")
        if not may_lead:
            fates[-1] = "offline"
            continue
        leader = may_lead[0]
        fates[-1] = "elected" if leader != listed[0] else fates[-1]
        topic = int(np.searchsorted(traffic.bounds, row, side="right")) - 1
        leads[leader] += 1
        sent[leader] += (len(alive) - 1) * traffic.ingress[row]
        received[alive] += traffic.ingress[row]
        for rack in range(traffic.racks):
            near = [broker for broker in alive if traffic.rack_of[broker] == rack]
            server = max(near) if near and leader not in near and traffic.follower_fetching else leader
            sent[server] += traffic.fan_out[topic] * traffic.ingress[row] / traffic.racks
    return sent, leads, received, fates


def _worst(traffic: PlacedTraffic, groups: list[set[int]]) -> tuple[Float64s, Float64s]:
    """The largest increases of the remaining brokers' sent bytes and leaders, over losses."""
    before = _loads(traffic, set())
    most = np.zeros((2, len(traffic.rack_of)))
    for lost in groups:
        for load, after in enumerate(_loads(traffic, lost)[:2]):
            increase = np.array(after) - before[load]
            increase[list(lost)] = 0
            most[load] = np.maximum(most[load], increase)
    return most[0], most[1]


@given(placed())
def test_losses_add_what_a_partition_at_a_time_says(traffic: PlacedTraffic) -> None:
    brokers = range(len(traffic.rack_of))
    found = broker_losses(traffic)
    sent, leads = _worst(traffic, [{broker} for broker in brokers])
    assert found.sent.increase == pytest.approx(sent)
    assert found.leaders.increase == pytest.approx(leads)
    assert ((found.leaders.lost < 0) == (leads == 0)).all()
    of_racks = [{broker for broker in brokers if traffic.rack_of[broker] == rack} for rack in range(traffic.racks)]
    by_rack = rack_losses(traffic)
    sent, leads = _worst(traffic, of_racks)
    assert by_rack.sent.increase == pytest.approx(sent, abs=1e-9)
    assert by_rack.leaders.increase == pytest.approx(leads)


@given(placed(), st.data())
def test_each_loss_is_a_recomputation_without_the_lost_brokers(traffic: PlacedTraffic, data: st.DataObject) -> None:
    """Brokers, racks, and groups of which some brokers are in none."""
    groups = data.draw(st.integers(1, 4))
    numbers = st.integers(-1, groups - 1)
    group_of = np.array([data.draw(numbers) for _ in traffic.rack_of], np.int32)
    *before, _ = _loads(traffic, set())
    [block] = changes_by_loss(traffic, group_of, groups)
    for group in range(groups):
        lost = set(np.flatnonzero(group_of == group).tolist())
        *after, fates = _loads(traffic, lost)
        for was, now, found in zip(before, after, (block.sent, block.leaders, block.received), strict=True):
            now[list(lost)] = was[list(lost)]
            assert found[group] == pytest.approx(now - was, abs=1e-9)
        assert block.offline[group] == fates.count("offline")
        assert block.elected[group] == fates.count("elected")
        assert block.reduced[group] == len(fates) - fates.count("kept")


@pytest.mark.parametrize("follower_fetching", [False, True])
def test_the_identity_of_a_spread_placement(follower_fetching: bool) -> None:
    """W (Z - 1) / Z of producers, W (R - 1) of replication, and as much of consumers as of producers, or none."""
    replicas: Int32s = padded([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    traffic = PlacedTraffic.of_rows(
        replicas,
        np.zeros(3, np.int64),
        np.full(3, 30.0),
        np.array([2.0]),
        rack_of=np.arange(3, dtype=np.int32),
        racks=3,
        follower_fetching=follower_fetching,
    )
    crossed = cross_rack(traffic)
    assert (crossed.producers, crossed.replication) == pytest.approx((60, 180))
    assert crossed.consumers == pytest.approx(0 if follower_fetching else 120)
