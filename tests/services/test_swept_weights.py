"""Weights of brokers in sweeps of reassignments: every scenario equals the plan that it is opened as."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given

from app.core.model import Broker, BrokerCapacity, Cluster
from app.errors import Failure
from app.errors.reassignments import CapacityMissing, NotFeasible, UnknownBroker
from app.errors.requests import ConflictingFields, EmptyAxis, ImpossibleValue, UnknownAxis
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER
from app.services.reassignment.sweep import SweptRequests
from tests import draws as st
from tests.premises import reaches
from tests.profiles import costly
from tests.services.reassignments import topic
from tests.services.swept import Json, definition_of, rows


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Three to five brokers of several weights in up to two racks, with up to eight partitions."""
    count = draw(st.integers(3, 5))
    weights = st.sampled_from([0.25, 0.5, 1.0, 1.0, 1.5, 2.0, 3.0])
    brokers = tuple(
        Broker(
            broker,
            draw(st.sampled_from("ab")),
            weight=draw(weights),
            capacity=BrokerCapacity(disk_bytes=draw(st.sampled_from([100, 200, 300]))),
        )
        for broker in range(count)
    )
    lists = draw(
        st.lists(st.lists(st.integers(0, count - 1), min_size=1, max_size=2, unique=True), min_size=1, max_size=8)
    )
    return Cluster("c", brokers, (topic("orders", lists, [draw(st.integers(1, 9)) for _ in lists]),))


@st.composite
def balances(draw: st.DrawFn) -> Json:
    """How replicas are balanced, with the weights of the snapshot, of the request or of the disks."""
    weights = draw(
        st.sampled_from([None, {"0": 3.0}, {"*": 2.0, "1": 0.5}, {"0": 1.1, "1": 2.2, "2": 3.3}, "capacity"])
    )
    balance: Json = {"replicas": draw(st.sampled_from(["tight", "keep", {"tolerance": 0.3}]))}
    if draw(st.booleans()):
        balance["per_topic"] = {"replicas": "tight"}
    return balance | ({} if weights is None else {"weights": weights})


@reaches("weighted", 0.5)
@costly(70)
@given(
    clusters(), balances(), st.sampled_from([{"remove_broker": "each"}, {"weights.0": [0.3, 4], "weights.2": [1, 2.5]}])
)
def test_a_scenario_measures_what_its_plan_does(cluster: Cluster, balance: Json, axes: Json) -> None:
    if balance.get("weights") == "capacity":
        axes = {"remove_broker": "each"}
    fields = {"balance": balance, "capacity": {"*": {"disk_bytes": 200}}, "rack_mode": "safe"}
    axes |= {"add_brokers": [0, 1]}
    requests = SweptRequests.of(definition_of(cluster, axes, **fields))
    for row in rows(cluster, axes, **fields):
        request = requests.request(row["index"])
        if row["error"] is not None:
            with pytest.raises(NotFeasible) as raised:
                draft_plan(PLANNER, request, cluster, Limits())
            assert row["error"]["code"] == raised.value.code
            continue
        plan = draft_plan(PLANNER, request, cluster, Limits())
        certificate: Any = plan.answer["certificate"]
        names = ("moved_replicas", "moved_bytes", "lower_bound_bytes", "optimal")
        assert {name: row[name] for name in names} == {name: certificate[name] for name in names}
        counts = _counts(plan)
        removed = row["axes"].get("remove_broker")
        left = [counts.get(broker.id, 0) for broker in (*cluster.brokers, *request.add_brokers) if broker.id != removed]
        assert sum(left) == sum(counts.values())
        if certificate["optimal"] and len({broker.weight for broker in cluster.brokers}) > 1:
            event("weighted")


def _counts(plan: Any) -> dict[int, int]:
    lists = np.concatenate([placement.replicas.ravel() for placement in plan.placements])
    ids, counts = np.unique(lists[lists >= 0], return_counts=True)
    return dict(zip(ids.tolist(), counts.tolist(), strict=True))


EQUAL = Cluster(
    "c",
    tuple(Broker(broker) for broker in range(4)),
    (topic("orders", [[0, 1], [2, 3], [1, 2], [3, 0]] * 3, [10] * 12),),
)
"""Six replicas on each broker."""


def band(**fields: Any) -> list[tuple[int, int, int]]:
    """The moved replicas, and the smallest and largest count, of every scenario."""
    found = rows(EQUAL, {"add_brokers": [0, 1]}, **fields)
    return [(row["moved_replicas"], row["smallest_after"], row["largest_after"]) for row in found]


