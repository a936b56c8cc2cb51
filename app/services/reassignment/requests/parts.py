"""Parts of a request for a reassignment: balance, resources, limits, log directories, broker sets, pins, batches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Discriminator, Field, Tag

from app.core.reassignment.model import KEEP, TIGHT, Balance
from app.core.replicas.registry import PLACEMENT_OPTIONS
from app.errors import FieldPath, Json
from app.errors.quotation import suggestion
from app.errors.reassignments import UnknownBrokerSet
from app.errors.requests import ConflictingFields, DuplicateBroker, DuplicateLogDir
from app.services import fields
from app.services.amounts import InBytes, InShares, PricesRequest, Rate, Times
from app.services.bodies import ListOf, Read, RequestRecord, WordOr
from app.services.snapshots import first_repeated

InRack = Literal["in_rack"]
Number = Annotated[fields.Int32, Field(ge=1)]
CapacityBytes = Annotated[int, InBytes(ge=1)]


@dataclass(frozen=True)
class IsolateRequest(RequestRecord, schema="IsolateFields"):
    """Topics whose replicas are restricted to these brokers."""

    topics: Annotated[ListOf[fields.TopicName], Field(min_length=1)]
    """Names of the topics that are restricted."""
    brokers: Annotated[ListOf[fields.BrokerId], Field(min_length=1)]
    """Ids of the brokers that they are restricted to."""
    exclusive: bool = False
    """Whether other topics are excluded from these brokers."""


@dataclass(frozen=True)
class PinRequest(RequestRecord, schema="PinFields"):
    """A partition and its replicas, the preferred leader first."""

    topic: fields.TopicName
    partition: fields.PartitionId
    """Id of the partition in its topic."""
    replicas: Annotated[ListOf[fields.BrokerId], Field(min_length=1, max_length=1000)]
    """Broker ids, the preferred leader first."""


@dataclass(frozen=True)
class MovementCost(RequestRecord, schema="MovementCostFields"):
    """The cost of a move: its bytes, and a constant for each replica."""

    bytes_per_replica: Annotated[int, InBytes(le=2**50)]
    """Bytes that one replica less is worth."""


@dataclass(frozen=True)
class SetsOfWidth(RequestRecord, schema="ScatterWidthFields"):
    """The replica sets that partitions are on."""

    scatter_width: Annotated[int, Field(ge=1, le=PLACEMENT_OPTIONS["scatter_width"][0].bounds[1])]
    """Number of other brokers with which a broker shares its sets, at least; the sets are as for new topics by
    `copysets`."""


@dataclass(frozen=True)
class EvacuateRequest(RequestRecord, schema="EvacuateFields"):
    """Brokers and racks that lead no partition."""

    brokers: ListOf[fields.BrokerId] = field(default_factory=list)
    """Ids of brokers that lead no partition."""
    racks: ListOf[fields.Rack] = field(default_factory=list)
    """Racks whose brokers lead no partition."""


@dataclass(frozen=True)
class BatchesRequest(RequestRecord, schema="BatchFields"):
    """The limits of each batch; null is no limit."""

    max_moves_in_per_broker: Number | None = 4
    """Replicas copied to a broker in one batch."""
    max_moves_out_per_broker: Number | None = None
    """Replicas copied from a broker in one batch."""
    max_bytes_in_per_broker: CapacityBytes | None = None
    """Bytes copied to a broker in one batch; deleted replicas are not subtracted."""
    max_partitions: Number | None = None
    """Number of partitions in one batch."""
    max_disk_share: Annotated[float, InShares(gt=0)] | None = None
    """Largest share of a disk in use at any time, for brokers with `capacity.disk_bytes`."""
    throttle_bytes_per_s: CapacityBytes | None = None
    """Replication throttle of every broker, in and out; batches then have a duration."""
    record_batch_bytes: CapacityBytes | None = None
    """Size of the record batches of the partitions, if it is near Kafka's `replica.fetch.max.bytes` of 1 MiB: batches
    that a fetch cuts off are sent again, so that copying takes longer."""
    hottest: Literal["last", "first", "spread"] = "last"
    """When the partitions with the highest ingress rate move; without rates, the largest ones. `spread`: batches of
    about as many bytes each, which take longer in sum. Batches of limited disks are not spread."""


Resource = Literal["disk", "nic_in", "nic_out", "cpu"]
"""The resources of a broker that partitions load."""
Limited = Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders"]
"""Quantities that can be limited a broker."""
RESOURCES: tuple[Resource, ...] = ("disk", "nic_in", "nic_out", "cpu")
COUNTS: tuple[Limited, ...] = ("replicas", "leaders")
EVERY = "*"
"""In place of a broker or a topic: all that are not named."""
Share = Annotated[float, Field(allow_inf_nan=False), InShares(gt=0)]
ShareOrZero = Annotated[float, Field(allow_inf_nan=False), InShares()]
Amount = Annotated[float, Field(allow_inf_nan=False), InBytes(gt=0, le=1e18)]
MoreThanZero = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
BrokerOrAll = Annotated[str, Field(pattern=r"^(\*|0|[1-9][0-9]{0,9})$", description="A broker's id, or `*`.")]
TopicOrAll = Annotated[str, Field(pattern=r"^(\*|[a-zA-Z0-9._-]{1,249})$", description="A topic's name, or `*`.")]


@dataclass(frozen=True)
class CapacityRequest(RequestRecord, schema="CapacityFields"):
    """Capacities of a broker. Missing ones come from `*`, else from the snapshot."""

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


LimitRequest: TypeAlias = Annotated[
    Annotated[Share, Tag("number")] | Annotated[Limit, Tag("limit")],
    Discriminator(lambda value: "limit" if isinstance(value, dict | BaseModel | Limit) else "number"),
]
"""A share, or a limit with its kind."""
LogDirLimitsRequest: TypeAlias = Annotated[
    Annotated[Share, Tag("number")]
    | Annotated[Mapping[BrokerOrAll, Mapping[fields.LogDirPath, Share]], Tag("brokers"), Field(max_length=10_000)],
    Discriminator(lambda value: "brokers" if isinstance(value, dict) else "number"),
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
    """The balanced quantity."""
    tolerance: ShareOrZero = 0.0
    """0: as balanced as possible; t: within ±t of each broker's share."""


