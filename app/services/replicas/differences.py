"""Changes of a plan of replicas: partitions that are new or gone, replicas to copy, leaders that change."""

from collections.abc import Sequence
from uuid import UUID

from app.core.measures.movement import PartitionChange, movement
from app.core.model import Assignment, Placement
from app.errors.every import SnapshotNotFound
from app.services import snapshots
from app.services.bodies import AnswerRecord, ListOf
from app.services.plans import Difference, Plan, named_plan
from app.services.plans.answers import DifferencePage
from app.store.unit import UnitOfWork


class DiffSummary(AnswerRecord):
    """Counts of differences between two assignments. Kafka copies `replicas_added`."""

    partitions: int
    """Number of partitions that either assignment has."""
    partitions_added: int
    """Number of partitions that only the second assignment has."""
    partitions_removed: int
    """Number of partitions that only the first assignment has."""
    partitions_changed: int
    """Number of partitions whose replica lists differ, in members or in order."""
    replicas_added: int
    """Number of replicas that only the second assignment has; Kafka copies them."""
    replicas_removed: int
    """Number of replicas that only the first assignment has."""
    preferred_leaders_changed: int
    """Number of partitions whose first replica differs."""


class DiffDocument(DifferencePage):
    """The partitions that differ, by topic and partition id."""

    summary: DiffSummary
    items: ListOf[PartitionChange]


def difference(uow: UnitOfWork, plan: Plan, against: UUID | None) -> Difference:
    """Changes of the plan against another plan, a snapshot, or the snapshot that it was made from.

    Against a snapshot only the plan's own topics count: the plan does not contain the others.

    Raises `ConflictingFields`, and `SnapshotNotFound` where `against` is neither a plan nor a snapshot.
    """
    after = _assignments(plan.placements)
    other = None if against is None else named_plan(uow, plan, against)
    before = _of_snapshot(uow, plan, against, after) if other is None else _assignments(other.placements)
    moved = movement(before, after)
    return Difference(vars(DiffSummary.of(moved)), moved.total, moved.changes)


def _of_snapshot(
    uow: UnitOfWork, plan: Plan, against: UUID | None, after: dict[str, Assignment]
) -> dict[str, Assignment]:
    snapshot_id = against or plan.head.snapshot_id
    if snapshot_id is None:
        raise SnapshotNotFound("the plan was made from no snapshot; name one, or another plan", path=("against",))
    _, cluster = snapshots.load(uow, snapshot_id)
    return {topic.name: topic.assignment for topic in cluster.topics if topic.name in after}


def _assignments(placements: Sequence[Placement]) -> dict[str, Assignment]:
    return {placement.topic: placement.assignment for placement in placements}
