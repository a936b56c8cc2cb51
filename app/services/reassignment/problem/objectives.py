"""The limits of brokers, their weights in the balance, and the goals over resources that a request states."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from app.core.model import Int64s
from app.core.reassignment import resource_problem
from app.core.reassignment.problem import GOAL_OF, ResourceObjective
from app.core.reassignment.solvers.flow.levels import shares_of_weights
from app.errors.every import CapacityMissing, ConflictingFields, FieldPath, Json, RatesMissing, UnknownBroker
from app.services.plans import as_json
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.loads import PartitionLoads
from app.services.reassignment.problem.resources import CAPACITY_FIELDS, Resources
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import EVERY, GoalsRequest, Limit, Limited, ResourceFields, Tolerance
from app.services.reassignment.requests.request import ReassignmentRequest

WEIGHTS = ("balance", "weights")


def limits_of(request: ResourceFields, brokers: BrokerTable, capacity: Int64s) -> resource_problem.Limits:
    """The limit of every broker by resource.

    Parameters
    ----------
    capacity : (brokers, resources) int64. A removed broker without one is not limited: it has nothing in the end.

    Raises `CapacityMissing` if a share has no capacity.
    """
    limits = resource_problem.Limits.none(len(capacity))
    for name, limit in request.limits.stated().items():
        column = resource_problem.RESOURCES.index(name)
        limits.is_soft[column] = limit.soft
        if limit.absolute is not None:
            amount = limit.absolute * (resource_problem.MILLION if name == "cpu" else 1)
            limits.upper[:, column] = min(round(amount), resource_problem.NO_LIMIT)
            continue
        of_broker = capacity[:, column]
        _require_capacity(name, limit, brokers, of_broker)
        shared = np.floor(of_broker * (limit.share or 0.0)).astype(np.int64)
        limits.upper[:, column] = np.where(of_broker > resource_problem.NO_CAPACITY, shared, resource_problem.NO_LIMIT)
    return limits


def require_loads(request: ResourceFields, scope: PartitionScope, loads: PartitionLoads) -> None:
    """Raise `SizesMissing` or `RatesMissing` if loads that are limited are not known."""
    for name in request.limits.stated():
        _require(f"a limit of {name}", name, ("limits", name), scope, loads)


def _require(what: str, name: str, path: FieldPath, scope: PartitionScope, loads: PartitionLoads) -> None:
    """Raise `SizesMissing` or `RatesMissing` if a load that something needs is not known of every topic."""
    if name == "disk":
        loads.sizes.require(what, path)
    if name not in ("nic_in", "nic_out", "cpu"):
        return
    names = [*scope.topics, *(topic.name for topic in scope.others)]
    missing = [each for each in names if loads.rates is None or each not in loads.rates.reported]
    if missing:
        detail = (
            f"{what} needs the ingress rates of all topics; those of {len(missing)} of {len(names)} are unknown, "
            f"{missing[0]} first; ingress_bytes_per_s states them"
        )
        raise RatesMissing(detail, path=path, topic=missing[0], topics=len(missing))


def _require_capacity(name: Limited, limit: Limit, brokers: BrokerTable, capacity: Int64s) -> None:
    is_missing: Bools = (capacity <= resource_problem.NO_CAPACITY) & ~brokers.is_removed
    if is_missing.any():
        field = CAPACITY_FIELDS[resource_problem.RESOURCES.index(name)]
        first = int(brokers.ids[is_missing][0])
        detail = (
            f"the limit of {name} is a share of {field}, and the capacity of {int(is_missing.sum())} of "
            f"{len(brokers.ids)} brokers is unknown or 0: {brokers.named(is_missing)}; capacity states it"
        )
        raise CapacityMissing(detail, path=("limits", name), value=limit.share, broker=first, field=field)


def with_capacity_as_weight(
    request: ReassignmentRequest, brokers: BrokerTable, capacity: Int64s
) -> ReassignmentRequest:
    """The request with capacities as weights if it adds brokers of a stated size, and all sizes are known and differ.

    Brokers of another size are added to take another share. Weights that the request or the snapshot states stay.

    Parameters
    ----------
    capacity : (brokers, resources) int64.
    """
    column = _weighing(request)
    is_stated = any(
        broker.capacity is not None and getattr(broker.capacity, CAPACITY_FIELDS[column]) is not None
        for broker in request.add_brokers
    )
    sizes = capacity[~brokers.is_removed & ~brokers.is_offline, column]
    has_weights = request.balance.weights is not None or any(broker.weight != 1 for broker in brokers.known)
    if has_weights or not is_stated or (sizes <= resource_problem.NO_CAPACITY).any() or len(np.unique(sizes)) == 1:
        return request
    return replace(request, balance=replace(request.balance, weights="capacity"))


def _weighing(request: ReassignmentRequest) -> int:
    """The column of the capacity that is a broker's weight."""
    return resource_problem.RESOURCES.index("nic_in" if request.balance.replicas_by == "throughput" else "disk")


