"""The files that go on with a plan, or back, from the state that a later snapshot has."""

from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from app.core.model import Int32s, Int64s, unpadded
from app.errors.requests import ConflictingFields, NotExportable
from app.formats import reassignment
from app.formats.reassignment import PartitionReassignment, Reassignment
from app.services.plans import BATCH, Plan
from app.services.reassignment.exports import require_batch
from app.services.reassignment.progress import progress
from app.services.reassignment.stored_steps import StoredSteps

if TYPE_CHECKING:
    from app.store.database import UnitOfWork

ROLLBACK = "rollback"


def resumed(
    uow: "UnitOfWork", plan: Plan, snapshot_id: UUID, name: str, *, batch: int | None = None, is_inverse: bool = False
) -> bytes:
    """The file that goes on with a batch, undoes what was begun of it, or restores all previous lists.

    Partitions that something else has changed are in none of them, nor are those that need nothing.

    Parameters
    ----------
    snapshot_id : of a later snapshot. name : `BATCH` or `ROLLBACK`. batch, is_inverse : of `BATCH`, as in `Kind.write`.

    Raises
    ------
    ConflictingFields : another format. NotExportable : there is nothing to execute. As `progress`.
    """
    if name not in (BATCH, ROLLBACK):
        detail = f"from is of the formats {BATCH} and {ROLLBACK}; {name} is of the whole plan"
        raise ConflictingFields(detail, path=("from",), value=str(snapshot_id))
    if name == ROLLBACK and (batch is not None or is_inverse):
        field = "inverse" if batch is None else "batch"
        raise ConflictingFields(f"{field} is of the format batch; {name} is of the whole plan", path=(field,))
    if name == BATCH and batch is None:
        raise ConflictingFields("the format batch is of one batch; name its number, from 1 on", path=("batch",))
    found = progress(uow, plan, snapshot_id, path=("from",))
    located = found.located
    if batch is None:
        rows = np.flatnonzero(found.found.differs)
        return _file(located.steps, located.topic_of[rows], located.partition_ids[rows], located.before[rows], name)
    require_batch(located.steps, batch)
    chosen = found.begun(batch - 1) if is_inverse else found.left(batch - 1)
    return _of_steps(located.steps, chosen, is_inverse=is_inverse)


def _of_steps(steps: StoredSteps, chosen: Int64s, *, is_inverse: bool) -> bytes:
    lists = (steps.before if is_inverse else steps.after)[chosen]
    return _file(steps, steps.topic_of[chosen], steps.partition_ids[chosen], lists, BATCH)


def _file(steps: StoredSteps, topic_of: Int32s, ids: Int32s, lists: Int32s, name: str) -> bytes:
    if not len(ids):  # Kafka rejects a file without partitions
        raise NotExportable(f"at the snapshot there is nothing to execute of this {name}", format=name)
    names = (steps.topics[topic] for topic in topic_of.tolist())
    rows = zip(names, ids.tolist(), unpadded(lists), strict=True)
    partitions = tuple(PartitionReassignment(topic, partition, tuple(row)) for topic, partition, row in rows)
    return reassignment.write(Reassignment(partitions)).encode()
