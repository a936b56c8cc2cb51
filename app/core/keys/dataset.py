"""What partitioners make of a dataset of keys, added up from its distinct keys and how often each occurs.

A key is hashed once, however many records have it. `KeyTally` is what one task adds up; the tallies of all tasks, each
with keys that no other has, are the dataset's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from app.core.keys.model import Keys
from app.core.keys.partitioners import Partitioner, partition
from app.core.model import Int32s, Int64s

SUGGESTED_WITHIN = 0.1
"""A count is suggested where its max/mean is at most so much above the least of all counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where one partitioner puts the keys at one partition count.

    Parameters
    ----------
    records, record_bytes : (partitions + 1,) int64. Index 0 is for records without a partition; p is at p + 1.
    compared, moved : (2,) int64 distinct keys and records: those that have a partition under the first count and under
        this one, and those among them of which it is another.
    """

    records: Int64s
    record_bytes: Int64s
    compared: Int64s
    moved: Int64s


@dataclass(eq=False, slots=True)
class KeyTally:
    """Sums over distinct keys, batch after batch; no key may be in two batches.

    Parameters
    ----------
    partition_counts : the first is the one that moves are counted from.
    most : how many of the heaviest keys are kept.
    """

    partitioners: Sequence[Partitioner]
    partition_counts: Sequence[int]
    most: int
    placed: list[Placed] = field(init=False)
    """By partitioner, then by count."""
    heaviest: list[tuple[bytes, int]] = field(init=False, default_factory=list)
    """Keys and their records, heaviest first, equal ones in the order of their bytes."""
    keys: int = field(init=False, default=0)
    records: int = field(init=False, default=0)
    null_records: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.placed = [
            Placed(*(np.zeros(size, np.int64) for size in (count + 1, count + 1, 2, 2)))
            for _ in self.partitioners
            for count in self.partition_counts
        ]

    def add(self, keys: Keys, records: Int64s, value_bytes: Int64s) -> None:
        """Add distinct keys with their records and the bytes of those' values, (keys,) int64; at most one is null."""
        is_key = np.ones(len(keys), np.bool_) if keys.is_null is None else ~keys.is_null
        self.keys += int(np.count_nonzero(is_key))
        self.records += int(records.sum())
        self.null_records += int(records[~is_key].sum())
        record_bytes = records * keys.lengths + value_bytes
        sums = iter(self.placed)
        for partitioner in self.partitioners:
            first: Int32s | None = None
            for count in self.partition_counts:
                there = partition(partitioner, keys, count)
                first = there if first is None else first
                _add(next(sums), records, record_bytes, first, there)
        self._add_heaviest(keys, np.where(is_key, records, 0))

    def _add_heaviest(self, keys: Keys, records: Int64s) -> None:
        if not self.most:
            return
        # What is lighter than the lightest of a full list cannot get onto it.
        least = self.heaviest[-1][1] if len(self.heaviest) == self.most else 1
        candidates = np.flatnonzero(records >= least)
        if len(candidates) > self.most:
            of_most = np.partition(records[candidates], -self.most)[-self.most]
            candidates = candidates[records[candidates] >= of_most]
        found = [(keys[index] or b"", int(records[index])) for index in candidates.tolist()]
        self.heaviest = heaviest_of([*self.heaviest, *found], most=self.most)


def heaviest_of(keys: Sequence[tuple[bytes, int]], *, most: int) -> list[tuple[bytes, int]]:
    """The keys with the most records, heaviest first, equal ones in the order of their bytes."""
    return sorted(keys, key=lambda key: (-key[1], key[0]))[:most]


def suggested(max_over_mean: Sequence[tuple[int, float]]) -> int:
    """The smallest of (partition count, its max/mean) that is within 10 % of the evenest one.

    More partitions spread keys no evener; they cost brokers memory and clients requests, so fewer are better where the
    load is as even.
    """
    evenest = min(value for _, value in max_over_mean)
    return min(count for count, value in max_over_mean if value <= evenest * (1 + SUGGESTED_WITHIN))


def _add(sums: Placed, records: Int64s, record_bytes: Int64s, first: Int32s, there: Int32s) -> None:
    at = np.maximum(there, -1) + 1
    np.add.at(sums.records, at, records)
    np.add.at(sums.record_bytes, at, record_bytes)
    compared = (first >= 0) & (there >= 0)
    moved = compared & (first != there)
    sums.compared[:] += (np.count_nonzero(compared), records[compared].sum())
    sums.moved[:] += (np.count_nonzero(moved), records[moved].sum())
