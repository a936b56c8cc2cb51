"""Fields that several requests share, with the bounds of Kafka: names, ids, brokers, the choice of a snapshot."""

import re
from base64 import b64decode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, Self, TypeAlias
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from app.core import model
from app.core.kafka_versions import NEWEST, SUPPORTED
from app.core.model import CONTROLS, FETCHES_NOT_UPLOADED, INT32_MAX, INT64_MAX, MIN_INSYNC_REPLICAS
from app.errors.every import ConflictingFields, FieldPath
from app.formats.syntax.quantities import counted
from app.services import snapshots
from app.services.amounts import AnyBytes
from app.services.bodies import ItemT, ListOf, Read, RequestRecord
from app.services.bodies import Request as RequestModel
from app.services.cautions import Caution
from app.store.unit import UnitOfWork

INT32_MIN = -(2**31)

Int32 = Annotated[int, Field(ge=INT32_MIN, le=INT32_MAX)]
Int64 = Annotated[int, Field(ge=-INT64_MAX - 1, le=INT64_MAX)]
Generation = Annotated[int, Field(ge=0, le=INT32_MAX)]
BrokerId = Annotated[int, Field(ge=0, le=INT32_MAX)]
PartitionId = Annotated[int, Field(ge=0, le=INT32_MAX)]
Bytes = Annotated[int, Field(ge=0, le=INT64_MAX)]
Seed = Annotated[int, Field(ge=-(2**63), le=INT64_MAX, description="Seed of java.util.Random; a signed 64-bit number.")]

PRINTABLE = rf"^[^{CONTROLS}]*$"
Name = Annotated[str, Field(min_length=1, max_length=249, pattern=PRINTABLE)]
Rack = Annotated[str, Field(max_length=249, pattern=PRINTABLE)]
AttributeName = Annotated[str, Field(min_length=1, max_length=63, pattern=PRINTABLE)]
Attributes = Annotated[
    dict[AttributeName, Name],
    Field(
        max_length=16,
        description='The broker\'s failure domains by name, `{"zone": "eu-1a"}`; awareness places by them. Its rack '
        "is the default of the attribute `rack`.",
    ),
]
ConfigValue = Annotated[str, Field(max_length=4096, pattern=PRINTABLE)]
PRINTABLE_LINES = rf"^([\t\n\r]|[^{CONTROLS}])*$"
"""Text of several lines: tabs and line ends, and no other control characters."""
NAMED_VALUE = rf"^[^{CONTROLS}=]+=[^{CONTROLS}]*$"
"""`name=value`, as in the query of a list."""
MOST_LABELS = 64
LabelName = Annotated[str, Field(min_length=1, max_length=63, pattern=PRINTABLE)]
LabelValue = Annotated[str, Field(max_length=255, pattern=PRINTABLE)]
Labels = Annotated[
    dict[LabelName, LabelValue],
    Field(max_length=MOST_LABELS, description="Labels of the plan, name → value; lists of plans are filtered by them."),
]
Release = Annotated[str, Field(max_length=40)]
RequestedRelease = Annotated[
    Release | None,
    Field(
        description=f"The release of Kafka that the answer is for, from {SUPPORTED.from_} to {SUPPORTED.to}, such as "
        f"`4.2` or `4.0.1`; by default that of the snapshot, or {NEWEST} if the snapshot has none.",
        examples=["4.2"],
    ),
]
MOST_COMPARED = 8


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


ComparedReleases = Annotated[
    ListOf[Release],
    BeforeValidator(
        _listed, json_schema_input_type=Release | Annotated[list[Release], Field(max_length=MOST_COMPARED)]
    ),
    Field(
        max_length=MOST_COMPARED,
        description="Other releases of Kafka, one or several: `compared_kafka_versions` of the answer lists what each "
        "would decide otherwise, as after an upgrade.",
        examples=[["4.0.0", "4.3"]],
    ),
]
TopicName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=249,
        pattern=r"^(\.{0,2}[a-zA-Z0-9_-][a-zA-Z0-9._-]*|\.{3,}[a-zA-Z0-9._-]*)$",
        description="A legal topic name: letters, digits, `.`, `_` and `-`; not `.` or `..`.",
    ),
]
TopicId = Annotated[
    str,
    Field(
        pattern=r"^[a-zA-Z0-9_-]{21}[AQgw]$",
        description="The topic id as `kafka-topics --describe` prints it: 16 bytes in URL-safe base64, 22 characters.",
    ),
]


def _with_min_insync_replicas(configs: dict[str, str]) -> dict[str, str]:
    stated = configs.get(MIN_INSYNC_REPLICAS)
    if stated is None:
        return configs
    number = int(stated) if re.fullmatch(r"\d{1,10}", stated, re.ASCII) else 0
    if not 1 <= number <= INT32_MAX:
        message = "min.insync.replicas is a whole number from 1 to {maximum}; {stated} given"
        raise PydanticCustomError("min_insync_replicas", message, {"maximum": INT32_MAX, "stated": stated})
    return configs | {MIN_INSYNC_REPLICAS: str(number)}


