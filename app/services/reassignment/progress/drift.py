"""What something else than a plan has changed since its snapshot: partitions that are not as the plan leaves them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.core.measures.movement import movement
from app.core.model import NO_REPLICA, Assignment, Cluster, Int32s, Placement
from app.core.reassignment import StepProgress
from app.core.replica_lists import stacked
from app.services.reassignment.differences import before_of, planned
from app.services.reassignment.progress.located import LocatedPlan

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
    """`other_order`: the replicas are those of a list of the plan, in another order; `other_replicas`: they are not;
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
    """What has drifted: partitions of batches on none of their lists, and others that differ from the plan's snapshot.

    Parameters
    ----------
    placements : of the plan; those of partitions that its snapshot lacks are created by it.
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
