"""By how much traffic can grow, which limit breaks first, and in which month.

A rate is growing × factor + fixed, where `fixed` is the throttle of re-replication under a failure. A limit holds as
long as the load does not pass it, by more than rounding. Partitions do not grow: where they pass their limit no factor
helps, and headroom is 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf, log, log1p

from app.core.capacity.loads import Loads, Spread
from app.core.capacity.scenario import FIRST_BROKER_ID, RESOURCES, Scenario, Traffic

ROUNDING = 1e-9
"""By how much of itself a load may pass a limit: sums over ten thousand partitions are not exact."""
_COPIES: dict[str, int] = {"disk_bytes_per_s": 2, "nic_in": 1, "nic_out": 1, "vcpu": 2}
"""How often the throttle counts: a survivor takes copies in and writes them, and reads and sends others."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit and what stands against it now: on which broker, under which failure set, in the resource's unit."""

    resource: str
    broker: int
    failure: str
    value: float
    limit: float


@dataclass(frozen=True, slots=True)
class Headroom:
    """The factor by which traffic can grow, and the limit that it then reaches; infinite and None where there is none.

    A feasible scenario has 1 or more.
    """

    factor: float
    first: Limit | None

    @property
    def is_feasible(self) -> bool:
        """Whether every limit holds now, under every failure set of the scenario."""
        return self.factor >= 1 - ROUNDING


def headroom(scenario: Scenario, loads: Loads) -> Headroom:
    """The first limit to break as traffic grows; of several at once the first resource, before any failure first."""
    found = Headroom(inf, None)
    for candidate in _candidates(scenario, loads):
        if candidate.factor < found.factor:
            found = candidate
    return found


def in_unit(scenario: Scenario, resource: str, value: float) -> float:
    """A load in the unit of its limit: vCPUs for the bytes/s that pass through them."""
    return value / scenario.profile.bytes_per_s_per_vcpu if resource == "vcpu" else value


def copying(scenario: Scenario, resource: str, failure: str) -> float:
    """What re-replication adds to a survivor's load, whatever traffic is; in the resource's unit."""
    if failure == "none":
        return 0.0
    return in_unit(scenario, resource, scenario.rereplication_bytes_per_s * _COPIES.get(resource, 0))


def _candidates(scenario: Scenario, loads: Loads) -> Iterator[Headroom]:
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


def _disk(loads: Loads, limit: float) -> Headroom:
    factor, broker = loads.storage.first_full(limit)
    value = float(loads.storage.stored_bytes[broker])
    return Headroom(factor, Limit("disk", FIRST_BROKER_ID + broker, "none", value, limit))


def _rate(scenario: Scenario, resource: str, spread: Spread, failure: str, limit: float) -> Headroom:
    growing = in_unit(scenario, resource, spread.max)
    fixed = copying(scenario, resource, failure)
    without_traffic = inf if fixed <= limit * (1 + ROUNDING) else 0.0
    factor = max(0.0, (limit - fixed) / growing) if growing > 0 else without_traffic
    return Headroom(factor, Limit(resource, spread.broker, failure, growing + fixed, limit))


def first_breaking_month(found: Headroom, traffic: Traffic) -> int | None:
    """The first month, up to the horizon, in which growth has used the headroom up; 0 where it is now, None if never.

    ⌈ln(headroom) / ln(1 + growth)⌉, made exact where rounding would miss a month.
    """
    if not found.is_feasible:
        return 0
    growth, factor = traffic.growth_per_month, found.factor * (1 - ROUNDING)
    if growth <= 0 or found.factor == inf:
        return None
    months = log(max(1.0, factor)) / log1p(growth)
    return max(1, ceil(months)) if max(1.0, months) <= traffic.horizon_months else None
