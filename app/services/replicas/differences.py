"""What a plan of replicas changes: partitions that are new or gone, replicas to copy, leaders that change."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from app.core.measures.movement import Movement, movement
from app.core.model import Assignment, Placement
from app.errors import Json
from app.errors.requests import SnapshotNotFound
from app.services import snapshots
from app.services.plans import Difference, Plan, named_plan

if TYPE_CHECKING:
    from app.store.database import UnitOfWork


def difference(uow: "UnitOfWork", plan: Plan, against: UUID | None) -> Difference:
    """What the plan changes against another plan, a snapshot, or the snapshot that it was made from.

    Against a snapshot only the plan's own topics count: the plan does not contain the others.

    Raises `ConflictingFields`, and `SnapshotNotFound` where `against` is neither a plan nor a snapshot.
    """
    after = _assignments(plan.placements)
    other = None if against is None else named_plan(uow, plan, against)
    before = _of_snapshot(uow, plan, against, after) if other is None else _assignments(other.placements)
    moved = movement(before, after)
    return Difference(movement_summary(moved), moved.total, moved.changes)


def movement_summary(moved: Movement) -> dict[str, Json]:
    """The counts of a difference between two assignments."""
    return dict(moved.counts)


def _of_snapshot(
    uow: "UnitOfWork", plan: Plan, against: UUID | None, after: dict[str, Assignment]
) -> dict[str, Assignment]:
    snapshot_id = against or plan.head.snapshot_id
    if snapshot_id is None:
        raise SnapshotNotFound("the plan was made from no snapshot; name one, or another plan", path=("against",))
    _, cluster = snapshots.load(uow, snapshot_id)
    return {topic.name: topic.assignment for topic in cluster.topics if topic.name in after}


def _assignments(placements: Sequence[Placement]) -> dict[str, Assignment]:
    return {placement.topic: placement.assignment for placement in placements}
