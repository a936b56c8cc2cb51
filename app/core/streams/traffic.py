"""What an assignment, made by anyone, reads across racks: sources of active tasks, changelogs of standbys."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.core.jvm.hashes import TaskId, TopicPartition
from app.core.streams.model import Bools, StreamsAssignment, StreamsClient, TaskPartitions


@dataclass(frozen=True, slots=True)
class Reads:
    """Partitions read: in all, of them with no replica in the reader's rack, and of them where racks are not known."""

    partitions: int
    crossing: int
    unknown: int


@dataclass(frozen=True, slots=True)
class ClientTraffic:
    """What one client reads: the sources of its active tasks, the changelogs of its standbys and warm-ups."""

    sources: Reads
    changelogs: Reads


def client_traffic(
    assignment: StreamsAssignment, clients: Sequence[StreamsClient], partitions: TaskPartitions
) -> list[ClientTraffic]:
    """Count what each client reads across racks, whether KIP-925 is on or not.

    Parameters
    ----------
    assignment : its `process_ids` are those of `clients`, in the same order.

    Returns
    -------
    By client. A replica without a rack is in nobody's; where the client or all replicas have none, it is unknown.
    """
    return [
        ClientTraffic(
            _reads(client.rack_id, _read(assignment, assignment.active[place], partitions.sources), partitions),
            _reads(client.rack_id, _read(assignment, assignment.standby[place], partitions.changelogs), partitions),
        )
        for place, client in enumerate(clients)
    ]


def _read(
    assignment: StreamsAssignment, held: Bools, by_task: Mapping[TaskId, Sequence[TopicPartition]]
) -> list[TopicPartition]:
    rows = np.flatnonzero(held).tolist()
    return [partition for row in rows for partition in dict.fromkeys(by_task.get(assignment.task_ids[row], ()))]


def _reads(rack: str | None, read: Iterable[TopicPartition], partitions: TaskPartitions) -> Reads:
    total = crossing = unknown = 0
    for topic, number in read:
        replicas = partitions.replicas.get(topic, ())
        held_in = {partitions.rack_of.get(broker) for broker in (replicas[number] if number < len(replicas) else ())}
        held_in.discard(None)
        total += 1
        if rack is None or not held_in:
            unknown += 1
        elif rack not in held_in:
            crossing += 1
    return Reads(total, crossing, unknown)
