"""Partitions that an assignment, however it was made, reads across racks: sources of active tasks, changelogs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.core.jvm.hashes import TaskId, TopicPartition
from app.core.streams.model import StreamsAssignment, StreamsClient, TaskPartitions


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
    kinds = ((assignment.active, partitions.sources), (assignment.standby, partitions.changelogs))
    return [
        ClientTraffic(
            *(_reads(client.rack_id, assignment.ids(has[place]), by_task, partitions) for has, by_task in kinds)
        )
        for place, client in enumerate(clients)
    ]


def _reads(
    rack: str | None,
    tasks: Iterable[TaskId],
    by_task: Mapping[TaskId, Sequence[TopicPartition]],
    partitions: TaskPartitions,
) -> RackReads:
    racks = [
        partitions.racks_of(partition) - {None} for task in tasks for partition in dict.fromkeys(by_task.get(task, ()))
    ]
    known = [] if rack is None else list(filter(None, racks))
    return RackReads(len(racks), sum(rack not in of_replicas for of_replicas in known), len(racks) - len(known))
