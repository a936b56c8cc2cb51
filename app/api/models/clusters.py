"""Request models of a cluster: brokers, topics and recorded groups."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field

from app.core.kafka_versions import Controller, normal_release
from app.core.model import NO_LEADER, NO_LOG_DIR, UNKNOWN_SIZE, Cluster, Cordon, Int32s, LogDirectory, Topic, padded
from app.core.recorded import GroupType, RecordedGroup
from app.errors import FieldPath
from app.errors.requests import ConflictingFields, DuplicateLogDir, DuplicatePartition
from app.formats.groups import recorded_json
from app.formats.snapshots.snapshot_json import ingress_rates, padded_if_any
from app.formats.syntax.unique_json import members_of
from app.services import fields
from app.services.amounts import AnyBytes, InBytes
from app.services.bodies import Request as RequestModel
from app.services.snapshots import log_dir_index

ByTopic = Annotated[
    dict[fields.TopicName, list[fields.PartitionId]], AfterValidator(lambda by_topic: dict(sorted(by_topic.items())))
]
"""Partitions by topic; the order of the topics has no meaning."""


Epoch = Annotated[fields.Int32, Field(ge=-2)]
"""Of a member, a group or an assignment; a leaving member has −1, a static one −2."""
TaskName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,249}_[0-9]{1,10}$", examples=["0_3"])]


class RecordedTasksRequest(RequestModel):
    """The tasks of a member of a Streams group, `<subtopology>_<partition>`."""

    active: list[TaskName] = Field(default_factory=list)
    """Ids of tasks that the member runs."""
    standby: list[TaskName] = Field(default_factory=list)
    """Ids of tasks of which the member has a standby."""
    warmup: list[TaskName] = Field(default_factory=list)
    """Ids of tasks of which the member has a warm-up."""


class RecordedMemberRequest(RequestModel):
    """A member. Without `topics` its subscription, its rack and the partitions that it owns are unknown."""

    member_id: fields.GroupString
    """Id of the member."""
    client_id: fields.GroupString | None = None
    """`client.id`; null if unknown."""
    host: fields.GroupString | None = None
    """Address of the client as Kafka's tools print it, such as `/10.0.1.17`; null if unknown."""
    group_instance_id: fields.GroupString | None = None
    """`group.instance.id` of a static member; null for a dynamic one."""
    rack_id: Annotated[fields.Rack | None, AfterValidator(lambda rack: rack or None)] = None
    """`client.rack`; null or `""` for none."""
    topics: list[fields.TopicName] | None = None
    """Its subscription."""
    owned_partitions: ByTopic | None = None
    """Partitions that it owned, by its subscription."""
    generation_id: fields.Generation | None = None
    """The generation of its owned partitions."""
    user_data: fields.Base64 | None = None
    """The assignor's own bytes in the subscription, in base64."""
    assigned_partitions: ByTopic | None = None
    """Partitions that are assigned to it."""
    member_epoch: Epoch | None = None
    """Of the protocols of KIP-848, KIP-932 and KIP-1071."""
    target_partitions: ByTopic | None = None
    """Its partitions in the target assignment (KIP-848)."""
    process_id: fields.GroupString | None = None
    """The process of a member of a Streams group."""
    tasks: RecordedTasksRequest | None = None
    """Of a member of a Streams group (KIP-1071)."""
    target_tasks: RecordedTasksRequest | None = None
    """Its tasks in the target assignment."""


class RecordedOffsetRequest(RequestModel):
    """How far a group has read a partition."""

    topic: fields.TopicName
    partition: fields.PartitionId
    """Id of the partition in its topic."""
    current_offset: fields.Int64 | None = None
    """Committed offset of the group; null if it has none."""
    log_end_offset: fields.Int64 | None = None
    """Offset after the last record of the partition; null if unknown."""
    lag: fields.Int64 | None = None
    """Records; negative if the log was truncated."""
    member_id: fields.GroupString | None = None
    """The member that reads the partition."""


