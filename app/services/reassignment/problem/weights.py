"""The weights of brokers: what share of the balanced load each is to have."""

from fractions import Fraction

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.counts.weighted import shares_of_weights
from app.core.reassignment.resources import NO_CAPACITY, RESOURCES
from app.errors.reassignments import CapacityMissing, UnknownBroker
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.capacities import CAPACITY_FIELDS
from app.services.reassignment.requests.request import ReassignmentRequest
from app.services.reassignment.requests.resources import EVERY

WEIGHTS = ("balance", "weights")


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
    name = "nic_in" if request.balance.replicas_by == "throughput" else "disk"
    column = RESOURCES.index(name)
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
