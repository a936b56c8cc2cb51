"""Requests for capacity sweeps: the base scenario, the axes, the objective and constraints.

Numbers and flags, their limits and descriptions are those that the records of the core declare, which read a section
again once axes are written into it: values of an axis are not of these models, and numbers between the ends of a range
are produced there.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag

from app.api.sweeps.fields import Axes, KnownKind, model_of
from app.core.capacity import scenario
from app.core.capacity.ranking import CONSTRAINTS, OBJECTIVES
from app.core.replicas.registry import PLACEMENTS
from app.services.amounts import InBytes, InShares
from app.services.bodies import Request as RequestModel
from app.services.fields import Int32, Labels, OneOrEach, OnSnapshot, Rack, Seed, TopicName
from app.services.sweeps import SweepRequest
from app.store.database import UnitOfWork

DEFAULT_PLACEMENT = "striped"
Amount = Annotated[float, Field(allow_inf_nan=False), InBytes(le=scenario.LARGEST_AMOUNT)]
Share = Annotated[float, Field(allow_inf_nan=False), InShares()]
Target = Annotated[float, Field(allow_inf_nan=False), InShares(gt=0)]
Count = Annotated[Int32, Field(ge=1)]
_VCPU = ("bytes_per_s_per_vcpu",)
_PEAK = ("peak_ingress_bytes_per_s",)
_MEASURED = (*_PEAK, "partitions", "replication_factor", "ingress_bytes_per_s")
"""Fields of a topic that a snapshot or measurements may have."""
_OF_ONE_TOPIC = (*_PEAK, "partitions", "ingress_bytes_per_s", "retained_bytes")
"""Fields of a topic that cannot be stated once for all: partitions, traffic and retained bytes."""


class TopologyRequest(RequestModel):
    """Racks, and the number of brokers in each or by rack."""

    racks: Annotated[list[Annotated[Rack, Field(min_length=1)]], Field(min_length=1, max_length=1000)]
    """Names of the racks; broker ids count up rack by rack, in this order."""
    brokers_per_rack: Count | dict[Rack, Count]
    """Number of brokers in every rack, or by rack."""


class ProfileRequest(model_of(scenario.BrokerProfile, optional=_VCPU)):  # type: ignore[misc] # made by `model_of`
    """One broker: its capacities and price. An absent capacity is unlimited; `disk_bytes` is required."""

    name: Annotated[str, Field(min_length=1, max_length=249)] | None = None
    """Name of the profile, which tells the values of an axis apart."""


class ZipfRequest(model_of(scenario.Zipf)):  # type: ignore[misc] # made by `model_of`
    """Partition p weighs 1 / (p + 1) ** zipf."""


class TopicDetails(RequestModel):
    """One topic; its retention is given in bytes, as a time, or as an upper bound for each partition."""

    name: TopicName
    retained_bytes_per_partition: OneOrEach[Amount] | None = None
    """The same by partition, or of each partition."""
    partition_weights: Literal["uniform"] | ZipfRequest | list[Amount] = "uniform"
    """Traffic of partitions relative to each other: equal, by Zipf's law, or a weight for each."""


class TopicLoadRequest(TopicDetails, model_of(scenario.TopicLoad, optional=_PEAK)):  # type: ignore[misc] # made by `model_of`
    """A topic and its traffic."""


class MeasuredTopicRequest(TopicDetails, model_of(scenario.TopicLoad, optional=_MEASURED)):  # type: ignore[misc] # made by `model_of`
    """Values that override a measured topic's; or a planned topic, with all that a topic needs."""


class EveryTopicRequest(model_of(scenario.TopicLoad, optional=_MEASURED, without=_OF_ONE_TOPIC)):  # type: ignore[misc] # made by `model_of`
    """Values of every topic, unless its own entry overrides them."""


class BytesInRequest(RequestModel):
    """Measured ingress by topic or by partition; one of the two formats."""

    csv: Annotated[str, Field(min_length=1)] | None = None
    """With a header line: the columns `topic` and `bytes_in_per_s`, optionally `partition` and `timestamp`. With
    several timestamps the mean is the ingress and the largest sum its peak."""
    prometheus: dict[str, Any] | None = None
    """An answer of `/api/v1/query_range` or `/api/v1/query`, unchanged; every series has a label `topic`, optionally a
    label `partition`, and bytes/s. Series of the same topic are added up."""


