"""The progress of a stored plan by a later snapshot: done, left and drifted, and the files to go on or back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal
from uuid import UUID

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.model import (
    CORDONS_SINCE,
    LISTS_CHECKED_SINCE,
    NO_REPLICA,
    Bools,
    Cluster,
    Float64s,
    Int32s,
    Int64s,
    Topic,
    cordoned_brokers,
)
from app.core.reassignment.batches.execution import (
    BatchCopies,
    Cordons,
    ReplicationRates,
    batch_durations,
    execution_steps,
    throttled,
)
from app.core.reassignment.batches.quota_credit import quota_credits
from app.core.reassignment.progress import BatchCounts, StepProgress, StepState, counts_of_batches, progress_of_steps
from app.core.replica_lists import not_among, senders
from app.errors import every as errors
from app.errors.every import FieldPath, quoted
from app.formats.kafka_files import reassignment
from app.formats.kafka_files.reassignment import ANY_LOG_DIR, PartitionReassignment, Reassignment
from app.formats.syntax.quantities import counted, first_of
from app.services import snapshots
from app.services.bodies import AnswerRecord, ListOf, Read
from app.services.cautions import Caution, caution
from app.services.fields import Id, rfc3339
from app.services.plans import BATCH, Plan, as_json
from app.services.plans.exports import FilePart
from app.services.reassignment.exports import require_batch
from app.services.reassignment.files.stored_steps import batches_of
from app.services.reassignment.progress.drift import Drift, DriftReport, LocatedPlan, drift_of, locate
from app.services.reassignment.progress.ledger import ExecutedBatch, entry_of, executed_batches
from app.services.reassignment.reports.batches import NAMED_IN_WARNINGS, ExecutedStep, executed_step
from app.services.reassignment.reports.report import LedgerDocument
from app.services.reassignment.requests.request import KIND
from app.store.records import PlanHead, Snapshot
from app.store.unit import UnitOfWork


def with_log_dirs(located: LocatedPlan, progress: StepProgress, cluster: Cluster) -> StepProgress:
    """The progress, where such a step is left if the partition has its list, and a replica another directory.

    A directory that the snapshot does not have is another one.
    """
    steps = located.steps
    if not steps.has_log_dirs:
        return progress
    is_only = (steps.before == steps.after).all(axis=1) & (progress.state == StepState.DONE)
    topics = {topic.name: topic for topic in cluster.topics}
    state, is_begun = progress.state.copy(), progress.is_begun.copy()
    for number in range(len(steps)):
        its = steps.batch(number)
        requested = list(steps.requested(number)) if is_only[its].any() else []
        for place in np.flatnonzero(is_only[its]).tolist():
            if _is_elsewhere(requested[place], topics[requested[place].topic], cluster):
                state[its.start + place], is_begun[its.start + place] = StepState.NOT_STARTED, False
    return replace(progress, state=state, is_begun=is_begun)


def _is_elsewhere(requested: PartitionReassignment, topic: Topic, cluster: Cluster) -> bool:
    """Whether a replica is in another directory than requested, and the partition has the requested list."""
    row = int(np.searchsorted(topic.partition_ids, requested.partition))
    replicas = [broker for broker in topic.destination.replicas[row].tolist() if broker >= 0]
    if replicas != list(requested.replicas):
        return False
    every = topic.replicas[row].tolist()
    for broker, path in zip(requested.replicas, requested.log_dirs or (), strict=False):
        if path == ANY_LOG_DIR:
            continue
        index = -1 if topic.log_dirs is None else int(topic.log_dirs[row, every.index(broker)])
        directories = cluster.log_dirs.get(broker, ())
        if not 0 <= index < len(directories) or directories[index].path != path:
            return True
    return False


PlanState = Literal["not_started", "in_progress", "done", "drifted"]


class BatchProgress(AnswerRecord, schema="BatchProgressDocument"):
    """The progress of one batch, by the state of its partitions' steps."""

    index: int
    """Number of the batch, from 1, as its file has it."""
    state: Literal["not_started", "in_progress", "done", "drifted"]
    """`in_progress`: some partitions are in reassignment or done, and not all are done; `drifted`: nothing is left but
    partitions that something else has changed."""
    partitions_left: int
    """Number of partitions whose list is still to be requested of Kafka."""
    partitions_in_progress: int
    """Number of partitions that are being reassigned."""
    partitions_done: int
    """Number of partitions that have the list of the batch, or one of a later batch."""
    partitions_drifted: int
    """Number of partitions that something else has changed."""
    replicas_left: int
    """Number of replicas to copy that are not in sync yet."""
    bytes_left: int
    """Bytes of these replicas, each as a whole, of those of known size."""
    unknown_size_replicas_left: int
    """Number of these replicas whose size is unknown."""
    seconds_left: float | None
    """Remaining duration at the throttle of the plan; null if it is unknown."""


