"""The conflict of an infeasible request: infeasible on its own, and feasible without any one of its members."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.core.model import Broker, Cluster
from app.core.replicas.options import RackMode
from app.errors.failure import Unprocessable
from app.errors.kafka import InvalidReplicationFactor
from app.errors.reassignments import BudgetBelowMinimum, NotFeasible, PinContradicted
from app.services.limits import Limits
from app.services.plans import Allowance, Site
from app.services.reassignment import (
    PLANNER,
    BalanceRequest,
    EvacuateRequest,
    IsolateRequest,
    PinRequest,
    ReassignmentRequest,
)
from app.services.reassignment.requests.parts import Limit, LimitsRequest
from tests.profiles import seeds
from tests.services.reassignments import topic

RELAXED: Mapping[str, Any] = {
    "remove_brokers": (),
    "remove_racks": (),
    "replace_brokers": {},
    "forbid_brokers": (),
    "receivers": None,
    "cordoned_brokers": None,
    "max_replicas_per_rack": None,
    "rack_mode": RackMode.DISABLED,
    "isolate": (),
    "fix_offline_replicas": False,
    "broker_sets": {},
    "pins": (),
    "replication_factor": {},
    "min_leaders_per_broker": {},
    "preferred_racks": {},
    "evacuate_leaders": EvacuateRequest(),
    "limits": LimitsRequest(),
    "max_moved_bytes": None,
}
"""By the first part of a member's pointer, or its name, the value of the field without it."""
BY_KEY = ("replication_factor", "min_leaders_per_broker", "limits", "pins")
"""Fields whose members are keys or places."""


Refused = NotFeasible | InvalidReplicationFactor | PinContradicted | BudgetBelowMinimum


def _infeasible(cluster: Cluster, request: ReassignmentRequest) -> Refused | None:
    try:
        PLANNER.check(request, Limits())
        PLANNER.solve(PLANNER.resolve(request, Site(cluster), Allowance(Limits())))
    except (NotFeasible, InvalidReplicationFactor, PinContradicted, BudgetBelowMinimum) as failure:
        return failure
    return None


def _keys(request: ReassignmentRequest, name: str) -> dict[str, Any]:
    """The members of a field by their keys or places."""
    value = request.limits.stated() if name == "limits" else getattr(request, name)
    return {str(key): each for key, each in (value.items() if isinstance(value, Mapping) else enumerate(value))}


def _without(request: ReassignmentRequest, members: Set[str]) -> ReassignmentRequest:
    """The request without these members, by pointer or field."""
    fields: dict[str, Any] = {member: RELAXED[member] for member in members if "/" not in member}
    for name in BY_KEY:
        left = {key: each for key, each in _keys(request, name).items() if f"{name}/{key}" not in members}
        fields[name] = LimitsRequest(**left) if name == "limits" else list(left.values()) if name == "pins" else left
    if "broker_sets" in fields:
        fields["topic_sets"] = {}
    if fields.get("max_replicas_per_rack", request.max_replicas_per_rack) is not None and "rack_mode" in fields:
        fields["rack_mode"] = RackMode.SAFE
    if request.objective == "relieve" and not fields["limits"].stated():
        fields["objective"] = "balance"
    return replace(request, **fields)


def _members(request: ReassignmentRequest) -> set[str]:
    whole = {name for name in RELAXED if name not in BY_KEY and getattr(request, name) != RELAXED[name]}
    return whole | {f"{name}/{key}" for name in BY_KEY for key in _keys(request, name)}


def _named(failure: Refused) -> set[str]:
    """The members of the request that a failure names, without brokers that are down."""
    if isinstance(failure, PinContradicted):
        contradicts = str(failure.context["contradicts"]).split("/")[1:2]
        return {f"pins/{failure.path[1]}", *contradicts}
    if isinstance(failure, InvalidReplicationFactor):
        return {"/".join(map(str, failure.path))}
    conflict: Any = failure.context["conflict"]
    pointers = [each["pointer"].removeprefix("/") for each in conflict if each["pointer"]]
    return {each if each.split("/")[0] in BY_KEY else each.split("/")[0] for each in pointers}


