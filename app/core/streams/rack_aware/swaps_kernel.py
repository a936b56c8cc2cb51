"""KIP-925 for standbys: pairs of clients in different racks swap standbys at least cost.

Source: KIP-925, `RackAwareTaskAssignor.optimizeStandbyTasks` of Apache Kafka 4.0.
"""

from typing import NamedTuple

import numpy as np

from app.core.compiled.arrays import BoolMatrix, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import Int64s
from app.core.streams.rack_aware.graphs_kernel import NEVER_ENDS, min_traffic

ROUNDS = 4
"""Kafka visits all pairs up to this number of times."""


class Standbys(NamedTuple):
    """Standbys of clients, which swaps change, and their costs.

    active, standby : (clients, tasks) bool. crossing : (clients, tasks) int64 partitions that cross racks.
    racks : (clients,) int64. tags : (clients, tag values) bool, of which a move must not lower how many hold a task.
    """

    active: BoolMatrix
    standby: BoolMatrix
    crossing: Int64Matrix
    racks: Int64Vector
    tags: BoolMatrix
    traffic_cost: int
    non_overlap_cost: int


@compiled
def swap_standbys(standbys: Standbys) -> bool:
    """Visit all pairs until no standby moves, up to `ROUNDS` times. False if one does not terminate."""
    standby, racks = standbys.standby, standbys.racks
    clients = len(racks)
    for _ in range(ROUNDS):
        moved = False
        for one in range(clients):
            for other in range(one + 1, clients):
                if racks[one] == racks[other]:
                    continue
                movable = _movable(one, other, standbys)
                if standby[one][movable].any() and standby[other][movable].any():
                    swapped = _swap(one, other, movable, standbys)
                    if swapped == NEVER_ENDS:
                        return False
                    moved |= swapped > 0
        if not moved:
            break
    return True


@subroutine
def _swap(one: int, other: int, rows: Int64Vector, standbys: Standbys) -> int:
    """Number of tasks that move, or `NEVER_ENDS`."""
    standby, pair = standbys.standby, (one, other)
    cost = np.empty((len(rows), 2), np.int64)
    owners = np.empty(len(rows), np.int64)
    for at in range(len(rows)):
        owners[at] = 0 if standby[one, rows[at]] else 1
        for side in range(2):
            current = standbys.crossing[pair[side], rows[at]] * standbys.traffic_cost
            if owners[at] != side:
                current += standbys.non_overlap_cost
            cost[at, side] = np.int64(np.int32(current & 0xFFFFFFFF))
    chosen = min_traffic(cost, owners)
    if chosen[0] == NEVER_ENDS:
        return NEVER_ENDS
    for at in range(len(rows)):
        standby[one, rows[at]] = chosen[at] == 0
        standby[other, rows[at]] = chosen[at] == 1
    return int((chosen != owners).sum())


@subroutine
def _movable(one: int, other: int, standbys: Standbys) -> Int64s:
    """The standbys of either that may go to the other, ascending."""
    active, standby = standbys.active, standbys.standby
    tasks = standby.shape[1]
    rows = np.empty(tasks, np.int64)
    n = 0
    for row in range(tasks):
        if standby[one, row] and not (active[other, row] or standby[other, row]):
            source, to = one, other
        elif standby[other, row] and not (active[one, row] or standby[one, row]):
            source, to = other, one
        else:
            continue
        if _keeps_tags(row, source, to, standbys):
            rows[n] = row
            n += 1
    return rows[:n]


@subroutine
def _keeps_tags(row: int, source: int, to: int, standbys: Standbys) -> bool:
    """Whether the task's copies have at least as many tag values after the move as before."""
    active, standby, tags = standbys.active, standbys.standby, standbys.tags
    gained = 0
    for value in range(tags.shape[1]):
        if tags[source, value] == tags[to, value]:
            continue
        elsewhere = False
        for client in range(len(tags)):
            if client not in (source, to) and tags[client, value] and (active[client, row] or standby[client, row]):
                elsewhere = True
                break
        if not elsewhere:
            gained += 1 if tags[to, value] else -1
    return gained >= 0
