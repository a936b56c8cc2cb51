"""Weights of brokers in a balance: their sources, their effects, and excluded combinations."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from app.core.model import Broker, BrokerCapacity, Cluster
from app.core.replicas.options import RackMode
from app.errors import Failure
from app.errors.reassignments import CapacityMissing, UnknownBroker
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, PerTopicRequest, ReassignmentRequest, Tolerance
from app.services.reassignment.requests.parts import CapacityRequest
from app.store.records import NewPlan
from tests import draws as st
from tests.formats.strategies import assembled, sample
from tests.profiles import examples
from tests.services.reassignments import topic

IDS = (1, 2, 3, 4)
CLUSTER = Cluster(
    "c",
    tuple(Broker(broker, "ab"[broker % 2]) for broker in IDS),
    (topic("orders", [[1, 2], [3, 4], [2, 1], [4, 3], [1, 4], [3, 2]] * 5, list(range(1, 31))),),
)
"""Every broker has 15 of the 60 replicas; racks have 30 each."""


def planned(cluster: Cluster = CLUSTER, **fields: Any) -> NewPlan:
    """The plan of a request with these fields."""
    return draft_plan(PLANNER, ReassignmentRequest(**fields), cluster, Limits())


def tight(**fields: Any) -> BalanceRequest:
    return BalanceRequest(replicas="tight", **fields)


def answered(plan: NewPlan) -> Mapping[str, Any]:
    return {name: value for name, value in plan.answer.items() if name not in ("certificate", "seconds")}


def after(plan: NewPlan) -> dict[int, int]:
    """Replicas on each broker."""
    movement: Any = plan.answer["movement"]
    return {row["broker"]: row["replicas_after"] for row in movement}


WEIGHED = {1: 20, 2: 20, 3: 10, 4: 10}


def test_weights_are_stated_or_of_the_snapshot_or_of_the_capacity() -> None:
    stated = planned(balance=tight(weights={"1": 2, "2": 2}))
    of_all = planned(balance=tight(weights={"*": 0.5, "3": 0.25, "4": 0.25}))
    weights, disks = {1: 2.0, 2: 2.0}, {str(broker): CapacityRequest(disk_bytes=2 * 10**12) for broker in (1, 2)}
    brokers = tuple(replace(one, weight=weights.get(one.id, 1.0)) for one in CLUSTER.brokers)
    snapshot = replace(CLUSTER, brokers=brokers)
    by_capacity = tuple(replace(one, capacity=BrokerCapacity(disk_bytes=10**12)) for one in CLUSTER.brokers)
    overridden = planned(replace(CLUSTER, brokers=by_capacity), balance=tight(weights="capacity"), capacity=disks)
    for plan in (stated, of_all, planned(snapshot, balance=tight()), overridden):
        assert after(plan) == WEIGHED
        certificate: Any = plan.answer["certificate"]
        assert certificate["moved_bytes"] == certificate["lower_bound_bytes"]
    assert after(planned(snapshot, balance=tight(weights={"*": 1}))) == dict.fromkeys(IDS, 15)


def sized(disk_bytes: int | None) -> Cluster:
    """The cluster with disks of a size."""
    capacity = None if disk_bytes is None else BrokerCapacity(disk_bytes=disk_bytes)
    return replace(CLUSTER, brokers=tuple(replace(one, capacity=capacity) for one in CLUSTER.brokers))


@pytest.mark.parametrize(
    ("now", "added", "fields", "share"),
    [
        (10**12, 2 * 10**12, {}, 20),
        (10**12, 10**12, {}, 12),
        (10**12, None, {}, 12),
        (None, 2 * 10**12, {}, 12),
        (10**12, 2 * 10**12, {"balance": tight(weights={"*": 1})}, 12),
    ],
)
def test_an_added_broker_takes_the_share_of_its_capacity(
    now: int | None, added: int | None, fields: dict[str, Any], share: int
) -> None:
    """Of 60 replicas, brokers of weights 1, 1, 1, 1 and 2 have 10 or 20, and alike ones 12."""
    broker = Broker(5, "a", capacity=None if added is None else BrokerCapacity(disk_bytes=added))
    plan = planned(sized(now), add_brokers=[broker], rack_mode=RackMode.DISABLED, **fields)
    assert after(plan)[5] == share
    balance: Any = plan.request["balance"]
    assert (balance.get("weights") == "capacity") == (share == 20)


@given(st.sampled_from(["tight", "keep", Tolerance(0.1)]), st.sampled_from([0.1, 1.0, 7.0, 1e6]))
@examples(8)
def test_the_same_weight_for_all_is_none(replicas: Any, weight: float) -> None:
    plans = [
        planned(remove_brokers=[1], rack_mode=RackMode.SAFE, balance=BalanceRequest(replicas=replicas, weights=weights))
        for weights in (None, {"*": weight})
    ]
    assert answered(plans[0]) == answered(plans[1])


@given(st.lists(st.integers(1, 5), min_size=4, max_size=4), st.sampled_from([2.0, 0.5, 1000.0]))
@examples(8)
def test_scaling_all_weights_changes_nothing(weights: list[int], factor: float) -> None:
    first, second = (
        planned(balance=tight(weights={str(broker): weight * by for broker, weight in zip(IDS, weights, strict=True)}))
        for by in (1.0, factor)
    )
    assert answered(first) == answered(second)


@given(st.lists(st.integers(1, 5), min_size=4, max_size=4))
@examples(10)
def test_shares_add_up_to_the_total_and_bands_are_around_them(weights: list[int]) -> None:
    stated = {str(broker): float(weight) for broker, weight in zip(IDS, weights, strict=True)}
    balance: Any = planned(balance=tight(weights=stated), rack_mode=RackMode.DISABLED).answer["balance"]
    rows = balance["replicas"].get("weights")
    assert (rows is None) == (len(set(weights)) == 1)
    for row in rows or ():
        assert row["low"] <= row["load"] <= row["high"]
    assert rows is None or sum(row["share"] for row in rows) == pytest.approx(60)


def test_bytes_are_balanced_by_weight_with_bounds() -> None:
    plan: Any = planned(balance=tight(replicas_by="bytes", weights={"1": 2, "2": 2}))
    (goal,) = plan.answer["balance"]["resources"]
    assert goal["goal"] == "disk"
    assert goal["largest_bound"] <= goal["largest"] < 1.05
    certificate = plan.answer["certificate"]
    assert 0 < certificate["lower_bound_bytes"] <= certificate["moved_bytes"]


def test_sets_have_shares_of_their_own() -> None:
    plan: Any = planned(
        broker_sets={"all": [1, 2, 3]},
        topic_sets={"orders": "all"},
        balance=tight(weights={"1": 2, "4": 9}),
        rack_mode=RackMode.SAFE,
    )
    rows = plan.answer["balance"]["replicas"]["weights"]
    assert [row["broker"] for row in rows] == [1, 2, 3]
    assert sum(row["share"] for row in rows) == pytest.approx(60)


@pytest.mark.parametrize("leaders_only", [False, True])
def test_leaders_are_balanced_by_weight_with_the_fewest_changes(leaders_only: bool) -> None:
    """Whether replicas move or not: brokers 1 and 2 are to lead twice as many as 3 and 4, 10 and 5 of the 30."""
    balance = BalanceRequest(leaders="tight", weights={"1": 2, "2": 2})
    plan: Any = planned(balance=balance, leaders_only=leaders_only)
    leaders = plan.answer["balance"]["leaders"]
    assert {row["broker"]: row["load"] for row in leaders["weights"]} == {1: 10, 2: 10, 3: 5, 4: 5}
    assert sum(row["share"] for row in leaders["weights"]) == pytest.approx(30)
    assert (leaders["changes"], leaders["optimal"]) == (leaders["bound"], True)
    assert (leaders["low"], leaders["high"]) == (5, 10)


def test_each_topic_is_balanced_by_weight_with_the_cluster() -> None:
    two = replace(CLUSTER, topics=(*CLUSTER.topics, topic("clicks", [[1, 2], [3, 4]] * 6, [1] * 12)))
    weights = {"1": 2.0, "2": 2.0}
    balance = tight(weights=weights, leaders="tight", per_topic=PerTopicRequest("tight", "tight"))
    plan: Any = planned(two, balance=balance)
    replicas, leaders = plan.answer["balance"]["replicas"], plan.answer["balance"]["leaders"]
    assert {row["broker"]: row["load"] for row in replicas["weights"]} == {1: 28, 2: 28, 3: 14, 4: 14}
    assert (replicas["per_topic"]["excess"], leaders["per_topic"]["excess"]) == (0, 0)
    assert {row["broker"]: row["load"] for row in leaders["weights"]} == {1: 14, 2: 14, 3: 7, 4: 7}
    (orders,) = [row for row in replicas["per_topic"]["worst"] if row["topic"] == "orders"]
    assert (orders["smallest"], orders["largest"]) == (10, 20)
    assert plan.answer["certificate"]["optimal"]


def test_ingress_of_leaders_is_balanced_alike_and_says_so() -> None:
    balance = BalanceRequest(leaders="tight", leaders_by="ingress", weights={"1": 2})
    plan: Any = planned(balance=balance, ingress_bytes_per_s={"orders": 3000.0})
    assert "weights_without_ingress" in [warning["code"] for warning in plan.answer["warnings"]]
    assert plan.answer["balance"]["leaders"].get("weights") is None


@pytest.mark.parametrize(
    ("balance", "failure", "path"),
    [
        (tight(weights={"9": 2}), UnknownBroker, ("balance", "weights", "9")),
        (tight(weights="capacity"), CapacityMissing, ("balance", "weights")),
    ],
)
def test_what_cannot_be_is_named(balance: BalanceRequest, failure: type[Failure], path: tuple[Any, ...]) -> None:
    with pytest.raises(failure) as failed:
        planned(balance=balance)
    assert failed.value.path == path


@pytest.mark.long
def test_a_weight_that_is_almost_one_moves_the_same_bytes() -> None:
    """Two of the nine brokers are alone in their rack and have more than their share, whatever is planned: the bound of
    the largest load is one of racks, with weights as without.
    """
    cluster = assembled(
        "prod-eu",
        topics=sample("kafka-topics-describe.txt"),
        brokers=sample("kafka-broker-api-versions.txt"),
        log_dirs=sample("kafka-log-dirs-describe.txt"),
    ).cluster
    moved = []
    for weights in (None, {"105": 1.0001}, {"*": 3}):
        balance = BalanceRequest(replicas="tight", replicas_by="bytes", weights=weights)
        plan: Any = draft_plan(PLANNER, ReassignmentRequest(balance=balance), cluster, Limits())
        moved.append(plan.answer["certificate"]["moved_bytes"])
        assert plan.answer["certificate"]["gap"] <= 0.001
    assert moved == [pytest.approx(moved[0], rel=0.005)] * 3
