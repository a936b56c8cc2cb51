"""A stored group plan: its rows, the readers of each partition, and its members and metadata.

A row has the positions of the readers in the list of members, topic by topic.

"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.groups.arrays.partition_table import NO_ROW, members_of_entries, partition_table
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.groups.registry import Assignor
from app.core.kafka_versions import KafkaVersion
from app.core.model import NO_MEMBER, NO_REPLICA, Cluster, Int32s, Int64s, Placement
from app.services.bodies import AnswerRecord, reader_of_stored
from app.services.groups.requests import READER
from app.services.groups.sources import source_of
from app.store.records import NewPlan, PlanHead

_RELEASE_BEFORE_THERE_WERE_SEVERAL = "4.0.0"
"""The release of stored plans that state none (engine version 1)."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredGroup:
    """A group as it was planned. The plan's rows name places in `members`, which are as the assignor sees them."""

    assignor: Assignor
    members: tuple[Member, ...] = field(repr=False)
    metadata: GroupMetadata = field(repr=False)


def stored_group(head: PlanHead | NewPlan, cluster: Cluster | None) -> StoredGroup:
    """The group of a plan; `cluster` comes from its snapshot, None if it was made without one."""
    request = reader_of_stored(READER)(head.request)
    version = KafkaVersion.of(request.kafka_version or _RELEASE_BEFORE_THERE_WERE_SEVERAL)
    source = source_of(request, cluster, version)
    (assignor, *_) = source.assignors
    return StoredGroup(assignor, tuple(listed.seen_by(assignor) for listed in source.listed), source.metadata)


def member_ids(head: PlanHead | NewPlan) -> list[str]:
    """The members' ids at those places, from the answer alone."""
    loads: Any = head.answer["loads"]
    return [member["member_id"] for member in loads["per_member"]]


def readers_of(members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment) -> list[Placement]:
    """The readers of each partition of subscribed topics."""
    subscribed = {topic for member in members for topic in member.topics}
    return [topic for topic in readers_of_all(members, metadata, assignment) if topic.topic in subscribed]


def readers_of_all(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment
) -> Iterator[Placement]:
    """The readers of each partition of every topic, as positions in the list of members; topics by name."""
    table = partition_table(metadata)
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    readers = members_of_entries(assignment, [member.id for member in members])
    known = (rows != NO_ROW) & (readers != NO_MEMBER)
    by_row = _listed(rows[known], readers[known], table.rows)
    for name, begin, end in zip(table.topics, table.starts[:-1].tolist(), table.starts[1:].tolist(), strict=True):
        if end > begin:
            yield Placement(name, 0, by_row[begin:end])


class ReadPartitionDocument(AnswerRecord):
    """One partition of a group plan and its readers: one member at most, except in share groups."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    members: list[str]
    """Ids of the members that read it; empty if no member does."""


def _listed(rows: Int64s, readers: Int32s, count: int) -> Int32s:
    """(count, widest) int32: the readers of each row, padded."""
    order = np.lexsort((readers, rows))
    rows, readers = rows[order], readers[order]
    times = np.bincount(rows, minlength=count)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    listed = np.full((count, max(int(times.max(initial=0)), 1)), NO_REPLICA, np.int32)
    listed[rows, place] = readers
    return listed
