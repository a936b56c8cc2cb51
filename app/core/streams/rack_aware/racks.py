"""Whether KIP-925 is on, why it is off, and the partitions of each task that each client would read across racks.

It is on if a strategy is set, every client has a rack, and every partition of every task has replicas that all have a
rack; changelogs count only if there are standbys. Kafka reports that it is off in a log only.

Source: KIP-925, `RackAwareTaskAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from app.core.jvm.hashes import TaskId, TopicPartition
from app.core.model import Int64s
from app.core.streams.model import (
    Application,
    RackAwareStrategy,
    StreamsClient,
    StreamsOptions,
    TaskPartitions,
    name_of,
)
from app.errors.kafka import KafkaError, TaskPartitionsUnknown


class RacksOff(Enum):
    """Why racks have no influence."""

    NO_STRATEGY = "no_strategy"
    NO_PARTITIONS = "no_partitions"
    CLIENT_WITHOUT_RACK = "client_without_rack"
    PARTITION_MISSING = "partition_missing"
    PARTITION_WITHOUT_REPLICAS = "partition_without_replicas"
    BROKER_WITHOUT_RACK = "broker_without_rack"


@dataclass(frozen=True, slots=True)
class WhyOff:
    """The first reason why racks have no influence; the detail names a process id, a partition or a broker."""

    reason: RacksOff
    detail: str


def why_off(
    clients: Sequence[StreamsClient], options: StreamsOptions, partitions: TaskPartitions | None
) -> WhyOff | None:
    """The reason why KIP-925 is off, or None if it is on."""
    if options.rack_aware_assignment_strategy is RackAwareStrategy.NONE:
        return WhyOff(RacksOff.NO_STRATEGY, "rack.aware.assignment.strategy is none")
    if partitions is None:
        return WhyOff(RacksOff.NO_PARTITIONS, "nothing is known of the tasks' partitions")
    for client in clients:
        if client.rack_id is None:
            return WhyOff(RacksOff.CLIENT_WITHOUT_RACK, f"client {client.process_id} has no client.rack")
    off = _off_by_sources(partitions)
    if off is not None or options.num_standby_replicas == 0:
        return off
    return _off_by_changelogs(partitions)


def _off_by_sources(partitions: TaskPartitions) -> WhyOff | None:
    for topic, partition in _all_of(partitions.sources):
        replicas = partitions.replicas.get(topic, ())
        if not 0 <= partition < len(replicas):
            return WhyOff(RacksOff.PARTITION_MISSING, f"partition {topic}-{partition} is not in the metadata")
        if off := _off_by_replicas(topic, partition, replicas[partition], partitions.rack_of):
            return off
    return None


def _off_by_changelogs(partitions: TaskPartitions) -> WhyOff | None:
    """Kafka describes changelog topics, and so every partition of them counts."""
    for topic in dict.fromkeys(topic for topic, _ in _all_of(partitions.changelogs)):
        if topic not in partitions.replicas:
            return WhyOff(RacksOff.PARTITION_MISSING, f"changelog topic {topic} cannot be described")
        for partition, replicas in enumerate(partitions.replicas[topic]):
            if off := _off_by_replicas(topic, partition, replicas, partitions.rack_of):
                return off
    return None


def _off_by_replicas(
    topic: str, partition: int, replicas: Sequence[int], rack_of: Mapping[int, str | None]
) -> WhyOff | None:
    if not replicas:
        return WhyOff(RacksOff.PARTITION_WITHOUT_REPLICAS, f"partition {topic}-{partition} has no replicas")
    for broker in replicas:
        if rack_of.get(broker) is None:
            detail = f"broker {broker}, which holds {topic}-{partition}, has no rack"
            return WhyOff(RacksOff.BROKER_WITHOUT_RACK, detail)
    return None


def _all_of(by_task: Mapping[TaskId, Sequence[TopicPartition]]) -> dict[TopicPartition, None]:
    return {partition: None for partitions in by_task.values() for partition in partitions}


@dataclass(frozen=True, slots=True, eq=False)
class CrossRackReads:
    """Partitions that clients would read across racks.

    Parameters
    ----------
    sources, changelogs : (clients, tasks) int64 partitions without a replica in the client's rack, that an active task
        or a standby would read; `UNKNOWN_READS` if the task has no partitions, or one whose racks are unknown.
    client_racks : (clients,) int64 rack numbers.
    """

    sources: Int64s
    changelogs: Int64s
    client_racks: Int64s


UNKNOWN_READS = -1


def cross_rack_reads(
    application: Application, partitions: TaskPartitions, *, describes_changelogs: bool
) -> CrossRackReads:
    """Count the partitions that each client would read across racks, for each task; every client has a rack.

    Parameters
    ----------
    describes_changelogs : whether Kafka describes the changelog topics, which it does if standbys are requested;
        otherwise it knows only their partitions that are a source of some task.
    """
    racks: dict[str, int] = {}
    client_racks = np.array(
        [racks.setdefault(client.rack_id or "", len(racks)) for client in application.clients], np.int64
    )
    racks_of = {partition: partitions.racks_of(partition) for partition in _all_of(partitions.sources)}
    sources = _reads_by_rack(application, partitions.sources, racks_of, racks)
    if describes_changelogs:
        racks_of |= {partition: partitions.racks_of(partition) for partition in _all_of(partitions.changelogs)}
    changelogs = _reads_by_rack(application, partitions.changelogs, racks_of, racks)
    return CrossRackReads(sources[client_racks], changelogs[client_racks], client_racks)


def _reads_by_rack(
    application: Application,
    by_task: Mapping[TaskId, Sequence[TopicPartition]],
    racks_of: Mapping[TopicPartition, set[str | None]],
    racks: Mapping[str, int],
) -> Int64s:
    """(client racks, tasks) int64."""
    counts = np.full((len(racks), len(application.task_ids)), UNKNOWN_READS, np.int64)
    for row, task in enumerate(application.task_ids):
        replica_racks = [racks_of.get(partition) for partition in dict.fromkeys(by_task.get(task, ()))]
        if replica_racks and all(replica_racks):
            for rack, number in racks.items():
                counts[number, row] = sum(rack not in of_partition for of_partition in replica_racks if of_partition)
    return counts


def unknown_partitions(application: Application, row: int) -> TaskPartitionsUnknown:
    """The failure if a task's partitions or their racks are needed and unknown."""
    task = name_of(application.task_ids[row])
    return TaskPartitionsUnknown(
        f"racks decide, and task {task} has no partitions or one without known racks",
        kafka=KafkaError("IllegalStateException"),
        task=task,
    )
