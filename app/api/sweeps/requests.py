"""Requests for sweeps of any kind; the `kind` of a body decides which model validates it."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from app.api.replicas import NewTopicRequest
from app.api.sweeps.capacity import CapacityChanges, CapacitySweepRequest
from app.api.sweeps.consumers import ConsumersChanges, ConsumersSweepRequest
from app.api.sweeps.fields import AnyAxes, ChangeAxes, KnownKind, Submission, kind_of
from app.core.keys.partitioners import PARTITIONERS
from app.core.replicas.registry import PLACEMENTS
from app.services.bodies import ListOf, RequestRecord, stated
from app.services.bodies import Request as RequestModel
from app.services.fields import (
    PRINTABLE,
    BrokerRequest,
    GroupString,
    Int32,
    Labels,
    OnSnapshot,
    Rack,
    RequestedRelease,
    Seed,
)
from app.services.groups.requests import AssignorName
from app.services.keys import Count, PartitionerName
from app.services.plans import as_json
from app.services.reassignment import BalanceRequest, ReassignmentRequest
from app.services.reassignment.requests.parts import LimitsRequest, MovementCost
from app.services.sweeps import SweepRequest


class SeedsRequest(RequestModel):
    """`count` independent seeds; that of scenario i is the low 48 bits of SplitMix64 of `first` + i."""

    first: Seed = 0
    count: Annotated[Int32, Field(ge=1)]
    """Number of seeds."""


class DrawsChanges(RequestModel):
    """The seeds."""

    seeds: SeedsRequest | None = None
    """Range of seeds; null keeps it."""


class DrawsSweepRequest(OnSnapshot, Submission, DrawsChanges):
    """A sweep over seeds: topics on brokers, placed with each seed as a controller would place them."""

    kind: Annotated[Literal["placement_draws"], KnownKind]
    """Kind of the sweep."""
    brokers: Annotated[list[BrokerRequest], Field(min_length=1)] | None = None
    """Brokers to place on, each once; null if a snapshot has them."""
    topics: Annotated[list[NewTopicRequest], Field(min_length=1)]
    """Topics to place, in the order in which they are created."""
    algorithm: Literal[tuple(PLACEMENTS)] = "striped"  # type: ignore[valid-type] # the registry is what decides
    """Name of the placement algorithm."""
    rack_mode: Literal["enforced", "safe", "disabled"] | None = None
    """How racks constrain the placement; the default is the algorithm's."""
    seeds: SeedsRequest
    """Range of seeds; each is a scenario."""
    labels: Labels = Field(default_factory=dict)


Numbers = Annotated[list[Annotated[Int32, Field(ge=0, le=10_000)]], Field(min_length=1, max_length=1000)]


class GroupsChanges(RequestModel):
    """The assignors, and the numbers of members lost and added."""

    assignors: Annotated[list[AssignorName], Field(min_length=1)] | None = None
    """Names of assignors; null keeps them."""
    members_lost: Numbers | None = None
    """Numbers of members that a group loses at once; null keeps them."""
    members_added: Numbers | None = None
    """Numbers of members that join in the same rebalance; null keeps them."""


class GroupsSweepRequest(OnSnapshot, Submission, GroupsChanges):
    """A sweep over groups: each under every assignor, with members lost and members added."""

    kind: Annotated[Literal["consumer_groups"], KnownKind]
    """Kind of the sweep."""
    requires_snapshot = True
    groups: Annotated[list[GroupString], Field(min_length=1)] | None = None
    """Groups of the snapshot; the default is every group that has members."""
    assignors: Annotated[list[AssignorName], Field(min_length=1)]
    """Assignors that give each partition to one member: all except `simple`."""
    members_lost: Numbers = Field(default_factory=lambda: [0])
    """Numbers of members that a group loses at once. They depend on `seed` and the group alone: every assignor meets
    the same loss, and members among two lost are among three lost as well."""
    members_added: Numbers = Field(default_factory=lambda: [0])
    """Numbers of members that join in the same rebalance, each in the rack with the fewest members (in none if no
    member has a rack), with the most common subscription."""
    kafka_version: RequestedRelease = None
    seed: Seed = 0
    """Decides which members are lost."""
    labels: Labels = Field(default_factory=dict)


Printable = Annotated[str, Field(min_length=1, max_length=4096, pattern=PRINTABLE)]
Partitioners = Annotated[list[PartitionerName], Field(min_length=1, max_length=len(PARTITIONERS))]
Counts = Annotated[list[Count], Field(max_length=32)]
Heaviest = Annotated[Int32, Field(ge=0, le=100)]


