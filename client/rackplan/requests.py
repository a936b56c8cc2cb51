"""The fields of requests. Written by `make openapi`; not edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypeAlias, TypedDict

ListPlansKind: TypeAlias = Literal["replicas", "reassignment", "group", "streams", "restart", "consumers"]


ListPlansStatus: TypeAlias = Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]


ExportPlanFormat: TypeAlias = Literal[
    "reassignment",
    "rollback",
    "batch",
    "batches",
    "kubernetes",
    "replica_assignment",
    "script",
    "keda",
    "hpa",
    "schedule",
    "csv",
    "loads",
    "losses",
    "text",
    "markdown",
    "arrow",
]


ListSweepsKind: TypeAlias = Literal[
    "capacity", "placement_draws", "consumer_groups", "key_skew", "reassignment", "consumers"
]


ListSweepsState: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]


ListScenariosSort: TypeAlias = Literal[
    "monthly_cost",
    "headroom",
    "cross_rack_bytes_per_s",
    "first_breaking_month",
    "brokers",
    "partitions",
    "partitions_offline",
    "partitions_under_min_isr",
    "partitions_not_rack_safe",
    "remote_bytes",
    "restart_waves",
    "leader_spread",
    "replica_spread",
    "most_leaders",
    "most_replicas",
    "rack_safe_share",
    "members",
    "in_rack",
    "cross_rack",
    "unknown",
    "in_rack_share",
    "moved",
    "taken_up",
    "dropped",
    "revoked",
    "phases",
    "spread",
    "max_over_mean",
    "gini",
    "bytes_max_over_mean",
    "bytes_gini",
    "heaviest_partition_records",
    "records_without_partition",
    "moved_share",
    "moved_key_share",
    "expected_moved_share",
    "moved_replicas",
    "moved_bytes",
    "lower_bound_bytes",
    "gap",
    "smallest_before",
    "largest_before",
    "spread_before",
    "smallest_after",
    "largest_after",
    "spread_after",
    "largest_bytes_before",
    "largest_bytes_after",
    "short_of_racks",
    "disk_utilisation",
    "nic_in_utilisation",
    "nic_out_utilisation",
    "cpu_utilisation",
    "topic_excess",
    "offline_after_rack_loss",
    "unwritable_after_rack_loss",
    "unwritable_after_broker_loss",
    "unwritable_during_restart",
    "replica_sets",
    "loss_probability",
    "most_consumers",
    "consumer_hours",
    "proven_consumers_share",
    "moved_bytes_per_s",
    "proven_moves_share",
    "lost_bytes_per_s",
    "index",
]


ListJobsKind: TypeAlias = Literal["replicas", "reassignment", "group", "streams", "restart", "consumers"]


ListJobsState: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]


ListDeliveriesState: TypeAlias = Literal["pending", "succeeded", "failed"]


ListAuditEntriesActor: TypeAlias = Literal["key", "token", "link", "anyone", "unknown", "command"]


ListAuditEntriesOutcome: TypeAlias = Literal["done", "failed"]


ExportAuditLogActor: TypeAlias = Literal["key", "token", "link", "anyone", "unknown", "command"]


ExportAuditLogOutcome: TypeAlias = Literal["done", "failed"]


class BalanceFields(TypedDict, total=False):
    """The balance constraints of brokers."""

    replicas: Literal["tight", "keep"] | ToleranceRequest | None
    """`tight`: as balanced as possible; `keep`: only necessary changes; a tolerance: in between. The default is
    `tight` if brokers are added or a budget is set, `keep` otherwise."""
    replicas_by: Literal["count", "bytes", "throughput"]
    """The load that is balanced."""
    leaders: Literal["tight", "keep", "moved", "preferred"] | LeadersToleranceRequest | None
    """`tight`: as balanced as possible; `keep`: only necessary changes; a tolerance: in between. `moved`: as `keep`,
    but leaders of partitions of which replicas move change if that makes the largest number of leaders of a
    broker smaller; `preferred`: replica lists keep their order, and the first replica leads. The default is
    `tight` with leaders_only, `moved` if brokers are removed or with fix_offline_replicas, `keep` otherwise."""
    leaders_by: Literal["count", "ingress"]
    """The load that is balanced."""
    leaders_move_replicas: bool
    """Whether replicas may move to reach the band of leaders, by count, with the fewest bytes: a broker gets a
    replica of a partition that it is to lead, in place of one in the same rack if there is one. The default of
    `leaders` then is `tight`. `max_moved_bytes` is the most that moves: the band then is the narrowest within it."""
    resources: Sequence[Literal["disk", "nic_in", "nic_out", "cpu"]]
    """Resources that are balanced jointly, each by the capacity of each broker, together with `replicas` and
    `leaders` if these are `tight` or have a tolerance."""
    per_topic: PerTopicFields | None
    """The balance of each topic, by count; of replicas without a budget or a trade-off."""
    weights: Literal["capacity"] | Mapping[str, float] | None
    """By broker id, or `*` for all others, the weight of a broker: its bands of replicas, of leaders by count and of
    each topic are in proportion to it. `capacity`: disk_bytes is the weight, with `throughput`
    nic_in_bytes_per_s. By default the weights come from the snapshot, which are 1 if it states none; if it does
    not, the capacities of all brokers are known and differ, and `add_brokers` states some, it is `capacity`."""


class BaseRequest(TypedDict, total=False):
    """A scenario with its topics."""

    topology: Required[TopologyRequest]
    """Racks and their brokers."""
    broker_profile: Required[ProfileRequest]
    """Capacities and price of every broker."""
    partitions_multiplier: int
    """Factor by which the partitions of every topic are multiplied."""
    placement: PlacementRequest
    """How topics are placed on brokers."""
    clients: ClientsRequest
    """Where producers and consumers are."""
    traffic: TrafficRequest
    """Growth of traffic."""
    failures: Sequence[Literal["none", "broker", "rack", "rack_and_broker"]]
    """The failures that the cluster has to withstand."""
    targets: TargetsRequest
    """Usable share of each resource."""
    prices: PricesRequest
    """Prices other than the brokers'."""
    rereplication: RereplicationRequest | None
    """Throttle at which lost replicas are copied; null if that load is not counted."""
    restart: RestartRulesRequest | None
    """Rules of a rolling restart of all brokers, whose waves are counted; null if they are not."""
    topics: Required[Sequence[TopicLoadRequest]]
    """Topics with their traffic."""


class BatchFields(TypedDict, total=False):
    """The limits of each batch; null is no limit."""

    max_moves_in_per_broker: int | None
    """Replicas copied to a broker in one batch."""
    max_moves_out_per_broker: int | None
    """Replicas copied from a broker in one batch."""
    max_bytes_in_per_broker: float | str | None
    """Bytes copied to a broker in one batch; deleted replicas are not subtracted."""
    max_partitions: int | None
    """Number of partitions in one batch."""
    max_disk_share: float | str | None
    """Largest share of a disk in use at any time, for brokers with `capacity.disk_bytes`."""
    throttle_bytes_per_s: float | str | None
    """Replication throttle of every broker, in and out; batches then have a duration."""
    record_batch_bytes: float | str | None
    """Size of the record batches of the partitions, if it is near Kafka's `replica.fetch.max.bytes` of 1 MiB:
    batches that a fetch cuts off are sent again, so that copying takes longer."""
    hottest: Literal["last", "first", "spread"]
    """When the partitions with the highest ingress rate move; without rates, the largest ones. `spread`: batches of
    about as many bytes each, which take longer in sum. Batches of limited disks are not spread."""


class BrokerRequest(TypedDict, total=False):
    """A broker. A missing `rack` is no rack, which differs from the rack `""`."""

    id: Required[int]
    """`broker.id` or `node.id`."""
    rack: str | None
    """`broker.rack`; null for none, which differs from the rack `""`."""
    fenced: bool
    """Whether the broker is fenced: it is registered, and the controller takes it to be down."""
    capacity: CapacityRequest | None
    """Capacity of the broker; null if unknown."""
    attributes: Mapping[str, str]
    """The broker's failure domains by name, `{"zone": "eu-1a"}`; awareness places by them. Its rack is the default
    of the attribute `rack`."""
    weight: float
    """Relative size of the broker: awareness places twice as many replicas on a broker of weight 2."""


class BurstRequest(TypedDict, total=False):
    """Events within one assignment interval of the coordinator (KIP-1263): one step since Kafka 4.3, and a step each
    before, and for the assignors of the classic protocol."""

    burst: Required[
        Sequence[
            JoinRequest
            | LeaveRequest
            | ReplaceRequest
            | LoseRackRequest
            | TopicGrownRequest
            | ReplicaRacksChangedRequest
        ]
    ]
    """Events that one assignment takes in together, in order."""


class BytesInRequest(TypedDict, total=False):
    """Measured ingress by topic or by partition; one of the two formats."""

    csv: str | None
    """With a header line: the columns `topic` and `bytes_in_per_s`, optionally `partition` and `timestamp`. With
    several timestamps the mean is the ingress and the largest sum its peak."""
    prometheus: Mapping[str, Any] | None
    """An answer of `/api/v1/query_range` or `/api/v1/query`, unchanged; every series has a label `topic`, optionally
    a label `partition`, and bytes/s. Series of the same topic are added up."""


class CapacityFields(TypedDict, total=False):
    """Capacities of a broker. Missing ones come from `*`, else from the snapshot."""

    disk_bytes: float | str | None
    """Bytes of the log directories together."""
    nic_in_bytes_per_s: float | str | None
    """Bytes/s that the network interface receives."""
    nic_out_bytes_per_s: float | str | None
    """Bytes/s that the network interface sends."""
    vcpu: float | None
    """Number of virtual CPUs."""


class CapacityRequest(TypedDict, total=False):
    """Capacity of a broker."""

    disk_bytes: float | str | None
    """Bytes of the log directories together; null if unknown."""
    nic_in_bytes_per_s: float | str | None
    """Bytes/s that the network interface receives; null if unknown."""
    nic_out_bytes_per_s: float | str | None
    """Bytes/s that the network interface sends; null if unknown."""
    vcpu: float | None
    """Number of virtual CPUs; null if unknown."""


