"""A member's partitions from the partitions' members: a counting sort."""

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s


@njit(cache=True, nogil=True)
def list_by_owner(starts: Int64s, counts: Int64s, owners: Int32s, n_members: int) -> tuple[Int64s, Int32s, Int32s]:
    """Offsets, topic indices and partitions, as `GroupAssignment` keeps them; topics in the order given."""
    offsets = np.zeros(n_members + 1, np.int64)
    for topic in range(len(starts)):
        for owner in owners[starts[topic] : starts[topic] + counts[topic]]:
            offsets[owner + 1] += 1
    offsets = np.cumsum(offsets)
    topic_index = np.empty(offsets[n_members], np.int32)
    partitions = np.empty(offsets[n_members], np.int32)
    free = offsets[:n_members].copy()
    for topic in range(len(starts)):
        start = starts[topic]
        for partition in range(counts[topic]):
            owner = owners[start + partition]
            topic_index[free[owner]] = topic
            partitions[free[owner]] = partition
            free[owner] += 1
    return offsets, topic_index, partitions
