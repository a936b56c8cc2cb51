"""The batches of a reassignment, their order of execution, every step as the answer stores it, and log directories."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal
from zlib import compress

import numpy as np

from app.core.kafka_versions import KafkaVersion
from app.core.measures.tally import positions_of
from app.core.model import NO_REPLICA, Bools, Float64s, Int32s, Int64s
from app.core.reassignment.batches import execution
from app.core.reassignment.batches.model import Batches, LogDirMoves
from app.core.reassignment.completion import TOLERATES_KEPT_SINCE, Incomplete
from app.core.reassignment.log_dirs.placing import PRECISION
from app.core.reassignment.model import NO_LIMIT
from app.core.reassignment.plan import Executions
from app.core.reassignment.problem import LogDirTable
from app.core.reassignment.resource_problem import NO_CAPACITY
from app.core.reassignment.stages.log_dirs import BrokerLogDirs, LogDirSolution
from app.core.replica_lists import not_among, senders, stacked, sums_by
from app.errors import Json
from app.formats.syntax.quantities import counted, first_of
from app.services.bodies import ABSENT, AnswerRecord
from app.services.cautions import Caution, caution
from app.services.reassignment.problem.problem import ReassignmentProblem
from app.services.reassignment.solve import ReassignmentSolution

ANY = -1
"""In an array of paths: the broker chooses the directory."""


class LogDirReport(AnswerRecord, schema="LogDirDocument"):
    """A log directory. Bytes are of replicas, by the largest replica of each partition."""

    path: str
    """Path of the directory."""
    total_bytes: int | None
    """Bytes of its file system; null if unknown."""
    limit_bytes: int | None
    """Bytes of replicas that it may have at any time; null without a limit."""
    drained: bool
    """Whether the request drains it."""
    offline: bool
    """Whether it is offline."""
    bytes_before: int
    """Bytes before the plan."""
    bytes_after: int
    """Bytes after the plan."""
    replicas_in: int
    """Replicas that are moved into it from another directory of the broker."""
    replicas_out: int
    """Replicas that are moved out of it to another directory of the broker."""


class LogDirsOfBroker(AnswerRecord, schema="BrokerLogDirsDocument"):
    """The log directories of a broker."""

    broker: int
    """Id of the broker."""
    largest_share: float | None
    """Largest share in use after the plan, of directories that are neither drained nor offline; null if a size is
    unknown."""
    largest_share_lower_bound: float | None
    """Lower bound on it, with `keep` among plans that move no more; 0 with a tolerance."""
    moved_bytes: int
    """Bytes that are moved between its directories."""
    lower_bound_bytes: int
    """Lower bound on these bytes, for the largest share that is reached."""
    log_dirs: list[LogDirReport]
    """Its directories by path."""


class LogDirsReport(AnswerRecord, schema="LogDirsDocument"):
    """Moves between log directories of the same broker, and their certificate. Replicas from other brokers are in
    `certificate` alone.
    """

    moved_replicas: int
    """Number of replicas that are moved between directories."""
    moved_bytes: int
    """Bytes of these replicas."""
    lower_bound_bytes: int
    """Lower bound on these bytes, for the largest share that each broker reaches."""
    optimal: bool
    """Whether moved bytes reach their lower bound, and every largest share is within 0.1 % of its own."""
    gap: float
    """Relative optimality gap of the moved bytes."""
    solver: str
    """The solver that chose the directories."""
    brokers: list[LogDirsOfBroker]
    """Brokers whose directories are known, by ascending id."""


def log_dirs_of(problem: ReassignmentProblem, solution: ReassignmentSolution) -> LogDirsReport | None:
    """The field `log_dirs` of an answer; None if the request does not choose directories."""
    table, chosen, moves = problem.log_dirs, solution.log_dirs, solution.steps.log_dir_moves
    if table is None or chosen is None or moves is None:
        return None
    moved = sum(each.placement.moved.value for each in chosen.brokers)
    bound = sum(each.placement.moved.lower_bound for each in chosen.brokers)
    used = _used(problem, solution, chosen)
    return LogDirsReport(
        moved_replicas=len(moves.row),
        moved_bytes=moved,
        lower_bound_bytes=bound,
        optimal=moved == bound and all(each.placement.largest.gap <= PRECISION for each in chosen.brokers),
        gap=(moved - bound) / moved if moved > bound else 0.0,
        solver=next((each.placement.moved.solver for each in chosen.brokers), "none: no replica moves"),
        brokers=[_broker(problem, table, each, used, moves) for each in chosen.brokers],
    )


def _used(problem: ReassignmentProblem, solution: ReassignmentSolution, chosen: LogDirSolution) -> Int64s:
    """(disks,) int64 bytes afterwards."""
    before, after = problem.before, solution.leaders.after
    size = problem.sizes.size_bytes
    used = np.zeros(0, np.int64) if problem.log_dirs is None else problem.log_dirs.used_bytes.copy()
    for lists, disks, sign in ((before, chosen.disks.before, -1), (after, chosen.disks.after, 1)):
        is_there = lists != NO_REPLICA
        sizes = np.broadcast_to(size[:, None], lists.shape)[is_there]
        used += sign * sums_by(disks[is_there], sizes, len(used))
    return used


def _broker(
    problem: ReassignmentProblem, table: LogDirTable, each: BrokerLogDirs, used: Int64s, moves: LogDirMoves
) -> LogDirsOfBroker:
    disks = range(table.disks_of(each.broker).start, table.disks_of(each.broker).stop)
    has_shares = bool((table.total_bytes[list(disks)] > 0).all())
    largest = each.placement.largest
    return LogDirsOfBroker(
        broker=int(problem.brokers.ids[each.broker]),
        largest_share=float(largest.value) if has_shares else None,
        largest_share_lower_bound=float(largest.lower_bound) if has_shares else None,
        moved_bytes=each.placement.moved.value,
        lower_bound_bytes=each.placement.moved.lower_bound,
        log_dirs=[
            LogDirReport(
                path=directory.path,
                total_bytes=int(table.total_bytes[disk]) or None,
                limit_bytes=int(table.max_bytes[disk]) if table.max_bytes[disk] < NO_LIMIT // 2 else None,
                drained=bool(table.is_drained[disk]),
                offline=bool(table.is_offline[disk]),
                bytes_before=int(table.used_bytes[disk]),
                bytes_after=int(used[disk]),
                replicas_in=int(np.count_nonzero(moves.target == disk)),
                replicas_out=int(np.count_nonzero(moves.source == disk)),
            )
            for disk, directory in zip(disks, table.directories[each.broker], strict=True)
        ],
    )


def step_log_dirs(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Any]:
    """For each step, the directories of the list that it requests, and of the one that its inverse requests.

    Returns
    -------
    paths : distinct ones. before, after : (steps, widest) int32 indices into them, or `ANY`. Without `after` if the
        request does not choose directories; empty if, besides, no inverse adds a replica to a known one.
    """
    table, chosen, steps = problem.log_dirs, solution.log_dirs, solution.steps
    if table is None or chosen is None or steps.log_dir_moves is None:
        return _returning(problem, steps)
    n_brokers, paths = len(problem.brokers.ids), sorted(set(table.paths))
    index_of = {path: index for index, path in enumerate(paths)}
    path_of = np.array([*[ANY] * n_brokers, *(index_of[path] for path in table.paths), ANY], np.int32)
    found = {}
    for name, lists, others, ends, disks, of_moves in (
        ("after", steps.after, steps.before, solution.leaders.after, chosen.disks.after, steps.log_dir_moves.target),
        ("before", steps.before, steps.after, problem.before, chosen.disks.before, steps.log_dir_moves.source),
    ):
        requested = np.where(not_among(lists, others), _disks_of(steps.rows, lists, ends, disks), -1)
        _set_moves(requested, lists, steps, of_moves)
        found[name] = path_of[requested]
    return {"paths": paths, **found}


def _returning(problem: ReassignmentProblem, steps: Batches) -> dict[str, Any]:
    """`paths` and `before`: where replicas that an inverse adds again were, on live brokers of several directories."""
    scope, ids = problem.scope, problem.brokers.ids
    live = ids[~problem.brokers.is_offline].tolist()
    several = {broker: its for broker in live if len(its := problem.directories.get(broker, ())) > 1}
    paths = sorted({one.path for its in several.values() for one in its if not one.is_offline})
    if not paths:
        return {}
    index_of = {path: index for index, path in enumerate(paths)}
    # The last row and column are of unknown brokers and directories, and of padding.
    path_of = np.full((len(ids) + 1, 1 + max(map(len, several.values()))), ANY, np.int32)
    for position, broker in enumerate(ids.tolist()):
        for at, directory in enumerate(several.get(broker, ())):
            path_of[position, at] = index_of.get(directory.path, ANY) if not directory.is_offline else ANY
    brokers = stacked([positions_of(topic.replicas, ids) for topic in scope.described])
    known = [np.full_like(t.replicas, ANY) if t.log_dirs is None else t.log_dirs for t in scope.described]
    row_of = np.cumsum(~scope.is_new) - 1  # no step is of a new partition
    found = _disks_of(row_of[steps.rows], steps.before, brokers, path_of[brokers, stacked(known)])
    before = np.where(not_among(steps.before, steps.after), found, ANY)
    return {"paths": paths, "before": before} if (before != ANY).any() else {}


def _disks_of(rows: Int64s, lists: Int32s, ends: Int32s, disks: Int32s) -> Int32s:
    """(steps, widest) int32 disks, or paths, of brokers in the final or the first list of their row; −1 of others."""
    found = np.full(lists.shape, -1, np.int32)
    for column in range(ends.shape[1]):
        is_it = (lists == ends[rows, column][:, None]) & (lists != NO_REPLICA)
        found = np.where(is_it, disks[rows, column][:, None], found)
    return np.asarray(found, np.int32)


def _set_moves(requested: Int32s, lists: Int32s, steps: Batches, of_moves: Int32s) -> None:
    moves = steps.log_dir_moves
    if moves is None:
        return
    # Steps are by batch and then by row, so that their keys ascend.
    n_rows = int(max(steps.rows.max(initial=0), moves.row.max(initial=0))) + 1
    at = np.searchsorted(steps.batch_of * n_rows + steps.rows, moves.batch * n_rows + moves.row)
    column = (lists[at] == moves.broker[:, None]).argmax(axis=1) if len(at) else at
    requested[at, column] = of_moves


NAMED_PARTITIONS = 100
"""How many partitions of a batch are named; it counts them all, and its file has them all."""


class MovedPartition(AnswerRecord):
    """A partition."""

    topic: str
    """Name of the topic."""
    partition: int
    """Id of the partition in its topic."""


class Batch(AnswerRecord, schema="BatchDocument", kw_only=True):
    """Steps that are executed together. `partitions` names the first 100; `count` counts them all."""

    partitions: list[MovedPartition]
    """The first 100 partitions of the batch, in the order of execution."""
    count: int
    """Number of partitions in the batch."""
    moves_data: bool
    """False if only the order of replica lists changes, and with it preferred leaders."""
    moved_replicas: int
    """Number of replicas that are copied."""
    moved_bytes: int
    """Bytes that are copied, of replicas of known size."""
    unknown_size_replicas: int
    """Number of copied replicas whose size is unknown."""
    max_bytes_in: int
    """The largest number of bytes copied to one broker."""
    seconds: float | None
    """Duration by a fluid model of the throttle, the networks and concurrent writes of producers, up to 11 s less if it
    begins within 11 s of the end of another batch; 0 if nothing is copied; null if it never completes, neither a
    throttle nor a network is known, or replicas move between log directories without a throttle."""
    completes: bool | None
    """Whether the batch completes: false if replicas are copied no faster than producers write to their partitions, or
    if Kafka waits for a broker that is fenced or down (a warning); otherwise null if `seconds` is unknown."""
    log_dir_moves: int | None = ABSENT
    """Number of replicas moved between log directories; absent without `log_dirs`."""
    log_dir_moved_bytes: int | None = ABSENT
    """Bytes of these replicas; absent without `log_dirs`."""


def batch_of(problem: ReassignmentProblem, steps: Batches, times: "BatchTimes", number: int) -> Batch:
    """One batch, counted from 0: its partitions, movement and duration."""
    where, moves = steps.steps(number), steps.log_dir_moves
    scope, rows = problem.scope, steps.rows[where]
    named = rows[:NAMED_PARTITIONS]
    names = [scope.topics[topic] for topic in scope.topic_of[named].tolist()]
    of_moves = None if moves is None else moves.row[moves.batch == number]
    seconds, completes = times.of_batch(number)
    return Batch(
        partitions=[*map(MovedPartition, names, scope.partition_ids[named].tolist())],
        count=len(rows),
        moves_data=bool(steps.moves_data[number]),
        moved_replicas=int(steps.moved_replicas[number]),
        moved_bytes=int(steps.moved_bytes[number]),
        unknown_size_replicas=int(steps.unknown_sizes[number]),
        max_bytes_in=int(steps.max_bytes_in[number]),
        seconds=seconds,
        completes=completes,
        log_dir_moves=ABSENT if of_moves is None else len(of_moves),
        log_dir_moved_bytes=ABSENT if of_moves is None else int(problem.sizes.size_bytes[of_moves].sum()),
    )


class ExecutedStep(AnswerRecord, schema="ExecutionStepDocument"):
    """One step: a batch by its number, or brokers whose log directories are all cordoned or uncordoned."""

    action: Literal["execute", "cordon", "uncordon"]
    """`execute` a file, or `cordon` or `uncordon` all log directories of brokers."""
    batch: int | None
    """Number of the executed batch, from 1; null if the step executes none or the whole plan."""
    brokers: list[int]
    """Broker ids that are cordoned or uncordoned, ascending; empty if the step executes."""


class Execution(AnswerRecord, schema="ExecutionDocument"):
    """The order of execution under cordons (KIP-1066): since 4.3.2 Kafka rejects every list with a cordoned broker."""

    batches: list[ExecutedStep]
    """Steps of the batches, in the order of execution."""
    rollback: list[ExecutedStep]
    """The inverses of batches, from the last to the first."""
    at_once: list[ExecutedStep]
    """The whole plan as one file, `format=reassignment`."""
    rollback_at_once: list[ExecutedStep]
    """Its inverse, `format=rollback`."""


def execution_of(executions: Executions) -> Execution:
    """The orders of execution, as answers have them."""
    return Execution(
        **{each.name: [*map(executed_step, getattr(executions, each.name))] for each in fields(executions)}
    )


def executed_step(step: execution.ExecutionStep) -> ExecutedStep:
    """One step of an execution; batches are numbered from 1."""
    number = None if step.batch is None else step.batch + 1  # as its files are numbered
    return ExecutedStep(step.action.value, number, list(step.brokers))


def steps_json(problem: ReassignmentProblem, steps: Batches) -> dict[str, Json]:
    """Every step of every batch as the answer stores it: int32 arrays, zlib, base64; exports.py reads them."""
    scope, ids = problem.scope, np.append(problem.brokers.ids, np.int32(NO_REPLICA))
    return {
        "topics": scope.topics,
        "width": int(steps.before.shape[1]),
        "waiting": steps.waiting,
        "offsets": steps.offsets.tolist(),
        "topic_of": _packed(scope.topic_of[steps.rows]),
        "partition_ids": _packed(scope.partition_ids[steps.rows]),
        "before": _packed(ids[steps.before]),
        "after": _packed(ids[steps.after]),
    }


def packed_log_dirs(problem: ReassignmentProblem, solution: ReassignmentSolution) -> dict[str, Json]:
    """The log directories of all steps, if files name some."""
    found = step_log_dirs(problem, solution)
    if not found:
        return {}
    return {"log_dirs": {name: each if name == "paths" else _packed(each) for name, each in found.items()}}


def _packed(numbers: Int32s | Int64s) -> str:
    # The fastest level: even a million steps shrink to a few percent.
    return b64encode(compress(np.ascontiguousarray(numbers, "<i4").tobytes(), 1)).decode()


NAMED_BATCHES = 20
"""The most batches that a warning names; it counts them all."""
NAMED_IN_WARNINGS = 5
"""The most partitions that a warning names; it counts them all."""


@dataclass(frozen=True, slots=True, eq=False)
class NeverCompleted:
    """The batches that never complete, (batches,) bool, and warnings that explain why."""

    batches: Bools = field(repr=False)
    cautions: tuple[Caution, ...] = ()


def never_completed(problem: ReassignmentProblem, steps: Batches) -> NeverCompleted:
    """Apply the rule of the problem's release to every step: see `core/reassignment/completion.py`."""
    never = np.zeros(len(steps), np.bool_)
    found = problem.batches.completion.incomplete(steps.rows, steps.before, steps.after)
    never[steps.batch_of[found.waits | found.has_no_source]] = True
    return NeverCompleted(never, tuple(_cautions(problem, steps, found)))


