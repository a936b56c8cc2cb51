"""The score of a scenario: feasibility, headroom, cost and failure counts, and its JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from app.core.capacity.costs import CrossRack, MonthlyCost, monthly_cost
from app.core.capacity.limits import Limit, copying, first_breaking_month, headroom, in_unit
from app.core.capacity.loads import BrokerLoads, ClassCounts, CountRange, LoadSpread
from app.core.capacity.scenario import RESOURCES, PlacementPolicy, Scenario, TopicLoad, Topology
from app.core.jvm import JavaRandom
from app.core.model import Placement
from app.core.replicas.registry import PLACEMENTS, place_topics


@dataclass(frozen=True, slots=True)
class ResourceFigures:
    """One resource of a broker, in its own unit; capacity and limit are None if it has no limit.

    Parameters
    ----------
    worst : under the failure set, of the scenario's classes, that has the most loaded surviving broker.
    """

    capacity: float | None
    limit: float | None
    before: LoadSpread
    worst: LoadSpread
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
    monthly_cost_parts: MonthlyCost
    cross_rack_bytes_per_s: float
    cross_rack_parts: CrossRack
    partitions_offline: int
    partitions_under_min_isr: int
    partitions_not_rack_safe: int
    leaders_per_broker: CountRange
    replicas_per_broker: CountRange
    resources: Mapping[str, ResourceFigures]
    failures: Mapping[str, ClassCounts]


def place(
    topology: Topology, topics: Sequence[TopicLoad], placement: PlacementPolicy, *, seed: int
) -> tuple[Placement, ...]:
    """Place the topics one after another with one random generator, as the algorithm's controller does.

    Raises
    ------
    InvalidReplicationFactor, ArithmeticOverflow … : the algorithm rejects a topic.
    """
    return place_topics(
        PLACEMENTS[placement.algorithm],
        topology.brokers,
        [topic.new_topic for topic in topics],
        random=JavaRandom(seed),
    )


def judge(scenario: Scenario, carried: BrokerLoads) -> Score:
    """Compare the loads of a scenario's brokers with its limits, and price them."""
    margin = headroom(scenario, carried)
    cost = monthly_cost(scenario, carried.cross_rack)
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
        cross_rack_bytes_per_s=carried.cross_rack.total,
        cross_rack_parts=carried.cross_rack,
        partitions_offline=max(counts.partitions_offline for counts in classes),
        partitions_under_min_isr=max(counts.partitions_under_min_isr for counts in classes),
        partitions_not_rack_safe=max(counts.partitions_not_rack_safe for counts in classes),
        leaders_per_broker=carried.leaders,
        replicas_per_broker=carried.replicas,
        resources={resource: _figures(scenario, carried, resource) for resource in RESOURCES},
        failures=carried.failures,
    )


def _figures(scenario: Scenario, carried: BrokerLoads, resource: str) -> ResourceFigures:
    load = carried.resources[resource]
    return ResourceFigures(
        capacity=scenario.broker_profile.capacity(resource),
        limit=scenario.limit(resource),
        before=_in_unit(scenario, resource, load.before, 0.0),
        worst=_in_unit(scenario, resource, load.worst, copying(scenario, resource, load.worst_failure)),
        worst_failure=load.worst_failure,
    )


def _in_unit(scenario: Scenario, resource: str, spread: LoadSpread, more: float) -> LoadSpread:
    most, p95, mean = (in_unit(scenario, resource, value) + more for value in (spread.max, spread.p95, spread.mean))
    return LoadSpread(most, p95, mean, spread.broker)


def document(record: Any) -> Any:
    """A score as JSON: records as objects; `asdict` copies every value, which took most of a scenario's time."""
    if hasattr(record, "__slots__"):
        return {name: document(getattr(record, name)) for name in record.__slots__}
    return {name: document(value) for name, value in record.items()} if isinstance(record, dict) else record
