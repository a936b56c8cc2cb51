"""Scenarios of a sweep, scored: a row each, as the JSON that is kept. What is scored is the kernel's own matter."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from app.core.capacity.definition import SweepDefinition, read_definition
from app.core.capacity.scoring import score_range
from app.core.groups.estate.documents import read_estate
from app.core.groups.estate.scoring import score_estate
from app.core.reassignment.what_if.documents import read_what_ifs
from app.core.reassignment.what_if.scoring import score_what_ifs
from app.core.replicas.draws import read_draws, score_draws
from app.errors import Json
from app.jobs.kernels.loop import Kernel, over_ranges

Swept = TypeVar("Swept")
SCHEMA = pa.schema([pa.field("index", pa.int64(), nullable=False), pa.field("row", pa.binary(), nullable=False)])
_BATCH = 256
"""Scenarios a batch: what a task holds before it hands it over."""


def payload(definition: Mapping[str, Json]) -> bytes:
    """The JSON that kernels prepare from; the order of axes is kept, since it says which varies fastest."""
    return json.dumps(definition).encode()


def kernel_of(
    name: str, read: Callable[[Any], Swept], score: Callable[[Swept, int, int], Sequence[Mapping[str, Json]]]
) -> Kernel:
    """A kernel that reads a definition once and scores scenarios start … stop − 1 of it, in their order."""

    def prepare(text: bytes) -> Swept:
        return read(json.loads(text))

    def rows(swept: Swept, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        for first in range(start, stop, _BATCH):
            last = min(first + _BATCH, stop)
            written = [json.dumps(row).encode() for row in score(swept, first, last)]
            yield pa.record_batch(
                [pa.array(range(first, last), pa.int64()), pa.array(written, pa.binary())], schema=SCHEMA
            )

    return Kernel(name, prepare, over_ranges(rows))


def _score_capacity(definition: SweepDefinition, start: int, stop: int) -> list[dict[str, Json]]:
    return [row.document() for row in score_range(definition, start, stop)]


CAPACITY = kernel_of("score_scenarios", read_definition, _score_capacity)
DRAWS = kernel_of("draw_placements", read_draws, score_draws)
GROUPS = kernel_of("rebalance_groups", read_estate, score_estate)
WHAT_IFS = kernel_of("reassign", read_what_ifs, score_what_ifs)
