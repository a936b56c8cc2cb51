"""Policies of clients for records without a key, replayed from a generator that the caller passes.

    round_robin_skipping   Java 0.8: a counter over all partitions, which skips those without leader
    round_robin            Java 0.8.2 to 2.3: a counter over the partitions that have a leader
    sticky_batch           Java 2.4 to 3.2 (KIP-480): one partition until its batch is full, then another at random
    adaptive               Java since 3.3 (KIP-794): one partition for a batch's bytes, then the next at random, the
                           likelier the shorter its queue is; since 4.4 one in the producer's rack if it is rack-aware
                           (KIP-1123)
    random                 librdkafka: any partition, once more if it has no leader. Since 1.6 it keeps the partition
                           for `sticky.partitioning.linger.ms` (default 10 ms), which is not modelled here
    random_available       kafka-python, aiokafka: any partition that has a leader, else any

Time is not modelled: a batch ends when it is full, never because `linger.ms` is over. Java's clients draw from
generators that cannot be seeded; the draws here are in the same order, from `random`.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Protocol, Self

import numpy as np

from app.core.jvm import JavaRandom
from app.core.model import Bools, Int32s, Int64s

DEFAULT_BATCH_BYTES = 16_384
"""Default of `batch.size`."""


@dataclass(frozen=True, slots=True, eq=False)
class ProducerView:
    """The metadata and queues of a producer when it places records without key.

    Parameters
    ----------
    partitions : of the topic; at least 1.
    available : (available,) int32 ids of partitions with a leader, distinct, in the metadata's order; None for all.
    queue_sizes : (available,) int32 batches that wait for each of these; None if they are all equal, or the producer
        does not use them (`partitioner.adaptive.partitioning.enable`). A partition that is too slow
        (`partitioner.availability.timeout.ms`) is left out of `available`.
    batch_bytes : `batch.size`, at least 1.
    in_rack : (available,) bool, whether the leader is in the producer's rack (KIP-1123); None without
        `partitioner.rack.aware`, which is off by default, and before 4.4.
    """

    partitions: int
    available: Int32s | None = None
    queue_sizes: Int32s | None = None
    batch_bytes: int = DEFAULT_BATCH_BYTES
    in_rack: Bools | None = None

    def candidates(self) -> Int32s:
        """The available partitions, or all if none is available."""
        if self.available is None or not len(self.available):
            return np.arange(self.partitions, dtype=np.int32)
        return self.available

    def in_own_rack(self) -> Self:
        """The view of the partitions whose leaders are in the producer's rack; of all without one."""
        if self.in_rack is None or not self.in_rack.any():
            return self
        sizes = None if self.queue_sizes is None else self.queue_sizes[self.in_rack]
        return replace(self, available=self.candidates()[self.in_rack], queue_sizes=sizes, in_rack=None)