@dataclass(frozen=True)
class GoalsRequest(RequestRecord, schema="GoalsFields"):
    """Goals in order of priority: none worsens the result of an earlier one."""

    goals: Annotated[ListOf[GoalRequest], Field(min_length=1, max_length=7)]
    """The goals, the most important first."""


@dataclass(frozen=True, kw_only=True)
class ResourceFields(RequestRecord):
    """The fields of a request about resources of brokers; all are optional."""

    capacity: Mapping[BrokerOrAll, CapacityRequest] = field(default_factory=dict)
    """Capacities by broker id, `*` for all others; they override the snapshot's."""
    ingress_bytes_per_s: Mapping[fields.TopicName, fields.OneOrEach[Rate]] | None = None
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
    Copies have today's sizes."""
    limits: LimitsRequest = field(default_factory=LimitsRequest)
    """Upper limits of each broker's load after the plan."""
    prices: PricesRequest | None = None
    """Prices for `cross_rack`; null leaves out costs."""
    defaults: fields.Defaults | None = None
    """Values for topics that lack them in the snapshot."""


def stated_fields(request: ResourceFields, written: Mapping[str, Json]) -> dict[str, Json]:
    """The canonical fields of a request without those about resources that have their default.

    So a request that states none of them keeps the hash that it had before there were any.
    """
    default = ResourceFields()
    unstated = {
        name for name in ResourceFields.__dataclass_fields__ if getattr(request, name) == getattr(default, name)
    } - {"ingress_bytes_per_s"}  # older than the others
    return {name: value for name, value in written.items() if name not in unstated}


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
    """By topic in the order of `names`: its stated factor, else that for `*`, else `otherwise`."""
    rest = stated.get(EVERY, otherwise)
    return [stated.get(name, rest) for name in names]


@dataclass(frozen=True)
class _OneTolerance(RequestRecord, schema="ToleranceRequest"):
    """A band around the brokers' mean, mean × (1 − tolerance) to mean × (1 + tolerance), joined with the narrowest
    feasible band.
    """

    tolerance: ShareOrZero
    """Share by which the band extends beyond the most balanced one, from 0 to 1."""


