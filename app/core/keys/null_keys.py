"""Where records without a key go: each generation's policy, replayed from a generator that the caller passes.

    round_robin_skipping   Java 0.8: a counter over all partitions, over those without leader it goes on
    round_robin            Java 0.8.2 to 2.3: a counter over the partitions that have a leader
    sticky_batch           Java 2.4 to 3.2 (KIP-480): one partition until its batch is full, then another at random
    adaptive               Java since 3.3 (KIP-794): one partition for a batch's bytes, then the next at random, the
                           likelier the shorter its queue is
    random                 librdkafka: any partition, once more if it has no leader. Since its 1.6 the one drawn is
                           kept for `sticky.partitioning.linger.ms` (10 ms unless set), which is not modelled here
    random_available       kafka-python, aiokafka: any partition that has a leader, else any

What depends on time is left out: a batch ends by being full, never because `linger.ms` is over.
Java's clients draw from generators that nobody can seed; the draws here are in their order, from `random`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from app.core.jvm import JavaRandom
from app.core.model import Int32s, Int64s

DEFAULT_BATCH_BYTES = 16_384
"""`batch.size` unless set."""


@dataclass(frozen=True, slots=True, eq=False)
class ProducerView:
    """What a producer knows when it places records without key.

    Parameters
    ----------
    partitions : how many the topic has; at least 1.
    available : (available,) int32 ids of those that have a leader, in the metadata's order; None: all.
    queue_sizes : (available,) int32 batches that wait for each of these; None where they are all alike, or the
        producer does not look (`partitioner.adaptive.partitioning.enable`). A partition that is too slow
        (`partitioner.availability.timeout.ms`) is left out of `available`.
    batch_bytes : `batch.size`, at least 1.
    """

    partitions: int
    available: Int32s | None = None
    queue_sizes: Int32s | None = None
    batch_bytes: int = DEFAULT_BATCH_BYTES

    def candidates(self) -> Int32s:
        """The available partitions, or all where none is."""
        if self.available is None or not len(self.available):
            return np.arange(self.partitions, dtype=np.int32)
        return self.available


class PlaceNullKeys(Protocol):
    """One signature: (records,) int32 bytes of each, as the batch counts them → (records,) int32 partitions."""

    def __call__(self, record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s: ...


def round_robin(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """A counter from a random start, its sign bit dropped, modulo the available partitions."""
    candidates = view.candidates()
    # Wide arithmetic needs no wrap-around: the bits below the sign are those of the wrapped counter.
    counters = np.arange(len(record_bytes), dtype=np.int64) + random.next_int32()
    return np.take(candidates, (counters & 0x7FFFFFFF) % len(candidates))


def round_robin_skipping(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """A counter from a random start, its sign bit dropped, modulo all partitions; those without leader are passed.

    The partition after one without leader gets that one's share too. With no leader at all, each record counts
    through all partitions in vain and takes the next.
    """
    start = random.next_int32()
    records = np.arange(len(record_bytes), dtype=np.int64)
    if view.available is None:
        counters = start + records
    elif not len(view.available):
        counters = start + (records + 1) * (view.partitions + 1) - 1
    else:
        counters = _counters_at(view, start, len(record_bytes))
    return ((counters & 0x7FFFFFFF) % view.partitions).astype(np.int32)


def _counters_at(view: ProducerView, start: int, records: int) -> Int64s:
    """What the counter is when it stands at an available partition, `records` times."""
    has_leader = np.zeros(view.partitions, np.bool_)
    has_leader[view.available] = True
    found: list[Int64s] = []
    missing = records
    while missing > 0:
        # Rounds enough for what is missing; where the counter's bits wrap, a round may be cut short, hence the loop.
        rounds = -(-missing // int(has_leader.sum()))
        counters = np.arange(start, start + rounds * view.partitions, dtype=np.int64)
        hits = counters[has_leader[(counters & 0x7FFFFFFF) % view.partitions]]
        found.append(hits)
        missing -= len(hits)
        start += rounds * view.partitions
    return np.concatenate([*found, np.empty(0, np.int64)])[:records]


def sticky_batch(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """One partition until a record does not fit its batch; that record opens one at another partition.

    The first record finds no batch open, so it, too, asks for a new partition: two draws before it lands.
    """
    placed = np.empty(len(record_bytes), np.int32)
    ends = np.cumsum(record_bytes, dtype=np.int64)
    current = _other_partition(view, None, random) if len(placed) else 0
    first = 0
    while first < len(placed):
        current = _other_partition(view, current, random)
        before = ends[first] - record_bytes[first]
        # A record that is larger than a batch has one to itself.
        end = max(first + 1, int(np.searchsorted(ends, before + view.batch_bytes, side="right")))
        placed[first:end] = current
        first = end
    return placed


def _other_partition(view: ProducerView, current: int | None, random: JavaRandom) -> int:
    """KIP-480's draw: another available partition than the current one, where there are two."""
    if view.available is not None and not len(view.available):
        return _positive(random) % view.partitions
    candidates = view.candidates()
    if len(candidates) == 1:
        return int(candidates[0])
    drawn = current
    while drawn is None or drawn == current:
        drawn = int(candidates[_positive(random) % len(candidates)])
    return drawn


def adaptive(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """One partition until `batch_bytes` were produced to it, the record that gets there included; then a new draw.

    The draw may hit the same partition again. With queue sizes it is weighted by (longest queue + 1 − its queue).
    """
    placed = np.empty(len(record_bytes), np.int32)
    ends = np.cumsum(record_bytes, dtype=np.int64)
    candidates, frequencies = view.candidates(), _cumulative_frequencies(view)
    first = 0
    while first < len(placed):
        if frequencies is None:
            index = _positive(random) % len(candidates)
        else:
            index = int(np.searchsorted(frequencies, _positive(random) % int(frequencies[-1]), side="right"))
        before = ends[first] - record_bytes[first]
        end = int(np.searchsorted(ends, before + view.batch_bytes, side="left")) + 1
        placed[first:end] = candidates[index]
        first = end
    return placed


def _cumulative_frequencies(view: ProducerView) -> Int64s | None:
    """KIP-794's table over the available partitions; None where the producer draws evenly."""
    sizes = view.queue_sizes
    if sizes is None or not len(sizes) or view.partitions < 2:
        return None
    if len(sizes) == view.partitions and (sizes == sizes[0]).all():
        return None
    return np.cumsum(int(sizes.max()) + 1 - sizes.astype(np.int64))


def random_once_more(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """Any partition; where it has no leader any once more, which may have none either."""
    leading = None if view.available is None else set(view.available.tolist())
    placed = np.empty(len(record_bytes), np.int32)
    for record in range(len(placed)):
        drawn = random.next_int(view.partitions)
        if leading is not None and drawn not in leading:
            drawn = random.next_int(view.partitions)
        placed[record] = drawn
    return placed


def random_available(record_bytes: Int32s, view: ProducerView, *, random: JavaRandom) -> Int32s:
    """Any available partition, or any where none is."""
    candidates = view.candidates()
    drawn = [random.next_int(len(candidates)) for _ in range(len(record_bytes))]
    return np.take(candidates, np.array(drawn, np.int64))


def _positive(random: JavaRandom) -> int:
    return random.next_int32() & 0x7FFFFFFF


NULL_KEY_POLICIES: Mapping[str, PlaceNullKeys] = MappingProxyType(
    {
        "round_robin_skipping": round_robin_skipping,
        "round_robin": round_robin,
        "sticky_batch": sticky_batch,
        "adaptive": adaptive,
        "random": random_once_more,
        "random_available": random_available,
    }
)
