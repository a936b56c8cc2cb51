"""KIP-925 for standbys: pairs of clients in different racks swap standbys at least cost.

Source: KIP-925, `RackAwareTaskAssignor.optimizeStandbyTasks` of Apache Kafka 4.0.
"""

import numpy as np

from app.core.compiled.arrays import BoolMatrix, Int64Matrix, Int64Vector
from app.core.compiled.loops import compiled, subroutine
from app.core.model import Int64s
from app.core.streams.rack_aware.graphs_kernel import NEVER_ENDS, min_traffic


@compiled
def swap_standbys(
    active: BoolMatrix,
    standby: BoolMatrix,
    crossing: Int64Matrix,
    racks: Int64Vector,
    tags: BoolMatrix,
    traffic_cost: int,
    non_overlap_cost: int,
    rounds: int,
) -> bool:
    """Visit all pairs until no standby moves, up to `rounds` times; changes `standby`. False if one does not terminate.

    Parameters
    ----------
    active, standby : (clients, tasks) bool. crossing : (clients, tasks) int64 partitions that cross racks.
    racks : (clients,) int64. tags : (clients, tag values) bool, of which a move must not lower how many hold a task.
    """
    clients = len(racks)
    for _ in range(rounds):
        moved = False
        for one in range(clients):
            for other in range(one + 1, clients):
                if racks[one] == racks[other]:
                    continue
                movable = _movable(one, other, active, standby, tags)
                if standby[one][movable].any() and standby[other][movable].any():
                    swapped = _swap(one, other, movable, standby, crossing, traffic_cost, non_overlap_cost)
                    if swapped == NEVER_ENDS:
                        return False
                    moved |= swapped > 0
        if not moved:
            break
    return True


@subroutine
def _swap(
    one: int,
    other: int,
    rows: Int64Vector,
    standby: BoolMatrix,
    crossing: Int64Matrix,
    traffic_cost: int,
    non_overlap_cost: int,
) -> int:
    """Number of tasks that move, or `NEVER_ENDS`."""
    pair = (one, other)
    cost = np.empty((len(rows), 2), np.int64)
    owners = np.empty(len(rows), np.int64)
    for at in range(len(rows)):
        owners[at] = 0 if standby[one, rows[at]] else 1
        for side in range(2):
            current = crossing[pair[side], rows[at]] * traffic_cost
            if owners[at] != side:
                current += non_overlap_cost
            cost[at, side] = np.int64(np.int32(current & 0xFFFFFFFF))
    chosen = min_traffic(cost, owners)
    if chosen[0] == NEVER_ENDS:
        return NEVER_ENDS
    for at in range(len(rows)):
        standby[one, rows[at]] = chosen[at] == 0
        standby[other, rows[at]] = chosen[at] == 1
    return int((chosen != owners).sum())


@subroutine
def _movable(one: int, other: int, active: BoolMatrix, standby: BoolMatrix, tags: BoolMatrix) -> Int64s:
    """The standbys of either that may go to the other, ascending."""
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
        if _keeps_tags(row, source, to, active, standby, tags):
            rows[n] = row
            n += 1
    return rows[:n]


@subroutine
def _keeps_tags(row: int, source: int, to: int, active: BoolMatrix, standby: BoolMatrix, tags: BoolMatrix) -> bool:
    """Whether the task's copies have at least as many tag values after the move as before."""
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
