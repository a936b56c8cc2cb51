"""A capacity sweep as requests write it: the base scenario, what varies, and what is looked for.

The core reads the same fields again, since values of axes reach a scenario long after a request was checked; here they
are documented, and their bounds with them.
"""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from app.api.axes_field import Axes
from app.api.fields import Id, Int32, Labels, Rack, Seed, TopicName
from app.api.fields import Request as RequestModel
from app.api.sweep_kind_field import KnownKind
from app.core.capacity.ranking import CONSTRAINTS, OBJECTIVES
from app.core.capacity.reading import LONGEST_HORIZON_MONTHS
from app.core.capacity.scenario import FAILURE_CLASSES
from app.core.replicas.registry import PLACEMENTS
from app.services.sweeps import SweepRequest

Rate = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
Capacity = Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Target = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Count = Annotated[Int32, Field(ge=1)]


class TopologyRequest(RequestModel):
    """Racks, and as many brokers in each, or so many by rack."""

    racks: Annotated[list[Annotated[Rack, Field(min_length=1)]], Field(min_length=1, max_length=1000)]
    brokers_per_rack: Count | dict[Rack, Count]


class ProfileRequest(RequestModel):
    """One broker: what it carries and costs. What is left out limits nothing; only the disk has to be said."""

    name: Annotated[str, Field(min_length=1, max_length=249)] | None = None
    disk_bytes: Capacity
    disk_bytes_per_s: Capacity | None = None
    nic_in_bytes_per_s: Capacity | None = None
    nic_out_bytes_per_s: Capacity | None = None
    vcpu: Capacity | None = None
    max_partitions: Count | None = None
    price_per_month: Price = 0.0
    bytes_per_s_per_vcpu: Capacity | None = Field(None, description="What a vCPU carries, as measured.")


class ZipfRequest(RequestModel):
    """Partition p weighs 1 / (p + 1) ** zipf."""

    zipf: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class TopicTraits(RequestModel):
    """What is said of a topic besides its traffic."""

    min_insync_replicas: Count = 1
    retention_s: Rate | None = Field(None, description="How long records are kept.")
    retention_bytes: Rate | None = Field(None, description="No partition keeps more; does not grow.")
    disk_headroom: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = 0.0
    consumer_groups: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = Field(
        0.0, description="The fan-out: how often every byte is read."
    )
    lagging_share: Share = Field(0.0, description="The share of reads that come from disk.")


class TopicDetails(TopicTraits):
    """What is said of one topic; it says what it retains by bytes, by time, or by a cap a partition."""

    name: TopicName
    peak_ingress_bytes_per_s: Rate | None = Field(None, description="Limits go by the peak, money by the mean.")
    retained_bytes: Rate | None = Field(None, description="One copy of the topic as it is now; grows with traffic.")
    retained_bytes_per_partition: list[Rate] | None = Field(None, description="The same, partition by partition.")
    partition_weights: Literal["uniform"] | ZipfRequest | list[Rate] = "uniform"


class TopicLoadRequest(TopicDetails):
    """A topic and its traffic."""

    partitions: Count
    replication_factor: Count
    ingress_bytes_per_s: Rate


class MeasuredTopicRequest(TopicDetails):
    """What is known better of a measured topic; or one that is only planned, with all that a topic needs."""

    partitions: Count | None = None
    replication_factor: Count | None = None
    ingress_bytes_per_s: Rate | None = None


class EveryTopicRequest(TopicTraits):
    """What is true of every topic, unless its own entry says otherwise."""

    replication_factor: Count | None = None


class BytesInRequest(RequestModel):
    """What producers write, by topic or by partition; one of the two."""

    csv: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="With a header line: the columns `topic` and `bytes_in_per_s`, and perhaps `partition` and "
        "`timestamp`. Of several times the mean is the traffic and the largest sum its peak.",
    )
    prometheus: dict[str, Any] | None = Field(
        None,
        description="An answer of `/api/v1/query_range` or `/api/v1/query` as it came; every series has a label "
        "`topic`, perhaps one `partition`, and bytes/s. Series of the same topic are added up.",
    )


class MeasuredRequest(RequestModel):
    """The topics of a snapshot: their partitions, replicas and bytes on disk, and what is written to them."""

    snapshot_id: Id
    topics: Annotated[list[TopicName], Field(min_length=1)] | None = Field(
        None, description="Of the snapshot; all of them where it is left out."
    )
    bytes_in: BytesInRequest | None = Field(
        None, description="Not kept: what was found in it is told topic by topic in the sweep's definition."
    )
    every_topic: EveryTopicRequest | None = None


