"""What loads of brokers look like as JSON, in plans and in checks."""

from pydantic import BaseModel, Field

from app.services.reassignment.requests.resources import GoalName, Limited


class AfterWorstLoss(BaseModel):
    """The load after the worst loss. If a leader is lost, the first live replica leads. What a broker stores and
    receives stays.
    """

    broker: float
    """Load after the worst loss of one other broker."""
    lost_broker: int | None
    """Id of this other broker; null if no loss adds load."""
    rack: float | None
    """Load after the worst loss of another rack; null without racks."""
    lost_rack: str | None
    """Name of this other rack; null if no loss adds load."""


class ResourceLoadDocument(BaseModel):
    """The load of a resource of a broker: bytes, bytes/s, vCPU, or a count."""

    before: float
    """Load before the plan."""
    after: float
    """Load after the plan."""
    after_worst_loss: AfterWorstLoss
    """Load after the plan and the worst loss of another broker, and of another rack."""
    capacity: float | None
    """Capacity of the broker; null if unknown."""
    limit: float | None
    """Limit of the request; null without one."""
    headroom: float | None
    """Limit, or capacity if there is no limit, minus `after`; null if neither is known."""


class SentLoadDocument(ResourceLoadDocument):
    """The bytes/s that a broker sends."""

    potential: float
    """Bytes/s that the broker sends if it leads all partitions that it has."""


class BrokerLoads(BaseModel):
    """The loads of a broker by resource. Resources of unknown load are absent."""

    disk: ResourceLoadDocument | None = None
    """Bytes on disk; absent if no size is known."""
    nic_in: ResourceLoadDocument | None = None
    """Bytes/s that it receives, of producers and as a follower; absent without ingress rates."""
    nic_out: SentLoadDocument | None = None
    """Bytes/s that it sends, to followers and to consumers; absent without ingress rates."""
    cpu: ResourceLoadDocument | None = None
    """vCPU by the model of the request; absent if neither that nor any `vcpu` is known."""
    replicas: ResourceLoadDocument | None = None
    """Number of replicas, if they are limited."""
    leaders: ResourceLoadDocument | None = None
    """Number of preferred leaders, if they are limited."""


class CrossRackCause(BaseModel):
    """Bytes/s from rack to rack of one cause."""

    before_bytes_per_s: int
    """Bytes/s before the plan."""
    after_bytes_per_s: int
    """Bytes/s after the plan."""


class GroupCrossRack(CrossRackCause):
    """Bytes/s that a group reads from rack to rack, by the recorded partitions and racks of its members: from leaders,
    with `follower_fetching` from a replica in the rack of the member if there is one. They are not in other sums.
    """

    group_id: str
    """Id of the group."""
    unknown_bytes_per_s: int
    """Bytes/s after the plan of which the rack of the member or of the broker is unknown."""
    before_cost_per_month: float | None
    """Cost of a month before the plan, by `prices`; null without a price."""
    after_cost_per_month: float | None
    """Cost of a month after the plan, by `prices`; null without a price."""


class CrossRackDocument(CrossRackCause):
    """Bytes/s from rack to rack: of all causes, and of each. Clients are spread evenly over racks."""

    producers: CrossRackCause
    """From producers to leaders."""
    replication: CrossRackCause
    """From leaders to followers."""
    consumers: CrossRackCause
    """From replicas to consumers."""
    before_cost_per_month: float | None
    """Cost of a month before the plan, by `prices`; null without a price."""
    after_cost_per_month: float | None
    """Cost of a month after the plan, by `prices`; null without a price."""
    groups: list[GroupCrossRack] = Field(default_factory=list)
    """The groups of the snapshot whose members have assigned partitions; absent from plans of earlier releases."""


class GoalDocument(BaseModel):
    """What a goal reached. The ideal load of a broker is its share of the total by its capacity, or an equal share if
    the capacity of any broker is unknown.
    """

    goal: GoalName
    """What is balanced."""
    tolerance: float
    """Tolerance of the request."""
    smallest: float
    """Smallest load of a broker over its ideal load."""
    largest: float
    """Largest load of a broker over its ideal load."""
    largest_bound: float
    """Lower bound on `largest`."""
    gap: float
    """Relative optimality gap: (largest − bound) / largest."""


class ExcessOfBroker(BaseModel):
    """A load above its limit."""

    broker: int
    """Id of the broker."""
    resource: Limited
    """Resource that is limited."""
    value: float
    """The load: bytes, bytes/s, vCPU or a count."""
    limit: float
    """The limit, in the same unit."""
    soft: bool
    """Whether the limit is soft."""


class TotalExcess(BaseModel):
    """The sum of (load − limit) / limit over brokers and resources."""

    total: float
    """The sum."""
    lower_bound: float
    """Lower bound on the sum."""
    optimal: bool
    """Whether the sum is its lower bound."""


class ExcessDocument(BaseModel):
    """What is above limits, and how much of it no plan avoids."""

    brokers: list[ExcessOfBroker]
    """Loads above limits, by broker id and resource."""
    hard: TotalExcess
    """Excess over hard limits."""
    soft: TotalExcess
    """Excess over soft limits."""
