"""The problem of consumers over time, and its answer by interval."""

from dataclasses import dataclass, field

import numpy as np

from app.core.model import Int32s, Int64s

NO_CONSUMER = -1
"""In place of the consumer of a partition that had none."""


@dataclass(frozen=True, slots=True, eq=False)
class ConsumersProblem:
    """Partitions that consumers read in consecutive intervals.

    Hard: one consumer reads a partition; no consumer reads more than its capacity, unless it reads one partition that
    alone exceeds it, or `most` consumers are too few. Goals, one after another in each interval: the fewest consumers,
    then the fewest bytes/s of partitions whose consumer is another than in the interval before.

    Parameters
    ----------
    rates : (intervals, partitions) int64 bytes/s >= 0.
    capacity : bytes/s of a consumer, at least 1.
    least, most : consumers of every interval, at least 1; `most` is None if it is not limited.
    hold : a need for fewer consumers that lasts at most this number of intervals is ignored.
    spare : consumers beyond the fewest.
    """

    rates: Int64s = field(repr=False)
    capacity: int
    least: int = 1
    most: int | None = None
    hold: int = 0
    spare: int = 0

    @property
    def weights(self) -> Int64s:
        """(intervals, partitions) int64 capacity that each partition takes, at most that of one consumer."""
        return np.minimum(self.rates, self.capacity, order="C")

    def lost(self, interval: int, owners: Int32s) -> int:
        """Bytes/s that arrive above the capacity of their consumer."""
        loads = np.zeros(int(owners.max(initial=0)) + 1, np.int64)
        np.add.at(loads, owners, self.rates[interval])
        return int(np.maximum(loads - self.capacity, 0).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """The consumers of one interval.

    Parameters
    ----------
    consumers : their number. lower_bound : no assignment within capacity has fewer.
    owners : (partitions,) int32 consumers, which keep their numbers; a new one has the smallest number that is free.
    moved : bytes/s of the partitions with another consumer than before; 0 in the first interval.
    moved_lower_bound : no assignment to as many consumers moves less.
    lost : bytes/s above the capacity of consumers.
    """

    consumers: int
    lower_bound: int
    owners: Int32s = field(repr=False)
    moved: int
    moved_lower_bound: int
    lost: int = 0
