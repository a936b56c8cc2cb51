"""The request for a Streams plan: the record that a job stores and a plan is hashed by, with the parts of its body."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from app.core.streams.model import RackAwareStrategy
from app.core.streams.registry import DEFAULT_CLASSIC, STREAMS_ASSIGNORS
from app.errors import Json
from app.services import fields
from app.services.amounts import AnyBytes
from app.services.bodies import ListOf, RequestRecord, one_of
from app.services.groups import GroupTopic
from app.services.plans import as_json

Protocol = Literal["classic", "streams"]
TaskName = Annotated[str, Field(min_length=1, max_length=40, examples=["0_3"])]
Cost = Annotated[fields.Int32, Field(ge=0)]
Lag = Annotated[fields.Int64, Field(ge=-3, description="−2: it runs the task; −3: unknown.")]
TagKey = Annotated[str, Field(min_length=1, max_length=249)]
Behind = Annotated[
    fields.Int64, Field(ge=0, description="Offsets by which each task of a client lags after its restart.")
]


@dataclass(frozen=True)
class ThreadRequest(RequestRecord, schema="StreamsMemberRequest"):
    """A member of a streams group (KIP-1071), which is a stream thread, with its tasks in the target assignment."""

    member_id: fields.GroupString
    """Id of the member; ids decide ties."""
    previous_active: ListOf[TaskName] = field(default_factory=list)
    """Ids of tasks that the member ran."""
    previous_standby: ListOf[TaskName] = field(default_factory=list)
    """Ids of tasks of which the member had a standby."""
    task_offsets: Mapping[TaskName, fields.Bytes] = field(default_factory=dict)
    """By task with state on its disk, the offset up to which it is restored; read since Kafka 4.4."""


@dataclass(frozen=True)
class ClientRequest(RequestRecord, schema="StreamsClientRequest"):
    """One instance of the application."""

    process_id: fields.GroupString | None = None
    """A UUID; or a name, if all clients have names."""
    subscription_info: Annotated[str, Field(max_length=10_000_000)] | None = None
    """The user data of its subscription, in base64, versions 1–11: process id, tags and previous tasks."""
    capacity: Annotated[fields.Int32, Field(ge=1)] = 1
    """Stream threads."""
    client_tags: Mapping[fields.Name, fields.Name] = field(default_factory=dict)
    """`client.tag.<key>` by key."""
    rack_id: fields.Rack | None = None
    """`client.rack` of its consumers."""
    previous_active: ListOf[TaskName] = field(default_factory=list)
    """Ids of tasks that the client ran."""
    previous_standby: ListOf[TaskName] = field(default_factory=list)
    """Ids of tasks of which the client had a standby or warm-up."""
    lags: Mapping[TaskName, Lag] = field(default_factory=dict)
    """By stateful task, the offsets by which the client lags."""
    default_lag: Annotated[fields.Int64, Field(ge=0)] | None = None
    """The lag of stateful tasks that are not in `lags`. By default a client has all state of its previous tasks, and no
    state of others: its lag is then their `changelog_offsets`, 0 where `state_bytes` is 0, and otherwise unbounded."""
    members: ListOf[ThreadRequest] = field(default_factory=list)
    """Under `streams`, the client's threads, which have its previous tasks; by default `capacity` of them, called
    `<process_id>-1` and so on. Their ids and process ids decide ties."""


@dataclass(frozen=True)
class SubtopologyRequest(RequestRecord):
    """A subtopology: the source topics of its tasks, and the changelogs of their state."""

    id: Annotated[fields.Int32, Field(ge=0)]
    """Number of the subtopology, the first part of its tasks' ids."""
    source_topics: ListOf[fields.TopicName]
    """Names of the topics that its tasks read."""
    changelog_topics: ListOf[fields.TopicName] = field(default_factory=list)
    """Names of the changelog topics of its state."""
    is_stateful: bool | None = None
    """By default, whether it has changelogs."""


@dataclass(frozen=True)
class Deploy(RequestRecord, schema="RollingDeployment"):
    """Every client restarts, one after another."""

    keeps_state: bool = True
    """Whether a client still has its state directory after the restart."""
    behind: Behind = 0
    outlasts_session: bool = True
    """Whether the restart exceeds the session timeout, so that the group rebalances."""


@dataclass(frozen=True)
class JoiningClient(RequestRecord):
    """A client that joins; it has no state."""

    process_id: fields.GroupString
    """Process id of the client: a UUID, or a name if all clients have names."""
    capacity: Annotated[fields.Int32, Field(ge=1)] = 1
    """Number of stream threads."""
    client_tags: Mapping[TagKey, fields.Name] = field(default_factory=dict)
    """`client.tag.<key>` by key."""
    rack_id: fields.Rack | None = None
    """`client.rack` of its consumers; null for none."""
    member_ids: ListOf[fields.GroupString] = field(default_factory=list)
    """Under `streams`, the ids of its threads; `<process_id>-1` and so on."""


