"""Partitions that an assignment, however it was made, reads across racks: sources of active tasks, changelogs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.jvm.hashes import TaskId, TopicPartition
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, TaskPartitions


@dataclass(frozen=True, slots=True)
class RackReads:
    """Partitions read by one client.

    Parameters
    ----------
    partitions : all.
    crossing : those without a replica in the client's rack.
    unknown : those whose racks, or the client's, are unknown.
    """

    partitions: int
    crossing: int
    unknown: int


@dataclass(frozen=True, slots=True)
class ClientTraffic:
    """Reads of one client: sources of its active tasks, changelogs of its standbys and warm-ups."""

    sources: RackReads
    changelogs: RackReads


def client_traffic(
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], partitions: TaskPartitions
) -> list[ClientTraffic]:
    """Count the partitions that each client reads across racks, whether KIP-925 is on or not.

    Parameters
    ----------
    assignment : its `process_ids` are the clients', in the same order.

    Returns
    -------
    By client. A replica without a rack is in no client's rack; if the client or all replicas have none, it is unknown.
    """
    return [
        ClientTraffic(
            _reads(
                client.rack_id, _partitions_of(assignment, assignment.active[place], partitions.sources), partitions
            ),
            _reads(
                client.rack_id, _partitions_of(assignment, assignment.standby[place], partitions.changelogs), partitions
            ),
        )
        for place, client in enumerate(clients)
    ]


def _partitions_of(
    assignment: StreamsAssignment, is_assigned: Bools, by_task: Mapping[TaskId, Sequence[TopicPartition]]
) -> list[TopicPartition]:
    rows = np.flatnonzero(is_assigned).tolist()
    return [partition for row in rows for partition in dict.fromkeys(by_task.get(assignment.task_ids[row], ()))]


def _reads(rack: str | None, read: Iterable[TopicPartition], partitions: TaskPartitions) -> RackReads:
    total = crossing = unknown = 0
    for topic, number in read:
        replicas = partitions.replicas.get(topic, ())
        replica_racks = {
            partitions.rack_of.get(broker) for broker in (replicas[number] if number < len(replicas) else ())
        }
        replica_racks.discard(None)
        total += 1
        if rack is None or not replica_racks:
            unknown += 1
        elif rack not in replica_racks:
            crossing += 1
    return RackReads(total, crossing, unknown)
