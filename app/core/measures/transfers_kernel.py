"""The compiled loop of `transfers`: loads before and after, and which replica replaces which."""

import numpy as np

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine

REPLICAS, SIZE_BYTES, UNKNOWN_SIZE, LEADERS = 0, 1, 2, 3
"""The columns of a load; copies have the first three."""


@compiled
def count(
    before: Int32Matrix,
    after: Int32Matrix,
    sizes: Int64Vector,
    copied_bytes: Int64Vector,
    rack_of: Int32Vector,
    loads_before: Int64Matrix,
    loads_after: Int64Matrix,
    arriving: Int64Matrix,
    leaving: Int64Matrix,
    created: Int64Vector,
    senders: Int32Vector,
    receivers: Int32Vector,
    rows: Int32Vector,
) -> int:
    """Sum one topic.

    Parameters
    ----------
    before, after : (partitions, widest) broker positions, padded with -1; a new partition is all padding before.
    sizes, copied_bytes : (partitions,) bytes of a replica, and of them those that a new one copies; negative if
        unknown.
    rack_of : (brokers,) index of each broker's rack, -1 for none.
    loads_before, loads_after : (brokers, 4); arriving, leaving : (brokers, 3); created : (brokers,). Added to.
    senders, receivers, rows : filled with the broker that loses a replica, the one that gains it, -1 for none, and its
        row.

    Returns
    -------
    Number of those pairs.
    """
    pairs = 0
    width = before.shape[1]
    added = np.empty(width, np.int32)
    removed = np.empty(width, np.int32)
    for row in range(len(before)):
        size = max(sizes[row], 0)
        unknown = 1 if sizes[row] < 0 else 0
        _load(before[row], size, unknown, loads_before)
        _load(after[row], size, unknown, loads_after)
        if before[row, 0] < 0:
            for broker in after[row]:
                if broker >= 0:
                    created[broker] += 1
            continue
        gained = _missing(after[row], before[row], added)
        lost = _missing(before[row], after[row], removed)
        for i in range(gained):
            _copy(added[i], max(copied_bytes[row], 0), unknown, arriving)
        for i in range(lost):
            _copy(removed[i], size, unknown, leaving)
        pairs = _pair(added[:gained], removed[:lost], rack_of, row, senders, receivers, rows, pairs)
    return pairs


@subroutine
def _load(replicas: Int32Vector, size: int, unknown: int, loads: Int64Matrix) -> None:
    if replicas[0] >= 0:
        loads[replicas[0], LEADERS] += 1
    for broker in replicas:
        if broker >= 0:
            _copy(broker, size, unknown, loads)


@subroutine
def _copy(broker: int, size: int, unknown: int, counts: Int64Matrix) -> None:
    counts[broker, REPLICAS] += 1
    counts[broker, SIZE_BYTES] += size
    counts[broker, UNKNOWN_SIZE] += unknown


@subroutine
def _missing(here: Int32Vector, there: Int32Vector, missing: Int32Vector) -> int:
    """Write the elements of `here` that `there` lacks, in their order. Returns their number."""
    pairs = 0
    for broker in here:
        if broker < 0:
            continue
        is_there = False
        for other in there:
            if other == broker:
                is_there = True
                break
        if not is_there:
            missing[pairs] = broker
            pairs += 1
    return pairs


@subroutine
def _pair(
    added: Int32Vector,
    removed: Int32Vector,
    rack_of: Int32Vector,
    row: int,
    senders: Int32Vector,
    receivers: Int32Vector,
    rows: Int32Vector,
    pairs: int,
) -> int:
    """Pair replicas of one rack first, then the rest in order; the excess has no partner."""
    for i in range(len(added)):
        rack = rack_of[added[i]]
        for j in range(len(removed)):
            if rack >= 0 and removed[j] >= 0 and rack_of[removed[j]] == rack:
                senders[pairs], receivers[pairs], rows[pairs] = removed[j], added[i], row
                added[i] = removed[j] = -1
                pairs += 1
                break
    i = j = 0
    while True:
        while i < len(added) and added[i] < 0:
            i += 1
        while j < len(removed) and removed[j] < 0:
            j += 1
        sender = removed[j] if j < len(removed) else -1
        receiver = added[i] if i < len(added) else -1
        if sender < 0 and receiver < 0:
            return pairs
        senders[pairs], receivers[pairs], rows[pairs] = sender, receiver, row
        pairs += 1
        i += 1
        j += 1
