"""Pins, budgets and constraints on leaders beside limits and goals over resources."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import event, given

from app.core.model import Broker, BrokerCapacity, Cluster
from app.errors.reassignments import BudgetBelowMinimum, NotFeasible
from app.errors.requests import ConflictingFields
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, PinRequest, ReassignmentRequest
from app.services.reassignment.requests.parts import GoalRequest, GoalsRequest, Limit, LimitsRequest
from app.store.records import NewPlan
from tests import draws as st
from tests.profiles import costly, examples
from tests.services.reassignments import topic

CAPACITY = BrokerCapacity(disk_bytes=1000)
CLUSTER = Cluster(
    "c",
    tuple(Broker(broker, "ab"[broker % 2], capacity=CAPACITY) for broker in (1, 2, 3, 4)),
    (
        topic("clicks", [[3, 4], [4, 3]], [10, 10]),
        topic("orders", [[1, 2], [2, 1], [1, 2]], [300, 200, 100]),
    ),
)
"""Brokers 1 and 2 store 600 bytes each, 3 and 4 store 20."""
SIZES = {("clicks", 0): 10, ("clicks", 1): 10, ("orders", 0): 300, ("orders", 1): 200, ("orders", 2): 100}
DISKS = BalanceRequest(resources=("disk",))


def planned(**fields: Any) -> NewPlan:
    """The plan of a request with these fields."""
    return draft_plan(PLANNER, ReassignmentRequest(**fields), CLUSTER, Limits())


def rows_of(plan: NewPlan) -> dict[tuple[str, int], list[int]]:
    return {
        (placement.topic, row): replicas
        for placement in plan.placements
        for row, replicas in enumerate(placement.replicas.tolist())
    }


def disks_of(plan: NewPlan) -> Counter[int]:
    """Bytes on each broker, one replica at a time."""
    return Counter(
        {broker: sum(size for key, size in SIZES.items() if broker in rows_of(plan)[key]) for broker in (1, 2, 3, 4)}
    )


@st.composite
def pins(draw: st.DrawFn) -> list[PinRequest]:
    """Pins of some partitions, one broker of each rack, in either order."""
    chosen = draw(st.lists(st.sampled_from(sorted(SIZES)), min_size=1, max_size=3, unique=True))
    return [
        PinRequest(name, row, draw(st.permutations([draw(st.sampled_from([1, 3])), draw(st.sampled_from([2, 4]))])))
        for name, row in chosen
    ]


@given(pins(), st.sampled_from([0.45, 0.62, 1.0]), st.booleans())
@examples(15)
def test_pins_hold_beside_limits_and_goals(pinned: list[PinRequest], share: float, goals: bool) -> None:
    fields: dict[str, Any] = {"pins": pinned, "limits": LimitsRequest(disk=share)}
    try:
        plan = planned(**fields, balance=DISKS if goals else BalanceRequest())
    except NotFeasible:
        event("infeasible")
        relaxed: Any = planned(**fields, on_conflict="relax")
        assert any(each["constraint"] == "limits.disk" for each in relaxed.answer["relaxed"])
        return
    rows = rows_of(plan)
    for pin in pinned:
        assert rows[pin.topic, pin.partition] == list(pin.replicas)
    assert max(disks_of(plan).values()) <= share * 1000
    certificate: Any = plan.answer["certificate"]
    assert certificate["lower_bound_bytes"] <= certificate["moved_bytes"]


def test_pins_are_part_of_the_load_that_goals_balance() -> None:
    plan: Any = planned(pins=[PinRequest("orders", 0, [3, 4])], balance=DISKS)
    (goal,) = plan.answer["balance"]["resources"]
    stored = disks_of(plan)
    assert goal["largest"] == pytest.approx(max(stored.values()) / 310)
    assert goal["largest_bound"] <= goal["largest"]


@given(st.integers(0, 700), st.sampled_from([0.45, 0.62, 1.0]))
@costly(10)
def test_a_budget_is_met_or_rejected_with_the_minimum(budget: int, share: float) -> None:
    limits = LimitsRequest(disk=share)
    relief: Any = planned(objective="relieve", limits=limits, minimise="bytes").answer["certificate"]
    try:
        plan: Any = planned(max_moved_bytes=budget, limits=limits, balance=DISKS)
    except BudgetBelowMinimum as failure:
        least = failure.context["minimum_bytes"]
    else:
        certificate = plan.answer["certificate"]
        assert certificate["lower_bound_bytes"] <= certificate["moved_bytes"] <= budget
        assert max(disks_of(plan).values()) <= share * 1000
        return
    assert budget < relief["moved_bytes"] == least


def test_a_larger_budget_buys_a_better_balance() -> None:
    largest = []
    for budget in (0, 200, 400, 700):
        plan: Any = planned(max_moved_bytes=budget, objective=GoalsRequest([GoalRequest("disk")]))
        (goal,) = plan.answer["balance"]["resources"]
        largest.append(goal["largest"])
        assert goal["largest_bound"] <= goal["largest"]
    assert largest == sorted(largest, reverse=True)
    assert largest[0] > largest[-1]


@given(st.permutations(["a", "b"]), st.sampled_from([0.45, 0.62]))
@examples(10)
def test_leaders_are_in_preferred_racks_within_limits(racks: list[str], share: float) -> None:
    plan: Any = planned(limits=LimitsRequest(disk=share), preferred_racks={"*": racks}, balance=DISKS)
    rows = rows_of(plan)
    assert {"ab"[replicas[0] % 2] for replicas in rows.values()} == {racks[0]}
    assert max(disks_of(plan).values()) <= share * 1000
    assert plan.answer["balance"]["leaders"]["preferred_racks"]["first"] == len(rows)


def test_minimums_of_leaders_hold_within_limits() -> None:
    plan = planned(limits=LimitsRequest(disk=0.62), min_leaders_per_broker={"clicks": 1}, remove_brokers=[1, 2])
    leaders = Counter(replicas[0] for (name, _), replicas in rows_of(plan).items() if name == "clicks")
    assert leaders == {3: 1, 4: 1}


def test_leaders_that_exceed_a_limit_are_rejected_or_relaxed() -> None:
    fields: dict[str, Any] = {
        "limits": LimitsRequest(leaders=Limit(absolute=2)),
        "preferred_racks": {"*": ["a"]},
        "pins": [PinRequest("orders", 0, [1, 2])],
    }
    plan: Any = planned(**fields)
    assert max(Counter(replicas[0] for replicas in rows_of(plan).values()).values()) <= 2
    strict = fields | {"limits": LimitsRequest(leaders=Limit(absolute=1))}
    with pytest.raises(NotFeasible):
        planned(**strict)
    relaxed: Any = planned(**strict, on_conflict="relax")
    assert [each["constraint"] for each in relaxed.answer["relaxed"]] == ["limits.leaders"]


@pytest.mark.parametrize(
    ("fields", "path", "says"),
    [
        (
            {"preferred_racks": {"*": ["a"]}, "balance": BalanceRequest(resources=("nic_out",))},
            "preferred_racks",
            "nic_out",
        ),
        (
            {"min_leaders_per_broker": {"orders": 1}, "objective": GoalsRequest([GoalRequest("leaders")])},
            "min_leaders_per_broker",
            "the goal leaders depends on leaders",
        ),
        ({"trade_off": True, "limits": LimitsRequest(disk=0.9)}, "trade_off", "balanced counts"),
        (
            {"pins": [PinRequest("orders", 0, [1, 2])], "objective": GoalsRequest([GoalRequest("topic_replicas")])},
            "pins",
            "topic_replicas",
        ),
        ({"leaders_only": True, "limits": LimitsRequest(disk=0.9)}, "leaders_only", "moves no replica"),
    ],
)
def test_what_remains_rejected_is_named(fields: Any, path: str, says: str) -> None:
    with pytest.raises(ConflictingFields) as failed:
        planned(**fields)
    assert failed.value.path == (path,)
    assert says in failed.value.detail
