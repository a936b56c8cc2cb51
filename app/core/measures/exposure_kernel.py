"""Which partitions the loss of one value leaves with a single replica."""

from numba import njit

from app.core.model import Int32s, Int64s


@njit(cache=True, nogil=True)
def count_down_to_one(positions: Int32s, value_of: Int32s, counts: Int64s) -> None:
    """Add to (values,) `counts` the partitions that have replicas at a value and exactly one elsewhere.

    Parameters
    ----------
    positions : (partitions, widest) int32 index of each replica's broker; -1 pads, and n_brokers is an unknown one,
        which is elsewhere. value_of : (n_brokers,) int32, -1 where a broker has none.
    """
    brokers = len(value_of)
    for row in range(len(positions)):
        replicas = 0
        while replicas < positions.shape[1] and positions[row, replicas] >= 0:
            replicas += 1
        for column in range(replicas):
            broker = positions[row, column]
            value = value_of[broker] if broker < brokers else -1
            if value < 0:
                continue
            elsewhere, is_first = 0, True
            for other in range(replicas):
                there = positions[row, other]
                if there < brokers and value_of[there] == value:
                    is_first = is_first and other >= column
                else:
                    elsewhere += 1
            if is_first and elsewhere == 1:
                counts[value] += 1