class PlacementRequest(RequestModel):
    """Which algorithm places the topics; without a seed each scenario has its own."""

    algorithm: Literal[tuple(PLACEMENTS)] = "admin_utils"  # type: ignore[valid-type] # the registry is what decides
    seed: Seed | None = None


class ClientsRequest(RequestModel):
    """Where clients are, evenly over the racks where it is not said; whether they read from followers (KIP-392)."""

    producer_share_per_rack: dict[Rack, Share] | None = None
    consumer_share_per_rack: dict[Rack, Share] | None = None
    follower_fetching: bool = False


class TrafficRequest(RequestModel):
    """Compound growth a month, of −1 (the end of all traffic) or more, and how far to look ahead."""

    growth_per_month: Annotated[float, Field(ge=-1, le=100, allow_inf_nan=False)] = 0.0
    horizon_months: Annotated[Int32, Field(ge=0, le=LONGEST_HORIZON_MONTHS)] = 24


class TargetsRequest(RequestModel):
    """The share of each resource that may be used; all of it where it is left out."""

    disk: Target | None = None
    disk_bytes_per_s: Target | None = None
    nic_in: Target | None = None
    nic_out: Target | None = None
    vcpu: Target | None = None
    partitions: Target | None = None


class PricesRequest(RequestModel):
    """What is paid besides the brokers."""

    cross_rack_per_gib: Price = 0.0
    storage_per_gib_month: Price = 0.0
    replication_billed: bool = True


class RereplicationRequest(RequestModel):
    """How fast lost replicas are copied, which loads the survivors of a failure."""

    throttle_bytes_per_s: Rate


class BaseSections(RequestModel):
    """What a scenario has besides its topics."""

    topology: TopologyRequest
    broker_profile: ProfileRequest
    partitions_multiplier: Count = 1
    placement: PlacementRequest = Field(default_factory=PlacementRequest)
    clients: ClientsRequest = Field(default_factory=ClientsRequest)
    traffic: TrafficRequest = Field(default_factory=TrafficRequest)
    failures: list[Literal[tuple(FAILURE_CLASSES)]] = Field(  # type: ignore[valid-type] # the core decides
        default_factory=lambda: ["none"], description="What the cluster has to stand."
    )
    targets: TargetsRequest = Field(default_factory=TargetsRequest)
    prices: PricesRequest = Field(default_factory=PricesRequest)
    rereplication: RereplicationRequest | None = None


class BaseRequest(BaseSections):
    """A scenario, with its topics."""

    topics: Annotated[list[TopicLoadRequest], Field(min_length=1)]


class MeasuredBaseRequest(BaseSections):
    """A scenario, with the topics of a cluster as it is. What `topics` says of one wins over what was measured."""

    measured: MeasuredRequest
    topics: list[MeasuredTopicRequest] = Field(default_factory=list)


def _topics_of(base: object) -> str:
    has_measured = "measured" in base if isinstance(base, dict) else hasattr(base, "measured")
    # A tag stands in the paths of errors, where it must not look like a field of the body.
    return "base_measured" if has_measured else "base_inline"


AnyBase = Annotated[
    Annotated[BaseRequest, Tag("base_inline")] | Annotated[MeasuredBaseRequest, Tag("base_measured")],
    Discriminator(_topics_of),
]


class SampleRequest(RequestModel):
    """So many scenarios of the grid, drawn without replacement."""

    count: Count
    seed: Seed = 0


Bound = Annotated[float, Field(allow_inf_nan=False)]


class CapacityChanges(RequestModel):
    """What varies over a base scenario, and what is looked for."""

    axes: Axes | None = None
    sample: SampleRequest | None = None
    objective: Literal[tuple(OBJECTIVES)] | None = None  # type: ignore[valid-type] # the core decides
    constraints: dict[Literal[tuple(CONSTRAINTS)], Bound] | None = Field(  # type: ignore[valid-type] # as above
        None, description="What a scenario has to keep to be acceptable, besides its limits."
    )


class CapacitySweepRequest(CapacityChanges):
    """A sweep over what a cluster could be: a base scenario, what varies, and what is looked for."""

    kind: Annotated[Literal["capacity"], KnownKind] = "capacity"
    base: AnyBase
    seed: Seed = Field(0, description="What scenarios draw from where their placement has no seed.")
    labels: Labels = Field(default_factory=dict)

    def service(self) -> SweepRequest:
        """As the service knows it: what was left out stays so."""
        definition = self.model_dump(
            mode="json", exclude_unset=True, exclude_none=True, exclude={"kind", "labels"}, by_alias=True
        )
        return SweepRequest(self.kind, definition, self.labels)
