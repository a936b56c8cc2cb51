"""Choose the log directory of every replica once its broker is known: what arrives, stays or is drained."""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import NO_LOG_DIR, NO_REPLICA, Int32s, Int64s
from app.core.reassignment import (
    LogDirPlacement,
    LogDirProblem,
    PackingConflict,
    ReplicaLogDirs,
    log_dir_violations,
    packing_conflict,
    place_in_log_dirs,
)
from app.core.reassignment.log_dirs.model import NO_LIMIT
from app.errors import Json
from app.errors.quotation import quoted
from app.errors.reassignments import LogDirsTooSmall, NoLogDirLeft
from app.formats.syntax.quantities import byte_size, counted
from app.services.reassignment.problem.brokers import BrokerTable
from app.services.reassignment.problem.domains import Relaxation
from app.services.reassignment.problem.log_dirs import LogDirTable
from app.services.reassignment.problem.scope import PartitionScope

SOLVER_TIME = 4.0
"""Deterministic seconds of all models of a plan, and at most `MOST_OF_ONE` of one broker's."""
MOST_OF_ONE = 1.0
NAMED_REPLICAS = 20
"""How many replicas of a conflict a problem names."""


@dataclass(frozen=True, slots=True, eq=False)
class BrokerLogDirs:
    """The problem of one broker and its answer.

    Parameters
    ----------
    broker : position. rows : (replicas,) int64 partitions. columns : (replicas,) int64 of their lists afterwards.
    """

    broker: int
    rows: Int64s = field(repr=False)
    columns: Int64s = field(repr=False)
    problem: LogDirProblem
    placement: LogDirPlacement


@dataclass(frozen=True, slots=True, eq=False)
class LogDirSolution:
    """The directory of every replica.

    Parameters
    ----------
    disks : of each replica, before and after. brokers : of those with known directories, by position.
    max_bytes : (disks,) int64 limits, without those that were relaxed.
    avoided : positions of brokers that replicas must not be on, since their directories have no capacity for them.
    """

    disks: ReplicaLogDirs
    brokers: tuple[BrokerLogDirs, ...]
    max_bytes: Int64s = field(repr=False)
    relaxed: tuple[Relaxation, ...]
    avoided: tuple[int, ...] = ()

    def violations(self) -> list[str]:
        """Of every broker."""
        return [detail for each in self.brokers for detail in log_dir_violations(each.problem, each.placement)]


def choose_log_dirs(
    table: LogDirTable,
    brokers: BrokerTable,
    scope: PartitionScope,
    size_bytes: Int64s,
    before: Int32s,
    after: Int32s,
    *,
    relaxes: bool,
) -> LogDirSolution:
    """Choose directories for (rows, widest) int32 positions before and after.

    Raises
    ------
    NoLogDirLeft : replicas arrive at a broker, and none of its directories may receive.
    LogDirsTooSmall : the replicas of a broker do not fit; unless conflicts are relaxed.
    """
    chosen = np.where(after == NO_REPLICA, NO_LOG_DIR, after).astype(np.int32)
    solved, relaxed, max_bytes = [], [], table.max_bytes.copy()
    problems = _problems(table, scope, size_bytes, before, after, chosen)
    time = min(MOST_OF_ONE, SOLVER_TIME / max(len(problems), 1))
    for broker, rows, columns, stated in problems:
        problem = stated
        _require_open(table, brokers, broker, problem)
        placement = place_in_log_dirs(problem, solver_time=time)
        if placement is None:
            failure = _too_small(table, brokers, scope, broker, rows, problem)
            if not relaxes:
                raise failure
            relaxed.append(Relaxation("log_dirs", failure.detail))
            max_bytes[table.disks_of(broker)] = NO_LIMIT
            problem = replace(stated, max_bytes=np.full(len(stated.max_bytes), NO_LIMIT))
            placement = place_in_log_dirs(problem, solver_time=time)
            if placement is None:
                raise failure
        chosen[rows, columns] = placement.log_dirs + table.first[broker]
        solved.append(BrokerLogDirs(broker, rows, columns, problem, placement))
    return LogDirSolution(ReplicaLogDirs(table.before, chosen), tuple(solved), max_bytes, tuple(relaxed))


def problems_of(
    table: LogDirTable, scope: PartitionScope, sizes: Int64s, before: Int32s, after: Int32s
) -> list[tuple[int, Int64s, LogDirProblem]]:
    """The position of each broker with known directories, its (replicas,) int64 rows, and its problem."""
    chosen = np.where(after == NO_REPLICA, NO_LOG_DIR, after).astype(np.int32)
    return [
        (broker, rows, problem) for broker, rows, _, problem in _problems(table, scope, sizes, before, after, chosen)
    ]


