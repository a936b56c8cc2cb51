"""The steps of a stored plan, by batch."""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import decompress

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s, unpadded
from app.formats.kafka_files.reassignment import ANY_LOG_DIR, PartitionReassignment
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
    waiting : number of batches at the end that Kafka never completes while brokers are down.
    log_dir_paths : of log directories; empty if files name none.
    log_dirs_before, log_dirs_after : (steps, widest) int32 index of the directory that an inverse or a batch requests
        for each replica, or −1 for any; None if its file names none.
    """

    topics: tuple[str, ...]
    topic_of: Int32s = field(repr=False)
    partition_ids: Int32s = field(repr=False)
    before: Int32s = field(repr=False)
    after: Int32s = field(repr=False)
    offsets: Int64s = field(repr=False)
    waiting: int
    log_dir_paths: tuple[str, ...] = ()
    log_dirs_before: Int32s | None = field(default=None, repr=False)
    log_dirs_after: Int32s | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """How many batches there are."""
        return len(self.offsets) - 1

    @property
    def has_log_dirs(self) -> bool:
        """Whether the plan chooses log directories."""
        return self.log_dirs_after is not None

    @property
    def keeps_factors(self) -> bool:
        """Whether every step leaves as many replicas as there were."""
        return np.array_equal(*[(replicas != NO_REPLICA).sum(axis=1) for replicas in (self.before, self.after)])

    def batch(self, number: int) -> slice:
        """The steps of a batch, counted from 0."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def listed(self, number: int, *, is_inverse: bool = False) -> Iterator[tuple[str, int, list[int]]]:
        """(topic, partition, replicas) of a batch; of its inverse, the lists before it."""
        steps = self.batch(number)
        rows = unpadded((self.before if is_inverse else self.after)[steps])
        names = (self.topics[topic] for topic in self.topic_of[steps].tolist())
        return zip(names, self.partition_ids[steps].tolist(), rows, strict=True)

    def requested(self, number: int, *, is_inverse: bool = False) -> Iterator[PartitionReassignment]:
        """The reassignments in the file of a batch, or of its inverse, with log directories if it names any."""
        log_dirs = self.log_dirs_before if is_inverse else self.log_dirs_after
        listed = list(self.listed(number, is_inverse=is_inverse))
        if log_dirs is None:
            return (PartitionReassignment(topic, partition, tuple(ids)) for topic, partition, ids in listed)
        paths = self._paths(log_dirs[self.batch(number)].tolist(), [ids for _, _, ids in listed])
        return (
            PartitionReassignment(topic, partition, tuple(ids), of_it)
            for (topic, partition, ids), of_it in zip(listed, paths, strict=True)
        )

    def at_once(self, *, is_inverse: bool = False) -> list[PartitionReassignment]:
        """Every partition with its last list, and the directory that was requested last for each replica; of the
        inverse, with its first list and the directory that was there first. By topic and partition.
        """
        numbers = range(len(self))
        found: dict[tuple[str, int], PartitionReassignment] = {}
        # The inverse is executed from the last batch to the first.
        for number in reversed(numbers) if is_inverse else numbers:
            for partition in self.requested(number, is_inverse=is_inverse):
                key = partition.topic, partition.partition
                previous = found.get(key)
                found[key] = partition if previous is None else _followed(previous, partition)
        return [found[key] for key in sorted(found)]

    def _paths(self, log_dirs: Sequence[Sequence[int]], rows: Sequence[Sequence[int]]) -> Iterator[tuple[str, ...]]:
        for indices, brokers in zip(log_dirs, rows, strict=True):
            of_list = indices[: len(brokers)]
            yield tuple([self.log_dir_paths[index] if index >= 0 else ANY_LOG_DIR for index in of_list])


def _followed(previous: PartitionReassignment, later: PartitionReassignment) -> PartitionReassignment:
    """The later lists; a replica for which they leave the directory open has the one that was requested before."""
    if previous.log_dirs is None or later.log_dirs is None:
        return later
    requested = dict(zip(previous.replicas, previous.log_dirs, strict=True))
    log_dirs = [
        requested.get(broker, ANY_LOG_DIR) if log_dir == ANY_LOG_DIR else log_dir
        for broker, log_dir in zip(later.replicas, later.log_dirs, strict=True)
    ]
    return replace(later, log_dirs=tuple(log_dirs))


def batches_of(head: PlanHead | NewPlan) -> StoredSteps:
    """The steps of a plan, read from its answer."""
    stored: Any = head.answer[STEPS]
    width = max(stored["width"], 1)
    log_dirs: Any = stored.get("log_dirs", {})
    return StoredSteps(
        topics=tuple(stored["topics"]),
        topic_of=_read(stored["topic_of"]),
        partition_ids=_read(stored["partition_ids"]),
        before=_read(stored["before"]).reshape(-1, width),
        after=_read(stored["after"]).reshape(-1, width),
        offsets=np.array(stored["offsets"], np.int64),
        waiting=stored.get("waiting", 0),  # plans that are older have none
        log_dir_paths=tuple(log_dirs.get("paths", ())),
        **{
            f"log_dirs_{name}": _read(log_dirs[name]).reshape(-1, width)
            for name in ("before", "after")
            if name in log_dirs
        },
    )


def _read(text: str) -> Int32s:
    return np.frombuffer(decompress(b64decode(text)), "<i4")
