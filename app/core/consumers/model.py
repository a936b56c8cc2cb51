"""The problem of consumers over time, and its answer by interval."""

from collections.abc import Iterator, Sequence
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
        """(intervals, partitions) int64 capacity that each partition takes, at most one consumer's."""
        return np.minimum(self.rates, self.capacity, order="C")

    def lost(self, interval: int, owners: Int32s) -> int:
        """Bytes/s that arrive above the capacity of their consumer."""
        loads = np.zeros(int(owners.max(initial=0)) + 1, np.int64)
        np.add.at(loads, owners, self.rates[interval])
        return int(np.maximum(loads - self.capacity, 0).sum())


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """Partitions on the fewest consumers that were found, whatever `least`, `most`, `hold` and `spare` are.

    Parameters
    ----------
    lower_bound : no assignment within capacity has fewer consumers. owners : (partitions,) int32, from 0.
    """

    consumers: int
    lower_bound: int
    owners: Int32s = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """The consumers of one interval.

    Parameters
    ----------
    consumers : their number. lower_bound : no assignment within capacity has fewer.
    owners : (partitions,) int32 consumers, which keep their numbers; a new one has the smallest number that is free.
    moved : bytes/s of the partitions with another consumer than before; 0 in the first interval.
    moved_lower_bound : no assignment to as many consumers moves less.
    packing : the fewest consumers of this interval alone.
    lost : bytes/s above the capacity of consumers.
    """

    consumers: int
    lower_bound: int
    owners: Int32s = field(repr=False)
    moved: int
    moved_lower_bound: int
    packing: Packing = field(repr=False)
    lost: int = 0


def consumer_violations(problem: ConsumersProblem, intervals: Sequence[Interval]) -> Iterator[str]:
    """Each constraint that an interval breaks, and each of its numbers that is wrong, in a sentence."""
    if len(intervals) != len(problem.rates):
        yield f"there are {len(intervals)} intervals, and the series has {len(problem.rates)}"
    previous = intervals[0].owners if intervals else None
    for place, (interval, rates) in enumerate(zip(intervals, problem.rates, strict=False)):
        for sentence in (*_of_loads(problem, interval, rates), *_of_numbers(interval, rates, previous)):
            yield f"interval {place}: {sentence}"
        previous = interval.owners


def _of_loads(problem: ConsumersProblem, interval: Interval, rates: Int64s) -> Iterator[str]:
    count, capacity, most = interval.consumers, problem.capacity, problem.most or interval.consumers
    names = np.unique(interval.owners)
    reads = [rates[interval.owners == name] for name in names]
    if not max(problem.least, len(names)) <= count <= most or names.min(initial=0) < 0:
        yield f"{count} consumers, of which {len(names)} read; allowed are {problem.least} to {most}"
    lost = [max(0, int(read.sum()) - capacity) for read in reads]
    if sum(lost) != interval.lost:
        yield f"{sum(lost)} bytes/s are above capacity, and {interval.lost} are stated"
    if count < (problem.most or count + 1):
        if interval.lower_bound > count:
            yield f"{count} consumers are fewer than the bound {interval.lower_bound}"
        for name, read, above in zip(names.tolist(), reads, lost, strict=True):
            if above and np.count_nonzero(read) > 1:
                yield f"consumer {name} reads {read.sum()} bytes/s, above {capacity}"


def _of_numbers(interval: Interval, rates: Int64s, previous: Int32s | None) -> Iterator[str]:
    moved = int(rates[interval.owners != previous].sum())
    if moved != interval.moved or moved < interval.moved_lower_bound:
        yield f"{moved} bytes/s move; {interval.moved} are stated, and the bound is {interval.moved_lower_bound}"
