"""The request for a Streams plan, as plain records: what a job stores and a plan is hashed by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from pydantic import TypeAdapter

from app.core.model import Broker
from app.errors import Json
from app.services.groups import GroupTopic
from app.services.plans import as_json

Protocol = Literal["classic", "streams"]


@dataclass(frozen=True, slots=True)
class ThreadRequest:
    """A member of a streams group (KIP-1071), which is a stream thread of a client.

    Parameters
    ----------
    task_offsets : by task, the offset up to which its state is restored, as the member reports it.
    """

    member_id: str
    previous_active: Sequence[str] = ()
    previous_standby: Sequence[str] = ()
    task_offsets: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """One instance of the application.

    Parameters
    ----------
    process_id : a UUID, or a name where all clients have names; None if the subscription has it.
    subscription_info : the user data of a subscription in base64, in place of the process id, tags and previous tasks.
    lags : by task; −2 is a task that it runs, −3 for an unknown lag.
    default_lag : of the stateful tasks that `lags` does not name; None if not reported.
    members : of a streams group, the client's threads; they have the previous tasks.
    """

    process_id: str | None = None
    subscription_info: str | None = None
    capacity: int = 1
    client_tags: Mapping[str, str] = field(default_factory=dict)
    rack_id: str | None = None
    previous_active: Sequence[str] = ()
    previous_standby: Sequence[str] = ()
    lags: Mapping[str, int] = field(default_factory=dict)
    default_lag: int | None = None
    members: Sequence[ThreadRequest] = ()


@dataclass(frozen=True, slots=True)
class SubtopologyRequest:
    """A subtopology: the topics that its tasks read, and those that they restore their state from."""

    id: int
    source_topics: Sequence[str] = ()
    changelog_topics: Sequence[str] = ()
    is_stateful: bool | None = None


@dataclass(frozen=True, slots=True)
class Deploy:
    """How clients are restarted: with their state directories or without, and how far behind they come back."""

    keeps_state: bool = True
    behind: int = 0
    outlasts_session: bool = True


@dataclass(frozen=True, slots=True)
class JoiningClient:
    """A client that joins, without state; member_ids : of its threads, in a streams group."""

    process_id: str
    capacity: int = 1
    client_tags: Mapping[str, str] = field(default_factory=dict)
    rack_id: str | None = None
    member_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TagValue:
    """A value of a client tag."""

    tag: str
    value: str


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


def omit_if_empty(fields: dict[str, Any], *names: str) -> None:
    """Remove fields that are not set: a request that does not use them has the hash that it had before they existed."""
    for name in names:
        if not fields[name]:
            del fields[name]


@dataclass(frozen=True, slots=True)
class StreamsRequest:
    """An application to plan.

    Parameters
    ----------
    protocol : `classic`, in which the group's leader assigns, or `streams` (KIP-1071), in which the coordinator does.
    assignor : one of the protocol; None is its default.
    group : a Streams group of the snapshot, in place of clients.
    tasks : None where subtopologies and the topics' partition counts say which there are.
    stateful_tasks : None where subtopologies say which have state.
    topology : what `Topology#describe()` prints, in place of subtopologies; application_id : in front of the names of
        topics that Kafka Streams makes itself.
    snapshot_id, or brokers and topics : where partitions are and in which racks; neither if racks do not matter.
    state_bytes : by task, what a copy of its state has. changelog_offsets : what restoring all of it takes.
    events : what happens once the plan holds, in order.
    compare_kafka_versions : releases whose answers are compared with the plan.
    kafka_version : the release that assigns; None is the snapshot's, or the newest.
    """

    clients: Sequence[ClientRequest] = ()
    group: str | None = None
    assignor: str | None = None
    protocol: Protocol = "classic"
    topology: str | None = None
    application_id: str | None = None
    tasks: Sequence[str] | None = None
    stateful_tasks: Sequence[str] | None = None
    subtopologies: Sequence[SubtopologyRequest] | None = None
    snapshot_id: UUID | None = None
    brokers: Sequence[Broker] | None = None
    topics: Sequence[GroupTopic] | None = None
    num_standby_replicas: int = 0
    max_warmup_replicas: int = 2
    acceptable_recovery_lag: int = 10_000
    rack_aware_assignment_tags: Sequence[str] = ()
    rack_aware_assignment_strategy: str = "none"
    traffic_cost: int | None = None
    non_overlap_cost: int | None = None
    state_bytes: Mapping[str, int] | None = None
    changelog_offsets: Mapping[str, int] | None = None
    events: Sequence[StreamsEvent] = ()
    kafka_version: str | None = None
    compare_kafka_versions: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


READER = TypeAdapter(StreamsRequest)
"""Reads the record from plain values of its shape; the shape is trusted."""
