"""The score of a scenario: feasibility, headroom, cost and failure counts, and its JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from app.core.capacity.costs import CrossRack, MonthlyCost, monthly_cost
from app.core.capacity.limits import Limit, copying, first_breaking_month, headroom, in_unit
from app.core.capacity.loads import BrokerLoads, ClassCounts, CountRange, LoadSpread, loads, positions
from app.core.capacity.scenario import RESOURCES, PlacementPolicy, Scenario, TopicLoad, Topology
from app.core.capacity.workload import workload
from app.core.jvm import JavaRandom
from app.core.model import Placement
from app.core.replicas.registry import PLACEMENTS, place_topics
from app.errors import Json


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
    """A scenario's score; loads, money and bytes are today's, month 0.

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
    monthly_cost_parts: MonthlyCost
    cross_rack_parts: CrossRack
    resources: Mapping[str, ResourceFigures]
    leaders_per_broker: CountRange
    replicas_per_broker: CountRange
    failures: Mapping[str, ClassCounts]

    @property
    def monthly_cost(self) -> float:
        """All parts."""
        return self.monthly_cost_parts.total

    @property
    def cross_rack_bytes_per_s(self) -> float:
        """All causes."""
        return self.cross_rack_parts.total

    @property
    def partitions_offline(self) -> int:
        """Under the scenario's worst failure set."""
        return max(counts.partitions_offline for counts in self.failures.values())

    @property
    def partitions_under_min_isr(self) -> int:
        """Under the scenario's worst failure set."""
        return max(counts.partitions_under_min_isr for counts in self.failures.values())

    @property
    def partitions_not_rack_safe(self) -> int:
        """Under the scenario's worst failure set."""
        return max(counts.partitions_not_rack_safe for counts in self.failures.values())


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


def score(scenario: Scenario) -> Score:
    """Score one scenario by itself. Raises as `place` does."""
    carried = loads(
        positions(place(scenario.topology, scenario.topics, scenario.placement, seed=scenario.seed)),
        workload(scenario.topics),
        topology=scenario.topology,
        clients=scenario.clients,
        failures=scenario.failures,
    )
    return judge(scenario, carried)


def judge(scenario: Scenario, carried: BrokerLoads) -> Score:
    """Compare the loads of a scenario's brokers with its limits, and price them."""
    room = headroom(scenario, carried)
    return Score(
        seed=scenario.seed,
        brokers=len(scenario.topology.brokers),
        partitions=len(carried.storage.rows),
        feasible=room.is_feasible,
        binding=None if room.is_feasible else room.first,
        first_limit=room.first,
        headroom=None if room.factor == inf else room.factor,
        first_breaking_month=first_breaking_month(room, scenario.traffic),
        monthly_cost_parts=monthly_cost(scenario, carried.cross_rack),
        cross_rack_parts=carried.cross_rack,
        resources={resource: _figures(scenario, carried, resource) for resource in RESOURCES},
        leaders_per_broker=carried.leaders,
        replicas_per_broker=carried.replicas,
        failures=carried.failures,
    )


def _figures(scenario: Scenario, carried: BrokerLoads, resource: str) -> ResourceFigures:
    load = carried.resources[resource]
    return ResourceFigures(
        capacity=scenario.profile.capacity(resource),
        limit=scenario.limit(resource),
        before=_in_unit(scenario, resource, load.before, 0.0),
        worst=_in_unit(scenario, resource, load.worst, copying(scenario, resource, load.worst_failure)),
        worst_failure=load.worst_failure,
    )


def _in_unit(scenario: Scenario, resource: str, spread: LoadSpread, more: float) -> LoadSpread:
    most, p95, mean = (in_unit(scenario, resource, value) + more for value in (spread.max, spread.p95, spread.mean))
    return LoadSpread(most, p95, mean, spread.broker)


def document(scored: Score) -> dict[str, Json]:
    """The score as JSON, with the field names of `GET /v1/sweeps/{id}/scenarios`."""
    return {
        "seed": scored.seed,
        "brokers": scored.brokers,
        "partitions": scored.partitions,
        "feasible": scored.feasible,
        "binding": None if scored.binding is None else _fields(scored.binding),
        "first_limit": None if scored.first_limit is None else _fields(scored.first_limit),
        "headroom": scored.headroom,
        "first_breaking_month": scored.first_breaking_month,
        "monthly_cost": scored.monthly_cost,
        "monthly_cost_parts": _fields(scored.monthly_cost_parts),
        "cross_rack_bytes_per_s": scored.cross_rack_bytes_per_s,
        "cross_rack_parts": _fields(scored.cross_rack_parts),
        "partitions_offline": scored.partitions_offline,
        "partitions_under_min_isr": scored.partitions_under_min_isr,
        "partitions_not_rack_safe": scored.partitions_not_rack_safe,
        "leaders_per_broker": _range_document(scored.leaders_per_broker),
        "replicas_per_broker": _range_document(scored.replicas_per_broker),
        "resources": {
            name: {**_fields(figures), "before": _fields(figures.before), "worst": _fields(figures.worst)}
            for name, figures in scored.resources.items()
        },
        "failures": {name: _fields(counts) for name, counts in scored.failures.items()},
    }


def _fields(record: Limit | MonthlyCost | CrossRack | ResourceFigures | LoadSpread | ClassCounts) -> dict[str, Json]:
    """The fields of a record by name; `asdict` copies every value, which took most of a scenario's time."""
    return {name: getattr(record, name) for name in record.__slots__}


def _range_document(counts: CountRange) -> dict[str, Json]:
    return {"min": counts.min, "max": counts.max, "spread": counts.spread}
