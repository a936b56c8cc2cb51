"""The movement of a reassignment, with its lower bound and by broker, and the leaders that change."""

from collections.abc import Mapping

import numpy as np

from app.core.model import NO_LEADER, NO_REPLICA, Int32s, Int64s
from app.core.reassignment.plan import Moves, Plan, bytes_bound
from app.core.replica_lists import per_broker
from app.errors import Json
from app.services.reassignment.problem.problem import ReassignmentProblem


def certificate_json(problem: ReassignmentProblem, solution: Plan, moves: Moves) -> dict[str, Json]:
    """The movement with its lower bound; of plans of leaders alone, the proof of their changes."""
    placement = solution.placement
    per_row = moves.is_copied.sum(axis=1)
    moved_bytes = int((per_row * problem.sizes.size_bytes).sum())
    proof, cost = placement.certificate, problem.bytes_per_replica
    certificate: dict[str, Json] = {
        "moved_replicas": int(per_row.sum()),
        "moved_bytes": moved_bytes,
        "lower_bound_bytes": bytes_bound(problem, placement, moved_bytes),
        "lower_bound_replicas": proof.lower_bound if cost is None else None,
        "unknown_size_replicas": int(per_row[~problem.sizes.is_known].sum()),
        "minimised": "replicas" if cost is None else "cost" if cost else "bytes",
        "optimal": proof.optimal,
        "gap": proof.gap,
        "constraints": [*problem.constraints, *proof.constraints],
        "solver": proof.solver,
    }
    if cost:
        certificate |= {"bytes_per_replica": cost, "moved_cost": proof.value, "lower_bound_cost": proof.lower_bound}
    if problem.leaders_only:
        leaders = solution.leaders.changes
        return certificate | {
            "optimal": leaders.optimal,
            "gap": leaders.gap,
            "solver": leaders.solver,
            "constraints": [*proof.constraints, *leaders.constraints],
        }
    return certificate


def leader_changes(problem: ReassignmentProblem, solution: Plan) -> int:
    """Preferred leaders that change; if the preferred ones are to lead, actual leaders that change."""
    first, before = solution.leaders.after[:, 0], problem.before[:, 0]
    if not problem.leaders.counts_actual:
        return int(np.count_nonzero((before != NO_REPLICA) & (first != before)))
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != problem.as_ids(first))))


def not_preferred(problem: ReassignmentProblem) -> int:
    """Partitions whose actual leader is not the first broker of their list."""
    leaders = problem.scope.leaders
    return int(np.count_nonzero((leaders != NO_LEADER) & (leaders != problem.scope.before[:, 0])))


def movement_json(problem: ReassignmentProblem, after: Int32s, moves: Moves) -> list[Json]:
    """Replicas, bytes and leaders of each broker before, in, out and after, by ascending id.

    Partitions outside the scope count as replicas.
    """
    sizes, base = problem.sizes.size_bytes, problem.movement.base
    brokers = len(problem.brokers.ids)

    copied, removed = (
        np.where(moves.is_copied, after, NO_REPLICA),
        np.where(moves.is_removed, problem.before, NO_REPLICA),
    )
    columns: Mapping[str, Int64s] = {
        "replicas_before": base + per_broker(problem.before, brokers),
        "replicas_in": per_broker(copied, brokers),
        "replicas_out": per_broker(removed, brokers),
        "replicas_after": base + per_broker(after, brokers),
        "bytes_before": per_broker(problem.before, brokers, sizes),
        "bytes_in": per_broker(copied, brokers, sizes),
        "bytes_out": per_broker(removed, brokers, sizes),
        "bytes_after": per_broker(after, brokers, sizes),
        "leaders_before": per_broker(problem.before[:, :1], brokers),
        "leaders_after": per_broker(after[:, :1], brokers),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {"broker": broker.id, "rack": broker.rack, **dict(zip(columns, row, strict=True))}
        for broker, row in zip(problem.brokers.known, rows, strict=True)
    ]
