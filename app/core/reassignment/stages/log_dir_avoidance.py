"""Replicas that find no log directory at their broker are placed on other brokers.

A broker may have space in all and none of its directories place for a replica. Its directories depend on all replicas
that arrive, so that they are no constraint of the placement: it is solved without them, and if the directories of some
brokers are too small, again without the replicas that do not fit there. These are those that no directory could take
even if it had nothing else that can move, and the largest arriving one of the smallest set that cannot be packed.

The search is a heuristic. Lower bounds are those of the placement without exclusions, and hold for every placement.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.core.flow import InfeasibleFlow
from app.core.model import NO_LOG_DIR, Bools, Int32s
from app.core.reassignment.log_dirs.conflicts import packing_conflict
from app.core.reassignment.log_dirs.placing import place_in_log_dirs
from app.core.reassignment.model import KEEP, MovementProblem, ReplicaPlacement
from app.core.reassignment.problem import BudgetConflict, Infeasible, LogDirTable, Problem
from app.core.reassignment.solvers.flow.least_movement import least_movement
from app.core.reassignment.stages.leading import LeaderSolution, place_and_lead
from app.core.reassignment.stages.log_dirs import MOST_OF_ONE, LogDirSolution, choose_log_dirs, problems_of
from app.core.reassignment.stages.placing import PlacedReplicas

MOST_ROUNDS = 30
"""Placements that are tried, each with more replicas excluded from some brokers."""


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
    for broker, rows, of_broker in problems_of(problem, table, after):
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
