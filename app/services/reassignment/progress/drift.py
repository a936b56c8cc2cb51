"""Changes since a plan's snapshot by something else: partitions that are not as the plan leaves them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from typing import Literal

import numpy as np

from app.core.measures.movement import movement
from app.core.model import (
    NO_LEADER,
    NO_REPLICA,
    UNKNOWN_SIZE,
    Assignment,
    Cluster,
    Float64s,
    Int32s,
    Int64s,
    Placement,
    Topic,
)
from app.core.reassignment.progress import PartitionsNow, PlannedSteps, StepProgress
from app.core.replica_lists import stacked
from app.services.reassignment.differences import before_of, planned
from app.services.reassignment.files.stored_steps import StoredSteps
from app.services.reassignment.problem.brokers import Bools
from app.services.reassignment.problem.scope import on_rows


@dataclass(frozen=True, slots=True, eq=False)
class LocatedPlan:
    """The steps of a plan and their partitions in a later snapshot.

    Parameters
    ----------
    topic_of, partition_ids : (partitions,) int32 index into the names of `StoredSteps`, and id, of each partition that
        a batch changes; ascending.
    is_recreated : (partitions,) bool, whether the topic was deleted, and one of its name created.
    before, goal : (partitions, widest) int32 lists before the plan and after it.
    leaders, leaders_now : (partitions,) int32 in the plan's own snapshot and in the later one, or `NO_LEADER`.
    """

    steps: StoredSteps
    planned: PlannedSteps
    now: PartitionsNow
    topic_of: Int32s = field(repr=False)
    partition_ids: Int32s = field(repr=False)
    is_recreated: Bools = field(repr=False)
    before: Int32s = field(repr=False)
    goal: Int32s = field(repr=False)
    leaders: Int32s = field(repr=False)
    leaders_now: Int32s = field(repr=False)

    def name(self, row: int) -> tuple[str, int]:
        """Topic and partition id of a row."""
        return self.steps.topics[self.topic_of[row]], int(self.partition_ids[row])


def locate(steps: StoredSteps, cluster: Cluster, made_on: Cluster) -> LocatedPlan:
    """Find the partitions of a plan's steps in a later snapshot.

    A size that the later snapshot does not report comes from the plan's own snapshot.

    Parameters
    ----------
    cluster, made_on : of the later snapshot, and of the plan's own.
    """
    keys, first, rows = np.unique(
        steps.topic_of.astype(np.int64) << 32 | steps.partition_ids, return_index=True, return_inverse=True
    )
    topic_of, ids = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    later, earlier = _by_name(cluster), _by_name(made_on)
    present: list[tuple[Topic, Int64s, Int64s]] = []
    is_recreated = np.zeros(len(keys), np.bool_)
    sizes = np.full(len(keys), UNKNOWN_SIZE, np.int64)
    rates = np.zeros(len(keys), np.float64)
    leaders, leaders_now = np.full((2, len(keys)), NO_LEADER, np.int32)
    for name, its in _slices(steps.topics, topic_of):
        topic, known = later.get(name), earlier.get(name)
        if known is not None:
            found, there = _found(known, ids[its])
            sizes[found + its.start] = known.copied_bytes[there]
            leaders[found + its.start] = known.leaders[there]
        if topic is not None:
            ids_of_topic = {topic.topic_id, known.topic_id if known else None}
            found, there = _found(topic, ids[its])
            is_recreated[found + its.start] = None not in ids_of_topic and len(ids_of_topic) == 2
            present.append((topic, found + its.start, there))
            leaders_now[found + its.start] = topic.leaders[there]
            reported = topic.copied_bytes[there]
            if topic.ingress_bytes_per_s is not None:
                rates[found + its.start] = np.nan_to_num(topic.ingress_bytes_per_s[there])
            sizes[found + its.start] = np.where(reported == UNKNOWN_SIZE, sizes[found + its.start], reported)
    last = len(rows) - 1 - np.unique(rows[::-1], return_index=True)[1]
    return LocatedPlan(
        steps=steps,
        planned=PlannedSteps(rows, np.repeat(np.arange(len(steps)), np.diff(steps.offsets)), steps.before, steps.after),
        now=_now(present, sizes, rates, is_recreated),
        topic_of=topic_of,
        partition_ids=ids,
        is_recreated=is_recreated,
        before=steps.before[first],
        goal=steps.after[last],
        leaders=leaders,
        leaders_now=leaders_now,
    )


_LISTS = {"target": "destination.replicas", "replicas": "replicas", "adding": "adding", "isr": "isr"}
"""The lists of partitions, as attributes of a topic."""


def _now(
    present: Sequence[tuple[Topic, Int64s, Int64s]], sizes: Int64s, rates: Float64s, is_recreated: Bools
) -> PartitionsNow:
    """The partitions at the later snapshot.

    Parameters
    ----------
    present : topics, each with the rows of partitions and their places in it.
    """
    at = np.concatenate([np.zeros(0, np.int64), *(rows for _, rows, _ in present)])
    is_present, is_moving = np.zeros((2, len(sizes)), np.bool_)
    is_present[at] = True
    is_present &= ~is_recreated
    is_moving[at] = np.concatenate([np.zeros(0, np.bool_), *(topic.is_moving[there] for topic, _, there in present)])
    lists = {
        name: on_rows([attrgetter(path)(topic)[there] for topic, _, there in present], at, len(sizes))
        for name, path in _LISTS.items()
    }
    return PartitionsNow(
        is_present, **lists, is_moving=is_moving & is_present, size_bytes=sizes, ingress_bytes_per_s=rates
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


NAMED_PARTITIONS = 100
"""The most drifted partitions that are named; all are counted."""
Reason = Literal["other_replicas", "other_order", "deleted", "recreated", "created"]


@dataclass(frozen=True, slots=True)
class Drift:
    """A partition that something else has changed."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""
    planned: tuple[int, ...] | None
    """Replicas after the plan, preferred leader first; null if the plan has no such partition."""
    actual: tuple[int, ...] | None
    """Replicas in the snapshot, or those that a reassignment in progress leads to; null if it has no such partition."""
    reason: Reason
    """`other_order`: the replicas are on a list of the plan, in another order; `other_replicas`: they are not;
    `recreated`: the topic was deleted and created again; `deleted`, `created`: the partition or its topic was."""
    is_planned: bool
    """Whether the plan moves or creates the partition; the others count where they were."""


