"""The fields of a request about resources: capacities, traffic, limits and prices; of plans and of checks."""

from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Field, Tag

from app.api.models.fields import INT64_MAX, LogDirPath, TopicName
from app.api.models.fields import Request as RequestModel

CapacityBytes = Annotated[int, Field(ge=1, le=INT64_MAX)]
Rate = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]
Coefficient = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
BrokerOrAll = Annotated[str, Field(pattern=r"^(\*|0|[1-9][0-9]{0,9})$", description="A broker's id, or `*`.")]
TopicOrAll = Annotated[str, Field(pattern=r"^(\*|[a-zA-Z0-9._-]{1,249})$", description="A topic's name, or `*`.")]


class CapacityFields(RequestModel):
    """Capacities of a broker. Missing ones are those of `*`, else of the snapshot."""

    disk_bytes: CapacityBytes | None = None
    """Bytes of the log directories together."""
    nic_in_bytes_per_s: CapacityBytes | None = None
    """Bytes/s that the network interface receives."""
    nic_out_bytes_per_s: CapacityBytes | None = None
    """Bytes/s that the network interface sends."""
    vcpu: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None
    """Number of virtual CPUs."""


class CpuModelFields(RequestModel):
    """A linear model of the processor: vCPU by bytes/s in, by bytes/s out, and by replica."""

    per_byte_in: Coefficient = Field(1 / (20 * 2**20), description="vCPU for a byte/s that a broker receives.")
    per_byte_out: Coefficient = Field(1 / (80 * 2**20), description="vCPU for a byte/s that a broker sends.")
    per_partition: Coefficient = Field(0.0, description="vCPU for a replica without traffic.")


class LimitFields(RequestModel):
    """An upper limit of each broker: either a share of its capacity, or an amount."""

    share: Share | None = None
    """Share of the capacity of each broker."""
    absolute: Amount | None = None
    """Amount: bytes, bytes/s, vCPU, replicas or leaders."""
    soft: bool = Field(False, description="Whether the limit may be exceeded if it cannot hold.")


def _number_or_limit(value: object) -> str:
    return "limit" if isinstance(value, dict | BaseModel) else "number"


LimitChoice = Annotated[
    Annotated[Share, Tag("number")] | Annotated[LimitFields, Tag("limit")], Discriminator(_number_or_limit)
]


class LimitsFields(RequestModel):
    """Upper limits of each broker: a share of its capacity, or a limit with its kind; null is no limit."""

    disk: LimitChoice | None = None
    """Limit of the bytes on disk. A hard one holds in every batch, too."""
    nic_in: LimitChoice | None = None
    """Limit of received bytes/s: producers and replication."""
    nic_out: LimitChoice | None = None
    """Limit of sent bytes/s: replication and consumers."""
    cpu: LimitChoice | None = None
    """Limit of vCPU, by `cpu_model`."""
    replicas: LimitChoice | None = None
    """Limit of the number of replicas, `{"absolute": …}`."""
    leaders: LimitChoice | None = None
    """Limit of the number of preferred leaders, `{"absolute": …}`."""


def _number_or_brokers(value: object) -> str:
    return "brokers" if isinstance(value, dict) else "number"


LogDirLimits = Annotated[
    Annotated[Share, Tag("number")]
    | Annotated[dict[BrokerOrAll, dict[LogDirPath, Share]], Tag("brokers"), Field(max_length=10_000)],
    Discriminator(_number_or_brokers),
]


class LimitsWithLogDirs(LimitsFields):
    """Upper limits of each broker, and of its log directories."""

    log_dirs: LogDirLimits | None = Field(
        None,
        description="Share of its size that each log directory has at most, after the plan and in every batch; or "
        "shares by broker and path, `*` for all others. Replicas are moved out of directories above it, with the "
        "fewest bytes; with the objective `relieve` also to other brokers.",
    )


class PricesFields(RequestModel):
    """Prices, in any currency."""

    cross_rack_per_gib: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = Field(
        0.0, description="Price of a GiB from rack to rack; `cross_rack` then has the cost of a month."
    )


class LoadFields(RequestModel):
    """What a request says about loads and capacities of brokers; all of it is optional."""

    capacity: dict[BrokerOrAll, CapacityFields] = Field(
        default_factory=dict,
        description="Capacities by broker id, `*` for all others; they override those of the snapshot.",
    )
    ingress_bytes_per_s: dict[TopicName, Rate | list[Rate]] | None = Field(
        None,
        description="By topic, the ingress rate of the topic, or of each partition of the plan; by default the rates "
        "that the snapshot has.",
    )
    consumers: dict[TopicOrAll, Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="By topic, how many times each byte is read, as by so many consumer groups; `*` for all others, 0 "
        "by default.",
    )
    follower_fetching: bool = Field(
        False, description="Whether consumers fetch from the replica in their rack (KIP-392); they are in all racks."
    )
    cpu_model: CpuModelFields | None = None
    """The model of the processor; by default a vCPU receives 20 MiB/s, or sends 80 MiB/s."""
    growth: dict[TopicOrAll, Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="By topic, the factor on sizes and rates, for loads and balance in the future; `*` for all "
        "others, 1 by default. What is copied has its size of today.",
    )


class ResourceFields(LoadFields):
    """What a request says about the resources of brokers; all of it is optional."""

    limits: LimitsWithLogDirs = Field(default_factory=LimitsWithLogDirs)
    """Upper limits of what each broker has after the plan."""
    prices: PricesFields | None = None
    """Prices for `cross_rack`; null leaves out costs."""

    def resources(self) -> dict[str, Any]:
        """These fields as plain values, without the rates."""
        return self.model_dump(include=set(ResourceFields.model_fields) - {"ingress_bytes_per_s"})