def waits_for(partitions: str, version: KafkaVersion, down: Sequence[int]) -> Caution:
    """Why a release never completes the lists of these partitions, which have brokers that are down."""
    later = "" if version >= TOLERATES_KEPT_SINCE else f"; Kafka {TOLERATES_KEPT_SINCE} completes most such lists"
    return caution(
        "waits_for_offline_replica", version=version, partitions=partitions, later=later, brokers=tuple(down)
    )


def _cautions(problem: ReassignmentProblem, steps: Batches, found: Incomplete) -> Iterator[Caution]:
    brokers, is_down = problem.brokers, np.append(problem.brokers.is_offline, False)
    if found.waits.any():
        lists = steps.after[found.waits]
        down = np.unique(brokers.ids[lists[is_down[lists]]]).tolist()
        yield waits_for(_named(problem, steps, found.waits), problem.version, down)
    if found.has_no_source.any():
        yield caution("no_in_sync_replica", partitions=_named(problem, steps, found.has_no_source))


def _named(problem: ReassignmentProblem, steps: Batches, among: Bools) -> str:
    """The batches and partitions of some steps."""
    numbers = np.unique(steps.batch_of[among]) + 1
    rows = np.unique(steps.rows[among]).tolist()
    names = first_of([*map(problem.scope.name, rows)], NAMED_IN_WARNINGS)
    of_batches = f"{'batch' if len(numbers) == 1 else 'batches'} {first_of(numbers.tolist(), NAMED_BATCHES)}"
    return f"{counted(len(rows), 'partition')} of {of_batches} ({names})"


