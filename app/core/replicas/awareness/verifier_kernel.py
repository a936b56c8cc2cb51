"""Check each row against its demand."""

import numpy as np

from app.core.compiled.arrays import BoolVector, Int32Matrix, Int32Vector, Int64Array4, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine


@subroutine
def _distinct(replicas: Int32Vector, brokers: int) -> int:
    """Number of replicas of a row, which -1 pads; -1 if one is on an unknown broker or shares one."""
    for column in range(len(replicas)):
        if replicas[column] < 0:
            return column
        if replicas[column] == brokers:
            return -1
        for before in range(column):
            if replicas[before] == replicas[column]:
                return -1
    return len(replicas)


@compiled
def judge(
    positions: Int32Matrix,
    value_of: Int64Matrix,
    costs: Int64Array4,
    best: Int64Matrix,
    demand_of: Int64Vector,
    width: int,
    is_broken: BoolVector,
) -> None:
    """Set `is_broken` for rows whose cost is not the required one.

    Parameters
    ----------
    positions : (rows, widest) int32 index of each replica's broker; -1 pads, the number of brokers is an unknown one.
    value_of : (attributes, brokers) int64. costs : (demands, attributes, values, most) int64 of the next replica.
    best : (demands, attributes) int64. demand_of : (brokers,) int64: which demand a row is under that the broker leads,
        -1 where it may lead none. width : how many replicas a row has.
    """
    attributes, brokers = value_of.shape
    counts = np.zeros((attributes, costs.shape[2]), np.int64)
    for row in range(len(positions)):
        counts[:] = 0
        replicas = _distinct(positions[row], brokers)
        if replicas != width or width == 0 or demand_of[positions[row, 0]] < 0:
            is_broken[row] = True
            continue
        demand = demand_of[positions[row, 0]]
        for attribute in range(attributes):
            cost = 0
            for column in range(replicas):
                value = value_of[attribute, positions[row, column]]
                cost += costs[demand, attribute, value, counts[attribute, value]]
                counts[attribute, value] += 1
            if cost != best[demand, attribute]:
                is_broken[row] = True
                break