def weights_of(request: ReassignmentRequest, brokers: BrokerTable, capacity: Int64s) -> Int64s | None:
    """(brokers,) int64 > 0 without a common factor; None if all brokers that stay weigh the same.

    Parameters
    ----------
    capacity : (brokers, resources) int64.

    Raises as `stated_weights` does.
    """
    return shares_of_weights(stated_weights(request, brokers, capacity), ~brokers.is_removed)


def stated_weights(request: ReassignmentRequest, brokers: BrokerTable, capacity: Int64s) -> list[Fraction]:
    """The weight of each broker: of the request, else of the snapshot.

    Raises `UnknownBroker`, and `CapacityMissing` if capacities are the weights and one is unknown.
    """
    stated = request.balance.weights
    if stated == "capacity":
        return _capacities(request, brokers, capacity)
    by_id = {} if stated is None or isinstance(stated, str) else stated
    known = {str(broker.id) for broker in brokers.known}
    for name in by_id:
        if name != EVERY and name not in known:
            detail = f"there is no broker {name} in the snapshot, nor is one added"
            raise UnknownBroker(detail, path=(*WEIGHTS, name), value=int(name))
    rest = by_id.get(EVERY)
    return [as_written(by_id.get(str(broker.id), broker.weight if rest is None else rest)) for broker in brokers.known]


def as_written(weight: float) -> Fraction:
    """The fraction that was written, and not the float next to it."""
    return Fraction(repr(float(weight)))


def _capacities(request: ReassignmentRequest, brokers: BrokerTable, capacity: Int64s) -> list[Fraction]:
    column = _weighing(request)
    is_missing = (capacity[:, column] <= resource_problem.NO_CAPACITY) & ~brokers.is_removed & ~brokers.is_offline
    if is_missing.any():
        field = CAPACITY_FIELDS[column]
        detail = (
            f"brokers weigh by {field}, and the capacity of {int(is_missing.sum())} of {len(brokers.ids)} brokers is "
            f"unknown or 0: {brokers.named(is_missing)}; capacity states it"
        )
        first = int(brokers.ids[is_missing][0])
        raise CapacityMissing(detail, path=WEIGHTS, value="capacity", broker=first, field=field)
    return [Fraction(amount) for amount in np.maximum(capacity[:, column], 1).tolist()]


_OF_LEADERS = frozenset(("nic_out", "cpu", "leaders"))
"""Goals that depend on which replica leads."""


def objective_of(
    request: ReassignmentRequest,
    scope: PartitionScope,
    loads: PartitionLoads,
    traffic: Resources,
    factors: Int64s,
    *,
    is_weighted: bool,
) -> ResourceObjective | None:
    """The objective over resources; None if the request is about counts, or bytes or throughput without weights.

    Parameters
    ----------
    factors : (rows,) int64 replication factors after the change.

    Raises
    ------
    ConflictingFields : a field that does not go together with resources.
    SizesMissing, RatesMissing : the loads of a goal are unknown.
    """
    resources, limits = request.balance.resources, request.limits.stated()
    by_weight = is_weighted and request.balance.replicas_by != "count" and not request.leaders_only
    by_weight = by_weight and request.replicas_balance.tolerance is not None
    if not (limits or resources or by_weight or request.objective != "balance"):
        return None
    for path, value, detail in _conflicts(request):
        raise ConflictingFields(detail, path=path, value=value)
    for name, path in _balanced(request):
        _require(f"a balance of {name}", name, path, scope, loads)
    return ResourceObjective(_priorities(request), traffic.row_loads(factors), leads_afterwards(request))


