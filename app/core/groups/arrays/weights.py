"""What partitions weigh: bytes/s, lag, records/s."""

from collections.abc import Mapping

import numpy as np

from app.core.groups.arrays.partition_table import PartitionTable
from app.core.model import Int64s

Weights = Mapping[str, Int64s]
"""What each partition of a topic weighs, (partitions,) int64 and not negative: bytes/s, lag, records/s. A topic, or a
partition at a topic's end, for which there is no weight weighs nothing."""


def weights_of_rows(table: PartitionTable, weights: Weights) -> Int64s:
    """The weight of each row: (rows,) int64."""
    by_row = np.zeros(table.rows, np.int64)
    for name, given in weights.items():
        index = table.index.get(name)
        if index is not None:
            begin, end = int(table.starts[index]), int(table.starts[index + 1])
            by_row[begin : min(end, begin + len(given))] = given[: end - begin]
    return by_row
