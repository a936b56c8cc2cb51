"""The request for a group plan, as plain records: what a job stores and a plan is hashed by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from pydantic import TypeAdapter

from app.core.model import Broker
from app.errors import Json
from app.services.plans import as_json

ClientLibrary = Literal["java", "librdkafka", "kafka-python", "other"]
Balance = Literal["partitions", "lag", "bytes_per_s"]
Replicas = Sequence[Sequence[int]]
"""The replicas of a topic's partitions, by partition id from 0 on."""


@dataclass(frozen=True, slots=True)
class MemberRequest:
    """A member: its subscription, or `member_metadata`, the coordinator's raw bytes in base64.

    `topics` is None where the metadata say it. `owned_partitions` are by topic, in the member's order. `client` is the
    client library; None for Kafka's own.
    """

    member_id: str
    group_instance_id: str | None = None
    rack_id: str | None = None
    topics: Sequence[str] | None = None
    owned_partitions: Mapping[str, Sequence[int]] | None = None
    generation_id: int | None = None
    member_metadata: str | None = None
    client: ClientLibrary | None = None


@dataclass(frozen=True, slots=True)
class ReplacedMember:
    """A member that restarts, and its new id and subscription."""

    member_id: str
    by: MemberRequest


@dataclass(frozen=True, slots=True)
class GrownTopic:
    """A topic, its new number of partitions, and the replicas of the new ones, None if unknown."""

    topic: str
    partitions: int
    replicas: Replicas | None = None


@dataclass(frozen=True, slots=True)
class RackedBroker:
    """A broker, and the rack that it is in now."""

    id: int
    rack: str | None


@dataclass(frozen=True, slots=True)
class ChangedRacks:
    """New racks of brokers, and new replicas of topics."""

    brokers: Sequence[RackedBroker] = ()
    replicas: Mapping[str, Replicas] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """One event: the only field that is set is its kind."""

    join: MemberRequest | None = None
    leave: str | None = None
    replace: ReplacedMember | None = None
    rolling_restart: bool | None = None
    lose_rack: str | None = None
    topic_grown: GrownTopic | None = None
    replica_racks_changed: ChangedRacks | None = None
    burst: "Sequence[GroupEvent] | None" = None

    @property
    def singles(self) -> "Sequence[GroupEvent]":
        """The events of a burst, or the event itself."""
        return self.burst or (self,)

    def as_json(self) -> dict[str, Json]:
        """As the caller wrote it: an object of one key."""
        if self.burst is not None:
            return {"burst": [event.as_json() for event in self.burst]}
        plain: dict[str, Json] = as_json(self)
        return {name: value for name, value in plain.items() if value is not None}


@dataclass(frozen=True, slots=True)
class GroupTopic:
    """A topic that is listed in the request itself; `replicas` is None if unknown."""

    name: str
    partitions: int
    replicas: Replicas | None = None
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemberOverride:
    """What a request adds to recorded members.

    Parameters
    ----------
    member_id, client_id, host : one of them selects the members; `*` and `?` in the latter two match any characters.
    rack_id : `""` for none, None to leave it as recorded. topics : None to leave them. client : the client library.
    """

    member_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    rack_id: str | None = None
    topics: Sequence[str] | None = None
    client: ClientLibrary | None = None


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """A group to plan, on a snapshot's cluster or on listed brokers and topics.

    Parameters
    ----------
    assignors : names in `ASSIGNORS`; the plan is the first one's, the others are compared with it. Where there are
        none, the one of the recorded group, or range.
    members : None where the group called `group` is read from the snapshot.
    member_overrides : racks and subscriptions of the members of that group.
    leader : the leading member's id; None is the first member.
    previous_snapshot_id : the metadata of the previous assignment; the plan then has whether the leader rebalances.
    compare_kafka_versions : releases whose answers are compared with the plan.
    kafka_version : the release whose coordinator and clients assign; None is the snapshot's, or the newest.
    assignable : of a share group, by topic the partitions that may be assigned; None for all.
    bytes_per_s, lag : by topic and partition. balance : what the optimum makes even.
    """

    assignors: Sequence[str]
    members: Sequence[MemberRequest] | None = None
    group: str | None = None
    member_overrides: Sequence[MemberOverride] = ()
    snapshot_id: UUID | None = None
    brokers: Sequence[Broker] | None = None
    topics: Sequence[GroupTopic] | None = None
    events: Sequence[GroupEvent] = ()
    leader: str | None = None
    previous_snapshot_id: UUID | None = None
    bytes_per_s: Mapping[str, Sequence[int]] | None = None
    lag: Mapping[str, Sequence[int]] | None = None
    balance: Balance = "partitions"
    assignable: Mapping[str, Sequence[int]] | None = None
    kafka_version: str | None = None
    compare_kafka_versions: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


READER = TypeAdapter(GroupRequest)
"""Reads the record from plain values of its shape; the shape is trusted."""
