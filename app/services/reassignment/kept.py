"""A kept plan's batches: every step of every partition, as packed into the answer and as read again."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from zlib import compress, decompress

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s, unpadded
from app.core.reassignment.batches.model import Batches
from app.errors import Json
from app.services.reassignment.sources import Source
from app.store.plans import NewPlan, PlanHead

STEPS = "kept_steps"
"""The field of the answer that keeps them. It is not shown: the files that are handed over say the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps by batch, each a partition's replica list and the one that is asked for.

    Parameters
    ----------
    topics : names. topic_of : (steps,) int32 indices into them. partition_ids : (steps,) int32.
    before, after : (steps, widest) int32 broker ids, padded with `NO_REPLICA`.
    offsets : (batches + 1,) int64, where each batch begins.
    moving : how many batches copy data; the rest change the order of lists, and with it preferred leaders.
    """

    topics: tuple[str, ...]
    topic_of: Int32s = field(repr=False)
    partition_ids: Int32s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    offsets: Int64s = field(repr=False)
    moving: int

    def __len__(self) -> int:
        """How many batches there are."""
        return len(self.offsets) - 1

    def batch(self, number: int) -> slice:
        """The steps of a batch, counted from 0."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def listed(self, number: int, *, is_inverse: bool = False) -> Iterator[tuple[str, int, list[int]]]:
        """(topic, partition, replicas) of a batch; of its inverse what was there before it."""
        steps = self.batch(number)
        rows = unpadded((self.before if is_inverse else self.after)[steps])
        names = (self.topics[topic] for topic in self.topic_of[steps].tolist())
        return zip(names, self.partition_ids[steps].tolist(), rows, strict=True)

    def undone(self) -> Iterator[tuple[str, int, list[int]]]:
        """(topic, partition, replicas) of every partition as it was before the first batch: the rollback of it all."""
        keys = np.column_stack([self.topic_of, self.partition_ids])
        _, first = np.unique(keys, axis=0, return_index=True)
        names = (self.topics[topic] for topic in self.topic_of[first].tolist())
        return zip(names, self.partition_ids[first].tolist(), unpadded(self.before[first]), strict=True)


def packed(source: Source, found: Batches) -> dict[str, Json]:
    """The steps as an answer keeps them: int32 arrays, zlib, base64."""
    scope, ids = source.scope, np.append(source.brokers.ids, np.int32(NO_REPLICA))
    return {
        "topics": scope.topics,
        "width": int(found.before.shape[1]),
        "moving": found.moving,
        "offsets": found.offsets.tolist(),
        "topic_of": _written(scope.topic_of[found.rows]),
        "partition_ids": _written(scope.partition_ids[found.rows]),
        "before": _written(ids[found.before]),
        "after": _written(ids[found.after]),
    }


def batches_of(head: PlanHead | NewPlan) -> Steps:
    """The steps of a plan, read from its answer."""
    kept: Any = head.answer[STEPS]
    width = max(kept["width"], 1)
    return Steps(
        topics=tuple(kept["topics"]),
        topic_of=_read(kept["topic_of"]),
        partition_ids=_read(kept["partition_ids"]),
        before=_read(kept["before"]).reshape(-1, width),
        after=_read(kept["after"]).reshape(-1, width),
        offsets=np.array(kept["offsets"], np.int64),
        moving=kept["moving"],
    )


def batch_sizes(steps: Steps) -> list[int]:
    """How many partitions each batch touches."""
    return [stop - start for start, stop in pairwise(steps.offsets.tolist())]


def _written(numbers: Int32s | Int64s) -> str:
    # The fastest level: of a million steps it leaves a tenth already.
    return b64encode(compress(np.ascontiguousarray(numbers, "<i4").tobytes(), 1)).decode()


def _read(text: str) -> Int32s:
    return np.frombuffer(decompress(b64decode(text)), "<i4")
