"""The capacities of brokers, and what a request states by them: limits, and weights in the balance."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from app.core.model import BrokerCapacity, Int64s
from app.core.reassignment.resource_problem import MILLION, NO_CAPACITY, NO_LIMIT, RESOURCES, Limits
from app.core.reassignment.solvers.flow.weighted import shares_of_weights
from app.errors import FieldPath
from app.errors.reassignments import CapacityMissing, RatesMissing, UnknownBroker
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.loads import IngressRates, PartitionSizes
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.parts import EVERY, CapacityRequest, Limit, Limited, ResourceFields
from app.services.reassignment.requests.request import ReassignmentRequest

WEIGHTS = ("balance", "weights")
CAPACITY_FIELDS = ("disk_bytes", "nic_in_bytes_per_s", "nic_out_bytes_per_s", "vcpu")
"""By resource in the order of `RESOURCES`: the field of a broker's capacity."""
_UNITS = (1, 1, 1, MILLION)


def capacities_of(stated: Mapping[str, CapacityRequest], brokers: BrokerTable) -> Int64s:
    """(brokers, resources) int64 capacity, or `NO_CAPACITY`: of the broker's id, else of `*`, else the snapshot's.

    Raises `UnknownBroker`.
    """
    known = {str(broker.id) for broker in brokers.known}
    for name in stated:
        if name != EVERY and name not in known:
            detail = f"there is no broker {name} in the snapshot, nor is one added"
            raise UnknownBroker(detail, path=("capacity", name), value=int(name))
    capacity = np.full((len(brokers.known), len(RESOURCES)), NO_CAPACITY, np.int64)
    for place, broker in enumerate(brokers.known):
        capacity[place] = capacity_of(stated.get(str(broker.id)), stated.get(EVERY), broker.capacity)
    return capacity


def capacity_of(*sources: CapacityRequest | BrokerCapacity | None) -> Int64s:
    """(resources,) int64 capacity of a broker, or `NO_CAPACITY`: of the first source that has each."""
    capacity = np.full(len(RESOURCES), NO_CAPACITY, np.int64)
    for column, (name, unit) in enumerate(zip(CAPACITY_FIELDS, _UNITS, strict=True)):
        capacity[column] = round(unit * _first(sources, name))
    return capacity


def _first(sources: tuple[CapacityRequest | BrokerCapacity | None, ...], name: str) -> float:
    """The first source that has it; `NO_CAPACITY` if none has."""
    values = (getattr(source, name, None) for source in sources)
    return next((value for value in values if value is not None), NO_CAPACITY)


def limits_of(request: ResourceFields, brokers: BrokerTable, capacity: Int64s) -> Limits:
    """The limit of every broker by resource.

    Parameters
    ----------
    capacity : (brokers, resources) int64. A removed broker without one is not limited: it has nothing in the end.

    Raises `CapacityMissing` if a share has no capacity.
    """
    limits = Limits.none(len(capacity))
    for name, limit in request.limits.stated().items():
        column = RESOURCES.index(name)
        limits.is_soft[column] = limit.soft
        if limit.absolute is not None:
            amount = limit.absolute * (MILLION if name == "cpu" else 1)
            limits.upper[:, column] = min(round(amount), NO_LIMIT)
            continue
        of_broker = capacity[:, column]
        _require_capacity(name, limit, brokers, of_broker)
        shared = np.floor(of_broker * (limit.share or 0.0)).astype(np.int64)
        limits.upper[:, column] = np.where(of_broker > NO_CAPACITY, shared, NO_LIMIT)
    return limits


def require_loads(
    request: ResourceFields, scope: PartitionScope, sizes: PartitionSizes, rates: IngressRates | None
) -> None:
    """Raise `SizesMissing` or `RatesMissing` if loads that are limited are not known."""
    for name in request.limits.stated():
        path = ("limits", name)
        if name == "disk":
            sizes.require("a limit of disk", path)
        elif name in ("nic_in", "nic_out", "cpu"):
            require_rates(f"a limit of {name}", path, scope, rates)


def require_rates(what: str, path: FieldPath, scope: PartitionScope, rates: IngressRates | None) -> None:
    """Raise `RatesMissing` if the ingress rate of a topic is unknown; `what` needs them all."""
    names = [*scope.topics, *(topic.name for topic in scope.others)]
    missing = [name for name in names if rates is None or name not in rates.reported]
    if missing:
        detail = (
            f"{what} needs the ingress rates of all topics; those of {len(missing)} of {len(names)} are unknown, "
            f"{missing[0]} first; ingress_bytes_per_s states them"
        )
        raise RatesMissing(detail, path=path, topic=missing[0], topics=len(missing))


def _require_capacity(name: Limited, limit: Limit, brokers: BrokerTable, capacity: Int64s) -> None:
    is_missing: Bools = (capacity <= NO_CAPACITY) & ~brokers.is_removed
    if is_missing.any():
        field = CAPACITY_FIELDS[RESOURCES.index(name)]
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
    if has_weights or not is_stated or (sizes <= NO_CAPACITY).any() or len(np.unique(sizes)) == 1:
        return request
    return replace(request, balance=replace(request.balance, weights="capacity"))


def _weighing(request: ReassignmentRequest) -> int:
    """The column of the capacity that is a broker's weight."""
    return RESOURCES.index("nic_in" if request.balance.replicas_by == "throughput" else "disk")


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
    is_missing = (capacity[:, column] <= NO_CAPACITY) & ~brokers.is_removed & ~brokers.is_offline
    if is_missing.any():
        field = CAPACITY_FIELDS[column]
        detail = (
            f"brokers weigh by {field}, and the capacity of {int(is_missing.sum())} of {len(brokers.ids)} brokers is "
            f"unknown or 0: {brokers.named(is_missing)}; capacity states it"
        )
        first = int(brokers.ids[is_missing][0])
        raise CapacityMissing(detail, path=WEIGHTS, value="capacity", broker=first, field=field)
    return [Fraction(amount) for amount in np.maximum(capacity[:, column], 1).tolist()]
