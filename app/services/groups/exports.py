"""A group plan as a file: the readers of each partition, and whether they are in a rack of a replica."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.core.groups.arrays.partition_table import PartitionTable, partition_table
from app.core.groups.arrays.racks import RackTable, rack_table
from app.core.model import NO_RACK, NO_REPLICA, Int32s, Placement
from app.formats.tables import reader_tables
from app.formats.tables.reader_tables import NO_READER, Reader, TopicReaders
from app.services.groups.stored import stored_group
from app.services.plans import MARKDOWN_ROWS, ClusterOf, Plan, Write
from app.store.records import NewPlan

_IN_RACK, _CROSS_RACK, _UNKNOWN = range(len(reader_tables.LOCALITIES))


EXPORTS: Mapping[str, Write] = {
    "csv": lambda plan, cluster_of: reader_tables.write_csv(*_readers(plan, cluster_of)),
    "markdown": lambda plan, cluster_of: reader_tables.write_markdown(
        *_readers(plan, cluster_of), limit=MARKDOWN_ROWS
    ).encode(),
    "arrow": lambda plan, cluster_of: reader_tables.write_arrow(*_readers(plan, cluster_of)),
}
"""The formats of a group plan. It has no replicas, so that it cannot be a reassignment."""


def _readers(plan: Plan | NewPlan, cluster_of: ClusterOf) -> tuple[Sequence[Reader], Iterator[TopicReaders]]:
    """The members, and the readers of each of the plan's partitions."""
    group = stored_group(plan.head, cluster_of())
    table = partition_table(group.metadata)
    racks = rack_table(group.members, group.metadata, table)
    members = [Reader(member.id, member.rack_id or None) for member in group.members]
    return members, (_topic(placement, table, racks) for placement in plan.placements)


def _topic(placement: Placement, table: PartitionTable, racks: RackTable) -> TopicReaders:
    rows = placement.replicas
    # Each reader has a row; a partition without one has one as well, in its first place.
    has_row = rows != NO_REPLICA
    has_row[:, 0] = True
    partitions, columns = np.nonzero(has_row)
    readers: Int32s = np.where(rows == NO_REPLICA, NO_READER, rows)[partitions, columns]
    where = table.starts[table.index_of[placement.topic]] + partitions
    of_readers = racks.of_member[readers]
    locality = np.where(racks.is_in_rack(where, of_readers), _IN_RACK, _CROSS_RACK)
    locality[(of_readers == NO_RACK) | ~racks.has_known_rack()[where]] = _UNKNOWN
    return TopicReaders(placement.topic, partitions.astype(np.int32), readers, locality.astype(np.int8))
