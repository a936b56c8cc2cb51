"""Who owns each partition, and with that what each member gets: for assignors that give a partition to one member."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from app.core.groups.model import GroupAssignment
from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Owners:
    """The one owner of each partition.

    Partition p of topic i belongs to member owners[starts[i] + p]. Topics that are dealt out alike share their owners.

    Parameters
    ----------
    topics : names, in the order in which each member's list has them.
    starts, counts : (topics,) int64; counts are of partitions.
    owners : int32 indices of members.
    """

    topics: Sequence[str]
    starts: Int64s = field(repr=False)
    counts: Int64s = field(repr=False)
    owners: Int32s = field(repr=False)

    @classmethod
    def none(cls) -> Self:
        """No topics."""
        return cls.alike((), (), ())

    @classmethod
    def alike(cls, topics: Sequence[str], pattern_of: Sequence[int], patterns: Sequence[Int32s]) -> Self:
        """Topic i has as many partitions, and the owners, that patterns[pattern_of[i]] says."""
        sizes = np.array([len(pattern) for pattern in patterns], np.int64)
        starts = np.cumsum(sizes) - sizes
        chosen = np.array(pattern_of, np.int64)
        return cls(topics, starts[chosen], sizes[chosen], np.concatenate([np.empty(0, np.int32), *patterns]))

    def assignment(self, members: Sequence[str]) -> GroupAssignment:
        """What each member gets: topics in their order, the partitions of each ascending."""
        from app.core.groups.arrays import owners_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

        listed = kernel.list_by_owner(self.starts, self.counts, self.owners, len(members))
        return GroupAssignment(members, self.topics, *listed)
