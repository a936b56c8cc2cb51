"""Recorded groups in the request of a snapshot."""

from typing import Annotated

from pydantic import AfterValidator, Field

from app.core.recorded import GroupType, RecordedGroup
from app.formats.groups import recorded_json
from app.services.bodies import Request as RequestModel
from app.services.fields import Base64, Generation, GroupString, Int32, Int64, PartitionId, Rack, TopicName

ByTopic = Annotated[dict[TopicName, list[PartitionId]], AfterValidator(lambda by_topic: dict(sorted(by_topic.items())))]
"""Partitions by topic; the order of the topics has no meaning."""


Epoch = Annotated[Int32, Field(ge=-2)]
"""Of a member, a group or an assignment; a leaving member has −1, a static one −2."""
TaskName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}_[0-9]{1,10}$", examples=["0_3"])]


class RecordedTasksRequest(RequestModel):
    """The tasks of a member of a Streams group, `<subtopology>_<partition>`."""

    active: list[TaskName] = Field(default_factory=list)
    """Ids of tasks that the member runs."""
    standby: list[TaskName] = Field(default_factory=list)
    """Ids of tasks of which the member has a standby."""
    warmup: list[TaskName] = Field(default_factory=list)
    """Ids of tasks of which the member has a warm-up."""


class RecordedMemberRequest(RequestModel):
    """A member. Without `topics` its subscription, its rack and the partitions that it owns are unknown."""

    member_id: GroupString
    """Id of the member."""
    client_id: GroupString | None = None
    """`client.id`; null if unknown."""
    host: GroupString | None = None
    """Address of the client as Kafka's tools print it, such as `/10.0.1.17`; null if unknown."""
    group_instance_id: GroupString | None = None
    """`group.instance.id` of a static member; null for a dynamic one."""
    rack_id: Annotated[Rack | None, AfterValidator(lambda rack: rack or None)] = None
    """`client.rack`; null or `""` for none."""
    topics: list[TopicName] | None = None
    """Its subscription."""
    owned_partitions: ByTopic | None = None
    """Partitions that it owned, by its subscription."""
    generation_id: Generation | None = None
    """The generation of its owned partitions."""
    user_data: Base64 | None = None
    """The assignor's own bytes in the subscription, in base64."""
    assigned_partitions: ByTopic | None = None
    """Partitions that are assigned to it."""
    member_epoch: Epoch | None = None
    """Of the protocols of KIP-848, KIP-932 and KIP-1071."""
    target_partitions: ByTopic | None = None
    """Its partitions in the target assignment (KIP-848)."""
    process_id: GroupString | None = None
    """The process of a member of a Streams group."""
    tasks: RecordedTasksRequest | None = None
    """Of a member of a Streams group (KIP-1071)."""
    target_tasks: RecordedTasksRequest | None = None
    """Its tasks in the target assignment."""


class RecordedOffsetRequest(RequestModel):
    """How far a group has read a partition."""

    topic: TopicName
    partition: PartitionId
    """Id of the partition in its topic."""
    current_offset: Int64 | None = None
    """Committed offset of the group; null if it has none."""
    log_end_offset: Int64 | None = None
    """Offset after the last record of the partition; null if unknown."""
    lag: Int64 | None = None
    """Records; negative if the log was truncated."""
    member_id: GroupString | None = None
    """The member that reads the partition."""


class RecordedGroupRequest(RequestModel):
    """A recorded group."""

    group_id: GroupString
    """Id of the group."""
    state: GroupString | None = Field(None, examples=["Stable"])
    """State of the group as Kafka's tools print it; null if unknown."""
    assignor: GroupString | None = Field(None, examples=["range"])
    """Name of the group's assignor as Kafka's tools print it; null if unknown."""
    members: list[RecordedMemberRequest] = Field(default_factory=list)
    """Members, in the order of the tool."""
    offsets: list[RecordedOffsetRequest] = Field(default_factory=list)
    """Committed offsets, by partition."""
    type: GroupType | None = None
    """Null for a classic group, and if the type is unknown."""
    group_epoch: Epoch | None = None
    """Epoch of the group; null for a classic group, or if unknown."""
    assignment_epoch: Epoch | None = None
    """Of the target assignment."""
    topology_epoch: Epoch | None = None
    """Of a Streams group."""

    def core(self) -> RecordedGroup:
        """As the core knows it."""
        return recorded_json.group(self.model_dump())
