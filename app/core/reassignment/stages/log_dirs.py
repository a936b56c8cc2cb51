"""Choose the log directory of every replica once its broker is known: what arrives, stays or is drained.

Replicas that find no log directory at their broker are placed on other brokers: a broker may have space in all and none
of its directories place for a replica. Its directories depend on all replicas that arrive, so that they are no
constraint of the placement: it is solved without them, and if the directories of some brokers are too small, again
without the replicas that do not fit there. These are those that no directory could take even if it had nothing else
that can move, and the largest arriving one of the smallest set that cannot be packed.

The search is a heuristic. Lower bounds are those of the placement without exclusions, and hold for every placement.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import NO_LOG_DIR, NO_REPLICA, Bools, Int32s, Int64s
from app.core.reassignment.batches.model import ReplicaLogDirs
from app.core.reassignment.log_dirs.integer_model import packing_conflict
from app.core.reassignment.log_dirs.model import LogDirPlacement, LogDirProblem, log_dir_violations
from app.core.reassignment.log_dirs.placing import place_in_log_dirs
from app.core.reassignment.model import KEEP, NO_LIMIT, MovementProblem, ReplicaPlacement
from app.core.reassignment.problem import BudgetConflict, ClosedLogDirs, FullLogDirs, Infeasible, LogDirTable, Problem
from app.core.reassignment.solvers.flow.least_movement import least_movement
from app.core.reassignment.stages.leading import LeaderSolution, place_and_lead
from app.core.reassignment.stages.placing import PlacedReplicas

SOLVER_TIME = 4.0
"""Deterministic seconds of all models of a plan, and at most `MOST_OF_ONE` of one broker's."""
MOST_OF_ONE = 1.0
MOST_ROUNDS = 30
"""Placements that are tried, each with more replicas excluded from some brokers."""


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
    solved, conflicts, max_bytes = [], [], table.max_bytes.copy()
    chosen, problems = _problems(problem, table, after)
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


def _problems(
    problem: Problem, table: LogDirTable, after: Int32s
) -> tuple[Int32s, list[tuple[int, Int64s, Int64s, LogDirProblem]]]:
    """The disks of replicas that none is chosen for, and the others of each broker with known directories: its
    position, their rows and columns, and the problem.
    """
    before, chosen = problem.before, np.where(after == NO_REPLICA, NO_LOG_DIR, after).astype(np.int32)
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
        disks, now = table.disks_of(broker), current[of_broker]
        total = table.total_bytes[disks]
        stated = LogDirProblem(
            size_bytes=problem.size_bytes[of_broker[0]],
            current=np.where(now == NO_LOG_DIR, NO_LOG_DIR, now - disks.start).astype(np.int32),
            base_bytes=table.base_bytes[disks],
            capacity=total if (total > 0).all() else np.ones_like(total),
            max_bytes=table.max_bytes[disks],
            may_receive=table.may_receive[disks],
            is_drained=table.is_drained[disks] | table.is_offline[disks],
            balance=table.balance,
        )
        problems.append((broker, *of_broker, stated))
    return chosen, problems


def place_with_log_dirs(
    problem: Problem, table: LogDirTable
) -> tuple[PlacedReplicas, LeaderSolution, list[Infeasible], LogDirSolution]:
    """Place replicas by count, bytes or throughput, on brokers whose log directories have place for them.

    Raises
    ------
    ClosedLogDirs, FullLogDirs : of the placement without exclusions, if none is found that fits.
    BudgetConflict, TooManyPairs, EvacuationConflict, MinimumsConflict : as `place_and_lead` does.
    """
    first = latest = place_and_lead(problem)
    excluded: dict[int, Bools] = {}
    conflict: Infeasible | None = None
    for _ in range(MOST_ROUNDS):
        placed, leaders, conflicts = latest
        try:
            log_dirs = choose_log_dirs(problem, table, leaders.after, relaxes=False)
        except Infeasible as short:
            conflict = conflict or short
        else:
            if not excluded:
                return *latest, log_dirs
            log_dirs = replace(log_dirs, avoided=tuple(sorted(excluded)))
            return _bounded(problem, first[0], placed), leaders, conflicts, log_dirs
        if problem.leaders_only or problem.is_over() or not _exclude(problem, table, leaders.after, excluded):
            break
        try:
            latest = place_and_lead(_without(problem, excluded))
        except BudgetConflict:
            raise
        except (InfeasibleFlow, Infeasible):
            break
    if problem.relaxes:
        return *first, choose_log_dirs(problem, table, first[1].after, relaxes=True)
    raise conflict or RuntimeError("no placement was tried")


