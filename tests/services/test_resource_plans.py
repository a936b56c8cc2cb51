"""Plans within limits and over several resources: rejections, statements, and their truth."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from app.core.kafka_versions import NEWEST
from app.core.model import Broker, BrokerCapacity, Cluster
from app.errors import Failure, FieldPath
from app.errors.reassignments import NotFeasible
from app.services.limits import Limits
from app.services.plans import Allowance, draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, BatchesRequest, ReassignmentRequest
from app.services.reassignment.problem.resolve import resolve
from app.services.reassignment.requests.parts import (
    CapacityRequest,
    GoalName,
    GoalRequest,
    GoalsRequest,
    Limit,
    LimitsRequest,
    MovementCost,
    ResourceFields,
)
from app.services.reassignment.requests.request import minimised
from app.store.records import NewPlan
from tests import draws as st
from tests.profiles import examples
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


def planned(cluster: Cluster = CLUSTER, **fields: Any) -> NewPlan:
    """The plan of a request with these fields."""
    return draft_plan(PLANNER, ReassignmentRequest(**fields), cluster, Limits())


def stored(plan: NewPlan) -> Mapping[int, int]:
    """Bytes on each broker after the plan, one replica at a time."""
    sizes = {(one.name, row): int(size) for one in CLUSTER.topics for row, size in enumerate(one.size_bytes.tolist())}
    bytes_of = dict.fromkeys((1, 2, 3, 4), 0)
    for placement in plan.placements:
        for row, replicas in enumerate(placement.replicas.tolist()):
            for broker in replicas:
                bytes_of[broker] += sizes[placement.topic, row]
    return bytes_of


def test_a_request_without_resources_has_the_canonical_fields_that_it_had() -> None:
    fields = set(planned(remove_brokers=[1]).request)
    assert not fields & ({*ResourceFields.__dataclass_fields__, "objective"} - {"ingress_bytes_per_s"})
    assert "resources" not in planned(remove_brokers=[1]).request["balance"]  # type: ignore[operator] # an object


def test_stated_resources_are_in_the_canonical_request() -> None:
    stated = planned(growth={"orders": 2.0}, limits=LimitsRequest(disk=Limit(absolute=5000)))
    assert {"growth", "limits"} <= set(stated.request)


@st.composite
def limited(draw: st.DrawFn) -> ReassignmentRequest:
    """Limits of disk and counts, hard or soft, with goals or without; conflicts are relaxed."""
    limits = LimitsRequest(
        disk=draw(st.sampled_from([None, 0.2, 0.35, 0.5, Limit(absolute=450, soft=True)])),
        replicas=draw(st.sampled_from([None, Limit(absolute=3), Limit(absolute=2)])),
        leaders=draw(st.sampled_from([None, Limit(absolute=1), Limit(absolute=2, soft=True)])),
    )
    goals = draw(st.sampled_from([(), ("disk",), ("replicas", "disk"), ("topic_replicas",)]))
    return ReassignmentRequest(
        remove_brokers=draw(st.sampled_from([[], [1]])),
        limits=limits,
        objective=GoalsRequest([GoalRequest(goal) for goal in goals]) if goals else "balance",  # type: ignore[arg-type]
        on_conflict="relax",
    )


@examples(12)
@given(limited())
def test_loads_are_those_of_the_placement_and_excess_is_what_is_above(request: ReassignmentRequest) -> None:
    """The verifier of the plan checks the rest: it raises if a figure is wrong."""
    plan = draft_plan(PLANNER, request, CLUSTER, Limits())
    answer: Any = plan.answer
    after = stored(plan)
    assert {int(broker): loads["disk"]["after"] for broker, loads in answer["loads"].items()} == after
    above = {
        (int(broker), resource)
        for broker, loads in answer["loads"].items()
        for resource, load in loads.items()
        if load["limit"] is not None and load["after"] > load["limit"]
    }
    excess = answer["excess"]
    assert above == ({(one["broker"], one["resource"]) for one in excess["brokers"]} if excess else set())
    hard = {one["resource"] for one in (excess or {"brokers": []})["brokers"] if not one["soft"]}
    assert {f"limits.{name}" for name in hard} == {one["constraint"] for one in answer["relaxed"]}


def test_a_hard_limit_that_cannot_hold_names_itself_and_what_lifts_it() -> None:
    """1,240 bytes are more than four brokers of 250 take."""
    with pytest.raises(NotFeasible) as failure:
        planned(limits=LimitsRequest(disk=0.25))
    assert failure.value.path == ("limits", "disk")
    assert {one["pointer"] for one in failure.value.context["conflict"]} == {"/limits/disk"}  # type: ignore[index, union-attr, call-overload] # objects
    assert failure.value.context["lifted_by"]


def test_a_conflict_with_removed_brokers_names_them() -> None:
    """620 bytes a rack fit on two brokers of 400 and not on one; without the removal all limits hold."""
    planned(limits=LimitsRequest(disk=0.4))
    with pytest.raises(NotFeasible) as failure:
        planned(remove_brokers=[2], limits=LimitsRequest(disk=0.4))
    conflict: Any = failure.value.context["conflict"]
    assert {one["pointer"] for one in conflict} == {"/limits/disk", "/remove_brokers"}
    assert "1 more broker in the rack a with a limit of 400 of disk" in str(failure.value.context["lifted_by"])


def test_relief_moves_what_has_to_move_and_balances_nothing() -> None:
    """Brokers 1 and 2 have 600 bytes and take 500: a replica of 100 in each rack moves."""
    plan: Any = planned(objective="relieve", limits=LimitsRequest(disk=0.5)).answer
    moved = plan["certificate"]
    assert (moved["moved_replicas"], moved["moved_bytes"], moved["optimal"]) == (2, 200, True)
    assert plan["excess"] is None


@pytest.mark.parametrize(
    ("fields", "code", "path"),
    [
        ({"objective": "relieve"}, "conflicting_fields", ("objective",)),
        (
            {"objective": "relieve", "limits": LimitsRequest(disk=0.8), "balance": BalanceRequest(replicas="tight")},
            "conflicting_fields",
            ("balance", "replicas"),
        ),
        ({"leaders_only": True, "limits": LimitsRequest(disk=0.8)}, "conflicting_fields", ("leaders_only",)),
        (
            {"balance": BalanceRequest(resources=["disk"], leaders="preferred")},
            "conflicting_fields",
            ("balance", "leaders"),
        ),
        (
            {"preferred_racks": {"*": ["a"]}, "objective": GoalsRequest([GoalRequest("leaders")])},
            "conflicting_fields",
            ("preferred_racks",),
        ),
        (
            {"min_leaders_per_broker": {"orders": 1}, "objective": GoalsRequest([GoalRequest("leaders")])},
            "conflicting_fields",
            ("min_leaders_per_broker",),
        ),
        ({"max_moved_bytes": 5, "limits": LimitsRequest(disk=0.5)}, "budget_below_minimum", ("max_moved_bytes",)),
        ({"trade_off": True, "limits": LimitsRequest(disk=0.8)}, "conflicting_fields", ("trade_off",)),
        ({"limits": LimitsRequest(nic_in=0.8)}, "rates_missing", ("limits", "nic_in")),
        ({"balance": BalanceRequest(resources=["cpu"])}, "rates_missing", ("balance", "resources", 0)),
        ({"objective": GoalsRequest([GoalRequest("cpu")])}, "rates_missing", ("objective", "goals", 0)),
        ({"limits": LimitsRequest(leaders=0.8)}, "conflicting_fields", ("limits", "leaders")),
        ({"capacity": {"9": CapacityRequest(vcpu=1.0)}}, "unknown_broker", ("capacity", "9")),
    ],
)
def test_bad_input_names_its_field(fields: dict[str, Any], code: str, path: FieldPath) -> None:
    with pytest.raises(Failure) as failure:
        planned(**fields)
    assert (failure.value.code, failure.value.path) == (code, path)


@pytest.mark.parametrize(
    ("limit", "share", "on_conflict", "expected"),
    [
        (0.5, None, "refuse", [500, 500, 300, 500]),
        (0.5, 0.4, "refuse", [400, 400, 240, 400]),
        (0.3, 0.4, "refuse", [300, 300, 180, 300]),
        (0.5, None, "relax", None),
        (Limit(share=0.5, soft=True), None, "refuse", None),
    ],
)
def test_a_hard_limit_of_the_disk_holds_in_every_batch(
    limit: float | Limit, share: float | None, on_conflict: Any, expected: list[int] | None
) -> None:
    """The scheduler and its verifier take these bytes as the most on a broker at any time."""
    request = ReassignmentRequest(
        capacity={"3": CapacityRequest(disk_bytes=600)},
        limits=LimitsRequest(disk=limit),
        batches=BatchesRequest(max_disk_share=share),
        on_conflict=on_conflict,
    )
    disks = resolve(request, CLUSTER, Allowance(Limits(), is_job=True), NEWEST).batches.disks
    assert (None if disks is None else disks.max_bytes.tolist()) == expected


def test_counts_that_are_balanced_with_the_smallest_partitions_are_a_warning() -> None:
    cluster = Cluster(
        "c",
        (Broker(1), Broker(2)),
        (topic("orders", [[1], [2], [1], [2], [1], [2]], [1000, 1000, 900, 900, 1, 1]),),
    )
    answer: Any = planned(cluster, add_brokers=[Broker(3)]).answer
    assert [(one["code"], one["brokers"]) for one in answer["warnings"]] == [("bytes_not_balanced", [3])]


def test_growth_changes_what_is_balanced_and_not_what_is_copied() -> None:
    """Today clicks is balanced over both brokers; when it is ten times as large, orders has to be where it is not."""
    cluster = Cluster(
        "c",
        (Broker(1), Broker(2)),
        (topic("clicks", [[1]], [100]), topic("orders", [[1], [2], [2]], [100, 100, 100])),
    )
    balance = BalanceRequest(replicas="tight", replicas_by="bytes")
    assert planned(cluster, balance=balance).answer["certificate"]["moved_bytes"] == 0  # type: ignore[index, call-overload] # an object
    grown = planned(cluster, balance=balance, growth={"clicks": 10.0}).answer
    assert grown["certificate"]["moved_bytes"] == 100  # type: ignore[index, call-overload] # an object
    assert grown["balance"]["replicas"]["largest"] == 1000  # type: ignore[index, call-overload] # an object


SMALL = Cluster(
    "c",
    tuple(Broker(broker, "a", capacity=BrokerCapacity(disk_bytes=1000)) for broker in (1, 2)),
    (topic("large", [[1], [1], [2]], [300, 210, 100]), topic("small", [[1]] * 40, [5] * 40)),
)
"""Broker 1 stores 710 bytes, of which 200 are 40 small replicas. Below 51 % of its disk, 200 bytes have to go."""


@pytest.mark.parametrize("goals", [("disk",), ("disk", "replicas"), ("replicas", "disk")], ids="+".join)
@pytest.mark.parametrize("balance", ["keep", None], ids=str)
def test_a_broker_that_may_not_receive_shares_the_loads_that_it_has(goals: tuple[GoalName, ...], balance: Any) -> None:
    """Broker 3 has 700 of 900 bytes in 3 of 9 replicas: it gives 200 to each of the others, whatever its count is.

    The planned cluster then moves nothing.
    """
    sizes, lists = [200, 200, 300, 34, 33, 33, 34, 33, 33], [[3], [3], [3], [1], [1], [1], [2], [2], [2]]
    objective = GoalsRequest([GoalRequest(goal, 0.8 if goal == "replicas" else 0) for goal in goals])
    for least in (400, 0):
        cluster = Cluster("c", tuple(map(Broker, (1, 2, 3))), (topic("t", lists, sizes),))
        plan = planned(cluster, forbid_brokers=[3], objective=objective, balance=BalanceRequest(balance))
        answer: Any = plan.answer
        assert answer["certificate"]["moved_bytes"] == least
        [disk] = [row for row in answer["balance"]["resources"] if row["goal"] == "disk"]
        assert (disk["smallest"], disk["largest"], disk["largest_bound"]) == (1, 1, 1)
        lists = [row for placement in plan.placements for row in placement.replicas.tolist()]


def test_a_broker_that_may_not_receive_does_not_take_all_leaders() -> None:
    """Broker 3 leads nothing and may not receive, but has a replica of each partition: it leads 2 of 6 then."""
    lists = [[1, 3], [1, 3], [1, 3], [2, 3], [2, 3], [1, 3]]
    cluster = Cluster("c", tuple(map(Broker, (1, 2, 3))), (topic("t", lists, [1] * 6),))
    objective = GoalsRequest([GoalRequest("leaders", 0)])
    plan = planned(cluster, forbid_brokers=[3], objective=objective, balance=BalanceRequest("keep"))
    leaders = [row[0] for placement in plan.placements for row in placement.replicas.tolist()]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]
    answer: Any = plan.answer
    assert (answer["certificate"]["moved_bytes"], answer["leader_changes"]) == (0, 2)


def moved(**fields: Any) -> dict[str, Any]:
    """The certificate of a plan that relieves `SMALL`."""
    certificate: Any = planned(SMALL, objective="relieve", limits=LimitsRequest(disk=0.51), **fields).answer
    return dict(certificate["certificate"])


def test_relief_moves_few_replicas_although_more_of_them_are_fewer_bytes() -> None:
    """The mean size is 810 / 43, or 19 bytes: 40 replicas of 5 bytes cost 960, and one of 210 bytes costs 229."""
    fewest_bytes, by_default = moved(minimise="bytes"), moved()
    assert (fewest_bytes["moved_replicas"], fewest_bytes["moved_bytes"]) == (40, 200)
    assert (by_default["moved_replicas"], by_default["moved_bytes"]) == (1, 210)
    assert (by_default["minimised"], by_default["bytes_per_replica"]) == ("cost", 19)
    assert (by_default["lower_bound_cost"], by_default["lower_bound_bytes"], by_default["optimal"]) == (229, 0, True)


@given(st.integers(0, 60))
@examples(12)
def test_more_bytes_are_moved_only_for_fewer_replicas_at_their_price(price: int) -> None:
    least, priced = moved(minimise="bytes"), moved(minimise=MovementCost(price))
    saved = least["moved_replicas"] - priced["moved_replicas"]
    assert 0 <= priced["moved_bytes"] - least["moved_bytes"] <= price * saved
    assert priced["minimised"] == ("cost" if price else "bytes")


def test_the_canonical_request_states_the_price_of_a_replica() -> None:
    relief = {"objective": "relieve", "limits": LimitsRequest(disk=0.51)}
    assert planned(SMALL, **relief).request["minimise"] == {"bytes_per_replica": 19}
    assert planned(SMALL, **relief, minimise="bytes").request["minimise"] == "bytes"
    assert planned(SMALL, **relief, max_moved_bytes=400).request["minimise"] == "bytes"
    assert planned(remove_brokers=[1]).request["minimise"] == "bytes"


def test_a_replica_costs_a_gibibyte_at_most() -> None:
    assert minimised(ReassignmentRequest(objective="relieve"), 1 << 40) == MovementCost(1 << 30)
