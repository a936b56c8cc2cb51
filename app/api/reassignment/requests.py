"""A reassignment as requests write it."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from app.api.clusters import BrokerRequest
from app.api.fields import INT64_MAX, BrokerId, Bytes, Id, Int32, Labels, PartitionId, Rack, TopicName
from app.api.fields import Request as RequestModel
from app.services.reassignment import PLANNER, LeadersBy, ReassignmentRequest, ReplicasBy

Number = Annotated[Int32, Field(ge=1)]
# Below 1 the core itself refuses, and says what Kafka makes of it.
Factor = Annotated[Int32, Field(json_schema_extra={"minimum": 1})]
Rate = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
BrokerKey = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,9})$", description="A broker's id, as JSON writes a name.")]


class ToleranceRequest(RequestModel):
    """So far from the most even that there can be, as a share of its ends."""

    tolerance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _word_or_share(value: object) -> str:
    return "word" if isinstance(value, str) else "share"


_EVEN = "`tight`: as even as can be; `keep`: only what has to change does; a tolerance: in between. "
EvenReplicas = Annotated[
    Annotated[Literal["tight", "keep"], Tag("word")] | Annotated[ToleranceRequest, Tag("share")],
    Discriminator(_word_or_share),
]
EvenLeaders = Annotated[
    Annotated[Literal["tight", "keep", "preferred"], Tag("word")] | Annotated[ToleranceRequest, Tag("share")],
    Discriminator(_word_or_share),
]


class BalanceFields(RequestModel):
    """How even brokers are to be."""

    replicas: EvenReplicas | None = Field(
        None, description=_EVEN + "Left out: `keep`, or `tight` where brokers are added or a budget is set."
    )
    replicas_by: ReplicasBy = Field("count", description="What is to be even.")
    leaders: EvenLeaders | None = Field(
        None,
        description=_EVEN + "`preferred`: lists stay, and whoever is first in one leads. Left out: `keep`, or `tight` "
        "with leaders_only.",
    )
    leaders_by: LeadersBy = Field("count", description="What is to be even.")


class IsolateFields(RequestModel):
    """Topics that are to be on these brokers alone."""

    topics: Annotated[list[TopicName], Field(min_length=1)]
    brokers: Annotated[list[BrokerId], Field(min_length=1)]
    exclusive: bool = Field(False, description="No other topic is to be on these brokers.")


class PinFields(RequestModel):
    """A partition, and where it is to be: the preferred leader first."""

    topic: TopicName
    partition: PartitionId
    replicas: Annotated[list[BrokerId], Field(min_length=1, max_length=1000)]


class EvacuateFields(RequestModel):
    """Who is to lead nothing."""

    brokers: list[BrokerId] = Field(default_factory=list)
    racks: list[Rack] = Field(default_factory=list)


class BatchFields(RequestModel):
    """What no batch exceeds; null is no limit."""

    max_moves_in_per_broker: Number | None = Field(4, description="Replicas that a broker takes in one batch.")
    max_moves_out_per_broker: Number | None = Field(None, description="Replicas copied from a broker in one batch.")
    max_bytes_in_per_broker: Annotated[int, Field(ge=1, le=INT64_MAX)] | None = Field(
        None, description="Bytes that a broker takes in one batch, before anything is deleted."
    )
    max_partitions: Number | None = None
    max_disk_share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="How full a disk may be at any time, where `capacity.disk_bytes` of the broker says its size."
    )
    throttle_bytes_per_s: Annotated[int, Field(ge=1, le=INT64_MAX)] | None = Field(
        None, description="Of every broker, in and out alike: says how long a batch takes."
    )
    hottest: Literal["last", "first"] = Field(
        "last", description="When the partitions move that most flows into, or that are largest where that is not told."
    )


class PlanReassignmentRequest(RequestModel):
    """Changes to a snapshot's cluster, alone or together."""

    snapshot_id: Id
    add_brokers: list[BrokerRequest] = Field(default_factory=list, description="They may exist on paper only.")
    remove_brokers: list[BrokerId] = Field(default_factory=list)
    replace_brokers: dict[BrokerKey, BrokerId] = Field(
        default_factory=dict,
        description="By broker its successor, which takes its places. If it is not listed, it is in the same rack.",
    )
    replication_factor: dict[TopicName, Factor] = Field(
        default_factory=dict, description="By topic; where it is lowered the preferred leader stays."
    )
    partitions: dict[TopicName, Number] = Field(
        default_factory=dict, description="By topic how many there are to be in all."
    )
    topics: list[TopicName] | None = Field(
        None, description="What may move; all where it is left out. The others count where they stay."
    )
    leaders_only: bool = Field(False, description="No replica moves; leaders become even.")
    fix_offline_replicas: bool = Field(False, description="Nothing stays on brokers that are fenced or down.")
    repair_racks: bool = Field(
        True, description="Partitions that span fewer racks than they could are mended; otherwise they may stay so."
    )
    rack_mode: Literal["enforced", "safe", "disabled"] = Field(
        "enforced",
        description="`enforced`: a partition spans as many racks as it has replicas, as far as there are racks before "
        "anyone goes, and every broker needs one; `safe`: the racks that are left, none where some broker has none; "
        "`disabled`: racks do not count.",
    )
    max_replicas_per_rack: Number | None = Field(None, description="Of one partition.")
    forbid_brokers: list[BrokerId] = Field(
        default_factory=list, description="They receive nothing that is new to them."
    )
    isolate: Annotated[list[IsolateFields], Field(max_length=1000)] = Field(default_factory=list)
    pins: list[PinFields] = Field(default_factory=list, description="They stand above the rule of racks.")
    evacuate_leaders: EvacuateFields = Field(default_factory=EvacuateFields)
    balance: BalanceFields = Field(default_factory=BalanceFields)
    ingress_bytes_per_s: dict[TopicName, Rate | list[Rate]] | None = Field(
        None, description="By topic what flows into all of it, or into each of its partitions as they are afterwards."
    )
    minimise: Literal["bytes", "replicas"] = "bytes"
    max_moved_bytes: Bytes | None = Field(None, description="A budget: the best balance that it pays for.")
    trade_off: bool = Field(False, description="Also answer a table of movement against balance.")
    unknown_sizes: Literal["estimate"] | None = Field(
        None, description="`estimate`: partitions of unknown size are as large as others of their topic."
    )
    on_conflict: Literal["refuse", "relax"] = Field(
        "refuse", description="`relax`: plan the nearest that there is, and say in `relaxed` what was given up."
    )
    running_reassignment: Literal["refuse", "merge"] = Field(
        "refuse", description="`merge`: partitions that are on their way already are taken to be where they go."
    )
    deadline_s: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] | None = Field(
        None, description="Answer the best that was found by then, with its gap."
    )
    batches: BatchFields = Field(default_factory=BatchFields)
    labels: Labels = Field(default_factory=dict)

    def service(self) -> ReassignmentRequest:
        """As the service knows it."""
        return PLANNER.restored(self.model_dump())
