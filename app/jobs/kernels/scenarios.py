"""Scenarios of a sweep, scored: one kernel for every kind whose scenarios are scored one by one."""

import json
from collections.abc import Iterator, Mapping

import pyarrow as pa

from app.core.sweep_kinds import READERS, ReadSweep
from app.core.sweeps import SweepScenarios, score
from app.errors import Json
from app.jobs.kernels.loop import Kernel, over_ranges

SCHEMA = pa.schema(
    [
        pa.field("index", pa.int64(), nullable=False),
        pa.field("row", pa.binary(), nullable=False),
        pa.field("trace", pa.string()),
    ]
)
"""`row` is the scenario's JSON, as stored. `trace` is the end of an unexpected exception's trace, for the log alone."""
_BATCH = 256
"""Scenarios of one batch: what a task has in memory before it yields it."""


def payload(definition: Mapping[str, Json]) -> bytes:
    """The JSON from which kernels prepare; the order of axes is preserved, since the last one varies fastest."""
    return json.dumps(definition).encode()


def kernel_of(name: str, read: ReadSweep) -> Kernel:
    """A kernel that reads a definition once and scores scenarios start … stop − 1 of it, in their order."""

    def prepare(text: bytes) -> SweepScenarios:
        return read(json.loads(text))

    def rows(sweep: SweepScenarios, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        for first in range(start, stop, _BATCH):
            scored = score(sweep, first, min(first + _BATCH, stop))
            columns = [
                pa.array([row.index for row in scored], pa.int64()),
                pa.array([json.dumps(row.document).encode() for row in scored], pa.binary()),
                pa.array([row.trace for row in scored], pa.string()),
            ]
            yield pa.record_batch(columns, schema=SCHEMA)

    return Kernel(name, prepare, over_ranges(rows))


KERNELS = tuple(kernel_of(name, read) for name, read in READERS.items() if read is not None)
"""By the name of the kind on every floor."""
