"""What a reassignment copies and removes, by broker."""

from collections.abc import Mapping

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.reassignment.movement import Moves
from app.core.replica_lists import per_broker
from app.errors import Json
from app.services.reassignment.problem.problem import ReassignmentProblem


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
