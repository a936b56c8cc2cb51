"""Replicas in sync are kept before others, and lead: laws over small clusters with fenced brokers, worked examples."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

from app.core.model import NO_LEADER, Broker, BrokerCapacity, Cluster, Topic, padded, unpadded
from app.core.replicas.options import RackMode
from app.errors.reassignments import NotFeasible
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import (
    PLANNER,
    BalanceRequest,
    BatchesRequest,
    EvacuateRequest,
    PerTopicRequest,
    ReassignmentRequest,
    Tolerance,
)
from app.services.reassignment.requests.parts import LimitsRequest
from tests.formats.strategies import assembled, sample

Key = tuple[str, int]
Rows = Mapping[Key, list[int]]


def _topic(name: str, lists: Sequence[Sequence[int]], isr: Sequence[Sequence[int]], size: Sequence[int]) -> Topic:
    leaders = [in_sync[0] if in_sync else NO_LEADER for in_sync in isr]
    no_ids = np.empty((len(lists), 0), np.int32)
    return Topic(
        name,
        np.arange(len(lists), dtype=np.int32),
        padded(lists),
        np.array(leaders, np.int32),
        padded(isr),
        no_ids,
        no_ids,
        np.array(size, np.int64),
        ingress_bytes_per_s=np.array(size, np.float64),
    )


def _cluster(random: Random) -> Cluster:
    """Five to seven brokers in two or three racks, one or two of them fenced; some live replicas lag behind."""
    racks, count = random.randint(2, 3), random.randint(5, 7)
    fenced = random.sample(range(count), random.randint(1, 2))
    capacity = BrokerCapacity(disk_bytes=40, nic_out_bytes_per_s=200)
    brokers = [Broker(i, f"r{i % racks}", fenced=i in fenced, capacity=capacity) for i in range(count)]
    topics = []
    for name in ("a", "b"):
        lists = [random.sample(range(count), random.randint(2, 4)) for _ in range(random.randint(2, 5))]
        isr = [[b for b in row if b not in fenced and random.random() < 0.8] for row in lists]
        topics.append(_topic(name, lists, isr, [random.choice([1, 5, 5, 9]) for _ in lists]))
    return Cluster("c", tuple(brokers), tuple(topics))


def _requests(random: Random, cluster: Cluster) -> Mapping[str, ReassignmentRequest]:
    """A request of every kind."""
    live = [broker.id for broker in cluster.brokers if not broker.fenced]
    one, two = random.sample(live, 2)
    lower, balanced = {"a": random.randint(1, 2)}, [broker.id for broker in cluster.brokers if broker.id % 2]
    tight, wide = BalanceRequest("tight"), BalanceRequest(Tolerance(0.4))

    def of(**fields: Any) -> ReassignmentRequest:
        return ReassignmentRequest(**{"unknown_sizes": "estimate", "on_conflict": "relax", **fields})

    limits = LimitsRequest(disk=0.7)
    return {
        "lower factor": of(replication_factor=lower),
        "lower factor, keep": of(replication_factor=lower, balance=BalanceRequest("keep", leaders="keep")),
        "lower factor, tight": of(replication_factor=lower, balance=tight),
        "lower factor, bytes": of(replication_factor=lower, balance=BalanceRequest("tight", "bytes")),
        "lower factor and remove": of(replication_factor=lower, remove_brokers=[one, two]),
        "racks": of(repair_racks=True, balance=BalanceRequest("keep", leaders="keep")),
        "racks, bytes": of(repair_racks=True, balance=BalanceRequest("keep", "bytes")),
        "tight": of(balance=tight),
        "tight, replicas": of(balance=tight, minimise="replicas"),
        "tolerance": of(balance=wide),
        "bytes": of(balance=BalanceRequest(Tolerance(0.2), "bytes")),
        "topics": of(balance=BalanceRequest("tight", per_topic=PerTopicRequest("tight"))),
        "topic leaders": of(
            balance=BalanceRequest("keep", leaders="tight", per_topic=PerTopicRequest(leaders="tight"))
        ),
        "leaders by ingress": of(balance=BalanceRequest("keep", leaders="tight", leaders_by="ingress")),
        "leaders move replicas": of(balance=BalanceRequest("keep", leaders="tight", leaders_move_replicas=True)),
        "resources": of(balance=BalanceRequest(Tolerance(0.3), resources=("disk", "nic_out"))),
        "resources, lower factor": of(
            balance=BalanceRequest(Tolerance(0.3), resources=("disk",)), replication_factor=lower
        ),
        "limits": of(limits=limits, replication_factor=lower),
        "relieve": of(limits=limits, objective="relieve", replication_factor=lower),
        "remove": of(remove_brokers=[one], balance=BalanceRequest("keep", leaders="keep")),
        "remove, moved": of(remove_brokers=[one], balance=BalanceRequest("keep", leaders="moved")),
        "replace": of(replace_brokers={one: 60}),
        "replace, lower factor": of(replace_brokers={one: 60}, replication_factor=lower),
        "evacuate": of(evacuate_leaders=EvacuateRequest(brokers=[one])),
        "leaders only": of(evacuate_leaders=EvacuateRequest(brokers=[one]), leaders_only=True),
        "leaders only, keep": of(
            evacuate_leaders=EvacuateRequest(brokers=[one]), leaders_only=True, balance=BalanceRequest(leaders="keep")
        ),
        "broker sets": of(
            broker_sets={"s": balanced}, topic_sets={"a": "s"}, replication_factor=lower, rack_mode=RackMode.DISABLED
        ),
        "batches": of(
            replication_factor=lower, remove_brokers=[one], batches=BatchesRequest(max_moves_in_per_broker=1)
        ),
    }


KINDS = tuple(_requests(Random(0), _cluster(Random(0))))


def _lists(cluster: Cluster, of: str = "replicas") -> dict[Key, list[int]]:
    return {
        (topic.name, partition): row
        for topic in cluster.topics
        for partition, row in enumerate(unpadded(getattr(topic, of)))
    }


def _ready(cluster: Cluster) -> dict[Key, set[int]]:
    """The replicas in sync on live brokers; those on live brokers of a partition without any reported in sync."""
    live = {broker.id for broker in cluster.brokers if not broker.fenced}
    in_sync = _lists(cluster, "isr")
    return {key: set(in_sync[key] or row) & live for key, row in _lists(cluster).items()}


def _may_add(
    cluster: Cluster, request: ReassignmentRequest, topic: str, row: Sequence[int], before: Sequence[int]
) -> bool:
    """Whether some list with a new replica spans as many racks."""
    rack_of = {each.id: each.rack for each in cluster.brokers}
    in_set = request.broker_sets.get("s", rack_of)
    inside = in_set if topic in request.topic_sets or not request.topic_sets else rack_of.keys() - set(in_set)
    live = {each.id for each in cluster.brokers if not each.fenced}
    gone = {*request.remove_brokers, *request.replace_brokers}
    eligible = [broker for broker in inside if broker not in gone and (broker in live or broker in before)]
    span = len({rack_of[broker] for broker in row if broker in rack_of})
    return any(
        set(chosen) - set(before) and len({rack_of[broker] for broker in chosen}) >= span
        for chosen in combinations(eligible, len(row))
    )


SEEDS = [range(2), pytest.param(range(2, 12), marks=pytest.mark.long)]


def _planned(cluster: Cluster, request: ReassignmentRequest) -> tuple[Rows, Any]:
    plan = draft_plan(PLANNER, request, cluster, Limits())
    after = {
        (placement.topic, placement.first_partition_id + at): row
        for placement in plan.placements
        for at, row in enumerate(unpadded(placement.replicas))
    }
    return after, plan.answer


@pytest.mark.long
@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_replica_in_sync_stays_and_leads(kind: str, seeds: range) -> None:
    """The preferred leader is in sync or copied if any replica of the list is, and one is if any was in sync before.

    With `keep`, lists that stay as they are keep their leader.
    """
    planned = 0
    for seed in seeds:
        random = Random(seed)
        cluster = _cluster(random)
        request = _requests(random, cluster)[kind]
        try:
            after, _ = _planned(cluster, request)
        except NotFeasible:
            continue
        planned += 1
        before, ready = _lists(cluster), _ready(cluster)
        keeps = request.balance.leaders in (None, "keep", "moved")
        for key, row in after.items():
            new = set(row) - set(before[key])
            if ready[key] and _may_add(cluster, request, key[0], row, before[key]):
                assert set(row) & ready[key] or new, (seed, key, before[key], row)
            if keeps and set(row) == set(before[key]) and row[0] == before[key][0]:
                continue
            able = (set(row) & ready[key]) | new
            assert row[0] in able or not able, (seed, key, before[key], ready[key], row)
    assert planned >= len(seeds) // 2


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize(
    "kind", ["lower factor, keep", "racks", "racks, bytes", "relieve", "limits", "lower factor and remove"]
)
def test_replicas_in_sync_are_kept_before_others(kind: str, seeds: range) -> None:
    """No replica out of sync is kept in place of one in sync if racks allow the opposite: neither moves anything."""
    for seed in seeds:
        random = Random(seed)
        cluster = _cluster(random)
        request = _requests(random, cluster)[kind]
        after, _ = _planned(cluster, request)
        before, ready, rack_of = _lists(cluster), _ready(cluster), {each.id: each.rack for each in cluster.brokers}
        for key, row in after.items():
            removed = (set(before[key]) & ready[key]) - set(row) - set(request.remove_brokers)
            behind = (set(row) & set(before[key])) - ready[key]
            for broker in removed if ready[key] else ():
                for other in behind:
                    assert rack_of[broker] != rack_of[other], (seed, key, before[key], ready[key], row)


SNAPSHOT_BROKERS = (Broker(0, "a"), Broker(1, "b"), Broker(2, "c", fenced=True))


@pytest.mark.parametrize(("factor", "lists"), [(1, [[1], [1]]), (2, [[1, 0], [1, 0]])])
def test_a_lower_factor_removes_the_dead_replica(factor: int, lists: list[list[int]]) -> None:
    """Of the replicas in sync the present leader stays."""
    topic = _topic("t", [[2, 1, 0], [1, 2, 0]], [[1, 0], [1, 0]], [1, 1])
    cluster = Cluster("j4", SNAPSHOT_BROKERS, (topic,))
    after, _ = _planned(cluster, ReassignmentRequest(replication_factor={"t": factor}))
    assert list(after.values()) == lists


FIVE = (*SNAPSHOT_BROKERS, Broker(3, "a"), Broker(4, "b"))


def test_leaders_are_evacuated_to_replicas_in_sync() -> None:
    """Partition 2 keeps the leader that it has."""
    topic = _topic("t", [[1, 2, 0], [1, 2, 3], [0, 1, 2]], [[1, 0], [1, 3], [0, 1]], [1, 1, 1])
    request = ReassignmentRequest(
        leaders_only=True, evacuate_leaders=EvacuateRequest(brokers=[1]), balance=BalanceRequest(leaders="keep")
    )
    after, _ = _planned(Cluster("fg", FIVE, (topic,)), request)
    assert list(after.values()) == [[0, 1, 2], [3, 1, 2], [0, 1, 2]]


def test_a_replica_in_sync_leads_before_a_new_one() -> None:
    topic = _topic("t", [[1, 2, 0]], [[1, 0]], [1])
    after, _ = _planned(Cluster("fg", FIVE, (topic,)), ReassignmentRequest(remove_brokers=[1]))
    assert list(after.values()) == [[0, 4, 2]]


def test_the_leader_of_a_partition_without_another_replica_in_sync_stays() -> None:
    """Kafka would elect no other, and the plan says so."""
    topic = _topic("t", [[1, 2]], [[1]], [1])
    request = ReassignmentRequest(leaders_only=True, evacuate_leaders=EvacuateRequest(brokers=[1]))
    after, answer = _planned(Cluster("fg", FIVE, (topic,)), request)
    assert list(after.values()) == [[1, 2]]
    assert "leaders_not_evacuated" in {warning["code"] for warning in answer["warnings"]}


def test_the_source_of_a_partition_is_replaced_by_a_new_replica() -> None:
    """Broker 1 has the only replica in sync and is removed: the lower factor does not keep the dead ones alone."""
    brokers = (Broker(0), Broker(1), Broker(2, fenced=True), Broker(3, fenced=True))
    cluster = Cluster("c", brokers, (_topic("t", [[2, 1, 3]], [[1]], [1]),))
    after, _ = _planned(cluster, ReassignmentRequest(remove_brokers=[1], replication_factor={"t": 2}))
    assert list(after.values()) == [[0, 2]]
    after, _ = _planned(cluster, ReassignmentRequest(remove_brokers=[1], replication_factor={"t": 1}))
    assert list(after.values()) == [[0]]


def test_a_fenced_broker_does_not_become_the_preferred_leader() -> None:
    """A broker is removed with the leader that it has; replicas without a reported set count as in sync."""
    lists = [[1, 6, 2, 5], [3, 4], [6, 5], [5, 6], [4, 3]]
    isr = [[1, 6, 5], [], [], [], []]
    racks = {1: "a", 2: "b", 3: "b", 4: "a", 5: "a", 6: "b"}
    brokers = tuple(Broker(broker, rack, fenced=broker == 2) for broker, rack in racks.items())
    cluster = Cluster("x", brokers, (_topic("t", lists, isr, [100] * 5),))
    after, _ = _planned(cluster, ReassignmentRequest(remove_brokers=[1]))
    assert after["t", 0][0] in {5, 6}


def test_the_only_replica_in_sync_is_not_the_one_that_moves_for_racks() -> None:
    """Brokers 0 and 1 share a rack: the fenced one leaves, whichever is first."""
    brokers = (Broker(0, "a"), Broker(1, "a", fenced=True), Broker(2, "b"), Broker(3, "b"))
    topic = _topic("t", [[0, 1], [1, 0]], [[0], [0]], [5, 5])
    after, _ = _planned(Cluster("c", brokers, (topic,)), ReassignmentRequest(repair_racks=True))
    assert all(0 in row and 1 not in row for row in after.values())


class TestASampleWithTwoBrokersDown:
    """Brokers 105 and 108 were killed: figures of the public sample."""

    @pytest.fixture
    def cluster(self) -> Cluster:
        down = "-two-brokers-down.txt"
        brokers, topics = sample(f"kafka-broker-api-versions{down}"), sample(f"kafka-topics-describe{down}")
        return assembled("prod-eu-down", brokers=brokers, topics=topics).cluster

    def kept_out_of_sync(self, cluster: Cluster, after: Rows, removed: Sequence[int] = ()) -> int:
        """Partitions that keep a replica out of sync and lose one in sync on a broker that stays."""
        before, ready = self.lists(cluster)
        return sum(
            bool((ready[key] - set(row) - set(removed)) and (set(row) & set(before[key])) - ready[key])
            for key, row in after.items()
        )

    def led_by_the_dead(self, cluster: Cluster, after: Rows) -> int:
        """Partitions whose list is changed and begins with a replica out of sync, although one is in sync."""
        before, ready = self.lists(cluster)
        return sum(
            row != before[key] and row[0] in set(before[key]) - ready[key] and bool(set(row) & ready[key])
            for key, row in after.items()
        )

    def lists(self, cluster: Cluster) -> tuple[Rows, Mapping[Key, set[int]]]:
        live = {broker.id for broker in cluster.brokers}
        in_sync = _lists(cluster, "isr")
        return _lists(cluster), {key: set(row) & live for key, row in in_sync.items()}

    def test_a_lower_factor_keeps_replicas_in_sync(self, cluster: Cluster) -> None:
        """10 of 24 partitions of `orders` would otherwise lose one."""
        after, _ = _planned(cluster, ReassignmentRequest(replication_factor={"orders": 2}))
        assert (self.kept_out_of_sync(cluster, after), self.led_by_the_dead(cluster, after)) == (0, 0)

    def test_a_factor_of_one_keeps_a_replica_in_sync(self, cluster: Cluster) -> None:
        """21 partitions would otherwise keep a dead one."""
        request = ReassignmentRequest(replication_factor={topic.name: 1 for topic in cluster.topics})
        after, _ = _planned(cluster, request)
        _, ready = self.lists(cluster)
        assert not [key for key, row in after.items() if ready[key] and not set(row) & ready[key]]

    @pytest.mark.parametrize(
        "request_",
        [
            ReassignmentRequest(evacuate_leaders=EvacuateRequest(brokers=[101])),
            ReassignmentRequest(evacuate_leaders=EvacuateRequest(brokers=[101]), leaders_only=True),
            ReassignmentRequest(remove_brokers=[101]),
        ],
        ids=["evacuated", "leaders only", "removed"],
    )
    def test_no_dead_broker_becomes_the_preferred_leader(self, cluster: Cluster, request_: ReassignmentRequest) -> None:
        """3 of 19 partitions that broker 101 leads would otherwise get one."""
        after, _ = _planned(cluster, request_)
        assert self.led_by_the_dead(cluster, after) == 0