def _case(rng: np.random.Generator) -> tuple[Cluster, ReassignmentRequest]:
    count = int(rng.integers(4, 8))
    is_down = rng.random(count) < 0.1
    brokers = tuple(Broker(broker, "abc"[broker % 3], fenced=bool(is_down[broker])) for broker in range(count))
    topics = []
    for name in ("t", "u", "v"):
        factor = int(rng.integers(1, 4))
        lists = [rng.permutation(count)[: min(factor, count)].tolist() for _ in range(int(rng.integers(1, 5)))]
        topics.append(topic(name, lists, rng.integers(1, 20, len(lists)).tolist()))
    options = _options(rng, count, [len(each.partition_ids) for each in topics])
    chosen = rng.permutation(list(options))[: int(rng.integers(2, 6))].tolist()
    fields: dict[str, Any] = {name: options[name] for name in chosen}
    fields |= {"minimise": "bytes" if "max_moved_bytes" in fields else "replicas"}
    if "receivers" in fields:
        closed = {
            broker
            for name in ("remove_brokers", "forbid_brokers", "cordoned_brokers")
            for broker in fields.get(name, ())
        }
        fields["receivers"] = [broker for broker in fields["receivers"] if broker not in closed] or None
    if "replace_brokers" in fields:
        fields["forbid_brokers"] = [each for each in fields.get("forbid_brokers", ()) if each != count]
        removed = fields.get("remove_brokers", ())
        fields["replace_brokers"] = {old: new for old, new in fields["replace_brokers"].items() if old not in removed}
    if "limits" in fields and rng.integers(2):
        fields["objective"] = "relieve"
    modes = [RackMode.ENFORCED, RackMode.SAFE, RackMode.DISABLED]
    if "broker_sets" in fields:
        fields["topic_sets"] = {"u": "s"}
    fields["rack_mode"] = modes[int(rng.integers(2 if "max_replicas_per_rack" in fields else 3))]
    return Cluster("c", brokers, tuple(topics)), ReassignmentRequest(balance=BalanceRequest("keep"), **fields)


def _options(rng: np.random.Generator, count: int, partitions: Sequence[int]) -> dict[str, Any]:
    """Options of a request, over brokers 0 to `count` and the topics t, u, v with these partitions."""

    def some(most: int) -> list[int]:
        return sorted(rng.permutation(count)[: int(rng.integers(1, most + 1))].tolist())

    def number(least: int, most: int) -> int:
        return int(rng.integers(least, most + 1))

    return {
        "remove_brokers": some(3),
        "remove_racks": ["abc"[number(0, 2)]],
        "replace_brokers": {number(0, count - 1): count},
        "forbid_brokers": some(5),
        "receivers": some(3),
        "cordoned_brokers": some(4),
        "fix_offline_replicas": True,
        "max_replicas_per_rack": number(1, 2),
        "replication_factor": {"t": number(2, 4), "v": number(2, 4)},
        "isolate": [IsolateRequest(["u"], some(5), exclusive=bool(rng.integers(2)))],
        "broker_sets": {"s": some(5)},
        "pins": [PinRequest("u", 0, some(2)), *[PinRequest("u", 1, some(2))] * (partitions[1] > 1)],
        "min_leaders_per_broker": {"t": number(0, 1), "v": number(0, 1)},
        "preferred_racks": {"*": ["abc"[number(0, 2)]]},
        "evacuate_leaders": EvacuateRequest(some(4)),
        "limits": LimitsRequest(
            replicas=Limit(absolute=number(1, 6)),
            disk=Limit(absolute=number(10, 90)),
            leaders=Limit(absolute=number(0, 3)) if rng.integers(2) else None,
        ),
        "max_moved_bytes": number(0, 60),
    }


@pytest.mark.long
@pytest.mark.parametrize("seed", seeds(1500))
def test_a_conflict_is_infeasible_and_irreducible(seed: int) -> None:
    """By solving the request again: with its members alone, and without each one of them."""
    cluster, request = _case(np.random.default_rng(seed))
    try:
        failure = _infeasible(cluster, request)
    except Unprocessable:  # the options do not go together
        return
    if failure is None:
        return
    named = _named(failure)
    others = _members(request) - named
    assert named <= _members(request)
    assert _infeasible(cluster, _without(request, others)) is not None, named
    for member in named:
        assert _infeasible(cluster, _without(request, others | {member})) is None, (named, member)


def test_the_conflict_of_one_topic_is_not_that_of_the_request() -> None:
    """Topic t needs both options to conflict, u the removal alone."""
    brokers = tuple(Broker(broker, rack) for broker, rack in ((3, "c"), (15, "a"), (26, "b"), (35, "b")))
    topics = (topic("t", [[3, 15, 26]], [0]), topic("u", [[35, 3, 15, 26]], [0]))
    request = ReassignmentRequest(remove_brokers=[26], forbid_brokers=[35])
    failure = _infeasible(Cluster("c", brokers, topics), request)
    assert isinstance(failure, NotFeasible)
    assert _named(failure) == {"remove_brokers"}
    assert str(failure.context["topic"]) == "u"


