"""Sweeps over a dataset of keys: balance of each partitioner over each partition count, and moved records.

A key is hashed once, however many records have it. A task adds up its distinct keys in a `KeyTally`; the sums of all
tasks, each with keys that no other task has, are the dataset's. A scenario is a partitioner at a partition count.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import cast

import numpy as np

from app.core.keys.model import Keys, keys_of
from app.core.keys.partitioners import PARTITIONERS, Partitioner, partition
from app.core.keys.resize import expected_moved_share
from app.core.keys.skew import Skew, skew_of
from app.core.model import Int32s, Int64s
from app.errors import Json

NUMBERS = (
    "max_over_mean",
    "gini",
    "bytes_max_over_mean",
    "bytes_gini",
    "heaviest_partition_records",
    "records_without_partition",
    "moved_share",
    "moved_key_share",
    "expected_moved_share",
)
"""The figures of a scenario, of records unless the name says otherwise."""
SUGGESTED_WITHIN = 0.1
"""A partition count is suggested if its max/mean exceeds the smallest of all counts by no more than this share."""
_LONGEST_KEY = 256
"""Bytes of a heavy key that a row contains."""


@dataclass(frozen=True, slots=True, eq=False)
class PartitionSums:
    """The records that one partitioner puts on each partition at one partition count.

    Parameters
    ----------
    records, record_bytes : (partitions + 1,) int64. Index 0 is for records without a partition; p is at p + 1.
    compared, moved : (2,) int64 distinct keys and records: with a partition under the first count and under this
        one; and with different ones.
    """

    records: Int64s
    record_bytes: Int64s
    compared: Int64s
    moved: Int64s

    @classmethod
    def zeros(cls, partitions: int) -> "PartitionSums":
        """Sums of no records."""
        return cls(*(np.zeros(size, np.int64) for size in (partitions + 1, partitions + 1, 2, 2)))

    def add(self, records: Int64s, record_bytes: Int64s, first: Int32s, partitions: Int32s) -> None:
        """Add distinct keys, whose partitions under the first count and under this one are (keys,) int32."""
        bins = np.maximum(partitions, -1) + 1
        np.add.at(self.records, bins, records)
        np.add.at(self.record_bytes, bins, record_bytes)
        is_compared = (first >= 0) & (partitions >= 0)
        is_moved = is_compared & (first != partitions)
        self.compared[:] += (np.count_nonzero(is_compared), records[is_compared].sum())
        self.moved[:] += (np.count_nonzero(is_moved), records[is_moved].sum())


@dataclass(eq=False, slots=True)
class KeyTally:
    """Sums over distinct keys, batch after batch; no key may be in two batches.

    Parameters
    ----------
    partition_counts : the first is the count from which moves are counted.
    most : the number of heaviest keys.
    """

    partitioners: Sequence[Partitioner]
    partition_counts: Sequence[int]
    most: int
    sums: list[PartitionSums] = field(init=False)
    """By partitioner, then by count."""
    heaviest: list[tuple[bytes, int]] = field(init=False, default_factory=list)
    """Keys and their records, as of `heaviest_of`."""
    keys: int = field(init=False, default=0)
    records: int = field(init=False, default=0)
    null_records: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.sums = [PartitionSums.zeros(count) for _ in self.partitioners for count in self.partition_counts]

    def add(self, keys: Keys, records: Int64s, value_bytes: Int64s) -> None:
        """Add distinct keys with their records and the bytes of their values, (keys,) int64; at most one is null."""
        is_key = np.ones(len(keys), np.bool_) if keys.is_null is None else ~keys.is_null
        self.keys += int(np.count_nonzero(is_key))
        self.records += int(records.sum())
        self.null_records += int(records[~is_key].sum())
        record_bytes = records * keys.lengths + value_bytes
        sums = iter(self.sums)
        for partitioner in self.partitioners:
            first: Int32s | None = None
            for count in self.partition_counts:
                partitions = partition(partitioner, keys, count)
                first = partitions if first is None else first
                next(sums).add(records, record_bytes, first, partitions)
        self._add_heaviest(keys, np.where(is_key, records, 0))

    def _add_heaviest(self, keys: Keys, records: Int64s) -> None:
        if not self.most:
            return
        # A key with fewer records than the last one of a full list cannot enter it.
        least = self.heaviest[-1][1] if len(self.heaviest) == self.most else 1
        candidates = np.flatnonzero(records >= least)
        if len(candidates) > self.most:
            of_most = np.partition(records[candidates], -self.most)[-self.most]
            candidates = candidates[records[candidates] >= of_most]
        heavy = [(keys[index] or b"", int(records[index])) for index in candidates.tolist()]
        self.heaviest = heaviest_of([*self.heaviest, *heavy], most=self.most)


def heaviest_of(keys: Sequence[tuple[bytes, int]], *, most: int) -> list[tuple[bytes, int]]:
    """The `most` keys with the most records, heaviest first, equal ones in the order of their bytes.

    Examples
    --------
    >>> heaviest_of([(b"b", 7), (b"a", 7), (b"c", 9), (b"d", 1)], most=3)
    [(b'c', 9), (b'a', 7), (b'b', 7)]
    """
    return nsmallest(most, keys, key=lambda key: (-key[1], key[0]))


def suggested(max_over_mean: Sequence[tuple[int, float]]) -> int:
    """The smallest of (partition count, its max/mean) whose max/mean is within 10 % of the smallest max/mean.

    More partitions cost brokers memory and clients requests, so the smallest count of similar balance is suggested.

    Examples
    --------
    >>> suggested([(6, 1.9), (12, 1.05), (24, 1.0)])
    12
    """
    smallest = min(value for _, value in max_over_mean)
    return min(count for count, value in max_over_mean if value <= smallest * (1 + SUGGESTED_WITHIN))


@dataclass(frozen=True, slots=True, eq=False)
class DatasetSums:
    """The sums of a whole dataset; `sums` by (partitioner, partition count), `heaviest` as of `heaviest_of`."""

    keys: int
    records: int
    null_records: int
    heaviest: Sequence[tuple[bytes, int]]
    sums: Mapping[tuple[str, int], PartitionSums]


def scenario_rows(dataset: DatasetSums, partitioners: Sequence[str], counts: Sequence[int]) -> list[dict[str, Json]]:
    """The row of every scenario, partitioner by partitioner, from the sums of a dataset that has records.

    Parameters
    ----------
    counts : each once; moves are counted from the first.
    """
    rows: list[dict[str, Json]] = []
    for name in partitioners:
        skews = {count: skew_of(dataset.sums[name, count].records[1:]) for count in counts}
        suggestion = suggested([(count, skew.max_over_mean) for count, skew in skews.items()])
        for count, skew in skews.items():
            row = {
                "index": len(rows),
                "axes": {"partitioner": name, "partitions": count},
                "records": dataset.records,
                "records_without_key": dataset.null_records,
                "keys": dataset.keys,
                "heaviest_keys": _heaviest_keys(dataset, name, count),
                "suggested_partitions": suggestion,
                **_figures(dataset.sums[name, count], skew, first=counts[0], count=count),
                "error": None,
            }
            rows.append(cast("dict[str, Json]", row))
    return rows


def _figures(sums: PartitionSums, by_records: Skew, *, first: int, count: int) -> dict[str, Json]:
    by_bytes = skew_of(sums.record_bytes[1:])
    heaviest = int(by_records.per_partition.argmax())
    (keys, records), (moved_keys, moved_records) = sums.compared.tolist(), sums.moved.tolist()
    return {
        "max_over_mean": by_records.max_over_mean,
        "gini": by_records.gini,
        "bytes_max_over_mean": by_bytes.max_over_mean,
        "bytes_gini": by_bytes.gini,
        "heaviest_partition": heaviest,
        "heaviest_partition_records": int(by_records.per_partition[heaviest]),
        "records_without_partition": int(sums.records[0]),
        "moved_share": moved_records / records if records else 0.0,
        "moved_key_share": moved_keys / keys if keys else 0.0,
        "expected_moved_share": expected_moved_share(first, count),
        "records_per_partition": by_records.per_partition.tolist(),
        "bytes_per_partition": by_bytes.per_partition.tolist(),
    }


def _heaviest_keys(dataset: DatasetSums, name: str, count: int) -> list[Json]:
    partitions = partition(PARTITIONERS[name], keys_of([key for key, _ in dataset.heaviest]), count)
    return [
        {
            "key": _text(key[:_LONGEST_KEY]),
            "key_base64": b64encode(key[:_LONGEST_KEY]).decode(),
            "key_length": len(key),
            "records": records,
            "share": records / dataset.records,
            "partition": index if index >= 0 else None,
        }
        for (key, records), index in zip(dataset.heaviest, np.asarray(partitions).tolist(), strict=True)
    ]


def _text(key: bytes) -> str | None:
    """A key as text, None if it is not UTF-8 or contains NUL, which Postgres cannot store in text."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