TopicConfigs = Annotated[
    dict[Name, ConfigValue],
    AfterValidator(_with_min_insync_replicas),
    Field(
        max_length=100,
        description='Configurations of the topic by Kafka\'s names, `{"min.insync.replicas": "2"}`, which checks, '
        "losses and health read; those that are missing are unknown.",
        examples=[{"min.insync.replicas": "2"}],
    ),
]
# Strings of the group protocol: ids of groups, members and clients, hosts, names of assignors.
LogDirPath = Annotated[str, Field(min_length=1, max_length=4096, pattern=PRINTABLE)]
GroupString = Annotated[str, Field(min_length=1, max_length=32767, pattern=PRINTABLE)]


def _base64(value: str) -> str:
    try:
        b64decode(value, validate=True)
    except ValueError:
        raise PydanticCustomError("base64", "Bytes are written in base64") from None
    return value


Base64 = Annotated[str, AfterValidator(_base64), Field(description="Bytes in base64.")]
# JSON has UUIDs as strings, which strict models reject.
Id = Annotated[UUID, Field(strict=False)]


def _rfc3339(value: object) -> object:
    # By default pydantic accepts numbers as seconds since 1970, and dates as midnight.
    if not isinstance(value, datetime) and not (isinstance(value, str) and _RFC_3339.fullmatch(value)):
        raise PydanticCustomError("moment", "A moment is written as in RFC 3339, such as 2026-01-31T12:00:00Z")
    return value


_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
Moment = Annotated[AwareDatetime, BeforeValidator(_rfc3339)]


def rfc3339(moment: datetime) -> str:
    """A moment in UTC as answers and problems write it."""
    return moment.isoformat().replace("+00:00", "Z")


# A field that accepts one value or a list has two branches; errors are reported for the branch of the value only:
# `Annotated[Annotated[X, ONE] | Annotated[list[X], SEVERAL], ONE_OR_SEVERAL]`.
ONE, SEVERAL = Tag("one"), Tag("several")
ONE_OR_SEVERAL = Discriminator(lambda value: "several" if isinstance(value, list) else "one")
OneOrEach: TypeAlias = Annotated[
    Annotated[ItemT, ONE] | Annotated[ListOf[ItemT], Field(fail_fast=True), SEVERAL], ONE_OR_SEVERAL
]
"""A value for each of several things, or one for all of them."""


def known_name(noun: str, names: Collection[str]) -> AfterValidator:
    """The validator of a field that takes one of the names of a registry."""
    expected = ", ".join(f"'{name}'" for name in names)

    def known(name: str) -> str:
        if name not in names:
            raise PydanticCustomError(f"unknown_{noun}", "Input should be one of {expected}", {"expected": expected})
        return name

    return AfterValidator(known)


BrokerKey = Annotated[
    int,
    Read(
        Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,9})$", description="A broker's id, as JSON writes a name.")],
        int,
    ),
]


class OnSnapshot(RequestModel):
    """Base of request models about the cluster of a snapshot."""

    requires_snapshot: ClassVar[bool] = False
    snapshot_id: Id | None = None
    """The snapshot of the cluster."""
    cluster: Name | None = None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""

    def on_newest(self, uow: UnitOfWork, at: FieldPath = ()) -> Self:
        """The request with the id of its snapshot. Raises as `_chosen` does."""
        snapshot_id = _chosen(self, uow, at)
        return self.model_copy(update={"snapshot_id": snapshot_id, "cluster": None}) if self.cluster else self


@dataclass(frozen=True, kw_only=True)
class SnapshotFields(RequestRecord):
    """Base of requests about the cluster of a snapshot."""

    requires_snapshot: ClassVar[bool] = False
    snapshot_id: Id | None = None
    """The snapshot of the cluster."""
    cluster: Name | None = None
    """The name of a cluster, in place of `snapshot_id`: the snapshot is the newest one of this cluster when the
    request is received, and the answer has its id."""

    def on_newest(self, uow: UnitOfWork, at: FieldPath = ()) -> Self:
        """The request with the id of its snapshot. Raises as `_chosen` does."""
        return replace(self, snapshot_id=_chosen(self, uow, at), cluster=None)

    def service(self) -> Any:
        """The request as the service takes it: the body itself."""
        return self


