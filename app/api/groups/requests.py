"""The request for a group plan."""

from typing import Annotated, Any, Literal

from pydantic import Field, Tag

from app.api.models.clusters import PartitionRequest
from app.core.groups.registry import ASSIGNORS
from app.errors.requests import ConflictingFields
from app.services.bodies import Request as RequestModel
from app.services.bodies import by_only_field
from app.services.brokers import BrokerRequest
from app.services.fields import (
    BrokerId,
    Bytes,
    ComparedReleases,
    GroupString,
    Id,
    Int32,
    Labels,
    PartitionId,
    Rack,
    RequestedRelease,
    TopicId,
    TopicName,
    known_name,
)
from app.services.groups import PLANNER, ClientLibrary, GroupRequest
from app.services.snapshot_choice import OnSnapshot

MOST_PARTITIONS = 5_000_000
Count = Annotated[Int32, Field(ge=1, le=MOST_PARTITIONS)]
ReplicaRows = Annotated[
    list[Annotated[list[BrokerId], Field(min_length=1)]],
    Field(description="The replicas of each partition, by id, the preferred leader first."),
]


MemberPattern = Annotated[GroupString, Field(max_length=249)]


AssignorName = Annotated[str, known_name("assignor", ASSIGNORS), Field(json_schema_extra={"enum": list(ASSIGNORS)})]


class GroupTopicRequest(RequestModel):
    """A topic: its partitions with their replicas, or their number, if the replicas are unknown."""

    name: TopicName
    topic_id: TopicId | None = None
    """The topic id as `kafka-topics --describe` prints it, 16 bytes in URL-safe base64; null if unknown."""
    partitions: Count | list[PartitionRequest]
    """Partitions with their replicas, or their number if the replicas are unknown."""

    def plain(self, place: int) -> dict[str, Any]:
        """As the service reads it. Raises `ConflictingFields` unless partitions are numbered from 0 on, each once."""
        fields = {"name": self.name, "topic_id": self.topic_id}
        if isinstance(self.partitions, int):
            return fields | {"partitions": self.partitions}
        listed = sorted(self.partitions, key=lambda partition: partition.partition)
        for expected, partition in enumerate(listed):
            if partition.partition != expected:
                what = "listed twice" if partition.partition < expected else f"there, and {expected} is not"
                detail = f"partition {self.name}-{partition.partition} is {what}; an assignor needs all from 0 on"
                raise ConflictingFields(detail, path=("topics", place, "partitions"), value=partition.partition)
        return fields | {"partitions": len(listed), "replicas": [partition.replicas for partition in listed]}


class GroupMemberRequest(RequestModel):
    """A member, by its subscription or by the coordinator's bytes of it: `member_metadata`."""

    member_id: GroupString
    """Id of the member; ids decide ties."""
    group_instance_id: GroupString | None = None
    """Makes it a static member."""
    rack_id: Rack | None = None
    """Its `client.rack`; `""` counts as none."""
    topics: list[TopicName] | None = None
    """The topics of its subscription."""
    owned_partitions: dict[TopicName, list[PartitionId]] | None = None
    """Its current partitions, from which moves are counted. The sticky assignors, `uniform` and `optimal` use them."""
    generation_id: Annotated[Int32, Field(ge=-1)] | None = None
    """The generation of `owned_partitions`. Without one, the sticky assignor ignores them."""
    member_metadata: Annotated[str, Field(max_length=10_000_000)] | None = None
    """The raw bytes of ConsumerProtocolSubscription, in base64, in place of the fields above."""
    client: ClientLibrary | None = None
    """The client library, by default Kafka's own: its leader runs the classic assignors."""


class MemberOverrideRequest(RequestModel):
    """The rack or subscription of members of a recorded group. One of `member_id`, `client_id` and `host` selects them;
    `*` and `?` in the latter two match any characters.
    """

    member_id: GroupString | None = None
    """Id of the member that is selected; null if another field selects."""
    client_id: MemberPattern | None = Field(None, examples=["billing-*"])
    """Pattern of `client.id`; null if another field selects."""
    host: MemberPattern | None = Field(None, examples=["/10.0.1.*"])
    """Pattern of the client's address as Kafka's tools print it; null if another field selects."""
    rack_id: Rack | None = None
    """Their `client.rack`; `""` is none."""
    topics: list[TopicName] | None = None
    """Their subscription."""
    client: ClientLibrary | None = None
    """Their client library."""


class JoinRequest(RequestModel):
    """A member joins."""

    join: GroupMemberRequest
    """The member that joins."""


class LeaveRequest(RequestModel):
    """A member leaves, or its session times out."""

    leave: GroupString
    """Id of the member that leaves."""


class ReplacedMember(RequestModel):
    """A member, and its new id and subscription."""

    member_id: GroupString
    """Id of the member before the restart."""
    by: GroupMemberRequest
    """The member after the restart."""


class ReplaceRequest(RequestModel):
    """A member restarts under another id; with its group instance id there is no rebalance."""

    replace: ReplacedMember
    """The member before and after the restart."""


class RollingRestartRequest(RequestModel):
    """Every member is restarted, one after another: a step each. Static members keep what they have."""

    rolling_restart: Literal[True]
    """Always true."""


class LoseRackRequest(RequestModel):
    """A rack is lost, with its brokers and members."""

    lose_rack: Annotated[Rack, Field(min_length=1)]
    """Name of the lost rack."""


class GrownTopic(RequestModel):
    """A topic and its new number of partitions."""

    topic: TopicName
    partitions: Count
    """New number of partitions."""
    replicas: ReplicaRows | None = None
    """Replicas of the new partitions, if known."""


