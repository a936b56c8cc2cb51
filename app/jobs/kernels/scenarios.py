"""Scenarios of a capacity sweep, placed, loaded and scored: a row each, as the JSON that is kept."""

import json
from collections.abc import Iterator, Mapping

import pyarrow as pa

from app.core.capacity.definition import SweepDefinition, read_definition
from app.core.capacity.scoring import score_range
from app.errors import Json
from app.jobs.kernels.loop import Kernel, over_ranges

SCHEMA = pa.schema([pa.field("index", pa.int64(), nullable=False), pa.field("row", pa.binary(), nullable=False)])
_BATCH = 256
"""Scenarios a batch: what a task holds before it hands it over."""


def payload(definition: Mapping[str, Json]) -> bytes:
    """The JSON that `prepare` reads; the order of the axes is kept, since it says which varies fastest."""
    return json.dumps(definition).encode()


def prepare(text: bytes) -> SweepDefinition:
    """The sweep that the scenarios are of."""
    return read_definition(json.loads(text))


def rows(definition: SweepDefinition, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Score the scenarios start … stop − 1."""
    for first in range(start, stop, _BATCH):
        scored = score_range(definition, first, min(first + _BATCH, stop))
        yield pa.record_batch(
            [
                pa.array([row.index for row in scored], pa.int64()),
                pa.array([json.dumps(row.document()).encode() for row in scored], pa.binary()),
            ],
            schema=SCHEMA,
        )


KERNEL = Kernel("score_scenarios", prepare, over_ranges(rows))
