"""What every group plan reports about an assignment: what is read across racks, and how even the loads are."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.groups.arrays.partition_table import NO_ROW, NOBODY, PartitionTable, entry_members, partition_table
from app.core.groups.arrays.rack_match import NO_RACK, rack_match
from app.core.groups.arrays.readership import NO_CLASS, readership
from app.core.groups.arrays.weights import Weights, weights_of_rows
from app.core.groups.model import GroupAssignment, GroupMetadata, Member
from app.core.model import Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Locality:
    """Partitions, or their weight, by where they are read.

    Parameters
    ----------
    in_rack : the member's rack holds a replica. cross_rack : it holds none.
    unknown : the member has no rack, or no replica of the partition has one that is known.
    per_member : (members, 3) int64: the same three for each of the group's members, in their order.
    """

    in_rack: int
    cross_rack: int
    unknown: int
    per_member: Int64s = field(repr=False)

    @property
    def in_rack_share(self) -> float | None:
        """The part that is read in rack of what is known; None where nothing is."""
        known = self.in_rack + self.cross_rack
        return self.in_rack / known if known else None


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """How much each member reads.

    Parameters
    ----------
    per_member : (members,) int64 partitions or weight, in the order of the group's members.
    spread : the largest difference between a member and one that could take over a partition it reads: over all
        topics, the largest load of those who read some of it less the smallest of those who subscribe to it. With equal
        subscriptions it is max - min. At most 1 in an optimum by partitions.
    """

    per_member: Int64s = field(repr=False)
    total: int
    min: int
    max: int
    spread: int


def locality(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment, *, weights: Weights | None = None
) -> Locality:
    """Count, or weigh, what is read in its own rack.

    Replicas count whether they are in sync or not, since a rack with a replica is where Kafka's assignors see one.
    Entries of unknown partitions or members are unknown, and are in no member's count.
    """
    table = partition_table(metadata)
    racks = rack_match(members, metadata, table)
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    readers = entry_members(assignment, [member.id for member in members])
    valid = (rows != NO_ROW) & (readers != NOBODY)
    strangers = int(np.count_nonzero(~valid))
    if strangers:
        rows, readers = rows[valid], readers[valid]
    reader_racks = racks.of_member[readers]
    kinds = np.where(racks.is_in_rack(rows, reader_racks), 0, 1)
    kinds[(reader_racks == NO_RACK) | ~racks.is_known()[rows]] = 2
    cells = kinds + readers.astype(np.int64) * 3
    if weights is None:
        counted = np.bincount(cells, minlength=3 * len(members))
    else:
        strangers = 0
        counted = _weighed(cells, weights_of_rows(table, weights)[rows], 3 * len(members))
    per_member = counted.reshape(len(members), 3).astype(np.int64)
    in_rack, cross_rack, unknown = per_member.sum(axis=0).tolist()
    return Locality(in_rack, cross_rack, unknown + strangers, per_member)


def loads(
    members: Sequence[Member], metadata: GroupMetadata, assignment: GroupAssignment, *, weights: Weights | None = None
) -> Loads:
    """Say how much each member reads, in partitions or by weight (lag, bytes/s), and how uneven that is."""
    table = partition_table(metadata)
    readers = entry_members(assignment, [member.id for member in members])
    rows = table.rows_of(assignment.topics, assignment.topic_index, assignment.partitions)
    valid = (rows != NO_ROW) & (readers != NOBODY)
    rows, readers, topic_index = rows[valid], readers[valid], assignment.topic_index[valid]
    if weights is None:
        per_member = np.bincount(readers, minlength=len(members)).astype(np.int64)
    else:
        per_member = _weighed(readers.astype(np.int64), weights_of_rows(table, weights)[rows], len(members))
    largest = np.full(len(table.topics), -1, np.int64)
    index = np.array([table.index.get(name, 0) for name in assignment.topics], np.int64)
    np.maximum.at(largest, index[topic_index], per_member[readers])
    least = _least_of_subscribers(members, table, per_member)
    return Loads(
        per_member=per_member,
        total=int(per_member.sum()),
        min=int(per_member.min(initial=0) if not len(members) else per_member.min()),
        max=int(per_member.max(initial=0)),
        spread=int((largest - least)[largest >= 0].max(initial=0)),
    )


def _weighed(cells: Int64s, weights: Int64s, size: int) -> Int64s:
    """Sums by cell in integers; a bincount with weights would add in floating point."""
    sums = np.zeros(size, np.int64)
    np.add.at(sums, cells, weights)
    return sums


def _least_of_subscribers(members: Sequence[Member], table: PartitionTable, per_member: Int64s) -> Int64s:
    """(topics,) int64: the smallest load among those who subscribe to each; 0 where nobody does."""
    readers = readership(members, table)
    has_class = readers.member_class != NO_CLASS
    huge = np.iinfo(np.int64).max
    of_class = np.full(len(readers.members), huge, np.int64)
    np.minimum.at(of_class, readers.member_class[has_class], per_member[has_class])
    of_topic_class = np.where(readers.reads, of_class, huge).min(axis=1, initial=huge)
    return np.where(readers.topic_class == NO_CLASS, 0, np.append(of_topic_class, 0)[readers.topic_class])