@dataclass(frozen=True)
class TagValue(RequestRecord):
    """A value of a client tag."""

    tag: TagKey
    """Name of the tag, as in `client.tag.<name>`."""
    value: fields.Name
    """Value of the tag."""


@dataclass(frozen=True, slots=True)
class StreamsEvent:
    """One event: the only field that is set is its kind."""

    rolling_deploy: Deploy | None = None
    deploy_at_once: Deploy | None = None
    lose_client: str | None = None
    lose_tag: TagValue | None = None
    lose_rack: str | None = None
    scale_out: Sequence[JoiningClient] | None = None
    scale_in: Sequence[str] | None = None

    def as_json(self) -> dict[str, Json]:
        """As the caller wrote it: an object of one key."""
        plain: dict[str, Any] = as_json(self)
        for client in plain["scale_out"] or ():
            omit_if_empty(client, "member_ids")
        return {name: value for name, value in plain.items() if value is not None}


def omit_if_empty(written: dict[str, Any], *names: str) -> None:
    """Remove fields that are not set: a request that does not use them has the hash that it had before they existed."""
    for name in names:
        if not written[name]:
            del written[name]


@dataclass(frozen=True, kw_only=True)
class StreamsRequest(fields.SnapshotFields):
    """An application: its tasks and its clients."""

    topology: Annotated[str, Field(min_length=1)] | None = None
    """The output of `Topology#describe()`, in place of `subtopologies`."""
    application_id: fields.TopicName | None = None
    """`application.id`, the prefix of internal topics."""
    tasks: ListOf[TaskName] | None = None
    """By default, one for each partition that a subtopology reads."""
    stateful_tasks: ListOf[TaskName] | None = None
    """By default, all of stateful subtopologies."""
    subtopologies: ListOf[SubtopologyRequest] | None = None
    """The topics of tasks, which KIP-925 needs for the racks of partitions."""
    brokers: fields.ListedBrokers | None = None
    """Brokers with their racks; null if a snapshot has them, or if racks do not matter."""
    topics: ListOf[GroupTopic] | None = None
    """Source and changelog topics; null if a snapshot has them."""
    protocol: Protocol = "classic"
    """`classic`: the group's leader assigns. `streams` (KIP-1071, since Kafka 4.1): the coordinator assigns to the
    members of clients, as `kafka_version` does."""
    assignor: Annotated[
        Annotated[str, one_of(STREAMS_ASSIGNORS)] | None,
        Field(
            description="Under `streams`, `sticky` by default, the coordinator's. Under `classic`, "
            f"`{DEFAULT_CLASSIC}` by default; "
            + "; ".join(f"`{assignor.name}`: {assignor.summary}" for assignor in STREAMS_ASSIGNORS.values())
        ),
    ] = None
    group: fields.GroupString | None = None
    """A Streams group of the snapshot (`kafka-streams-groups --describe --members`), in place of `clients`: a client
    for each process, with its current tasks as previous ones; under `streams` with its members and their tasks in the
    target assignment."""
    clients: ListOf[ClientRequest] = field(default_factory=list)
    """Instances of the application; null if `group` names a recorded group."""
    num_standby_replicas: Annotated[int, Field(ge=0, le=10_000)] = 0
    """`num.standby.replicas`: number of standbys of each stateful task."""
    rack_aware_assignment_tags: ListOf[fields.Name] = field(default_factory=list)
    """`rack.aware.assignment.tags`: tags by which the copies of a task are separated."""
    acceptable_recovery_lag: Annotated[fields.Int64, Field(ge=0)] = 10_000
    """`acceptable.recovery.lag`: offsets by which a caught-up client may lag."""
    max_warmup_replicas: Annotated[fields.Int32, Field(ge=1)] = 2
    """`max.warmup.replicas`: number of warm-ups at a time, over all tasks."""
    rack_aware_assignment_strategy: Annotated[str, one_of([strategy.value for strategy in RackAwareStrategy])] = "none"
    """`rack.aware.assignment.strategy` (KIP-925)."""
    traffic_cost: Cost | None = None
    """`rack.aware.assignment.traffic_cost`"""
    non_overlap_cost: Cost | None = None
    """`rack.aware.assignment.non_overlap_cost`"""
    state_bytes: Mapping[TaskName, AnyBytes] | None = None
    """Bytes of one copy of a task's state."""
    changelog_offsets: Mapping[TaskName, fields.Bytes] | None = None
    """Offsets to restore for all of a task's state; a million by default."""
    events: ListOf[StreamsEvent] = field(default_factory=list)
    """Events after the plan has been applied, in order."""
    kafka_version: fields.RequestedRelease = None
    compare_kafka_versions: fields.ComparedReleases = field(default_factory=list)
    labels: fields.Labels = field(default_factory=dict)


READER = TypeAdapter(StreamsRequest)
"""Reads the record from plain values of its shape."""
