"""What each broker gives and takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from app.core.model import NO_REPLICA, Int32s, Int64s
from app.errors import Json
from app.services.reassignment.brokers import Bools
from app.services.reassignment.sources import Source


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """What is copied, and what goes.

    Parameters
    ----------
    leaves : (rows, widest) bool, replicas of the lists before that are not there afterwards.
    comes : (rows, widest) bool, replicas of the lists afterwards that have to be copied.
    """

    leaves: Bools = field(repr=False)
    comes: Bools = field(repr=False)

    @classmethod
    def of(cls, source: Source, after: Int32s) -> "Moves":
        """Compare (rows, widest) int32 positions with where the replicas are."""
        before = source.before
        stays = (before[:, :, None] == after[:, None, :]) & (before != NO_REPLICA)[:, :, None]
        # A partition that is yet to be has nothing that could be copied.
        is_there = ~source.scope.is_new[:, None]
        comes = (after != NO_REPLICA) & ~stays.any(axis=1) & is_there
        return cls((before != NO_REPLICA) & ~stays.any(axis=2), comes)


def movement_json(source: Source, after: Int32s, moves: Moves) -> list[Json]:
    """What each broker gives and takes, by ascending id; partitions outside the scope count where they stay."""
    sizes, base = source.sizes.size_bytes, source.problem.base
    brokers = len(source.brokers.ids)

    def summed(replicas: Int32s, counted: Bools, weight: Int64s | None = None) -> Int64s:
        rows, columns = np.nonzero(counted)
        total = np.zeros(brokers, np.int64)
        np.add.at(total, replicas[rows, columns], 1 if weight is None else weight[rows])
        return total

    led_before, led_after = source.before[:, :1], after[:, :1]
    columns: Mapping[str, Int64s] = {
        "replicas_before": base + summed(source.before, source.before != NO_REPLICA),
        "replicas_in": summed(after, moves.comes),
        "replicas_out": summed(source.before, moves.leaves),
        "replicas_after": base + summed(after, after != NO_REPLICA),
        "bytes_before": summed(source.before, source.before != NO_REPLICA, sizes),
        "bytes_in": summed(after, moves.comes, sizes),
        "bytes_out": summed(source.before, moves.leaves, sizes),
        "bytes_after": summed(after, after != NO_REPLICA, sizes),
        "leaders_before": summed(led_before, led_before != NO_REPLICA),
        "leaders_after": summed(led_after, led_after != NO_REPLICA),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {"broker": broker.id, "rack": broker.rack, **dict(zip(columns, row, strict=True))}
        for broker, row in zip(source.brokers.known, rows, strict=True)
    ]