class CapacitySweepRequest(TypedDict, total=False):
    """A sweep over scenarios of a cluster: a base, axes over it, an objective and constraints."""

    axes: Mapping[str, Sequence[Any] | SpanRequest] | None
    """A path in `base` → its values; every combination is a scenario, and without axes the base alone."""
    sample: SampleRequest | None
    """Scenarios of the grid to score; null for all of them."""
    objective: Literal["monthly_cost", "headroom", "cross_rack_bytes_per_s", "first_breaking_month", "brokers"] | None
    """Figure that the best scenario minimises or maximises; null for `monthly_cost`."""
    constraints: Mapping[str, float] | None
    """Bounds that an acceptable scenario is within, besides its limits. If the request states a growth and a
    horizon, `min_first_breaking_month` by default is the month after the horizon, so that sizes last it."""
    kind: Literal["capacity"]
    """Kind of the sweep; the default if it is missing."""
    base: Required[BaseRequest | MeasuredBaseRequest]
    """The scenario that axes vary."""
    seed: int
    """The source of scenarios' seeds if their placement has none."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class ChangedRacks(TypedDict, total=False):
    """Brokers with other racks, and topics whose partitions have other replicas."""

    brokers: Sequence[RackedBroker]
    """Brokers whose rack changes."""
    replicas: Mapping[str, Sequence[Sequence[int]]]
    """New replicas of all partitions, by topic."""


class ChangesRequest(TypedDict, total=False):
    """The fields that a clone changes; absent or null ones stay, except that a `sample` of null removes the sample.

    Each field except the axes is of one kind of sweep."""

    capacities_bytes_per_s: list[float | str] | None
    """Rates that one consumer can read and process; null keeps them."""
    delays_s: list[float | str] | None
    """Longest times for which a record may wait; null keeps them."""
    spares: Sequence[int] | None
    """Numbers of consumers beyond the fewest; null keeps them."""
    racks_of_added: list[str] | None
    """The racks of added brokers, in rotation from the first. By default each gets the rack that has the fewest
    brokers by then, of equal ones the first by name."""
    balance: BalanceFields | None
    """The balance constraints of every scenario; null for their defaults."""
    limits: LimitsWithLogDirs | None
    """Upper limits of every broker. One that cannot hold is exceeded as little as is found; the scenario says so."""
    minimise: Literal["bytes", "replicas", "leader_changes"] | MovementCostFields | None
    """What to minimise; null for the default."""
    partitioners: (
        Sequence[
            Literal[
                "murmur2_round_robin",
                "murmur2_sticky",
                "murmur2_adaptive",
                "murmur2_random",
                "murmur2_random_available",
                "murmur2",
                "murmur2_abs",
                "murmur2_unsigned",
                "consistent_random",
                "consistent",
                "crc32_random",
                "fnv1a_random",
                "fnv1a",
                "fnv1a_round_robin",
                "fnv1a_positive",
                "kafkajs_legacy",
                "round_robin",
                "random",
            ]
        ]
        | None
    )
    """Names of partitioners; null keeps them."""
    partitions: int | None
    """Partition count from which moves are counted; null keeps it."""
    compare_partitions: Sequence[int] | None
    """Other partition counts; null keeps them."""
    heaviest: int | None
    """Number of heaviest keys to list; null keeps it."""
    assignors: (
        Sequence[
            Literal[
                "range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range", "simple", "optimal"
            ]
        ]
        | None
    )
    """Names of assignors; null keeps them."""
    members_lost: Sequence[int] | None
    """Numbers of members that a group loses at once; null keeps them."""
    members_added: Sequence[int] | None
    """Numbers of members that join in the same rebalance; null keeps them."""
    seeds: SeedsRequest | None
    """Range of seeds; null keeps it."""
    axes: Mapping[str, Sequence[Any] | SpanRequest | Literal["each"]] | None
    """Axes in place of the sweep's; null keeps them."""
    sample: SampleRequest | None
    """Scenarios of the grid to score; null for all of them."""
    objective: Literal["monthly_cost", "headroom", "cross_rack_bytes_per_s", "first_breaking_month", "brokers"] | None
    """Figure that the best scenario minimises or maximises; null for `monthly_cost`."""
    constraints: Mapping[str, float] | None
    """Bounds that an acceptable scenario is within, besides its limits. If the request states a growth and a
    horizon, `min_first_breaking_month` by default is the month after the horizon, so that sizes last it."""


class CheckRequest(TypedDict, total=False):
    """A reassignment and the cluster that it is for; or the cluster as it is. With capacities, limits or rates a
    check
    of a reassignment reports the loads after it."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    capacity: Mapping[str, CapacityFields]
    """Capacities by broker id, `*` for all others; they override the snapshot's."""
    ingress_bytes_per_s: Mapping[str, float | str | list[float | str]] | None
    """By topic, the ingress rate of the topic, or of each partition of the plan; by default the rates that the
    snapshot has."""
    consumers: Mapping[str, float]
    """By topic, the number of consumer groups that read each byte; `*` for all other topics, 0 by default."""
    follower_fetching: bool
    """Whether consumers fetch from the replica in their rack (KIP-392); they are in all racks."""
    cpu_model: CpuModelFields | None
    """The model of the processor; by default a vCPU receives 20 MiB/s, or sends 80 MiB/s."""
    growth: Mapping[str, float]
    """By topic, the factor on sizes and rates, for loads and balance in the future; `*` for all others, 1 by
    default. Copies have today's sizes."""
    limits: LimitsWithLogDirs
    """Upper limits of each broker's load after the plan."""
    prices: PricesFields | None
    """Prices for `cross_rack`; null leaves out costs."""
    defaults: DefaultsFields | None
    """Values for topics that lack them in the snapshot."""
    reassignment: ReassignmentFile | None
    """The reassignment, as the file that `kafka-reassign-partitions` takes; null if `output` has it. Without both,
    the cluster is checked as it is."""
    output: str | None
    """Output of `kafka-reassign-partitions`, unchanged and recognized by its contents: of `--generate` the proposed
    lists are checked, of `--execute` the previous ones, which a rollback restores; of `--verify` the answer has
    the `progress` of each partition beside the plan, which is `reassignment` if it is given too."""
    losses: Literal["all"] | LossesFields | None
    """The answer has the load of every remaining broker after the loss of each broker and each rack, or of those
    listed; at most 20000 loads."""
    running_reassignment: Literal["refuse", "merge"]
    """Partitions that are being reassigned: `merge` checks from their target replicas, with a warning; `refuse`
    returns 409."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    allow_lower_factor: bool
    """Whether a reassignment may lower replication factors below 2, or below the topic's other partitions: it is
    then a warning, otherwise the violation `factor_lowered`."""
    placement: Mapping[str, Literal["in_rack"]]
    """By topic, `in_rack`: all replicas of a partition are to be in one rack, otherwise it is the violation
    `not_in_rack`; the topic does not have to span racks."""


class ClientsRequest(TypedDict, total=False):
    """The shares of clients by rack, equal by default; and whether consumers read from followers (KIP-392)."""

    producer_share_per_rack: Mapping[str, float | str] | None
    """Share of produced bytes by rack; null for equal shares."""
    consumer_share_per_rack: Mapping[str, float | str] | None
    """Share of consumed bytes by rack; null for equal shares."""
    follower_fetching: bool
    """Whether consumers read from a replica in their rack (KIP-392)."""


class ComparisonRequest(TypedDict, total=False):
    """A reassignment of another origin, for the cluster of the plan."""

    output: Required[str]
    """Output of `kafka-reassign-partitions`, its file, or the proposal of another tool, unchanged."""


class ConfiguredTopicRequest(TypedDict, total=False):
    """Partitions of a new topic with its configurations, or of an existing one."""

    name: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    partitions: Required[int]
    """Number of partitions to place."""
    replication_factor: Required[int]
    """Number of replicas of each partition."""
    start_partition_id: int
    """Id of the first partition to place; 0 for a new topic."""
    configs: Mapping[str, str]
    """Configurations of a new topic, such as `min.insync.replicas`: they count for the cost of a loss, and the
    commands that create the topic state them."""


class ConsumedTopic(TypedDict, total=False):
    """A topic of the group."""

    name: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    partitions: int | None
    """Number of partitions, as in the series."""


class ConsumersSweepRequest(TypedDict, total=False):
    """A sweep over the consumers of groups: each at every capacity, delay and number of spare consumers."""

    capacities_bytes_per_s: Required[list[float | str]]
    """Rates that one consumer can read and process."""
    delays_s: list[float | str]
    """Longest times for which a record may wait; whole intervals count."""
    spares: Sequence[int]
    """Numbers of consumers beyond the fewest, with which fewer partitions move."""
    kind: Required[Literal["consumers"]]
    """Kind of the sweep."""
    groups: Required[Mapping[str, RateSeries]]
    """By group the rates of the partitions that it reads, as in a plan of consumers."""
    min: int
    """The fewest consumers of any interval."""
    max: int | None
    """The most consumers of any interval."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class CordonableBrokerRequest(TypedDict, total=False):
    """A broker, its log directories, and its cordons."""

    id: Required[int]
    """`broker.id` or `node.id`."""
    rack: str | None
    """`broker.rack`; null for none, which differs from the rack `""`."""
    fenced: bool
    """Whether the broker is fenced: it is registered, and the controller takes it to be down."""
    capacity: CapacityRequest | None
    """Capacity of the broker; null if unknown."""
    attributes: Mapping[str, str]
    """The broker's failure domains by name, `{"zone": "eu-1a"}`; awareness places by them. Its rack is the default
    of the attribute `rack`."""
    weight: float
    """Relative size of the broker: awareness places twice as many replicas on a broker of weight 2."""
    log_dirs: Sequence[LogDirectoryRequest] | None
    """The log directories of the broker, each path once; null if unknown."""
    cordoned: bool
    """Whether every log directory of the broker is cordoned (KIP-1066), so that Kafka assigns no new replica to it."""
    cordoned_log_dirs: list[str]
    """The paths of its cordoned log directories, if they are known."""


class CpuModelFields(TypedDict, total=False):
    """A linear model of the processor: vCPU by bytes/s in, by bytes/s out, and by replica."""

    per_byte_in: float | str
    """vCPU for a byte/s that a broker receives."""
    per_byte_out: float | str
    """vCPU for a byte/s that a broker sends."""
    per_partition: float | str
    """vCPU for a replica without traffic."""


class DatasetRequest(TypedDict, total=False):
    """The location and the format of a dataset of keys."""

    path: Required[str]
    """A file, a folder of them, or a URI that Spark can read, under one of `RACKPLAN_DATASET_ROOTS`. Files whose
    names begin with `_` or `.` are ignored; of a folder of Parquet or Arrow files, those that end with
    `.parquet`, `.pq` or `.arrow` are read."""
    format: Required[Literal["parquet", "arrow", "csv", "json_lines", "lines"]]
    """`csv` has a header line, and an empty field is a record without key; `lines` has one key a line."""
    key_column: str | None
    """The column of the keys; lines have no columns."""
    value_column: str | None
    """The column of the values, as text or bytes, or of their lengths, as integers. A record's bytes include its key
    and its value; by default its key alone."""
    key_encoding: Literal["utf8", "base64", "int32", "int64"]
    """`utf8` hashes text and bytes as they are; numbers, from integers or their digits, are hashed as Java's
    serialisers encode them, big-endian."""


class DefaultsFields(TypedDict, total=False):
    """Values that the snapshot does not have; a warning says so."""

    min_insync_replicas: int | None
    """`min.insync.replicas` of topics whose own is unknown; null if this is unknown, too."""
    follower_fetch_last_tiered_offset: bool | None
    """`follower.fetch.last.tiered.offset.enable` of the brokers (Kafka 4.3): whether a new replica of a topic with
    remote storage copies only data not uploaded yet; null if this is unknown, which counts as false."""


class DeployAtOnceRequest(TypedDict, total=False):
    """A deploy of all clients together."""

    deploy_at_once: Required[Deployment]
    """How the clients restart."""


class Deployment(TypedDict, total=False):
    """All clients restart together."""

    keeps_state: bool
    """Whether clients still have their state directories after the restart."""
    behind: int
    """Offsets by which each task of a client lags after its restart."""


class DrawsSweepRequest(TypedDict, total=False):
    """A sweep over seeds: topics on brokers, placed with each seed as a controller would place them."""

    seeds: Required[SeedsRequest]
    """Range of seeds; each is a scenario."""
    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    kind: Required[Literal["placement_draws"]]
    """Kind of the sweep."""
    brokers: Sequence[BrokerRequest] | None
    """Brokers to place on, each once; null if a snapshot has them."""
    topics: Required[Sequence[NewTopicRequest]]
    """Topics to place, in the order in which they are created."""
    algorithm: Literal["admin_utils", "striped", "awareness", "copysets"]
    """Name of the placement algorithm."""
    rack_mode: Literal["enforced", "safe", "disabled"] | None
    """How racks constrain the placement; the default is the algorithm's."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class EvacuateFields(TypedDict, total=False):
    """Brokers and racks that lead no partition."""

    brokers: Sequence[int]
    """Ids of brokers that lead no partition."""
    racks: list[str]
    """Racks whose brokers lead no partition."""


class EveryTopicRequest(TypedDict, total=False):
    """Values of every topic, unless its own entry overrides them."""

    replication_factor: int | None
    """Number of replicas of each partition."""
    min_insync_replicas: int
    """`min.insync.replicas` of the topic."""
    retention_s: float | str | None
    """Seconds for which records are retained."""
    retention_bytes: float | str | None
    """Upper bound on a partition's bytes; does not grow."""
    remote_storage: bool
    """`remote.storage.enable`: what is retained has one copy in remote storage (KIP-405)."""
    local_retention_s: float | str | None
    """Seconds for which brokers keep records that are in remote storage, too; null for retention."""
    local_retention_bytes: float | str | None
    """The same as an upper bound on a partition's bytes; null for none."""
    segment_bytes: float | str
    """`segment.bytes`: a replica may exceed local retention by as much."""
    disk_headroom: float | str
    """The share by which a replica's bytes on disk exceed its retained bytes."""
    consumer_groups: float
    """The fan-out: how many times every byte is read."""
    lagging_share: float | str
    """The share of reads that are served from disk."""