def test_counts_are_in_proportion_to_weights() -> None:
    """24 replicas: 8, 8, 4 and 4 by weights of 2 and 1; with an added broker of weight 2 it gets 6 of the 24."""
    assert band(balance={"replicas": "tight"})[0] == (0, 6, 6)
    assert band(balance={"replicas": "tight", "weights": {"0": 2.0, "1": 2.0}})[0] == (4, 4, 8)
    weighed = tuple(replace(broker, weight=2.0 if broker.id < 2 else 1.0) for broker in EQUAL.brokers)
    snapshot = replace(EQUAL, brokers=weighed)
    assert rows(snapshot, {"add_brokers": [0]}, balance={"replicas": "tight"})[0]["largest_after"] == 8
    with_added = band(balance={"replicas": "tight", "weights": {"*": 2.0, "2": 1.0, "3": 1.0}})[1]
    assert with_added == (6, 3, 6)


def test_the_weight_of_a_broker_is_an_axis() -> None:
    """24 replicas: its weight is 1, 1.5 and 3 beside three of 1; the request's hold for the others."""
    axes = {"weights.0": [1, 1.5, 3], "weights.1": {"from": 1, "to": 2}}
    found = rows(EQUAL, axes, balance={"replicas": "tight"})
    assert [row["axes"] for row in found[:3]] == [
        {"weights.0": 1, "weights.1": 1},
        {"weights.0": 1, "weights.1": 2},
        {"weights.0": 1.5, "weights.1": 1},
    ]
    # Shares are 24 · weight / sum of weights: 6; 9.6 and 4.8; 8 and 5.3; 6.5, 8.7 and 4.4; 12 and 4; 10.3, 6.9 and 3.4.
    assert [(row["smallest_after"], row["largest_after"]) for row in found] == [
        *((6, 6), (5, 9), (5, 8), (4, 9), (4, 12), (3, 10)),
    ]
    halved = {"replicas": "tight", "weights": {"*": 0.5}}
    requests = SweptRequests.of(definition_of(EQUAL, {"weights.0": [2]}, balance=halved))
    assert requests.request(0).balance.weights == {"*": 0.5, "0": 2.0}
    assert (
        rows(EQUAL, {"weights.0": [2]}, balance=halved)[0]["largest_after"] == 12
    )  # all partitions; its share is 13.7


@pytest.mark.parametrize(
    ("axes", "balance", "failure", "path"),
    [
        ({"weights.9": [1]}, {}, UnknownBroker, ("axes", "weights.9")),
        ({"weights.x": [1]}, {}, UnknownBroker, ("axes", "weights.x")),
        ({"weights.": [1]}, {}, UnknownAxis, ("axes", "weights.")),
        ({"weights.0": []}, {}, EmptyAxis, ("axes", "weights.0")),
        ({"weights.0": [1, 0]}, {}, ImpossibleValue, ("axes", "weights.0", 1)),
        ({"weights.0": ["2"]}, {}, ImpossibleValue, ("axes", "weights.0", 0)),
        ({"weights.0": [2, 2]}, {}, ConflictingFields, ("axes", "weights.0", 1)),
        ({"weights.0": [2]}, {"weights": "capacity"}, ConflictingFields, ("axes", "weights.0")),
    ],
)
def test_values_that_are_no_weights_are_named(
    axes: Json, balance: Json, failure: type[Failure], path: tuple[Any, ...]
) -> None:
    sized = replace(EQUAL, brokers=tuple(replace(one, capacity=BrokerCapacity(disk_bytes=10)) for one in EQUAL.brokers))
    with pytest.raises(failure) as raised:
        definition_of(sized, axes, balance=balance)
    assert raised.value.path == path


@pytest.mark.parametrize(
    ("balance", "failure", "path"),
    [
        ({"weights": {"9": 2.0}}, UnknownBroker, ("balance", "weights", "9")),
        ({"weights": "capacity"}, CapacityMissing, ("balance", "weights")),
    ],
)
def test_weights_of_what_is_not_there(balance: Json, failure: type[Failure], path: tuple[str, ...]) -> None:
    with pytest.raises(failure) as raised:
        definition_of(EQUAL, {"remove_broker": "each"}, balance=balance)
    assert raised.value.path == path


def test_the_capacity_of_added_brokers_has_to_be_known() -> None:
    sized = replace(EQUAL, brokers=tuple(replace(one, capacity=BrokerCapacity(disk_bytes=10)) for one in EQUAL.brokers))
    with pytest.raises(CapacityMissing, match="1 of 5 brokers is unknown or 0: 4"):
        definition_of(sized, {"add_brokers": [0, 1]}, balance={"weights": "capacity"})
    assert definition_of(sized, {"remove_broker": "each"}, balance={"weights": "capacity"})["resolved"]
