"""Scenarios of a sweep, scored: one kernel for every kind whose scenarios are scored one by one.

A payload has the function that reads its definition, so that executors need no table of kinds.
"""

import json
from collections.abc import Iterator, Mapping

import pyarrow as pa

from app.core.sweeps import ReadSweep, SweepScenarios, score
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
"""Scenarios of one batch, which a task has in memory before it yields it."""


def payload(read_sweep: ReadSweep, definition: Mapping[str, Json]) -> tuple[ReadSweep, bytes]:
    """The kernel's input; the order of axes is preserved, since the last one varies fastest.

    Parameters
    ----------
    read_sweep : a function of the core, which is sent as its name.
    """
    return read_sweep, json.dumps(definition).encode()


def prepare(job: tuple[ReadSweep, bytes]) -> SweepScenarios:
    read_sweep, definition = job
    return read_sweep(json.loads(definition))


def rows(sweep: SweepScenarios, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Score scenarios start … stop − 1, in their order."""
    for first in range(start, stop, _BATCH):
        scored = score(sweep, first, min(first + _BATCH, stop))
        columns = [
            pa.array([row.index for row in scored], pa.int64()),
            pa.array([json.dumps(row.document).encode() for row in scored], pa.binary()),
            pa.array([row.trace for row in scored], pa.string()),
        ]
        yield pa.record_batch(columns, schema=SCHEMA)


KERNEL = Kernel("scenarios", prepare, over_ranges(rows))
