"""Consumer groups as a snapshot's request writes them."""

from typing import Annotated

from pydantic import AfterValidator, Field

from app.api.fields import Base64, Generation, GroupString, Int64, PartitionId, Rack, TopicName
from app.api.fields import Request as RequestModel
from app.core.recorded import RecordedGroup
from app.formats import recorded_json

ByTopic = Annotated[dict[TopicName, list[PartitionId]], AfterValidator(lambda by_topic: dict(sorted(by_topic.items())))]
"""Partitions by topic; the order in which a caller writes the topics says nothing."""


class RecordedMemberRequest(RequestModel):
    """A member. Without `topics` its subscription is not known, and its rack and what it owns are not, either."""

    member_id: GroupString
    client_id: GroupString | None = None
    host: GroupString | None = None
    group_instance_id: GroupString | None = None
    rack_id: Rack | None = None
    topics: list[TopicName] | None = Field(None, description="As subscribed.")
    owned_partitions: ByTopic | None = Field(None, description="What it said it owns.")
    generation_id: Generation | None = Field(None, description="Of what it owns.")
    user_data: Base64 | None = Field(None, description="The assignor's own bytes in the subscription, in base64.")
    assigned_partitions: ByTopic | None = Field(None, description="What it was given.")


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
        return recorded_json.group(self.model_dump())
