"""Which partitions the loss of one value leaves with a single replica."""

from app.core.compiled.arrays import Int32Matrix, Int32Vector, Int64Vector
from app.core.compiled.loops import compiled


@compiled
def count_down_to_one(positions: Int32Matrix, value_of: Int32Vector, counts: Int64Vector) -> None:
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
