"""Load per partition, moved keys and heaviest keys, from distinct keys and how many records have each."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from app.core.keys.sweep import KeyTally, PartitionSums
from app.jobs.kernels.key_hashes import KeyJob, keys_of_column, prepare
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