def _chosen(request: OnSnapshot | SnapshotFields, uow: UnitOfWork, at: FieldPath) -> UUID | None:
    """The id of a request's snapshot. `at` is where the body has the request.

    Raises `ConflictingFields` if it names a snapshot twice, or none although it is required, and `SnapshotNotFound` if
    the cluster has none.
    """
    if request.cluster is None:
        if request.snapshot_id is None and request.requires_snapshot:
            detail = "a snapshot is required: snapshot_id is its id, or cluster the name of its cluster"
            raise ConflictingFields(detail, path=(*at, "snapshot_id"))
        return request.snapshot_id
    if request.snapshot_id is not None:
        detail = f"a request has either a snapshot_id or a cluster, and both are given: {request.snapshot_id} and "
        raise ConflictingFields(detail + repr(request.cluster), path=(*at, "cluster"), value=request.cluster)
    return snapshots.newest(uow, request.cluster, at).id


class CapacityRequest(RequestModel):
    """Capacity of a broker."""

    disk_bytes: AnyBytes | None = None
    """Bytes of the log directories together; null if unknown."""
    nic_in_bytes_per_s: AnyBytes | None = None
    """Bytes/s that the network interface receives; null if unknown."""
    nic_out_bytes_per_s: AnyBytes | None = None
    """Bytes/s that the network interface sends; null if unknown."""
    vcpu: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = None
    """Number of virtual CPUs; null if unknown."""


class BrokerRequest(RequestModel):
    """A broker. A missing `rack` is no rack, which differs from the rack `""`."""

    id: BrokerId
    """`broker.id` or `node.id`."""
    rack: Rack | None = None
    """`broker.rack`; null for none, which differs from the rack `""`."""
    fenced: bool = False
    """Whether the broker is fenced: it is registered, and the controller takes it to be down."""
    capacity: CapacityRequest | None = None
    """Capacity of the broker; null if unknown."""
    attributes: Attributes = Field(default_factory=dict)
    weight: float = Field(1.0, gt=0, allow_inf_nan=False)
    """Relative size of the broker: awareness places twice as many replicas on a broker of weight 2."""

    def broker(self) -> model.Broker:
        """The record of the core."""
        capacity = None if self.capacity is None else model.BrokerCapacity(**self.capacity.model_dump())
        return model.Broker(self.id, self.rack, self.fenced, capacity, self.attributes, self.weight)


ListedBrokers: TypeAlias = ListOf[Annotated[model.Broker, Read(BrokerRequest, BrokerRequest.broker)]]
"""Brokers of a request; pydantic checks them as of the model, and the core has its own record of them."""


NAMED_TOPICS = 20
"""The most topics that a warning names; it counts them all."""


@dataclass(frozen=True)
class Defaults(RequestRecord, schema="DefaultsFields"):
    """Values that the snapshot does not have; a warning says so."""

    min_insync_replicas: Annotated[int, Field(ge=1, le=INT32_MAX)] | None = None
    """`min.insync.replicas` of topics whose own is unknown; null if this is unknown, too."""
    follower_fetch_last_tiered_offset: bool | None = None
    """`follower.fetch.last.tiered.offset.enable` of the brokers (Kafka 4.3): whether a new replica of a topic with
    remote storage copies only data not uploaded yet; null if this is unknown, which counts as false."""

    def __post_init__(self) -> None:
        """Not in canonical requests unless it is stated, so that requests of earlier releases have the same hash."""
        if self.follower_fetch_last_tiered_offset is None:
            del vars(self)["follower_fetch_last_tiered_offset"]


def with_defaults(
    cluster: model.Cluster, defaults: Defaults | None, about: Collection[str] | None = None
) -> tuple[model.Cluster, tuple[Caution, ...]]:
    """The cluster whose topics have the defaults where theirs are unknown, and the warning that names these topics.

    Parameters
    ----------
    about : the topics that the warning is about; None is all.
    """
    defaults = defaults or Defaults()
    least, skips = defaults.min_insync_replicas, defaults.follower_fetch_last_tiered_offset
    stated = {} if least is None else {MIN_INSYNC_REPLICAS: str(least)}
    if skips is not None:
        stated[FETCHES_NOT_UPLOADED] = str(skips).lower()
    if not stated:
        return cluster, ()
    topics = tuple([replace(topic, configs={**stated, **topic.configs}) for topic in cluster.topics])
    filled = replace(cluster, topics=topics)
    unknown = [topic.name for topic in cluster.topics if topic.min_insync_replicas is None]
    named = [name for name in unknown if about is None or name in about]
    return filled, () if least is None else assumed(named, least)


def assumed(topics: Sequence[str], least: int) -> tuple[Caution, ...]:
    """The warning that `min.insync.replicas` of topics is assumed; none without topics."""
    if not topics:
        return ()
    detail = f"{counted(len(topics), 'topic')} of unknown min.insync.replicas: the {least} of `defaults` counts"
    return (Caution("min_isr_assumed", detail, topics=tuple(topics[:NAMED_TOPICS])),)


def min_isr_of(topics: Iterable[model.Topic]) -> Mapping[str, int]:
    """`min.insync.replicas` by topic, of topics for which it is known."""
    return {topic.name: least for topic in topics if (least := topic.min_insync_replicas) is not None}