class RecordedGroupRequest(RequestModel):
    """A recorded group."""

    group_id: fields.GroupString
    """Id of the group."""
    state: fields.GroupString | None = Field(None, examples=["Stable"])
    """State of the group as Kafka's tools print it; null if unknown."""
    assignor: fields.GroupString | None = Field(None, examples=["range"])
    """Name of the group's assignor as Kafka's tools print it; null if unknown."""
    members: list[RecordedMemberRequest] = Field(default_factory=list)
    """Members, in the order of the tool."""
    offsets: list[RecordedOffsetRequest] = Field(default_factory=list)
    """Committed offsets, by partition."""
    type: GroupType | None = None
    """Null for a classic group, and if the type is unknown."""
    group_epoch: Epoch | None = None
    """Epoch of the group; null for a classic group, or if unknown."""
    assignment_epoch: Epoch | None = None
    """Of the target assignment."""
    topology_epoch: Epoch | None = None
    """Of a Streams group."""

    def core(self) -> RecordedGroup:
        """As the core knows it."""
        return recorded_json.group(self.model_dump())


class LogDirectoryRequest(RequestModel):
    """A log directory of a broker (JBOD)."""

    path: fields.LogDirPath
    """Absolute path, as `log.dirs` lists it."""
    total_bytes: AnyBytes | None = None
    """Bytes of its file system; null if unknown."""
    usable_bytes: AnyBytes | None = None
    """Free bytes of its file system; null if unknown."""
    offline: bool = False
    """Whether the directory is offline, as when its disk has failed: it takes no replica."""

    def core(self) -> LogDirectory:
        """The record of the core."""
        return LogDirectory(self.path, self.total_bytes, self.usable_bytes, self.offline)


class CordonableBrokerRequest(fields.BrokerRequest):
    """A broker, its log directories, and its cordons."""

    log_dirs: list[LogDirectoryRequest] | None = Field(None, max_length=1000)
    """The log directories of the broker, each path once; null if unknown."""

    cordoned: bool = False
    """Whether every log directory of the broker is cordoned (KIP-1066), so that Kafka assigns no new replica to it."""
    cordoned_log_dirs: list[fields.LogDirPath] = Field(default_factory=list)
    """The paths of its cordoned log directories, if they are known."""

    def cordon(self) -> Cordon | None:
        """The broker's cordons, or None."""
        is_cordoned = self.cordoned or self.cordoned_log_dirs
        return Cordon(self.cordoned, tuple(self.cordoned_log_dirs)) if is_cordoned else None


class PartitionRequest(RequestModel):
    """The state of a partition; the first of `replicas` is the preferred leader."""

    partition: fields.PartitionId
    """Id of the partition in its topic, from 0."""
    replicas: Annotated[list[fields.BrokerId], Field(min_length=1)]
    """Broker ids, the preferred leader first."""
    isr: list[fields.BrokerId] | None = None
    """In-sync replicas; if missing, all replicas."""
    elr: list[fields.BrokerId] = Field(default_factory=list)
    """Eligible leader replicas (KIP-966)."""
    observers: list[fields.BrokerId] = Field(default_factory=list)
    """The observers among `replicas`, in Confluent Server. Reassignments leave the topic as it is."""
    leader: fields.BrokerId | None = None
    """None if the partition has no leader."""
    size_bytes: AnyBytes | None = None
    """Bytes of one replica; null if unknown."""
    local_bytes: AnyBytes | None = None
    """Of a tiered topic, the bytes of one replica on its broker's disk: these are copied and fill disks. Null: all
    of `size_bytes` are."""
    remote_bytes: AnyBytes | None = None
    """Of a tiered topic, the bytes in remote storage, which no plan copies. They are not stored."""
    ingress_bytes_per_s: Annotated[float, InBytes(le=1e18)] | None = None
    """Rate of writes to the partition, in bytes/s; null if unknown."""
    adding_replicas: list[fields.BrokerId] = Field(default_factory=list)
    """Broker ids that a running reassignment adds."""
    removing_replicas: list[fields.BrokerId] = Field(default_factory=list)
    """Broker ids that a running reassignment removes."""
    log_dirs: list[fields.LogDirPath | None] | None = None
    """The log directory of each of `replicas`, in their order, as the `log_dirs` of its broker name it; null for one
    that is unknown."""
    future_log_dirs: list[fields.LogDirPath | None] | None = None
    """The log directory that each of `replicas` is being moved to within its broker; null for one that is not moved."""


