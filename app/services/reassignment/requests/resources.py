"""What a request says about resources: capacities, traffic, limits and prices; and what is wrong with it by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Discriminator, Field, Tag

from app.errors import FieldPath, Json
from app.errors.requests import ConflictingFields
from app.services.amounts import InBytes, InShares
from app.services.bodies import ListOf, RequestRecord
from app.services.defaults import Defaults
from app.services.fields import LogDirPath, TopicName
from app.services.rates import PricesRequest, Rate, Times

Resource = Literal["disk", "nic_in", "nic_out", "cpu"]
"""The resources of a broker that partitions load."""
Limited = Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders"]
"""What can be limited a broker."""
RESOURCES: tuple[Resource, ...] = ("disk", "nic_in", "nic_out", "cpu")
COUNTS: tuple[Limited, ...] = ("replicas", "leaders")
EVERY = "*"
"""In place of a broker or a topic: all that are not named."""
CapacityBytes = Annotated[int, InBytes(ge=1)]
Share = Annotated[float, Field(allow_inf_nan=False), InShares(gt=0)]
ShareOrZero = Annotated[float, Field(allow_inf_nan=False), InShares()]
Amount = Annotated[float, Field(allow_inf_nan=False), InBytes(gt=0, le=1e18)]
MoreThanZero = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
BrokerOrAll = Annotated[str, Field(pattern=r"^(\*|0|[1-9][0-9]{0,9})$", description="A broker's id, or `*`.")]
TopicOrAll = Annotated[str, Field(pattern=r"^(\*|[a-zA-Z0-9._-]{1,249})$", description="A topic's name, or `*`.")]


@dataclass(frozen=True)
class CapacityRequest(RequestRecord, schema="CapacityFields"):
    """Capacities of a broker. Missing ones are those of `*`, else of the snapshot."""

    disk_bytes: CapacityBytes | None = None
    """Bytes of the log directories together."""
    nic_in_bytes_per_s: CapacityBytes | None = None
    """Bytes/s that the network interface receives."""
    nic_out_bytes_per_s: CapacityBytes | None = None
    """Bytes/s that the network interface sends."""
    vcpu: MoreThanZero | None = None
    """Number of virtual CPUs."""


@dataclass(frozen=True)
class CpuModel(RequestRecord, schema="CpuModelFields"):
    """A linear model of the processor: vCPU by bytes/s in, by bytes/s out, and by replica."""

    per_byte_in: ShareOrZero = 1 / (20 * 2**20)
    """vCPU for a byte/s that a broker receives."""
    per_byte_out: ShareOrZero = 1 / (80 * 2**20)
    """vCPU for a byte/s that a broker sends."""
    per_partition: ShareOrZero = 0.0
    """vCPU for a replica without traffic."""


@dataclass(frozen=True)
class Limit(RequestRecord, schema="LimitFields"):
    """An upper limit of each broker: either a share of its capacity, or an amount."""

    share: Share | None = None
    """Share of the capacity of each broker."""
    absolute: Amount | None = None
    """Amount: bytes, bytes/s, vCPU, replicas or leaders."""
    soft: bool = False
    """Whether the limit may be exceeded if it cannot hold."""


def _number_or_limit(value: object) -> str:
    return "limit" if isinstance(value, dict | BaseModel | Limit) else "number"


def _number_or_brokers(value: object) -> str:
    return "brokers" if isinstance(value, dict) else "number"


LimitRequest: TypeAlias = Annotated[
    Annotated[Share, Tag("number")] | Annotated[Limit, Tag("limit")], Discriminator(_number_or_limit)
]
"""A share, or a limit with its kind."""
LogDirLimitsRequest: TypeAlias = Annotated[
    Annotated[Share, Tag("number")]
    | Annotated[Mapping[BrokerOrAll, Mapping[LogDirPath, Share]], Tag("brokers"), Field(max_length=10_000)],
    Discriminator(_number_or_brokers),
]
"""Of the size of every log directory a share; or by broker and path, `*` for all others."""


@dataclass(frozen=True)
class LimitsRequest(RequestRecord, schema="LimitsWithLogDirs"):
    """Upper limits of each broker, and of its log directories."""

    disk: LimitRequest | None = None
    """Limit of the bytes on disk. A hard one holds in every batch, too."""
    nic_in: LimitRequest | None = None
    """Limit of received bytes/s: producers and replication."""
    nic_out: LimitRequest | None = None
    """Limit of sent bytes/s: replication and consumers."""
    cpu: LimitRequest | None = None
    """Limit of vCPU, by `cpu_model`."""
    replicas: LimitRequest | None = None
    """Limit of the number of replicas, `{"absolute": …}`."""
    leaders: LimitRequest | None = None
    """Limit of the number of preferred leaders, `{"absolute": …}`."""
    log_dirs: LogDirLimitsRequest | None = None
    """Share of its size that each log directory has at most, after the plan and in every batch; or shares by broker and
    path, `*` for all others. Replicas are moved out of directories above it, with the fewest bytes; with the objective
    `relieve` also to other brokers."""

    def log_dir_share(self, broker: int, path: str) -> float | None:
        """The share of its size that a log directory may have at any time; None is not limited."""
        if self.log_dirs is None or isinstance(self.log_dirs, int | float):
            return self.log_dirs
        of_broker, of_all = (self.log_dirs.get(name, {}) for name in (str(broker), EVERY))
        found = (shares.get(name) for shares in (of_broker, of_all) for name in (path, EVERY))
        return next((share for share in found if share is not None), None)

    def stated(self) -> Mapping[Limited, Limit]:
        """The limits of brokers that there are, by resource."""
        limits: dict[Limited, Limit] = {}
        for name in (*RESOURCES, *COUNTS):
            value = getattr(self, name)
            if value is not None:
                limits[name] = value if isinstance(value, Limit) else Limit(share=value)
        return limits


GoalName = Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders", "topic_replicas"]


@dataclass(frozen=True)
class GoalRequest(RequestRecord, schema="GoalFields"):
    """A goal: the load of a resource, by the capacity of each broker, or the replicas of each topic."""

    goal: GoalName
    """What is balanced."""
    tolerance: ShareOrZero = 0.0
    """0: as balanced as possible; t: within ±t of each broker's share."""


