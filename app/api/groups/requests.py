"""The body of a request for a group plan: the topics and events of it, which the service has in another form."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from app.api.models.clusters import PartitionRequest
from app.errors.requests import ConflictingFields
from app.services.bodies import ListOf, one_event_of
from app.services.bodies import Request as RequestModel
from app.services.fields import GroupString, Rack, TopicId, TopicName
from app.services.groups import GroupEvent, GroupRequest, GroupTopic, MemberRequest
from app.services.groups.requests import ChangedRacks, Count, GrownTopic, ReplacedMember


class GroupTopicRequest(RequestModel):
    """A topic: its partitions with their replicas, or their number, if the replicas are unknown."""

    name: TopicName
    topic_id: TopicId | None = None
    """The topic id as `kafka-topics --describe` prints it, 16 bytes in URL-safe base64; null if unknown."""
    partitions: Count | list[PartitionRequest]
    """Partitions with their replicas, or their number if the replicas are unknown."""

    def listed(self, place: int) -> GroupTopic:
        """As the service reads it. Raises `ConflictingFields` unless partitions are numbered from 0 on, each once."""
        if isinstance(self.partitions, int):
            return GroupTopic(self.name, self.partitions, None, self.topic_id)
        listed = sorted(self.partitions, key=lambda partition: partition.partition)
        for expected, partition in enumerate(listed):
            if partition.partition != expected:
                what = "listed twice" if partition.partition < expected else f"there, and {expected} is not"
                detail = f"partition {self.name}-{partition.partition} is {what}; an assignor needs all from 0 on"
                raise ConflictingFields(detail, path=("topics", place, "partitions"), value=partition.partition)
        return GroupTopic(self.name, len(listed), [partition.replicas for partition in listed], self.topic_id)


class JoinRequest(RequestModel):
    """A member joins."""

    join: MemberRequest
    """The member that joins."""


class LeaveRequest(RequestModel):
    """A member leaves, or its session times out."""

    leave: GroupString
    """Id of the member that leaves."""


class ReplaceRequest(RequestModel):
    """A member restarts under another id; with its group instance id there is no rebalance."""

    replace: ReplacedMember
    """The member before and after the restart."""


class RollingRestartRequest(RequestModel):
    """Every member is restarted, one after another: a step each. Static members keep their partitions."""

    rolling_restart: Literal[True]
    """Always true."""


class LoseRackRequest(RequestModel):
    """A rack is lost, with its brokers and members."""

    lose_rack: Annotated[Rack, Field(min_length=1)]
    """Name of the lost rack."""


class TopicGrownRequest(RequestModel):
    """A topic gets more partitions."""

    topic_grown: GrownTopic
    """The topic and its new number of partitions."""


class ReplicaRacksChangedRequest(RequestModel):
    """The racks of replicas change; a rack-aware leader rebalances (KIP-881)."""

    replica_racks_changed: ChangedRacks
    """The brokers and topics that change."""


SingleEventRequest = one_event_of(
    *(JoinRequest, LeaveRequest, ReplaceRequest, LoseRackRequest, TopicGrownRequest, ReplicaRacksChangedRequest)
)


class BurstRequest(RequestModel):
    """Events within one assignment interval of the coordinator (KIP-1263): one step since Kafka 4.3, and a step each
    before, and for the assignors of the classic protocol.
    """

    burst: Annotated[list[SingleEventRequest], Field(min_length=1)]  # type: ignore[valid-type] # made by `one_event_of`
    """Events that one assignment takes in together, in order."""


EventRequest = one_event_of(
    *(JoinRequest, LeaveRequest, ReplaceRequest, RollingRestartRequest, LoseRackRequest, TopicGrownRequest),
    *(ReplicaRacksChangedRequest, BurstRequest),
)


@dataclass(frozen=True, kw_only=True)
class PlanGroupRequest(GroupRequest):
    """A group, on a snapshot's cluster or on brokers and topics that are listed here."""

    topics: ListOf[GroupTopicRequest] | None = None  # type: ignore[assignment] # replicas are part of a partition
    """Topics of the subscriptions; null if a snapshot has them."""
    events: ListOf[EventRequest] = field(default_factory=list)  # type: ignore[valid-type] # made by `one_event_of`
    """Events of the group, in order."""

    def service(self) -> GroupRequest:
        """As the service knows it. Raises `ConflictingFields`."""
        topics = None if self.topics is None else [topic.listed(place) for place, topic in enumerate(self.topics)]
        return GroupRequest(**vars(self) | {"topics": topics, "events": [*map(_event, self.events)]})


def _event(event: Any) -> GroupEvent:
    stated = dict(event)
    return GroupEvent(**stated | ({"burst": [*map(_event, stated["burst"])]} if "burst" in stated else {}))
