"""The execution of a reassignment: its progress at a later snapshot, which is chosen or pasted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.measures.transfers import Transfers
from app.core.model import NO_REPLICA
from app.core.replica_lists import not_among
from app.errors import Failure
from app.errors.every import ConflictingFields
from app.formats.snapshots import assembly
from app.formats.snapshots.pasted import Upload
from app.services import reassignment, snapshots
from app.services.limits import Limits
from app.services.plans import Plan, as_json
from app.services.reassignment import batches_of
from app.services.reassignment.progress.progress import with_log
from app.store.database import UnitOfWork
from app.store.records import PlanHead, Snapshot
from app.web.lists import as_id

NEWEST = "newest"
MOST_SNAPSHOTS = 20
MOST_BATCHES = 100
_LINE_OF_LOG = re.compile(r"\s*\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [a-z]+ ")
"""How a line of `run.log` begins, unlike those of Kafka's tools."""


@dataclass(frozen=True, slots=True)
class Execution:
    """The page's data of an execution.

    Parameters
    ----------
    later : snapshots of the cluster since the plan's own, newest first. chosen : the id of one; empty for none.
    progress : as the API answers it. problem : why it is missing. text : the pasted text that could not be read.
    """

    later: Sequence[Snapshot]
    chosen: str = ""
    progress: Mapping[str, Any] | None = None
    problem: str = ""
    text: str = field(default="", repr=False)

    def shown(self, batches: int) -> range:
        """The batches that are listed, from 0: all if they are few, else those around the first that is not done."""
        listed: Sequence[Mapping[str, Any]] = [] if self.progress is None else self.progress["batches"]
        first = next((at for at, batch in enumerate(listed) if batch["state"] != "done"), 0)
        begin = max(0, min(first - 2, batches - MOST_BATCHES))
        return range(begin, min(begin + MOST_BATCHES, batches))

    def count(self, state: str) -> int:
        """The number of batches in a state."""
        return 0 if self.progress is None else sum(batch["state"] == state for batch in self.progress["batches"])


def execution(uow: UnitOfWork, plan: Plan, chosen: str, *, problem: str = "", text: str = "") -> Execution:
    """The progress of a plan at a snapshot: the id of one, `newest`, or empty for none."""
    later = _later(uow, plan)
    if chosen == NEWEST:
        chosen = str(later[0].id) if later else ""
    if not chosen or problem:
        return Execution(later, problem=problem, text=text)
    if (snapshot_id := as_id(chosen)) is None:
        return Execution(later, problem=f"{chosen[:100]} is not the id of a snapshot")
    try:
        return Execution(later, chosen, as_json(reassignment.progress_of(uow, plan, snapshot_id).answer()))
    except Failure as failure:
        return Execution(later, problem=failure.detail)


def store_pasted(uow: UnitOfWork, plan: Plan, uploads: Sequence[Upload], limits: Limits) -> Snapshot:
    """Store pasted texts: a state as the newest snapshot of the plan's cluster, `run.log` as the ledger of the plan.

    Raises as reading them does, and `ConflictingFields` if the log is not recorded.
    """
    cluster = plan.head.cluster or ""
    logs = [upload.text for upload in uploads if _LINE_OF_LOG.match(upload.text)]
    states = [upload for upload in uploads if upload.text not in logs]
    if logs and not states:
        snapshot = snapshots.newest(uow, cluster)
    else:
        snapshot = snapshots.store_later(uow, assembly.assemble(cluster, states), limits)
    if logs:
        recorded = with_log(uow, reassignment.progress_of(uow, plan, snapshot.id), "\n".join(logs))
        for reason in (warning.detail for warning in recorded.warnings if warning.code == "log_not_recorded"):
            raise ConflictingFields(reason, path=("text",))
    return snapshot


def _later(uow: UnitOfWork, plan: Plan) -> Sequence[Snapshot]:
    """The snapshots of the plan's cluster since its own, which is the last of them."""
    if plan.head.cluster is None or plan.head.snapshot_id is None:
        return ()
    own = uow.snapshots.get(plan.head.snapshot_id)
    recent = uow.snapshots.page(cluster=plan.head.cluster, before=None, size=MOST_SNAPSHOTS).items
    return [snapshot for snapshot in recent if snapshot.last_seen_at >= own.created_at]


@dataclass(frozen=True, slots=True)
class BatchStates:
    """The state after some batches: partitions changed, replicas copied, and the replicas of each broker."""

    partitions: int
    replicas: int
    brokers: Mapping[int, int] = field(repr=False)


def states_after(head: PlanHead, transfers: Transfers, batch: int) -> BatchStates | None:
    """The state of a reassignment after that many batches; None if it has none.

    Parameters
    ----------
    transfers : of the plan in its cluster.
    """
    steps = batches_of(head)
    if not len(steps):
        return None
    done = int(steps.offsets[min(batch, len(steps))])
    before, after = steps.before[:done], steps.after[:done]
    replicas = {
        broker.id: count for broker, count in zip(transfers.brokers, transfers.before.replicas.tolist(), strict=True)
    }
    for lists, sign in ((after, 1), (before, -1)):
        ids, counts = np.unique(lists[lists != NO_REPLICA], return_counts=True)
        for broker, count in zip(ids.tolist(), counts.tolist(), strict=True):
            replicas[broker] = replicas.get(broker, 0) + sign * count
    keys = steps.topic_of[:done].astype(np.int64) << 32 | steps.partition_ids[:done]
    return BatchStates(len(np.unique(keys)), int(np.count_nonzero(not_among(after, before))), replicas)