class GoalFields(TypedDict, total=False):
    """A goal: the load of a resource, by the capacity of each broker, or the replicas of each topic."""

    goal: Required[Literal["disk", "nic_in", "nic_out", "cpu", "replicas", "leaders", "topic_replicas"]]
    """The balanced quantity."""
    tolerance: float | str
    """0: as balanced as possible; t: within ±t of each broker's share."""


class GoalsFields(TypedDict, total=False):
    """Goals in order of priority: none worsens the result of an earlier one."""

    goals: Required[Sequence[GoalFields]]
    """The goals, the most important first."""


class GroupMemberRequest(TypedDict, total=False):
    """A member, by its subscription or by the coordinator's bytes of it: `member_metadata`."""

    member_id: Required[str]
    """Id of the member; ids decide ties."""
    group_instance_id: str | None
    """Makes it a static member."""
    rack_id: str | None
    """Its `client.rack`; `""` counts as none."""
    topics: list[str] | None
    """The topics of its subscription."""
    owned_partitions: Mapping[str, Sequence[int]] | None
    """Its current partitions, from which moves are counted. The sticky assignors, `uniform` and `optimal` use them."""
    generation_id: int | None
    """The generation of `owned_partitions`. Without one, the sticky assignor ignores them."""
    member_metadata: str | None
    """The raw bytes of ConsumerProtocolSubscription, in base64, in place of the fields above."""
    client: Literal["java", "librdkafka", "kafka-python", "other"] | None
    """The client library, by default Kafka's own: its leader runs the classic assignors."""


class GroupTopicRequest(TypedDict, total=False):
    """A topic: its partitions with their replicas, or their number, if the replicas are unknown."""

    name: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    topic_id: str | None
    """The topic id as `kafka-topics --describe` prints it, 16 bytes in URL-safe base64; null if unknown."""
    partitions: Required[int | Sequence[PartitionRequest]]
    """Partitions with their replicas, or their number if the replicas are unknown."""


class GroupsSweepRequest(TypedDict, total=False):
    """A sweep over groups: each under every assignor, with members lost and members added."""

    assignors: Required[
        Sequence[
            Literal[
                "range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range", "simple", "optimal"
            ]
        ]
    ]
    """Assignors that give each partition to one member: all except `simple`."""
    members_lost: Sequence[int]
    """Numbers of members that a group loses at once. They depend on `seed` and the group alone: every assignor meets
    the same loss, and members among two lost are among three lost as well."""
    members_added: Sequence[int]
    """Numbers of members that join in the same rebalance, each in the rack with the fewest members (in none if no
    member has a rack), with the most common subscription."""
    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    kind: Required[Literal["consumer_groups"]]
    """Kind of the sweep."""
    groups: list[str] | None
    """Groups of the snapshot; the default is every group that has members."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    seed: int
    """Decides which members are lost."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class GrownTopic(TypedDict, total=False):
    """A topic and its new number of partitions."""

    topic: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    partitions: Required[int]
    """New number of partitions."""
    replicas: Sequence[Sequence[int]] | None
    """Replicas of the new partitions, if known."""


class IsolateFields(TypedDict, total=False):
    """Topics whose replicas are restricted to these brokers."""

    topics: Required[list[str]]
    """Names of the topics that are restricted."""
    brokers: Required[Sequence[int]]
    """Ids of the brokers that they are restricted to."""
    exclusive: bool
    """Whether other topics are excluded from these brokers."""


class JoinRequest(TypedDict, total=False):
    """A member joins."""

    join: Required[GroupMemberRequest]
    """The member that joins."""


class JoiningClient(TypedDict, total=False):
    """A client that joins; it has no state."""

    process_id: Required[str]
    """Process id of the client: a UUID, or a name if all clients have names."""
    capacity: int
    """Number of stream threads."""
    client_tags: Mapping[str, str]
    """`client.tag.<key>` by key."""
    rack_id: str | None
    """`client.rack` of its consumers; null for none."""
    member_ids: list[str]
    """Under `streams`, the ids of its threads; `<process_id>-1` and so on."""


class KeySkewSweepRequest(TypedDict, total=False):
    """A sweep over a dataset of keys: a scenario is a partitioner at a partition count."""

    partitioners: Sequence[
        Literal[
            "murmur2_round_robin",
            "murmur2_sticky",
            "murmur2_adaptive",
            "murmur2_random",
            "murmur2_random_available",
            "murmur2",
            "murmur2_abs",
            "murmur2_unsigned",
            "consistent_random",
            "consistent",
            "crc32_random",
            "fnv1a_random",
            "fnv1a",
            "fnv1a_round_robin",
            "fnv1a_positive",
            "kafkajs_legacy",
            "round_robin",
            "random",
        ]
    ]
    """A partitioner that is listed twice is measured once."""
    partitions: Required[int]
    """The count from which moves are counted."""
    compare_partitions: Sequence[int]
    """Other counts: their balance, and the shares of records and keys that move."""
    heaviest: int
    """The number of heaviest keys to list."""
    kind: Required[Literal["key_skew"]]
    """Kind of the sweep."""
    dataset: Required[DatasetRequest]
    """Location and format of the keys."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class LeadersToleranceRequest(TypedDict, total=False):
    """The same of leaders, which may be further below the mean than above it."""

    tolerance: Required[float | str]
    """Share by which the band extends beyond the most balanced one, from 0 to 1."""
    below: float | str | None
    """Share by which the band extends below the mean, by count; null is `tolerance`. If brokers joined late, a wider
    one takes fewer leader changes."""


class LeaveRequest(TypedDict, total=False):
    """A member leaves, or its session times out."""

    leave: Required[str]
    """Id of the member that leaves."""


class LimitFields(TypedDict, total=False):
    """An upper limit of each broker: either a share of its capacity, or an amount."""

    share: float | str | None
    """Share of the capacity of each broker."""
    absolute: float | str | None
    """Amount: bytes, bytes/s, vCPU, replicas or leaders."""
    soft: bool
    """Whether the limit may be exceeded if it cannot hold."""


class LimitsWithLogDirs(TypedDict, total=False):
    """Upper limits of each broker, and of its log directories."""

    disk: float | str | LimitFields | None
    """Limit of the bytes on disk. A hard one holds in every batch, too."""
    nic_in: float | str | LimitFields | None
    """Limit of received bytes/s: producers and replication."""
    nic_out: float | str | LimitFields | None
    """Limit of sent bytes/s: replication and consumers."""
    cpu: float | str | LimitFields | None
    """Limit of vCPU, by `cpu_model`."""
    replicas: float | str | LimitFields | None
    """Limit of the number of replicas, `{"absolute": …}`."""
    leaders: float | str | LimitFields | None
    """Limit of the number of preferred leaders, `{"absolute": …}`."""
    log_dirs: float | str | Mapping[str, Mapping[str, float | str]] | None
    """Share of its size that each log directory has at most, after the plan and in every batch; or shares by broker
    and path, `*` for all others. Replicas are moved out of directories above it, with the fewest bytes; with the
    objective `relieve` also to other brokers."""


class LogDirToleranceFields(TypedDict, total=False):
    """A ceiling above the mean of a broker's log directories: mean × (1 + tolerance), or the lowest reachable one."""

    tolerance: Required[float | str]
    """Share of the mean by which a directory may be above it, from 0 to 1."""


class LogDirectoryRequest(TypedDict, total=False):
    """A log directory of a broker (JBOD)."""

    path: Required[str]
    """Absolute path, as `log.dirs` lists it."""
    total_bytes: float | str | None
    """Bytes of its file system; null if unknown."""
    usable_bytes: float | str | None
    """Free bytes of its file system; null if unknown."""
    offline: bool
    """Whether the directory is offline, as when its disk has failed: it takes no replica."""


class LogDirsFields(TypedDict, total=False):
    """Log directories (JBOD) that replicas are placed in and moved between. No directory is above its size, or above
    `batches.max_disk_share` of it, at any step."""

    balance: Literal["tight", "keep"] | LogDirToleranceFields
    """Balance of the directories of each broker, by their share in use, or by bytes if a size is unknown. `tight`:
    the smallest largest share; `keep`: only necessary moves; a tolerance: the fewest bytes moved within it."""
    drain: Mapping[str, list[str]]
    """By broker, directories that have no replica after the plan."""
    total_bytes: Mapping[str, Mapping[str, float | str]]
    """By broker, `*` for all others, and path: bytes of the file system; they override the snapshot's."""


class LoseClientRequest(TypedDict, total=False):
    """A client is lost."""

    lose_client: Required[str]
    """Process id of the lost client."""


class LoseClientsRackRequest(TypedDict, total=False):
    """All clients of a rack are lost together."""

    lose_rack: Required[str]
    """Rack of the lost clients."""


class LoseRackRequest(TypedDict, total=False):
    """A rack is lost, with its brokers and members."""

    lose_rack: Required[str]
    """Name of the lost rack."""


class LoseTagRequest(TypedDict, total=False):
    """All clients with a value of a tag, such as a zone, are lost together."""

    lose_tag: Required[TagValue]
    """Tag and value of the lost clients."""


class LossesFields(TypedDict, total=False):
    """Brokers and racks that are lost, each alone."""

    brokers: Sequence[int] | None
    """Ids of brokers."""
    racks: list[str] | None
    """Names of racks."""


class MeasuredBaseRequest(TypedDict, total=False):
    """A scenario with the topics of a snapshot; `topics` overrides measured values."""

    topology: Required[TopologyRequest]
    """Racks and their brokers."""
    broker_profile: Required[ProfileRequest]
    """Capacities and price of every broker."""
    partitions_multiplier: int
    """Factor by which the partitions of every topic are multiplied."""
    placement: PlacementRequest
    """How topics are placed on brokers."""
    clients: ClientsRequest
    """Where producers and consumers are."""
    traffic: TrafficRequest
    """Growth of traffic."""
    failures: Sequence[Literal["none", "broker", "rack", "rack_and_broker"]]
    """The failures that the cluster has to withstand."""
    targets: TargetsRequest
    """Usable share of each resource."""
    prices: PricesRequest
    """Prices other than the brokers'."""
    rereplication: RereplicationRequest | None
    """Throttle at which lost replicas are copied; null if that load is not counted."""
    restart: RestartRulesRequest | None
    """Rules of a rolling restart of all brokers, whose waves are counted; null if they are not."""
    measured: Required[MeasuredRequest]
    """Where the topics come from."""
    topics: Sequence[MeasuredTopicRequest]
    """Values that override measured ones, and planned topics."""


class MeasuredRequest(TypedDict, total=False):
    """The topics of a snapshot: their partitions, replicas, bytes on disk and ingress."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    topics: list[str] | None
    """Topics of the snapshot; all by default."""
    bytes_in: BytesInRequest | None
    """Not stored; the sweep's definition lists by topic the data read from it."""
    every_topic: EveryTopicRequest | None
    """Values of all topics that the snapshot does not have; null for the defaults."""


