"""Choose the log directory of every replica once its broker is known: what arrives, stays or is drained."""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.model import NO_LOG_DIR, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.batches.model import ReplicaLogDirs
from app.core.reassignment.log_dirs.conflicts import packing_conflict
from app.core.reassignment.log_dirs.model import LogDirPlacement, LogDirProblem, log_dir_violations
from app.core.reassignment.log_dirs.placing import place_in_log_dirs
from app.core.reassignment.model import NO_LIMIT
from app.core.reassignment.problem import ClosedLogDirs, FullLogDirs, LogDirTable, Problem

SOLVER_TIME = 4.0
"""Deterministic seconds of all models of a plan, and at most `MOST_OF_ONE` of one broker's."""
MOST_OF_ONE = 1.0


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
    max_bytes : (disks,) int64 limits, without those of the relaxed `conflicts`.
    avoided : positions of brokers that replicas must not be on, since their directories have no capacity for them.
    """

    disks: ReplicaLogDirs
    brokers: tuple[BrokerLogDirs, ...]
    max_bytes: Int64s = field(repr=False)
    conflicts: tuple[FullLogDirs, ...]
    avoided: tuple[int, ...] = ()

    def violations(self) -> list[str]:
        """Of every broker."""
        return [detail for each in self.brokers for detail in log_dir_violations(each.problem, each.placement)]


def choose_log_dirs(problem: Problem, table: LogDirTable, after: Int32s, *, relaxes: bool) -> LogDirSolution:
    """The directory of every replica of (rows, widest) int32 positions.

    Raises
    ------
    ClosedLogDirs : replicas arrive at a broker, and none of its directories may receive.
    FullLogDirs : the replicas of a broker do not fit; unless conflicts are relaxed.
    """
    chosen = np.where(after == NO_REPLICA, NO_LOG_DIR, after).astype(np.int32)
    solved, conflicts, max_bytes = [], [], table.max_bytes.copy()
    problems = _problems(problem, table, after, chosen)
    time = min(MOST_OF_ONE, SOLVER_TIME / max(len(problems), 1))
    for broker, rows, columns, stated in problems:
        if stated.has_to_move.any() and not stated.may_receive.any():
            raise ClosedLogDirs(broker, int(np.count_nonzero(stated.current == NO_LOG_DIR)))
        of_broker, placement = stated, place_in_log_dirs(stated, solver_time=time)
        if placement is None:
            conflict = FullLogDirs(broker, rows, stated, packing_conflict(stated))
            of_broker = replace(stated, max_bytes=np.full(len(stated.max_bytes), NO_LIMIT))
            placement = place_in_log_dirs(of_broker, solver_time=time) if relaxes else None
            if placement is None:
                raise conflict
            conflicts.append(conflict)
            max_bytes[table.disks_of(broker)] = NO_LIMIT
        chosen[rows, columns] = placement.log_dirs + table.first[broker]
        solved.append(BrokerLogDirs(broker, rows, columns, of_broker, placement))
    return LogDirSolution(ReplicaLogDirs(table.before, chosen), tuple(solved), max_bytes, tuple(conflicts))


def problems_of(problem: Problem, table: LogDirTable, after: Int32s) -> list[tuple[int, Int64s, LogDirProblem]]:
    """The position of each broker with known directories, its (replicas,) int64 rows, and its problem."""
    chosen = np.where(after == NO_REPLICA, NO_LOG_DIR, after).astype(np.int32)
    return [(broker, rows, stated) for broker, rows, _, stated in _problems(problem, table, after, chosen)]


def _problems(
    problem: Problem, table: LogDirTable, after: Int32s, chosen: Int32s
) -> list[tuple[int, Int64s, Int64s, LogDirProblem]]:
    """The replicas of each broker with known directories, as a problem. Others keep their disk in `chosen`, too."""
    before = problem.before
    is_same = (before[:, None, :] == after[:, :, None]) & (after != NO_REPLICA)[:, :, None]
    stays = is_same.any(axis=2)
    current = np.where(stays, np.take_along_axis(table.before, is_same.argmax(axis=2), axis=1), NO_LOG_DIR)
    chosen[stays] = current[stays]
    first = np.append(table.first, -1)[after]
    # In unknown directories, and in offline ones, replicas stay; of new partitions the broker chooses.
    is_stuck = stays & ((current < first) | table.is_offline[np.maximum(current, 0)])
    takes_part = (first >= 0) & ~is_stuck & ~problem.is_new[:, None]
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
        stated = LogDirProblem(
            size_bytes=problem.size_bytes[of_broker[0]],
            current=np.where(now == NO_LOG_DIR, NO_LOG_DIR, now - disks.start).astype(np.int32),
            base_bytes=table.base_bytes[disks],
            capacity=_capacity(table, disks),
            max_bytes=table.max_bytes[disks],
            may_receive=table.may_receive[disks],
            is_drained=table.is_drained[disks] | table.is_offline[disks],
            balance=table.balance,
        )
        problems.append((broker, *of_broker, stated))
    return problems


def _capacity(table: LogDirTable, disks: slice) -> Int64s:
    """(directories,) int64 bytes, or 1 each if any is unknown."""
    total = table.total_bytes[disks]
    return total if (total > 0).all() else np.ones(len(total), np.int64)