@dataclass(frozen=True)
class GoalsRequest(RequestRecord, schema="GoalsFields"):
    """Goals in order of priority: none worsens what those before it reached."""

    goals: Annotated[ListOf[GoalRequest], Field(min_length=1, max_length=7)]
    """The goals, the most important first."""


@dataclass(frozen=True, kw_only=True)
class ResourceFields(RequestRecord):
    """What a request says about the resources of brokers; all of it is optional."""

    capacity: Mapping[BrokerOrAll, CapacityRequest] = field(default_factory=dict)
    """Capacities by broker id, `*` for all others; they override those of the snapshot."""
    ingress_bytes_per_s: Mapping[TopicName, Rate | ListOf[Rate]] | None = None
    """By topic, the ingress rate of the topic, or of each partition of the plan; by default the rates that the snapshot
    has."""
    consumers: Mapping[TopicOrAll, Times] = field(default_factory=dict)
    """By topic, the number of consumer groups that read each byte; `*` for all other topics, 0 by default."""
    follower_fetching: bool = False
    """Whether consumers fetch from the replica in their rack (KIP-392); they are in all racks."""
    cpu_model: CpuModel | None = None
    """The model of the processor; by default a vCPU receives 20 MiB/s, or sends 80 MiB/s."""
    growth: Mapping[TopicOrAll, Times] = field(default_factory=dict)
    """By topic, the factor on sizes and rates, for loads and balance in the future; `*` for all others, 1 by default.
    What is copied has its size of today."""
    limits: LimitsRequest = field(default_factory=LimitsRequest)
    """Upper limits of what each broker has after the plan."""
    prices: PricesRequest | None = None
    """Prices for `cross_rack`; null leaves out costs."""
    defaults: Defaults | None = None
    """What counts for topics of which the snapshot does not know it."""


def stated_fields(request: ResourceFields, fields: Mapping[str, Json]) -> dict[str, Json]:
    """The canonical fields of a request without those about resources that have their default.

    So a request that states none of them keeps the hash that it had before there were any.
    """
    default = ResourceFields()
    unstated = {
        name for name in ResourceFields.__dataclass_fields__ if getattr(request, name) == getattr(default, name)
    } - {"ingress_bytes_per_s"}  # older than the others
    return {name: value for name, value in fields.items() if name not in unstated}


def check_resources(request: ResourceFields) -> None:
    """Raise `ConflictingFields` for limits that are no limits."""
    for path, value, detail in _conflicts(request):
        raise ConflictingFields(detail, path=path, value=value)


def _conflicts(request: ResourceFields) -> Iterator[tuple[FieldPath, Json, str]]:
    for name, limit in request.limits.stated().items():
        path = ("limits", name)
        if (limit.share is None) == (limit.absolute is None):
            yield path, None, f"the limit of {name} is either a share or absolute, and one of the two is required"
        elif limit.share is not None and name in COUNTS:
            detail = f"the limit of {name} is a share of a capacity, and no broker has a capacity of {name}; state "
            yield path, limit.share, f'{detail}{{"absolute": …}}'


def topic_factors(stated: Mapping[str, float], names: Sequence[str], otherwise: float) -> list[float]:
    """By topic in the order of `names`: what is stated of it, else of `*`, else `otherwise`."""
    rest = stated.get(EVERY, otherwise)
    return [stated.get(name, rest) for name in names]
