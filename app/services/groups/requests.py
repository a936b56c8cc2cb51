"""The request for a group plan: the record that a job stores and a plan is hashed by, with the parts of its body."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from app.core.groups.registry import ASSIGNORS
from app.errors import Json
from app.services import fields
from app.services.amounts import RENAMED_RATES, InBytes, InSeconds, PricesRequest
from app.services.bodies import ListOf, Read, RequestRecord
from app.services.plans import as_json

MOST_PARTITIONS = 5_000_000
Count = Annotated[fields.Int32, Field(ge=1, le=MOST_PARTITIONS)]
ClientLibrary = Literal["java", "librdkafka", "kafka-python", "other"]
Balance = Literal["partitions", "lag", "bytes_per_s"]
Replicas = Sequence[Sequence[int]]
"""The replicas of a topic's partitions, by partition id from 0 on."""
ReplicaRows = Annotated[
    ListOf[Annotated[ListOf[fields.BrokerId], Field(min_length=1)]],
    Field(description="The replicas of each partition, by id, the preferred leader first."),
]
MemberPattern = Annotated[fields.GroupString, Field(max_length=249)]
AssignorName = Annotated[
    str, fields.known_name("assignor", ASSIGNORS), Field(json_schema_extra={"enum": list(ASSIGNORS)})
]
_Rate = Annotated[float, Field(allow_inf_nan=False), InBytes()]
Weights = Annotated[
    Mapping[fields.TopicName, fields.OneOrEach[fields.Bytes]],
    Field(description="By topic, that of each partition by id, or one number for all partitions."),
]


@dataclass(frozen=True)
class MemberRequest(RequestRecord, schema="GroupMemberRequest"):
    """A member, by its subscription or by the coordinator's bytes of it: `member_metadata`."""

    member_id: fields.GroupString
    """Id of the member; ids decide ties."""
    group_instance_id: fields.GroupString | None = None
    """Makes it a static member."""
    rack_id: fields.Rack | None = None
    """Its `client.rack`; `""` counts as none."""
    topics: ListOf[fields.TopicName] | None = None
    """The topics of its subscription."""
    owned_partitions: Mapping[fields.TopicName, ListOf[fields.PartitionId]] | None = None
    """Its current partitions, from which moves are counted. The sticky assignors, `uniform` and `optimal` use them."""
    generation_id: Annotated[fields.Int32, Field(ge=-1)] | None = None
    """The generation of `owned_partitions`. Without one, the sticky assignor ignores them."""
    member_metadata: Annotated[str, Field(max_length=10_000_000)] | None = None
    """The raw bytes of ConsumerProtocolSubscription, in base64, in place of the fields above."""
    client: ClientLibrary | None = None
    """The client library, by default Kafka's own: its leader runs the classic assignors."""


@dataclass(frozen=True)
class ReplacedMember(RequestRecord):
    """A member, and its new id and subscription."""

    member_id: fields.GroupString
    """Id of the member before the restart."""
    by: MemberRequest
    """The member after the restart."""


@dataclass(frozen=True)
class GrownTopic(RequestRecord):
    """A topic and its new number of partitions."""

    topic: fields.TopicName
    partitions: Count
    """New number of partitions."""
    replicas: ReplicaRows | None = None
    """Replicas of the new partitions, if known."""


@dataclass(frozen=True)
class RackedBroker(RequestRecord):
    """A broker and its new rack."""

    id: fields.BrokerId
    """Id of the broker."""
    rack: fields.Rack | None = None
    """Its rack after the change; null for none."""


@dataclass(frozen=True)
class ChangedRacks(RequestRecord):
    """Brokers with other racks, and topics whose partitions have other replicas."""

    brokers: ListOf[RackedBroker] = field(default_factory=list)
    """Brokers whose rack changes."""
    replicas: Mapping[fields.TopicName, ReplicaRows] = field(default_factory=dict)
    """New replicas of all partitions, by topic."""


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


