"""The partitions of a plan in another snapshot of its cluster: the arrays that its progress is computed from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.core.model import NO_REPLICA, UNKNOWN_SIZE, Cluster, Float64s, Int32s, Int64s, Topic
from app.core.reassignment import PartitionsNow, PlannedSteps
from app.services.reassignment.files.stored_steps import StoredSteps

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class LocatedPlan:
    """The steps of a plan and their partitions in a later snapshot.

    Parameters
    ----------
    topic_of, partition_ids : (partitions,) int32 index into the names of `StoredSteps`, and id, of each partition that
        a batch changes; ascending.
    is_recreated : (partitions,) bool, whether the topic was deleted, and one of its name created.
    before, goal : (partitions, widest) int32 lists before the plan and after it.
    """

    steps: StoredSteps
    planned: PlannedSteps
    now: PartitionsNow
    topic_of: Int32s = field(repr=False)
    partition_ids: Int32s = field(repr=False)
    is_recreated: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    goal: Int32s = field(repr=False)

    def name(self, row: int) -> tuple[str, int]:
        """Topic and partition id of a row."""
        return self.steps.topics[self.topic_of[row]], int(self.partition_ids[row])


def locate(steps: StoredSteps, cluster: Cluster, made_on: Cluster) -> LocatedPlan:
    """Find the partitions of a plan's steps in a later snapshot.

    A size that the later snapshot does not report is that of the plan's own snapshot.

    Parameters
    ----------
    cluster, made_on : of the later snapshot, and of the plan's own.
    """
    keys, first, rows = np.unique(
        steps.topic_of.astype(np.int64) << 32 | steps.partition_ids, return_index=True, return_inverse=True
    )
    topic_of, ids = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    later, earlier = _by_name(cluster), _by_name(made_on)
    columns = _Columns(len(keys))
    is_recreated = np.zeros(len(keys), np.bool_)
    sizes = np.full(len(keys), UNKNOWN_SIZE, np.int64)
    rates = np.zeros(len(keys), np.float64)
    for name, its in _slices(steps.topics, topic_of):
        topic, known = later.get(name), earlier.get(name)
        if known is not None:
            found, there = _found(known, ids[its])
            sizes[found + its.start] = known.size_bytes[there]
        if topic is not None:
            is_recreated[its] = known is not None and _is_another(topic, known)
            found, there = _found(topic, ids[its])
            columns.add(topic, found + its.start, there)
            reported = topic.size_bytes[there]
            if topic.ingress_bytes_per_s is not None:
                rates[found + its.start] = np.nan_to_num(topic.ingress_bytes_per_s[there])
            sizes[found + its.start] = np.where(reported == UNKNOWN_SIZE, sizes[found + its.start], reported)
    last = len(rows) - 1 - np.unique(rows[::-1], return_index=True)[1]
    return LocatedPlan(
        steps=steps,
        planned=PlannedSteps(rows, np.repeat(np.arange(len(steps)), np.diff(steps.offsets)), steps.before, steps.after),
        now=columns.partitions(sizes, rates, is_recreated),
        topic_of=topic_of,
        partition_ids=ids,
        is_recreated=is_recreated & columns.is_there,
        before=steps.before[first],
        goal=steps.after[last],
    )


class _Columns:
    """The lists of partitions, filled topic by topic."""

    def __init__(self, partitions: int) -> None:
        self.is_there = np.zeros(partitions, np.bool_)
        self._is_moving = np.zeros(partitions, np.bool_)
        self._lists: dict[str, Int32s] = {
            name: np.full((partitions, 1), NO_REPLICA, np.int32) for name in ("target", "replicas", "adding", "isr")
        }

    def add(self, topic: Topic, rows: Int64s, there: Int64s) -> None:
        """Fill some rows with partitions of a topic."""
        self.is_there[rows] = True
        self._is_moving[rows] = topic.is_moving[there]
        given = (topic.destination.replicas, topic.replicas, topic.adding, topic.isr)
        for name, lists in zip(self._lists, given, strict=True):
            mine = self._lists[name]
            if lists.shape[1] > mine.shape[1]:
                wider = ((0, 0), (0, lists.shape[1] - mine.shape[1]))
                mine = self._lists[name] = np.pad(mine, wider, constant_values=NO_REPLICA)
            mine[rows, : lists.shape[1]] = lists[there]

    def partitions(self, size_bytes: Int64s, ingress_bytes_per_s: Float64s, is_recreated: Bools) -> PartitionsNow:
        """All rows."""
        is_present = self.is_there & ~is_recreated
        return PartitionsNow(
            is_present,
            **self._lists,
            is_moving=self._is_moving & is_present,
            size_bytes=size_bytes,
            ingress_bytes_per_s=ingress_bytes_per_s,
        )


def _by_name(cluster: Cluster) -> Mapping[str, Topic]:
    return {topic.name: topic for topic in cluster.topics}


def _slices(names: tuple[str, ...], topic_of: Int32s) -> Iterator[tuple[str, slice]]:
    """Each topic with its rows; rows are by topic."""
    topics, first = np.unique(topic_of, return_index=True)
    ends = [*first.tolist(), len(topic_of)]
    for topic, (start, stop) in zip(topics.tolist(), pairwise(ends), strict=True):
        yield names[topic], slice(start, stop)


def _found(topic: Topic, ids: Int32s) -> tuple[Int64s, Int64s]:
    """The places in `ids` of partitions that the topic has, and their rows in it."""
    at = np.searchsorted(topic.partition_ids, ids)
    at = np.minimum(at, max(len(topic.partition_ids) - 1, 0))
    is_there = topic.partition_ids[at] == ids if len(topic.partition_ids) else np.zeros(len(ids), np.bool_)
    return np.flatnonzero(is_there), at[is_there]


def _is_another(topic: Topic, known: Topic) -> bool:
    return None not in (topic.topic_id, known.topic_id) and topic.topic_id != known.topic_id
