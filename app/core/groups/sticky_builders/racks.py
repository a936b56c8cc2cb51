"""Who is near what: the racks of members and of partitions, where the sticky assignors look at them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.groups.arrays.rack_index import RackIndex
from app.core.groups.model import Member
from app.core.groups.sticky_builders.group_kernel import away, count_near, racks_by_partition
from app.core.model import Int32s, Int64s

NO_RACK = -1


@dataclass(frozen=True, slots=True, eq=False)
class Racks:
    """Racks of members and partitions, by number.

    Parameters
    ----------
    of_member : (members,) int64, -1 where it has none.
    of_partition : (partitions, widest) int32, distinct, padded with -1; a replica counts though it be offline.
    members_near : (partitions,) int64: how many members are in one of its racks. count : of racks.
    """

    of_member: Int64s
    of_partition: Int32s = field(repr=False)
    members_near: Int64s = field(repr=False)
    count: int

    @classmethod
    def of(
        cls, members: Sequence[Member], replicas: Sequence[Int32s], rack_of: Mapping[int, str | None]
    ) -> "Racks | None":
        """Racks where they decide anything, else None.

        They do not where no member's rack holds a replica, and where all partitions are in the same racks. An empty
        rack counts as none for a member, and as a rack for a broker.
        """
        if not any(member.rack_id for member in members):
            return None
        index = RackIndex.of(members, rack_of)
        of_partition = _by_partition(replicas, index)
        members_in = np.bincount(index.of_member + 1, minlength=index.racks + 1)[1:]
        near, width, here = count_near(of_partition, members_in)
        if not members_in[here].any() or (width == here.sum()).all():
            return None
        return cls(index.of_member.astype(np.int64), of_partition, near, index.racks)

    def are_away(self, members: Int64s, partitions: Int64s) -> NDArray[np.bool_]:
        """Whether a member has a rack that its partition has no replica in; (len(members),) bool.

        A partition beyond those that exist is in no rack.
        """
        result: NDArray[np.bool_] = away(members, partitions, self.of_member, self.of_partition)
        return result


def _by_partition(replicas: Sequence[Int32s], index: RackIndex) -> Int32s:
    racks = np.full((sum(map(len, replicas)), max((rows.shape[1] for rows in replicas), default=0)), NO_RACK, np.int32)
    filled = 0
    for rows in replicas:
        racks_by_partition(index.brokers_of(rows), index.of_broker, racks, filled)
        filled += len(rows)
    return racks
