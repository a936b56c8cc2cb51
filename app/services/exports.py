"""A plan as a file to hand over: what Kafka's tools take, and what people and programs read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from app.core.model import Cluster, Int32s, Placement
from app.errors import NotExportable
from app.formats import placement_tables, reassignment, replica_assignment

Placements: TypeAlias = Sequence[Placement]

MARKDOWN_ROWS = 1_000
"""How many partitions of a topic a Markdown table shows; it says how many it leaves out."""


@dataclass(frozen=True, slots=True)
class Export:
    """One format: its media type, the file's ending, and how a plan is written in it.

    `write` takes the placements and the cluster that they were made for, or None.
    """

    media_type: str
    suffix: str
    write: Callable[[Placements, Cluster | None], bytes]


def _reassignment(placements: Placements, _: Cluster | None) -> bytes:
    return reassignment.write_placements(placements)


def _replica_assignment(placements: Placements, cluster: Cluster | None) -> bytes:
    """The string is of one topic, from partition 0 on: Kafka counts off what the topic has already."""
    if len(placements) != 1:
        names = ", ".join(placement.topic for placement in placements[:10])
        raise NotExportable(f"--replica-assignment is of one topic; name one of: {names}", topics=len(placements))
    placement = placements[0]
    rows = placement.replicas
    if placement.first_partition_id > 0:
        rows = np.concatenate([_existing(placement.topic, placement.first_partition_id, rows.shape[1], cluster), rows])
    return (replica_assignment.write(rows) + "\n").encode()


def _existing(name: str, partitions: int, factor: int, cluster: Cluster | None) -> Int32s:
    topic = None if cluster is None else cluster.topic(name)
    if topic is None or topic.partition_ids.tolist() != list(range(partitions)):
        raise NotExportable(
            f"--replica-assignment starts at partition 0, and the first {partitions} of {name} are in no snapshot",
            topic=name,
        )
    if topic.replicas.shape[1] != factor or (topic.replicas < 0).any():
        raise NotExportable(
            f"--replica-assignment wants one replication factor, and {name} has another than {factor}", topic=name
        )
    return topic.replicas


def _csv(placements: Placements, _: Cluster | None) -> bytes:
    return placement_tables.write_csv(placements)


def _markdown(placements: Placements, _: Cluster | None) -> bytes:
    return placement_tables.write_markdown(placements, limit=MARKDOWN_ROWS).encode()


def _arrow(placements: Placements, _: Cluster | None) -> bytes:
    return placement_tables.write_arrow(placements)


EXPORTS: Mapping[str, Export] = MappingProxyType(
    {
        "reassignment": Export("application/vnd.kafka.reassignment+json", "json", _reassignment),
        "replica_assignment": Export("text/plain; charset=utf-8", "txt", _replica_assignment),
        "csv": Export("text/csv; charset=utf-8", "csv", _csv),
        "markdown": Export("text/markdown; charset=utf-8", "md", _markdown),
        "arrow": Export("application/vnd.apache.arrow.stream", "arrow", _arrow),
    }
)
"""Every format by its name; the API's enum and its content negotiation read it."""
