"""Replication factors that a reassignment lowers below what keeps a topic available."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, Int32s, Int64s

LEAST_FACTOR = 2
"""With fewer replicas, the loss of one broker makes a partition unavailable."""


@dataclass(frozen=True, slots=True, eq=False)
class LoweredFactors:
    """Partitions of a topic whose replication factor is lowered too far.

    Parameters
    ----------
    rows : (lowered,) int64 indices of the partitions. partitions : of the topic's reassigned ones.
    smallest : the smallest new factor. bounds : what it is below, in words.
    """

    rows: Int64s = field(repr=False)
    partitions: int
    smallest: int
    bounds: tuple[str, ...]

    def detail(self, topic: str) -> str:
        """The finding in a sentence."""
        return (
            f"{len(self.rows)} of {self.partitions} partitions of {topic} get fewer replicas, down to {self.smallest}: "
            f"below {' and '.join(self.bounds)}"
        )


def lowered_factors(before: Int32s, after: Int32s, *, largest_of_topic: int = 0) -> LoweredFactors:
    """Find the partitions that get fewer replicas than before, and fewer than either of two bounds.

    Parameters
    ----------
    before, after : (partitions, any width) int32 replicas, padded. largest_of_topic : the largest factor of the topic's
        other partitions.

    Examples
    --------
    >>> lists = np.array([[1, 2, 3]], np.int32), np.array([[1, -1, -1]], np.int32)
    >>> lowered_factors(*lists).detail("orders")
    '1 of 1 partitions of orders get fewer replicas, down to 1: below 2 (the loss of one broker takes them offline)'
    """
    old, new = factors_of(before), factors_of(after)
    bounds = (
        (LEAST_FACTOR, f"{LEAST_FACTOR} (the loss of one broker takes them offline)"),
        (largest_of_topic, f"the {largest_of_topic} replicas of other partitions of the topic"),
    )
    rows = np.flatnonzero((new < old) & (new < max(bound for bound, _ in bounds)))
    smallest = int(new[rows].min(initial=old.max(initial=0)))
    below = tuple(words for bound, words in bounds if smallest < bound)
    return LoweredFactors(rows, len(old), smallest, below)


def factors_of(replicas: Int32s) -> NDArray[np.int64]:
    """(partitions,) int64: the number of replicas of each."""
    return np.asarray(np.count_nonzero(replicas != NO_REPLICA, axis=1), np.int64)