class MeasuredTopicRequest(TypedDict, total=False):
    """Values that override a measured topic's; or a planned topic, with all that a topic needs."""

    partitions: int | None
    """Number of partitions."""
    replication_factor: int | None
    """Number of replicas of each partition."""
    min_insync_replicas: int
    """`min.insync.replicas` of the topic."""
    ingress_bytes_per_s: float | str | None
    """Bytes/s that producers write to the topic, on average."""
    peak_ingress_bytes_per_s: float | str | None
    """Limits depend on the peak, cost on the mean."""
    retained_bytes: float | str | None
    """Bytes of one copy of the topic now; grows with traffic."""
    retention_s: float | str | None
    """Seconds for which records are retained."""
    retention_bytes: float | str | None
    """Upper bound on a partition's bytes; does not grow."""
    remote_storage: bool
    """`remote.storage.enable`: what is retained has one copy in remote storage (KIP-405)."""
    local_retention_s: float | str | None
    """Seconds for which brokers keep records that are in remote storage, too; null for retention."""
    local_retention_bytes: float | str | None
    """The same as an upper bound on a partition's bytes; null for none."""
    segment_bytes: float | str
    """`segment.bytes`: a replica may exceed local retention by as much."""
    disk_headroom: float | str
    """The share by which a replica's bytes on disk exceed its retained bytes."""
    consumer_groups: float
    """The fan-out: how many times every byte is read."""
    lagging_share: float | str
    """The share of reads that are served from disk."""
    name: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    retained_bytes_per_partition: float | str | list[float | str] | None
    """The same by partition, or of each partition."""
    partition_weights: Literal["uniform"] | ZipfRequest | list[float | str]
    """Traffic of partitions relative to each other: equal, by Zipf's law, or a weight for each."""


class MemberOverrideRequest(TypedDict, total=False):
    """The rack or subscription of members of a recorded group. One of `member_id`, `client_id` and `host` selects
    them;
    `*` and `?` in the latter two match any characters."""

    member_id: str | None
    """Id of the member that is selected; null if another field selects."""
    client_id: str | None
    """Pattern of `client.id`; null if another field selects."""
    host: str | None
    """Pattern of the client's address as Kafka's tools print it; null if another field selects."""
    rack_id: str | None
    """`client.rack` of the members; `""` for members without a rack."""
    topics: list[str] | None
    """Their subscription."""
    client: Literal["java", "librdkafka", "kafka-python", "other"] | None
    """Their client library."""


class MovementCostFields(TypedDict, total=False):
    """The cost of a move: its bytes, and a constant for each replica."""

    bytes_per_replica: Required[float | str]
    """Bytes that one replica less is worth."""


class NewTopicRequest(TypedDict, total=False):
    """Partitions of a new topic, or, from `start_partition_id` on, of an existing one."""

    name: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    partitions: Required[int]
    """Number of partitions to place."""
    replication_factor: Required[int]
    """Number of replicas of each partition."""
    start_partition_id: int
    """Id of the first partition to place; 0 for a new topic."""


class NullKeysRequest(TypedDict, total=False):
    """The state of the producer when it places records without key."""

    seed: int | None
    """Replays java.util.Random; each partitioner starts from it anew. The default is derived from the records, the
    partitions and these fields, and is answered."""
    available_partitions: Sequence[int] | None
    """The partitions with a leader, each once, in the order of the metadata; `[]` if none has one."""
    queue_sizes: int | Sequence[int] | None
    """Queued batches of each available partition, or one number for all; only the policy `adaptive` uses them."""
    batch_bytes: float | str
    """`batch.size`."""
    record_bytes: float | str | list[float | str]
    """The bytes of a record in its batch: one number, or one for each of `keys`. The policies `sticky_batch` and
    `adaptive` use it."""
    client_rack: str | None
    """`client.rack` of the producer."""
    rack_aware: bool
    """`partitioner.rack.aware` (KIP-1123, since Kafka 4.4): the policy `adaptive` prefers partitions whose leaders
    are in `client_rack`."""
    leader_racks: list[str | None] | None
    """The rack of the leader of each available partition; the answer then has `cross_rack`."""


class PartitionGrowth(TypedDict, total=False):
    """For how long the partitions of a topic are to be enough."""

    growth_per_month: float | str
    """Growth of rates in a month; 0.1 is 10 %."""
    horizon_months: float
    """Months after which no partition may exceed a consumer."""


class PartitionRequest(TypedDict, total=False):
    """The state of a partition; the first of `replicas` is the preferred leader."""

    partition: Required[int]
    """Id of the partition in its topic, from 0."""
    replicas: Required[Sequence[int]]
    """Broker ids, the preferred leader first."""
    isr: Sequence[int] | None
    """In-sync replicas; if missing, all replicas."""
    elr: Sequence[int]
    """Eligible leader replicas (KIP-966)."""
    observers: Sequence[int]
    """The observers among `replicas`, in Confluent Server. Reassignments leave the topic as it is."""
    leader: int | None
    """None if the partition has no leader."""
    size_bytes: float | str | None
    """Bytes of one replica; null if unknown."""
    local_bytes: float | str | None
    """Of a tiered topic, the bytes of one replica on its broker's disk: these are copied and fill disks. Null: all
    of `size_bytes` are."""
    remote_bytes: float | str | None
    """Of a tiered topic, the bytes in remote storage, which no plan copies. They are not stored."""
    ingress_bytes_per_s: float | str | None
    """Rate of writes to the partition, in bytes/s; null if unknown."""
    adding_replicas: Sequence[int]
    """Broker ids that a running reassignment adds."""
    removing_replicas: Sequence[int]
    """Broker ids that a running reassignment removes."""
    log_dirs: list[str | None] | None
    """The log directory of each of `replicas`, in their order, as the `log_dirs` of its broker name it; null for one
    that is unknown."""
    future_log_dirs: list[str | None] | None
    """The log directory that each of `replicas` is being moved to within its broker; null for one that is not moved."""


class PerTopicFields(TypedDict, total=False):
    """The balance of each topic over brokers beside the whole cluster's: of replicas, leaders or both."""

    replicas: Literal["tight"] | ToleranceRequest | None
    """`tight`: brokers differ by one replica of the topic at most; a tolerance is of the topic's mean. If the bands
    of all topics cannot hold together with the band of the cluster, the excess is minimal."""
    leaders: Literal["tight"] | ToleranceRequest | None
    """`tight`: brokers differ by one leader of the topic at most; a tolerance is of the topic's mean. If the bands
    of all topics cannot hold together with the band of the cluster, the excess is minimal. The default of
    `balance.leaders` then is `tight`."""
    topics: list[str] | None
    """Names of the topics that are balanced; null is all that may move."""


class PinFields(TypedDict, total=False):
    """A partition and its replicas, the preferred leader first."""

    topic: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    partition: Required[int]
    """Id of the partition in its topic."""
    replicas: Required[Sequence[int]]
    """Broker ids, the preferred leader first."""


class PlaceKeysRequest(TypedDict, total=False):
    """Keys and partitioners. A key that is null is a record without key."""

    keys: Required[list[str | int | None]]
    """Keys in any order, repeated ones included; null is a record without key."""
    encoding: Literal["utf8", "base64", "int32", "int64"]
    """Numbers are hashed as Java's serialisers write them, big-endian; so are strings of digits."""
    partitioner: (
        Literal[
            "murmur2_round_robin",
            "murmur2_sticky",
            "murmur2_adaptive",
            "murmur2_random",
            "murmur2_random_available",
            "murmur2",
            "murmur2_abs",
            "murmur2_unsigned",
            "consistent_random",
            "consistent",
            "crc32_random",
            "fnv1a_random",
            "fnv1a",
            "fnv1a_round_robin",
            "fnv1a_positive",
            "kafkajs_legacy",
            "round_robin",
            "random",
        ]
        | Sequence[
            Literal[
                "murmur2_round_robin",
                "murmur2_sticky",
                "murmur2_adaptive",
                "murmur2_random",
                "murmur2_random_available",
                "murmur2",
                "murmur2_abs",
                "murmur2_unsigned",
                "consistent_random",
                "consistent",
                "crc32_random",
                "fnv1a_random",
                "fnv1a",
                "fnv1a_round_robin",
                "fnv1a_positive",
                "kafkajs_legacy",
                "round_robin",
                "random",
            ]
        ]
    )
    """One or several; a duplicate is ignored. `murmur2_round_robin`: Java 0.8.2 to 2.3: murmur2, without key in
    turn; `murmur2_sticky`: Java 2.4 to 3.2: murmur2, without key a batch each; `murmur2_adaptive`: Java since
    3.3: murmur2, without key by queue sizes; `murmur2_random`: librdkafka: murmur2, without key at random;
    `murmur2_random_available`: kafka-python and aiokafka: murmur2, without key at random where a leader is;
    `murmur2`: librdkafka: murmur2 of every record, without key as an empty one; `murmur2_abs`: murmur2 made
    positive by abs, as 0.8 and many since: other partitions for half the keys; `murmur2_unsigned`: murmur2 taken
    as unsigned: KafkaEx before 1.0, Platformatic's client; `consistent_random`: librdkafka's default: CRC-32,
    without or with an empty key at random; `consistent`: librdkafka: CRC-32 of every record, without key as an
    empty one; `crc32_random`: ruby-kafka: CRC-32, without key at random; `fnv1a_random`: Sarama's hash and
    librdkafka: FNV-1a, without key at random; `fnv1a`: librdkafka: FNV-1a of every record, without key as an
    empty one; `fnv1a_round_robin`: kafka-go's Hash: FNV-1a, without key in turn; `fnv1a_positive`: Sarama's
    reference hash: FNV-1a without its sign bit; `kafkajs_legacy`: KafkaJS before 2: a murmur2 that is not
    Kafka's, without key in turn; `round_robin`: every record in turn, keys ignored; `random`: every record at
    random, keys ignored"""
    partitions: Required[int]
    """Number of partitions of the topic."""
    compare_partitions: Sequence[int]
    """Other partition counts: the keys that change partition. Records without key never count as moved."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    null_keys: NullKeysRequest | None
    """Place records without key by the policy of each partitioner. If it is missing, they have no partition and no
    load."""


class PlaceRequest(TypedDict, total=False):
    """Topics to place, on the brokers of a snapshot or on brokers listed here."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    brokers: Sequence[CordonableBrokerRequest] | None
    """Brokers to place on, each once; null if a snapshot has them."""
    cordoned_brokers: Sequence[int] | None
    """Brokers whose log directories are all cordoned (KIP-1066), which get no replica; by default as in the
    snapshot. `cordoned` of `brokers` adds to them."""
    algorithm: Literal["admin_utils", "striped", "awareness", "copysets"] | None
    """By default the algorithm of the cluster's controller: `striped` under KRaft, `admin_utils` under ZooKeeper,
    and `striped` with the warning `algorithm_assumed` if the kind of controller is unknown; `admin_utils` with
    `fixed_start_index`. `admin_utils`: AdminUtils: the Kafka tools, and controllers before KRaft (KIP-36);
    `striped`: StripedReplicaPlacer: KRaft controllers; `awareness`: not an algorithm of Kafka: over any
    attributes of brokers, by a policy, balanced by weight; `copysets`: not an algorithm of Kafka: on few replica
    sets, so that simultaneous losses rarely contain one"""
    rack_mode: Literal["enforced", "safe", "disabled"] | None
    """How racks constrain the placement. By default admin_utils enforces racks, and striped treats the brokers
    without one as a rack. Not for awareness."""
    fixed_start_index: int | None
    """Start index of admin_utils in the list of brokers. The plan is then `pinned`: nothing is random."""
    seed: int | None
    """Seed of the controller's generator, which is replayed. By default it is derived from the request's hash, and
    the plan's `prediction` is `envelope` (of awareness and copysets: `pinned`)."""
    defaults: DefaultsFields | None
    """Values for new topics, and for topics that lack them in the snapshot."""
    policy: Literal["spread", "forced", "hdfs", "redis", "kafka"] | None
    """The placement policy; `spread` by default. `spread`: balanced over each attribute in turn (Elasticsearch);
    `forced`: as `spread`, but the share of a forced value without live brokers is not assigned (Elasticsearch);
    `hdfs`: the first two replicas in one rack, the third in another (HDFS); `redis`: no follower in the zone of
    the leader (Redis Enterprise); `kafka`: as many racks as possible, without balance between them (KIP-36) For
    the algorithm `awareness`."""
    attributes: list[str] | None
    """The broker attributes to spread over, the most important first; `rack` by default. For the algorithm
    `awareness`."""
    forced: Mapping[str, list[str]] | None
    """By attribute, the values that are expected: the share of a value without a live broker is not assigned. For
    the policy `forced` alone. For the algorithm `awareness`."""
    load: Literal["replicas", "bytes"] | None
    """What brokers have in the snapshot and is balanced with the new replicas, each of which counts as much as the
    mean of those; by default nothing, as in Kafka: each broker gets as many new replicas. For the algorithm
    `awareness`."""
    scatter_width: int | None
    """Least number of other brokers with which every broker shares partitions, at least the replication factor − 1.
    By default the smallest at which no broker leads more than 1.25 times as much after any one loss. For the
    algorithm `copysets`."""
    front: bool | None
    """Whether to list, for every scatter width, the odds and the load after a loss. For the algorithm `copysets`."""
    topics: Required[Sequence[ConfiguredTopicRequest]]
    """Topics to place, in the order in which they are created."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    compare_kafka_versions: str | list[str]
    """Other releases of Kafka, one or several: `compared_kafka_versions` of the answer lists what each would decide
    otherwise, as after an upgrade."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class PlacementRequest(TypedDict, total=False):
    """The algorithm that places the topics; without a seed each scenario has its own."""

    algorithm: Literal["admin_utils", "striped", "awareness", "copysets"]
    """Name of the placement algorithm."""
    seed: int | None
    """Seed of the algorithm's random generator; null for one of each scenario's own."""


