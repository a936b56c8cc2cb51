"""User data of a Streams assignment."""

from collections.abc import Iterable, Mapping

from app.core.jvm.hashes import TaskId, TopicPartition
from app.errors.kafka import KafkaError
from app.formats.streams.streams_assignment import (
    NEWEST_VERSION,
    OLDEST_VERSION,
    AssignmentInfo,
    PartitionsByHost,
)
from tests.formats.writers.data_streams import text
from tests.formats.writers.generated_bytes import int32, int64
from tests.kafka_refusals import NotSerializable

_NEVER = 2**63 - 1
_REFUSED = KafkaError("TaskAssignmentException")


def write(info: AssignmentInfo) -> bytes:
    """Write a member's assignment. Fields that the version lacks are left out; all else is in the given order,
    whereas Kafka follows its hash maps.

    Raises
    ------
    NotSerializable
        The version is not 1 to 11, or the name of a topic or host takes more than 65535 bytes.
    """
    version = info.version
    if not OLDEST_VERSION <= version <= NEWEST_VERSION:
        detail = f"versions are {OLDEST_VERSION} to {NEWEST_VERSION}; {version} given"
        raise NotSerializable(detail, kafka=KafkaError("IllegalArgumentException"), version=version)
    by_host, standby_by_host = info.partitions_by_host, info.standby_partitions_by_host
    numbers = _numbers_of_topics([by_host] if version == 5 else [by_host, standby_by_host]) if version >= 5 else None
    fields = [int32(version)]
    if version >= 3:
        common = info.commonly_supported_version
        fields.append(int32(-1 if common is None else common))
    fields += [_active_tasks(info.active_tasks, version), _standby_tasks(info.standby_tasks, version)]
    if numbers is not None:
        fields += [int32(len(numbers)), *[int32(number) + _text(topic) for topic, number in numbers.items()]]
    if version >= 2:
        fields.append(_partitions_by_host(by_host, numbers))
    if version >= 6:
        fields.append(_partitions_by_host(standby_by_host, numbers))
    if version >= 4:
        fields.append(int32(info.error_code))
    if version >= 7:
        fields.append(int64(_NEVER if info.next_rebalance_ms is None else info.next_rebalance_ms))
    return b"".join(fields)


def _text(content: str) -> bytes:
    return text(content, "the name of a topic or host", _REFUSED)


def _task(task: TaskId, version: int) -> bytes:
    return int32(task[0]) + int32(task[1]) + (int32(0) if version >= 10 else b"")


def _active_tasks(tasks: tuple[TaskId, ...], version: int) -> bytes:
    return int32(len(tasks)) + b"".join([_task(task, version) for task in tasks])


def _standby_tasks(tasks: Mapping[TaskId, tuple[TopicPartition, ...]], version: int) -> bytes:
    written = [_task(task, version) + _partitions(partitions, None) for task, partitions in tasks.items()]
    return int32(len(written)) + b"".join(written)


def _numbers_of_topics(hosts: Iterable[PartitionsByHost]) -> dict[str, int]:
    """The topics of some hosts' partitions, numbered from 0."""
    topics = dict.fromkeys(topic for by_host in hosts for partitions in by_host.values() for topic, _ in partitions)
    return {topic: number for number, topic in enumerate(topics)}


def _partitions_by_host(by_host: PartitionsByHost, numbers: Mapping[str, int] | None) -> bytes:
    written = [
        _text(host.host) + int32(host.port) + _partitions(partitions, numbers) for host, partitions in by_host.items()
    ]
    return int32(len(written)) + b"".join(written)


def _partitions(partitions: tuple[TopicPartition, ...], numbers: Mapping[str, int] | None) -> bytes:
    written = [
        (_text(topic) if numbers is None else int32(numbers[topic])) + int32(partition)
        for topic, partition in partitions
    ]
    return int32(len(written)) + b"".join(written)
