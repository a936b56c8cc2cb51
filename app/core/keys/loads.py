"""What each partition gets of many keys, batch after batch."""

from dataclasses import dataclass

import numpy as np

from app.core.keys.model import Keys
from app.core.model import Int32s, Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """Sums that batches are added to.

    Parameters
    ----------
    records, key_bytes : (partitions + 1,) int64. Index 0 is for records without a partition, those that a partitioner
        takes to have no key or refuses; partition p is at p + 1.
    """

    records: Int64s
    key_bytes: Int64s

    def add(self, keys: Keys, placed: Int32s) -> None:
        """Add keys where they landed: (keys,) int32 below `partitions`, negative without a partition.

        Raises
        ------
        ValueError
            There are not as many keys as places, or a place is beyond the last partition.
        """
        from app.core.keys import loads_kernel as kernel  # noqa: PLC0415 — numba takes most of a second to import

        partitions = len(self.records) - 1
        # The loop writes without looking.
        if len(placed) != len(keys) or (len(placed) and int(placed.max()) >= partitions):
            raise ValueError(f"{len(keys)} keys are placed on {partitions} partitions; {len(placed)} places given")
        kernel.add_loads(placed, keys.offsets, self.records, self.key_bytes)


def no_loads(partitions: int) -> Loads:
    """Where adding begins."""
    return Loads(np.zeros(partitions + 1, np.int64), np.zeros(partitions + 1, np.int64))
