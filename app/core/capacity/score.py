"""The score of a scenario: feasibility, headroom, cost and failure counts, and its JSON.

Headroom: the factor by which traffic can grow, the limit that breaks first, and the month in which it does.

A load is growing × factor + fixed, where `fixed` is the throttle of re-replication under a failure. A limit holds if
the load exceeds it by no more than rounding. Partitions do not grow: if they exceed their limit, headroom is 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, log, log1p
from typing import Any

import numpy as np

from app.core.capacity import loads
from app.core.capacity.scenario import (
    FIRST_BROKER_ID,
    RESOURCES,
    PlacementPolicy,
    RestartRules,
    Scenario,
    TopicLoad,
    Topology,
    TrafficGrowth,
)
from app.core.jvm import JavaRandom
from app.core.model import Int32s, NewTopic, Placement
from app.core.replicas.admin_utils import rack_alternated
from app.core.replicas.registry import PLACEMENTS, place_topics
from app.core.restarts import RestartProblem, RestartWaves, restart_waves

ROUNDING = 1e-9
"""The relative tolerance of a limit: sums over ten thousand partitions are not exact."""
_LIMIT = 1 << 36
"""A limit as an integer; sums over all partitions fit into 64 bits."""
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


def headroom(scenario: Scenario, carried: loads.BrokerLoads) -> Headroom:
    """The first limit to break as traffic grows; of several the first resource, and before any failure first."""
    return min([Headroom(inf, None), *_candidates(scenario, carried)], key=lambda each: each.factor)


def in_unit(scenario: Scenario, resource: str, value: float) -> float:
    """A load in the unit of its limit: vCPUs for the bytes/s that pass through them."""
    return value / scenario.broker_profile.bytes_per_s_per_vcpu if resource == "vcpu" else value


def copying(scenario: Scenario, resource: str, failure: str) -> float:
    """The load that re-replication adds to a surviving broker, independent of traffic; in the resource's unit."""
    if failure == "none":
        return 0.0
    return in_unit(scenario, resource, scenario.rereplication.throttle_bytes_per_s * _COPIES.get(resource, 0))


def _candidates(scenario: Scenario, carried: loads.BrokerLoads) -> Iterator[Headroom]:
    for resource in RESOURCES:
        limit = scenario.limit(resource)
        if limit is None:
            continue
        load = carried.resources[resource]
        if resource == "disk":
            factor, broker = carried.storage.first_full(limit)
            stored = float(carried.storage.stored_bytes[broker])
            yield Headroom(factor, Limit(resource, FIRST_BROKER_ID + broker, "none", stored, limit))
        elif resource == "partitions":
            factor = inf if load.before.max <= limit * (1 + ROUNDING) else 0.0
            yield Headroom(factor, Limit(resource, load.before.broker, "none", load.before.max, limit))
        else:
            yield _rate(scenario, resource, load.before, "none", limit)
            yield _rate(scenario, resource, load.worst, load.worst_failure, limit)


def _rate(scenario: Scenario, resource: str, spread: loads.LoadSpread, failure: str, limit: float) -> Headroom:
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


@dataclass(frozen=True, slots=True)
class ResourceFigures:
    """One resource of a broker, in its own unit; capacity and limit are None if it has no limit.

    Parameters
    ----------
    worst : under the failure set, of the scenario's classes, that has the most loaded surviving broker.
    """

    capacity: float | None
    limit: float | None
    before: loads.LoadSpread
    worst: loads.LoadSpread
    worst_failure: str


@dataclass(frozen=True, slots=True)
class Score:
    """A scenario's score, with the field names of `GET /v1/sweeps/{id}/scenarios`; month 0, at today's traffic.

    Parameters
    ----------
    feasible : whether every broker is within every limit, before any failure and under every failure set.
    binding : the limit that breaks first if the scenario is not feasible, else None. first_limit : feasible or not, the
        limit that breaks first as traffic grows; None if none ever does.
    headroom : the factor by which traffic can grow until then; None if it is unlimited.
    first_breaking_month : None if no limit breaks within the horizon.
    remote_bytes : in remote storage, one copy.
    restart_waves, restart_waves_lower_bound : of a rolling restart; None if they are not requested.
    failures : by failure class. partitions_offline … : the largest of any class.
    """

    seed: int
    brokers: int
    partitions: int
    feasible: bool
    binding: Limit | None
    first_limit: Limit | None
    headroom: float | None
    first_breaking_month: int | None
    monthly_cost: float
    monthly_cost_parts: loads.MonthlyCost
    remote_bytes: float
    cross_rack_bytes_per_s: float
    cross_rack_parts: loads.CrossRack
    partitions_offline: int
    partitions_under_min_isr: int
    partitions_not_rack_safe: int
    restart_waves: int | None
    restart_waves_lower_bound: int | None
    leaders_per_broker: loads.CountRange
    replicas_per_broker: loads.CountRange
    resources: Mapping[str, ResourceFigures]
    failures: Mapping[str, loads.ClassCounts]


