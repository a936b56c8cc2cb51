"""What partitions load on the brokers of a reassignment sweep, and the limits and goals that its scenarios have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.model import Int64s
from app.core.reassignment.resources import NO_CAPACITY, RESOURCES, ResourceLoads, StatedLimit, kafka_loads
from app.core.reassignment.resources.model import MILLION
from app.core.sweeps.axes import read_axis
from app.core.sweeps.fields import as_number
from app.errors import FieldPath, Json
from app.errors.reassignments import CapacityMissing, RatesMissing, SizesMissing
from app.errors.requests import ConflictingFields

OF_CAPACITY = RESOURCES[:4]
"""The resources of which brokers have a capacity."""
CAPACITY_FIELDS = dict(
    zip(OF_CAPACITY, ("disk_bytes", "nic_in_bytes_per_s", "nic_out_bytes_per_s", "vcpu"), strict=True)
)
SHARES = tuple(f"limits.{name}" for name in OF_CAPACITY)
AMOUNTS = tuple(f"limits.{name}.absolute" for name in RESOURCES)
LIMIT_AXES = (*SHARES, *AMOUNTS)
"""The axes that vary limits: shares of capacities, and amounts."""
MOST = 1e18


@dataclass(frozen=True, eq=False)
class SweptLoads:
    """What each partition that may move stores and carries, and what brokers can bear.

    Parameters
    ----------
    known : the resources of which the loads are known.
    ingress, reads, retained : (rows,) int64 bytes/s of producers and consumers, and bytes of a replica, grown.
    base : (brokers, resources) int64 of partitions that may not move.
    capacity : (brokers, resources) int64, or `NO_CAPACITY`. of_added : (resources,) int64 of each added broker.
    cpu : vCPU for a byte/s in, for a byte/s out, and for a replica.
    unknown_sizes : partitions of unknown size. unknown_rates : topics of unknown rate, the first ones.
    """

    known: tuple[str, ...]
    ingress: Int64s = field(repr=False)
    reads: Int64s = field(repr=False)
    retained: Int64s = field(repr=False)
    base: Int64s = field(repr=False)
    capacity: Int64s = field(repr=False)
    of_added: Int64s
    cpu: tuple[float, float, float]
    follower_fetching: bool
    unknown_sizes: int
    unknown_rates: tuple[str, ...]

    def of_scenario(self, factors: Int64s, added: int, client_racks: int, racks: int) -> ResourceLoads:
        """The loads of replicas with so many added brokers.

        Parameters
        ----------
        factors : (rows,) int64. client_racks : the racks that consumers are in, the first of `racks` in all.
        """
        share = np.zeros(racks, np.int64)
        share[:client_racks] = MILLION // max(client_racks, 1)
        return kafka_loads(
            ingress=self.ingress,
            reads=self.reads,
            retained=self.retained,
            factors=factors,
            base=np.pad(self.base, ((0, added), (0, 0))),
            capacity=np.vstack([self.capacity, np.tile(self.of_added, (added, 1))]),
            cpu=self.cpu,
            client_share=share if self.follower_fetching and client_racks else None,
        )


def loads_document(loads: SweptLoads) -> dict[str, Json]:
    """The loads as JSON, for executors."""
    return {
        "known": list(loads.known),
        **{
            name: getattr(loads, name).tolist()
            for name in ("ingress", "reads", "retained", "base", "capacity", "of_added")
        },
        "cpu": list(loads.cpu),
        "follower_fetching": loads.follower_fetching,
        "unknown_sizes": loads.unknown_sizes,
        "unknown_rates": list(loads.unknown_rates),
    }


def read_loads(document: Mapping[str, Any] | None) -> SweptLoads | None:
    """The inverse of `loads_document`; None of a cluster without loads."""
    if document is None:
        return None
    return SweptLoads(
        known=tuple(document["known"]),
        ingress=np.array(document["ingress"], np.int64),
        reads=np.array(document["reads"], np.int64),
        retained=np.array(document["retained"], np.int64),
        base=np.array(document["base"], np.int64).reshape(-1, len(RESOURCES)),
        capacity=np.array(document["capacity"], np.int64).reshape(-1, len(RESOURCES)),
        of_added=np.array(document["of_added"], np.int64),
        cpu=(document["cpu"][0], document["cpu"][1], document["cpu"][2]),
        follower_fetching=document["follower_fetching"],
        unknown_sizes=document["unknown_sizes"],
        unknown_rates=tuple(document["unknown_rates"]),
    )


def read_limits(stated: Mapping[str, Any] | None) -> dict[str, StatedLimit]:
    """The limits of a sweep's JSON by resource: numbers are shares.

    Raises `ConflictingFields` if a limit is neither a share nor absolute, or a share of a count.
    """
    limits = {}
    for name, value in (stated or {}).items():
        limit = StatedLimit(**value) if isinstance(value, Mapping) else StatedLimit(share=value)
        path = ("limits", name)
        if (limit.share is None) == (limit.absolute is None):
            detail = f"the limit of {name} is either a share or absolute, and one of the two is required"
            raise ConflictingFields(detail, path=path)
        if limit.share is not None and name not in OF_CAPACITY:
            detail = f'no broker has a capacity of {name}, so that its limit is {{"absolute": …}}'
            raise ConflictingFields(detail, path=path, value=limit.share)
        limits[name] = limit
    return limits


def read_limit_axis(name: str, values: Json) -> tuple[float, ...]:
    """The values of an axis of limits, which are shares in (0, 1], or amounts. Raises `ImpossibleValue`."""
    maximum = 1.0 if name in SHARES else MOST
    return tuple(
        as_number(value, ("axes", name, position), above=0.0, maximum=maximum)
        for position, value in enumerate(read_axis(name, values).values)
    )


def with_axes(limits: Mapping[str, StatedLimit], values: Mapping[str, Any]) -> dict[str, StatedLimit]:
    """The limits with the values of axes in their place; a soft limit stays soft."""
    varied = dict(limits)
    for path, value in values.items():
        if path in LIMIT_AXES:
            name = path.split(".")[1]
            is_soft = name in limits and limits[name].soft
            varied[name] = (
                StatedLimit(absolute=value, soft=is_soft) if path in AMOUNTS else StatedLimit(value, None, is_soft)
            )
    return varied


def require_distinct_limits(axes: Sequence[str]) -> None:
    """Raise `ConflictingFields` if a limit is varied both as a share and as an amount."""
    for path in axes:
        if path in SHARES and f"{path}.absolute" in axes:
            detail = f"{path} and {path}.absolute vary the same limit"
            raise ConflictingFields(detail, path=("axes", f"{path}.absolute"))


def require_loads(
    loads: SweptLoads, brokers: Sequence[int], limits: Mapping[FieldPath, StatedLimit], *, adds: bool
) -> None:
    """Raise if what is limited is unknown.

    Parameters
    ----------
    brokers : ids. limits : by the field that states each; its resource is the second part. adds : whether brokers are
        added.

    Raises
    ------
    SizesMissing, RatesMissing : of partitions. CapacityMissing : a share has no capacity.
    """
    for path, limit in limits.items():
        name = str(path[1]).split(".")[1] if path[0] == "axes" else str(path[1])
        require_known(loads, name, f"a limit of {name}", path)
        if limit.share is None:
            continue
        column, field_name = RESOURCES.index(name), CAPACITY_FIELDS[name]
        missing = np.flatnonzero(loads.capacity[:, column] <= NO_CAPACITY).tolist()
        if missing:
            detail = (
                f"the limit of {name} is a share of {field_name}, and the capacity of {len(missing)} of {len(brokers)} "
                f"brokers is unknown or 0, {brokers[missing[0]]} first; capacity states it"
            )
            raise CapacityMissing(detail, path=path, broker=brokers[missing[0]], field=field_name)
        if adds and loads.of_added[column] <= NO_CAPACITY:
            detail = (
                f"the limit of {name} is a share of {field_name}, and that of added brokers is unknown; "
                'capacity states it for "*"'
            )
            raise CapacityMissing(detail, path=path, field=field_name)


def require_known(loads: SweptLoads, name: str, what: str, path: FieldPath) -> None:
    """Raise `SizesMissing` or `RatesMissing` if the loads of a resource are not known in full."""
    if name == "disk" and loads.unknown_sizes:
        detail = f"{what} needs the bytes of every partition; those of {loads.unknown_sizes} are unknown"
        raise SizesMissing(detail, path=path, partitions=loads.unknown_sizes)
    if name in ("nic_in", "nic_out", "cpu") and loads.unknown_rates:
        first = loads.unknown_rates[0]
        detail = (
            f"{what} needs the ingress rates of all topics; that of {first} is unknown; ingress_bytes_per_s states it"
        )
        raise RatesMissing(detail, path=path, topic=first, topics=len(loads.unknown_rates))
