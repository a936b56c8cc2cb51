"""Differences of two assignments: partitions that change, replicas that move, preferred leaders that change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.model import NO_REPLICA, Assignment, Bools, Int32s, Int64s, unpadded
from app.core.replica_lists import not_among, stacked


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """One partition that differs. `before` is None if it is new, `after` if it is removed."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    before: tuple[int, ...] | None
    """Broker ids before, the preferred leader first; null if the partition is new."""
    after: tuple[int, ...] | None
    """Broker ids after, the preferred leader first; null if the partition is removed."""
    adding_replicas: tuple[int, ...]
    """Broker ids that are only in `after`, in its order."""
    removing_replicas: tuple[int, ...]
    """Broker ids that are only in `before`, in its order."""
    preferred_leader_changes: bool
    """Whether the first replica differs."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicMovement:
    """One topic on both sides, over the union of its partitions; a partition that one side lacks is all padding there.

    `rows` are the indices of the partitions that differ.
    """

    topic: str
    partition_ids: Int32s
    before: Int32s
    after: Int32s
    rows: Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """Differences of two assignments, counted; `changes` lists them partition by partition."""

    partitions: int
    partitions_added: int
    partitions_removed: int
    partitions_changed: int
    replicas_added: int
    """Replicas that a partition of both sides gains, which Kafka has to copy."""
    replicas_removed: int
    preferred_leaders_changed: int
    topics: tuple[TopicMovement, ...] = field(repr=False)
    before: Int32s = field(repr=False)
    """The lists of all topics below one another; so is `after`."""
    after: Int32s = field(repr=False)
    rows: Int64s = field(repr=False)
    """Ascending: the partitions of `before` and `after` that differ."""

    @property
    def total(self) -> int:
        """Number of partitions that differ in any way."""
        return len(self.rows)

    def located(self, start: int = 0, stop: int | None = None) -> tuple[Int64s, Int32s]:
        """(changes,) the indices of the topics, and the partition ids, of changes start … stop − 1."""
        counts = [len(topic.rows) for topic in self.topics]
        ids = np.concatenate([np.empty(0, np.int32), *(topic.partition_ids[topic.rows] for topic in self.topics)])
        return np.repeat(np.arange(len(counts)), counts)[start:stop], ids[start:stop]

    def changes(self, start: int, stop: int) -> list[PartitionChange]:
        """Changes start … stop − 1, by topic name and partition id."""
        (topic_of, ids), rows = self.located(start, stop), self.rows[start:stop]
        changed = zip(topic_of.tolist(), differing(ids, self.before[rows], self.after[rows]), strict=True)
        return [
            PartitionChange(self.topics[topic].topic, partition, before or None, after or None, *differences)
            for topic, (partition, before, after, *differences) in changed
        ]


def movement(before: Mapping[str, Assignment], after: Mapping[str, Assignment]) -> Movement:
    """Compare two assignments, topic by topic in the order of their names.

    A replica that only changes its index in the list is not moved, but the preferred leader may change by it.

    Complexity: O(partitions · widest²).

    Parameters
    ----------
    before, after : assignments by topic; a topic or partition that only one of them has is added or removed.

    Examples
    --------
    >>> ids = np.array([0, 1], np.int32)
    >>> before = {"orders": Assignment(ids, np.array([[1, 2], [2, 3]], np.int32))}
    >>> after = {"orders": Assignment(ids, np.array([[2, 1], [2, 4]], np.int32))}
    >>> moved = movement(before, after)
    >>> moved.replicas_added, moved.preferred_leaders_changed
    (1, 1)
    >>> moved.changes(1, 2)[0].adding_replicas
    (4,)
    """
    aligned = [_aligned(name, before.get(name), after.get(name)) for name in sorted({*before, *after})]
    was, now = stacked([lists for _, _, lists, _ in aligned]), stacked([lists for _, _, _, lists in aligned])
    starts = np.concatenate([[0], np.cumsum([len(ids) for _, ids, _, _ in aligned], dtype=np.int64)]).astype(np.int64)
    rows = np.flatnonzero((was != now).any(axis=1))
    ends = np.searchsorted(rows, starts)
    topics = tuple(
        [
            TopicMovement(*topic, rows[begin:end] - start)
            for topic, begin, end, start in zip(aligned, ends[:-1].tolist(), ends[1:].tolist(), starts, strict=False)
        ]
    )
    is_there, stays = _present(was), _present(now)
    both = rows[(is_there & stays)[rows]]  # the partitions on both sides that differ; only those move
    earlier, later = was[both], now[both]
    return Movement(
        partitions=len(was),
        partitions_added=int(np.count_nonzero(stays & ~is_there)),
        partitions_removed=int(np.count_nonzero(is_there & ~stays)),
        partitions_changed=len(both),
        replicas_added=int(np.count_nonzero(not_among(later, earlier))),
        replicas_removed=int(np.count_nonzero(not_among(earlier, later))),
        preferred_leaders_changed=int(np.count_nonzero(earlier[:, :1] != later[:, :1])),
        topics=topics,
        before=was,
        after=now,
        rows=rows,
    )


def _aligned(name: str, before: Assignment | None, after: Assignment | None) -> tuple[str, Int32s, Int32s, Int32s]:
    """The topic, the union of its partition ids, and its lists on both sides, of one width."""
    sides = [side for side in (before, after) if side is not None]
    ids = sides[0].partition_ids
    if any(side.partition_ids is not ids and not np.array_equal(side.partition_ids, ids) for side in sides):
        ids = np.unique(np.concatenate([side.partition_ids for side in sides])).astype(np.int32)
    width = max([side.replicas.shape[1] for side in sides])
    return name, ids, _spread_out(before, ids, width), _spread_out(after, ids, width)


def _spread_out(side: Assignment | None, ids: Int32s, width: int) -> Int32s:
    if side is not None and side.replicas.shape == (len(ids), width):
        return side.replicas
    rows = np.full((len(ids), width), NO_REPLICA, np.int32)
    if side is not None:
        rows[np.searchsorted(ids, side.partition_ids), : side.replicas.shape[1]] = side.replicas
    return rows


def _present(rows: Int32s) -> Bools:
    # Rows are padded on the right, so that the first column says whether there is a replica.
    return np.asarray((rows[:, :1] != NO_REPLICA).any(axis=1), np.bool_)


def differing(ids: Int32s, before: Int32s, after: Int32s) -> Iterator[tuple[Any, ...]]:
    """For each row its partition id, replicas before and after, those added and removed, whether the leader changes."""
    for partition, *lists in zip(ids.tolist(), unpadded(before), unpadded(after), strict=True):
        was, now = map(tuple, lists)
        added = tuple(broker for broker in now if broker not in was)
        removed = tuple(broker for broker in was if broker not in now)
        yield partition, was, now, added, removed, bool(was and now and was[0] != now[0])
