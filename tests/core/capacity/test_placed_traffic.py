"""The traffic of a placement: what crosses racks and what losses add, against an evaluation by partition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capacity.placed_traffic import PlacedTraffic, broker_losses, cross_rack, rack_losses
from app.core.model import Float64s, Int32s, padded


@st.composite
def placed(draw: st.DrawFn) -> PlacedTraffic:
    """Up to six partitions of two topics on up to six brokers in up to three racks; whole rates, so that sums are."""
    brokers = draw(st.integers(2, 6))
    racks = draw(st.integers(1, 3))
    rack_of = np.array([draw(st.integers(0, racks - 1)) for _ in range(brokers)], np.int32)
    lists = draw(st.lists(st.lists(st.integers(0, brokers - 1), min_size=1, max_size=3, unique=True), max_size=6))
    return PlacedTraffic.of_rows(
        padded(lists) if lists else np.empty((0, 1), np.int32),
        np.sort(np.array([draw(st.integers(0, 1)) for _ in lists], np.int64)),
        np.array([draw(st.integers(0, 60)) for _ in lists], np.float64),
        np.array([draw(st.integers(0, 3)) for _ in range(2)], np.float64),
        rack_of=rack_of,
        racks=racks,
        follower_fetching=draw(st.booleans()),
    )


def _loads(traffic: PlacedTraffic, lost: set[int]) -> tuple[Float64s, Float64s]:
    """What each broker sends and leads if brokers are lost; clients stay where they are."""
    sent, leads = np.zeros(len(traffic.rack_of)), np.zeros(len(traffic.rack_of))
    for row, replicas in enumerate(traffic.replicas.tolist()):
        alive = [broker for broker in replicas if broker >= 0 and broker not in lost]
        if not alive:
            continue
        topic = int(np.searchsorted(traffic.bounds, row, side="right")) - 1
        leads[alive[0]] += 1
        sent[alive[0]] += (len(alive) - 1) * traffic.ingress[row]
        for rack in range(traffic.racks):
            near = [broker for broker in alive if traffic.rack_of[broker] == rack]
            server = near[0] if near and traffic.follower_fetching else alive[0]
            sent[server] += traffic.fan_out[topic] * traffic.ingress[row] / traffic.racks
    return sent, leads


def _worst(traffic: PlacedTraffic, groups: list[set[int]]) -> tuple[Float64s, Float64s]:
    """The largest increases of what the brokers that are left send and lead, over losses."""
    before = _loads(traffic, set())
    most = np.zeros((2, len(traffic.rack_of)))
    for lost in groups:
        for load, after in enumerate(_loads(traffic, lost)):
            increase = after - before[load]
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