class DatasetRequest(RequestModel):
    """The location and the format of a dataset of keys."""

    path: Printable
    """A file, a folder of them, or a URI that Spark can read, under one of `RACKPLAN_DATASET_ROOTS`. Files whose names
    begin with `_` or `.` are ignored; of a folder of Parquet or Arrow files, those that end with `.parquet`, `.pq` or
    `.arrow` are read."""
    format: Literal["parquet", "arrow", "csv", "json_lines", "lines"]
    """`csv` has a header line, and an empty field is a record without key; `lines` has one key a line."""
    key_column: Printable | None = None
    """The column of the keys; lines have no columns."""
    value_column: Printable | None = None
    """The column of the values, as text or bytes, or of their lengths, as integers. A record's bytes are those of its
    key and of its value; of its key alone by default."""
    key_encoding: Literal["utf8", "base64", "int32", "int64"] = "utf8"
    """`utf8` hashes text and bytes as they are; numbers, from integers or their digits, are hashed as Java's
    serialisers encode them, big-endian."""


class KeySkewChanges(RequestModel):
    """The partitioners and the partition counts."""

    partitioners: Partitioners | None = None
    """Names of partitioners; null keeps them."""
    partitions: Count | None = None
    """Partition count from which moves are counted; null keeps it."""
    compare_partitions: Counts | None = None
    """Other partition counts; null keeps them."""
    heaviest: Heaviest | None = None
    """Number of heaviest keys to list; null keeps it."""


class KeySkewSweepRequest(Submission, KeySkewChanges):
    """A sweep over a dataset of keys: a scenario is a partitioner at a partition count."""

    kind: Annotated[Literal["key_skew"], KnownKind]
    """Kind of the sweep."""
    dataset: DatasetRequest
    """Location and format of the keys."""
    partitioners: Partitioners = Field(default_factory=lambda: ["murmur2"])
    """A partitioner that is listed twice is measured once."""
    partitions: Count
    """The count from which moves are counted."""
    compare_partitions: Counts = Field(default_factory=list)
    """Other counts: their balance, and the shares of records and keys that move."""
    heaviest: Heaviest = 20
    """The number of heaviest keys to list."""
    labels: Labels = Field(default_factory=dict)


RacksOfAdded = Annotated[
    Annotated[ListOf[Rack], Field(min_length=1, max_length=10_000)] | None,
    Field(
        description="The racks of added brokers, in rotation from the first. By default each gets the rack that has "
        "the fewest brokers by then, of equal ones the first by name."
    ),
]


class ReassignmentChanges(RequestModel):
    """The options of a change, besides the axes."""

    racks_of_added: RacksOfAdded = None
    balance: BalanceRequest | None = None
    """The balance constraints of every scenario; null for their defaults."""
    limits: LimitsRequest | None = None
    """Upper limits of every broker. One that cannot hold is exceeded as little as is found; the scenario says so."""
    minimise: Literal["bytes", "replicas", "leader_changes"] | MovementCost | None = None
    """What to minimise; null for the default."""


@dataclass(frozen=True, kw_only=True)
class _AddedFields(RequestRecord):
    racks_of_added: RacksOfAdded = None


@dataclass(frozen=True, kw_only=True)
class ReassignmentSweepRequest(ReassignmentRequest, _AddedFields):
    """A sweep over changes of a cluster: a broker removed, brokers added, limits varied; and what moves.

    Every field of a plan's request applies to every scenario, and axes change some of them.
    """

    kind: Annotated[Literal["reassignment"], KnownKind]
    """Kind of the sweep."""
    axes: ChangeAxes
    running_reassignment: Literal["refuse", "merge"] = "merge"
    """`merge`: partitions that are being reassigned are planned from their target replicas."""

    def service(self) -> SweepRequest:
        """The service's request; what has its default is left out of the definition, but `minimise` and `rack_mode`."""
        always = {"minimise": self.minimise or "bytes", "rack_mode": self.rack_mode}
        definition: dict[str, Any] = as_json(stated(self) | always)
        kind, labels = definition.pop("kind"), definition.pop("labels", {})
        return SweepRequest(kind, definition, labels)


SweepSubmission: TypeAlias = Annotated[
    Annotated[CapacitySweepRequest, Tag("capacity")]
    | Annotated[DrawsSweepRequest, Tag("placement_draws")]
    | Annotated[GroupsSweepRequest, Tag("consumer_groups")]
    | Annotated[KeySkewSweepRequest, Tag("key_skew")]
    | Annotated[ReassignmentSweepRequest, Tag("reassignment")]
    | Annotated[ConsumersSweepRequest, Tag("consumers")],
    Discriminator(kind_of),
]


class ChangesRequest(
    CapacityChanges, DrawsChanges, GroupsChanges, KeySkewChanges, ReassignmentChanges, ConsumersChanges
):
    """The fields that a clone changes; absent or null ones stay, except that a `sample` of null removes the sample.

    Each field except the axes is of one kind of sweep.
    """

    axes: AnyAxes | None = None  # type: ignore[assignment] # wider than capacity's own, whose service rejects `each`
    """Axes in place of those of the sweep; null keeps them."""

    def changes(self) -> dict[str, Any]:
        """The changed part of the definition."""
        records = {name: as_json(stated(value)) for name in ("balance", "limits") if (value := getattr(self, name))}
        given = self.model_dump(mode="json", exclude_unset=True, by_alias=True, exclude={*records}) | records
        return {name: value for name, value in given.items() if value is not None or name == "sample"}