@pytest.mark.parametrize("factor", [2, 1])
def test_limits_that_hold_without_racks_conflict_with_the_rack_rule(factor: int) -> None:
    """Broker 1 alone is in rack a: four partitions in both racks are four replicas on it, of three that are allowed."""
    cluster = Cluster(
        "c",
        (Broker(1, "a"), Broker(2, "b"), Broker(3, "b")),
        (topic("t", [[1, 2][:factor], [1, 3][:factor], [1, 2][:factor], [1, 3][:factor]], [1, 1, 1, 1]),),
    )
    few = ReassignmentRequest(objective="relieve", limits=LimitsRequest(replicas=Limit(absolute=3)))
    failure = _infeasible(cluster, few)
    assert (failure is None) == (factor == 1)
    if isinstance(failure, NotFeasible):
        conflict: Any = failure.context["conflict"]
        assert {member["constraint"] for member in conflict} == {"limits.replicas", "rack_mode"}
    assert _infeasible(cluster, replace(few, rack_mode=RackMode.DISABLED)) is None


def test_minimums_and_preferred_racks_conflict_together() -> None:
    """Each of two brokers leads one of two partitions, unless both are to be led in rack a."""
    cluster = Cluster("c", (Broker(0, "a"), Broker(1, "b")), (topic("t", [[0, 1], [0, 1]], [1, 1]),))
    request = ReassignmentRequest(min_leaders_per_broker={"t": 1}, preferred_racks={"*": ["a"]})
    failure = _infeasible(cluster, request)
    assert isinstance(failure, NotFeasible)
    assert _named(failure) == {"min_leaders_per_broker/t", "preferred_racks"}
    assert "other preferred_racks" in failure.context["lifted_by"]  # type: ignore[operator] # a list


def test_a_budget_conflicts_with_what_moves() -> None:
    """Broker 0 has 7 bytes that have to leave it; forbidding broker 3 moves nothing."""
    cluster = Cluster("c", tuple(Broker(broker, "ab"[broker % 2]) for broker in range(4)), (topic("t", [[0]], [7]),))
    request = ReassignmentRequest(remove_brokers=[0], forbid_brokers=[3], max_moved_bytes=6)
    failure = _infeasible(cluster, request)
    assert isinstance(failure, BudgetBelowMinimum)
    assert failure.context["minimum_bytes"] == 7
    assert _named(failure) == {"max_moved_bytes", "remove_brokers"}
    assert _infeasible(cluster, replace(request, max_moved_bytes=7)) is None


def test_a_pin_to_an_offline_broker_conflicts_with_fixing_it() -> None:
    """A broker that is down keeps its replica unless offline replicas are fixed, and receives none in any case."""
    cluster = Cluster("c", (Broker(0, fenced=True), Broker(1)), (topic("t", [[0], [1]], [1, 1]),))
    request = ReassignmentRequest(fix_offline_replicas=True, pins=[PinRequest("t", 1, [1]), PinRequest("t", 0, [0])])
    failure = _infeasible(cluster, request)
    assert isinstance(failure, PinContradicted)
    assert _named(failure) == {"pins/1", "fix_offline_replicas"}
    assert _infeasible(cluster, replace(request, fix_offline_replicas=False)) is None
    failure = _infeasible(cluster, replace(request, pins=[PinRequest("t", 1, [0])], fix_offline_replicas=False))
    assert isinstance(failure, PinContradicted)
    assert failure.context["contradicts"] == ""


def test_a_pin_to_a_current_broker_conflicts_with_its_removal() -> None:
    """A cordoned broker may keep its replica; a removed one may not."""
    cluster = Cluster("c", tuple(Broker(broker, "ab"[broker % 2]) for broker in range(4)), (topic("t", [[0]], [1]),))
    request = ReassignmentRequest(cordoned_brokers=[0], remove_brokers=[0], pins=[PinRequest("t", 0, [0])])
    failure = _infeasible(cluster, request)
    assert isinstance(failure, PinContradicted)
    assert _named(failure) == {"pins/0", "remove_brokers"}
    assert _infeasible(cluster, replace(request, remove_brokers=())) is None