def _problems(
    table: LogDirTable, scope: PartitionScope, sizes: Int64s, before: Int32s, after: Int32s, chosen: Int32s
) -> list[tuple[int, Int64s, Int64s, LogDirProblem]]:
    """The replicas of each broker with known directories, as a problem. Others keep their disk in `chosen`, too."""
    is_same = (before[:, None, :] == after[:, :, None]) & (after != NO_REPLICA)[:, :, None]
    stays = is_same.any(axis=2)
    current = np.where(stays, np.take_along_axis(table.before, is_same.argmax(axis=2), axis=1), NO_LOG_DIR)
    chosen[stays] = current[stays]
    first = np.append(table.first, -1)[after]
    # In unknown directories, and in offline ones, replicas stay; of new partitions the broker chooses.
    is_stuck = stays & ((current < first) | table.is_offline[np.maximum(current, 0)])
    takes_part = (first >= 0) & ~is_stuck & ~scope.is_new[:, None]
    rows, columns = np.nonzero(takes_part)
    broker_of = after[rows, columns]
    order = np.argsort(broker_of, kind="stable")
    rows, columns, broker_of = rows[order], columns[order], broker_of[order]
    problems = []
    for broker in sorted(table.directories):
        start, stop = np.searchsorted(broker_of, [broker, broker + 1])
        of_broker = rows[start:stop], columns[start:stop]
        disks = table.disks_of(broker)
        now = current[of_broker]
        problem = LogDirProblem(
            size_bytes=sizes[of_broker[0]],
            current=np.where(now == NO_LOG_DIR, NO_LOG_DIR, now - disks.start).astype(np.int32),
            base_bytes=table.base_bytes[disks],
            capacity=_capacity(table, disks),
            max_bytes=table.max_bytes[disks],
            may_receive=table.may_receive[disks],
            is_drained=table.is_drained[disks] | table.is_offline[disks],
            balance=table.balance,
        )
        problems.append((broker, *of_broker, problem))
    return problems


def _capacity(table: LogDirTable, disks: slice) -> Int64s:
    """(directories,) int64 bytes, or 1 each if any is unknown."""
    total = table.total_bytes[disks]
    return total if (total > 0).all() else np.ones(len(total), np.int64)


def _require_open(table: LogDirTable, brokers: BrokerTable, broker: int, problem: LogDirProblem) -> None:
    if problem.has_to_move.any() and not problem.may_receive.any():
        name = int(brokers.ids[broker])
        arriving = int(np.count_nonzero(problem.current == NO_LOG_DIR))
        paths = [directory.path for directory in table.directories[broker]]
        detail = (
            f"{counted(arriving, 'replica')} arrive at broker {name}, and none of its {len(paths)} log directories may "
            "receive: they are drained, cordoned or offline"
        )
        raise NoLogDirLeft(detail, path=("log_dirs",), value=paths, broker=name, limit=0)


def _too_small(
    table: LogDirTable, brokers: BrokerTable, scope: PartitionScope, broker: int, rows: Int64s, problem: LogDirProblem
) -> LogDirsTooSmall:
    """The failure with the smallest conflict."""
    conflict, name = packing_conflict(problem), int(brokers.ids[broker])
    listed = table.directories[broker]
    free, largest = int(conflict.free_bytes.sum()), int(conflict.free_bytes.max(initial=0))
    placed = [place for place in conflict.replicas.tolist() if problem.has_to_move[place]]
    needed = int(problem.size_bytes[placed or conflict.replicas].sum())
    of = [scope.name(int(rows[place])) for place in (placed or conflict.replicas.tolist())]
    what = (
        f"{of[0]} of {byte_size(needed)}"
        if len(of) == 1
        else f"{len(of)} replicas of {byte_size(needed)}, {of[0]} first"
    )
    detail = (
        f"the log directories of broker {name} have {byte_size(free)} free in all, {byte_size(largest)} at most in "
        f"one, and no place for {what}"
        + (", however the other replicas are packed" if conflict.is_proven else "; no packing was found in time")
    )
    documents: list[Json] = [
        {
            "constraint": "limit",
            "log_dir": directory.path,
            "limit_bytes": int(problem.limit[index]) if problem.limit[index] < NO_LIMIT else None,
            "free_bytes": int(conflict.free_bytes[index]),
        }
        for index, directory in enumerate(listed)
        if problem.may_receive[index]
    ]
    documents += [{"constraint": "drain", "log_dir": listed[index].path} for index in conflict.drains]
    documents += _replicas(scope, rows, problem, conflict, [directory.path for directory in listed])
    lifts = [f"{byte_size(max(needed - largest, 1))} more in one log directory of broker {name}"]
    lifts += [f"no drain of {quoted(listed[index].path)}" for index in conflict.drains]
    drained = [str(directory.path) for index, directory in enumerate(listed) if index in conflict.drains]
    return LogDirsTooSmall(
        detail,
        path=("log_dirs", "drain", str(name)) if drained else table.path,
        value=needed,
        limit=free,
        broker=name,
        conflict=documents,
        replicas=len(conflict.replicas),
        lifted_by=[
            *lifts,
            "larger limits of log directories, or a larger max_disk_share",
            "a plan that moves replicas to other brokers, as the objective relieve with limits.log_dirs",
        ],
    )


def _replicas(
    scope: PartitionScope, rows: Int64s, problem: LogDirProblem, conflict: PackingConflict, paths: list[str]
) -> list[Json]:
    """The replicas of a conflict, the largest first."""
    return [
        {
            "constraint": "replica",
            "partition": scope.name(int(rows[place])),
            "size_bytes": int(problem.size_bytes[place]),
            "log_dir": None if problem.current[place] == NO_LOG_DIR else paths[problem.current[place]],
        }
        for place in conflict.replicas[:NAMED_REPLICAS].tolist()
    ]
