"""The conflict of an infeasible request: infeasible on its own, and feasible without any one of its members."""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.core.model import Broker, Cluster
from app.core.replicas.rack_modes import RackMode
from app.errors.kafka import InvalidReplicationFactor
from app.errors.reassignments import NotFeasible, PinContradicted
from app.services.limits import Limits
from app.services.plans import draft_plan
from app.services.reassignment import PLANNER, BalanceRequest, IsolateRequest, PinRequest, ReassignmentRequest
from app.services.reassignment.requests.resources import Limit, LimitsRequest
from tests.profiles import seeds
from tests.services.reassignments import topic

RELAXED: Mapping[str, Any] = {
    "remove_brokers": (),
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
}
"""By the first part of a member's pointer, or its name, the value of the field without it."""


Refused = NotFeasible | InvalidReplicationFactor | PinContradicted


def _infeasible(cluster: Cluster, request: ReassignmentRequest) -> Refused | None:
    try:
        draft_plan(PLANNER, request, cluster, Limits())
    except (NotFeasible, InvalidReplicationFactor, PinContradicted) as failure:
        return failure
    return None


def _without(request: ReassignmentRequest, members: Set[str]) -> ReassignmentRequest:
    """The request without these members, by pointer or field."""
    fields: dict[str, Any] = {}
    for member in members:
        if member.startswith("replication_factor/"):
            name = member.split("/")[1]
            factors = fields.get("replication_factor", request.replication_factor)
            fields["replication_factor"] = {each: factor for each, factor in factors.items() if each != name}
        else:
            fields[member] = RELAXED[member]
    if "broker_sets" in fields:
        fields["topic_sets"] = {}
    if fields.get("max_replicas_per_rack", request.max_replicas_per_rack) is not None and "rack_mode" in fields:
        fields["rack_mode"] = RackMode.SAFE
    return replace(request, **fields)


def _members(request: ReassignmentRequest) -> set[str]:
    stated = {name for name, relaxed in RELAXED.items() if getattr(request, name) != relaxed}
    return stated | {f"replication_factor/{name}" for name in request.replication_factor}


def _named(failure: Refused) -> set[str]:
    if isinstance(failure, PinContradicted):
        return {"pins", str(failure.context["contradicts"] or "/cordoned_brokers").split("/")[1]}
    if isinstance(failure, InvalidReplicationFactor):
        return {"/".join(map(str, failure.path))}
    conflict: Any = failure.context["conflict"]
    pointers = [each["pointer"].removeprefix("/") or f"{each['constraint']}_brokers" for each in conflict]
    return {each if each.startswith("replication_factor/") else each.split("/")[0] for each in pointers}


def _case(rng: np.random.Generator) -> tuple[Cluster, ReassignmentRequest]:
    count = int(rng.integers(4, 8))
    brokers = tuple(Broker(broker, "abc"[broker % 3]) for broker in range(count))
    topics = []
    for name in ("t", "u", "v"):
        factor = int(rng.integers(1, 5))
        lists = [rng.permutation(count)[: min(factor, count)].tolist() for _ in range(int(rng.integers(1, 5)))]
        topics.append(topic(name, lists, [10] * len(lists)))
    ids = list(range(count))

    def some(most: int) -> list[int]:
        return sorted(rng.permutation(ids)[: int(rng.integers(1, most + 1))].tolist())

    options: dict[str, Any] = {
        "remove_brokers": some(3),
        "forbid_brokers": some(4),
        "receivers": some(3),
        "cordoned_brokers": some(3),
        "max_replicas_per_rack": 1,
        "replication_factor": {"t": int(rng.integers(2, 6)), "v": int(rng.integers(2, 6))},
        "isolate": [IsolateRequest(["u"], some(3), exclusive=bool(rng.integers(2)))],
        "broker_sets": {"s": some(3)},
        "pins": [PinRequest("u", 0, some(2))],
    }
    chosen = rng.permutation(list(options))[: int(rng.integers(2, 5))].tolist()
    fields: dict[str, Any] = {name: options[name] for name in chosen}
    if "receivers" in fields:
        closed = {
            *fields.get("remove_brokers", ()),
            *fields.get("forbid_brokers", ()),
            *fields.get("cordoned_brokers", ()),
        }
        fields["receivers"] = [broker for broker in fields["receivers"] if broker not in closed] or None
    modes = [RackMode.ENFORCED, RackMode.SAFE, RackMode.DISABLED]
    if "broker_sets" in fields:
        fields["topic_sets"] = {"u": "s"}
    fields["rack_mode"] = modes[int(rng.integers(2 if "max_replicas_per_rack" in fields else 3))]
    return Cluster("c", brokers, tuple(topics)), ReassignmentRequest(
        balance=BalanceRequest("keep"), minimise="replicas", **fields
    )


@pytest.mark.parametrize("seed", seeds(300))
def test_a_conflict_is_infeasible_and_irreducible(seed: int) -> None:
    """By solving the request again: with its members alone, and without each one of them."""
    cluster, request = _case(np.random.default_rng(seed))
    failure = _infeasible(cluster, request)
    if failure is None:
        return
    named = _named(failure)
    others = _members(request) - named
    assert named <= _members(request) | {"rack_mode"}
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


def test_a_pin_to_a_current_broker_conflicts_with_its_removal() -> None:
    """A cordoned broker may keep its replica; a removed one may not."""
    cluster = Cluster("c", tuple(Broker(broker, "ab"[broker % 2]) for broker in range(4)), (topic("t", [[0]], [1]),))
    request = ReassignmentRequest(cordoned_brokers=[0], remove_brokers=[0], pins=[PinRequest("t", 0, [0])])
    failure = _infeasible(cluster, request)
    assert isinstance(failure, PinContradicted)
    assert _named(failure) == {"pins", "remove_brokers"}
    assert _infeasible(cluster, replace(request, remove_brokers=())) is None
