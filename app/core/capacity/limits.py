"""Headroom: the factor by which traffic can grow, the limit that breaks first, and the month in which it does.

A load is growing × factor + fixed, where `fixed` is the throttle of re-replication under a failure. A limit holds if
the load exceeds it by no more than rounding. Partitions do not grow: if they exceed their limit, headroom is 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf, log, log1p

from app.core.capacity.loads import BrokerLoads, LoadSpread
from app.core.capacity.scenario import FIRST_BROKER_ID, RESOURCES, Scenario, TrafficGrowth

ROUNDING = 1e-9
"""The relative tolerance of a limit: sums over ten thousand partitions are not exact."""
_COPIES: dict[str, int] = {"disk_bytes_per_s": 2, "nic_in": 1, "nic_out": 1, "vcpu": 2}
"""How many times the throttle counts: a surviving broker receives and writes copies, and reads and sends others."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit and the load compared with it: on which broker, under which failure set, in the resource's unit."""

    resource: str
    broker: int
    failure: str
    value: float
    limit: float


@dataclass(frozen=True, slots=True)
class Headroom:
    """The factor by which traffic can grow until `first` is reached; infinite and None if no limit ever is.

    A feasible scenario has a factor of 1 or more.
    """

    factor: float
    first: Limit | None

    @property
    def is_feasible(self) -> bool:
        """Whether every limit holds now, under every failure set of the scenario."""
        return self.factor >= 1 - ROUNDING


def headroom(scenario: Scenario, loads: BrokerLoads) -> Headroom:
    """The first limit to break as traffic grows; of several the first resource, and before any failure first."""
    smallest = Headroom(inf, None)
    for candidate in _candidates(scenario, loads):
        if candidate.factor < smallest.factor:
            smallest = candidate
    return smallest


def in_unit(scenario: Scenario, resource: str, value: float) -> float:
    """A load in the unit of its limit: vCPUs for the bytes/s that pass through them."""
    return value / scenario.broker_profile.bytes_per_s_per_vcpu if resource == "vcpu" else value


def copying(scenario: Scenario, resource: str, failure: str) -> float:
    """The load that re-replication adds to a surviving broker, independent of traffic; in the resource's unit."""
    if failure == "none":
        return 0.0
    return in_unit(scenario, resource, scenario.rereplication.throttle_bytes_per_s * _COPIES.get(resource, 0))


def _candidates(scenario: Scenario, loads: BrokerLoads) -> Iterator[Headroom]:
    for resource in RESOURCES:
        limit = scenario.limit(resource)
        if limit is None:
            continue
        load = loads.resources[resource]
        if resource == "disk":
            yield _disk(loads, limit)
        elif resource == "partitions":
            factor = inf if load.before.max <= limit * (1 + ROUNDING) else 0.0
            yield Headroom(factor, Limit(resource, load.before.broker, "none", load.before.max, limit))
        else:
            yield _rate(scenario, resource, load.before, "none", limit)
            yield _rate(scenario, resource, load.worst, load.worst_failure, limit)


def _disk(loads: BrokerLoads, limit: float) -> Headroom:
    factor, broker = loads.storage.first_full(limit)
    value = float(loads.storage.stored_bytes[broker])
    return Headroom(factor, Limit("disk", FIRST_BROKER_ID + broker, "none", value, limit))


def _rate(scenario: Scenario, resource: str, spread: LoadSpread, failure: str, limit: float) -> Headroom:
    growing = in_unit(scenario, resource, spread.max)
    fixed = copying(scenario, resource, failure)
    without_traffic = inf if fixed <= limit * (1 + ROUNDING) else 0.0
    factor = max(0.0, (limit - fixed) / growing) if growing > 0 else without_traffic
    return Headroom(factor, Limit(resource, spread.broker, failure, growing + fixed, limit))


def first_breaking_month(margin: Headroom, traffic: TrafficGrowth) -> int | None:
    """The first month within the horizon in which a limit breaks; 0 if it is broken now, None if none breaks.

    ⌈ln(headroom) / ln(1 + growth)⌉, with a tolerance so that rounding does not add a month.
    """
    if not margin.is_feasible:
        return 0
    growth, factor = traffic.growth_per_month, margin.factor * (1 - ROUNDING)
    if growth <= 0 or margin.factor == inf:
        return None
    months = log(max(1.0, factor)) / log1p(growth)
    return max(1, ceil(months)) if max(1.0, months) <= traffic.horizon_months else None
