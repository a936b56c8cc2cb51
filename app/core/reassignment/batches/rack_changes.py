"""Which steps change the racks of a partition's replicas, and so make groups rebalance.

Since 4.1 the coordinator hashes each subscribed topic: for each partition the racks of its replicas, sorted, with
repeats, without the replicas of brokers that have no rack (KIP-1101). Other hashes begin a new epoch of the group.
Equal sorted racks have equal hashes, and different ones different hashes but for collisions of 64 bits.

While a step copies, a partition has the replicas of both lists.
"""

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_RACK, Int32s
from app.core.replica_lists import not_among, widened


def changes_racks(before: Int32s, after: Int32s, rack_of: Int32s) -> NDArray[np.bool_]:
    """(rows,) bool: whether the racks of the replicas, sorted, with repeats, differ between two lists.

    Parameters
    ----------
    before, after : (rows, …) int32 positions of brokers, padded with `NO_REPLICA`.
    rack_of : (brokers,) int32 number of each broker's rack, or `NO_RACK`.
    """
    width = max(before.shape[1], after.shape[1])
    racks = np.append(rack_of, np.int32(NO_RACK))
    sorted_racks = [np.sort(racks[widened(lists, width)], axis=1) for lists in (before, after)]
    return np.asarray((sorted_racks[0] != sorted_racks[1]).any(axis=1), np.bool_)


def changes_racks_meanwhile(before: Int32s, after: Int32s, rack_of: Int32s) -> NDArray[np.bool_]:
    """(rows,) bool: whether they differ while the step copies, as they do if any added replica has a rack."""
    added = not_among(after, before)
    return np.asarray((added & (np.append(rack_of, np.int32(NO_RACK))[after] != NO_RACK)).any(axis=1), np.bool_)