class PlanProgressDocument(AnswerRecord):
    """Progress of a reassignment at a later snapshot, and the files to go on or back from there."""

    plan_id: Id
    """Id of the plan."""
    snapshot_id: Id
    """Id of the snapshot that the progress is computed from."""
    state: Literal["not_started", "in_progress", "done", "drifted"]
    """`drifted`: something else has changed partitions that the plan moves or creates."""
    batches: list[BatchProgress]
    """Batches, in the order of execution."""
    replicas_left: int
    """Number of replicas to copy that are not in sync yet."""
    bytes_left: int
    """Bytes of these replicas, each as a whole, of those of known size."""
    unknown_size_replicas_left: int
    """Number of these replicas whose size is unknown."""
    seconds_left: float | None
    """Remaining duration, batch after batch, at the throttle of the plan; null if it is unknown."""
    new_partitions: int
    """Number of partitions that the plan creates."""
    new_partitions_left: int
    """Number of these partitions that the snapshot lacks."""
    returning_partitions: int
    """Number of partitions that are being reassigned back to their lists before the plan."""
    drift: ListOf[Drift]
    """The first 100 partitions that something else has changed: the plan's, then others of the cluster, by topic and
    partition id."""
    drifted_partitions: int
    """Number of partitions of the plan that something else has changed."""
    drifted_other_partitions: int
    """Number of other partitions that are not as in the plan's snapshot; they do not count for `state`."""
    next: str | None
    """The first batch with partitions to be requested of Kafka, as `batch/3`; null if no batch has any."""
    next_file: str | None
    """Path of the file with these partitions; null without a batch."""
    rollback: str | None
    """Path of the file with the previous lists of all partitions that have others now; null if none has."""
    rollback_execution: list[ExecutedStep]
    """The same in batches: inverses of those that were begun, from the last to the first, each the file
    `format=batch&inverse=true` with `from`, and the cordons in between; empty if none was begun."""
    ledger: Annotated[LedgerDocument | Mapping[str, Any] | None, Read(LedgerDocument | None, lambda entry: entry)]
    """The execution against its prediction; null if no log of it was recorded."""
    warnings: list[Caution]
    """Conditions that did not prevent the answer; empty if there are none."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanProgress:
    """The progress of a plan.

    Parameters
    ----------
    snapshot : the later one. cluster, made_on : its cluster, and the cluster of the plan's own snapshot.
    """

    plan: Plan
    snapshot: Snapshot
    cluster: Cluster = field(repr=False)
    made_on: Cluster = field(repr=False)
    located: LocatedPlan = field(repr=False)
    step_progress: StepProgress = field(repr=False)

    @property
    def counts(self) -> BatchCounts:
        """Remaining partitions of each batch."""
        located = self.located
        return counts_of_batches(located.planned, self.step_progress, located.now, len(located.steps))

    def left(self, number: int) -> Int64s:
        """The steps of a batch, counted from 0, that are still to be requested of Kafka."""
        its = self.located.steps.batch(number)
        is_left = self.step_progress.state[its] == StepState.NOT_STARTED
        return np.flatnonzero(is_left) + int(self.located.steps.offsets[number])

    def begun(self, number: int) -> Int64s:
        """The steps of a batch, counted from 0, that going back undoes."""
        its = self.located.steps.batch(number)
        return np.flatnonzero(self.step_progress.is_begun[its]) + int(self.located.steps.offsets[number])

    def answer(self) -> PlanProgressDocument:
        """The answer of the API."""
        counts = self.counts
        drift = drift_of(self.located, self.step_progress, self.plan.placements, self.cluster, self.made_on)
        waiting = np.flatnonzero(counts.steps[:, StepState.NOT_STARTED])
        batch = int(waiting[0]) + 1 if len(waiting) else None
        seconds = self._seconds_left()
        address, snapshot = f"/v1/plans/{self.plan.head.id}/export", self.snapshot.id
        is_changed = self.step_progress.differs.any() or self.step_progress.is_begun.any()
        return PlanProgressDocument(
            plan_id=self.plan.head.id,
            snapshot_id=snapshot,
            state=self._state(counts, drift),
            batches=[_batch(counts, seconds, number) for number in range(len(counts.steps))],
            replicas_left=int(counts.replicas_left.sum()),
            bytes_left=int(counts.bytes_left.sum()),
            unknown_size_replicas_left=int(counts.unknown_sizes.sum()),
            seconds_left=None if seconds is None else _finite(float(seconds.sum())),
            new_partitions=drift.new_partitions,
            new_partitions_left=drift.new_partitions - drift.created_partitions,
            returning_partitions=int(np.count_nonzero(self.step_progress.is_returning)),
            drift=drift.named,
            drifted_partitions=drift.planned,
            drifted_other_partitions=drift.others,
            next=None if batch is None else f"batch/{batch}",
            next_file=None if batch is None else f"{address}?format=batch&batch={batch}&from={snapshot}",
            rollback=f"{address}?format=rollback&from={snapshot}" if is_changed else None,
            rollback_execution=self._rollback_execution(),
            ledger=self.plan.head.ledger,
            warnings=[*self._cautions(counts)],
        )

    def _state(self, counts: BatchCounts, drift: DriftReport) -> PlanState:
        if drift.planned:
            return "drifted"
        not_started, in_progress, done, _ = counts.steps.sum(axis=0).tolist()
        if not not_started and not in_progress and drift.created_partitions == drift.new_partitions:
            return "done"
        is_begun = in_progress or done or drift.created_partitions or self.step_progress.is_returning.any()
        return "in_progress" if is_begun else "not_started"

    def _seconds_left(self) -> Float64s | None:
        """(batches,) float64 at the throttle of the plan, infinite if nothing can be copied; None without one."""
        left, rates, rows = self._copies(self.step_progress.copies, self.located.leaders_now)
        if rates.throttle_bytes_per_s is None:
            return None
        seconds = batch_durations(left, rates, len(self.located.steps))
        seconds[left.batch[self._has_no_source[rows]]] = np.inf
        return seconds

    def credits(self, executed: Mapping[int, ExecutedBatch]) -> Float64s:
        """(batches,) float64 seconds by which batches were sooner complete since others were just before: by quotas."""
        steps = self.located.steps
        is_copied = not_among(steps.after, steps.before)
        copies, rates, _ = self._copies(is_copied, self.located.leaders)
        if rates.throttle_bytes_per_s is None:
            return np.zeros(len(steps))
        began, ended, throttles = np.full((3, len(steps)), np.nan)
        for number, batch in executed.items():
            began[number - 1] = batch.began_at.timestamp()
            ended[number - 1] = began[number - 1] + batch.seconds
            throttles[number - 1] = batch.throttle or np.inf
        is_alone, serves = self._is_alone(is_copied), self._serves(is_copied)
        return quota_credits(copies, rates, began, ended, is_alone, throttles, serves)

    def _is_alone(self, is_copied: Bools) -> Bools:
        """Whether a copy's follower replicated nothing from its leader at the plan's snapshot; as `_copies`."""
        known = [
            (topic.leaders[:, None].astype(np.int64) << _ID_BITS | topic.destination.replicas).ravel()
            for topic in self.made_on.topics
        ]
        step, column = np.nonzero(is_copied)
        sources = self._senders(self.located.leaders)[step].astype(np.int64)
        pairs = sources << _ID_BITS | self.located.steps.after[step, column]
        return ~np.isin(pairs, np.concatenate([np.zeros(0, np.int64), *known]))

    def _serves(self, is_copied: Bools) -> Bools:
        """Whether a copy's leader had a follower at the plan's snapshot; as `_copies`."""
        known = [
            topic.leaders[np.count_nonzero(topic.destination.replicas != NO_REPLICA, axis=1) > 1]
            for topic in self.made_on.topics
        ]
        step, _ = np.nonzero(is_copied)
        return np.isin(self._senders(self.located.leaders)[step], np.concatenate([np.zeros(0, np.int32), *known]))

    def _senders(self, leaders: Int32s) -> Int32s:
        """(steps,) int32 the brokers that are copied from, by (partitions,) int32 leaders."""
        return senders(self.located.steps.before, leaders[self.located.planned.rows])

    def _copies(self, is_copied: Bools, leaders: Int32s) -> tuple[BatchCopies, ReplicationRates, Int64s]:
        """Replicas of `steps.after`, the limits of the plan without networks, and the partition of each replica."""
        request: Any = self.plan.head.request
        throttle, record_batch = (
            request["batches"].get(name) for name in ("throttle_bytes_per_s", "record_batch_bytes")
        )
        steps, now = self.located.steps, self.located.now
        step, column = np.nonzero(is_copied)
        rows = self.located.planned.rows[step]
        ids, ends = np.unique(
            np.concatenate([self._senders(leaders)[step], steps.after[step, column]]), return_inverse=True
        )
        source, target = np.split(ends.astype(np.int32), 2)
        sizes, rates = np.maximum(now.size_bytes[rows], 0), now.ingress_bytes_per_s[rows]
        copies = BatchCopies(self.located.planned.batch_of[step], source, target, sizes, rates)
        return copies, throttled(throttle, len(ids), record_batch), rows

    @property
    def _up(self) -> Int32s:
        return np.array([broker.id for broker in self.cluster.brokers if not broker.fenced], np.int32)

    @property
    def _has_no_source(self) -> Bools:
        """(partitions,) bool, those without an in-sync replica on a live broker, from which others could be copied."""
        now = self.located.now
        return now.is_present & ~np.isin(now.isr, self._up).any(axis=1)

    def _rollback_execution(self) -> list[ExecutedStep]:
        """The inverses of the batches that were begun, from the last to the first, and cordons lifted meanwhile."""
        steps, head = self.located.steps, self.plan.head
        begun = [self.begun(number) for number in range(len(steps))]
        order = [number for number in reversed(range(len(steps))) if len(begun[number])]
        requested = [steps.before[its] for its in begun]
        executed = execution_steps(requested, order, _cordons(head, self.cluster, self.made_on))
        return [*map(executed_step, executed)] if order else []

    def _cautions(self, counts: BatchCounts) -> Iterator[Caution]:
        steps, step_progress, up = self.located.steps, self.step_progress, self._up
        moving = sum(int(topic.is_moving.sum()) for topic in self.cluster.topics)
        if moving and counts.steps[:, StepState.NOT_STARTED].any():
            yield caution("reassignment_in_progress", moving=moving)
        if steps.has_log_dirs and all(topic.log_dirs is None for topic in self.cluster.topics):
            yield caution("log_dirs_not_compared")
        if receiving := _down(steps.after[step_progress.copies], up):
            yield caution("receivers_down", brokers=receiving)
        rows = self.located.planned.rows[step_progress.copies.any(axis=1)]
        if stuck := np.unique(rows[self._has_no_source[rows]]).tolist():
            names = first_of(["{}-{}".format(*self.located.name(row)) for row in stuck], NAMED_IN_WARNINGS)
            yield caution("no_in_sync_replica", partitions=f"{counted(len(stuck), 'partition')} ({names})")
        if returning := _down(self.located.before[step_progress.differs], up):
            yield caution("rollback_brokers_down", brokers=returning)


def progress_of(uow: UnitOfWork, plan: Plan, snapshot_id: UUID, *, path: FieldPath = ("snapshot_id",)) -> PlanProgress:
    """The progress of a plan by a later snapshot of its cluster.

    Parameters
    ----------
    path : of the field that names the snapshot.

    Raises
    ------
    SnapshotNotFound
    NoProgress : the plan is of another kind. SnapshotOfAnotherCluster
    SnapshotTooOld : the snapshot was last seen before the plan's own was created.
    """
    head = plan.head
    if head.kind != KIND or head.snapshot_id is None:
        detail = f"plan {head.id} is of the kind {head.kind}; only a plan of the kind {KIND} has progress"
        raise errors.NoProgress(detail, value=head.kind)
    own, made_on = snapshots.load(uow, head.snapshot_id)
    snapshot, cluster = snapshots.load(uow, snapshot_id)
    uow.release()
    _require_later(snapshot, own, path)
    located = locate(batches_of(head), cluster, made_on)
    step_progress = with_log_dirs(located, progress_of_steps(located.planned, located.now), cluster)
    return PlanProgress(plan, snapshot, cluster, made_on, located, step_progress)


def with_log(uow: UnitOfWork, progress: PlanProgress, log: str) -> PlanProgressDocument:
    """The answer about a progress, after the log of the execution was stored with the plan, if the plan is done.

    The entry of a plan replaces the one before; an equal one changes nothing.

    Raises
    ------
    MalformedText, LogOfAnotherPlan : of the log.
    PlanNotFound : the plan was deleted meanwhile.
    """
    answer, head = progress.answer(), progress.plan.head
    executed = executed_batches(log, head.hash, len(progress.located.steps))
    if answer.state != "done" or not executed:
        reason = "it has no complete batch" if answer.state == "done" else f"the plan is {answer.state}"
        return replace(answer, warnings=[*answer.warnings, caution("log_not_recorded", reason=reason)])
    entry = entry_of(head, executed, progress.credits(executed).tolist())
    uow.plans.record(head.id, as_json(entry))
    return replace(answer, ledger=entry)


def _require_later(snapshot: Snapshot, own: Snapshot, path: FieldPath) -> None:
    if snapshot.cluster != own.cluster:
        raise errors.SnapshotOfAnotherCluster(
            f"snapshot {snapshot.id} is of cluster {quoted(snapshot.cluster)}, and the plan of {quoted(own.cluster)}",
            path=path,
            value=snapshot.cluster,
            limit=own.cluster,
        )
    if snapshot.last_seen_at < own.created_at:
        value, limit = (rfc3339(moment) for moment in (snapshot.last_seen_at, own.created_at))
        raise errors.SnapshotTooOld(
            f"snapshot {snapshot.id} was last seen at {value}, before the snapshot of the plan was created at {limit}",
            path=path,
            value=value,
            limit=limit,
        )


def _batch(counts: BatchCounts, seconds: Float64s | None, number: int) -> BatchProgress:
    not_started, in_progress, done, drifted = counts.steps[number].tolist()
    if not_started or in_progress:
        state: PlanState = "in_progress" if in_progress or done else "not_started"
    else:
        state = "drifted" if drifted else "done"
    return BatchProgress(
        index=number + 1,  # as its file is numbered
        state=state,
        partitions_left=not_started,
        partitions_in_progress=in_progress,
        partitions_done=done,
        partitions_drifted=drifted,
        replicas_left=int(counts.replicas_left[number]),
        bytes_left=int(counts.bytes_left[number]),
        unknown_size_replicas_left=int(counts.unknown_sizes[number]),
        seconds_left=None if seconds is None else _finite(float(seconds[number])),
    )


def _finite(seconds: float) -> float | None:
    """Seconds rounded; None if the rest never completes."""
    return round(seconds, 6) if np.isfinite(seconds) else None


def _cordons(head: PlanHead, cluster: Cluster, made_on: Cluster) -> Cordons:
    """From the current cordons to those before the plan."""
    request: Any = head.request
    version = KafkaVersion.of(request["kafka_version"])
    if version < CORDONS_SINCE:
        return Cordons(rejects_lists=False)
    stated = request.get("cordoned_brokers")
    before = cordoned_brokers(made_on) if stated is None else frozenset(stated)
    return Cordons(cordoned_brokers(cluster), before, before, rejects_lists=version >= LISTS_CHECKED_SINCE)


def _down(brokers: Int32s, up: Int32s) -> tuple[int, ...]:
    """The ids, ascending, of brokers in lists that are not up."""
    ids = np.unique(brokers)
    return tuple(ids[(ids != NO_REPLICA) & ~np.isin(ids, up)].tolist())


ROLLBACK = "rollback"
_ID_BITS = 32
"""Of broker ids, for two of them in one number."""


def resumed(uow: UnitOfWork, plan: Plan, snapshot_id: UUID, name: str, part: FilePart) -> bytes:
    """The file that goes on with a batch, undoes its begun part, or restores all previous lists.

    Partitions that something else has changed are in none of them, nor are those that need nothing.

    Parameters
    ----------
    snapshot_id : of a later snapshot. name : `BATCH` or `ROLLBACK`. part : of `BATCH`, its number.

    Raises
    ------
    ConflictingFields : another format. NotExportable : there is nothing to execute. As `progress`.
    """
    batch = part.batch
    if name not in (BATCH, ROLLBACK):
        detail = f"from is of the formats {BATCH} and {ROLLBACK}; {name} is of the whole plan"
        raise errors.ConflictingFields(detail, path=("from",), value=str(snapshot_id))
    part.check_batch(name)
    progress = progress_of(uow, plan, snapshot_id, path=("from",))
    located, steps = progress.located, progress.located.steps
    if batch is None:
        # Where the plan chooses log directories, lists that are equal may have had others.
        is_restored = ~progress.step_progress.is_lost if steps.has_log_dirs else progress.step_progress.differs
        keys = {located.name(row) for row in np.flatnonzero(is_restored).tolist()}
        return _file([one for one in steps.at_once(is_inverse=True) if (one.topic, one.partition) in keys], name)
    require_batch(steps, batch)
    chosen = progress.begun(batch - 1) if part.is_inverse else progress.left(batch - 1)
    requested = list(steps.requested(batch - 1, is_inverse=part.is_inverse))
    return _file([requested[step] for step in (chosen - steps.batch(batch - 1).start).tolist()], name)


def _file(partitions: Sequence[PartitionReassignment], name: str) -> bytes:
    if not partitions:  # Kafka rejects a file without partitions
        raise errors.NotExportable(f"at the snapshot there is nothing to execute of this {name}", format=name)
    return reassignment.write(Reassignment(tuple(partitions))).encode()
