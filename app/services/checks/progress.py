"""What `kafka-reassign-partitions --verify` reports of each partition, beside what was planned."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.model import Cluster, unpadded
from app.errors import Json
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.kafka_files.reassignment_output import State, VerifiedPartition
from app.services.plans import as_json

NAMED_PARTITIONS = 100
"""The most partitions that are not complete and named; all are counted."""
Lists = Mapping[tuple[str, int], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """A partition that is not complete: its replicas in the snapshot, and the planned ones; None if unknown."""

    topic: str
    partition: int
    state: State
    replicas: tuple[int, ...] | None
    planned: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a reassignment; `not_reported` counts planned partitions that the output does not have."""

    complete: int
    in_progress: int
    failed: int
    not_reported: int
    partitions: Sequence[PartitionProgress]

    def as_json(self) -> dict[str, Json]:
        """The document of the API."""
        document: dict[str, Json] = as_json(self)
        return document


def planned_lists(
    verified: Sequence[VerifiedPartition], planned: Reassignment | None, cluster: Cluster
) -> Reassignment:
    """What was planned: the given lists; else those of the output, or where the snapshot has the partitions going."""
    if planned is not None:
        return planned
    destinations = _lists(cluster, is_destination=True)
    return Reassignment(
        tuple(
            PartitionReassignment(
                one.topic, one.partition, one.planned or destinations.get((one.topic, one.partition), ())
            )
            for one in verified
        )
    )


def progress_of(verified: Sequence[VerifiedPartition], planned: Reassignment, cluster: Cluster) -> Progress:
    """Count the states, and name the partitions that are not complete."""
    lists = {(one.topic, one.partition): one.replicas for one in planned.partitions}
    now = _lists(cluster, is_destination=False)
    counts = Counter(one.state for one in verified)
    names = [(one.topic, one.partition) for one in verified]
    return Progress(
        complete=counts["complete"],
        in_progress=counts["in_progress"],
        failed=counts["failed"],
        not_reported=len(lists.keys() - set(names)),
        partitions=[
            PartitionProgress(*name, one.state, now.get(name), lists.get(name) or one.planned)
            for name, one in zip(names, verified, strict=True)
            if one.state != "complete"
        ][:NAMED_PARTITIONS],
    )


def _lists(cluster: Cluster, *, is_destination: bool) -> Lists:
    return {
        (topic.name, partition): tuple(row)
        for topic in cluster.topics
        for assignment in (topic.destination if is_destination else topic.assignment,)
        for partition, row in zip(assignment.partition_ids.tolist(), unpadded(assignment.replicas), strict=True)
    }