class TopicGrownRequest(RequestModel):
    """A topic gets more partitions."""

    topic_grown: GrownTopic
    """The topic and its new number of partitions."""


class RackedBroker(RequestModel):
    """A broker and its new rack."""

    id: BrokerId
    """Id of the broker."""
    rack: Rack | None = None
    """Its rack after the change; null for none."""


class ChangedRacks(RequestModel):
    """Brokers with other racks, and topics whose partitions have other replicas."""

    brokers: list[RackedBroker] = Field(default_factory=list)
    """Brokers whose rack changes."""
    replicas: dict[TopicName, ReplicaRows] = Field(default_factory=dict)
    """New replicas of all partitions, by topic."""


class ReplicaRacksChangedRequest(RequestModel):
    """The racks of replicas change; a rack-aware leader rebalances (KIP-881)."""

    replica_racks_changed: ChangedRacks
    """The brokers and topics that change."""


_SINGLE_EVENTS = (
    JoinRequest,
    LeaveRequest,
    ReplaceRequest,
    LoseRackRequest,
    TopicGrownRequest,
    ReplicaRacksChangedRequest,
)
SingleEventRequest = Annotated[
    Annotated[JoinRequest, Tag("join")]
    | Annotated[LeaveRequest, Tag("leave")]
    | Annotated[ReplaceRequest, Tag("replace")]
    | Annotated[LoseRackRequest, Tag("lose_rack")]
    | Annotated[TopicGrownRequest, Tag("topic_grown")]
    | Annotated[ReplicaRacksChangedRequest, Tag("replica_racks_changed")],
    by_only_field(_SINGLE_EVENTS),
]


class BurstRequest(RequestModel):
    """Events within one assignment interval of the coordinator (KIP-1263): one step since Kafka 4.3, and a step each
    before, and for the assignors of the classic protocol.
    """

    burst: Annotated[list[SingleEventRequest], Field(min_length=1)]
    """Events that one assignment takes in together, in order."""


_EVENTS = (*_SINGLE_EVENTS, RollingRestartRequest, BurstRequest)
EventRequest = Annotated[
    Annotated[JoinRequest, Tag("join")]
    | Annotated[LeaveRequest, Tag("leave")]
    | Annotated[ReplaceRequest, Tag("replace")]
    | Annotated[RollingRestartRequest, Tag("rolling_restart")]
    | Annotated[LoseRackRequest, Tag("lose_rack")]
    | Annotated[TopicGrownRequest, Tag("topic_grown")]
    | Annotated[ReplicaRacksChangedRequest, Tag("replica_racks_changed")]
    | Annotated[BurstRequest, Tag("burst")],
    by_only_field(_EVENTS),
]
Weights = Annotated[dict[TopicName, list[Bytes]], Field(description="By topic and partition id.")]


class PlanGroupRequest(OnSnapshot):
    """A group, on a snapshot's cluster or on brokers and topics that are listed here."""

    brokers: list[BrokerRequest] | None = None
    """Brokers with their racks; null if a snapshot has them, or if racks do not matter."""
    topics: list[GroupTopicRequest] | None = None
    """Topics of the subscriptions; null if a snapshot has them."""
    assignor: AssignorName | Annotated[list[AssignorName], Field(min_length=1, max_length=len(ASSIGNORS))] | None = (
        Field(
            None,
            description="The group's assignor; of several, the first, with which the others are compared. The default "
            "is that of a recorded group, and `range` for listed members. "
            + "; ".join(f"`{one.name}`: {one.summary}" for one in ASSIGNORS.values()),
        )
    )
    group: GroupString | None = None
    """A group of the snapshot, in place of `members`."""
    member_overrides: Annotated[list[MemberOverrideRequest], Field(max_length=200)] = Field(default_factory=list)
    """Racks and subscriptions of the members of `group`, which the tables of Kafka's tools do not have. Of several that
    match a member, the first that has a field decides it."""
    members: list[GroupMemberRequest] | None = None
    """Members in the order of the group; null if `group` names a recorded one."""
    leader: GroupString | None = None
    """The member that leads the group; the first one by default."""
    events: list[EventRequest] = Field(default_factory=list)
    """Events of the group, in order."""
    previous_snapshot_id: Id | None = None
    """The snapshot of the previous assignment, to see whether its changes make the leader rebalance."""
    bytes_per_s: Weights | None = None
    """The rate at which each partition is read, the weight of reads in rack."""
    lag: Weights | None = None
    """Records that remain to be read; those of the snapshot's group by default."""
    balance: Literal["partitions", "lag", "bytes_per_s"] = "partitions"
    """The load that the optimum balances among members."""
    assignable: dict[TopicName, list[PartitionId]] | None = None
    """Of a share group since Kafka 4.1, by topic the partitions that may be assigned, which are those that the group
    has initialised; a topic that is missing has none. By default all partitions."""
    kafka_version: RequestedRelease = None
    compare_kafka_versions: ComparedReleases = Field(default_factory=list)
    labels: Labels = Field(default_factory=dict)

    def service(self) -> GroupRequest:
        """As the service knows it. Raises `ConflictingFields`."""
        names = [self.assignor] if isinstance(self.assignor, str) else list(dict.fromkeys(self.assignor or ()))
        topics = None if self.topics is None else [topic.plain(place) for place, topic in enumerate(self.topics)]
        return PLANNER.restored(
            self.model_dump(exclude={"assignor", "topics"}) | {"assignors": names, "topics": topics}
        )
