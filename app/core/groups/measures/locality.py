"""Rack locality and member loads of an assignment: the measures that every group plan reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from app.core.groups.arrays.partition_table import (
    NO_ROW,
    PartitionTable,
    Weights,
    assigned_members,
    members_of_entries,
    partition_table,
    weights_of_rows,
)
from app.core.groups.arrays.racks import RackTable, rack_table
from app.core.groups.arrays.subscriptions import NO_CLASS, subscription_classes
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.model import NO_MEMBER, NO_RACK, Int64s
from app.core.replica_lists import sums_by


@dataclass(frozen=True, slots=True, eq=False)
class Locality:
    """Partitions, or their weight, by whether they are read in rack.

    Parameters
    ----------
    in_rack : the member's rack contains a replica.
    cross_rack : the member's rack contains no replica.
    unknown : the member has no rack, or no replica of the partition has a known rack.
    per_member : (members, 3) int64: in rack, cross rack and unknown of each of the group's members, in their order.
    """

    in_rack: int
    cross_rack: int
    unknown: int
    per_member: Int64s = field(repr=False)

    @property
    def in_rack_share(self) -> float | None:
        """in_rack / (in_rack + cross_rack); None if both are 0."""
        known = self.in_rack + self.cross_rack
        return self.in_rack / known if known else None


@dataclass(frozen=True, slots=True, eq=False)
class MemberLoads:
    """Partitions, or their weight, that each member reads.

    Parameters
    ----------
    per_member : (members,) int64 partitions or weight, in the order of the group's members.
    total, min, max : over all members.
    spread : the largest difference between a member and one that could take over a partition it reads: over all
        topics, the largest load among the members that read it − the smallest among those that subscribe to it. If all
        subscriptions are equal, it is max − min. At most 1 in an optimum by partitions.
    """

    per_member: Int64s = field(repr=False)
    total: int
    min: int
    max: int
    spread: int


class RacksIgnored(StrEnum):
    """Why racks decide nothing: the first reason of these that applies."""

    NO_MEMBER_HAS_A_RACK = "no_member_has_a_rack"
    NO_REPLICA_HAS_A_RACK = "no_replica_has_a_rack"
    NO_RACK_IN_COMMON = "no_rack_in_common"
    ALL_PARTITIONS_ALIKE = "all_partitions_alike"


def locality(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment, *, weights: Weights | None = None
) -> Locality:
    """Count, or weigh, the partitions that are read in rack, cross rack and unknown.

    A replica counts whether it is in sync or not, since Kafka's assignors do not distinguish them. Entries of unknown
    partitions or members are unknown, and are in no member's count.

    Parameters
    ----------
    weights : None to count partitions.
    """
    table = partition_table(metadata)
    racks = rack_table(members, metadata, table)
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    readers = members_of_entries(assignment, [member.id for member in members])
    is_valid = (rows != NO_ROW) & (readers != NO_MEMBER)
    invalid = int(np.count_nonzero(~is_valid))
    if invalid:
        rows, readers = rows[is_valid], readers[is_valid]
    reader_racks = racks.of_member[readers]
    columns = np.where(racks.is_in_rack(rows, reader_racks), 0, 1)
    columns[(reader_racks == NO_RACK) | ~racks.has_known_rack()[rows]] = 2
    cells = columns + readers.astype(np.int64) * 3
    if weights is None:
        sums = np.bincount(cells, minlength=3 * len(members))
    else:
        invalid = 0
        sums = sums_by(cells, weights_of_rows(table, weights)[rows], 3 * len(members))
    per_member = sums.reshape(len(members), 3).astype(np.int64)
    in_rack, cross_rack, unknown = per_member.sum(axis=0).tolist()
    return Locality(in_rack, cross_rack, unknown + invalid, per_member)


def member_loads(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment, *, weights: Weights | None = None
) -> MemberLoads:
    """Measure the load of each member, in partitions or by weight (lag, bytes/s), and its spread.

    Parameters
    ----------
    weights : None to count partitions.
    """
    table = partition_table(metadata)
    readers = members_of_entries(assignment, [member.id for member in members])
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    is_valid = (rows != NO_ROW) & (readers != NO_MEMBER)
    rows, readers, topic_index = rows[is_valid], readers[is_valid], assignment.topic_index[is_valid]
    if weights is None:
        per_member = np.bincount(readers, minlength=len(members)).astype(np.int64)
    else:
        per_member = sums_by(readers.astype(np.int64), weights_of_rows(table, weights)[rows], len(members))
    largest = np.full(len(table.topics), -1, np.int64)
    index = np.array([table.index_of.get(name, 0) for name in assignment.topics], np.int64)
    np.maximum.at(largest, index[topic_index], per_member[readers])
    smallest = _smallest_load_of_subscribers(members, table, per_member)
    return MemberLoads(
        per_member=per_member,
        total=int(per_member.sum()),
        min=int(per_member.min(initial=0) if not len(members) else per_member.min()),
        max=int(per_member.max(initial=0)),
        spread=int((largest - smallest)[largest >= 0].max(initial=0)),
    )


def racks_ignored(members: Sequence[Member], metadata: GroupMetadata) -> RacksIgnored | None:
    """Why a rack-aware assignor (KIP-881) ignores racks in this group, or None if it does not.

    Kafka reports none of these cases. Only partitions that some member subscribes to count. If all partitions of each
    topic are alike and topics differ, the sticky assignors use racks and range does not; the answer is then None.

    Source: KIP-881; `AbstractPartitionAssignor.useRackAwareAssignment` of Apache Kafka 4.0.
    """
    table = partition_table(metadata)
    classes = subscription_classes(members, table)
    # To Kafka's assignors an empty rack of a broker is a rack, unlike in `rack_table`.
    racks = RackTable.of(members, metadata.rack_of, [metadata.topics[name].replicas for name in table.topics])
    is_subscribed = (classes.topic_class != NO_CLASS)[table.topic_of_rows()]
    of_replicas = racks.of_replicas[:, is_subscribed]
    member_racks = np.unique(racks.of_member[racks.of_member != NO_RACK])
    replica_racks = np.unique(of_replicas[of_replicas != NO_RACK])
    if not is_subscribed.any():
        return None
    if not len(member_racks):
        return RacksIgnored.NO_MEMBER_HAS_A_RACK
    if not len(replica_racks):
        return RacksIgnored.NO_REPLICA_HAS_A_RACK
    if not np.isin(member_racks, replica_racks).any():
        return RacksIgnored.NO_RACK_IN_COMMON
    all_everywhere = all(bool((of_replicas == rack).any(axis=0).all()) for rack in replica_racks.tolist())
    return RacksIgnored.ALL_PARTITIONS_ALIKE if all_everywhere else None


def _smallest_load_of_subscribers(members: Sequence[Member], table: PartitionTable, per_member: Int64s) -> Int64s:
    """(topics,) int64: the smallest load among the subscribers of each topic; 0 if it has none."""
    classes = subscription_classes(members, table)
    has_class = classes.member_class != NO_CLASS
    infinite = np.iinfo(np.int64).max
    of_class = np.full(len(classes.members), infinite, np.int64)
    np.minimum.at(of_class, classes.member_class[has_class], per_member[has_class])
    of_topic_class = np.where(classes.subscribes, of_class, infinite).min(axis=1, initial=infinite)
    return np.where(classes.topic_class == NO_CLASS, 0, np.append(of_topic_class, 0)[classes.topic_class])


@dataclass(frozen=True, slots=True)
class Handover:
    """Numbers of partitions by their handover."""

    kept: int
    """Number of partitions that are assigned to the same member before and after."""
    moved: int
    """Number of partitions that are assigned to one member before and to another one after."""
    taken_up: int
    """Number of partitions that are unassigned before and assigned after."""
    dropped: int
    """Number of partitions that are assigned before and unassigned after."""
    revoked: int
    """Number of partitions that are taken from a member that stays in the group; they are moved or dropped."""


def handover(metadata: GroupMetadata, before: GroupAssignment, after: GroupAssignment) -> Handover:
    """Compare two assignments of one group, partition by partition of the metadata.

    A member is still in the group if `after` lists it, with or without partitions. Partitions that the metadata does
    not contain are not counted.
    """
    table = partition_table(metadata)
    remaining = set(after.members)
    ids = [*after.members, *(member for member in before.members if member not in remaining)]
    old, new = assigned_members(table, before, ids), assigned_members(table, after, ids)
    had_member, has_member, is_same = old != NO_MEMBER, new != NO_MEMBER, old == new
    return Handover(
        kept=int(np.count_nonzero(had_member & is_same)),
        moved=int(np.count_nonzero(had_member & has_member & ~is_same)),
        taken_up=int(np.count_nonzero(~had_member & has_member)),
        dropped=int(np.count_nonzero(had_member & ~has_member)),
        revoked=int(np.count_nonzero(had_member & ~is_same & (old < len(after.members)))),
    )