@dataclass(frozen=True)
class Tolerance(RequestRecord, schema="LeadersToleranceRequest"):
    """The same of leaders, which may be further below the mean than above it."""

    tolerance: ShareOrZero
    """Share by which the band extends beyond the most balanced one, from 0 to 1."""
    below: ShareOrZero | None = None
    """Share by which the band extends below the mean, by count; null is `tolerance`. If brokers joined late, a wider
    one takes fewer leader changes."""


_Share: TypeAlias = Annotated[Tolerance, Read(_OneTolerance, lambda given: Tolerance(given.tolerance))]
_Tight = WordOr[Literal["tight"], _Share]
Evenness: TypeAlias = Literal["tight", "keep"] | Tolerance
ReplicasBy = Literal["count", "bytes", "throughput"]
"""The objectives that replicas can be balanced by; `loads.py` has the load of each."""
LeadersBy = Literal["count", "ingress"]
"""The objectives that leaders can be balanced by."""


@dataclass(frozen=True)
class PerTopicRequest(RequestRecord, schema="PerTopicFields"):
    """The balance of each topic over brokers beside the whole cluster's: of replicas, leaders or both."""

    replicas: _Tight | None = None
    """`tight`: brokers differ by one replica of the topic at most; a tolerance is of the topic's mean. If the bands of
    all topics cannot hold together with the band of the cluster, the excess is minimal."""
    leaders: _Tight | None = None
    """`tight`: brokers differ by one leader of the topic at most; a tolerance is of the topic's mean. If the bands of
    all topics cannot hold together with the band of the cluster, the excess is minimal. The default of
    `balance.leaders` then is `tight`."""
    topics: Annotated[ListOf[fields.TopicName], Field(min_length=1)] | None = None
    """Names of the topics that are balanced; null is all that may move."""


@dataclass(frozen=True)
class BalanceRequest(RequestRecord, schema="BalanceFields"):
    """The balance constraints of brokers."""

    replicas: WordOr[Literal["tight", "keep"], _Share] | None = None
    """`tight`: as balanced as possible; `keep`: only necessary changes; a tolerance: in between. The default is `tight`
    if brokers are added or a budget is set, `keep` otherwise."""
    replicas_by: ReplicasBy = "count"
    """The load that is balanced."""
    leaders: WordOr[Literal["tight", "keep", "moved", "preferred"], Tolerance] | None = None
    """`tight`: as balanced as possible; `keep`: only necessary changes; a tolerance: in between. `moved`: as `keep`,
    but leaders of partitions of which replicas move change if that makes the largest number of leaders of a broker
    smaller; `preferred`: replica lists keep their order, and the first replica leads. The default is `tight` with
    leaders_only, `moved` if brokers are removed or with fix_offline_replicas, `keep` otherwise."""
    leaders_by: LeadersBy = "count"
    """The load that is balanced."""
    leaders_move_replicas: bool = False
    """Whether replicas may move to reach the band of leaders, by count, with the fewest bytes: a broker gets a replica
    of a partition that it is to lead, in place of one in the same rack if there is one. The default of `leaders` then
    is `tight`. `max_moved_bytes` is the most that moves: the band then is the narrowest within it."""
    resources: Annotated[ListOf[Resource], Field(max_length=4)] = field(default_factory=list)
    """Resources that are balanced jointly, each by the capacity of each broker, together with `replicas` and `leaders`
    if these are `tight` or have a tolerance."""
    per_topic: PerTopicRequest | None = None
    """The balance of each topic, by count; of replicas without a budget or a trade-off."""
    weights: Literal["capacity"] | Mapping[BrokerOrAll, MoreThanZero] | None = None
    """By broker id, or `*` for all others, the weight of a broker: its bands of replicas, of leaders by count and of
    each topic are in proportion to it. `capacity`: disk_bytes is the weight, with `throughput` nic_in_bytes_per_s. By
    default the weights come from the snapshot, which are 1 if it states none; if it does not, the capacities of all
    brokers are known and differ, and `add_brokers` states some, it is `capacity`."""


