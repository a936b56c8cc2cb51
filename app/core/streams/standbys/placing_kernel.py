"""Standbys one by one: the least loaded client that may have the next.

Kafka keeps the clients in a queue by tasks a thread; whatever it changes it puts in anew before it looks again, so
that looking for the least is the same.
"""

import numpy as np
from numba import njit

from app.core.model import Int64s
from app.core.streams.loads_kernel import is_less, load
from app.core.streams.model import Bools

NOBODY = -1


@njit(cache=True, nogil=True)
def to_least_loaded(
    rows: Int64s, wanted: Int64s, active: Bools, standby: Bools, counts: Int64s, capacities: Int64s
) -> None:
    """Give each task as many standbys as are wanted or possible; `standby` and `counts` change."""
    free = np.ones(len(capacities), np.bool_)
    for at in range(len(rows)):
        row = rows[at]
        for _ in range(wanted[at]):
            client = _least(row, free, active, standby, counts, capacities)
            if client == NOBODY:
                break
            standby[client, row] = True
            counts[client] += 1


@njit(cache=True, nogil=True)
def apart_by_tags(
    rows: Int64s,
    remaining: Int64s,
    values: Int64s,
    active: Bools,
    standby: Bools,
    counts: Int64s,
    capacities: Int64s,
) -> tuple[Bools, int]:
    """Place standbys apart by tags; what is left for later stays in `remaining`.

    Returns
    -------
    (rows,) bool, whose standbys are all placed; and the place of a task that is active a second time when they are,
    which Kafka fails on, or `NOBODY`.
    """
    clients, tags = values.shape
    n_values = np.zeros(tags, np.int64)
    for tag in range(tags):
        for client in range(clients):
            n_values[tag] = max(n_values[tag], values[client, tag] + 1)
    settled = np.zeros(len(rows), np.bool_)
    widest = 1
    for tag in range(tags):
        widest = max(widest, n_values[tag])
    used = np.zeros((tags, widest), np.bool_)
    free = np.ones(clients, np.bool_)
    for at in range(len(rows)):
        row = rows[at]
        for owner in range(clients):
            if not active[owner, row]:
                continue
            if settled[at]:
                return settled, at
            used[:] = False
            last, copies = owner, 1
            while True:
                for tag in range(tags):
                    value = values[last, tag]
                    if value < 0:
                        continue
                    if n_values[tag] <= copies:
                        used[tag] = False
                    else:
                        used[tag, value] = True
                for client in range(clients):
                    free[client] = True
                    for tag in range(tags):
                        value = values[client, tag]
                        if value >= 0 and used[tag, value]:
                            free[client] = False
                last = _least(row, free, active, standby, counts, capacities)
                if last == NOBODY:
                    break
                standby[last, row] = True
                counts[last] += 1
                copies += 1
                remaining[at] -= 1
                if remaining[at] <= 0:
                    break
            settled[at] = remaining[at] <= 0
    return settled, NOBODY


@njit(cache=True, nogil=True)
def _least(row: int, free: Bools, active: Bools, standby: Bools, counts: Int64s, capacities: Int64s) -> int:
    """The free client with the lowest load that has no copy of the task, the first of equals."""
    best = NOBODY
    least = np.nan
    for client in range(len(capacities)):
        if not free[client] or active[client, row] or standby[client, row]:
            continue
        own = load(counts[client], capacities[client])
        if best == NOBODY or is_less(own, least):
            best, least = client, own
    return best
