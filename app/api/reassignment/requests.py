"""A reassignment as requests write it."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from app.api.models.clusters import BrokerRequest
from app.api.models.fields import (
    INT64_MAX,
    BrokerId,
    Bytes,
    Int32,
    Labels,
    PartitionId,
    Rack,
    RequestedRelease,
    TopicName,
)
from app.api.models.fields import Request as RequestModel
from app.api.models.snapshot_choice import OnSnapshot
from app.api.reassignment.log_dir_fields import LogDirsFields
from app.api.reassignment.resource_fields import BrokerOrAll, ResourceFields
from app.services.reassignment import PLANNER, LeadersBy, ReassignmentRequest, ReplicasBy
from app.services.reassignment.requests.resources import GoalName, Resource

Number = Annotated[Int32, Field(ge=1)]
Weight = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
# The service rejects factors below 1, with the exception of Kafka.
Factor = Annotated[Int32, Field(json_schema_extra={"minimum": 1})]
BrokerSetName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9._-]{1,249}$", description="A broker set's name.")]
BrokerKey = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,9})$", description="A broker's id, as JSON writes a name.")]


class ToleranceRequest(RequestModel):
    """A band around the brokers' mean, mean × (1 − tolerance) to mean × (1 + tolerance), joined with the narrowest
    feasible band.
    """

    tolerance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    """Share by which the band extends beyond the most balanced one, from 0 to 1."""


class LeadersToleranceRequest(ToleranceRequest):
    """The same of leaders, which may be further below the mean than above it."""

    below: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = Field(
        None,
        description="Share by which the band extends below the mean, by count; null is `tolerance`. If brokers joined "
        "late, a wider one takes fewer leader changes.",
    )


def _word_or_share(value: object) -> str:
    return "word" if isinstance(value, str) else "share"


_EVEN = "`tight`: as balanced as possible; `keep`: only necessary changes; a tolerance: in between. "
EvenReplicas = Annotated[
    Annotated[Literal["tight", "keep"], Tag("word")] | Annotated[ToleranceRequest, Tag("share")],
    Discriminator(_word_or_share),
]
EvenLeaders = Annotated[
    Annotated[Literal["tight", "keep", "moved", "preferred"], Tag("word")]
    | Annotated[LeadersToleranceRequest, Tag("share")],
    Discriminator(_word_or_share),
]


TightOrTolerance = Annotated[
    Annotated[Literal["tight"], Tag("word")] | Annotated[ToleranceRequest, Tag("share")], Discriminator(_word_or_share)
]


_EVEN_TOPICS = (
    "`tight`: brokers differ by one {0} of the topic at most; a tolerance is of the topic's "
    "mean. If the bands of all topics cannot hold together with the band of the cluster, the excess is minimal."
)


class PerTopicFields(RequestModel):
    """The balance of each topic over brokers, together with that of the whole cluster: of replicas, leaders or both."""

    replicas: TightOrTolerance | None = Field(None, description=_EVEN_TOPICS.format("replica"))
    leaders: TightOrTolerance | None = Field(
        None,
        description=_EVEN_TOPICS.format("leader") + " The default of `balance.leaders` then is `tight`.",
    )
    topics: Annotated[list[TopicName], Field(min_length=1)] | None = Field(
        None, description="Names of the topics that are balanced; null is all that may move."
    )


class BalanceFields(RequestModel):
    """The balance constraints of brokers."""

    replicas: EvenReplicas | None = Field(
        None, description=_EVEN + "The default is `tight` if brokers are added or a budget is set, `keep` otherwise."
    )
    replicas_by: ReplicasBy = Field("count", description="The load that is balanced.")
    leaders: EvenLeaders | None = Field(
        None,
        description=_EVEN
        + "`moved`: as `keep`, but leaders of partitions of which replicas move change if that makes the largest "
        "number of leaders of a broker smaller; "
        "`preferred`: replica lists keep their order, and the first replica leads. The default is `tight` with "
        "leaders_only, `moved` if brokers are removed or with fix_offline_replicas, `keep` otherwise.",
    )
    leaders_by: LeadersBy = Field("count", description="The load that is balanced.")
    leaders_move_replicas: bool = Field(
        False,
        description="Whether replicas may move to reach the band of leaders, by count, with the fewest bytes: a broker "
        "gets a replica of a partition that it is to lead, in place of one in the same rack if there is one. The "
        "default of `leaders` then is `tight`. `max_moved_bytes` is the most that moves: the band then is the "
        "narrowest within it.",
    )
    resources: Annotated[list[Resource], Field(max_length=4)] = Field(
        default_factory=list,
        description="Resources that are balanced jointly, each by the capacity of each broker, together with "
        "`replicas` and `leaders` if these are `tight` or have a tolerance.",
    )
    per_topic: PerTopicFields | None = Field(
        None, description="The balance of each topic, by count; of replicas without a budget or a trade-off."
    )
    weights: Literal["capacity"] | dict[BrokerOrAll, Weight] | None = Field(
        None,
        description="By broker id, or `*` for all others, the weight of a broker: its bands of replicas, of leaders by "
        "count and of each topic are in proportion to it. `capacity`: disk_bytes is the weight, with `throughput` "
        "nic_in_bytes_per_s. By default the weights are those of the snapshot, which are 1 if it states none.",
    )


class GoalFields(RequestModel):
    """A goal: the load of a resource, by the capacity of each broker, or the replicas of each topic."""

    goal: GoalName
    """What is balanced."""
    tolerance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        0.0, description="0: as balanced as possible; t: within ±t of each broker's share."
    )


class GoalsFields(RequestModel):
    """Goals in order of priority: none worsens what those before it reached."""

    goals: Annotated[list[GoalFields], Field(min_length=1, max_length=7)]
    """The goals, the most important first."""


class IsolateFields(RequestModel):
    """Topics whose replicas are restricted to these brokers."""

    topics: Annotated[list[TopicName], Field(min_length=1)]
    """Names of the topics that are restricted."""
    brokers: Annotated[list[BrokerId], Field(min_length=1)]
    """Ids of the brokers that they are restricted to."""
    exclusive: bool = Field(False, description="Whether other topics are excluded from these brokers.")


class PinFields(RequestModel):
    """A partition and its replicas, the preferred leader first."""

    topic: TopicName
    partition: PartitionId
    """Id of the partition in its topic."""
    replicas: Annotated[list[BrokerId], Field(min_length=1, max_length=1000)]
    """Broker ids, the preferred leader first."""


class EvacuateFields(RequestModel):
    """Brokers and racks that lead no partition."""

    brokers: list[BrokerId] = Field(default_factory=list)
    """Ids of brokers that lead no partition."""
    racks: list[Rack] = Field(default_factory=list)
    """Racks whose brokers lead no partition."""


class BatchFields(RequestModel):
    """The limits of each batch; null is no limit."""

    max_moves_in_per_broker: Number | None = Field(4, description="Replicas copied to a broker in one batch.")
    max_moves_out_per_broker: Number | None = Field(None, description="Replicas copied from a broker in one batch.")
    max_bytes_in_per_broker: Annotated[int, Field(ge=1, le=INT64_MAX)] | None = Field(
        None, description="Bytes copied to a broker in one batch; deleted replicas are not subtracted."
    )
    max_partitions: Number | None = None
    """Number of partitions in one batch."""
    max_disk_share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="Largest share of a disk in use at any time, for brokers with `capacity.disk_bytes`."
    )
    throttle_bytes_per_s: Annotated[int, Field(ge=1, le=INT64_MAX)] | None = Field(
        None, description="Replication throttle of every broker, in and out; batches then have a duration."
    )
    hottest: Literal["last", "first"] = Field(
        "last",
        description="When the partitions with the highest ingress rate move; without rates, the largest ones.",
    )


Objective = Annotated[
    Annotated[Literal["balance", "relieve"], Tag("word")] | Annotated[GoalsFields, Tag("share")],
    Discriminator(_word_or_share),
]


class ReassignmentFields(ResourceFields, OnSnapshot):
    """Changes to a snapshot's cluster, as plans and sweeps state them."""

    requires_snapshot = True
    add_brokers: list[BrokerRequest] = Field(
        default_factory=list,
        description="New brokers, which need not exist yet. A broker that is up already means itself, with a warning.",
    )
    remove_brokers: list[BrokerId] = Field(default_factory=list)
    """Ids of brokers that have no replica after the plan."""
    remove_racks: list[Rack] = Field(
        default_factory=list, description="Racks all of whose brokers are removed, as if `remove_brokers` named them."
    )
    replace_brokers: dict[BrokerKey, BrokerId] = Field(
        default_factory=dict,
        description="Broker → successor, which gets its replicas. A successor that is in no list is in the same rack.",
    )
    replication_factor: dict[TopicName, Factor] = Field(
        default_factory=dict, description="By topic. If it is lowered, the preferred leader stays."
    )
    partitions: dict[TopicName, Number] = Field(
        default_factory=dict, description="By topic, the total number of partitions."
    )
    topics: list[TopicName] | None = Field(
        None, description="Topics whose partitions may move; all by default. Others count where they are."
    )
    leaders_only: bool = Field(False, description="Balance leaders without moving replicas.")
    fix_offline_replicas: bool = Field(False, description="Move the replicas of fenced and offline brokers.")
    repair_racks: bool | None = Field(
        None,
        description="Whether partitions that span too few racks are repaired. By default yes, but if the request names "
        "topics (in `replication_factor`, `partitions`, `isolate` or `pins`) and has no `topics`, `remove_racks` or "
        "`max_replicas_per_rack`, those of other topics are not, and a warning counts them.",
    )
    rack_mode: Literal["enforced", "safe", "disabled"] = Field(
        "enforced",
        description="`enforced`: a partition spans min(replicas, racks) racks of those before brokers are removed, and "
        "every broker needs a rack; `safe`: of the remaining racks, unconstrained if a broker has no rack; "
        "`disabled`: racks are not constrained.",
    )
    max_replicas_per_rack: Number | None = Field(
        None,
        description="Upper limit on replicas of one partition in a rack; rejected if racks do not count.",
    )
    receivers: Literal["added"] | Annotated[list[BrokerId], Field(min_length=1)] | None = Field(
        None,
        description="The only brokers that receive replicas, besides successors: `added` is those of `add_brokers`. "
        "The others keep what they have, or give. With `receivers`, the default of `balance.replicas` is `tight`.",
    )
    forbid_brokers: list[BrokerId] = Field(
        default_factory=list, description="Brokers that receive no further replicas; those above the mean still give."
    )
    cordoned_brokers: list[BrokerId] | None = Field(
        None,
        description="Brokers whose log directories are all cordoned (KIP-1066), which receive no further replicas; by "
        "default those of the snapshot.",
    )
    broker_sets: dict[BrokerSetName, Annotated[list[BrokerId], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="By name, the brokers of a set; no broker is in two. The topics of a set are on its brokers alone, "
        "and are balanced among them alone. Topics of no set are on the brokers outside every set.",
    )
    topic_sets: Literal["topic_name_hash"] | dict[TopicName, BrokerSetName] = Field(
        default_factory=dict,
        description="By topic, the name of its set in `broker_sets`; `topic_name_hash` maps every topic by its name, "
        "as Cruise Control does by default (`TopicNameHashBrokerSetMappingPolicy`).",
    )
    isolate: Annotated[list[IsolateFields], Field(max_length=1000)] = Field(default_factory=list)
    """Topics that are restricted to brokers, and brokers that are reserved for them."""
    pins: list[PinFields] = Field(
        default_factory=list, description="Partitions with given replicas; they override the rack constraint."
    )
    objective: Objective = Field(
        "balance",
        description="`balance`: what `balance` states; `relieve`: the least movement that brings every broker below "
        "its `limits`, and no other change; or goals in order of priority.",
    )
    evacuate_leaders: EvacuateFields = Field(default_factory=EvacuateFields)
    """Brokers and racks that lead no partition after the plan."""
    preferred_racks: dict[TopicName | Literal["*"], Annotated[list[Rack], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="By topic, or `*` for all others, racks in the order of preference: of the replicas that may lead, "
        "one in the first listed rack that has any leads.",
    )
    min_leaders_per_broker: dict[TopicName, Number] = Field(
        default_factory=dict,
        description="By topic, the number of its partitions that each broker leads at least, of the brokers that stay, "
        "are up and may lead.",
    )
    balance: BalanceFields = Field(default_factory=BalanceFields)
    """How replicas and leaders are balanced over brokers."""
    minimise: Literal["bytes", "replicas", "leader_changes"] = Field(
        "bytes",
        description="What to minimise; `replicas` if the size of any partition is unknown. `leader_changes`: with "
        "balance.leaders_move_replicas, the fewest leader changes, then the fewest bytes.",
    )
    max_moved_bytes: Bytes | None = Field(
        None, description="Upper limit on moved bytes; the plan is the most balanced one within it."
    )
    trade_off: bool = Field(False, description="Whether the answer has a table of movement against balance.")
    unknown_sizes: Literal["estimate"] | None = Field(
        None, description="`estimate`: a partition of unknown size has the mean size of its topic's partitions."
    )
    on_conflict: Literal["refuse", "relax"] = Field(
        "refuse", description="`relax`: relax constraints that conflict, and list them in `relaxed`."
    )
    running_reassignment: Literal["refuse", "merge"] = Field(
        "refuse", description="`merge`: partitions that are being reassigned are planned from their target replicas."
    )
    deadline_s: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] | None = Field(
        None, description="Time limit of the solver; then the best plan so far is the answer, with its gap."
    )
    batches: BatchFields = Field(default_factory=BatchFields)
    """Limits of each batch."""
    log_dirs: LogDirsFields | None = Field(
        None, description="Choose the log directory of each replica; null leaves it to the brokers."
    )
    kafka_version: RequestedRelease = None
    labels: Labels = Field(default_factory=dict)


class PlanReassignmentRequest(ReassignmentFields):
    """Changes to a snapshot's cluster, alone or together."""

    def service(self) -> ReassignmentRequest:
        """As the service knows it."""
        return PLANNER.restored(self.model_dump())
