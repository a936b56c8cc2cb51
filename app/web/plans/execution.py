"""The execution of a reassignment: its progress at a later snapshot, which is chosen or pasted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.core.measures.transfers import Transfers
from app.core.model import NO_REPLICA, Int64s
from app.core.replica_lists import not_among, per_broker
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


MOST_BROKERS = 300


@dataclass(frozen=True, slots=True)
class BrokerState:
    """Replicas of a broker before the plan, after the batches, and at the end."""

    broker: int
    before: int
    now: int
    after: int

    @property
    def share(self) -> float:
        """How much of its change is done; 1 if nothing changes."""
        change = self.after - self.before
        return min(1.0, max(0.0, (self.now - self.before) / change)) if change else 1.0


@dataclass(frozen=True, slots=True)
class BatchStates:
    """The state after some batches: partitions changed and replicas copied so far, and the brokers that change."""

    partitions: int
    replicas: int
    brokers: list[BrokerState] = field(repr=False)


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
    ids = np.unique(np.concatenate([steps.before.ravel(), steps.after.ravel()]))
    ids = ids[ids != NO_REPLICA]
    counts = zip(transfers.brokers, transfers.before.replicas.tolist(), strict=True)
    before = {broker.id: count for broker, count in counts}

    def change(stop: int) -> Int64s:
        """(brokers,) int64 replicas that the first steps add, less those that they remove."""
        after, earlier = (np.searchsorted(ids, lists[:stop]) for lists in (steps.after, steps.before))
        is_after, is_earlier = steps.after[:stop] != NO_REPLICA, steps.before[:stop] != NO_REPLICA
        gained = per_broker(np.where(is_after, after, NO_REPLICA).astype(np.int32), len(ids))
        return gained - per_broker(np.where(is_earlier, earlier, NO_REPLICA).astype(np.int32), len(ids))

    now, end = change(done), change(len(steps.after))
    states = [
        BrokerState(broker, had, had + gained, had + in_all)
        for broker, gained, in_all in zip(ids.tolist(), now.tolist(), end.tolist(), strict=True)
        for had in (before.get(broker, 0),)
    ]
    keys = steps.topic_of[:done].astype(np.int64) << 32 | steps.partition_ids[:done]
    copied = int(np.count_nonzero(not_among(steps.after[:done], steps.before[:done])))
    return BatchStates(len(np.unique(keys)), copied, states[:MOST_BROKERS])
