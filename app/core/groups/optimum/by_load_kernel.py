"""The loop of `by_load`: partitions by descending load, each to one of the least loaded who may read it."""

import numpy as np
from numba import njit

from app.core.model import Int32s, Int64s


@njit(cache=True, nogil=True)
def deal_out(
    order: Int64s,
    load: Int64s,
    topic_class: Int32s,
    reader_starts: Int64s,
    readers: Int64s,
    owned: Int32s,
    replica_racks: Int32s,
    member_racks: Int32s,
) -> Int32s:
    """Who reads each row: (rows,) int32.

    Parameters
    ----------
    order : the rows to deal out, heaviest first. load, topic_class, owned : (rows,). replica_racks : (widest, rows).
    reader_starts, readers : the members that read topic class c are readers[reader_starts[c] : reader_starts[c + 1]].
    member_racks : (members,), −1 without one.
    """
    held = np.full(len(load), -1, np.int32)
    carried = np.zeros(len(member_racks), np.int64)
    for row in order:
        begin, end = reader_starts[topic_class[row]], reader_starts[topic_class[row] + 1]
        least = carried[readers[begin]]
        for place in range(begin + 1, end):
            least = min(least, carried[readers[place]])
        chosen, chosen_rank = -1, 4
        for place in range(begin, end):
            member = readers[place]
            if carried[member] > least + load[row]:
                continue
            rank = 3 if owned[row] != member else 2
            if member_racks[member] >= 0:
                for replica in range(replica_racks.shape[0]):
                    if replica_racks[replica, row] == member_racks[member]:
                        rank -= 2
                        break
            if rank < chosen_rank or (rank == chosen_rank and carried[member] < carried[chosen]):
                chosen, chosen_rank = member, rank
        held[row] = chosen
        carried[chosen] += load[row]
    return held