class TopicRequest(RequestModel):
    """The state of a topic."""

    name: fields.TopicName
    topic_id: fields.TopicId | None = None
    """The topic id as `kafka-topics --describe` prints it, 16 bytes in URL-safe base64; null if unknown."""
    configs: fields.TopicConfigs = Field(default_factory=dict)
    partitions: list[PartitionRequest]
    """Partitions in any order, each once."""


class SnapshotRequest(RequestModel):
    """The state of a cluster."""

    cluster: fields.Name
    """Name of the cluster, by which its snapshots are listed."""
    brokers: list[CordonableBrokerRequest]
    """Brokers in any order, each once."""
    topics: list[TopicRequest] = Field(default_factory=list)
    """Topics in any order, each once."""
    groups: list[RecordedGroupRequest] = Field(default_factory=list)
    """Consumer, share and Streams groups in any order, each once."""
    kafka_version: fields.Release | None = Field(None, examples=["4.1.0"])
    """The release of Kafka that the brokers run, such as `4.1.0`; `4.1` is 4.1.0. Plans on the snapshot are made for
    it."""
    controller: Controller | None = None
    """Controller, which elects leaders and places new partitions: `kraft` or `zookeeper`. By default it follows from
    `kafka_version`: `zookeeper` before 3.3, `kraft` since 4.0."""

    @property
    def members(self) -> int:
        """The number of members of all its JSON objects; of a million partitions in 0.2 s."""
        topics = sum(len(topic.model_fields_set) for topic in self.topics)
        partitions = sum([len(one.model_fields_set) for topic in self.topics for one in topic.partitions])
        rest = members_of(self.model_dump(mode="json", exclude={"topics"}, exclude_unset=True))
        return rest + topics + partitions + ("topics" in self.model_fields_set)

    def core(self) -> Cluster:
        """The record of the core.

        Raises `DuplicatePartition`, `DuplicateLogDir`, `UnknownLogDir`, `ConflictingFields`,
        `UnsupportedKafkaVersion`.
        """
        brokers = tuple(broker.broker() for broker in self.brokers)
        directories = log_directories(self.brokers)
        topics = tuple(_topic(i, topic, directories) for i, topic in enumerate(self.topics))
        groups = tuple(group.core() for group in self.groups)
        cordons = {broker.id: cordon for broker in self.brokers if (cordon := broker.cordon()) is not None}
        version = normal_release(self.kafka_version)
        return Cluster(self.cluster, brokers, topics, groups, cordons, version, self.controller, directories)


def log_directories(brokers: Sequence[CordonableBrokerRequest]) -> dict[int, tuple[LogDirectory, ...]]:
    """The directories of each broker by path. Raises `DuplicateLogDir`."""
    directories = {}
    for index, broker in enumerate(brokers):
        if broker.log_dirs is not None:
            seen: set[str] = set()
            for place, directory in enumerate(broker.log_dirs):
                if directory.path in seen:
                    detail = f"broker {broker.id} has the log directory {directory.path} twice"
                    path: FieldPath = ("brokers", index, "log_dirs", place, "path")
                    raise DuplicateLogDir(detail, path=path, value=directory.path)
                seen.add(directory.path)
            listed = sorted(broker.log_dirs, key=lambda directory: directory.path)
            directories[broker.id] = tuple([directory.core() for directory in listed])
    return directories


