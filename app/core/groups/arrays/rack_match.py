"""Which rows of a partition table can be read in which rack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.partition_table import PartitionTable
from app.core.groups.arrays.rack_index import RackIndex
from app.core.groups.model import GroupMetadata, Member
from app.core.model import Int32s

NO_RACK = -1
"""The rack of a member, or of a replica, that has none."""


@dataclass(frozen=True, slots=True, eq=False)
class RackMatch:
    """The racks of members and of replicas as the same numbers; `""` counts as none on both sides.

    Parameters
    ----------
    of_member : (members,) int32, `NO_RACK` without one.
    of_replicas : (widest, rows) int32: the rack of each row's first replica, of its second …; `NO_RACK` without one.
    """

    of_member: Int32s
    of_replicas: Int32s = field(repr=False)

    def is_in_rack(self, rows: NDArray[np.int64], racks: Int32s) -> NDArray[np.bool_]:
        """Whether a replica of each row is in the rack beside it; never in `NO_RACK`."""
        found = np.zeros(len(rows), np.bool_)
        for column in self.of_replicas:
            found |= column[rows] == racks
        found &= racks != NO_RACK
        return found

    def is_known(self) -> NDArray[np.bool_]:
        """(rows,): whether some replica has a rack."""
        known = np.zeros(self.of_replicas.shape[1], np.bool_)
        for column in self.of_replicas:
            known |= column != NO_RACK
        return known


def rack_match(members: Sequence[Member], metadata: GroupMetadata, table: PartitionTable) -> RackMatch:
    """Number the racks of the members and of every row's replicas."""
    # By broker id: in which order the metadata names them is nobody's choice, and has to decide nothing.
    racked: Mapping[int, str | None] = {broker: rack for broker, rack in sorted(metadata.rack_of.items()) if rack}
    index = RackIndex.of(members, racked)
    # One place before and one after the known brokers, for what is out of bounds: padding, and brokers without a rack.
    lookup = np.full(len(index.of_broker) + 2, NO_RACK, np.int32)
    lookup[1:-1] = index.of_broker
    replicas = [metadata.topics[name].replicas for name in table.topics]
    width = max((rows.shape[1] for rows in replicas), default=0)
    of_replicas = np.full((width, table.rows), NO_RACK, np.int32)
    for start, rows in zip(table.starts.tolist(), replicas, strict=False):
        of_replicas[: rows.shape[1], start : start + len(rows)] = rows.T
    for column, held in enumerate(of_replicas):
        places = index.brokers_of(held).astype(np.int64) + 1
        of_replicas[column] = lookup.take(places, mode="clip")
    return RackMatch(index.of_member, of_replicas)
