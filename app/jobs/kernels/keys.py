"""Load per partition, moved keys and heaviest keys, from distinct keys and how many records have each.

Keys are hashed in the buffers of Arrow.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from app.core.keys.model import Bytes, Flags, Keys, Offsets
from app.core.keys.partitioners import PARTITIONERS, Partitioner, require_partitions
from app.core.keys.sweep import KeyTally, PartitionSums
from app.jobs.kernels.loop import Kernel

SCHEMA = pa.schema(
    [
        pa.field("what", pa.string(), nullable=False),
        pa.field("partitioner", pa.string()),
        pa.field("partitions", pa.int32()),
        pa.field("partition", pa.int32()),
        pa.field("key", pa.binary()),
        pa.field("keys", pa.int64()),
        pa.field("records", pa.int64(), nullable=False),
        pa.field("record_bytes", pa.int64()),
    ]
)
"""The sums of one task, several kinds of rows by `what`:

`total`: distinct keys and records. `null`: records without key. `heavy`: a key and its records.
`load`: records and their bytes of a partition under a partitioner and count, −1 for those without a partition.
`compared`, `moved`: distinct keys and records, as in `PartitionSums`.
"""


@dataclass(frozen=True, slots=True)
class KeyJob:
    """The partitioners and partition counts of a payload, and the number of heaviest keys."""

    partitioners: tuple[Partitioner, ...]
    partition_counts: tuple[int, ...]
    heaviest: int


def payload(partitioners: Sequence[str], partition_counts: Sequence[int], *, heaviest: int) -> bytes:
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
    """Add up batches of (key, records, value bytes), with each key in one batch only."""
    tally = KeyTally(job.partitioners, job.partition_counts, job.heaviest)
    for batch in batches:
        records, value_bytes = (batch.column(at).to_numpy(zero_copy_only=False) for at in (1, 2))
        tally.add(keys_of_column(batch.column(0)), records, value_bytes)
    yield _rows(
        [
            {"what": "total", "keys": tally.keys, "records": tally.records},
            {"what": "null", "records": tally.null_records},
            *({"what": "heavy", "key": key, "records": records} for key, records in tally.heaviest),
        ]
    )
    sums = iter(tally.sums)
    for partitioner in job.partitioners:
        for count in job.partition_counts:
            of_count = next(sums)
            yield _loads(partitioner.name, count, of_count)
            scenario = {"partitioner": partitioner.name, "partitions": count}
            pairs = (("compared", of_count.compared), ("moved", of_count.moved))
            yield _rows([{"what": what, **scenario, "keys": int(n[0]), "records": int(n[1])} for what, n in pairs])


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


def _rows(rows: list[dict[str, object]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def _loads(name: str, partitions: int, sums: PartitionSums) -> pa.RecordBatch:
    bins = np.flatnonzero(sums.records)
    columns = [
        pa.repeat(pa.scalar("load"), len(bins)),
        pa.repeat(pa.scalar(name), len(bins)),
        pa.repeat(pa.scalar(partitions, pa.int32()), len(bins)),
        pa.array((bins - 1).astype(np.int32)),
        pa.nulls(len(bins), pa.binary()),
        pa.nulls(len(bins), pa.int64()),
        pa.array(sums.records[bins]),
        pa.array(sums.record_bytes[bins]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


KERNEL = Kernel("keys", prepare, run)
