"""The user data of a member's assignment, made by the leader of a Kafka Streams application.

It starts with a version of its own as four bytes, and is written by Java's `DataOutputStream`, not as the protocol's
own messages are:

    00000001 00000002 00000000 00000003 00000001 00000003  00000000
    v1       2 active tasks: 0_3, 1_3                      no standby

    versions   fields, in this order
    1          version, active tasks, standby tasks with the partitions that they restore
    2          and the partitions of each host
    3          and, after the version, the latest version that all members support
    4          and an error code at the end
    5          topics' names once, then hosts' partitions by number of their topic
    6          and the standby partitions of each host, after those (KIP-535)
    7–9        and, at the end, when to rebalance next (KIP-441)
    10, 11     tasks with the name of their topology, always empty

An active task is listed once for each partition that it reads, in the order of the partitions that the assignment
itself gives the member, sorted by topic as Java sorts strings and by number. Hosts are the `application.server` of
members that have one. Warm-ups are standby tasks here; only the leader knows them apart. Tasks of named topologies,
which no public API makes, are rejected.

Source: `AssignmentInfo` and `ConsumerProtocolUtils` of Apache Kafka 4.0; KIP-441, KIP-535.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from app.core.jvm.hashes import TaskId, TopicPartition
from app.errors.kafka import KafkaError
from app.formats.syntax.data_streams import DataReader
from app.formats.syntax.lines import rejection

OLDEST_VERSION = 1
NEWEST_VERSION = 11
_NEVER = 2**63 - 1
_TASK_BYTES = 8
_REFUSED = KafkaError("TaskAssignmentException")


class HostInfo(NamedTuple):
    """The host and port that serve queries of the state of tasks."""

    host: str
    port: int


PartitionsByHost: TypeAlias = Mapping[HostInfo, tuple[TopicPartition, ...]]


@dataclass(frozen=True, slots=True)
class AssignmentInfo:
    """The assignment of a member, and the partitions of other hosts.

    Parameters
    ----------
    active_tasks : one for each partition of the member's assignment, so that a task may come several times.
    standby_tasks : with the changelog partitions that they restore.
    partitions_by_host : read by each host. standby_partitions_by_host : restored by it; without partition twice.
    error_code : 0 for none, 1 for a source topic that is missing, 2 for a member of another version, 3 for an error of
        the assignor, 4 for a requested shutdown.
    next_rebalance_ms : since 1970, by the leader's clock, when the member is to rebalance; None for never.
    commonly_supported_version : None in versions 1 and 2, which do not say.
    """

    active_tasks: tuple[TaskId, ...] = ()
    standby_tasks: Mapping[TaskId, tuple[TopicPartition, ...]] = field(default_factory=dict)
    partitions_by_host: PartitionsByHost = field(default_factory=dict)
    standby_partitions_by_host: PartitionsByHost = field(default_factory=dict)
    error_code: int = 0
    next_rebalance_ms: int | None = None
    commonly_supported_version: int | None = NEWEST_VERSION
    version: int = NEWEST_VERSION


def read(data: bytes) -> AssignmentInfo:
    """Read a member's assignment; bytes after the last field are ignored.

    Raises
    ------
    CorruptProtocolBytes
        The bytes end too early, have an impossible count or an unknown version; it carries Kafka's
        exception.
    MalformedText
        A task is of a named topology, or a partition of a topic that the bytes do not name.
    """
    reader = _Reader(data, _REFUSED)
    version = reader.int32("a version (int32)")
    if not OLDEST_VERSION <= version <= NEWEST_VERSION:
        raise reader.reject(0, f"a version from {OLDEST_VERSION} to {NEWEST_VERSION}", str(version))
    common = reader.int32("a commonly supported version (int32)") if version >= 3 else None
    active, standby = reader.active_tasks(version), reader.standby_tasks(version)
    topics = reader.topics() if version >= 5 else None
    by_host = reader.partitions_by_host(topics) if version >= 2 else {}
    standby_by_host = reader.partitions_by_host(topics) if version >= 6 else {}
    error_code = reader.int32("an error code (int32)") if version >= 4 else 0
    next_rebalance_ms = reader.int64("the time of the next rebalance (int64)") if version >= 7 else _NEVER
    return AssignmentInfo(
        active_tasks=active,
        standby_tasks=standby,
        partitions_by_host=by_host,
        standby_partitions_by_host=standby_by_host,
        error_code=error_code,
        next_rebalance_ms=None if next_rebalance_ms == _NEVER else next_rebalance_ms,
        commonly_supported_version=common,
        version=version,
    )


class _Reader(DataReader):
    """The stream with the fields of this message. Of equal keys in a map, Kafka and this take the last."""

    def active_tasks(self, version: int) -> tuple[TaskId, ...]:
        count = self.count("active tasks", least_bytes=_TASK_BYTES)
        return tuple([self._task(version) for _ in range(count)])

    def standby_tasks(self, version: int) -> dict[TaskId, tuple[TopicPartition, ...]]:
        tasks: dict[TaskId, tuple[TopicPartition, ...]] = {}
        for _ in range(self.count("standby tasks", least_bytes=_TASK_BYTES + 4)):
            task = self._task(version)
            tasks[task] = self._partitions(None)
        return tasks

    def topics(self) -> dict[int, str]:
        """The topics' names by number."""
        names: dict[int, str] = {}
        for _ in range(self.count("topics", least_bytes=6)):
            number = self.int32("a topic's number (int32)")
            names[number] = self.text("a topic's name")
        return names

    def partitions_by_host(self, topics: Mapping[int, str] | None) -> dict[HostInfo, tuple[TopicPartition, ...]]:
        """topics : None if partitions name theirs."""
        by_host: dict[HostInfo, tuple[TopicPartition, ...]] = {}
        for _ in range(self.repeats("hosts", least_bytes=10)):
            host = HostInfo(self.text("a host's name"), self.int32("a port (int32)"))
            by_host[host] = self._partitions(topics)
        return by_host

    def _partitions(self, topics: Mapping[int, str] | None) -> tuple[TopicPartition, ...]:
        partitions: dict[TopicPartition, None] = {}
        for _ in range(self.count("partitions", least_bytes=6 if topics is None else 8)):
            topic = self.text("a topic's name") if topics is None else self._topic(topics)
            partitions[topic, self.int32("a partition (int32)")] = None
        return tuple(partitions)

    def _topic(self, topics: Mapping[int, str]) -> str:
        start = self.offset
        number = self.int32("a topic's number (int32)")
        if number not in topics:
            # Kafka continues with a topic that has no name.
            actual = f"{number} at byte {start}"
            raise rejection(None, expected="a number of a topic that was named", actual=actual, byte=start)
        return topics[number]

    def _task(self, version: int) -> TaskId:
        task = self.int32("a task's subtopology (int32)"), self.int32("a task's partition (int32)")
        if version >= 10:
            start = self.offset
            length = self.int32("the length (int32) of a named topology's name")
            if length > 0:
                actual = f"a name of {length} characters at byte {start}"
                raise rejection(None, expected="a task of no named topology", actual=actual, byte=start)
        return task