def _balanced(request: ReassignmentRequest) -> Iterator[tuple[str, FieldPath]]:
    """The balanced weights, and the field that states each."""
    if isinstance(request.objective, GoalsRequest):
        for place, goal in enumerate(request.objective.goals):
            yield goal.goal, ("objective", "goals", place)
    elif request.objective == "balance":
        yield GOAL_OF[request.balance.replicas_by], ("balance", "replicas_by")
        for place, name in enumerate(request.balance.resources):
            yield name, ("balance", "resources", place)


def _priorities(request: ReassignmentRequest) -> tuple[tuple[resource_problem.Goal, ...], ...]:
    objective = request.objective
    if isinstance(objective, GoalsRequest):
        return tuple((resource_problem.Goal(goal.goal, Fraction(repr(goal.tolerance))),) for goal in objective.goals)
    if objective == "relieve":
        return ()
    joint: dict[str, resource_problem.Goal] = {name: resource_problem.Goal(name) for name in request.balance.resources}
    for name, balance in (
        (GOAL_OF[request.balance.replicas_by], request.replicas_balance),
        ("leaders", request.leaders_balance),
    ):
        if balance.tolerance is not None and not (name == "leaders" and leads_afterwards(request)):
            joint.setdefault(name, resource_problem.Goal.of(name, balance))
    return (tuple(joint.values()),) if joint else ()


def leads_afterwards(request: ReassignmentRequest) -> bool:
    """Whether constraints on leaders are met by choosing them after the replicas, within the limits."""
    return bool(request.preferred_racks or request.min_leaders_per_broker or request.spread_leaders)


def _conflicts(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, Json, str]]:
    together = "limits, balance.resources, objective and weights of bytes place replicas and leaders together"
    if request.leaders_only:
        yield ("leaders_only",), True, f"{together}, and leaders_only moves no replica"
    for name in ("preferred_racks", "min_leaders_per_broker", "spread_leaders"):
        balanced = [goal.name for group in _priorities(request) for goal in group if goal.name in _OF_LEADERS]
        if getattr(request, name) and balanced:
            words = f"{name} chooses leaders after the replicas, and the goal {balanced[0]} depends on leaders"
            yield (name,), balanced[0], words
    goals = {goal.name for group in _priorities(request) for goal in group}
    if request.copysets is not None and (
        request.copysets != "no_new"
        or not goals
        or goals & {*_OF_LEADERS, resource_problem.TOPIC_REPLICAS}
        or request.limits.stated()
    ):
        detail = f"{together}, and copysets goes with goals for disk, nic_in and replicas alone, without limits"
        yield ("copysets",), as_json(request.copysets), detail
    if request.trade_off:
        yield ("trade_off",), True, f"{together}, and trade_off is of balanced counts"
    if request.balance.leaders_by != "count":
        detail = f"{together}: leaders are balanced by count, and what they send by the resource nic_out"
        yield ("balance", "leaders_by"), request.balance.leaders_by, detail
    if request.balance.leaders == "preferred":
        yield ("balance", "leaders"), "preferred", f"{together}, and preferred keeps the order of replica lists"
    if isinstance(request.balance.leaders, Tolerance) and request.balance.leaders.below is not None:
        detail = f"{together}: leaders are as far below their mean as above it"
        yield ("balance", "leaders", "below"), request.balance.leaders.below, detail
    if request.objective != "balance":
        yield from _of_objective(request)


def _of_objective(request: ReassignmentRequest) -> Iterator[tuple[FieldPath, Json, str]]:
    is_of_topics = isinstance(request.objective, GoalsRequest) and any(
        goal.goal == resource_problem.TOPIC_REPLICAS for goal in request.objective.goals
    )
    if request.pins and is_of_topics:
        detail = "the goal topic_replicas counts the replicas that it places, and those of pins are placed already"
        yield ("pins",), len(request.pins), detail
    if request.objective == "relieve" and not request.limits.stated() and request.limits.log_dirs is None:
        yield ("objective",), "relieve", "objective relieve brings brokers below limits, and limits has none"
    for name in ("resources", "replicas", "leaders"):
        if getattr(request.balance, name) not in (None, (), [], "keep"):
            detail = f"the objective states what is balanced, and balance.{name} does, too; leave one of them out"
            yield ("balance", name), name, detail
