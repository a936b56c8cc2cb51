"""The files that go on with a plan, or back, from the state that a later snapshot has."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from app.errors.requests import ConflictingFields, NotExportable
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.reassignment import PartitionReassignment, Reassignment
from app.services.plans import BATCH, Plan
from app.services.reassignment.exports import require_batch
from app.services.reassignment.progress.progress import progress_of

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
    progress = progress_of(uow, plan, snapshot_id, path=("from",))
    located, steps = progress.located, progress.located.steps
    if batch is None:
        # Where the plan chooses log directories, lists that are equal may have had others.
        is_restored = ~progress.step_progress.is_lost if steps.has_log_dirs else progress.step_progress.differs
        keys = {located.name(row) for row in np.flatnonzero(is_restored).tolist()}
        restored = [one for one in steps.at_once(is_inverse=True) if (one.topic, one.partition) in keys]
        return _file(restored, name)
    require_batch(steps, batch)
    chosen = progress.begun(batch - 1) if is_inverse else progress.left(batch - 1)
    requested = list(steps.requested(batch - 1, is_inverse=is_inverse))
    return _file([requested[step] for step in (chosen - steps.batch(batch - 1).start).tolist()], name)


def _file(partitions: Sequence[PartitionReassignment], name: str) -> bytes:
    if not partitions:  # Kafka rejects a file without partitions
        raise NotExportable(f"at the snapshot there is nothing to execute of this {name}", format=name)
    return reassignment.write(Reassignment(tuple(partitions))).encode()