class MeasuredRequest(OnSnapshot):
    """The topics of a snapshot: their partitions, replicas, bytes on disk and ingress."""

    requires_snapshot = True
    topics: Annotated[list[TopicName], Field(min_length=1)] | None = None
    """Topics of the snapshot; all by default."""
    bytes_in: BytesInRequest | None = None
    """Not stored; the sweep's definition lists by topic the data read from it."""
    every_topic: EveryTopicRequest | None = None
    """Values of all topics that the snapshot does not have; null for the defaults."""


class PlacementRequest(RequestModel):
    """The algorithm that places the topics; without a seed each scenario has its own."""

    algorithm: Literal[tuple(PLACEMENTS)] = DEFAULT_PLACEMENT  # type: ignore[valid-type] # decided by the registry
    """Name of the placement algorithm."""
    seed: Seed | None = None
    """Seed of the algorithm's random generator; null for one of each scenario's own."""


class ClientsRequest(RequestModel):
    """The shares of clients by rack, equal by default; and whether consumers read from followers (KIP-392)."""

    producer_share_per_rack: dict[Rack, Share] | None = None
    """Share of produced bytes by rack; null for equal shares."""
    consumer_share_per_rack: dict[Rack, Share] | None = None
    """Share of consumed bytes by rack; null for equal shares."""
    follower_fetching: bool = False
    """Whether consumers read from a replica in their rack (KIP-392)."""


class TrafficRequest(model_of(scenario.TrafficGrowth)):  # type: ignore[misc] # made by `model_of`
    """Compound growth a month, −1 (no traffic) or more, and the horizon in months."""


class TargetsRequest(RequestModel):
    """The share of each resource that may be used; 1 by default."""

    disk: Target | None = None
    """Usable share of `disk_bytes`; null for 1."""
    disk_bytes_per_s: Target | None = None
    """Usable share of `disk_bytes_per_s`; null for 1."""
    nic_in: Target | None = None
    """Usable share of `nic_in_bytes_per_s`; null for 1."""
    nic_out: Target | None = None
    """Usable share of `nic_out_bytes_per_s`; null for 1."""
    vcpu: Target | None = None
    """Usable share of `vcpu`; null for 1."""
    partitions: Target | None = None
    """Usable share of `max_partitions`; null for 1."""


class PricesRequest(model_of(scenario.Prices)):  # type: ignore[misc] # made by `model_of`
    """Prices other than the brokers'."""


class RereplicationRequest(model_of(scenario.Rereplication)):  # type: ignore[misc] # made by `model_of`
    """The throttle at which lost replicas are copied, which loads surviving brokers."""


class RestartRulesRequest(model_of(scenario.RestartRules)):  # type: ignore[misc] # made by `model_of`
    """Rules for every wave of a rolling restart, besides `min.insync.replicas` of every partition."""

    per: Literal["broker", "rack"] = "broker"
    """`rack`: no wave has brokers of two racks."""


class BaseSections(RequestModel):
    """The sections of a scenario besides its topics."""

    topology: TopologyRequest
    """Racks and their brokers."""
    broker_profile: ProfileRequest
    """Capacities and price of every broker."""
    partitions_multiplier: Count = 1
    """Factor by which the partitions of every topic are multiplied."""
    placement: PlacementRequest = Field(default_factory=PlacementRequest)
    """How topics are placed on brokers."""
    clients: ClientsRequest = Field(default_factory=ClientsRequest)
    """Where producers and consumers are."""
    traffic: TrafficRequest = Field(default_factory=TrafficRequest)
    """Growth of traffic."""
    failures: list[Literal[tuple(scenario.FAILURE_CLASSES)]] = Field(  # type: ignore[valid-type] # the core decides
        default_factory=lambda: ["none"], description="The failures that the cluster has to withstand."
    )
    targets: TargetsRequest = Field(default_factory=TargetsRequest)
    """Usable share of each resource."""
    prices: PricesRequest = Field(default_factory=PricesRequest)
    """Prices other than the brokers'."""
    rereplication: RereplicationRequest | None = None
    """Throttle at which lost replicas are copied; null if that load is not counted."""
    restart: RestartRulesRequest | None = None
    """Rules of a rolling restart of all brokers, whose waves are counted; null if they are not."""


