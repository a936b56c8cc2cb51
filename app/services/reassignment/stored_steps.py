"""The steps of a stored plan, by batch."""

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from zlib import decompress

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s, unpadded
from app.services.plans import STEPS
from app.store.records import NewPlan, PlanHead


@dataclass(frozen=True, slots=True, eq=False)
class StoredSteps:
    """Steps by batch, each a partition's replica list before and after.

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

    @property
    def keeps_factors(self) -> bool:
        """Whether every step leaves as many replicas as there were."""
        counts = [(replicas != NO_REPLICA).sum(axis=1) for replicas in (self.before, self.after)]
        return np.array_equal(*counts)

    def batch(self, number: int) -> slice:
        """The steps of a batch, counted from 0."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def listed(self, number: int, *, is_inverse: bool = False) -> Iterator[tuple[str, int, list[int]]]:
        """(topic, partition, replicas) of a batch; of its inverse, the lists before it."""
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


def batches_of(head: PlanHead | NewPlan) -> StoredSteps:
    """The steps of a plan, read from its answer."""
    stored: Any = head.answer[STEPS]
    width = max(stored["width"], 1)
    return StoredSteps(
        topics=tuple(stored["topics"]),
        topic_of=_read(stored["topic_of"]),
        partition_ids=_read(stored["partition_ids"]),
        before=_read(stored["before"]).reshape(-1, width),
        after=_read(stored["after"]).reshape(-1, width),
        offsets=np.array(stored["offsets"], np.int64),
        moving=stored["moving"],
    )


def _read(text: str) -> Int32s:
    return np.frombuffer(decompress(b64decode(text)), "<i4")
