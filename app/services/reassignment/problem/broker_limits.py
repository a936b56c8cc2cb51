"""The upper limits of brokers, from shares of their capacities and amounts; and what is missing for them."""

from collections.abc import Mapping

from app.core.model import Int64s
from app.core.reassignment.resources import NO_CAPACITY, RESOURCES, Limits, StatedLimit, stated_limits
from app.errors import FieldPath
from app.errors.reassignments import CapacityMissing, RatesMissing
from app.services.reassignment.problem.brokers import Bools, BrokerTable
from app.services.reassignment.problem.loads import IngressRates, PartitionSizes
from app.services.reassignment.problem.scope import PartitionScope
from app.services.reassignment.requests.resources import Limit, Limited, ResourceFields

_CAPACITY_FIELDS: Mapping[str, str] = {
    "disk": "disk_bytes",
    "nic_in": "nic_in_bytes_per_s",
    "nic_out": "nic_out_bytes_per_s",
    "cpu": "vcpu",
}


def limits_of(request: ResourceFields, brokers: BrokerTable, capacity: Int64s) -> Limits:
    """The limit of every broker by resource.

    Parameters
    ----------
    capacity : (brokers, resources) int64. A removed broker without one is not limited: it has nothing in the end.

    Raises `CapacityMissing` if a share has no capacity.
    """
    stated = request.limits.stated()
    for name, limit in stated.items():
        if limit.absolute is None:
            _require_capacity(name, limit, brokers, capacity[:, RESOURCES.index(name)])
    as_core: dict[str, StatedLimit] = {
        name: StatedLimit(limit.share, limit.absolute, limit.soft) for name, limit in stated.items()
    }
    return stated_limits(as_core, capacity)


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
        field = _CAPACITY_FIELDS[name]
        first = int(brokers.ids[is_missing][0])
        detail = (
            f"the limit of {name} is a share of {field}, and the capacity of {int(is_missing.sum())} of "
            f"{len(brokers.ids)} brokers is unknown or 0: {brokers.named(is_missing)}; capacity states it"
        )
        raise CapacityMissing(detail, path=("limits", name), value=limit.share, broker=first, field=field)