class PlanConsumersRequest(TypedDict, total=False):
    """Rates of partitions over time, and the capacity of consumers."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    topics: list[str | ConsumedTopic] | None
    """The topics of the group, by name or with their number of partitions; by default all of the series."""
    series: Required[RateSeries]
    """Rates of the partitions over time."""
    capacity_bytes_per_s: Required[float | str]
    """Rate that one consumer can read and process."""
    delay_s: float | str
    """Longest time for which a record may wait; whole intervals count. Peaks are then worked off later."""
    start_s: float | str
    """Time from ordering a consumer until it reads: the schedule has more consumers this much sooner."""
    hold_s: float | str
    """Fewer consumers that suffice for no longer than this are ignored; whole intervals count."""
    spare: int
    """Consumers beyond the fewest, with which fewer partitions move."""
    min: int
    """The fewest consumers of any interval."""
    max: int | None
    """The most consumers of any interval; `lost_bytes_per_s` is the rate that they cannot read."""
    price_per_consumer_hour: float | None
    """Price of a consumer for an hour, in any currency; null leaves out costs."""
    assignor: Literal["uniform", "server-range", "range", "roundrobin"]
    """Kafka's assignor to compare with."""
    partitions: PartitionGrowth | None
    """Counts the partitions that each topic needs; null does not."""
    workload: str
    """Name of the Deployment of the consumers, in files for Kubernetes."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class PlanGroupRequest(TypedDict, total=False):
    """A group, on a snapshot's cluster or on brokers and topics that are listed here."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    brokers: Sequence[BrokerRequest] | None
    """Brokers with their racks; null if a snapshot has them, or if racks do not matter."""
    topics: Sequence[GroupTopicRequest] | None
    """Topics of the subscriptions; null if a snapshot has them."""
    assignor: (
        Literal["range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range", "simple", "optimal"]
        | Sequence[
            Literal[
                "range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range", "simple", "optimal"
            ]
        ]
        | None
    )
    """The group's assignor; of several, the first, with which the others are compared. The default is that of a
    recorded group, and `range` for listed members. `range`: the classic client's default: a range of each topic
    to each member, rack-aware since KIP-881; `roundrobin`: the classic round-robin over all partitions; `sticky`:
    the classic sticky assignor: even, then as it was; all is given up before it is handed out; `cooperative-
    sticky`: the sticky assignor in two phases: only partitions that move are given up; `uniform`: the
    coordinator's default under KIP-848: even, then as it was; ignores racks; `server-range`: the coordinator's
    range under KIP-848; ignores racks; `simple`: share groups since Kafka 4.2: as many members a partition and
    partitions a member as can be, then as it was; `optimal`: none of Kafka's: balanced, then read in rack, then
    moved least, with its proof"""
    group: str | None
    """A group of the snapshot, in place of `members`."""
    member_overrides: Sequence[MemberOverrideRequest]
    """Racks and subscriptions of the members of `group`, which the tables of Kafka's tools do not have. Of several
    that match a member, the first that has a field decides it."""
    members: Sequence[GroupMemberRequest] | None
    """Members in the order of the group; null if `group` names a recorded one."""
    leader: str | None
    """The member that leads the group; the first one by default."""
    events: Sequence[
        JoinRequest
        | LeaveRequest
        | ReplaceRequest
        | RollingRestartRequest
        | LoseRackRequest
        | TopicGrownRequest
        | ReplicaRacksChangedRequest
        | BurstRequest
    ]
    """Events of the group, in order."""
    previous_snapshot_id: str | None
    """The snapshot of the previous assignment, to see whether its changes make the leader rebalance."""
    ingress_bytes_per_s: Mapping[str, float | str | list[float | str]] | None
    """By topic, its read rate, or the rate of each partition by id: the weight of reads in rack, and the rates that
    `traffic` sums; by default `traffic` has the ingress rates of the snapshot."""
    follower_fetching: bool
    """Whether consumers fetch from a replica in their rack (KIP-392), which Kafka does only if brokers have
    `replica.selector.class`; otherwise `traffic` is read from leaders."""
    prices: PricesFields | None
    """Prices for `traffic`; by default a GiB from rack to rack costs 0.02."""
    rebalance_seconds: float | str | None
    """Seconds of a rebalance, in which the partitions that it revokes are not read; by default one heartbeat at
    Kafka's defaults: 3, and 5 if the coordinator assigns."""
    lag: Mapping[str, int | Sequence[int]] | None
    """Records that remain to be read; by default the lag of the snapshot's group."""
    balance: Literal["partitions", "lag", "bytes_per_s"]
    """The load that the optimum balances among members."""
    assignable: Mapping[str, Sequence[int]] | None
    """Of a share group since Kafka 4.1, by topic the partitions that may be assigned, which are those that the group
    has initialised; a topic that is missing has none. By default all partitions."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    compare_kafka_versions: str | list[str]
    """Other releases of Kafka, one or several: `compared_kafka_versions` of the answer lists what each would decide
    otherwise, as after an upgrade."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""
    bytes_per_s: Mapping[str, float | str | list[float | str]] | None
    """As `ingress_bytes_per_s`."""


class PlanPatchRequest(TypedDict, total=False):
    """A JSON merge patch (RFC 7396): absent fields stay, null removes a field."""

    status: Literal["proposed", "approved", "executing", "executed", "failed", "superseded"]
    """The next status of the plan."""
    labels: Mapping[str, str | None] | None
    """Labels to set, name → value; null removes one, or all in place of the object."""
    notes: str | None
    """Notes, which replace those before; null removes them."""


