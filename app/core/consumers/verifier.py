"""Violations of an answer, whichever solver made it."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.core.consumers.model import ConsumersProblem, Interval
from app.core.model import Int32s, Int64s


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
