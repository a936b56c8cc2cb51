"""Records and key bytes of each partition, summed batch by batch."""

from dataclasses import dataclass

import numpy as np

from app.core.keys import loads_kernel as kernel
from app.core.keys.model import Keys
from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class PartitionLoads:
    """Sums by partition, changed in place.

    Parameters
    ----------
    records, key_bytes : (partitions + 1,) int64. Index 0 is for records without a partition, those that a partitioner
        takes to have no key or rejects; partition p is at p + 1.
    """

    records: Int64s
    key_bytes: Int64s

    def add(self, keys: Keys, key_partitions: Int32s) -> None:
        """Add keys by their partitions: (keys,) int32 below `partitions`, negative without a partition.

        Raises
        ------
        ValueError
            There are not as many keys as partitions given, or one is beyond the last partition.
        """
        partitions = len(self.records) - 1
        # The compiled loop does not check bounds.
        if len(key_partitions) != len(keys) or (len(key_partitions) and int(key_partitions.max()) >= partitions):
            raise ValueError(
                f"{len(keys)} keys are placed on {partitions} partitions; {len(key_partitions)} places given"
            )
        for part, offsets in keys.blocks():
            kernel.add_loads(key_partitions[part], offsets, self.records, self.key_bytes)


def empty_loads(partitions: int) -> PartitionLoads:
    """Sums of no records."""
    return PartitionLoads(np.zeros(partitions + 1, np.int64), np.zeros(partitions + 1, np.int64))
