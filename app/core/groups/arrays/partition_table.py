"""Partitions of a group's topics as rows of one table, and assignments as arrays over those rows.

A `PartitionTable` numbers every partition. An array over its rows says which member each partition is assigned to, so
that two assignments are compared in one numpy expression.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.counting_kernel import grouped
from app.core.groups.model import GroupAssignment, GroupMetadata
from app.core.model import NO_MEMBER, Int32s, Int64s

_LARGE = 2**16
"""Entries that a loop sorts: fewer are sorted before it would be loaded."""
NO_ROW = -1
"""The row of a partition that the metadata does not contain."""

Weights = Mapping[str, Int64s]
"""By topic name, the weight of each partition: (partitions,) int64 ≥ 0, in bytes/s, records/s or records of lag.
A partition without a weight weighs 0."""


@dataclass(frozen=True, slots=True, eq=False)
class PartitionTable:
    """The partitions of all topics of the metadata: topics by name, partitions ascending within a topic.

    Parameters
    ----------
    topics : names, ascending.
    starts : (topics + 1,) int64; partition p of topic i is row starts[i] + p.
    index_of : index of each topic name in `topics`.
    """

    topics: tuple[str, ...]
    starts: Int64s = field(repr=False)
    index_of: Mapping[str, int] = field(repr=False)

    @property
    def rows(self) -> int:
        """Number of partitions."""
        return int(self.starts[-1])

    def topic_of_rows(self) -> Int32s:
        """(rows,) int32: the index of each row's topic."""
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), np.diff(self.starts))

    def rows_of(self, topics: Sequence[str], topic_index: Int32s, partitions: Int32s) -> Int64s:
        """Rows of the given partitions: (n,) int64, `NO_ROW` if the metadata does not contain the partition.

        Parameters
        ----------
        topics : names; `topic_index` points into them.
        topic_index, partitions : (n,) int32.
        """
        known = np.fromiter((self.index_of.get(name, -1) for name in topics), np.int64, len(topics))
        counts = np.append(np.diff(self.starts), 0)[known]
        starts = self.starts[known]
        rows = starts[topic_index] + partitions
        outside = (partitions < 0) | (partitions >= counts[topic_index])
        if outside.any():
            rows[outside] = NO_ROW
        return rows


def partition_table(metadata: GroupMetadata) -> PartitionTable:
    """Number the partitions of every topic of the metadata."""
    names = tuple(sorted(metadata.topics))
    counts = np.fromiter((len(metadata.topics[name].replicas) for name in names), np.int64, len(names))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return PartitionTable(names, starts, {name: index for index, name in enumerate(names)})


def weights_of_rows(table: PartitionTable, weights: Weights) -> Int64s:
    """The weight of each row: (rows,) int64."""
    by_row = np.zeros(table.rows, np.int64)
    for name, topic_weights in weights.items():
        index = table.index_of.get(name)
        if index is not None:
            begin, end = int(table.starts[index]), int(table.starts[index + 1])
            by_row[begin : min(end, begin + len(topic_weights))] = topic_weights[: end - begin]
    return by_row


def members_of_entries(assignment: GroupAssignment, member_ids: Sequence[str]) -> Int32s:
    """The member of each entry of an assignment: (assigned,) int32 indices into `member_ids`, or `NO_MEMBER`."""
    position = {member_id: index for index, member_id in enumerate(member_ids)}
    indices = np.fromiter((position.get(member, NO_MEMBER) for member in assignment.members), np.int32)
    return np.repeat(indices, np.diff(assignment.offsets))


def assigned_members(table: PartitionTable, assignment: GroupAssignment, member_ids: Sequence[str]) -> Int32s:
    """The member that each row is assigned to.

    Returns
    -------
    (rows,) int32 indices into `member_ids`, `NO_MEMBER` if the partition is assigned to none of them. Of a partition
    that is assigned twice, the later member of the assignment is named.
    """
    member_of_row = np.full(table.rows, NO_MEMBER, np.int32)
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    members = members_of_entries(assignment, member_ids)
    valid = (rows != NO_ROW) & (members != NO_MEMBER)
    member_of_row[rows[valid]] = members[valid]
    return member_of_row


def assignment_of(table: PartitionTable, member_of_row: Int32s, member_ids: Sequence[str]) -> GroupAssignment:
    """The inverse of `assigned_members`: each member's partitions by topic name, ascending within a topic.

    Parameters
    ----------
    member_of_row : (rows,) int32 indices into `member_ids`, or `NO_MEMBER`.
    """
    topic_index = table.topic_of_rows()
    partitions = np.arange(table.rows, dtype=np.int64) - table.starts[topic_index]
    return _listed_by_member(tuple(member_ids), table.topics, member_of_row, topic_index, partitions)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionOwners:
    """The one member that each partition is assigned to, for assignors that assign no partition twice.

    Partition p of topic i belongs to member owners[starts[i] + p]. Topics with equal owners share their entries.

    Parameters
    ----------
    topics : names, in the order in which each member's list has them.
    starts : (topics,) int64.
    counts : (topics,) int64 partitions.
    owners : int32 indices of members.
    """

    topics: Sequence[str]
    starts: Int64s = field(repr=False)
    counts: Int64s = field(repr=False)
    owners: Int32s = field(repr=False)

    @classmethod
    def of_patterns(cls, topics: Sequence[str], pattern_of: Sequence[int], patterns: Sequence[Int32s]) -> Self:
        """Topic i has the partitions and the owners of patterns[pattern_of[i]]."""
        sizes = np.array([len(pattern) for pattern in patterns], np.int64)
        starts = np.cumsum(sizes) - sizes
        chosen = np.array(pattern_of, np.int64)
        return cls(topics, starts[chosen], sizes[chosen], np.concatenate([np.empty(0, np.int32), *patterns]))

    def assignment(self, members: Sequence[str]) -> GroupAssignment:
        """Each member's list: topics in their order, the partitions of each ascending."""
        topic_index = np.repeat(np.arange(len(self.topics), dtype=np.int32), self.counts)
        partitions = np.arange(len(topic_index)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        owner = self.owners[np.repeat(self.starts, self.counts) + partitions]
        return _listed_by_member(members, self.topics, owner, topic_index, partitions)


def range_owners(partitions: int, members: int) -> Int64s:
    """Divide a topic into contiguous ranges, the first members getting one partition more if there is a remainder.

    Returns
    -------
    (partitions,) int64, ascending: the position of each partition's member, 0 … members − 1.
    """
    quota, remainder = divmod(partitions, members)
    sizes = np.full(members, quota, np.int64)
    sizes[:remainder] += 1
    return np.repeat(np.arange(members, dtype=np.int64), sizes)


def _listed_by_member(
    members: Sequence[str], topics: Sequence[str], member_of: Int32s, topic_index: Int32s, partitions: Int64s
) -> GroupAssignment:
    """Entries sorted by member, in their order within a member; without `NO_MEMBER`."""
    keys = member_of.astype(np.int64) + 1
    counts = np.bincount(keys, minlength=len(members) + 1)
    # The loop takes a third of the time, once it is loaded. numpy sorts 16-bit integers in linear time, too.
    if len(keys) >= _LARGE:
        _, order = grouped(np.arange(len(keys)), keys, len(counts))
    else:
        order = np.argsort(keys.astype(np.uint16) if len(counts) <= 0xFFFF else keys, kind="stable")
    order = order[counts[0] :]
    return GroupAssignment(
        members=members,
        topics=topics,
        offsets=np.cumsum(counts, dtype=np.int64) - counts[0],
        topic_index=topic_index[order],
        partitions=partitions[order].astype(np.int32),
    )