def _topic(index: int, topic: TopicRequest, directories: Mapping[int, Sequence[LogDirectory]]) -> Topic:
    partitions = sorted(topic.partitions, key=lambda partition: partition.partition)
    ids = np.array([partition.partition for partition in partitions], np.int32)
    path: FieldPath = ("topics", index, "partitions")
    if len(repeated := ids[1:][ids[1:] == ids[:-1]]):
        raise DuplicatePartition(
            f"partition {topic.name}-{repeated[0]} is listed twice", path=path, value=int(repeated[0])
        )
    for partition in partitions:
        _check_partition(topic, partition, path)
    replicas = padded([partition.replicas for partition in partitions])
    return Topic(
        name=topic.name,
        partition_ids=ids,
        replicas=replicas,
        leaders=np.array([NO_LEADER if p.leader is None else p.leader for p in partitions], np.int32),
        isr=padded([partition.replicas if partition.isr is None else partition.isr for partition in partitions]),
        adding=padded([partition.adding_replicas for partition in partitions]),
        removing=padded([partition.removing_replicas for partition in partitions]),
        size_bytes=np.array([_bytes_on_disk(partition) for partition in partitions], np.int64),
        topic_id=topic.topic_id,
        configs=topic.configs,
        ingress_bytes_per_s=ingress_rates([partition.ingress_bytes_per_s for partition in partitions]),
        log_dirs=_replica_log_dirs(index, topic, "log_dirs", replicas.shape, directories),
        future_log_dirs=_replica_log_dirs(index, topic, "future_log_dirs", replicas.shape, directories),
        elr=padded_if_any([*map(attrgetter("elr"), partitions)]),
        observers=padded_if_any([*map(attrgetter("observers"), partitions)]),
    )


def _check_partition(topic: TopicRequest, partition: PartitionRequest, path: FieldPath) -> None:
    """Validate a partition by itself; `path` is of the topic's partitions."""
    name, local, size = f"{topic.name}-{partition.partition}", partition.local_bytes, partition.size_bytes
    if local is not None and size is not None and local > size:
        detail = f"partition {name} has {local} bytes on a disk, of {size} in all; a size_bytes of {local} lifts it"
        place = (*path, topic.partitions.index(partition), "local_bytes")
        raise ConflictingFields(detail, path=place, value=local, limit=size)
    for listed in (partition.replicas, partition.isr or ()):
        if len(set(listed)) < len(listed):
            raise DuplicatePartition(f"partition {name} names a replica twice: {listed}", path=path, value=[*listed])
    if unknown := set(partition.observers).difference(partition.replicas):
        raise ConflictingFields(f"observer {min(unknown)} of {name} is not a replica", path=path, value=min(unknown))


def _bytes_on_disk(partition: PartitionRequest) -> int:
    size = partition.size_bytes if partition.local_bytes is None else partition.local_bytes
    return UNKNOWN_SIZE if size is None else size


def _replica_log_dirs(
    index: int,
    topic: TopicRequest,
    name: Literal["log_dirs", "future_log_dirs"],
    shape: tuple[int, ...],
    directories: Mapping[int, Sequence[LogDirectory]],
) -> Int32s | None:
    """(partitions, widest) int32 by partition id, as of `Topic.log_dirs`; None if all are unknown.

    Raises `UnknownLogDir`, `ConflictingFields`.
    """
    found = np.full(shape, NO_LOG_DIR, np.int32)
    row_of = {place: row for row, place in enumerate(_by_id(topic.partitions))}
    for place, partition in enumerate(topic.partitions):
        listed: list[str | None] = getattr(partition, name) or []
        path: FieldPath = ("topics", index, "partitions", place, name)
        if listed and len(listed) != len(partition.replicas):
            detail = (
                f"{topic.name}-{partition.partition} has {len(partition.replicas)} replicas and {len(listed)} {name}"
            )
            raise ConflictingFields(detail, path=path, value=len(listed), limit=len(partition.replicas))
        for column, (broker, log_dir) in enumerate(zip(partition.replicas, listed, strict=False)):
            if log_dir is not None:
                found[row_of[place], column] = log_dir_index(broker, log_dir, directories, (*path, column))
    return None if (found == NO_LOG_DIR).all() else found


def _by_id(partitions: Sequence[PartitionRequest]) -> list[int]:
    return sorted(range(len(partitions)), key=lambda place: partitions[place].partition)
