"""A kept plan's batches: every step of every partition, as packed into the answer and as read again."""

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from zlib import decompress

import numpy as np

from app.core.model import Int32s, Int64s, unpadded
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


def _read(text: str) -> Int32s:
    return np.frombuffer(decompress(b64decode(text)), "<i4")
