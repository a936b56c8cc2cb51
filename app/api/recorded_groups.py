"""Consumer groups as a snapshot's request writes them."""

from base64 import b64decode

from pydantic import Field

from app.api.fields import Base64, Generation, GroupString, Int64, PartitionId, Rack, TopicName
from app.api.fields import Request as RequestModel
from app.core.recorded import RecordedGroup, RecordedMember, RecordedOffset, TopicPartitions


class RecordedMemberRequest(RequestModel):
    """A member. Without `topics` its subscription is not known, and its rack and what it owns are not, either."""

    member_id: GroupString
    client_id: GroupString | None = None
    host: GroupString | None = None
    group_instance_id: GroupString | None = None
    rack_id: Rack | None = None
    topics: list[TopicName] | None = Field(None, description="As subscribed.")
    owned_partitions: dict[TopicName, list[PartitionId]] | None = Field(None, description="What it said it owns.")
    generation_id: Generation | None = Field(None, description="Of what it owns.")
    user_data: Base64 | None = Field(None, description="The assignor's own bytes in the subscription, in base64.")
    assigned_partitions: dict[TopicName, list[PartitionId]] | None = Field(None, description="What it was given.")

    def core(self) -> RecordedMember:
        """As the core knows it."""
        return RecordedMember(
            member_id=self.member_id,
            client_id=self.client_id,
            host=self.host,
            group_instance_id=self.group_instance_id,
            rack_id=self.rack_id or None,
            topics=None if self.topics is None else tuple(self.topics),
            owned=_by_topic(self.owned_partitions),
            generation_id=self.generation_id,
            user_data=None if self.user_data is None else b64decode(self.user_data),
            assigned=_by_topic(self.assigned_partitions),
        )


class RecordedOffsetRequest(RequestModel):
    """How far a group has read a partition."""

    topic: TopicName
    partition: PartitionId
    current_offset: Int64 | None = None
    log_end_offset: Int64 | None = None
    lag: Int64 | None = Field(None, description="Records; below 0 where the log was cut back.")
    member_id: GroupString | None = Field(None, description="Who reads it.")


class RecordedGroupRequest(RequestModel):
    """A consumer group as it is."""

    group_id: GroupString
    state: GroupString | None = Field(None, examples=["Stable"])
    assignor: GroupString | None = Field(None, examples=["range"])
    members: list[RecordedMemberRequest] = Field(default_factory=list)
    offsets: list[RecordedOffsetRequest] = Field(default_factory=list)

    def core(self) -> RecordedGroup:
        """As the core knows it."""
        return RecordedGroup(
            group_id=self.group_id,
            state=self.state,
            assignor=self.assignor,
            members=tuple(member.core() for member in self.members),
            offsets=tuple(RecordedOffset(**offset.model_dump()) for offset in self.offsets),
        )


def _by_topic(partitions: dict[str, list[int]] | None) -> tuple[TopicPartitions, ...] | None:
    """By topic, as a client's subscription has them; the order of an object's keys says nothing."""
    return None if partitions is None else tuple(TopicPartitions(t, tuple(partitions[t])) for t in sorted(partitions))