class PlaceNullKeys(Protocol):
    """One signature: (records,) int32 bytes of each, as the batch counts them → (records,) int32 partitions."""

    def __call__(self, record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s: ...


def round_robin(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """A counter from a random start, its sign bit dropped, modulo the available partitions."""
    candidates = view.candidates()
    # Wide arithmetic needs no wrap-around: the bits below the sign equal the wrapped counter's.
    counters = np.arange(len(record_bytes), dtype=np.int64) + random.next_int32()
    return np.take(candidates, (counters & 0x7FFFFFFF) % len(candidates))


def round_robin_skipping(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """A counter from a random start, its sign bit dropped, modulo all partitions; those without leader are skipped.

    The partition after one without leader gets that one's share too. Without any leader, each record advances the
    counter by all partitions and gets the next one.
    """
    start = random.next_int32()
    if view.available is not None and len(view.available):
        return _stops(view.available, view.partitions, start & 0x7FFFFFFF, len(record_bytes))
    records = np.arange(len(record_bytes), dtype=np.int64)
    counters = start + records if view.available is None else start + (records + 1) * (view.partitions + 1) - 1
    return ((counters & 0x7FFFFFFF) % view.partitions).astype(np.int32)


def _stops(available: Int32s, partitions: int, counter: int, records: int) -> Int32s:
    """(records,) partitions at which the counter stops, computed by rounds, since it may skip most partitions."""
    leading = np.sort(available).astype(np.int64)
    parts: list[Int64s] = []
    missing = records
    while missing > 0:
        # At most the stops before the counter's bits wrap, and a round on either side.
        stops = np.arange(min(missing, (2**31 // partitions + 2) * len(leading)), dtype=np.int64)
        stops += np.searchsorted(leading, counter % partitions)
        rounds, index = np.divmod(stops, len(leading))
        counters = counter - counter % partitions + rounds * partitions + leading[index]
        before_wrap = counters < 2**31
        parts.append(leading[index[before_wrap]])
        missing -= len(parts[-1])
        counter = 0  # 2³¹ − 1 is followed by 0, since the sign bit is dropped
    return np.concatenate([*parts, np.empty(0, np.int64)])[:records].astype(np.int32)


def sticky_batch(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """One partition until a record does not fit its batch; that record opens one at another partition.

    For the first record there is no open batch, so that it also requests a new partition: two draws for it.
    """
    candidates: list[int] = view.candidates().tolist()
    has_leader = view.available is None or len(view.available) > 0
    current = _other_partition(candidates, None, random, has_leader=has_leader) if len(record_bytes) else 0
    ends = np.cumsum(record_bytes, dtype=np.int64).tolist()
    runs: list[tuple[int, int]] = []
    first = before = 0
    while first < len(ends):
        current = _other_partition(candidates, current, random, has_leader=has_leader)
        # A record that is larger than a batch gets one of its own.
        end = max(first + 1, bisect_right(ends, before + view.batch_bytes, first))
        runs.append((current, end - first))
        first, before = end, ends[end - 1]
    return _in_runs(runs)


def _other_partition(candidates: list[int], current: int | None, random: JavaRandom, *, has_leader: bool) -> int:
    """KIP-480's draw: another available partition than the current one if there are two; any if none is available."""
    if not has_leader:
        return candidates[_positive(random) % len(candidates)]
    if len(candidates) == 1:
        return candidates[0]
    candidate = current
    while candidate is None or candidate == current:
        candidate = candidates[_positive(random) % len(candidates)]
    return candidate


def adaptive(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """One partition until `batch_bytes` were produced to it, the record that gets there included; then a new draw.

    The draw may hit the same partition again.
    """
    choice = AdaptiveChoice.of(view)
    ends = np.cumsum(record_bytes, dtype=np.int64).tolist()
    runs: list[tuple[int, int]] = []
    first = before = 0
    while first < len(ends):
        # If the remaining records fill no batch, they all go there.
        end = min(bisect_left(ends, before + view.batch_bytes, first) + 1, len(ends))
        runs.append((choice.partition(_positive(random)), end - first))
        first, before = end, ends[end - 1]
    return _in_runs(runs)


@dataclass(frozen=True, slots=True)
class AdaptiveChoice:
    """The partition that the adaptive partitioner takes for a number that it draws.

    Partitions in the producer's rack are preferred. With queue sizes, a partition is weighted by (longest queue + 1 −
    its queue), the longest among these partitions.

    Parameters
    ----------
    candidates : partitions.
    frequencies : cumulative weights of the candidates; None if they are equally likely.
    """

    candidates: Sequence[int]
    frequencies: Sequence[int] | None

    @classmethod
    def of(cls, view: ProducerView) -> Self:
        """The choice that a producer has with this metadata and these queues."""
        preferred = view.in_own_rack()
        return cls(preferred.candidates().tolist(), _cumulative_frequencies(preferred))

    def partition(self, number: int) -> int:
        """The partition for a random number of 31 bits."""
        if self.frequencies is None:
            return self.candidates[number % len(self.candidates)]
        return self.candidates[bisect_right(self.frequencies, number % self.frequencies[-1])]


def _in_runs(runs: list[tuple[int, int]]) -> Int32s:
    """The partition of each record, from (partition, number of consecutive records)."""
    partitions, records = np.array(runs, np.int64).reshape(-1, 2).T
    return np.repeat(partitions.astype(np.int32), records)


def _cumulative_frequencies(view: ProducerView) -> list[int] | None:
    """KIP-794's table over the available partitions; None if the producer draws uniformly."""
    sizes = view.queue_sizes
    if sizes is None or not len(sizes) or view.partitions < 2:
        return None
    if len(sizes) == view.partitions and (sizes == sizes[0]).all():
        return None
    frequencies: list[int] = np.cumsum(int(sizes.max()) + 1 - sizes.astype(np.int64)).tolist()
    return frequencies


def random_once_more(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """Any partition; if it has no leader, a second draw, which may have none either."""
    leading = None if view.available is None else set(view.available.tolist())
    partitions = np.empty(len(record_bytes), np.int32)
    for record in range(len(partitions)):
        candidate = random.next_int(view.partitions)
        if leading is not None and candidate not in leading:
            candidate = random.next_int(view.partitions)
        partitions[record] = candidate
    return partitions


def random_available(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """Any available partition, or any partition if none is available."""
    candidates = view.candidates()
    indices = [random.next_int(len(candidates)) for _ in range(len(record_bytes))]
    return np.take(candidates, np.array(indices, np.int64))


def _positive(random: JavaRandom) -> int:
    return random.next_int32() & 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class NullKeyPolicy:
    """A policy, a summary in one line, and the function that replays it."""

    name: str
    summary: str
    place: PlaceNullKeys


_PLACES: Mapping[str, PlaceNullKeys] = {
    place.__name__: place
    for place in (round_robin_skipping, round_robin, sticky_batch, adaptive, random_once_more, random_available)
}
_ROWS = json.loads(files("app.core.keys").joinpath("null_keys.json").read_bytes())
NULL_KEY_POLICIES: Mapping[str, NullKeyPolicy] = {
    row["name"]: NullKeyPolicy(row["name"], row["summary"], _PLACES[row["place"]]) for row in _ROWS
}