def place(
    topology: Topology, topics: Sequence[TopicLoad], placement: PlacementPolicy, *, seed: int
) -> tuple[Placement, ...]:
    """Place the topics one after another with one random generator, as the algorithm's controller does.

    Raises
    ------
    InvalidReplicationFactor, ArithmeticOverflow … : the algorithm rejects a topic.
    """
    new = [NewTopic(topic.name, topic.partitions, topic.replication_factor) for topic in topics]
    return place_topics(PLACEMENTS[placement.algorithm], topology.brokers, new, random=JavaRandom(seed))


def restart(rows: Int32s, work: loads.Workload, scenario: Scenario) -> RestartWaves:
    """The fewest waves of a restart of all brokers while all replicas are in sync, within the limits of resources that
    leaders use; without these limits if consumers fetch from followers, since their reads then depend on the wave.

    Parameters
    ----------
    rows : (partitions, largest factor) int32 of `positions`.
    """
    topology, rules = scenario.topology, scenario.restart or RestartRules()
    brokers, voters = len(topology.brokers), rules.controllers or 0
    led = {} if scenario.clients.follower_fetching else loads.leading(rows, work, brokers)
    limits = {name: limit for name in led if (limit := scenario.limit(name)) is not None}
    slack, gain = np.zeros((brokers, len(limits)), np.int64), np.zeros((len(rows), len(limits)), np.int64)
    for column, (name, limit) in enumerate(limits.items()):
        share, added = (in_unit(scenario, name, 1.0) / limit * each for each in led[name])
        slack[:, column] = np.clip(1 + ROUNDING - share, -1, 1) * _LIMIT
        gain[:, column] = np.rint(np.minimum(added, 2) * _LIMIT)
    return restart_waves(
        RestartProblem(
            is_up=np.ones(brokers, np.bool_),
            in_sync=rows,
            min_isr=np.repeat(work.min_insync.astype(np.int64), np.diff(work.bounds)),
            leaders=rows[:, 0],
            group_of=topology.rack_of if rules.per == "rack" else np.zeros(brokers, np.int32),
            is_voter=np.isin([each.id for each in topology.brokers], rack_alternated(topology.brokers)[:voters]),
            most_voters=max(1, (voters - 1) // 2),
            most=rules.max_brokers_per_wave or brokers,
            gain=gain,
            slack=slack,
        )
    )


def judge(scenario: Scenario, carried: loads.BrokerLoads, waves: RestartWaves | None = None) -> Score:
    """Compare the loads of a scenario's brokers with its limits, and price them."""
    margin = headroom(scenario, carried)
    remote_bytes = carried.storage.workload.remote_bytes
    cost = loads.monthly_cost(scenario, carried.cross_rack, remote_bytes)
    classes = carried.failures.values()
    return Score(
        seed=scenario.seed,
        brokers=len(scenario.topology.brokers),
        partitions=len(carried.storage.rows),
        feasible=margin.is_feasible,
        binding=None if margin.is_feasible else margin.first,
        first_limit=margin.first,
        headroom=None if margin.factor == inf else margin.factor,
        first_breaking_month=first_breaking_month(margin, scenario.traffic),
        monthly_cost=cost.total,
        monthly_cost_parts=cost,
        remote_bytes=remote_bytes,
        cross_rack_bytes_per_s=carried.cross_rack.total,
        cross_rack_parts=carried.cross_rack,
        partitions_offline=max(counts.partitions_offline for counts in classes),
        partitions_under_min_isr=max(counts.partitions_under_min_isr for counts in classes),
        partitions_not_rack_safe=max(counts.partitions_not_rack_safe for counts in classes),
        restart_waves=None if waves is None else len(waves.waves),
        restart_waves_lower_bound=None if waves is None else waves.lower_bound,
        leaders_per_broker=carried.leaders,
        replicas_per_broker=carried.replicas,
        resources={resource: _figures(scenario, carried, resource) for resource in RESOURCES},
        failures=carried.failures,
    )


def _figures(scenario: Scenario, carried: loads.BrokerLoads, resource: str) -> ResourceFigures:
    load = carried.resources[resource]
    return ResourceFigures(
        capacity=scenario.broker_profile.capacity(resource),
        limit=scenario.limit(resource),
        before=_in_unit(scenario, resource, load.before, 0.0),
        worst=_in_unit(scenario, resource, load.worst, copying(scenario, resource, load.worst_failure)),
        worst_failure=load.worst_failure,
    )


def _in_unit(scenario: Scenario, resource: str, spread: loads.LoadSpread, more: float) -> loads.LoadSpread:
    most, p95, mean = (in_unit(scenario, resource, value) + more for value in (spread.max, spread.p95, spread.mean))
    return loads.LoadSpread(most, p95, mean, spread.broker)


def document(record: Any) -> Any:
    """A score as JSON: records as objects; `asdict` copies every value, which took most of a scenario's time."""
    if hasattr(record, "__slots__"):
        return {name: document(getattr(record, name)) for name in record.__slots__}
    return {name: document(value) for name, value in record.items()} if isinstance(record, dict) else record
