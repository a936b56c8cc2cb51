"""Dealing a topic out in ranges, which the classic range assignor and the coordinator's do alike."""

import numpy as np

from app.core.model import Int64s


def in_ranges(partitions: int, seats: int) -> Int64s:
    """The seat of each partition: (partitions,) int64, ascending; the first seats have the remainder, one each."""
    quota, extra = divmod(partitions, seats)
    sizes = np.full(seats, quota, np.int64)
    sizes[:extra] += 1
    return np.repeat(np.arange(seats, dtype=np.int64), sizes)
