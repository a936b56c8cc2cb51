"""Records and bytes that each partition would get, under every requested partitioner and partition count.

Keys are hashed in the buffers of Arrow. A task adds up all of its batches and yields one batch at its end, so that
the data sent to the driver depends on partitions, not on records.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from app.core.keys.loads import PartitionLoads, empty_loads
from app.core.keys.model import Bytes, Flags, Keys, Offsets
from app.core.keys.partitioners import PARTITIONERS, Partitioner, partition, require_partitions
from app.jobs.kernels.files import over_files
from app.jobs.kernels.loop import Kernel

SCHEMA = pa.schema(
    [
        pa.field("partitioner", pa.string(), nullable=False),
        pa.field("partitions", pa.int32(), nullable=False),
        pa.field("partition", pa.int32(), nullable=False),
        pa.field("records", pa.int64(), nullable=False),
        pa.field("key_bytes", pa.int64(), nullable=False),
    ]
)
"""A row for each partition of each count that has records. `partition` is −1 for records without a partition: without
key for this partitioner, or rejected by its client.
"""


@dataclass(frozen=True, slots=True)
class KeyJob:
    """The partitioners and partition counts of a payload, and the number of heaviest keys if a skew is measured."""

    partitioners: tuple[Partitioner, ...]
    partition_counts: tuple[int, ...]
    heaviest: int


def payload(partitioners: Sequence[str], partition_counts: Sequence[int], *, heaviest: int = 0) -> bytes:
    """The JSON that `prepare` reads."""
    job = {"partitioners": list(partitioners), "partition_counts": list(partition_counts), "heaviest": heaviest}
    return json.dumps(job).encode()


def prepare(text: bytes) -> KeyJob:
    """Look up the partitioners. Raises `InvalidPartitions` if a topic cannot have the number of partitions."""
    read = json.loads(text)
    for index, count in enumerate(read["partition_counts"]):
        require_partitions(count, path=("partition_counts", index))
    partitioners = tuple(PARTITIONERS[name] for name in read["partitioners"])
    return KeyJob(partitioners, tuple(read["partition_counts"]), read["heaviest"])


def run(job: KeyJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up batches whose first column is the keys: binary or string, 32 or 64 bits of offset; null: without key."""
    scenarios = [(partitioner, count) for partitioner in job.partitioners for count in job.partition_counts]
    sums = [empty_loads(count) for _, count in scenarios]
    for batch in batches:
        keys = keys_of_column(batch.column(0))
        for (partitioner, count), loads in zip(scenarios, sums, strict=True):
            loads.add(keys, partition(partitioner, keys, count))
    for (partitioner, count), loads in zip(scenarios, sums, strict=True):
        yield _rows(partitioner.name, count, loads)


def keys_of_column(column: pa.Array) -> Keys:
    """An Arrow column's keys, without a copy.

    Raises
    ------
    TypeError
        The column is neither of bytes nor of text.
    """
    kind = column.type
    is_large = pa.types.is_large_binary(kind) or pa.types.is_large_string(kind)
    if not is_large and not pa.types.is_binary(kind) and not pa.types.is_string(kind):
        raise TypeError(f"keys are binary or string; the column is {kind}")
    _, offset_buffer, data_buffer = column.buffers()
    offsets: Offsets = np.zeros(1, np.int32)
    if len(column) and is_large:
        offsets = np.frombuffer(offset_buffer, np.int64, len(column) + 1, column.offset * 8)
    elif len(column):
        offsets = np.frombuffer(offset_buffer, np.int32, len(column) + 1, column.offset * 4)
    data: Bytes = np.zeros(0, np.uint8) if data_buffer is None else np.frombuffer(data_buffer, np.uint8)
    is_null: Flags | None = None
    if column.null_count:
        is_null = column.is_null().to_numpy(zero_copy_only=False)
    return Keys(data, offsets, is_null)


def _rows(name: str, partitions: int, loads: PartitionLoads) -> pa.RecordBatch:
    bins = np.flatnonzero(loads.records)
    columns = [
        pa.repeat(pa.scalar(name), len(bins)),
        pa.repeat(pa.scalar(partitions, pa.int32()), len(bins)),
        pa.array((bins - 1).astype(np.int32)),
        pa.array(loads.records[bins]),
        pa.array(loads.key_bytes[bins]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


KERNEL = Kernel("key_hashes", prepare, run)
OF_FILES = Kernel("key_hashes_of_files", prepare, over_files(run))
