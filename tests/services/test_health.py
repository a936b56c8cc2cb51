"""The health of a cluster as it is, worked by hand, and the loads of its brokers."""

from dataclasses import replace

import numpy as np
import pytest

from app.core.kafka_versions import NEWEST
from app.core.model import Broker, BrokerCapacity, Cluster
from app.core.recorded import GroupType, RecordedGroup, RecordedMember, TopicPartitions
from app.services.amounts import PricesRequest
from app.services.checks import HealthRequest
from app.services.checks.health import Health, health_of
from app.services.limits import Limits
from app.services.plans import Allowance, as_json
from app.services.reassignment.requests.parts import CapacityRequest, CpuModel, LimitsRequest
from tests.services.reassignments import topic

CLUSTER = Cluster(
    "c",
    (
        Broker(1, "a", capacity=BrokerCapacity(disk_bytes=1000)),
        Broker(2, "b", capacity=BrokerCapacity(disk_bytes=1000)),
        Broker(3, "a", capacity=BrokerCapacity(disk_bytes=1000)),
    ),
    (topic("clicks", [[3, 1]], [100]), topic("orders", [[1, 2], [1, 2]], [300, 200])),
)
"""clicks-0 is in one rack alone."""
RATES = {"clicks": 10.0, "orders": [60.0, 40.0]}


def health(cluster: Cluster = CLUSTER, **fields: object) -> Health:
    """The health of a cluster with these fields of a request."""
    request = HealthRequest(ingress_bytes_per_s=RATES, **fields)  # type: ignore[arg-type] # any field
    return health_of(cluster, request, Allowance(Limits(), is_job=True), NEWEST)


def loads(found: Health, broker: int, resource: str) -> dict[str, object]:
    """The load of a resource of a broker, as documents have it."""
    load: dict[str, object] = as_json(getattr(found.report.of_brokers()[str(broker)], resource))
    return load


def test_what_each_broker_stores_receives_and_sends() -> None:
    found = health(consumers={"orders": 2, "*": 1})
    received = [loads(found, broker, "nic_in")["after"] for broker in (1, 2, 3)]
    sent = [loads(found, broker, "nic_out")["after"] for broker in (1, 2, 3)]
    assert [loads(found, broker, "disk")["after"] for broker in (1, 2, 3)] == [600, 500, 100]
    assert received == [110, 100, 10]
    assert sent == [100 + 200, 0, 10 + 10]
    assert loads(found, 2, "nic_out")["potential"] == 300


def test_the_loss_of_a_leader_moves_its_consumers() -> None:
    found = health(consumers={"orders": 2})
    assert loads(found, 2, "nic_out")["after_worst_loss"] == {
        "broker": 200,
        "lost_broker": 1,
        "rack": 200,
        "lost_rack": "a",
    }


def test_consumers_in_two_racks_share_the_replicas_in_them() -> None:
    found = health(consumers={"orders": 2}, follower_fetching=True)
    assert [loads(found, broker, "nic_out")["after"] for broker in (1, 2)] == [100 + 100, 100]


def test_growth_and_the_model_of_the_processor() -> None:
    model = CpuModel(per_byte_in=0.01, per_byte_out=0.1, per_partition=0.5)
    found = health(growth={"orders": 2.0}, cpu_model=model)
    assert loads(found, 1, "disk")["after"] == 2 * 500 + 100
    assert loads(found, 1, "cpu")["after"] == pytest.approx(0.01 * 210 + 0.1 * 200 + 3 * 0.5)


def test_the_least_repair_is_of_racks() -> None:
    found = health()
    assert found.repair is not None
    assert (found.repair.moved_bytes, found.repair.moved_replicas, found.repair.lower_bound_bytes) == (100, 1, 100)


def test_limits_are_shares_of_the_capacity_that_the_request_overrides() -> None:
    stated = {"2": CapacityRequest(disk_bytes=400), "*": CapacityRequest(disk_bytes=2000)}
    found = health(capacity=stated, limits=LimitsRequest(disk=0.5))
    assert [(over.broker, over.resource, over.value, over.limit) for over in found.over_limit] == [
        (2, "disk", 500, 200)
    ]
    assert (loads(found, 1, "disk")["limit"], loads(found, 1, "disk")["headroom"]) == (1000, 400)
    first = found.fails_first[0]
    assert (first.loss, first.broker, first.resource, first.share) == ("none", 2, "disk", 2.5)