@dataclass(frozen=True)
class MemberOverride(RequestRecord, schema="MemberOverrideRequest"):
    """The rack or subscription of members of a recorded group. One of `member_id`, `client_id` and `host` selects them;
    `*` and `?` in the latter two match any characters.
    """

    member_id: fields.GroupString | None = None
    """Id of the member that is selected; null if another field selects."""
    client_id: Annotated[MemberPattern | None, Field(examples=["billing-*"])] = None
    """Pattern of `client.id`; null if another field selects."""
    host: Annotated[MemberPattern | None, Field(examples=["/10.0.1.*"])] = None
    """Pattern of the client's address as Kafka's tools print it; null if another field selects."""
    rack_id: fields.Rack | None = None
    """`client.rack` of the members; `""` for members without a rack."""
    topics: ListOf[fields.TopicName] | None = None
    """Their subscription."""
    client: ClientLibrary | None = None
    """Their client library."""


def _names(assignor: str | list[str] | None) -> list[str]:
    return [assignor] if isinstance(assignor, str) else list(dict.fromkeys(assignor or ()))


@dataclass(frozen=True, kw_only=True)
class GroupRequest(fields.SnapshotFields):
    """A group, on a snapshot's cluster or on brokers and topics that are listed here."""

    brokers: fields.ListedBrokers | None = None
    """Brokers with their racks; null if a snapshot has them, or if racks do not matter."""
    topics: ListOf[GroupTopic] | None = None
    """Topics of the subscriptions; null if a snapshot has them."""
    assignors: Annotated[
        Sequence[str],
        Read(
            AssignorName | Annotated[list[AssignorName], Field(min_length=1, max_length=len(ASSIGNORS))] | None, _names
        ),
        Field(
            validation_alias="assignor",
            description="The group's assignor; of several, the first, with which the others are compared. The default "
            "is that of a recorded group, and `range` for listed members. "
            + "; ".join(f"`{one.name}`: {one.summary}" for one in ASSIGNORS.values()),
        ),
    ] = field(default_factory=list)
    group: fields.GroupString | None = None
    """A group of the snapshot, in place of `members`."""
    member_overrides: Annotated[ListOf[MemberOverride], Field(max_length=200)] = field(default_factory=list)
    """Racks and subscriptions of the members of `group`, which the tables of Kafka's tools do not have. Of several that
    match a member, the first that has a field decides it."""
    members: ListOf[MemberRequest] | None = None
    """Members in the order of the group; null if `group` names a recorded one."""
    leader: fields.GroupString | None = None
    """The member that leads the group; the first one by default."""
    events: ListOf[GroupEvent] = field(default_factory=list)
    """Events of the group, in order."""
    previous_snapshot_id: fields.Id | None = None
    """The snapshot of the previous assignment, to see whether its changes make the leader rebalance."""
    bytes_per_s: Annotated[Mapping[fields.TopicName, fields.OneOrEach[_Rate]] | None, RENAMED_RATES] = None
    """By topic, its read rate, or the rate of each partition by id: the weight of reads in rack, and the rates that
    `traffic` sums; by default `traffic` has the ingress rates of the snapshot."""
    follower_fetching: bool = False
    """Whether consumers fetch from a replica in their rack (KIP-392), which Kafka does only if brokers have
    `replica.selector.class`; otherwise `traffic` is read from leaders."""
    prices: PricesRequest | None = None
    """Prices for `traffic`; by default a GiB from rack to rack costs 0.02."""
    rebalance_seconds: Annotated[float, Field(allow_inf_nan=False), InSeconds(le=86_400)] | None = None
    """Seconds of a rebalance, in which the partitions that it revokes are not read; by default one heartbeat at Kafka's
    defaults: 3, and 5 if the coordinator assigns."""
    lag: Weights | None = None
    """Records that remain to be read; by default the lag of the snapshot's group."""
    balance: Balance = "partitions"
    """The load that the optimum balances among members."""
    assignable: Mapping[fields.TopicName, ListOf[fields.PartitionId]] | None = None
    """Of a share group since Kafka 4.1, by topic the partitions that may be assigned, which are those that the group
    has initialised; a topic that is missing has none. By default all partitions."""
    kafka_version: fields.RequestedRelease = None
    compare_kafka_versions: fields.ComparedReleases = field(default_factory=list)
    labels: fields.Labels = field(default_factory=dict)


READER = TypeAdapter(GroupRequest)
"""Reads the record from plain values of its shape."""
