"""A page of a plan's partitions: no more rows are read than the page shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.store.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class PlannedPartition:
    """One row of a plan: the brokers of a partition, or positions of its readers; the kind defines which."""

    topic: str
    partition: int
    row: Sequence[int]


@dataclass(frozen=True, slots=True)
class PartitionsPage:
    """Some partitions of a plan, their total number, and the offset of the next page; None on the last one."""

    items: Sequence[PlannedPartition]
    total: int
    next_offset: int | None


def partitions(uow: UnitOfWork, plan_id: UUID, *, topic: str | None, offset: int, size: int) -> PartitionsPage:
    """A page of a plan's partitions, by topic in the plan's order and partition id; only the page's rows are read."""
    topics = [shape for shape in uow.plans.topics(plan_id) if topic is None or shape.name == topic]
    items: list[PlannedPartition] = []
    skipped = 0
    for shape in topics:
        start = max(offset - skipped, 0)
        stop = min(offset + size - skipped, shape.partitions)
        if start < stop:
            rows = uow.plans.rows(plan_id, shape, start=start, stop=stop).tolist()
            first = shape.first_partition_id + start
            items += [PlannedPartition(shape.name, first + i, row) for i, row in enumerate(rows)]
        skipped += shape.partitions
    return PartitionsPage(items, skipped, offset + size if offset + size < skipped else None)