class PlanReassignmentRequest(TypedDict, total=False):
    """Changes to a snapshot's cluster, alone or together."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    capacity: Mapping[str, CapacityFields]
    """Capacities by broker id, `*` for all others; they override the snapshot's."""
    ingress_bytes_per_s: Mapping[str, float | str | list[float | str]] | None
    """By topic, the ingress rate of the topic, or of each partition of the plan; by default the rates that the
    snapshot has."""
    consumers: Mapping[str, float]
    """By topic, the number of consumer groups that read each byte; `*` for all other topics, 0 by default."""
    follower_fetching: bool
    """Whether consumers fetch from the replica in their rack (KIP-392); they are in all racks."""
    cpu_model: CpuModelFields | None
    """The model of the processor; by default a vCPU receives 20 MiB/s, or sends 80 MiB/s."""
    growth: Mapping[str, float]
    """By topic, the factor on sizes and rates, for loads and balance in the future; `*` for all others, 1 by
    default. Copies have today's sizes."""
    limits: LimitsWithLogDirs
    """Upper limits of each broker's load after the plan."""
    prices: PricesFields | None
    """Prices for `cross_rack`; null leaves out costs."""
    defaults: DefaultsFields | None
    """Values for topics that lack them in the snapshot."""
    add_brokers: Sequence[BrokerRequest]
    """New brokers, which need not exist yet. A broker that is up already means itself, with a warning."""
    remove_brokers: Sequence[int]
    """Ids of brokers that have no replica after the plan."""
    remove_racks: list[str]
    """Racks all of whose brokers are removed, as if `remove_brokers` named them."""
    replace_brokers: Mapping[str, int]
    """Broker → successor, which gets its replicas. A successor that is in no list is in the same rack."""
    replication_factor: Mapping[str, int]
    """By topic. If it is lowered, the preferred leader stays, unless limits are exceeded otherwise."""
    partitions: Mapping[str, int]
    """By topic, the total number of partitions."""
    topics: list[str] | None
    """Topics whose partitions may move; all by default. Others count where they are."""
    leaders_only: bool
    """Balance leaders without moving replicas."""
    fix_offline_replicas: bool
    """Move the replicas of fenced and offline brokers."""
    repair_racks: bool | None
    """Whether partitions that span too few racks are repaired. By default yes, but if the request names topics (in
    `replication_factor`, `partitions`, `spread_leaders`, `isolate` or `pins`) and has no `topics`, `remove_racks`
    or `max_replicas_per_rack`, partitions of other topics are not, and a warning counts them."""
    rack_mode: Literal["enforced", "safe", "disabled"]
    """`enforced`: a partition spans min(replicas, racks) racks of those before brokers are removed, and every broker
    needs a rack; `safe`: of the remaining racks, unconstrained if a broker has no rack; `disabled`: racks are not
    constrained."""
    max_replicas_per_rack: int | None
    """Upper limit on replicas of one partition in a rack; rejected if racks do not count."""
    placement: Mapping[str, Literal["in_rack"]]
    """By topic, `in_rack`: all replicas of a partition are in one rack, that in which it keeps the most. Rejected if
    `rack_mode` is `disabled`, and without effect if it is `safe` and a broker has no rack (`racks_ignored`)."""
    receivers: Literal["added"] | Sequence[int] | None
    """The only brokers that receive replicas, besides successors: `added` means `add_brokers`. The others keep their
    replicas, or give. With `receivers`, the default of `balance.replicas` is `tight`."""
    forbid_brokers: Sequence[int]
    """Brokers that receive no further replicas; those above the mean still give."""
    cordoned_brokers: Sequence[int] | None
    """Brokers whose log directories are all cordoned (KIP-1066), which receive no further replicas; by default as in
    the snapshot."""
    broker_sets: Mapping[str, Sequence[int]]
    """By name, the brokers of a set; no broker is in two. The topics of a set are on its brokers alone, and are
    balanced among them alone. Topics of no set are on the brokers outside every set."""
    topic_sets: Literal["topic_name_hash"] | Mapping[str, str]
    """By topic, the name of its set in `broker_sets`; `topic_name_hash` maps every topic by its name, as Cruise
    Control does by default (`TopicNameHashBrokerSetMappingPolicy`)."""
    isolate: Sequence[IsolateFields]
    """Topics that are restricted to brokers, and brokers that are reserved for them."""
    pins: Sequence[PinFields]
    """Partitions with given replicas; they override the rack constraint."""
    objective: Literal["balance", "relieve"] | GoalsFields
    """`balance`: as `balance` states; `relieve`: the least movement that brings every broker below its `limits`, and
    no other change; or goals in order of priority."""
    evacuate_leaders: EvacuateFields
    """Brokers and racks that lead no partition after the plan."""
    preferred_racks: Mapping[str, list[str]]
    """By topic, or `*` for all others, racks in the order of preference: of the replicas that may lead, one in the
    first listed rack that has any leads."""
    min_leaders_per_broker: Mapping[str, int]
    """By topic, the number of its partitions that each broker leads at least, of the brokers that stay, are up and
    may lead."""
    spread_leaders: list[str]
    """Topics whose leaders are spread, each alone, over the brokers with a replica that may lead, with the fewest
    changes: these brokers differ by one leader at most, or by as little as the replicas permit. Leaders of other
    topics are chosen afterwards, and by default stay."""
    balance: BalanceFields
    """How replicas and leaders are balanced over brokers."""
    minimise: Literal["bytes", "replicas", "leader_changes"] | MovementCostFields | None
    """What to minimise; `replicas` if the size of any partition is unknown. `leader_changes`: with
    balance.leaders_move_replicas, the fewest leader changes, then the fewest bytes. `bytes_per_replica`: the
    bytes, and this cost of each replica. The default is `bytes`, but of a plan with the objective `relieve` and
    no budget it is a cost: the mean size of the partitions that may move, or 1 GiB if that is less."""
    max_moved_bytes: float | str | None
    """Upper limit on moved bytes; the plan is the most balanced one within it."""
    copysets: Literal["no_new"] | ScatterWidthFields | None
    """`no_new`: no partition is on a set of brokers that no partition of the cluster is on before, so that
    simultaneous losses do not become more likely to lose data; sets with a broker that has no replica yet, as an
    added one, and those of `pins`, are exempt. For replicas that are balanced by count, bytes or throughput. A
    scatter width: all partitions that may move are on few sets, equally many on each, instead of a balance of
    brokers. null: sets do not count."""
    trade_off: bool
    """Whether the answer has a table of movement against balance."""
    unknown_sizes: Literal["estimate"] | None
    """`estimate`: a partition of unknown size has the mean size of its topic's partitions."""
    on_conflict: Literal["refuse", "relax"]
    """`relax`: relax constraints that conflict, and list them in `relaxed`."""
    running_reassignment: Literal["refuse", "merge"]
    """`merge`: partitions that are being reassigned are planned from their target replicas."""
    deadline_s: float | str | None
    """Time limit of the solver; then the best plan so far is the answer, with its gap."""
    batches: BatchFields
    """Limits of each batch."""
    log_dirs: LogDirsFields | None
    """Choose the log directory of each replica; null leaves it to the brokers."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class PlanRestartRequest(TypedDict, total=False):
    """Rules for every wave of restarts, and known durations."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    per: Literal["broker", "rack"]
    """`rack`: no wave has brokers of two racks."""
    max_brokers_per_wave: int | None
    """The most brokers of a wave; null does not limit it."""
    limits: RestartLimitsFields
    """Upper limits of each remaining broker's load while a wave is down and its leaders are elsewhere."""
    controllers: Sequence[int]
    """Ids of the brokers that are voters of the quorum of controllers (`kafka-metadata-quorum`), all of which count
    for the majority. Dedicated controllers are no brokers, and are left out."""
    order: Literal["controllers_last"] | None
    """`controllers_last`: waves with controllers come after those without; null orders by rack, if `per` is `rack`,
    and by the smallest broker id."""
    restart_seconds: float | str
    """Time for which a restarted broker is down."""
    catch_up_bytes_per_s: float | str | None
    """Rate at which a restarted broker fetches missed data; null leaves the catch-up out of `seconds`."""
    defaults: DefaultsFields
    """Values that the snapshot does not have; without them 1 replica has to be in sync. A warning says so."""
    capacity: Mapping[str, CapacityFields]
    """Capacities by broker id, `*` for all others; they override the snapshot's."""
    ingress_bytes_per_s: Mapping[str, float | str | list[float | str]] | None
    """By topic, the ingress rate of the topic, or of each partition; by default the rates that the snapshot has."""
    consumers: Mapping[str, float]
    """By topic, the number of consumer groups that read each byte; `*` for all other topics, 0 by default."""
    cpu_model: CpuModelFields | None
    """The model of the processor; by default a vCPU receives 20 MiB/s, or sends 80 MiB/s."""
    pod_name: str
    """Name of a broker's pod, with `{broker}` in place of its id; the format `kubernetes` has these names."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class PlanStreamsRequest(TypedDict, total=False):
    """An application: its tasks and its clients."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    topology: str | None
    """The output of `Topology#describe()`, in place of `subtopologies`."""
    application_id: str | None
    """`application.id`, the prefix of internal topics."""
    tasks: list[str] | None
    """By default, one for each partition that a subtopology reads."""
    stateful_tasks: list[str] | None
    """By default, all of stateful subtopologies."""
    subtopologies: Sequence[SubtopologyRequest] | None
    """The topics of tasks, which KIP-925 needs for the racks of partitions."""
    brokers: Sequence[BrokerRequest] | None
    """Brokers with their racks; null if a snapshot has them, or if racks do not matter."""
    topics: Sequence[GroupTopicRequest] | None
    """Source and changelog topics; null if a snapshot has them."""
    protocol: Literal["classic", "streams"]
    """`classic`: the group's leader assigns. `streams` (KIP-1071, since Kafka 4.1): the coordinator assigns to the
    members of clients, as `kafka_version` does."""
    assignor: Literal["high_availability", "sticky", "fallback_prior"] | None
    """Under `streams`, `sticky` by default, the coordinator's. Under `classic`, `high_availability` by default;
    `high_availability`: the default since 2.6: balanced, then to where the state is, with warm-ups and probing
    rebalances; `sticky`: the default before 2.6: tasks stay where they were while no client has too many;
    `fallback_prior`: what Kafka takes while it cannot learn the lags: every active task stays where it was"""
    group: str | None
    """A Streams group of the snapshot (`kafka-streams-groups --describe --members`), in place of `clients`: a client
    for each process, with its current tasks as previous ones; under `streams` with its members and their tasks in
    the target assignment."""
    clients: Sequence[StreamsClientRequest] | None
    """Instances of the application; null if `group` names a recorded group."""
    num_standby_replicas: int
    """`num.standby.replicas`: number of standbys of each stateful task."""
    rack_aware_assignment_tags: list[str]
    """`rack.aware.assignment.tags`: tags by which the copies of a task are separated."""
    acceptable_recovery_lag: int
    """`acceptable.recovery.lag`: offsets by which a caught-up client may lag."""
    max_warmup_replicas: int
    """`max.warmup.replicas`: number of warm-ups at a time, over all tasks."""
    rack_aware_assignment_strategy: Literal["none", "min_traffic", "balance_subtopology"]
    """`rack.aware.assignment.strategy` (KIP-925)."""
    traffic_cost: int | None
    """`rack.aware.assignment.traffic_cost`"""
    non_overlap_cost: int | None
    """`rack.aware.assignment.non_overlap_cost`"""
    state_bytes: Mapping[str, float | str] | None
    """Bytes of one copy of a task's state."""
    changelog_offsets: Mapping[str, int] | None
    """Offsets to restore for all of a task's state; a million by default."""
    events: Sequence[
        RollingDeployRequest
        | DeployAtOnceRequest
        | LoseClientRequest
        | LoseTagRequest
        | LoseClientsRackRequest
        | ScaleOutRequest
        | ScaleInRequest
    ]
    """Events after the plan has been applied, in order."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    compare_kafka_versions: str | list[str]
    """Other releases of Kafka, one or several: `compared_kafka_versions` of the answer lists what each would decide
    otherwise, as after an upgrade."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""


class PricesFields(TypedDict, total=False):
    """Prices, in any currency."""

    cross_rack_per_gib: float
    """Price of a GiB from rack to rack; the answer then has the cost of a month."""


class PricesRequest(TypedDict, total=False):
    """Prices other than the brokers'."""

    cross_rack_per_gib: float
    """Price of a GiB between racks, in the currency of brokers."""
    storage_per_gib_month: float
    """Price of a GiB on disk a month, in the same currency."""
    remote_storage_per_gib_month: float
    """Price of a GiB in remote storage a month, 0 by default."""
    replication_billed: bool
    """Whether replication between racks is billed."""


class ProfileRequest(TypedDict, total=False):
    """One broker: its capacities and price. An absent capacity is unlimited; `disk_bytes` is required."""

    disk_bytes: Required[float | str]
    """Bytes of its disks together."""
    disk_bytes_per_s: float | str | None
    """Bytes/s that its disks read and write."""
    nic_in_bytes_per_s: float | str | None
    """Bytes/s that its network interface receives."""
    nic_out_bytes_per_s: float | str | None
    """Bytes/s that its network interface sends."""
    vcpu: float | None
    """Number of its virtual CPUs."""
    max_partitions: int | None
    """Upper limit on its replicas."""
    price_per_month: float
    """Price of a broker a month, in any currency."""
    bytes_per_s_per_vcpu: float | str | None
    """Measured bytes/s that one vCPU can process."""
    name: str | None
    """Name of the profile, which tells the values of an axis apart."""


class ProgressRequest(TypedDict, total=False):
    """A later snapshot of the plan's cluster, by default the newest one, and the log of the execution."""

    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    log: str | None
    """The content of `run.log`, which `run.sh` of the plan's archive writes. If the plan is done, the bytes and
    times of its batches are stored as the plan's `ledger`, in place of an earlier one."""


class RackedBroker(TypedDict, total=False):
    """A broker and its new rack."""

    id: Required[int]
    """Id of the broker."""
    rack: str | None
    """Its rack after the change; null for none."""


class RateSeries(TypedDict, total=False):
    """Rates of partitions in consecutive intervals: `start`, `step_s` and `ingress_bytes_per_s`, or `prometheus`, or
    `snapshots`."""

    start: str | None
    """Begin of the first interval, of `ingress_bytes_per_s` alone."""
    step_s: float | str | None
    """Seconds of an interval; of `snapshots`, null is the median time between two of them."""
    ingress_bytes_per_s: Mapping[str, list[float | str | list[float | str]]] | None
    """By topic a list of intervals, each a list with the rate of each partition, by id; or the rate of the topic,
    which its partitions share equally, if `topics` has their number."""
    prometheus: Mapping[str, Any] | None
    """An answer of `/api/v1/query_range`, unchanged; every series has the labels `topic` and `partition`, and
    bytes/s. Its times are the begins of intervals."""
    snapshots: SnapshotRange | None
    """Snapshots that the service has stored: the rates that they report of a topic or, if one reports none, the
    growth of its sizes. The canonical request has the rates in place of this field."""
    size_growth_of: list[str] | None
    """Topics whose rates are the growth of their sizes, as reading `snapshots` states it; a warning names them."""
    bytes_per_s: Mapping[str, list[float | str | list[float | str]]] | None
    """As `ingress_bytes_per_s`."""


class ReassignedPartition(TypedDict, total=False):
    """One partition of a reassignment, as `kafka-reassign-partitions` writes it."""

    topic: Required[str]
    """Name of the topic."""
    partition: Required[int]
    """Id of the partition in its topic."""
    replicas: Required[Sequence[int]]
    """Target replicas as broker ids, the preferred leader first."""
    log_dirs: list[str] | None
    """Log directory of each replica, in the order of `replicas`, or `any`; null for none."""
    observers: Sequence[int]
    """The observers among `replicas`, in Confluent Server."""


class ReassignmentFile(TypedDict, total=False):
    """The JSON file that `kafka-reassign-partitions` takes."""

    version: Literal[1]
    """Version of the file's format."""
    partitions: Required[Sequence[ReassignedPartition]]
    """Partitions to reassign, each once."""


