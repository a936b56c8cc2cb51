"""Results of `kafka-reassign-partitions --verify` by partition, beside the plan."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias

from app.core.model import Cluster, unpadded
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.kafka_files.reassignment_output import VerifiedPartition
from app.services.bodies import AnswerRecord, ListOf
from app.services.cautions import Caution, caution

NAMED_PARTITIONS = 100
"""The most partitions that are not complete and named; all are counted."""
Lists: TypeAlias = dict[tuple[str, int], tuple[int, ...]]
"""Replicas by topic and partition."""


class LogDirProgress(AnswerRecord, schema="LogDirProgressDocument"):
    """A replica that has not moved to its planned log directory."""

    broker: int
    """Id of its broker."""
    state: Literal["in_progress", "failed"]
    """`failed`: it is neither in the planned directory nor moving there."""
    planned: str | None
    """Path of the planned directory; null if the output does not have it."""


class PartitionProgress(AnswerRecord, schema="PartitionProgressDocument"):
    """A partition whose reassignment is not complete."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition."""
    state: Literal["in_progress", "failed"]
    """`failed`: no reassignment of it is active, and its replicas or their log directories are not the planned ones."""
    replicas: ListOf[int] | None
    """Ids of the brokers with a replica in the snapshot, preferred leader first; null if it lacks the partition."""
    planned: ListOf[int] | None
    """Ids of the planned brokers, preferred leader first; null if they are unknown."""
    log_dirs: list[LogDirProgress]
    """Its replicas that have not moved to their planned log directories."""


class Progress(AnswerRecord, schema="ProgressDocument"):
    """The progress of a reassignment, by the output of `--verify`."""

    complete: int
    """Number of partitions with the planned replicas, in the planned log directories."""
    in_progress: int
    """Number of partitions that are still being reassigned, or of which replicas move between log directories."""
    failed: int
    """Number of partitions without an active reassignment and without the planned replicas, or of which a replica is
    neither in its planned log directory nor moving there."""
    not_reported: int
    """Number of planned partitions that the output does not have."""
    partitions: list[PartitionProgress]
    """The first 100 partitions that are not complete, in the order of the output."""


def planned_lists(
    verified: Sequence[VerifiedPartition], planned: Reassignment | None, cluster: Cluster
) -> tuple[Reassignment, Sequence[Caution]]:
    """The lists to check: the given ones; else from the output, from the snapshot if a partition is complete, and the
    target of its reassignment if one is in progress. A partition of which none is known is checked as it is.
    """
    if planned is not None:
        return planned, ()
    known, destinations = _known(verified, cluster), _lists(cluster, is_destination=True)
    unknown = [one for one in verified if (one.topic, one.partition) not in known]
    cautions = []
    if unknown:
        first = f"{unknown[0].topic}-{unknown[0].partition}"
        cautions.append(caution("planned_lists_unknown", unknown=unknown, first=first))
    lists = destinations | known
    names = [(one.topic, one.partition) for one in verified]
    return Reassignment(tuple(PartitionReassignment(*name, lists.get(name, ())) for name in names)), cautions


def progress_of(verified: Sequence[VerifiedPartition], planned: Reassignment | None, cluster: Cluster) -> Progress:
    """Count the states, and name the partitions that are not complete."""
    lists = _known(verified, cluster)
    if planned is not None:
        lists = lists | {(one.topic, one.partition): one.replicas for one in planned.partitions}
    now = _lists(cluster, is_destination=False)
    counts = Counter(one.overall for one in verified)
    names = [(one.topic, one.partition) for one in verified]
    return Progress(
        complete=counts["complete"],
        in_progress=counts["in_progress"],
        failed=counts["failed"],
        not_reported=len(lists.keys() - set(names)),
        partitions=[
            PartitionProgress(
                *name,
                one.overall,
                now.get(name),
                lists.get(name),
                [LogDirProgress.of(move) for move in one.log_dirs if move.state != "complete"],
            )
            for name, one in zip(names, verified, strict=True)
            if one.overall != "complete"
        ][:NAMED_PARTITIONS],
    )


def _known(verified: Sequence[VerifiedPartition], cluster: Cluster) -> Lists:
    """The planned lists of partitions by the output and the snapshot, without those that neither has."""
    destinations = _lists(cluster, is_destination=True)
    moving = {
        (topic.name, partition)
        for topic in cluster.topics
        for partition in topic.partition_ids[topic.is_moving].tolist()
    }
    known: Lists = {}
    for one in verified:
        name = (one.topic, one.partition)
        is_at_plan = one.state == "complete" or (one.state == "in_progress" and name in moving)
        if one.planned is not None:
            known[name] = one.planned
        elif is_at_plan and name in destinations:
            known[name] = destinations[name]
    return known


def _lists(cluster: Cluster, *, is_destination: bool) -> Lists:
    return {
        (topic.name, partition): tuple(row)
        for topic in cluster.topics
        for assignment in (topic.destination if is_destination else topic.assignment,)
        for partition, row in zip(assignment.partition_ids.tolist(), unpadded(assignment.replicas), strict=True)
    }
