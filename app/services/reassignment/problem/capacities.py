"""The capacity of every broker: the snapshot's, overridden by the request's."""

from collections.abc import Mapping

import numpy as np

from app.core.model import BrokerCapacity, Int64s
from app.core.reassignment.resources.model import MILLION, NO_CAPACITY, RESOURCES
from app.errors.reassignments import UnknownBroker
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.requests.resources import EVERY, CapacityRequest

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