@dataclass(frozen=True)
class LogDirTolerance(RequestRecord, schema="LogDirToleranceFields"):
    """A ceiling above the mean of a broker's log directories: mean × (1 + tolerance), or the lowest reachable one."""

    tolerance: ShareOrZero
    """Share of the mean by which a directory may be above it, from 0 to 1."""


@dataclass(frozen=True)
class LogDirsRequest(RequestRecord, schema="LogDirsFields"):
    """Log directories (JBOD) that replicas are placed in and moved between. No directory is above its size, or above
    `batches.max_disk_share` of it, at any step.
    """

    balance: WordOr[Literal["tight", "keep"], LogDirTolerance] = "keep"
    """Balance of the directories of each broker, by their share in use, or by bytes if a size is unknown. `tight`: the
    smallest largest share; `keep`: only necessary moves; a tolerance: the fewest bytes moved within it."""
    drain: Mapping[fields.BrokerKey, Annotated[ListOf[fields.LogDirPath], Field(min_length=1, max_length=1000)]] = (
        field(default_factory=dict)
    )
    """By broker, directories that have no replica after the plan."""
    total_bytes: Mapping[BrokerOrAll, Mapping[fields.LogDirPath, CapacityBytes]] = field(default_factory=dict)
    """By broker, `*` for all others, and path: bytes of the file system; they override the snapshot's."""

    @property
    def core_balance(self) -> Balance:
        """As the core knows it."""
        if isinstance(self.balance, LogDirTolerance):
            # The fraction that was written, and not the float next to it.
            return Balance(Fraction(repr(self.balance.tolerance)))
        return TIGHT if self.balance == "tight" else KEEP

    def stated_bytes(self, broker: int, path: str) -> int | None:
        """The stated size of a directory: by the broker's id, else by `*`, else None."""
        listed = (self.total_bytes.get(name, {}).get(path) for name in (str(broker), EVERY))
        return next((size for size in listed if size is not None), None)


def check_log_dirs(request: LogDirsRequest | None) -> None:
    """Raise `DuplicateLogDir` if a directory is listed twice."""
    for broker, paths in ({} if request is None else request.drain).items():
        if (twice := first_repeated(paths)) is not None:
            detail = f"log directory {paths[twice]} of broker {broker} is listed twice"
            raise DuplicateLogDir(detail, path=("log_dirs", "drain", str(broker), twice), value=paths[twice])


BrokerSetName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$", description="A broker set's name.")]
TopicSetsRequest: TypeAlias = Literal["topic_name_hash"] | Mapping[fields.TopicName, BrokerSetName]
"""By topic its broker set; or the policy that chooses it by the topic's name."""


def check_broker_sets(broker_sets: Mapping[str, Sequence[int]], topic_sets: TopicSetsRequest) -> None:
    """Validate broker sets, before a cluster is looked at.

    Raises
    ------
    DuplicateBroker : a broker is in two sets, or twice in one. UnknownBrokerSet : a topic is bound to a set that is
    not listed. ConflictingFields : a set without brokers, or topics without sets.
    """
    set_of: dict[int, str] = {}
    for name, brokers in broker_sets.items():
        if not brokers:
            raise ConflictingFields(f"broker set {name} has no brokers", path=("broker_sets", name), value=0, minimum=1)
        for place, broker in enumerate(brokers):
            if broker in set_of:
                other = set_of[broker]
                words = f"is listed twice in broker set {name}" if other == name else f"is in broker set {other}, too"
                detail = f"broker {broker} of broker set {name} {words}; sets have no broker in common"
                raise DuplicateBroker(detail, path=("broker_sets", name, place), value=broker, other_set=other)
            set_of[broker] = name
    if isinstance(topic_sets, str):
        if not broker_sets:
            detail = f"topic_sets {topic_sets} chooses among broker_sets, and there are none"
            raise ConflictingFields(detail, path=("topic_sets",), value=topic_sets)
        return
    for topic, name in topic_sets.items():
        if name not in broker_sets:
            listed = ", ".join(sorted(broker_sets)[:20]) or "none"
            detail = f"topic {topic} is bound to broker set {name}; broker_sets lists {listed}"
            detail += suggestion(name, broker_sets)
            raise UnknownBrokerSet(detail, path=("topic_sets", topic), value=name)