def _exclude(problem: Problem, table: LogDirTable, after: Int32s, excluded: dict[int, Bools]) -> bool:
    """Exclude further rows from brokers, (rows,) bool by position; False if there are none to exclude."""
    sizes, is_more = problem.size_bytes, False
    for broker, rows, _, of_broker in _problems(problem, table, after)[1]:
        arriving = of_broker.current == NO_LOG_DIR
        if not arriving.any() or place_in_log_dirs(of_broker, solver_time=MOST_OF_ONE) is not None:
            continue
        free = np.where(of_broker.may_receive, of_broker.limit - of_broker.base_bytes, -1)
        too_large = sizes > int(free.max(initial=-1))
        conflict = packing_conflict(of_broker)
        largest = [at for at in conflict.replicas.tolist() if arriving[at]][:1]
        too_large[rows[largest]] = True
        too_large &= ~(problem.before == broker).any(axis=1)
        known = excluded.get(broker, np.zeros_like(too_large))
        is_more |= bool((too_large & ~known).any())
        excluded[broker] = known | too_large
    return is_more


def _without(problem: Problem, excluded: Mapping[int, Bools]) -> Problem:
    """The problem in which these rows may not arrive at these brokers."""
    parts = tuple(
        replace(part, movement=_restricted(part.movement, {at: rows[part.rows] for at, rows in excluded.items()}))
        for part in problem.parts
    )
    return replace(problem, movement=_restricted(problem.movement, excluded), parts=parts)


def _restricted(movement: MovementProblem, excluded: Mapping[int, Bools]) -> MovementProblem:
    """The problem with a domain for each combination of a domain and of brokers that its rows are excluded from."""
    keys = np.column_stack([movement.domain_of, *excluded.values()]).astype(np.int64)
    distinct, domain_of = np.unique(keys, axis=0, return_inverse=True)
    brokers, domains = np.array(list(excluded)), []
    for key in distinct:
        domain = movement.domains[int(key[0])]
        may_receive = domain.may_receive.copy()
        may_receive[brokers[key[1:].astype(np.bool_)]] = False
        domains.append(replace(domain, may_receive=may_receive))
    return replace(movement, domains=tuple(domains), domain_of=domain_of.reshape(-1).astype(np.int32))


def _bounded(problem: Problem, first: PlacedReplicas, latest: PlacedReplicas) -> PlacedReplicas:
    """The placement with bounds that hold without exclusions."""
    parts = [
        _with_bound(part.movement, before, after)
        for part, before, after in zip(problem.parts, first.parts, latest.parts, strict=True)
    ]
    return PlacedReplicas.of(problem, parts, first.largest_bounds, latest.conflicts)


def _with_bound(movement: MovementProblem, first: ReplicaPlacement, latest: ReplicaPlacement) -> ReplicaPlacement:
    """The placement with the bound of the first one if both are in the same band, else of all placements."""
    bound = first.certificate.lower_bound
    if first.band != latest.band:
        bound = least_movement(movement, KEEP).certificate.lower_bound
    value = latest.certificate.value
    return replace(latest, certificate=replace(latest.certificate, lower_bound=min(bound, value), then=None))