class BaseRequest(BaseSections):
    """A scenario with its topics."""

    topics: Annotated[list[TopicLoadRequest], Field(min_length=1)]
    """Topics with their traffic."""


class MeasuredBaseRequest(BaseSections):
    """A scenario with the topics of a snapshot; `topics` overrides measured values."""

    measured: MeasuredRequest
    """Where the topics come from."""
    topics: list[MeasuredTopicRequest] = Field(default_factory=list)
    """Values that override measured ones, and planned topics."""


def _topics_of(base: object) -> str:
    has_measured = "measured" in base if isinstance(base, dict) else hasattr(base, "measured")
    # A tag is part of the paths of errors, where it must not look like a field of the body.
    return "base_measured" if has_measured else "base_inline"


AnyBase = Annotated[
    Annotated[BaseRequest, Tag("base_inline")] | Annotated[MeasuredBaseRequest, Tag("base_measured")],
    Discriminator(_topics_of),
]


class SampleRequest(RequestModel):
    """`count` scenarios of the grid, chosen at random without replacement."""

    count: Count
    """Number of scenarios."""
    seed: Seed = 0


Bound = Annotated[float, Field(allow_inf_nan=False)]


class CapacityChanges(RequestModel):
    """The axes, and the objective and constraints."""

    axes: Axes | None = None
    """A path in `base` → its values; every combination is a scenario, and without axes the base alone."""
    sample: SampleRequest | None = None
    """Scenarios of the grid to score; null for all of them."""
    objective: Literal[tuple(OBJECTIVES)] | None = None  # type: ignore[valid-type] # the core decides
    """Figure that the best scenario minimises or maximises; null for `monthly_cost`."""
    constraints: dict[Literal[tuple(CONSTRAINTS)], Bound] | None = Field(  # type: ignore[valid-type] # the core decides
        None,
        description="Bounds that an acceptable scenario is within, besides its limits. If the request states a growth "
        "and a horizon, `min_first_breaking_month` by default is the month after the horizon, so that sizes last it.",
    )


class CapacitySweepRequest(CapacityChanges):
    """A sweep over scenarios of a cluster: a base, axes over it, an objective and constraints."""

    kind: Annotated[Literal["capacity"], KnownKind] = "capacity"
    """Kind of the sweep; the default if it is missing."""
    base: AnyBase
    """The scenario that axes vary."""
    seed: Seed = 0
    """The source of scenarios' seeds if their placement has none."""
    labels: Labels = Field(default_factory=dict)

    def on_newest(self, uow: UnitOfWork) -> Self:
        """The request with the id of the snapshot of its measured topics."""
        if not isinstance(self.base, MeasuredBaseRequest):
            return self
        measured = self.base.measured.on_newest(uow, at=("base", "measured"))
        return self.model_copy(update={"base": self.base.model_copy(update={"measured": measured})})

    def service(self) -> SweepRequest:
        """The service's request; absent fields stay absent, but for the algorithm, whose default has changed before."""
        definition = self.model_dump(
            mode="json", exclude_unset=True, exclude_none=True, exclude={"kind", "labels"}, by_alias=True
        )
        definition["base"].setdefault("placement", {}).setdefault("algorithm", DEFAULT_PLACEMENT)
        months, growth = (_stated(definition, f"traffic.{name}") for name in ("horizon_months", "growth_per_month"))
        if months and any(growth):
            bounds = definition.setdefault("constraints", {})
            bounds.setdefault("min_first_breaking_month", float(max(months) + 1))
        return SweepRequest(self.kind, definition, self.labels)


def _stated(definition: Mapping[str, Any], path: str) -> Sequence[float]:
    """The numbers of a field of the base that a sweep states, as an axis or else in the base; of a range its ends."""
    section, name = path.split(".")
    values = (definition.get("axes") or {}).get(path, definition["base"].get(section, {}).get(name))
    listed = values.values() if isinstance(values, Mapping) else values if isinstance(values, list) else [values]
    return [value for value in listed if isinstance(value, int | float)]