def test_bytes_between_racks_and_what_they_cost() -> None:
    """Of 110 bytes/s half are written from the other rack; orders is replicated to it, and clicks is not."""
    found = health(prices=PricesRequest(cross_rack_per_gib=1.0)).as_json()["cross_rack"]
    assert isinstance(found, dict)
    assert (found["producers"]["after_bytes_per_s"], found["replication"]["after_bytes_per_s"]) == (55, 100)
    assert found["after_cost_per_month"] == pytest.approx(155 * 365 * 24 * 3600 / 12 / 2**30, abs=0.01)


def group(name: str, *members: RecordedMember, kind: GroupType | None = None) -> RecordedGroup:
    """A recorded group of these members."""
    return RecordedGroup(name, "Stable", "range", members, type=kind)


def reader(rack: str | None, **partitions: tuple[int, ...]) -> RecordedMember:
    """A member in a rack with these assigned partitions."""
    assigned = tuple(TopicPartitions(name, ids) for name, ids in partitions.items())
    return RecordedMember(f"m-{rack}", rack_id=rack, topics=tuple(partitions), assigned=assigned)


GROUPS = (
    group("billing", reader("a", orders=(0,)), reader("b", orders=(1,), clicks=(0,))),
    group("elsewhere", reader("z", orders=(0, 1, 7), gone=(0,))),
    group("jobs", reader("b", orders=(0,)), kind="share"),
    group("nothing", reader("b")),
    group("unknown", reader(None, clicks=(0,)), reader("a", clicks=(0,))),
)
"""Of orders, 60 and 40 bytes/s are led in a and replicated to b; clicks, of 10, is in a alone."""


@pytest.mark.parametrize(
    ("follower_fetching", "crossing"),
    [(False, {"billing": 40 + 10, "elsewhere": 100}), (True, {"billing": 10, "elsewhere": 100})],
)
def test_what_groups_read_from_rack_to_rack(follower_fetching: bool, crossing: dict[str, int]) -> None:
    prices = PricesRequest(cross_rack_per_gib=1.0)
    found = health(replace(CLUSTER, groups=GROUPS), follower_fetching=follower_fetching, prices=prices)
    document = found.as_json()["cross_rack"]
    assert isinstance(document, dict)
    by_id = {each["group_id"]: each for each in document["groups"]}
    assert {name: each["after_bytes_per_s"] for name, each in by_id.items()} == crossing | {"unknown": 0}
    assert {name: each["unknown_bytes_per_s"] for name, each in by_id.items()} == dict.fromkeys(crossing, 0) | {
        "unknown": 10
    }
    cost = crossing["billing"] * 365 * 24 * 3600 / 12 / 2**30
    assert by_id["billing"]["before_cost_per_month"] == pytest.approx(cost, abs=0.01)


def test_a_cluster_without_groups_reads_nothing() -> None:
    document = health().as_json()["cross_rack"]
    assert isinstance(document, dict)
    assert document["groups"] == []


def test_without_rates_there_are_bytes_alone() -> None:
    request = HealthRequest()
    found = health_of(CLUSTER, request, Allowance(Limits(), is_job=True), NEWEST)
    assert (found.report.names, found.as_json()["cross_rack"]) == (("disk",), None)


def test_a_rate_that_is_missing_is_a_warning() -> None:
    cluster = replace(CLUSTER, topics=(*CLUSTER.topics, topic("payments", [[2, 1]], [5])))
    found = health(cluster)
    assert [caution.code for caution in found.cautions] == ["unknown_rates"]
    assert np.isclose(float(str(loads(found, 1, "nic_in")["after"])), 110)


def test_an_empty_cluster_is_healthy() -> None:
    """A snapshot may have neither brokers nor topics."""
    found = health_of(Cluster("c", ()), HealthRequest(), Allowance(Limits()), NEWEST)
    assert found.report.of_brokers() == {}
