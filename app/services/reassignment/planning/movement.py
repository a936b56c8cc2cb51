"""What a reassignment copies and removes, by replica and by broker."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.core.replica_lists import not_among, per_broker
from app.errors import Json
from app.services.reassignment.problem.brokers import Bools
from app.services.reassignment.problem.problem import ReassignmentProblem


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Replicas that are copied and replicas that are removed.

    Parameters
    ----------
    is_removed : (rows, widest) bool, replicas of the lists before that are not there afterwards.
    is_copied : (rows, widest) bool, replicas of the lists afterwards that have to be copied.
    """

    is_removed: Bools = field(repr=False)
    is_copied: Bools = field(repr=False)

    @classmethod
    def of(cls, problem: ReassignmentProblem, after: Int32s) -> "Moves":
        """Compare (rows, widest) int32 positions with where the replicas are."""
        before = problem.before
        stays = (before[:, :, None] == after[:, None, :]) & (before != NO_REPLICA)[:, :, None]
        # A partition that is yet to be has nothing that could be copied.
        is_there = ~problem.scope.is_new[:, None]
        is_copied = (after != NO_REPLICA) & ~stays.any(axis=1) & is_there
        return cls((before != NO_REPLICA) & ~stays.any(axis=2), is_copied)


def changes_replicas(problem: ReassignmentProblem, after: Int32s) -> Bools:
    """(rows,) bool, partitions whose replicas are others in (rows, width) int32 positions than they are."""
    lost, gained = not_among(problem.before, after), not_among(after, problem.before)
    return np.asarray(lost.any(axis=1) | gained.any(axis=1), np.bool_)


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
