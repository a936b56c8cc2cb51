"""The loop of `by_load`: partitions by descending load, each to one of the least loaded members that may read it."""

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled
from app.core.model import Int32s


@compiled
def assign_heaviest_first(
    order: Int64Vector,
    load: Int64Vector,
    topic_class: Int32Vector,
    reader_starts: Int64Vector,
    readers: Int64Vector,
    owners: Int32Vector,
    replica_racks: Int32Matrix,
    member_racks: Int32Vector,
) -> Int32s:
    """The member that reads each row: (rows,) int32.

    Parameters
    ----------
    order : the rows to deal out, heaviest first. load, topic_class, owners : (rows,). replica_racks : (widest, rows).
    reader_starts, readers : the members that read topic class c are readers[reader_starts[c] : reader_starts[c + 1]].
    member_racks : (members,), −1 without one.
    """
    reader_of_row = np.full(len(load), -1, np.int32)
    load_of_member = np.zeros(len(member_racks), np.int64)
    for row in order:
        begin, end = reader_starts[topic_class[row]], reader_starts[topic_class[row] + 1]
        smallest = load_of_member[readers[begin]]
        for place in range(begin + 1, end):
            smallest = min(smallest, load_of_member[readers[place]])
        best, best_rank = -1, 4
        for place in range(begin, end):
            member = readers[place]
            if load_of_member[member] > smallest + load[row]:
                continue
            rank = 3 if owners[row] != member else 2
            if member_racks[member] >= 0:
                for replica in range(replica_racks.shape[0]):
                    if replica_racks[replica, row] == member_racks[member]:
                        rank -= 2
                        break
            if rank < best_rank or (rank == best_rank and load_of_member[member] < load_of_member[best]):
                best, best_rank = member, rank
        reader_of_row[row] = best
        load_of_member[best] += load[row]
    return reader_of_row