@dataclass(frozen=True, slots=True)
class DriftReport:
    """All that has drifted.

    Parameters
    ----------
    named : the first `NAMED_PARTITIONS`: those that the plan moves or creates, then others, by topic and partition id.
    planned, others : how many there are of each.
    new_partitions, created_partitions : how many partitions the plan creates, and how many of them are there.
    """

    named: Sequence[Drift]
    planned: int
    others: int
    new_partitions: int
    created_partitions: int


def drift_of(
    located: LocatedPlan, progress: StepProgress, placements: Sequence[Placement], cluster: Cluster, made_on: Cluster
) -> DriftReport:
    """Drift: partitions of batches on none of their lists, and others that differ from the plan's snapshot.

    Parameters
    ----------
    placements : of the plan; partitions that its snapshot lacks are created by it.
    cluster, made_on : of the later snapshot, and of the plan's own.
    """
    drifted = np.flatnonzero(progress.is_lost | progress.is_reordered)
    named = [_of_step(located, progress, row) for row in drifted[:NAMED_PARTITIONS].tolist()]
    before = before_of(made_on)
    new = _new(placements, before)
    in_batches = _ids_by_topic(located)
    other_named: list[Drift] = []
    of_new = of_others = missing = 0
    for topic in movement(_joined(before, new), before_of(cluster)).topics:
        ids = topic.partition_ids[topic.rows]
        is_new = np.isin(ids, new[topic.topic].partition_ids if topic.topic in new else ())
        is_missing = is_new & (topic.after[topic.rows] == NO_REPLICA).all(axis=1)
        is_drift = ~is_missing & ~np.isin(ids, in_batches.get(topic.topic, ()))
        missing += int(np.count_nonzero(is_missing))
        of_new += int(np.count_nonzero(is_drift & is_new))
        of_others += int(np.count_nonzero(is_drift & ~is_new))
        for place in np.flatnonzero(is_drift)[: max(NAMED_PARTITIONS - len(other_named), 0)].tolist():
            row = topic.rows[place]
            was, now = _ids(topic.before[row]) or None, _ids(topic.after[row]) or None
            other_named.append(
                Drift(topic.topic, int(ids[place]), was, now, _reason(was, now), is_planned=bool(is_new[place]))
            )
    total = sum(len(assignment.partition_ids) for assignment in new.values())
    named += sorted(other_named, key=lambda drift: not drift.is_planned)
    return DriftReport(named[:NAMED_PARTITIONS], len(drifted) + of_new, of_others, total, total - missing)


def _of_step(located: LocatedPlan, progress: StepProgress, row: int) -> Drift:
    actual = _ids(located.now.target[row]) or None
    reason: Reason = "other_order" if progress.is_reordered[row] else "other_replicas"
    if located.is_recreated[row]:
        reason = "recreated"
    elif actual is None:
        reason = "deleted"
    return Drift(*located.name(row), _ids(located.goal[row]), actual, reason, is_planned=True)


def _reason(was: tuple[int, ...] | None, now: tuple[int, ...] | None) -> Reason:
    if was is None:
        return "created"
    if now is None:
        return "deleted"
    return "other_order" if sorted(was) == sorted(now) else "other_replicas"


def _new(placements: Sequence[Placement], before: Mapping[str, Assignment]) -> dict[str, Assignment]:
    """The partitions that the plan creates, by topic."""
    new = {}
    for name, assignment in planned(placements).items():
        known = before[name].partition_ids if name in before else ()
        is_new = ~np.isin(assignment.partition_ids, known)
        if is_new.any():
            new[name] = Assignment(assignment.partition_ids[is_new], assignment.replicas[is_new])
    return new


def _joined(before: Mapping[str, Assignment], new: Mapping[str, Assignment]) -> dict[str, Assignment]:
    """Both together; new partitions have the higher ids."""
    joined = dict(before)
    for name, assignment in new.items():
        both = [before[name], assignment] if name in before else [assignment]
        ids = np.concatenate([side.partition_ids for side in both])
        joined[name] = Assignment(ids, stacked([side.replicas for side in both]))
    return joined


def _ids_by_topic(located: LocatedPlan) -> dict[str, Int32s]:
    topics, first = np.unique(located.topic_of, return_index=True)
    ids = np.split(located.partition_ids, first[1:])
    return {located.steps.topics[topic]: its for topic, its in zip(topics.tolist(), ids, strict=False)}


def _ids(row: Int32s) -> tuple[int, ...]:
    return tuple(broker for broker in row.tolist() if broker != NO_REPLICA)