class ReassignmentSweepRequest(TypedDict, total=False):
    """A sweep over changes of a cluster: a broker removed, brokers added, limits varied; and the movement.

    Every field of a plan's request applies to every scenario, and axes change some of them."""

    racks_of_added: list[str] | None
    """The racks of added brokers, in rotation from the first. By default each gets the rack that has the fewest
    brokers by then, of equal ones the first by name."""
    snapshot_id: str | None
    """The snapshot of the cluster."""
    cluster: str | None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""
    capacity: Mapping[str, CapacityFields]
    """Capacities by broker id, `*` for all others; they override the snapshot's."""
    ingress_bytes_per_s: Mapping[str, float | str | list[float | str]] | None
    """By topic, the ingress rate of the topic, or of each partition of the plan; by default the rates that the
    snapshot has."""
    consumers: Mapping[str, float]
    """By topic, the number of consumer groups that read each byte; `*` for all other topics, 0 by default."""
    follower_fetching: bool
    """Whether consumers fetch from the replica in their rack (KIP-392); they are in all racks."""
    cpu_model: CpuModelFields | None
    """The model of the processor; by default a vCPU receives 20 MiB/s, or sends 80 MiB/s."""
    growth: Mapping[str, float]
    """By topic, the factor on sizes and rates, for loads and balance in the future; `*` for all others, 1 by
    default. Copies have today's sizes."""
    limits: LimitsWithLogDirs
    """Upper limits of each broker's load after the plan."""
    prices: PricesFields | None
    """Prices for `cross_rack`; null leaves out costs."""
    defaults: DefaultsFields | None
    """Values for topics that lack them in the snapshot."""
    add_brokers: Sequence[BrokerRequest]
    """New brokers, which need not exist yet. A broker that is up already means itself, with a warning."""
    remove_brokers: Sequence[int]
    """Ids of brokers that have no replica after the plan."""
    remove_racks: list[str]
    """Racks all of whose brokers are removed, as if `remove_brokers` named them."""
    replace_brokers: Mapping[str, int]
    """Broker → successor, which gets its replicas. A successor that is in no list is in the same rack."""
    replication_factor: Mapping[str, int]
    """By topic. If it is lowered, the preferred leader stays, unless limits are exceeded otherwise."""
    partitions: Mapping[str, int]
    """By topic, the total number of partitions."""
    topics: list[str] | None
    """Topics whose partitions may move; all by default. Others count where they are."""
    leaders_only: bool
    """Balance leaders without moving replicas."""
    fix_offline_replicas: bool
    """Move the replicas of fenced and offline brokers."""
    repair_racks: bool | None
    """Whether partitions that span too few racks are repaired. By default yes, but if the request names topics (in
    `replication_factor`, `partitions`, `spread_leaders`, `isolate` or `pins`) and has no `topics`, `remove_racks`
    or `max_replicas_per_rack`, partitions of other topics are not, and a warning counts them."""
    rack_mode: Literal["enforced", "safe", "disabled"]
    """`enforced`: a partition spans min(replicas, racks) racks of those before brokers are removed, and every broker
    needs a rack; `safe`: of the remaining racks, unconstrained if a broker has no rack; `disabled`: racks are not
    constrained."""
    max_replicas_per_rack: int | None
    """Upper limit on replicas of one partition in a rack; rejected if racks do not count."""
    placement: Mapping[str, Literal["in_rack"]]
    """By topic, `in_rack`: all replicas of a partition are in one rack, that in which it keeps the most. Rejected if
    `rack_mode` is `disabled`, and without effect if it is `safe` and a broker has no rack (`racks_ignored`)."""
    receivers: Literal["added"] | Sequence[int] | None
    """The only brokers that receive replicas, besides successors: `added` means `add_brokers`. The others keep their
    replicas, or give. With `receivers`, the default of `balance.replicas` is `tight`."""
    forbid_brokers: Sequence[int]
    """Brokers that receive no further replicas; those above the mean still give."""
    cordoned_brokers: Sequence[int] | None
    """Brokers whose log directories are all cordoned (KIP-1066), which receive no further replicas; by default as in
    the snapshot."""
    broker_sets: Mapping[str, Sequence[int]]
    """By name, the brokers of a set; no broker is in two. The topics of a set are on its brokers alone, and are
    balanced among them alone. Topics of no set are on the brokers outside every set."""
    topic_sets: Literal["topic_name_hash"] | Mapping[str, str]
    """By topic, the name of its set in `broker_sets`; `topic_name_hash` maps every topic by its name, as Cruise
    Control does by default (`TopicNameHashBrokerSetMappingPolicy`)."""
    isolate: Sequence[IsolateFields]
    """Topics that are restricted to brokers, and brokers that are reserved for them."""
    pins: Sequence[PinFields]
    """Partitions with given replicas; they override the rack constraint."""
    objective: Literal["balance", "relieve"] | GoalsFields
    """`balance`: as `balance` states; `relieve`: the least movement that brings every broker below its `limits`, and
    no other change; or goals in order of priority."""
    evacuate_leaders: EvacuateFields
    """Brokers and racks that lead no partition after the plan."""
    preferred_racks: Mapping[str, list[str]]
    """By topic, or `*` for all others, racks in the order of preference: of the replicas that may lead, one in the
    first listed rack that has any leads."""
    min_leaders_per_broker: Mapping[str, int]
    """By topic, the number of its partitions that each broker leads at least, of the brokers that stay, are up and
    may lead."""
    spread_leaders: list[str]
    """Topics whose leaders are spread, each alone, over the brokers with a replica that may lead, with the fewest
    changes: these brokers differ by one leader at most, or by as little as the replicas permit. Leaders of other
    topics are chosen afterwards, and by default stay."""
    balance: BalanceFields
    """How replicas and leaders are balanced over brokers."""
    minimise: Literal["bytes", "replicas", "leader_changes"] | MovementCostFields | None
    """What to minimise; `replicas` if the size of any partition is unknown. `leader_changes`: with
    balance.leaders_move_replicas, the fewest leader changes, then the fewest bytes. `bytes_per_replica`: the
    bytes, and this cost of each replica. The default is `bytes`, but of a plan with the objective `relieve` and
    no budget it is a cost: the mean size of the partitions that may move, or 1 GiB if that is less."""
    max_moved_bytes: float | str | None
    """Upper limit on moved bytes; the plan is the most balanced one within it."""
    copysets: Literal["no_new"] | ScatterWidthFields | None
    """`no_new`: no partition is on a set of brokers that no partition of the cluster is on before, so that
    simultaneous losses do not become more likely to lose data; sets with a broker that has no replica yet, as an
    added one, and those of `pins`, are exempt. For replicas that are balanced by count, bytes or throughput. A
    scatter width: all partitions that may move are on few sets, equally many on each, instead of a balance of
    brokers. null: sets do not count."""
    trade_off: bool
    """Whether the answer has a table of movement against balance."""
    unknown_sizes: Literal["estimate"] | None
    """`estimate`: a partition of unknown size has the mean size of its topic's partitions."""
    on_conflict: Literal["refuse", "relax"]
    """`relax`: relax constraints that conflict, and list them in `relaxed`."""
    running_reassignment: Literal["refuse", "merge"]
    """`merge`: partitions that are being reassigned are planned from their target replicas."""
    deadline_s: float | str | None
    """Time limit of the solver; then the best plan so far is the answer, with its gap."""
    batches: BatchFields
    """Limits of each batch."""
    log_dirs: LogDirsFields | None
    """Choose the log directory of each replica; null leaves it to the brokers."""
    kafka_version: str | None
    """The release of Kafka that the answer is for, from 2.4 to 4.4, such as `4.2` or `4.0.1`; by default that of the
    snapshot, or 4.4.0 if the snapshot has none."""
    labels: Mapping[str, str]
    """Labels of the plan, name → value; lists of plans are filtered by them."""
    kind: Required[Literal["reassignment"]]
    """Kind of the sweep."""
    axes: Required[Mapping[str, Sequence[Any] | SpanRequest | Literal["each"]]]
    """`remove_broker` → the brokers to remove, one in each scenario, or `each`; `add_brokers` → numbers of brokers
    to add, as a list or a range; `limits.disk`, `limits.nic_in`, `limits.nic_out`, `limits.cpu` → shares of the
    capacity of each broker; the same with `.absolute`, `limits.replicas.absolute` and `limits.leaders.absolute` →
    amounts; `broker_sets.<name>` → lists of the brokers of a set; `topic_sets.<topic>` → names of sets, null for
    none; `weights.<broker>` → weights of a broker. Every combination is a scenario. The last axis varies fastest."""


class ReplaceRequest(TypedDict, total=False):
    """A member restarts under another id; with its group instance id there is no rebalance."""

    replace: Required[ReplacedMember]
    """The member before and after the restart."""


class ReplacedMember(TypedDict, total=False):
    """A member, and its new id and subscription."""

    member_id: Required[str]
    """Id of the member before the restart."""
    by: Required[GroupMemberRequest]
    """The member after the restart."""


class ReplicaRacksChangedRequest(TypedDict, total=False):
    """The racks of replicas change; a rack-aware leader rebalances (KIP-881)."""

    replica_racks_changed: Required[ChangedRacks]
    """The brokers and topics that change."""


class RereplicationRequest(TypedDict, total=False):
    """The throttle at which lost replicas are copied, which loads surviving brokers."""

    throttle_bytes_per_s: Required[float | str]
    """Bytes/s of copies that a broker receives, and sends."""


class RestartLimitsFields(TypedDict, total=False):
    """Upper limits of each broker while others are restarted. They are hard."""

    leaders: float | str | LimitFields | None
    """Limit of the number of partitions that it leads, `{"absolute": …}`."""
    nic_out: float | str | LimitFields | None
    """Limit of sent bytes/s: replication and consumers. Followers that are down count, since they catch up."""
    nic_in: float | str | LimitFields | None
    """Limit of received bytes/s, which a new leader does not change: producers now send the former leader's bytes."""
    cpu: float | str | LimitFields | None
    """Limit of vCPU, by `cpu_model`."""


class RestartRulesRequest(TypedDict, total=False):
    """Rules for every wave of a rolling restart, besides `min.insync.replicas` of every partition."""

    max_brokers_per_wave: int | None
    """The most brokers of a wave; null: all."""
    controllers: int | None
    """Number of voters, in each rack in turn; null: 0."""
    per: Literal["broker", "rack"]
    """`rack`: no wave has brokers of two racks."""


class RollingDeployRequest(TypedDict, total=False):
    """A rolling deploy, a step for each client."""

    rolling_deploy: Required[RollingDeployment]
    """How each client restarts."""


class RollingDeployment(TypedDict, total=False):
    """Every client restarts, one after another."""

    keeps_state: bool
    """Whether a client still has its state directory after the restart."""
    behind: int
    """Offsets by which each task of a client lags after its restart."""
    outlasts_session: bool
    """Whether the restart exceeds the session timeout, so that the group rebalances."""


class RollingRestartRequest(TypedDict, total=False):
    """Every member is restarted, one after another: a step each. Static members keep their partitions."""

    rolling_restart: Required[Literal[True]]
    """Always true."""


class SampleRequest(TypedDict, total=False):
    """`count` scenarios of the grid, chosen at random without replacement."""

    count: Required[int]
    """Number of scenarios."""
    seed: int
    """Seed of java.util.Random; a signed 64-bit number."""


class ScaleInRequest(TypedDict, total=False):
    """Clients are removed together."""

    scale_in: Required[list[str]]
    """Process ids of the clients that are removed."""


class ScaleOutRequest(TypedDict, total=False):
    """Clients join."""

    scale_out: Required[Sequence[JoiningClient]]
    """Clients that join together."""


