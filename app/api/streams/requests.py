"""The request for a Streams plan."""

from typing import Annotated, Literal

from pydantic import Field

from app.api.groups import GroupTopicRequest
from app.api.streams.events import StreamsEventRequest
from app.core.streams.model import RackAwareStrategy
from app.core.streams.registry import DEFAULT_CLASSIC, STREAMS_ASSIGNORS
from app.errors.requests import ConflictingFields
from app.services.bodies import Request as RequestModel
from app.services.brokers import BrokerRequest
from app.services.fields import (
    Bytes,
    ComparedReleases,
    GroupString,
    Int32,
    Int64,
    Labels,
    Name,
    Rack,
    RequestedRelease,
    TopicName,
)
from app.services.snapshot_choice import OnSnapshot
from app.services.streams import PLANNER, Protocol, StreamsRequest

TaskName = Annotated[str, Field(min_length=1, max_length=40, examples=["0_3"])]
Cost = Annotated[Int32, Field(ge=0)]
Lag = Annotated[Int64, Field(ge=-3, description="−2: it runs the task; −3: unknown.")]


class StreamsMemberRequest(RequestModel):
    """A member of a streams group (KIP-1071), which is a stream thread, with its tasks in the target assignment."""

    member_id: GroupString
    """Id of the member; ids decide ties."""
    previous_active: list[TaskName] = Field(default_factory=list)
    """Ids of tasks that the member ran."""
    previous_standby: list[TaskName] = Field(default_factory=list)
    """Ids of tasks of which the member had a standby."""
    task_offsets: dict[TaskName, Bytes] = Field(default_factory=dict)
    """By task with state on its disk, the offset up to which it is restored; read since Kafka 4.4."""


class StreamsClientRequest(RequestModel):
    """One instance of the application."""

    process_id: GroupString | None = None
    """A UUID; or a name, if all clients have names."""
    subscription_info: Annotated[str, Field(max_length=10_000_000)] | None = None
    """The user data of its subscription, in base64, versions 1–11: process id, tags and previous tasks."""
    capacity: Annotated[Int32, Field(ge=1)] = 1
    """Stream threads."""
    client_tags: dict[Name, Name] = Field(default_factory=dict)
    """`client.tag.<key>` by key."""
    rack_id: Rack | None = None
    """`client.rack` of its consumers."""
    previous_active: list[TaskName] = Field(default_factory=list)
    """Ids of tasks that the client ran."""
    previous_standby: list[TaskName] = Field(default_factory=list)
    """Ids of tasks of which the client had a standby or warm-up."""
    lags: dict[TaskName, Lag] = Field(default_factory=dict)
    """By stateful task, the offsets by which the client lags."""
    default_lag: Annotated[Int64, Field(ge=0)] | None = None
    """The lag of stateful tasks that are not in `lags`. By default a client has all state of its previous tasks, and no
    state of others: its lag is then their `changelog_offsets`, 0 where `state_bytes` is 0, and otherwise unbounded."""
    members: list[StreamsMemberRequest] = Field(default_factory=list)
    """Under `streams`, the client's threads, which have its previous tasks; by default `capacity` of them, called
    `<process_id>-1` and so on. Their ids and those of processes decide ties."""


class SubtopologyRequest(RequestModel):
    """A subtopology: the source topics of its tasks, and the changelogs of their state."""

    id: Annotated[Int32, Field(ge=0)]
    """Number of the subtopology, the first part of its tasks' ids."""
    source_topics: list[TopicName]
    """Names of the topics that its tasks read."""
    changelog_topics: list[TopicName] = Field(default_factory=list)
    """Names of the changelog topics of its state."""
    is_stateful: bool | None = None
    """By default, whether it has changelogs."""


class PlanStreamsRequest(OnSnapshot):
    """An application: its tasks and its clients."""

    topology: Annotated[str, Field(min_length=1)] | None = None
    """The output of `Topology#describe()`, in place of `subtopologies`."""
    application_id: TopicName | None = None
    """`application.id`, the prefix of internal topics."""
    tasks: list[TaskName] | None = None
    """By default, one for each partition that a subtopology reads."""
    stateful_tasks: list[TaskName] | None = None
    """By default, those of stateful subtopologies."""
    subtopologies: list[SubtopologyRequest] | None = None
    """The topics of tasks, which KIP-925 needs for the racks of partitions."""
    brokers: list[BrokerRequest] | None = None
    """Brokers with their racks; null if a snapshot has them, or if racks do not matter."""
    topics: list[GroupTopicRequest] | None = None
    """Source and changelog topics; null if a snapshot has them."""
    protocol: Protocol = "classic"
    """`classic`: the group's leader assigns. `streams` (KIP-1071, since Kafka 4.1): the coordinator assigns to the
    members of clients, as `kafka_version` does."""
    assignor: Literal[tuple(STREAMS_ASSIGNORS)] | None = Field(  # type: ignore[valid-type] # the registry decides
        None,
        description="Under `streams`, `sticky` by default, the coordinator's. Under `classic`, "
        f"`{DEFAULT_CLASSIC}` by default; "
        + "; ".join(f"`{assignor.name}`: {assignor.summary}" for assignor in STREAMS_ASSIGNORS.values()),
    )
    group: GroupString | None = None
    """A Streams group of the snapshot (`kafka-streams-groups --describe --members`), in place of `clients`: a client
    for each process, with its current tasks as previous ones; under `streams` with its members and their tasks in the
    target assignment."""
    clients: list[StreamsClientRequest] | None = None
    """Instances of the application; null if `group` names a recorded group."""
    num_standby_replicas: Annotated[Int32, Field(ge=0)] = 0
    """`num.standby.replicas`: number of standbys of each stateful task."""
    rack_aware_assignment_tags: list[Name] = Field(default_factory=list)
    """`rack.aware.assignment.tags`: tags by which the copies of a task are separated."""
    acceptable_recovery_lag: Annotated[Int64, Field(ge=0)] = 10_000
    """`acceptable.recovery.lag`: offsets by which a caught-up client may lag."""
    max_warmup_replicas: Annotated[Int32, Field(ge=1)] = 2
    """`max.warmup.replicas`: number of warm-ups at a time, over all tasks."""
    rack_aware_assignment_strategy: Literal[tuple(strategy.value for strategy in RackAwareStrategy)] = "none"  # type: ignore[valid-type] # the core decides
    """`rack.aware.assignment.strategy` (KIP-925)."""
    traffic_cost: Cost | None = None
    """`rack.aware.assignment.traffic_cost`"""
    non_overlap_cost: Cost | None = None
    """`rack.aware.assignment.non_overlap_cost`"""
    state_bytes: dict[TaskName, Bytes] | None = None
    """Bytes of one copy of a task's state."""
    changelog_offsets: dict[TaskName, Bytes] | None = None
    """Offsets to restore for all of a task's state; a million by default."""
    events: list[StreamsEventRequest] = Field(default_factory=list)
    """Events after the plan has been applied, in order."""
    kafka_version: RequestedRelease = None
    compare_kafka_versions: ComparedReleases = Field(default_factory=list)
    labels: Labels = Field(default_factory=dict)

    def service(self) -> StreamsRequest:
        """As the service knows it. Raises `ConflictingFields`."""
        if self.clients is None and self.group is None:
            raise ConflictingFields("a request lists clients or names a group of its snapshot", path=("clients",))
        topics = None if self.topics is None else [topic.listed(place) for place, topic in enumerate(self.topics)]
        fields = self.model_dump(exclude={"topics"}) | {"topics": topics}
        return PLANNER.restored(fields | {"clients": fields["clients"] or []})
