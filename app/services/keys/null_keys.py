"""The producer's state when it places records without key: from the request, checked, with a seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from app.core import ENGINE_VERSION
from app.core.keys.model import Keys
from app.core.keys.null_keys import DEFAULT_BATCH_BYTES, ProducerView
from app.core.model import INT32_MAX, Int32s
from app.errors.requests import ConflictingFields, DuplicatePartition, QueueSizesOverflow, UnknownPartition
from app.services.seeds import digest, seed_of
from app.services.snapshots import first_repeated

DEFAULT_RECORD_BYTES = 1_024
"""An assumption: with Kafka's own `batch.size` it puts 16 records into a batch."""


@dataclass(frozen=True, slots=True)
class NullKeys:
    """How records without key are to be placed.

    Parameters
    ----------
    seed : of java.util.Random, signed 64 bits. Each partitioner starts from it anew. None: it comes from the request.
    available_partitions : ids of those that have a leader, in the metadata's order; empty if no partition has one.
        None: all.
    queue_sizes : 0 … 2³¹ − 1 batches that wait for each of these; None if they are equal.
    batch_bytes : `batch.size`, 1 … 2³¹ − 1.
    record_bytes : 0 … 2³¹ − 1 of every record, or one for each, those with a key included.
    """

    seed: int | None = None
    available_partitions: Sequence[int] | None = None
    queue_sizes: Sequence[int] | None = None
    batch_bytes: int = DEFAULT_BATCH_BYTES
    record_bytes: int | Sequence[int] = DEFAULT_RECORD_BYTES


@dataclass(frozen=True, slots=True, eq=False)
class Producer:
    """The same as the core knows it. `record_bytes` is (records,) int32."""

    view: ProducerView
    record_bytes: Int32s
    seed: int


def producer(options: NullKeys, keys: Keys, partitions: int) -> Producer:
    """The producer's state.

    Raises
    ------
    UnknownPartition, DuplicatePartition : an available partition is none of the topic's, or is listed twice.
    ConflictingFields : lists that belong together are of different length.
    QueueSizesOverflow : Kafka's table of the queue sizes would overflow.
    """
    available = _available(options.available_partitions, partitions)
    return Producer(
        ProducerView(
            partitions, available, _queue_sizes(options.queue_sizes, available, partitions), options.batch_bytes
        ),
        _record_bytes(options.record_bytes, len(keys)),
        _seed(options, keys, partitions) if options.seed is None else options.seed,
    )


def _available(listed: Sequence[int] | None, partitions: int) -> Int32s | None:
    if listed is None:
        return None
    for index, partition in enumerate(listed):
        if not 0 <= partition < partitions:
            raise UnknownPartition(
                f"partition {partition} cannot be available; the topic has 0 to {partitions - 1}",
                path=("null_keys", "available_partitions", index),
                value=partition,
                maximum=partitions - 1,
            )
    if (twice := first_repeated(listed)) is not None:
        raise DuplicatePartition(
            f"partition {listed[twice]} is available twice",
            path=("null_keys", "available_partitions", twice),
            value=listed[twice],
        )
    return np.array(listed, np.int32)


def _queue_sizes(listed: Sequence[int] | None, available: Int32s | None, partitions: int) -> Int32s | None:
    if listed is None:
        return None
    expected = partitions if available is None else len(available)
    if len(listed) != expected or not expected:
        detail = f"each available partition has a queue: {expected} sizes are needed; {len(listed)} given"
        if not expected:
            detail = f"no partition is available, so none has a queue; {len(listed)} queue sizes given"
        raise ConflictingFields(detail, path=("null_keys", "queue_sizes"), value=len(listed), limit=expected)
    largest = max(listed)
    if (total := len(listed) * (largest + 1) - sum(listed)) > INT32_MAX:
        raise QueueSizesOverflow(
            f"the sum of (longest queue + 1 − each queue) is {total}; Kafka's table ends at {INT32_MAX}",
            path=("null_keys", "queue_sizes"),
            value=total,
            limit=INT32_MAX,
        )
    return np.array(listed, np.int32)


def _record_bytes(given: int | Sequence[int], records: int) -> Int32s:
    if isinstance(given, int):
        return np.full(records, given, np.int32)
    if len(given) != records:
        raise ConflictingFields(
            f"record_bytes is one number or one for each of {records} keys; {len(given)} given",
            path=("null_keys", "record_bytes"),
            value=len(given),
            limit=records,
        )
    return np.array(given, np.int32)


def _seed(options: NullKeys, keys: Keys, partitions: int) -> int:
    """Derived from the records, the partitions and the producer's state, not from the partitioners."""
    records = sha256(keys.data.tobytes())
    records.update(keys.offsets.tobytes())
    records.update(b"" if keys.is_null is None else keys.is_null.tobytes())
    return seed_of(
        digest(
            {
                "kind": "keys",
                "engine_version": ENGINE_VERSION,
                "records": records.hexdigest(),
                "partitions": partitions,
                "available_partitions": options.available_partitions,
                "queue_sizes": options.queue_sizes,
                "batch_bytes": options.batch_bytes,
                "record_bytes": options.record_bytes,
            }
        )
    )
