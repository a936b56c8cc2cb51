"""What `kafka-reassign-partitions --verify` reports of each partition, beside what was planned."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.core.model import Cluster, unpadded
from app.errors import Json
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.formats.kafka_files.reassignment_output import State, VerifiedPartition, VerifiedReplica
from app.services.cautions import Caution
from app.services.plans import as_json

NAMED_PARTITIONS = 100
"""The most partitions that are not complete and named; all are counted."""
Lists: TypeAlias = dict[tuple[str, int], tuple[int, ...]]
"""Replicas by topic and partition."""


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """A partition that is not complete: its replicas in the snapshot, and the planned ones; None if unknown.

    Parameters
    ----------
    log_dirs : its moves between log directories that are not complete.
    """

    topic: str
    partition: int
    state: State
    replicas: tuple[int, ...] | None
    planned: tuple[int, ...] | None
    log_dirs: Sequence[VerifiedReplica] = ()


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
) -> tuple[Reassignment, Sequence[Caution]]:
    """The lists to check: the given ones; else those of the output, of the snapshot if a partition is complete, and the
    target of its reassignment if one is in progress. A partition of which none is known is checked as it is.
    """
    if planned is not None:
        return planned, ()
    known, destinations = _known(verified, cluster), _lists(cluster, is_destination=True)
    unknown = [one for one in verified if (one.topic, one.partition) not in known]
    cautions = []
    if unknown:
        detail = (
            f"the planned lists of {len(unknown)} partitions are neither in the output nor in the snapshot, "
            f"{unknown[0].topic}-{unknown[0].partition} first, which are checked as they are; "
            "state the executed file as `reassignment`"
        )
        cautions.append(Caution("planned_lists_unknown", detail))
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
                [move for move in one.log_dirs if move.state != "complete"],
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