NIC_IN, NIC_OUT = 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class BatchTimes:
    """The time of every batch.

    Parameters
    ----------
    seconds : (batches,) float64; 0 if nothing is copied, infinite if it never completes, NaN if nothing is known that
        limits it.
    recommended : a throttle with which every batch completes, in bytes per second; None without a recommendation.
    never : the batches that never complete at any throttle.
    """

    seconds: Float64s = field(repr=False)
    recommended: int | None
    never: NeverCompleted

    def of_batch(self, number: int) -> tuple[float | None, bool | None]:
        """`seconds` and `completes` of a batch, counted from 0."""
        seconds = np.inf if self.never.batches[number] else float(self.seconds[number])
        completes = None if np.isnan(seconds) else bool(np.isfinite(seconds))
        return round(seconds, 6) if completes else None, completes

    def cautions(self) -> list[Caution]:
        """Warnings about the batches that never complete."""
        unending = (np.flatnonzero(np.isinf(self.seconds)) + 1).tolist()
        if not unending:
            return [*self.never.cautions]
        remedy = "fewer moves a broker and batch, or a faster network, let them complete"
        if self.recommended is not None:
            remedy = f"a throttle of {self.recommended} bytes/s lets them complete"
        ending = caution("batch_never_completes", unending=unending, batches=len(self.seconds), remedy=remedy)
        return [ending, *self.never.cautions]