class ScatterWidthFields(TypedDict, total=False):
    """The replica sets that partitions are on."""

    scatter_width: Required[int]
    """Number of other brokers with which a broker shares its sets, at least; the sets are as for new topics by
    `copysets`."""


class SeedsRequest(TypedDict, total=False):
    """`count` independent seeds; scenario i has the low 48 bits of SplitMix64 of `first` + i."""

    first: int
    """Seed of java.util.Random; a signed 64-bit number."""
    count: Required[int]
    """Number of seeds."""


class ShareLinkRequest(TypedDict, total=False):
    """A link to make."""

    kind: Required[Literal["plan", "sweep", "cluster"]]
    """The kind of page."""
    name: Required[str]
    """The id of the plan or sweep, or the name of the cluster."""
    days: int
    """Days after which the link expires."""


SnapshotRange = TypedDict(
    "SnapshotRange",
    {"from": "Required[str]", "to": "Required[str]", "cluster": "str | None", "topics": "list[str] | None"},
    total=False,
)


SpanRequest = TypedDict(
    "SpanRequest", {"from": "Required[float]", "to": "Required[float]", "step": "float"}, total=False
)


class StreamsClientRequest(TypedDict, total=False):
    """One instance of the application."""

    process_id: str | None
    """A UUID; or a name, if all clients have names."""
    subscription_info: str | None
    """The user data of its subscription, in base64, versions 1–11: process id, tags and previous tasks."""
    capacity: int
    """Stream threads."""
    client_tags: Mapping[str, str]
    """`client.tag.<key>` by key."""
    rack_id: str | None
    """`client.rack` of its consumers."""
    previous_active: list[str]
    """Ids of tasks that the client ran."""
    previous_standby: list[str]
    """Ids of tasks of which the client had a standby or warm-up."""
    lags: Mapping[str, int]
    """By stateful task, the offsets by which the client lags."""
    default_lag: int | None
    """The lag of stateful tasks that are not in `lags`. By default a client has all state of its previous tasks, and
    no state of others: its lag is then their `changelog_offsets`, 0 where `state_bytes` is 0, and otherwise
    unbounded."""
    members: Sequence[StreamsMemberRequest]
    """Under `streams`, the client's threads, which have its previous tasks; by default `capacity` of them, called
    `<process_id>-1` and so on. Their ids and process ids decide ties."""


class StreamsMemberRequest(TypedDict, total=False):
    """A member of a streams group (KIP-1071), which is a stream thread, with its tasks in the target assignment."""

    member_id: Required[str]
    """Id of the member; ids decide ties."""
    previous_active: list[str]
    """Ids of tasks that the member ran."""
    previous_standby: list[str]
    """Ids of tasks of which the member had a standby."""
    task_offsets: Mapping[str, int]
    """By task with state on its disk, the offset up to which it is restored; read since Kafka 4.4."""


class SubtopologyRequest(TypedDict, total=False):
    """A subtopology: the source topics of its tasks, and the changelogs of their state."""

    id: Required[int]
    """Number of the subtopology, the first part of its tasks' ids."""
    source_topics: Required[list[str]]
    """Names of the topics that its tasks read."""
    changelog_topics: list[str]
    """Names of the changelog topics of its state."""
    is_stateful: bool | None
    """By default, whether it has changelogs."""


class TagValue(TypedDict, total=False):
    """A value of a client tag."""

    tag: Required[str]
    """Name of the tag, as in `client.tag.<name>`."""
    value: Required[str]
    """Value of the tag."""


class TargetsRequest(TypedDict, total=False):
    """The share of each resource that may be used; 1 by default."""

    disk: float | str | None
    """Usable share of `disk_bytes`; null for 1."""
    disk_bytes_per_s: float | str | None
    """Usable share of `disk_bytes_per_s`; null for 1."""
    nic_in: float | str | None
    """Usable share of `nic_in_bytes_per_s`; null for 1."""
    nic_out: float | str | None
    """Usable share of `nic_out_bytes_per_s`; null for 1."""
    vcpu: float | str | None
    """Usable share of `vcpu`; null for 1."""
    partitions: float | str | None
    """Usable share of `max_partitions`; null for 1."""


class ToleranceRequest(TypedDict, total=False):
    """A band around the brokers' mean, mean × (1 − tolerance) to mean × (1 + tolerance), joined with the narrowest
    feasible band."""

    tolerance: Required[float | str]
    """Share by which the band extends beyond the most balanced one, from 0 to 1."""


class TopicGrownRequest(TypedDict, total=False):
    """A topic gets more partitions."""

    topic_grown: Required[GrownTopic]
    """The topic and its new number of partitions."""


class TopicLoadRequest(TypedDict, total=False):
    """A topic and its traffic."""

    partitions: Required[int]
    """Number of partitions."""
    replication_factor: Required[int]
    """Number of replicas of each partition."""
    min_insync_replicas: int
    """`min.insync.replicas` of the topic."""
    ingress_bytes_per_s: Required[float | str]
    """Bytes/s that producers write to the topic, on average."""
    peak_ingress_bytes_per_s: float | str | None
    """Limits depend on the peak, cost on the mean."""
    retained_bytes: float | str | None
    """Bytes of one copy of the topic now; grows with traffic."""
    retention_s: float | str | None
    """Seconds for which records are retained."""
    retention_bytes: float | str | None
    """Upper bound on a partition's bytes; does not grow."""
    remote_storage: bool
    """`remote.storage.enable`: what is retained has one copy in remote storage (KIP-405)."""
    local_retention_s: float | str | None
    """Seconds for which brokers keep records that are in remote storage, too; null for retention."""
    local_retention_bytes: float | str | None
    """The same as an upper bound on a partition's bytes; null for none."""
    segment_bytes: float | str
    """`segment.bytes`: a replica may exceed local retention by as much."""
    disk_headroom: float | str
    """The share by which a replica's bytes on disk exceed its retained bytes."""
    consumer_groups: float
    """The fan-out: how many times every byte is read."""
    lagging_share: float | str
    """The share of reads that are served from disk."""
    name: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    retained_bytes_per_partition: float | str | list[float | str] | None
    """The same by partition, or of each partition."""
    partition_weights: Literal["uniform"] | ZipfRequest | list[float | str]
    """Traffic of partitions relative to each other: equal, by Zipf's law, or a weight for each."""


class TopologyRequest(TypedDict, total=False):
    """Racks, and the number of brokers in each or by rack."""

    racks: Required[list[str]]
    """Names of the racks; broker ids count up rack by rack, in this order."""
    brokers_per_rack: Required[int | Mapping[str, int]]
    """Number of brokers in every rack, or by rack."""


class TrafficRequest(TypedDict, total=False):
    """Compound growth a month, −1 (no traffic) or more, and the horizon in months."""

    growth_per_month: float | str
    """Growth of traffic from one month to the next; 0.05 is 5 %."""
    horizon_months: int
    """Number of months that are looked ahead."""


class WebhookRequest(TypedDict, total=False):
    """A webhook to create."""

    url: Required[str]
    """The URL that events are sent to by POST: https, and at a public address unless the operator lists its network
    in `RACKPLAN_WEBHOOK_NETWORKS`; no user name, password or fragment."""
    events: Required[Sequence[Literal["job.ended", "sweep.ended", "plan.created"]]]
    """Types of events to send."""
    secret: str | None
    """The key of the signatures: `whsec_` and the base64 of 24 to 64 bytes; made if missing."""


class ZipfRequest(TypedDict, total=False):
    """Partition p weighs 1 / (p + 1) ** zipf."""

    zipf: Required[float]
    """The exponent; 0 for equal weights."""


class RecordedGroupRequest(TypedDict, total=False):
    """A recorded group."""

    group_id: Required[str]
    """Id of the group."""
    state: str | None
    """State of the group as Kafka's tools print it; null if unknown."""
    assignor: str | None
    """Name of the group's assignor as Kafka's tools print it; null if unknown."""
    members: Sequence[RecordedMemberRequest]
    """Members, in the order of the tool."""
    offsets: Sequence[RecordedOffsetRequest]
    """Committed offsets, by partition."""
    type: Literal["consumer", "share", "streams"] | None
    """Null for a classic group, and if the type is unknown."""
    group_epoch: int | None
    """Epoch of the group; null for a classic group, or if unknown."""
    assignment_epoch: int | None
    """Of the target assignment."""
    topology_epoch: int | None
    """Of a Streams group."""


class RecordedMemberRequest(TypedDict, total=False):
    """A member. Without `topics` its subscription, its rack and the partitions that it owns are unknown."""

    member_id: Required[str]
    """Id of the member."""
    client_id: str | None
    """`client.id`; null if unknown."""
    host: str | None
    """Address of the client as Kafka's tools print it, such as `/10.0.1.17`; null if unknown."""
    group_instance_id: str | None
    """`group.instance.id` of a static member; null for a dynamic one."""
    rack_id: str | None
    """`client.rack`; null or `""` for none."""
    topics: list[str] | None
    """Its subscription."""
    owned_partitions: Mapping[str, Sequence[int]] | None
    """Partitions that it owned, by its subscription."""
    generation_id: int | None
    """The generation of its owned partitions."""
    user_data: str | None
    """The assignor's own bytes in the subscription, in base64."""
    assigned_partitions: Mapping[str, Sequence[int]] | None
    """Partitions that are assigned to it."""
    member_epoch: int | None
    """Of the protocols of KIP-848, KIP-932 and KIP-1071."""
    target_partitions: Mapping[str, Sequence[int]] | None
    """Its partitions in the target assignment (KIP-848)."""
    process_id: str | None
    """The process of a member of a Streams group."""
    tasks: RecordedTasksRequest | None
    """Of a member of a Streams group (KIP-1071)."""
    target_tasks: RecordedTasksRequest | None
    """Its tasks in the target assignment."""


class RecordedOffsetRequest(TypedDict, total=False):
    """How far a group has read a partition."""

    topic: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    partition: Required[int]
    """Id of the partition in its topic."""
    current_offset: int | None
    """Committed offset of the group; null if it has none."""
    log_end_offset: int | None
    """Offset after the last record of the partition; null if unknown."""
    lag: int | None
    """Records; negative if the log was truncated."""
    member_id: str | None
    """The member that reads the partition."""


class RecordedTasksRequest(TypedDict, total=False):
    """The tasks of a member of a Streams group, `<subtopology>_<partition>`."""

    active: list[str]
    """Ids of tasks that the member runs."""
    standby: list[str]
    """Ids of tasks of which the member has a standby."""
    warmup: list[str]
    """Ids of tasks of which the member has a warm-up."""


class SnapshotRequest(TypedDict, total=False):
    """The state of a cluster."""

    cluster: Required[str]
    """Name of the cluster, by which its snapshots are listed."""
    brokers: Sequence[CordonableBrokerRequest]
    """Brokers in any order, each once."""
    topics: Sequence[TopicRequest]
    """Topics in any order, each once."""
    groups: Sequence[RecordedGroupRequest]
    """Consumer, share and Streams groups in any order, each once."""
    kafka_version: str | None
    """The release of Kafka that the brokers run, such as `4.1.0`; `4.1` is 4.1.0. Plans on the snapshot are made for
    it."""
    controller: Literal["kraft", "zookeeper"] | None
    """Controller, which elects leaders and places new partitions: `kraft` or `zookeeper`. By default it follows from
    `kafka_version`: `zookeeper` before 3.3, `kraft` since 4.0."""


class TopicRequest(TypedDict, total=False):
    """The state of a topic."""

    name: Required[str]
    """A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`."""
    topic_id: str | None
    """The topic id as `kafka-topics --describe` prints it, 16 bytes in URL-safe base64; null if unknown."""
    configs: Mapping[str, str]
    """Configurations of the topic by Kafka's names, `{"min.insync.replicas": "2"}`, which checks, losses and health
    read; those that are missing are unknown."""
    partitions: Required[Sequence[PartitionRequest]]
    """Partitions in any order, each once."""
