"""Whether KIP-925 is on, and why not; and how many partitions of each task cross racks on each client.

It is on where a strategy is set, every client has a rack, and every partition of every task has replicas that all have
one; changelogs count only where there are standbys. It goes off without a word to anybody but a log.

Source: KIP-925, `RackAwareTaskAssignor` of Apache Kafka 4.0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from app.core.jvm.hashes import TaskId, TopicPartition
from app.core.model import Int64s
from app.core.streams.application import Application, name_of
from app.core.streams.model import RackAwareStrategy, StreamsClient, StreamsOptions, TaskPartitions
from app.errors import KafkaError, TaskPartitionsUnknown


class RacksOff(Enum):
    """Why racks decide nothing."""

    NO_STRATEGY = "no_strategy"
    NO_PARTITIONS = "no_partitions"
    CLIENT_WITHOUT_RACK = "client_without_rack"
    PARTITION_MISSING = "partition_missing"
    PARTITION_WITHOUT_REPLICAS = "partition_without_replicas"
    BROKER_WITHOUT_RACK = "broker_without_rack"


@dataclass(frozen=True, slots=True)
class WhyOff:
    """The first reason for which racks decide nothing, and whom it is about: a process id, a partition, a broker."""

    reason: RacksOff
    detail: str


def why_off(
    clients: Sequence[StreamsClient], options: StreamsOptions, partitions: TaskPartitions | None
) -> WhyOff | None:
    """Say why KIP-925 is off, or None where it is on."""
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
    """Changelog topics are described, and so every partition of them counts."""
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
            what = f"broker {broker}, which holds {topic}-{partition}, has no rack"
            return WhyOff(RacksOff.BROKER_WITHOUT_RACK, what)
    return None


def _all_of(by_task: Mapping[TaskId, Sequence[TopicPartition]]) -> dict[TopicPartition, None]:
    return {partition: None for partitions in by_task.values() for partition in partitions}


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """How many partitions cross racks: `sources` for active tasks, `changelogs` for standbys.

    sources, changelogs : (clients, tasks) int64 partitions without a replica in the client's rack; `UNKNOWN` where the
        task has no partitions, or one of which no racks are known.
    client_racks : (clients,) int64, equal where racks are.
    """

    sources: Int64s
    changelogs: Int64s
    client_racks: Int64s


UNKNOWN = -1


def crossings(application: Application, partitions: TaskPartitions, *, describes_changelogs: bool) -> Crossings:
    """Count them; clients must have racks.

    Parameters
    ----------
    describes_changelogs : whether Kafka asks for the changelog topics, which it does where there are to be standbys;
        else it knows of their partitions only those that are some task's source.
    """
    racks: dict[str, int] = {}
    client_racks = np.array(
        [racks.setdefault(client.rack_id or "", len(racks)) for client in application.clients], np.int64
    )
    held_in = {partition: _racks_of(partition, partitions) for partition in _all_of(partitions.sources)}
    sources = _crossings_by_rack(application, partitions.sources, held_in, racks)
    if describes_changelogs:
        held_in |= {partition: _racks_of(partition, partitions) for partition in _all_of(partitions.changelogs)}
    changelogs = _crossings_by_rack(application, partitions.changelogs, held_in, racks)
    return Crossings(sources[client_racks], changelogs[client_racks], client_racks)


def _crossings_by_rack(
    application: Application,
    by_task: Mapping[TaskId, Sequence[TopicPartition]],
    held_in: Mapping[TopicPartition, set[str | None]],
    racks: Mapping[str, int],
) -> Int64s:
    """(client racks, tasks) int64."""
    counts = np.full((len(racks), len(application.task_ids)), UNKNOWN, np.int64)
    for row, task in enumerate(application.task_ids):
        own = [held_in.get(partition) for partition in dict.fromkeys(by_task.get(task, ()))]
        if own and all(own):
            for rack, number in racks.items():
                counts[number, row] = sum(rack not in held for held in own if held)
    return counts


def _racks_of(partition: TopicPartition, partitions: TaskPartitions) -> set[str | None]:
    topic, number = partition
    replicas = partitions.replicas.get(topic, ())
    return {partitions.rack_of.get(broker) for broker in replicas[number]} if 0 <= number < len(replicas) else set()


def unknown_partitions(application: Application, row: int) -> TaskPartitionsUnknown:
    """The failure where a task's partitions or their racks are asked for and nobody knows them."""
    task = name_of(application.task_ids[row])
    return TaskPartitionsUnknown(
        f"racks decide, and task {task} has no partitions or one without known racks",
        kafka=KafkaError("IllegalStateException"),
        task=task,
    )