def batch_times(problem: ReassignmentProblem, steps: Batches) -> BatchTimes:
    """The time of every batch, by a fluid model of replication: see `core/reassignment/batches/execution.py`."""
    brokers = len(problem.brokers.ids)
    gained, column = np.nonzero(not_among(steps.after, steps.before))
    rows = steps.rows[gained]
    copies = execution.BatchCopies(
        batch=steps.batch_of[gained],
        source=senders(steps.before[gained], problem.batches.leaders[rows]),
        target=steps.after[gained, column],
        size_bytes=np.maximum(problem.batches.size_bytes[rows], 0),
        ingress_bytes_per_s=problem.resources.scope.ingress[rows].astype(np.float64),
    )
    limits = problem.batches.limits
    rates = execution.ReplicationRates(
        limits.throttle_bytes_per_s, *_networks(problem, brokers), record_batch_bytes=limits.record_batch_bytes
    )
    seconds = execution.batch_durations(copies, rates, len(steps))
    never = never_completed(problem, steps)
    if steps.seconds is not None:
        # Copies within brokers take their time at the throttle, too.
        return BatchTimes(np.fmax(seconds, steps.seconds), execution.recommended_throttle(copies, rates), never)
    if np.isinf(rates.nic_in).all() and np.isinf(rates.nic_out).all():
        copies_some = np.bincount(copies.batch, minlength=len(steps)) > 0
        seconds = np.where(copies_some, np.nan, 0.0)
    if steps.log_dir_moves is not None:
        # No network limits copies within brokers.
        copies_some = np.bincount(steps.log_dir_moves.batch, minlength=len(steps)) > 0
        seconds = np.where(copies_some & np.isfinite(seconds), np.nan, seconds)
    return BatchTimes(seconds, execution.recommended_throttle(copies, rates), never)


def _networks(problem: ReassignmentProblem, brokers: int) -> tuple[Float64s, Float64s]:
    """(brokers,) float64 each: capacity of each broker to receive and to send besides its traffic before the plan."""
    capacity = problem.resources.capacity
    used: Int64s = problem.resources.broker_loads(problem.before)
    free = np.where(capacity == NO_CAPACITY, np.inf, np.maximum(capacity - used, 0).astype(np.float64))
    return free[:brokers, NIC_IN], free[:brokers, NIC_OUT]
