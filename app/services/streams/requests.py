"""What is asked about a Streams application, as plain records: the same that a job keeps and a plan is hashed by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from app.core.model import Broker
from app.errors import Json
from app.services.groups.requests import GroupTopic
from app.services.plans import as_json


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """One instance of the application.

    Parameters
    ----------
    process_id : a UUID, or a name where all clients have names; None where the subscription says it.
    subscription_info : the user data of a subscription in base64, in place of the process id, tags and previous tasks.
    lags : by task; −2 stands for a task that it runs, −3 for one of which nobody knows.
    default_lag : of the stateful tasks that `lags` does not name; None where that is not said.
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


@dataclass(frozen=True, slots=True)
class SubtopologyRequest:
    """A subtopology: the topics that its tasks read, and those that they restore their state from."""

    id: int
    source_topics: Sequence[str] = ()
    changelog_topics: Sequence[str] = ()
    is_stateful: bool | None = None


@dataclass(frozen=True, slots=True)
class StreamsRequest:
    """An application to plan.

    Parameters
    ----------
    tasks : None where subtopologies and the topics' partition counts say which there are.
    stateful_tasks : None where subtopologies say which have state.
    topology : what `Topology#describe()` prints, in place of subtopologies; application_id : in front of the names of
        topics that Kafka Streams makes itself.
    snapshot_id, or brokers and topics : where partitions are and in which racks; neither where nobody asks for racks.
    state_bytes : by task, what a copy of its state has.
    """

    clients: Sequence[ClientRequest]
    assignor: str = "high_availability"
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
    labels: Mapping[str, str] = field(default_factory=dict)


def stored(request: StreamsRequest) -> Mapping[str, Json]:
    """A request as a job keeps it; `restored` reads it again."""
    plain: dict[str, Json] = as_json(request)
    return plain


def restored(plain: Mapping[str, Any]) -> StreamsRequest:
    """The inverse of `stored`. The shape is trusted: what others send is checked before it comes here."""
    return _READER.validate_python(plain)


_READER = TypeAdapter(StreamsRequest)
