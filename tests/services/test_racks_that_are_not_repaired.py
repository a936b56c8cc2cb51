"""Partitions that are not repaired: they span no fewer racks than before, and stay if nothing else concerns them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.core.model import Broker, Cluster, unpadded
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, PinRequest, ReassignmentRequest
from tests.profiles import seeds
from tests.services.reassignments import topic

Lists = list[list[int]]


def _cluster(rng: np.random.Generator) -> Cluster:
    """Up to seven brokers in up to four racks of different size; a topic `u` of any replica lists, and a topic `t`."""
    racks = int(rng.integers(1, 5))
    count = racks + int(rng.integers(1, 4))
    of_rack = [*range(racks), *rng.integers(0, racks, count - racks).tolist()]
    brokers = tuple(Broker(broker, "abcd"[rack]) for broker, rack in enumerate(of_rack))
    factor = int(rng.integers(1, min(count, 5) + 1))
    lists = [rng.permutation(count)[:factor].tolist() for _ in range(int(rng.integers(1, 6)))]
    return Cluster("c", brokers, (topic("t", [[0]], [7]), topic("u", lists, [100] * len(lists))))


def _planned(cluster: Cluster, request: ReassignmentRequest) -> tuple[dict[str, Lists], Any]:
    made = draft_plan(PLANNER, request, cluster, Limits())
    after: dict[str, Lists] = {}
    for placement in made.placements:
        after.setdefault(placement.topic, []).extend(unpadded(placement.replicas))
    return after, made.answer


def _spans(cluster: Cluster, lists: Lists, without: Sequence[int] = ()) -> list[int]:
    rack_of = {broker.id: broker.rack for broker in cluster.brokers}
    return [len({rack_of[broker] for broker in row if broker not in without}) for row in lists]


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(120))
def test_no_partition_spans_fewer_racks(seed: int) -> None:
    """Whatever the change: another factor, a removed broker, a tight balance."""
    rng = np.random.default_rng(seed)
    cluster = _cluster(rng)
    before = unpadded(cluster.topics[1].replicas)
    count = len(cluster.brokers)
    factor, removed = int(rng.integers(1, min(count, 5))), [count - 1]
    kinds = [
        ReassignmentRequest(replication_factor={"u": factor}),
        ReassignmentRequest(remove_brokers=removed) if len(before[0]) < count else ReassignmentRequest(),
        ReassignmentRequest(),
    ]
    for request in kinds:
        for balance in (BalanceRequest("tight"), BalanceRequest("keep")):
            after, _ = _planned(cluster, replace(request, balance=balance, repair_racks=False))
            racks = len({broker.rack for broker in cluster.brokers if broker.id not in request.remove_brokers})
            for row, old, now in zip(after["u"], _spans(cluster, before), _spans(cluster, after["u"]), strict=True):
                assert now >= min(old, len(row), racks)


@pytest.mark.parametrize("seed", seeds(60))
def test_nothing_moves_without_a_reason(seed: int) -> None:
    """With `keep`: racks are not repaired if the request forbids it, or names another topic."""
    cluster = _cluster(np.random.default_rng(seed))
    before = unpadded(cluster.topics[1].replicas)
    for request in (
        ReassignmentRequest(repair_racks=False),
        ReassignmentRequest(replication_factor={"t": 2}),
        ReassignmentRequest(pins=[PinRequest("t", 0, [1])]),
    ):
        after, _ = _planned(cluster, request)
        assert after["u"] == before


def test_a_rack_without_a_replica_is_reported_and_not_filled() -> None:
    brokers = (Broker(1, "a"), Broker(2, "b"), Broker(3, "b"), Broker(4, "c"), Broker(5, "c"))
    cluster = Cluster("c", brokers, (topic("t", [[2]], [7]), topic("u", [[2, 3, 4, 5]], [100])))
    for request in (
        ReassignmentRequest(repair_racks=False),
        ReassignmentRequest(replication_factor={"t": 2}),
        ReassignmentRequest(pins=[PinRequest("t", 0, [3])]),
    ):
        after, answer = _planned(cluster, request)
        assert after["u"] == [[2, 3, 4, 5]]
        warned = [warning["topics"] for warning in answer["warnings"] if warning["code"] == "racks_not_repaired"]
        assert warned == [["u"]]


def test_a_lower_factor_keeps_a_replica_in_the_other_rack() -> None:
    brokers = (Broker(8, "a"), Broker(24, "b"), Broker(25, "b"))
    lists = [[24, 8, 25], [24, 8, 25], [25, 8, 24]]
    cluster = Cluster("c", brokers, (topic("t", lists, [100] * 3),))
    request = ReassignmentRequest(replication_factor={"t": 2}, repair_racks=False, balance=BalanceRequest("tight"))
    after, answer = _planned(cluster, request)
    assert all(8 in row for row in after["t"])
    assert answer["certificate"]["moved_replicas"] == 0
